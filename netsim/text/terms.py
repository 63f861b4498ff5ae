"""The leaves and branches of expressions: numbers, names, operations, calls; frozen dataclasses with the span each came
from."""

from dataclasses import dataclass, field

from netsim.text.errors import Span
from netsim.text.units import Dimension

NOWHERE = Span("", 0, 0, 0, 0)


@dataclass(frozen=True)
class Spanned:
    """What has a place in a text: its span, given by keyword and of no weight in comparisons."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Number(Spanned):
    """`200 N/m`: the value as written (in its unit) and the unit's text, '' for a bare number."""

    value: float
    unit: str = ""


@dataclass(frozen=True)
class String(Spanned):
    """A text in quotes."""

    text: str


@dataclass(frozen=True)
class Name(Spanned):
    """`a.x`, `leg[k].slide.q`, `m1.*`: dotted parts, each with its index expressions."""

    parts: "tuple[Part, ...]"


@dataclass(frozen=True)
class Part:
    """One part of a dotted name; `indices` are expressions, 1-based; text '*' only in `save` and `plot`; `number`
    stands in braces: u{k}."""

    text: str
    indices: "tuple[Expr, ...]" = ()
    number: "Expr | None" = None


@dataclass(frozen=True)
class Unary(Spanned):
    """op is '-', '+' or 'not'."""

    op: str
    operand: "Expr"


@dataclass(frozen=True)
class Argument(Unary):
    """What stands for the parameter `name` of the function `function` where a call of it is written out: +operand, or a
    component of it (`picks`).

    Its dimension must be `dimension`; `sizes` are those of the parameter, where None leaves a size open."""

    function: str
    name: str
    dimension: Dimension
    sizes: tuple[int | None, ...] = ()
    picks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Binary(Spanned):
    """op is one of + - * / ^ < <= > >= == != and or; in lists of a `run` line, and nowhere else, = and .. too:
    `[M.x = 0 m, M.y = ...]`, `[m1.m = 1 .. 2 kg]`."""

    op: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Call(Spanned):
    """`bell(time, at = 2 s, width = 0.4 s)`, also `der(v)`, `cross(a, b)`, `table("f.csv", time, ...)`."""

    function: str
    arguments: "tuple[Expr, ...]"
    keywords: "tuple[tuple[str, Expr], ...]" = ()


@dataclass(frozen=True, eq=False)
class CutPulse(Call):
    """A `pulse` of a SPICE circuit: what is longer than its period is cut off by the next one, and is meant so. It
    equals a call."""

    def __eq__(self, other: object) -> bool:
        mine = self.function, self.arguments, self.keywords
        return isinstance(other, Call) and mine == (other.function, other.arguments, other.keywords)

    __hash__ = Call.__hash__


@dataclass(frozen=True)
class Vector(Spanned):
    """`[0, 151, 0] mm`: components, and a unit that applies to all ('' for none); components may be vectors (rows)."""

    items: "tuple[Expr, ...]"
    unit: str = ""


@dataclass(frozen=True)
class Conditional(Spanned):
    """`if c then a else b`."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"


Expr = Number | String | Name | Unary | Binary | Call | Vector | Conditional


@dataclass(frozen=True)
class Noise(Spanned):
    """`noise i : A2/Hz = 4*k*T/R`: the spectral density of what is added to the right side of the equation that gives
    `i`; `flicker i : A2 = ...`: that density times the frequency."""

    name: str
    unit: str
    value: Expr
    flicker: bool = False
    doc: str = ""
