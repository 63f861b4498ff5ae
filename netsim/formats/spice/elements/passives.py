"""R, C and L: their values from the line, an expression or a `.model` (RES, CAP, IND), temperature, and what LTspice
writes on a part (`Rser=`, `Rpar=`, `Cpar=`, `Lser=`).

The value is that of ngspice 39: r (1 + tc1 dT + tc2 dT^2) scale/m with dT = T - tnom; of a `.model` alone rsh (l - 2
short)/(w - 2 narrow), or cj (w - narrow)(l - short) + 2 cjsw (w - narrow + l - short). A model of PSpice's type `res`,
`cap` or `ind` multiplies the value on the line by its `r`, `c` or `l`.
"""

from netsim.formats.spice.cards import Card
from netsim.formats.spice.elements.models import Model, found_model
from netsim.formats.spice.elements.sources import minus, plus, times
from netsim.formats.spice.elements.two_resistances import has_two, resistor_type
from netsim.formats.spice.elements.words_of_cards import report_ignored, require_words, unknown_parameter
from netsim.formats.spice.expressions import difference
from netsim.formats.spice.functions import reads_signals
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Expr, Instance, Name, Number, Unary

TYPES = {"r": ("r", "res"), "c": ("c", "cap"), "l": ("l", "ind")}
_VALUES = {"r": ("r", "resistance", "res"), "c": ("c", "capacitance", "cap"), "l": ("l", "inductance", "ind")}
_UNITS = {"r": "Ohm", "c": "F", "l": "H"}
_PARTS = ("rser", "lser", "rpar", "cpar")
_ON_LINE = ("tc", "tc1", "tc2", "tce", "m", "scale", "w", "l", "ic", "temp", "dtemp", *_PARTS)
_SILENT = ("ac", "noisy", "noise", "bv_max", "v", "irms", "ipk", "mfg", "type", "pn", "tol", "x1", "x2", "noiseless",
    "power", "vmax")  # fmt: skip
"""What changes no waveform: noise, ratings, remarks."""


def resistor(card: Card, scope: Scope) -> Instance:
    """`R1 a b 1k`, `R1 a b r={expression}`, `R1 a b model w= l=`; 0 Ohm is a wire."""
    nodes, value = _valued(card, scope, "R1 node node value")
    if isinstance(value, Binary) and value.op == "/" and value.right == Number(0.0):
        message = f"the model of '{card.word}' narrows it to a width of 0: it does not conduct"
        scope.circuit.report.note(message, card.span())
        scope.through[card.word] = (scope.elements[card.word], "i")
        return scope.instance(card, "conductor", nodes, {"G": Number(0.0, "S")})
    warmth = _warmth(card, scope)
    value = _divided(times(value, warmth), card, scope)
    scope.through[card.word] = (scope.elements[card.word], "i")
    if "ac" in card.given:
        if has_two(scope.circuit):
            other = _divided(times(scope.value(card, card.given["ac"], "Ohm"), warmth), card, scope)
            return scope.instance(card, resistor_type(scope.circuit), nodes, {"R": value, "Rac": other})
        if ".tran" in scope.circuit.analyses and len(scope.circuit.analyses) > 1:
            hint = "ask for responses in a circuit without .tran"
            scope.circuit.report.note("'ac' of resistors is ignored", card.at(card.given["ac"]), hint=hint)
    if isinstance(value, Number) and value.value == 0:
        return scope.instance(card, "voltage", nodes, {"v": Number(0.0, "V")})
    variable = reads_signals(value) or (isinstance(value, Unary) and isinstance(value.operand, Number))
    return scope.instance(card, "variable_resistor" if variable else "resistor", nodes, {"R": value})


def capacitor(card: Card, scope: Scope) -> Instance:
    """`C1 a b 1u [ic=5]`; with `uic` it begins at `ic`, or at the difference of what `.ic` says of its nodes."""
    if "q" in card.given:
        return _charged(card, scope)
    nodes, value = _valued(card, scope, "C1 node node value")
    value = times(value, _warmth(card, scope), *_factors(card, scope))
    scope.through[card.word] = (scope.elements[card.word], "i")
    starts: dict[str, Expr] = {}
    if scope.circuit.uic and "ic" in card.given:
        starts["v"] = scope.value(card, card.given["ic"], "V")
    elif scope.circuit.uic and scope.above is None:
        known = scope.circuit.potentials
        first, second = (known.get(token.text) for token in card.plain[:2])
        if first or second:
            starts["v"] = difference(first or Number(0.0), second or Number(0.0))
    if isinstance(value, Number) and value.value == 0:
        return scope.instance(card, "conductor", nodes, {"G": Number(0.0, "S")})
    kind = "variable_capacitor" if reads_signals(value) else "capacitor"
    return scope.instance(card, kind, nodes, {"C": value}, starts)


