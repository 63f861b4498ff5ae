"""Instants at which steps must end so that they see what functions of time do: short excursions, and plain variation.

A narrow bell in a prescribed input is zero, to the last bit, at every stage of a long step on either side of it: no
error test can notice what no stage sees. The prescribed inputs are known before the run, so they are sampled. One that
changes in a small share of the run only is searched for its turning points, each refined where it is found; those at
the edge of a cluster become ends of steps. From there the error test finds its way: a step that ends on a feature fails
it until its size is that of the excursion. Excursions down to about a ten-thousandth of the run are found (a bell of
width w reaches over 12 w in double precision beside a constant, over 50 w beside zero).

What follows a prescribed input at once, without a state between (the potential of a source, a resistive divider), is
exact at the end of every step and no error test limits the step for its sake; between the ends it is as good as the
polynomial through the stages. So steps end often enough for that polynomial to follow every prescribed input
(`mesh_of`).
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import factorial

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.core.newton import set_time
from netsim.core.problem import N_PRESCRIBED, PRESCRIBED
from netsim.equations.machine import Machine
from netsim.structure.of_time.periods import waves_of
from netsim.structure.of_time.switching import NO_FUNCTION_OF_TIME, Series, text_of_shape, time_texts, values_at
from netsim.structure.time_events import samples_passed

Array = np.ndarray
Sampled = Callable[[Array], Array]

SAMPLES, ENTRIES, ROUGH = 2000, 4_000_000, 200
"""Samples of a run, of all prescribed inputs together, and of a run of which sizes are all that is asked for."""
STEEP, SHARE = 0.05, 0.2
"""A prescribed input is searched where more than STEEP of its largest slope is found in less than SHARE of the run."""
SIGNIFICANT = 0.05
"""Of a prescribed input's range: what a turning point must differ by from the ones beside it."""
APART = 8
"""Samples without another turning point that make one the edge of a cluster."""
FINER, LEVELS = 64, 4
BESIDE = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
"""Where between two ends of steps prescribed inputs are sampled."""


def ends_of(machine: Machine, stop: float, time_events: Array, work: tuple[float, ...], rtol: float) -> Array:
    """Where steps must end for the sake of functions of time, besides time events, in order."""
    features = features_of(machine, stop, time_events)
    return np.union1d(features, mesh_of(machine, stop, np.union1d(time_events, features), work, rtol))


def features_of(machine: Machine, stop: float, time_events: Array) -> Array:
    """Turning points of short excursions of all functions of time within (0, stop), in order; none where a time event
    shows them anyway."""
    found = [np.zeros(0)]
    count = machine.system.layout.nd
    if count:
        times = _watched(machine, stop)
        values = _prescribed_inputs(machine, times)
        for j in np.flatnonzero(_brief(times, values)):
            found.append(_features(partial(_prescribed, machine, int(j)), times, values[:, j], time_events))
    for series in time_texts(machine):
        times = _grid(stop, 1)
        values = each_of(series, times)
        if _brief(times, values[:, None])[0]:
            found.append(_features(partial(each_of, series), times, values, time_events))
    return np.unique(np.concatenate(found))


BETWEEN = np.array([0.08, 0.29, 0.4, 0.53, 0.77, 0.86, 0.94])
FOLLOWED = 5.0
"""A prescribed input is followed where the polynomial errs by less than this many times rtol, of its range."""
MOST, NARROWEST = 20_000, 1e-7
SEEN, WAVES, FEWEST = 100, 1_000_000, 6
"""Periods of a sine that samples of a run show; so many that steps follow at most, with so many steps in each at
least."""


