"""How many continuous derivatives a function of time has, by its derivatives on both sides of its time events.

What may bend (min, max, abs, a condition, a table's kind) says how rough a function can be; whether it is so depends on
its numbers: the polynomial 10 u^3 - 15 u^4 + 6 u^5 of u = min(max(t/T, 0), 1) has two continuous derivatives, for those
of u are multiplied by zeros. Between time events every choice that the expression makes stays, so derivatives of the
expression, taken just before and just behind a time event, are those of the two branches: slopes where the function is
straight between time events, as pulses and ramps are, else what CasADi makes of it.
"""

from collections.abc import Callable

import numpy as np

from netsim.library.component import SECOND
from netsim.network.bindings import FOREVER, Shape, smoothness
from netsim.network.values import Values
from netsim.structure.of_time.switching import NO_FUNCTION_OF_TIME, Series, bending, expression_at, values_at
from netsim.structure.time_events import instants_of
from netsim.text.errors import NetsimError
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import number_of

Array = np.ndarray
ORDERS = 4
"""Derivatives that are looked at: the most that any structure asks for."""
ASIDE = 1e-8
"""How far beside a time event derivatives are taken, in parts of the distance to the next one."""
JUMP = 1e-5
"""A jump of a derivative, in parts of its size between this time event and the next ones."""
LINE, BEYOND, MOST = np.array([0.04, 0.237, 0.5, 0.971]), 64.0, 1000
"""Where between two instants a function must lie on a line, how far behind the last one, and how many time events of
one function are looked at."""
PLACES = np.array([0.03, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.97])
STRAIGHT = 1e-9
"""How far from a line a function may be at these places, in parts of its change between two time events."""


def continuity(shape: Shape, values: Values, stop: float = 0.0) -> int:
    """The number of continuous derivatives of a bound function of time (-1: it jumps, 99: as many as anybody asks for),
    from t = 0 to `stop` s (0: not known, then every later time event counts)."""
    least = smoothness(shape)
    if least >= ORDERS or shape.tables or shape.signals:
        return least
    try:
        time_events = _time_events(shape, values, stop)
        return least if time_events is None else max(least, _between(shape, values, time_events, stop))
    except NO_FUNCTION_OF_TIME:
        return least


def end_of_runs(values: Values) -> float:
    """The longest `stop` of the run lines in s; 0 where there is none."""
    network, found = values.network, [0.0]
    for run in network.runs:
        for binding in run.options:
            if binding.name == "stop":
                try:
                    found.append(float(number_of(binding.value, values.scope(network.top), SECOND)))
                except NetsimError:  # told where the run's options are read
                    continue
    return max(found)


def _time_events(shape: Shape, values: Values, stop: float) -> Array | None:
    """The instants from 0 on at which the function may bend, in order; None where they are not known without an end."""
    known = np.zeros(0)
    for switching, whole in bending(shape, values):  # those of inner expressions come first
        found = instants_of(switching, whole, stop)[:MOST] if stop else _on_lines(switching, whole, known)
        if found is None:
            return None
        known = _apart(np.concatenate([known, found]))
    return known


def _apart(instants: Array) -> Array:
    """Instants in order, those that are one to rounding once."""
    every = np.unique(instants)
    return every[np.append(True, np.diff(every) > 1e-12 * np.abs(every).max())] if len(every) else every


def _on_lines(switching: Series, whole: bool, known: Array) -> Array | None:
    """Where a function that is straight between known instants, from 0 on, passes zero (or any whole number); None
    where it is not straight."""
    found, edges = [np.zeros(0)], [0.0, *known[known > 0.0]]
    for low, high in zip(edges, [*edges[1:], np.inf]):
        times = low + LINE * (high - low if np.isfinite(high) else max(low, 1.0) * BEYOND)
        at = np.array([float(switching(t)) for t in times])
        rise = (at[-1] - at[0]) / (times[-1] - times[0])
        if not np.allclose(at, at[0] + rise * (times - times[0]), rtol=1e-9, atol=1e-12 * np.abs(at).max()):
            return None
        if rise == 0.0:
            continue
        first, exact = at[0] - rise * (times[0] - low), float(switching(low))
        first = exact if abs(exact - first) <= 1e-9 * np.abs(at).max() else first  # it may jump there
        levels = (
            (np.ceil(first) + np.arange(MOST) if rise > 0 else np.floor(first) - np.arange(MOST))
            if whole
            else np.zeros(1)
        )
        instants = low + (levels - first) / rise
        close = 1e-12 * max(abs(low), *np.abs(instants[:1]))
        found.append(instants[(instants >= low - close) & (instants <= high + close)])
    return np.concatenate(found)


