"""The signals of a run over its axis, and the functions of them that measures call: extremes, means, crossings, values.

The axis is time, the frequency of a response (netsim.results.over_frequency.figures has further functions of these), or
what a characteristic is swept over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from netsim.library.component import SECOND, plain_name
from netsim.network.network import Network
from netsim.results.measuring.subjects import NOISE, RESPONSES, TIME
from netsim.results.over_frequency import densities
from netsim.results.over_frequency.densities import Noise
from netsim.results.over_frequency.figures import functions, response_between
from netsim.results.over_frequency.harmonics import distortion, harmonics
from netsim.results.samples import Trace
from netsim.results.series import Along, LazySeries, refined, series_scope, trajectory_of, unit_of, within_steps
from netsim.results.trajectories import OVER, Trajectory, crossings, largest, negative
from netsim.text.errors import InputError, NetsimError, Problem, SimulationError, Span
from netsim.text.expressions.typed import Scope, Typed, evaluate, same_dimension
from netsim.text.syntax import Binary, Call, Expr, Measure, Name, Number
from netsim.text.units import ANGLE, NO_DIMENSION, Dimension

Array = np.ndarray
MISSING, HARMONIC = "E513", "the number of a harmonic is whole, from 0 on"
SHORTER = 1e-9
"""By how much, as a share, a run may be shorter than the period whose harmonics are asked for."""


@dataclass(frozen=True, eq=False)
class Record:
    """The signals of a run, at its samples and between them, with what a netlist's expressions need besides."""

    time: Array
    values: Mapping[str, Array]
    dimensions: Mapping[str, Dimension]
    parameters: Scope
    network: Network
    known: dict[str, Typed | NetsimError | None] = field(default_factory=dict)
    """Figures that were found, and what was wrong with others; None while one is being found."""
    trace: Trace | None = None
    axis: Dimension | None = SECOND
    """The dimension of `time`: that of the frequency, or of what is swept (None while it is not known)."""
    subject: str = TIME
    """Of what statements this is a record: of a run over time (or along a characteristic), of responses over
    frequency, of noise."""
    noises: Mapping[str, Noise] = field(default_factory=dict)
    """Of a run of noise, by what is written of the signals."""
    looked: list[float] = field(default_factory=list)
    """Where on the axis figures were found."""
    whole: "Record | None" = None
    """What this one refines, or a span of it."""
    along: Along | None = None
    """What running integrals go along, where `time` has some instants of it only."""

    @cached_property
    def fine(self) -> "Record":
        """The same, refined."""
        return self.within(-np.inf, np.inf)

    def within(self, first: float, last: float) -> "Record":
        """The same from `first` to `last`, refined."""
        if self.subject != TIME:
            inside = (self.time > first) & (self.time < last)
            ends = [max(first, self.time[0])], self.time[inside], [min(last, self.time[-1])]
            time = refined(np.unique(np.concatenate(ends)))
            values = self.anywhere(time)
        else:
            time, values = trajectory_of(self.time, self.values, self.trace, first, last)
        return replace(self, time=time, values=values, trace=None, whole=self)

    @cached_property
    def integrated(self) -> Along:
        """What running integrals go along here."""
        return Along(self.time, self.values, {})

    @cached_property
    def anywhere(self) -> Callable[[Array], Mapping[str, Array]]:
        """Signals at any instants, those inside steps and between samples too."""
        if self.subject == TIME:
            return within_steps(self.time, self.values, self.trace)
        return lambda instants: LazySeries(self.values, lambda series: response_between(self.time, series, instants))

    def value(self, expr: Expr, instants: Array) -> Array:
        """An expression at instants inside the intervals of this refined axis."""
        named = replace(self, time=instants, values=(self.whole or self).anywhere(instants), along=self.integrated)
        return np.asarray(evaluate(expr, Scope(named.scope().resolve, self.functions())).value, float)

    def scope(self) -> Scope:
        """Signals as series, figures as numbers, and the functions of this module."""
        plain = series_scope(
            self.dimensions, self.values, self.time, self.parameters, self.network.top, along=self.along
        )

        def resolve(name: Name) -> Typed:
            statement = next((m for m in self.network.measures if m.name == plain_name(name)), None)
            return plain.resolve(name) if statement is None else self.figure(statement)

        return Scope(resolve, self.functions())

    def functions(self) -> "Mapping[str, Callable[[Call, Scope], Typed]]":
        """What expressions may call besides the functions of the language."""
        takes = LazySeries(TAKES, lambda take: partial(take, self))
        if self.subject == NOISE:
            return {**takes, **densities.functions(self.noises, self.time)}
        return {**takes, **functions(self.time, self.looked)} if self.subject == RESPONSES else takes

    def figure(self, statement: Measure) -> Typed:
        """The value of a measure, found once. Raises `InputError` for what it says, `SimulationError` where the result
        has no such thing."""
        if statement.name not in self.known:
            self.known[statement.name] = None
            try:
                self.known[statement.name] = number_of(statement.value, self.scope())
            except NetsimError as wrong:
                self.known[statement.name] = wrong
        found = self.known[statement.name]
        if found is None:
            raise InputError(Problem("E233", f"'{statement.name}' depends on itself", statement.span))
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


