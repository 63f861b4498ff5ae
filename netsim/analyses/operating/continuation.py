"""Solutions as a curve over one quantity l, round its folds, where l turns back: operating points, periodic states.

A curve is followed along its tangent to a guess, then back to it by Newton's method at right angles to the tangent
(pseudo-arc-length continuation; H. Keller, Applications of Bifurcation Theory, 1977). Steps and tangents are in sizes
of the unknowns, behind them l.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST = 20_000
"""Points of a curve."""
LONGEST, SHORTEST, GROWTH, EASY = 0.1, 1e-10, 1.5, 4
"""Steps along the curve, in ordinary sizes of the unknowns and in the range of l; a step of at most EASY iterations
lets the next one grow."""
BEYOND = 10.0
"""Ranges of l by which a curve that has turned round may leave the range at its beginning, before it is given up."""
LEVEL, HALVINGS = 1e-4, 40
"""A fold is found where the tangent's part along l is no larger; how often the way to it is parted at most."""
CLOSED, PARTS = 1e-6, 20
"""A curve is closed that comes back to its beginning by less, in sizes; how often the way to a crossing is halved."""


@dataclass
class Features:
    """What a curve has on its way: l at its folds, where other curves cross it, where it jumps, and whether it comes
    back to its beginning."""

    folds: list[float] = field(default_factory=list)
    crossings: list[float] = field(default_factory=list)
    jumps: list[float] = field(default_factory=list)
    closed: bool = False


class Curve(Protocol):
    """A point on a curve: l, and the sizes of unknowns and l."""

    value: float
    sizes: Array
    orientation: float
    """The sign of the determinant of the equations with the last tangent as a row, 0 where it is not known: it changes
    where another curve crosses, and nowhere else."""

    def set(self, value: float) -> None:
        """Another l."""

    def move(self, step: Array) -> None:
        """Another point, by a step in sizes."""

    def tangent(self, known: Array) -> Array | None:
        """The direction of the curve, in the sense of the one that is known; None where there is none."""

    def corrected(self, row: Array) -> int:
        """Back onto the curve at right angles to `row`; how many iterations it took, 0 where that fails."""

    def kept(self) -> Any:
        """The point, for `back`."""

    def back(self, kept: Any) -> None:
        """The point that was kept."""

    def apart(self, kept: Any) -> float:
        """How far the point that was kept is from this one, in sizes, without l."""


def follow_curve(
    curve: Curve, first: float, last: float, steps: Array, sense: float = 1.0, what: str = "operating points",
    features: Features | None = None, longest: float = LONGEST,
) -> Iterator[float]:  # fmt: skip
    """Points of the curve from l = first, towards `last` at first (away from it with `sense` -1), until l passes `last`
    or the curve is at its beginning again, those of `steps` among them, and its `features`; no step is longer than
    `longest`. Raises `SimulationError` (E441) where it cannot be followed."""
    only = np.append(np.zeros(len(curve.sizes) - 1), 1.0)
    features, size = features or Features(), longest / 4
    known, way, side = sense * np.sign(last - first) * only, 0.0, 0.0
    yield curve.value
    place = begin = curve.kept()
    for k in range(MOST):
        tangent = curve.tangent(known)
        if tangent is None:
            raise _lost(f"the {what} cannot be followed beyond {curve.value:.6g}: the curve has no direction there")
        here, before, place = curve.value, place, curve.kept()
        if way:
            _look_back(curve, features, before, known, way, tangent, side)
        side = curve.orientation
        size, way, taken = _step(curve, tangent, size, steps)
        if not taken:
            raise _lost(f"the {what} cannot be followed beyond {here:.6g}")
        size = min(size * GROWTH, longest) if taken <= EASY else size
        known = tangent
        features.closed = (
            k > 1 and (here - first) * (curve.value - first) <= 0.0 and _is_back(curve, first, begin, only)
        )
        further = (curve.value - last) * np.sign(last - first) / abs(last - first)
        if further > 1e-9 or further < -1.0 - BEYOND:
            return
        yield curve.value
        if features.closed or abs(curve.value - last) <= 1e-12 * abs(last - first):
            return
    raise _lost(f"the {what} have not come to {last:.6g} after {MOST} points; they are at {curve.value:.6g}")