def _charged(card: Card, scope: Scope) -> Instance:
    """`C1 a b q={expression}`: the current is the rate of the charge; `x` (LTspice) is its voltage."""
    first, second = (token.text for token in card.plain[:2])
    nodes = scope.connected(card, card.plain[:2])
    volts = Binary("/", difference(*(scope.potential(n, card.span()) for n in (first, second))), Number(1.0, "V"))
    charge = scope.expression(card, card.given["q"], {"x": volts})
    rate = scope.block_output("rate_of", charge, {}, {})
    scope.through[card.word] = (scope.elements[card.word], "i")
    return scope.instance(card, "current", (nodes[1], nodes[0]), {"I": times(rate, Number(1.0, "A"))})


def inductor(card: Card, scope: Scope) -> Instance:
    """`L1 a b 1m [ic=0.1]`; coupled ones are made by `windings`."""
    nodes, value = _valued(card, scope, "L1 node node value")
    value = _divided(times(value, _warmth(card, scope)), card, scope)
    scope.through[card.word] = (scope.elements[card.word], "i")
    starts = {"i": scope.value(card, card.given["ic"], "A")} if scope.circuit.uic and "ic" in card.given else {}
    if isinstance(value, Number) and value.value == 0:
        return scope.instance(card, "voltage", nodes, {"v": Number(0.0, "V")})
    kind = "variable_inductor" if reads_signals(value) else "inductor"
    return scope.instance(card, kind, nodes, {"L": value}, starts)


def _valued(card: Card, scope: Scope, shape: str) -> tuple[tuple[Name, ...], Expr]:
    """The nodes, behind what stands in series, and the value at the nominal temperature."""
    letter = card.word[0]
    given = next(
        (card.given[key] for key in _VALUES[letter] if key in card.given and (key != "l" or letter == "l")), None
    )
    tokens = require_words(card, 2 if given else 3, shape)
    for name, token in card.given.items():
        if name not in (*_VALUES[letter], *_ON_LINE, *_SILENT):
            raise unknown_parameter(card, token, name, (*_VALUES[letter], *_ON_LINE))
    nodes = _with_parts(card, scope, scope.connected(card, tokens[:2]))
    rest = [token for token in tokens[2:4] if token.text not in TYPES[letter]] or list(tokens[2:3])
    models = [token for token in rest if token.kind == "word" and scope.block.model(token.text)]
    plain = given or next((token for token in rest if token not in models), None)
    read = (plain, *models[:1])
    report_ignored(card, scope.circuit.report, [t for t in tokens[2:] if t not in read and t.text not in TYPES[letter]])
    if not models:
        if plain is None:
            raise InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))
        return nodes, scope.value(card, plain, _UNITS[letter])
    model = found_model(card, scope, models[0], TYPES[letter])
    if plain is None:
        return nodes, _of_model(card, scope, model)
    value = scope.value(card, plain, _UNITS[letter])
    if len(model.type) > 1 and letter in model.given:
        value = times(value, model.value(letter, scope))
    return nodes, value


def _of_model(card: Card, scope: Scope, model: Model) -> Expr:
    """What a line without a value is worth by its `.model`."""
    letter, length, width = card.word[0], _size(card, scope, model, "l"), _size(card, scope, model, "w")
    named = next((model.value(key, scope, _UNITS[letter]) for key in _VALUES[letter] if key in model.given), None)
    if letter == "l" or length is None or (width is None and letter == "r"):
        return named if named is not None else Number(0.001 if letter == "r" else 0.0, _UNITS[letter])
    short, narrow = model.value("short", scope), model.value("narrow", scope)
    assert width is not None
    if letter == "r" and "rsh" in model.given:
        across = minus(width, times(Number(2.0), narrow))
        if isinstance(width, Number) and width.value == 2 * model.number("narrow", 0.0):
            across = Number(0.0)
        along = times(minus(length, times(Number(2.0), short)), model.value("rsh", scope, "Ohm"))
        return Binary("/", along, across)
    if letter == "r":
        return named if named is not None else Number(0.001, "Ohm")
    length, width = minus(length, short), minus(width, narrow)
    area = times(length, width, model.value("cj" if "cj" in model.given else "cox", scope, "F"))
    return plus(area, times(Number(2.0), plus(length, width), model.value("cjsw", scope, "F")))


