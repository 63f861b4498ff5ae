"""What the time loop lends to a method: a step's variable part, calls of what is compiled by itself, norms and
interpolations. What it asks of one stands at the head of netsim.core.method."""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.function import by_address, inner
from netsim.core.compiled.struct import Struct
from netsim.core.linear import factors as linear
from netsim.core.newton import ROUNDED
from netsim.core.problem import NK, NQ, NY

Array = np.ndarray

REJECTED_ALWAYS = 1e30
ITERATIONS, FACTORISATIONS, FRESH, ACCEPTED, REJECTED, FAILED, EVENTS, RESTARTED, REFUSED, UNSOLVED = range(10)
ROUGH, UNTESTED, REINITIALISED, ASTRAY, CURVED, KNOWN, JUDGED, FORMULA, PARTS, SETTLING = range(10, 20)
COUNTERS = 20
"""Positions in the integer counters of a run. RESTARTED: 1 or 2: nothing of before the present instant may be
used; 2: the state there is consistent. REFUSED, UNSOLVED: how often in a row the error test refused the step
and Newton's method failed; that once at least where steps are given. ROUGH: given steps whose estimated error is far
beyond rtol; UNTESTED: steps taken that did not pass the error test; REINITIALISED: discontinuities passed over; ASTRAY:
points that were to be made consistent and stayed as the method left them; CURVED: 1 where an equation is anything but a
sum of constant multiples; KNOWN: earlier states at hand (see `earlier`); JUDGED: 1 while the polynomials of a step are
held against the equations (see `dense_output` of netsim.core.method); FORMULA: 1 where steps are those of the formula
and nothing beside it: no estimate of the error, no projection, Newton's method to its own tolerance; PARTS: given steps
that were taken in parts, since Newton's method found no whole one; SETTLING: 1 where values of a refused step
tell a size (`settles` of netsim.core.method)."""

STEP, ON_ACCEPT, DENSE_OUTPUT, SET_TIME, REFACTOR, SOLVE, PROJECT, NEWTON, FIRST_EVENT = range(9)
"""Positions in Trial.code."""

RTOL, NEWTON_SHARE, POWER, FACTOR_ALPHA, RATE, RELATIVE, WIDE, UNTIL, LEAVING, PERSISTING = range(10)
"""Positions in the tolerances of a run. FACTOR_ALPHA: dq'/dq where the present factor was taken, 0 where it is not the
method's; RATE: contraction of Newton's method; RELATIVE: whether errors may grow with values beside a written size;
WIDE: whether scales count what the step tries; UNTIL: where the longest refused step ended, whose values count until
then; LEAVING: the power of an estimate that goes with what a step leaves (netsim.core.loop.accumulated); PERSISTING:
the share of an estimate that is not of what decays at once, where the method knows it, else 1."""

STAYS, FAINTEST = 0.9, 1e3 * 2.220446049250313e-16
"""A correction stays that is no smaller than this part of the one before: the derivatives are those of another branch
of a law. Corrections below the second part of a quantity are rounding."""


class Trial(NamedTuple):
    """The variable part of a step. States are [x | v | a | y | q | q' | quaternions]; `end` is in the charts of
    `start`.

    earlier (m, length): the states where the last m steps began, the latest first, in the charts of `start`; spans (m):
    the lengths of these steps. Only the first `earlier(trial)` rows may be used.

    Of x, v and y, each: scale, what an error may be (netsim.core.scales); exponent, see netsim.simulate.setup.weights;
    nominal; kind, the number of its kind (netsim.simulate.setup.kinds); largest, the largest value so far; fixed, the
    size that somebody has written for it, else 0. Of rotations: origin, the quaternions where the run began. Of kinds:
    sizes (netsim.core.scales); tolerances: rtol, Newton's share of it, power of the step that errors go with, alpha of
    the factor, contraction; work: (6, n); code: addresses of compiled functions; whole: 0 .. ny + nq - 1.

    Differences of values that no test weighs by themselves: row k is the sum of weight[p] y[value[p]], p from first[k]
    up to first[k + 1].

    readings: of elements, whose errors are told (netsim.core.readings).
    """

    g: Array
    out: Array
    start: Array
    end: Array
    middle: Array
    history: Array
    u: Array
    work: Array
    scale: Array
    exponent: Array
    nominal: Array
    kind: Array
    largest: Array
    origin: Array
    fixed: Array
    sizes: Array
    tolerances: Array
    counters: Array
    code: Array
    whole: Array
    earlier: Array
    spans: Array
    first: Array
    value: Array
    weight: Array
    readings: Struct