def _step(curve: Curve, tangent: Array, size: float, steps: Array) -> tuple[float, float, int]:
    """A step of the size along the tangent, or less where it fails or to the next one of `steps`: the size with which
    it succeeds, the way, and how many iterations it took, 0 where none succeeds."""
    here, place, only = curve.value, curve.kept(), np.append(np.zeros(len(tangent) - 1), 1.0)
    while size >= SHORTEST:
        aim = here + size * tangent[-1] * curve.sizes[-1]
        between = steps[(steps - here) * np.sign(aim - here) > 1e-9 * curve.sizes[-1]]
        wanted = between[np.argmin(np.abs(between - here))] if len(between) else aim
        hits = len(between) > 0 and abs(wanted - here) <= abs(aim - here)
        way = size * (abs(wanted - here) / abs(aim - here)) if hits else size
        curve.move(tangent * way)
        if hits:
            curve.set(float(wanted))
        if taken := curve.corrected(only if hits else tangent):
            return size, way, taken
        curve.back(place)
        size *= 0.5
    return size, 0.0, 0


def _look_back(
    curve: Curve, features: Features, before: Any, known: Array, way: float, tangent: Array, side: float
) -> None:
    """A fold, or a crossing, within a `way` along the tangent `known` from the point `before`, on this `side` of other
    curves; the curve stands where it stood."""
    here, orientation = curve.kept(), curve.orientation
    if tangent[-1] * known[-1] < 0.0:
        features.folds += [value for value in (_fold(curve, before, known, way, tangent),) if value is not None]
    if side * orientation < 0.0:
        features.crossings.append(_crossing(curve, before, known, way, side))
    curve.back(here)
    curve.orientation = orientation


def _lost(message: str) -> SimulationError:
    hint = "a law with a jump there has no curve: smooth it, or take `folds = jump`"
    return SimulationError(Problem("E441", message, hint=hint))


def _is_back(curve: Curve, first: float, begin: Any, only: Array) -> bool:
    """Whether the curve, which passes l = first here, is at its beginning; it stands there then."""
    here = curve.kept()
    curve.set(first)
    if curve.corrected(only) and curve.apart(begin) < CLOSED:
        return True
    curve.back(here)
    return False


def _crossing(curve: Curve, start: Any, before: Array, way: float, side: float) -> float:
    """l where another curve crosses, within a `way` along the tangent `before` from a point on this `side` of it."""
    low, high, found = 0.0, 1.0, curve.value
    for _ in range(PARTS):
        share = 0.5 * (low + high)
        curve.back(start)
        curve.move(before * (way * share))
        if not curve.corrected(before) or curve.tangent(before) is None:
            break
        found = curve.value
        low, high = (share, high) if curve.orientation * side > 0.0 else (low, share)
    return found


def _fold(curve: Curve, start: Any, before: Array, way: float, behind: Array) -> float | None:
    """l at the fold within a `way` along the tangent `before` from a point; `behind` is the tangent at its end. None
    where the curve is lost. Regula falsi, with the value at the end that stays halved (Illinois)."""
    low, high, begins, ends = 0.0, way, float(before[-1]), float(behind[-1])
    for _ in range(HALVINGS):
        share = low + (high - low) * begins / (begins - ends)
        curve.back(start)
        curve.move(before * share)
        tangent = curve.tangent(before) if curve.corrected(before) else None
        if tangent is None:
            return None
        level = float(tangent[-1])
        if abs(level) <= LEVEL:
            return curve.value
        if level * begins > 0.0:
            low, begins, ends = share, level, ends / 2.0
        else:
            high, ends, begins = share, level, begins / 2.0
    return None
