"""Figures of a series over a refined span of time: extremes, means, integrals, and where it passes zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.library.component import SECOND
from netsim.results.series import accumulated, between
from netsim.text.units import Dimension

Array = np.ndarray
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Course:
    """A series over a refined span of time."""

    time: Array
    series: Array

    def at(self, t: float) -> float:
        return float(between(self.time, self.series, np.array([t]))[0])

    @property
    def length(self) -> float:
        return float(self.time[-1] - self.time[0])


def largest(course: Course) -> tuple[float, float]:
    """(value, instant) of the maximum: that of the parabola through the largest point and its neighbours."""
    i = int(np.argmax(course.series))
    if (
        0 < i < len(course.time) - 1
        and 0.2 < (course.time[i + 1] - course.time[i]) / max(course.time[i] - course.time[i - 1], TINY) < 5.0
    ):
        (a, b, c), (ya, yb, yc) = course.time[i - 1 : i + 2], course.series[i - 1 : i + 2]
        left, right = (yb - ya) / (b - a), (yc - yb) / (c - b)
        bend = (right - left) / (c - a)
        if bend < 0:
            t = float(np.clip((a + b) / 2 - left / (2 * bend), a, c))
            return float(ya + (t - a) * (left + bend * (t - b))), t
    return float(course.series[i]), float(course.time[i])


def negative(course: Course) -> Course:
    """Upside down."""
    return Course(course.time, -course.series)


def _total(course: Course) -> float:
    return float(accumulated(course.series, course.time)[-1]) if len(course.time) > 1 else 0.0


def _mean(course: Course) -> float:
    return _total(course) / course.length if course.length else float(course.series[-1])


def _rms(course: Course) -> float:
    return float(np.sqrt(_mean(Course(course.time, course.series**2))))


OVER: dict[str, tuple[Callable[[Course], float], Callable[[Dimension], Dimension]]] = {
    "max": (lambda c: largest(c)[0], lambda d: d),
    "min": (lambda c: -largest(negative(c))[0], lambda d: d),
    "pp": (lambda c: largest(c)[0] + largest(negative(c))[0], lambda d: d),
    "argmax": (lambda c: largest(c)[1], lambda d: SECOND),
    "argmin": (lambda c: largest(negative(c))[1], lambda d: SECOND),
    "mean": (_mean, lambda d: d),
    "rms": (_rms, lambda d: d),
    "integral": (_total, lambda d: d * SECOND),
    "final": (lambda c: float(c.series[-1]), lambda d: d),
}
"""Functions of one signal over a span: the number, and its dimension."""


def crossings(course: Course, op: str) -> Array:
    """Instants at which `series op 0` comes true, on the way up or down, or (==) either way."""
    x = course.series
    up, down = (x[:-1] < 0) & (x[1:] >= 0), (x[:-1] > 0) & (x[1:] <= 0)
    if op in (">", "<"):
        up, down = (x[:-1] <= 0) & (x[1:] > 0), (x[:-1] >= 0) & (x[1:] < 0)
    edges = np.flatnonzero(up if op[0] == ">" else down if op[0] == "<" else up | down)
    return np.array([_root(course, int(i)) for i in edges])


def _root(course: Course, i: int) -> float:
    """Where the cubic through the points around the interval i passes zero in it."""
    from scipy.interpolate import BarycentricInterpolator
    from scipy.optimize import brentq

    t, x = course.time, course.series
    if x[i] == 0 or x[i + 1] == 0 or t[i] == t[i + 1]:
        return float(t[i] if x[i] == 0 else t[i + 1])
    near = slice(max(i - 1, 0), i + 3)
    if np.any(np.diff(t[near]) <= 0):
        near = slice(i, i + 2)
    scale = t[i + 1] - t[i]
    cubic = BarycentricInterpolator((t[near] - t[i]) / scale, x[near])
    return float(t[i] + scale * brentq(lambda s: float(cubic(s)), 0.0, 1.0, xtol=1e-14))
