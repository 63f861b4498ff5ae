"""In which range a run may vary a parameter or a start: `r1.R = 1 .. 10 kOhm`."""

from collections.abc import Callable
from dataclasses import dataclass

from netsim.network.given import refuse_unknown, value_of, written_starts
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.literals import is_bare
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, Typed, evaluate, number_of, span_of
from netsim.text.syntax import Binary, Expr, Name, Number, Spanned, Unary
from netsim.text.units import NO_DIMENSION

EXAMPLE = "r1.R = 1 .. 10 kOhm"


@dataclass(frozen=True)
class Range(Spanned):
    """Values of a parameter or a start from `low` to `high` (SI)."""

    name: str
    low: float
    high: float

    def present(self, values: Values) -> float:
        """The value that the netlist gives."""
        return float(present_value(values, self.name).value)


def present_value(values: Values, name: str) -> Typed:
    """The value of a parameter or a written start that the netlist gives, with its dimension."""
    start = written_starts(values.network).get(name)
    return evaluate(start.value, values.scope(start.frame)) if start else value_of(values, name)


def name_and_values(expr: Expr, network: Network, example: str = EXAMPLE) -> tuple[str, Expr]:
    """Name and values of an item NAME = VALUES; raises `InputError` for another form and an unknown name."""
    if not (isinstance(expr, Binary) and expr.op == "=" and isinstance(expr.left, Name)):
        raise InputError(Problem("E424", "this must be a name and its values", expr.span, hint=example))
    name = show_expression(expr.left)
    refuse_unknown(network, name, expr.left.span)
    return name, expr.right


def reader(network: Network, name: str, scope: Scope) -> Callable[[Expr], float]:
    """Reads values of a parameter or start in SI; bare numbers are in SI. Raises `InputError` (E202) for values in
    another dimension."""
    dimension = present_value(Values(network), name).dimension or NO_DIMENSION
    return lambda expr: float(number_of(expr, scope, dimension))


def ends_of(given: Binary, read: Callable[[Expr], float], scope: Scope) -> tuple[float, float]:
    """The ends of `-1 .. 10 kOhm`: a unit behind the second number is that of both."""
    last = given.right.operand if isinstance(given.right, Unary) else given.right
    unit = last.unit if isinstance(last, Number) else ""
    return read(with_unit(given.left, unit, scope)), read(given.right)


def with_unit(expr: Expr, unit: str, scope: Scope) -> Expr:
    """A bare number in this unit, as the items of `[-1, 2] kOhm`; what has a unit, or is none, stays."""
    if not unit or not is_bare(expr):
        return expr
    return Number(float(number_of(expr, scope, NO_DIMENSION)), unit, span=span_of(expr))


def range_of(expr: Expr, network: Network, scope: Scope) -> Range:
    """What an item of a list says; raises `InputError` for another form, an unknown name, an empty range."""
    name, given = name_and_values(expr, network)
    if not (isinstance(given, Binary) and given.op == ".."):
        message, hint = f"'{show_expression(given)}' is no range of values", f"{name} = least .. largest"
        raise InputError(Problem("E424", message, given.span, hint=hint))
    found = Range(name, *ends_of(given, reader(network, name, scope), scope), span=span_of(given.left))
    if not found.low < found.high:
        raise InputError(Problem("E424", f"the range of '{name}' is empty", given.span))
    return found
