"""The one accept/reject loop: tries a step, tests its error, chooses the next size, ends steps at time events of the
prescribed inputs, samples on the way.

All of it is compiled and allocates nothing per step. Times of steps of given size come from integers, whatever time
events cut them; a step that ends at a time event sees the prescribed inputs just before it, and the next one begins
with a consistent point just behind it.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.contract import (
    ACCEPTED,
    ASTRAY,
    EVENTS,
    FAILED,
    FORMULA,
    PARTS,
    POWER,
    REFUSED,
    REJECTED,
    RESTARTED,
    ROUGH,
    RTOL,
    UNSOLVED,
    UNTESTED,
    on_accept,
    projected,
    proposed,
    set_time,
    step,
)
from netsim.core.loop.accumulated import accumulate
from netsim.core.loop.control import (
    BEYOND,
    BY_ERROR,
    BY_EVENT,
    BY_FAR,
    BY_NEWTON,
    BY_TIME_EVENT,
    CREEPING,
    EDGE,
    EVERY,
    FAILURES,
    FIXED,
    GROWING,
    LAST,
    LEFT,
    LONGEST,
    MISSED,
    NOW,
    ONE,
    PROJECTING,
    REASON,
    REFUSED_BY,
    RESTARTS,
    ROW,
    SIZE,
    SPACING,
    STOP,
    TIME_EVENT,
    TOGETHER,
    WEIGHT,
    WORST,
    arrive,
    instants_until,
    is_known,
    target_of,
    too_short,
)
from netsim.core.loop.crossings import NEVER, RELATIONS, event_in
from netsim.core.loop.defect import correct_start, defect
from netsim.core.loop.delays import followed, has_room, pass_arrivals, remember
from netsim.core.loop.sampler import record, store_row
from netsim.core.newton import CONVERGED, SINGULAR, UNRESOLVED
from netsim.core.problem import NK, NQ
from netsim.core.readings import read_errors
from netsim.core.scales import SO_FAR, UNKNOWN, count_refused, pass_refused, set_scales
from netsim.core.states import copy, project_end

GOING, DONE, FULL, EVENT = 100, 101, 102, 103
"""What `advance` answers besides a failure's status: more steps to do, at the end, no room for samples,
at an instant at which relations are to be looked at."""

RETAKEN, TIMES = 1e-3, 10
"""A step inside which an event lies, farther than this share from its ends, is taken anew up to the event, so many
times in a row: a law that has a kink there makes the step's polynomial wrong, and no test sees that. The first step
behind an event is short: in a shorter one rounding of positions is a speed, which breaks loose what friction holds."""
SHORTEST = 1e-10
"""The share of a run that its first step takes at least, however small its motion is."""
IDLE = 5
"""Steps refused in a row behind which a defect that does not fall with the root of the step is rounding, and lets the
step pass: at a kink it falls with the step."""
PATIENCE, CALLS = 8, 2
"""A jump is crossed in one shortest step that does not pass the test: more in a row lead nowhere. Every so many
failures of a mechanism the caller helps."""


@inner
def advance(method, problem, factor, trial, control, plan, sampler, watch, steps):  # noqa: C901
    """Up to `steps` trial steps; GOING, DONE, FULL or the status of a failure that smaller steps did not help."""
    numbers, places, anew = control.numbers, control.places, 0
    for _ in range(steps):
        if numbers[NOW] >= numbers[STOP]:
            return DONE
        room = sampler.times.shape[0] - places[ROW]
        if room < 3 or not has_room(problem, control):
            return FULL
        t = numbers[NOW]
        target, at_time_event, whole = target_of(control, t)
        if target - t <= EDGE * target and trial.counters[RESTARTED] and (at_time_event or is_known(control, target)):
            # an event came just before: no step is between them
            arrive(control, target, whole)
            if at_time_event:
                _pass_time_event(problem, trial, control, plan, sampler, target - t)
                if watch.sizes[RELATIONS]:
                    return EVENT
            continue
        if numbers[FIXED] == 0.0:
            share = followed(problem, trial, sampler, t, target - t)
            target, at_time_event = (t + share * (target - t), False) if share < 1.0 else (target, at_time_event)
        if room < 3 + instants_until(control, target, room):
            return FULL
        h = target - t
        if trial.counters[FORMULA] and target < numbers[STOP] and abs(h - numbers[FIXED]) <= TOGETHER * numbers[FIXED]:
            h = numbers[FIXED]
        edge = EDGE * max(abs(target), abs(h))
        last = min(target, control.time_events[places[TIME_EVENT]]) - edge if at_time_event else target
        numbers[LAST] = last
        set_scales(problem, trial)
        status, error = step(method, problem, factor, trial, t, h, last)
        if status == SINGULAR:
            return status
        if status != CONVERGED:
            if _shorten_unsolved(problem, trial, control, h, error):
                return status
            continue
        if numbers[FIXED] == 0.0 and error > 1.0 and not too_short(numbers, h):
            _refuse_error(problem, trial, control, target, h, error)
            continue
        missed = _defect_of(method, problem, factor, trial, control, plan, t, h, last)
        if missed > 1.0 and not too_short(numbers, h):
            _refuse_defect(method, problem, factor, trial, control, target, t, h, missed)
            continue
        if not _may_keep(trial, control, max(error, missed)):
            return UNRESOLVED
        cut = event_in(method, problem, trial, plan, watch, t, h, last)
        again = numbers[FIXED] == 0.0 and anew < TIMES and trial.counters[RESTARTED] == 0
        if again and RETAKEN < cut < 1.0 - RETAKEN and not too_short(numbers, cut * h):
            trial.counters[REJECTED] += 1
            anew += 1
            numbers[BEYOND], watch.spacing[1] = t + cut * h * (1.0 + 0.5 * RETAKEN), -1.0
            continue
        if cut != NEVER:
            return _stop_at_event(method, problem, factor, trial, control, plan, sampler, watch, t, h, cut)
        anew = 0
        both = at_time_event and watch.sizes[RELATIONS] > 0 and target < numbers[STOP]
        if not record(method, problem, factor, trial, control, plan, sampler, t, h, 1.0, both, whole):
            return FULL
        remember(method, problem, factor, trial, control, plan, t, h, 1.0)
        for a in range(sampler.power.shape[0]):
            accumulate(trial, sampler.turnover[a], error)
        read_errors(problem, trial, target)
        growth = _growth_behind(on_accept(method, problem, trial, h, error), trial, control, missed)
        _accept(trial, control, h, growth, at_time_event, whole)
        arrive(control, target, whole)
        pass_refused(trial, target)
        if at_time_event and target < numbers[STOP]:
            _pass_time_event(problem, trial, control, plan, sampler, h)
            if watch.sizes[RELATIONS]:
                return EVENT
    return DONE if numbers[NOW] >= numbers[STOP] else GOING


@inner
def _shorten_unsolved(problem, trial, control, h, share):
    """A shorter step in the place of one whose stages Newton's method did not solve; `share`: of it, as the method
    proposes. Whether the caller is to be asked first."""
    numbers, places = control.numbers, control.places
    trial.counters[FAILED] += 1
    trial.counters[UNSOLVED] += 1
    places[FAILURES] += 1
    numbers[SIZE], numbers[REASON] = h * (share if 0.0 < share < 0.9 else 0.25), BY_NEWTON
    asks = places[FAILURES] % CALLS == 0 and problem.sizes[NK] > 0
    return numbers[FIXED] > 0.0 or too_short(numbers, numbers[SIZE]) or asks


@inner
def _refuse_error(problem, trial, control, target, h, error):
    """A shorter step in the place of one whose error the method estimates at more than its tolerance."""
    numbers, places = control.numbers, control.places
    trial.counters[REJECTED] += 1
    trial.counters[REFUSED] += 1
    count_refused(problem, trial, target)
    places[FAILURES] += 1
    places[GROWING] += 1 if 0.0 < numbers[LEFT] < error else 0
    numbers[SIZE], numbers[REASON], numbers[LEFT] = h * _shortened(problem, trial, error), BY_ERROR, error


@inner
def _defect_of(method, problem, factor, trial, control, plan, t, h, last):
    """The defect between the ends of a solved step, in tolerances, its end being projected before where that is asked
    for; 0 where the defect is rounding."""
    numbers, places = control.numbers, control.places
    if places[PROJECTING]:
        trial.counters[ASTRAY] += 0 if set_time(problem, trial, last) == CONVERGED else 1
        project_end(problem, plan, trial)
    missed = defect(method, problem, factor, trial, control, t, h)
    idle = places[FAILURES] > IDLE and h < numbers[SPACING] and missed > np.sqrt(h) * numbers[REFUSED_BY]
    numbers[REFUSED_BY] = missed / np.sqrt(h)
    return 0.0 if idle else missed


@inner
def _refuse_defect(method, problem, factor, trial, control, target, t, h, missed):
    """A shorter step in the place of one between whose ends the equations do not hold to the tolerance."""
    trial.counters[REJECTED] += 1
    count_refused(problem, trial, target)
    control.places[FAILURES] += 1
    correct_start(method, problem, factor, trial, control, t, h)
    control.numbers[SIZE], control.numbers[REASON] = h * _shortened(problem, trial, missed), BY_ERROR


@inner
def _may_keep(trial, control, error):
    """Whether a step may be kept, which is counted where its error was not held: it is too short to be refused, or
    given. Many steps in a row that are too short lead nowhere."""
    numbers, places = control.numbers, control.places
    if numbers[FIXED] == 0.0:
        trial.counters[UNTESTED] += 1 if error > 1.0 else 0
    elif error * numbers[WEIGHT] > BY_FAR:
        trial.counters[ROUGH] += 1
        numbers[WORST] = max(numbers[WORST], error * numbers[WEIGHT])
    places[CREEPING] = places[CREEPING] + 1 if numbers[FIXED] == 0.0 and error > 1.0 else 0
    return places[CREEPING] <= PATIENCE


@inner
def _growth_behind(growth, trial, control, missed):
    """By which factor the next step may be longer: what the error permits, and the defect of this step and the last."""
    numbers = control.numbers
    if missed > 0.0:
        growth = min(growth, proposed(max(missed, numbers[MISSED]), trial.tolerances[POWER]))
    numbers[MISSED] = missed
    return growth


@inner
def _accept(trial, control, h, growth, at_time_event, whole):
    """Count a step that is kept, and choose the size of the next one: not longer just behind a refusal; behind a step
    that something cut, not shorter than what was meant."""
    numbers, places = control.numbers, control.places
    trial.counters[ACCEPTED] += 1
    trial.counters[RESTARTED] = trial.counters[REFUSED] = 0
    trial.counters[UNSOLVED] = 1 if numbers[FIXED] > 0.0 else 0
    wanted = h * (min(growth, 1.0) if places[FAILURES] else growth)
    places[FAILURES] = 0
    if places[CREEPING] == 0:
        places[GROWING], numbers[LEFT] = 0, 0.0
    fixed, size = numbers[FIXED], numbers[SIZE]
    trial.counters[PARTS] += 1 if whole and size < fixed else 0
    longer = min(numbers[LONGEST], max(wanted, size) if at_time_event or h < 0.99 * size else wanted)
    numbers[SIZE] = longer if fixed == 0.0 else fixed if whole else 2.0 * size


@inner
def _stop_at_event(method, problem, factor, trial, control, plan, sampler, watch, t, h, cut):
    """Cut the step at an event: what was before is sampled, and its state becomes the beginning."""
    if cut > 0.0:
        copy(trial.middle, 0, watch.state, 0, trial.middle.shape[0])
        if not record(method, problem, factor, trial, control, plan, sampler, t, h, cut, True, False):
            return FULL
        remember(method, problem, factor, trial, control, plan, t, h, cut)
        copy(watch.state, 0, trial.start, 0, trial.start.shape[0])
        control.numbers[NOW] = t + cut * h
        trial.counters[ACCEPTED] += 1
    trial.counters[RESTARTED] = 1
    control.places[FAILURES] = control.places[GROWING] = 0
    control.numbers[REASON], control.numbers[LEFT], control.numbers[BEYOND] = BY_EVENT, 0.0, 0.0
    return EVENT


@inner
def _shortened(problem, trial, error):
    """The share of a refused step to try next. Behind a time event the scale of time may be any, and errors go with h
    at best; a circuit's step refused again and again meets a kink, and they hardly go with h at all."""
    if trial.counters[RESTARTED] and error > 10.0:
        return max(0.02, 1.0 / error)
    kinks = max(1, trial.counters[REFUSED] ** 2) if problem.sizes[NK] == 0 else 1
    return min(0.9, proposed(error, trial.tolerances[POWER] / kinks))


