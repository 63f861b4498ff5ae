"""What a step leaves for the delays: a piece of polynomial of each, and the instants at which its jumps come back.

Where steps began anew (at a time event, an event, an arrival, the start) the new piece is held against the one before
it: where the two differ by more than what the error test would let pass, in value, slope or bend, steps end one delay
later. A lossless line hands a jump on for ever, an integrator smooths it at every passage, and what has become smaller
than the tolerance is forgotten.
"""

import numpy as np

from netsim.core.compiled.function import inner, lean
from netsim.core.contract import NEWTON_SHARE, RESTARTED, dense_output
from netsim.core.history import ARRIVALS, BEGIN, BEGINS_LOW, CAREFUL, END, PIECES, POINTS, WATCHING, recalled, slope
from netsim.core.loop.control import ARRIVAL, NOW
from netsim.core.loop.readout import look
from netsim.core.problem import NK

FOLLOWED, LEAST_SHARE = 5.0, 1e-3
"""A delayed value is followed where the polynomial of a step misses it by fewer tolerances; the smallest share of a
step that is cut for it."""
LARGE = (1.0, 10.0, 100.0, 1e3, 1e4)
"""So many tolerances a difference of values, slopes, bends ... over the longer of two steps must have to count: what is
smooth differs by less. What Newton's method leaves is noise, the more of it in derivatives the shorter the shorter one
is."""


@lean
def has_room(problem, control):
    """Whether there is room for a piece, after what no delay reaches any more has been dropped, if that is half of
    them."""
    past = problem.past
    count, reach = past.numbers[PIECES], 0.0
    if count < past.spans.shape[0]:
        return True
    for k in range(past.length.shape[0]):
        reach = max(reach, past.length[k])
    old = 0
    while old < count and past.spans[old, END] < control.numbers[NOW] - 1.001 * reach:
        old += 1
    if 2 * old < count:
        return False
    for i in range(count - old):
        past.spans[i, BEGIN], past.spans[i, END] = past.spans[i + old, BEGIN], past.spans[i + old, END]
        for j in range(past.pieces.shape[1]):
            past.pieces[i, j] = past.pieces[i + old, j]
    past.numbers[PIECES] = count - old
    return True


@inner
def followed(problem, trial, readout, t, h):
    """The share of a step from t in which the polynomial through its nodes follows all that comes out of delays.

    What follows that at once, without a state between, is exact at the nodes alone: no error test limits steps for its
    sake, and what a line hands on is read between them (as netsim.simulate.setup.features.mesh_of for functions of
    time)."""
    past, share = problem.past, 1.0
    nodes = 2 if past.numbers[BEGINS_LOW] and trial.counters[RESTARTED] else readout.nodes.shape[0]
    k = 0
    while k < past.length.shape[0] and share > LEAST_SHARE:
        missed = _missed(past, readout, nodes, k, t, share * h) if past.place[k] >= 0 else 0.0
        size = FOLLOWED * trial.scale[2 * problem.sizes[NK] + past.place[k]]
        if missed > size:
            share *= max(0.1, 0.9 * (size / missed) ** (1.0 / nodes))
        else:
            k += 1
    return share


@inner
def _missed(past, readout, nodes, k, t, h):
    """By how much the polynomial through a step's nodes misses the value of delay k between them."""
    worst = 0.0
    for m in range(nodes):
        theta = (m + 0.75) / nodes
        found = recalled(past, k, t + theta * h)
        for i in range(nodes):
            at = _node(readout, nodes, i)
            weight = 1.0
            for j in range(nodes):
                if j != i:
                    weight *= (theta - _node(readout, nodes, j)) / (at - _node(readout, nodes, j))
            found -= weight * recalled(past, k, t + min(max(at, 1e-9), 1.0 - 1e-9) * h)
        worst = max(worst, abs(found))
    return worst


@inner
def _node(readout, nodes, i):
    """A node of the polynomial: of the work's quadrature, or an end."""
    return readout.nodes[i] if nodes > 2 else float(i)


@inner
def remember(method, problem, factor, trial, control, plan, t, h, end):
    """Keep what the step from t found up to its share `end`."""
    past, first = problem.past, 3 * problem.sizes[NK]
    n, i = past.length.shape[0], past.numbers[PIECES]
    if n == 0:
        return
    for j in range(POINTS):
        theta = end * past.nodes[j]
        if past.numbers[CAREFUL]:
            look(method, problem, factor, trial, control, plan, t, h, theta)
        else:
            dense_output(method, problem, trial, theta, h, trial.middle, past.wanted)
        for k in range(n):
            past.room[k, j] = trial.middle[first + past.place[k]] if past.place[k] >= 0 else 0.0
    past.spans[i, BEGIN], past.spans[i, END] = t, t + end * h
    _through(past, i)
    past.numbers[PIECES] = i + 1
    if past.numbers[WATCHING] and trial.counters[RESTARTED]:
        for k in range(n):
            if past.place[k] >= 0 and _jumps(problem, trial, control, i, k):
                _arrives(past, t + past.length[k])
        _next(past, control)


@inner
def _through(past, i):
    """Coefficients of piece i from the values in `room`."""
    for k in range(past.length.shape[0]):
        for m in range(POINTS):
            found = 0.0
            for j in range(POINTS):
                found += past.basis[m, j] * past.room[k, j]
            past.pieces[i, POINTS * k + m] = found


@inner
def _jumps(problem, trial, control, i, k):
    """Whether piece i of delay k differs from the one before where it begins."""
    past = problem.past
    size = trial.scale[2 * problem.sizes[NK] + past.place[k]]
    span = past.spans[i, END] - past.spans[i, BEGIN]
    before = past.spans[i - 1, END] - past.spans[i - 1, BEGIN] if i > 0 else span
    longest, shortest, weight, noise = max(span, before), min(span, before), 1.0, trial.tolerances[NEWTON_SHARE]
    for order in range(len(LARGE)):
        left = (
            slope(past, i - 1, k, 1.0, order) * (2.0 / before) ** order
            if i > 0
            else past.before[k]
            if order == 0
            else 0.0
        )
        right = slope(past, i, k, -1.0, order) * (2.0 / span) ** order
        if abs(right - left) * weight > LARGE[order] * size * (1.0 + noise * (longest / shortest) ** order):
            return True
        weight *= longest / (order + 1)
    return False


@inner
def _arrives(past, instant):
    """One more arrival, in order."""
    count = past.numbers[ARRIVALS]
    if count == past.arrivals.shape[0]:
        return
    at = count
    while at > 0 and past.arrivals[at - 1] > instant:
        past.arrivals[at] = past.arrivals[at - 1]
        at -= 1
    past.arrivals[at] = instant
    past.numbers[ARRIVALS] = count + 1


@inner
def _next(past, control):
    control.numbers[ARRIVAL] = past.arrivals[0] if past.numbers[ARRIVALS] else np.inf


@inner
def pass_arrivals(problem, control, until):
    """Strike arrivals up to an instant; the last of them, or the present instant."""
    past, last = problem.past, control.numbers[NOW]
    count, done = past.numbers[ARRIVALS], 0
    while done < count and past.arrivals[done] <= until:
        last = max(last, past.arrivals[done])
        done += 1
    for i in range(count - done):
        past.arrivals[i] = past.arrivals[i + done]
    past.numbers[ARRIVALS] = count - done
    _next(past, control)
    return last
