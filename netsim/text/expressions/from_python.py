"""What Python hands over where a netlist has text: numbers, texts, names, lists and mappings of such.

Numbers of NumPy and xarray that have no axis are numbers. What is something else is refused in words (E237).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import inf, isfinite
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from netsim.text.errors import InputError, Problem, Span, remember_source
from netsim.text.syntax import Binary, Expr, Number, Spanned, Unary, Vector

LONGEST = 60
"""Signs of a wrong value that a message shows."""
BEFORE = "let value = "
EXACT = 2**53
"""Whole numbers beyond this are floats."""


def parse_expression(text: str, file: str) -> Expr:
    """One expression outside of a netlist, such as `3 kN/m` on the command line."""
    if not isinstance(text, str):
        raise InputError(Problem("E237", f"'{file}' has texts such as '5 ms', and {type(text).__name__} is none"))
    from netsim.text.grammar.flat import plain_value

    plain = plain_value(line := f"{BEFORE}{text}", len(BEFORE) + 1, file)
    if plain is not None:
        remember_source(file, line)
        return plain
    from netsim.text.parse import parse

    try:
        (statement,) = parse(line, file).statements
    except (InputError, ValueError):
        hint = "a number with or without a unit, or an expression of the netlist's parameters"
        raise InputError(Problem("E237", f"'{_cut(text)}' is not a value", hint=hint)) from None
    return statement.value  # type: ignore[union-attr]


def value_in_words(value: Any) -> str:
    """A value as a message shows it."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a class of the user's own
        text = f"a {type(value).__name__}"
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def refused(name: str, wanted: str, value: Any, hint: str = "") -> InputError:
    """The error of a value that is not what is wanted."""
    hint = hint or ("leave it out where it is not to be given" if value is None else "")
    return InputError(Problem("E237", f"'{name}' must be {wanted}, not {value_in_words(value)}", hint=hint))


def plain_number(value: Any) -> int | float | None:
    """A number of Python, NumPy or xarray, a whole one as such, what is too large as infinity; None for all else."""
    if getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in "iuf":
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    if isinstance(value, int) and abs(value) <= EXACT:
        return value
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf  # type: ignore[operator]


def number_given(name: str, value: Any) -> float:
    """A number in SI."""
    number = plain_number(value)
    if number is None:
        raise refused(name, "a number", value)
    return float(number)


def expression_given(name: str, value: Any) -> Expr:
    """The expression of a finite number or a text."""
    if isinstance(value, Spanned):
        return value  # type: ignore[return-value]
    if isinstance(value, str):
        return parse_expression(value, name)
    number = plain_number(value)
    if number is None:
        raise refused(name, "a number or a text such as '5 ms'", value)
    if not isfinite(number):
        raise refused(name, "a finite number", value)
    return _written(float(number), name)


def _written(number: float, file: str) -> Expr:
    """What `parse_expression` makes of the text of a number, without its time: arrays have thousands of them."""
    text = repr(number)
    last = 1 + len(BEFORE) + len(text)
    span = Span(file, 1, last - len(text), 1, last)
    if not text.startswith("-"):
        return Number(number, span=span)
    return Unary("-", Number(-number, span=replace(span, column=span.column + 1)), span=span)


def expressions_given(name: str, value: Any) -> Expr:
    """The expression of a number or a text, of a list of them, or of a mapping of names to such: [name = value], and
    [name = least .. largest] where the value is a pair (least, largest)."""
    if isinstance(value, Mapping):
        items = mapping_given(name, value).items()
        given = [pair_given(n, v) if isinstance(v, tuple) else expressions_given(name, v) for n, v in items]
        return Vector(tuple(Binary("=", parse_expression(n, name), v) for (n, _), v in zip(items, given)))
    if isinstance(value, str | Spanned) or plain_number(value) is not None:
        return expression_given(name, value)
    if not _is_list(value):
        raise refused(name, "a number, a text or a list of them", value)
    return Vector(tuple(expression_given(name, each) for each in value))


def texts_given(name: str, value: Any) -> tuple[str, ...]:
    """Names or expressions: a text, or a list of them."""
    if isinstance(value, str):
        return (value,)
    found = tuple(value) if _is_list(value) else (None,)
    if any(not isinstance(each, str) for each in found):
        raise refused(name, "a text or a list of texts", value)
    return tuple(map(str, found))


def mapping_given(name: str, value: Any, example: str = "{'m1.m': '3 kg'}") -> Mapping[str, Any]:
    """A mapping of names."""
    if not isinstance(value, Mapping):
        raise refused(name, f"a mapping of names such as {example}", value)
    for key in value:
        if not isinstance(key, str):
            raise InputError(
                Problem("E237", f"the names in '{name}' are texts, and {value_in_words(key)} is none", hint=example)
            )
    return value


def pair_given(name: str, value: Any) -> Expr:
    """A range least .. largest: (least, largest)."""
    ends: Sequence[Any] = tuple(value) if _is_list(value) else ()
    if len(ends) != 2:
        raise refused(name, "a pair (least, largest)", value)
    return Binary("..", expression_given(name, ends[0]), expression_given(name, ends[1]))


def path_given(name: str, value: Any) -> Path:
    """A file."""
    if not isinstance(value, str | PathLike) or "\0" in str(value):
        raise refused(name, "the name of a file", value)
    return Path(value)


def function_given(name: str, value: Any) -> None:
    """Raises for what cannot be called."""
    if value is not None and not callable(value):
        raise refused(name, "a function", value)


def _is_list(value: Any) -> bool:
    """Whether something has items one after another (arrays without an axis have none)."""
    return (
        isinstance(value, Iterable) and not isinstance(value, bytes | Mapping) and getattr(value, "shape", None) != ()
    )