@inner
def _pass_time_event(problem, trial, control, plan, sampler, h):
    """Begin anew behind a time event, with what is consistent there; where samples stand at steps, both sides of it
    have one."""
    places = control.places
    together = control.numbers[NOW] + max(TOGETHER * control.numbers[FIXED], ONE * control.numbers[STOP])
    t = pass_arrivals(problem, control, together)
    while control.time_events[places[TIME_EVENT]] <= together:
        t = max(t, control.time_events[places[TIME_EVENT]])
        places[TIME_EVENT] += 1
    sampled = sampler.times[places[ROW] - 1] >= control.numbers[NOW] * (1.0 - EDGE)
    if control.numbers[FIXED] == 0.0:
        control.numbers[NOW] = t  # what is looked at just behind lies behind all of them
    trial.counters[EVENTS] += 1
    trial.counters[RESTARTED] = 1
    control.numbers[REASON] = BY_TIME_EVENT
    behind = t + EDGE * max(abs(t), h)
    if not places[RESTARTS]:
        return
    trial.counters[ASTRAY] += 1
    if set_time(problem, trial, behind) == CONVERGED:
        copy(trial.start, 0, trial.middle, 0, trial.start.shape[0])
        if projected(problem, plan, trial, trial.middle):
            trial.counters[ASTRAY] -= 1
            copy(trial.middle, 0, trial.start, 0, trial.start.shape[0])
            trial.counters[RESTARTED] = 2
            if control.numbers[FIXED] == 0.0 and places[EVERY] > 0 and sampled:
                store_row(problem, trial, sampler, places[ROW], behind)
                places[ROW] += 1


