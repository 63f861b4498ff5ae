"""The history buffer of delays: for each delay, pieces of polynomials over the steps so far, as far back as the longest
delay reaches.

A delayed value is a known function of time in a step, because no step is longer than the shortest delay. Jumps come out
of the buffer one delay later (netsim.core.loop.remembering).
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.bundle import Bundle
from netsim.core.compiled.function import compiled
from netsim.core.problem import PAST, PRESCRIBED_ORDERS, TIME

Array = np.ndarray

PIECES, ARRIVALS, WATCHING, CAREFUL, BEGINS_LOW = range(5)
"""Positions in Past.numbers: how many pieces and arrivals there are, whether steps end at arrivals, whether values
within a step have to be made consistent before they are read, whether the method begins with a straight line."""
BEGIN, END = range(2)
"""Columns of Past.spans."""
POINTS = 8
"""Values by which a piece is known: more than any method's polynomial within a step needs."""
BESIDE = 3 * 2.220446049250313e-16
"""A joint of pieces this near, as a share of the time, is behind: steps that end at a time event look 8 units before
it."""


class Past(NamedTuple):
    """Of every delay: its length (s), what is remembered (its place behind the motion in a state, -1: ground, and in
    g), the prescribed input it is, what it was before the start, and what is given as that (NaN: nothing). `wanted`:
    places without repetition; `spans` of pieces in time, the oldest first, and their polynomials in 2 (t - begin)/(end
    - begin) - 1, constants first, delay by delay; `arrivals`: instants at which jumps come out; `nodes` from 0 to 1,
    `basis` from values there to coefficients, room for these values."""

    length: Array
    place: Array
    slot: Array
    prescribed: Array
    before: Array
    given: Array
    wanted: Array
    spans: Array
    pieces: Array
    arrivals: Array
    numbers: Array
    nodes: Array
    basis: Array
    room: Array


def begin_past(past: Bundle, g: Array, at_rest: bool) -> None:
    """The run begins at what g holds: so it was before, or (`at_rest`) zero, where nothing else is given; from now on
    there is a past."""
    past.before[:] = np.where(np.isnan(past.given), 0.0 if at_rest else g[past.slot], past.given)
    g[PAST] = 1.0


def more_pieces(past: Bundle) -> None:
    """Room for twice as many pieces."""
    past.exchange(
        spans=np.vstack([past.spans, np.zeros_like(past.spans)]),
        pieces=np.vstack([past.pieces, np.zeros_like(past.pieces)]),
    )


@compiled
def recall(past, g, first, count):
    """The delayed values at the time in g and their rates, into their places among `count` prescribed inputs that begin
    at `first`."""
    t = g[TIME]
    for k in range(past.length.shape[0]):
        at, when = first + past.prescribed[k], t - past.length[k]
        i = piece_at(past, when + BESIDE * abs(t))
        if i < 0:
            g[at] = past.before[k]
            continue
        scale = 2.0 / (past.spans[i, END] - past.spans[i, BEGIN])
        x = min(scale * (when - past.spans[i, BEGIN]) - 1.0, 1.0)
        for order in range(PRESCRIBED_ORDERS):
            g[at + order * count] = slope(past, i, k, x, order) * scale**order


@compiled
def recalled(past, k, t):
    """The value of delay k at an instant."""
    when = t - past.length[k]
    i = piece_at(past, when + BESIDE * abs(t))
    if i < 0:
        return past.before[k]
    return slope(
        past, i, k, min(2.0 * (when - past.spans[i, BEGIN]) / (past.spans[i, END] - past.spans[i, BEGIN]) - 1.0, 1.0), 0
    )


@compiled
def piece_at(past, when):
    """The piece at an instant, the last one behind them all; -1 before the start."""
    low, high = -1, past.numbers[PIECES]
    while high - low > 1:
        middle = (low + high) // 2
        if past.spans[middle, BEGIN] <= when:
            low = middle
        else:
            high = middle
    return low


@compiled
def slope(past, i, k, x, order):
    """A derivative of piece i of delay k at x."""
    found = 0.0
    for m in range(POINTS - 1, order - 1, -1):
        factor = 1.0
        for j in range(order):
            factor *= m - j
        found = found * x + factor * past.pieces[i, POINTS * k + m]
    return found
