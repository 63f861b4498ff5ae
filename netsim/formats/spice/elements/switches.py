"""Switches S (by a voltage) and W (by a current): closed above threshold + hysteresis, open below threshold -
hysteresis, as before in between.

A negative hysteresis means, as in ngspice, a resistance that goes gradually from Roff to Ron across it."""

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.devices import over, wanted
from netsim.formats.spice.elements.sources import minus, plus
from netsim.formats.spice.expressions import difference
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Call, Expr, Instance, Number, Unary

KINDS = {"s": ("sw", "vt", "vh", "V"), "w": ("csw", "it", "ih", "A")}


def switch(card: Card, scope: Scope) -> Instance:
    """`S1 a b c d model [on|off]`, `W1 a b v1 model [on|off]`; the last word is the state where the control lies in
    between. Raises `InputError`."""
    letter = card.word[0]
    kind, threshold, width, unit = KINDS[letter]
    count = 5 if letter == "s" else 4
    tokens = wanted(card, count, "S1 node node node node model" if letter == "s" else "W1 node node source model")
    named = tokens[count - 1]
    found = scope.block.model(named.text)
    if found is None or found[0].plain[1].text != kind:
        hint = (
            nearest(named.text, scope.block.visible_models())
            or f"a line such as: .model {named.text} {kind}({threshold}=1 {width}=0.1 ron=1 roff=1meg)"
        )
        raise InputError(
            Problem("E226", f"there is no .model '{named.text}' of the type {kind}", card.at(named), hint=hint)
        )
    model = found[0]
    for name, token in model.given.items():
        if name not in (threshold, width, "ron", "roff"):
            hint = nearest(name, (threshold, width, "ron", "roff")) or f"it has {threshold}, {width}, ron, roff"
            raise InputError(
                Problem("E227", f"a model of the type {kind} has no parameter '{name}'", model.at(token), hint=hint)
            )
    nodes = scope.connected(card, tokens[:2])
    read = _control(card, scope, tokens, letter)

    def given(name: str, units: str, default: float) -> Expr:
        return scope.value(model, model.given[name], units) if name in model.given else Number(default, units)

    middle, half = given(threshold, unit, 0.0), given(width, unit, 0.0)
    resistances = {"Ron": given("ron", "Ohm", 1.0), "Roff": given("roff", "Ohm", 1e12)}
    if isinstance(half, Unary) or (isinstance(half, Number) and half.value < 0):
        share = plus(Number(0.5), over(over(minus(middle, read), half), Number(2.0)))
        return scope.instance(
            card,
            "switch",
            nodes,
            {"closed": Call("min", (Call("max", (share, Number(0.0))), Number(1.0))), **resistances},
        )
    one = Number(1.0, unit)
    figures = {"control": over(read, one), "threshold": over(middle, one), "width": over(half, one), **resistances}
    on = len(tokens) > count and tokens[count].text.lower() == "on"
    return scope.instance(card, "hysteresis_switch", nodes, figures, {"on": Number(1.0)} if on else None)


def _control(card: Card, scope: Scope, tokens: tuple[Token, ...], letter: str) -> Expr:
    if letter == "w":
        return scope.current(tokens[2].text, card.at(tokens[2]))
    ends = [scope.potential(t.text, card.at(t)) for t in tokens[2:4]]
    return difference(*ends)
