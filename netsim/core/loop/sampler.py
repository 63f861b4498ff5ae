"""Samples on the way: what is read at an instant, and the energy account.

Work is integrated by the method's own quadrature, once per step. Where every sample is a polynomial through what the
step found, only what is read is evaluated in between: the values and differentiated quantities in `read`, and the
stored energy by the polynomial through that at the quadrature's nodes. Integrals over time that nobody reads
(`der(work) = power`) are summed like work, of the powers at these nodes.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct
from netsim.core.contract import ASTRAY, CURVED, FORMULA, RESTARTED, dense_output, projected, set_time
from netsim.core.loop.control import (
    ACCOUNT,
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
from netsim.core.loop.defect import corrected, settle_massless
from netsim.core.loop.sums import set_rates, show_sums, stored, total, traces_sums
from netsim.core.loop.turnover import add_work, update_extremes, update_imbalance
from netsim.core.minimum_norm import least_reactions
from netsim.core.newton import CONVERGED
from netsim.core.problem import ALPHA, DIFFERENTIATED, ENTRIES, HISTORY, NK, NQ, NY, Y
from netsim.core.states import (
    DISSIPATED,
    KINETIC,
    STORED,
    SUPPLIED,
    copy,
    energies,
    in_all,
    move_charts,
    place,
    sample,
    state_at,
)

Array = np.ndarray


class Sampler(NamedTuple):
    """Samples: their instants, signals and energy account (stored, supplied, dissipated, kinetic), how to read them,
    how reactions without a unique value are shared.

    read: places behind the motion in a state (values, then differentiated quantities) that samples need; all of them
    where energies are read there too. totals: supplied and dissipated energy at the step's beginning and at a sample,
    of each of A accounts, then the n integrals that are summed, (2, 2 A + n); nodes of the work's quadrature in a step,
    from 0 to 1, their rates there and the stored energy of each account (s, 3 A + n), and integrals (s, s): the share
    of node k's power in the work up to theta is sum_m integrals[k, m] theta^(m + 1); summed (5, n): places of these
    integrals and of their rates in g, 1 where the trace reads them, and where residuals have the equation of each rate,
    with its sign there; what was turned over in each account (netsim.core.loop.turnover). trace: instant and traced
    signals at the nodes of every step, one row each, by the calls of `tracing` at the places `traces`."""

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
    minimum_norm: Struct
    read: Array
    tracing: Array
    traces: Array
    trace: Array
    turnover: Array


def with_more_rows(sampler: Sampler) -> Sampler:
    """The same with room for twice as many samples."""
    return sampler._replace(
        values=_doubled(sampler.values), account=_doubled(sampler.account), times=_doubled(sampler.times)
    )


def with_longer_trace(sampler: Sampler) -> Sampler:
    """The same with room for the nodes of twice as many steps."""
    return sampler._replace(trace=_doubled(sampler.trace))


def _doubled(rows: Array) -> Array:
    """Twice as many rows; the new ones take no memory before they are written."""
    found = np.zeros((2 * len(rows), *rows.shape[1:]))
    found[: len(rows)] = rows
    return found


@inner
def record(method, problem, factor, trial, control, plan, sampler, t, h, end, at_event, whole):
    """Work and samples of the step just found up to the share `end`, requested instants first; False where there is no
    room for them."""
    places, target = control.places, control.numbers[LAST] if trial.counters[FORMULA] else t + end * h
    first = places[GRID]
    wanted = 0
    while control.grid[first + wanted] <= target * (1.0 + EDGE):
        wanted += 1
    if sampler.times.shape[0] - places[ROW] < wanted + 2 or (
        sampler.traces.shape[0] and sampler.trace.shape[0] - places[TRACED] < sampler.nodes.shape[0]
    ):
        return False
    _work(method, problem, factor, trial, control, plan, sampler, t, h, end)
    for k in range(wanted):
        theta = min(end, (control.grid[first + k] - t) / h)
        _sample(method, problem, factor, trial, control, plan, sampler, t, h, theta, end, control.grid[first + k])
    places[GRID] += wanted
    every = places[EVERY]
    at_end = wanted > 0 and control.grid[first + wanted - 1] >= target * (1.0 - EDGE)
    if (
        every > 0
        and not at_end
        and (at_event or (whole and ((places[STEP] + 1) % every == 0 or target >= control.numbers[STOP])))
    ):
        found = places[ACCOUNT] or places[PROJECTING] or not places[RECOVERING]
        everything = sampler.read.shape[0] == trial.whole.shape[0] and not traces_sums(sampler)
        if wanted == 0 and end == 1.0 and found and everything:
            total(sampler, h, 1.0)  # what the quadrature's last node found is still there
            store_row(problem, trial, sampler, places[ROW], target)
            places[ROW] += 1
        else:
            _sample(method, problem, factor, trial, control, plan, sampler, t, h, end, end, target)
    total(sampler, end * h, 1.0)
    totals, last = sampler.totals, sampler.nodes.shape[0] - 1
    for a in range(sampler.power.shape[0]):
        i, o, turnover = 2 * a + SUPPLIED, 2 * a + DISSIPATED, sampler.turnover[a]
        add_work(turnover, totals[1, i] - totals[0, i], totals[1, o] - totals[0, o])
        update_imbalance(turnover, sampler.powers[last, totals.shape[1] + a], totals[1, i], totals[1, o])
    copy(sampler.totals[1], 0, sampler.totals[0], 0, sampler.totals.shape[1])
    return True


@inner
def state_inside_step(method, problem, factor, trial, control, plan, t, h, theta):
    """The state at t + theta h, into trial.middle and g, recovered where that was asked for."""
    _look(method, problem, factor, trial, control, plan, t, h, theta, control.places[RECOVERING])


@inner
def recovered_state_inside_step(method, problem, factor, trial, control, plan, t, h, theta):
    """The same, recovered wherever points can be."""
    _look(method, problem, factor, trial, control, plan, t, h, theta, plan.sizes.shape[0] > 0)


@inner
def _look(method, problem, factor, trial, control, plan, t, h, theta, recovering):
    """The same, recovered if `recovering`, but for an end that is one of the constraints already."""
    recovers = recovering and (theta < 1.0 or not control.places[PROJECTING])
    if recovers and 0.0 < theta < 1.0 and _settles(problem, trial, control):
        _recovered(method, problem, factor, trial, control, plan, t, h, theta)
        return
    state_at(method, problem, trial, theta, h)
    reached = set_time(problem, trial, _instant(control, t, h, theta)) == CONVERGED
    if control.places[LIGHT] and 0.0 < theta < 1.0:
        settle_massless(problem, factor, trial, control, theta, h)
    if recovers:
        if not reached or not projected(problem, plan, trial, trial.middle):
            trial.counters[ASTRAY] += 1
            place(problem, trial.g, trial.middle)
    else:
        trial.counters[ASTRAY] += 0 if reached else 1
        place(problem, trial.g, trial.middle)


@inner
def _settles(problem, trial, control):
    """Whether values inside a step are corrected before they are recovered: laws that curve, of what has charges."""
    return trial.counters[CURVED] > 0 and problem.sizes[NQ] > 0 and control.limits.shape[0] > 0


@inner
def _recovered(method, problem, factor, trial, control, plan, t, h, theta):
    """A consistent point inside a step, with the charges of values that fit the rates there.

    A junction of 30 pF has a charge far below what the tolerance leaves of charges; solved for, it would be a voltage
    that is volts off. Where no such point is found, values are those of the step's matrix."""
    held = corrected(method, problem, factor, trial, control, t, h, theta)
    nq, at, differentiated = problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY], problem.sizes[DIFFERENTIATED]
    for i in range(problem.sizes[ENTRIES]):
        trial.out[i] = 0.0
    run_table(problem.residual, trial.g, trial.out)
    copy(trial.out, differentiated, trial.middle, at, nq)
    if not projected(problem, plan, trial, trial.middle):
        trial.counters[ASTRAY] += 0 if held else 1
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
def _work(method, problem, factor, trial, control, plan, sampler, t, h, end):
    """Powers and stored energy at the nodes in the step up to the share `end`; at its beginning those of the last
    step's end."""
    last, powers, later = sampler.nodes.shape[0] - 1, sampler.powers, traces_sums(sampler)
    accounts = sampler.power.shape[0]
    copy(powers[last], 0, powers[0], 0, powers.shape[1])
    first = 0 if trial.counters[RESTARTED] or last == 0 else 1
    if sampler.traces.shape[0] and first:
        at = control.places[TRACED]
        copy(sampler.trace[at - 1], 0, sampler.trace[at], 0, sampler.trace.shape[1])
        control.places[TRACED] += 1
    for k in range(first, last + 1):
        theta, recovering = end * sampler.nodes[k], control.places[ACCOUNT]
        _look(method, problem, factor, trial, control, plan, t, h, theta, recovering)
        if not recovering:
            set_rates(problem, trial, sampler)
        if sampler.traces.shape[0] and not later:
            _trace(problem, trial, control, sampler, t + end * h * sampler.nodes[k])
        energies(problem, trial.g, sampler.power)
        for a in range(accounts):
            powers[k, 2 * a], powers[k, 2 * a + 1] = sampler.power[a, SUPPLIED], sampler.power[a, DISSIPATED]
            powers[k, sampler.totals.shape[1] + a] = sampler.power[a, STORED]
        for j in range(sampler.summed.shape[1]):
            powers[k, 2 * accounts + j] = trial.g[sampler.summed[1, j]]
    for a in range(accounts):
        update_extremes(sampler.turnover[a], sampler.power[a])
    if later:
        for k in range(first, last + 1):
            state_inside_step(method, problem, factor, trial, control, plan, t, h, end * sampler.nodes[k])
            total(sampler, end * h, sampler.nodes[k])
            show_sums(sampler, trial.g)
            _trace(problem, trial, control, sampler, t + end * h * sampler.nodes[k])


