"""A search for a point of rest: where it stands, its equations, and what it must not pass on its way."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from netsim.core.linear.columns import Columns, diagonal_of
from netsim.core.linear.factors import Factor, SingularMatrix, analyse, refactor
from netsim.core.newton import PIVOT_QUALITY
from netsim.initial.charts import recharted, way_between
from netsim.initial.diagnosis.suspects import without_derivative
from netsim.initial.static.determined import finite, least_determined_step
from netsim.initial.static.held import STRAIGHT, turns_of_bodies
from netsim.initial.static.rest import Rest, step_matrix

Array = np.ndarray
HALVINGS = 100
"""Bisections of a step, at most: it is halved as far as numbers are told apart."""


class Switched(Exception):
    """A search came to a point g that contradicts the discretes, by a last step from the point `before` in the
    direction `way` (of positions; none: it follows no motion)."""

    def __init__(self, g: Array, before: Array, way: Array | None):
        super().__init__("a point of the search contradicts the discrete variables")
        self.g, self.before, self.way = g, before, way


Contradicted = Callable[[Array, Array, "Array | None"], bool]
"""Whether a point g contradicts the discretes in it, where a motion in a direction (of positions) leads there from
another point."""


@dataclass(eq=False)
class Search:
    """A search under way: the point g, the diagonal D, the factor that is kept for its pivots, what was counted and
    told; the power of ten of the conductances that made a matrix regular (see `limited_newton`); whether unknowns that
    nothing determines stay where they are, as those of nodes do that nothing resists; what switches on the way, and
    whether that begins here; the first step of a pseudo-transient."""

    rest: Rest
    g: Array
    diagonal: Array
    iterations: int = 0
    log: list[str] = field(default_factory=list)
    factor: Factor | None = None
    decade: int = -8
    staying: bool = False
    contradicted: Contradicted | None = None
    begins: bool = True
    first: float = 1.0

    @property
    def u(self) -> Array:
        return self.g[self.rest.places]

    def move(self, step: Array) -> None:
        """u + step, with charts moved where rotations have left them, or all where the turns of what is held count."""
        self.g[self.rest.places] += step
        recharted(self.rest.machine.system, self.g, all_of_them=bool(self.rest.held.rows.any()))

    def move_watched(self, step: Array, straight: bool = True) -> None:
        """As `move`; raises `Switched` at the first point on the way that contradicts the discretes; conditions on
        velocities see the step unless that is a chord of a way that is not `straight`."""
        before, layout = self.g.copy(), self.rest.machine.system.layout
        way, begins, self.begins = step[: layout.nk] if straight else None, self.begins, False
        self.move(step)
        if self.contradicted is None or not self.contradicted(self.g, before, way):
            return
        if begins:  # what forces were belongs to the modes before
            before[layout.y : layout.history] = self.g[layout.y : layout.history]
            step = np.where(np.arange(len(step)) < layout.nk, step, 0.0)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            self.g[:] = before
            self.move(middle * step)
            low, high = (low, middle) if self.contradicted(self.g, before, way) else (middle, high)
        self.g[:] = before
        self.move(high * step)
        raise Switched(self.g.copy(), before, way)

    def contradicts(self, start: Array) -> bool:
        """Whether the point contradicts the discretes where it is reached from `start`, or may on the way."""
        if self.contradicted is None:
            return False
        system = self.rest.machine.system
        way = way_between(system, start, self.g)
        turned = np.abs(way[turns_of_bodies(system)]).max(initial=0.0) > STRAIGHT
        return turned or self.contradicted(self.g, start, way)

    def check_from(self, start: Array) -> None:
        """Raises `Switched` on the straight way from `start` to the point, where this contradicts the discretes."""
        if self.contradicted is None or not self.contradicted(self.g, start, None):
            return
        found, step = self.g.copy(), self.u - start[self.rest.places]
        step[: self.rest.machine.system.layout.nk] = way_between(self.rest.machine.system, start, self.g)
        self.g[:] = start
        self.move_watched(step, straight=False)
        raise Switched(found, start, None)  # at its very end

    def solve(self, matrix: Columns, r: Array) -> Array | None:
        """matrix^-1 r, or None where the matrix is not finite or singular (see `staying`)."""
        if not np.all(np.isfinite(matrix.data)) or not np.all(np.isfinite(r)):
            return None
        if (
            self.factor is None
            or len(self.factor.source) != len(matrix.data)
            or refactor(self.factor, matrix.data) < PIVOT_QUALITY
        ):
            self.factor = None
            try:
                self.factor = analyse(self.rest.n, matrix.indptr, matrix.indices, matrix.data, explain=self.staying)
            except SingularMatrix as singular:
                return least_determined_step(matrix, r, singular, self.rest.weight) if self.staying else None
        return finite(self.factor, r)


@dataclass(frozen=True, eq=False)
class DeformedEquations:
    """F(u) + strength D (u - anchor) - offset: the equations of a rung. Rotations in space are not anchored: their
    charts move."""

    strength: float = 0.0
    anchor: Array | None = None
    offset: Array | None = None

    def residual(self, search: Search) -> Array:
        return self._with(search, search.rest.residual(search.g))

    def both(self, search: Search) -> tuple[Array, Columns]:
        r, matrix = search.rest.evaluate(search.g)
        return self._with(search, r), matrix + diagonal_of(self._springs(search)) if self.strength else matrix

    def _springs(self, search: Search) -> Array:
        return self.strength * (
            search.diagonal if self.anchor is None else np.where(search.rest.turning, 0.0, search.diagonal)
        )

    def _with(self, search: Search, r: Array) -> Array:
        if self.anchor is not None:
            r = r + self._springs(search) * (search.u - self.anchor)
        return r if self.offset is None else r - self.offset


PLAIN = DeformedEquations()


def search_of(rest: Rest, g: Array) -> Search:
    """A search from the point in g, or beside it where equations have no derivative there, with D as it is there."""
    if (bare := without_derivative(rest.evaluate(g)[1])).any():
        system = rest.machine.system
        g[rest.places[bare]] += np.concatenate([system.position_nominals, system.nominals[system.layout.nk :]])[bare]
    kx = _own(rest, step_matrix(rest.machine, g, 1.0, 0.0, 0.0)[1])
    mass = _own(rest, step_matrix(rest.machine, g, 0.0, 0.0, 0.0, 1.0)[1])
    size = np.maximum(np.maximum(np.where(np.isfinite(kx), kx, 0.0), mass), 1e-3 * rest.unit)
    return Search(rest, g, np.where(rest.carried, size, 0.0))


def _own(rest: Rest, entries: Array) -> Array:
    """|diagonal| of a matrix."""
    found = np.zeros(rest.n)
    at = rest.machine.system.pattern.indices == rest.columns
    found[rest.columns[at]] = np.abs(entries[at])
    return found
