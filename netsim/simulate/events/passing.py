"""From the instant at which the loop stopped to the state behind it: discretes settled, the energy account kept, the
next known instant found."""

from contextlib import suppress
from dataclasses import replace

import numpy as np

from netsim.core.consistent import make_consistent
from netsim.core.contract import FRESH
from netsim.core.loop.control import DUE, EVERY, NOW, ROW, SIZE
from netsim.core.loop.crossings import SEARCHED
from netsim.core.loop.instants import BESIDE, load_before_event, load_behind_event, next_due
from netsim.core.loop.sampler import with_more_rows
from netsim.core.newton import CONVERGED
from netsim.core.states import load, move_charts
from netsim.initial.consistent.newton import Inconsistent
from netsim.initial.diagnosis.diagnosis import table_ends
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.simulate.events.event_log import accumulating_events
from netsim.simulate.events.events import settle
from netsim.simulate.events.iteration import EventIteration
from netsim.simulate.events.magnitudes import write_magnitudes
from netsim.simulate.events.plans import plan_for
from netsim.simulate.methods import prepared
from netsim.simulate.running import Running
from netsim.simulate.setup.arrays.trial import first_factor
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray

IDLE = 20
"""So often an instant may be found at which nothing changes."""
MODES = 200
"""So many sets of switching discretes have their matrices kept."""
AHEAD = 1e-9
"""The share of a run that is looked ahead to see which way zero-crossing functions at zero go."""


def pass_jump(run: Running) -> None:
    """Begin anew at the present instant, at which inputs have jumped: positions, velocities and differentiated
    quantities stay, all else follows. Of a network without events; raises `SimulationError` where nothing consistent
    follows."""
    t, size = run.now, run.options.stop
    problem, struct, sampler = run.machine.struct, run.struct("trial"), run.struct("sampler")
    move_charts(problem, run.trial.start)
    if load_before_event(problem, struct, sampler, t, BESIDE * abs(t)) != CONVERGED:
        raise SimulationError(table_ends(t))
    _made_consistent(run)
    load_behind_event(problem, struct, sampler, run.watch, 0, t, size, run.method.estimate, AHEAD * size)


def _made_consistent(run: Running) -> None:
    """What follows from positions, velocities and differentiated quantities in g, and from the inputs there."""
    g, (problem, t) = run.trial.g, (run.machine.struct, run.now)
    if len(run.plan.sizes) and make_consistent(run.struct("plan"), g):
        return
    load(problem, g, run.trial.start)
    g[:] = recover_point(plan_recovery(run.machine, run.structure, g), g, run.trial.start, t)


def pass_event(run: Running, jumped: bool = False) -> None:
    """Settle the discretes at the present instant, at which inputs may have `jumped`, and begin anew behind it.

    Energy that an impulse takes counts as dissipated. `run` is the `Running` of the loop.
    Raises `SimulationError` where discretes never agree, or conditions switch without end."""
    s, trial, control = run.events, run.trial, run.control
    assert s is not None
    problem, t = run.machine.struct, float(control.numbers[NOW])
    if control.places[EVERY] and control.places[ROW] + 4 > len(run.sampler.times):
        run.structs.pop(id(run.sampler), None)
        run.sampler = with_more_rows(run.sampler)
    struct, sampler, known = run.struct("trial"), run.struct("sampler"), len(s.log)
    if jumped:
        move_charts(problem, trial.start)
    if load_before_event(problem, struct, sampler, t, 0.0 if run.idle else BESIDE * abs(t)) != CONVERGED:
        raise SimulationError(table_ends(t))
    if jumped:
        _made_consistent(run)
    write_magnitudes(s.magnitudes, run.machine, trial, t)
    try:
        settled = settle(s, trial.g, t) or jumped
    except Inconsistent as lost:
        raise SimulationError([replace(p, message=f"at t = {t:.9g} s {p.message}") for p in lost.problems]) from None
    run.idle = 0 if settled or t > run.last + BESIDE * abs(t) else run.idle + 1
    run.last = t
    if run.idle > IDLE:
        raise _undecided(s, trial.g, t)
    if settled:
        if wrong := accumulating_events(s.log[known:], s.recent, run.options.stop):
            raise SimulationError(wrong)
        row = int(control.places[ROW]) if control.places[EVERY] else 0
        size = load_behind_event(
            problem,
            struct,
            sampler,
            s.looking,
            row,
            t,
            run.options.stop,
            run.method.estimate,
            AHEAD * run.options.stop,
        )
        control.places[ROW] += row > 0
        forget(run)
        control.numbers[SIZE] = run.options.step or min(control.numbers[SIZE], size)
        write_magnitudes(s.magnitudes, run.machine, trial, t, float(control.numbers[SIZE]))
    _exchange(run, t)
    control.numbers[DUE] = next_due(s.looking, trial.g, t, run.options.stop)


def _undecided(s: EventIteration, g: Array, t: float) -> SimulationError:
    """E509 with the conditions that changed without effect, and the one nearest to a change relative to its largest
    value."""
    watch = s.watch
    margin = (
        np.where(g[s.relation_values] > 0.5, -1.0, 1.0)
        * watch.found[: len(s.relations)]
        / np.maximum(watch.peak, np.finfo(float).tiny)
    )
    margin[watch.kind != SEARCHED] = np.inf
    places = [s.relations[k] for k in np.flatnonzero((watch.flips > 0) | (margin == margin.min()))]
    names = ", ".join(f"'{place.batch.labels[place.position]}' ({place.of.text})" for place in places)
    message = f"at t = {t:.9g} s these conditions are true and false within rounding errors: {names}"
    return SimulationError(Problem("E509", message, places[0].of.span, hint="separate the thresholds (hysteresis)"))


def _exchange(run: Running, t: float) -> None:
    """Plan, pivots and arrays that serve the discretes behind an event, kept by what switches: those of before may
    serve badly where switches lie decades apart."""
    assert run.events is not None
    s, key = run.events, run.events.mode(run.trial.g)
    if len(run.served) > MODES:
        run.served.clear()
        s.plans.clear()
    plan = s.plans[key][1] if key in s.plans else plan_for(s, run.trial.g, t)[0]
    if key not in run.served or run.served[key][0] is not plan:
        factor, arrays = run.factor, run.arrays
        with suppress(SimulationError):
            factor = first_factor(run.machine, run.trial, float(run.control.numbers[SIZE]), run.now)
            arrays = run.method.renewed(arrays, factor)
        if run.method.explicit and len(plan.sizes):
            arrays, alive = prepared(run.method, run.machine, factor, plan, run.closing)
            run.alive.append(alive)
        run.served[key] = plan, factor, arrays
    plan, run.factor, run.arrays = run.served[key]
    if len(plan.sizes):
        run.plan = plan


def forget(run: Running) -> None:
    """Matrices of before the event serve no more."""
    run.trial.counters[FRESH] = 0
    run.method.forget(run.arrays)
