"""Operating points as a curve F(u, l) = 0 over one quantity l (netsim.analyses.operating.continuation)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array, diags_array
from scipy.sparse.linalg import splu

from netsim.analyses.signals.families import prescribe
from netsim.initial.charts import recharted
from netsim.initial.static.rest import Rest

Array = np.ndarray
ITERATIONS, TOLERANCE = 10, 1e-10
"""Newton iterations of a point, and the correction (relative to sizes) that ends them."""
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

    def tangent(self, known: Array) -> Array | None:
        """The direction of the curve, in the sense of the one that is known; None where there is none."""
        found = self.solved(known, tangent=True)
        return None if found is None else found / np.linalg.norm(found)

    def kept(self) -> tuple[Array, float]:
        """The point."""
        return self.g.copy(), self.value

    def back(self, kept: tuple[Array, float]) -> None:
        """The point that was kept."""
        self.g[:] = kept[0]
        self.set(kept[1])

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
