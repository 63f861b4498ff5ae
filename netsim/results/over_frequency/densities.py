"""Noise in `measure` and `assert`: root densities over frequency, and effective values of bands.

    measure floor = density(out.v, 1 kHz)     measure total = effective(out.v, from = 20 Hz, to = 20 kHz)
    measure corner = when(density(out.v) < 10 nV/Hz^0.5)

They speak of the runs `noise(output = ..., input = ...)` whose output or input stands in the brackets.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from netsim.results.over_frequency.figures import require_within
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, Typed, quantity_of
from netsim.text.syntax import Call
from netsim.text.units import HERTZ, Dimension

Array = np.ndarray
LEAST_EXPONENT = 1e-6
"""Below this an exponent of -1 + x integrates to a logarithm."""
EXACT, HALVINGS = 1e-8, 60
"""How much of its integral an interval may change when it is halved, and how often intervals are."""
NOTHING = 1e-24
"""A part below this share of the output's density is rounding: paths that cancel leave 1e-12 of an amplitude."""
ASKED, BESIDE, SIZE, ROUGH = 2, 1e-13, 0.7, 0.05
"""In how many halvings it is asked once whether a curve is rounding: so near to a frequency it has so different a
value, as no resonance of a quality below 1e11 has."""
LOST = 1e-3
"""An integral of which so large a share is that of rounding is none."""
NAMES = ("density", "effective")
ROOT = HERTZ**0.5


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one signal: its dimension, its density (of the square) at any frequencies, and between which and at
    which frequencies of its run it is known."""

    dimension: Dimension
    density: Callable[..., Array]
    frequencies: Array


def functions(known: Mapping[str, Noise], frequency: Array) -> Mapping[str, Callable[[Call, Scope], Typed]]:
    """density(x) as a series over `frequency`, density(x, f), effective(x, from, to), of the signals that are `known`
    by what is written."""
    return {"density": partial(_density, known, frequency), "effective": partial(_effective, known)}


def _density(known: Mapping[str, Noise], frequency: Array, call: Call, scope: Scope) -> Typed:
    noise = _noise(known, call, 2, ())
    dimension = noise.dimension / ROOT
    if len(call.arguments) < 2:
        return Typed(np.sqrt(noise.density(frequency)), dimension)
    wanted = float(quantity_of(call.arguments[1], scope, HERTZ).value)
    require_within(wanted, noise.frequencies, call)
    return Typed(float(np.sqrt(noise.density(np.array([wanted]))[0])), dimension)


def _effective(known: Mapping[str, Noise], call: Call, scope: Scope) -> Typed:
    noise = _noise(known, call, 1, ("from", "to"))
    ends = {"from": float(noise.frequencies[0]), "to": float(noise.frequencies[-1])}
    for word, value in call.keywords:
        ends[word] = float(quantity_of(value, scope, HERTZ).value)
        require_within(ends[word], noise.frequencies, call)
    first, last = ends["from"], ends["to"]
    if not first < last:
        raise InputError(Problem("E207", f"the band from {first:g} Hz to {last:g} Hz is empty", call.span))
    inside = noise.frequencies[(noise.frequencies > first) & (noise.frequencies < last)]
    frequencies = np.concatenate([[first], inside, [last]])
    density = noise.density(frequencies)[:, None]
    total = integrals(frequencies, density, lambda f, size=1.0: noise.density(f, size)[:, None], np.zeros(1, int))
    return Typed(float(np.sqrt(total[0])), noise.dimension)


def _noise(known: Mapping[str, Noise], call: Call, most: int, words: tuple[str, ...]) -> Noise:
    if not 0 < len(call.arguments) <= most or any(word not in words for word, _ in call.keywords):
        takes = {"density": "a signal, and perhaps a frequency", "effective": "a signal, and from and to"}
        raise InputError(Problem("E207", f"{call.function}() takes {takes[call.function]}", call.span))
    return known[show_expression(call.arguments[0])]


def integrals(frequencies: Array, densities: Array, at: Callable[..., Array], whole: Array) -> Array:
    """The integral of each density (frequencies, any) over all frequencies, by intervals that are halved until that
    changes none by more than EXACT of it, or by NOTHING of its `whole` (the number of one that it is a part of); `at`:
    the densities elsewhere, found with inputs of a size. Not a number where it is that of rounding."""
    lower, upper, below, above = frequencies[:-1], frequencies[1:], densities[:-1], densities[1:]
    middle, total, lost = _middle(lower, upper), np.zeros(densities.shape[1]), np.zeros(densities.shape[1])
    between = at(middle) if len(middle) else below
    coarse = _part(lower, middle, upper, below, between, above)
    for turn in range(1, HALVINGS + 1):
        lower, upper = np.concatenate([lower, middle]), np.concatenate([middle, upper])
        below, above = np.concatenate([below, between]), np.concatenate([between, above])
        middle = _middle(lower, upper)
        between = at(middle) if len(middle) else below
        halves = _part(lower, middle, upper, below, between, above)
        changed, so_far = np.abs(halves[: len(coarse)] + halves[len(coarse) :] - coarse), total + halves.sum(axis=0)
        changes = changed > EXACT * so_far + NOTHING * so_far[whole]
        if turn % ASKED == 0:
            one = np.concatenate([changes, changes]) & is_rounding(between, at(*beside(middle)))
            lost = lost + np.where(one, halves, 0.0).sum(axis=0)
            changes &= ~(one[: len(coarse)] & one[len(coarse) :])
        open_ = changes.any(axis=1)
        kept = np.concatenate([open_, open_])
        total = total + halves[~kept].sum(axis=0)
        if not open_.any():
            return np.asarray(np.where(lost > LOST * total, np.nan, total))
        lower, middle, upper = lower[kept], middle[kept], upper[kept]
        below, between, above, coarse = below[kept], between[kept], above[kept], halves[kept]
    return np.asarray(total + coarse.sum(axis=0))


def beside(frequencies: Array) -> tuple[Array, float]:
    """Frequencies, and a size of inputs, with which every response is the same but for rounding."""
    return frequencies * (1.0 + BESIDE), SIZE


def is_rounding(curve: Array, the_same: Array) -> Array:
    """Where a curve is rounding: paths that cancel, an input that does not act."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(the_same - curve) > ROUGH * np.abs(curve))


def _middle(lower: Array, upper: Array) -> Array:
    return np.asarray(np.where(lower > 0.0, np.sqrt(lower * upper), 0.5 * upper))


def _part(f0: Array, fm: Array, f1: Array, s0: Array, sm: Array, s1: Array) -> Array:
    """The integral over each interval: exact for powers of the frequency, else of fourth order by what the middle
    departs from one; straight lines where a density is zero or an interval begins at frequency 0."""
    f0, fm, f1 = f0[:, None], fm[:, None], f1[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.log(s1 / s0) / np.log(f1 / f0) + 1.0
        power = np.where(np.abs(n) > LEAST_EXPONENT, (s1 * f1 - s0 * f0) / n, s0 * f0 * np.log(f1 / f0))
        curved = power * (1.0 + 2.0 * (sm / np.sqrt(s0)) / np.sqrt(s1)) / 3.0  # s0*s1 may be too small a number
    straight = ((s0 + sm) * (fm - f0) + (sm + s1) * (f1 - fm)) / 2
    return np.where((s0 > 0.0) & (s1 > 0.0) & (f0 > 0.0), curved, straight)
