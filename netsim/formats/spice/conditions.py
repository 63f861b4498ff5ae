"""`.if (condition)`, `.elseif`, `.else`, `.endif`: the cards of the branch that holds.

A condition is a number of the parameters that are given outside of conditions or in branches that hold; it is known
when the circuit is read, so these parameters keep their values (`-p` does not change which branch holds).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netsim.formats.spice.blocks import ParameterText, parameters_of
from netsim.formats.spice.cards import Card, Report
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import value_of
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Expr, Name, Number

WORDS = (".if", ".elseif", ".else", ".endif")


class NumericParameters:
    """The parameters of the circuit as numbers."""

    def __init__(self, given: dict[str, ParameterText], celsius: float = 27.0):
        self.given, self.celsius = given, celsius
        self.functions: Mapping[str, tuple[tuple[str, ...], Card, str, int]] = {}

    def parameter(self, name: str, span: Span) -> Expr:
        """Its value."""
        if name in ("temper", "temp") and name not in self.given:
            return Number(self.celsius, span=span)
        if name not in self.given:
            raise InputError(Problem("E206", f"nothing is called '{name}' where the circuit is read", span))
        found = self.given.pop(name)  # one that needs itself is not there
        try:
            return Number(self.number(found.card, found.text, found.start), span=span)
        finally:
            self.given[name] = found

    def number(self, card: Card, text: str, start: int) -> float:
        """The value of an expression. Raises `InputError`."""
        plain = value_of(text.strip())
        return plain if plain is not None else value(expression(card, text, start, self))

    def potential(self, node: str, span: Span) -> Expr:
        raise InputError(Problem("E132", f"v({node}) is not known when the circuit is read", span))

    current = potential

    def block_output(self, type_: str, reads: Expr, bindings: Mapping[str, Expr], starts: Mapping[str, Expr]) -> Expr:
        raise InputError(Problem("E132", "a function with memory is not known when the circuit is read", reads.span))

    def drawn(self, name: str, span: Span) -> None:
        """A random function is its nominal value."""


def _unknown(name: Name) -> Typed:
    raise InputError(Problem("E206", f"nothing is called '{name.parts[0].text}' where the circuit is read", name.span))


def value(number: Expr) -> float:
    """A constant expression as a number. Raises `InputError`."""
    return float(evaluate(number, Scope(_unknown)).value)


def without_conditions(cards: list[Card], report: Report) -> Iterator[Card]:
    """The cards without conditions and without the branches that do not hold; what is wrong is reported."""
    known, branches = NumericParameters({}), list[_Branch]()
    for card in _outside(cards):
        if card.word in (".param", ".csparam"):
            known.given.update((given.name, given) for given in parameters_of(card))
    for card in cards:
        if card.word in WORDS:
            _turn(card, branches, known, report)
        elif all(branch.holds for branch in branches):
            if branches and card.word == ".param":
                known.given.update((given.name, given) for given in parameters_of(card))
            yield card
    for branch in branches:
        report.wrong("E131", "this '.if' has no '.endif'", branch.first.span())


@dataclass(frozen=True)
class _Branch:
    """A branch of an `.if`: whether one of its branches has held, and whether this one holds."""

    first: Card
    held: bool
    holds: bool


def _turn(card: Card, branches: list[_Branch], known: NumericParameters, report: Report) -> None:
    """A line of an `.if`: the branches that are open behind it."""
    if card.word == ".if":
        holds = all(branch.holds for branch in branches) and _truth(card, known, report)
        branches.append(_Branch(card, holds, holds))
    elif not branches:
        report.wrong("E131", f"this '{card.word}' belongs to no '.if'", card.span())
    else:
        last = branches.pop()
        if card.word != ".endif":
            possible = not last.held and all(branch.holds for branch in branches)
            holds = possible and (card.word == ".else" or _truth(card, known, report))
            branches.append(_Branch(last.first, last.held or holds, holds))


def _outside(cards: list[Card]) -> Iterator[Card]:
    """Cards in no subcircuit and under no condition."""
    depth = 0
    for card in cards:
        depth += (card.word in (".subckt", ".if")) - (card.word in (".ends", ".endif"))
        if depth == 0:
            yield card


def _truth(card: Card, known: NumericParameters, report: Report) -> bool:
    start = card.tokens[0].end
    text = card.text[start:].replace("{", "(").replace("}", ")")
    if "=" in text and not any(sign in text for sign in ("==", "<=", ">=", "!=")):
        text = _doubled(text)
    try:
        return known.number(card, text, start) != 0
    except InputError as error:
        report.problems += error.problems
        return False


def _doubled(text: str) -> str:
    """`a = b` compares, as ngspice reads it."""
    return text.replace("=", "==")
