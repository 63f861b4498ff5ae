"""Samples on the way: what is read at an instant, and the energy account.

Work is integrated by the method's own quadrature, once per step. Where every sample is a polynomial through what the
step found, only what is read is evaluated in between: the values and differentiated quantities in `read`, and the
stored energy by the polynomial through that at the quadrature's nodes. Integrals over time that nobody reads
(`der(work) = power`) are summed like work, of the powers at these nodes.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.bundle import Bundle
from netsim.core.compiled.function import inner, lean
from netsim.core.contract import ASTRAY, RESTARTED, dense_output, projected, set_time
from netsim.core.loop.control import (
    EDGE,
    EVERY,
    GRID,
    LAST,
    LIGHT,
    PROJECTING,
    RECOVERING,
    ROW,
    SOLVING,
    STEP,
    STOP,
    TRACED,
)
from netsim.core.loop.defect import corrected, settle_light
from netsim.core.loop.turnover import balanced, flowed, met
from netsim.core.minimum_norm import least_reactions
from netsim.core.newton import CONVERGED
from netsim.core.problem import ALPHA, HISTORY, NK, NQ, NY, Y
from netsim.core.states import (
    DISSIPATED,
    KINETIC,
    STORED,
    SUPPLIED,
    copy,
    energies,
    motion_between,
    move_charts,
    place,
    sample,
)

Array = np.ndarray


class Readout(NamedTuple):
    """Samples: their instants, signals and energy account (stored, supplied, dissipated, kinetic), how to read them,
    how reactions without a unique value are shared.

    read: places behind the motion in a state (values, then differentiated quantities) that samples need; all of them
    where energies are read there too. totals: supplied and dissipated energy at the step's beginning and at a sample,
    then the n integrals that are summed, (2, 2 + n); nodes of the work's quadrature in a step, from 0 to 1, powers,
    stored energy and rates of these integrals there (s, 3 + n), and integrals (s, s): the share of node k's power in
    the work up to theta is sum_m integrals[k, m] theta^(m + 1); summed (3, n): places of these integrals and of their
    rates in g, and 1 where the trace reads them; what was turned over
    (netsim.core.loop.turnover). trace: instant and traced signals at the nodes of every step, one row each, by the
    calls of `tracing` at the places `traces`."""

    readings: Array
    selection: Array
    found: Array
    values: Array
    account: Array
    times: Array
    totals: Array
    power: Array
    nodes: Array
    powers: Array
    integrals: Array
    summed: Array
    minimum_norm: Bundle
    read: Array
    tracing: Array
    traces: Array
    trace: Array
    turnover: Array


def longer(readout: Readout) -> Readout:
    """The same with room for twice as many samples."""
    return readout._replace(
        values=np.vstack([readout.values, np.zeros_like(readout.values)]),
        account=np.vstack([readout.account, np.zeros_like(readout.account)]),
        times=np.append(readout.times, np.zeros_like(readout.times)),
    )


def longer_trace(readout: Readout) -> Readout:
    """The same with room for the nodes of twice as many steps."""
    return readout._replace(trace=np.vstack([readout.trace, np.zeros_like(readout.trace)]))


@inner
def record(method, problem, factor, trial, control, plan, readout, t, h, end, at_event, whole):
    """Work and samples of the step just found up to the share `end`, requested instants first; False where there is no
    room for them."""
    places, target = control.places, t + end * h
    first = places[GRID]
    wanted = 0
    while control.grid[first + wanted] <= target * (1.0 + EDGE):
        wanted += 1
    if readout.times.shape[0] - places[ROW] < wanted + 2 or (
        readout.traces.shape[0] and readout.trace.shape[0] - places[TRACED] < readout.nodes.shape[0]
    ):
        return False
    _work(method, problem, factor, trial, control, plan, readout, t, h, end)
    for k in range(wanted):
        theta = min(end, (control.grid[first + k] - t) / h)
        _sample(method, problem, factor, trial, control, plan, readout, t, h, theta, end, control.grid[first + k])
    places[GRID] += wanted
    every = places[EVERY]
    at_end = wanted > 0 and control.grid[first + wanted - 1] >= target * (1.0 - EDGE)
    if (
        every > 0
        and not at_end
        and (at_event or (whole and ((places[STEP] + 1) % every == 0 or target >= control.numbers[STOP])))
    ):
        _sample(method, problem, factor, trial, control, plan, readout, t, h, end, end, target)
    _total(readout, end * h, 1.0)
    flowed(readout.turnover, readout.totals[1, 0] - readout.totals[0, 0], readout.totals[1, 1] - readout.totals[0, 1])
    balanced(
        readout.turnover, readout.powers[readout.nodes.shape[0] - 1, 2], readout.totals[1, 0], readout.totals[1, 1]
    )
    copy(readout.totals[1], 0, readout.totals[0], 0, readout.totals.shape[1])
    return True


@inner
def look(method, problem, factor, trial, control, plan, t, h, theta):
    """The state at t + theta h, into trial.middle and g, recovered where that was asked for."""
    if theta == 1.0:
        copy(trial.end, 0, trial.middle, 0, trial.end.shape[0])
    else:
        motion_between(problem, trial.start, trial.end, theta, h, trial.middle)
        dense_output(method, problem, trial, theta, h, trial.middle, trial.whole)
    reached = set_time(problem, trial, _instant(control, t, h, theta)) == CONVERGED
    if control.places[LIGHT] and 0.0 < theta < 1.0:
        settle_light(problem, factor, trial, control, theta, h)
    if control.places[RECOVERING] and (theta < 1.0 or not control.places[PROJECTING]):
        if not reached or not projected(problem, plan, trial, trial.middle):
            trial.counters[ASTRAY] += 1
            place(problem, trial.g, trial.middle)
    else:
        trial.counters[ASTRAY] += 0 if reached else 1
        place(problem, trial.g, trial.middle)


@inner
def _look_at_read(method, problem, trial, control, read, t, h, theta):
    """What samples read at t + theta h, into g."""
    ny, y, history, first, middle = (
        problem.sizes[NY],
        problem.sizes[Y],
        problem.sizes[HISTORY],
        3 * problem.sizes[NK],
        trial.middle,
    )
    dense_output(method, problem, trial, theta, h, middle, read)
    trial.counters[ASTRAY] += 0 if set_time(problem, trial, _instant(control, t, h, theta)) == CONVERGED else 1
    trial.g[ALPHA] = 0.0
    for m in range(read.shape[0]):
        i = read[m]
        if i < ny:
            trial.g[y + i] = middle[first + i]
        else:
            trial.g[history + i - ny] = middle[first + i + problem.sizes[NQ]]


@inner
def _instant(control, t, h, theta):
    """The time at which prescribed inputs are looked at: just before a time event at the end, just behind the instant
    where a step begins."""
    if theta == 1.0:
        return control.numbers[LAST]
    return t + theta * h if theta > 0.0 else t + EDGE * max(abs(t), h)


@inner
def _work(method, problem, factor, trial, control, plan, readout, t, h, end):
    """Powers and stored energy at the nodes in the step up to the share `end`; at its beginning those of the last
    step's end."""
    last, powers, later = readout.nodes.shape[0] - 1, readout.powers, _traces_sums(readout)
    copy(powers[last], 0, powers[0], 0, powers.shape[1])
    first = 0 if trial.counters[RESTARTED] else 1
    if readout.traces.shape[0] and first:
        at = control.places[TRACED]
        copy(readout.trace[at - 1], 0, readout.trace[at], 0, readout.trace.shape[1])
        control.places[TRACED] += 1
    for k in range(first, last + 1):
        look(method, problem, factor, trial, control, plan, t, h, end * readout.nodes[k])
        if readout.traces.shape[0] and not later:
            _trace(problem, trial, control, readout, t + end * h * readout.nodes[k])
        energies(problem, trial.g, readout.power)
        powers[k, 0], powers[k, 1], powers[k, 2] = (
            readout.power[SUPPLIED],
            readout.power[DISSIPATED],
            readout.power[STORED],
        )
        for j in range(readout.summed.shape[1]):
            powers[k, 3 + j] = trial.g[readout.summed[1, j]]
    met(readout.turnover, readout.power)
    if later:
        for k in range(first, last + 1):
            look(method, problem, factor, trial, control, plan, t, h, end * readout.nodes[k])
            _total(readout, end * h, readout.nodes[k])
            _show_sums(readout, trial.g)
            _trace(problem, trial, control, readout, t + end * h * readout.nodes[k])


