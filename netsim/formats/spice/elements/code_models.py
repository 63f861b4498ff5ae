"""XSPICE's analogue code models (elements A) as sources by expressions: gain, summer, mult, divide, limit, climit, pwl,
int, d_dt, s_xfer, slew, hyst, delay, sine, square, triangle, aswitch, pswitch.

Laws are those of the ngspice 39 manual, chapter 8.2; limits and broken lines have sharp corners (ngspice rounds them
over `input_domain` and `limit_range`). Digital, event-driven and table models are not supported.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.models import Model, found_model
from netsim.formats.spice.elements.transfer import S, transfer_of
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import in_unit, value_of
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Expr, Instance, Name, Number, Part, Vector

_PIECE = re.compile(r"%(?P<type>\w+)|(?P<open>\[)|(?P<close>\])|(?P<word>[^\s\[\](),%]+)")
_GIVEN = re.compile(r"(\w+)\s*=\s*(\[[^\]]*\]|\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s,()\[\]]+)")
_PAIRS = ("vd", "id", "gd", "hd")
_TRUE = ("true", "t", "yes", "1")
_SLOW = 1e-5
"""The lag of a slew limiter, as a share of the run."""


@dataclass(frozen=True)
class Port:
    """One connection: its kind (v, vd, i, id, g, gd, vnam) and its nodes."""

    kind: str
    nodes: tuple[Token, ...]


@dataclass
class Code:
    """An element, its ports (lists of them for vectors), and the parameters of its model."""

    card: Card
    scope: Scope
    ports: list[list[Port]]
    model: Model
    given: Mapping[str, list[str]] = field(default_factory=dict)

    def number(self, name: str, default: float = 0.0) -> float:
        """A parameter that is a number."""
        return self.numbers(name, [default])[0]

    def numbers(self, name: str, default: list[float]) -> list[float]:
        """A parameter that is a list of numbers. Raises `InputError`."""
        if name not in self.given:
            return default
        if len(self.given[name]) == 1 and value_of(self.given[name][0]) is None and name in self.model.given:
            return [self.model.number(name, 0.0)]
        values = [value_of(text) for text in self.given[name]]
        if None in values or not values:
            message = f"'{name}' of the model '{self.model.name}' is no list of numbers"
            raise InputError(Problem("E132", message, self.model.card.span()))
        return [value for value in values if value is not None]

    def read(self, port: int, k: int = 0) -> str:
        """What an input reads, in SPICE's words. Raises `InputError`."""
        each = self.ports[port][k]
        names = [token.text for token in each.nodes]
        if each.kind in ("v", "vd", "g", "gd"):
            for token in each.nodes:
                self.scope.node(token.text, self.card.at(token))
            return f"v({','.join(names)})"
        if each.kind == "vnam":
            return f"i({names[0]})"
        hint = "inputs are %v, %vd, %g, %gd and %vnam: put a source of 0 V where a current is read"
        message = f"'{self.card.word}' reads a port of the kind %{each.kind}, which is not supported"
        raise InputError(Problem("E130", message, self.card.at(each.nodes[0]), hint=hint))


Law = Callable[[Code], str]


def _gain(c: Code) -> str:
    return f"{c.number('gain', 1.0)!r}*({c.read(0)}+{c.number('in_offset')!r})+{c.number('out_offset')!r}"


def _terms(c: Code) -> list[str]:
    count = len(c.ports[0])
    gains, offsets = c.numbers("in_gain", [1.0] * count), c.numbers("in_offset", [0.0] * count)
    return [f"{gain!r}*({c.read(0, k)}+{offset!r})" for k, (gain, offset) in enumerate(zip(gains, offsets))]


def _joined(sign: str) -> Law:
    return lambda c: f"{c.number('out_gain', 1.0)!r}*({sign.join(_terms(c))})+{c.number('out_offset')!r}"


def _divide(c: Code) -> str:
    least = c.number("den_lower_limit", 1e-10)
    below = f"{c.number('den_gain', 1.0)!r}*({c.read(1)}+{c.number('den_offset')!r})"
    above = f"{c.number('num_gain', 1.0)!r}*({c.read(0)}+{c.number('num_offset')!r})"
    held = f"(({below}) >= 0 ? max({below},{least!r}) : min({below},{-least!r}))"
    return f"{c.number('out_gain', 1.0)!r}*({above})/{held}+{c.number('out_offset')!r}"


