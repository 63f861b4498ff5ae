"""Diodes and transistors: every `.model` line that is used becomes a model of the netlist, an element of the library
with these parameters.

What SPICE has and the library does not (excess phase, a base resistance that depends on the current) is left out with a
note.
"""

from netsim.formats.spice.blocks import Block
from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.circuit import BOLTZMANN, KELVIN
from netsim.formats.spice.elements.models import Model, model_of
from netsim.formats.spice.elements.semiconducting.ideal_diode import ideal_diode, is_ideal
from netsim.formats.spice.elements.semiconducting.parameters import LETTERS, SILENT, Kind, kind_of
from netsim.formats.spice.elements.semiconducting.transistors import mosfet_bindings, mosfet_resistances
from netsim.formats.spice.elements.sources import plus
from netsim.formats.spice.elements.words_of_cards import require_words, unknown_parameter, words_beyond_values
from netsim.formats.spice.numbers import in_unit, literal, value_of
from netsim.formats.spice.scopes import Scope, ScopedDefinition, with_spans
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.syntax import (
    Binary,
    Binding,
    Call,
    Expr,
    Instance,
    ModelDef,
    Name,
    Number,
    Param,
    Part,
    Terminal,
    Unary,
)
from netsim.text.units import parse_unit

SHAPES = {"d": "D1 node node model", "q": "Q1 c b e model", "j": "J1 d g s model", "z": "Z1 d g s model",
    "m": "M1 d g s b model w=10u l=1u"}  # fmt: skip
LEAST = {"d": 2, "q": 3, "j": 3, "z": 3, "m": 3}
"""Nodes before the model's name, at least."""
_OF_THE_LINE = ("ic", "off", "temp", "dtemp", "thermal", "geo")


def semiconductor(card: Card, scope: Scope) -> Instance:
    """`D1 a b model [area]`, `Q1 c b e [s] model [area]`, `J1 d g s model [area]`, `M1 d g s b model [w= l= ...]`."""
    letter = card.word[0]
    tokens = require_words(card, LEAST[letter] + 1, SHAPES[letter])
    places = range(LEAST[letter], len(tokens))
    at = next((k for k in places if tokens[k].kind != "expression" and scope.block.model(tokens[k].text)), None)
    if at is None:
        named = tokens[min(4 if letter == "m" else LEAST[letter], len(tokens) - 1)]
        hint = nearest(named.text, scope.block.visible_models()) or (
            f"a line such as: .model {named.text} {LETTERS[letter][0]}(...)"
        )
        raise InputError(Problem("E226", f"there is no .model '{named.text}'", card.at(named), hint=hint))
    model = model_of(scope.block, tokens[at].text)
    assert model is not None
    if model.type not in LETTERS[letter]:
        message = (
            f"'{card.word}' needs a model of the type {' or '.join(LETTERS[letter])}, '{tokens[at].text}' is a "
            f"{model.type}"
        )
        raise InputError(Problem("E226", message, card.at(tokens[at])))
    if is_ideal(model):
        return ideal_diode(card, scope, model)
    kind = kind_of(model)
    if kind.component == "vdmos" and at == 4 and tokens[3].text == tokens[2].text:
        tokens, at = (*tokens[:3], *tokens[4:]), 3  # LTspice writes the bulk too, at the source
    if at > len(kind.terminals):
        message = f"'{card.word}' has {at} nodes: nodes of temperature are not known"
        raise InputError(Problem("E130", message, card.at(tokens[len(kind.terminals)])))
    warm = _temperature(card, kind, scope)
    made = _made(model, kind, scope.of_block(model.block), warm is not None)
    nodes = scope.connected(card, tokens[:at])
    if len(nodes) < len(kind.terminals):
        nodes = (*nodes, Name((Part("ground"),), span=card.span()))
    if letter == "d":
        scope.through[card.word] = (f"{scope.elements[card.word]}.{DEVICE}", "i")
    sizes = _sizes(card, kind, scope, tokens[at + 1 :])
    return scope.of(card, made, nodes, sizes | ({WARM: warm} if warm is not None else {}))


DEVICE = "device"
"""The name of the library's element inside the model that a `.model` line becomes."""
WARM = "celsius"
"""The parameter of that model by which an instance has a temperature of its own."""


