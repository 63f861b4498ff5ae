"""Instants at which functions of time jump or have a kink: steps of the accept/reject loop end there.

Every such place, in a bound expression or in a component's own text, is a switching function of time that passes a
whole number (`floor`, `mod`, periodic pulses) or zero (all others). Where it is linear in time, as in nearly all
netlists, its instants are computed exactly; elsewhere they are bracketed on a fine grid and bisected to the last bit.
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

GRID = 4000
"""Brackets per run for switching functions that are not linear in time."""
MOST = 2_000_000
SAMPLES = 200
"""Samples of a smooth table that are looked for where its argument is not linear in time."""
TOGETHER = 16 * 2.220446049250313e-16
"""Time events closer than this share of the run are one."""


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
    every = every[(every > TOGETHER * stop) & (every <= stop)]
    return every[np.append(True, np.diff(every) > TOGETHER * stop)] if len(every) else every


def instants_of(switching: Series, whole: bool, stop: float) -> Array:
    """Where a switching function passes zero (or any whole number) within (0, stop]."""
    try:
        ends = switching(0.0), switching(stop)
        line = np.array([switching(share * stop) for share in (0.2371, 0.5, 0.8113)])
    except NO_FUNCTION_OF_TIME:
        return np.zeros(0)
    rise = ends[1] - ends[0]
    if not np.all(np.isfinite([*ends, *line])):
        return np.zeros(0)
    if np.allclose(
        line,
        ends[0] + rise * np.array([0.2371, 0.5, 0.8113]),
        rtol=1e-12,
        atol=1e-12 * max(map(abs, ends), default=0.0),
    ):
        levels = _levels(min(ends), max(ends), whole)
        return (levels - ends[0]) * (stop / rise) if rise else np.zeros(0)
    times = np.linspace(0.0, stop, GRID + 1)
    try:
        series = values_at(times, switching(times))
    except NO_FUNCTION_OF_TIME:  # of what is formed for one instant alone
        series = np.array([switching(float(t)) for t in times])
    least, most = np.minimum(series[:-1], series[1:]), np.maximum(series[:-1], series[1:])
    passes = np.ceil(least - 1e-9) <= most + 1e-9 if whole else (least <= 0.0) & (most >= 0.0)
    found = []
    for i in np.flatnonzero(passes):
        low, high = float(series[i]), float(series[i + 1])
        for level in _levels(min(low, high), max(low, high), whole):
            if (low - level) * (high - level) <= 0.0 and low != high:
                found.append(_bisected(switching, float(times[i]), float(times[i + 1]), level, low > high))
    return np.array(found)


def _levels(low: float, high: float, whole: bool) -> Array:
    if not whole:
        return np.zeros(int(low <= 0.0 <= high))
    first, last = np.ceil(low - 1e-9), np.floor(high + 1e-9)
    return np.arange(first, min(last, first + MOST) + 1)


def _bisected(switching: Series, low: float, high: float, level: float, falling: bool) -> float:
    for _ in range(80):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        above = switching(middle) > level
        low, high = (middle, high) if above == falling else (low, middle)
    return high


def _of_table(machine: Machine, table: int, kind: str, argument: Series, stop: float) -> Array:
    """Instants at which a table's argument passes its samples (its ends alone, where it is smooth between)."""
    breaks = _breaks(machine, table)
    return _passed(breaks if kind in ("linear", "hold") else breaks[[0, -1]], argument, stop)


def samples_passed(machine: Machine, stop: float) -> Array:
    """Instants within (0, stop) at which a smooth table's argument passes its samples: what happens between two of them
    may be brief."""
    found = [np.zeros(0)]
    for prescribed in machine.system.prescribed_inputs:
        for (table, call), shape in zip(prescribed.calls, prescribed.shapes):
            if call.kind not in ("linear", "hold"):
                argument = text_of_shape(shape, machine.values).series(shape.expr)
                found.append(_passed(_breaks(machine, table), argument, stop, SAMPLES))
    every = np.unique(np.concatenate(found))
    return every[(every > 0.0) & (every < stop)]


def _breaks(machine: Machine, table: int) -> Array:
    problem = machine.problem
    return problem.table_breaks[problem.table_first[table] : problem.table_first[table + 1]]


def _passed(breaks: Array, argument: Series, stop: float, most: int = MOST) -> Array:
    """Instants at which an argument passes values; none where it is not linear in time and they are more than
    `most`."""
    try:
        start, end = argument(0.0), argument(stop)
        middle = argument(0.37 * stop)
    except NO_FUNCTION_OF_TIME:
        return np.zeros(0)
    if abs(middle - (start + 0.37 * (end - start))) <= 1e-12 * max(abs(start), abs(end)):
        return (breaks - start) * (stop / (end - start)) if end != start else np.zeros(0)
    if len(breaks) > most:
        return np.zeros(0)
    return np.concatenate([np.zeros(0), *(instants_of(difference(argument, constant(b)), False, stop) for b in breaks)])
