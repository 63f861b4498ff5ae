"""A run in progress: its variable part, and the blocks of steps that Python sees."""

import time as clock
from collections.abc import Callable
from typing import Protocol

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.loop.fixed import (
    EULER,
    FACTORISATIONS,
    FRESH,
    add_sums,
    advance,
    book,
    instants,
    recovered,
    write,
)
from netsim.core.loop.turnover import nothing_turned
from netsim.core.methods import euler, generalized_alpha
from netsim.core.minimum_norm import least_reactions
from netsim.core.newton import (
    CONVERGED,
    NOT_CONVERGED,
    SINGULAR,
    UNRECOVERED,
    set_differentiated_history,
    set_time,
    spread,
)
from netsim.core.states import KINETIC, STORED, TYPES, energies, move_charts, place, sample
from netsim.equations.machine import Machine, power_room
from netsim.initial.charts import quaternions
from netsim.initial.diagnosis.diagnosis import Stopped, explain_failure
from netsim.initial.flat_plan import compiled_plan, is_ready
from netsim.initial.reachability import unreachable
from netsim.initial.reactions.minimum_norm import plan_minimum_norm
from netsim.initial.reactions.reactions import find_reactions
from netsim.initial.recovery import Recovery, recover
from netsim.results.selection import Reader, Selection
from netsim.simulate.given import Stepping, len_of
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.simulate.pivots import pivots_of
from netsim.simulate.setup.sums import NO_SUMS, summed_places
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
Progress = Callable[[float, float, int], None]

BLOCK_SECONDS = 0.15
NEW_PIVOTS = 6