def _temperature(card: Card, kind: Kind, scope: Scope) -> Expr | None:
    """`temp=` or `dtemp=` of the line, or that of both ends, in degrees Celsius. Raises `InputError`."""
    given = [card.given[name] for name in kind.ends if name in card.given]
    if given:
        if len({token.text for token in given}) > 1 or len(given) < len(kind.ends):
            hint = f"give {' and '.join(kind.ends)} the same value, or write dtemp="
            raise InputError(
                Problem("E130", "ends of different temperatures are not known", card.at(given[0]), hint=hint)
            )
        return scope.value(card, given[0])
    if "temp" in card.given:
        return scope.value(card, card.given["temp"])
    if "dtemp" in card.given:
        return plus(scope.celsius(card.span()), scope.value(card, card.given["dtemp"]))
    return None


def _sizes(card: Card, kind: Kind, scope: Scope, rest: tuple[Token, ...]) -> dict[str, Expr]:
    """What the line gives behind the model: a number is the area, unless it is a further value of `ic=`. Raises
    `InputError` for what the element does not have."""
    found: dict[str, Expr] = {}
    for token in (each for each in words_beyond_values(card, rest) if each.text not in _OF_THE_LINE):
        numeric = token.kind == "expression" or value_of(token.text) is not None or scope.knows(token.text)
        if not numeric or "area" not in kind.sizes or found:
            raise unknown_parameter(card, token, token.text, kind.sizes)
        found["area"] = scope.value(card, token)
    for name, token in card.given.items():
        if name in _OF_THE_LINE or name in kind.ends:
            continue
        if name not in kind.sizes:
            raise unknown_parameter(card, token, name, kind.sizes)
        found[name] = scope.value(card, token, kind.sizes[name][0])
    return found


def _made(model: Model, kind: Kind, scope: Scope, warm: bool) -> ScopedDefinition:
    """The model a `.model` line becomes; made where it is used first."""
    key = f".{model.name}{':' if warm else ''}"
    known = scope.made.get(key)
    if known is not None:
        return known
    inner = Scope(Block(model.name, model.card, scope.block), scope.circuit, scope)
    given = _sorted(model, kind, inner)
    bindings = _bindings(model, given, kind, inner, warm)
    before = mosfet_resistances(model, given, inner) if kind.layout else {}
    title = scope.circuit.type_name(model.name if scope.above is None else f"{scope.block.name}_{model.name}")
    span = model.card.span()
    sizes = [
        Param(size, unit or None, default=_default(model, inner, size, unit, text), span=span)
        for size, (unit, text) in kind.sizes.items()
    ]
    if warm:
        sizes.append(Param(WARM, None, default=inner.celsius(span), span=span))
    captured, _ = inner.taken_from_outside()
    terminals = tuple(Terminal(t, "electrical", span=span) for t in kind.terminals)
    ends = tuple(_name(f"inner_{t}" if t in before else t, span) for t in kind.terminals)
    device = Instance(
        _name(DEVICE, span),
        kind.component,
        ends,
        tuple(with_spans(Binding(n, v), span) for n, v in bindings.items()),
        span=span,
    )
    resistors = (
        Instance(
            _name(f"r{t}", span),
            "resistor",
            (_name(t, span), _name(f"inner_{t}", span)),
            (with_spans(Binding("R", value), span),),
            span=span,
        )
        for t, value in before.items()
    )
    shunt = (_shunt(model, inner),) if kind.layout and "rds" in given else ()
    words = f".model {model.name} {model.type}"
    scope.circuit.definitions.append(
        ModelDef(title, terminals, (*sizes, *captured, device, *resistors, *shunt), words, span=span)
    )
    scope.made[key] = made = inner.finish(title)
    return made


def _shunt(model: Model, scope: Scope) -> Instance:
    """PSpice's `rds` from drain to source of a MOSFET."""
    span = model.card.span()
    value = Binary("/", model.value("rds", scope, "Ohm"), _name("m", span), span=span)
    binding = with_spans(Binding("R", value), span)
    return Instance(_name("rds", span), "resistor", (_name("d", span), _name("s", span)), (binding,), span=span)


def _name(text: str, span: Span) -> Name:
    return Name((Part(text),), span=span)


def _default(model: Model, scope: Scope, size: str, unit: str, text: str) -> Expr:
    option = scope.circuit.options.get(f"def{size}")
    if size in ("w", "l") and size in model.given:
        return model.value(size, scope, unit)
    if option is not None:
        return literal(option, model.card.span(), unit)
    return scope.value(model.card, Token("word", text, 0, 0), unit)