@inner
def _trace(problem, trial, control, sampler, instant):
    """A row of the trace from what g holds."""
    row = sampler.trace[control.places[TRACED]]
    least_reactions(sampler.minimum_norm, trial.g)
    row[0] = instant
    sample(sampler.tracing, sampler.traces, trial.g, sampler.found, row[1:])
    control.places[TRACED] += 1


@inner
def _sample(method, problem, factor, trial, control, plan, sampler, t, h, theta, end, instant):
    """One row: signals and the energy account at t + theta h, of a step that is taken up to the share `end`. Where the
    step's polynomials miss values by more than is allowed (beyond a knee between the instants that were looked at)
    corrections follow."""
    total(sampler, end * h, theta / end)
    if sampler.read.shape[0] < trial.whole.shape[0]:
        _look_at_read(method, problem, trial, control, sampler.read, t, h, theta)
        _write(problem, trial, sampler, control.places[ROW], instant, stored(sampler, theta / end), 0.0)
    else:
        if control.places[SOLVING] and not control.places[RECOVERING] and theta < 1.0:
            trial.counters[ASTRAY] += 0 if corrected(method, problem, factor, trial, control, t, h, theta) else 1
        else:
            state_inside_step(method, problem, factor, trial, control, plan, t, h, theta)
        store_row(problem, trial, sampler, control.places[ROW], instant)
    control.places[ROW] += 1


@inner
def store_row(problem, trial, sampler, row, instant):
    """A row of samples from trial.middle (time and prescribed inputs are in g)."""
    move_charts(problem, trial.middle)
    place(problem, trial.g, trial.middle)
    show_sums(sampler, trial.g)
    energies(problem, trial.g, sampler.power)
    least_reactions(sampler.minimum_norm, trial.g)
    _write(problem, trial, sampler, row, instant, in_all(sampler.power, STORED), in_all(sampler.power, KINETIC))


@inner
def _write(problem, trial, sampler, row, instant, energy, kinetic):
    """Signals at what g holds, and all accounts as one."""
    sampler.times[row] = instant
    sampler.account[row, 0], sampler.account[row, 3] = energy, kinetic
    sampler.account[row, 1], sampler.account[row, 2] = sampler.totals[1, 0], sampler.totals[1, 1]
    for a in range(1, sampler.power.shape[0]):
        sampler.account[row, 1] += sampler.totals[1, 2 * a]
        sampler.account[row, 2] += sampler.totals[1, 2 * a + 1]
    sample(sampler.readings, sampler.selection, trial.g, sampler.found, sampler.values[row])
