"""Forces and accelerations as accurate as positions and velocities: a consistent point through what the method found.

Low-order methods spoil multipliers first (implicit Euler delays them by a step). Velocities are projected onto the
differentiated constraints in the mass metric, then one acceleration-level solve gives accelerations, forces and rates.
The stages are those of `netsim.initial.stages`, laid out once as arrays and machine code; each is a Newton step, once
repeated, with a fixed pattern.
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.linear.factors import SingularMatrix, analyse, condition_estimate, refactor, solve
from netsim.core.newton import CONVERGED, set_time
from netsim.equations.machine import Call, Machine
from netsim.initial.consistent.derivatives import partial_values, partials_table
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.consistent.plan import StagePlan, plan_stage
from netsim.initial.diagnosis.diagnosis import table_ends
from netsim.initial.initial import Structure, of_velocities
from netsim.initial.stages import Stages
from netsim.structure.prescribed import constrained
from netsim.text.errors import SimulationError

Array = np.ndarray
ROUNDS = 2
VANISHING = np.finfo(float).eps ** 2
"""A change of a differentiated quantity that is smaller may be rounding of one that vanishes where it is asked for."""
NEARBY = 1e-3
"""The distance, in sizes, of the point where such a change is asked for again."""


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
    sizes = np.concatenate([sizes, _differentiated_sizes(machine, structure, g, values, sizes), [1.0]])
    lowest = -int(structure.dynamic.d.max(initial=0))
    lowest -= not system.layout.nk
    stages = Stages(machine, structure.signature, structure.dynamic, everything, 1.0 / sizes[:-1])
    free = constrained(structure.signature, structure.dynamic) & (jumping or bool(system.layout.nk))
    known = np.flatnonzero(held & ~free)
    plans = [
        (k, plan_stage(stages, k, values, sizes, held, known, alive))
        for k in ([lowest] if closing else range(lowest + 1, 1))
    ]
    if following and system.layout.nk and not closing:
        others = np.setdiff1d(np.arange(len(structure.dynamic.d)), np.arange(system.layout.nk, system.n))
        plans.insert(0, (lowest, plan_stage(stages, lowest, values, sizes, held, others, alive, matched=True)))
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


def differentiated_sizes(structure: Structure, values: Array, sizes: Array, nk: int) -> Array:
    """The change of each differentiated quantity that goes with ordinary changes of its unknowns and velocities."""
    ordinary = _changes(structure, values, sizes, nk)
    return np.where(ordinary > 0.0, ordinary, 1.0)


def _changes(structure: Structure, values: Array, sizes: Array, nk: int) -> Array:
    """The same, 0 where nothing changes a quantity to first order."""
    s, n = structure.signature, len(sizes)
    inside = s.kept & (s.equation >= n) & (s.variable < n) & (s.order <= (s.variable < nk))
    ordinary = np.zeros(s.size - n)
    np.add.at(ordinary, s.equation[inside] - n, np.abs(values[inside]) * sizes[s.variable[inside]])
    return ordinary


def _differentiated_sizes(machine: Machine, structure: Structure, g: Array, values: Array, sizes: Array) -> Array:
    """The same sizes; where a derivative is next to nothing at g, that of a point nearby counts: what is stationary
    there by symmetry (the momentum of a straight rod at rest about its axis) leaves rounding of any size."""
    layout = machine.system.layout
    here = differentiated_sizes(structure, values, sizes, layout.nk)
    if not np.any(here < VANISHING):
        return here
    moved, apart = g.copy(), NEARBY * sizes * np.cos(np.arange(len(sizes)))
    moved[layout.x : layout.x + layout.nk] += apart[: layout.nk]
    moved[layout.v : layout.v + layout.nk] += apart[: layout.nk]
    moved[layout.y : layout.y + layout.ny] += apart[layout.nk :]
    there = _changes(structure, structure.signature.of(partial_values(machine, moved)), sizes, layout.nk)
    return np.where(here < VANISHING, np.fmax(here, there), here)


def recover_point(recovery: Recovery, g: Array, state: Array, t: float) -> Array:
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
        rhs = residual[:size] if size == plan.n else np.concatenate([np.zeros(plan.n), residual * plan.row_scale])
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
