"""Expressions -> canonical text."""

from collections.abc import Iterable

from netsim.text.terms import Binary, Call, Conditional, Expr, Name, Number, Part, String, Unary, Vector

_LOWEST, _NOT, SUM, _SIGNED, _ATOM = 0, 3, 5, 7, 9
# operator: its own level, the least level of its left side, of its right side
_LEVELS = {
    "=": (0, 5, 0),
    "or": (1, 1, 2),
    "and": (2, 2, 3),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), (4, 5, 5)),
    **dict.fromkeys("+-", (5, 5, 6)),
    **dict.fromkeys("*/", (6, 6, 7)),
    "^": (8, 9, 7),
}
_TIGHT = frozenset("*/^")


def show_expression(expression: Expr, least: int = _LOWEST) -> str:
    """The text of an expression, in parentheses where it binds less than `least` (0 conditional ... 9 atom)."""
    text, level = _written(expression)
    return f"({text})" if level < least else text


def _written(expression: Expr) -> tuple[str, int]:
    match expression:
        case Number(value, unit):
            return _with_unit(_number(value), unit), _ATOM
        case String(text):
            return quoted(text), _ATOM
        case Name():
            return show_name(expression), _ATOM
        case Unary("not", operand):
            return f"not {show_expression(operand, _NOT)}", _NOT
        case Unary(op, operand):
            return f"{op}{show_expression(operand, _SIGNED)}", _SIGNED
        case Binary():
            return _binary(expression)
        case Call(function, arguments, keywords):
            given = [show_expression(argument) for argument in arguments] + [
                f"{name} = {show_expression(value)}" for name, value in keywords
            ]
            return f"{function}({', '.join(given)})", _ATOM
        case Vector(items, unit):
            return _with_unit(f"[{listed(items)}]", unit), _ATOM
        case Conditional(condition, then, otherwise):
            return (
                f"if {show_expression(condition)} then {show_expression(then)} else {show_expression(otherwise)}",
                _LOWEST,
            )


def _binary(expression: Binary) -> tuple[str, int]:
    if _is_scaled(expression):
        return f"{show_expression(expression.left)} {expression.right.unit}", _ATOM  # type: ignore[union-attr]
    level, least_left, least_right = _LEVELS[expression.op]
    left, right = show_expression(expression.left, least_left), show_expression(expression.right, least_right)
    if expression.op in "/^=" and _ends_with_unit(expression.left) and not left.endswith(")"):
        # the sign would go on with the unit: 10 N/m is one number, (10 N)/m a quotient; a word before `=` is no unit
        left = f"({left})"
    sign = expression.op if expression.op in _TIGHT else f" {expression.op} "
    return f"{left}{sign}{right}", level


def _is_scaled(expression: Binary) -> bool:
    """Whether it is what `diag(1, 2, 3) kg.m2` means."""
    match expression:
        case Binary("*", Call("diag"), Number(1.0, unit)):
            return bool(unit)
    return False


def _ends_with_unit(expression: Expr) -> bool:
    match expression:
        case Number(_, unit) | Vector(_, unit):
            return bool(unit)
        case Unary(_, last) | Binary(_, _, last):
            return _ends_with_unit(last)
    return False


def _number(value: float) -> str:
    return repr(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def quoted(text: str) -> str:
    """A text in quotes, what ends it escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def listed(expressions: Iterable[Expr]) -> str:
    """`a, b, c`"""
    return ", ".join(show_expression(expression) for expression in expressions)


def show_name(name: Name) -> str:
    """`leg[k].slide.q`"""
    return ".".join(_part(part) for part in name.parts)


def _part(part: Part) -> str:
    return part.text + sized(part.indices) + braced(part.number)


def braced(number: Expr | None) -> str:
    """`{k}`, the number in a name."""
    return "" if number is None else f"{{{show_expression(number)}}}"


def sized(size: tuple[Expr, ...]) -> str:
    """`[3, 3]`"""
    return f"[{listed(size)}]" if size else ""
