"""The value and the dimension of an expression, whatever its scalars are: floats, symbols or series of samples.

One evaluator serves parameters (floats), component equations (CasADi symbols) and plotted expressions (series). A
vector is a tuple of scalars, a matrix a tuple of rows. Every operation checks dimensions and shapes and raises
`InputError` under the offending characters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.functions import FUNCTIONS, Function
from netsim.text.expressions.literals import has_offset, is_bare, refuse_other_turns, refuse_sum_of_temperatures
from netsim.text.expressions.operations import apply
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import describe, elementwise, is_value, shape
from netsim.text.syntax import Argument, Binary, Call, Conditional, Expr, Name, Number, String, Unary, Vector
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension, parse_unit


@dataclass(frozen=True, slots=True)
class Typed:
    """A value in SI units with its dimension; dimension None (a literal zero) fits every other."""

    value: Any
    dimension: Dimension | None = NO_DIMENSION


@dataclass(frozen=True)
class Scope:
    """How names, special calls (`der`, `table`) and literals get their values."""

    resolve: Callable[[Name], Typed]
    special: "Mapping[str, Callable[[Call, Scope], Typed]]" = field(default_factory=dict)
    literal: Callable[[Number], Typed] | None = None
    written: Mapping[str, Expr] = field(default_factory=dict)
    """What stands in the text for names that have been put in its place."""


def evaluate(expr: Expr, scope: Scope) -> Typed:
    """The value of an expression; raises `InputError` on a wrong dimension, shape, function or name."""
    match expr:
        case Number():
            return scope.literal(expr) if scope.literal else number(expr)
        case Name():
            return scope.resolve(expr)
        case Unary():
            return _unary(expr, scope)
        case Binary():
            return _binary(expr, scope)
        case Call():
            return _call(expr, scope)
        case Vector():
            return _vector(expr, scope)
        case Conditional():
            return _conditional(expr, scope)
        case String():
            raise _wrong("E201", "a text cannot stand in a calculation", expr.span)
    raise TypeError(expr)


def number(literal: Number) -> Typed:
    """`20 mm` -> 0.02 with the dimension of length."""
    if not literal.unit:
        nothing = type(literal.value) is not np.ndarray and literal.value == 0  # an array has the numbers of lanes
        return Typed(literal.value, None if nothing else NO_DIMENSION)
    unit = parse_unit(literal.unit)
    return Typed(literal.value * unit.factor + unit.offset, unit.dimension)


def quantity_of(expr: Expr, scope: Scope, dimension: Dimension) -> Typed:
    """A whole bound value: as `evaluate`, but a bare number (or vector of them) is taken as SI of `dimension`."""
    result = evaluate(expr, scope)
    if result.dimension == dimension or result.dimension is None or is_bare(expr):
        refuse_sum_of_temperatures(expr)
        refuse_other_turns(expr, dimension)
        return Typed(result.value, dimension)
    hint = "write the unit behind the number" if result.dimension == NO_DIMENSION else _named_units(expr, scope)
    message = f"this is {_in_words(result.dimension)}, but {_in_words(dimension).removeprefix('in ')} is wanted"
    raise _wrong("E202", message, span_of(expr), hint=hint)


def _named_units(expr: Expr, scope: Scope) -> str:
    """In what the names of an expression are."""
    found: dict[str, Dimension] = {}

    def noted(name: Name) -> Typed:
        typed = scope.resolve(name)
        text = scope.written.get(name.parts[0].text, name)
        if text != expr and isinstance(text, Name) and len(text.parts) == 1 and typed.dimension:
            found[text.parts[0].text] = typed.dimension
        return typed

    evaluate(expr, replace(scope, resolve=noted))
    return ", ".join(f"'{name}' is {_in_words(unit)}" for name, unit in list(found.items())[:4])


def _in_words(dimension: Dimension) -> str:
    return "a number without unit" if dimension.is_none else f"in {format_dimension(dimension)}"


def number_of(expr: Expr, scope: Scope, dimension: Dimension) -> Any:
    """As `quantity_of`, for a single scalar: a number, or a symbol where the scope gives symbols."""
    found = quantity_of(expr, scope, dimension).value
    if isinstance(found, tuple):
        raise _wrong("E204", f"a number is wanted here, this is {describe(found)}", span_of(expr))
    return found


def span_of(expr: Any) -> Span:
    """Where an expression stands."""
    return expr.span


def same_dimension(left: Typed, right: Typed, span: Span, what: str) -> Dimension | None:
    """The common dimension of two values, or the complaint that they have none."""
    if left.dimension is None:
        return right.dimension
    if right.dimension is None or right.dimension == left.dimension:
        return left.dimension
    raise _wrong("E203", f"{what} {format_dimension(left.dimension)} and {format_dimension(right.dimension)}", span)


# ------------------------------------------------------------------------------------------------ the cases


def _unary(expr: Unary, scope: Scope) -> Typed:
    if expr.op == "-" and isinstance(expr.operand, Number) and has_offset(expr.operand):
        return number(replace(expr.operand, value=-expr.operand.value))  # -20 degC is 253.15 K
    operand = evaluate(expr.operand, scope)
    if isinstance(expr, Argument):
        return _argument(expr, operand)
    if expr.op == "not":
        return Typed(elementwise(lambda a: apply("not", a), operand.value))
    return Typed(elementwise(lambda a: -a, operand.value), operand.dimension) if expr.op == "-" else operand


def _argument(expr: Argument, given: Typed) -> Typed:
    """The argument of a function that is written out, where its dimension and sizes are those of the parameter."""
    if given.dimension not in (None, expr.dimension):
        asked = _in_words(expr.dimension).removeprefix("in ")
        raise _wrong(
            "E203",
            f"{expr.function}(): '{expr.name}' is {_in_words(given.dimension)}, but {asked} is wanted",
            expr.span,
        )
    found = shape(given.value)
    if len(found) != len(expr.sizes) or any(size not in (None, has) for size, has in zip(expr.sizes, found)):
        raise _wrong("E204", f"{expr.function}() does not go with {describe(given.value)} as '{expr.name}'", expr.span)
    value = given.value
    for index in expr.picks:
        if not isinstance(value, tuple) or not 1 <= index <= len(value):
            raise _wrong("E204", f"{expr.function}(): '{expr.name}' has no component {index}", expr.span)
        value = value[index - 1]
    return Typed(value, given.dimension if given.dimension is None else expr.dimension)


def _binary(expr: Binary, scope: Scope) -> Typed:
    if expr.op == "^":
        return _power(expr, scope)
    left, right = evaluate(expr.left, scope), evaluate(expr.right, scope)
    try:
        match expr.op:
            case "+" | "-":
                dimension = same_dimension(left, right, expr.span, "sum of" if expr.op == "+" else "difference of")
                if shape(left.value) != shape(right.value):
                    raise ValueError
                add = expr.op == "+"
                return Typed(elementwise(lambda a, b: a + b if add else a - b, left.value, right.value), dimension)
            case "*":
                return Typed(_product(left.value, right.value), _combine(left.dimension, right.dimension, 1))
            case "/":
                if isinstance(right.value, tuple):
                    raise ValueError
                return Typed(
                    elementwise(lambda a: a / right.value, left.value), _combine(left.dimension, right.dimension, -1)
                )
            case "and" | "or":
                return Typed(apply(expr.op, left.value, right.value))
            case _:
                same_dimension(left, right, expr.span, "comparison of")
                return Typed(apply(expr.op, left.value, right.value))
    except ValueError:
        shapes = " and ".join(describe(v.value) for v in (left, right))
        hint = "products of vectors are dot(a, b) and cross(a, b)" if expr.op == "*" else ""
        raise _wrong("E204", f"'{expr.op}' does not go with {shapes}", expr.span, hint=hint) from None
    except ZeroDivisionError:
        hint = f"the divisor {show_expression(expr.right)} is zero"
        raise _wrong("E205", "division by zero", expr.span, hint=hint) from None


def _combine(left: Dimension | None, right: Dimension | None, sign: int) -> Dimension | None:
    if left is None:
        return None
    right = NO_DIMENSION if right is None else right
    return left * right if sign > 0 else left / right


def _product(left: Any, right: Any) -> Any:
    rows, columns = shape(left), shape(right)
    if not rows or not columns:
        return elementwise(lambda a, b: a * b, left, right)
    if rows == (0,) or columns == (0,):  # of a vector without components
        return ()
    if len(rows) == 2 and len(columns) <= 2 and rows[1] == columns[0]:
        if len(columns) == 1:
            return tuple(_sum(a * b for a, b in zip(row, right)) for row in left)
        return tuple(
            tuple(_sum(a * row_b[j] for a, row_b in zip(row, right)) for j in range(columns[1])) for row in left
        )
    raise ValueError


def _sum(terms: Any) -> Any:
    total = 0.0
    for term in terms:
        total = total + term
    return total


def _power(expr: Binary, scope: Scope) -> Typed:
    base = evaluate(expr.left, scope)
    exponent = _constant(expr.right)
    power = evaluate(expr.right, scope) if exponent is None else Typed(exponent)
    if wrong := [each.value for each in (base, power) if isinstance(each.value, tuple)]:
        raise _wrong("E204", f"'^' does not go with {describe(wrong[0])}", expr.span)
    if exponent is not None:
        value = apply("^", base.value, exponent)
        return Typed(value, None if base.dimension is None else base.dimension**exponent)
    if base.dimension not in (None, NO_DIMENSION) or power.dimension not in (None, NO_DIMENSION):
        raise _wrong("E203", "a quantity with a unit can only be raised to a constant number", expr.span)
    return Typed(apply("^", base.value, power.value))


def _constant(expr: Expr) -> float | None:
    match expr:
        case Number(unit=""):
            return expr.value
        case Unary(op="-", operand=Number(unit="") as inner):
            return -inner.value
        case Binary(op="/", left=Number(unit="") as a, right=Number(unit="") as b) if b.value:
            return a.value / b.value
    return None


def _vector(expr: Vector, scope: Scope) -> Typed:
    items = [evaluate(item, scope) for item in expr.items]
    dimension: Dimension | None = None
    for item, source in zip(items, expr.items):
        dimension = same_dimension(Typed(0, dimension), item, span_of(source), "one vector with")
    if len({shape(item.value) for item in items}) > 1:
        raise _wrong("E204", "the rows of this matrix differ in length", expr.span)
    value = tuple(item.value for item in items)
    if not expr.unit:
        return Typed(value, dimension)
    unit = parse_unit(expr.unit)
    return Typed(
        elementwise(lambda a: a * unit.factor + unit.offset, value), unit.dimension * (dimension or NO_DIMENSION)
    )


def _conditional(expr: Conditional, scope: Scope) -> Typed:
    condition, then, otherwise = (evaluate(e, scope) for e in (expr.condition, expr.then, expr.otherwise))
    dimension = same_dimension(then, otherwise, expr.span, "'then' and 'else' are")
    if shape(then.value) != shape(otherwise.value):
        raise _wrong("E204", "'then' and 'else' have different shapes", expr.span)
    if shape(condition.value):
        raise _wrong(
            "E204", f"a condition is true or false, this is {describe(condition.value)}", span_of(expr.condition)
        )
    return Typed(
        elementwise(lambda a, b: apply("select", condition.value, a, b), then.value, otherwise.value), dimension
    )


_IN_COMPONENTS = {
    "der": "der() stands in the text of components; of a signal, the block rate_of gives it",
    "delayed": "delayed() stands in the text of components; of a signal, the block delay gives it",
    "scale": "scale() stands in the text of components; of a signal, a measure gives its largest value",
}


def _call(expr: Call, scope: Scope) -> Typed:
    if expr.function in scope.special:
        return scope.special[expr.function](expr, scope)
    function = FUNCTIONS.get(expr.function)
    if function is None:
        inside = _IN_COMPONENTS.get(expr.function)
        raise _wrong(
            "E206",
            f"no function '{expr.function}'",
            expr.span,
            hint=inside or nearest(expr.function, [*FUNCTIONS, *scope.special]),
        )
    arguments = _arguments(expr, function, scope)
    values = {name: argument.value for name, argument in arguments.items()}
    problem, dimension = function.dimension({name: argument.dimension for name, argument in arguments.items()})
    if problem:
        raise _wrong("E203", f"{expr.function}(): {problem}", expr.span)
    try:
        found = function.compute(**values)
        if not is_value(found, tuple(values.values())):
            raise ValueError
        return Typed(found, dimension)
    except ArithmeticError:
        raise _wrong(
            "E205", f"{expr.function}() has no value here: it divides by zero or overflows", expr.span
        ) from None
    except (ValueError, TypeError, IndexError) as wrong:
        shapes, said = (
            ", ".join(describe(v) for v in values.values()),
            str(wrong) if isinstance(wrong, ValueError) else "",
        )
        raise _wrong("E204", f"{expr.function}() does not go with {shapes}", expr.span, hint=said) from None


def _arguments(expr: Call, function: Function, scope: Scope) -> dict[str, Typed]:
    names = function.parameters
    if len(expr.arguments) > len(names) and not function.variadic:
        raise _wrong("E207", f"{expr.function}() takes {len(names)} arguments: {', '.join(names)}", expr.span)
    if function.variadic:
        return {f"a{i}": evaluate(argument, scope) for i, argument in enumerate(expr.arguments)}
    given = {name: evaluate(argument, scope) for name, argument in zip(names, expr.arguments)}
    for name, argument in expr.keywords:
        if name not in names:
            raise _wrong(
                "E207",
                f"{expr.function}() has no argument '{name}'",
                span_of(argument),
                hint=nearest(name, names) or f"it takes {', '.join(names)}",
            )
        if name in given:
            raise _wrong("E207", f"argument '{name}' of {expr.function}() is given twice", span_of(argument))
        given[name] = evaluate(argument, scope)
    missing = [name for name in names if name not in given and name not in function.defaults]
    if missing:
        raise _wrong(
            "E207",
            f"{expr.function}() lacks {', '.join(missing)}",
            expr.span,
            hint=f"{expr.function}({', '.join(names)})",
        )
    return {name: given.get(name) or Typed(*function.defaults[name]) for name in names}


def _wrong(code: str, message: str, span: Span, mark: str = "", hint: str = "") -> InputError:
    return InputError(Problem(code, message, span, mark, hint))
