"""The equations of rest: F(t, x, v, a, y, q') = 0 with v = 0, a = 0, q' = 0, for the positions x and the values y.

They are the step equations with d(x, v, a)/du = (1, 0, 0) and d(q')/dq = 0, so the step's kernels serve. An equation
that speaks of rates only has nothing to say at rest: v = 0 at every place, der(work) = force v for any work. Its
integral takes its place (netsim.initial.static.held): displacements stay in the ratio of the velocities or
accelerations, and differentiated quantities keep their values.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.linear.columns import Columns
from netsim.core.newton import at_round_off, set_coefficients
from netsim.core.problem import PRESCRIBED_ORDERS
from netsim.equations.batches import indeterminacy_of
from netsim.equations.layout import Layout
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars, nominal
from netsim.initial.charts import recharted
from netsim.initial.static.held import STRAIGHT, Held, turns_of_bodies
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
ROUNDED = 64 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Rest:
    """The static problem of a machine: rows of rates with the matrix that replaces theirs, scales, and where u = [x |
    y] stands in g.

    `carried` marks unknowns of nodes with a balance, where conductances or stiffnesses to ground may be added; `unit`
    is an ordinary size of these. `pushed`: those whose balance a source puts out of balance where the search begins,
    though nothing yields to it there (a valve that is closed yet): it has something to say at rest.
    """

    machine: Machine
    origin: Array
    by_differentiated: Array
    held: Held
    weight: Array
    carried: Array
    unit: Array
    pushed: Array

    @property
    def n(self) -> int:
        return self.machine.system.n

    @cached_property
    def places(self) -> Array:
        """Where the unknowns stand in g: positions, then values."""
        return places_of_unknowns(self.machine.system.layout)

    @cached_property
    def turning(self) -> Array:
        """Unknowns that are rotations in charts."""
        found = np.zeros(self.n, bool)
        for first in self.machine.system.numbering.rotations:
            found[first : first + 3] = True
        return found

    @cached_property
    def columns(self) -> Array:
        """The column of every entry of the pattern."""
        return np.repeat(np.arange(self.n), np.diff(self.machine.system.pattern.indptr))

    def evaluate(self, g: Array) -> tuple[Array, Columns]:
        """Residuals and their matrix at what g holds."""
        pattern = self.machine.system.pattern
        residual, entries = step_matrix(self.machine, g, 1.0, 0.0, 0.0)
        if self.by_differentiated.any():
            other, at = step_matrix(self.machine, g, 0.0, 0.0, 1.0)[1], self.by_differentiated[pattern.indices]
            moved = np.zeros(self.n)
            np.add.at(moved, pattern.indices[at], other[at] * (g[self.places] - self.origin)[self.columns[at]])
            entries[at], residual[self.by_differentiated] = other[at], moved[self.by_differentiated]
        if (rows := self.held.rows).any():
            rates = self._rates(g, entries)
            residual[rows] += (self.held.behind + self.held.step(self.machine.system, g, rates))[rows]
            entries += 0.5 * (self.held.rates + rates)
        if self.machine.element is not None:
            entries[self._rounding(entries)] = 0.0
        return residual, Columns((self.n, self.n), pattern.indptr, pattern.indices, entries)

    def _rates(self, g: Array, entries: Array) -> Array:
        """The coefficients of velocities and accelerations in the rows that are held, by entry; `entries` are those of
        positions and values."""
        found = np.zeros(len(entries))
        for rows, orders in (
            (self.held.by_velocity, (0.0, 1.0, 0.0)),
            (self.held.by_acceleration, (0.0, 0.0, 0.0, 1.0)),
        ):
            if rows.any():
                at = rows[self.machine.system.pattern.indices]
                found[at] = step_matrix(self.machine, g, *orders)[1][at] - entries[at]
        return found

    def holds_straight(self, g: Array) -> bool:
        """Whether what is held is told by the way as a whole, up to g: coefficients are constant, or no body turns."""
        held, system = self.held, self.machine.system
        if not held.rows.any() or not (np.abs(held.displaced(system, g)[0][turns_of_bodies(system)]) > STRAIGHT).any():
            return True
        rates = self._rates(g, step_matrix(self.machine, g, 1.0, 0.0, 0.0)[1])
        return bool(held.constant(system, rates)[held.rows].all())

    def advance(self, g: Array) -> None:
        """What is held is held at g from here on, with what is missing of it so far."""
        if self.held.rows.any():
            self.held.advance(self.machine.system, g, self._rates(g, step_matrix(self.machine, g, 1.0, 0.0, 0.0)[1]))

    def _rounding(self, entries: Array) -> Array:
        """Which entries of a tree's balances are what rounding leaves of the terms they are summed from: as works of
        ordinary motions, beside the largest of them and beside the wrenches that links carry."""
        element, pattern, nk = self.machine.element, self.machine.system.pattern, self.machine.system.layout.nk
        balances = np.zeros(self.n, bool)
        balances[element.elements.row[element.elements.row >= 0]] = True
        at = balances[pattern.indices] & (pattern.indices < nk) & (self.columns < nk)
        works = np.abs(entries) * self.weight[pattern.indices] * self.weight[self.columns]
        size, wrench = float(self.weight[:nk].max(initial=1.0)), np.abs(element.motion.wrench)
        largest = max(works[at].max(initial=0.0), wrench[:, :3].max() * size, wrench[:, 3:].max())
        return at & (works <= ROUNDED * largest)

    def residual(self, g: Array) -> Array:
        """Residuals alone."""
        if self.by_differentiated.any() or self.held.rows.any():
            return self.evaluate(g)[0]
        out = np.zeros(self.machine.system.out_size)
        set_coefficients(g, 1.0, 0.0, 0.0, 0.0)
        run_table(self.machine.problem.residual, g, out)
        return out[: self.n]

    def settled(self, g: Array, residual: Array) -> bool:
        """Whether every residual is explained by the rounding of its terms."""
        layout = self.machine.system.layout
        set_coefficients(g, 1.0, 0.0, 0.0, 0.0)
        out = np.zeros(self.machine.system.out_size)
        out[: self.n] = residual
        size, magnitude = np.zeros((2, layout.n))
        return bool(
            at_round_off(
                self.machine.problem,
                np.zeros(3 * layout.nk + layout.nq),
                g.copy(),
                g[self.places],
                out,
                size,
                magnitude,
            )
        )


def step_matrix(machine: Machine, g: Array, kx: float, kv: float, alpha: float, ka: float = 0.0) -> tuple[Array, Array]:
    """Residuals and entries of the matrix with these d(x, v, a)/du and d(q')/dq; the coefficients stay in g."""
    system = machine.system
    out = np.zeros(system.out_size)
    set_coefficients(g, kx, kv, ka, alpha)
    run_table(machine.problem.jacobian, g, out)
    entries = system.layout.entries
    return out[: system.n].copy(), out[entries : entries + system.pattern.nnz].copy()


def at_rest(machine: Machine, g: Array, size: float) -> Rest:
    """The static problem around g (in place: rates become zero); lengths are weighed by `size`, the machine's.

    Raises `SimulationError` where something prescribes a speed or an acceleration (E442).
    """
    layout = machine.system.layout
    g[layout.v : layout.y] = 0.0
    for order in range(1, PRESCRIBED_ORDERS):  # what is prescribed stands still too
        g[layout.prescribed(np.arange(layout.nd), order)] = 0.0
    g[layout.history : layout.step_size] = 0.0
    weight = ordinary_sizes(machine, size)
    carried, unit = carried_unknowns(machine, weight)
    recharted(machine.system, g, all_of_them=True)
    with _without_shares(machine):
        silent = _silent(machine, g, (1.0, 0.0, 0.0))
        pushed = silent & carried & (step_matrix(machine, g, 1.0, 0.0, 0.0)[0] != 0.0)
        silent &= ~pushed
        by_differentiated = silent & ~_silent(machine, g, (0.0, 0.0, 1.0))
        by_velocity = silent & ~by_differentiated & ~_silent(machine, g, (0.0, 1.0, 0.0))
        silent &= ~(by_differentiated | by_velocity | carried)  # inertia alone holds nothing
        by_acceleration = silent & ~_silent(machine, g, (0.0, 0.0, 0.0, 1.0)) if silent.any() else silent
    places = places_of_unknowns(layout)
    held = Held(
        by_velocity, by_acceleration, g.copy(), np.zeros(machine.system.pattern.nnz), np.zeros(machine.system.n)
    )
    rest = Rest(machine, g[places].copy(), by_differentiated, held, weight, carried, unit, pushed)
    missed = step_matrix(machine, g, 1.0, 0.0, 0.0)
    held.rates = rest._rates(g, missed[1])
    moving = np.flatnonzero(held.rows & (np.abs(missed[0]) > 1e-12))
    if len(moving):
        raise _prescribes_motion(machine, int(moving[0]), "a speed" if by_velocity[moving[0]] else "an acceleration")
    return rest


@contextmanager
def _without_shares(machine: Machine) -> Iterator[None]:
    """The equations without the combinations of forces by which elements that hold the same thing share its load."""
    shares = indeterminacy_of(machine.system.batches)
    kept = None if shares is None else shares.coefficients.copy()
    if shares is not None:
        shares.coefficients[:] = 0.0
    try:
        yield
    finally:
        if shares is not None:
            shares.coefficients[:] = kept


def _silent(machine: Machine, g: Array, coefficients: tuple[float, ...]) -> Array:
    """Rows without any entry at two points near g."""
    pattern, layout = machine.system.pattern, machine.system.layout
    found, rng = np.ones(machine.system.n, bool), np.random.default_rng(7)
    for size in (0.0, 1e-3):
        point = g.copy()
        point[layout.x : layout.v] += size * rng.uniform(0.5, 1.0, layout.nk)
        point[layout.y : layout.history] += size * rng.uniform(0.5, 1.0, layout.ny)
        entries = step_matrix(machine, point, *coefficients)[1]
        found[pattern.indices[entries != 0.0]] = False
    return found


def places_of_unknowns(layout: Layout) -> Array:
    """Where the unknowns stand in g: positions, then values."""
    return np.concatenate([layout.x + np.arange(layout.nk), layout.y + np.arange(layout.ny)])


def ordinary_sizes(machine: Machine, size: float) -> Array:
    """An ordinary size of each unknown: `size`, the machine's, for lengths, 1 for angles."""
    weight = np.array(machine.system.nominals)
    units = machine.system.numbering.position_units(machine.system.network)
    weight[: machine.system.layout.nk] = [size if unit == "m/s" else 1.0 for unit in units]
    return weight


def carried_unknowns(machine: Machine, weight: Array) -> tuple[Array, Array]:
    """Unknowns of nodes with a balance of throughs, and through over across of ordinary sizes."""
    system = machine.system
    carried, unit = np.zeros(system.n, bool), np.ones(system.n)
    for number in system.numbering.coordinates:
        carried[number], unit[number] = True, 1.0 / weight[number]
    for node, first in system.numbering.with_unknowns(system.network):
        if node.domain.through:
            through = [nominal(q) for q in node.domain.through for _ in range(max(1, _length(q)))]
            for i in range(len(across_scalars(node.domain))):
                carried[first + i] = True
                unit[first + i] = (through[i] if i < len(through) else 1.0) / weight[first + i]
    return carried, unit


def _length(quantity: Any) -> int:
    from netsim.equations.numbering import component_suffixes

    return len(component_suffixes(quantity, {}))


def _prescribes_motion(machine: Machine, row: int, what: str) -> SimulationError:
    for batch in machine.system.batches:
        for key, unknowns in batch.unknowns.items():
            if key[0] == "own" and batch.instances and row in unknowns:
                owner = batch.instances[int(np.flatnonzero(unknowns == row)[0])]
                hint = (
                    "all velocities are zero at rest: prescribe a displacement instead, or make the source zero at "
                    "that time"
                )
                message = f"there is no state of rest: '{owner.name}' prescribes {what}"
                return SimulationError(Problem("E442", message, owner.span, hint=hint))
    message = f"there is no state of rest: {machine.system.names[row]} is prescribed"
    return SimulationError(
        Problem("E442", message, hint="static() computes states of rest: make the source zero at that time")
    )
