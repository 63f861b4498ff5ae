"""Errors of what somebody looks at in elements: forces, currents, powers and outputs that are no unknowns.

The torque c (a - b) of a stiff shaft whose ends have turned by a thousand radians is a small difference of what the
error test measures by these thousand. So a reading S of the unknowns z has a test of its own, with the estimate e of
the step's error:

    |S(z + e) - S(z)| - r - n <= rtol max(m, min(nominal, M), s) + r + n

m is the largest |S| so far, this step's end included; M the largest of all readings of its unit; s what a refused step
found, until its end is passed, where the method settles what is fast (from zero on, S grows by more than itself in
every step). r is what rounding makes of S, by 4 to 16 eps of the kinds' largest values and what the rounding of
equations leaves (netsim.core.scales). n is learnt: an error that has not fallen with the root of the step, when a step
is refused again and again, is not the step's; it fades with accepted steps. Steps grow where an error is less than
r + n. What derivatives of constraints determine (positive exponents, netsim.simulate.setup.weights), accelerations and
rates have no part in it: the estimate does not know their errors.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import REFUSED, REJECTED_ALWAYS, RTOL, SETTLING, error_norm
from netsim.core.problem import NK, NY, V, X, Y
from netsim.core.scales import ROUNDED, SO_FAR, count_refused, pass_refused
from netsim.core.states import copy, place

Array = np.ndarray

LARGEST, FOUND, ROUNDS, LEARNT, ERROR, BEFORE, MISSED, END = range(8)
"""Rows of sizes: the largest value so far, what a refused step found, what rounding makes, the error that no shorter
step makes smaller; the error of the present step, of the first one that was refused, the largest of accepted ones; the
value at the step's end."""
PRESENT, SPAN, UNTIL = range(3)
"""Of numbers: the lengths of the present step and of the first refused one before it, the latest end of these."""
FADES = 0.99
"""The part of a learnt error that an accepted step leaves."""
AGAIN = 8
"""So many refusals in a row may tell an error that is not the step's."""
FEW, MORE = 4 * 2.220446049250313e-16, 16 * 2.220446049250313e-16
"""What rounding may make of a position or value, and of a velocity (estimates hold differences of velocities over h),
of the largest value of its kind."""
ENLARGED = 2.0**20
"""Changes by rounding are looked at this many times as large: by themselves they would be lost in rounding."""
SMALLEST = 1e-300
"""Nothing is allowed to be nothing."""


class Tested(NamedTuple):
    """What is tested: readings by two call tables, of samples and of traces, at `places` in the results of the first
    with those of the second behind them; the number of each one's unit, and nominal sizes; a global vector to read
    from, results at z and beside it (2, size), `sizes` and `numbers`, see above; the largest value of every unit."""

    table: Array
    tracing: Array
    places: Array
    unit: Array
    nominal: Array
    g: Array
    sampled: Array
    traced: Array
    sizes: Array
    units: Array
    numbers: Array


@inner
def judged_norm(problem, trial, dx, dv, dy, h):
    """`error_norm` of the estimate at the end of a step, or the largest error of a reading over what is allowed."""
    norm, tested = error_norm(problem, trial, dx, dv, dy, h), trial.tested
    if tested.places.shape[0] == 0 or not norm < REJECTED_ALWAYS:
        return norm
    _read(problem, trial, 0)
    _move_by_rounding(problem, trial)
    _read_on(tested, 1)
    for k in range(tested.places.shape[0]):
        tested.sizes[END, k] = _value(tested, 0, k)
        tested.sizes[ROUNDS, k] = abs(_value(tested, 1, k) - tested.sizes[END, k]) / ENLARGED
    _read(problem, trial, 1)
    _move(problem, trial, dx, dv, dy)
    _read_on(tested, 1)
    tested.numbers[PRESENT] = h
    return max(norm, _largest(trial, h))


@inner
def _largest(trial, h):
    """The largest error over what is allowed, and what the step's refusals tell of errors that are not its own."""
    tested, sizes, rtol, worst = trial.tested, trial.tested.sizes, trial.tolerances[RTOL], 0.0
    shorter = np.sqrt(h / tested.numbers[SPAN]) if trial.counters[REFUSED] >= AGAIN else np.inf
    for k in range(tested.units.shape[0]):
        tested.units[k] = 0.0
    for k in range(tested.places.shape[0]):
        unit, largest = tested.unit[k], max(sizes[LARGEST, k], abs(sizes[END, k]))
        tested.units[unit] = max(tested.units[unit], largest)
    for k in range(tested.places.shape[0]):
        error = abs(_value(tested, 1, k) - sizes[END, k])
        if not np.isfinite(error):
            return REJECTED_ALWAYS
        sizes[ERROR, k] = error
        if sizes[BEFORE, k] > 0.0 and error > shorter * sizes[BEFORE, k]:
            sizes[LEARNT, k] = max(sizes[LEARNT, k], 2.0 * error)
        size = max(abs(sizes[END, k]), sizes[LARGEST, k], sizes[FOUND, k])
        size = max(size, min(tested.nominal[k], tested.units[tested.unit[k]]))
        noise = sizes[ROUNDS, k] + sizes[LEARNT, k]
        worst = max(worst, min(REJECTED_ALWAYS, (error - noise) / max(rtol * size + noise, SMALLEST)))
    return worst


