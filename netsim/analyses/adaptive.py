"""A run of the accept/reject loop: its variable part, and the blocks of steps that Python sees."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.analyses.events import Settling, begin_truths, settling
from netsim.analyses.methods import Method, method_named
from netsim.analyses.options import TransientOptions
from netsim.analyses.passing import pass_event
from netsim.errors import InputError, Problem, SimulationError
from netsim.integrators.adaptive import (
    BY_CORNER,
    BY_ERROR,
    BY_EVENT,
    BY_NEWTON,
    DONE,
    EVENT,
    FULL,
    GOING,
    NOW,
    REASON,
    RECOVERING,
    ROW,
    SIZE,
    Control,
    Readout,
    advance,
    first_size,
    take,
)
from netsim.integrators.contract import ACCEPTED, EVENTS, FACTORISATIONS, FAILED, REJECTED, RESTARTED, Trial, set_scales
from netsim.integrators.crossings import nothing_to_watch
from netsim.integrators.states import load, move_charts, place
from netsim.integrators.weights import exponents
from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import run_table
from netsim.layout import Layout
from netsim.peaks import peaks_of
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
from netsim.solvers.sharing import plan_sharing

Array = np.ndarray

BLOCK_SECONDS = 0.15
NEW_PIVOTS = 6
FILL = 500
"""Samples at accepted steps are filled up to this many over a run."""
HARDLY, HOPELESS = 1e-3, 100_000
"""A run that fails so many steps within this part of it hardly advances."""
GIVEN_STEP = 1e-9
"""The tolerance that Newton's method goes by where steps are given: small beside what any method leaves."""
WORDS = {BY_ERROR: "the error test", BY_NEWTON: "Newton's method", BY_CORNER: "a corner of a drive", BY_EVENT: "an event"}


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
    events: Settling | None = None
    factors: dict[bytes, Factor] = field(default_factory=dict)

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
        found = {name: int(self.counters[k]) for name, k in (("rejected", REJECTED), ("failed", FAILED), ("corners", EVENTS))}
        return found | ({"events": len(self.events.log)} if self.events else {})

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
    state = np.concatenate([state_of(g, layout), quaternions(machine.system, g).ravel()])
    move_charts(bundled(machine.problem), state)
    trial = _trial(machine, structure, options, method, g, state)
    problem = bundled(machine.problem)
    set_scales(problem, bundled(trial))
    size = options.step or first_size(problem, bundled(trial), options.stop, method.estimate)
    factor = _first_factor(machine, trial, size)
    events = settling(machine, structure, method.explicit)
    plan, recovery = _plan(machine, structure, options, method, g, state, corners, events)
    arrays, alive = method.prepare(machine, factor, plan)
    peaks = np.zeros(0) if options.step else peaks_of(machine, options.stop, corners)
    control = _control(options, method, structure, size, corners, peaks, plan, layout.nk > 0)
    if events and len(plan.sizes):  # values that switch have no polynomial worth a sample where nothing else moves
        control.places[RECOVERING] = 1
    reactions = find_reactions(machine)
    shares, tables = plan_sharing(machine, reactions)
    readout = _readout(reader, shares, method, len(control.grid) - 1 + (1000 if control.places[4] else 2))
    run = Running(machine, options, method, trial, control, readout, plan, factor, arrays, reactions, [alive, recovery, tables], events)
    set_time(problem, trial.g, 0.0)
    if events:
        begin_truths(events, trial.g)
        pass_event(run, _longer)
    trial.middle[:] = trial.start
    take(problem, bundled(trial), bundled(readout), 0, 0.0)
    control.places[ROW] = 1
    return run


def state_of(g: Array, layout: Layout) -> Array:
    """[x | v | a | y | q | q'] of a global vector."""
    return np.concatenate([g[layout.x : layout.history], g[layout.charge(np.arange(layout.nq), 0)], g[layout.history : layout.step_size]])


def _trial(machine: Machine, structure: Structure, options: TransientOptions, method: Method, g: Array, state: Array) -> Trial:
    system, layout = machine.system, machine.system.layout
    nk, n = layout.nk, system.n
    nominal = np.concatenate([system.nominals[:nk], system.nominals])
    rtol = GIVEN_STEP if options.step else method.tolerance(options.rtol)
    share = max(10 * 2.2e-16 / rtol, min(0.03, rtol**0.5))
    tolerances = np.array([rtol, share, method.estimate, 0.0])
    counters = np.zeros(8, np.int64)
    counters[RESTARTED] = 2
    return Trial(
        g, np.zeros(system.out_size), state, state.copy(), state.copy(), np.zeros(3 * nk + layout.nq), np.zeros(n), np.zeros((6, n)),
        np.zeros(nk + n), exponents(system, structure), nominal, tolerances, counters,
    )  # fmt: skip


def _control(
    options: TransientOptions, method: Method, structure: Structure, size: float, corners: Array, peaks: Array, plan: Consistent, kinematic: bool
) -> Control:
    stop, fixed = options.stop, options.step
    numbers = np.array([0.0, size, stop, fixed, 1e-15 * stop, fixed if fixed else stop / 4, BY_ERROR, 0.0, np.inf])
    kinematic_constraints = structure.index > 1 and len(plan.sizes) > 0
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
    nodes, weights = np.polynomial.legendre.leggauss(method.work_nodes)
    return Readout(
        reader.table, reader.places, np.zeros(reader.size), np.zeros((rows, len(reader.places))), np.zeros((rows, 4)), np.zeros(rows),
        np.zeros(2), np.zeros(4), (nodes + 1) / 2, weights / 2, shares,
    )  # fmt: skip