def mesh_of(machine: Machine, stop: float, time_events: Array, work: tuple[float, ...], rtol: float) -> Array:
    """Instants within (0, stop) between which the polynomial through a step's nodes (from 0 to 1) follows every
    prescribed input; none where four steps do."""
    if not machine.system.layout.nd:
        return np.zeros(0)
    nodes, grid = np.array(work), _watched(machine, stop)
    course = _prescribed_inputs(machine, grid)
    spread = np.ptp(course, axis=0)
    moving = np.flatnonzero(np.isfinite(spread) & (spread > 0))
    if not len(moving):
        return np.zeros(0)
    course = course[:, moving] / spread[moving]
    edges = np.unique(np.concatenate([np.linspace(0.0, stop, 5), time_events[time_events < stop]]))
    to_between = _polynomial(nodes, BETWEEN)
    open_, found = np.column_stack([edges[:-1], edges[1:]]), [np.zeros(0)]
    count = 0
    while len(open_) and count + len(open_) < MOST:
        shares = np.concatenate([np.clip(nodes, 1e-9, 1 - 1e-9), BETWEEN])
        times = open_[:, :1] + shares * (open_[:, 1:] - open_[:, :1])
        values = _prescribed_inputs(machine, times.ravel()).reshape(*times.shape, -1)[:, :, moving] / spread[moving]
        missed = np.abs(values[:, len(nodes) :] - np.einsum("ij,njk->nik", to_between, values[:, : len(nodes)])).max(
            axis=(1, 2)
        )
        missed = np.maximum(missed, _missed(nodes, values[:, : len(nodes)], open_, grid, course))
        segments = np.clip(np.ceil((missed / (FOLLOWED * rtol)) ** (1 / len(nodes))), 1, 64).astype(int)
        segments[open_[:, 1] - open_[:, 0] < NARROWEST * stop] = 1
        split = np.flatnonzero(segments > 1)
        parts = [np.linspace(open_[i, 0], open_[i, 1], int(segments[i]) + 1) for i in split]
        found += [part[1:-1] for part in parts]
        count += sum(len(part) for part in parts)
        open_ = np.concatenate([np.zeros((0, 2)), *(np.column_stack([part[:-1], part[1:]]) for part in parts)])
    found += [edges[1:-1]] if count else []
    return np.sort(np.concatenate(found))


def longest_in_waves(machine: Machine, stop: float, work: tuple[float, ...], rtol: float) -> float:
    """The longest step of which the polynomial through its n nodes follows the shortest sine of a function of time,
    where a run has too many periods for its samples to show them: (w h)^n/n! max |(x - c1) ... (x - cn)| is what it
    misses."""
    texts = [
        (text_of_shape(shape, machine.values), shape.expr)
        for each in machine.system.prescribed_inputs
        if each.stage == 1
        for shape in each.shapes
    ]
    period = min((each for text, expr in texts for each in waves_of(expr, text)), default=stop)
    if not SEEN < stop / period <= WAVES:
        return stop
    nodes = np.array(work)
    height = np.abs(np.prod(np.linspace(0.0, 1.0, 101)[:, None] - nodes, axis=1)).max()
    angle = (FOLLOWED * rtol * factorial(len(nodes)) / height) ** (1 / len(nodes))
    return float(min(angle / (2.0 * np.pi), 1.0 / FEWEST) * period)


def _missed(nodes: Array, values: Array, segments: Array, grid: Array, course: Array) -> Array:
    """By how much the polynomials through the nodes' values in each piece (from, to) miss what prescribed inputs are at
    the instants of a grid."""
    piece = np.searchsorted(segments[:, 0], grid, side="right") - 1
    inside = np.flatnonzero((piece >= 0) & (grid > segments[piece, 0]) & (grid < segments[piece, 1]))
    piece, found = piece[inside], np.zeros(len(segments))
    theta = (grid[inside] - segments[piece, 0]) / (segments[piece, 1] - segments[piece, 0])
    off = np.abs(course[inside] - np.einsum("ij,ijk->ik", _polynomial(nodes, theta), values[piece])).max(axis=1)
    np.maximum.at(found, piece, off)
    return found


