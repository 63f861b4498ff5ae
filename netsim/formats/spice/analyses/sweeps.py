"""What varies from run to run: `.dc`, `.step` and a list of temperatures in `.temp`.

.dc v1 0 5 1m             ->  run sweep_static(over = v1.v, from = 0 V, to = 5 V, points = 5001, folds = jump)
.dc v1 0 5 1m v2 0 2 1    ->  the same with family = [v2.v = [0 V, 1 V, 2 V]]
.step param r 1k 3k 1k    ->  run sweep(over = [r = [1 k, 2 k, 3 k]], ...) instead of run transient(...)

The temperature, a resistor and a stepped source are varied as parameters: `with_swept_parameters` makes them so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.formats.spice.blocks import Block, ParameterText
from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.circuit import Circuit
from netsim.formats.spice.conditions import NumericParameters
from netsim.formats.spice.elements.sources import WAVES
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binary, Binding, Expr, Name, Number, Part, Run, Vector

TEMPERATURES = ("temp", "temper")
SPACINGS = ("lin", "dec", "oct", "list")
INPUTS = {"v": ("v", "V"), "i": ("I", "A")}
USAGE = {
    ".dc": ".dc v1 0 5 0.1, or .dc v1 0 5 0.1 v2 1 3 1",
    ".step": ".step param r 1k 10k 1k, .step dec param c 1n 1u 10, or .step v1 list 1 2 5",
}
MOST = 1e6
"""Values of one sweep."""


@dataclass(frozen=True)
class SweptQuantity:
    """What a line varies, by its name there: the token, and the values."""

    token: Token
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        return self.token.text


def with_swept_parameters(top: Block, circuit: Circuit) -> None:
    """Make parameters of what varies and is none: the temperature, values of resistors and (of `.step`) of sources.

    Mistakes are reported when the lines are read once more as statements."""
    for card in top.control:
        try:
            for each in swept_quantities(card, top, circuit):
                if each.name in TEMPERATURES:
                    top.given.setdefault("temper", ParameterText(card, "temper", repr(circuit.celsius), 0))
                    circuit.warms = True
                elif each.name[0] == "r" or (each.name[0] in INPUTS and card.word == ".step"):
                    _as_parameter(each.name, top, circuit)
        except InputError:
            continue


def _as_parameter(element: str, top: Block, circuit: Circuit) -> None:
    """Let the element's value be the parameter `ELEMENT_value`. Raises `InputError` for one that has no plain value."""
    at = next((k for k, card in enumerate(top.elements) if card.word == element), None)
    if at is None or element in circuit.values:
        return
    card = top.elements[at]
    tokens = card.plain
    known = [t for t in tokens[2:] if t.text != "dc"]
    token = card.given.get("dc", card.given.get("r", known[0] if known else None))
    if token is None or token.text in (*WAVES, "ac") or (token.kind == "word" and top.model(token.text)):
        raise _without_value(card)
    name = f"{element}_value"
    top.given[name] = ParameterText(card, name, card.text[token.start : token.end], token.start)
    first, last = token.start - (token.kind == "expression"), token.end + (token.kind == "expression")
    text = f"{card.text[:first]}{{{name}}}{card.text[last:]}"
    top.elements[at] = replace(card, text=text, pieces=card.pieces[:1])
    circuit.values[element] = name


def _without_value(card: Card) -> InputError:
    hint = "a resistor or a constant source with a value on its line is: v1 in 0 5"
    return InputError(
        Problem("E132", f"'{card.word}' cannot be stepped: it has no plain value", card.span(), hint=hint)
    )


def swept_quantities(card: Card, top: Block, circuit: Circuit) -> list[SweptQuantity]:
    """What a `.dc`, `.step` or `.temp` line varies, the innermost first. Raises `InputError`."""
    tokens = list(card.plain)
    if card.word == ".temp":
        return (
            [SweptQuantity(replace(card.tokens[0], text="temper"), _numbers(card, tokens, top, circuit))]
            if tokens[1:]
            else []
        )
    if card.word not in USAGE:
        return []
    found = []
    while tokens:
        each, tokens = _one(card, tokens, top, circuit)
        found.append(each)
    if not found:
        raise _usage(card)
    return found


def _one(card: Card, tokens: list[Token], top: Block, circuit: Circuit) -> tuple[SweptQuantity, list[Token]]:
    words = [token.text for token in tokens]
    spacing = words[0] if words[0] in SPACINGS else "lin"
    tokens = tokens[words[0] in SPACINGS :]
    tokens = tokens[1:] if tokens and tokens[0].text == "param" else tokens
    if len(tokens) > 1 and tokens[1].text in SPACINGS:
        spacing, tokens = tokens[1].text, [tokens[0], *tokens[2:]]
    if len(tokens) < (2 if spacing == "list" else 4):
        raise _usage(card)
    figures = tokens[1:] if spacing == "list" else tokens[1:4]
    values = _numbers(card, figures, top, circuit)
    listed = values if spacing == "list" else tuple(_spaced(card, spacing, *values))
    return SweptQuantity(tokens[0], listed), tokens[1 + len(figures) :]


def _spaced(card: Card, spacing: str, first: float, last: float, step: float) -> list[float]:
    """Equal steps, or so many values in a decade or an octave."""
    if spacing == "lin":
        step = abs(step) if last > first else -abs(step)
        count = (last - first) / step if step else 0.0
        if not count < MOST:
            raise _usage(card)
        return [first + k * step for k in range(int(count * (1 + 1e-12) + 1e-9) + 1)]
    if not (first > 0 and last > first and step >= 1):
        raise _usage(card)
    count = np.log(last / first) / np.log(10.0 if spacing == "dec" else 2.0) * step
    base = (10.0 if spacing == "dec" else 2.0) ** (1.0 / step)
    return [first * base**k for k in range(int(count * (1 + 1e-12) + 1e-9) + 1)]


