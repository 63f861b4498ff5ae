"""Options as they are given: by a run line, from Python, on the command line."""

from __future__ import annotations

from typing import Any

from netsim.analyses.recursion_options import NUMBERS
from netsim.network.values import parse_expression
from netsim.simulate.options import TIMES, WORDS
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.typed import Scope, Typed, quantity_of
from netsim.text.show_terms import show_expression
from netsim.text.syntax import Binding, Expr, Name, Number, String, Vector
from netsim.text.units import NO_DIMENSION, parse_unit

SECOND = parse_unit("s").dimension
DIMENSIONS = {**dict.fromkeys((*TIMES, "at"), SECOND), **dict.fromkeys(("modes", "atol", *NUMBERS), NO_DIMENSION)}
"""What options that are numbers are measured in."""


LISTS = ("superelements",)
"""Options that are names of the network."""


def is_word(name: str) -> bool:
    """Whether an option is one of some words."""
    return name in (*WORDS, "matrix", "equations")


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


def plain_option(name: str, value: Any) -> Any:
    """Options from Python or the command line: numbers, or texts such as '5 ms'."""
    if is_word(name) or isinstance(value, int | float):
        return value
    if name in LISTS:
        return (value,) if isinstance(value, str) else tuple(value)
    expr = parse_expression(value, name) if isinstance(value, str) else value

    def unknown(word: Name) -> Typed:
        raise InputError(Problem("E237", f"'{name}' must be a number, not '{value}'", word.span))

    return float(quantity_of(expr, Scope(unknown), DIMENSIONS.get(name, NO_DIMENSION)).value)


def written_option(binding: Binding, scope: Scope) -> Any:
    """An option of a run line: a word, a number in SI units, or the expression where it is neither."""
    if is_word(binding.name):
        return word_option(binding.value)
    if binding.name in LISTS:
        return names_option(binding.value)
    if binding.name not in DIMENSIONS:
        return binding.value
    return float(quantity_of(binding.value, scope, DIMENSIONS[binding.name]).value)
