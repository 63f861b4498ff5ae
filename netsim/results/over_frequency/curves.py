"""What pictures share: the style, legends, the columns and series of plotted expressions, readable units."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from netsim.equations.numbering import suffixes
from netsim.library.component import SECOND, plain_name
from netsim.network.network import Frame, name_text
from netsim.results.measuring.subjects import NOISE
from netsim.results.over_frequency.figures import functions
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import flatten, shape
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Call, Expr, Name, Part, Plot
from netsim.text.units import NO_DIMENSION, Dimension, parse_unit

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_TAKES_PREFIX = frozenset(["m", "s", "A", "V", "N", "Pa", "W", "J", "Ohm", "F", "H", "C", "Hz", "T", "S", "Wb"])
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
COLOURS = ("#1f5fa8", "#d1495b", "#2e8b57", "#e08e0b", "#6c4ab6", "#5b6770", "#0f8b8d", "#a44a3f")
DASHES = ("-", "--", "-.", ":")
LETTERS, HANDLE = 100, 6
"""Letters above a panel, and the room of a line beside its label."""
STYLE: Any = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#7a828a", "axes.labelcolor": "#2b3138",
    "axes.axisbelow": True,
    "axes.xmargin": 0.01,
    "axes.grid": True, "grid.color": "#e3e6ea", "grid.linewidth": 0.8, "xtick.color": "#4a525a",
    "ytick.color": "#4a525a", "font.size": 10,
    "axes.labelsize": 10, "legend.frameon": False, "legend.fontsize": 9, "lines.solid_capstyle": "round",
    "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "netsim",
}  # fmt: skip


def legend_above(axes: Any) -> None:
    """Above the panel, never over a curve, in as many columns as the longest label leaves."""
    longest = max(map(len, axes.get_legend_handles_labels()[1]), default=0)
    columns = max(1, min(4, LETTERS // (longest + HANDLE)))
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2, handlelength=1.6)


def columns_named(plots: Sequence[Plot], known: Sequence[str], refusal: str) -> Sequence[str]:
    """What `plots` name, all that is `known` without any. Raises `InputError` (E434) for another name with this
    `refusal`, in which {} is the name."""
    named = [(show_expression(each), each.span) for line in plots for each in line.signals]
    for name, span in named:
        if name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}"
            raise InputError(Problem("E434", refusal.format(f"'{name}'"), span, hint=hint))
    return [name for name, _ in named] or known


def expression_series(
    expr: Expr, samples: Samples, parameters: Scope | None = None
) -> list[tuple[str, Dimension, np.ndarray]]:
    """The scalars of a plotted expression as (name, dimension, series (nt,)); a node's name or `m1.*` gives every saved
    signal below it."""
    if isinstance(expr, Name) and (below := _below(expr, samples)):
        return [(s.name, parse_unit(s.unit).dimension, samples.series(s.name)) for s in below]
    with np.errstate(divide="ignore", invalid="ignore"):  # a gap in the curve says it
        typed: Any = evaluate(expr, _scope(samples, parameters))
    as_number = np.asarray if samples.axis == "frequency" else partial(np.asarray, dtype=float)
    name, dimension = show_expression(expr), typed.dimension or NO_DIMENSION
    scalars = zip(suffixes(shape(typed.value)), flatten(typed.value))
    return [
        (name + suffix, dimension, np.broadcast_to(as_number(series), samples.time.shape)) for suffix, series in scalars
    ]


def _below(name: Name, samples: Samples) -> list[Any]:
    """Signals of an instance, node or subnetwork (`m1.*`, `m1`): those saved whose names continue the given one."""
    parts = name.parts[:-1] if name.parts[-1].text == "*" else name.parts
    path = name_text(Name(parts), Frame("")) if all(_is_fixed(p) for p in parts) else ""
    if not path or any(s.name == path for s in samples.signals) or path == "time":
        return []
    return [s for s in samples.signals if s.name.startswith(path + ".") and "(" not in s.name and " " not in s.name]


def _is_fixed(part: Part) -> bool:
    return all(type(i).__name__ == "Number" for i in part.indices)


def _scope(samples: Samples, parameters: Scope | None) -> Scope:
    saved = {s.name: Typed(samples.values[:, j], parse_unit(s.unit).dimension) for j, s in enumerate(samples.signals)}
    counts = Frame("", integers=_Integers(parameters))

    def resolve(name: Name) -> Typed:
        path = name_text(name, counts)
        if path in saved:
            return saved[path]
        vector = [saved[path + suffix] for suffix in (".x", ".y", ".z") if path + suffix in saved]
        if vector:
            return Typed(tuple(v.value for v in vector), vector[0].dimension)
        if plain_name(name) == "time":
            return Typed(samples.time, SECOND)
        if parameters is not None and len(name.parts) == 1:
            return parameters.resolve(name)
        raise InputError(
            Problem("E434", f"'{path}' was not saved", name.span, hint=nearest(path, saved) or "add it to a save line")
        )

    return Scope(resolve, _functions(samples))


def _functions(samples: Samples) -> Mapping[str, Callable[[Call, Scope], Typed]]:
    """What a plotted expression may call besides the functions of the language."""
    if samples.attributes.get("analysis") == NOISE:
        return {"density": partial(_shown_density, samples)}
    return functions(samples.time, []) if samples.axis == "frequency" else {}


def _shown_density(samples: Samples, call: Call, scope: Scope) -> Typed:
    """The root density at the output or the input of a run of noise. Raises `InputError` (E434) for other signals."""
    wanted = show_expression(call.arguments[0]) if len(call.arguments) == 1 else ""
    for signal in samples.signals[:2]:
        if wanted == samples.attributes.get(signal.name):
            return Typed(samples.series(signal.name), parse_unit(signal.unit).dimension)
    given = [samples.attributes[each] for each in ("output", "input") if samples.attributes[each]]
    message, hint = f"this run has no noise of '{wanted}'", f"density(x) of its {' or '.join(given)}"
    raise InputError(Problem("E434", message, call.span, hint=hint))


class _Integers(dict):
    """Counts used in indices (`tap[n+1].v`), looked up among the parameters when first needed."""

    def __init__(self, parameters: Scope | None):
        super().__init__()
        self.parameters = parameters

    def __contains__(self, name: object) -> bool:
        return self.parameters is not None

    def __getitem__(self, name: str) -> Any:
        assert self.parameters is not None
        return self.parameters.resolve(Name((Part(name),))).value


def scale(unit: str, largest: float) -> tuple[float, str]:
    """Factor and label that make values up to `largest` (in SI `unit`) readable: ('m', 0.02) -> (1000, 'mm').

    Prefixes go where the unit's first name takes one and stands in its first power; numbers between 0.1 and 1000 stay.
    """
    first = unit.replace("/", ".").split(".")[0]
    power = 0
    if first in _TAKES_PREFIX and 1e-14 < largest < 1e13 and not 0.1 <= largest < 1000:
        power = min(9, max(-12, 3 * math.floor(math.log10(largest * (1 + 1e-12)) / 3)))
    return 10.0**-power, _PREFIXES[power] + pretty(unit)


def reading(value: float, unit: str) -> str:
    """`12.5 mm`: a value in SI `unit` for people."""
    factor, label = scale(unit or "1", abs(value))
    return f"{value * factor:.5g} {pretty('') if label == '1' else label}".rstrip()


def pretty(unit: str) -> str:
    """`N.s/m2` -> 'N·s/m²'; the pure number is '1'."""
    shown, digits, unit = "", False, unit.replace("Hz^0.5", "√Hz")
    for i, letter in enumerate(unit):
        raised = (
            (letter.isdigit() or letter == "-") and i > 0 and (digits or unit[i - 1].isalpha() or unit[i - 1] == "^")
        )
        shown += letter.translate(_RAISED) if raised else letter
        digits = raised
    return shown.replace("^", "").replace(".", "·").replace("Ohm", "Ω")
