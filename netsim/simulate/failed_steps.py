"""What a run does where Newton's method fails again and again, before steps become too short to matter, and what it
keeps where it ends there."""

from dataclasses import replace

import numpy as np

from netsim.core.compiled.struct import struct_of
from netsim.core.contract import ACCEPTED, FAILED, REFUSED, REINITIALISED, REJECTED, RESTARTED, UNSOLVED, UNTESTED
from netsim.core.loop.adaptive import CALLS
from netsim.core.loop.control import (
    BY_ERROR,
    BY_EVENT,
    BY_NEWTON,
    BY_TIME_EVENT,
    CREEPING,
    DUE,
    EDGE,
    FAILURES,
    FIXED,
    GROWING,
    NOW,
    REASON,
    RECOVERING,
    ROW,
    SIZE,
    TIME_EVENT,
    target_of,
    too_short,
)
from netsim.core.loop.sampler import store_row
from netsim.core.loop.turnover import add_work
from netsim.core.newton import CONVERGED, NOT_CONVERGED, NOT_FINITE, OUTSIDE_TABLE, set_time
from netsim.core.states import DISSIPATED, STORED, energies, load, place
from netsim.initial.diagnosis.diagnosis import (
    AHEAD,
    StoppedRun,
    UnstableRun,
    explain_chatter,
    explain_endless,
    explain_failure,
    explain_unstable,
)
from netsim.initial.diagnosis.suspects import not_finite
from netsim.initial.reachability import unreachable
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.simulate.events.passing import forget
from netsim.simulate.running import Running
from netsim.text.errors import Problem, SimulationError

REACHES, AGAIN = (2.0, 1.0, 4.0, 0.5), (1.0, 0.5, 2.0)
"""Steps to try, in the size that failed last; after a try that the error test refused, the size it asked for comes
first: where rounding keeps the stages from being found, a long step has them farther away from what amplifies it."""
TRIES, PLACE = 40, 1e-3
"""So many tries within this part of a run, and no more are made there: a law that jumps fails at every step."""
SMALL = 0.1
"""Solving stages together costs as much as a hundred steps: a step is tried this way when it is this small beside those
before."""
BEHIND = 1e-9
"""How far behind a discontinuity a circuit goes on, as a share of the run."""
FINEST = 1e-11
"""The smallest rtol that double precision leaves room for on most networks."""
ROUNDED = 4
"""So often in a row a shorter step had a larger estimated error: that grows with powers of 1/h, as rounding does, and
nothing else."""
MOST = 8
"""Failures in a row up to which a step is tried this way."""

HARDLY, HOPELESS = 1e-3, 20_000
"""A run that fails so many steps within this part of it hardly advances."""
LOST = 1e-10
"""A run that takes as many steps of any kind within this part of it would need 1e14 of them: it has no end."""
STIFF = 1e3
"""Steps in a whole run from which on it is a method's stability that may have bound them."""
WORDS = {
    BY_ERROR: "the error test",
    BY_NEWTON: "Newton's method",
    BY_TIME_EVENT: "a time event (a discontinuity of an input or of a delayed signal)",
    BY_EVENT: "an event",
}
"""The reasons why a step was short, as subjects of a sentence."""


def retry(run: Running, status: int) -> bool:
    """Whether the run may try again: a step whose stages are solved together, or the loop's shorter one."""
    if status not in (NOT_CONVERGED, NOT_FINITE, OUTSIDE_TABLE):
        return False
    numbers = run.control.numbers
    given, failures = numbers[FIXED] > 0.0, run.control.places[FAILURES]
    shortest = too_short(numbers, numbers[SIZE])
    # before that, and for a circuit's diodes, shorter steps are cheaper
    small = run.steps == 0 or numbers[SIZE] < SMALL * run.now / run.steps
    early = small and run.machine.system.layout.nk > 0
    whole = given and failures == 1 and numbers[SIZE] >= 0.2 * numbers[FIXED]  # a part of it is found more cheaply
    wanted = whole if given else failures <= MOST if early else shortest
    if run.method.together and status != OUTSIDE_TABLE and wanted:
        failed = run.method.together.size_that_failed(run.arrays, float(numbers[SIZE]))
        reaches = (1.0,) if given else REACHES if failures <= CALLS else AGAIN
        if _solved_together(run, [reach * failed for reach in reaches]):
            return True
    if given:  # in parts, each half of the one that failed or less
        return status == NOT_CONVERGED and not run.options.formula and not shortest
    return not shortest or run_reinitialised(run)


