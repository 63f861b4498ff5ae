"""The arrays of a forward sensitivity (netsim.core.variational) for a run: tangents of its kernels by all parameters,
the matrix of the stages of a step, plans of consistent points by mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.analyses.sensitivity.tangents import changing, tangent_call
from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent
from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.core.problem import PRESCRIBED_ORDERS, TIME
from netsim.core.radau.arrays import A_MATRIX
from netsim.core.variational.charts import into_chart, set_base
from netsim.core.variational.equations import OWN, POSITION, RATE, complete, fill_matrix, set_contents, show, vary
from netsim.core.variational.variation import Recovery, Variation, VariedSignals, set_waves, wave_derivative
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.consistent.derivatives import equations_of, partials_table
from netsim.initial.flat_plan import compiled_plan
from netsim.initial.initial import Structure
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.results.selection import Selection, reader_of
from netsim.structure.orders import signature
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
Changes = Sequence[Mapping[int, Array]]
"""Derivatives of the parameters of every batch and function of time, for each that is varied."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan of consistent points, the tangents of its stages, and what keeps both alive."""

    plan: Struct
    recovery: Struct
    alive: list[Any]


@dataclass(eq=False)
class Variations:
    """Changes along a run. The last of them are rates in time."""

    machine: Machine
    structure: Structure
    changes: Changes
    run: Variation
    shown: VariedSignals
    pattern: tuple[Array, Array]
    alive: list[Any]
    factor: Struct | None = None
    plans: dict[bytes, Plan] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many are varied."""
        return len(self.changes) - 1

    def plan(self, g: Array, mode: bytes, renewed: bool = False) -> Plan:
        """The plan of consistent points for a mode, laid out at g where it is new or to be `renewed`."""
        if mode not in self.plans or renewed:
            set_contents(self.machine.struct, struct_of(self.run), g)
            self.plans[mode] = _plan(self.machine, self.structure, self.changes, g)
        return self.plans[mode]


@dataclass(frozen=True)
class Wave:
    """An input that swings by cos(rate t + phase): the number of a prescribed one, or (-1) the row of the equation that
    gives it, which changes by `slope` with it."""

    rate: float
    phase: float
    number: int
    row: int = -1
    slope: float = 0.0


def variations(
    machine: Machine, structure: Structure, changes: Changes, constant: Array, selection: Selection, rows: Array,
    spans: Array, waves: Sequence[Wave] = (), inside: bool = False,
) -> Variations:  # fmt: skip
    """Arrays for the steps whose nodes are `rows` (4 for each), where a constant part of g changes by `constant` (p,
    size). The last changes are those by `waves`. `inside`: signals are shown inside steps, too."""
    system, layout = machine.system, machine.system.layout
    n, nk, nq, size, alive = system.n, layout.nk, layout.nq, layout.size, list[Any]()
    count = len(changes) + 1
    nothing = {key: np.zeros_like(value) for key, value in machine.parameters.items()}
    changes = [*changes, nothing]  # of time
    stays = np.vstack([constant, np.zeros(size)])
    stays[-1, TIME] = 1.0
    swinging, wave = _waves(machine, waves, count)
    for row, (place, _) in zip(stays, swinging):
        row[place : place + PRESCRIBED_ORDERS * layout.nd * (place > 0) : max(1, layout.nd)] = 1.0  # as it swings
    moving = signature(system).moving
    every = np.arange(n + nq)
    calls = equations_of(machine, every, 0)
    drives = [c for name in ("arguments", "prescribed_inputs") for c in machine.calls[name]]
    moving_places = stays != 0.0
    moving_places[:, layout.discretes : layout.x] = True  # what events may change
    driven, first_drive = _tangents(machine, drives, changes, alive, size, moving_places, follow=True)
    equations, first = _tangents(machine, calls, changes, alive, 0, moving_places)
    reader = reader_of(machine, selection)
    read = [reader_of(replace(machine, parameters=each), selection).calls for each in changes]
    shown, first_shown = _table(
        [
            [tangent_call(c, layout.uniforms, size, d.parameters) for c, d in zip(reader.calls, calls_)]
            for calls_ in read
        ],
        alive,
    )
    partials = partials_table(machine, np.ones(len(moving.equation), bool), alive)
    row, column, derivative, scale, kind = _stage_entries(moving, n, nk)
    codes = column * 3 * (n + nq) + row
    unique, place = np.unique(codes, return_inverse=True)
    indptr = np.searchsorted(unique, np.arange(3 * (n + nq) + 1) * 3 * (n + nq)).astype(np.int32)
    old = _histories(moving, n, nk)
    rhs = np.zeros((3 * (n + nq), count - 1))
    run = Variation(
        rows, spans, np.zeros((3, size)), np.zeros((3, len(moving.equation))), partials, place.astype(np.int64),
        derivative, scale, kind, old[0], old[1], old[2], old[3], old[4], np.zeros(len(unique)), rhs, np.zeros_like(rhs),
        A_MATRIX.copy(), equations, first, driven, first_drive, np.zeros((count, nk)), np.zeros((count, nk)),
        np.zeros((count, nq)), stays, np.zeros((count, size)), np.zeros(2 * size), np.zeros(layout.entries),
        np.zeros(max(1, 9 * layout.nr)), swinging, wave, np.zeros((count, nk)), np.zeros(size),
        np.zeros(max(1, 9 * layout.nr)),
    )  # fmt: skip
    stages = 2 if inside else 0
    m, most = len(reader.places), (2 + stages) * len(spans) + 2
    signals = VariedSignals(
        reader.table, shown, first_shown, reader.places, np.zeros(max(1, reader.size)), np.zeros((most, m)),
        np.zeros((most, count * m)), np.zeros(1, np.int64), np.full(1, stages),
    )  # fmt: skip
    pattern = indptr, (unique % (3 * (n + nq))).astype(np.int32)
    return Variations(machine, structure, changes, run, signals, pattern, [*alive, reader, read, stays])


def propagate(v: Variations, mode: bytes, first: int, last: int) -> None:
    """Changes over the steps from `first` to before `last`, which no event parts. Raises `SimulationError` where they
    are not determined."""
    run, shown, problem = struct_of(v.run), struct_of(v.shown), v.machine.struct
    renewed = inside = -1
    while first < last:
        plan = v.plan(v.run.at[2], mode)
        factor = v.factor = v.factor or new_factor(v, run, first)
        step = int(vary(problem, plan.plan, plan.recovery, factor, run, shown, first, last))
        if step > last:  # nor do those of one inside a step
            if inside == step:
                raise undetermined(v, float(v.run.inside[TIME]))
            first, inside = step - last - 1, step
            v.plan(v.run.inside, mode, renewed=True)
        elif step < 0:  # pivots of a consistent point serve no more
            first = -step
            into_chart(problem, v.run.base, v.run.rows[4 * first - 1], v.run.at[2])
            begin_variations(v, mode, v.run.at[2])
        elif step < last:
            if renewed == step:
                raise undetermined(v, float(v.run.rows[4 * step, TIME]))
            first, renewed, v.factor = step, step, None
        else:
            return


def _waves(machine: Machine, waves: Sequence[Wave], count: int) -> tuple[Array, Array]:
    """What compiled code knows of inputs that swing with the last parameters before time."""
    swinging, wave = np.tile(np.array([0, -1]), (count, 1)), np.zeros((count, 3))
    for j, each in enumerate(waves, count - 1 - len(waves)):
        place = int(machine.system.layout.prescribed(np.array([each.number]), 0)[0]) if each.row < 0 else 0
        swinging[j], wave[j] = (place, each.row), (each.rate, each.phase, each.slope)
    return swinging, wave


def forces(v: Variations, g: Array) -> Array:
    """What the equations, not differentiated, change by at g with each parameter while all states stay: (p, equations
    and definitions of differentiated quantities)."""
    run, layout, t = v.run, v.machine.system.layout, float(g[TIME])
    found, both = np.zeros((v.count, layout.entries)), np.concatenate([g, np.zeros(layout.size)])
    set_waves(v.machine.struct, struct_of(run), t)
    for j in range(v.count):
        both[layout.size :], row = run.constant[j], run.swung[j, 1]
        run_table(run.drives[run.first_drive[j] : run.first_drive[j + 1]], both, both)
        run_table(run.equations[run.first_equation[j] : run.first_equation[j + 1]], both, found[j])
        if row >= 0:
            found[j, row] += run.wave[j, 2] * wave_derivative(run, j, t, 0)
    found = np.delete(found, layout.n, axis=1)
    sums, parts = signature(v.machine.system).sums
    np.add.at(found.T, sums, found[:, parts].T)
    return found


def centred(v: Variations, row: Array) -> Array:
    """A point with its rotations in charts of its own, which become those of steps from there."""
    set_base(v.machine.struct, row, v.run.base)
    into_chart(v.machine.struct, v.run.base, row, v.run.at[2])
    return v.run.at[2]


def begin_variations(v: Variations, mode: bytes, g: Array, row: int = 0) -> None:
    """Changes of all at a point in charts of its own from changes of positions, velocities and
    differentiated quantities, and a row of signals there: the next one, or (-1) the last one again. The point is made
    consistent."""
    problem, stands = v.machine.struct, g.copy()
    for renewed in (False, True):
        plan = v.plan(stands, mode, renewed)
        g[:] = stands
        if complete(problem, plan.plan, plan.recovery, struct_of(v.run), g):
            v.shown.row[0] += row
            return show(problem, struct_of(v.run), struct_of(v.shown), g)
    raise undetermined(v, float(g[TIME]))


def undetermined(v: Variations, t: float) -> SimulationError:
    """What is raised where changes have no values."""
    message = f"at t = {t:.9g} s the derivatives of the run are not determined"
    return SimulationError(Problem("E516", message, hint="a smaller rtol may help where a switch is passed unseen"))


def new_factor(v: Variations, run: Struct, step: int) -> Struct:
    """Pivots for the matrix of the stages of a step."""
    fill_matrix(v.machine.struct, run, step)
    try:
        found: Factor = analyse(len(v.run.rhs), *v.pattern, v.run.entries, explain=False)
    except (SingularMatrix, ValueError):
        raise undetermined(v, float(v.run.rows[4 * step, TIME])) from None
    return struct_of(found)


def _parts(s: Any, n: int, nk: int) -> list[tuple[Array, int]]:
    """The triples that go with an unknown of the stages itself, with a position, with a rate."""
    kept = np.flatnonzero(s.kept)
    position = (s.variable[kept] < nk) & (s.order[kept] == 0)
    rate = np.where(s.variable[kept] < nk, s.order[kept] == 2, (s.variable[kept] >= n) & (s.order[kept] == 1))
    return [(kept[~position & ~rate], OWN), (kept[position], POSITION), (kept[rate], RATE)]


def _stage_entries(s: Any, n: int, nk: int) -> tuple[Array, ...]:
    """Entries of the matrix of the three stages: row, column, derivative (stage*T + triple), share, kind."""
    shares = {OWN: np.eye(3), POSITION: A_MATRIX, RATE: np.linalg.inv(A_MATRIX)}
    found: list[list[Array]] = []
    for t, kind in _parts(s, n, nk):
        for i, j in np.argwhere(shares[kind] != 0.0):
            row, column, derivative = i * s.size + s.equation[t], j * s.size + s.variable[t], i * len(s.equation) + t
            found.append([row, column, derivative, np.full(len(t), shares[kind][i, j]), np.full(len(t), kind)])
    return tuple(np.concatenate(each) for each in zip(*found))


def _histories(s: Any, n: int, nk: int) -> tuple[Array, ...]:
    """What the stages have of the step's beginning: place in the right side, derivative, variable, share, kind."""
    shares = {POSITION: np.ones(3), RATE: np.linalg.inv(A_MATRIX).sum(axis=1)}
    found: list[list[Array]] = []
    for t, kind in _parts(s, n, nk)[1:]:
        for i in range(3):
            place, derivative = i * s.size + s.equation[t], i * len(s.equation) + t
            found.append([place, derivative, s.variable[t], np.full(len(t), shares[kind][i]), np.full(len(t), kind)])
    return tuple(np.concatenate(each) for each in zip(*found))


