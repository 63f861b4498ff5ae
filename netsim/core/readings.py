"""Errors of what somebody looks at that is no unknown: forces, currents and outputs of elements, sums of signals.

The torque c (a - b) of a stiff shaft whose ends have turned by a thousand radians is a small difference of what the
error test measures by these thousand. So the estimate e of the step's error is kept, and at the end z of an accepted
step a reading S misses

    |S(z + e) - S(z)| - r

r is what rounding makes of S, by 4 to 16 eps of the kinds' largest values and what the rounding of equations leaves
(netsim.core.scales). No step is refused for it: the largest of these, and the largest |S|, are told behind the run
(netsim.simulate.judgement). What derivatives of constraints determine (positive exponents,
netsim.simulate.setup.weights), accelerations and rates have no part in it: the estimate does not know their errors.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import error_norm
from netsim.core.problem import NK, NY, V, X, Y
from netsim.core.scales import ROUNDED, SO_FAR
from netsim.core.states import copy, place

Array = np.ndarray

LARGEST, MISSED, WHEN = range(3)
"""Rows of sizes: the largest value so far, what the worst accepted step missed, and where that one ended."""
FEW, MORE = 4 * 2.220446049250313e-16, 16 * 2.220446049250313e-16
"""What rounding may make of a position or value, and of a velocity (estimates hold differences of velocities over h),
of the largest value of its kind."""
ENLARGED = 2.0**20
"""Changes by rounding are looked at this many times as large: by themselves they would be lost in rounding."""


AT_END, BESIDE, ROUNDS = range(3)
"""Rows of values: readings at z, at z + e, and where rounding moves z."""


class Readings(NamedTuple):
    """Reading k is constants[k] + sum of weights[p] [g | results][places[p]], p from first[k] up to first[k + 1]: of a
    global vector g and the `results` of two call tables, of samples and of traces, `size` of them of the first.
    `values` and `sizes` by reading (3, count); the `estimate` of the step's error [x | v | y]."""

    table: Array
    tracing: Array
    first: Array
    places: Array
    weights: Array
    constants: Array
    g: Array
    results: Array
    values: Array
    sizes: Array
    estimate: Array
    size: Array


@inner
def kept_norm(problem, trial, dx, dv, dy, h):
    """`error_norm` of the estimate of a step's error, which is kept for readings."""
    keep_estimate(problem, trial, dx, dv, dy, 1.0)
    return error_norm(problem, trial, dx, dv, dy, h)


@inner
def keep_estimate(problem, trial, dx, dv, dy, share):
    """Keep a share of these errors as the estimate of the step's error, for readings."""
    estimate, nk = trial.readings.estimate, problem.sizes[NK]
    if trial.readings.first.shape[0] > 1:
        for i in range(nk):
            estimate[i] = share * dx[i] if i < dx.shape[0] else 0.0
            estimate[nk + i] = share * dv[i] if i < dx.shape[0] else 0.0
        for i in range(problem.sizes[NY]):
            estimate[2 * nk + i] = share * dy[i]


@inner
def read_errors(problem, trial, now):
    """What the step up to `now`, which is accepted, missed of readings."""
    readings, count = trial.readings, trial.readings.first.shape[0] - 1
    if count == 0:
        return
    values, sizes, worse = readings.values, readings.sizes, False
    _read(problem, trial, AT_END)
    _read(problem, trial, BESIDE)
    for k in range(count):
        sizes[LARGEST, k] = max(sizes[LARGEST, k], abs(values[AT_END, k]))
        values[BESIDE, k] = abs(values[BESIDE, k] - values[AT_END, k])
        worse = worse or sizes[MISSED, k] < values[BESIDE, k] < np.inf
    if not worse:
        return
    _read(problem, trial, ROUNDS)
    for k in range(count):
        missed = values[BESIDE, k] - abs(values[ROUNDS, k] - values[AT_END, k]) / ENLARGED
        if sizes[MISSED, k] < missed < np.inf:
            sizes[MISSED, k], sizes[WHEN, k] = missed, now


@inner
def _read(problem, trial, row):
    """The readings of the step's end, or of a point beside it."""
    readings, g, results = trial.readings, trial.readings.g, trial.readings.results
    copy(trial.g, 0, g, 0, g.shape[0])
    place(problem, g, trial.end)
    if row == BESIDE:
        _move(problem, trial)
    elif row == ROUNDS:
        _move_by_rounding(problem, trial)
    for k in range(results.shape[0]):
        results[k] = 0.0
    run_table(readings.table, g, results)
    run_table(readings.tracing, g, results[readings.size[0] :])
    for k in range(readings.first.shape[0] - 1):
        total = readings.constants[k]
        for p in range(readings.first[k], readings.first[k + 1]):
            at = readings.places[p]
            total += readings.weights[p] * (g[at] if at < g.shape[0] else results[at - g.shape[0]])
        readings.values[row, k] = total


@inner
def _move(problem, trial):
    """Move the global vector of readings by the estimate."""
    nk, ny, g, exponent = problem.sizes[NK], problem.sizes[NY], trial.readings.g, trial.exponent
    x, v, y, e = problem.sizes[X], problem.sizes[V], problem.sizes[Y], trial.readings.estimate
    for i in range(2 * nk + ny):
        at = x + i if i < nk else v + i - nk if i < 2 * nk else y + i - 2 * nk
        g[at] += e[i] if exponent[i] == 0 else 0.0


@inner
def _move_by_rounding(problem, trial):
    """Move it by what rounding may make of positions, velocities and values, enlarged, by other shares of that each."""
    nk, ny, g = problem.sizes[NK], problem.sizes[NY], trial.readings.g
    x, v, y, sizes, share = problem.sizes[X], problem.sizes[V], problem.sizes[Y], trial.sizes, 0.0
    for i in range(2 * nk + ny):
        at, k = x + i if i < nk else v + i - nk if i < 2 * nk else y + i - 2 * nk, trial.kind[i]
        share = (share + 0.6180339887498949) % 1.0
        rounds = (MORE if nk <= i < 2 * nk else FEW) * max(sizes[SO_FAR, k], abs(g[at])) + sizes[ROUNDED, k]
        g[at] += ENLARGED * (2.0 * share - 1.0) * rounds
