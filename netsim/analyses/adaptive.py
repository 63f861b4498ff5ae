"""A run of the accept/reject loop: its variable part, and the blocks of steps that Python sees."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types

from netsim.analyses.methods import Method, method_named
from netsim.analyses.options import TransientOptions
from netsim.errors import InputError, Problem, SimulationError
from netsim.integrators.adaptive import (
    BY_CORNER,
    BY_ERROR,
    BY_NEWTON,
    DONE,
    FAILURES,
    FULL,
    GOING,
    NOW,
    REASON,
    ROW,
    SIZE,
    Control,
    Readout,
    advance,
    first_size,
    longer,
    take,
)
from netsim.integrators.contract import ACCEPTED, EVENTS, FACTORISATIONS, FAILED, REJECTED, RESTARTED, Trial, fill_code, set_scales
from netsim.integrators.states import load, move_charts, place, project
from netsim.integrators.weights import exponents
from netsim.kernels.apart import address_of, plain_loops
from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import run_table
from netsim.layout import Layout
from netsim.peaks import ends_of
from netsim.selection import Sampler
from netsim.solvers.charts import quaternions
from netsim.solvers.consistent import Consistent, compiled_plan
from netsim.solvers.diagnosis import AHEAD, Stopped, explain_chatter, explain_failure, explain_singular
from netsim.solvers.initial import Structure
from netsim.solvers.linear import Factor, SingularMatrix, analyse
from netsim.solvers.machine import ALPHA, KA, KV, KX, Machine
from netsim.solvers.newton import NOT_FINITE, OUTSIDE_TABLE, SINGULAR, set_time
from netsim.solvers.reach import out_of_reach
from netsim.solvers.reactions import Reactions, find_reactions
from netsim.solvers.recovery import plan_recovery, recover
from netsim.solvers.redundancy import chosen_anew
from netsim.solvers.sharing import plan_sharing

Array = np.ndarray

BLOCK_SECONDS = 0.15
NEW_PIVOTS = 6
FILL = 500
"""Samples at accepted steps are filled up to this many over a run."""
HARDLY, HOPELESS = 1e-3, 20_000
"""A run that fails so many steps within this part of it hardly advances."""
GIVEN_STEP = 1e-9
"""The tolerance that Newton's method goes by where steps are given: small beside what any method leaves."""
LOOK, HARD = 50, 3
"""Where constraints repeat one another: steps after which failures are counted, and how many of them ask whether others should be left out."""
WORDS = {BY_ERROR: "the error test", BY_NEWTON: "Newton's method", BY_CORNER: "a corner of a drive"}


@dataclass(eq=False)
class Running:
    """The variable part of one run: nothing of it is kept on system, machine or method."""

    machine: Machine
    options: TransientOptions
    method: Method
    trial: Trial
    control: Control
    readout: Readout
    plan: Consistent
    factor: Factor
    arrays: Any
    reactions: Reactions | None
    alive: list[Any] = field(default_factory=list)

    @property
    def now(self) -> float:
        return float(self.control.numbers[NOW])

    @property
    def steps(self) -> int:
        return int(self.trial.counters[ACCEPTED])

    @property
    def counters(self) -> Array:
        return self.trial.counters

    @property
    def effort(self) -> dict[str, int]:
        """What the loop did besides accepted steps."""
        return {name: int(self.counters[k]) for name, k in (("rejected", REJECTED), ("failed", FAILED), ("corners", EVENTS))}

    @property
    def sampled(self) -> tuple[Array, Array, Array]:
        """Instants, values and energy account of the samples so far."""
        rows = int(self.control.places[ROW])
        return self.readout.times[:rows], self.readout.values[:rows], self.readout.account[:rows]


