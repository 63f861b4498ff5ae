"""What an optimisation asks for in terms of signals: the objective, and bounds on expressions at all times or at the
ends.

Every expression of signals becomes an element with one unknown u = expression, so that the equations of the network
give its value wherever they hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.inverse.tracking import typed_signal
from netsim.analyses.optimal.options import OptimalOptions, word
from netsim.library.component import SECOND, Component
from netsim.network.network import Instance as Element
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import shape
from netsim.text.expressions.typed import Scope, Typed, evaluate, number_of, quantity_of
from netsim.text.parse import parse
from netsim.text.syntax import Binary, Binding, Call, ComponentDef, Expr, Instance, Name, Part
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension

WATCH = """component watched "the value of an expression"
  input x : {unit}
  var u : {unit}
  u = x
end
"""
INTEGRAL, FINAL, AT, LARGEST, LEAST = "integral", "final", "at", "max", "min"
KINDS = (INTEGRAL, FINAL, AT, LARGEST, LEAST)
INFINITE = float("inf")


@dataclass(frozen=True)
class Term:
    """A number that the objective is made of: the integral of a watched expression, its value at a share of the span
    (`final`), or the largest value of all `watches` times their signs (`max`)."""

    kind: str
    watches: tuple[int, ...]
    share: float = 1.0
    signs: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class Bounded:
    """low <= watched expression <= high, as it was written."""

    watch: int
    low: float
    high: float
    text: str
    expr: Expr

    @property
    def exact(self) -> bool:
        return self.low == self.high


@dataclass(eq=False)
class Wishes:
    """The objective as a function (terms, stop) with its terms; bounds at all times, at the begin and at the end; the
    watched expressions, their units and, once there is one, their places in a point."""

    expressions: list[Expr] = field(default_factory=list)
    dimensions: list[Dimension] = field(default_factory=list)
    places: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    terms: list[Term] = field(default_factory=list)
    objective: Any = None
    unit: str = ""
    limits: list[Bounded] = field(default_factory=list)
    begin: list[Bounded] = field(default_factory=list)
    end: list[Bounded] = field(default_factory=list)

    def watch(self, expr: Expr, dimension: Dimension) -> int:
        """The number of a watched expression; the same for the same text."""
        texts = [show_expression(each) for each in self.expressions]
        if (text := show_expression(expr)) in texts:
            return texts.index(text)
        self.expressions.append(expr)
        self.dimensions.append(dimension)
        return len(texts)

    def name(self, number: int) -> str:
        """The element that watches an expression: a name that no user can write."""
        return f"watched {number + 1}"


def wishes_of(network: Network, values: Values, options: OptimalOptions) -> Wishes:
    """What the options ask for; raises `InputError` with all that is wrong in their expressions."""
    found, problems = Wishes(), list[Problem]()
    try:
        _set_objective(network, values, found, options)
    except InputError as error:
        problems += error.problems
    for place, items in ((found.limits, options.limits), (found.begin, options.begin or ()), (found.end, options.end)):
        for item in (each for each in items if not word(each)):
            try:
                place.append(_bounded(network, values, found, item))
            except InputError as error:
                problems += error.problems
    for bounds in (found.limits, [*found.limits, *found.begin], [*found.limits, *found.end]):
        problems += _exclusive(bounds)
    if problems:
        raise InputError(problems)
    return found


def _exclusive(bounds: Sequence[Bounded]) -> Iterator[Problem]:
    """Bounds of one expression that no value satisfies (E468)."""
    for watch in dict.fromkeys(b.watch for b in bounds):
        own = [b for b in bounds if b.watch == watch]
        least, most = max(own, key=lambda b: b.low), min(own, key=lambda b: b.high)
        if least.low > most.high:
            message = f"no value satisfies '{least.text}'" + (f" and '{most.text}'" if most is not least else "")
            also = ((least.expr.span, "and this"),) if most is not least and least.expr.span else ()
            yield Problem("E468", message, most.expr.span, also=also, hint="exchange the bounds, or correct a sign")


def watching(network: Network, wishes: Wishes) -> Network:
    """The network with an element for every watched expression."""
    added = []
    for number, (expr, dimension) in enumerate(zip(wishes.expressions, wishes.dimensions)):
        name = wishes.name(number)
        bindings = (Binding("x", expr, span=expr.span),)
        text = Instance(Name((Part(name),)), "watched", (), bindings, span=expr.span)
        added.append(Element(name, _watched(format_dimension(dimension)), (), (), text, network.top))
    return replace(network, instances=(*network.instances, *added))


@lru_cache(maxsize=256)
def _watched(unit: str) -> Component:
    definition = parse(WATCH.format(unit=unit), "<optimize>").statements[0]
    assert isinstance(definition, ComponentDef)
    return Component(definition, {})


def _scalar(network: Network, values: Values, expr: Expr) -> tuple[Dimension, bool]:
    """The dimension of an expression of signals, and whether it reads any."""
    typed, reads = typed_signal(network, values, expr)
    if shape(typed.value):
        message = f"'{show_expression(expr)}' is a vector"
        raise InputError(Problem("E204", message, expr.span, hint="take a component, or norm()"))
    return typed.dimension or NO_DIMENSION, reads


# ------------------------------------------------------------------------------------------------ the objective


def _set_objective(network: Network, values: Values, found: Wishes, options: OptimalOptions) -> None:
    """Reads the objective with its terms."""
    symbols: list[Any] = []
    stop = ca.SX.sym("stop")

    def term(kind: str) -> Any:
        def take(call: Call, scope: Scope) -> Typed:
            several = kind in (LARGEST, LEAST) and len(call.arguments) > 1
            if several and not all(_is_signal(network, values, each) for each in call.arguments):
                special = {n: f for n, f in scope.special.items() if n != kind}
                return evaluate(call, Scope(scope.resolve, special))
            share = _share(call, scope, options) if kind == AT and len(call.arguments) == 2 else 1.0
            made, unit = _term(network, values, found, kind, call, share)
            if made not in found.terms:
                found.terms.append(made)
                symbols.append(ca.SX.sym(f"term{len(symbols)}"))
            symbol = symbols[found.terms.index(made)]
            return Typed(-symbol if kind == LEAST else symbol, unit)

        return take

    known = values.scope(network.top)

    def resolve(name: Name) -> Typed:
        if word(name) == "stop":
            return Typed(stop, SECOND)
        try:
            return known.resolve(name)
        except InputError:
            _scalar(network, values, name)  # it says what is wrong with a name that nothing has
            message = f"'{show_expression(name)}' changes with time, and an objective is one number"
            hint = "take integral(x), final(x), max(x), or the option limits"
            raise InputError(Problem("E249", message, name.span, hint=hint)) from None

    typed = evaluate(options.minimize, Scope(resolve, {kind: term(kind) for kind in KINDS}))
    if shape(typed.value):
        raise InputError(Problem("E204", "an objective is one number, this is a vector", options.minimize.span))
    value = options.sign * ca.SX(typed.value)
    found.objective = ca.Function("objective", [ca.vertcat(ca.SX(0, 1), *symbols), stop], [value])
    found.unit = unit_of(typed.dimension or NO_DIMENSION)


def _term(
    network: Network, values: Values, found: Wishes, kind: str, call: Call, share: float
) -> tuple[Term, Dimension]:
    """The number that a call stands for, and its dimension."""
    wanted = {AT: 2, LARGEST: len(call.arguments) or 1, LEAST: len(call.arguments) or 1}.get(kind, 1)
    if len(call.arguments) != wanted or call.keywords:
        also = " and an instant" if kind == AT else ""
        raise InputError(Problem("E207", f"{kind}() takes one expression of signals{also}", call.span))
    exprs: Sequence[Expr] = call.arguments[: 1 if kind == AT else None]
    signs: tuple[float, ...] = (-1.0,) if kind == LEAST else (1.0,)
    absolute = [e.arguments[0] for e in exprs if isinstance(e, Call) and e.function == "abs" and len(e.arguments) == 1]
    if kind == LARGEST and len(absolute) == len(exprs):  # smooth where abs() is not
        exprs, signs = absolute, (1.0, -1.0)
    dimensions = [_scalar(network, values, expr)[0] for expr in exprs]
    if len(set(dimensions)) > 1:
        raise InputError(Problem("E203", f"{kind}() of quantities of different kinds", call.span))
    unit = dimensions[0] * SECOND if kind == INTEGRAL else dimensions[0]
    watches = tuple(map(found.watch, exprs, dimensions))
    return Term(
        {AT: FINAL, LEAST: LARGEST}.get(kind, kind),
        watches * len(signs),
        share,
        tuple(s for s in signs for _ in watches),
    ), unit


def _share(call: Call, scope: Scope, options: OptimalOptions) -> float:
    """The instant of at(x, t) as a share of the span."""
    time = float(number_of(call.arguments[1], scope, SECOND))
    if options.is_free or not 0.0 < time <= options.stop[1]:
        message = "at(x, t) takes an instant behind the begin and not behind the stop, which must be given"
        raise InputError(Problem("E423", message, call.arguments[1].span, hint="minimize = at((a.x - 1 m)^2, 0.5 s)"))
    return time / options.stop[1]


def _is_signal(network: Network, values: Values, expr: Expr) -> bool:
    """Whether an expression reads signals and nothing that is made of whole motions."""
    try:
        return _scalar(network, values, expr)[1]
    except InputError:
        return False


# ------------------------------------------------------------------------------------------------ bounds


def _bounded(network: Network, values: Values, found: Wishes, expr: Expr) -> Bounded:
    """A comparison as bounds of a watched expression."""
    assert isinstance(expr, Binary)
    left, right, op = expr.left, expr.right, expr.op
    if _constant(values, network, left) is not None and _constant(values, network, right) is None:
        left, right, op = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
    dimension, reads = _scalar(network, values, left)
    if not reads:
        message = f"'{show_expression(expr)}' contains no signal of the network"
        raise InputError(Problem("E430", message, expr.span))
    value = _constant(values, network, right)
    if value is None:
        left = Binary("-", left, right, span=expr.span)
        dimension, value = _scalar(network, values, left)[0], 0.0
    else:
        value = float(quantity_of(right, values.scope(network.top), dimension).value)
    lower = {"<": -INFINITE, "<=": -INFINITE}.get(op, value)
    upper = {">": INFINITE, ">=": INFINITE}.get(op, value)
    if isinstance(left, Call) and left.function == "abs" and op in ("<", "<="):
        left, lower = left.arguments[0], -value
        dimension, _ = _scalar(network, values, left)
    return Bounded(found.watch(left, dimension), lower, upper, show_expression(expr), expr)


def _constant(values: Values, network: Network, expr: Expr) -> Any:
    """The value of an expression of params alone; None for one of time or signals."""
    try:
        found = evaluate(expr, values.scope(network.top)).value
        return found if np.ndim(found) == 0 and np.isfinite(float(found)) else None
    except (InputError, TypeError, ValueError):
        return None