def _between(shape: Shape, values: Values, time_events: Array, stop: float) -> int:
    """The order of the last derivative that is the same on both sides of every time event; FOREVER where all are."""
    if not len(time_events):
        return FOREVER
    span = max(float(np.ptp(time_events)), stop - time_events[-1], 0.0) or max(abs(float(time_events[0])), 1.0)
    edges = np.concatenate(
        [
            [time_events[0] - span],
            time_events,
            [max(time_events[-1] + (time_events[-1] - time_events[0] or span), stop)],
        ]
    )
    gaps = np.diff(edges)
    beside = np.maximum(ASIDE * gaps, 4.0 * np.spacing(np.abs(edges)).max())
    derivatives = _of_lines(shape, values, edges) or _derivatives(shape, values)
    before, behind = derivatives(time_events - beside[:-1]), derivatives(time_events + beside[1:])
    inside = derivatives((edges[:-1, None] + gaps[:, None] * PLACES).ravel())
    inside = np.abs(inside).reshape(*inside.shape[:2], len(gaps), len(PLACES)).max(axis=3)
    size = np.max([np.abs(before), np.abs(behind), inside[:, :, :-1], inside[:, :, 1:]], axis=0)
    with np.errstate(invalid="ignore"):
        same = (np.abs(behind - before) <= JUMP * size).all(axis=(1, 2))  # not where one is no number
    return int(np.argmin(same)) - 1 if not same.all() else FOREVER


def _of_lines(shape: Shape, values: Values, edges: Array) -> Callable[[Array], Array] | None:
    """What `_derivatives` gives, of a function that is straight between the edges; None where it is not."""

    def value(instants: Array) -> Array:
        return np.array([values_at(instants, x) for x in flatten(expression_at(shape, values, instants))])

    times = edges[:-1, None] + np.diff(edges)[:, None] * PLACES
    try:
        found = value(times.ravel()).reshape(-1, *times.shape)
    except NO_FUNCTION_OF_TIME:  # of many instants at once
        return None
    rises = found[..., -1] - found[..., 0]
    lines = found[..., :1] + rises[..., None] * ((PLACES - PLACES[0]) / (PLACES[-1] - PLACES[0]))
    rounding = 4.0 * np.spacing(np.abs(found).max(axis=2, initial=0.0))
    if not np.all(np.abs(found - lines).max(axis=2) <= STRAIGHT * np.abs(rises) + rounding):
        return None
    slopes = rises / (times[:, -1] - times[:, 0])

    def at(instants: Array) -> Array:
        first = value(instants), slopes[:, np.searchsorted(edges, instants) - 1]
        return np.array([*first, *[np.zeros_like(first[0])] * (ORDERS - 1)])

    return at


def _derivatives(shape: Shape, values: Values) -> Callable[[Array], Array]:
    """The function and its derivatives at instants: (orders, components, instants)."""
    import casadi as ca

    time = ca.SX.sym("time")
    found = [ca.vertcat(*(ca.SX(x) for x in flatten(expression_at(shape, values, time))))]
    for _ in range(ORDERS):
        found.append(ca.jacobian(found[-1], time))
    function = ca.Function("derivatives", [time], [ca.densify(x) for x in found])

    def at(instants: Array) -> Array:
        return np.array([np.array(x).reshape(-1, len(instants)) for x in function(instants.reshape(1, -1))])

    return at
