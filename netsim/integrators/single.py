"""What methods with one implicit stage at a time share: the stage's solution, the end of the step, an error estimate filtered by the matrix."""

from __future__ import annotations

from netsim.integrators.contract import FACTOR_ALPHA, FACTORISATIONS, FRESH, ITERATIONS, error_norm
from netsim.integrators.states import copy, load
from netsim.kernels.call import lean, run_table
from netsim.solvers.linear import solve
from netsim.solvers.machine import ALPHA, CHARGES, ENTRIES, HISTORY, NK, NQ, NY, A, V, X, Y
from netsim.solvers.newton import CONVERGED, newton, set_coefficients, set_time

SHARE = 0.02
"""Newton's tolerance as a share of the error test's."""
TIGHTEST = 1e-12


@lean
def solve_stage(problem, factor, trial, t, step):
    """Solve the stage whose histories are in trial.history and whose guess is in trial.u: x = hx + step v, a = ha + v/step, q' = q/step + hq.

    `step` is the method's coefficient times the step size. Leaves x, v, a, y in g, and charges in out."""
    status = set_time(problem, trial.g, t)
    if status != CONVERGED:
        return status
    set_coefficients(trial.g, step, 1.0, 1.0 / step, 1.0 / step)
    return solve_given(problem, factor, trial)


@lean
def solve_given(problem, factor, trial):
    """The same with time and coefficients set; a factor taken at other coefficients does not serve."""
    counters = trial.counters
    if trial.g[ALPHA] != trial.tolerances[FACTOR_ALPHA]:
        counters[FRESH], trial.tolerances[FACTOR_ALPHA] = 0, trial.g[ALPHA]
    tolerance = max(TIGHTEST, SHARE * trial.tolerances[0])
    status, iterations, factorisations, fresh = newton(
        problem, factor, counters[FRESH] == 1, trial.g, trial.history, trial.out, trial.u, trial.work, tolerance
    )
    counters[ITERATIONS] += iterations
    counters[FACTORISATIONS] += factorisations
    counters[FRESH] = 1 if fresh else 0
    if status == CONVERGED and problem.sizes[NQ]:
        for i in range(problem.sizes[ENTRIES]):
            trial.out[i] = 0.0
        run_table(problem.residual, trial.g, trial.out)
    return status


@lean
def begin_stage(problem, trial, state):
    """The charts of the step's beginning into g, and a first guess from a state."""
    load(problem, trial.g, trial.start)
    nk = problem.sizes[NK]
    copy(state, nk, trial.u, 0, nk)
    copy(state, 3 * nk, trial.u, nk, problem.sizes[NY])


@lean
def keep(problem, trial, state):
    """What the stage found, into a state (in the charts of the step's beginning)."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    g, out, at = trial.g, trial.out, 3 * nk + ny
    copy(g, problem.sizes[X], state, 0, nk)
    copy(g, problem.sizes[V], state, nk, nk)
    copy(g, problem.sizes[A], state, 2 * nk, nk)
    copy(g, problem.sizes[Y], state, 3 * nk, ny)
    for k in range(nq):
        q = out[problem.sizes[CHARGES] + k]
        state[at + k] = q
        state[at + nq + k] = g[ALPHA] * q + g[problem.sizes[HISTORY] + k]
    copy(trial.start, at + 2 * nq, state, at + 2 * nq, state.shape[0] - at - 2 * nq)


@lean
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
    for i in range(problem.sizes[ENTRIES]):
        out[i] = 0.0
    run_table(problem.residual, g, out)
    du, dx = trial.work[0], trial.work[1]
    solve(factor, out[: du.shape[0]], du)
    for i in range(nk):
        dx[i] = step * du[i]
        du[i] += raw[i] / step
    return error_norm(problem, trial, dx, du, du[nk:], h)
