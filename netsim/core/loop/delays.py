"""What a step leaves for the delays: a segment of polynomial for each, and the instants at which its jumps leave them.

Where steps began anew (at a time event, an event, an arrival, the start), the new segment is compared with the one
before it. If the two differ by more than the error test lets pass, in value, slope or curvature, a step ends one delay
later. A lossless line passes a jump on for ever. An integrator smooths it at every passage, until it is smaller than
the tolerance and is dropped.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.contract import NEWTON_SHARE, RESTARTED, dense_output
from netsim.core.history import ARRIVALS, BEGIN, BEGINS_LOW, CAREFUL, END, POINTS, SEGMENTS, WATCHING, recalled, slope
from netsim.core.loop.control import ARRIVAL, NOW
from netsim.core.loop.sampler import recovered_state_inside_step
from netsim.core.problem import NK

FOLLOWED, LEAST_SHARE = 5.0, 1e-3
"""The polynomial of a step may miss a delayed value by so many tolerances; the smallest share of a step to which it is
shortened for that."""
LARGE = (1.0, 10.0, 100.0, 1e3, 1e4)
"""A difference of values, slopes, curvatures ... over the longer of two steps counts as a jump above so many
tolerances. Smooth signals differ by less. What Newton's method leaves is noise, and in derivatives it grows as the
shorter step shrinks."""


@inner
def has_room(problem, control):
    """Whether the buffer has room for a segment. Segments that no delay reaches any more are dropped first, if they are
    at least half of all."""
    buffer = problem.buffer
    count, reach = buffer.numbers[SEGMENTS], 0.0
    if count < buffer.spans.shape[0]:
        return True
    for k in range(buffer.length.shape[0]):
        reach = max(reach, buffer.length[k])
    old = 0
    while old < count and buffer.spans[old, END] < control.numbers[NOW] - 1.001 * reach:
        old += 1
    if 2 * old < count:
        return False
    for i in range(count - old):
        buffer.spans[i, BEGIN], buffer.spans[i, END] = buffer.spans[i + old, BEGIN], buffer.spans[i + old, END]
        for j in range(buffer.segments.shape[1]):
            buffer.segments[i, j] = buffer.segments[i + old, j]
    buffer.numbers[SEGMENTS] = count - old
    return True


@inner
def followed(problem, trial, sampler, t, h):
    """The share of a step from t in which the polynomial through its nodes follows all delayed values.

    Quantities that follow a delayed value without a state between are exact at the nodes alone, and no error test
    limits steps for their sake; netsim.simulate.setup.features.mesh_of does the same for functions of time."""
    buffer, share = problem.buffer, 1.0
    nodes = 2 if buffer.numbers[BEGINS_LOW] and trial.counters[RESTARTED] else sampler.nodes.shape[0]
    k = 0
    while k < buffer.length.shape[0] and share > LEAST_SHARE:
        missed = _missed(buffer, sampler, nodes, k, t, share * h) if buffer.place[k] >= 0 else 0.0
        size = FOLLOWED * trial.scale[2 * problem.sizes[NK] + buffer.place[k]]
        if missed > size:
            share *= max(0.1, 0.9 * (size / missed) ** (1.0 / nodes))
        else:
            k += 1
    return share


@inner
def _missed(buffer, sampler, nodes, k, t, h):
    """The largest difference between delay k and the polynomial through a step's nodes, between these nodes."""
    worst = 0.0
    for m in range(nodes):
        theta = (m + 0.75) / nodes
        found = recalled(buffer, k, t + theta * h)
        for i in range(nodes):
            at = _node(sampler, nodes, i)
            weight = 1.0
            for j in range(nodes):
                if j != i:
                    weight *= (theta - _node(sampler, nodes, j)) / (at - _node(sampler, nodes, j))
            found -= weight * recalled(buffer, k, t + min(max(at, 1e-9), 1.0 - 1e-9) * h)
        worst = max(worst, abs(found))
    return worst