@inner
def _value(tested, row, k):
    """Reading k of those at z (row 0), or beside it."""
    place_, count = tested.places[k], tested.sampled.shape[1]
    return tested.sampled[row, place_] if place_ < count else tested.traced[row, place_ - count]


@inner
def _read(problem, trial, row):
    """The step's end into the global vector of readings; what is read of it."""
    tested = trial.tested
    copy(trial.g, 0, tested.g, 0, tested.g.shape[0])
    place(problem, tested.g, trial.end)
    if row == 0:
        _read_on(tested, row)


@inner
def _read_on(tested, row):
    """What is read of the global vector as it stands."""
    for k in range(tested.sampled.shape[1]):
        tested.sampled[row, k] = 0.0
    for k in range(tested.traced.shape[1]):
        tested.traced[row, k] = 0.0
    run_table(tested.table, tested.g, tested.sampled[row])
    run_table(tested.tracing, tested.g, tested.traced[row])


@inner
def _move(problem, trial, dx, dv, dy):
    """Move the global vector of readings by the estimate."""
    nk, ny, g, exponent = problem.sizes[NK], problem.sizes[NY], trial.tested.g, trial.exponent
    x, v, y = problem.sizes[X], problem.sizes[V], problem.sizes[Y]
    for i in range(min(nk, dx.shape[0])):
        g[x + i] += dx[i] if exponent[i] == 0 else 0.0
        g[v + i] += dv[i] if exponent[nk + i] == 0 else 0.0
    for i in range(ny):
        g[y + i] += dy[i] if exponent[2 * nk + i] == 0 else 0.0


@inner
def _move_by_rounding(problem, trial):
    """Move it by what rounding may make of positions, velocities and values, enlarged, by other shares of that each."""
    nk, ny, g = problem.sizes[NK], problem.sizes[NY], trial.tested.g
    x, v, y, sizes, share = problem.sizes[X], problem.sizes[V], problem.sizes[Y], trial.sizes, 0.0
    for i in range(2 * nk + ny):
        at, k = x + i if i < nk else v + i - nk if i < 2 * nk else y + i - 2 * nk, trial.kind[i]
        share = (share + 0.6180339887498949) % 1.0
        rounds = (MORE if nk <= i < 2 * nk else FEW) * max(sizes[SO_FAR, k], abs(g[at])) + sizes[ROUNDED, k]
        g[at] += ENLARGED * (2.0 * share - 1.0) * rounds


@inner
def tell_refused(problem, trial, end):
    """What a refused step up to `end` tells of sizes, those of readings too."""
    count_refused(problem, trial, end)
    tested, sizes = trial.tested, trial.tested.sizes
    first = trial.counters[REFUSED] <= 1
    tested.numbers[SPAN] = tested.numbers[PRESENT] if first else tested.numbers[SPAN]
    tested.numbers[UNTIL] = max(tested.numbers[UNTIL], end)
    for k in range(tested.places.shape[0]):
        sizes[BEFORE, k] = sizes[ERROR, k] if first else sizes[BEFORE, k]
        if trial.counters[SETTLING] and sizes[LARGEST, k] == 0.0:
            sizes[FOUND, k] = max(sizes[FOUND, k], abs(sizes[END, k]))


@inner
def tell_accepted(trial, end):
    """What an accepted step up to `end` tells of them."""
    pass_refused(trial, end)
    tested, sizes = trial.tested, trial.tested.sizes
    passed = end >= tested.numbers[UNTIL]
    for k in range(tested.places.shape[0]):
        sizes[LARGEST, k] = max(sizes[LARGEST, k], abs(sizes[END, k]))
        sizes[MISSED, k] = max(sizes[MISSED, k], sizes[ERROR, k])
        sizes[LEARNT, k] *= FADES
        sizes[BEFORE, k] = 0.0
        sizes[FOUND, k] = 0.0 if passed else sizes[FOUND, k]
