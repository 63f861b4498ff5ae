"""Elements of a circuit as instances: R, C, L, K, V, I, E, F, G, H, B, T and X. Semiconductors are in `semiconductors`.

In SPICE a source of current lets it flow from its first node through the source to its second; here `current` delivers
at its first node.
"""

import itertools
import re

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.sources import plus, source_value, times
from netsim.formats.spice.expressions import difference, expression
from netsim.formats.spice.numbers import in_unit
from netsim.formats.spice.scopes import Made, Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binary, Call, Conditional, Expr, Instance, Name, Number, Unary, Vector


def wanted(card: Card, count: int, shape: str) -> tuple[Token, ...]:
    """The words behind the name, at least `count` of them. Raises `InputError` showing how the element is written."""
    if len(card.plain) < count:
        raise InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))
    return card.plain


def resistor(card: Card, scope: Scope) -> Instance:
    """`R1 a b 1k`, `R1 a b r={expression}`, with tc1= and tc2=; 0 Ohm is a wire."""
    nodes, value = _two_terminals(card, scope, "Ohm", ("r", "resistance"), "R1 node node value")
    warm = scope.circuit.celsius - scope.circuit.options.get("tnom", 27.0)
    if warm and ("tc1" in card.given or "tc" in card.given):
        first = scope.number(card, card.given.get("tc1", card.given.get("tc")))  # type: ignore[arg-type]
        second = scope.number(card, card.given["tc2"]) if "tc2" in card.given else 0.0
        value = times(value, Number(1 + first * warm + second * warm**2))
    if "m" in card.given:
        value = Binary("/", value, scope.value(card, card.given["m"]))
    scope.through[card.word] = (scope.elements[card.word], "i")
    if isinstance(value, Number) and value.value == 0:
        return scope.instance(card, "voltage", nodes, {"v": Number(0.0, "V")})
    return scope.instance(card, "variable_resistor" if _reads_signals(value) else "resistor", nodes, {"R": value})


def capacitor(card: Card, scope: Scope) -> Instance:
    """`C1 a b 1u [ic=5]`; with `uic` it begins at `ic`, or at the difference of what `.ic` says of its nodes."""
    nodes, value = _two_terminals(card, scope, "F", ("c", "capacitance"), "C1 node node value")
    if "m" in card.given:
        value = times(value, scope.value(card, card.given["m"]))
    scope.through[card.word] = (scope.elements[card.word], "i")
    starts: dict[str, Expr] = {}
    if scope.circuit.uic and "ic" in card.given:
        starts["v"] = scope.value(card, card.given["ic"], "V")
    elif scope.circuit.uic and scope.above is None:
        known = scope.circuit.potentials
        first, second = (known.get(token.text) for token in card.plain[:2])
        if first or second:
            starts["v"] = difference(first or Number(0.0), second or Number(0.0))
    return scope.instance(
        card, "variable_capacitor" if _reads_signals(value) else "capacitor", nodes, {"C": value}, starts
    )


def inductor(card: Card, scope: Scope) -> Instance:
    """`L1 a b 1m [ic=0.1]`; coupled ones are made by `windings`."""
    nodes, value = _two_terminals(card, scope, "H", ("l", "inductance"), "L1 node node value")
    scope.through[card.word] = (scope.elements[card.word], "i")
    starts = {"i": scope.value(card, card.given["ic"], "A")} if scope.circuit.uic and "ic" in card.given else {}
    return scope.instance(
        card, "variable_inductor" if _reads_signals(value) else "inductor", nodes, {"L": value}, starts
    )


def _two_terminals(
    card: Card, scope: Scope, unit: str, keys: tuple[str, ...], shape: str
) -> tuple[tuple[Name, ...], Expr]:
    named = next((card.given[key] for key in keys if key in card.given), None)
    tokens = wanted(card, 2 if named else 3, shape)
    nodes = scope.connected(card, tokens[:2])
    token = named or tokens[2]
    if token.kind == "word" and scope.block.model(token.text):
        raise InputError(
            Problem(
                "E130", f"models of {card.word[0].upper()} are not known", card.at(token), hint="give the value itself"
            )
        )
    return nodes, scope.value(card, token, unit)


def _reads_signals(value: Expr) -> bool:
    match value:
        case Name(parts):
            return len(parts) > 1 or parts[0].text == "time"
        case Unary(_, inner):
            return _reads_signals(inner)
        case Binary(_, left, right):
            return _reads_signals(left) or _reads_signals(right)
        case Call(_, arguments, keywords):
            return any(map(_reads_signals, (*arguments, *(v for _, v in keywords))))
        case Conditional(c, a, b):
            return any(map(_reads_signals, (c, a, b)))
    return False


