"""In which range a run may vary a parameter or a start: `r1.R = 1 .. 10 kOhm`."""

from dataclasses import dataclass

from netsim.analyses.sensitivity.varied import refuse_unknown
from netsim.network.given import value_of, written_starts
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, evaluate
from netsim.text.syntax import Binary, Expr, Name, Number

EXAMPLE = "r1.R = 1 .. 10 kOhm"


@dataclass(frozen=True)
class Range:
    """Values of a parameter or a start from `low` to `high` (SI)."""

    name: str
    low: float
    high: float

    def present(self, values: Values) -> float:
        """The value that the netlist gives."""
        start = written_starts(values.network).get(self.name)
        found = evaluate(start.value, values.scope(start.frame)) if start else value_of(values, self.name)
        return float(found.value)


def range_of(expr: Expr, network: Network, scope: Scope) -> Range:
    """What an item of a list says; raises `InputError` for another form, an unknown name, an empty range."""
    if not (isinstance(expr, Binary) and expr.op == "=" and isinstance(expr.left, Name)):
        raise InputError(Problem("E424", "this must be a name and its values", expr.span, hint=EXAMPLE))
    name, given = show_expression(expr.left), expr.right
    refuse_unknown(network, name, expr.left.span)
    if not (isinstance(given, Binary) and given.op == ".."):
        message, hint = f"'{show_expression(given)}' is no range of values", f"{name} = least .. largest"
        raise InputError(Problem("E424", message, given.span, hint=hint))
    low, high = given.left, given.right
    if isinstance(low, Number) and not low.unit and isinstance(high, Number):
        low = Number(low.value, high.unit, span=low.span)
    found = Range(name, *(float(evaluate(end, scope).value) for end in (low, high)))
    if not found.low < found.high:
        raise InputError(Problem("E424", f"the range of '{name}' is empty", given.span))
    return found
