"""`.ac`, `.noise` and `.pz` as run lines: all sources with an `ac` value act together, with its size and phase.

.ac dec 10 1 1meg          ->  run ac(from = 1 Hz, to = 1 MHz, per_decade = 10, inputs = [v1.v], amplitudes = [1], ...)
.noise v(out) v1 dec 10 1 1meg  ->  run noise(output = out.v, input = v1.v, from = 1 Hz, to = 1 MHz, per_decade = 10)
.pz 1 0 3 0 vol pz         ->  run poles(input = v1.v, output = n3.v), where a source feeds the nodes 1 and 0
"""

import re
from collections.abc import Iterator

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.circuit import GROUNDS, KELVIN
from netsim.formats.spice.elements.sources import plus, port_of
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import in_unit
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binary, Binding, Call, Expr, Name, Number, Part, Plot, Run, Statement, Vector, World

LINES = (".ac", ".noise", ".pz", ".sp")
SPACINGS = {"dec": "per_decade", "oct": "per_octave", "lin": "points"}
INPUT = {"v": "v", "i": "I"}
USAGE = {
    ".ac": ".ac dec 10 1 1meg",
    ".noise": ".noise v(out) v1 dec 10 1 1meg",
    ".pz": ".pz 1 0 3 0 vol pz",
    ".sp": ".sp dec 10 1meg 1g",
}
NOISE = re.compile(r"(?:v\()?([oi])noise(_spectrum|_total)?\)?")
"""Of the noise at the output and at the input: the density, or the effective value of the whole band."""
DENSITY, TOTAL = "density", "_total"
PROBE = re.compile(r"v(db|p|m|r|i)\(\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*)?\)", re.IGNORECASE)
SERIES = {"db": "db", "p": "phase", "m": "gain", "r": "real", "i": "imag"}


def small_signal(card: Card, scope: Scope) -> Iterator[Statement]:
    """The run line of a card; raises `InputError`."""
    span = card.span()
    if card.word == ".ac":
        if given := driven_together(card, card.plain, scope):
            yield _run("ac", card, given)
    elif card.word == ".noise":
        output, source, grid = noise_of(card, scope)
        yield World((Binding("ambient", _ambient(card, scope), span=span),), span=span)
        yield _run("noise", card, [("output", output), ("input", source), *_grid(card, grid, scope)])
    elif card.word == ".sp":
        ports = sorted((n, c.word) for c in scope.block.elements if c.word[0] == "v" and (n := port_of(c)) is not None)
        named = Vector(tuple(Name((Part(scope.elements[word]),), span=span) for _, word in ports), span=span)
        if not ports:
            hint = "a port is a source with its number: v1 in 0 dc 0 portnum 1 z0 50"
            return scope.circuit.report.note("'.sp' is ignored: the circuit has no port", span, hint=hint)
        yield _run("ports", card, [("ports", named), *_grid(card, card.plain, scope)])
    else:
        yield from _poles(card, scope)


def driven_together(card: Card, tokens: tuple[Token, ...], scope: Scope) -> list[tuple[str, Expr]]:
    """Frequencies, and all sources with an `ac` value as inputs that act together; [] with a note where none has one.
    Raises `InputError`."""
    driven = list(_driven(scope))
    if not driven:
        hint = "write it behind a source: v1 in 0 ac 1"
        scope.circuit.report.note(f"'{card.word}' is ignored: no source has an ac value", card.span(), hint=hint)
        return []
    names, sizes, phases = (Vector(tuple(column), span=card.span()) for column in zip(*driven))
    return [*_grid(card, tokens, scope), ("inputs", names), ("amplitudes", sizes), ("phases", phases)]


def noise_of(card: Card, scope: Scope) -> tuple[Expr, Name, tuple[Token, ...]]:
    """The output and the input of a `.noise` line, and what stands behind them. Raises `InputError`."""
    match = re.search(r"v\(\s*[^()]*\)", card.text, re.IGNORECASE)
    rest = [t for t in card.tokens if match and t.start >= match.end()]
    if match is None or len(rest) < 5 or rest[0].text not in scope.elements or rest[0].text[0] not in INPUT:
        raise _usage(card)
    output = quantity(expression(card, match[0], match.start(), scope))
    return output, _input(rest[0].text, scope), tuple(rest[1:])


def noises_of(scope: Scope) -> dict[str, tuple[Expr, str]]:
    """The output (o) and the input (i) of the first `.noise` line with their units; {} where there is none. Raises
    `InputError`."""
    card = next((card for card in scope.block.control if card.word == ".noise"), None)
    if card is None:
        return {}
    output, source, _ = noise_of(card, scope)
    return {"o": (output, "V"), "i": (source, {"v": "V"}.get(source.parts[-1].text, "A"))}