@inner
def _node(sampler, nodes, i):
    """Node i of the polynomial: a node of the quadrature of work, or an end of the step."""
    return sampler.nodes[i] if nodes > 2 else float(i)


@inner
def remember(method, problem, factor, trial, control, plan, t, h, end):
    """Append the step from t, up to its share `end`, to the buffer."""
    buffer, first = problem.buffer, 3 * problem.sizes[NK]
    n, i = buffer.length.shape[0], buffer.numbers[SEGMENTS]
    if n == 0:
        return
    for j in range(POINTS):
        theta = end * buffer.nodes[j]
        if buffer.numbers[CAREFUL]:
            recovered_state_inside_step(method, problem, factor, trial, control, plan, t, h, theta)
        else:
            dense_output(method, problem, trial, theta, h, trial.middle, buffer.wanted)
        for k in range(n):
            buffer.room[k, j] = trial.middle[first + buffer.place[k]] if buffer.place[k] >= 0 else 0.0
    buffer.spans[i, BEGIN], buffer.spans[i, END] = t, t + end * h
    _through(buffer, i)
    buffer.numbers[SEGMENTS] = i + 1
    if buffer.numbers[WATCHING] and trial.counters[RESTARTED]:
        for k in range(n):
            if buffer.place[k] >= 0 and _jumps(problem, trial, control, i, k):
                _arrives(buffer, t + buffer.length[k])
        _next(buffer, control)


@inner
def _through(buffer, i):
    """Coefficients of segment i from the values in `room`."""
    for k in range(buffer.length.shape[0]):
        for m in range(POINTS):
            found = 0.0
            for j in range(POINTS):
                found += buffer.basis[m, j] * buffer.room[k, j]
            buffer.segments[i, POINTS * k + m] = found


@inner
def _jumps(problem, trial, control, i, k):
    """Whether delay k jumps, in value or derivative, where segment i begins."""
    buffer = problem.buffer
    size = trial.scale[2 * problem.sizes[NK] + buffer.place[k]]
    span = buffer.spans[i, END] - buffer.spans[i, BEGIN]
    before = buffer.spans[i - 1, END] - buffer.spans[i - 1, BEGIN] if i > 0 else span
    longest, shortest, weight, noise = max(span, before), min(span, before), 1.0, trial.tolerances[NEWTON_SHARE]
    for order in range(len(LARGE)):
        left = (
            slope(buffer, i - 1, k, 1.0, order) * (2.0 / before) ** order
            if i > 0
            else buffer.before[k]
            if order == 0
            else 0.0
        )
        right = slope(buffer, i, k, -1.0, order) * (2.0 / span) ** order
        if abs(right - left) * weight > LARGE[order] * size * (1.0 + noise * (longest / shortest) ** order):
            return True
        weight *= longest / (order + 1)
    return False


@inner
def _arrives(buffer, instant):
    """Insert an arrival in order."""
    count = buffer.numbers[ARRIVALS]
    if count == buffer.arrivals.shape[0]:
        return
    at = count
    while at > 0 and buffer.arrivals[at - 1] > instant:
        buffer.arrivals[at] = buffer.arrivals[at - 1]
        at -= 1
    buffer.arrivals[at] = instant
    buffer.numbers[ARRIVALS] = count + 1


@inner
def _next(buffer, control):
    control.numbers[ARRIVAL] = buffer.arrivals[0] if buffer.numbers[ARRIVALS] else np.inf


@inner
def pass_arrivals(problem, control, until):
    """Remove arrivals up to an instant. Returns the last of them, or the present instant."""
    buffer, last = problem.buffer, control.numbers[NOW]
    count, done = buffer.numbers[ARRIVALS], 0
    while done < count and buffer.arrivals[done] <= until:
        last = max(last, buffer.arrivals[done])
        done += 1
    for i in range(count - done):
        buffer.arrivals[i] = buffer.arrivals[i + done]
    buffer.numbers[ARRIVALS] = count - done
    _next(buffer, control)
    return last
