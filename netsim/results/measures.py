"""`measure` and `assert`: figures of a run's result, found on its signals between samples, and claims about them.

    measure rise = when(out.v > 0.9 V) - when(out.v > 0.1 V)
    assert  max(abs(a.x)) < 1 mm "the mass hits the wall"

A figure is one number. Functions of a signal look at the whole run, or at the span that `from` and `to` leave; `when`
gives the instant at which a comparison comes true (`>` on the way up, `<` on the way down, `==` either way).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import SECOND
from netsim.network.network import Network
from netsim.results.measuring.record import MISSING, Record
from netsim.results.measuring.subjects import NOISE, RESPONSES, TIME, noises_of, subject_of
from netsim.results.over_frequency.densities import Noise
from netsim.results.over_frequency.members import members
from netsim.results.samples import Figure, Samples
from netsim.results.selection import dimensions_measured
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.typed import evaluate
from netsim.text.syntax import Assert, Binary, Measure
from netsim.text.units import HERTZ, NO_DIMENSION, Dimension, parse_unit

Array = np.ndarray
Taken = tuple[tuple[Figure, ...], tuple[Problem, ...]]
"""Figures, and what is wrong with a result."""
BROKEN = "E514"


def measured(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The figures of a run, and what is wrong with it: measures that are not found (E510), assertions that do not hold
    (E511).

    `samples` hold the signals of `signals_measured`, saved or unseen. Raises `InputError` where a statement means
    nothing.
    """
    saved = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    return _taken(_record(machine, samples.time, {**samples.unseen, **saved}, trace=samples.trace))


