"""The states of a network at a point of an orbit, and the directions in which they may change together.

States are positions, velocities and differentiated quantities, which constraints may tie to one another, and what
samplers hold. A basis of the changes that the constraints allow has two parts: the null space of the equations of the
lowest stage (positions of mechanisms, charges of capacitors in a loop), and the plan of consistent points, linearised,
which takes velocities and what else follows along (netsim.core.variational).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.analyses.periodic.clock import Clock, clock_of
from netsim.analyses.sensitivity.variations import Wave, begin_variations, centred, forces, variations
from netsim.analyses.signals.linear import state_names
from netsim.core.contract import RTOL
from netsim.core.variational.charts import into_chart, set_base
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.system import System
from netsim.initial.initial import Structure, resumed_start
from netsim.initial.recovery import differentiated_sizes, plan_recovery, recover_point
from netsim.initial.stages import Stages, partials_in, stage_matrix
from netsim.library.component import is_kinematic
from netsim.results.selection import Selection
from netsim.simulate.running import Running
from netsim.text.errors import SimulationError

Array = np.ndarray
ROUNDS, HELD = 5, 1e-13
"""How often values are made to follow differentiated quantities, and what is left of these then."""
DEPENDENT = 1e-8
"""Changes of states, in their sizes, count as independent above this share of the largest."""
RANK = 1e-10
"""Equations of the lowest stage count as independent above this share of the largest."""


@dataclass(frozen=True, eq=False)
class States:
    """Places in g of positions, velocities, differentiated quantities and held numbers; ordinary sizes of each; which
    positions are angles that count turns; what time moves on."""

    places: Array
    sizes: Array
    angles: Array
    clock: Clock

    def names(self, system: System) -> list[str]:
        """Their names in the netlist's words."""
        names, nk, held = state_names(system), system.layout.nk, names_of_discretes(system)
        numbers = self.places[2 * nk + system.layout.nq :] - system.layout.discretes
        return [*names[:nk], *system.names[:nk], *names[system.n :], *(held[int(k)] for k in numbers)]

    def between(self, machine: Machine, start: Array, end: Array) -> Array:
        """How far the states at `end` are from those at the start, in sizes; rotations in the charts of the start."""
        base, here, there = np.zeros(max(1, 9 * machine.system.layout.nr)), start.copy(), end.copy()
        set_base(machine.struct, start, base)
        into_chart(machine.struct, base, start, here)
        into_chart(machine.struct, base, end, there)
        return np.asarray((there[self.places] - here[self.places]) / self.sizes)


def names_of_discretes(system: System) -> dict[int, str]:
    """Their names in the netlist's words, by number; '' behind the dot for hidden ones."""
    return {
        int(number): f"{label}.{name}"
        for batch in system.batches
        for i, name in enumerate(batch.form.events.names)
        for label, number in zip(batch.labels, batch.discretes(i))
    }


def states_of(run: Running, rows: Array) -> States:
    """The states of a run, whose rows of g are kept, and their sizes in it.

    Discretes that change and hold other than whole numbers are states; whole ones are conditions and counts."""
    layout = run.machine.system.layout
    contents = layout.differentiated(np.arange(layout.nq), 0)
    held = rows[:, layout.discretes : layout.befores]
    numbers = layout.discretes + np.flatnonzero((held != np.round(held)).any(axis=0) & (held != held[:1]).any(axis=0))
    places = np.concatenate([np.arange(layout.x, layout.a), contents, numbers]).astype(np.int64)
    clock = clock_of(run.machine, run.events, rows[0])
    return States(places, sizes_of(run, rows, places), _angles(run.machine.system), clock)


