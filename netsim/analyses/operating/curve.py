"""Operating points as a curve F(u, l) = 0 over one quantity l (netsim.analyses.operating.continuation)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from netsim.analyses.signals.families import prescribe
from netsim.initial.charts import recharted
from netsim.initial.static.rest import Rest

Array = np.ndarray
ITERATIONS, TOLERANCE = 10, 1e-10
"""Newton iterations of a point, and the correction (relative to sizes) that ends them."""
SMALL = 1e-3
"""The share of its ordinary size below which an unknown is not looked at."""
NEAR = 0.1
"""A point that is found farther from where the tangent leads, in what its kind moves by, lies elsewhere."""
PARTS = 5
"""Points at the end of the range, in the middle, at a quarter ..., of which one tells what unknowns move by."""
LEAST = 1e-12
"""The least that a kind moves by, in ordinary sizes."""


@dataclass(eq=False)
class Curve:
    """F(u, l) = 0 from a point on it: the rest problem, g, l, how l is set, and the sizes of u and l; what other inputs
    are `held` at, by their places in g; the `kind` of each u; how far l goes `ahead`.

    Positions and potentials are measured by what their kind moves by along the curve, at first by what it would over
    the range of l if the curve were straight: lengths of 1 um fold as those of 1 m do. Other unknowns follow from them;
    their sizes are the ordinary ones, or larger."""

    rest: Rest
    g: Array
    value: float
    slot: int
    make: Any
    sizes: Array
    held: Mapping[int, float] = field(default_factory=dict)
    kind: Array = field(kw_only=True)
    ahead: float = field(kw_only=True)
    begin: Array | None = None
    moved: Array | None = None
    orientation: float = 0.0

    def measure_over(self, ahead: float) -> None:
        """Sizes of l and of what follows it anew, for a way of l from here on."""
        self.sizes[-1], self.ahead, self.begin, self.moved = abs(ahead), ahead, None, None

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
        before, rest, g = self.value, self.rest, self.g.copy()
        self.set(value)
        found = self.rest.residual(self.g)
        self.value, self.rest, self.g[:] = before, rest, g
        return found

    def by_value(self) -> Array:
        """dF/dl here, scaled."""
        h = 1e-5 * self.sizes[-1]
        return (self.residual(self.value + h) - self.residual(self.value - h)) / (2 * h) * self.sizes[-1]

    def solved(self, row: Array, miss: float = 1.0, tangent: bool = False) -> Array | None:
        """The step of [F' F_l; row] x = [-F or 0; miss], in sizes; None where it does not exist."""
        residual, matrix = self.rest.evaluate(self.g)
        scaled = csc_array(matrix.sparse) @ diags_array(self.sizes[:-1], format="csc")
        stays = miss == 0.0 and not row[:-1].any()  # no l but this one: its derivative is not needed
        by_value = np.zeros(self.rest.n) if stays else self.by_value()
        bordered = block_array([[scaled, by_value[:, None]], [row[None, :-1], row[-1:][None]]], format="csc")
        try:
            factor = splu(bordered)
            found = factor.solve(np.append(0.0 * residual if tangent else -residual, miss))
        except RuntimeError:
            return None
        self.orientation = determinant_sign(factor) if tangent else self.orientation
        return found if np.isfinite(found).all() else None

    def move(self, step: Array) -> None:
        """u and l by a step in sizes."""
        self.g[self.rest.places] += step[:-1] * self.sizes[:-1]
        self.set(self.value + step[-1] * self.sizes[-1])

    def tangent(self, known: Array) -> Array | None:
        """The direction of the curve, in the sense of the one that is known; None where there is none."""
        if self.begin is None:
            self._measure_ahead()
        found = self.solved(known, tangent=True)
        return None if found is None else found / np.linalg.norm(found)

    def _measure_ahead(self) -> None:
        """What unknowns move by over the range of l: straight on, and to a point in it that Newton's method finds."""
        here, only, self.begin = self.kept(), np.append(np.zeros(self.rest.n), 1.0), self.g[self.rest.places]
        ahead = self.solved(only, tangent=True)
        self._measure(ahead[:-1] * self.sizes[:-1] if ahead is not None else np.zeros(self.rest.n))
        for part in range(PARTS):
            self.set(here[1] + self.ahead * 0.5**part)
            found = self.corrected(only, near=np.inf)
            self.back(here)
            if found:
                break

    def _measure(self, way: Array) -> None:
        """Let unknowns that move by `way` count in their kind's size."""
        rest, most = self.rest, np.zeros(int(self.kind.max(initial=0)) + 1)
        np.maximum.at(most, self.kind, np.where(rest.turning, 0.0, np.abs(way)))
        self.moved = most if self.moved is None else np.maximum(self.moved, most)
        size, ordinary = self.moved[self.kind], rest.weight
        leads = rest.carried | (np.arange(rest.n) < rest.machine.system.layout.nk)
        follows = np.where(size > LEAST * ordinary, size, ordinary)
        self.sizes[:-1] = np.where(leads & ~rest.turning, follows, np.maximum(size, ordinary))

    def kept(self) -> tuple[Array, float]:
        """The point."""
        return self.g.copy(), self.value

    def back(self, kept: tuple[Array, float]) -> None:
        """The point that was kept."""
        self.g[:] = kept[0]
        self.set(kept[1])

    def apart(self, kept: tuple[Array, float]) -> float:
        """How far the unknowns and rotations that were kept are from these, in sizes."""
        layout, way = self.rest.machine.system.layout, np.abs(kept[0] - self.g)
        turned = way[layout.charts : layout.places]
        return float(max((way[self.rest.places] / self.sizes[:-1]).max(initial=0.0), turned.max(initial=0.0)))

    def corrected(self, row: Array, near: float = NEAR) -> int:
        """Newton's method at right angles to `row`; its iterations, 0 where it does not converge, or not `near`."""
        aside = np.zeros(len(self.sizes))
        for iteration in range(1, ITERATIONS + 1):
            step = self.solved(row, 0.0)
            if step is None:
                return 0
            if not row[:-1].any():
                step[-1] = 0.0  # l itself is held: exactly
            self.move(step)
            aside += step
            u = np.append(self.g[self.rest.places], self.value) / self.sizes
            if np.max(np.abs(step) / np.maximum(np.abs(u), SMALL)) < TOLERANCE:
                if np.abs(aside).max() > near:
                    return 0
                if self.begin is not None:
                    self._measure(self.g[self.rest.places] - self.begin)
                recharted(self.rest.machine.system, self.g, all_of_them=True)
                return iteration
        return 0


def determinant_sign(factor: Any) -> float:
    """The sign of the determinant of a sparse matrix from its factors (SuperLU): Pr A Pc = L U, L with ones on its
    diagonal. A permutation of n with c cycles has the sign (-1)^(n - c)."""
    n, odd = factor.shape[0], 0
    for order in (factor.perm_r, factor.perm_c):
        moved = csc_array((np.ones(n), (np.arange(n), order)), shape=(n, n))
        odd += n - connected_components(moved, directed=False)[0]
    return float(np.prod(np.sign(factor.U.diagonal()))) * (-1.0) ** odd