@inner
def _traces_sums(readout):
    """Whether the trace reads integrals that are known only when the powers at all nodes are."""
    found = 0
    for j in range(readout.summed.shape[1]):
        found += readout.summed[2, j]
    return found > 0


@inner
def _show_sums(readout, g):
    """The integrals that are summed, into g."""
    for j in range(readout.summed.shape[1]):
        g[readout.summed[0, j]] = readout.totals[1, 2 + j]


@inner
def _trace(problem, trial, control, readout, instant):
    """A row of the trace from what g holds."""
    row = readout.trace[control.places[TRACED]]
    least_reactions(readout.minimum_norm, trial.g)
    row[0] = instant
    sample(readout.tracing, readout.traces, trial.g, readout.found, row[1:])
    control.places[TRACED] += 1


@inner
def _total(readout, h, theta):
    """Supplied and dissipated energy and integrals up to theta: of the polynomial through the powers at the nodes."""
    copy(readout.totals[0], 0, readout.totals[1], 0, readout.totals.shape[1])
    for k in range(readout.nodes.shape[0]):
        share = 0.0
        for m in range(readout.nodes.shape[0] - 1, -1, -1):
            share = (share + readout.integrals[k, m]) * theta
        for i in range(readout.totals.shape[1]):
            readout.totals[1, i] += h * share * readout.powers[k, i if i < 2 else i + 1]