def _numbers(card: Card, tokens: Sequence[Token], top: Block, circuit: Circuit) -> tuple[float, ...]:
    known = NumericParameters(top.given, circuit.celsius)
    return tuple(known.number(card, token.text, token.start) for token in tokens)


def _usage(card: Card) -> InputError:
    return InputError(Problem("E131", f"'{card.word}' is written {USAGE[card.word]}", card.span()))


def swept_name(card: Card, each: SweptQuantity, scope: Scope) -> tuple[Name, str]:
    """What is varied as the netlist calls it, and its unit. Raises `InputError`."""
    name, span = each.name, card.at(each.token)
    if name in TEMPERATURES:
        name, unit = "temper", ""
    elif name in scope.circuit.values:
        name, unit = scope.circuit.values[name], ""
    elif name in scope.elements and name[0] in INPUTS:
        if card.word == ".step":
            raise _without_value(next(c for c in scope.block.elements if c.word == name))
        quantity, unit = INPUTS[name[0]]
        return Name((Part(scope.elements[name]), Part(quantity)), span=span), unit
    if name not in scope.parameters:
        hint = nearest(name, [*scope.elements, *scope.parameters]) or "sources, resistors, parameters and temp are"
        raise InputError(Problem("E133", f"'{each.name}' cannot be varied", span, hint=hint))
    return Name((Part(scope.parameters[name]),), span=span), ""


def _item(card: Card, each: SweptQuantity, scope: Scope) -> Binary:
    name, unit = swept_name(card, each, scope)
    values = Vector(tuple(literal(value, card.span(), unit) for value in each.values), span=card.span())
    return Binary("=", name, values, span=card.span())


@dataclass(frozen=True)
class Steps:
    """What all analyses of the circuit are repeated for: items `name = [values]`, the innermost first."""

    items: tuple[Binary, ...] = ()

    def serve(self, run: Run) -> bool:
        """Whether the run can be repeated for the values."""
        return run.analysis in TAKES_FAMILIES or (run.analysis == LOCUS and len(self.items) == 1)

    def of(self, run: Run) -> Run:
        """The run for each of the values."""
        if not self.items:
            return run
        span = run.span
        options = {binding.name: binding for binding in run.options}
        if run.analysis == "transient":
            over = Binding("over", Vector(self.items, span=span), span=span)
            return Run("sweep", (over, *(b for n, b in options.items())), span=span)
        if run.analysis == "static":
            return _curves(self.items[0], self.items[1:], run)
        if run.analysis == LOCUS:
            (item,) = self.items
            more = ("over", item.left), ("values", item.right)
            return Run(LOCUS, (*run.options, *(Binding(n, v, span=span) for n, v in more)), span=span)
        family = options.pop("family", None)
        inner = family.value.items if family and isinstance(family.value, Vector) else ()
        given = Binding("family", Vector((*inner, *self.items), span=span), span=span)
        return Run(run.analysis, (*options.values(), given), span=span)


TAKES_FAMILIES = ("transient", "static", "sweep_static", "ac", "transfer", "noise")
"""Analyses that can be repeated for values."""
LOCUS = "poles"
"""That which can be for those of one quantity."""


def steps_of(cards: Sequence[Card], scope: Scope) -> Steps:
    """Those of the `.step` lines and of `.temp`. Raises `InputError`."""
    return Steps(
        tuple(
            _item(card, each, scope)
            for card in cards
            if card.word in (".step", ".temp")
            for each in swept_quantities(card, scope.block, scope.circuit)
        )
    )


def characteristics(card: Card, scope: Scope) -> Iterator[Run]:
    """The run line of a `.dc` card. Raises `InputError`."""
    first, *others = [_item(card, each, scope) for each in swept_quantities(card, scope.block, scope.circuit)]
    yield _curves(first, others, Run("static", span=card.span()))


def swept_unit(cards: Sequence[Card], scope: Scope) -> str:
    """The unit of what the first `.dc` line sweeps."""
    for card in cards:
        if card.word == ".dc":
            try:
                return swept_name(card, swept_quantities(card, scope.block, scope.circuit)[0], scope)[1]
            except InputError:  # told where the line becomes a run
                return ""
    return ""


def _curves(first: Binary, others: Sequence[Binary], run: Run) -> Run:
    """Operating points over one quantity, curve after curve of the others."""
    assert isinstance(first.right, Vector)
    span = run.span
    given: dict[str, Expr] = {
        "over": first.left,
        **_over_values(first.right),
        "folds": Name((Part("jump"),), span=span),
    }
    if others:
        given["family"] = Vector(tuple(others), span=span)
    return Run("sweep_static", tuple(Binding(n, v, span=span) for n, v in given.items()), span=span)


def _over_values(listed: Vector) -> Mapping[str, Expr]:
    """Equal steps as a range."""
    values = np.array([_plain(item) for item in listed.items])
    steps = np.diff(values)
    if len(values) < 2 or np.ptp(steps) > 1e-9 * np.abs(steps).max():
        return {"values": listed}
    return {"from": listed.items[0], "to": listed.items[-1], "points": Number(float(len(values)), span=listed.span)}


def _plain(item: Expr) -> float:
    match item:
        case Number(value, _):
            return value
        case _:
            return -item.operand.value  # type: ignore[union-attr]