def voltage(card: Card, scope: Scope) -> Instance:
    """`V1 a b 5`, `V1 a b sin(0 1 50)`, ..."""
    nodes = scope.connected(card, wanted(card, 2, "V1 node node value")[:2])
    scope.through[card.word] = (scope.elements[card.word], "i")
    return scope.instance(card, "voltage", nodes, {"v": source_value(card, scope, "V")})


def current(card: Card, scope: Scope) -> Instance:
    """`I1 a b 1m`: flows from a through the source to b."""
    first, second = scope.connected(card, wanted(card, 2, "I1 node node value")[:2])
    return scope.instance(card, "current", (second, first), {"I": source_value(card, scope, "A")})


def behavioural(card: Card, scope: Scope) -> Instance:
    """`B1 a b v={expression}` or `i={expression}`, the expression also without braces."""
    nodes = scope.connected(card, wanted(card, 2, "B1 node node v={expression}")[:2])
    for key, unit in (("v", "V"), ("i", "A")):
        if key in card.given and (found := card.behind(key)):
            text, start = _unwrapped(*found)
            return _driven(card, scope, nodes, in_unit(expression(card, text, start, scope), unit), key == "v")
    raise InputError(
        Problem("E131", f"'{card.word}' is written B1 node node v={{expression}}, or i={{expression}}", card.span())
    )


def _unwrapped(text: str, start: int) -> tuple[str, int]:
    match = re.match(r"\s*(?:\{([^{}]*)\}|'([^']*)'|\"([^\"]*)\")", text)
    if match is None:
        return text, start
    which = next(i for i in (1, 2, 3) if match[i] is not None)
    return match[which], start + match.start(which)


def _driven(card: Card, scope: Scope, nodes: tuple[Name, ...], value: Expr, is_voltage: bool) -> Instance:
    if is_voltage:
        scope.through[card.word] = (scope.elements[card.word], "i")
        return scope.instance(card, "voltage", nodes, {"v": value})
    return scope.instance(card, "current", (nodes[1], nodes[0]), {"I": value})


def controlled_by_voltage(card: Card, scope: Scope) -> Instance:
    """E and G: linear (`E1 a b c d 10`), by an expression (`value={...}`, `vol=`, `cur=`), by a table, by a
    polynomial."""
    is_voltage = card.word[0] == "e"
    tokens = wanted(card, 2, f"{card.word[0].upper()}1 node node node node gain")
    nodes, unit = scope.connected(card, tokens[:2]), "V" if is_voltage else "A"
    for key in ("value", "vol", "cur"):
        if key in card.given and (found := card.behind(key)):
            text, start = _unwrapped(*found)
            return _driven(card, scope, nodes, in_unit(expression(card, text, start, scope), unit), is_voltage)
    if len(tokens) > 2 and tokens[2].text == "table":
        return _driven(card, scope, nodes, _table(card, scope, unit), is_voltage)
    if len(tokens) > 2 and tokens[2].text in ("poly", "value"):
        if tokens[2].text == "value":
            return _driven(
                card, scope, nodes, in_unit(expression(card, tokens[3].text, tokens[3].start, scope), unit), is_voltage
            )
        count = int(scope.number(card, tokens[3]))
        pairs = tokens[4 : 4 + 2 * count]
        inputs = [
            difference(*(scope.potential(t.text, card.at(t)) for t in _met(card, scope, pair)))
            for pair in zip(pairs[::2], pairs[1::2])
        ]
        return _driven(
            card,
            scope,
            nodes,
            _polynomial(card, scope, [over(x, Number(1.0, "V")) for x in inputs], tokens[4 + 2 * count :], unit),
            is_voltage,
        )
    tokens = wanted(card, 5, f"{card.word[0].upper()}1 node node node node gain")
    if is_voltage:
        scope.through[card.word] = (scope.elements[card.word], "i")
    nodes = (*nodes, *scope.connected(card, tokens[2:4]))
    gain = {"gain": scope.value(card, tokens[4])} if is_voltage else {"g": scope.value(card, tokens[4], "S")}
    return scope.instance(card, "vcvs" if is_voltage else "vccs", nodes, gain)


