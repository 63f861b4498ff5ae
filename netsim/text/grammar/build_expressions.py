"""Grammar rules of expressions -> syntax nodes; see netsim.text.grammar.build."""

from dataclasses import dataclass, replace
from typing import Any

from netsim.text.errors import Span
from netsim.text.grammar.words import Token
from netsim.text.syntax import (
    Binary,
    Binding,
    Bound,
    Call,
    Conditional,
    Name,
    Number,
    Part,
    Range,
    String,
    Unary,
    Vector,
)

Parts = list[Any]


@dataclass(frozen=True)
class Keyword:
    """`at = 2 s` among the arguments of a call."""

    name: str
    value: Any


_SIGNS = frozenset(("COMMA", "LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "FOR"))


def listed(parts: Parts) -> list[Any]:
    """The values of a list, without its separators and brackets."""
    return [part for part in parts if part is not None and not (isinstance(part, Token) and part.type in _SIGNS)]


class Expressions:
    """The methods of the rules of expressions and small parts, for one file at a time, whose name is in the spans."""

    def __init__(self, file: str):
        self.file = file

    def over(self, first: Any, last: Any) -> Span:
        """The span from one token or node to another."""
        start_line, start_column = (
            (first.line, first.column) if isinstance(first, Token) else (first.span.line, first.span.column)
        )
        end_line, end_column = (
            (last.line, last.end_column) if isinstance(last, Token) else (last.span.end_line, last.span.end_column)
        )
        return Span(self.file, start_line, start_column, end_line, end_column)

    def whole(self, parts: Parts) -> Span:
        there = [part for part in parts if isinstance(part, Token) or hasattr(part, "span")]
        return self.over(there[0], there[-1])

    # ------------------------------------------------------------------------------------ expressions

    def number(self, parts: Parts) -> Number:
        value, unit = parts
        return Number(float(value.text), "" if unit is None else unit.text, span=self.over(value, unit or value))

    def string(self, parts: Parts) -> String:
        return String(parts[0].text, span=self.over(parts[0], parts[0]))

    def part(self, parts: Parts) -> tuple[Part, Token, Token]:
        last = parts[0] if parts[-1] is None else parts[-1]
        return Part(parts[0].text, tuple(listed(parts[1:]))), parts[0], last

    def numbered_part(self, parts: Parts) -> tuple[Part, Token, Token]:
        return Part(parts[0].text, number=parts[2]), parts[0], parts[3]

    def word(self, parts: Parts) -> Name:
        """`ground` or `time`."""
        return Name((Part(parts[0].text),), span=self.over(parts[0], parts[0]))

    def dotted(self, parts: Parts) -> Name:
        pieces = [piece for piece in parts if not isinstance(piece, Token)]
        return Name(tuple(piece[0] for piece in pieces), span=self.over(pieces[0][1], pieces[-1][2]))

    def group(self, parts: Parts) -> Any:
        return replace(parts[1], span=self.over(parts[0], parts[2]))

    def unary(self, parts: Parts) -> Unary:
        return Unary(parts[0].text, parts[1], span=self.over(parts[0], parts[1]))

    def binary(self, parts: Parts) -> Binary:
        return Binary(parts[1].text, parts[0], parts[2], span=self.over(parts[0], parts[2]))

    def conditional(self, parts: Parts) -> Conditional:
        return Conditional(parts[1], parts[3], parts[5], span=self.over(parts[0], parts[5]))

    def vector(self, parts: Parts) -> Vector:
        *inside, unit = parts
        return Vector(
            tuple(listed(inside)), "" if unit is None else unit.text, span=self.over(parts[0], unit or inside[-1])
        )

    def scaled(self, parts: Parts) -> Binary:
        """`diag(1, 2, 3) kg.m2` is diag(1, 2, 3) times one kg.m2."""
        call, unit = parts
        return Binary("*", call, Number(1.0, unit.text, span=self.over(unit, unit)), span=self.over(call, unit))

    def keyword(self, parts: Parts) -> Keyword:
        value = parts[2]
        return Keyword(parts[0].text, self.string([value]) if isinstance(value, Token) else value)

    def call(self, parts: Parts) -> Call:
        given = listed(parts[1:])
        arguments = tuple(part for part in given if not isinstance(part, Keyword))
        keywords = tuple((part.name, part.value) for part in given if isinstance(part, Keyword))
        return Call(parts[0].text, arguments, keywords, span=self.over(parts[0], parts[-1]))

    # ------------------------------------------------------------------------------------ small parts

    def values(self, parts: Parts) -> tuple[Any, ...]:
        return tuple(listed(parts))

    size = nodes = items = ranges = bounds = terminals = formals = values

    def default(self, parts: Parts) -> Any:
        return parts[-1]

    nominal = default

    def declared(self, parts: Parts) -> str | None:
        return None if parts[-1] is None else parts[-1].text

    def doc(self, parts: Parts) -> str:
        return "" if parts[0] is None else parts[0].text

    def bound(self, parts: Parts) -> Bound:
        return Bound(parts[0].text, parts[1])

    def binding(self, parts: Parts) -> Binding:
        return Binding(parts[0].text, parts[2], span=self.over(parts[0], parts[2]))

    def range(self, parts: Parts) -> Range:
        return Range(parts[0].text, parts[2], parts[4], span=self.over(parts[0], parts[4]))