def _limited(c: Code, law: str) -> str:
    low, high = (c.number(name, float("nan")) for name in ("out_lower_limit", "out_upper_limit"))
    law = law if low != low else f"max({law},{low!r})"
    return law if high != high else f"min({law},{high!r})"


def _limit(c: Code) -> str:
    return _limited(c, f"{c.number('gain', 1.0)!r}*({c.read(0)}+{c.number('in_offset')!r})")


def _climit(c: Code) -> str:
    high = f"({c.read(1)}-{c.number('upper_delta')!r})"
    low = f"({c.read(2)}+{c.number('lower_delta')!r})"
    return f"max(min({c.number('gain', 1.0)!r}*({c.read(0)}+{c.number('in_offset')!r}),{high}),{low})"


def _pwl(c: Code) -> str:
    """The broken line; it goes on straight beyond its ends."""
    x, y = c.numbers("x_array", [0.0, 1.0]), c.numbers("y_array", [0.0, 1.0])
    return _broken(c.read(0), x, y)


def _broken(read: str, x: list[float], y: list[float]) -> str:
    if len(x) != len(y) or len(x) < 2:
        return "0"
    reach = 1e6 * max(abs(x[-1] - x[0]), 1e-30)
    first, last = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
    points = [(x[0] - reach, y[0] - first * reach), *zip(x, y), (x[-1] + reach, y[-1] + last * reach)]
    return f"pwl({read},{','.join(f'{a!r},{b!r}' for a, b in points)})"


def _int(c: Code) -> str:
    start = c.number("out_ic")
    return _limited(c, f"sdt({c.number('gain', 1.0)!r}*({c.read(0)}+{c.number('in_offset')!r}),{start!r})")


def _delay(c: Code) -> str:
    """A constant delay; behind the output may stand an input that controls it, which does nothing then."""
    if c.given.get("has_delay_cnt", ["false"])[0].lower() in _TRUE:
        message = f"'{c.card.word}' has a delay that an input controls, which is not supported"
        raise InputError(Problem("E130", message, c.card.span(), hint="a delay is a number of the model: delay=1m"))
    return f"delay({c.read(0)},{c.number('delay')!r})"


def _turns(c: Code) -> str:
    """The integral of the frequency, which follows a broken line of the input."""
    x, f = c.numbers("cntl_array", [0.0, 1.0]), c.numbers("freq_array", [1e3, 2e3])
    return f"sdt(max({_broken(c.read(0), x, f)},0))"


def _sine(c: Code) -> str:
    low, high = c.number("out_low", -1.0), c.number("out_high", 1.0)
    return f"{(high + low) / 2!r}+{(high - low) / 2!r}*sin(6.283185307179586*{_turns(c)})"


def _square(c: Code) -> str:
    low, high, duty = c.number("out_low", -1.0), c.number("out_high", 1.0), c.number("duty_cycle", 0.5)
    return f"(mod({_turns(c)},1) < {duty!r} ? {high!r} : {low!r})"


def _triangle(c: Code) -> str:
    low, high, duty = c.number("out_low", -1.0), c.number("out_high", 1.0), c.number("duty_cycle", 0.5)
    return f"pwl(mod({_turns(c)},1),0,{low!r},{duty!r},{high!r},1,{low!r})"


def _share(c: Code) -> str:
    off, on = c.number("cntl_off", 0.0), c.number("cntl_on", 1.0)
    share = f"(({c.read(0)}-({off!r}))/({on - off!r}))"
    held = c.model.type == "pswitch" or c.given.get("limit", ["false"])[0].lower() in _TRUE
    return f"min(max({share},0),1)" if held else share


def _logarithmic(c: Code) -> bool:
    return c.given.get("log", ["true"])[0].lower() in _TRUE


def _resistance(c: Code, share: str) -> str:
    off, on = c.number("r_off", 1e12), c.number("r_on", 1.0)
    law = f"{off!r}*exp({share}*ln({on / off!r}))" if _logarithmic(c) else f"{off!r}+({on - off!r})*({share})"
    return f"max({law},1e-9)"


LAWS: dict[str, Law] = {
    "gain": _gain, "summer": _joined("+"), "mult": _joined("*"), "divide": _divide, "limit": _limit, "climit": _climit,
    "pwl": _pwl, "int": _int, "delay": _delay, "sine": _sine, "square": _square, "triangle": _triangle,
}  # fmt: skip
SWITCHES: dict[str, Law] = {
    "aswitch": lambda c: _resistance(c, _share(c)),
    "pswitch": lambda c: _resistance(c, f"({_share(c)})^2*(3-2*{_share(c)})" if _logarithmic(c) else _share(c)),
}
"""Resistances that go from r_off to r_on: straight, or (a logarithmic pswitch) without corners."""
BLOCKS = ("s_xfer", "slew", "d_dt", "hyst")