def sizes_of(run: Running, rows: Array, places: Array) -> Array:
    """Sizes of the states at these places in a run: those that its error test knows; of held numbers their largest."""
    layout = run.machine.system.layout
    nk, scale = layout.nk, run.trial.scale / run.trial.tolerances[RTOL]
    values = partials_in(_stages(run.machine, run.structure), rows[-1])
    ordinary = differentiated_sizes(run.structure, values, scale[nk:], nk)
    held = places[2 * nk + layout.nq :]
    largest = np.abs(rows[:, held]).max(axis=0, initial=0.0)
    kinds = _kinds_of_held(run.machine.system)
    alike = np.array([[kinds[i] == kinds[j] for j in held - layout.discretes] for i in held - layout.discretes])
    largest = np.where(alike, largest, 0.0).max(axis=1) if len(held) else largest
    return np.concatenate([scale[: 2 * nk], np.maximum(ordinary, 1e-300), np.maximum(largest, 1e-300)])


def _kinds_of_held(system: System) -> dict[int, tuple[str, str]]:
    """Element and unit of each discrete, by number; '' for what a hidden one remembers. Those of a kind are measured by
    the largest of them, since a part of a harmonic may be nothing but rounding."""
    kinds = dict[int, tuple[str, str]]()
    for batch in system.batches:
        units = {z.name: z.unit for b in batch.instances[:1] for z in b.component.definition.discretes}
        for i, name in enumerate(batch.form.events.names):
            unit = units.get(name.partition("[")[0], "")
            kinds.update({int(n): (label, unit) for label, n in zip(batch.labels, batch.discretes(i))})
    return kinds


def _angles(system: System) -> Array:
    """Positions that are angles, but for the coordinates of charts."""
    found = list[int]()
    for node, first in zip(system.network.nodes, system.numbering.first):
        if is_kinematic(node.domain):
            units = [quantity.unit for quantity, _ in across_scalars(node.domain)]
            found += [int(first) + i for i, unit in enumerate(units) if unit == "rad/s"]
    charts = (np.asarray(system.numbering.rotations, np.int64)[:, None] + np.arange(3)).ravel()
    return np.setdiff1d(np.array(found, np.int64), charts)


def _stages(machine: Machine, structure: Structure) -> Stages:
    weights = 1.0 / np.concatenate([machine.system.nominals, np.ones(machine.system.layout.nq)])
    return Stages(
        machine, structure.signature, structure.dynamic, np.ones(len(structure.signature.equation), bool), weights
    )


def point_at(machine: Machine, structure: Structure, g: Array) -> Array:
    """The consistent point of the states in g at t = 0. Positions and velocities meet their constraints; differentiated
    quantities stay, where the equations let them, and values follow these and not the other way round."""
    layout = machine.system.layout
    contents = layout.differentiated(np.arange(layout.nq), 0)
    found, before = resumed_start(machine, structure, g), np.inf
    for _ in range(ROUNDS):
        off = float((np.abs(found - g)[contents] / np.maximum(np.abs(g[contents]), 1e-300)).max(initial=0.0))
        if off <= HELD or off > before / 2.0:  # they stay, or constraints move them
            break
        before = off
        state = layout.state(found)
        state[3 * layout.nk + layout.ny :][: layout.nq] = g[contents]
        try:
            plan = plan_recovery(machine, structure, found, jumping=False)
            found = recover_point(plan, found, state, 0.0)
        except SimulationError:
            break
    return found


@dataclass(frozen=True, eq=False)
class Directions:
    """Changes of states that constraints allow: an orthonormal basis in sizes (states, freedom), and what all of g
    changes by along it (size, freedom)."""

    basis: Array
    whole: Array

    @property
    def free(self) -> bool:
        """Whether states are independent, so that the same directions serve at other points."""
        return self.basis.shape[0] == self.basis.shape[1]


