"""Instants at which functions of time have corners or jump: steps of the accept/reject loop end there.

Every such place in a bound expression is a switching function of time that passes a whole number (`floor`, `mod`, periodic pulses) or zero (all
others). Where it is linear in time, as in nearly all netlists, its instants are computed exactly; elsewhere they are bracketed on a fine grid and
bisected to the last bit. Tables have corners at their samples (linear, hold) or ends (cubic).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from netsim.bindings import Shape, leaf_values, symbolic_scope
from netsim.component import SECOND, WORLD
from netsim.errors import NetsimError
from netsim.language.expressions import Typed, evaluate
from netsim.language.syntax import Binary, Call, Conditional, Expr, Unary, Vector
from netsim.solvers.machine import Machine
from netsim.values import Values

Array = np.ndarray
Series = Callable[[float], float]

GRID = 4000
"""Brackets per run for switching functions that are not linear in time."""
MOST = 2_000_000
TOGETHER = 1e-13
"""Corners closer than this share of the run are one."""


def corners_of(machine: Machine, stop: float) -> Array:
    """Every corner within (0, stop] of any function of time that drives the network, in order."""
    values, found = machine.values, [np.zeros(0)]
    for drive in machine.system.drives:
        if drive.stage == 1:
            found += [c for shape in drive.shapes for c in _corners(shape, values, stop)]
        for (table, call), shape in zip(drive.calls, drive.shapes):
            found.append(_table_corners(machine, table, call.kind, _series(shape.expr, shape, values), stop))
    for batch in machine.system.batches:
        found += [c for shape in batch.shapes for c in _corners(shape, values, stop)]
    every = np.sort(np.concatenate(found))
    every = every[(every > TOGETHER * stop) & (every <= stop)]
    return every[np.append(True, np.diff(every) > TOGETHER * stop)] if len(every) else every


def _corners(shape: Shape, values: Values, stop: float) -> Iterator[Array]:
    for switching, whole in _switching(shape.expr, shape, values):
        yield _instants(switching, whole, stop)


def _series(expr: Expr, shape: Shape, values: Values) -> Series:
    """An expression of time as a function of the instant; ValueError where it is none (it reads signals or tables)."""
    numbers = leaf_values(shape, values)

    def refuse(_: int) -> Typed:
        raise ValueError

    def at(t: float) -> float:
        scope = symbolic_scope(
            shape, lambda first, size: numbers[first : first + size], refuse, refuse, Typed(t, SECOND), lambda name: _world(values, name)
        )
        return float(evaluate(expr, scope).value)

    return at


def _world(values: Values, name: str) -> Typed:
    if name not in WORLD:
        raise ValueError
    return values.world(name)


def _switching(expr: Any, shape: Shape, values: Values) -> Iterator[tuple[Series, bool]]:  # noqa: C901  (one case per kind of expression)
    """(switching function, whether whole numbers count and not zero alone) of every place that may bend or jump."""

    def series(part: Any) -> Series:
        return _series(part, shape, values)

    match expr:
        case Call():
            inner = [*expr.arguments, *(v for _, v in expr.keywords)]
            for part in inner:
                yield from _switching(part, shape, values)
            yield from _of_call(expr, series)
        case Binary():
            yield from _switching(expr.left, shape, values)
            yield from _switching(expr.right, shape, values)
            if expr.op in ("<", "<=", ">", ">=", "==", "!="):
                yield _difference(series(expr.left), series(expr.right)), False
        case Unary():
            yield from _switching(expr.operand, shape, values)
        case Conditional():
            for part in (expr.condition, expr.then, expr.otherwise):
                yield from _switching(part, shape, values)
        case Vector():
            for part in expr.items:
                yield from _switching(part, shape, values)


_CYCLOID = ("t", "duration", "at")
_PULSE = ("t", "at", "width", "rise", "fall", "period")


def _of_call(call: Call, series: Callable[[Any], Series]) -> Iterator[tuple[Series, bool]]:  # noqa: C901  (one case per function)
    given = dict(call.keywords)
    first, *others = call.arguments if call.arguments else (None,)
    match call.function:
        case "step" | "ramp":
            yield _difference(series(first), _argument(call, given, ("t", "at"), "at", series)), False
        case "abs" | "sign":
            yield series(first), False
        case "floor":
            yield series(first), True
        case "mod":
            top, under = series(first), series(others[0])
            yield lambda t: top(t) / under(t), True
        case "min" | "max":
            for i, one in enumerate(call.arguments):
                for other in call.arguments[i + 1 :]:
                    yield _difference(series(one), series(other)), False
        case "sine" if "at" in given:
            yield _difference(series(first), series(given["at"])), False
        case "cycloid":
            part = {name: _argument(call, given, _CYCLOID, name, series) for name in _CYCLOID}
            yield _difference(series(first), part["at"]), False
            yield (lambda t: part["t"](t) - part["at"](t) - part["duration"](t)), False
        case "pulse":
            yield from _of_pulse({name: _argument(call, given, _PULSE, name, series) for name in _PULSE})


def _of_pulse(part: dict[str, Series]) -> Iterator[tuple[Series, bool]]:
    """The four corners of a pulse, of every period if it has one (before its first instant it is 0)."""

    def since(corner: int, periodic: bool, t: float) -> float:
        later = [0.0, part["rise"](t), part["rise"](t) + part["width"](t), part["rise"](t) + part["width"](t) + part["fall"](t)]
        found = part["t"](t) - part["at"](t) - later[corner]
        return found / part["period"](t) if periodic else found

    periodic = part["period"](0.0) > 0.0
    for corner in range(4):
        if periodic:
            yield (partial(since, corner, True)), True
        else:
            yield (partial(since, corner, False)), False


def _argument(call: Call, given: dict[str, Expr], names: tuple[str, ...], name: str, series: Callable[[Any], Series]) -> Series:
    place = names.index(name)
    if name in given:
        return series(given[name])
    return series(call.arguments[place]) if place < len(call.arguments) else lambda t: 0.0


def _constant(value: float) -> Series:
    return lambda t: value


def _difference(a: Series, b: Series) -> Series:
    return lambda t: a(t) - b(t)


def _instants(switching: Series, whole: bool, stop: float) -> Array:
    """Where a switching function passes zero (or any whole number) within (0, stop]."""
    try:
        ends = switching(0.0), switching(stop)
        line = np.array([switching(share * stop) for share in (0.2371, 0.5, 0.8113)])
    except (ValueError, ZeroDivisionError, NetsimError):
        return np.zeros(0)
    rise = ends[1] - ends[0]
    if not np.all(np.isfinite([*ends, *line])):
        return np.zeros(0)
    if np.allclose(line, ends[0] + rise * np.array([0.2371, 0.5, 0.8113]), rtol=1e-12, atol=1e-12 * max(map(abs, ends), default=0.0)):
        levels = _levels(min(ends), max(ends), whole)
        return (levels - ends[0]) * (stop / rise) if rise else np.zeros(0)
    times = np.linspace(0.0, stop, GRID + 1)
    series = np.array([switching(t) for t in times])
    found = []
    for i in range(GRID):
        low, high = series[i], series[i + 1]
        for level in _levels(min(low, high), max(low, high), whole):
            if (low - level) * (high - level) <= 0.0 and low != high:
                found.append(_bisected(switching, times[i], times[i + 1], level, low > high))
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


def _table_corners(machine: Machine, table: int, kind: str, argument: Series, stop: float) -> Array:
    """Instants at which a table's argument passes its samples (its ends alone, where it is smooth between)."""
    problem = machine.problem
    breaks = problem.table_breaks[problem.table_first[table] : problem.table_first[table + 1]]
    chosen = breaks if kind in ("linear", "hold") else breaks[[0, -1]]
    try:
        start, end = argument(0.0), argument(stop)
        middle = argument(0.37 * stop)
    except (ValueError, NetsimError):
        return np.zeros(0)
    if abs(middle - (start + 0.37 * (end - start))) <= 1e-12 * max(abs(start), abs(end)):
        return (chosen - start) * (stop / (end - start)) if end != start else np.zeros(0)
    return np.concatenate([np.zeros(0), *(_instants(_difference(argument, _constant(b)), False, stop) for b in chosen)])
