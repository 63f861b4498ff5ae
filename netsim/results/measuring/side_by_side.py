"""Measures of several runs in the same steps at once: each expression is evaluated once for all of them. A series has
a row for each run, a number one column.

Functions of a whole run alone are measured so (`max(abs(x))`, `when(x > 1 V)`); with spans, instants, or a signal that
jumps, runs are measured one by one, and so is a run that does not have a figure or breaks an assertion.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from netsim.core.loop.refined import refine_axis
from netsim.network.network import Network
from netsim.results.measuring.record import Record, of_several
from netsim.results.over_frequency.figures import of_frequency
from netsim.results.samples import Figure
from netsim.results.series import REFINED, WhenRead, to_powers, unit_of
from netsim.results.trajectories import OVER, Trajectory, crossings
from netsim.text.errors import NetsimError
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Binary, Call, Measure
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray


class OneByOne(Exception):
    """The runs have to be measured one by one."""


class SideBySide(Record):
    """The signals of several runs, refined, (runs, instants)."""

    @cached_property
    def apart(self) -> Array:
        """Which of the runs have to be measured by themselves."""
        return np.zeros(len(next(iter(self.values.values()))), bool)

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
            raise OneByOne
        return found

    def rows(self, call: Call) -> tuple[list[Trajectory], Dimension | None]:
        """The argument of a call in each run, and its dimension."""
        if len(call.arguments) != 1 or call.keywords:
            raise OneByOne
        found = evaluate(call.arguments[0], self.scope())
        if isinstance(found.value, tuple) or np.ndim(found.value) != 2:
            raise OneByOne
        series = np.broadcast_to(np.asarray(found.value, float), (len(found.value), len(self.time)))
        return [Trajectory(self.time, row) for row in series], found.dimension


def _over(name: str, record: SideBySide, call: Call, scope: Scope) -> Typed:
    if name in ("max", "min") and len(call.arguments) > 1:
        return of_several(name, call, scope)
    compute, rule = OVER[name]
    rows, dimension = record.rows(call)
    return Typed(np.array([[compute(row)] for row in rows]), rule(dimension, record.axis))


def _when(record: SideBySide, call: Call, scope: Scope) -> Typed:
    """The first instants at which a comparison comes true."""
    comparison = call.arguments[0] if len(call.arguments) == 1 else None
    if not isinstance(comparison, Binary) or comparison.op not in ("<", "<=", ">", ">=", "=="):
        raise OneByOne
    difference = Binary("-", comparison.left, comparison.right, span=comparison.span)
    rows = record.rows(Call("when", (difference,), call.keywords, span=call.span))[0]
    found = [next(iter(crossings(row, comparison.op)), np.nan) for row in rows]
    record.apart[np.isnan(found)] = True
    return Typed(np.array(found)[:, None], record.axis)


def measured_side_by_side(
    network: Network, dimensions: Mapping[str, Dimension], parameters: Scope, time: Array, traces: Mapping[str, Array]
) -> list[tuple[Figure, ...] | None]:
    """The figures of each run whose assertions hold; None for one that has to be measured by itself.

    `time` (steps, nodes), `traces` (runs, steps, nodes) of each signal read, `parameters` numbers or columns of them.
    """
    count = len(next(iter(traces.values())))
    try:
        return _figures(SideBySide(*_refined(time, traces), dimensions, parameters, network), count)
    except (OneByOne, NetsimError):
        return [None] * count


def _refined(time: Array, traces: Mapping[str, Array]) -> tuple[Array, Mapping[str, Array]]:
    """Instants, and the polynomials of the steps of all runs there."""
    if any(np.any(each[:, :-1, -1] != each[:, 1:, 0]) for each in traces.values()):
        raise OneByOne
    steps, nodes = time.shape
    axis, places = np.empty(REFINED * steps + 1), np.linspace(0.0, 1.0, REFINED + 1)
    refine_axis(np.ascontiguousarray(time), np.zeros(steps, np.int64), -np.inf, np.inf, axis)
    values = to_powers(time).T @ np.vander(places, nodes).T

    def refined(trace: Array) -> Array:
        pieces = trace @ values
        return np.concatenate([pieces[:, :, :-1].reshape(len(trace), -1), pieces[:, -1, -1:]], axis=1)

    return axis, WhenRead(traces, refined)


def _figures(record: SideBySide, count: int) -> list[tuple[Figure, ...] | None]:
    network, columns = record.network, list[Sequence[Figure]]()
    with np.errstate(all="ignore"):
        for measure in network.measures:
            if not of_frequency(measure, network):
                found = record.figure(measure)
                unit = unit_of(found.dimension or NO_DIMENSION)
                numbers = np.broadcast_to(np.asarray(found.value, float), (count, 1))[:, 0].tolist()
                columns.append([Figure(measure.name, number, unit, measure.doc) for number in numbers])
        for claim in network.asserts:
            if not of_frequency(claim, network):
                truth = np.atleast_2d(np.asarray(evaluate(claim.condition, record.scope()).value) != 0)
                record.apart[~np.broadcast_to(truth.all(axis=1), count)] = True
    whole = [tuple(figures) for figures in zip(*columns)] or [()] * count
    return [None if apart else figures for apart, figures in zip(record.apart, whole)]
