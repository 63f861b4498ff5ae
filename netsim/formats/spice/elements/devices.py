"""Sources and subcircuits as instances: V, I, E, F, G, H, B and X. R, C and L are in `passives`, lines in `lines`.

In SPICE a source of current lets it flow from its first node through the source to its second; here `current` delivers
at its first node.
"""

import itertools
import re
from itertools import pairwise

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.code_models import code_model
from netsim.formats.spice.elements.distributed.coupled import coupled_lines
from netsim.formats.spice.elements.distributed.lines import distributed, line, lossy
from netsim.formats.spice.elements.passives import capacitor, inductor, resistor, warmer_by, with_series_resistance
from netsim.formats.spice.elements.sources import plus, port_of, source_value, times
from netsim.formats.spice.elements.transfer import transferred
from netsim.formats.spice.elements.words_of_cards import report_ignored, require_words
from netsim.formats.spice.expressions import difference, expression
from netsim.formats.spice.numbers import in_unit
from netsim.formats.spice.scopes import Scope, ScopedDefinition
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binary, Call, Expr, Instance, Name, Number, Vector


def voltage(card: Card, scope: Scope) -> Instance:
    """`V1 a b 5`, `V1 a b sin(0 1 50)`, ..."""
    nodes = with_series_resistance(card, scope, scope.connected(card, require_words(card, 2, "V1 node node value")[:2]))
    scope.through[card.word] = (scope.elements[card.word], "i")
    value: dict[str, Expr] = {"v": source_value(card, scope, "V")}
    if port_of(card) is None:
        return scope.instance(card, "voltage", nodes, value)
    resistance = next((t for a, t in pairwise(card.plain) if a.text == "z0"), card.given.get("z0"))
    reference = Number(50.0, "Ohm") if resistance is None else scope.value(card, resistance, "Ohm")
    return scope.instance(card, "port", nodes, {"Z0": reference, **value})


def current(card: Card, scope: Scope) -> Instance:
    """`I1 a b 1m`: flows from a through the source to b."""
    tokens = require_words(card, 2, "I1 node node value")[:2]
    first, second = with_series_resistance(card, scope, scope.connected(card, tokens))
    return scope.instance(card, "current", (second, first), {"I": source_value(card, scope, "A")})


def behavioural(card: Card, scope: Scope) -> Instance:
    """`B1 a b v={expression}` or `i={expression}`, the expression also without braces."""
    nodes = scope.connected(card, require_words(card, 2, "B1 node node v={expression}")[:2])
    for key, unit in (("v", "V"), ("i", "A"), ("r", "Ohm")):
        if key in card.given and (found := card.behind(key)):
            text, start = _unwrapped(*found)
            value = times(expression(card, text, start, scope), *_behavioural_factors(card, scope, key))
            if key == "r":
                return scope.instance(card, "variable_resistor", nodes, {"R": in_unit(value, unit)})
            nodes = with_series_resistance(card, scope, nodes)
            return _driven(card, scope, nodes, in_unit(value, unit), key == "v")
    raise InputError(
        Problem("E131", f"'{card.word}' is written B1 node node v={{expression}}, or i={{expression}}", card.span())
    )


def _behavioural_factors(card: Card, scope: Scope, key: str) -> list[Expr]:
    """1 + tc1 dT + tc2 dT^2, and m parallel sources of current."""
    warm = warmer_by(scope.celsius(card.span()), scope.circuit.options.get("tnom", 27.0))
    factors: list[Expr] = []
    if warm != Number(0.0) and ("tc1" in card.given or "tc2" in card.given):
        first, second = (scope.value(card, card.given[n]) if n in card.given else Number(0.0) for n in ("tc1", "tc2"))
        factors.append(plus(plus(Number(1.0), times(first, warm)), times(second, warm, warm)))
    if key == "i" and "m" in card.given:
        factors.append(scope.value(card, card.given["m"]))
    return factors


_BEHIND = re.compile(
    r"\s+(?:tc|tc1|tc2|m|temp|dtemp|reciproctc|reciprocm|tripdv|tripdt|rser|rpar|cpar|ic|laplace|window|nfft)\s*=",
    re.IGNORECASE,
)