def _met(card: Card, scope: Scope, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Nodes that are only looked at exist all the same."""
    for token in tokens:
        scope.node(token.text, card.at(token))
    return tokens


def over(value: Expr, divisor: Expr) -> Expr:
    """The quotient."""
    return Binary("/", value, divisor)


def _polynomial(card: Card, scope: Scope, inputs: list[Expr], tokens: tuple[Token, ...], unit: str) -> Expr:
    """p0 + p1 a + p2 b + p3 a^2 + p4 a b + p5 b^2 + ...; a single figure for one input is its factor, as SPICE2 has
    it."""
    terms = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(inputs, degree) for degree in itertools.count()
    )
    if len(inputs) == 1 and len(tokens) == 1:
        next(terms)
    value: Expr = Number(0.0)
    for token, factors in zip(tokens, terms):
        coefficient = scope.value(card, token)
        if coefficient != Number(0.0):
            value = plus(value, times(coefficient, *factors))
    return in_unit(value, unit)


def _table(card: Card, scope: Scope, unit: str) -> Expr:
    """`E1 a b TABLE {v(c)} = (-1, 0) (1, 5)`: a broken line, held beyond its ends."""
    match = re.search(r"table\s*(\{[^{}]*\}|'[^']*')\s*=?\s*(.*)", card.text, re.IGNORECASE)
    if match is None:
        raise InputError(Problem("E131", "a table is written TABLE {expression} = (x, y) (x, y) ...", card.span()))
    figures = [token for token in card.tokens if token.start >= match.start(2)]
    if len(figures) < 4 or len(figures) % 2:
        raise InputError(Problem("E131", "a table needs two or more pairs (x, y)", card.span(match.start(2))))
    x = expression(card, match[1][1:-1], match.start(1) + 1, scope)
    places, values = ([scope.value(card, t) for t in figures[k::2]] for k in (0, 1))
    held = Call("min", (Call("max", (x, places[0])), places[-1]))
    return in_unit(Call("interpolate", (held, Vector(tuple(places)), Vector(tuple(values)))), unit)


def controlled_by_current(card: Card, scope: Scope) -> Instance:
    """F and H: `F1 a b v1 10`, also `poly(n)`."""
    is_voltage = card.word[0] == "h"
    tokens = wanted(card, 4, f"{card.word[0].upper()}1 node node source gain")
    nodes, unit = scope.connected(card, tokens[:2]), "V" if is_voltage else "A"
    if tokens[2].text == "poly":
        count = int(scope.number(card, tokens[3]))
        inputs = [over(scope.current(t.text, card.at(t)), Number(1.0, "A")) for t in tokens[4 : 4 + count]]
        return _driven(card, scope, nodes, _polynomial(card, scope, inputs, tokens[4 + count :], unit), is_voltage)
    read = scope.current(tokens[2].text, card.at(tokens[2]))
    value = times(scope.value(card, tokens[3], "Ohm" if is_voltage else ""), read)
    return _driven(card, scope, nodes, value, is_voltage)


def line(card: Card, scope: Scope) -> Instance:
    """`T1 a b c d z0=50 td=10n`: a line without losses; in place of its delay its length as a number of waves at a
    frequency, `f=1meg nl=0.25`."""
    shape = "T1 node node node node z0=50 td=10n (or f=25meg nl=0.25 in place of td)"
    nodes = scope.connected(card, wanted(card, 4, shape)[:4])
    impedance = card.given.get("z0", card.given.get("zo"))
    if impedance is None or not {"td", "f"} & set(card.given):
        raise InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))
    if "td" in card.given:
        delay = scope.value(card, card.given["td"], "s")
    else:
        waves = scope.value(card, card.given["nl"]) if "nl" in card.given else Number(0.25)
        delay = over(waves, scope.value(card, card.given["f"], "Hz"))
    if "ic" in card.given and scope.circuit.uic:
        note = "with `uic` the line starts without waves in it"
        scope.circuit.report.note(f"ic= of the line '{card.word}' is ignored", card.at(card.given["ic"]), hint=note)
    return scope.instance(card, "lossless_line", nodes, {"Z": scope.value(card, impedance, "Ohm"), "T": delay})


def subcircuit(card: Card, scope: Scope, made: Made) -> Instance:
    """`X1 a b amplifier gain=10`: an instance of the model that was made of the subcircuit."""
    tokens = card.plain
    names = [token for token in tokens if token.text not in ("params:", "params")]
    block = made.scope.block if made.scope else scope.block
    if len(names) - 1 != len(block.ports):
        message = f"'{block.name}' has {len(block.ports)} nodes ({' '.join(block.ports)}), {len(names) - 1} are given"
        raise InputError(Problem("E225", message, card.span()))
    bindings = {}
    for name, token in card.given.items():
        if name not in block.given or not block.given[name].outside:
            known = [n for n, g in block.given.items() if g.outside]
            hint = nearest(name, known) or (f"it has {', '.join(known)}" if known else "it has none")
            raise InputError(
                Problem("E227", f"the subcircuit '{block.name}' has no parameter '{name}'", card.at(token), hint=hint)
            )
        assert made.scope is not None
        bindings[made.scope.parameters[name]] = scope.value(card, token)
    return scope.of(card, made, scope.connected(card, names[:-1]), bindings)


DEVICES = {
    "r": resistor, "c": capacitor, "l": inductor, "v": voltage, "i": current, "b": behavioural,
    "e": controlled_by_voltage,
    "g": controlled_by_voltage, "f": controlled_by_current, "h": controlled_by_current, "t": line,
}  # fmt: skip
