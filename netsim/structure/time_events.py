"""Instants at which functions of time jump or have a kink: steps of the accept/reject loop end there.

Every such place, in a bound expression or in a component's own text, is a switching function of time that passes a
whole number (`floor`, `mod`, periodic pulses) or zero (all others). Where it is linear in time, as in nearly all
netlists, its instants are computed exactly; elsewhere they are bracketed on a fine grid and bisected to the last bit.
Tables have time events at their samples (linear, hold) or ends (cubic). What depends on the state is no function of
time, and no time event here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import SECOND, WORLD, plain_name, resolve_name
from netsim.network.bindings import Shape, leaf_values, symbolic_scope
from netsim.network.network import Instance
from netsim.network.values import Values
from netsim.text.errors import NetsimError
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Binary, Call, ComponentDef, Conditional, Expr, Name, Unary, Vector

Array = np.ndarray
Series = Callable[[Any], Any]
"""A function of the instant, of one or of an array of them."""

GRID = 4000
"""Brackets per run for switching functions that are not linear in time."""
MOST = 2_000_000
SAMPLES = 200
"""Samples of a smooth table that are looked for where its argument is not linear in time."""
TOGETHER = 16 * 2.220446049250313e-16
"""Time events closer than this share of the run are one."""

NO_FUNCTION_OF_TIME = (ValueError, TypeError, ArithmeticError, NetsimError)
"""What evaluating an expression at an instant raises where it is no function of time (it reads signals) or has no value
there."""


@dataclass(frozen=True)
class Text:
    """A text in which expressions stand: what its names mean at an instant, and the expressions behind its `let`s."""

    at: Callable[[Any], Scope]
    lets: Mapping[str, Expr] = field(default_factory=dict)

    def series(self, part: Any) -> Series:
        """An expression as a function of the instant; it raises where it is none (it reads signals or tables)."""
        return lambda t: _as(t, evaluate(part, self.at(t)).value)


def _as(t: Any, value: Any) -> Any:
    """A value at an instant, or a value for each of many."""
    return np.broadcast_to(np.asarray(value, float), t.shape) if isinstance(t, np.ndarray) else float(value)


def time_events_of(machine: Machine, stop: float) -> Array:
    """Every time event within (0, stop] of any function of time in the network, in order."""
    values, found = machine.values, [np.zeros(0)]
    texts: list[tuple[Text, list[Expr]]] = []
    for prescribed in machine.system.prescribed_inputs:
        if prescribed.stage == 1:
            texts += [(_of_shape(shape, values), [shape.expr]) for shape in prescribed.shapes]
        for (table, call), shape in zip(prescribed.calls, prescribed.shapes):
            found.append(_of_table(machine, table, call.kind, _of_shape(shape, values).series(shape.expr), stop))
    for batch in machine.system.batches:
        texts += [(_of_shape(shape, values), [shape.expr]) for shape in batch.shapes]
    texts += _component_texts(machine)
    for text, expressions in texts:
        found += [
            instants_of(switching, whole, stop) for expr in expressions for switching, whole in _switching(expr, text)
        ]
    every = np.sort(np.concatenate(found))
    every = every[(every > TOGETHER * stop) & (every <= stop)]
    return every[np.append(True, np.diff(every) > TOGETHER * stop)] if len(every) else every


def bending(shape: Shape, values: Values) -> Iterator[tuple[Series, bool]]:
    """(switching function, whether whole numbers count and not zero alone) of every place where a bound function of
    time may bend or jump."""
    return _switching(shape.expr, _of_shape(shape, values))


def expression_at(shape: Shape, values: Values, t: Any) -> Any:
    """The value of a bound function of time at an instant, which may be a symbol; raises one of `NO_FUNCTION_OF_TIME`
    where it reads tables."""
    return evaluate(shape.expr, _of_shape(shape, values).at(t)).value


def _of_shape(shape: Shape, values: Values) -> Text:
    """A bound expression: numbers, the time and world values; no signals and no tables."""
    numbers = leaf_values(shape, values)

    def refuse(_: int) -> Typed:
        raise ValueError

    def at(t: float) -> Scope:
        return symbolic_scope(
            shape,
            lambda first, size: numbers[first : first + size],
            refuse,
            refuse,
            Typed(t, SECOND),
            lambda name: _world(values, name),
        )

    return Text(at)


def _world(values: Values, name: str) -> Typed:
    if name not in WORLD:
        raise ValueError
    return values.world(name)


def _component_texts(machine: Machine, bends: bool = True) -> Iterator[tuple[Text, list[Expr]]]:
    """The equations of every component that may switch by the time or by an input that is a function of it; without
    `bends`, that read the time."""
    given = [p for p in machine.system.prescribed_inputs if p.stage == 1]
    driven = {(instance.name, name): shape for p in given for shape, (instance, name) in zip(p.shapes, p.owners)}
    for batch in machine.system.batches:
        definition = batch.instances[0].component.definition if batch.instances and not batch.shapes else None
        if definition is None or not _may_switch(definition, bends):
            continue
        for instance in batch.instances:
            inputs = {
                q.name: driven[instance.name, q.name] for q in definition.inputs if (instance.name, q.name) in driven
            }
            yield (
                _of_instance(instance, definition, inputs, machine.values),
                [side for e in definition.equations for side in (e.left, e.right)],
            )


def time_texts(machine: Machine) -> Iterator[Series]:
    """Every largest expression in the components' own equations that reads the time and no signal."""
    for text, expressions in _component_texts(machine, bends=False):
        for expr in expressions:
            yield from _of_time(expr, text)


