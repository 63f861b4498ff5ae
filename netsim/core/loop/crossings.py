"""Event location: the first instant of a step at which a frozen relation no longer agrees with its zero-crossing
function. The search uses the step's own dense output; where a plan exists, every point is made consistent first.

The relation a < b has the zero-crossing function a - b, which is negative where the relation is true. A relation is
contradicted when its zero-crossing function has the other sign by more than SEEN of its largest value so far, that at
the point itself included; the instant is where it passes SLACK. What has left a floor stands SLACK behind it for a
moment, and is not contradicted there. A contradiction is an event if it changes a discrete variable or lets a `when`
act. Otherwise the relation only takes its new value.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.core.compiled.function import by_address, inner
from netsim.core.contract import FIRST_EVENT, RESTARTED, projected, set_time
from netsim.core.states import copy, move_charts, place, state_at

Array = np.ndarray

RELATIONS, DISCRETES, FIRED, Z, RELATION_VALUES, CAREFUL = range(6)
"""Positions in EventWatch.sizes: numbers of relations, discretes and whens; where g holds the values of discretes and
relations; whether points inside a step must be made consistent first."""

POINTS, MOST = 4, 1000
"""The least and the largest number of instants of a step at which relations are evaluated."""
LOOKS, NEAR = 5, 0.5
"""Iterations towards an extremum of a zero-crossing function, and the height that a parabola must predict for it, as a
share of the function at the parabola's points."""
SLACK = 1e-12
"""A zero-crossing function counts as zero below this share of its largest value."""
SEEN = 2.0 * SLACK
"""Beyond this share it contradicts its relation."""
EPS = 2.220446049250313e-16
NEVER = 2.0
SEARCHED, TIMED, AT_EVENTS = range(3)
"""How a relation is found to change: steps are searched for it; its instants are known before they come; it is looked
at only where something else is an event."""


class EventWatch(NamedTuple):
    """What event location and event iteration need.

    table, found, peak: call table of the event kernels; their results [zero-crossing functions | next discretes | fired
    whens | targets of states | scales]; the largest scale so far of every relation.
    kind, strict, flips, combinational: of each relation, whether it is SEARCHED, TIMED or AT_EVENTS, whether equality
    makes it false, whether the event was located at it or the last round exchanged it, whether signals without a
    memory follow it.
    named, modes, following: of each discrete, whether it has a name, where g holds it if it selects the matrix, its
    next value.
    setting: whether a `when` sets states; changed: which relations and whens acted at this instant.
    kept, state, room: workspace for relations, for a state, for a whole g.
    stage: progress of the event iteration; recent: zero-crossing functions at the last three instants evaluated;
    spacing: the longest span without an evaluation, and the last instant evaluated."""

    table: Array
    found: Array
    peak: Array
    kind: Array
    strict: Array
    flips: Array
    combinational: Array
    named: Array
    modes: Array
    following: Array
    setting: Array
    changed: Array
    kept: Array
    state: Array
    room: Array
    stage: Array
    sizes: Array
    recent: Array
    spacing: Array


def without_events() -> EventWatch:
    """The watch of a network without events."""
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    table = np.zeros((0, ROW_LENGTH), np.int64)
    return EventWatch(
        table,
        none,
        none,
        whole,
        whole,
        whole,
        whole,
        whole,
        whole,
        none,
        whole,
        whole,
        none,
        none,
        none,
        whole,
        np.zeros(6, np.int64),
        np.zeros((3, 0)),
        np.zeros(2),
    )


@inner
def evaluate_events(watch, g):
    """Evaluate the event kernels at g: zero-crossing functions, next discretes, fired whens, targets."""
    for i in range(watch.found.shape[0]):
        watch.found[i] = 0.0
    run_table(watch.table, g, watch.found)


@inner
def relation_scale(watch, k):
    """The scale of relation k: the largest so far, the one at the point that was looked at last included. What locates
    an event and what acts at it must have the same one. 1 where all of them are zero."""
    size = max(watch.peak[k], watch.found[watch.found.shape[0] - watch.peak.shape[0] + k])
    return size if size > 0.0 else 1.0


