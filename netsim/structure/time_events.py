"""Instants at which functions of time jump or have a kink: steps of the accept/reject loop end there.

Every such place, in a bound expression or in a component's own text, is a switching function of time that passes a
whole number (`floor`, `mod`, periodic pulses) or zero (all others). Where it is linear in time, as in nearly all
netlists, its instants are computed exactly. Elsewhere it is cut into pieces that rise or fall: a grid is made finer
until it has `EACH` samples for every turning point, and turning points that may lie beyond a level that their samples
do not reach are searched. What passes in a piece is bisected to the last bit.
Tables have time events at their samples (linear, hold) or ends (cubic). What depends on the state is no function of
time, and no time event here.
"""

import numpy as np

from netsim.equations.machine import Machine
from netsim.structure.of_time.switching import (
    NO_FUNCTION_OF_TIME,
    Series,
    Text,
    component_texts,
    constant,
    difference,
    switching_of,
    text_of_shape,
    values_at,
)
from netsim.text.syntax import Expr

Array = np.ndarray

GRID, FINEST, EACH = 4000, 1_024_000, 16
"""Cells per run for switching functions that are not linear in time, at first and at most; samples (two in a cell) for
every turning point."""
ODD = 0.381966
"""Where the second sample of a cell lies: samples at equal distances see nothing of a wave that fits between them."""
FLAT = 1e-12
"""Changes between samples below this part of the largest value are rounding."""
MOST = 2_000_000
SAMPLES = 200
"""Samples of a smooth table that are looked for where its argument is not linear in time."""
EPS = 2.220446049250313e-16
LEAST = 16 * EPS
"""Time events before this share of the run are at its start."""
TOGETHER = 4 * EPS
"""Time events closer than this share of the time itself are one. Others are passed together where no step is between
them (netsim.core.loop.adaptive): a run ends its step before the first of them and goes on behind the last."""


def time_events_of(machine: Machine, stop: float) -> Array:
    """Every time event within (0, stop] of any function of time in the network, in order."""
    values, found = machine.values, [np.zeros(0)]
    texts: list[tuple[Text, list[Expr]]] = []
    for prescribed in machine.system.prescribed_inputs:
        if prescribed.stage == 1:
            texts += [(text_of_shape(shape, values), [shape.expr]) for shape in prescribed.shapes]
        for (table, call), shape in zip(prescribed.calls, prescribed.shapes):
            found.append(_of_table(machine, table, call.kind, text_of_shape(shape, values).series(shape.expr), stop))
    for batch in machine.system.batches:
        texts += [(text_of_shape(shape, values), [shape.expr]) for shape in batch.shapes]
    texts += component_texts(machine)
    for text, expressions in texts:
        found += [
            instants_of(switching, whole, stop) for expr in expressions for switching, whole in switching_of(expr, text)
        ]
    every = np.sort(np.concatenate(found))
    every = every[(every > LEAST * stop) & (every <= stop)]
    return every[np.append(True, np.diff(every) > TOGETHER * every[:-1])] if len(every) else every


def instants_of(switching: Series, whole: bool, stop: float) -> Array:
    """Where a switching function passes zero (or any whole number) within (0, stop]."""
    try:
        start, end, straight = _line(switching, stop)
    except NO_FUNCTION_OF_TIME:
        return np.zeros(0)
    if straight:
        levels = _levels(min(start, end), max(start, end), whole)
        return (levels - start) * (stop / (end - start)) if end != start else np.zeros(0)
    times, series = _pieces(switching, whole, stop)
    least, most = np.minimum(series[:-1], series[1:]), np.maximum(series[:-1], series[1:])
    passes = np.ceil(least - 1e-9) <= most + 1e-9 if whole else (least <= 0.0) & (most >= 0.0)
    brackets = [
        (times[i], times[i + 1], level, series[i] > series[i + 1])
        for i in np.flatnonzero(passes)
        for level in _levels(float(least[i]), float(most[i]), whole)
        if least[i] <= level <= most[i] and least[i] != most[i]
    ]
    return _bisected(switching, *map(np.array, zip(*brackets))) if brackets else np.zeros(0)


def _line(function: Series, stop: float) -> tuple[float, float, bool]:
    """The values of a function of time at both ends of the run, and whether it is linear between them; raises where it
    is no function of time or not finite."""
    start, end, shares = function(0.0), function(stop), np.linspace(0.0, 1.0, GRID + 1)
    few = np.array([0.2371, 0.5, 0.8113])
    at = np.array([function(share * stop) for share in few])
    if not np.all(np.isfinite([start, end, *at])):
        raise ValueError("not finite")
    tolerance = 1e-12 * max(abs(start), abs(end))
    if not np.allclose(at, start + (end - start) * few, rtol=1e-12, atol=tolerance):
        return start, end, False
    try:
        on_line = np.allclose(function(shares * stop), start + (end - start) * shares, rtol=1e-12, atol=tolerance)
        return start, end, bool(on_line)
    except NO_FUNCTION_OF_TIME:  # of what is formed for one instant alone
        return start, end, True