def _of_time(expr: Any, text: Text) -> Iterator[Series]:
    if all(plain_name(part) != "time" and plain_name(part) not in text.lets for part in _parts(expr)):
        return
    try:
        series = text.series(expr)
        series(0.0)
        yield series
    except NO_FUNCTION_OF_TIME:
        inner = text.lets.get(plain_name(expr) or "")
        for part in inside(expr) if inner is None else (inner,):
            yield from _of_time(part, text)


def _may_switch(definition: ComponentDef, bends: bool) -> bool:
    """Whether the time or an input is read, and something in the text can bend; without `bends`, whether the time
    is."""
    texts = [
        *(side for e in definition.equations for side in (e.left, e.right)),
        *(item.value for item in definition.lets),
    ]
    parts = [part for text in texts for part in _parts(text)]
    names = {"time", *(q.name for q in definition.inputs if bends)}
    reads = any(isinstance(part, Name) and part.parts[0].text in names for part in parts)
    return reads and (
        not bends or any(isinstance(p, Conditional) or (isinstance(p, Call) and p.function in BENDING) for p in parts)
    )


def _parts(expr: Any) -> Iterator[Any]:
    """An expression and everything in it."""
    yield expr
    for inner in inside(expr):
        yield from _parts(inner)


def inside(expr: Any) -> tuple[Any, ...]:
    """The expressions that an expression is made of."""
    match expr:
        case Call():
            return (*expr.arguments, *(v for _, v in expr.keywords))
        case Binary():
            return expr.left, expr.right
        case Unary():
            return (expr.operand,)
        case Conditional():
            return expr.condition, expr.then, expr.otherwise
        case Vector():
            return expr.items
    return ()


def _of_instance(instance: Instance, definition: ComponentDef, inputs: Mapping[str, Shape], values: Values) -> Text:
    """A component's own text: parameters, counts, lets, world values, the time and inputs that are functions of it."""
    known = {**values.parameters(instance), **{name: Typed(float(n)) for name, n in instance.counts}}
    lets = {item.name: item.value for item in definition.lets}
    bound = {name: (shape.expr, _of_shape(shape, values)) for name, shape in inputs.items()}

    def at(t: float) -> Scope:
        def whole(name: str) -> Typed | None:
            if name in known:
                return known[name]
            if name in lets:
                return evaluate(lets[name], scope)
            if name in bound:
                return evaluate(bound[name][0], bound[name][1].at(t))
            return Typed(t, SECOND) if name == "time" else values.world(name) if name in WORLD else None

        scope = Scope(lambda name: resolve_name(name, whole, known))
        return scope

    return Text(at, lets)


BENDING = (
    "step",
    "ramp",
    "abs",
    "sign",
    "floor",
    "mod",
    "min",
    "max",
    "sine",
    "pulse",
    "interpolate",
    "smooth_step",
    "clamped",
)


def _switching(expr: Any, text: Text) -> Iterator[tuple[Series, bool]]:
    """(switching function, whether whole numbers count and not zero alone) of every place that may bend or jump."""
    for part in inside(expr):
        yield from _switching(part, text)
    match expr:
        case Name() if plain_name(expr) in text.lets:
            yield from _switching(text.lets[str(plain_name(expr))], text)
        case Call(function="interpolate" | "clamped"):
            yield from _of_points(expr, text)
        case Call():
            yield from _of_call(expr, text.series)
        case Binary() if expr.op in ("<", "<=", ">", ">=", "==", "!="):
            yield _difference(text.series(expr.left), text.series(expr.right)), False


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
        case "smooth_step":
            start = _argument(call, given, ("u", "order"), "u", series)
            yield start, False
            yield _difference(start, _constant(1.0)), False
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


def _of_points(call: Call, text: Text) -> Iterator[tuple[Series, bool]]:
    """The points of a broken line."""
    try:
        points = evaluate(call.arguments[1], text.at(0.0)).value
    except NO_FUNCTION_OF_TIME:
        return
    for point in points:
        yield _difference(text.series(call.arguments[0]), _constant(float(point))), False


def _of_pulse(part: dict[str, Series]) -> Iterator[tuple[Series, bool]]:
    """The four kinks of a pulse, of every period if it has one (before its first instant it is 0)."""

    def since(kink: int, periodic: bool, t: float) -> float:
        later = [
            0.0,
            part["rise"](t),
            part["rise"](t) + part["width"](t),
            part["rise"](t) + part["width"](t) + part["fall"](t),
        ]
        found = part["t"](t) - part["at"](t) - later[kink]
        return found / part["period"](t) if periodic else found

    try:
        periodic = part["period"](0.0) > 0.0
    except NO_FUNCTION_OF_TIME:
        return
    for kink in range(4):
        if periodic:
            yield (partial(since, kink, True)), True
        else:
            yield (partial(since, kink, False)), False


def _argument(
    call: Call, given: dict[str, Expr], names: tuple[str, ...], name: str, series: Callable[[Any], Series]
) -> Series:
    place = names.index(name)
    if name in given:
        return series(given[name])
    return series(call.arguments[place]) if place < len(call.arguments) else lambda t: 0.0


def _constant(value: float) -> Series:
    return lambda t: value


def _difference(a: Series, b: Series) -> Series:
    return lambda t: a(t) - b(t)


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
        series = _as(times, switching(times))
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
                argument = _of_shape(shape, machine.values).series(shape.expr)
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
    return np.concatenate(
        [np.zeros(0), *(instants_of(_difference(argument, _constant(b)), False, stop) for b in breaks)]
    )
