"""Lines: T without losses, O (LTRA) and Y (TXL) with them, U of distributed resistance and capacitance.

A line with inductance and losses is `line_with_losses` of the library. One of resistance and capacitance alone is a
ladder: of equal sections, or, as in ngspice 39, of sections that grow by the factor k from both ends to the middle (U).
"""

import math
from itertools import pairwise

from netsim.formats.spice.cards import Card
from netsim.formats.spice.elements.distributed.relaxations import Figures, relaxing_line
from netsim.formats.spice.elements.models import Model, found_model
from netsim.formats.spice.elements.sources import times
from netsim.formats.spice.elements.words_of_cards import report_ignored, require_words
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Call, Expr, Instance, Name, Number
from netsim.text.units import parse_unit

PIECES = 16
"""Pieces of a line with losses; sections of a ladder are twice as many."""
_TYPES = {"o": ("ltra",), "y": ("txl",), "u": ("urc",)}


def line(card: Card, scope: Scope) -> Instance:
    """`T1 a b c d z0=50 td=10n`: a line without losses; in place of its delay its length as a number of waves at a
    frequency, `f=1meg nl=0.25`."""
    shape = "T1 node node node node z0=50 td=10n (or f=25meg nl=0.25 in place of td)"
    tokens = require_words(card, 4, shape)
    nodes = scope.connected(card, tokens[:4])
    report_ignored(card, scope.circuit.report, tokens[4:])
    impedance = card.given.get("z0", card.given.get("zo"))
    if impedance is None or not {"td", "f"} & set(card.given):
        raise InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))
    if "td" in card.given:
        delay = scope.value(card, card.given["td"], "s")
    else:
        waves = scope.value(card, card.given["nl"]) if "nl" in card.given else Number(0.25)
        delay = Binary("/", waves, scope.value(card, card.given["f"], "Hz"))
    if "ic" in card.given and scope.circuit.uic:
        note = "with `uic` the line starts without waves in it"
        scope.circuit.report.note(f"ic= of the line '{card.word}' is ignored", card.at(card.given["ic"]), hint=note)
    return scope.instance(card, "lossless_line", nodes, {"Z": scope.value(card, impedance, "Ohm"), "T": delay})


def lossy(card: Card, scope: Scope) -> Instance:
    """`O1 a b c d model`, `Y1 a b c d model`: r, l, c, g per length, and a length."""
    letter = card.word[0]
    tokens = require_words(card, 5, f"{letter.upper()}1 node node node node model")
    model = found_model(card, scope, tokens[4], _TYPES[letter])
    report_ignored(card, scope.circuit.report, tokens[5:])
    nodes = scope.connected(card, tokens[:4])
    given = {name: model.value(name, scope, unit) for name, unit in _PER_LENGTH.items()}
    length = next((model.value(n, scope, "m") for n in ("len", "length") if n in model.given), Number(1.0, "m"))
    if "length" in card.given:
        length = scope.value(card, card.given["length"], "m")
    if _is_zero(given["c"]):
        raise InputError(Problem("E131", "a line without capacitance is no line", model.card.span()))
    if _is_zero(given["l"]):
        total = [times(given[name], length) for name in "rc"]
        return _ladder(card, scope, (nodes[0], nodes[2], nodes[1]), total, [1.0] * (2 * PIECES))
    if _is_zero(given["r"]) and _is_zero(given["g"]):
        from_l, from_c = given["l"], given["c"]
        impedance, delay = Binary("/", from_l, from_c), Binary("*", from_l, from_c)
        root = {"Z": _root(impedance), "T": times(length, _root(delay))}
        return scope.instance(card, "lossless_line", nodes, root)
    numbers = [_plain(value) for value in (given["r"], given["l"], given["c"], given["g"], length)]
    if None not in numbers and numbers[0]:
        return relaxing_line(card, scope, nodes, Figures(*(number or 0.0 for number in numbers)))
    figures = {"R": given["r"], "L": given["l"], "C": given["c"], "G": given["g"], "length": length}
    return scope.instance(card, "line_with_losses", nodes, {"pieces": Number(float(PIECES)), **figures})


_PER_LENGTH = {"r": "Ohm/m", "l": "H/m", "c": "F/m", "g": "S/m"}


def distributed(card: Card, scope: Scope) -> Instance:
    """`U1 a b reference model l=1m n=6`: distributed resistance and capacitance."""
    tokens = require_words(card, 4, "U1 node node node model l=1m")
    model = found_model(card, scope, tokens[3], _TYPES["u"])
    report_ignored(card, scope.circuit.report, tokens[4:])
    nodes = scope.connected(card, tokens[:3])
    if "isperl" in model.given:
        message = "a line with junctions along it (isperl) is not known"
        raise InputError(Problem("E130", message, model.card.span()))
    length = scope.number(card, card.given["l"]) if "l" in card.given else 1.0
    k, r, c = model.number("k", 1.5), model.number("rperl", 1000.0), model.number("cperl", 1e-12)
    lumps = int(scope.number(card, card.given["n"])) if "n" in card.given else _lumps(model, k, r * c * length**2)
    half = [k**i for i in range(lumps)]
    total: list[Expr] = [Number(r * length, "Ohm"), Number(c * length, "F")]
    return _ladder(card, scope, nodes, total, [*half, *reversed(half)])


def _lumps(model: Model, k: float, product: float) -> int:
    norm = model.number("fmax", 1e9) * product * 2 * math.pi
    return 3 if norm < 35 else int(max(3.0, math.log(norm * ((k - 1) / k) ** 2) / math.log(k)))


def _ladder(card: Card, scope: Scope, ends: tuple[Name, ...], total: list[Expr], weights: list[float]) -> Instance:
    """Resistances in proportion to the weights, and between two of them a capacitance in proportion to the smaller
    one; the last resistance is the element itself."""
    at, far, reference = ends
    between = [min(a, b) for a, b in pairwise(weights)]
    span, last = card.span(), len(weights) - 1
    for i, weight in enumerate(weights):
        share = times(total[0], Number(weight / sum(weights)))
        if i == last:
            return scope.instance(card, "resistor", (at, far), {"R": share})
        node = scope.inner_node(f"{card.word}_{i}", span)
        scope.part(f"{card.word}_r{i}", "resistor", (at, node), {"R": share}, span)
        size = times(total[1], Number(between[i] / sum(between)))
        scope.part(f"{card.word}_c{i}", "capacitor", (node, reference), {"C": size}, span)
        at = node
    raise AssertionError


def _plain(value: Expr) -> float | None:
    """A literal in SI, None for an expression."""
    if not isinstance(value, Number):
        return None
    return value.value * (parse_unit(value.unit).factor if value.unit else 1.0)


def _root(value: Expr) -> Expr:
    return Call("sqrt", (value,))


def _is_zero(value: Expr) -> bool:
    return isinstance(value, Number) and value.value == 0