def _plan(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    method: Method,
    g: Array,
    state: Array,
    corners: Array,
    events: Settling | None,
) -> tuple[Consistent, Any]:
    """Consistent points for recovered samples, projections, corners and explicit methods; factors taken at the start; and what keeps them alive."""
    if not (options.recovers or method.needs_rates or len(corners) or structure.index > 1 or events):
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, g)
    try:
        recover(recovery, g, state, 0.0)
    except SimulationError:
        return compiled_plan(None), None
    return compiled_plan(recovery), recovery


def _first_factor(machine: Machine, trial: Trial, h: float, t: float = 0.0) -> Factor:
    """Ordering and pivots for the matrix of a step of size h at the start; raises `SimulationError` where it is singular."""
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


def integrate_adaptive(run: Running, progress: Any) -> Problem | None:  # noqa: C901  (one case per answer of the loop)
    """Blocks of steps until the end, a failure (returned) or an interruption (raised)."""
    block, broken, mark = 16, {}, [run.now, 0.0]  # type: int, dict[int, int], list[float]
    problem, trial, control, plan = map(bundled, (run.machine.problem, run.trial, run.control, run.plan))
    factor, watch = bundled(run.factor), bundled(run.events.watch if run.events else nothing_to_watch())
    while True:
        started = clock.perf_counter()
        status = advance(run.arrays, problem, factor, trial, control, plan, bundled(run.readout), watch, block)
        spent = clock.perf_counter() - started
        if progress:
            progress(min(1.0, run.now / run.options.stop), run.now, run.steps)
        if status == DONE:
            return None
        if status == FULL:
            run.readout = _longer(run.readout)
        elif status == EVENT:
            try:
                plan = bundled(pass_event(run, _longer))
                factor = bundled(_factor_behind(run))
            except SimulationError as error:
                return error.problems[0]
        elif status == GOING and (stuck := _stuck(run, mark)):
            return stuck
        elif status == GOING:
            block = max(4, min(10 * block, int(block * BLOCK_SECONDS / max(spent, 1e-4))))
        elif status == SINGULAR and broken.get(run.steps, 0) < NEW_PIVOTS:
            broken[run.steps] = broken.get(run.steps, 0) + 1
            found = _pivots(run.machine, run.trial, run.now)
            if isinstance(found, Problem):
                if run.options.step or run.control.numbers[SIZE] < 1e-12 * run.options.stop:
                    return found
                run.control.numbers[SIZE] *= 0.25
                continue
            run.factor, run.arrays = found, run.method.with_factor(run.arrays, found)
            factor = bundled(found)
        else:
            return _failure(run, int(status))


def _factor_behind(run: Running) -> Factor:
    """Ordering and pivots for the discretes that hold behind an event: those of before may serve badly where switches lie decades apart."""
    assert run.events is not None
    key = run.trial.g[run.events.values].tobytes()
    if key not in run.factors:
        try:
            run.factors[key] = _first_factor(run.machine, run.trial, float(run.control.numbers[SIZE]), run.now)
        except SimulationError:
            return run.factor
    if run.factors[key] is not run.factor:
        run.factor = run.factors[key]
        run.arrays = run.method.with_factor(run.arrays, run.factor)
    return run.factor


def _stuck(run: Running, mark: list[float]) -> Problem | None:
    """The problem of a run whose steps fail while time stands nearly still; `mark`: where it last had moved, and the failures so far."""
    failed = int(run.counters[FAILED] + run.counters[REJECTED])
    if run.now > mark[0] + HARDLY * run.options.stop:
        mark[:] = run.now, failed
    if failed - mark[1] < HOPELESS:
        return None
    return explain_chatter(run.machine, run.now, failed - int(mark[1]), run.trial.start)


def _longer(readout: Readout) -> Readout:
    """The same with room for twice as many samples."""
    return readout._replace(
        values=np.vstack([readout.values, np.zeros_like(readout.values)]),
        account=np.vstack([readout.account, np.zeros_like(readout.account)]),
        times=np.append(readout.times, np.zeros_like(readout.times)),
    )


def _failure(run: Running, status: int) -> Problem:
    """Why no step leads on from the last good one."""
    machine, before, given = run.machine, run.now, run.options.step
    stands = run.trial.g.copy()
    place(bundled(machine.problem), stands, run.trial.start)
    if status not in (OUTSIDE_TABLE, NOT_FINITE):
        looks = [given] if given else [share * run.options.stop for share in AHEAD]
        found = [problem for ahead in looks if (problem := out_of_reach(machine, stands, before, before + ahead))]
        if found:
            return found[-1]
    stopped = Stopped(status, before, given or float(run.control.numbers[SIZE]), "" if given else WORDS[float(run.control.numbers[REASON])])
    return explain_failure(machine, stopped, stands, run.trial.start, (run.trial.g, run.trial.out, run.trial.u))