def begin_adaptive(machine: Machine, structure: Structure, options: TransientOptions, g: Array, reader: Sampler, corners: Array) -> Running:
    """A run from the consistent global vector g, with the first sample taken."""
    layout = machine.system.layout
    method = method_named(options.method)
    if reason := method.refused(structure.index):
        raise InputError(Problem("E426", reason, hint="leave `method` out: the default serves every index"))
    trial, size = _trial(machine, structure, options, method, g)
    problem, factor = machine.bundle, _first_factor(machine, trial, size, 0.0)
    plan, recovery = _plan(machine, structure, options, method, trial, corners, 0.0)
    closing, closed = _closing(machine, structure, method, trial, 0.0)
    arrays, alive = method.prepare(machine, factor, plan, closing)
    peaks = np.zeros(0) if options.step else ends_of(machine, options.stop, corners, method.work, options.rtol)
    control = _control(options, method, structure, size, corners, peaks, plan, layout.nk > 0)
    reactions = find_reactions(machine)
    shares, tables = plan_sharing(machine, reactions)
    readout = _readout(reader, shares, method, len(control.grid) - 1 + (1000 if control.places[4] else 2))
    run = Running(machine, options, method, trial, control, readout, plan, factor, arrays, reactions, [alive, recovery, closed, tables])
    _fill(run)
    set_time(problem, trial.g, 0.0)
    trial.middle[:] = trial.start
    take(problem, bundled(trial), bundled(readout), 0, 0.0)
    control.places[ROW] = 1
    return run


def state_of(g: Array, layout: Layout) -> Array:
    """[x | v | a | y | q | q'] of a global vector."""
    return np.concatenate([g[layout.x : layout.history], g[layout.charge(np.arange(layout.nq), 0)], g[layout.history : layout.step_size]])


def _chosen_anew(run: Running) -> bool:
    """Whether the run goes on from here with other constraints left out than before (see netsim.solvers.redundancy)."""
    stands, now, problem = run.trial.g.copy(), run.now, run.machine.bundle
    set_time(problem, stands, now)
    load(problem, stands, run.trial.start)
    found = chosen_anew(run.machine, stands)
    if found is None:
        return False
    machine, structure = found
    trial, size = _trial(machine, structure, run.options, run.method, stands)
    run.trial = trial._replace(counters=run.trial.counters)
    run.counters[RESTARTED] = 1
    run.machine, run.factor = machine, _first_factor(machine, run.trial, size, now)
    run.plan, recovery = _plan(machine, structure, run.options, run.method, run.trial, run.control.corners[:-1], now)
    closing, closed = _closing(machine, structure, run.method, run.trial, now)
    run.arrays, alive = run.method.prepare(machine, run.factor, run.plan, closing)
    run.reactions = find_reactions(machine)
    shares, tables = plan_sharing(machine, run.reactions)
    run.readout = run.readout._replace(sharing=shares)
    run.alive += [alive, recovery, closed, tables]
    run.control.numbers[SIZE], run.control.places[FAILURES] = size, 0
    _fill(run)
    return True


def _fill(run: Running) -> None:
    """Compile what the loop calls by address, and the loop, or read them from the cache."""
    problem, trial, plan, vector = run.machine.bundle, bundled(run.trial), bundled(run.plan), types.float64[::1]
    projecting = address_of(project, types.boolean, problem.kind, plan.kind, vector, vector)
    fill_code(run.method.module, run.arrays, problem, run.factor, trial, projecting, run.method.single)
    with plain_loops():
        rest = (bundled(each).kind for each in (run.factor, run.trial, run.control, run.plan, run.readout))
        advance.compile((types.int64, problem.kind, *rest, types.int64))


def _trial(machine: Machine, structure: Structure, options: TransientOptions, method: Method, g: Array) -> tuple[Trial, float]:
    """Arrays of a step from the point in g, and its first size."""
    system, layout = machine.system, machine.system.layout
    state = np.concatenate([state_of(g, layout), quaternions(system, g).ravel()])
    move_charts(machine.bundle, state)
    nk, n = layout.nk, system.n
    nominal = np.concatenate([system.position_nominals, system.nominals])
    rtol = GIVEN_STEP if options.step else method.tolerance(options.rtol)
    share = max(10 * 2.2e-16 / rtol, min(0.03, rtol**0.5))
    tolerances = np.array([rtol, share, method.estimate, 0.0, 1.0])
    counters = np.zeros(8, np.int64)
    counters[RESTARTED] = 2
    trial = Trial(
        g, np.zeros(system.out_size), state, state.copy(), state.copy(), np.zeros(3 * nk + layout.nq), np.zeros(n), np.zeros((6, n)),
        np.zeros(nk + n), exponents(system, structure), nominal, tolerances, counters, np.zeros(8, np.int64),
    )  # fmt: skip
    set_scales(machine.bundle, bundled(trial))
    return trial, options.step or first_size(machine.bundle, bundled(trial), options.stop, method.estimate)


