"""What a circuit asks for: `.tran`, `.op`, `.ic`, `.nodeset`, `.options`, `.temp`, `.save`, `.print`, `.plot`."""

import re
from collections.abc import Iterator
from dataclasses import replace

from netsim.formats.spice.analyses.harmonics import harmonics
from netsim.formats.spice.analyses.measures import Figures
from netsim.formats.spice.analyses.operating import LINES as AT_REST
from netsim.formats.spice.analyses.operating import at_rest
from netsim.formats.spice.analyses.other_lines import other_line
from netsim.formats.spice.analyses.small_signals import LINES as SMALL_SIGNALS
from netsim.formats.spice.analyses.small_signals import PROBE, printed, quantity, small_signal
from netsim.formats.spice.analyses.sweeps import Steps, characteristics, steps_of, swept_unit
from netsim.formats.spice.cards import Card, Report
from netsim.formats.spice.circuit import GROUNDS, Circuit
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import value_of
from netsim.formats.spice.scopes import Scope, with_spans
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binding, Expr, Name, Number, Part, Plot, Run, Save, Start, Statement

MEASURES = (".measure", ".meas")
LINES = (
    *SMALL_SIGNALS,
    *AT_REST,
    *MEASURES,
    ".dc",
    ".four",
    ".step",
    ".tran",
    ".op",
    ".ic",
    ".nodeset",
    ".options",
    ".option",
    ".opt",
    ".temp",
    ".save",
    ".print",
    ".plot",
    ".probe",
)
_ANALYSES = (".tran", ".op", ".dc", ".tf", ".sens", ".ac", ".noise", ".pz", ".sp", ".four")
_READ = ("reltol", "temp", "tnom", "gmin", "defw", "defl", "defad", "defas")
_PROBE = re.compile(r"([vi])\(\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*)?\)", re.IGNORECASE)
_KNOWN = re.compile(r"\b(tran|ac|dc|op|all|noise|[oi]noise(_spectrum|_total)?)\b", re.IGNORECASE)
SHARE = 0.01
"""Our error per step over SPICE's reltol, which bounds the change by a Newton iteration: with it waveforms agree to
about reltol."""


def read_options(cards: list[Card], circuit: Circuit) -> None:
    """Temperature, tolerances, the analyses, and the times of `.tran`, which waves of sources refer to."""
    circuit.analyses = frozenset(card.word for card in cards if card.word in _ANALYSES)
    for card in cards:
        if card.word in (".options", ".option", ".opt"):
            for name, token in card.given.items():
                value = value_of(token.text)
                if name in _READ and value is not None:
                    circuit.options[name] = value
        elif card.word == ".temp" and card.plain and (value := value_of(card.plain[0].text)) is not None:
            circuit.options["temp"] = value
        elif card.word == ".tran":
            figures = [value_of(token.text) for token in card.plain]
            if len(figures) > 1 and None not in figures[:2]:
                circuit.times = (figures[0] or 0.0, figures[1] or 0.0)
            circuit.uic = any(token.text == "uic" for token in card.plain)


def statements(cards: list[Card], scope: Scope) -> Iterator[Statement]:  # noqa: C901  (one case per line)
    """The lines as statements of the language; what waits for an analysis of its own is noted."""
    report = scope.circuit.report
    saved: list[Expr] = []
    yield from _measured(cards, scope)
    steps = Steps()
    try:
        steps = steps_of(cards, scope)
    except InputError as error:
        report.problems += error.problems
    for card in cards:
        try:
            match card.word:
                case ".tran":
                    yield steps.of(_transient(card, scope))
                case ".op":
                    yield steps.of(Run("static", span=card.span()))
                case ".four":
                    yield from harmonics(card, scope)
                case ".tf" | ".sens":
                    yield from _stepped(at_rest(card, scope), card, steps, report)
                case ".dc":
                    yield from map(steps.of, characteristics(card, scope))
                case ".ac" | ".noise" | ".pz" | ".sp":
                    yield from _stepped(small_signal(card, scope), card, steps, report)
                case ".ic" | ".nodeset":
                    yield from beginnings([card], scope)
                case ".save" | ".print" | ".probe" | ".plot":
                    responses = list(printed(card, scope))
                    signals = list(_signals(card, scope))
                    saved += [*signals, *(signal for signal, _ in responses)]
                    yield from (plot for _, plot in responses)
                    if card.word == ".plot" and signals:
                        yield Plot(tuple(signals), span=card.span())
                case _:
                    other_line(card, report, LINES)
        except InputError as error:
            report.problems += error.problems
    if distinct := list(dict.fromkeys(saved)):
        yield Save(tuple(distinct))
    else:
        yield from _everything(scope)


def _stepped(found: Iterator[Statement], card: Card, steps: Steps, report: Report) -> Iterator[Statement]:
    """Runs for each value of `.step`, where they can be repeated."""
    for each in found:
        if isinstance(each, Run) and steps.items and not steps.serve(each):
            report.note(
                f"'{card.word}' is done once: it is not repeated for what '.step' or '.temp' varies", card.span()
            )
            yield each
        else:
            yield steps.of(each) if isinstance(each, Run) else each


def _measured(cards: list[Card], scope: Scope) -> Iterator[Statement]:
    """`.measure` lines, each of which may read those before it."""
    figures, report = Figures(scope, swept=swept_unit(cards, scope)), scope.circuit.report
    for card in cards:
        if card.word not in MEASURES:
            continue
        try:
            if figure := figures.measure(card):
                yield figure
            else:
                message = f"'{card.word}' is ignored: it is of an analysis that is not asked for, or of .op or .sp"
                report.note(message, card.at(card.tokens[0]), hint="with .tran, measures of .dc are left out")
        except InputError as error:
            report.problems += error.problems