@inner
def _stored(readout, theta):
    """Stored energy by the polynomial through that at the nodes."""
    found = 0.0
    for k in range(readout.nodes.shape[0]):
        share = 0.0
        for m in range(readout.nodes.shape[0] - 1, -1, -1):
            share = share * theta + (m + 1) * readout.integrals[k, m]
        found += share * readout.powers[k, 2]
    return found


@inner
def _sample(method, problem, factor, trial, control, plan, readout, t, h, theta, end, instant):
    """One row: signals and the energy account at t + theta h, of a step that is taken up to the share `end`. Where the
    step's polynomials miss values by more than is allowed (beyond a knee between the instants that were looked at)
    corrections follow."""
    _total(readout, end * h, theta / end)
    if readout.read.shape[0] < trial.whole.shape[0]:
        _look_at_read(method, problem, trial, control, readout.read, t, h, theta)
        readout.power[STORED], readout.power[KINETIC] = _stored(readout, theta / end), 0.0
        _write(problem, trial, readout, control.places[ROW], instant)
    else:
        if control.places[SOLVING] and not control.places[RECOVERING] and theta < 1.0:
            trial.counters[ASTRAY] += 0 if corrected(method, problem, factor, trial, control, t, h, theta) else 1
        else:
            look(method, problem, factor, trial, control, plan, t, h, theta)
        take(problem, trial, readout, control.places[ROW], instant)
    control.places[ROW] += 1


@lean
def take(problem, trial, readout, row, instant):
    """A row of samples from trial.middle (time and prescribed inputs are in g)."""
    move_charts(problem, trial.middle)
    place(problem, trial.g, trial.middle)
    _show_sums(readout, trial.g)
    energies(problem, trial.g, readout.power)
    least_reactions(readout.minimum_norm, trial.g)
    _write(problem, trial, readout, row, instant)


@inner
def _write(problem, trial, readout, row, instant):
    """Signals at what g holds, and the account."""
    readout.times[row] = instant
    readout.account[row, 0] = readout.power[STORED]
    readout.account[row, 1] = readout.totals[1, 0]
    readout.account[row, 2] = readout.totals[1, 1]
    readout.account[row, 3] = readout.power[KINETIC]
    sample(readout.readings, readout.selection, trial.g, readout.found, readout.values[row])
