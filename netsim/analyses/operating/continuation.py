"""Solutions as a curve over one quantity l, round its folds, where l turns back: operating points, periodic states.

A curve is followed along its tangent to a guess, then back to it by Newton's method at right angles to the tangent
(pseudo-arc-length continuation; H. Keller, Applications of Bifurcation Theory, 1977). Steps and tangents are in sizes
of the unknowns, behind them l.
"""

from collections.abc import Iterator
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


class Curve(Protocol):
    """A point on a curve: l, and the sizes of unknowns and l."""

    value: float
    sizes: Array

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


def follow_curve(
    curve: Curve, first: float, last: float, steps: Array, sense: float = 1.0, what: str = "operating points",
    folds: list[float] | None = None, longest: float = LONGEST,
) -> Iterator[float]:  # fmt: skip
    """Points of the curve from l = first, towards `last` at first (away from it with `sense` -1), until l passes
    `last`, those of `steps` among them, and l at its `folds`; no step is longer than `longest`. Raises
    `SimulationError` (E441) where it cannot be followed."""
    low, high = min(first, last), max(first, last)
    only = np.zeros(len(curve.sizes))
    only[-1] = 1.0
    size, known = longest / 4, sense * np.sign(last - first) * only
    yield curve.value
    place, way = curve.kept(), 0.0
    for _ in range(MOST):
        tangent = curve.tangent(known)
        if tangent is None:
            raise _lost(f"the {what} cannot be followed beyond {curve.value:.6g}: the curve has no direction there")
        here, before, place = curve.value, place, curve.kept()
        if folds is not None and way and tangent[-1] * known[-1] < 0.0:
            folds += [value for value in (_fold(curve, before, known, way, tangent),) if value is not None]
            curve.back(place)
        while True:
            aim = here + size * tangent[-1] * curve.sizes[-1]
            between = steps[(steps - here) * np.sign(aim - here) > 1e-9 * curve.sizes[-1]]
            wanted = between[np.argmin(np.abs(between - here))] if len(between) else aim
            hits = len(between) > 0 and abs(wanted - here) <= abs(aim - here)
            way = size * (abs(wanted - here) / abs(aim - here)) if hits else size
            curve.move(tangent * way)
            if hits:
                curve.set(float(wanted))
            taken = curve.corrected(only if hits else tangent)
            if taken:
                break
            curve.back(place)
            size *= 0.5
            if size < SHORTEST:
                raise _lost(f"the {what} cannot be followed beyond {here:.6g}")
        size = min(size * GROWTH, longest) if taken <= EASY else size
        known = tangent
        further = (curve.value - last) * np.sign(last - first) / (high - low)
        if further > 1e-9 or further < -1.0 - BEYOND:
            return
        yield curve.value
        if abs(curve.value - last) <= 1e-12 * (high - low):
            return
    raise _lost(f"the {what} have not come to {last:.6g} after {MOST} points; they are at {curve.value:.6g}")


def _lost(message: str) -> SimulationError:
    hint = "a law with a jump there has no curve: smooth it, or take `folds = jump`"
    return SimulationError(Problem("E441", message, hint=hint))


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