_first_event = by_address(kinds.REAL)


@inner
def event_in(method, problem, trial, plan, watch, t, h, last):
    """`first_event`, or NEVER in a network without relations."""
    if watch.sizes[RELATIONS] == 0:
        return NEVER
    return _first_event(trial.code[FIRST_EVENT], method, problem, trial, plan, watch, t, h, last)


@inner
def first_event(method, problem, trial, plan, watch, t, h, last):
    """The share of the step at which the first event happens, or NEVER. trial.middle and g then hold its state.

    Zero-crossing functions are evaluated at POINTS instants of a step at least, and at least once in every span of
    `spacing`. A function that turns back before zero between these instants is evaluated at its extremum too."""
    low, count = 0.0, min(MOST, max(POINTS, int(np.ceil(h / watch.spacing[0]))))
    careful, relations = watch.sizes[CAREFUL] == 1, watch.sizes[RELATIONS]
    if watch.spacing[1] != t or trial.counters[RESTARTED] > 0:
        _state(method, problem, trial, plan, t, h, last, 0.0, careful)
        evaluate_events(watch, trial.g)
        copy(watch.found, 0, watch.recent[2], 0, relations)
    for k in range(1, count + 1):
        high = k / count
        _state(method, problem, trial, plan, t, h, last, high, careful)
        if _worst(watch, trial.g) > 0.0 and _matters(watch, trial.g):
            found = _located(method, problem, trial, plan, watch, t, h, last, low, high)
            if found != NEVER:
                return found
        for i in range(relations):
            watch.recent[0, i], watch.recent[1, i], watch.recent[2, i] = (
                watch.recent[1, i],
                watch.recent[2, i],
                watch.found[i],
            )
        if k > 1:
            found = _turned(method, problem, trial, plan, watch, t, h, last, high, 1.0 / count)
            if found != NEVER:
                return found
        low = high
    watch.spacing[1] = t + h
    first = watch.found.shape[0] - watch.peak.shape[0]
    for k in range(watch.peak.shape[0]):
        watch.peak[k] = max(watch.peak[k], watch.found[first + k])
    return NEVER


@inner
def _turned(method, problem, trial, plan, watch, t, h, last, high, apart):
    """The share at which a zero-crossing function passed zero before it turned back, within the last three instants;
    NEVER if none did."""
    for i in range(watch.sizes[RELATIONS]):
        a, b, c, at = watch.recent[0, i], watch.recent[1, i], watch.recent[2, i], high - apart
        if watch.kind[i] != SEARCHED or not (a * b > 0.0 and b * c > 0.0 and (c - b - (b - a)) * b > 0.0):
            continue
        left = right = apart
        for _ in range(LOOKS):
            bend = ((c - b) / right + (a - b) / left) / (left + right)
            slope = (c - b) / right - bend * right
            guess = at - 0.5 * slope / bend
            if (b - 0.25 * slope * slope / bend) / b > NEAR or not at - left < guess < at + right or guess == at:
                break
            _state(method, problem, trial, plan, t, h, last, guess, watch.sizes[CAREFUL] == 1)
            if _worst(watch, trial.g) > 0.0 and _matters(watch, trial.g):
                return _located(method, problem, trial, plan, watch, t, h, last, at if guess > at else at - left, guess)
            value = watch.found[i]
            if not abs(value) < abs(b):
                break
            if guess > at:
                a, left, right = b, guess - at, at + right - guess
            else:
                c, right, left = b, at - guess, guess - at + left
            at, b = guess, value
    return NEVER


@inner
def _state(method, problem, trial, plan, t, h, last, theta, careful):
    """The state at t + theta h into trial.middle and g."""
    state_at(method, problem, trial, theta, h)
    set_time(problem, trial, last if theta == 1.0 else t + theta * h)
    if careful and not projected(problem, plan, trial, trial.middle):
        move_charts(problem, trial.middle)
    place(problem, trial.g, trial.middle)


