"""Measures of several runs in the same steps at once: each expression is evaluated once for all of them. A series has
a row for each run, a number one column.

Functions of a whole run alone are measured so (`max(abs(x))`, `when(x > 1 V)`); with spans, instants, or a signal that
jumps, runs are measured one by one, and so is a run that does not have a figure or breaks an assertion.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from netsim.core.loop.refined import refine_axis
from netsim.results.measuring.record import Record, of_several
from netsim.results.measuring.subjects import TIME, subject_of
from netsim.results.samples import Figure, Trace
from netsim.results.series import REFINED, LazySeries, to_powers, unit_of
from netsim.results.trajectories import OVER, SUMMED, Trajectory, crossings
from netsim.text.errors import NetsimError
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Binary, Call, Measure
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray


class NotSideBySide(Exception):
    """The runs have to be measured one by one."""


@dataclass(frozen=True, eq=False)
class SideBySide(Record):
    """The signals of several runs, (runs, instants), and a trace (runs, steps, nodes)."""

    lacking: set[int] = field(default_factory=set)
    """Runs that have no such figure, or break an assertion."""

    def within(self, first: float, last: float) -> "SideBySide":
        """All of it, refined: there are no spans here."""
        if self.trace is None:
            return self
        time, values = _refined(self.trace)
        return replace(self, time=time, values=values, trace=None, whole=self)

    def functions(self) -> Mapping[str, Callable[[Call, Scope], Typed]]:
        return {name: partial(_over, name, self) for name in OVER} | {"when": partial(_when, self)}

    def figure(self, statement: Measure) -> Typed:
        """The values of a measure, one column."""
        if statement.name not in self.known:
            self.known[statement.name] = None
            self.known[statement.name] = evaluate(statement.value, self.scope())
        found = self.known[statement.name]
        if (
            not isinstance(found, Typed)
            or isinstance(found.value, tuple)
            or np.shape(found.value)[1:] not in ((), (1,))
        ):
            raise NotSideBySide
        return found

    def all(self, call: Call) -> tuple[Trajectory, Dimension | None]:
        """The argument of a call in all runs (runs, instants), and its dimension."""
        if len(call.arguments) != 1 or call.keywords:
            raise NotSideBySide
        (argument,), time = call.arguments, self.fine.time
        found = evaluate(argument, self.fine.scope())
        if isinstance(found.value, tuple) or np.ndim(found.value) != 2:
            raise NotSideBySide
        count = len(found.value)

        def inside(instants: Array) -> Array:
            return np.broadcast_to(self.fine.value(argument, instants), (count, len(instants)))

        series = np.broadcast_to(np.asarray(found.value, float), (count, len(time)))
        return Trajectory(time, series, inside), found.dimension

    def rows(self, call: Call) -> tuple[list[Trajectory], Dimension | None]:
        """The argument of a call in each run, and its dimension."""
        runs, dimension = self.all(call)
        return [Trajectory(runs.time, row) for row in runs.series], dimension


def _over(name: str, record: SideBySide, call: Call, scope: Scope) -> Typed:
    if name in ("max", "min") and len(call.arguments) > 1:
        return of_several(name, call, scope)
    compute, rule = OVER[name]
    if name in SUMMED:
        runs, dimension = record.all(call)
        return Typed(compute(runs)[:, None], rule(dimension, record.axis))
    rows, dimension = record.rows(call)
    return Typed(np.array([[compute(row)] for row in rows]), rule(dimension, record.axis))


def _when(record: SideBySide, call: Call, scope: Scope) -> Typed:
    """The first instants at which a comparison comes true."""
    comparison = call.arguments[0] if len(call.arguments) == 1 else None
    if not isinstance(comparison, Binary) or comparison.op not in ("<", "<=", ">", ">=", "=="):
        raise NotSideBySide
    difference = Binary("-", comparison.left, comparison.right, span=comparison.span)
    rows = record.rows(Call("when", (difference,), call.keywords, span=call.span))[0]
    found = [next(iter(crossings(row, comparison.op)), np.nan) for row in rows]
    record.lacking.update(np.flatnonzero(np.isnan(found)).tolist())
    return Typed(np.array(found)[:, None], record.axis)


def measured_side_by_side(record: SideBySide) -> list[tuple[Figure, ...] | None]:
    """The figures of each run whose assertions hold; None for one that has to be measured by itself."""
    count = len(next(iter(record.values.values())))
    try:
        return _figures(record, count)
    except (NotSideBySide, NetsimError):
        return [None] * count


def _refined(trace: Trace) -> tuple[Array, Mapping[str, Array]]:
    """Instants, and the polynomials of the steps of all runs there."""
    if any(np.any(each[:, :-1, -1] != each[:, 1:, 0]) for each in trace.values.values()):
        raise NotSideBySide
    steps, nodes = trace.time.shape
    axis, places = np.empty(REFINED * steps + 1), np.linspace(0.0, 1.0, REFINED + 1)
    refine_axis(np.ascontiguousarray(trace.time), np.zeros(steps, np.int64), -np.inf, np.inf, axis)
    values = to_powers(trace.time).T @ np.vander(places, nodes).T

    def refined(each: Array) -> Array:
        pieces = each @ values
        return np.concatenate([pieces[:, :, :-1].reshape(len(each), -1), pieces[:, -1, -1:]], axis=1)

    return axis, LazySeries(trace.values, refined)


def _figures(record: SideBySide, count: int) -> list[tuple[Figure, ...] | None]:
    network, columns = record.network, list[Sequence[Figure]]()
    with np.errstate(all="ignore"):
        for measure in network.measures:
            if subject_of(measure, network) == TIME:
                found = record.figure(measure)
                unit = unit_of(found.dimension or NO_DIMENSION)
                numbers = np.broadcast_to(np.asarray(found.value, float), (count, 1))[:, 0].tolist()
                columns.append([Figure(measure.name, number, unit, measure.doc) for number in numbers])
        for claim in network.asserts:
            if subject_of(claim, network) == TIME:
                truth = np.atleast_2d(np.asarray(evaluate(claim.condition, record.scope()).value) != 0)
                record.lacking.update(np.flatnonzero(~np.broadcast_to(truth.all(axis=1), count)).tolist())
    whole = [tuple(figures) for figures in zip(*columns)] or [()] * count
    return [None if k in record.lacking else figures for k, figures in enumerate(whole)]