def _control(
    options: TransientOptions, method: Method, structure: Structure, size: float, corners: Array, peaks: Array, plan: Consistent, kinematic: bool
) -> Control:
    stop, fixed = options.stop, options.step
    numbers = np.array([0.0, size, stop, fixed, 1e-15 * stop, fixed if fixed else stop / 4, BY_ERROR, 0.0])
    kinematic_constraints = structure.index > 1 and len(plan.sizes) > 0 and not method.explicit  # whose steps end in one of themselves
    grid: Array = np.zeros(0)
    if options.sample:
        count = int(np.floor(options.stop / options.sample * (1 + 1e-12)))
        grid = np.arange(1, count + 1) * options.sample
        grid = np.append(grid[grid < stop * (1 - 1e-12)], stop)
    elif not fixed:
        grid = np.append(np.arange(1, FILL) * (stop / FILL), stop)
    every = 0 if options.sample else options.every
    recovering = int(len(plan.sizes) > 0 and (method.explicit or (options.recovers and (kinematic or structure.index > 1))))
    cut = corners if not fixed or method.order > 1 else np.zeros(0)  # a given step of order 1 gains nothing: see docs/decisions.md
    inside = np.append(cut[(cut > 0) & (cut < stop * (1 - 1e-12))], np.inf)
    places = np.array([0, 0, 0, 0, every, int(kinematic_constraints), recovering, int(len(plan.sizes) > 0), 0, 0, 0])
    return Control(numbers, places, inside, np.append(peaks, np.inf), np.append(grid, np.inf))


def _readout(reader: Sampler, shares: Bundle, method: Method, rows: int) -> Readout:
    nodes = np.array(method.work)
    basis = np.linalg.inv(np.vander(nodes, increasing=True))
    integrals = np.ascontiguousarray(basis.T / np.arange(1, len(nodes) + 1))
    return Readout(
        reader.table, reader.places, np.zeros(reader.size), np.zeros((rows, len(reader.places))), np.zeros((rows, 4)), np.zeros(rows),
        np.zeros((2, 2)), np.zeros(4), nodes, np.zeros((len(nodes), 2)), integrals, shares,
    )  # fmt: skip


def _plan(
    machine: Machine, structure: Structure, options: TransientOptions, method: Method, trial: Trial, corners: Array, t: float
) -> tuple[Consistent, Any]:
    """Consistent points for recovered samples, projections, corners and explicit methods; factors taken at the point t; and what keeps them alive."""
    if not (options.recovers or method.needs_rates or len(corners) or structure.index > 1):
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g)
    try:
        recover(recovery, trial.g, trial.start, t)
    except SimulationError:
        return compiled_plan(None), None
    return compiled_plan(recovery), recovery


def _closing(machine: Machine, structure: Structure, method: Method, trial: Trial, t: float) -> tuple[Consistent, Any]:
    """How an explicit method closes positions at the end of a step; factors taken at the point t; and what keeps that alive."""
    if not method.explicit or structure.index < 3:
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g, closing=True)
    recover(recovery, trial.g, trial.start, t)
    return compiled_plan(recovery), recovery


def _first_factor(machine: Machine, trial: Trial, h: float, t: float) -> Factor:
    """Ordering and pivots for the matrix of a step of size h from t; raises `SimulationError` where it is singular."""
    layout, problem, g = machine.system.layout, machine.problem, trial.g
    load(bundled(problem), g, trial.start)
    set_time(bundled(problem), g, t)
    g[[KX, KV, KA, ALPHA]] = 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h
    at, nq = 3 * layout.nk + layout.ny, layout.nq
    g[layout.history : layout.step_size] = trial.start[at + nq : at + 2 * nq] - trial.start[at : at + nq] / h
    trial.out[:] = 0.0
    run_table(problem.jacobian, g, trial.out)
    found = _pivots(machine, trial, t)
    if isinstance(found, Problem):
        raise SimulationError(found)
    return found


