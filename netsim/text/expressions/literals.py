"""Numbers as they are written: without a unit, and in degC, a unit that does not begin at zero."""

from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Expr, Number, Unary, Vector
from netsim.text.units import parse_unit


def is_bare(expr: Expr) -> bool:
    """A plain number without unit, perhaps signed, or a vector of such."""
    match expr:
        case Number(unit=""):
            return True
        case Unary(op="-" | "+", operand=inner):
            return is_bare(inner)
        case Vector(unit=""):
            return all(is_bare(item) for item in expr.items)
    return False


def has_offset(expr: Expr) -> bool:
    """Whether this is a number in a unit that does not begin at zero."""
    return isinstance(expr, Number) and bool(expr.unit) and parse_unit(expr.unit).offset != 0.0


def refuse_sum_of_temperatures(expr: Expr) -> None:
    """Raises E202 for a value 20 degC + 10 degC."""
    if isinstance(expr, Binary) and expr.op == "+" and all(map(has_offset, (expr.left, expr.right))):
        message = "this is the sum of two temperatures, each counted from absolute zero"
        hint = "write a difference of temperatures in K: 20 degC + 10 K"
        raise InputError(Problem("E202", message, expr.span, hint=hint))
