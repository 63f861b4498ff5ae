"""Periodic states as a curve over a parameter (netsim.analyses.operating.continuation).

Unknowns are the states at the start in sizes, of a free oscillation its period, and the parameter l:

    [M - 1   P_l] [dz]   [z - P]
    [  row      ] [dl] = [ miss]

M is exact; how P depends on l at a fixed start is a difference of two runs, which moves no point that is found.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from netsim.analyses.periodic.shooting import PeriodMap, end_after, fitting_states, moved_start, period_map
from netsim.analyses.periodic.states import States, point_at
from netsim.analyses.signals.points import Point
from netsim.equations.machine import Machine
from netsim.results.selection import Selection
from netsim.simulate.options import TransientOptions
from netsim.text.errors import SimulationError

Array = np.ndarray
ITERATIONS = 8
"""Newton iterations of a point."""
ASIDE = 1e-5
"""How far the parameter is moved for a difference, as a share of its range."""
FAR = 2.0
"""Corrections, in sizes, above which a point is not looked for any longer."""
LEAST = 0.1
"""A step that leaves less of a free oscillation's period leads nowhere."""


@dataclass(eq=False)
class Branch:
    """A point of a branch of periodic states: the lap from it, the parameter, its machine and period there."""

    here: PeriodMap
    value: float
    made: Callable[[float], tuple[Machine, float]]
    options: TransientOptions
    selection: Selection
    states: States
    free: bool
    reach: float
    sizes: Array = field(init=False)
    moved: tuple[Point, float] | None = None
    lost: bool = False
    by_value: Array | None = None
    orientation: float = 0.0

    def __post_init__(self) -> None:
        count = len(self.states.places) + self.free
        self.sizes = np.append(np.ones(count), self.reach)

    def set(self, value: float) -> None:
        """Another parameter."""
        point, period = self.moved or (self.here.start, self.here.period)
        machine, given = self.made(value)
        try:
            point = Point(machine, point.structure, point_at(machine, point.structure, point.g), 0.0)
        except SimulationError:
            self.lost = True
        self.value, self.moved = value, (point, period if self.free else given)

    def move(self, step: Array) -> None:
        """Another point, by a step in sizes."""
        count = len(self.states.places)
        g = moved_start(self.here, self.here.along.basis.T @ step[:count])
        longer = 1.0 + float(step[count]) if self.free else 1.0
        self.moved = replace(self.here.start, g=g), self.here.period * longer
        if longer < LEAST:
            self.lost = True
            return
        self.set(self.value + float(step[-1]) * self.reach)

    def tangent(self, known: Array) -> Array | None:
        """The direction of the branch, in the sense of the one that is known; None where there is none."""
        found = self._solved(known, 1.0, direction=True)
        return None if found is None else found / np.linalg.norm(found)

    def corrected(self, row: Array) -> int:
        """Newton's method at right angles to `row`; its iterations, 0 where it does not converge."""
        self.by_value = None
        for iteration in range(1, ITERATIONS + 1):
            if self.lost:
                return 0
            try:
                self._run()
                step = self._solved(row, 0.0)
            except SimulationError:
                return 0
            size = np.inf if step is None else float(np.abs(step).max())
            if not size <= FAR:
                return 0
            if size <= 10.0 * self.options.rtol:
                return iteration if self._in_sizes() else 0
            assert step is not None
            self.move(step)
        return 0

    def _in_sizes(self) -> bool:
        """The states in the sizes that they have got to: a branch may begin where nothing moves. False where the period
        cannot be followed in them."""
        grown = fitting_states(self.here, True)  # those of an amplitude that comes near 0 again stay
        if grown is None:
            return True
        self.states = grown
        self.moved, self.by_value = (self.here.start, self.here.period), None
        try:
            self._run()
        except SimulationError:
            return False
        return True

    def kept(self) -> tuple[PeriodMap, float, States]:
        """The point."""
        return self.here, self.value, self.states

    def back(self, kept: tuple[PeriodMap, float, States]) -> None:
        """The point that was kept."""
        (self.here, self.value, self.states), self.moved, self.lost, self.by_value = kept, None, False, None

    def apart(self, kept: tuple[PeriodMap, float, States]) -> float:
        """How far the states that were kept are from these, in sizes; a free oscillation may begin elsewhere."""
        way = self.states.between(self.here.start.machine, kept[0].start.g, self.here.start.g)
        return np.inf if self.free else float(np.abs(way).max(initial=0.0))

    def _run(self) -> None:
        if self.moved is not None:
            self.here = period_map(*self.moved, self.options, self.selection, self.states)
            self.moved = None

    def _by_value(self) -> Array:
        """What the difference over a period changes by with the parameter, in sizes and in its range."""
        here, aside = self.here, ASIDE * self.reach
        machine, period = self.made(self.value + aside)
        start = point_at(machine, here.start.structure, here.start.g)
        point = Point(machine, here.start.structure, start, 0.0)
        end = end_after(point, here.period if self.free else period, self.options, self.states)
        change = self.states.between(machine, here.end, end) - self.states.between(machine, here.start.g, start)
        return np.asarray(change / ASIDE)

    def _solved(self, row: Array, miss: float, direction: bool = False) -> Array | None:
        """The step, or with `direction` the solution without differences; None where it does not exist."""
        here, basis = self.here, self.here.along.basis
        n, count = basis.shape[1], len(self.states.places)
        border = here.still
        if self.by_value is None:  # once for all iterations of a point, and its tangent
            self.by_value = self._by_value()
        columns = [basis.T @ here.rates] * self.free + [basis.T @ self.by_value]
        rows = [np.append(basis.T @ here.rates, np.zeros(len(columns) + border.shape[1]))] * self.free
        rows += [np.concatenate([each, np.zeros(len(columns) + border.shape[1])]) for each in border.T]
        rows += [np.concatenate([basis.T @ row[:count], row[count:], np.zeros(border.shape[1])])]
        top = np.column_stack([here.monodromy - np.eye(n), *columns, border])
        right = np.concatenate([np.zeros(n) if direction else -basis.T @ here.miss, np.zeros(len(rows) - 1), [miss]])
        try:
            found = np.linalg.solve(np.vstack([top, *rows]), right)
        except np.linalg.LinAlgError:
            return None
        return np.concatenate([basis @ found[:n], found[n : n + len(columns)]]) if np.isfinite(found).all() else None
