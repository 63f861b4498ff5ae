"""Where a frozen relation first ceases to hold within a step: root finding on the step's own polynomial, made consistent
where there is a plan for it.

A relation's zero-crossing function is negative where it is true. Its truth is contradicted where the zero-crossing function lies on the other
side by more than rounding of the largest value it had. What changes no discrete and makes nothing happen (the end of a
contact that only `when` has asked for) is no event: its value is exchanged in passing.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.core.compiled.function import by_address, inner
from netsim.core.contract import FIRST_EVENT, RESTARTED, dense_output, projected, set_time
from netsim.core.states import copy, motion_between, move_charts, place

Array = np.ndarray

RELATIONS, DISCRETES, FIRED, Z, RELATION_VALUES, CAREFUL = range(6)
"""Positions in Watch.sizes: numbers of relations, discretes and whens; where g holds discretes and relations; whether
values within a step have to be made consistent before they are looked at."""

POINTS, MOST = 4, 1000
"""Instants of a step at which its relations are looked at: so many at least, and at most."""
LOOKS, NEAR = 5, 0.5
"""How often the extremum of an zero-crossing function is approached, and how near to zero a parabola must promise it to be, beside
what it is at its points."""
SLACK = 1e-12
"""An zero-crossing function this small beside the largest it had is zero."""
EPS = 2.220446049250313e-16
NEVER = 2.0


class Watch(NamedTuple):
    """The event kernels: their call table, what they find [zero-crossing functions | next discretes | fired | targets | scales], the
    largest scales so far.

    Of relations: whether their instants are known beforehand (timed), whether equality is false (strict), which was
    exchanged last (flips); of discretes: whether they have names, where g holds those that switch the matrix (modes),
    next values; of whens: whether they set states anew; of relations and whens: which changed anything at this instant;
    room for relations, a state, and a whole g; how far an instant is worked out (stage); zero-crossing functions at the last three
    instants looked at (recent); the longest stretch that nobody looks into, and the last of those instants
    (spacing)."""

    table: Array
    found: Array
    peak: Array
    timed: Array
    strict: Array
    flips: Array
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


def nothing_to_watch() -> Watch:
    """Of a network in which nothing changes at events."""
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    table = np.zeros((0, ROW_LENGTH), np.int64)
    return Watch(
        table,
        none,
        none,
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
def look(watch, g):
    """Zero-crossing functions and what would follow, at what g holds."""
    for i in range(watch.found.shape[0]):
        watch.found[i] = 0.0
    run_table(watch.table, g, watch.found)


_first_event = by_address(kinds.REAL)


@inner
def event_in(method, problem, trial, plan, watch, t, h, last):
    """`first_event` where anything is watched, else NEVER."""
    if watch.sizes[RELATIONS] == 0:
        return NEVER
    return _first_event(trial.code[FIRST_EVENT], method, problem, trial, plan, watch, t, h, last)


@inner
def first_event(method, problem, trial, plan, watch, t, h, last):
    """The share of the step at which the first event happens, NEVER without one; trial.middle and g are then its state.

    Zero-crossing functions are looked at POINTS times a step, and once in every stretch of `spacing`; where one turns back from zero
    between, at its extremum."""
    low, count = 0.0, min(MOST, max(POINTS, int(np.ceil(h / watch.spacing[0]))))
    careful, relations = watch.sizes[CAREFUL] == 1, watch.sizes[RELATIONS]
    if watch.spacing[1] != t or trial.counters[RESTARTED] > 0:
        _state(method, problem, trial, plan, t, h, last, 0.0, careful)
        look(watch, trial.g)
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
    """The share at which an zero-crossing function that turned back within the last two of three instants had passed zero; NEVER
    where none did."""
    for i in range(watch.sizes[RELATIONS]):
        a, b, c, at = watch.recent[0, i], watch.recent[1, i], watch.recent[2, i], high - apart
        if watch.timed[i] or not (a * b > 0.0 and b * c > 0.0 and (c - b - (b - a)) * b > 0.0):
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
    if theta == 1.0:
        copy(trial.end, 0, trial.middle, 0, trial.end.shape[0])
    else:
        motion_between(problem, trial.start, trial.end, theta, h, trial.middle)
        dense_output(method, problem, trial, theta, h, trial.middle, trial.whole)
    set_time(problem, trial, last if theta == 1.0 else t + theta * h)
    if careful and not projected(problem, plan, trial, trial.middle):
        move_charts(problem, trial.middle)
    place(problem, trial.g, trial.middle)


@inner
def _worst(watch, g):
    """How far beyond rounding the most contradicted relation is, beside the largest value of its zero-crossing function; not positive
    where all hold."""
    look(watch, g)
    worst = -np.inf
    for k in range(watch.sizes[RELATIONS]):
        if watch.timed[k] == 0:
            beyond = watch.found[k] if g[watch.sizes[RELATION_VALUES] + k] > 0.5 else -watch.found[k]
            size = watch.peak[k] if watch.peak[k] > 0.0 else 1.0
            worst = max(worst, beyond / size - SLACK)
    return worst


@inner
def _matters(watch, g):
    """Whether the contradicted relations change a discrete or make something happen; where not, they are exchanged for
    good."""
    relations, discretes, z, relation_values = (
        watch.sizes[RELATIONS],
        watch.sizes[DISCRETES],
        watch.sizes[Z],
        watch.sizes[RELATION_VALUES],
    )
    copy(g, relation_values, watch.kept, 0, relations)
    for k in range(relations):
        beyond = watch.found[k] if g[relation_values + k] > 0.5 else -watch.found[k]
        size = watch.peak[k] if watch.peak[k] > 0.0 else 1.0
        if watch.timed[k] == 0 and beyond / size > SLACK:
            g[relation_values + k] = 1.0 - g[relation_values + k]
    look(watch, g)
    for i in range(discretes):
        if watch.named[i] and watch.found[relations + i] != g[z + i]:
            copy(watch.kept, 0, g, relation_values, relations)
            return True
    for j in range(watch.sizes[FIRED]):
        if watch.found[relations + discretes + j] > 0.5:
            copy(watch.kept, 0, g, relation_values, relations)
            return True
    copy(watch.found, relations, g, z, discretes)
    copy(watch.found, relations, g, z + discretes, discretes)
    return False


@inner
def _located(method, problem, trial, plan, watch, t, h, last, low, high):
    """The share at which the most contradicted relation passes: the Illinois rule, every third time a bisection, to the
    rounding of time."""
    _state(method, problem, trial, plan, t, h, last, high, True)
    above = _worst(watch, trial.g)
    if not above > 0.0:
        return NEVER
    _state(method, problem, trial, plan, t, h, last, low, True)
    below, width = _worst(watch, trial.g), high - low
    while below > SLACK and low > 0.0:  # a point made consistent passes before the polynomial does
        high, above = low, below
        low, width = max(0.0, low - width), 2.0 * width
        _state(method, problem, trial, plan, t, h, last, low, True)
        below = _worst(watch, trial.g)
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
        value = _worst(watch, trial.g)
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