def _unwrapped(text: str, start: int) -> tuple[str, int]:
    """The expression at the beginning of a text: in braces or quotes, else up to the next parameter."""
    match = re.fullmatch(r"\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|'([^']*)'|\"([^\"]*)\")\s*(?:\w+\s*=.*)?", text, re.DOTALL)
    if match is None:
        behind = _BEHIND.search(text)
        return (text[: behind.start()] if behind else text), start
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
    tokens = require_words(card, 2, f"{card.word[0].upper()}1 node node node node gain")
    nodes = with_series_resistance(card, scope, scope.connected(card, tokens[:2]))
    unit = "V" if is_voltage else "A"
    for key in ("value", "vol", "cur"):
        if key in card.given and (found := card.behind(key)):
            text, start = _unwrapped(*found)
            return _driven(card, scope, nodes, in_unit(expression(card, text, start, scope), unit), is_voltage)
    if laplace := re.search(r"\blaplace\b", card.text[tokens[1].end :], re.IGNORECASE):
        start = tokens[1].end + laplace.end()
        return _transferring(card, scope, nodes, start)
    if len(tokens) > 2 and tokens[2].kind == "expression":
        value = expression(card, tokens[2].text, tokens[2].start, scope)
        return _driven(card, scope, nodes, in_unit(value, unit), is_voltage)
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
    tokens = require_words(card, 5, f"{card.word[0].upper()}1 node node node node gain")
    if is_voltage:
        scope.through[card.word] = (scope.elements[card.word], "i")
    nodes = (*nodes, *scope.connected(card, tokens[2:4]))
    factor = scope.value(card, tokens[4], "" if is_voltage else "S")
    report_ignored(card, scope.circuit.report, tokens[5:])
    gain = {
        "gain" if is_voltage else "g": times(factor, *_behavioural_factors(card, scope, "v" if is_voltage else "i"))
    }
    return scope.instance(card, "vcvs" if is_voltage else "vccs", nodes, gain)


def _transferring(card: Card, scope: Scope, nodes: tuple[Name, ...], start: int) -> Instance:
    """E and G with LAPLACE, the text behind that word at `start`."""
    is_voltage = card.word[0] == "e"
    kind, given = transferred(card, scope, start)
    if kind == "plain":
        return _driven(card, scope, nodes, in_unit(given["u"], "V" if is_voltage else "A"), is_voltage)
    scope.through[card.word] = (scope.elements[card.word], "i")
    return scope.instance(card, "transfer_voltage" if is_voltage else "transfer_current", nodes, given)


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
    match = re.search(r"table\s*=?\s*(\{[^{}]*\}|'[^']*'|\"[^\"]*\")\s*=?\s*(.*)", card.text, re.IGNORECASE)
    if match is None:
        raise InputError(Problem("E131", "a table is written TABLE {expression} = (x, y) (x, y) ...", card.span()))
    figures = [token for token in card.tokens if token.start >= match.start(2)]
    if len(figures) < 4 or len(figures) % 2:
        raise InputError(Problem("E131", "a table needs two or more pairs (x, y)", card.span(match.start(2))))
    x = expression(card, match[1][1:-1], match.start(1) + 1, scope)
    places, values = ([scope.value(card, t) for t in figures[k::2]] for k in (0, 1))
    return in_unit(Call("clamped", (x, Vector(tuple(places)), Vector(tuple(values)))), unit)


def controlled_by_current(card: Card, scope: Scope) -> Instance:
    """F and H: `F1 a b v1 10`, also `poly(n)`."""
    is_voltage = card.word[0] == "h"
    tokens = require_words(card, 4, f"{card.word[0].upper()}1 node node source gain")
    nodes = with_series_resistance(card, scope, scope.connected(card, tokens[:2]))
    unit = "V" if is_voltage else "A"
    if tokens[2].text == "poly":
        count = int(scope.number(card, tokens[3]))
        inputs = [over(scope.current(t.text, card.at(t)), Number(1.0, "A")) for t in tokens[4 : 4 + count]]
        return _driven(card, scope, nodes, _polynomial(card, scope, inputs, tokens[4 + count :], unit), is_voltage)
    read = scope.current(tokens[2].text, card.at(tokens[2]))
    report_ignored(card, scope.circuit.report, tokens[4:])
    value = times(scope.value(card, tokens[3], "Ohm" if is_voltage else ""), read)
    return _driven(card, scope, nodes, value, is_voltage)


def subcircuit(card: Card, scope: Scope, made: ScopedDefinition) -> Instance:
    """`X1 a b amplifier gain=10`: an instance of the model that was made of the subcircuit."""
    tokens = card.plain
    names = [token for token in tokens if token.text not in ("params:", "params")]
    block = made.scope.block if made.scope else scope.block
    if len(names) - 1 != len(block.ports):
        message = f"'{block.name}' has {len(block.ports)} nodes ({' '.join(block.ports)}), {len(names) - 1} are given"
        raise InputError(Problem("E225", message, card.span()))
    bindings = {}
    for name, token in card.given.items():
        if name not in block.given:
            known = list(block.given)
            hint = nearest(name, known) or (f"it has {', '.join(known)}" if known else "it has none")
            message = f"'{name}' is ignored: the subcircuit '{block.name}' has no such parameter"
            scope.circuit.report.note(message, card.at(token), hint=hint)
            continue
        assert made.scope is not None
        bindings[made.scope.parameters[name]] = scope.value(card, token)
    return scope.of(card, made, scope.connected(card, names[:-1]), bindings)


DEVICES = {
    "r": resistor, "c": capacitor, "l": inductor, "v": voltage, "i": current, "b": behavioural,
    "e": controlled_by_voltage,
    "g": controlled_by_voltage, "f": controlled_by_current, "h": controlled_by_current,
    "t": line, "o": lossy, "y": lossy, "u": distributed, "p": coupled_lines, "a": code_model,
}  # fmt: skip
