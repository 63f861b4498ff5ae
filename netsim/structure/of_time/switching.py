"""Switching functions: of every place in a text where a function of time may jump or have a kink, a function of time
that passes a whole number there (`floor`, `mod`, periodic pulses) or zero (all others).

What depends on the state is no function of time, and has none.
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

Series = Callable[[Any], Any]
"""A function of the instant, of one or of an array of them."""


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
        return lambda t: values_at(t, evaluate(part, self.at(t)).value)


def values_at(t: Any, value: Any) -> Any:
    """A value at an instant, or a value for each of many."""
    return np.broadcast_to(np.asarray(value, float), t.shape) if isinstance(t, np.ndarray) else float(value)


def bending(shape: Shape, values: Values) -> Iterator[tuple[Series, bool]]:
    """(switching function, whether whole numbers count and not zero alone) of every place where a bound function of
    time may bend or jump."""
    return switching_of(shape.expr, text_of_shape(shape, values))


def expression_at(shape: Shape, values: Values, t: Any) -> Any:
    """The value of a bound function of time at an instant, which may be a symbol; raises one of `NO_FUNCTION_OF_TIME`
    where it reads tables."""
    return evaluate(shape.expr, text_of_shape(shape, values).at(t)).value


def text_of_shape(shape: Shape, values: Values) -> Text:
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


def component_texts(machine: Machine, bends: bool = True, whens: bool = False) -> Iterator[tuple[Text, list[Expr]]]:
    """The equations of every component that may switch by the time or by an input that is a function of it; without
    `bends`, that read the time; with `whens`, conditions and actions of its events, too."""
    given = [p for p in machine.system.prescribed_inputs if p.stage == 1]
    driven = {(instance.name, name): shape for p in given for shape, (instance, name) in zip(p.shapes, p.owners)}
    for batch in machine.system.batches:
        definition = batch.instances[0].component.definition if batch.instances and not batch.shapes else None
        if definition is None or not _may_switch(definition, bends, whens):
            continue
        for instance in batch.instances:
            inputs = {
                q.name: driven[instance.name, q.name] for q in definition.inputs if (instance.name, q.name) in driven
            }
            yield _of_instance(instance, definition, inputs, machine.values), _sides(definition, whens)


def time_texts(machine: Machine) -> Iterator[Series]:
    """Every largest expression in the components' own equations that reads the time and no signal."""
    for text, expressions in component_texts(machine, bends=False):
        for expr in expressions:
            yield from of_time(expr, text)


def of_time(expr: Any, text: Text) -> Iterator[Series]:
    """Every largest part of an expression that reads the time and no signal."""
    if all(plain_name(part) != "time" and plain_name(part) not in text.lets for part in _parts(expr)):
        return
    try:
        series = text.series(expr)
        series(0.0)
        yield series
    except NO_FUNCTION_OF_TIME:
        inner = text.lets.get(plain_name(expr) or "")
        for part in inside(expr) if inner is None else (inner,):
            yield from of_time(part, text)


def _sides(definition: ComponentDef, whens: bool) -> list[Expr]:
    """What stands in the equations of a component, and in its events."""
    found = [side for e in definition.equations for side in (e.left, e.right)]
    for when in definition.whens if whens else ():
        found += [when.condition, *(action.value for action in when.actions)]
    return found


def _may_switch(definition: ComponentDef, bends: bool, whens: bool) -> bool:
    """Whether the time or an input is read, and something in the text can bend; without `bends`, whether the time
    is."""
    texts = [*_sides(definition, whens), *(item.value for item in definition.lets)]
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
    bound = {name: (shape.expr, text_of_shape(shape, values)) for name, shape in inputs.items()}

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


def switching_of(expr: Any, text: Text) -> Iterator[tuple[Series, bool]]:
    """(switching function, whether whole numbers count and not zero alone) of every place that may bend or jump."""
    for part in inside(expr):
        yield from switching_of(part, text)
    match expr:
        case Name() if plain_name(expr) in text.lets:
            yield from switching_of(text.lets[str(plain_name(expr))], text)
        case Call(function="interpolate" | "clamped"):
            yield from _of_points(expr, text)
        case Call():
            yield from _of_call(expr, text.series)
        case Binary() if expr.op in ("<", "<=", ">", ">=", "==", "!="):
            yield difference(text.series(expr.left), text.series(expr.right)), False


_CYCLOID = ("t", "duration", "at")
_PULSE = ("t", "at", "width", "rise", "fall", "period")


def _of_call(call: Call, series: Callable[[Any], Series]) -> Iterator[tuple[Series, bool]]:  # noqa: C901, one case each
    given = dict(call.keywords)
    first, *others = call.arguments if call.arguments else (None,)
    match call.function:
        case "step" | "ramp":
            yield difference(series(first), _argument(call, given, ("t", "at"), "at", series)), False
        case "abs" | "sign":
            yield series(first), False
        case "smooth_step":
            start = _argument(call, given, ("u", "order"), "u", series)
            yield start, False
            yield difference(start, constant(1.0)), False
        case "floor":
            yield series(first), True
        case "mod":
            top, under = series(first), series(others[0])
            yield lambda t: top(t) / under(t), True
        case "min" | "max":
            for i, one in enumerate(call.arguments):
                for other in call.arguments[i + 1 :]:
                    yield difference(series(one), series(other)), False
        case "sine" if "at" in given:
            yield difference(series(first), series(given["at"])), False
        case "cycloid":
            part = {name: _argument(call, given, _CYCLOID, name, series) for name in _CYCLOID}
            yield difference(series(first), part["at"]), False
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
        yield difference(text.series(call.arguments[0]), constant(float(point))), False


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


def constant(value: float) -> Series:
    """The same value at every instant."""
    return lambda t: value


def difference(a: Series, b: Series) -> Series:
    """a - b"""
    return lambda t: a(t) - b(t)
