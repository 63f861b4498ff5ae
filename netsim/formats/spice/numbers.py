"""SPICE numbers: `4.7k`, `10uF`, `2meg`, `1e-9`; letters behind the scale are a unit and mean nothing."""

import re
from math import isfinite

from netsim.text.errors import Span
from netsim.text.syntax import Binary, Expr, Number, Unary

_NUMBER = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(meg|mil|[tgkmunpfaµμ])?([a-z_ωΩ°%]*|\d+)$", re.IGNORECASE
)
_POWERS = {"t": 12, "g": 9, "meg": 6, "k": 3, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18}
_PREFIXES = {"t": "T", "g": "G", "meg": "M", "k": "k", "m": "m", "u": "u", "n": "n", "p": "p", "f": "f"}
_MIL = 25.4e-6
_TAKES_PREFIX = re.compile(r"[A-Za-z]+(?:/|$)")
"""A unit whose first name has no power: 3 pm2 would be 3 (pm)^2."""


def split(text: str) -> tuple[float, str] | None:
    """(figure, scale in small letters) of a number, None where the text is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    figure, scale, rest = match[1], (match[2] or "").lower().replace("µ", "u").replace("μ", "u"), match[3]
    if rest[:1].isdigit():  # 4k7 is 4.7k
        return None if not scale or "." in figure or "e" in figure.lower() else (float(f"{figure}.{rest}"), scale)
    return float(figure), scale


def scaled(figure: float, scale: str) -> float:
    """The value of a figure with its scale, rounded once: 4.7k is 4700.0."""
    if scale == "mil" or not isfinite(figure):
        return figure * _MIL
    return (
        float(f"{figure!r}e{_POWERS[scale]}")
        if scale and "e" not in repr(figure)
        else figure * 10.0 ** _POWERS.get(scale, 0)
    )


def value_of(text: str) -> float | None:
    """The value of a number, None where the text is none."""
    parts = split(text)
    return None if parts is None else scaled(*parts)


def literal(value: float, span: Span, unit: str = "") -> Expr:
    """A number as an expression; a negative one has a sign."""
    number = Number(abs(value), unit, span=span)
    return Unary("-", number, span=span) if value < 0 else number


def written(text: str, unit: str, span: Span) -> Expr | None:
    """A number with its unit as one would write it: '4.7k' in 'Ohm' is 4.7 kOhm."""
    parts = split(text)
    if parts is None:
        return None
    figure, scale = parts
    if scale in _PREFIXES and _TAKES_PREFIX.match(unit):
        return literal(figure, span, _PREFIXES[scale] + unit)
    return literal(scaled(figure, scale), span, unit)


def in_unit(expression: Expr, unit: str) -> Expr:
    """A plain number times its unit: 2*r becomes 2*r*1 Ohm; a literal gets the unit behind it."""
    match expression:
        case _ if not unit:
            return expression
        case Number(value, ""):
            return Number(value, unit, span=expression.span)
        case Unary("-", Number(value, "")):
            return Unary("-", Number(value, unit, span=expression.span), span=expression.span)
    return Binary("*", expression, Number(1.0, unit, span=expression.span), span=expression.span)
