"""LTspice's diode of straight pieces: `.model d1 d(ron=0.1 roff=1meg vfwd=0.4)`, with what belongs to it.

The current is v/roff between -vrev and vfwd, goes on with 1/ron above and 1/rrev below, bends over the voltages
`epsilon` and `revepsilon` along a parabola, and approaches `ilimit` and `revilimit` as a hyperbolic tangent does, as
in ngspice's code model sidiode.
"""

import math
from dataclasses import replace

from netsim.formats.spice.cards import Card
from netsim.formats.spice.elements.models import Model
from netsim.formats.spice.elements.words_of_cards import unknown_parameter
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import in_unit
from netsim.formats.spice.scopes import Scope
from netsim.text.syntax import Instance

PARAMETERS = ("ron", "roff", "vfwd", "vrev", "rrev", "ilimit", "revilimit", "epsilon", "revepsilon")
_OPEN = 1e12
"""roff where it is not given: the inverse of gmin."""


def is_ideal(model: Model) -> bool:
    """Whether a model is of this kind: it has a resistance, a forward or a limit of its own."""
    return model.type == "d" and any(name in model.given for name in PARAMETERS)


def ideal_diode(card: Card, scope: Scope, model: Model) -> Instance:
    """The diode as a source of current that depends on its voltage. Raises `InputError`."""
    for name, (_, token) in model.given.items():
        if name not in PARAMETERS:
            raise unknown_parameter(model.card, token, name, PARAMETERS)
    first, second = card.plain[:2]
    nodes = scope.connected(card, (first, second))
    law = _law(model, f"v({first.text},{second.text})")
    value = expression(replace(card, text=law, pieces=card.pieces[:1]), law, 0, scope)
    return scope.instance(card, "current", (nodes[1], nodes[0]), {"I": in_unit(value, "A")})


def _law(model: Model, v: str) -> str:
    """The current in SPICE's words."""
    on, off = 1 / model.number("ron", 1.0), 1 / model.number("roff", _OPEN)
    back = 1 / model.number("rrev", 0.0) if model.number("rrev", 0.0) else on
    above = _beyond(f"({v}-({model.number('vfwd', 0.0)!r}))", off, on, model, "", model.number("vfwd", 0.0))
    law, at = f"({off!r}*{v}+{above})", model.number("vrev", math.inf)
    if math.isfinite(at) and at < 1e29:
        law = f"({law}-{_beyond(f'(-({v})-({at!r}))', off, back, model, 'rev', at)})"
    return law


def _beyond(w: str, off: float, on: float, model: Model, side: str, at: float) -> str:
    """What is added to v/roff where w > 0: over the bend a parabola, then a straight line or a tangent."""
    bend, limit = model.number(f"{side}epsilon", 0.0), model.number(f"{side}ilimit", math.inf)
    step = on - off
    if math.isfinite(limit) and limit < 1e29:
        reached = off * (at + bend) + 0.5 * bend * step
        past = f"({limit - reached!r}*tanh({on / limit!r}*({w}-{bend!r}))+{reached!r}-{off!r}*({w}+({at!r})))"
    else:
        past = f"{step!r}*({w}-{0.5 * bend!r})"
    if bend == 0:
        return f"({w} > 0 ? {past} : 0)" if "tanh" in past else f"{step!r}*max({w},0)"
    return f"({w} > {bend!r} ? {past} : {step / (2 * bend)!r}*max({w},0)^2)"