def quantity(probe: Expr) -> Expr:
    """The quantity of which a probe is the number: a.v of a.v/1 V."""
    return probe.left if isinstance(probe, Binary) and probe.op == "/" else probe


def _driven(scope: Scope, path: tuple[Part, ...] = ()) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Name, size and phase of every source with an `ac` value, also of those in subcircuits."""
    for card in scope.block.elements:
        if card.word[0] in INPUT and (figures := _ac_figures(card)) is not None:
            size = scope.value(card, figures[0]) if figures else Number(1.0)
            phase = scope.value(card, figures[1], "deg") if len(figures) > 1 else Number(0.0)
            name = Name((*path, *_input(card.word, scope).parts))
            if path and not all(isinstance(value, Number) for value in (size, phase)):
                hint = "write the ac value of a source in a subcircuit as a number"
                raise InputError(Problem("E132", f"the ac value of '{card.word}' is no number", card.span(), hint=hint))
            yield name, size, phase
        elif (made := scope.made.get(card.word)) is not None and made.scope is not None:
            yield from _driven(made.scope, (*path, Part(scope.elements[card.word])))


def _ac_figures(card: Card) -> list[Token] | None:
    """What stands behind `ac`: size and phase; None for a source without."""
    if "ac" in card.given:
        return [card.given["ac"]]
    at = next((i for i, t in enumerate(card.plain) if t.text == "ac"), None)
    if at is None:
        return None
    figures: list[Token] = []
    for token in card.plain[at + 1 : at + 3]:
        if token.kind == "word" and token.text.isalpha():
            break
        figures.append(token)
    return figures


def _ambient(card: Card, scope: Scope) -> Expr:
    plain = Number(scope.circuit.celsius + KELVIN, "K")
    return in_unit(plus(scope.celsius(card.span()), Number(KELVIN)), "K") if scope.circuit.warms else plain


def _input(element: str, scope: Scope) -> Name:
    return Name((Part(scope.elements[element]), Part(INPUT[element[0]])))


def _grid(card: Card, tokens: tuple[Token, ...], scope: Scope) -> list[tuple[str, Expr]]:
    if len(tokens) < 4 or tokens[0].text not in SPACINGS:
        raise _usage(card)
    first, last = (scope.value(card, token, "Hz") for token in tokens[2:4])
    return [("from", first), ("to", last), (SPACINGS[tokens[0].text], scope.value(card, tokens[1]))]


def _poles(card: Card, scope: Scope) -> Iterator[Statement]:
    nodes = [token.text for token in card.plain]
    if len(nodes) < 6:
        raise _usage(card)
    letter = "v" if nodes[4] == "vol" else "i"
    feeding = [
        each.word
        for each in scope.block.elements
        if each.word[0] == letter and {t.text for t in each.plain[:2]} == set(nodes[:2])
    ]
    if not feeding:
        hint = f"put a source ({letter}) of 0 between the nodes {nodes[0]} and {nodes[1]}"
        scope.circuit.report.note("'.pz' is ignored: no source feeds its input", card.span(), hint=hint)
        return
    pair = ",".join(node for node in nodes[2:4] if node not in GROUNDS)
    start = card.plain[2].start
    output = [("output", expression(card, f"v({pair})", start, scope))] if pair else []
    yield _run("poles", card, [("input", _input(feeding[0], scope)), *output])


def _run(name: str, card: Card, options: list[tuple[str, Expr]]) -> Run:
    return Run(name, tuple(Binding(n, v, span=card.span()) for n, v in options), span=card.span())


def _usage(card: Card) -> InputError:
    return InputError(Problem("E131", f"'{card.word}' is written {USAGE[card.word]}", card.span()))


def printed(card: Card, scope: Scope) -> Iterator[tuple[Expr, Plot]]:
    """The potentials behind vdb(a), vp(a), vm(a), vr(a), vi(a, b), and what is plotted of them."""
    for match in PROBE.finditer(card.text):
        reference = f",{match[3]}" if match[3] else ""
        text = f"v({match[2]}{reference})"
        signal = quantity(expression(card, text, match.start(), scope))
        response = Call(SERIES[match[1].lower()], (signal,), span=card.span())
        yield signal, Plot((response,), span=card.span())
    noises = noises_of(scope) if card.plain and card.plain[0].text == "noise" else {}
    found = [m for token in card.plain if (m := NOISE.fullmatch(token.text.lower())) and m[2] != TOTAL]
    for match in found if noises else ():
        of = noises[match[1]][0]
        yield of, Plot((Call(DENSITY, (of,), span=card.span()),), span=card.span())
