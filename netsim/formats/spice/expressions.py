"""SPICE expressions -> expressions of the language, by precedence climbing.

Values are plain numbers there: `v(a)` becomes a.v/(1 V), `i(v1)` v1.i/(1 A), `time` time/(1 s). A comparison used as a
number is 1 or 0, a number used as a condition holds where it is not 0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from netsim.formats.spice.cards import Card
from netsim.formats.spice.functions import ALIKE, FURTHER, Blocks, power
from netsim.formats.spice.numbers import value_of
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.syntax import Binary, Call, Conditional, Expr, Name, Number, Part, Unary

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[a-zµ]*)|(?P<word>[a-z_][\w.]*)"
    r"|(?P<sign>\*\*|\|\||&&|[=!<>]=|<>|[-+*/^<>!~?:(),&|]))",
    re.IGNORECASE,
)
_PROBE = re.compile(r"\s*\(\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*)?\)")
_LEVELS = {
    "||": 2,
    "|": 2,
    "&&": 3,
    "&": 3,
    "==": 4,
    "!=": 4,
    "<>": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "^": 8,
    "**": 8,
}
_INNER = str.maketrans("{}", "()")
"""Braces inside an expression are brackets."""
_SAME = {"||": "or", "|": "or", "&&": "and", "&": "and", "<>": "!=", "**": "^"}
_TRUTHS = frozenset(["or", "and", "==", "!=", "<", "<=", ">", ">="])
_CONSTANTS = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "echarge": 1.602176634e-19,
    "boltz": 1.380649e-23,
    "kelvin": -273.15,
    "true": 1.0,
    "false": 0.0,
    "yes": 1.0,
    "no": 0.0,
}


class Names(Blocks, Protocol):
    """What the words of an expression mean where it stands."""

    @property
    def functions(self) -> Mapping[str, tuple[tuple[str, ...], Card, str, int]]:
        """Functions of `.func` lines: parameters, card, body and the offset of that in the card."""

    def parameter(self, name: str, span: Span) -> Expr:
        """The value behind a word."""

    def potential(self, node: str, span: Span) -> Expr:
        """v(node)"""

    def current(self, element: str, span: Span) -> Expr:
        """i(element)"""


@dataclass(frozen=True)
class Piece:
    """A part of a card's text with its places in that."""

    kind: str
    text: str
    start: int
    end: int


def expression(card: Card, text: str, start: int, names: Names, arguments: Mapping[str, Expr] | None = None) -> Expr:
    """The expression that stands at `start` of a card; `arguments` are the values of a function's parameters. Raises
    `InputError`."""
    reader = _Reader(card, text.translate(_INNER), start, names, arguments or {})
    value = _number(reader.binary(0))
    if reader.at is not None:
        raise reader.wrong(f"'{reader.at.text}' does not belong here")
    return value


def _truth(value: Expr) -> Expr:
    return value if _is_truth(value) else Binary("!=", value, Number(0.0), span=value.span)


def _number(value: Expr) -> Expr:
    return Conditional(value, Number(1.0), Number(0.0), span=value.span) if _is_truth(value) else value


def _is_truth(value: Expr) -> bool:
    return (isinstance(value, Binary) and value.op in _TRUTHS) or (isinstance(value, Unary) and value.op == "not")