FOLLOWING = 1e-4
"""The smallest tolerance of positions without a state that follow from derivatives of constraints: steps that go by a
smaller one become so short that rounding, which grows with their powers, is all that is left."""

TRIED = kinds.tuple_of(kinds.WHOLE, kinds.REAL)
_step = by_address(TRIED)
_on_accept = by_address(kinds.REAL)
_dense_output = by_address(kinds.NOTHING)
_set_time = by_address(kinds.WHOLE)
_refactor = by_address(kinds.REAL)
_solve = by_address(kinds.NOTHING)
_project = by_address(kinds.BOOLEAN)
FOUND = kinds.tuple_of(kinds.WHOLE, kinds.WHOLE, kinds.WHOLE, kinds.BOOLEAN)
_newton = by_address(FOUND)


@inner
def step(method, problem, factor, trial, t, h, last):
    """Try one step; see the head of this file."""
    return _step(trial.code[STEP], method, problem, factor, trial, t, h, last)


@inner
def on_accept(method, problem, trial, h, error):
    """Remember an accepted step; see the head of this file."""
    return _on_accept(trial.code[ON_ACCEPT], method, problem, trial, h, error)


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Values within the last step; see the head of this file."""
    _dense_output(trial.code[DENSE_OUTPUT], method, problem, trial, theta, h, state, wanted)


@inner
def set_time(problem, trial, t):
    """Time, prescribed inputs and tables at t into trial.g; the status."""
    return _set_time(trial.code[SET_TIME], problem, trial.g, t)


@inner
def parts(factor):
    """The factor as its own class: what is compiled for the search for a start serves here too."""
    return linear.Factor(
        factor.row_order, factor.column_order, factor.row_scale, factor.column_scale, factor.start, factor.source,
        factor.row, factor.scale,
        factor.l_start, factor.l_row, factor.l_value, factor.u_start, factor.u_row, factor.u_value,
        factor.pivot_inverse, factor.work,
    )  # fmt: skip


@inner
def without_infinite(entries):
    """Entries of a step's matrix that are not finite become 0, as the derivative of sqrt(max(y, 0)) at y = 0: a matrix
    of Newton's method need not be exact."""
    for p in range(entries.shape[0]):
        if not np.isfinite(entries[p]):
            entries[p] = 0.0


@inner
def refactor(factor, trial, values):
    """Values of L and U; the pivot quality."""
    return _refactor(trial.code[REFACTOR], factor, values)


@inner
def solve(factor, trial, rhs, x):
    """x = A^-1 rhs."""
    _solve(trial.code[SOLVE], factor, rhs, x)


@inner
def projected(problem, plan, trial, state):
    """`netsim.core.states.project` with time and prescribed inputs of trial.g; False where it fails."""
    return _project(trial.code[PROJECT], problem, plan, trial.g, state)


@inner
def damped_newton(problem, factor, trial, fresh, tolerance):
    """`netsim.core.newton.newton`, damped, from the guess in trial.u; (status, iterations, factorisations, whether the
    factor serves on)."""
    return _newton(
        trial.code[NEWTON], problem, factor, fresh, trial.g, trial.history, trial.out, trial.u, trial.work, tolerance
    )


@inner
def earlier(trial):
    """How many rows of trial.earlier may be used: none in the first step after a change."""
    return 0 if trial.counters[RESTARTED] != 0 else trial.counters[KNOWN]