def run_reinitialised(run: Running) -> bool:
    """Whether the run goes on behind a discontinuity of a circuit's values at the present instant
    (netsim.initial.static.reinitialisation)."""
    control, trial, layout = run.control, run.trial, run.machine.system.layout
    t, at = float(control.numbers[NOW]), 3 * layout.nk + layout.ny
    if layout.nk or run.machine.element is not None or not _may_try(run, run.jumps, t):
        return False
    h = BEHIND * run.options.stop
    if t + h >= min(control.time_events[control.places[TIME_EVENT]], control.numbers[DUE], run.options.stop):
        return False
    g = trial.g.copy()
    load(run.machine.struct, g, trial.start)
    if set_time(run.machine.struct, g, t + h) != CONVERGED:
        return False
    from netsim.initial.static.reinitialisation import reinitialise

    found = reinitialise(run.machine, g, trial.start[at : at + layout.nq], h)
    if found is None:
        return False
    before = _stored(run)
    trial.start[3 * layout.nk : at + 2 * layout.nq] = np.concatenate(found)
    lost = before - _stored(run)  # as an impulse
    run.sampler.totals[:, DISSIPATED : 2 * len(lost) : 2] += lost
    for turnover, own in zip(run.sampler.turnover, lost.tolist()):
        add_work(turnover, 0.0, own)
    trial.counters[REINITIALISED] += 1
    run.passed = run.passed or [t]
    control.numbers[NOW], control.numbers[SIZE], control.places[[FAILURES, CREEPING]] = t + h, h, 0
    trial.counters[[RESTARTED, REFUSED, UNSOLVED]] = 1, 0, 0
    forget(run)
    return True


def _stored(run: Running) -> np.ndarray:
    """The energy that each account has stored in the state where the next step begins."""
    g, power = run.trial.g.copy(), run.sampler.power
    place(run.machine.struct, g, run.trial.start)
    energies(run.machine.struct, g, power)
    return power[:, STORED].copy()


def _may_try(run: Running, tries: list[float], t: float) -> bool:
    """Whether there were not too many tries about here; counts this one."""
    if t > tries[1] + PLACE * run.options.stop:
        tries[:] = 0, t
    tries[0] += 1
    return tries[0] <= TRIES


def _solved_together(run: Running, sizes: list[float]) -> bool:
    """Whether a step of one of these sizes was found (netsim.core.radau.coupled), which the loop then tests and
    takes."""
    assert run.method.together is not None
    control, size = run.control, float(run.control.numbers[SIZE])
    t = float(control.numbers[NOW])
    if not _may_try(run, run.tried, t):
        return False
    for tried in sizes:
        control.numbers[SIZE] = tried
        target, at_time_event, _ = target_of(control, t)
        h = target - t
        last = target - EDGE * max(abs(target), abs(h)) if at_time_event else target
        if not too_short(control.numbers, h) and run.method.together.solve(
            run.machine.struct, run.arrays, run.trial, t, h, last, control.numbers[FIXED] > 0.0
        ):
            return True
    control.numbers[SIZE] = size
    return False


