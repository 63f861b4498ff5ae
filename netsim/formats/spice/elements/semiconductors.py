"""Diodes and transistors: every `.model` line that is used becomes a model of the netlist, an element of the library
with these parameters.

What SPICE has and the library does not (excess phase, a base resistance that depends on the current) is left out with a
note.
"""

from netsim.formats.spice.blocks import Block
from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.devices import wanted
from netsim.formats.spice.elements.parameters import KINDS, SILENT, Kind
from netsim.formats.spice.elements.transistors import mosfet_bindings, mosfet_resistances
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import KELVIN, Made, Scope, placed
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.syntax import Binding, Expr, Instance, ModelDef, Name, Number, Param, Part, Terminal

ELEMENTS = {"d": ("d",), "q": ("npn", "pnp"), "j": ("njf", "pjf"), "m": ("nmos", "pmos")}


def semiconductor(card: Card, scope: Scope) -> Instance:
    """`D1 a b model [area]`, `Q1 c b e [s] model [area]`, `J1 d g s model [area]`, `M1 d g s b model [w= l= ...]`."""
    letter = card.word[0]
    least = {"d": 3, "q": 4, "j": 4, "m": 5}[letter]
    tokens = wanted(
        card,
        least,
        {"d": "D1 node node model", "q": "Q1 c b e model", "j": "J1 d g s model", "m": "M1 d g s b model w=10u l=1u"}[
            letter
        ],
    )
    at = least - 1
    if (
        letter == "q"
        and len(tokens) > 4
        and scope.block.model(tokens[3].text) is None
        and scope.block.model(tokens[4].text)
    ):
        at = 4
    found = scope.block.model(tokens[at].text)
    if found is None:
        hint = (
            nearest(tokens[at].text, scope.block.visible_models())
            or f"a line such as: .model {tokens[at].text} {ELEMENTS[letter][0]}(...)"
        )
        raise InputError(Problem("E226", f"there is no .model '{tokens[at].text}'", card.at(tokens[at]), hint=hint))
    model, block = found
    kind = _kind(model)
    if model.plain[1].text not in ELEMENTS[letter]:
        message = (
            f"'{card.word}' needs a model of the type {' or '.join(ELEMENTS[letter])}, '{tokens[at].text}' is a "
            f"{model.plain[1].text}"
        )
        raise InputError(Problem("E226", message, card.at(tokens[at])))
    made = _made(model, kind, scope.of_block(block))
    nodes = scope.connected(card, tokens[:at])
    if len(nodes) < len(kind.terminals):
        nodes = (*nodes, Name((Part("ground"),), span=card.span()))
    if letter == "d":
        scope.through[card.word] = (f"{scope.elements[card.word]}.{DEVICE}", "i")
    return scope.of(card, made, nodes, _sizes(card, kind, scope, tokens[at + 1 :]))


DEVICE = "device"
"""The name of the library's element inside the model that a `.model` line becomes."""


def _sizes(card: Card, kind: Kind, scope: Scope, rest: tuple[Token, ...]) -> dict[str, Expr]:
    found: dict[str, Expr] = {}
    for token in rest:
        if token.text not in ("off",) and "area" in kind.sizes:
            found["area"] = scope.value(card, token)
    for name, token in card.given.items():
        if name in ("ic", "temp", "dtemp"):
            if name != "ic":
                scope.circuit.report.note(
                    f"'{name}' of '{card.word}' is ignored: all devices have the circuit's temperature", card.at(token)
                )
            continue
        ours = "area" if name == "m" and "area" in kind.sizes else name
        if ours not in kind.sizes:
            hint = nearest(name, kind.sizes) or f"it has {', '.join(kind.sizes)}"
            raise InputError(Problem("E227", f"'{card.word}' has no parameter '{name}'", card.at(token), hint=hint))
        found[ours] = scope.value(card, token, kind.sizes[ours][0])
    return found


def _kind(model: Card) -> Kind:
    token = model.plain[1]
    if token.text not in KINDS:
        hint = nearest(token.text, KINDS) or f"there are {', '.join(KINDS)}, sw and csw"
        raise InputError(
            Problem("E130", f"models of the type '{token.text}' are not known", model.at(token), hint=hint)
        )
    level = model.given.get("level")
    if level is not None and model.plain[1].text in ("nmos", "pmos") and level.text not in ("1", "1.0"):
        raise InputError(
            Problem(
                "E130",
                f"level {level.text} of a MOSFET is not known",
                model.at(level),
                hint="level 1 (Shichman and Hodges) is",
            )
        )
    return KINDS[token.text]