@inner
def error_norm(problem, trial, dx, dv, dy, h):
    """max |error|/scale; velocities of index 2 count as the change of position they make in the step, multipliers not
    at all (but differences of them that are states), and positions that follow from derivatives of constraints (behind
    a spring whose end is prescribed, index 4 and more) no more than FOLLOWING asks for.

    Empty dx and dv leave motion out."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    norm = 0.0
    for i in range(min(nk, dx.shape[0])):
        size = max(
            abs(dx[i]) / trial.scale[i],
            abs(dv[i]) / trial.scale[nk + i] if trial.exponent[nk + i] == 0 else abs(h * dv[i]) / trial.scale[i],
        )
        if trial.exponent[i] > 0:
            size *= min(1.0, trial.tolerances[RTOL] / FOLLOWING)
        if not np.isfinite(size):
            return REJECTED_ALWAYS
        norm = max(norm, size)
    for i in range(ny):
        if trial.exponent[2 * nk + i] == 0:
            size = abs(dy[i]) / trial.scale[2 * nk + i]
            if not np.isfinite(size):
                return REJECTED_ALWAYS
            norm = max(norm, size)
    for k in range(trial.first.shape[0] - 1):
        missed, scale = 0.0, 0.0
        for p in range(trial.first[k], trial.first[k + 1]):
            missed += trial.weight[p] * dy[trial.value[p]]
            scale = max(scale, trial.scale[2 * nk + trial.value[p]])
        if not np.isfinite(missed):
            return REJECTED_ALWAYS
        norm = max(norm, abs(missed) / scale)
    return norm


@inner
def rounded(problem, trial, residual, matrix, y, tolerance, terms):
    """Whether a residual of a network without motion is no more than what the rounding of its unknowns y, or the
    `tolerance` of Newton's method in their scales, makes of its terms |matrix| |y|; `terms` is room for them.

    A current through 1 Ohm between nodes of 5 V that is nothing yet has corrections of 1e-15 A without end, or slowly
    smaller ones where the nodes' own are lost in their 5 V."""
    for k in range(y.shape[0]):
        terms[k] = 0.0
    for j in range(y.shape[0]):
        unsure = max(ROUNDED * abs(y[j]), tolerance * trial.scale[j])
        for p in range(problem.indptr[j], problem.indptr[j + 1]):
            terms[problem.indices[p]] += abs(matrix[p]) * unsure
    for k in range(y.shape[0]):
        if not abs(residual[k]) <= terms[k]:
            return False
    return True


@inner
def proposed(error, order):
    """The elementary step-size rule: 0.9 error^(-1/order) within [0.2, 6]."""
    return min(6.0, max(0.2, 0.9 * max(error, 1e-10) ** (-1.0 / order)))


@inner
def keeps_step(factor):
    """A step that would hardly grow stays, and keeps its factorised matrix."""
    return 1.0 if 1.0 <= factor < 1.2 else factor


@inner
def interpolate_linearly(problem, trial, theta, h, state, wanted):
    """Values, differentiated quantities and rates on the line between the step's ends: for methods of order 1 and 2."""
    first, ny, nq = 3 * problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    for m in range(wanted.shape[0]):
        i = first + wanted[m]
        state[i] = (1.0 - theta) * trial.start[i] + theta * trial.end[i]
        if wanted[m] >= ny:
            state[i + nq] = (1.0 - theta) * trial.start[i + nq] + theta * trial.end[i + nq]


@inner
def cubic_differentiated(problem, trial, theta, h, state, wanted):
    """Differentiated quantities by the cubic through q and q' of both ends, and its rate."""
    first, ny, nq = 3 * problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    s, r = theta, 1.0 - theta
    for m in range(wanted.shape[0]):
        if wanted[m] >= ny:
            k = first + wanted[m]
            q0, q1, d0, d1 = trial.start[k], trial.end[k], h * trial.start[k + nq], h * trial.end[k + nq]
            state[k] = q0 * r * r * (1.0 + 2.0 * s) + q1 * s * s * (3.0 - 2.0 * s) + s * r * (d0 * r - d1 * s)
            state[k + nq] = (6.0 * s * r * (q1 - q0) + d0 * r * (1.0 - 3.0 * s) - d1 * s * (2.0 - 3.0 * s)) / h
