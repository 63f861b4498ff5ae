"""Options as they are given: by a run line, from Python, on the command line."""

from __future__ import annotations

from typing import Any

from netsim.analyses.options import TIMES, WORDS
from netsim.errors import InputError, Problem
from netsim.language.expressions import Scope, Typed, quantity_of
from netsim.language.syntax import Expr, Name, Number, String, Vector
from netsim.units import NO_DIMENSION, parse_unit
from netsim.values import parse_expression

SECOND, NUMBER = parse_unit("s").dimension, NO_DIMENSION


def listed_option(value: Any, name: str) -> Expr:
    """An option from Python: a number, or a list of numbers and of signals' names."""
    if isinstance(value, int | float):
        return Number(float(value), "")
    return Vector(tuple(Number(float(v), "") if isinstance(v, int | float) else parse_expression(v, name) for v in value))


def word_option(expr: Expr) -> str:
    """The word an option is, `?` where it is none."""
    if isinstance(expr, Name) and len(expr.parts) == 1:
        return expr.parts[0].text
    return expr.text if isinstance(expr, String) else "?"


def plain_option(name: str, value: Any) -> Any:
    """Options from Python or the command line: numbers, or texts such as '5 ms'."""
    if name in (*WORDS, "matrix") or isinstance(value, int | float):
        return value
    expr = parse_expression(value, name) if isinstance(value, str) else value
    wanted = SECOND if name in (*TIMES, "at") else NUMBER

    def unknown(word: Name) -> Typed:
        raise InputError(Problem("E237", f"'{name}' takes a number, not '{value}'", word.span))

    return float(quantity_of(expr, Scope(unknown), wanted).value)
