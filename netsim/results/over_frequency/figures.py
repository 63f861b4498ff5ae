"""Figures of a response over frequency: gain and phase at a frequency, bandwidth, crossover, margins, resonance.

    measure f3 = bandwidth(out.v)        measure pm = phase_margin(loop.y)      measure g = gain(out.v, 1 kHz)

Between its points a response is a cubic spline of log gain and continuous phase over log frequency. A loop gain is
counted with the sign that makes feedback negative: -1 is the critical point.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.typed import Scope, Typed, evaluate, quantity_of
from netsim.text.syntax import Call
from netsim.text.units import ANGLE, HERTZ, NO_DIMENSION, Dimension

Array = np.ndarray
MISSING = "E513"
HALF_POWER = 0.5**0.5


class Curve:
    """log gain and phase (rad, continuous) over log frequency, as splines."""

    def __init__(self, frequency: Array, values: Array):
        from scipy.interpolate import CubicSpline

        self.x = np.log(frequency)
        with np.errstate(divide="ignore"):
            gain, angle = np.log(np.abs(values)), np.unwrap(np.angle(values))
        if not np.isfinite(gain).all():
            raise ValueError
        self.gain, self.phase = (CubicSpline(self.x, y) for y in (gain, angle))
        self.looked = list[float]()
        """Frequencies that figures were found at."""

    def crossings(self, spline: Any, level: float) -> Array:
        """Frequencies at which a spline passes a level."""
        found = np.exp(spline.solve(level, extrapolate=False)) if len(self.x) > 1 else np.zeros(0)
        self.looked += found.tolist()
        return found


def response_between(frequency: Array, values: Array, wanted: Array) -> Array:
    """A response at wanted frequencies: by its curve, or (where it is zero somewhere) by straight lines."""
    try:
        curve = Curve(frequency, values)
    except ValueError:
        return np.asarray(np.interp(wanted, frequency, values.real) + 1j * np.interp(wanted, frequency, values.imag))
    x = np.log(wanted)
    return np.asarray(np.exp(curve.gain(x) + 1j * curve.phase(x)))


def bandwidth(curve: Curve) -> float:
    """Where the gain falls below 1/sqrt(2) of that at the lowest frequency for the first time."""
    return first(curve.crossings(curve.gain, float(curve.gain(curve.x[0])) + np.log(HALF_POWER)))


def crossover(curve: Curve) -> float:
    """Where the gain falls below 1 for the last time."""
    return first(curve.crossings(curve.gain, 0.0)[::-1])


def resonance(curve: Curve) -> float:
    """The frequency of the largest gain."""
    return float(np.exp(_top(curve)))


def peak(curve: Curve) -> float:
    """The largest gain."""
    return float(np.exp(curve.gain(_top(curve))))


def phase_margin(curve: Curve) -> float:
    """The least angle (rad) from -180 deg at unit gain."""
    angles = curve.phase(np.log(curve.crossings(curve.gain, 0.0))) + np.pi
    return least((angles + np.pi) % (2 * np.pi) - np.pi)


def gain_margin(curve: Curve) -> float:
    """The least factor by which the gain may grow (or, below 1, shrink) until it is 1 at -180 deg."""
    angles = curve.phase.c[-1] / (2 * np.pi)
    levels = np.pi + 2 * np.pi * np.arange(np.floor(angles.min()) - 1.0, np.ceil(angles.max()) + 1.0)
    factors = -curve.gain(np.log(np.concatenate([curve.crossings(curve.phase, level) for level in levels])))
    return float(np.exp(least(factors)))


def _top(curve: Curve) -> float:
    stationary = curve.gain.derivative().roots(extrapolate=False)
    places = np.concatenate([curve.x[[0, -1]], stationary[np.isfinite(stationary)]])
    top = float(places[np.argmax(curve.gain(places))])
    curve.looked.append(float(np.exp(top)))
    return top


def first(found: Array) -> float:
    """The first one; raises `LookupError` where there is none."""
    if not len(found):
        raise LookupError
    return float(found[0])


def least(found: Array) -> float:
    """That of least size; raises `LookupError` where there is none."""
    return first(found[np.argsort(np.abs(found))])


FIGURES: dict[str, tuple[Callable[[Curve], float], Dimension | None]] = {
    "bandwidth": (bandwidth, HERTZ),
    "crossover": (crossover, HERTZ),
    "resonance": (resonance, HERTZ),
    "peak": (peak, None),
    "phase_margin": (phase_margin, ANGLE),
    "gain_margin": (gain_margin, NO_DIMENSION),
}
"""Functions of a response: the figure and its dimension (None: that of the response)."""
SERIES = ("gain", "phase", "db", "real", "imag")
NAMES = (*FIGURES, *SERIES)


def functions(frequency: Array, looked: list[float]) -> dict[str, Callable[[Call, Scope], Typed]]:
    """gain(x), phase(x), db(x), real(x), imag(x) as series, the first three at a frequency where one is given, and the
    figures of `FIGURES`. The frequencies that a number was found at are added to `looked`."""
    return {
        **{name: partial(_figure, name, frequency, looked) for name in FIGURES},
        **{name: partial(_series, name, frequency, looked) for name in SERIES},
    }


def _figure(name: str, frequency: Array, looked: list[float], call: Call, scope: Scope) -> Typed:
    compute, dimension = FIGURES[name]
    curve, found = _curve(call, frequency, scope, 1)
    try:
        return Typed(compute(curve), found if dimension is None else dimension)
    except LookupError:
        message = f"this response has no {name.replace('_', ' ')} between {frequency[0]:g} Hz and {frequency[-1]:g} Hz"
        raise SimulationError(Problem(MISSING, message, call.span, hint="widen from ... to")) from None
    finally:
        looked += curve.looked


def _series(name: str, frequency: Array, looked: list[float], call: Call, scope: Scope) -> Typed:
    at = len(call.arguments) == 2 and name not in ("real", "imag")
    if not at:
        found = _argument(call, scope, 1)
        if name in ("real", "imag"):
            return Typed(getattr(np.asarray(found.value, complex), name), found.dimension)
        if name == "phase":
            return Typed(np.unwrap(np.angle(np.asarray(found.value, complex))), ANGLE)
        gain = np.abs(found.value)
        return Typed(gain, found.dimension) if name == "gain" else Typed(20 * np.log10(gain))
    curve, dimension = _curve(call, frequency, scope, 2)
    x = np.log(float(quantity_of(call.arguments[1], scope, HERTZ).value))
    require_within(float(np.exp(x)), frequency, call)
    looked.append(float(np.exp(x)))
    if name == "phase":
        return Typed(float(curve.phase(x)), ANGLE)
    gain = float(np.exp(curve.gain(x)))
    return Typed(gain, dimension) if name == "gain" else Typed(20 * np.log10(gain))


def require_within(wanted: float, frequency: Array, call: Call) -> None:
    """Raises `SimulationError` (E513) for a frequency outside the run."""
    first, last = frequency[[0, -1]]
    if not first * (1 - 1e-9) <= wanted <= last * (1 + 1e-9):
        message = f"{wanted:g} Hz is outside the run, from {first:g} Hz to {last:g} Hz"
        raise SimulationError(Problem(MISSING, message, call.span))


def _curve(call: Call, frequency: Array, scope: Scope, count: int) -> tuple[Curve, Dimension | None]:
    found = _argument(call, scope, count)
    try:
        return Curve(frequency, np.broadcast_to(np.asarray(found.value, complex), frequency.shape)), found.dimension
    except ValueError:
        message = "this response is zero or not finite somewhere, or is known at one frequency only"
        raise SimulationError(Problem(MISSING, message, call.span)) from None


def _argument(call: Call, scope: Scope, count: int) -> Typed:
    if len(call.arguments) != count or call.keywords:
        raise InputError(Problem("E207", f"{call.function}() takes a response" + ", and perhaps a frequency" * (
            call.function in ("gain", "phase", "db")), call.span))  # fmt: skip
    found = evaluate(call.arguments[0], scope)
    if isinstance(found.value, tuple):
        raise InputError(Problem("E204", f"{call.function}() takes one number, this is a vector", call.span))
    return found
