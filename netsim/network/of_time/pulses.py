"""Pulses whose parts do not fit: a `width`, `rise`, `fall` or `period` below 0, or together longer than the period.

What is longer than the period is cut off by the next one, which is seldom meant but in circuits of SPICE.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from netsim.library.component import SECOND, WORLD, terms_in
from netsim.network.bindings import Shape, leaf_values, symbolic_scope
from netsim.network.network import Instance
from netsim.network.values import Values
from netsim.text.errors import NetsimError, Problem
from netsim.text.expressions.typed import Scope, Typed, evaluate, span_of
from netsim.text.syntax import Call, ComponentDef, Expr
from netsim.text.terms import CutPulse
from netsim.text.units import format_dimension

PARTS = ("t", "at", "width", "rise", "fall", "period")
LENGTHS = PARTS[2:]
ROUNDING = 1e-9
"""Parts may be longer than the period by this share of it: sums of decimal numbers are."""


def wrong_pulses(used: Iterable[tuple[Sequence[Shape], Sequence[Instance]]], values: Values) -> Iterator[Problem]:
    """Problems (E235) of all pulses with the present values, of bound expressions of one shape and of elements of one
    type."""
    for shapes, instances in used:
        if shapes:
            if _pulses(shapes[0].expr):
                for shape in shapes:
                    yield from _wrong_in_shape(shape, values)
        elif instances and (pulses := pulses_in(*_expressions(instances[0].component.definition))):
            for instance in instances:
                scope = values.inside(instance)
                for call in pulses:
                    yield from _wrong(call, scope, f" of '{instance.name}'")


def _expressions(definition: ComponentDef) -> list[Expr]:
    sides = [side for e in definition.equations for side in (e.left, e.right)]
    return [*sides, *(item.value for item in definition.lets)]


def pulses_in(*expressions: Expr) -> list[Call]:
    """Calls of `pulse` whose parts must fit."""
    return [call for each in expressions for call in _pulses(each) if not isinstance(call, CutPulse)]


def _pulses(expr: Expr) -> list[Call]:
    return [call for call in terms_in(expr, Call) if call.function == "pulse"]


def _wrong_in_shape(shape: Shape, values: Values) -> Iterator[Problem]:
    """Problems (E235) of the pulses in a bound expression, with the present values."""
    pulses = pulses_in(shape.expr)
    numbers = leaf_values(shape, values) if pulses else []

    def refuse(_: int) -> Typed:
        raise ValueError

    def world(name: str) -> Typed:
        if name not in WORLD:
            raise ValueError
        return values.world(name)

    def lifted(first: int, size: int) -> list[Any]:
        return numbers[first : first + size]

    for call in pulses:
        yield from _wrong(call, symbolic_scope(shape, lifted, refuse, refuse, Typed(0.0, SECOND), world))


def _wrong(call: Call, scope: Scope, whose: str = "") -> Iterator[Problem]:
    given = {**dict(zip(PARTS, call.arguments)), **dict(call.keywords)}
    try:
        found = {name: evaluate(given[name], scope) for name in LENGTHS if name in given}
        lengths = {name: np.asarray(each.value, float) for name, each in found.items()}
    except (ValueError, TypeError, ArithmeticError, NetsimError):  # a length that moves, or reads signals
        return
    unit = next((f" {format_dimension(each.dimension)}" for each in found.values() if each.dimension), "")
    unit = "" if unit == " 1" else unit
    below = [name for name, value in lengths.items() if (value < 0.0).any()]
    for name in below:
        message = f"'{name}' of a pulse{whose} is {lengths[name].min():.6g}{unit}, and a length is not below 0"
        yield Problem("E235", message, span_of(given[name]))
    period, whole = (
        lengths.get("period", np.zeros(())),
        np.sum([v for k, v in lengths.items() if k != "period"], axis=0),
    )
    if not below and ((period > 0.0) & (whole > period * (1.0 + ROUNDING))).any():
        message = f"a pulse{whose} rises, stays and falls in {whole.max():.6g}{unit}, "
        message += f"and its period is {period.min():.6g}{unit}"
        yield Problem("E235", message, call.span, hint="what is longer than its period is cut off by the next one")
