"""Where a run of the accept/reject loop is and where it goes."""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner

Array = np.ndarray

NOW, SIZE, STOP, FIXED, LEAST, LONGEST, REASON, LAST, DUE, ARRIVAL, SPACING, MISSED, REFUSED_BY = range(13)
WEIGHT, WORST, LEFT, BEYOND = range(13, 17)
"""Positions in Control.numbers: instant, size of the next step, end, given step (0: adaptive), smallest and longest
step, what limited the last one, where its end is looked at (just before a time event), next known instants of an event
and of what comes out of a delay with a jump, the longest stretch that nobody looks into, the defects of the last step
and of the last attempt; what makes a given step's error one in units of rtol (0: it has no estimate), and the largest
of these; the estimate that the error test refused last since a step was taken; just beyond an event that was
found inside a step, to be taken anew. REFUSED_BY is over the root of the step."""

(
    TIME_EVENT,
    GRID,
    ROW,
    STEP,
    EVERY,
    PROJECTING,
    RECOVERING,
    RESTARTS,
    FAILURES,
    CREEPING,
    FEATURE,
    TRACED,
    AT_ONCE,
    WITHIN,
    SOLVING,
    GROWING,
    LIGHT,
    ACCOUNT,
) = range(18)
"""Positions in Control.places: next time event, next requested instant, next row, steps done, accepted steps between
samples (0: at requested instants only), whether every step ends in a projection, whether samples are recovered, whether
time events want a consistent point, failures in a row, shortest steps in a row, next feature, next row of the trace,
whether values that follow others at once are looked at, whether any value is, how often in a row a shorter step had a
larger estimate, which only rounding explains, whether nodes without mass move, and whether the nodes of work are
recovered."""

BY_ERROR, BY_NEWTON, BY_TIME_EVENT, BY_EVENT = 1.0, 2.0, 3.0, 4.0
EPS = 2.220446049250313e-16
EDGE = 8 * EPS
"""How far beside a time event, of the time itself, its two sides are looked at."""
ONE = 16 * EPS
"""Time events closer than this share of a run are one."""
BY_FAR = 10.0
"""An estimated error of a given step beyond so many rtol is told."""
TOGETHER = 1e-9
"""A time event this near to the end of a given step, as a share of it, is at that end."""


class Control(NamedTuple):
    """Where a run is and where it goes: time events, features of prescribed inputs and requested instants increase and
    end with infinity.

    limits: how many tolerances the defect may move a position or a value by (netsim.core.loop.defect); none where it is
    not looked at. resting: 0 for equations that determine motion and multipliers, 1 for all others. light (3, n): the
    same for balances of nodes without mass and for their velocities, and 1 for values that follow others at once and
    are looked at."""

    numbers: Array
    places: Array
    time_events: Array
    features: Array
    grid: Array
    limits: Array
    resting: Array
    light: Array


@inner
def target_of(control, t):
    """Where the next step ends, whether that is a time event, and whether the step counts (a given one that a time
    event cut, or that is taken in parts, counts once)."""
    numbers, places = control.numbers, control.places
    stop, time_event = numbers[STOP], min(control.time_events[places[TIME_EVENT]], numbers[DUE], numbers[ARRIVAL])
    if numbers[FIXED] > 0.0:
        end = (places[STEP] + 1) * numbers[FIXED]
        if end >= stop * (1.0 - 1e-9):
            end = stop
        slack = TOGETHER * numbers[FIXED]
        if t + numbers[SIZE] < min(end, time_event) - slack:
            return t + numbers[SIZE], False, False
        if time_event < end - slack:
            return time_event, True, False
        return end, time_event <= end + slack, True
    end = min(time_event, control.features[places[FEATURE]], stop)
    size = min(numbers[SIZE], numbers[LONGEST])
    if t < numbers[BEYOND] <= min(t + size, end):
        return numbers[BEYOND], False, True
    if t + 1.01 * size >= end:
        return end, time_event <= end, True
    if t + 2.0 * size > end:
        return t + 0.5 * (end - t), False, True
    return t + size, False, True


@inner
def too_short(numbers, h):
    """Whether a step is below what a run counts, or lost in the rounding of its instant."""
    return h < max(numbers[LEAST], 4.0 * EPS * abs(numbers[NOW]))


@inner
def is_known(control, target):
    """Whether a step's end was known before: the end of a given step, a feature, or the stop."""
    numbers, feature = control.numbers, control.features[control.places[FEATURE]]
    return numbers[FIXED] > 0.0 or target >= min(feature, numbers[STOP])


@inner
def instants_until(control, target, most):
    """How many requested instants there are up to the end of a step, at most so many."""
    first, wanted = control.places[GRID], 0
    while wanted < most and control.grid[first + wanted] <= target * (1.0 + EDGE):
        wanted += 1
    return wanted


@inner
def arrive(control, target, whole):
    """The run stands at the end of a step."""
    places = control.places
    control.numbers[NOW] = target
    places[STEP] += 1 if whole else 0
    while control.features[places[FEATURE]] <= target:
        places[FEATURE] += 1
