"""Options as they are given: by a run line, from Python, on the command line."""

from collections.abc import Iterator, Mapping
from enum import Enum
from math import isfinite
from typing import Any

from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.from_python import expression_given, expressions_given, plain_number, refused, texts_given
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, Typed, number_of, span_of
from netsim.text.syntax import Binding, Expr, Name, Spanned, String, Vector
from netsim.text.units import NO_DIMENSION, Dimension, parse_unit

SECOND, NUMBER = parse_unit("s").dimension, NO_DIMENSION
NO_LIMITS: Mapping[str, float] = {}


class NonNumericOption(Enum):
    """Options that are no numbers: a word, a list of names of the network, an expression for the analysis to read."""

    WORD, NAMES, EXPRESSION = range(3)


WORD, NAMES, EXPRESSION = NonNumericOption
Kind = Dimension | NonNumericOption
"""How an option is read; a number has a dimension and comes in SI units."""


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
    """An option from Python or the command line: a number, a text such as '5 ms', a word, names, or a list. Raises
    `InputError` (E237) for what is something else."""
    if kind is NAMES:
        return texts_given(name, value)
    if kind is WORD:
        if not isinstance(value, str):
            raise refused(name, "a word", value)
        return value
    if kind is EXPRESSION and not isinstance(value, str | Spanned) and plain_number(value) is None:
        found = expressions_given(name, value)
        return found if isinstance(value, Mapping) else list(value)
    if (number := plain_number(value)) is not None:
        if not isfinite(number):
            raise refused(name, "a finite number", value)
        return number
    if not isinstance(value, str | Spanned):
        raise refused(name, "a number or a text such as '5 ms'", value)
    expr = expression_given(name, value)

    def unknown(word: Name) -> Typed:
        raise InputError(Problem("E237", f"'{name}' must be a number, not '{value}'", word.span))

    return float(number_of(expr, Scope(unknown), kind)) if isinstance(kind, Dimension) else expr


def items_of(value: Expr | None) -> tuple[Expr, ...]:
    """The items of a list, or the one thing that stands in its place."""
    if value is None:
        return ()
    return value.items if isinstance(value, Vector) else (value,)


def whole_numbers(
    options: Mapping[str, Any],
    least: Mapping[str, int],
    spans: Mapping[str, Span | None],
    most: Mapping[str, float] = NO_LIMITS,
) -> Iterator[Problem]:
    """Options that are no whole numbers, below their least values, or above the largest there may be (E423)."""
    for name in (n for n in least if n in options):
        number = float(options[name])
        if number != int(number) or not least[name] <= number <= most.get(name, number):
            limits = f" from {least[name]} to {most[name]:g}" if name in most else f", at least {least[name]}"
            yield Problem("E423", f"'{name}' must be a whole number{limits}", spans.get(name))


def wrong_answer(name: str, options: Mapping[str, Any], spans: Mapping[str, Span | None]) -> Iterator[Problem]:
    """A word that is neither yes nor no (E424)."""
    if (word := options.get(name, "no")) not in ("yes", "no"):
        yield Problem("E424", f"{name} must be yes or no, not '{word}'", spans.get(name))


def written_option(binding: Binding, scope: Scope, kind: Kind) -> Any:
    """An option of a run line: a word, names, a number in SI units, or the expression."""
    if kind is WORD:
        return word_option(binding.value)
    if kind is NAMES:
        return names_option(binding.value)
    if not isinstance(kind, Dimension):
        return binding.value
    number = float(number_of(binding.value, scope, kind))
    if not isfinite(number):
        raise InputError(Problem("E423", f"'{binding.name}' must be a finite number", span_of(binding.value)))
    return number
