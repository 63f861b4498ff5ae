"""`measure` and `assert`: figures of a run's result, found on its signals between samples, and claims about them.

    measure rise = when(out.v > 0.9 V) - when(out.v > 0.1 V)
    assert  max(abs(a.x)) < 1 mm "the mass hits the wall"

A figure is one number. Functions of a signal look at the whole run, or at the span that `from` and `to` leave; `when`
gives the instant at which a comparison comes true (`>` on the way up, `<` on the way down, `==` either way).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import SECOND
from netsim.network.network import Network
from netsim.results.measuring.record import MISSING, Record
from netsim.results.over_frequency.figures import of_frequency
from netsim.results.samples import Figure, Samples
from netsim.results.selection import dimensions_measured
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.typed import evaluate
from netsim.text.syntax import Assert, Binary, Measure
from netsim.text.units import HERTZ, NO_DIMENSION, parse_unit

Array = np.ndarray
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
    """The same for statements that speak of responses, which must be saved."""
    return _taken(_responses(machine, samples))


def frequencies_measured(machine: Machine, samples: Samples) -> list[float]:
    """Where on the curves of these responses the statements of the network find their numbers (Hz)."""
    record = _responses(machine, samples)
    _taken(record)
    return record.looked


def _responses(machine: Machine, samples: Samples) -> Record:
    series = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    return _record(machine, samples.time, series, axis=HERTZ, responses=True)


def measured_over_sweep(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The same over what a characteristic is swept along, where it is one curve without a fold."""
    over, network = samples.values[:, 0], machine.system.network
    steps = np.diff(over)
    if samples.attributes["family"] or not (np.all(steps > 0.0) or np.all(steps < 0.0)):
        if not network.measures and not network.asserts:
            return (), ()
        message = "several curves, and one that turns back, have no measures"
        return (), (Problem(MISSING, message, hint="measure one curve at a time, with folds = jump"),)
    order = slice(None, None, 1 if steps[0] > 0.0 else -1)
    saved = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    values = {name: series[order] for name, series in {**samples.unseen, **saved}.items()}
    axis = parse_unit(samples.signals[0].unit).dimension
    return _taken(_record(machine, over[order], values, axis=axis))


def check_measures(machine: Machine, network: Network) -> None:
    """Try measures and assertions on made-up signals. Raises `InputError` for what they say wrong; what is not found
    means nothing here."""
    if network.measures or network.asserts:
        time = np.linspace(0.0, 1.0, 3)
        names = dimensions_measured(machine, network)
        series = {name: 1 + time + i for i, name in enumerate(names)}
        over_time = any(run.analysis != "sweep_static" for run in network.runs) or not network.runs
        _taken(_record(machine, time, series, axis=SECOND if over_time else None))
        responses = {n: x * np.exp(-9j * time) for n, x in series.items()}
        _taken(_record(machine, 1 + time, responses, axis=HERTZ, responses=True))


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
            if of_frequency(statement, network) != record.responses:
                continue
            try:
                if isinstance(statement, Measure):
                    found = record.figure(statement)
                    figures.append(
                        Figure(statement.name, found.value, unit_of(found.dimension or NO_DIMENSION), statement.doc)
                    )
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