@inner
def first_size(problem, trial, stop, order):
    """A first step that moves nothing by more than a small share of its tolerance^(1/order): from v and a at the start.

    What is zero at the start has no size that a step could be short for, and where differentiated quantities flow their
    time scale is not known yet: the error test has the word."""
    nk = problem.sizes[NK]
    rtol = trial.tolerances[RTOL]
    fastest = 0.0
    for i in range(nk):
        if _has_size(trial, i):
            fastest = max(fastest, abs(trial.start[nk + i]) / (trial.scale[i] / rtol))
            fastest = max(fastest, np.sqrt(abs(trial.start[2 * nk + i]) / (trial.scale[i] / rtol)))
        if trial.exponent[nk + i] == 0 and _has_size(trial, nk + i):
            fastest = max(fastest, abs(trial.start[2 * nk + i]) / (trial.scale[nk + i] / rtol))
    longest = 1e-4 * stop if problem.sizes[NQ] else 1e-3 * stop
    return min(longest, max(0.3 * rtol ** (1.0 / order) / fastest, SHORTEST * stop)) if fastest > 0.0 else longest


@inner
def _has_size(trial, i):
    """Whether a quantity's kind is more than nothing yet."""
    return trial.fixed[i] > 0.0 or trial.sizes[SO_FAR, trial.kind[i]] > UNKNOWN * trial.nominal[i]