def _over(name: str, record: Record, call: Call, scope: Scope) -> Typed:
    if name in ("max", "min") and len(call.arguments) > 1:
        return of_several(name, call, scope)
    compute, rule = OVER[name]
    trajectory, dimension = _trajectory(call, record, scope, 1, ("from", "to"))
    return Typed(float(compute(trajectory)), rule(dimension, record.axis))


def of_several(name: str, call: Call, scope: Scope) -> Typed:
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
    place = _instant(call.arguments[1], record, scope)
    record.looked.append(place)
    return Typed(trajectory.at(place), dimension)


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
    return Typed(rate, _per(dimension, record.axis))


def _instant(expr: Expr, record: Record, scope: Scope) -> float:
    found = number_of(expr, scope)
    if record.axis is not None:
        unit = unit_of(record.axis)
        words = "an instant is in s, this in" if record.axis == SECOND else f"a place on the axis is in {unit}, this in"
        same_dimension(Typed(0.0, record.axis), found, expr.span, words)
    _within(found.value, record, expr.span)
    return found.value


def _within(t: float, record: Record, span: Span) -> None:
    first, last = record.time[0], record.time[-1]
    if not first - 1e-9 * abs(last) <= t <= last * (1 + 1e-9):
        unit = unit_of(record.axis or NO_DIMENSION)
        here = f"t = {t:g} s" if record.axis == SECOND else f"{t:g} {unit}".rstrip()
        message = f"{here} is outside the run, which goes from {first:g} {unit} to {last:g} {unit}"
        raise SimulationError(Problem(MISSING, message, span))


def _when(record: Record, call: Call, scope: Scope) -> Typed:
    """The n-th instant at which a comparison comes true."""
    allowed = ("n", "from", "to")
    comparison = call.arguments[0] if len(call.arguments) == 1 else None
    if not isinstance(comparison, Binary) or comparison.op not in ("<", "<=", ">", ">=", "=="):
        hint = "such as when(out.v > 0.9 V); == finds crossings in both directions"
        raise InputError(Problem("E207", "when() takes one comparison", call.span, hint=hint))
    difference = Binary("-", comparison.left, comparison.right, span=comparison.span)
    trajectory, _ = _trajectory(Call("when", (difference,), call.keywords, span=call.span), record, scope, 1, allowed)
    n = next((_whole(value, scope, "n is a whole number") for word, value in call.keywords if word == "n"), 1)
    found = crossings(trajectory, comparison.op)
    if not n or abs(n) > len(found):
        times = (
            f"becomes true only {len(found)} time{'s' if len(found) > 1 else ''}"
            if len(found)
            else "never becomes true"
        )
        first = trajectory.series[0]
        begun = {"<": first < 0, "<=": first <= 0, ">": first > 0, ">=": first >= 0}
        hint = "it is true from the beginning" if not len(found) and begun.get(comparison.op) else ""
        message = f"this comparison {times}" + ("" if abs(n) == 1 else f", not {abs(n)}")
        raise SimulationError(Problem(MISSING, message, comparison.span, hint=hint))
    place = float(found[n - 1 if n > 0 else n])
    record.looked.append(place)
    return Typed(place, record.axis)


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


