"""The adjoint of the variational equations (netsim.core.variational.equations): one backward pass along the steps of a
run gives the derivative of one figure by all parameters.

Forward, a step takes changes q0 of the differentiated quantities to q1 by M U = H q0 - F_p dp at its three stages, and
the consistent point at its end gives all other changes. With weights w of the figure in q1, backward

    M' z = E' w,    w <- H' z,    (figure)_p -= z F_p,

and likewise for the stages of consistent points. Transposed derivatives of kernels are gradients on [g | weights]
(netsim.analyses.sensitivity.gradients). Here nothing moves: there are no positions. Source: Y. Cao, S. Li, L. Petzold,
R. Serban, Adjoint sensitivity analysis for differential-algebraic equations, SIAM J. Sci. Comput. 24, 2003.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.consistent import fill_stage, make_consistent, stage_factor
from netsim.core.contract import parts
from netsim.core.linear.factors import refactor, solve_transpose
from netsim.core.problem import N_PRESCRIBED, NK, NQ, NY, PRESCRIBED, PRESCRIBED_ORDERS
from netsim.core.states import copy
from netsim.core.variational.equations import PIVOT_QUALITY, RATE, contents_at, fill_matrix, set_contents

Array = np.ndarray
ENDED = 1 << 40
"""What is answered where the beginning is reached."""


class Adjoint(NamedTuple):
    """equations, drives, readings: gradient calls; stages: those of the plan's stages, in the order of its own calls.
    both (size + rows): [g | weights], back (size + parameters): what gradients add to. q (nq): weights of the
    differentiated quantities; mu (size): those of all at a point; shown (places in [g | readings]) and of (m): the
    figure's own. found (parameters), kept (size): its derivatives by parameters and by what stays, so far. rhs: a side
    of the stages of a step."""

    equations: Array
    drives: Array
    readings: Array
    stages: Array
    both: Array
    back: Array
    q: Array
    mu: Array
    shown: Array
    of: Array
    found: Array
    kept: Array
    rhs: Array


@inner
def figure_back(problem, plan, run, adjoint, g):
    """Weights of the differentiated quantities at the last point g, from those of the signals there; False where pivots
    do not serve."""
    size = g.shape[0]
    _begin(adjoint)
    _clear(adjoint, g)
    for i in range(adjoint.shown.shape[0]):
        place = adjoint.shown[i]
        if place < size:
            adjoint.mu[place] += adjoint.of[i]
        else:
            adjoint.both[place] = adjoint.of[i]
    run_table(adjoint.readings, adjoint.both, adjoint.back)
    _take(adjoint, 1.0)
    return point_back(problem, plan, run, adjoint, g)


@inner
def steps_back(problem, plan, factor, run, adjoint, first, last):
    """Weights from the end of step `last` - 1 to the beginning of step `first`: ENDED, the step whose pivots do not
    serve, or -1 - s where those of the point at the end of step s do not."""
    nk, nq, n = problem.sizes[NK], problem.sizes[NQ], problem.sizes[NK] + problem.sizes[NY]
    rows = n + nq
    for s in range(last - 1, first - 1, -1):
        h = run.spans[s]
        fill_matrix(problem, run, s)
        if not refactor(parts(factor), run.entries) > PIVOT_QUALITY:
            return s
        for i in range(3 * rows):
            adjoint.rhs[i] = 0.0
        for i in range(nq):
            adjoint.rhs[2 * rows + n + i] = adjoint.q[i]
            adjoint.q[i] = 0.0
        solve_transpose(parts(factor), adjoint.rhs, adjoint.rhs)
        _histories_back(run, adjoint, h, nk, n)
        for i in range(3):
            _equations_back(problem, adjoint, run.at[i], i * rows, n, rows)
        if s > first:
            g = run.at[2]
            copy(run.rows[4 * s - 1], 0, g, 0, g.shape[0])
            _begin(adjoint)
            if not point_back(problem, plan, run, adjoint, g):
                return -1 - (s - 1)
    return ENDED


@inner
def _equations_back(problem, adjoint, g, first, n, rows):
    """What the equations at a stage, weighted by the solution from `first` on, change by."""
    size = g.shape[0]
    _begin(adjoint)
    _clear(adjoint, g)
    for e in range(rows):
        adjoint.both[size + (e if e < n else e + 1)] = -adjoint.rhs[first + e]
    run_table(adjoint.equations, adjoint.both, adjoint.back)
    _take(adjoint, 1.0)
    _drives_back(problem, adjoint, g)


@inner
def _histories_back(run, adjoint, h, nk, n):
    """Weights of the step's beginning from those of its stages."""
    derivatives = run.values.shape[1]
    for k in range(run.old_place.shape[0]):
        d, u = run.old_derivative[k], run.old_variable[k]
        if run.old_kind[k] == RATE and u >= nk:
            value = run.old_scale[k] * run.values[d // derivatives, d % derivatives]
            adjoint.q[u - n] += value / h * adjoint.rhs[run.old_place[k]]


@inner
def point_back(problem, plan, run, adjoint, g):
    """Weights of the differentiated quantities from those of all at a point, which is made consistent as forward; False
    where pivots do not serve."""
    nq, size, at = problem.sizes[NQ], g.shape[0], contents_at(problem)
    for i in range(nq):
        adjoint.mu[at + i] += adjoint.q[i]
    set_contents(problem, run, g)
    copy(g, 0, run.both, 0, size)
    if not make_consistent(plan, g):
        copy(run.both, 0, g, 0, size)
    for i in range(plan.partial_values.shape[0]):
        plan.partial_values[i] = 0.0
    run_table(plan.partials, g, plan.partial_values)
    for k in range(plan.sizes.shape[0] - 1, -1, -1):
        if not _stage_back(plan, plan.where[k], plan.sizes[k], adjoint, g):
            return False
    for i in range(nq):
        adjoint.q[i] = adjoint.mu[at + i]
    _drives_back(problem, adjoint, g)
    return True


@inner
def _stage_back(plan, where, sizes, adjoint, g):
    """Weights before a stage of a consistent point from those behind it."""
    n, total = sizes[1], sizes[2]
    w, r, f = plan.numbers, plan.reals, where[17:]
    places, entries, scale = w[where[13] : where[14]], r[f[10] : f[11]], r[f[14] : f[15]]
    step, shift, any_weight = r[f[11] : f[11] + total], n if total > n else 0, False
    for i in range(total):
        step[i] = scale[i] * adjoint.mu[places[i]] if i < n else 0.0
        any_weight = any_weight or step[i] != 0.0
    if not any_weight:
        return True
    factor = stage_factor(plan, where)
    fill_stage(plan, where, entries)
    if not refactor(factor, entries) > PIVOT_QUALITY:
        return False
    solve_transpose(factor, step, step)
    _stage_gradient(plan, where, shift, total, adjoint, g)
    return True


@inner
def _stage_gradient(plan, where, shift, total, adjoint, g):
    """What the equations of a stage, weighted by its solution, change by."""
    size, w, r, f = g.shape[0], plan.numbers, plan.reals, where[17:]
    first_call, first_row = w[where[9] : where[10]], w[where[10] : where[11]]
    at, equations, row_scale = w[where[11] : where[12]], w[where[12] : where[13]], r[f[9] : f[10]]
    step, calls = r[f[11] : f[11] + total], where[33]
    for order in range(first_call.shape[0] - 1):
        _clear(adjoint, g)
        for i in range(first_row[order], first_row[order + 1]):
            row = at[i]
            if shift + row < total:
                adjoint.both[size + equations[i]] += step[shift + row] * (row_scale[row] if shift else 1.0)
        run_table(adjoint.stages[calls + first_call[order] : calls + first_call[order + 1]], adjoint.both, adjoint.back)
        _take(adjoint, -1.0)


@inner
def _drives_back(problem, adjoint, g):
    """Weights of prescribed inputs to the parameters of their functions of time; what stays takes its own."""
    size, first = g.shape[0], problem.sizes[PRESCRIBED]
    end = first + PRESCRIBED_ORDERS * problem.sizes[N_PRESCRIBED]
    _clear(adjoint, g)
    for i in range(first, end):
        adjoint.both[size + i] = adjoint.mu[i]
        adjoint.mu[i] = 0.0
    run_table(adjoint.drives, adjoint.both, adjoint.back)
    _take(adjoint, 1.0)
    for i in range(size):
        adjoint.kept[i] += adjoint.mu[i]


@inner
def _begin(adjoint):
    """No weights of a point yet."""
    for i in range(adjoint.mu.shape[0]):
        adjoint.mu[i] = 0.0


@inner
def _clear(adjoint, g):
    """No weights at the point g, and nothing found."""
    size = g.shape[0]
    copy(g, 0, adjoint.both, 0, size)
    for i in range(size, adjoint.both.shape[0]):
        adjoint.both[i] = 0.0
    for i in range(adjoint.back.shape[0]):
        adjoint.back[i] = 0.0


@inner
def _take(adjoint, sign):
    """What gradients have added goes where it belongs."""
    size = adjoint.mu.shape[0]
    for i in range(size):
        adjoint.mu[i] += sign * adjoint.back[i]
    for i in range(adjoint.found.shape[0]):
        adjoint.found[i] += sign * adjoint.back[size + i]
