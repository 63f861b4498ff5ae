"""The history buffer of delays: one polynomial per delay and step, as far back as the longest delay reaches.

A delayed value is a known function of time in a step, because no step is longer than the shortest delay. A jump leaves
the buffer one delay later (netsim.core.loop.delays).
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.core.compiled.struct import Struct
from netsim.core.problem import PAST, PRESCRIBED_ORDERS, TIME

Array = np.ndarray

SEGMENTS, ARRIVALS, WATCHING, CAREFUL, BEGINS_LOW = range(5)
"""Positions in HistoryBuffer.numbers: numbers of segments and arrivals; whether steps end at arrivals; whether points
inside a step must be made consistent first; whether the method begins with a straight line."""
BEGIN, END = range(2)
"""Columns of HistoryBuffer.spans."""
POINTS = 8
"""Values by which a piece is known: more than any method's polynomial within a step needs."""
BESIDE = 3 * 2.220446049250313e-16
"""Two segments meet at an instant. A time less than this share before it belongs to the later one, since steps that end
at a time event are evaluated 8 units in the last place before it."""


class HistoryBuffer(NamedTuple):
    """The delays of a network and the segments of their polynomials.

    Of each delay: length (s); place and slot of the delayed quantity, behind the motion in a state (-1: ground) and in
    g; prescribed: the prescribed input that it is; before: its value before the start; given: the same as written in
    the netlist (NaN: not written). wanted: places without repetition.
    Of each segment, the oldest first: spans, its begin and end (s); segments, its coefficients in powers of
    2 (t - begin)/(end - begin) - 1, constants first, one delay after another.
    arrivals: instants at which jumps leave the buffer; nodes, basis: POINTS nodes on [0, 1] and the matrix from values
    there to coefficients; room: workspace for these values."""

    length: Array
    place: Array
    slot: Array
    prescribed: Array
    before: Array
    given: Array
    wanted: Array
    spans: Array
    segments: Array
    arrivals: Array
    numbers: Array
    nodes: Array
    basis: Array
    room: Array


def begin_history(buffer: Struct, g: Array, at_rest: bool) -> None:
    """The run begins at what g holds: so it was before, or (`at_rest`) zero, where nothing else is given; from now on
    there is a past."""
    buffer.before[:] = np.where(np.isnan(buffer.given), 0.0 if at_rest else g[buffer.slot], buffer.given)
    g[PAST] = 1.0


def more_segments(buffer: Struct) -> None:
    """Make room for twice as many segments."""
    buffer.exchange(
        spans=np.vstack([buffer.spans, np.zeros_like(buffer.spans)]),
        segments=np.vstack([buffer.segments, np.zeros_like(buffer.segments)]),
    )


@compiled
def recall(buffer, g, first, count):
    """The delayed values at the time in g and their rates, into their places among `count` prescribed inputs that begin
    at `first`."""
    t = g[TIME]
    for k in range(buffer.length.shape[0]):
        at, when = first + buffer.prescribed[k], t - buffer.length[k]
        i = piece_at(buffer, when + BESIDE * abs(t))
        if i < 0:
            g[at] = buffer.before[k]
            continue
        scale = 2.0 / (buffer.spans[i, END] - buffer.spans[i, BEGIN])
        x = min(scale * (when - buffer.spans[i, BEGIN]) - 1.0, 1.0)
        for order in range(PRESCRIBED_ORDERS):
            g[at + order * count] = slope(buffer, i, k, x, order) * scale**order


@compiled
def recalled(buffer, k, t):
    """The value of delay k at an instant."""
    when = t - buffer.length[k]
    i = piece_at(buffer, when + BESIDE * abs(t))
    if i < 0:
        return buffer.before[k]
    return slope(
        buffer,
        i,
        k,
        min(2.0 * (when - buffer.spans[i, BEGIN]) / (buffer.spans[i, END] - buffer.spans[i, BEGIN]) - 1.0, 1.0),
        0,
    )


@compiled
def piece_at(buffer, when):
    """The piece at an instant, the last one behind them all; -1 before the start."""
    low, high = -1, buffer.numbers[SEGMENTS]
    while high - low > 1:
        middle = (low + high) // 2
        if buffer.spans[middle, BEGIN] <= when:
            low = middle
        else:
            high = middle
    return low


@compiled
def slope(buffer, i, k, x, order):
    """A derivative of piece i of delay k at x."""
    found = 0.0
    for m in range(POINTS - 1, order - 1, -1):
        factor = 1.0
        for j in range(order):
            factor *= m - j
        found = found * x + factor * buffer.segments[i, POINTS * k + m]
    return found