def code_model(card: Card, scope: Scope) -> Instance:
    """`A1 in out model`, `A2 [in1 in2] %vd(a b) model`. Raises `InputError`."""
    ports, named = _ports(card)
    found = scope.block.model(named.text)
    kind = found[0].plain[1].text if found and len(found[0].plain) > 1 else ""
    if found and kind not in (*LAWS, *SWITCHES, *BLOCKS):
        hint = f"those that are: {', '.join((*LAWS, *BLOCKS, *SWITCHES))}"
        message = f"XSPICE's code model {kind} is not supported"
        raise InputError(Problem("E130", message, card.at(card.tokens[0]), hint=hint))
    model = found_model(card, scope, named, (*LAWS, *SWITCHES, *BLOCKS))
    if len(ports) < 2:
        raise _usage(card)
    given = {m[1].lower(): m[2].strip("[]\"'{}").replace(",", " ").split() for m in _GIVEN.finditer(model.card.text)}
    code = Code(card, scope, ports, model, given)
    output = ports[1 if kind == "delay" else -1][0]
    nodes = scope.connected(card, output.nodes)
    if len(nodes) == 1:
        nodes = (*nodes, _ground(code))
    if kind in SWITCHES:
        value = _value(code, SWITCHES[kind](code), {})
        return scope.instance(card, "variable_resistor", nodes, {"R": in_unit(value, "Ohm")})
    value = _block(code, kind) if kind in BLOCKS else _value(code, LAWS[kind](code), {})
    if output.kind in ("v", "vd"):
        scope.through[card.word] = (scope.elements[card.word], "i")
        return scope.instance(card, "voltage", nodes, {"v": in_unit(value, "V")})
    if output.kind in ("i", "id"):
        return scope.instance(card, "current", (nodes[1], nodes[0]), {"I": in_unit(value, "A")})
    raise InputError(Problem("E130", f"'{card.word}' writes a port of the kind %{output.kind}", card.span()))


def _ports(card: Card) -> tuple[list[list[Port]], Token]:
    """The connections and the model's name."""
    start = card.tokens[0].end
    found: list[list[Port]] = []
    words: list[Token] = []
    kind, inside = "v", False
    for piece in _PIECE.finditer(card.text, start):
        if piece["type"]:
            kind = piece["type"].lower()
        elif piece["open"] or piece["close"]:
            inside = bool(piece["open"])
            kind = "v" if piece["close"] else kind
            found += [[]] if inside else []
        else:
            words.append(Token("word", piece["word"].lower(), piece.start(), piece.end()))
            if len(words) < (2 if kind in _PAIRS else 1):
                continue
            port = Port(kind, tuple(words))
            found = [*found[:-1], [*found[-1], port]] if inside else [*found, [port]]
            words, kind = [], kind if inside else "v"
    if len(found) < 2 or inside or any(not each for each in found):
        raise _usage(card)
    return found[:-1], found[-1][0].nodes[-1]


def _usage(card: Card) -> InputError:
    shape = "A1 in out model, with %vd(a b) for differences and [a b] for lists"
    return InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))


def _value(code: Code, text: str, names: Mapping[str, Expr]) -> Expr:
    """A law as an expression of the language; its place is the element's line."""
    card = replace(code.card, text=text, pieces=code.card.pieces[:1])
    return expression(card, text, 0, code.scope, names)


def _ground(code: Code) -> Name:
    return code.scope.node("0", code.card.span())


def _read_at(code: Code, node: Name, quantity: str, unit: str) -> Expr:
    """A quantity of a part, as a number."""
    span = code.card.span()
    return Binary("/", Name((*node.parts, Part(quantity)), span=span), Number(1.0, unit), span=span)


def _part(code: Code, suffix: str, type_: str, first: Name, bindings: Mapping[str, Expr]) -> Name:
    """A part from a node to ground, and its name."""
    code.scope.part(f"{code.card.word}_{suffix}", type_, (first, _ground(code)), bindings, code.card.span())
    return code.scope.beside[-1].name


