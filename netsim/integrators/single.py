"""What methods with one implicit stage at a time share: the stage's solution, the end of the step, an error estimate filtered by the matrix."""

from __future__ import annotations

from netsim.integrators.contract import (
    FACTOR_ALPHA,
    FACTORISATIONS,
    FRESH,
    ITERATIONS,
    RATE,
    RTOL,
    careful,
    error_norm,
    refactor,
    set_time,
    solve,
)
from netsim.integrators.states import copy, keep, load
from netsim.kernels.call import inner, run_table
from netsim.solvers.machine import ALPHA, ENTRIES, HISTORY, NK, NNZ, NQ, NY, A, V
from netsim.solvers.newton import CONVERGED, NOT_CONVERGED, PIVOT_QUALITY, set_charge_history, set_coefficients, spread

TIGHTEST = 1e-12
SHARE = 0.02
"""Newton's tolerance as a share of the error test's."""
MOST = 5
SLOW = 0.3
"""Iterations with a kept factor, and the contraction above which the next step takes a new one."""
EPS = 2.220446049250313e-16


@inner
def solve_stage(problem, factor, trial, t, step):
    """Solve the stage whose histories are in trial.history and whose guess is in trial.u: x = hx + step v, a = ha + v/step, q' = q/step + hq.

    `step` is the method's coefficient times the step size. Leaves x, v, a, y in g, and charges in out."""
    status = set_time(problem, trial, t)
    if status != CONVERGED:
        return status
    set_coefficients(trial.g, step, 1.0, 1.0 / step, 1.0 / step)
    return solve_given(problem, factor, trial)


@inner
def solve_given(problem, factor, trial):
    """The same with time and coefficients set. The matrix is taken anew where coefficients changed, corrections shrank slowly or did not converge;
    where a new one does not help either, the step is left to the damped method."""
    counters, tolerances, n = trial.counters, trial.tolerances, trial.u.shape[0]
    if trial.g[ALPHA] != tolerances[FACTOR_ALPHA]:
        counters[FRESH], tolerances[FACTOR_ALPHA] = 0, trial.g[ALPHA]
    guess = trial.work[5]
    copy(trial.u, 0, guess, 0, n)
    set_charge_history(problem, trial.g, trial.history)
    status = NOT_CONVERGED
    for new in range(0 if problem.sizes[NK] else 2):  # where masses move, what Newton leaves the next steps see over h and h^2: iterate to the end
        if new == 1 or counters[FRESH] == 1:
            if new == 1 and not _factorised(problem, factor, trial):
                break
            status = _corrected(problem, factor, trial, new == 1)
            if status == CONVERGED:
                break
            tolerances[RATE], counters[FRESH] = 1.0, 0
            copy(guess, 0, trial.u, 0, n)
    if status != CONVERGED:
        status, iterations, factorisations, fresh = careful(problem, factor, trial, counters[FRESH] == 1, max(TIGHTEST, SHARE * tolerances[RTOL]))
        counters[ITERATIONS] += iterations
        counters[FACTORISATIONS] += factorisations
        counters[FRESH] = 1 if fresh else 0
    if status == CONVERGED and problem.sizes[NQ]:
        evaluate(problem.residual, trial, problem.sizes[ENTRIES])
    return status


@inner
def evaluate(table, trial, count):
    """What a table's kernels add up to at g, into the first `count` of out."""
    for i in range(count):
        trial.out[i] = 0.0
    run_table(table, trial.g, trial.out)


@inner
def _factorised(problem, factor, trial):
    """The matrix (and the residual) at the guess; False where its pivots do not serve."""
    entries, nnz = problem.sizes[ENTRIES], problem.sizes[NNZ]
    spread(problem, trial.g, trial.history, trial.u)
    evaluate(problem.jacobian, trial, entries + nnz + 1)
    trial.counters[FACTORISATIONS] += 1
    return refactor(factor, trial, trial.out[entries : entries + nnz]) > PIVOT_QUALITY


@inner
def _corrected(problem, factor, trial, evaluated):
    """Simplified Newton; how much one more correction would bring is judged by the contraction, before the second one by that of the last step."""
    tolerances, counters, u, du, before = trial.tolerances, trial.counters, trial.u, trial.work[0], 0.0
    for iteration in range(MOST):
        if iteration or not evaluated:
            spread(problem, trial.g, trial.history, u)
            evaluate(problem.residual, trial, problem.sizes[ENTRIES])
        solve(factor, trial, trial.out[: u.shape[0]], du)
        counters[ITERATIONS] += 1
        norm = error_norm(problem, trial, du[:0], du[:0], du, 0.0)
        for i in range(u.shape[0]):
            u[i] -= du[i]
        if not norm < 1e29 or (iteration and norm > 0.9 * before and norm > SHARE):
            return NOT_CONVERGED
        if iteration:
            tolerances[RATE] = norm / before if before > 0.0 else 0.0
        rate = min(0.9, max(1e-6, tolerances[RATE]))
        before = norm
        if norm * rate / (1.0 - rate) <= SHARE and (iteration or tolerances[RATE] < SLOW):
            spread(problem, trial.g, trial.history, u)
            counters[FRESH] = 1 if rate < SLOW else 0
            return CONVERGED
    return NOT_CONVERGED


@inner
def begin_stage(problem, trial, state):
    """The charts of the step's beginning into g, and a first guess from a state."""
    load(problem, trial.g, trial.start)
    nk = problem.sizes[NK]
    copy(state, nk, trial.u, 0, nk)
    copy(state, 3 * nk, trial.u, nk, problem.sizes[NY])


@inner
def keep_stage(problem, trial, state):
    """What the stage found, into a state (in the charts of the step's beginning)."""
    keep(problem, trial.g, trial.out, state)
    at = 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    copy(trial.start, at, state, at, state.shape[0] - at)


@inner
def filtered_error(problem, factor, trial, raw, step, h):
    """The norm of (1 - step J)^-1 raw, raw = [x | v | q] at the step's end: what a stiff component would damp does not count.

    One residual at rates shifted by raw/step, and one solution with the step's own factor (see netsim.integrators.radau)."""
    nk, nq, g, out = problem.sizes[NK], problem.sizes[NQ], trial.g, trial.out
    v, a, history = problem.sizes[V], problem.sizes[A], problem.sizes[HISTORY]
    for i in range(nk):
        g[v + i] -= raw[i] / step
        g[a + i] -= raw[nk + i] / step + raw[i] / (step * step)
    for k in range(nq):
        g[history + k] -= raw[2 * nk + k] / step
    evaluate(problem.residual, trial, problem.sizes[ENTRIES])
    du, dx = trial.work[0], trial.work[1]
    solve(factor, trial, out[: du.shape[0]], du)
    for i in range(nk):
        dx[i] = step * du[i]
        du[i] += raw[i] / step
    return error_norm(problem, trial, dx, du, du[nk:], h)