def _tangents(
    machine: Machine, calls: Sequence[Call], changes: Changes, alive: list[Any], shift: int = 0,
    moving: Array | None = None, follow: bool = False,
) -> Any:  # fmt: skip
    """Tangents of calls by every change: their table, and where each begins. With `moving` (changes, size), places of g
    that may change with each, they are those of instances that change; places that these write `follow`."""
    layout, keys = machine.system.layout, {id(value): key for key, value in machine.parameters.items()}
    made = list[list[Call]]()
    for j, each in enumerate(changes):
        made.append([])
        for c in calls:
            change, part = each[keys[id(c.parameters)]], c
            if moving is not None:
                part, change = changing(c, layout.uniforms, change, moving[j])
                if follow:
                    moving[j, part.scatter] = True
            if part.n or moving is None:
                made[-1].append(tangent_call(part, layout.uniforms, layout.size, change, shift))
    return _table(made, alive)


def _table(made: Sequence[Sequence[Call]], alive: list[Any]) -> tuple[Array, Array]:
    nothing = np.zeros(0, np.int32)
    alive.append(made)
    alive.append(nothing)
    tables = [call_table(list(calls), nothing) for calls in made]
    first = np.concatenate([[0], np.cumsum([len(t) for t in tables])]).astype(np.int64)
    return np.concatenate([*tables, np.zeros((0, ROW_LENGTH), np.int64)]), first


def _plan(machine: Machine, structure: Structure, changes: Changes, g: Array) -> Plan:
    """A plan with its tangents."""
    layout, point = machine.system.layout, g.copy()
    made = plan_recovery(machine, structure, point, jumping=False)
    recover_point(made, point, layout.state(point), float(point[TIME]))
    flat: Consistent = compiled_plan(made)
    alive: list[Any] = [made, flat]
    calls = [c for stage in made.alive[:-1] for c in stage]  # the last ones are derivatives
    if len(calls) != len(flat.calls):
        t = float(point[TIME])
        raise SimulationError(Problem("E516", f"at t = {t:.9g} s the derivatives of the run are not determined"))
    tables, starts = _tangents(machine, calls, changes, alive)
    room = (int(flat.sizes[:, 2].max(initial=0)), len(changes))
    recovery = Recovery(tables, starts[1:2].copy(), np.zeros(room), np.zeros(room))
    alive.append(recovery)
    return Plan(struct_of(flat), struct_of(recovery), alive)
