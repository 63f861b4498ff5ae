"""`measure` and `assert`: figures of a run's result, found on its signals between samples, and claims about them.

    measure rise = when(out.v > 0.9 V) - when(out.v > 0.1 V)
    assert  max(abs(a.x)) < 1 mm "the mass hits the wall"

A figure is one number. Functions of a signal look at the whole run, or at the span that `from` and `to` leave; `when`
gives the instant at which a comparison comes true (`>` on the way up, `<` on the way down, `==` either way).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import SECOND, plain_name
from netsim.network.network import Network
from netsim.results.over_frequency.figures import functions, of_frequency
from netsim.results.over_frequency.harmonics import distortion, harmonics
from netsim.results.samples import Figure, Samples, Trace
from netsim.results.selection import dimensions_measured
from netsim.results.series import series_scope, trajectory_of, unit_of
from netsim.results.trajectories import OVER, Trajectory, crossings, largest, negative
from netsim.text.errors import InputError, NetsimError, Problem, SimulationError, Span
from netsim.text.expressions.typed import Scope, Typed, evaluate, same_dimension
from netsim.text.syntax import Assert, Binary, Call, Expr, Measure, Name
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray
MISSING, BROKEN = "E513", "E514"


@dataclass(frozen=True, eq=False)
class Record:
    """The signals of a run, at its samples and between them, with what a netlist's expressions need besides."""

    time: Array
    values: Mapping[str, Array]
    dimensions: Mapping[str, Dimension]
    parameters: Scope
    network: Network
    known: dict[str, Typed | NetsimError] = field(default_factory=dict)
    trace: Trace | None = None
    over: Mapping[str, Any] | None = None
    """Functions of responses, of a run over frequency."""

    @cached_property
    def fine(self) -> "Record":
        """The same, refined."""
        return self.within(-np.inf, np.inf)

    def within(self, first: float, last: float) -> "Record":
        """The same from `first` to `last`, refined."""
        time, values = trajectory_of(self.time, self.values, self.trace, first, last)
        return Record(time, values, self.dimensions, self.parameters, self.network, self.known)

    def scope(self) -> Scope:
        """Signals as series, figures as numbers, and the functions of this module."""
        plain = series_scope(self.dimensions, self.values, self.time, self.parameters, self.network.top)

        def resolve(name: Name) -> Typed:
            statement = next((m for m in self.network.measures if m.name == plain_name(name)), None)
            return plain.resolve(name) if statement is None else self.figure(statement)

        return Scope(resolve, dict(self.over or {name: partial(take, self) for name, take in TAKES.items()}))

    def figure(self, statement: Measure) -> Typed:
        """The value of a measure, found once. Raises `InputError` for what it says, `SimulationError` where the result
        has no such thing."""
        if statement.name not in self.known:
            self.known[statement.name] = InputError(
                Problem("E233", f"'{statement.name}' depends on itself", statement.span)
            )
            try:
                self.known[statement.name] = number_of(statement.value, self.scope())
            except NetsimError as wrong:
                self.known[statement.name] = wrong
        found = self.known[statement.name]
        if isinstance(found, NetsimError):
            raise found
        return found


def number_of(expr: Expr, scope: Scope) -> Typed:
    """The value of an expression that must be one number."""
    found = evaluate(expr, scope)
    if isinstance(found.value, tuple):
        message = "a measured value must be one number, this is a vector"
        raise InputError(Problem("E204", message, expr.span, hint="take a component, or norm()"))
    if np.ndim(found.value):
        hint = "take one value of it: max(x), mean(x), final(x), at(x, 1 s), when(x > 0)"
        raise InputError(Problem("E249", "this is a whole trajectory over time, not one number", expr.span, hint=hint))
    return Typed(float(found.value), found.dimension)


# ------------------------------------------------------------------------------------------- functions of a signal

OF_SIGNAL = {**OVER, "distortion": (distortion, lambda d: NO_DIMENSION)}


def _over(name: str, record: Record, call: Call, scope: Scope) -> Typed:
    if name in ("max", "min") and len(call.arguments) > 1:
        return _of_several(name, call, scope)
    compute, rule = OF_SIGNAL[name]
    trajectory, dimension = _trajectory(call, record, scope, 1, ("from", "to"))
    return Typed(compute(trajectory), None if dimension is None else rule(dimension))


def _of_several(name: str, call: Call, scope: Scope) -> Typed:
    """max(a, b) as everywhere in the language."""
    values = [evaluate(argument, scope) for argument in call.arguments]
    dimension: Dimension | None = None
    for value in values:
        dimension = same_dimension(Typed(0, dimension), value, call.span, f"{name}() of")
    choose = np.maximum if name == "max" else np.minimum
    found = values[0].value
    for value in values[1:]:
        found = choose(found, value.value)
    return Typed(found, dimension)