def _made(model: Card, kind: Kind, scope: Scope) -> Made:
    """The model a `.model` line becomes; made where it is used first."""
    name = model.plain[0].text
    known = scope.made.get(f".{name}")
    if known is not None:
        return known
    inner = Scope(Block(name, model, scope.block), scope.circuit, scope)
    given = _sorted(model, kind, inner)
    bindings = _bindings(model, given, kind, inner)
    before = mosfet_resistances(model, given, inner) if kind.component == "meyer_mosfet" else {}
    title = scope.circuit.type_name(name if scope.above is None else f"{scope.block.name}_{name}")
    span = model.span()
    sizes = [
        Param(size, unit or None, default=_default(model, inner, size, unit, text), span=span)
        for size, (unit, text) in kind.sizes.items()
    ]
    captured, _ = inner.taken_from_outside()
    terminals = tuple(Terminal(t, "electrical", span=span) for t in kind.terminals)
    ends = tuple(_name(f"inner_{t}" if t in before else t, span) for t in kind.terminals)
    device = Instance(
        _name(DEVICE, span),
        kind.component,
        ends,
        tuple(placed(Binding(n, v), span) for n, v in bindings.items()),
        span=span,
    )
    resistors = (
        Instance(
            _name(f"r{t}", span),
            "resistor",
            (_name(t, span), _name(f"inner_{t}", span)),
            (placed(Binding("R", value), span),),
            span=span,
        )
        for t, value in before.items()
    )
    words = f".model {name} {model.plain[1].text}"
    scope.circuit.definitions.append(
        ModelDef(title, terminals, (*sizes, *captured, device, *resistors), words, span=span)
    )
    scope.made[f".{name}"] = made = inner.finish(title)
    return made


def _name(text: str, span: Span) -> Name:
    return Name((Part(text),), span=span)


def _default(model: Card, scope: Scope, size: str, unit: str, text: str) -> Expr:
    option = scope.circuit.options.get(f"def{size}")
    if size in ("w", "l") and size in model.given:
        return scope.value(model, model.given[size], unit)
    if option is not None:
        return literal(option, model.span(), unit)
    return scope.value(model, Token("word", text, 0, 0), unit)


def _bindings(model: Card, given: dict[str, Token], kind: Kind, scope: Scope) -> dict[str, Expr]:
    """What the library's element is given: the line's parameters, polarity, temperature and gmin."""
    span, circuit = model.span(), scope.circuit
    found: dict[str, Expr] = {"polarity": literal(kind.polarity, span)} if kind.polarity else {}
    if kind.component == "meyer_mosfet":
        found |= mosfet_bindings(model, given, kind.polarity, scope)
    else:
        values = {name: scope.value(model, token, kind.parameters[name][1]) for name, token in given.items()}
        endless = {name for name in kind.infinite if isinstance(value := values.get(name), Number) and value.value == 0}
        found |= {kind.parameters[name][0]: value for name, value in values.items() if name not in endless}
        if kind.component == "bjt" and "Rb" in found:
            found.setdefault("Rbm", found["Rb"])
        found["area"] = Name((Part("area"),), span=span)
    celsius, nominal = (
        circuit.celsius,
        scope.number(model, model.given["tnom"]) if "tnom" in model.given else circuit.options.get("tnom", 27.0),
    )
    if (celsius, nominal) != (27.0, 27.0):
        found |= {
            "T": Number(round(celsius + KELVIN, 9), "K", span=span),
            "Tnom": Number(round(nominal + KELVIN, 9), "K", span=span),
        }
    if "gmin" in circuit.options:
        found["Gmin"] = Number(circuit.options["gmin"], "S", span=span)
    return found


def _sorted(model: Card, kind: Kind, scope: Scope) -> dict[str, Token]:
    """The parameters that count; what has no effect here is noted. Raises `InputError` for one that nobody knows."""
    given: dict[str, Token] = {}
    for name, token in model.given.items():
        if name in kind.parameters:
            given[name] = token
        elif name in kind.left_out:
            scope.circuit.report.note(
                f"'{name}' of the model '{model.plain[0].text}' is ignored: the library's {kind.component} has no such "
                "effect",
                model.at(token),
            )
        elif name not in SILENT:
            hint = nearest(name, kind.parameters) or f"it has {', '.join(kind.parameters)}"
            raise InputError(
                Problem(
                    "E227",
                    f"a model of the type {model.plain[1].text} has no parameter '{name}'",
                    model.at(token),
                    hint=hint,
                )
            )
    return given
