"""The state just before and just behind an event, and the next instant known in advance, each in one compiled call.

`load_before_event` is called first, then the event iteration (netsim.core.loop.event_iteration), then
`load_behind_event`.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.contract import RESTARTED
from netsim.core.loop.accumulated import ERRORS
from netsim.core.loop.adaptive import first_size
from netsim.core.loop.crossings import EPS, RELATIONS, SEARCHED, TIMED, evaluate_events
from netsim.core.loop.event_iteration import set_directions
from netsim.core.loop.sampler import store_row
from netsim.core.loop.turnover import BEFORE, add_work
from netsim.core.newton import CONVERGED, set_time
from netsim.core.problem import TIME
from netsim.core.scales import set_scales
from netsim.core.states import DISSIPATED, STORED, copy, energies, load, place, store_in_state

BESIDE = 8 * 2.220446049250313e-16
"""The state behind an instant t belongs to the time t (1 + BESIDE)."""
STRAIGHT = 1e-12


@inner
def just_after(t):
    """The next floating-point number after t >= 0. An increment of 0.75 to 1.5 units in the last place rounds to one
    unit."""
    return t + (0.75 * EPS * t + 5e-324)


@inner
def load_before_event(problem, trial, sampler, t, after):
    """Write the state at the instant t to g and its stored energy to sampler.power. The time is t + after, or t if a
    table ends before that. Returns the status."""
    load(problem, trial.g, trial.start)
    status = set_time(problem, trial.g, t + after)
    if status != CONVERGED:
        status = set_time(problem, trial.g, t)
    energies(problem, trial.g, sampler.power)
    return status


@inner
def load_behind_event(problem, trial, sampler, watch, row, t, stop, order, ahead):
    """Make the point in g the state behind the event, and sample it in `row` just after t (0: no sample). Energy that
    an impulse took counts as dissipated. Returns the size of the next step."""
    for a in range(sampler.power.shape[0]):
        sampler.turnover[a, ERRORS, BEFORE] = sampler.power[a, STORED]
    store_in_state(problem, trial.g, trial.start)
    place(problem, trial.g, trial.start)
    energies(problem, trial.g, sampler.power)
    for a in range(sampler.power.shape[0]):
        lost = sampler.turnover[a, ERRORS, BEFORE] - sampler.power[a, STORED]
        for k in range(sampler.totals.shape[0]):
            sampler.totals[k, 2 * a + DISSIPATED] += lost
        add_work(sampler.turnover[a], 0.0, lost)
    trial.counters[RESTARTED] = 2
    copy(trial.start, 0, trial.middle, 0, trial.start.shape[0])
    if row > 0:
        store_row(problem, trial, sampler, row, just_after(max(t, sampler.times[row - 1])))
    set_scales(problem, trial)
    set_directions(problem, watch, trial.g, ahead)
    return first_size(problem, trial, stop, order)


@inner
def next_due(watch, g, t, stop):
    """The next instant at which a relation that depends on time alone changes, or infinity. A relation that is not
    linear in time is located like any other."""
    relations, at, best = watch.sizes[RELATIONS], g[TIME], np.inf
    timed = 0
    for k in range(relations):
        timed += watch.kind[k] == TIMED
    if timed == 0:
        return best
    g[TIME] = t
    evaluate_events(watch, g)
    copy(watch.found, 0, watch.kept, 0, relations)
    g[TIME] = t + 0.5 * stop
    evaluate_events(watch, g)
    copy(watch.found, 0, watch.room, 0, relations)
    g[TIME] = t + stop
    evaluate_events(watch, g)
    g[TIME] = at
    for k in range(relations):
        first, middle, last = watch.kept[k], watch.room[k], watch.found[k]
        if watch.kind[k] == TIMED and abs(first + last - 2.0 * middle) > STRAIGHT * (abs(first) + abs(last)):
            watch.kind[k] = SEARCHED
        instant = t - first * stop / (last - first)
        if watch.kind[k] == TIMED and np.isfinite(instant) and instant > t + 2.0 * BESIDE * max(abs(t), 1e-9 * stop):
            best = min(best, instant)
    return best