def _at(record: Record, call: Call, scope: Scope) -> Typed:
    trajectory, dimension = _trajectory(call, record, scope, 2, ())
    return Typed(trajectory.at(_instant(call.arguments[1], record, scope)), dimension)


def _harmonic(record: Record, call: Call, scope: Scope) -> Typed:
    """The amplitude of a harmonic of a signal that is one period long."""
    trajectory, dimension = _trajectory(call, record, scope, 2, ("from", "to"))
    number = number_of(call.arguments[1], scope).value
    if number % 1 or number < 0:
        raise InputError(Problem("E208", f"the number of a harmonic is whole, this is {number:g}", call.span))
    return Typed(float(abs(harmonics(trajectory, np.array([number]))[0])), dimension)


def _slope(record: Record, call: Call, scope: Scope) -> Typed:
    """The rate of a signal at an instant: of the parabola through three points around it, an interval apart from one
    another."""
    trajectory, dimension = _trajectory(call, record, scope, 2, ())
    t, span = _instant(call.arguments[1], record, scope), record.fine.time
    i = int(np.clip(np.searchsorted(span, t), 1, len(span) - 2))
    h = min(span[i + 1] - span[i], span[i] - span[i - 1]) or trajectory.length * 1e-6
    middle = float(np.clip(t, span[0] + h, span[-1] - h))
    before, here, after = (trajectory.at(middle + d) for d in (-h, 0.0, h))
    rate = (after - before) / (2 * h) + (t - middle) * (after - 2 * here + before) / h**2
    return Typed(rate, None if dimension is None else dimension / SECOND)


def _instant(expr: Expr, record: Record, scope: Scope) -> float:
    found = number_of(expr, scope)
    same_dimension(Typed(0.0, SECOND), found, expr.span, "an instant is in s, this in")
    _within(found.value, record, expr.span)
    return found.value


def _within(t: float, record: Record, span: Span) -> None:
    first, last = record.time[0], record.time[-1]
    if not first - 1e-9 * abs(last) <= t <= last * (1 + 1e-9):
        message = f"t = {t:g} s is outside the run, which goes from {first:g} s to {last:g} s"
        raise SimulationError(Problem(MISSING, message, span))


# ------------------------------------------------------------------------------------------------- instants


def _when(record: Record, call: Call, scope: Scope) -> Typed:
    """The n-th instant at which a comparison comes true."""
    allowed = ("n", "from", "to")
    comparison = call.arguments[0] if len(call.arguments) == 1 else None
    if not isinstance(comparison, Binary) or comparison.op not in ("<", "<=", ">", ">=", "=="):
        hint = "such as when(out.v > 0.9 V); == finds crossings in both directions"
        raise InputError(Problem("E207", "when() takes one comparison", call.span, hint=hint))
    difference = Binary("-", comparison.left, comparison.right, span=comparison.span)
    trajectory, _ = _trajectory(Call("when", (difference,), call.keywords, span=call.span), record, scope, 1, allowed)
    n = next((number_of(value, scope).value for word, value in call.keywords if word == "n"), 1)
    if n % 1:  # nothing is a whole number of infinity
        raise InputError(Problem("E208", f"n is a whole number, this is {n:g}", call.span))
    n = int(n)
    found = crossings(trajectory, comparison.op)
    if not n or abs(n) > len(found):
        times = (
            f"becomes true only {len(found)} time{'s' if len(found) > 1 else ''}"
            if len(found)
            else "never becomes true"
        )
        begun = {
            "<": trajectory.series[0] < 0,
            "<=": trajectory.series[0] <= 0,
            ">": trajectory.series[0] > 0,
            ">=": trajectory.series[0] >= 0,
        }
        hint = "it is true from the beginning" if not len(found) and begun.get(comparison.op) else ""
        message = f"this comparison {times}" + ("" if abs(n) == 1 else f", not {abs(n)}")
        raise SimulationError(Problem(MISSING, message, comparison.span, hint=hint))
    return Typed(float(found[n - 1 if n > 0 else n]), SECOND)


def _period(record: Record, call: Call, scope: Scope) -> Typed:
    """The mean time between rising passages through `level`, half way between the extremes unless told."""
    trajectory, dimension = _trajectory(call, record, scope, 1, ("level", "from", "to"))
    given = next((number_of(value, scope) for word, value in call.keywords if word == "level"), None)
    if given is not None:
        same_dimension(Typed(0.0, dimension), given, call.span, "the signal and its level are in")
    level = given.value if given else (largest(trajectory)[0] - largest(negative(trajectory))[0]) / 2
    found = crossings(Trajectory(trajectory.time, trajectory.series - level), ">")
    if len(found) < 2:
        count = f"{len(found)} time{'s' * (len(found) != 1)}"
        message = f"this signal has no whole period: it rises through {level:.6g} only {count}"
        raise SimulationError(Problem(MISSING, message, call.span))
    return Typed(float(found[-1] - found[0]) / (len(found) - 1), SECOND)