def _of_period(
    record: Record, call: Call, scope: Scope, arguments: int, words: Sequence[str] = ()
) -> tuple[Trajectory, Dimension | None]:
    """The signal over one period: the span of `from` and `to`, the whole run, or with `f` the last 1/f of it."""
    keywords = dict(call.keywords)
    if "f" in keywords:
        frequency = number_of(keywords.pop("f"), scope)
        same_dimension(Typed(0.0, NO_DIMENSION / SECOND), frequency, call.span, "a frequency is in Hz, this in")
        first, last = float(record.time[0]), float(record.time[-1])
        period = 1.0 / frequency.value if frequency.value > 0.0 else np.inf
        if not period <= (last - first) * (1 + SHORTER):
            message = f"the run from {first:g} s to {last:g} s has no whole period of {frequency.value:g} Hz"
            raise SimulationError(Problem(MISSING, message, call.span))
        keywords |= {"from": Number(max(first, last - period), "s"), "to": Number(last, "s")}
    period_of = replace(call, keywords=tuple(keywords.items()))
    return _trajectory(period_of, record, scope, arguments, ("from", "to", *words))


def _whole(expr: Expr, scope: Scope, wanted: str, least: float = -np.inf) -> int:
    found = number_of(expr, scope)
    if found.dimension not in (None, NO_DIMENSION) or found.value % 1 or found.value < least:
        message = f"{wanted}, this is {found.value:g} {unit_of(found.dimension or NO_DIMENSION)}".rstrip()
        raise InputError(Problem("E208", message, expr.span))
    return int(found.value)


def _harmonic(record: Record, call: Call, scope: Scope) -> Typed:
    """The amplitude of a harmonic of a signal that is one period long; of the number 0 the mean."""
    trajectory, dimension = _of_period(record, call, scope, 2)
    n = _whole(call.arguments[1], scope, HARMONIC, 0.0)
    found = harmonics(trajectory, np.array([n]))[0]
    return Typed(float(abs(found) if n else found.real), dimension)


def _harmonic_phase(record: Record, call: Call, scope: Scope) -> Typed:
    """The phase p (rad) of harmonic n, a sin(2 pi n t/T + p)."""
    trajectory, _ = _of_period(record, call, scope, 2)
    n = _whole(call.arguments[1], scope, HARMONIC, 0.0)
    found = harmonics(trajectory, np.array([n]))[0]
    turns = n * float(trajectory.time[0]) / trajectory.length % 1.0
    angle = float(np.angle(found)) + np.pi / 2 - 2 * np.pi * turns
    return Typed(float((angle + np.pi) % (2 * np.pi) - np.pi), ANGLE)


def _distortion(record: Record, call: Call, scope: Scope) -> Typed:
    """The effective value of the harmonics 2 to n over that of the first (without n: of all above the first)."""
    trajectory, _ = _of_period(record, call, scope, 1, ("n",))
    last = next((_whole(value, scope, HARMONIC, 0.0) for word, value in call.keywords if word == "n"), 0)
    if last < 2:
        return Typed(distortion(trajectory), NO_DIMENSION)
    sizes = np.abs(harmonics(trajectory, np.arange(1, last + 1)))
    return Typed(float(np.linalg.norm(sizes[1:]) / sizes[0]) if sizes[0] else float("nan"), NO_DIMENSION)


def _per(dimension: Dimension | None, axis: Dimension | None) -> Dimension | None:
    return None if dimension is None or axis is None else dimension / axis


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
            unit = unit_of(record.axis or NO_DIMENSION)
            empty = f"the interval from {first:g} {unit} to {last:g} {unit} is empty"
            if len(ends) > 1:
                raise InputError(Problem("E207", empty, call.span))
            raise SimulationError(Problem(MISSING, empty, call.span))  # an end of it is that of the run
        fine = record.within(first, last)
    found = evaluate(call.arguments[0], fine.scope())
    if isinstance(found.value, tuple):
        message = f"{call.function}() takes a signal of one number, this is a vector"
        raise InputError(Problem("E204", message, call.span, hint="take a component, or norm()"))
    series = np.broadcast_to(np.asarray(found.value, float), fine.time.shape)

    def inside(instants: Array) -> Array:
        return np.broadcast_to(fine.value(call.arguments[0], instants), instants.shape)

    return Trajectory(fine.time, series, inside), found.dimension


TAKES: dict[str, Callable[[Record, Call, Scope], Typed]] = {
    **{name: partial(_over, name) for name in OVER},
    "at": _at,
    "slope": _slope,
    "when": _when,
    "period": _period,
    "frequency": _frequency,
    "harmonic": _harmonic,
    "harmonic_phase": _harmonic_phase,
    "distortion": _distortion,
}
