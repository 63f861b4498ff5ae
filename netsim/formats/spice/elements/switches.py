"""Switches S (by a voltage) and W (by a current), in the spellings of ngspice, LTspice (`sw`, `csw`) and PSpice
(`vswitch`, `iswitch`).

A switch of `sw` closes above threshold + hysteresis, opens below threshold - hysteresis, and stays as it was in
between. One with a negative hysteresis, and PSpice's (`von`, `voff`), goes gradually: the logarithm of its resistance
follows 3 z - 4 z^3, z = (control - middle)/(on - off), from Roff to Ron."""

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.elements.models import found_model
from netsim.formats.spice.elements.sources import minus, plus, times
from netsim.formats.spice.elements.words_of_cards import report_ignored, require_words
from netsim.formats.spice.expressions import difference
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binary, Call, Expr, Instance, Name, Number, Unary

KINDS = {"s": ("sw", "vt", "vh", "V"), "w": ("csw", "it", "ih", "A")}
TYPES = {"s": ("sw", "vswitch"), "w": ("csw", "iswitch")}
_SILENT = ("lser", "vser", "ilimit", "level", "epsilon", "oneway", "kf", "af")


def switch(card: Card, scope: Scope) -> Instance:
    """`S1 a b c d model [on|off]`, `W1 a b v1 model [on|off]`; the last word is the state where the control lies in
    between. Raises `InputError`."""
    letter = card.word[0]
    kind, threshold, width, unit = KINDS[letter]
    count = 5 if letter == "s" else 4
    tokens = require_words(
        card, count, "S1 node node node node model" if letter == "s" else "W1 node node source model"
    )
    named = tokens[count - 1]
    if scope.block.model(named.text) is None:
        hint = (
            nearest(named.text, scope.block.visible_models())
            or f"a line such as: .model {named.text} {kind}({threshold}=1 {width}=0.1 ron=1 roff=1meg)"
        )
        message = f"there is no .model '{named.text}' of the type {kind}"
        raise InputError(Problem("E226", message, card.at(named), hint=hint))
    model = found_model(card, scope, named, TYPES[letter])
    report_ignored(card, scope.circuit.report, [token for token in tokens[count:] if token.text not in ("on", "off")])
    ends = tuple(f"{unit.lower() if letter == 's' else 'i'}{end}" for end in ("on", "off"))
    for name, (place, token) in model.given.items():
        if name not in (threshold, width, "ron", "roff", *ends, *_SILENT):
            known = (threshold, width, "ron", "roff", *ends)
            hint = nearest(name, known) or f"it has {', '.join(known)}"
            message = f"a model of the type {model.type} has no parameter '{name}'"
            raise InputError(Problem("E227", message, place.at(token), hint=hint))
    nodes = scope.connected(card, tokens[:2])
    scope.through[card.word] = (scope.elements[card.word], "i")
    read = Binary("/", _control(card, scope, tokens, letter), Number(1.0, unit))
    old = "off" if model.type in ("sw", "csw") else "on"
    resistances = {
        "Ron": model.value("ron", scope, "Ohm", 1.0),
        "Roff": model.value("roff", scope, "Ohm", 1e12 if old == "off" else 1e6),
    }
    short = threshold in model.given or width in model.given  # PSpice's short transition
    if ends[0] in model.given or ends[1] in model.given or (old == "on" and not short):
        on, off = model.value(ends[0], scope, "", 1.0 if letter == "s" else 1e-3), model.value(ends[1], scope)
        middle, span = times(Number(0.5), plus(on, off)), minus(on, off)
        return _gradual(card, scope, nodes, read, (middle, span), resistances)
    middle, half = model.value(threshold, scope), model.value(width, scope)
    if isinstance(half, Unary) or (isinstance(half, Number) and half.value < 0):
        return _gradual(card, scope, nodes, read, (middle, times(Number(2.0), _less(half))), resistances)
    figures = {"control": read, "threshold": middle, "width": half, **resistances}
    on_ = len(tokens) > count and tokens[count].text.lower() == "on"
    return scope.instance(card, "hysteresis_switch", nodes, figures, {"on": Number(1.0)} if on_ else None)


def _less(value: Expr) -> Expr:
    return value.operand if isinstance(value, Unary) and value.op == "-" else Unary("-", value)


def _gradual(
    card: Card, scope: Scope, nodes: tuple[Name, ...], read: Expr, law: tuple[Expr, Expr], resistances: dict[str, Expr]
) -> Instance:
    """The switch of PSpice: closed = 1/2 + 3/2 z - 2 z^3 with z = (control - middle)/span, held within 1/2."""
    middle, span = law
    share = Binary("/", minus(read, middle), span)
    z = Call("min", (Call("max", (share, Unary("-", Number(0.5)))), Number(0.5)))
    cubic = minus(times(Number(1.5), z), times(Number(2.0), Binary("^", z, Number(3.0))))
    return scope.instance(card, "switch", nodes, {"closed": plus(Number(0.5), cubic), **resistances})


def _control(card: Card, scope: Scope, tokens: tuple[Token, ...], letter: str) -> Expr:
    if letter == "w":
        return scope.current(tokens[2].text, card.at(tokens[2]))
    ends = [scope.potential(t.text, card.at(t)) for t in tokens[2:4]]
    return difference(*ends)