def sampled(machine: Machine, stop: float, ends: Array) -> tuple[Array, Array]:
    """Instants of a rough grid, at, beside and between the ends of steps that prescribed inputs ask for, and their
    values there (instants, prescribed inputs); what is not finite counts as zero."""
    count = max(machine.system.layout.nd, 1)
    inside = ends[(ends > 0.0) & (ends < stop)][: ENTRIES // (BESIDE.size * count)]
    edges = np.union1d(_grid(stop, max(count, ENTRIES // ROUGH)), inside)
    times = (
        np.unique(np.concatenate([edges, (edges[:-1, None] + np.diff(edges)[:, None] * BESIDE).ravel()]))
        if len(inside)
        else edges
    )
    values = _prescribed_inputs(machine, times)
    return times, np.where(np.isfinite(values), values, 0.0)


def _polynomial(nodes: Array, places: Array) -> Array:
    """The matrix from values at the nodes to those of their interpolating polynomial elsewhere."""
    return np.vander(places, len(nodes)) @ np.linalg.inv(np.vander(nodes, len(nodes)))


def _grid(stop: float, count: int) -> Array:
    return np.linspace(0.0, stop, int(np.clip(ENTRIES // count, 200, SAMPLES)) + 1)


def _watched(machine: Machine, stop: float) -> Array:
    """Instants at which all prescribed inputs are looked at: of a grid, and those at which a smooth table passes its
    samples."""
    grid, passed = _grid(stop, machine.system.layout.nd), samples_passed(machine, stop)
    return np.union1d(grid, passed if len(passed) < ENTRIES // machine.system.layout.nd else passed[:0])


def _prescribed_inputs(machine: Machine, times: Array) -> Array:
    """All prescribed inputs at all instants: (instants, prescribed inputs)."""
    values = np.zeros((len(times), machine.system.layout.nd))
    _sample(machine.struct, machine.g.copy(), times, values)
    return values


def _prescribed(machine: Machine, j: int, times: Array) -> Array:
    return _prescribed_inputs(machine, times)[:, j]


def each_of(series: Series, times: Array) -> Array:
    """A function of time at all instants at once, or, where it is formed for one alone, one after the other."""
    try:
        return np.array(values_at(times, series(times)))
    except NO_FUNCTION_OF_TIME:
        return np.array([series(float(t)) for t in times])


@compiled
def _sample(problem, g, times, values):
    first = problem.sizes[PRESCRIBED]
    for i in range(times.shape[0]):
        set_time(problem, g, times[i])
        for j in range(problem.sizes[N_PRESCRIBED]):
            values[i, j] = g[first + j]


def _brief(times: Array, values: Array) -> Array:
    """Which columns change in a small share of the run only."""
    spans = np.diff(times)[:, None]
    slopes = np.abs(np.diff(values, axis=0)) / spans
    steepest = slopes.max(axis=0)
    return (
        np.isfinite(steepest) & (steepest > 0) & ((spans * (slopes > STEEP * steepest)).sum(axis=0) < SHARE * times[-1])
    )


def _features(series: Sampled, times: Array, values: Array, time_events: Array) -> Array:
    """Refined turning points at the edges of clusters."""
    signs = np.sign(np.diff(values))
    moving = np.flatnonzero(signs)
    turns = [(int(a), int(b)) for a, b in pairwise(moving) if signs[a] != signs[b]]
    refined = [_refined(series, times[a], times[b + 1], signs[a]) for a, b in turns]
    heights = np.array([values[0], *(height for _, height in refined), values[-1]])
    least = SIGNIFICANT * np.ptp(heights)
    kept = [k for k in range(len(turns)) if min(abs(np.diff(heights[k : k + 3]))) > least]
    places = np.array([-2 * APART, *(turns[k][1] for k in kept), len(times) + 2 * APART])
    edges = [
        kept[i] for i in range(len(kept)) if max(places[i + 1] - places[i], places[i + 2] - places[i + 1]) >= APART
    ]
    return np.array(
        [
            refined[k][0]
            for k in edges
            if not np.any((time_events >= times[turns[k][0]]) & (time_events <= times[turns[k][1] + 1]))
        ]
    )


def _refined(series: Sampled, low: float, high: float, sign: float) -> tuple[float, float]:
    """The highest (lowest, for a negative sign) point between two instants: its instant and value."""
    for _ in range(LEVELS):
        times = np.linspace(low, high, FINER + 1)
        values = series(times)
        k = int(np.argmax(sign * values))
        best = times[k], values[k]
        low, high = times[max(k - 1, 0)], times[min(k + 1, FINER)]
    return float(best[0]), float(best[1])