def measured_over_frequency(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The same for statements that speak of responses, which must be saved; for each of several inputs, and for each
    member of a family."""
    return _of_curves((words, _taken(record)) for words, record in _responses(machine, samples))


def frequencies_measured(machine: Machine, samples: Samples) -> list[float]:
    """Where on the curves of these responses the statements of the network find their numbers (Hz)."""
    looked = list[float]()
    for _, record in _responses(machine, samples):
        _taken(record)
        looked += record.looked
    return looked


def _responses(machine: Machine, samples: Samples) -> Iterator[tuple[str, Record]]:
    """What stands behind the names of a group of responses (` per src.v`, ` at r1.R = 1000 Ohm`), and these."""
    for words, columns in members([signal.name for signal in samples.signals]).items():
        own = {name: samples.values[:, j] for name, j in columns.items()}
        yield words, _record(machine, samples.time, own, axis=HERTZ, subject=RESPONSES)


def measured_noise(machine: Machine, frequencies: Array, noises: Mapping[str, Noise]) -> Taken:
    """The same for statements that speak of these noises alone, whose frequencies are close enough together for
    straight lines between them."""
    return _taken(_record(machine, frequencies, {}, axis=HERTZ, subject=NOISE, noises=noises))


def _of_others(statement: Any, record: Record) -> bool:
    """Whether a statement speaks of a noise that this run has none of."""
    return record.subject == NOISE and not record.noises.keys() >= noises_of(statement, record.network).keys()


def _of_curves(found: Iterable[tuple[str, Taken]]) -> Taken:
    """Figures and problems of several curves, with the words behind each."""
    figures, wrong = list[Figure](), list[Problem]()
    for words, (own, problems) in found:
        figures += [replace(figure, name=figure.name + words) for figure in own]
        wrong += [replace(problem, message=problem.message + words) for problem in problems]
    return tuple(figures), tuple(wrong)


def member_words(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    """What stands behind the names of what belongs to one member of a family: ` at r1.R = 1000 Ohm`."""
    found = ", ".join(f"{name} = {value:.9g} {units[name]}".rstrip() for name, value in values.items())
    return f" at {found}" if found else ""


def measured_over_sweep(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The same over what a characteristic is swept along, where it has no fold; for each curve of a family."""
    network, count = machine.system.network, 1 + len([*filter(None, samples.attributes["family"].split(", "))])
    members = samples.signals[1:count]
    if not network.measures and not network.asserts:
        return (), ()
    rows = samples.values[:, 1:count]
    starts = np.flatnonzero(np.append(True, (np.diff(rows, axis=0) != 0.0).any(axis=1)))
    saved = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    found = list[tuple[str, Taken]]()
    for first, last in zip(starts, [*starts[1:], len(rows)]):
        own = slice(first, last)
        values = {name: series[own] for name, series in {**samples.unseen, **saved}.items()}
        words = member_words({s.name: v for s, v in zip(members, rows[first])}, {s.name: s.unit for s in members})
        found.append((words, _over_curve(machine, samples.values[own, 0], values, samples.signals[0].unit)))
    return _of_curves(found)


def _over_curve(machine: Machine, over: Array, values: Mapping[str, Array], unit: str) -> Taken:
    steps = np.diff(over)
    if not (np.all(steps > 0.0) or np.all(steps < 0.0)):
        message, hint = "a curve that turns back has no measures", "take `folds = jump`"
        return (), (Problem(MISSING, message, hint=hint),)
    order = slice(None, None, -1 if len(steps) and steps[0] < 0.0 else 1)
    known = {name: series[order] for name, series in values.items()}
    return _taken(_record(machine, over[order], known, axis=parse_unit(unit).dimension))


def check_measures(machine: Machine, network: Network, over_time: bool = True) -> None:
    """Try measures and assertions on made-up signals, `over_time` where a run of the netlist goes along it. Raises
    `InputError` for what they say wrong; what is not found means nothing here."""
    subjects = {subject_of(statement, network) for statement in (*network.measures, *network.asserts)}
    time = np.linspace(0.0, 1.0, 3)
    series = {name: 1 + time + i for i, name in enumerate(dimensions_measured(machine, network))} if subjects else {}
    if TIME in subjects:
        _taken(_record(machine, time, series, axis=SECOND if over_time else None))
    if RESPONSES in subjects:
        responses = {n: x * np.exp(-9j * time) for n, x in series.items()}
        _taken(_record(machine, 1 + time, responses, axis=HERTZ, subject=RESPONSES))
    if NOISE in subjects:
        _taken(_record(machine, 1 + time, {}, axis=HERTZ, subject=NOISE, noises=_made_up(machine, network, series)))


def _made_up(machine: Machine, network: Network, series: Mapping[str, Array]) -> dict[str, Noise]:
    """Noises of all signals that statements name; raises `InputError` for what is no signal."""
    scope, found = _record(machine, np.zeros(3), series).scope(), dict[str, Noise]()
    for statement in (*network.measures, *network.asserts):
        for name, call in noises_of(statement, network).items():
            dimension = evaluate(call.arguments[0], scope).dimension or NO_DIMENSION
            found[name] = Noise(dimension, lambda frequencies, size=1.0: 1.0 / frequencies, np.array([1.0, 1.5, 2.0]))
    return found


def _record(machine: Machine, along: Array, values: Mapping[str, Array], **more: Any) -> Record:
    network = machine.system.network
    dimensions = dimensions_measured(machine, network)
    read = {name: values[name] for name in dimensions if name in values}
    return Record(along, read, dimensions, machine.values.scope(network.top), network, **more)


def _taken(record: Record) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    network = record.network
    figures, wrong, mistakes = [], dict[Problem, None](), list[Problem]()
    with np.errstate(all="ignore"):
        for statement in (*network.measures, *network.asserts):
            if subject_of(statement, network) != record.subject or _of_others(statement, record):
                continue
            try:
                if isinstance(statement, Measure):
                    found = record.figure(statement)
                    figures.append(Figure(statement.name, found.value, _unit(found.dimension, record), statement.doc))
                elif isinstance(statement, Assert) and (problem := _broken(statement, record)):
                    wrong[problem] = None
            except SimulationError as missing:
                wrong.update(dict.fromkeys(missing.problems))
                if isinstance(statement, Measure):
                    figures.append(Figure(statement.name, float("nan"), "", statement.doc))
            except InputError as mistake:
                mistakes += mistake.problems
    if mistakes:
        raise InputError(list(dict.fromkeys(mistakes)))
    return tuple(figures), tuple(wrong)


def _unit(dimension: Dimension | None, record: Record) -> str:
    """That of a figure: a place on the axis of frequencies is in Hz."""
    return "Hz" if dimension == HERTZ == record.axis else unit_of(dimension or NO_DIMENSION)


def _broken(statement: Assert, record: Record) -> Problem | None:
    """The problem of an assertion that does not hold (at every sample if it contains trajectories); None if it
    holds."""
    scope, condition = record.scope(), statement.condition
    truth = np.asarray(evaluate(condition, scope).value, bool)
    if truth.all():
        return None
    place = record.time[int(np.argmin(truth))] if truth.ndim else 0.0
    unit = unit_of(record.axis or NO_DIMENSION)
    where = (f" at t = {place:.6g} s" if record.axis == SECOND else f" at {place:.6g} {unit}") if truth.ndim else ""
    hint = ""
    if isinstance(condition, Binary) and not truth.ndim:
        left, right = (evaluate(side, scope) for side in (condition.left, condition.right))
        unit = unit_of(left.dimension or right.dimension or NO_DIMENSION)
        hint = (
            f"the left side is {float(left.value):.6g} {unit}, the right side {float(right.value):.6g} {unit}".rstrip()
        )
    return Problem(BROKEN, (statement.sentence or "this assertion does not hold") + where, condition.span, hint=hint)