def _pivots(machine: Machine, trial: Trial, t: float) -> Factor | Problem:
    """Ordering and pivots for the matrix that `out` holds."""
    system = machine.system
    entries = trial.out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    try:
        factor = analyse(system.n, system.pattern.indptr, system.pattern.indices, entries)
    except SingularMatrix as singular:
        return explain_singular(machine, singular, t)
    except ValueError:
        return Problem("E503", f"the equations give no finite matrix at t = {t:g} s", hint="a parameter or start value may divide by zero")
    trial.counters[FACTORISATIONS] += 1
    return factor


def integrate_adaptive(run: Running, progress: Any) -> Problem | None:
    """Blocks of steps until the end, a failure (returned) or an interruption (raised)."""
    block, broken, mark, failed = 16, {}, [run.now, 0.0], [0]  # type: int, dict[int, int], list[float], list[int]
    while True:
        problem, (trial, control, plan, factor) = run.machine.bundle, map(bundled, (run.trial, run.control, run.plan, run.factor))
        most = LOOK if run.machine.system.redundant else block
        started = clock.perf_counter()
        status = advance(run.arrays.address, problem, factor, trial, control, plan, bundled(run.readout), min(block, most))
        spent = clock.perf_counter() - started
        if progress:
            progress(min(1.0, run.now / run.options.stop), run.now, run.steps)
        if status == DONE:
            return None
        if status == FULL:
            run.readout = longer(run.readout)
        elif _worn(run, status, failed) and _chosen_anew(run):
            continue
        elif status == GOING:
            if stuck := _stuck(run, mark):
                return stuck
            block = max(4, min(10 * block, int(block * BLOCK_SECONDS / max(spent, 1e-4))))
        elif status == SINGULAR and broken.get(run.steps, 0) < NEW_PIVOTS:
            broken[run.steps] = broken.get(run.steps, 0) + 1
            if hopeless := _new_pivots(run):
                return hopeless
        else:
            return _failure(run, int(status))


def _new_pivots(run: Running) -> Problem | None:
    """Pivots that serve the matrix where the old ones broke down, else a smaller step; the problem where that helps no more."""
    found = _pivots(run.machine, run.trial, run.now)
    if not isinstance(found, Problem):
        run.factor, run.arrays = found, run.method.with_factor(run.arrays, found)
    elif run.options.step or run.control.numbers[SIZE] < 1e-12 * run.options.stop:
        return found
    else:
        run.control.numbers[SIZE] *= 0.25
    return None


def _worn(run: Running, status: int, failed: list[int]) -> bool:
    """Whether steps fail where constraints repeat one another, so that the choice of those left out may be to blame; `failed`: at the last look."""
    if run.machine.system.redundant is None or (status == GOING and run.counters[FAILED] <= failed[0] + HARD):
        return False
    failed[0] = int(run.counters[FAILED])
    return True


def _stuck(run: Running, mark: list[float]) -> Problem | None:
    """The problem of a run whose steps fail while time stands nearly still; `mark`: where it last had moved, and the failures so far."""
    failed = int(run.counters[FAILED] + run.counters[REJECTED])
    if run.now > mark[0] + HARDLY * run.options.stop:
        mark[:] = run.now, failed
    if failed - mark[1] < HOPELESS:
        return None
    return explain_chatter(run.machine, run.now, failed - int(mark[1]), run.trial.start)


def _failure(run: Running, status: int) -> Problem:
    """Why no step leads on from the last good one."""
    machine, before, given = run.machine, run.now, run.options.step
    stands = run.trial.g.copy()
    place(machine.bundle, stands, run.trial.start)
    if status not in (OUTSIDE_TABLE, NOT_FINITE):
        looks = [given] if given else [share * run.options.stop for share in AHEAD]
        found = [problem for ahead in looks if (problem := out_of_reach(machine, stands, before, before + ahead))]
        if found:
            return found[-1]
    stopped = Stopped(status, before, given or float(run.control.numbers[SIZE]), "" if given else WORDS[float(run.control.numbers[REASON])])
    return explain_failure(machine, stopped, stands, run.trial.start, (run.trial.g, run.trial.out, run.trial.u))
