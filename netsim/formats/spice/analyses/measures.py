"""`.measure tran|ac|dc|noise` as `measure` lines of the language.

.meas tran rise TRIG v(a) VAL=0.1 RISE=1 TARG v(a) VAL=0.9 RISE=1  ->  measure rise = when(a.v > 0.9 V) - when(a.v > 0.1
V) .meas tran i2 FIND i(v1) WHEN v(a)=v(b) CROSS=2                    ->  measure i2 = at(v1.i, when(a.v == b.v, n = 2))
.meas tran peak MAX v(a) FROM=1m TO=2m                             ->  measure peak = max(a.v, from = 1 ms, to = 2 ms)
.meas ac f3 WHEN vdb(a)=-3 FALL=1                                  ->  measure f3 = when(db(a.v) < -3)
.meas dc vt FIND v(a) WHEN i(v1)=1m                                ->  measure vt = at(a.v, when(v1.i == 1 mA))
.meas noise n FIND onoise AT=1k                                    ->  measure n = at(density(out.v), 1 kHz)
.meas noise total INTEG v(onoise) TO=20k                           ->  measure total = effective(out.v, to = 20 kHz)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from netsim.formats.spice.analyses.small_signals import DENSITY, NOISE, TOTAL, noises_of, quantity
from netsim.formats.spice.blocks import Function
from netsim.formats.spice.cards import Card
from netsim.formats.spice.circuit import word
from netsim.formats.spice.expressions import Piece, expression
from netsim.formats.spice.numbers import value_of, written
from netsim.formats.spice.scopes import Scope, with_spans
from netsim.text.errors import InputError, Problem, Span
from netsim.text.spelling import new_name
from netsim.text.syntax import Binary, Call, Expr, Measure, Name, Number, Part, Unary

_ROOT, EFFECTIVE = "/Hz^0.5", "effective"
_PIECE = re.compile(
    r"(?P<expression>\{[^{}]*\}|'[^']*'|\"[^\"]*\")|(?P<probe>\b[vi](?:db|p|m|r|i)?\([^()]*\))|(?P<equal>=)"
    r"|(?P<word>[^\s=(),{}'\"]+)",
    re.IGNORECASE,
)
_OVER = {"avg": "mean", "mean": "mean", "max": "max", "min": "min", "pp": "pp", "rms": "rms", "integ": "integral",
    "integral": "integral",
         "max_at": "argmax", "min_at": "argmin"}  # fmt: skip
_RESULTS = {"integral": "{}.{}", "argmax": "{1}", "argmin": "{1}"}
AXES = {"tran": ("s", (".tran",)), "ac": ("Hz", (".ac",)), "dc": ("", (".dc",)), "noise": ("Hz", (".noise",))}
"""The unit of the axis of an analysis that can be measured, and the lines that ask for it."""
RESPONSES = {"db": ("db", ""), "p": ("phase", "rad"), "m": ("gain", None), "r": ("real", None), "i": ("imag", None)}
"""Of `vdb(a)` and so on: the function, and the unit of its value (None: that of the signal)."""
_WAYS = {"rise": ">", "fall": "<", "cross": "=="}
_OPTIONS = ("val", "td", "at", "from", "to", *_WAYS)
_USAGE = (
    ".meas tran NAME TRIG v(a) VAL=0.1 RISE=1 TARG v(a) VAL=0.9 RISE=1, or FIND, WHEN, DERIV, AVG, MAX, MIN, PP, "
    "RMS, INTEG, PARAM"
)


@dataclass
class Figures:
    """The measures of a circuit so far: SPICE's name -> ours and its unit, for `PARAM='...'` that reads them."""

    scope: Scope
    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    swept: str = ""
    """The unit of what `.dc` sweeps."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """Those of `.func` lines."""
        return self.scope.functions

    def parameter(self, name: str, span: Span) -> Expr:
        """A figure as a plain number, or a parameter."""
        if name not in self.known:
            match = NOISE.fullmatch(name)
            of = self.noise.get(match[1]) if match and match[2] == TOTAL else None
            if of is None:
                return self.scope.parameter(name, span)
            return _plain(Call(EFFECTIVE, (of[0],), span=span), of[1])
        ours, unit = self.known[name]
        return _plain(Name((Part(ours),), span=span), unit)

    def potential(self, node: str, span: Span) -> Expr:
        """v(node)"""
        return self.scope.potential(node, span)

    def current(self, element: str, span: Span) -> Expr:
        """i(element)"""
        return self.scope.current(element, span)

    def block_output(self, type_: str, reads: Expr, bindings: Mapping[str, Expr], starts: Mapping[str, Expr]) -> Expr:
        """A function with memory is none of a measure. Raises `InputError`."""
        raise InputError(Problem("E132", "a function with memory does not stand in a '.measure'", reads.span))

    def drawn(self, name: str, span: Span) -> None:
        """A random function is its nominal value."""
        self.scope.drawn(name, span)

    @cached_property
    def noise(self) -> Mapping[str, tuple[Expr, str]]:
        """The output and the input of the `.noise` line, with their units. Raises `InputError`."""
        return noises_of(self.scope)

    def measure(self, card: Card) -> Measure | None:
        """The line as a statement, None for one of an analysis that is not measured or not asked for. Raises
        `InputError`."""
        pieces = [Piece(m.lastgroup or "", m[0], m.start(), m.end()) for m in _PIECE.finditer(card.text)]
        words = [p.text.lower() for p in pieces]
        if len(pieces) > 1 and words[1] in ("op", "sp"):
            return None
        if len(pieces) < 4 or words[1] not in AXES:
            raise _wrong(card, pieces[min(1, len(pieces) - 1)], "this is not a '.measure' line")
        asked = {other.word for other in self.scope.block.control}
        if not asked & set(AXES[words[1]][1]) or (words[1] == "dc" and ".tran" in asked):
            return None
        axis = self.swept if words[1] == "dc" else AXES[words[1]][0]
        noise = self.noise if words[1] == "noise" else {}
        value, unit = _Line(card, pieces[3:], self, axis, words[1] == "ac", noise).value()
        name = new_name(word(words[2]), "_", self.scope.taken)
        self.known[words[2]] = (name, unit)
        made: Measure = with_spans(Measure(name, value), card.span())
        return made


def _plain(value: Expr, unit: str) -> Expr:
    return Binary("/", value, Number(1.0, unit), span=value.span) if unit else value


def _wrong(card: Card, piece: Piece, message: str) -> InputError:
    return InputError(Problem("E131", message, card.span(piece.start, piece.end), hint=_USAGE))


class _Line:
    """One pass over the pieces behind the name of a figure."""

    def __init__(
        self, card: Card, pieces: list[Piece], figures: Figures, axis: str, responses: bool,
        noise: Mapping[str, tuple[Expr, str]],
    ):  # fmt: skip
        self.card, self.pieces, self.figures, self.at = card, pieces, figures, 0
        self.axis, self.responses, self.noise = axis, responses, noise

    def word(self) -> str:
        """The word at hand, '' where there is none."""
        return self.pieces[self.at].text.lower() if self.at < len(self.pieces) else ""

    def go_on(self) -> Piece:
        if self.at >= len(self.pieces):
            raise _wrong(self.card, self.pieces[-1], "this '.measure' ends too early")
        self.at += 1
        return self.pieces[self.at - 1]

    def value(self) -> tuple[Expr, str]:
        """The figure and its unit."""
        first = self.go_on()
        what = first.text.lower()
        if what == "param":
            return self.equal()[0], ""
        if what == "trig":
            before = self.instant("targ")
            if self.go_on().text.lower() != "targ":
                raise _wrong(self.card, self.pieces[self.at - 1], "TARG is expected here")
            return Binary("-", self.instant(""), before, span=self.card.span()), self.axis
        if what == "when":
            return self.crossing(), self.axis
        if what in ("find", "deriv", "derivative"):
            signal, unit = self.signal()
            moment = self.moment()
            return (
                (self.call("at", signal, moment), unit)
                if what == "find"
                else (self.call("slope", signal, moment), f"{unit or '1'}/{self.axis}" if self.axis else unit)
            )
        if what not in _OVER:
            raise _wrong(self.card, first, f"'{first.text}' is not a measurement")
        signal, unit = self.signal()
        function = _OVER[what]
        span = {w: v for w, v in self.options().items() if w in ("from", "to")}
        if isinstance(signal, Call) and signal.function == DENSITY and function == "integral":
            return self.call(EFFECTIVE, *signal.arguments, **span), unit.removesuffix(_ROOT)
        result = (
            _RESULTS.get(function, "{}").format(unit, self.axis).strip(".")
            if unit or function in ("argmax", "argmin")
            else {"integral": self.axis}.get(function, "")
        )
        return self.call(function, signal, **span), result

    def moment(self) -> Expr:
        """`AT=1m`, or `WHEN v(a)=1`."""
        if self.word() == "when":
            self.go_on()
            return self.crossing()
        given = self.options()
        if "at" not in given:
            raise _wrong(self.card, self.pieces[-1], "AT=instant or WHEN signal=level is expected here")
        return given["at"]

    def instant(self, until: str) -> Expr:
        """Of TRIG and TARG: a signal, its level and which passage, or `AT=1m`."""
        if self.word() == "at":
            return self.options()["at"]
        signal, unit = self.signal()
        start = self.at
        given = self.options()
        level = self.level(start, unit)
        return self.passage(signal, level if level is not None else Number(0.0), given)

    def crossing(self) -> Expr:
        """`v(a)=1 RISE=2`, `v(a)=v(b)`."""
        signal, unit = self.signal()
        level, other = self.equal(unit)
        if other != unit:
            signal, level = _plain(signal, unit), _plain(level, other)
        return self.passage(signal, level, self.options())

    def passage(self, signal: Expr, level: Expr, given: dict[str, Expr]) -> Expr:
        way = next((w for w in _WAYS if w in given), "cross")
        number = given.get(way, Number(1.0))
        keywords = {} if number == Number(1.0) else {"n": number}
        if "td" in given:
            keywords["from"] = given["td"]
        return self.call("when", Binary(_WAYS[way], signal, level, span=self.card.span()), **keywords)

    def options(self) -> dict[str, Expr]:
        """`name=value` up to the next word that is none; times in s, numbers of passages plain (LAST is -1)."""
        found: dict[str, Expr] = {}
        while self.word() in _OPTIONS:
            name = self.go_on().text.lower()
            if name in _WAYS and self.at + 1 < len(self.pieces) and self.pieces[self.at + 1].text.lower() == "last":
                self.at += 2
                found[name] = Unary("-", Number(1.0))
            else:
                bare = self.at < len(self.pieces) and self.pieces[self.at].kind != "equal"  # `AT 1k`, as in LTspice
                read = self.signal if bare else self.equal
                found[name] = read("" if name in _WAYS or name == "val" else self.axis)[0]
        return found

    def level(self, start: int, unit: str) -> Expr | None:
        """The value of `val`, read once more in the unit of its signal."""
        end = self.at
        for i in range(start, end):
            if self.pieces[i].text.lower() == "val":
                self.at = i + 1
                found, _ = self.equal(unit)
                self.at = end
                return found
        return None

    def equal(self, unit: str = "") -> tuple[Expr, str]:
        """What stands behind `=`."""
        if self.go_on().kind != "equal":
            raise _wrong(self.card, self.pieces[self.at - 1], "'=' is expected here")
        return self.signal(unit)

    def signal(self, unit: str = "") -> tuple[Expr, str]:
        """v(a), v(a, b), i(v1), a number or an expression, and its unit; numbers take the one that is wanted."""
        piece = self.go_on()
        if piece.text.lower() == "par":
            piece = self.go_on()
        if self.responses and piece.kind == "probe":
            return self.response(piece)
        if self.noise and (match := NOISE.fullmatch(piece.text.lower())):
            of, own = self.noise[match[1]]
            return (self.call(EFFECTIVE, of), own) if match[2] == TOTAL else (self.call(DENSITY, of), own + _ROOT)
        inner = piece.kind == "expression"
        text, start = (piece.text[1:-1], piece.start + 1) if inner else (piece.text, piece.start)
        plain = written(text, unit, self.card.span(start, start + len(text))) if value_of(text) is not None else None
        if plain is not None:
            return plain, unit
        found = expression(self.card, text, start, self.figures)
        match found:
            case Binary("/", Name() | Binary("-") as probed, Number(1.0, ("V" | "A") as own)):
                return probed, own
        return (Binary("*", found, Number(1.0, unit), span=found.span), unit) if unit else (found, "")

    def response(self, piece: Piece) -> tuple[Expr, str]:
        """vdb(a), vp(a), vm(a), vr(a), vi(a), and v(a), which is its real part."""
        letter, kind = piece.text[0].lower(), piece.text[1 : piece.text.index("(")].lower()
        function, own = RESPONSES[kind or "r"]
        text = letter + piece.text[1 + len(kind) :]
        signal, unit = quantity(expression(self.card, text, piece.start, self.figures)), {"v": "V", "i": "A"}[letter]
        return self.call(function, signal), unit if own is None else own

    def call(self, function: str, *arguments: Expr, **keywords: Expr) -> Call:
        return Call(function, arguments, tuple(keywords.items()), span=self.card.span())
