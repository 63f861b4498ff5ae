"""Operating points as a curve F(u, l) = 0 over one quantity l, round its folds.

It is followed along its tangent to a guess, then back to it by Newton's method at right angles to the tangent
(pseudo-arc-length continuation; H. Keller, Applications of Bifurcation Theory, 1977).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array, diags_array
from scipy.sparse.linalg import splu

from netsim.analyses.signals.families import prescribe
from netsim.initial.charts import recharted
from netsim.initial.static.rest import Rest
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST, ITERATIONS, TOLERANCE = 20_000, 10, 1e-10
"""Points of a curve, Newton iterations of one, and the correction (relative to sizes) that ends them."""
LONGEST, SHORTEST, GROWTH, EASY = 0.1, 1e-10, 1.5, 4
"""Steps along the curve, in ordinary sizes of the unknowns and in the range of l; a step of at most EASY iterations
lets the next one grow."""
BEYOND = 10.0
"""Ranges of l by which a curve that has turned round may leave the range at its beginning, before it is given up."""
SMALL = 1e-3
"""The share of its ordinary size below which an unknown is not looked at."""


@dataclass(eq=False)
class Curve:
    """F(u, l) = 0 from a point on it: the rest problem, g, l, how l is set, and the sizes of u and l; what other inputs
    are `held` at, by their places in g."""

    rest: Rest
    g: Array
    value: float
    slot: int
    make: Any
    sizes: Array
    held: Mapping[int, float] = field(default_factory=dict)

    def set(self, value: float) -> None:
        """l, in g or in the machine's parameters."""
        self.value = value
        if self.slot >= 0:
            self.g[self.slot] = value
        else:
            self.rest = replace(self.rest, machine=self.make(value))
            prescribe(self.rest.machine, self.g, self.held)

    def residual(self, value: float) -> Array:
        """F at another l."""
        before = self.value
        self.set(value)
        found = self.rest.residual(self.g)
        self.set(before)
        return found

    def equations(self) -> tuple[Array, Any, Array]:
        """F, dF/du and dF/dl here; all scaled unknowns."""
        residual, matrix = self.rest.evaluate(self.g)
        h = 1e-5 * self.sizes[-1]
        by_value = (self.residual(self.value + h) - self.residual(self.value - h)) / (2 * h)
        return residual, csc_array(matrix) @ diags_array(self.sizes[:-1], format="csc"), by_value * self.sizes[-1]

    def solved(self, row: Array, miss: float = 1.0, tangent: bool = False) -> Array | None:
        """The step of [F' F_l; row] x = [-F or 0; miss], in sizes; None where it does not exist."""
        residual, matrix, by_value = self.equations()
        bordered = block_array([[matrix, by_value[:, None]], [row[None, :-1], row[-1:][None]]], format="csc")
        try:
            found = splu(bordered).solve(np.append(0.0 * residual if tangent else -residual, miss))
        except RuntimeError:
            return None
        return found if np.isfinite(found).all() else None

    def move(self, step: Array) -> None:
        """u and l by a step in sizes."""
        self.g[self.rest.places] += step[:-1] * self.sizes[:-1]
        self.set(self.value + step[-1] * self.sizes[-1])

    def corrected(self, row: Array) -> int:
        """Newton's method at right angles to `row`; its iterations, 0 where it does not converge."""
        for iteration in range(1, ITERATIONS + 1):
            step = self.solved(row, 0.0)
            if step is None:
                return 0
            self.move(step)
            u = np.append(self.g[self.rest.places], self.value) / self.sizes
            if np.max(np.abs(step) / np.maximum(np.abs(u), SMALL)) < TOLERANCE:
                recharted(self.rest.machine.system, self.g, all_of_them=True)
                return iteration
        return 0


def along(curve: Curve, first: float, last: float, steps: Array, sense: float = 1.0) -> Iterator[float]:
    """Points of the curve from l = first, towards `last` at first (away from it with `sense` -1), until l passes
    `last`, those of `steps` among them; raises `SimulationError` (E441) where it cannot be followed."""
    low, high = min(first, last), max(first, last)
    only = np.zeros(len(curve.sizes))
    only[-1] = 1.0
    size, known = LONGEST / 4, sense * np.sign(last - first) * only
    yield curve.value
    for _ in range(MOST):
        tangent = curve.solved(known, tangent=True)
        if tangent is None:
            break
        tangent /= np.linalg.norm(tangent)
        here, place = curve.value, curve.g.copy()
        while True:
            aim = here + size * tangent[-1] * curve.sizes[-1]
            between = steps[(steps - here) * np.sign(aim - here) > 1e-9 * curve.sizes[-1]]
            wanted = between[np.argmin(np.abs(between - here))] if len(between) else aim
            hits = len(between) > 0 and abs(wanted - here) <= abs(aim - here)
            curve.move(tangent * (size * (abs(wanted - here) / abs(aim - here)) if hits else size))
            if hits:
                curve.set(float(wanted))
            taken = curve.corrected(only if hits else tangent)
            if taken:
                break
            curve.g[:] = place
            curve.set(here)
            size *= 0.5
            if size < SHORTEST:
                message = f"the operating points cannot be followed beyond {here:.6g}"
                raise SimulationError(Problem("E441", message, hint="a law with a jump there has no curve: smooth it"))
        size = min(size * GROWTH, LONGEST) if taken <= EASY else size
        known = tangent
        further = (curve.value - last) * np.sign(last - first) / (high - low)
        if further > 1e-9 or further < -1.0 - BEYOND:
            return
        yield curve.value
        if abs(curve.value - last) <= 1e-12 * (high - low):
            return
