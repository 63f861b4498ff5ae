"""Options as they are given: by a run line, from Python, on the command line."""

from enum import Enum
from typing import Any

from netsim.network.values import parse_expression
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, Typed, number_of
from netsim.text.syntax import Binding, Expr, Name, Number, String, Vector
from netsim.text.units import NO_DIMENSION, Dimension, parse_unit

SECOND, NUMBER = parse_unit("s").dimension, NO_DIMENSION


class Other(Enum):
    """Options that are no numbers: a word, a list of names of the network, an expression for the analysis to read."""

    WORD, NAMES, EXPRESSION = range(3)


WORD, NAMES, EXPRESSION = Other
Kind = Dimension | Other
"""How an option is read; a number has a dimension and comes in SI units."""


def listed_option(value: Any, name: str) -> Expr:
    """An option from Python: a number, or a list of numbers and of signals' names."""
    if isinstance(value, int | float):
        return Number(float(value), "")
    return Vector(
        tuple(Number(float(v), "") if isinstance(v, int | float) else parse_expression(v, name) for v in value)
    )


def word_option(expr: Expr) -> str:
    """The word an option is, `?` where it is none."""
    if isinstance(expr, Name) and len(expr.parts) == 1:
        return expr.parts[0].text
    return expr.text if isinstance(expr, String) else "?"


def names_option(expr: Expr) -> tuple[str, ...]:
    """The names an option lists, `?` where one is none."""
    items = expr.items if isinstance(expr, Vector) else (expr,)
    return tuple(show_expression(item) if isinstance(item, Name) else "?" for item in items)


def plain_option(name: str, value: Any, kind: Kind) -> Any:
    """An option from Python or the command line: a number, or a text such as '5 ms'."""
    if kind is WORD or isinstance(value, int | float):
        return value
    if kind is NAMES:
        return (value,) if isinstance(value, str) else tuple(value)
    expr = parse_expression(value, name) if isinstance(value, str) else value

    def unknown(word: Name) -> Typed:
        raise InputError(Problem("E237", f"'{name}' must be a number, not '{value}'", word.span))

    return float(number_of(expr, Scope(unknown), kind)) if isinstance(kind, Dimension) else expr


def written_option(binding: Binding, scope: Scope, kind: Kind) -> Any:
    """An option of a run line: a word, names, a number in SI units, or the expression."""
    if kind is WORD:
        return word_option(binding.value)
    if kind is NAMES:
        return names_option(binding.value)
    return float(number_of(binding.value, scope, kind)) if isinstance(kind, Dimension) else binding.value
