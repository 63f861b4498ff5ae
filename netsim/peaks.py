"""Instants at which a function of time makes a short excursion: a step must end there, or it might never see it.

A narrow bell in a drive is zero, to the last bit, at every stage of a long step on either side of it: no error test can notice what no stage sees.
The drives are known before the run, so they are sampled. One that changes in a small share of the run only is searched for its turning points,
each refined where it is found; those at the edge of a cluster become ends of steps. From there the error test finds its way: a step that ends on
a peak fails it until its size is that of the excursion. Excursions down to about a ten-thousandth of the run are found (a bell of width w reaches
over 12 w in double precision beside a constant, over 50 w beside zero).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from netsim.corners import time_texts
from netsim.kernels.bundle import bundled
from netsim.kernels.call import compiled
from netsim.solvers.machine import DRIVES, N_DRIVES, Machine
from netsim.solvers.newton import set_time

Array = np.ndarray
Sampled = Callable[[Array], Array]

SAMPLES, ENTRIES = 2000, 4_000_000
"""Samples of a run, and of all drives together."""
STEEP, SHARE = 0.05, 0.2
"""A drive is searched where more than STEEP of its largest slope is found in less than SHARE of the run."""
SIGNIFICANT = 0.05
"""Of a drive's range: what a turning point must differ by from the ones beside it."""
APART = 8
"""Samples without another turning point that make one the edge of a cluster."""
FINER, LEVELS = 64, 4


def peaks_of(machine: Machine, stop: float, corners: Array) -> Array:
    """Turning points of short excursions of all functions of time within (0, stop), in order; none where a corner shows them anyway."""
    found = [np.zeros(0)]
    count = machine.system.layout.nd
    if count:
        times = _grid(stop, count)
        values = _drives(machine, times)
        for j in np.flatnonzero(_brief(values)):
            found.append(_peaks(partial(_drive, machine, int(j)), times, values[:, j], corners))
    for series in time_texts(machine):
        times = _grid(stop, 1)
        values = _each(series, times)
        if _brief(values[:, None])[0]:
            found.append(_peaks(partial(_each, series), times, values, corners))
    return np.unique(np.concatenate(found))


def _grid(stop: float, count: int) -> Array:
    return np.linspace(0.0, stop, int(np.clip(ENTRIES // count, 200, SAMPLES)) + 1)


def _drives(machine: Machine, times: Array) -> Array:
    """All drives at all instants: (instants, drives)."""
    values = np.zeros((len(times), machine.system.layout.nd))
    _sample(bundled(machine.problem), machine.g.copy(), times, values)
    return values


def _drive(machine: Machine, j: int, times: Array) -> Array:
    return _drives(machine, times)[:, j]


def _each(series: Callable[[float], float], times: Array) -> Array:
    return np.array([series(t) for t in times])


@compiled
def _sample(problem, g, times, values):
    first = problem.sizes[DRIVES]
    for i in range(times.shape[0]):
        set_time(problem, g, times[i])
        for j in range(problem.sizes[N_DRIVES]):
            values[i, j] = g[first + j]


def _brief(values: Array) -> Array:
    """Which columns change in a small share of the run only."""
    slopes = np.abs(np.diff(values, axis=0))
    steepest = slopes.max(axis=0)
    return np.isfinite(steepest) & (steepest > 0) & ((slopes > STEEP * steepest).mean(axis=0) < SHARE)


def _peaks(series: Sampled, times: Array, values: Array, corners: Array) -> Array:
    """Refined turning points at the edges of clusters."""
    signs = np.sign(np.diff(values))
    moving = np.flatnonzero(signs)
    turns = [(int(a), int(b)) for a, b in pairwise(moving) if signs[a] != signs[b]]
    refined = [_refined(series, times[a], times[b + 1], signs[a]) for a, b in turns]
    heights = np.array([values[0], *(height for _, height in refined), values[-1]])
    least = SIGNIFICANT * np.ptp(heights)
    kept = [k for k in range(len(turns)) if min(abs(np.diff(heights[k : k + 3]))) > least]
    places = np.array([-2 * APART, *(turns[k][1] for k in kept), len(times) + 2 * APART])
    edges = [kept[i] for i in range(len(kept)) if max(places[i + 1] - places[i], places[i + 2] - places[i + 1]) >= APART]
    return np.array([refined[k][0] for k in edges if not np.any((corners >= times[turns[k][0]]) & (corners <= times[turns[k][1] + 1]))])


def _refined(series: Sampled, low: float, high: float, sign: float) -> tuple[float, float]:
    """The highest (lowest, for a negative sign) point between two instants: its instant and value."""
    for _ in range(LEVELS):
        times = np.linspace(low, high, FINER + 1)
        values = series(times)
        k = int(np.argmax(sign * values))
        best = times[k], values[k]
        low, high = times[max(k - 1, 0)], times[min(k + 1, FINER)]
    return float(best[0]), float(best[1])
