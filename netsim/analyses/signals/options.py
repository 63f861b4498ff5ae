"""Options that analyses of small signals share: which inputs, where the network is linearised, which frequencies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.analysis import OptionSource
from netsim.analyses.option_values import EXPRESSION, NAMES, NUMBER, Kind
from netsim.analyses.signals.points import instants
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expressions_given
from netsim.text.expressions.typed import number_of
from netsim.text.syntax import Spanned, Vector
from netsim.text.units import HERTZ, NO_DIMENSION

Array = np.ndarray
LEAST_PER_DECADE = 10
"""Frequencies per decade that the adaptive grid begins with."""
MOST_FREQUENCIES = 1_000_000
WHERE: dict[str, Kind] = {"inputs": NAMES, "input": NAMES, "at": EXPRESSION}
GRID: dict[str, Kind] = {
    "from": HERTZ, "to": HERTZ, "per_decade": NUMBER, "per_octave": NUMBER, "points": NUMBER, "frequencies": EXPRESSION,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class FrequencyGrid:
    """Frequencies (Hz) in rising order; `adaptive`: more may be put between them."""

    frequencies: Array
    adaptive: bool


@dataclass(frozen=True)
class PointOptions:
    """Inputs by name, and the instants at which the network is linearised (none: its equilibrium)."""

    inputs: tuple[str, ...]
    at: tuple[float, ...]


def point_options(options: Mapping[str, Any], line: OptionSource) -> PointOptions:
    """`inputs = [...]` (or `input = ...`) and `at`; raises `InputError`."""
    given = options.get("inputs", options.get("input", ()))
    return PointOptions((given,) if isinstance(given, str) else tuple(given), instants(options.get("at"), line))


def frequency_grid(name: str, options: Mapping[str, Any], line: OptionSource) -> FrequencyGrid:
    """`from`, `to` and one of `per_decade`, `per_octave` (logarithmic) and `points` (equally spaced); without these an
    adaptive grid. Or `frequencies = [...]`. Raises `InputError`."""
    if "frequencies" in options:
        listed = np.array(numbers(options["frequencies"], line, HERTZ))
        if not len(listed) or not np.all((listed >= 0.0) & (listed < np.inf)):
            message, hint = "'frequencies' must list frequencies, 0 or more", "frequencies = [1 Hz, 1 kHz]"
            raise InputError(Problem("E423", message, line.spans.get("frequencies"), hint=hint))
        return FrequencyGrid(listed, False)
    first, last = (float(options.get(word, np.nan)) for word in ("from", "to"))
    spacing = [word for word in ("per_decade", "per_octave", "points") if word in options]
    span = line.spans.get("from") or line.spans.get("")
    if not 0.0 < first <= last < np.inf and not ("points" in options and 0.0 <= first <= last):
        hint = f"{name}(from = 1 Hz, to = 1 MHz)"
        raise InputError(Problem("E422", f"{name}() needs frequencies 0 < from <= to", span, hint=hint))
    if len(spacing) > 1:
        raise InputError(Problem("E423", f"'{spacing[0]}' and '{spacing[1]}' exclude each other", span))
    word = spacing[0] if spacing else "per_decade"
    count = float(options.get(word, LEAST_PER_DECADE))
    if not 1 <= count <= MOST_FREQUENCIES or (word == "points" and count % 1):
        raise InputError(Problem("E423", f"'{word}' must be a number from 1 to 1e6", line.spans.get(word)))
    if word == "points":
        return FrequencyGrid(np.linspace(first, last, int(count)), False)
    per = np.log10(2.0) if word == "per_octave" else 1.0
    steps = np.log10(last / first) / per * count
    exponents = np.arange(int(np.floor(steps + 1e-9)) + 1) * per / count
    found = first * 10.0**exponents
    if steps - np.floor(steps + 1e-9) > 1e-9:
        found = np.append(found, last)
    return FrequencyGrid(found, not spacing)


def equal_steps(
    name: str, options: Mapping[str, Any], line: OptionSource, unit: Any, count: float, example: str
) -> Array:
    """So many equal steps between `from` and `to`; raises `InputError` (E422)."""
    ends = [numbers(options[word], line, unit) for word in ("from", "to") if word in options]
    if len(ends) != 2 or any(len(e) != 1 for e in ends) or ends[0] == ends[1] or count < 2 or count % 1:
        message, span = f"{name}() needs 'from' and 'to', which differ, and points", line.spans.get("over")
        raise InputError(Problem("E422", message, span or line.spans.get(""), hint=example))
    return np.linspace(ends[0][0], ends[1][0], int(count))


def numbers(given: Any, line: OptionSource, dimension: Any = NO_DIMENSION) -> list[float]:
    """A list of numbers, or one, as written or from Python; raises `InputError`."""
    if isinstance(given, Spanned):
        items: Any = given.items if isinstance(given, Vector) else (given,)
        return [float(number_of(item, line.scope, dimension)) for item in items]
    return numbers(expressions_given("a list of numbers", given), line, dimension)