def stuck_problem(run: Running, mark: list[float]) -> Problem | None:
    """E508 of a run whose steps fail, or pass only because none is shorter, while it hardly advances, or whose steps
    pass but are so short that it has no end; `mark`: the time of its last advance with the failures up to it, and the
    same for steps of any kind."""
    failed = int(run.counters[FAILED] + run.counters[REJECTED] + run.counters[UNTESTED])
    tried, now, stop = failed + int(run.counters[ACCEPTED]), run.now, run.options.stop
    if now > mark[0] + HARDLY * stop:
        mark[:2] = now, failed
    if now > mark[2] + LOST * stop:
        mark[2:] = now, tried
    if failed - mark[1] >= HOPELESS:
        if _bound_by_stability(run) and run.counters[ACCEPTED] > failed:
            return _unstable(run, f"{failed - int(mark[1])} steps failed within 0.1 % of the run")
        return explain_chatter(run.machine, now, failed - int(mark[1]), run.trial.start)
    if tried - mark[3] >= HOPELESS:
        return explain_endless(run.machine, now, now - mark[2], tried - int(mark[3]), stop, run.trial.start)
    return None


def _bound_by_stability(run: Running) -> bool:
    """Whether the steps of an explicit method are so short that its stability may have bound them."""
    return run.method.explicit and run.steps * run.options.stop > STIFF * run.now


def _unstable(run: Running, why: str) -> Problem:
    bound = UnstableRun(run.options.method, run.now, run.steps, run.options.stop, why)
    return explain_unstable(run.machine, bound, run.trial.start)


def failure_of(run: Running, status: int) -> Problem:
    """The problem of a run that finds no step after the last accepted one."""
    machine, before, given = run.machine, run.now, run.options.step
    stands = run.trial.g.copy()
    place(machine.struct, stands, run.trial.start)
    if status not in (OUTSIDE_TABLE, NOT_FINITE):
        looks = [given] if given else [share * run.options.stop for share in AHEAD]
        found = [problem for ahead in looks if (problem := unreachable(machine, stands, before, before + ahead))]
        if found:
            return found[-1]
    if _bound_by_stability(run) and status == NOT_FINITE and not not_finite(machine, run.trial.g):
        return _unstable(run, "a shorter step would be lost in rounding")
    why = "" if given else WORDS[float(run.control.numbers[REASON])]
    stopped = StoppedRun(status, before, given or float(run.control.numbers[SIZE]), why, grown_errors(run) >= ROUNDED)
    return explain_failure(machine, stopped, stands, run.trial.start, (run.trial.g, run.trial.out, run.trial.u))


def keep_last_step(run: Running) -> None:
    """Sample the last good step of a run that ended between two samples."""
    sampler, row, now, trial = run.sampler, int(run.control.places[ROW]), run.now, run.trial
    if sampler.times[row - 1] >= now:
        return
    problem, layout = run.machine.struct, run.machine.system.layout
    trial.middle[:] = trial.start
    if run.control.places[RECOVERING]:
        stands = trial.g.copy()
        load(problem, stands, trial.start)
        try:
            point = recover_point(plan_recovery(run.machine, run.structure, stands), stands, trial.start, now)
        except SimulationError:
            return
        trial.middle[: 3 * layout.nk + layout.ny] = point[layout.x : layout.history]
    set_time(problem, trial.g, now)
    sampler.totals[1] = sampler.totals[0]
    store_row(problem, struct_of(trial), struct_of(sampler), row, now)
    run.control.places[ROW] = row + 1


def grown_errors(run: Running) -> int:
    """How often in a row, at last, a shorter step had a larger estimated error."""
    return int(run.control.places[GROWING])


def near_rounding(problem: Problem, rtol: float, grown: int) -> Problem:
    """The problem of a run, with a larger rtol in its hint if the tolerance is near the rounding of the equations: rtol
    is below `FINEST`, or estimated errors grew as steps became shorter."""
    if rtol > FINEST and grown < ROUNDED:
        return problem
    enough = max(1e-10, 10.0 * rtol)
    hint = f"rtol = {rtol:g} is near the rounding errors of these equations: try rtol = {enough:g}; {problem.hint}"
    return replace(problem, hint=hint)
