"""Signals of a result between their samples, and expressions of them: what `save` and `plot` compute, lets, and running
integrals.

Between samples a signal is a cubic spline. Where that departs from Akima's cubic (H. Akima, J. ACM 17, 1970) by more
than 1/16 of the range of the four samples around it, the signal jumps or bends there, the spline rings, and Akima's
cubic, which does not, is taken.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from netsim.core.loop.refined import POINTS, mark_jumps, refine_axis, refine_series
from netsim.equations.numbering import suffixes
from netsim.library.component import SECOND, dimension, plain_name
from netsim.network.lets import derived_from
from netsim.network.network import Frame, name_text
from netsim.results.measuring.quadrature import accumulated
from netsim.results.measuring.splines import akima, spline
from netsim.results.samples import Signal, Trace
from netsim.structure.of_time.switching import inside
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import flatten, shape
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Call, Expr, Name
from netsim.text.units import Dimension, format_dimension

Array = np.ndarray
Of = TypeVar("Of")
To = TypeVar("To")
REFINED = POINTS
RINGING = 1 / 16
BESIDE = 0.2
INDEXED = re.compile(r"(.+?)((?:\[\d+\])+)")


def unit_of(dimension_: Dimension) -> str:
    """'' for a number, else the SI unit."""
    return "" if dimension_.is_none else format_dimension(dimension_)


# -------------------------------------------------------------------------------------------- between samples


def refined(time: Array) -> Array:
    """REFINED instants for each interval of a time axis, the old ones among them."""
    return np.interp(np.arange((len(time) - 1) * REFINED + 1) / REFINED, np.arange(len(time)), time)


def interpolated(time: Array, series: Array, instants: Array) -> Array:
    """A signal at instants between its samples; where two samples share an instant it jumps, and the later one
    counts."""
    return curve(time, series)(instants)


def curve(time: Array, series: Array) -> Callable[[Array], Array]:
    """A signal as a function of instants, where many ask for it (see `interpolated`)."""
    time, series, cuts = _apart(time, series)
    pieces = zip(np.split(time, cuts), np.split(series, cuts))
    cubics = np.concatenate([_cubics(t, x) for t, x in pieces], axis=1)

    def at(instants: Array) -> Array:
        k = np.maximum(np.searchsorted(time, instants, side="right") - 1, 0)
        return np.asarray(_values(cubics[:, k], np.maximum(instants - time[k], 0.0)))

    return at


def _apart(time: Array, series: Array) -> tuple[Array, Array, Array]:
    """Samples without those that stand right beside the next one (a step that ends by a requested instant), and where
    the pieces of the trajectory begin: behind jumps, where two samples share an instant or nearly so."""
    gaps = np.diff(time)
    if len(gaps) < 3:
        return time, series, np.flatnonzero(gaps <= 0) + 1
    beside = np.minimum(np.append(gaps[1:], np.inf), np.append(np.inf, gaps[:-1]))
    close = gaps < BESIDE * beside
    spread = np.ptp(np.lib.stride_tricks.sliding_window_view(np.pad(series, 2, mode="edge"), 6), axis=1)[: len(gaps)]
    jumps = (gaps <= 0) | (close & (np.abs(np.diff(series)) > RINGING * spread))
    kept = np.append(~close | jumps, True)
    return time[kept], series[kept], (np.cumsum(kept)[:-1])[jumps]


def _cubics(time: Array, series: Array) -> Array:
    """The cubic behind each sample of a piece (4, samples), highest power of the time since then first."""
    h = np.diff(time)
    found = np.zeros((4, len(time)))
    found[2, :-1], found[3] = np.diff(series) / h, series
    if len(time) < 5 or not np.isfinite(series).all():
        return found
    ringing, calm = spline(time, series), akima(time, series)
    # where a signal is all but constant it divides nothing by nothing
    calm = np.where(np.isfinite(calm).all(axis=0), calm, found[:, :-1])
    around = np.lib.stride_tricks.sliding_window_view(np.pad(series, 1, mode="edge"), 4)
    ranges = around.max(axis=1) - around.min(axis=1)
    departs = np.abs(_values((ringing - calm)[:, None], h * np.arange(1, REFINED)[:, None] / REFINED)).max(axis=0)
    found[:, :-1] = np.where(departs > RINGING * ranges, calm, ringing)
    return found


def _values(cubics: Array, since: Array) -> Array:
    return ((cubics[0] * since + cubics[1]) * since + cubics[2]) * since + cubics[3]


def refined_series(time: Array, series: Array) -> Array:
    """A signal at the instants `refined(time)`: at a jump, where two samples share an instant, each keeps its own
    value."""
    found = interpolated(time, series, refined(time))
    found[::REFINED] = series
    return found


class LazySeries(Mapping[str, To], Generic[Of, To]):
    """What `made` makes of each of some things (series of a signal), made when it is first read."""

    def __init__(self, values: Mapping[str, Of], made: Callable[[Of], To]):
        self.values_of, self.made, self.known = values, made, dict[str, To]()

    def __getitem__(self, name: str) -> To:
        if name not in self.known:
            self.known[name] = self.made(self.values_of[name])
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values_of

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)


def trajectory_of(
    time: Array, values: Mapping[str, Array], trace: Trace | None, first: float = -np.inf, last: float = np.inf
) -> tuple[Array, Mapping[str, Array]]:
    """A refined axis from `first` to `last` and signals on it: the polynomials of a run's steps, or, without a trace,
    of what lies between samples."""
    if trace is None or not len(trace.time):
        within = (time > first) & (time < last)
        if within.all():
            return refined(time), LazySeries(values, lambda series: refined_series(time, series))
        ends = np.concatenate([[max(first, time[0])], time[within], [min(last, time[-1])]])
        axis = refined(ends)
        return axis, LazySeries(values, lambda series: interpolated(time, series, axis))
    time, powers = np.ascontiguousarray(trace.time), to_powers(trace.time)
    jumps, axis = np.zeros(len(time), np.int64), np.empty(2 * REFINED * len(time) + 1)
    for each in trace.values.values():
        mark_jumps(np.ascontiguousarray(each), jumps)
    count = refine_axis(time, jumps, first, last, axis)

    def refine(series: Array) -> Array:
        found = np.empty(len(axis))
        refine_series(time, np.ascontiguousarray(series), jumps, first, last, powers, found)
        return found[:count]

    return axis[:count], LazySeries(trace.values, refine)


def within_steps(
    time: Array, values: Mapping[str, Array], trace: Trace | None
) -> Callable[[Array], Mapping[str, Array]]:
    """Signals, of one run or of several, at any instants inside steps, or, without a trace, between samples."""
    if trace is None or not len(trace.time):
        curves = LazySeries(values, lambda series: curve(time, series))
        return lambda instants: LazySeries(curves, lambda signal: signal(instants))
    begins, nodes = trace.time[:, 0], trace.time.shape[1]

    def at(instants: Array) -> Mapping[str, Array]:
        step = np.maximum(np.searchsorted(begins, instants, side="right") - 1, 0)
        share = (instants - begins[step]) / (trace.time[step, -1] - begins[step])
        weights = np.vander(share, nodes) @ to_powers(trace.time)
        return LazySeries(trace.values, lambda series: np.einsum("ij,...ij->...i", weights, series[..., step, :]))

    return at


def to_powers(time: Array) -> Array:
    """The matrix from values at the nodes of a step to the coefficients of their polynomial over its share of the step,
    highest power first; `time` (steps, nodes)."""
    nodes = (time[0] - time[0, 0]) / (time[0, -1] - time[0, 0])
    return _of_nodes(tuple(nodes.tolist()))


@cache
def _of_nodes(nodes: tuple[float, ...]) -> Array:
    return np.linalg.inv(np.vander(nodes, len(nodes)))


# ------------------------------------------------------------------------------------------------ expressions


def integrals_in(expr: Any, frame: Frame) -> Iterator[Call]:
    """The running integrals of an expression, those of lets that it names too."""
    if isinstance(expr, Call) and expr.function == "integral":
        yield expr
    derived = derived_from(expr, frame) if isinstance(expr, Name) else None
    for inner in inside(expr) if derived is None else (derived,):
        yield from integrals_in(inner, frame)


class Along(NamedTuple):
    """An axis, the series over it, and the running integrals that were found over it, refined, by what calls them."""

    time: Array
    values: Mapping[str, Array]
    known: dict[Call, tuple[Array, Typed]]


def series_scope(
    dimensions: Mapping[str, Dimension],
    values: Mapping[str, Array],
    time: Array,
    parameters: Scope,
    top: Frame,
    trace: Trace | None = None,
    along: Along | None = None,
) -> Scope:
    """Names of saved signals as series, `time`, and the netlist's parameters; running integrals follow the steps of a
    run where it has a trace. They go `along` another axis where `time` has some instants of it only."""
    whole, over, known = along or Along(time, values, {})

    def resolve(name: Name) -> Typed:
        path = name_text(name, top)
        if path in values:
            return Typed(values[path], dimensions.get(path))
        if names := _parts(path, values):
            series = [values[part] for part in names]
            return Typed(tuple(series) if len(names) > 1 else series[0], dimensions.get(names[0]))
        if (derived := derived_from(name, top)) is not None:
            return evaluate(derived, scope)
        return Typed(time, SECOND) if plain_name(name) == "time" else parameters.resolve(name)

    @cache
    def between_samples() -> tuple[Array, Scope]:
        fine, trajectories = trajectory_of(whole, over, trace)
        return fine, series_scope(dimensions, trajectories, fine, parameters, top)

    anywhere = cache(partial(within_steps, whole, over, trace))

    def value(expr: Expr, instants: Array) -> Array:
        along_all, there = Along(whole, over, known), anywhere()(instants)
        inside_steps = series_scope(dimensions, there, instants, parameters, top, trace, along_all)
        return np.broadcast_to(np.asarray(evaluate(expr, inside_steps).value, float), instants.shape)

    def running(call: Call, scope: Scope) -> Typed:
        if len(call.arguments) != 1 or call.keywords:
            raise InputError(Problem("E207", "integral() takes one argument", call.span))
        if call not in known:
            fine, inside_steps = between_samples()  # the kinks of abs() and max() fall where they belong
            operand = evaluate(call.arguments[0], inside_steps)
            series = np.broadcast_to(np.asarray(operand.value, float), fine.shape)
            total = accumulated(series, fine, partial(value, call.arguments[0])) if len(whole) > 1 else series * 0.0
            dimension_ = None if operand.dimension is None else operand.dimension * SECOND
            known[call] = fine, Typed(total, dimension_)
        fine, found = known[call]
        at_samples = len(whole) < 2 or (trace is None and along is None)
        return replace(found, value=found.value[::REFINED] if at_samples else interpolated(fine, found.value, time))

    scope = Scope(resolve, {"integral": running})
    return scope


def _parts(path: str, values: Mapping[str, Array]) -> list[str]:
    """Names of the saved components of a vector, or of the entry or row of one or of a matrix that indices pick."""
    letters = [path + suffix for suffix in (".x", ".y", ".z") if path + suffix in values]
    if letters or not (found := INDEXED.fullmatch(path)):
        return letters
    whole, picked = found[1], ",".join(re.findall(r"\d+", found[2]))
    named = [f"{whole}[{picked}]", *(f"{whole}.{x}" for x, k in zip("xyz", "123") if k == picked)]
    return [n for n in named if n in values] or [n for c in "123" if (n := f"{whole}[{picked},{c}]") in values]


def computed(expressions: Mapping[str, Expr], time: Array, scope: Scope) -> dict[str, tuple[Array, Signal]]:
    """Saved expressions as series of their own, read in the scope of a run's series."""
    found: dict[str, tuple[Array, Signal]] = {}
    for text, expr in expressions.items():
        typed: Any = evaluate(expr, scope)
        scalars = flatten(typed.value)
        for suffix, series in zip(suffixes(shape(typed.value)), scalars):
            series = np.broadcast_to(np.asarray(series, float), time.shape)
            found[text + suffix] = (series, Signal(text + suffix, unit_of(typed.dimension or dimension(None))))
    return found
