"""Forces and accelerations as accurate as positions and velocities: a consistent point through what the method found.

Low-order methods spoil multipliers first (implicit Euler delays them by a step). Velocities are projected onto the
differentiated constraints in the mass metric, then one acceleration-level solve gives accelerations, forces and rates.
The stages are those of `netsim.initial.stages`, laid out once as arrays and machine code; each is a Newton step, once
repeated, with a fixed pattern.
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.linear.factors import Factor, SingularMatrix, analyse, condition_estimate, refactor, solve
from netsim.core.newton import CONVERGED, set_time
from netsim.equations.batches import Batch
from netsim.equations.kernels.kernel import Kernel
from netsim.equations.kernels.program import restricted
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.diagnosis.diagnosis import table_ends
from netsim.initial.initial import Structure, of_velocities
from netsim.initial.stages import Stages, derivative_of, masses, partial_values, slots, solve_stage, stage_variables
from netsim.structure.orders import all_equation_numbers
from netsim.structure.prescribed import HOLD, constrained, holding, prescribed_pairs
from netsim.text.errors import SimulationError

Array = np.ndarray
ROUNDS = 2
CORNER = 1e-13
RATE = 1e-25


@dataclass(eq=False)
class StagePlan:
    """One stage as arrays: tables of residuals by order (each with the positions of its rows in the stage, and where it
    writes them), places and sizes of unknowns, and the entries of [W J'; J -eps] (or of J, where it is square), whose
    columns are measured by these sizes; how its rows are scaled there, and max |J| of each."""

    tables: list[tuple[Array, Array, Array]]
    places: Array
    sizes: Array
    m: int
    n: int
    indptr: Array
    indices: Array
    base: Array
    picks: Array
    targets: Array
    scales: Array
    row_scale: Array
    row_size: Array
    pairs: Array
    factor: Factor | None = None
    rounding: float = 0.0
    """What rounding leaves of a correction, relative to the smallest unknowns: units times the condition where the
    factor was taken."""


@dataclass(eq=False)
class Recovery:
    """Plans for the stages above positions, with what keeps their memory alive, and the point where they were made."""

    machine: Machine
    structure: Structure
    partials: Array
    partial_values: Array
    stages: list[tuple[int, StagePlan]]
    sums: Array
    alive: list[list[Call]]
    point: Array


def plan_recovery(
    machine: Machine,
    structure: Structure,
    g: Array,
    closing: bool = False,
    jumping: bool = True,
    sizes: Array | None = None,
    following: bool = False,
) -> Recovery:
    """Lay out every stage but that of positions (they are what the method found), with pivots taken at the point in g;
    with `closing` that one alone.

    Changes are least beside the `sizes` of velocities and values (n), their nominal sizes where these are not given.
    Differentiated quantities are known where no constraint acts on them, and held as well as the equations allow
    elsewhere, momenta (which follow velocities) excepted; without `jumping` all are known where nothing moves (a
    current of 1e5 A that begins behind a contact must not pull at them). Where no position is among the unknowns their
    stage is the lowest; where there are some, values that stand in their stage (a signal that a displacement follows)
    are solved for if `following`: of an explicit method they are not what it found.
    """
    system = machine.system
    alive: list[list[Call]] = []
    everything, point = np.ones(len(structure.signature.equation), bool), g.copy()
    elements = partial_values(machine, g)
    values = structure.signature.of(elements)
    sizes = system.nominals if sizes is None else sizes
    held = differentiated_held(machine, structure, values)
    sizes = np.concatenate(
        [sizes, np.where(held[system.n :], _differentiated_sizes(structure, values, sizes), 1.0), [1.0]]
    )
    lowest = -int(structure.dynamic.d.max(initial=0))
    lowest -= not system.layout.nk
    stages = Stages(machine, structure.signature, structure.dynamic, everything, 1.0 / sizes[:-1])
    free = constrained(structure.signature, structure.dynamic) & (jumping or bool(system.layout.nk))
    known = np.flatnonzero(held & ~free)
    plans = [
        (k, _plan(stages, k, values, sizes, held, known, alive))
        for k in ([lowest] if closing else range(lowest + 1, 1))
    ]
    if following and system.layout.nk and not closing:
        others = np.setdiff1d(np.arange(len(structure.dynamic.d)), np.arange(system.layout.nk, system.n))
        plans.insert(0, (lowest, _plan(stages, lowest, values, sizes, held, others, alive, matched=True)))
    used = np.zeros(len(elements), bool)
    for _, plan in plans:
        used[plan.picks] = used[plan.pairs[:2]] = True
    partials = partials_table(machine, used, alive), np.zeros(len(elements))
    return Recovery(machine, structure, *partials, plans, np.zeros(system.out_size), alive, point)


def differentiated_held(machine: Machine, structure: Structure, values: Array) -> Array:
    """Which of unknowns and differentiated quantities keep what they have where others change at once, given
    derivatives by order."""
    n, nk = machine.system.n, machine.system.layout.nk
    return np.concatenate([np.zeros(n, bool), ~_momentum(structure, values, n, nk)])


def partials_table(machine: Machine, used: Array, alive: list[list[Call]]) -> Array:
    """The call table of those derivatives by order that are used; what it must keep is added to `alive`."""
    if machine.element is not None:
        return machine.element.partials.table(used)
    calls: list[Call] = []
    first = 0
    for batch in machine.system.batches:
        kernel = batch.kernels.partials
        places = first + np.arange(kernel.program.n_outputs * batch.n).reshape(-1, batch.n)
        first += places.size
        wanted = np.asarray(used[places].any(axis=1))
        if wanted.any():
            calls.append(_call(machine, batch, kernel, places, wanted))
    alive.append(calls)
    return call_table(calls, machine.system.layout.uniforms)


def _momentum(structure: Structure, values: Array, n: int, nk: int) -> Array:
    """Differentiated quantities of velocities whose rates are forces, or that nobody reads (the speed at which friction
    slides): with other rates (prescribed accelerations, controllers, friction that holds) they are known by integration
    alone."""
    s = structure.signature
    force = np.zeros(s.size + 1, bool)
    force[s.variable[s.kept & (s.equation < nk)]] = True
    read = np.zeros(s.size + 1, bool)
    read[s.variable[s.kept & (s.equation < n) & (s.order > 0) & (values != 0.0)]] = True
    return (of_velocities(s, n, nk) & (force | ~read))[n : s.size]


def _differentiated_sizes(structure: Structure, values: Array, sizes: Array) -> Array:
    """The change of each differentiated quantity that goes with ordinary changes of its unknowns."""
    s, n = structure.signature, len(sizes)
    inside = s.kept & (s.equation >= n) & (s.variable < n) & (s.order == 0)
    ordinary = np.zeros(s.size - n)
    np.add.at(ordinary, s.equation[inside] - n, np.abs(values[inside]) * sizes[s.variable[inside]])
    return np.where(ordinary > 0.0, ordinary, 1.0)


def _call(machine: Machine, batch: Batch, kernel: Kernel, places: Array, wanted: Array) -> Call:
    """Those outputs of a kernel that are `wanted`, to `places` (outputs, instances)."""
    gather = np.ascontiguousarray(machine.system.gather(batch, kernel).ravel())
    program = restricted(kernel.program, np.flatnonzero(wanted).tolist())
    return Call(
        program,
        batch.n,
        gather,
        machine.parameters[id(batch)],
        np.ascontiguousarray(places[wanted].ravel().astype(np.int32)),
    )


def _plan(
    stages: Stages,
    k: int,
    values: Array,
    sizes: Array,
    held: Array,
    known: Array,
    alive: list[list[Call]],
    matched: bool = False,
) -> StagePlan:
    """One stage without variables that are `known`, of all its equations, or of those alone that are matched to the
    others."""
    o, s = stages.offsets, stages.signature
    sized = values * sizes[s.variable]
    equations = np.flatnonzero((o.match >= 0) & (o.c + k >= 0))
    variables = np.setdiff1d(stage_variables(o, k), known[o.d[known] + k == 0])
    equations = equations[np.isin(o.match[equations], variables)] if matched or not len(variables) else equations
    m, n = len(equations), len(variables)
    row_of, column_of = np.full(s.size + 1, -1), np.full(s.size + 1, -1)
    row_of[equations], column_of[variables] = np.arange(m), np.arange(n)
    top = np.flatnonzero(s.kept & (row_of[s.equation] >= 0) & (column_of[s.variable] >= 0))
    top = top[s.order[top] == o.d[s.variable[top]] - o.c[s.equation[top]]]
    i, j = row_of[s.equation[top]], column_of[s.variable[top]]
    square, pairs, shares = m == n, np.zeros((2, 0), np.int64), np.zeros(0)
    if square:
        rows, columns, picks, scales, base_entries = (
            i,
            j,
            top,
            sizes[variables[j]],
            (np.zeros(0, int), np.zeros(0, int), np.zeros(0)),
        )
        size, row_scale = n, np.ones(m)
    else:
        nk = stages.machine.system.layout.nk
        # a differentiated quantity is held, not the rate that it happens to have
        rates = held[variables] & (o.d[variables] + k > 0)
        costs = np.where(held[variables] & ~rates, HOLD, 1.0)
        mass = np.flatnonzero(masses(stages, column_of))
        momenta = _momenta(stages, column_of)
        products = sized[momenta[0]] * sized[momenta[1]] * sizes[s.equation[momenta[0]]] / sizes[s.variable[momenta[0]]]
        top_mass = max(
            np.abs(sized[mass] * sizes[s.equation[mass]]).max(initial=0.0), np.abs(products).max(initial=0.0)
        )
        mass_scale = 1.0 / top_mass if top_mass else 1.0
        prescribed = prescribed_pairs(s, o, stages.machine.system.n, nk) if k < 0 else momenta[:, :0]
        pairs = np.hstack([momenta, prescribed])
        ends = np.stack([np.append(s.equation[momenta[0]], s.variable[prescribed[0]]), s.variable[pairs[1]]])
        shares = (
            np.append(np.full(momenta.shape[1], -mass_scale), holding(s, sized, prescribed))
            * sizes[ends[0]]
            * sizes[ends[1]]
        )
        rows = np.concatenate([n + i, j, column_of[s.equation[mass]], column_of[ends[0]]])
        columns = np.concatenate([j, n + i, column_of[s.variable[mass]], column_of[ends[1]]])
        picks = np.concatenate([top, top, mass])
        follows = (variables >= nk) & ~(held[variables] & ~rates)  # has no inertia that would keep what it is
        if len(mass) or pairs.size:
            own = _own_mass(stages, values, mass, momenta)[variables] * mass_scale * sizes[variables] ** 2
            massless = 1e-9 * np.where(costs > 1.0, costs**2, own[own > 0.0].min(initial=1.0))
            light = np.where(own > 0.0, 1e-9 * own, np.where(follows, RATE, massless))
        else:
            light = np.where(follows, CORNER, costs**2)
        row_scale = 1.0 / (_largest(m, i, sized[top]) if nk else _freedom(m, i, sized[top], light[j]))
        by_row = row_scale[i] * sizes[variables[j]]
        scales = np.concatenate([by_row, by_row, mass_scale * sizes[s.equation[mass]] * sizes[s.variable[mass]]])
        base_entries = (np.arange(n + m), np.arange(n + m), np.concatenate([light, np.full(m, -CORNER)]))
        size = n + m
    codes = np.concatenate([columns, base_entries[1]]) * max(size, 1) + np.concatenate([rows, base_entries[0]])
    unique, position = np.unique(codes, return_inverse=True)
    indptr = np.searchsorted(unique, np.arange(size + 1) * max(size, 1)).astype(np.int32)
    base = np.zeros(len(unique))
    np.add.at(base, position[len(rows) :], base_entries[2])
    return StagePlan(
        _tables(stages, k, equations, alive), slots(stages.machine, variables, o.d[variables] + k), sizes[variables], m,
        n, indptr,
        (unique % max(size, 1)).astype(np.int32), base, s.raw(picks), position[: len(picks)], np.append(scales, shares),
        row_scale,
        _largest(m, i, values[top]), np.vstack([s.raw(pairs), position[len(picks) : len(rows)]]),
    )  # fmt: skip


def _momenta(stages: Stages, column_of: Array) -> Array:
    """Pairs of triples whose negative product is mass: a balance's share of the rate of a differentiated quantity, and
    that quantity's definition over a velocity."""
    s, n, nk = stages.signature, stages.machine.system.n, stages.machine.system.layout.nk
    rate = np.flatnonzero(
        s.kept & (s.order == 1) & (s.equation < nk) & (s.variable >= n) & (column_of[s.equation] >= 0)
    )
    content = np.flatnonzero(
        s.kept & (s.order == 1) & (s.equation >= n) & (s.variable < nk) & (column_of[s.variable] >= 0)
    )
    order = np.argsort(s.equation[content], kind="stable")
    content = content[order]
    low, high = (np.searchsorted(s.equation[content], s.variable[rate], side) for side in ("left", "right"))
    first = np.repeat(rate, high - low)
    second = np.concatenate([content[a:b] for a, b in zip(low, high)]) if len(rate) else np.zeros(0, np.int64)
    return np.vstack([first, second])


def _own_mass(stages: Stages, values: Array, mass: Array, pairs: Array) -> Array:
    """The mass of every variable itself: the diagonal of the mass matrix, of a rotation the largest of its three (axes
    turn).

    Of a momentum I w it is 1/I."""
    s, found = stages.signature, np.zeros(stages.signature.size + 1)
    own = mass[s.equation[mass] == s.variable[mass]]
    np.add.at(found, s.variable[own], values[own])
    first, second = pairs[:, s.equation[pairs[0]] == s.variable[pairs[1]]]
    np.add.at(found, s.variable[second], -values[first] * values[second])
    found = np.abs(found)
    for i in stages.machine.system.numbering.rotations:
        found[i : i + 3] = found[i : i + 3].max()
    inertia = np.zeros(len(found))
    np.maximum.at(inertia, s.variable[pairs[0]], np.abs(values[pairs[1]]))
    return np.where(inertia > 0.0, 1.0 / np.where(inertia > 0.0, inertia, 1.0), found)


def _freedom(m: int, i: Array, values: Array, weights: Array) -> Array:
    """sqrt(J W^-1 J') by rows: the corner is then small beside every row's own freedom."""
    return np.sqrt(np.maximum(np.bincount(i, values**2 / weights, m), 1e-300))


def _largest(m: int, i: Array, values: Array) -> Array:
    """max |J| by rows."""
    found = np.full(m, 1e-300)
    np.maximum.at(found, i, np.abs(values))
    return found


def _tables(stages: Stages, k: int, equations: Array, alive: list[list[Call]]) -> list[tuple[Array, Array, Array]]:
    """(call table, equations' positions in the stage, in what it writes) by order; a sum of balances has several."""
    machine, (sums, parts) = stages.machine, stages.signature.sums
    found, row_of = [], np.full(stages.signature.size, -1)
    row_of[equations] = np.arange(len(equations))
    among = row_of[sums] >= 0
    rows, terms = np.append(row_of[equations], row_of[sums[among]]), np.append(equations, parts[among])
    orders = stages.offsets.c[equations][rows] + k
    places = machine.system.layout.equation(terms)
    for order in np.unique(orders):
        at = np.flatnonzero(orders == order)
        if machine.element is not None:
            found.append((machine.element.partials.equations(int(order)), rows[at], places[at]))
            continue
        calls = equations_of(machine, terms[at], int(order))
        alive.append(calls)
        found.append((call_table(calls, machine.system.layout.uniforms), rows[at], places[at]))
    return found


def equations_of(machine: Machine, equations: Array, order: int) -> list[Call]:
    """The calls that write a derivative in time of some equations to these' own places."""
    system = machine.system
    size = system.n + system.layout.nq
    wanted = np.zeros(size + 1, bool)
    wanted[equations] = True
    calls = []
    for batch in system.batches:
        numbers = all_equation_numbers(system, batch)
        used = wanted[np.where(numbers < 0, size, numbers)]
        if used.any():
            scatter = system.layout.equation(numbers)
            calls.append(_call(machine, batch, derivative_of(batch, order), scatter, np.asarray(used.any(axis=1))))
    return calls


def recover(recovery: Recovery, g: Array, state: Array, t: float) -> Array:
    """A global vector consistent at every order near `state` = [x | v | a | y | q | q' | ...] at time t.

    Raises `SimulationError` where a table does not reach t, or a stage has no solution."""
    machine, layout = recovery.machine, recovery.machine.system.layout
    point = g.copy()
    if set_time(machine.struct, point, t) != CONVERGED:
        raise SimulationError(table_ends(t))
    nk, ny, nq = layout.nk, layout.ny, layout.nq
    point[layout.x : layout.history] = state[: 3 * nk + ny]
    point[layout.differentiated(np.arange(nq), 0)] = state[3 * nk + ny : 3 * nk + ny + nq]
    point[layout.history : layout.step_size] = state[3 * nk + ny + nq : 3 * nk + ny + 2 * nq]
    for k, plan in recovery.stages:
        if not _run(recovery, plan, point):
            everything = np.ones(len(recovery.structure.signature.equation), bool)
            weights = 1.0 / np.concatenate([machine.system.nominals, np.ones(nq)])
            solve_stage(
                Stages(machine, recovery.structure.signature, recovery.structure.dynamic, everything, weights),
                point,
                k,
                mass_metric=True,
            )
    return point


def _run(recovery: Recovery, plan: StagePlan, g: Array) -> bool:
    """Newton steps of one stage; False where the fixed pivots do not serve (the careful way then takes over)."""
    size = len(plan.indptr) - 1
    if not plan.m:
        return True
    for _ in range(ROUNDS):
        recovery.partial_values[:] = 0.0
        run_table(recovery.partials, g, recovery.partial_values)
        residual = np.zeros(plan.m)
        for table, at, equations in plan.tables:
            recovery.sums[:] = 0.0
            run_table(table, g, recovery.sums)
            np.add.at(residual, at, recovery.sums[equations])
        entries = plan.base.copy()
        first, second, target = plan.pairs
        np.add.at(entries, plan.targets, plan.scales[: len(plan.targets)] * recovery.partial_values[plan.picks])
        np.add.at(
            entries,
            target,
            plan.scales[len(plan.targets) :] * recovery.partial_values[first] * recovery.partial_values[second],
        )
        rhs = residual if size == plan.n else np.concatenate([np.zeros(plan.n), residual * plan.row_scale])
        if plan.factor is None or refactor(plan.factor, entries) < 1e-8:
            try:
                plan.factor = analyse(size, plan.indptr, plan.indices, entries, explain=False)
                plan.rounding = 64 * np.finfo(float).eps * condition_estimate(plan.factor, entries)
            except (SingularMatrix, ValueError):  # singular or not finite: the careful stage solver says what is wrong
                return False
        step = np.zeros(size)
        solve(plan.factor, rhs, step)
        g[plan.places] -= plan.sizes * step[: plan.n]
    return bool(np.all(np.isfinite(g[plan.places])))
