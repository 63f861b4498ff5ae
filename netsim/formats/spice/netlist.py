"""A SPICE circuit as a netlist of the language: a syntax tree whose places are those of the circuit's file.

.model dm d(...)        ->  model dm (p, n : electrical) ... end       with the library's element `device` inside
.subckt amp in out ...  ->  model amp (in_, out : electrical) ... end
R1 a b 1k               ->  r1 resistor (a, b) R = 1 kOhm
.tran 1u 1m             ->  run transient(stop = 1 ms, sample = 1 us)
"""

from collections.abc import Collection
from pathlib import Path

from netsim.formats.format import Format
from netsim.formats.spice.analyses.control import INSIDE, beginnings, initial_potentials, read_options, statements
from netsim.formats.spice.analyses.sweeps import with_swept_parameters
from netsim.formats.spice.blocks import Block, sorted_blocks
from netsim.formats.spice.cards import Card, Report, one_per_kind, read_cards
from netsim.formats.spice.circuit import Circuit
from netsim.formats.spice.conditions import without_conditions
from netsim.formats.spice.elements.devices import DEVICES, subcircuit
from netsim.formats.spice.elements.semiconducting.parameters import LETTERS
from netsim.formats.spice.elements.semiconducting.semiconductors import semiconductor
from netsim.formats.spice.elements.switches import KINDS, switch
from netsim.formats.spice.elements.windings import coupled
from netsim.formats.spice.elements.words_of_cards import require_words
from netsim.formats.spice.scopes import Scope, ScopedDefinition
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Instance, ModelDef, Program, Statement, Terminal, Use

UNKNOWN = {"n": "a Verilog-A element"}


def circuit_program(path: Path, types: Collection[str] = (), everything: bool = False) -> Program:
    """The netlist of a circuit's file; definitions get no name in `types`; `everything` makes models of unused
    subcircuits too.

    Raises `InputError` with every mistake found.
    """
    report = Report()
    cards = list(without_conditions(read_cards(path, report), report))
    top = sorted_blocks(cards, report)
    circuit = Circuit(report, set(types))
    read_options(top.control, circuit)
    with_swept_parameters(top, circuit)
    scope = Scope(top, circuit, None)
    made = _contents(scope, ())
    for block in top.blocks.values() if everything else ():
        _definition(block, scope, ())
    after = list(statements(top.control, scope))
    report.problems += [
        problem
        for block in _below(top)
        for card in block.control
        if card.word not in INSIDE
        for problem in _misplaced(card)
    ]
    if report.problems:
        raise InputError(one_per_kind(report.problems))
    used = (Use("electrical", False), *([Use("signal", False)] if circuit.signals else []))
    body = (*used, *scope.declared(False), *circuit.definitions, *made, *after)
    return Program(body, str(path), tuple(one_per_kind(report.notes)))


def _below(block: Block) -> list[Block]:
    return [inner for child in block.blocks.values() for inner in (child, *_below(child))]


def _misplaced(card: Card) -> list[Problem]:
    return [
        Problem(
            "E223", f"'{card.word}' belongs to the circuit and is not allowed in a subcircuit", card.at(card.tokens[0])
        )
    ]


def _contents(scope: Scope, above: tuple[Block, ...]) -> list[Statement]:
    """The elements of a block as instances; mistakes are reported."""
    report, made = scope.circuit.report, list[Statement]()
    windings: set[str] = set()
    try:
        if scope.above is None and scope.circuit.uic:
            scope.circuit.potentials = initial_potentials(scope.block.control, scope)
        instances, windings = coupled(scope)
        made += instances
    except InputError as error:
        report.problems += error.problems
    for card in _readers_last(scope.block.elements):
        if card.word in windings or card.word[0] == "k":
            continue
        try:
            made.append(_element(card, scope, above))
        except InputError as error:
            report.problems += error.problems
            for token in card.plain:  # what it would have connected is not missed once more
                scope.touched.setdefault(token.text, []).append(card.word[0])
    scope.close()
    made += scope.beside
    order = {scope.elements[card.word]: i for i, card in enumerate(scope.block.elements)}
    return sorted(made, key=lambda s: order.get(s.name.parts[0].text, len(order)) if isinstance(s, Instance) else -1)


def _readers_last(cards: list[Card]) -> list[Card]:
    """What reads potentials and currents comes behind what has them."""
    return sorted(
        cards, key=lambda card: card.word[0] in "afhsw" or any(mark in card.text.lower() for mark in ("v(", "i("))
    )


def _element(card: Card, scope: Scope, above: tuple[Block, ...]) -> Instance:
    letter = card.word[0]
    if letter in DEVICES:
        return DEVICES[letter](card, scope)
    if letter in LETTERS:
        return semiconductor(card, scope)
    if letter in KINDS:
        return switch(card, scope)
    if letter == "x":
        return _expanded(card, scope, above)
    if letter in UNKNOWN:
        raise InputError(
            Problem("E130", f"'{card.word}' is not supported: it is {UNKNOWN[letter]}", card.at(card.tokens[0]))
        )
    hint = "an element's name begins with one of R C L K V I E F G H B T O Y U P D Q M J Z S W X"
    raise InputError(Problem("E130", f"'{card.word}' is not an element", card.at(card.tokens[0]), hint=hint))


def _expanded(card: Card, scope: Scope, above: tuple[Block, ...]) -> Instance:
    tokens = require_words(card, 1, "X1 node node subcircuit")
    names = [token for token in tokens if token.text not in ("params:", "params")]
    block = scope.block.block(names[-1].text)
    if block is None:
        hint = nearest(names[-1].text, scope.block.visible_models()) or "is an .include missing?"
        raise InputError(Problem("E226", f"there is no subcircuit '{names[-1].text}'", card.at(names[-1]), hint=hint))
    if block in above:
        raise InputError(Problem("E230", f"the subcircuit '{block.name}' contains itself", card.at(names[-1])))
    made = _definition(block, scope, above)
    scope.made[card.word] = made
    return subcircuit(card, scope, made)


def _definition(block: Block, scope: Scope, above: tuple[Block, ...]) -> ScopedDefinition:
    """The model of a subcircuit, made where it is used first."""
    assert block.parent is not None and block.head is not None
    outer = scope.of_block(block.parent)
    known = outer.made.get(f":{block.name}")
    if known is not None:
        return known
    inner, span = Scope(block, scope.circuit, outer), block.head.span()
    ports = tuple(Terminal(inner.node(port, span).parts[0].text, "electrical", span=span) for port in block.ports)
    body = [*_contents(inner, (*above, block)), *beginnings(block.control, inner)]
    title = scope.circuit.type_name(block.name if outer.above is None else f"{outer.block.name}_{block.name}")
    try:
        declared = (*inner.declared(True), *inner.declared(False))
    except InputError as error:
        scope.circuit.report.problems += error.problems
        declared = ()
    parameters, terminals = inner.taken_from_outside()
    scope.circuit.definitions.append(
        ModelDef(title, (*ports, *terminals), (*declared, *parameters, *body), f".subckt {block.name}", span=span)
    )
    outer.made[f":{block.name}"] = made = inner.finish(title)
    return made


FORMAT = Format(
    "spice",
    (".cir", ".ckt", ".sp", ".spice", ".spi"),
    program=lambda path, alone, types: circuit_program(path, types("electrical"), everything=not alone),
)
