"""Numbers as they are written: without a unit, in degC, a unit that does not begin at zero, and in units of turning."""

import math

from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Expr, Number, Unary, Vector
from netsim.text.units import HERTZ, Dimension, parse_unit


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


def refuse_other_turns(expr: Expr, wanted: Dimension) -> None:
    """Raises E202 for `f = 3000 rpm` where a frequency is wanted, and for `w = 50 Hz` where an angular speed is:
    1 Hz is 2 pi rad/s."""
    for item in expr.items if isinstance(expr, Vector) and not expr.unit else ():
        refuse_other_turns(item, wanted)
    literal = expr.operand if isinstance(expr, Unary) else expr
    if wanted != HERTZ or not isinstance(literal, Number) or not literal.unit:
        return
    unit = parse_unit(literal.unit)
    if unit.dimension != HERTZ:
        return
    value, given = literal.value * unit.factor, f"{literal.value:g} {literal.unit}"
    if unit.dimension.is_angle and not wanted.is_angle:
        message, hint = "an angular speed, but a frequency", f"{given} is {value / (2.0 * math.pi):.6g} Hz"
    elif wanted.is_angle and "Hz" in literal.unit:
        message, hint = "a frequency, but an angular speed", f"{given} is {value * 2.0 * math.pi:.6g} rad/s"
    else:
        return
    raise InputError(Problem("E202", f"this is {message} is wanted", expr.span, hint=hint))