def _frequency(record: Record, call: Call, scope: Scope) -> Typed:
    return Typed(1 / _period(record, call, scope).value, NO_DIMENSION / SECOND)


def _trajectory(
    call: Call, record: Record, scope: Scope, arguments: int, words: Sequence[str]
) -> tuple[Trajectory, Dimension | None]:
    """The first argument of a call over the span that `from` and `to` leave, and its dimension."""
    if len(call.arguments) != arguments:
        takes = "one argument, a signal" if arguments == 1 else "a signal and a number"
        raise InputError(Problem("E207", f"{call.function}() takes {takes}", call.span))
    for word, value in call.keywords:
        if word not in words:
            hint = f"its named arguments are {', '.join(words)}" if words else "it has no named arguments"
            raise InputError(Problem("E207", f"{call.function}() has no argument '{word}'", value.span, hint=hint))
    ends = {word: _instant(value, record, scope) for word, value in call.keywords if word in ("from", "to")}
    fine = record.fine
    if ends and len(fine.time) > 1:
        first, last = ends.get("from", float(fine.time[0])), ends.get("to", float(fine.time[-1]))
        if not first < last:
            empty = f"the interval from {first:g} s to {last:g} s is empty"
            if len(ends) > 1:
                raise InputError(Problem("E207", empty, call.span))
            raise SimulationError(Problem(MISSING, empty, call.span))  # an end of it is that of the run
        fine = record.within(first, last)
    found = evaluate(call.arguments[0], fine.scope())
    if isinstance(found.value, tuple):
        message = f"{call.function}() takes a signal of one number, this is a vector"
        raise InputError(Problem("E204", message, call.span, hint="take a component, or norm()"))
    return Trajectory(fine.time, np.broadcast_to(np.asarray(found.value, float), fine.time.shape)), found.dimension


TAKES: dict[str, Callable[[Record, Call, Scope], Typed]] = {
    **{name: partial(_over, name) for name in OF_SIGNAL},
    "at": _at,
    "harmonic": _harmonic,
    "slope": _slope,
    "when": _when,
    "period": _period,
    "frequency": _frequency,
}


# -------------------------------------------------------------------------------------------- of a whole run


def measured(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The figures of a run, and what is wrong with it: measures that are not found (E510), assertions that do not hold
    (E511).

    `samples` hold the signals of `signals_measured`, saved or unseen. Raises `InputError` where a statement means
    nothing.
    """
    network = machine.system.network
    saved = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    return _taken(machine, network, samples.time, {**samples.unseen, **saved}, samples.trace)


def measured_over_frequency(machine: Machine, samples: Samples) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    """The same for statements that speak of responses, which must be saved."""
    series = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
    network = machine.system.network
    return _taken(machine, network, samples.time, series, over=functions(samples.time))


def check_measures(machine: Machine, network: Network) -> None:
    """Try measures and assertions on made-up signals. Raises `InputError` for what they say wrong; what is not found
    means nothing here."""
    if network.measures or network.asserts:
        time = np.linspace(0.0, 1.0, 3)
        names = dimensions_measured(machine, network)
        series = {name: 1 + time + i for i, name in enumerate(names)}
        _taken(machine, network, time, series)
        _taken(
            machine, network, 1 + time, {n: x * np.exp(-9j * time) for n, x in series.items()}, over=functions(1 + time)
        )


def _taken(
    machine: Machine,
    network: Network,
    time: Array,
    values: Mapping[str, Array],
    trace: Trace | None = None,
    over: Mapping[str, Any] | None = None,
) -> tuple[tuple[Figure, ...], tuple[Problem, ...]]:
    dimensions = dimensions_measured(machine, network)
    record = Record(
        time,
        {name: values[name] for name in dimensions if name in values},
        dimensions,
        machine.values.scope(network.top),
        network,
        trace=trace,
        over=over,
    )
    figures, wrong, mistakes = [], dict[Problem, None](), list[Problem]()
    with np.errstate(all="ignore"):
        for statement in (*network.measures, *network.asserts):
            if of_frequency(statement, network) != (over is not None):
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
    where = f" at t = {record.time[int(np.argmin(truth))]:.6g} s" if truth.ndim else ""
    hint = ""
    if isinstance(condition, Binary) and not truth.ndim:
        left, right = (evaluate(side, scope) for side in (condition.left, condition.right))
        unit = unit_of(left.dimension or right.dimension or NO_DIMENSION)
        hint = (
            f"the left side is {float(left.value):.6g} {unit}, the right side {float(right.value):.6g} {unit}".rstrip()
        )
    return Problem(BROKEN, (statement.sentence or "this assertion does not hold") + where, condition.span, hint=hint)