def begin_run(
    machine: Machine,
    options: TransientOptions,
    g: Array,
    reader: Reader,
    selection: Selection,
    recovery: Recovery | None,
) -> Stepping:
    """A run from the consistent global vector g, with charts moved to the starting rotations and the first sample
    taken."""
    layout, n = machine.system.layout, machine.system.n
    times = instants(options.stop, options.step, 0, len_of(options, 0))
    rows = -(-(len(times) - 1) // options.every) + 1
    state = np.concatenate([layout.state(g), quaternions(machine.system, g).ravel()])
    move_charts(machine.problem, state)
    reactions = find_reactions(machine)
    summed = NO_SUMS if recovery is None else summed_places(machine)
    run = Stepping(
        machine, options, times, g, np.zeros(machine.system.out_size), state, np.zeros(3 * layout.nk + layout.nq),
        np.zeros(n), np.zeros((6, n)),
        np.zeros(3, np.int64), np.full((rows, len(selection.entries)), np.nan), np.zeros((rows + 1, 4)),
        power_room(machine.system),
        np.zeros(reader.size), _first_averages(machine, options, g, state, recovery), recovery, np.zeros(4), reactions,
        plan_minimum_norm(machine, reactions), compiled_plan(None), g.copy(), state.copy(),
        nothing_turned(power_room(machine.system)), summed, np.stack([g[summed[0]], g[summed[1]]]),
    )  # fmt: skip
    if recovery is not None:
        _find_plan(run)
    _sample_state(run, reader, 0)
    run.power_before[:] = run.power[:TYPES]
    run.turnover[:] = nothing_turned(run.power)
    return run


def _first_averages(
    machine: Machine, options: TransientOptions, g: Array, state: Array, recovery: Recovery | None
) -> Array:
    """Algorithmic accelerations at the start: those at t = (am - af) h, for order 2 of the multipliers too (Arnold and
    Bruels 2007)."""
    layout = machine.system.layout
    nk, at = layout.nk, 3 * layout.nk + layout.ny
    found = np.concatenate([state[2 * nk : 3 * nk], state[at + layout.nq : at + 2 * layout.nq]])
    method = METHODS[options.method].plain
    if method[0] == EULER or not nk or recovery is None:
        return found
    shift = (method[1] - method[2]) * options.step
    moved = state.copy()
    moved[:nk] += shift * state[nk : 2 * nk] + shift**2 / 2 * state[2 * nk : 3 * nk]
    moved[nk : 2 * nk] += shift * state[2 * nk : 3 * nk]
    place(machine.problem, g, state)
    try:
        point = recover(recovery, g, moved, shift)
    except SimulationError:  # prescribed motions may not reach back before the start
        return found
    found[:nk] = point[layout.a : layout.y]
    return found


def _find_plan(run: Stepping) -> None:
    """Pivots of the stages, taken at what the state holds: then compiled loops can take them."""
    assert run.recovery is not None
    place(run.machine.problem, run.g, run.state)
    try:
        recover(run.recovery, run.g, run.state, run.now)
    except SimulationError:
        return
    run.plan = compiled_plan(run.recovery)


def _sample_state(run: Stepping, reader: Reader, row: int) -> None:
    """Sample what the state holds (at the start, and where forces were recovered)."""
    place(run.machine.problem, run.g, run.state)
    energies(run.machine.problem, run.g, run.power)
    run.account[row, 0], run.account[row, 3] = run.power[STORED], run.power[KINETIC]
    _sample(run, reader, run.g, row)


def _sample(run: Stepping, reader: Reader, g: Array, row: int) -> None:
    """Sample g, reactions without a unique value as those of least norm."""
    least_reactions(run.minimum_norm[0], g)
    sample(reader.table, reader.places, g, run.found, run.values[row])


class GivenRecorder(Protocol):
    """What writes a run down (netsim.simulate.stored.recorder)."""

    def begun_given(self, run: Stepping) -> None: ...

    def between_given(self, run: Stepping) -> None: ...


def integrate(
    run: Stepping, reader: Reader, progress: Progress | None, recorder: GivenRecorder | None = None
) -> Problem | None:
    """Blocks of steps until the end, a failure (returned) or an interruption (raised); what `recorder` has is gone on
    from."""
    steps = run.count
    if recorder:
        recorder.begun_given(run)
    block = run.options.every if _by_sample(run) else 16
    if run.factor is None and (problem := _refactor(run, run.instant(min(1, steps)))):
        return problem
    broken = run.broken
    while run.done < steps:
        if recorder:
            recorder.between_given(run)
        by_sample = _by_sample(run)
        last = min(run.done + (run.options.every if by_sample else block), run.last_in_memory)
        started = clock.perf_counter()
        status, done = _advance(run, reader, last, 0 if run.recovery is None else 2 if by_sample else 1)
        run.done = done
        if status == SINGULAR and broken.get(done, 0) < NEW_PIVOTS:
            broken[done] = broken.get(done, 0) + 1
            if problem := _new_pivots(run, run.instant(done + 1)):
                return problem
            continue
        if status not in (CONVERGED, UNRECOVERED):
            return _failure(run, status)
        if status == UNRECOVERED:
            _recover(run, reader, run.now - run.instant(run.done - 1))
            _book(run)
        else:
            spent = clock.perf_counter() - started
            block = max(1, min(10 * block, int(block * BLOCK_SECONDS / max(spent, 1e-4))))
        if progress:
            progress(run.done / steps, run.now, run.done)
    return None


def keep_last(run: Stepping, reader: Reader) -> None:
    """Sample the last good step of a run that ended between two samples."""
    every = run.options.every
    if run.done % every == 0:
        return
    set_time(run.machine.problem, run.g, run.now)
    place(run.machine.problem, run.g, run.state)
    row = run.row
    try:
        if run.recovery is not None:
            _recover(run, reader, 0.0)
        else:
            _sample_state(run, reader, row)
        write(run.account, row, run.power)
    except SimulationError:
        return
    run.closed = True


def _failure(run: Stepping, status: int) -> Problem:
    """Why the step after the last good one failed."""
    before, t = run.now, run.instant(run.done + 1)
    stands = run.g.copy()
    place(run.machine.problem, stands, run.state)
    if status == NOT_CONVERGED and (problem := unreachable(run.machine, stands, before, t)):
        return problem
    return explain_failure(run.machine, Stopped(status, before, t - before), stands, run.state, (run.g, run.out, run.u))


def _by_sample(run: Stepping) -> bool:
    """Whether samples need Python: where a stage has no pivots that serve."""
    return run.recovery is not None and not is_ready(run.recovery)


def _advance(run: Stepping, reader: Reader, last: int, recovering: int) -> tuple[int, int]:
    assert run.factor is not None
    first, last = run.done - run.origin, last - run.origin
    status, done = advance(
        run.machine.problem, run.factor, run.method, run.counters, run.g, run.out, run.state, run.extra,
        run.history,
        run.u, run.work, run.times, run.options.step, first, last,
        run.options.every, reader.table, reader.places, run.minimum_norm[0], run.found, run.values, run.account,
        run.power, recovering, run.plan, run.point, run.spare, run.power_before, run.turnover, run.summed, run.sums,
    )  # fmt: skip
    return status, done + run.origin


def _refactor(run: Stepping, t: float) -> Problem | None:
    """The first ordering and pivots, for the matrix at the start; the problem where it is singular."""

    problem, g = run.machine.problem, run.g
    set_time(problem, g, t)
    if run.method[0] == EULER:
        euler.begin(problem, g, run.state, run.history, run.options.step)
        euler.guess(problem, run.state, run.u)
    else:
        generalized_alpha.begin(problem, run.method[1:], g, run.state, run.extra, run.history, run.options.step)
        generalized_alpha.guess(problem, run.state, run.u)
    set_differentiated_history(problem, g, run.history)
    spread(problem, g, run.history, run.u)
    run.out[:] = 0.0
    run_table(problem.jacobian, g, run.out)
    return _new_pivots(run, t)


def _new_pivots(run: Stepping, t: float) -> Problem | None:
    """Ordering and pivots for the matrix that `out` holds."""
    found = pivots_of(run.machine, run.out, t)
    if isinstance(found, Problem):
        return found
    run.factor = found
    run.counters[FRESH] = 1
    run.counters[FACTORISATIONS] += 1
    return None


def _recover(run: Stepping, reader: Reader, size: float) -> None:
    """The sample of the step that was done last, as the consistent point near it; `size` of it is in no sum yet."""
    problem, row = run.machine.problem, run.row
    assert run.recovery is not None
    if not is_ready(run.recovery) or not recovered(problem, run.plan, run.g, run.state, run.point, run.spare):
        _recover_carefully(run)
    energies(problem, run.point, run.power)
    add_sums(run.summed, run.sums, run.point, size, True)
    _sample(run, reader, run.point, row)


def _book(run: Stepping) -> None:
    """The account of the step that was done last, at a sample."""
    book(run.account, run.turnover, run.power, run.power_before, run.now - run.instant(run.done - 1), 0.5)
    write(run.account, run.row, run.power)


def _recover_carefully(run: Stepping) -> None:
    """The same point with pivots of its own; later points are then taken with these."""
    assert run.recovery is not None
    for _, stage in run.recovery.stages:
        stage.factor = None
    point = recover(run.recovery, run.g, run.state, run.now)
    run.plan = compiled_plan(run.recovery)
    found = run.machine.system.layout.state(point)
    run.spare[:] = run.state
    run.spare[: len(found)] = found
    move_charts(run.machine.problem, run.spare)
    place(run.machine.problem, point, run.spare)
    run.point[:] = point
