"""Figures of a series over a refined span of time: extremes, means, integrals, and where it passes zero."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.loop.refined import roots
from netsim.results.measuring.quadrature import Inside, accumulated
from netsim.results.series import interpolated
from netsim.text.units import Dimension

Array = np.ndarray
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A series over a refined span of time."""

    time: Array
    series: Array
    inside: Inside | None = None
    """The same at instants inside intervals, for integrals; None where nothing more is known of it."""

    def at(self, t: float) -> float:
        return float(interpolated(self.time, self.series, np.array([t]))[0])

    @property
    def length(self) -> float:
        return float(self.time[-1] - self.time[0])


BESIDE = 0.01
"""Corners this near to a point, in intervals, stand on it: a step ends there."""
CORNER = 3.0
"""A maximum that bends so many times more than the trajectory does on either side of it is a corner."""


def largest(trajectory: Trajectory) -> tuple[float, float]:
    """(value, instant) of the maximum: that of the parabola through the largest point and its neighbours; where the
    trajectory has a corner there, the corner or the maximum of a parabola on one side of it."""
    i = int(np.argmax(trajectory.series))
    top = float(trajectory.series[i]), float(trajectory.time[i])
    middle, far = _parabola(trajectory, i), [side for k in (i - 2, i + 2) if (side := _parabola(trajectory, k))]
    if middle is None:
        return top
    if not far or abs(middle[2]) <= CORNER * max(abs(side[2]) for side in far):
        return _vertex(middle, trajectory.time[i - 1], trajectory.time[i + 1]) or top
    if corner := _corner(trajectory, i):
        return max(top, corner)
    spans = ((trajectory.time[i - 1], trajectory.time[i]), (trajectory.time[i], trajectory.time[i + 1]))
    sides = [(_parabola(trajectory, k), span) for k, span in zip((i - 1, i + 1), spans)]
    return max([top, *filter(None, (_vertex(side, *span) for side, span in sides if side))])


def _corner(trajectory: Trajectory, i: int) -> tuple[float, float] | None:
    """(value, instant) where the lines on both sides of the largest point i meet beside it, as those of |x| do: in that
    of the two intervals on either side of which the trajectory is the straighter one; None where
    they meet at a point."""
    found, t, x = [], trajectory.time, trajectory.series
    for first in (i - 1, i):  # the interval in which the corner may lie
        before, behind = _parabola(trajectory, first - 1), _parabola(trajectory, first + 2)
        if before and behind and np.all(np.diff(t[first - 1 : first + 3]) > 0.0):
            (a, b, c, d), (ya, yb, yc, yd) = t[first - 1 : first + 3].tolist(), x[first - 1 : first + 3].tolist()
            rise, fall = (yb - ya) / (b - a), (yd - yc) / (d - c)
            share = (yc - yb - fall * (c - b)) / ((rise - fall) * (c - b)) if rise > 0.0 > fall else 0.0
            found.append((abs(before[2]) + abs(behind[2]), share, yb + rise * share * (c - b), b + share * (c - b)))
    _, share, *corner = min(found, default=(0.0, 0.0, 0.0, 0.0))
    return (corner[0], corner[1]) if BESIDE < share < 1.0 - BESIDE else None


def _parabola(trajectory: Trajectory, i: int) -> tuple[float, float, float, float, float] | None:
    """The parabola through point i and its neighbours, y = ya + (t - a)*(slope + bend*(t - b)): ya, slope, bend, a, b;
    None at an end, and where the points stand too unevenly (beside a jump)."""
    if not 0 < i < len(trajectory.time) - 1:
        return None
    (a, b, c), (ya, yb, yc) = trajectory.time[i - 1 : i + 2].tolist(), trajectory.series[i - 1 : i + 2].tolist()
    if not 0.2 < (c - b) / max(b - a, TINY) < 5.0:
        return None
    slope, right = (yb - ya) / (b - a), (yc - yb) / (c - b)
    return ya, slope, (right - slope) / (c - a), a, b


def _vertex(
    parabola: tuple[float, float, float, float, float], first: float, last: float
) -> tuple[float, float] | None:
    """(value, instant) of the maximum of a parabola between two instants; None where it has none there."""
    ya, slope, bend, a, b = parabola
    t = (a + b) / 2 - slope / (2 * bend) if bend < 0 else last + 1.0
    return (ya + (t - a) * (slope + bend * (t - b)), t) if first <= t <= last else None


def negative(trajectory: Trajectory) -> Trajectory:
    """Upside down."""
    return Trajectory(trajectory.time, -trajectory.series)


def _total(trajectory: Trajectory) -> Any:
    if len(trajectory.time) < 2:
        return np.zeros(trajectory.series.shape[:-1])
    return accumulated(trajectory.series, trajectory.time, trajectory.inside)[..., -1]


def _mean(trajectory: Trajectory) -> Any:
    return _total(trajectory) / trajectory.length if trajectory.length else trajectory.series[..., -1]


def _rms(trajectory: Trajectory) -> Any:
    inside = trajectory.inside
    square = Trajectory(trajectory.time, trajectory.series**2, inside and (lambda t: inside(t) ** 2))
    return np.sqrt(_mean(square))


Rule = Callable[[Dimension | None, Dimension | None], Dimension | None]


def _same(dimension: Dimension | None, axis: Dimension | None) -> Dimension | None:
    return dimension


def _place(dimension: Dimension | None, axis: Dimension | None) -> Dimension | None:
    return axis


def _area(dimension: Dimension | None, axis: Dimension | None) -> Dimension | None:
    return None if dimension is None or axis is None else dimension * axis


OVER: dict[str, tuple[Callable[[Trajectory], Any], Rule]] = {
    "max": (lambda c: largest(c)[0], _same),
    "min": (lambda c: -largest(negative(c))[0], _same),
    "pp": (lambda c: largest(c)[0] + largest(negative(c))[0], _same),
    "argmax": (lambda c: largest(c)[1], _place),
    "argmin": (lambda c: largest(negative(c))[1], _place),
    "mean": (_mean, _same),
    "rms": (_rms, _same),
    "integral": (_total, _area),
    "final": (lambda c: float(c.series[-1]), _same),
}
"""Functions of one signal over a span: the number, and its dimension (from that of the signal and that of the axis)."""
SUMMED = ("mean", "rms", "integral")
"""Those that integrate, several series (..., instants) at once."""


def crossings(trajectory: Trajectory, op: str) -> Array:
    """Instants at which `series op 0` comes true, on the way up or down, or (==) either way."""
    found = np.empty(len(trajectory.series))
    way = {">": 1, "<": -1}.get(op[0], 0)
    time, series = np.ascontiguousarray(trajectory.time), np.ascontiguousarray(trajectory.series)
    return found[: roots(time, series, way, op in (">", "<"), found)]