def _size(card: Card, scope: Scope, model: Model, name: str) -> Expr | None:
    if name in card.given:
        return scope.value(card, card.given[name])
    key = next((key for key in (f"def{name}", name) if key in model.given), None)
    return model.value(key, scope) if key else (Number(1e-5) if name == "w" else None)


def _factors(card: Card, scope: Scope) -> list[Expr]:
    return [scope.value(card, card.given[name]) for name in ("scale", "m") if name in card.given]


def _divided(value: Expr, card: Card, scope: Scope) -> Expr:
    """By the number of equal parts in parallel; times the scale."""
    if "scale" in card.given:
        value = times(value, scope.value(card, card.given["scale"]))
    return Binary("/", value, scope.value(card, card.given["m"])) if "m" in card.given else value


def _warmth(card: Card, scope: Scope) -> Expr:
    """What the temperature makes of the value."""
    circuit, letter = scope.circuit, card.word[0]
    token = next((t for t in card.plain[2:4] if t.kind == "word" and scope.block.model(t.text)), None)
    model = found_model(card, scope, token, TYPES[letter]) if token else None
    nominal = model.number("tnom", circuit.options.get("tnom", 27.0)) if model else circuit.options.get("tnom", 27.0)
    celsius = scope.celsius(card.span())
    if "temp" in card.given:
        celsius = scope.value(card, card.given["temp"])
    warm = warmer_by(celsius, nominal)
    if "dtemp" in card.given and "temp" not in card.given:
        warm = plus(warm, scope.value(card, card.given["dtemp"]))
    coefficients = _coefficients(card, scope, model)
    if warm == Number(0.0) or not coefficients:
        return Number(1.0)
    if "tce" in coefficients:
        return Binary("^", Number(1.01), times(coefficients["tce"], warm))
    value: Expr = Number(1.0)
    for name, power in (("tc1", warm), ("tc2", times(warm, warm))):
        if name in coefficients:
            value = plus(value, times(coefficients[name], power))
    return value


def warmer_by(celsius: Expr, nominal: float) -> Expr:
    """The temperature over a nominal one."""
    match celsius:
        case Number(value, "") | Unary("-", Number(value, "")):
            value = value if isinstance(celsius, Number) else -value
            return literal(value - nominal, celsius.span) if value != nominal else Number(0.0)
    return Binary("-", celsius, literal(nominal, celsius.span), span=celsius.span)


def _coefficients(card: Card, scope: Scope, model: Model | None) -> dict[str, Expr]:
    """tc1, tc2 and tce: those of the line come before those of the model; `tc=a,b` are the first two."""
    found: dict[str, Expr] = {}
    for name in ("tc1", "tc2", "tce"):
        if name in card.given:
            found[name] = scope.value(card, card.given[name])
        elif model and (name in model.given or f"{name}r" in model.given):
            found[name] = model.value(name if name in model.given else f"{name}r", scope)
    if "tc" in card.given:
        first = card.given["tc"]
        found["tc1"] = scope.value(card, first)
        after = card.tokens[card.tokens.index(first) + 1 :]
        if after and (len(after) == 1 or after[1].kind != "equal"):
            found["tc2"] = scope.value(card, after[0])
    return found


def _with_parts(card: Card, scope: Scope, nodes: tuple[Name, ...]) -> tuple[Name, ...]:
    """The inner nodes of a part with series resistance and inductance; what is parallel stands between the outer
    ones."""
    first, second = nodes

    def given(name: str) -> Expr | None:
        unit = {"r": "Ohm", "l": "H", "c": "F"}[name[0]]
        value = scope.value(card, card.given[name], unit) if name in card.given else None
        return None if isinstance(value, Number) and value.value == 0 else value

    for name, type_, key in (("rpar", "resistor", "R"), ("cpar", "capacitor", "C")):
        if (value := given(name)) is not None:
            scope.part(f"{card.word}_{name}", type_, nodes, {key: value}, card.span())
    for name, type_, key in (("rser", "resistor", "R"), ("lser", "inductor", "L")):
        if (value := given(name)) is not None:
            between = scope.inner_node(f"{card.word}_behind_{name}", card.span())
            scope.part(f"{card.word}_{name}", type_, (first, between), {key: value}, card.span())
            first = between
    return first, second


def with_series_resistance(card: Card, scope: Scope, nodes: tuple[Name, ...]) -> tuple[Name, ...]:
    """The nodes of a source of LTspice with `Rser=` or `Cpar=`."""
    return _with_parts(card, scope, nodes) if any(name in card.given for name in _PARTS) else nodes