class _Reader:
    """One pass over the text of an expression; `at` is the piece it stands before, None at the end."""

    def __init__(self, card: Card, text: str, start: int, names: Names, arguments: Mapping[str, Expr]):
        self.card, self.text, self.start, self.names, self.arguments = card, text, start, names, arguments
        self.place = 0
        self.at: Piece | None = None
        self.go_on()

    def go_on(self) -> Piece:
        """The piece read before; the next one is at hand then."""
        before = self.at
        match = _TOKEN.match(self.text, self.place)
        if match is None and self.text[self.place :].strip():
            rest = self.text[self.place :].strip()
            place = self.text.index(rest, self.place)
            raise InputError(
                Problem(
                    "E132",
                    f"'{rest[0]}' is not allowed in an expression",
                    self.card.span(self.start + place, self.start + place + 1),
                )
            )
        kind = match.lastgroup if match else ""
        self.at = Piece(kind or "", match[kind].lower(), match.start(kind), match.end()) if match and kind else None
        self.place = match.end() if match else len(self.text)
        return before or Piece("", "", 0, 0)

    def span(self, piece: Piece) -> Span:
        return self.card.span(self.start + piece.start, self.start + piece.end)

    def wrong(self, message: str, hint: str = "") -> InputError:
        end = Piece("", "", max(len(self.text) - 1, 0), len(self.text))
        return InputError(Problem("E132", message, self.span(self.at or end), hint=hint))

    def take(self, text: str) -> Piece:
        if self.at is None or self.at.text != text:
            raise self.wrong(f"'{text}' is expected here")
        return self.go_on()

    def binary(self, least: int) -> Expr:
        left = self.signed()
        while self.at is not None:
            sign = self.at.text
            if sign == "?" and least <= 1:
                self.go_on()
                then = _number(self.binary(0))
                self.take(":")
                left = Conditional(_truth(left), then, _number(self.binary(1)), span=left.span)
                continue
            level = _LEVELS.get(sign, 0)
            if not level or level < max(least, 2):
                break
            self.go_on()
            right = self.binary(level if level == 8 else level + 1)
            op = _SAME.get(sign, sign)
            sides = (_truth(left), _truth(right)) if op in ("and", "or") else (_number(left), _number(right))
            left = power(*sides) if op == "^" else Binary(op, *sides, span=left.span)
        return left

    def signed(self) -> Expr:
        if self.at is not None and self.at.text in ("-", "+", "!", "~"):
            sign = self.go_on()
            operand = self.binary(7)
            if sign.text in "!~":
                return Unary("not", _truth(operand), span=self.span(sign))
            return Unary("-", _number(operand), span=self.span(sign)) if sign.text == "-" else operand
        return self.atom()

    def atom(self) -> Expr:
        if self.at is None:
            raise self.wrong("the expression ends too early")
        if self.at.text == "(":
            self.go_on()
            inner = self.binary(0)
            self.take(")")
            return inner
        if self.at.kind == "number":
            piece = self.go_on()
            value = value_of(piece.text)
            if value is None:
                raise InputError(Problem("E132", f"'{piece.text}' is no number", self.span(piece)))
            return Number(value, span=self.span(piece))
        if self.at.kind != "word":
            raise self.wrong(f"'{self.at.text}' does not belong here")
        probe = _PROBE.match(self.text, self.at.end)
        if self.at.text in ("v", "i") and probe:
            return self.probe(probe)
        piece = self.go_on()
        if self.at is not None and self.at.text == "(":
            return self.call(piece)
        return self.word(piece)

    def probe(self, match: re.Match[str]) -> Expr:
        """`v(a)`, `v(a, b)`, `i(v1)`."""
        assert self.at is not None
        what, span = self.at.text, self.card.span(self.start + self.at.start, self.start + match.end())
        self.place = match.end()
        self.go_on()
        if what == "i":
            return _over(self.names.current(match[1].lower(), span), "A", span)
        first = self.names.potential(match[1].lower(), span)
        if match[2]:
            first = difference(first, self.names.potential(match[2].lower(), span))
        return first if first == Number(0.0) else _over(first, "V", span)

    def word(self, piece: Piece) -> Expr:
        span = self.span(piece)
        if piece.text in self.arguments:
            return self.arguments[piece.text]
        if piece.text == "time":
            return _over(Name((Part("time"),), span=span), "s", span)
        try:
            return self.names.parameter(piece.text, span)
        except InputError:
            if piece.text in _CONSTANTS:
                return Number(_CONSTANTS[piece.text], span=span)
            raise

    def call(self, piece: Piece) -> Expr:
        span = self.span(piece)
        self.take("(")
        given: list[Expr] = []
        while self.at is None or self.at.text != ")":
            given.append(self.binary(0))
            if self.at is None or self.at.text != ")":
                self.take(",")
        self.take(")")
        if piece.text in self.names.functions:
            return self.own(piece.text, given, span)
        if piece.text in ALIKE:
            return Call(ALIKE[piece.text], tuple(map(_number, given)), span=span)
        if piece.text not in FURTHER:
            known = [*ALIKE, *FURTHER, *self.names.functions, "v", "i"]
            raise InputError(
                Problem("E132", f"there is no function '{piece.text}'", span, hint=nearest(piece.text, known))
            )
        function = FURTHER[piece.text]
        if not function.least <= len(given) <= (function.most or len(given)):
            wanted = f"{function.least}" if function.least == function.most else f"{function.least} or more"
            raise InputError(Problem("E132", f"{piece.text}() takes {wanted} argument{'s' * (wanted != '1')}", span))
        if function.random:
            self.names.drawn(piece.text, span)
        arguments = [_truth(given[0]), *map(_number, given[1:])] if function.condition else list(map(_number, given))
        return function.make(self.names, *arguments) if function.blocks else function.make(*arguments)

    def own(self, name: str, given: list[Expr], span: Span) -> Expr:
        """A function of a `.func` line: its body with these arguments."""
        parameters, card, body, start = self.names.functions[name]
        if len(parameters) != len(given):
            raise InputError(Problem("E132", f"{name}() takes {len(parameters)} arguments", span))
        return expression(card, body, start, self.names, dict(zip(parameters, map(_number, given))))


def _over(value: Expr, unit: str, span: Span) -> Expr:
    return Binary("/", value, Number(1.0, unit, span=span), span=span)


def difference(first: Expr, second: Expr) -> Expr:
    """first - second, shorter where one is 0."""
    if second == Number(0.0):
        return first
    if first == Number(0.0):
        return Unary("-", second, span=second.span)
    return Binary("-", first, second, span=first.span)
