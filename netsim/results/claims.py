"""What components assert of their quantities (`assert level >= 0 m "the tank is empty"`), and domains of their nodes:
judged at the samples of a run, told among its notes.

Asserts that read parameters alone are judged before the run (netsim.network.values).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import CONSTANTS, WORLD, plain_name
from netsim.library.domains import read_in
from netsim.network.network import GROUND, Instance, Network
from netsim.results.measures import measured, measured_over_frequency, measured_over_sweep
from netsim.results.samples import Samples
from netsim.results.selection import Finder, signals_measured
from netsim.text.errors import Problem
from netsim.text.expressions.from_python import parse_expression
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Assert, Name, Part

MOST_TOLD = 6
"""Elements named in the notes of a run."""
AT_ONCE = 1_000_000
"""So many values of a signal are judged at once at most."""
RESPONSES = ("ac", "periodic_ac")
"""Analyses of whose curves `measure` and `assert` speak."""


@dataclass(frozen=True)
class Claim:
    """An assert of one instance, or of a node (`instance` is None), and the signals behind the names of quantities that
    it reads."""

    owner: str
    text: Assert
    signals: Mapping[str, Name | None]
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
            yield Claim(f"node '{node.name}'", claim, {text: _of(node.name, n.parts, n) for text, n in names.items()})


def _by_text(names: Iterable[Name]) -> dict[str, Name]:
    return {str(plain_name(name)): name for name in names}


def _of(owner: str, parts: tuple[Part, ...], name: Name) -> Name:
    """The signal of an element or a node by its written name: line[2].c.v."""
    parsed = _parsed(owner)
    return Name((*parsed.parts, *parts), span=name.span)


@lru_cache
def _parsed(owner: str) -> Name:
    parsed = parse_expression(owner, "assert")
    assert isinstance(parsed, Name)
    return parsed


def _signal(network: Network, instance: Instance, name: Name) -> Name | None:
    """The signal behind a name in a component's text: of a terminal's node, or of the instance; None for what is zero
    at the ground."""
    first, *rest = (part.text for part in name.parts)
    if first in instance.component.terminals:
        domain = instance.component.domain(first)
        if rest and rest[0] in {q.name for q in (*domain.across, *domain.integral)}:
            node = instance.nodes[list(instance.component.terminals).index(first)]
            if node == GROUND:
                return None
            return _of(network.nodes[node].name, name.parts[1:], name)
    return _of(instance.name, name.parts, name)


def signals_judged(network: Network) -> list[Name]:
    """The signals that measures and asserts read, those of the netlist and those of components."""
    return [
        *signals_measured(network),
        *(signal for claim in claims(network) for signal in claim.signals.values() if signal is not None),
    ]


def judged(machine: Machine, samples: Samples, has_runs: bool) -> Samples:
    """With what `measure` and `assert` say of samples: of runs over time, of responses, and of characteristics and
    equilibria only where the netlist has no run over time."""
    samples = with_claims(machine, samples)
    if samples.finished and samples.axis == "frequency" and samples.attributes["analysis"] in RESPONSES:
        figures, broken = measured_over_frequency(machine, samples)
        return replace(samples, figures=figures, broken=(*samples.broken, *broken))
    if samples.finished and samples.axis == "point" and not has_runs:
        figures, broken = measured_over_sweep(machine, samples)
        return replace(samples, figures=figures, broken=(*samples.broken, *broken))
    if not samples.finished or samples.axis != "time" or (len(samples.time) == 1 and has_runs):
        return samples
    figures, broken = measured(machine, samples)
    return replace(samples, figures=(*figures, *samples.figures), broken=(*samples.broken, *broken))


def with_claims(machine: Machine, samples: Samples) -> Samples:
    """The samples of a run over time, with a note for each assert of a component that they break; the hint of a run
    that failed begins with the first, and so do those of what is doubtful about it."""
    told = broken_claims(machine, samples) if samples.axis == "time" and len(samples.time) else []
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
    """A sentence for each assert that a run breaks, with the element and the first instant, in the order of these.

    `samples` hold the signals of `signals_judged`, saved or unseen."""
    finder, broken, alike = Finder(machine), list[tuple[float, int, str]](), dict[Hashable, dict[int, Claim]]()
    for k, claim in enumerate(claims(machine.system.network)):
        alike.setdefault(_kind(machine, claim), {})[k] = claim
    for piece in samples.pieces() if samples.pieces and alike else (samples,):
        values = {**piece.unseen, **{signal.name: piece.values[:, j] for j, signal in enumerate(piece.signals)}}
        for left in alike.values():
            whole, most = list(left.items()), max(1, AT_ONCE // len(piece.time))
            for group in (whole[i : i + most] for i in range(0, len(whole), most)):
                for (k, claim), holds in zip(group, _hold([c for _, c in group], finder, values, len(piece.time))):
                    if not holds.all():
                        first = piece.time[int(np.argmin(holds))]
                        broken.append((first, k, f"{claim.owner} at t = {first:.6g} s: {claim.text.sentence}"))
                        del left[k]
    told = [sentence for _, _, sentence in sorted(broken)]
    more = len(told) - MOST_TOLD
    return [*told[:MOST_TOLD], f"and {more} more elements"] if more > 1 else told


def _kind(machine: Machine, claim: Claim) -> Hashable:
    """What claims have in common that differ in the series of their signals alone."""
    instance = claim.instance
    parameters = machine.values.parameters(instance).values() if instance else ()
    own = instance and (instance.counts, *(np.asarray(each.value).tobytes() for each in parameters))
    return id(claim.text), own, tuple(signal is None for signal in claim.signals.values())


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

    def value(name: Name) -> Typed:
        text = str(plain_name(name))
        if text in claim.signals:
            signals = [each.signals[text] for each in group]
            entries = [finder.entries(signal)[0] for signal in signals if signal is not None]
            if not entries:
                return Typed(0.0, None)
            return Typed(np.concatenate([values[entry.signal.name] for entry, _ in entries]), entries[0][1])
        if text in lets:
            return evaluate(lets[text], scope)
        if text in WORLD:
            return finder.machine.values.world(text)
        return parameters[text] if text in parameters else Typed(float(known[text]))

    scope = Scope(value)
    return scope
