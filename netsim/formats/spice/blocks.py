"""Cards sorted into blocks: the circuit and its subcircuits, each with elements, parameters, models and functions of
its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from netsim.formats.spice.cards import Card, Report

Function = tuple[tuple[str, ...], Card, str, int]
"""Parameters, card, body and the offset of that in the card."""


@dataclass(frozen=True)
class ParameterText:
    """A parameter's value: text and offset in its card, and whether an instance may give another one."""

    card: Card
    name: str
    text: str
    start: int
    outside: bool = False


@dataclass(eq=False)
class Block:
    """A circuit or subcircuit as read; names in small letters."""

    name: str
    head: Card | None
    parent: "Block | None"
    ports: tuple[str, ...] = ()
    elements: list[Card] = field(default_factory=list)
    control: list[Card] = field(default_factory=list)
    given: dict[str, ParameterText] = field(default_factory=dict)
    models: dict[str, Card] = field(default_factory=dict)
    blocks: "dict[str, Block]" = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)

    def model(self, name: str) -> "tuple[Card, Block] | None":
        """The `.model` line of that name and the block it stands in, from here outwards; of several sizes (`n.1`,
        `n.2`) the first one: models with bins are of families that are refused."""
        if name in self.models:
            return self.models[name], self
        if bins := [each for each in self.models if re.fullmatch(rf"{re.escape(name)}\.\d+", each)]:
            return self.models[bins[0]], self
        return self.parent.model(name) if self.parent else None

    def block(self, name: str) -> "Block | None":
        """The subcircuit of that name, from here outwards."""
        return self.blocks.get(name) or (self.parent.block(name) if self.parent else None)

    def visible_models(self) -> Iterator[str]:
        """Names of models and subcircuits that can be used here, for hints."""
        yield from (*self.models, *self.blocks)
        if self.parent:
            yield from self.parent.visible_models()

    def all_functions(self) -> dict[str, Function]:
        """Functions that can be used here."""
        return {**(self.parent.all_functions() if self.parent else {}), **self.functions}


LINES = (".subckt", ".ends", ".global", ".param", ".csparam", ".model", ".func")
"""The dotted lines that blocks keep for themselves."""


def sorted_blocks(cards: list[Card], report: Report) -> Block:
    """The circuit's outermost block; what stands in a wrong place is reported."""
    here = top = Block("", None, None)
    for card in cards:
        if card.word == ".subckt":
            here = _opened(card, here, report)
        elif card.word == ".ends":
            if here.parent is None:
                report.wrong("E131", "this '.ends' closes no subcircuit", card.span())
            here = here.parent or here
        elif card.word == ".global":
            top.globals |= {token.text for token in card.plain}
        else:
            _take(card, here, report)
    while here.parent is not None:
        assert here.head is not None
        report.wrong(
            "E131", f"the subcircuit '{here.name}' has no '.ends'", here.head.span(), hint="add the missing '.ends'"
        )
        here = here.parent
    return top


def _take(card: Card, here: Block, report: Report) -> None:
    """A line of a block into its place."""
    word = card.word
    if word in (".param", ".csparam"):
        for given in parameters_of(card):
            here.given[given.name] = given
        here.functions.update(_functions_of(card))
    elif word == ".model":
        if len(card.plain) < 2:
            report.wrong("E131", "a .model needs a name and a type", card.span(), hint=".model dm d(is=1e-14)")
        else:
            here.models[card.plain[0].text] = card
    elif word == ".func":
        _function(card, here, report)
    elif word.startswith("."):
        here.control.append(card)
    else:
        here.elements.append(card)


def _opened(card: Card, here: Block, report: Report) -> Block:
    plain = [token.text for token in card.plain if token.text not in ("params:", "params")]
    if not plain:
        report.wrong("E131", "a .subckt needs a name", card.span(), hint=".subckt amplifier in out gain=10")
        plain = ["?"]
    block = Block(plain[0], card, here, tuple(plain[1:]))
    if plain[0] in here.blocks:
        report.wrong("E221", f"the subcircuit '{plain[0]}' is defined twice", card.span())
    here.blocks[plain[0]] = block
    for given in _pairs(card, 0, True):
        block.given[given.name] = given
    return block


_PARAMETER = re.compile(
    r"([a-z_]\w*)\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|'[^']*'|\"[^\"]*\"|(?:[a-z_]\w*\([^()={}']*\)|[^\s,={}'])+"
    r"(?:\s*[-+*/^]\s*(?:[a-z_]\w*\([^()={}']*\)|[^\s,={}'])+)*(?!\s*=))",
    re.IGNORECASE,
)


def _pairs(card: Card, start: int, outside: bool) -> Iterator[ParameterText]:
    """Every `name = value`, `name = {expression}`, also `name = a*b` without braces."""
    for match in _PARAMETER.finditer(card.text, start):
        bare = match[2][0] in "{'\""
        yield ParameterText(
            card, match[1].lower(), match[2][1:-1] if bare else match[2], match.start(2) + bare, outside
        )


def parameters_of(card: Card) -> Iterator[ParameterText]:
    """Those of a `.param` line."""
    return _pairs(card, card.tokens[0].end, False)


_DEFINED = re.compile(r"([a-z_]\w*)\s*\(([^()=]*)\)\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|'([^']*)')", re.IGNORECASE)


def _functions_of(card: Card) -> Iterator[tuple[str, Function]]:
    """Functions that a `.param` line defines: `twice(x) = {2*x}`."""
    for match in _DEFINED.finditer(card.text):
        which = 3 if match[3] is not None else 4
        arguments = tuple(a.strip().lower() for a in match[2].split(",") if a.strip())
        yield match[1].lower(), (arguments, card, match[which], match.start(which))


_FUNCTION = re.compile(
    r"\.func\s+([a-z_]\w*)\s*\(([^)]*)\)\s*=?\s*(?:\{(.*)\}|'(.*)'|(.*))\s*$", re.IGNORECASE | re.DOTALL
)


def _function(card: Card, here: Block, report: Report) -> None:
    match = _FUNCTION.match(card.text)
    if match is None:
        report.wrong(
            "E131", "a .func is a name, its arguments, and an expression", card.span(), hint=".func half(x) {x/2}"
        )
        return
    which = next(i for i in (3, 4, 5) if match[i] is not None)
    arguments = tuple(a.strip().lower() for a in match[2].split(",") if a.strip())
    here.functions[match[1].lower()] = (arguments, card, match[which], match.start(which))
