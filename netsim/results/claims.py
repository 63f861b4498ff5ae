"""What components assert of their quantities (`assert level >= 0 m "the tank is empty"`), and domains of their nodes:
judged at the samples of a run and at the points that an analysis is about, told among its notes.

Asserts that read parameters alone are judged before the run (netsim.network.values).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from netsim.core.states import sample
from netsim.equations.machine import Machine
from netsim.library.component import CONSTANTS, WORLD, plain_name
from netsim.library.domains import read_in
from netsim.network.network import GROUND, Instance, Network, parameter_names
from netsim.results.measures import measured, measured_over_frequency, measured_over_sweep
from netsim.results.measuring.subjects import NOISE, RESPONSES, TIME, WANTED, noises_of, subject_of
from netsim.results.samples import Samples
from netsim.results.selection import Finder, Selection, add_unseen, reader_of, signals_measured
from netsim.text.errors import Problem, Span
from netsim.text.expressions.from_python import expression_given
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Assert, Measure, Name, Part

MOST_TOLD = 6
"""Elements named in the notes of a run."""
AT_ONCE = 1_000_000
"""So many values of a signal are judged at once at most."""
CURVE = "sweep_static"
"""The analysis whose points are equilibria."""
AT_REST = "the operating point"
"""Where an equilibrium lies, in notes of analyses about it."""
OVER_FREQUENCY = {"ac": RESPONSES, "periodic_ac": RESPONSES, "noise": NOISE}
"""Analyses of whose curves `measure` and `assert` speak, and what these are."""


@dataclass(frozen=True)
class ReadQuantity:
    """A quantity of an element or a node by its written name, and where an assert reads it."""

    owner: str
    parts: tuple[Part, ...]
    span: Span

    @property
    def name(self) -> Name:
        """As a signal: line[2].c.v."""
        return Name((*map(Part, self.owner.split(".")), *self.parts), span=self.span)


@dataclass(frozen=True)
class Claim:
    """An assert of one instance, or of a node (`instance` is None), and what the names of quantities in it read: None
    is zero at the ground."""

    owner: str
    text: Assert
    signals: Mapping[str, ReadQuantity | None]
    instance: Instance | None = None


def claims(network: Network) -> Iterator[Claim]:
    """All asserts of quantities, instance by instance, then node by node."""
    read: dict[int, list[tuple[Assert, dict[str, Name]]]] = {}
    for instance in network.instances:
        component = instance.component
        if id(component) not in read:
            read[id(component)] = [(c, _by_text(component.quantities_in(c.condition))) for c in component.claims]
        for claim, names in read[id(component)]:
            signals = {text: _signal(network, instance, name) for text, name in names.items()}
            yield Claim(f"{component.name} '{instance.name}'", claim, signals, instance)
    for node in network.nodes:
        for claim in node.domain.asserts:
            names = _by_text(read_in(claim.condition))
            signals = {text: ReadQuantity(node.name, name.parts, name.span) for text, name in names.items()}
            yield Claim(f"node '{node.name}'", claim, signals)


def _by_text(names: Iterable[Name]) -> dict[str, Name]:
    return {str(plain_name(name)): name for name in names}


def _signal(network: Network, instance: Instance, name: Name) -> ReadQuantity | None:
    """What a name in a component's text reads: of a terminal's node, or of the instance."""
    first, *rest = (part.text for part in name.parts)
    if first in instance.component.terminals:
        domain = instance.component.domain(first)
        if rest and rest[0] in {q.name for q in (*domain.across, *domain.integral)}:
            node = instance.nodes[list(instance.component.terminals).index(first)]
            if node == GROUND:
                return None
            return ReadQuantity(network.nodes[node].name, name.parts[1:], name.span)
    return ReadQuantity(instance.name, name.parts, name.span)


def signals_judged(network: Network) -> list[Name]:
    """The signals that measures and asserts read, those of the netlist and those of components."""
    return [
        *signals_measured(network),
        *(read.name for claim in claims(network) for read in claim.signals.values() if read is not None),
    ]


def judged(machine: Machine, samples: Samples, has_runs: bool) -> Samples:
    """With what `measure` and `assert` say of samples: of runs over time, of responses, and of characteristics and
    equilibria only where the netlist has no run over time."""
    if not samples.finished or not (axis := _axis_judged(samples, has_runs)):
        return samples
    if axis == NOISE:
        return samples  # the analysis can look between its frequencies, and has judged
    if axis == RESPONSES:
        figures, broken = measured_over_frequency(machine, samples)
        return replace(samples, figures=figures, broken=(*samples.broken, *broken))
    if axis == "point":
        figures, broken = measured_over_sweep(machine, samples)
        return replace(samples, figures=figures, broken=(*samples.broken, *broken))
    figures, broken = measured(machine, samples)
    return replace(samples, figures=(*figures, *samples.figures), broken=(*samples.broken, *broken))


def _axis_judged(samples: Samples, has_runs: bool) -> str:
    """The axis over which statements speak of these samples, or what they are over frequency; empty where none does."""
    if samples.axis == "frequency":
        return OVER_FREQUENCY.get(samples.attributes["analysis"], "")
    if samples.axis == "point" or (samples.axis == "time" and len(samples.time) == 1):
        return "" if has_runs else samples.axis
    return "time" if samples.axis == "time" else ""


def with_unjudged(network: Network, runs: Sequence[Samples], has_runs: bool) -> list[Samples]:
    """The runs of a netlist; where all have finished, the last one warns of statements of which none of them speaks
    (W527): an assertion that nothing looks at would seem to hold."""
    axes = {axis for samples in runs if (axis := _axis_judged(samples, has_runs))} | ({TIME} if has_runs else set())
    looked = {axis if axis in OVER_FREQUENCY.values() else TIME for axis in axes}
    noises = {name for samples in runs if _axis_judged(samples, has_runs) == NOISE for name in _noises(samples)}

    def unseen(each: Any) -> bool:
        return subject_of(each, network) not in looked or not noises_of(each, network).keys() <= noises

    left = [each for each in (*network.measures, *network.asserts) if unseen(each)]
    if not left or not all(samples.finished for samples in runs):
        return list(runs)
    found = []
    for each in left:
        wanted = _wanted(each, network)
        what = f"measure '{each.name}'" if isinstance(each, Measure) else "this assertion"
        message = f"no run of this netlist looks at {what}"
        found.append(Problem("W527", message, each.span, hint=f"it speaks of the result of {wanted}"))
    return [*runs[:-1], replace(runs[-1], warnings=(*runs[-1].warnings, *found))]


def _noises(samples: Samples) -> list[str]:
    """The signals of whose noise a run tells."""
    return [samples.attributes["output"], *filter(None, samples.attributes["input"].split(", "))]


def _wanted(statement: Any, network: Network) -> str:
    """A line that asks for what a statement speaks of."""
    noises = noises_of(statement, network)
    return f"run noise(output = {next(iter(noises))}, ...)" if noises else WANTED[subject_of(statement, network)]


def with_claims(machine: Machine, samples: Samples) -> Samples:
    """The samples with a note for each assert of a component that they break: those of a run over time, of an
    equilibrium or of equilibria along a curve, and those that other results are about. The hint of a run that failed
    begins with the first, and so do those of what is doubtful about it."""
    of_points = [about.attributes.get("notes", "") for _, about in samples.about]
    told = [*filter(None, of_points), *broken_claims(machine, samples)]
    samples = replace(samples, about=())
    if not told:
        return samples
    attributes = {**samples.attributes, "notes": "; ".join(filter(None, [samples.attributes.get("notes", ""), *told]))}
    if (failure := samples.attributes.get("failure")) is not None:
        attributes["failure"] = _behind(told[0], failure)
    return replace(samples, attributes=attributes, warnings=tuple(_behind(told[0], p) for p in samples.warnings))


def _behind(claim: str, problem: Problem) -> Problem:
    """The problem with a claim that does not hold before its hint."""
    return replace(problem, hint="; ".join(filter(None, [claim, problem.hint])))


def broken_claims(machine: Machine, samples: Samples) -> list[str]:
    """A sentence for each assert that samples break, with the element and the first place, in the order of these.

    `samples` hold the signals of `signals_judged`, saved or unseen."""
    left, broken = dict(enumerate(claims(machine.system.network))), list[tuple[float, int, str]]()
    for finder, piece in _judged_pieces(machine, samples) if left else ():
        values = {**piece.unseen, **{signal.name: piece.values[:, j] for j, signal in enumerate(piece.signals)}}
        for group in _alike(finder.machine, left, max(1, AT_ONCE // len(piece.time))):
            for k, holds in zip(group, _hold([left[k] for k in group], finder, values, len(piece.time))):
                if not holds.all():
                    claim, row = left.pop(k), int(np.argmin(holds))
                    broken.append((piece.time[row], k, f"{claim.owner} at {_place(piece, row)}: {claim.text.sentence}"))
    told = [sentence for _, _, sentence in sorted(broken)]
    more = len(told) - MOST_TOLD
    return [*told[:MOST_TOLD], f"and {more} more elements"] if more > 1 else told


def _place(piece: Samples, row: int) -> str:
    """Where a sample lies: at rest, at an instant, or at a value of what is swept."""
    if piece.axis == "time":
        return str(piece.attributes.get("place") or f"t = {piece.time[row]:.6g} s")
    over = piece.signals[0]
    return f"{over.name} = {piece.values[row, 0]:.6g} {over.unit}".rstrip()


def at_point(machine: Machine, g: np.ndarray, time: float, place: str, notes: str = "") -> tuple[Machine, Samples]:
    """What asserts read at a point, as one unseen sample, with notes of it: an element of `Samples.about`."""
    selection = Selection()
    names = [read.name for claim in claims(machine.system.network) for read in claim.signals.values() if read]
    unseen = add_unseen(machine, selection, names)
    reader, row = reader_of(machine, selection), np.full(len(selection.entries), np.nan)
    sample(reader.table, reader.places, g, np.zeros(reader.size), row)
    columns = dict(zip(selection.entries, row[:, None]))
    known = {name: columns[name] for name in unseen}
    values = np.zeros((1, 0))
    told = {"place": place, "notes": notes}
    return machine, Samples("", np.array([time]), (), values, attributes=told, unseen=known)


def _judged_pieces(machine: Machine, samples: Samples) -> Iterator[tuple[Finder, Samples]]:
    """All samples at which claims are judged, with finders."""
    if len(samples.time) and (samples.axis == "time" or samples.attributes.get("analysis") == CURVE):
        yield from _pieces(machine, samples)
    yield from ((Finder(each), about) for each, about in samples.about)


def _pieces(machine: Machine, samples: Samples) -> Iterator[tuple[Finder, Samples]]:
    """Samples one behind the other, each piece with a finder that knows the parameters that they were found with."""
    if samples.axis == "time":
        finder = Finder(machine)
        yield from ((finder, piece) for piece in (samples.pieces() if samples.pieces else (samples,)))
        return
    swept = {samples.attributes["over"], *str(samples.attributes["family"]).split(", ")}
    swept &= set(parameter_names(machine.system.network))
    varied = [j for j, signal in enumerate(samples.signals) if signal.name in swept]
    changes = np.flatnonzero(np.any(np.diff(samples.values[:, varied], axis=0) != 0.0, axis=1)) + 1
    for rows in np.split(np.arange(len(samples.time)), changes):
        values = machine.values
        for j in varied:
            values = values.changed({samples.signals[j].name: expression_given("over", samples.values[rows[0], j])})
        unseen = {name: series[rows] for name, series in samples.unseen.items()}
        piece = replace(samples, time=samples.time[rows], values=samples.values[rows], unseen=unseen)
        yield Finder(replace(machine, values=values)), piece


def _alike(machine: Machine, left: Mapping[int, Claim], most: int) -> list[list[int]]:
    """Claims that differ in the series of their signals alone, `most` of them at once."""
    found: dict[Hashable, list[int]] = {}
    numbers: dict[int, Hashable] = {}
    for k, claim in left.items():
        found.setdefault(_kind(machine, claim, numbers), []).append(k)
    return [group[i : i + most] for group in found.values() for i in range(0, len(group), most)]


def _kind(machine: Machine, claim: Claim, numbers: dict[int, Hashable]) -> Hashable:
    """What claims that are alike have in common: text, counts, values of parameters (in `numbers`, by the sets of them
    that elements share), what lies at the ground."""
    instance, own = claim.instance, None
    if instance:
        parameters = machine.values.parameters(instance)
        if id(parameters) not in numbers:
            numbers[id(parameters)] = tuple(np.asarray(each.value).tobytes() for each in parameters.values())
        own = instance.counts, numbers[id(parameters)]
    return id(claim.text), own, tuple(read is None for read in claim.signals.values())


def _hold(group: Sequence[Claim], finder: Finder, values: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """Whether claims that are alike hold, each at `count` samples; their series are judged one behind the other."""
    found = np.asarray(evaluate(group[0].text.condition, _scope(group, finder, values)).value, bool)
    return np.broadcast_to(found, len(group) * count).reshape(len(group), count)


def _scope(group: Sequence[Claim], finder: Finder, values: Mapping[str, np.ndarray]) -> Scope:
    """Parameters as numbers, quantities as series, lets by what they stand for."""
    claim, instance = group[0], group[0].instance
    lets = {let.name: let.value for let in instance.component.definition.lets} if instance else {}
    known = {**CONSTANTS, **dict(instance.counts if instance else ())}
    parameters = finder.machine.values.parameters(instance) if instance else {}

    @cache
    def series(text: str) -> Typed:
        read = claim.signals[text]
        if read is None:
            return Typed(0.0, None)
        (entry, dimension), *_ = finder.entries(read.name)
        behind = entry.signal.name.removeprefix(read.owner)
        reads = [each.signals[text] for each in group]
        return Typed(np.concatenate([values[other.owner + behind] for other in reads if other]), dimension)

    def value(name: Name) -> Typed:
        text = str(plain_name(name))
        if text in claim.signals:
            return series(text)
        if text in lets:
            return evaluate(lets[text], scope)
        if text in WORLD:
            return finder.machine.values.world(text)
        return parameters[text] if text in parameters else Typed(float(known[text]))

    scope = Scope(value)
    return scope
