"""`.tf` and `.sens` as run lines.

.tf v(out) v1     ->  run transfer(input = v1.v, output = out.v)
.sens v(out)      ->  run sensitivity_static(of = out.v)
.sens v(out) ac dec 10 1 1meg  ->  run sensitivity_ac(of = out.v, from = 1 Hz, to = 1 MHz, per_decade = 10, ...)
"""

import re
from collections.abc import Iterator

from netsim.formats.spice.analyses.small_signals import INPUT, driven_together, quantity
from netsim.formats.spice.cards import Card
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binding, Name, Part, Run

LINES = (".tf", ".sens")
USAGE = {
    ".tf": ".tf v(out) v1, .tf v(a,b) i1, .tf i(v2) v1",
    ".sens": ".sens v(out), .sens i(v1), .sens v(a,b) ac dec 10 1 1meg",
}
PROBE = re.compile(r"[vi]\([^()]*\)", re.IGNORECASE)


def at_rest(card: Card, scope: Scope) -> Iterator[Run]:
    """The run line of a card. Raises `InputError`."""
    span, match = card.span(), PROBE.search(card.text)
    if match is None:
        raise InputError(Problem("E131", f"'{card.word}' is written {USAGE[card.word]}", span))
    output = quantity(expression(card, match[0], match.start(), scope))
    rest = [token for token in card.tokens if token.start >= match.end()]
    if card.word == ".sens":
        if rest and rest[0].text == "ac":
            if given := driven_together(card, tuple(rest[1:]), scope):
                bindings = (Binding(name, value, span=span) for name, value in [("of", output), *given])
                yield Run("sensitivity_ac", tuple(bindings), span=span)
        else:
            yield Run("sensitivity_static", (Binding("of", output, span=span),), span=span)
        return
    if len(rest) != 1:
        raise InputError(Problem("E131", f"'{card.word}' is written {USAGE[card.word]}", span))
    source = rest[0]
    if source.text not in scope.elements or source.text[0] not in INPUT:
        sources = [name for name in scope.elements if name[0] in INPUT]
        hint = nearest(source.text, sources) or "the input is a source v or i"
        raise InputError(Problem("E133", f"'{source.text}' is no source", card.at(source), hint=hint))
    name = Name((Part(scope.elements[source.text]), Part(INPUT[source.text[0]])), span=card.at(source))
    yield Run("transfer", (Binding("input", name, span=span), Binding("output", output, span=span)), span=span)