def _pieces(switching: Series, whole: bool, stop: float) -> tuple[Array, Array]:
    """Instants and values between which a function rises or falls, as far as levels are concerned."""
    count = GRID
    try:
        while True:
            cells = np.arange(count) * (stop / count)
            times = np.append(np.ravel(np.stack([cells, cells + ODD * (stop / count)], 1)), stop)
            series = values_at(times, switching(times))
            changes = np.diff(series)
            changes[np.abs(changes) <= FLAT * np.abs(series).max()] = 0.0
            turns = np.flatnonzero(changes[:-1] * changes[1:] < 0.0) + 1
            if EACH * len(turns) <= len(times) or count >= FINEST:
                break
            count *= 4
    except NO_FUNCTION_OF_TIME:  # of what is formed for one instant alone
        times = np.linspace(0.0, stop, GRID + 1)
        return times, np.array([switching(float(t)) for t in times])
    rises = np.sign(series[turns] - series[turns - 1])
    reach = np.maximum(np.abs(series[turns] - series[turns - 1]), np.abs(series[turns + 1] - series[turns]))
    scaled = rises * series[turns]  # of what turns at a least value the negative
    near = np.floor(scaled) + 1.0 - scaled <= reach if whole else (scaled < 0.0) & (-scaled <= reach)
    turns, rises = turns[near], rises[near]
    if not len(turns):
        return times, series
    found = _turned(switching, rises, times[turns - 1], times[turns + 1])
    order = np.argsort(every := np.concatenate([times, found]), kind="stable")
    return every[order], np.concatenate([series, values_at(found, switching(found))])[order]


def _turned(switching: Series, signs: Array, low: Array, high: Array) -> Array:
    """Where a function (times `signs`) is largest between `low` and `high`, by golden sections."""
    part = 1.0 - ODD
    for _ in range(60):
        left, right = high - part * (high - low), low + part * (high - low)
        keeps = signs * switching(left) > signs * switching(right)
        low, high = np.where(keeps, low, left), np.where(keeps, right, high)
    middle = 0.5 * (low + high)
    return np.asarray(middle)


def _levels(low: float, high: float, whole: bool) -> Array:
    if not whole:
        return np.zeros(int(low <= 0.0 <= high))
    first, last = np.ceil(low - 1e-9), np.floor(high + 1e-9)
    return np.arange(first, min(last, first + MOST) + 1)


def _bisected(switching: Series, low: Array, high: Array, level: Array, falling: Array) -> Array:
    """Where a function passes levels, to the last bit."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high)):
            break
        try:
            values = values_at(middle, switching(middle))
        except NO_FUNCTION_OF_TIME:  # of what is formed for one instant alone
            values = np.array([switching(float(t)) for t in middle])
        ahead = (values > level) == falling
        low, high = np.where(ahead, middle, low), np.where(ahead, high, middle)
    return high


def _of_table(machine: Machine, table: int, kind: str, argument: Series, stop: float) -> Array:
    """Instants at which a table's argument passes its samples (its ends alone, where it is smooth between)."""
    breaks = table_breaks(machine, table)
    return _passed(breaks if kind in ("linear", "hold") else breaks[[0, -1]], argument, stop)


def samples_passed(machine: Machine, stop: float) -> Array:
    """Instants within (0, stop) at which a smooth table's argument passes its samples: what happens between two of them
    may be brief."""
    found = [np.zeros(0)]
    for prescribed in machine.system.prescribed_inputs:
        for (table, call), shape in zip(prescribed.calls, prescribed.shapes):
            if call.kind not in ("linear", "hold"):
                argument = text_of_shape(shape, machine.values).series(shape.expr)
                found.append(_passed(table_breaks(machine, table), argument, stop, SAMPLES))
    every = np.unique(np.concatenate(found))
    return every[(every > 0.0) & (every < stop)]


def table_breaks(machine: Machine, table: int) -> Array:
    """The arguments between which a table has its pieces."""
    problem = machine.problem
    return problem.table_breaks[problem.table_first[table] : problem.table_first[table + 1]]


def _passed(breaks: Array, argument: Series, stop: float, most: int = MOST) -> Array:
    """Instants at which an argument passes values; none where it is not linear in time and they are more than
    `most`."""
    try:
        start, end, straight = _line(argument, stop)
    except NO_FUNCTION_OF_TIME:
        return np.zeros(0)
    if straight:
        return (breaks - start) * (stop / (end - start)) if end != start else np.zeros(0)
    if len(breaks) > most:
        return np.zeros(0)
    return np.concatenate([np.zeros(0), *(instants_of(difference(argument, constant(b)), False, stop) for b in breaks)])