def directions(machine: Machine, structure: Structure, g: Array, mode: bytes, states: States) -> Directions:
    """The directions in which states may change at a consistent point."""
    layout = machine.system.layout
    nk, motion = layout.nk, 2 * layout.nk + layout.nq
    columns = _lowest(machine, structure, g, states)
    if not columns.shape[1]:
        return Directions(columns, np.zeros((layout.size, 0)))
    nothing = {key: np.zeros_like(value) for key, value in machine.parameters.items()}
    stays = np.zeros((columns.shape[1], layout.size))
    changes = (columns * states.sizes[:, None]).T
    numbers = states.places[motion:]
    stays[:, numbers] = stays[:, numbers + layout.nz] = changes[:, motion:]  # as they were before an event, too
    rows, spans = np.repeat(g[None], 4, axis=0), np.zeros(1)
    v = variations(machine, structure, [nothing] * columns.shape[1], stays, Selection(), rows, spans)
    v.run.x[:-1], v.run.v[:-1], v.run.q[:-1] = np.split(changes[:, :motion], [nk, 2 * nk], axis=1)
    begin_variations(v, mode, centred(v, g), -1)
    whole = v.run.d[:-1].T
    left, size, right = np.linalg.svd(whole[states.places] / states.sizes[:, None], full_matrices=False)
    kept = size > DEPENDENT * size[0]
    return Directions(left[:, kept], whole @ (right[kept].T / size[kept]))


def changed_by_waves(
    machine: Machine, structure: Structure, g: Array, mode: bytes, states: States, waves: Sequence[Wave]
) -> Array:
    """What all of g changes by at a consistent point (waves, size) with inputs that swing: of the states that it takes
    to meet their constraints the smallest changes."""
    layout = machine.system.layout
    nothing = {key: np.zeros_like(value) for key, value in machine.parameters.items()}
    stays, rows = np.zeros((len(waves), layout.size)), np.repeat(g[None], 4, axis=0)
    v = variations(machine, structure, [nothing] * len(waves), stays, Selection(), rows, np.zeros(1), waves)
    found = _lowest_stage(machine, structure, g, states)
    if found is not None and len(found.scaled):
        for j, each in enumerate(forces(v, g)):
            z = -np.linalg.lstsq(found.scaled, each[found.equations] / found.height, rcond=RANK)[0] * found.width
            v.run.x[j, found.variables[found.variables < layout.nk]] = z[found.variables < layout.nk]
            contents = found.variables >= layout.n
            v.run.q[j, found.variables[contents] - layout.n] = z[contents]
    begin_variations(v, mode, centred(v, g), -1)
    return v.run.d[:-1].copy()


@dataclass(frozen=True, eq=False)
class _Lowest:
    """The lowest stage at a point: its equations and variables, its matrix with columns in `width` and rows in
    `height`, and which state (or -1) each variable is."""

    equations: Array
    variables: Array
    scaled: Array
    width: Array
    height: Array
    of: Array


def _lowest_stage(machine: Machine, structure: Structure, g: Array, states: States) -> _Lowest | None:
    """The stage of the lowest order; None where all are of order 0."""
    layout, nk = machine.system.layout, machine.system.layout.nk
    lowest = int(structure.dynamic.d.max(initial=0))
    if not lowest:
        return None
    of = np.full(layout.n + layout.nq, -1)  # number of a state by variable: a position, a differentiated quantity
    of[:nk], of[layout.n :] = np.arange(nk), 2 * nk + np.arange(layout.nq)
    matrix, equations, variables = stage_matrix(_stages(machine, structure), g, -lowest)
    width = np.concatenate([machine.system.nominals, np.ones(layout.nq)])[variables]
    known = of[variables] >= 0
    width[known] = states.sizes[of[variables[known]]]
    scaled = matrix.toarray() * width
    height = np.maximum(np.abs(scaled).max(axis=1, initial=0.0), 1e-300)
    return _Lowest(equations, variables, scaled / height[:, None], width, height, of[variables])


def _lowest(machine: Machine, structure: Structure, g: Array, states: States) -> Array:
    """Changes of states in sizes, of which the lowest stage allows all: (states, columns)."""
    from scipy.linalg import null_space

    count, stage = len(states.places), _lowest_stage(machine, structure, g, states)
    if stage is None:
        return np.zeros((count, 0))
    known, of = stage.of >= 0, stage.of
    others = np.setdiff1d(np.arange(count), of[known])
    free = null_space(stage.scaled, rcond=RANK) if len(stage.scaled) else np.eye(len(of))
    found = np.zeros((count, free.shape[1] + len(others)))
    found[of[known], : free.shape[1]] = free[known]
    found[others, free.shape[1] + np.arange(len(others))] = 1.0
    return found
