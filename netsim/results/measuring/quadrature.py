"""Integrals of a series over a refined axis, also where it jumps or bends between two instants of it.

Over a pair of intervals Simpson's rule, split by the parabola through its three points. Where that over two pairs and
Simpson's rule over the four intervals at once differ, an expression is looked at inside them: each interval is halved
until Simpson's rule over it and over its halves agree (J. N. Lyness, J. ACM 16, 1969).
"""

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Inside = Callable[[Array], Array]
"""The series at instants inside intervals, in any order."""

ALIKE, LEFT = 1e-8, 0.1
"""Differences of the two rules below this share of the integral of |x| are none; the part of it that halving leaves."""
DEEPEST, MOST = 50, 2**20
"""So often an interval is halved at most, where what is left is rounding of the instant of a jump, and in so many
pieces they all: what swings faster than that in a step is left as it is."""


def accumulated(series: Array, time: Array, inside: Inside | None = None) -> Array:
    """The running integral over a refined axis, whose intervals are a multiple of four; of several series at once
    (..., instants)."""
    parts = _halves(series, time)
    if inside is not None:
        doubtful, allowed = _doubtful(series, time, parts)
        if doubtful.any():
            intervals = np.flatnonzero(_in_any(doubtful))
            halved = _halved(series, time, intervals, doubtful[..., intervals], inside, allowed)
            parts[..., intervals] = np.where(doubtful[..., intervals], halved, parts[..., intervals])
    return np.concatenate([np.zeros((*parts.shape[:-1], 1)), np.cumsum(parts, axis=-1)], axis=-1)


def _halves(series: Array, time: Array) -> Array:
    left, middle, right = series[..., :-2:2], series[..., 1:-1:2], series[..., 2::2]
    h = np.diff(time)
    parts = np.empty((*series.shape[:-1], len(h)))
    parts[..., ::2] = h[::2] * (5 * left + 8 * middle - right) / 12
    parts[..., 1::2] = h[1::2] * (5 * right + 8 * middle - left) / 12
    return parts


def _doubtful(series: Array, time: Array, parts: Array) -> tuple[Array, Array]:
    """The intervals, in fours, over which the two rules differ, and the difference that may be left in one of them."""
    whole = (np.abs(series[..., :-1] + series[..., 1:]) * np.diff(time)).sum(axis=-1, keepdims=True) / 2.0
    sides = series[..., :-4:4] + 4.0 * series[..., 2:-2:4] + series[..., 4::4]
    coarse = (time[4::4] - time[:-4:4]) * sides / 6.0
    differ = np.abs(coarse - parts.reshape(*coarse.shape, 4).sum(axis=-1)) > ALIKE * whole
    found = np.repeat(differ, 4, axis=-1)
    return found, LEFT * ALIKE * whole / np.maximum(found.sum(axis=-1, keepdims=True), 1)


def _halved(series: Array, time: Array, intervals: Array, asked: Array, inside: Inside, allowed: Array) -> Array:
    """The integral over each of these intervals, for the series that are asked for there, by Simpson's rule over their
    halves, quarters ..."""
    owner, low, high = np.arange(len(intervals)), time[intervals], time[intervals + 1]
    first, last, middle = series[..., intervals], series[..., intervals + 1], inside((low + high) / 2.0)
    sums = np.zeros(first.shape)
    for depth in range(DEEPEST):
        centre, h = (low + high) / 2.0, high - low
        left, right = np.split(inside(np.concatenate([(low + centre) / 2.0, (centre + high) / 2.0])), 2, axis=-1)
        once = h / 6.0 * (first + 4.0 * middle + last)
        twice = h / 12.0 * (first + 4.0 * (left + right) + 2.0 * middle + last)
        differ = asked & (np.abs(twice - once) > allowed) & (len(owner) < MOST and depth < DEEPEST - 1)
        np.add.at(sums.T, owner, np.where(asked & ~differ, twice + (twice - once) / 15.0, 0.0).T)
        more = _in_any(differ)
        if not more.any():
            break
        owner, low, high = np.tile(owner[more], 2), _joined(low, centre, more), _joined(centre, high, more)
        first, last, middle = _joined(first, middle, more), _joined(middle, last, more), _joined(left, right, more)
        asked = _joined(differ, differ, more)
    return sums


def _in_any(marks: Array) -> Array:
    """Where one of several series is marked."""
    return np.asarray(marks.any(axis=tuple(range(marks.ndim - 1))))


def _joined(a: Array, b: Array, more: Array) -> Array:
    """What is left of both halves."""
    return np.concatenate([a[..., more], b[..., more]], axis=-1)