def _bindings(model: Model, given: dict[str, Token], kind: Kind, scope: Scope, warm: bool) -> dict[str, Expr]:
    """What the library's element is given: the line's parameters, polarity, temperature and gmin."""
    span, circuit = model.card.span(), scope.circuit
    found: dict[str, Expr] = {}
    if kind.polarity:
        found["polarity"] = literal(-1 if "pchan" in model.flags else kind.polarity, span)
    if kind.layout:
        found |= mosfet_bindings(model, given, kind, scope)
    else:
        values = {name: model.value(name, scope, kind.parameters[name][1]) for name in given}
        for name in kind.celsius & values.keys():
            values[name] = in_unit(Binary("+", model.value(name, scope), Number(KELVIN)), "K")
        endless = {name for name in kind.infinite if isinstance(value := values.get(name), Number) and value.value == 0}
        found |= {kind.parameters[name][0]: value for name, value in values.items() if name not in endless}
        if "BV" in found:
            found["BV"] = _magnitude(found["BV"])
        if kind.component == "bjt" and "Rb" in found:
            found.setdefault("Rbm", found["Rb"])
        if kind.component in ("diode", "detailed_diode") and "BV" in found and "N" in found:
            found.setdefault("Nbv", found["N"])
        if kind.component in ("diode", "detailed_diode"):
            found |= _least_breakdown(found, circuit.celsius)
        found |= kind.shared(span)
    celsius = scope.celsius(span)
    nominal = next((model.number(n, 27.0) for n in ("tnom", "tref", "t_measured") if n in model.given), None)
    nominal = circuit.options.get("tnom", 27.0) if nominal is None else nominal
    if (circuit.celsius, nominal) != (27.0, 27.0) or warm or circuit.warms:
        plain = Number(round(circuit.celsius + KELVIN, 9), "K", span=span)
        given_T = in_unit(Binary("+", _name(WARM, span) if warm else celsius, Number(KELVIN)), "K")
        found |= {
            "T": given_T if warm or circuit.warms else plain,
            "Tnom": Number(round(nominal + KELVIN, 9), "K", span=span),
        }
    if "gmin" in circuit.options:
        found["Gmin"] = Number(circuit.options["gmin"], "S", span=span)
    return found


def _magnitude(value: Expr) -> Expr:
    """|value|: a breakdown voltage is written with either sign."""
    match value:
        case Unary("-", Number() as plain):
            return plain
        case Number():
            return value
    return Call("abs", (value,), span=value.span)


def _least_breakdown(found: dict[str, Expr], celsius: float) -> dict[str, Expr]:
    """Where IBV is less than IS BV/(k T/q), the breakdown begins with IS at BV, as in ngspice."""
    match found.get("BV"), found.get("Ibv"), found.get("Is", Number(1e-14, "A")):
        case Number() as voltage, Number() as current, Number() as saturation:
            plain = [_in_si(each) for each in (voltage, current, saturation)]
            if plain[1] < plain[2] * plain[0] / ((celsius + KELVIN) * BOLTZMANN):
                return {"Ibv": saturation}
    return {}


def _in_si(each: Number) -> float:
    """A literal in SI."""
    return each.value * (parse_unit(each.unit).factor if each.unit else 1.0)


def _sorted(model: Model, kind: Kind, scope: Scope) -> dict[str, Token]:
    """The parameters that count; what has no effect here is noted. Raises `InputError` for one that nobody knows."""
    given: dict[str, Token] = {}
    ignored = [name for name in model.given if name in kind.left_out and name not in kind.parameters]
    if ignored:
        card, token = model.given[ignored[0]]
        named, verb = ", ".join(map(repr, ignored)), "is" if len(ignored) == 1 else "are"
        what = f"{named} of the model '{model.name}' {verb} ignored"
        scope.circuit.report.note(f"{what}: the library's {kind.component} has no such effect", card.at(token))
    for name, (card, token) in model.given.items():
        if name in kind.parameters:
            given[name] = token
        elif name not in kind.left_out and name not in SILENT:
            hint = nearest(name, kind.parameters) or f"it has {', '.join(kind.parameters)}"
            message = f"a model of the type {model.type} has no parameter '{name}'"
            raise InputError(Problem("E227", message, card.at(token), hint=hint))
    return given
