"""What a run does where Newton's method fails again and again, before steps become too short to matter, and what it keeps where it ends there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.passing import forget
from netsim.errors import Problem, SimulationError
from netsim.integrators.adaptive import CALLS, target_of, too_short
from netsim.integrators.contract import REFUSED, RESTARTED, UNSOLVED
from netsim.integrators.control import CORNER, DUE, EDGE, FAILURES, FIXED, NOW, RECOVERING, ROW, SIZE
from netsim.integrators.radau_arrays import EASE, FACTOR_H, SOLVED
from netsim.integrators.readout import take
from netsim.integrators.states import load
from netsim.kernels.bundle import bundled
from netsim.solvers.newton import NOT_CONVERGED, NOT_FINITE, OUTSIDE_TABLE, set_time
from netsim.solvers.recovery import plan_recovery, recover
from netsim.solvers.snap import snapped

REACHES, AGAIN, USUAL = (2.0, 1.0, 4.0, 0.5), (1.0, 0.5, 2.0), (1.0, 0.3, 0.1)
"""Steps to try, in the size that failed last; after a try that the error test refused, the size it asked for comes first, and at the end shares of
the run's mean step: where rounding keeps the stages from being found, a long step has them farther away from what amplifies it."""
TRIES, PLACE = 40, 1e-3
"""So many tries within this part of a run, and no more are made there: a law that jumps fails at every step."""
SMALL = 0.1
"""Solving stages together costs as much as a hundred steps: a step is tried this way when it is this small beside those before."""
BEHIND = 1e-9, 1e-7, 1e-5
"""How far behind a jump a circuit goes on, as shares of the run."""
FINEST = 1e-11
"""The smallest rtol that double precision leaves room for on most networks."""
MOST, STRICT, EASED = 8, 4, 30.0
"""Failures in a row up to which a step is tried this way, and up to which its error counts in full: when it was refused before and shorter steps lead
nowhere, what the test sees is rounding over the distance from the rank's loss."""


def goes_on(run: Any, status: int) -> bool:
    """Whether the run (a `netsim.analyses.adaptive.Running`) may try again: a step whose stages are solved together, or the loop's shorter one."""
    if status not in (NOT_CONVERGED, NOT_FINITE, OUTSIDE_TABLE):
        return False
    numbers = run.control.numbers
    given, failures = numbers[FIXED] > 0.0, run.control.places[FAILURES]
    shortest = too_short(numbers, numbers[SIZE])
    small = run.steps == 0 or numbers[SIZE] < SMALL * run.now / run.steps  # before that, and for a circuit's diodes, shorter steps are cheaper
    early = given or (small and run.machine.system.layout.nk > 0)
    wanted = failures <= MOST if early else shortest
    if run.method.name == "radau" and status != OUTSIDE_TABLE and wanted:
        failed = float(run.arrays.memory[FACTOR_H]) or 2.0 * float(numbers[SIZE])
        reaches = (1.0,) if given else REACHES if failures <= CALLS else AGAIN
        usual = USUAL if reaches == AGAIN and run.steps else ()
        if _solved_together(run, [*(reach * failed for reach in reaches), *(share * run.now / run.steps for share in usual)]):
            return True
    return not given and (not shortest or jumped(run))


def jumped(run: Any) -> bool:
    """Whether the run goes on behind a jump of a circuit's values at the present instant (netsim.solvers.snap)."""
    control, trial, layout = run.control, run.trial, run.machine.system.layout
    t, at = float(control.numbers[NOW]), 3 * layout.nk + layout.ny
    if layout.nk or run.machine.element is not None or not _may_try(run, run.jumps, t):
        return False
    for share in BEHIND:
        h = share * run.options.stop
        if t + h >= min(control.corners[control.places[CORNER]], control.numbers[DUE], run.options.stop):
            return False
        g = trial.g.copy()
        load(run.machine.bundle, g, trial.start)
        set_time(run.machine.bundle, g, t + h)
        found = snapped(run.machine, g, trial.start[at : at + layout.nq], h)
        if found is not None:
            trial.start[3 * layout.nk : at + 2 * layout.nq] = np.concatenate(found)
            control.numbers[NOW], control.numbers[SIZE], control.places[FAILURES] = t + h, h, 0
            trial.counters[[RESTARTED, REFUSED, UNSOLVED]] = 1, 0, 0
            forget(run)
            return True
    return False


def _may_try(run: Any, tries: list[float], t: float) -> bool:
    """Whether there were not too many tries about here; counts this one."""
    if t > tries[1] + PLACE * run.options.stop:
        tries[:] = 0, t
    tries[0] += 1
    return tries[0] <= TRIES


def _solved_together(run: Any, sizes: list[float]) -> bool:
    """Whether a step of one of these sizes was found (netsim.integrators.radau_coupled), which the loop then tests and takes."""
    from netsim.integrators.radau_coupled import solve_stages

    control, size = run.control, float(run.control.numbers[SIZE])
    t = float(control.numbers[NOW])
    if not _may_try(run, run.tried, t):
        return False
    for tried in sizes:
        control.numbers[SIZE] = tried
        target, at_corner, _ = target_of(control, t)
        h = target - t
        last = target - EDGE * max(abs(target), abs(h)) if at_corner else target
        if not too_short(control.numbers, h) and solve_stages(run.machine, run.arrays, run.trial, t, h, last):
            run.arrays.memory[SOLVED] = h
            run.arrays.memory[EASE] = 1.0 if control.places[FAILURES] <= STRICT else EASED
            return True
    control.numbers[SIZE] = size
    return False


def keep_last_step(run: Any) -> None:
    """Sample the last good step of a run that ended between two samples."""
    readout, row, now, trial = run.readout, int(run.control.places[ROW]), run.now, run.trial
    if readout.times[row - 1] >= now:
        return
    problem, layout = run.machine.bundle, run.machine.system.layout
    trial.middle[:] = trial.start
    if run.control.places[RECOVERING]:
        stands = trial.g.copy()
        load(problem, stands, trial.start)
        try:
            point = recover(plan_recovery(run.machine, run.structure, stands), stands, trial.start, now)
        except SimulationError:
            return
        trial.middle[: 3 * layout.nk + layout.ny] = point[layout.x : layout.history]
    set_time(problem, trial.g, now)
    readout.totals[1] = readout.totals[0]
    take(problem, bundled(trial), bundled(readout), row, now)
    run.control.places[ROW] = row + 1


def near_rounding(problem: Problem, rtol: float) -> Problem:
    """The problem of a run, which says so where the tolerance is about the rounding of its equations."""
    if rtol > FINEST:
        return problem
    return replace(problem, hint=f"rtol = {rtol:g} is near the rounding of these equations: try rtol = 1e-10; {problem.hint}")