def _rate(code: Code) -> Expr:
    """gain times the rate of the input, the current of a capacitor of 1 F that has the input's voltage."""
    node = code.scope.inner_node(f"{code.card.word}_rate", code.card.span())
    _part(code, "copy", "voltage", node, {"v": in_unit(_value(code, code.read(0), {}), "V")})
    flows = _part(code, "c", "capacitor", node, {"C": Number(1.0, "F")})
    law = _limited(code, f"{code.number('gain', 1.0)!r}*flowing+{code.number('out_offset')!r}")
    return _value(code, law, {"flowing": _read_at(code, flows, "i", "A")})


def _slew(code: Code) -> Expr:
    """The voltage of a capacitor of 1 F whose current drives it to the input, within limits."""
    node = code.scope.inner_node(f"{code.card.word}_held", code.card.span())
    held = _part(code, "c", "capacitor", node, {"C": Number(1.0, "F")})
    rising, falling = code.number("rise_slope", 1e9), code.number("fall_slope", 1e9)
    lag = _SLOW * (code.scope.circuit.times[1] or 1.0)
    law = f"min(max(({code.read(0)}-held)/{lag!r},{-falling!r}),{rising!r})"
    value = _value(code, law, {"held": _read_at(code, held, "v", "V")})
    _part(code, "drive", "current", node, {"I": in_unit(value, "A")})
    return _read_at(code, held, "v", "V")


def _hyst(code: Code) -> Expr:
    """A straight line between two limits, `hyst` to the right until the upper limit is passed, to the left until the
    lower one is: `on` of a switch that carries no current says which."""
    low, high, shift = code.number("in_low", 0.0), code.number("in_high", 1.0), code.number("hyst", 0.1)
    domain = code.number("input_domain", 0.01)
    domain *= high - low if code.given.get("fraction", ["true"])[0].lower() in _TRUE else 1.0
    node = code.scope.inner_node(f"{code.card.word}_leg", code.card.span())
    control = {"control": _value(code, code.read(0), {}), "threshold": Number((low + high) / 2)}
    width = {"width": Number((high - low) / 2 + shift + domain)}
    leg = _part(code, "leg", "hysteresis_switch", node, control | width)
    least, most = code.number("out_lower_limit", 0.0), code.number("out_upper_limit", 1.0)
    slope, (lower, upper) = (most - least) / (high - low), sorted((least, most))
    line = f"{least!r}+{slope!r}*({code.read(0)}-{low!r}-{shift!r}*(1-2*leg))"
    closed = Name((*leg.parts, Part("on")), span=code.card.span())
    return _value(code, f"max(min({line},{upper!r}),{lower!r})", {"leg": closed})


def _block(code: Code, kind: str) -> Expr:
    """What has states: a rate, a limiter of the rate, two legs, a transfer function."""
    if kind == "hyst":
        return _hyst(code)
    if kind in ("d_dt", "slew"):
        return _rate(code) if kind == "d_dt" else _slew(code)
    reads = _value(code, f"{code.number('gain', 1.0)!r}*({code.read(0)}+{code.number('in_offset')!r})", {})
    pace = code.number("denormalized_freq", 1.0)
    above, below = (list(reversed(code.numbers(name, [1.0]))) for name in ("num_coeff", "den_coeff"))
    above, below = ([x / pace**k for k, x in enumerate(each)] for each in (above, below))
    order = len(below) - 1
    if len(above) > order + 1:
        message = "this transfer function grows without end with frequency: its numerator has the higher degree"
        raise InputError(Problem("E132", message, code.model.card.span()))
    if order == 0:
        return Binary("*", reads, Number(above[0] / below[0]))
    text = "+".join(f"({x!r})*s^{k}" for k, x in enumerate(above)) + ")/("
    text += "+".join(f"({x!r})*s^{k}" for k, x in enumerate(below))
    return _transferred(code, reads, f"({text})")


def _transferred(code: Code, reads: Expr, law: str) -> Expr:
    """A transfer function of what is read, by a source of its own: LAPLACE has its states scaled."""
    card, span = code.card, code.card.span()
    kind, given = transfer_of(reads, _value(code, law, {"s": S}), code.scope, span)
    if kind == "plain":
        return given["u"]
    node = code.scope.inner_node(f"{card.word}_s", span)
    ends = node, code.scope.node("0", span)
    a = given["a"]
    zeros: Expr = Vector((Number(0.0),) * len(a.items)) if isinstance(a, Vector) else Number(0.0)
    code.scope.part(f"{card.word}_xfer", "transfer_voltage", ends, given, span, {"x": zeros})
    return _read_at(code, node, "v", "V")