@inner
def _worst(watch, g):
    """The largest contradiction of a relation: how far its zero-crossing function is on the wrong side, as a share of
    its largest value, less SEEN. Not positive if no relation is contradicted."""
    evaluate_events(watch, g)
    worst = -np.inf
    for k in range(watch.sizes[RELATIONS]):
        if watch.kind[k] == SEARCHED:
            worst = max(worst, _beyond(watch, g, k) - SEEN)
    return worst


@inner
def _seen(watch, g):
    """Note in `flips` which relations are contradicted, those of an event; how far they are beyond SLACK."""
    evaluate_events(watch, g)
    for k in range(watch.sizes[RELATIONS]):
        watch.flips[k] = 1 if watch.kind[k] == SEARCHED and _beyond(watch, g, k) > SEEN else 0
    return _farthest(watch, g)


@inner
def _passed(watch, g):
    """How far the relations of an event (`flips`) are beyond SLACK, the farthest one."""
    evaluate_events(watch, g)
    return _farthest(watch, g)


@inner
def _farthest(watch, g):
    passed = -np.inf
    for k in range(watch.sizes[RELATIONS]):
        if watch.flips[k]:
            passed = max(passed, _beyond(watch, g, k) - SLACK)
    return passed


@inner
def _beyond(watch, g, k):
    """How far the zero-crossing function of relation k is on the wrong side, as a share of its largest value."""
    beyond = watch.found[k] if g[watch.sizes[RELATION_VALUES] + k] > 0.5 else -watch.found[k]
    return beyond / relation_scale(watch, k)


@inner
def _matters(watch, g):
    """Whether the contradicted relations change a discrete or fire a `when`. If not, they take their new values."""
    relations, discretes, z, values = (
        watch.sizes[RELATIONS],
        watch.sizes[DISCRETES],
        watch.sizes[Z],
        watch.sizes[RELATION_VALUES],
    )
    copy(g, values, watch.kept, 0, relations)
    for k in range(relations):
        if watch.kind[k] == SEARCHED and _beyond(watch, g, k) > SEEN:
            g[values + k] = 1.0 - g[values + k]
    evaluate_events(watch, g)
    for i in range(discretes):
        if watch.named[i] and watch.found[relations + i] != g[z + i]:
            copy(watch.kept, 0, g, values, relations)
            return True
    for j in range(watch.sizes[FIRED]):
        if watch.found[relations + discretes + j] > 0.5:
            copy(watch.kept, 0, g, values, relations)
            return True
    copy(watch.found, relations, g, z, discretes)
    copy(watch.found, relations, g, z + discretes, discretes)
    return False


@inner
def _located(method, problem, trial, plan, watch, t, h, last, low, high):
    """The share at which the most contradicted relation crosses zero, to the rounding of time: regula falsi by the
    Illinois rule, with a bisection in every third iteration. `flips` tells which relations are contradicted."""
    _state(method, problem, trial, plan, t, h, last, high, True)
    above = _seen(watch, trial.g)
    if not above > 0.0:
        return NEVER
    _state(method, problem, trial, plan, t, h, last, low, True)
    below, width = _passed(watch, trial.g), high - low
    while below > SLACK and low > 0.0:  # a point made consistent passes before the polynomial does
        high, above = low, below
        low, width = max(0.0, low - width), 2.0 * width
        _state(method, problem, trial, plan, t, h, last, low, True)
        below = _passed(watch, trial.g)
    if below > SLACK:
        return low
    below = min(below, -EPS)
    side = 0
    for count in range(100):
        if (high - low) * h <= 2.0 * EPS * (abs(t) + h):
            break
        guess = 0.5 * (low + high) if count % 3 == 2 else low - below * (high - low) / (above - below)
        if not low < guess < high:
            guess = 0.5 * (low + high)
        _state(method, problem, trial, plan, t, h, last, guess, True)
        value = _passed(watch, trial.g)
        if value > 0.0:
            high, above = guess, value
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            low, below = guess, value
            above *= 0.5 if side == -1 else 1.0
            side = -1
    _state(method, problem, trial, plan, t, h, last, high, True)
    return high