def _transient(card: Card, scope: Scope) -> Run:
    tokens = [token for token in card.plain if token.text != "uic"]
    if len(tokens) < 2:
        raise InputError(Problem("E131", "'.tran' is written .tran step stop", card.span(), hint=".tran 1u 10m"))
    stop = scope.value(card, tokens[1], "s")
    options = [Binding("stop", stop, span=card.at(tokens[1]))]
    # what is measured is sampled at steps
    if value_of(tokens[0].text) != 0 and not any(other.word in MEASURES for other in scope.block.control):
        options.append(Binding("sample", scope.value(card, tokens[0], "s"), span=card.at(tokens[0])))
    if "reltol" in scope.circuit.options:
        options.append(
            Binding("rtol", Number(float(f"{SHARE * scope.circuit.options['reltol']:.12g}")), span=card.span())
        )
    if scope.circuit.uic:
        options.append(Binding("from", Name((Part("rest"),)), span=card.span()))
    if len(tokens) > 2 and value_of(tokens[2].text) != 0:
        scope.circuit.report.note("the third time of .tran is ignored: samples begin at 0", card.at(tokens[2]))
    return Run("transient", tuple(options), span=card.span())


def _settings(card: Card, scope: Scope) -> Iterator[tuple[str, Expr]]:
    """(node, potential) of `v(a)=1`."""
    tokens = card.tokens
    for i, token in enumerate(tokens[:-1]):
        if token.kind == "equal" and i > 1:
            node, value = tokens[i - 1], tokens[i + 1]
            if tokens[i - 2].text != "v" or node.text in GROUNDS or node.text not in scope.nodes:
                hint = nearest(node.text, scope.nodes)
                raise InputError(
                    Problem("E133", f"nothing is connected to a node '{node.text}'", card.at(node), hint=hint)
                )
            yield node.text, scope.value(card, value, "V")


def initial_potentials(cards: list[Card], scope: Scope) -> dict[str, Expr]:
    """What `.ic` says of nodes, whatever they touch."""
    found: dict[str, Expr] = {}
    for card in cards:
        tokens = card.tokens
        for i, token in enumerate(tokens[:-1]):
            if card.word == ".ic" and token.kind == "equal" and i > 1 and tokens[i - 2].text == "v":
                found[tokens[i - 1].text] = scope.value(card, tokens[i + 1], "V")
    return found


INSIDE = (".ic", ".nodeset")
"""Lines that a subcircuit may have."""


def beginnings(cards: list[Card], scope: Scope) -> Iterator[Start]:
    """Starts and guesses of `.ic` and `.nodeset`; mistakes are reported."""
    for card in cards:
        try:
            if card.word == ".ic":
                yield from _starts(card, scope)
            elif card.word == ".nodeset":
                for node, value in _settings(card, scope):
                    yield with_spans(Start("guess", _potential(scope, node, card), value), card.span())
        except InputError as error:
            scope.circuit.report.problems += error.problems


def _starts(card: Card, scope: Scope) -> Iterator[Start]:
    """Nodes where something holds charge begin there; elsewhere the potential follows at once. With `uic` capacitors
    know it themselves."""
    uic, span = scope.circuit.uic, card.span()
    for node, value in _settings(card, scope):
        if node in scope.block.ports:
            hint = "write it where the instance stands"
            scope.circuit.report.note(f"'.ic' of the port '{node}' of a subcircuit is ignored", span, hint=hint)
            continue
        letters = set(scope.touched.get(node, ()))
        holding = "dqjmx" if uic else "cdqjmx"
        if letters & set(holding) and not (uic and "c" in letters):
            yield with_spans(Start("start", _potential(scope, node, card), value), span)
        elif "c" in letters:
            yield with_spans(Start("guess", _potential(scope, node, card), value), span)
        else:
            scope.circuit.report.note(f"'.ic' has no effect on '{node}': no capacitor holds its potential", span)


def _potential(scope: Scope, node: str, card: Card) -> Name:
    found = scope.potential(node, card.span())
    assert isinstance(found, Name)
    return found


def _signals(card: Card, scope: Scope) -> Iterator[Expr]:
    """`v(a)`, `v(a, b)`, `i(v1)`; `all` is everything."""
    rest = PROBE.sub(lambda match: " " * len(match[0]), card.text[card.tokens[0].end :])
    for match in _PROBE.finditer(rest):
        start = card.tokens[0].end + match.start()
        try:
            found = expression(card, match[0], start, scope)
        except InputError as error:
            if match[1].lower() == "v" and ":" not in match[0]:
                raise
            report = scope.circuit.report
            report.notes += [replace(p, code="N130", message=f"{p.message}: it is not saved") for p in error.problems]
            continue
        yield quantity(found)
    left = _KNOWN.sub(" ", _PROBE.sub(" ", rest)).replace(",", " ").split()
    for each in left:
        start = card.text.find(each, card.tokens[0].end)
        scope.circuit.report.note(
            f"'{each}' is not saved: v(node), v(node, node) and i(source) are", card.span(start, start + len(each))
        )


def _everything(scope: Scope) -> Iterator[Save]:
    """Potentials of all nodes and currents of sources of voltage and coils, as SPICE keeps them."""
    names = [f"{ours}.v" for ours in scope.nodes.values()]
    names += [f"{ours}.{quantity}" for element, (ours, quantity) in scope.through.items() if element[0] in "vl"]
    if names:
        yield Save(tuple(Name(tuple(Part(part) for part in name.split("."))) for name in names))
