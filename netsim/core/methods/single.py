"""What methods with one implicit stage at a time share: the stage's solution, the end of the step, an error estimate
filtered by the matrix."""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import (
    ACCEPTED,
    CURVED,
    FACTOR_ALPHA,
    FACTORISATIONS,
    FAINTEST,
    FORMULA,
    FRESH,
    ITERATIONS,
    RATE,
    REFUSED,
    REJECTED_ALWAYS,
    RTOL,
    STAYS,
    UNSOLVED,
    damped_newton,
    error_norm,
    refactor,
    rounded,
    set_time,
    solve,
    without_infinite,
)
from netsim.core.newton import (
    CONVERGED,
    NOT_CONVERGED,
    PIVOT_QUALITY,
    SINGULAR,
    TOLERANCE,
    set_coefficients,
    set_differentiated_history,
    spread,
)
from netsim.core.problem import ALPHA, ENTRIES, HISTORY, NK, NNZ, NQ, NY, A, V
from netsim.core.readings import kept_norm
from netsim.core.scales import set_least, widen_scales
from netsim.core.states import copy, keep, load

TIGHTEST = 1e-12
SHARE = 0.02
"""Newton's tolerance as a share of the error test's."""
MOST, GROWTHS = 12, 2
"""Iterations, and how many corrections may be larger than the one before."""
SLOW, LINEAR = 0.3, 1e-6
"""The contraction above which a new matrix is taken, and that below which the matrix of a linear network is
believed."""
LEAST = 1e-9
"""The least contraction that is believed."""


@inner
def solve_stage(problem, factor, trial, t, step):
    """Solve the stage whose histories are in trial.history and whose guess is in trial.u: x = hx + step v, a = ha +
    v/step, q' = q/step + hq.

    `step` is the method's coefficient times the step size. Leaves x, v, a, y in g, and differentiated quantities in
    out."""
    status = set_time(problem, trial, t)
    if status != CONVERGED:
        return status
    set_coefficients(trial.g, step, 1.0, 1.0 / step, 1.0 / step)
    return solve_given(problem, factor, trial)


@inner
def solve_given(problem, factor, trial):
    """The same with time and coefficients set. The matrix is taken anew where coefficients changed or corrections
    shrink slowly.

    A step on which Newton's method failed before is left to the damped one, which takes its time."""
    counters, tolerances, n, formula = trial.counters, trial.tolerances, trial.u.shape[0], trial.counters[FORMULA] > 0
    if trial.g[ALPHA] != tolerances[FACTOR_ALPHA]:
        counters[FRESH], tolerances[FACTOR_ALPHA] = 0, trial.g[ALPHA]
    set_differentiated_history(problem, trial.g, trial.history)
    status = NOT_CONVERGED
    if factor.pivot_inverse.shape[0] < n:  # pivots are those of the first step's matrix
        spread(problem, trial.g, trial.history, trial.u)
        evaluate(problem.jacobian, trial, problem.sizes[ENTRIES] + problem.sizes[NNZ] + 1)
        return SINGULAR
    # where masses move, what Newton leaves the next steps see over h and h^2: iterate to the end
    if problem.sizes[NK] == 0 and not formula:
        guess = trial.work[5]
        copy(trial.u, 0, guess, 0, n)
        status = _corrected(problem, factor, trial)
        if status != CONVERGED:
            copy(guess, 0, trial.u, 0, n)
            tolerances[RATE], counters[FRESH] = 1.0, 0
    if status != CONVERGED and (counters[UNSOLVED] > 0 or status == SINGULAR or problem.sizes[NK] > 0):
        if problem.sizes[NK] and not formula:
            set_least(problem, trial)
        tolerance = TOLERANCE if formula else max(TIGHTEST, SHARE * tolerances[RTOL])
        status, iterations, factorisations, fresh = damped_newton(
            problem, factor, trial, counters[FRESH] == 1, tolerance
        )
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
    evaluate(problem.jacobian, trial, entries + nnz + 1)
    without_infinite(trial.out[entries : entries + nnz])
    trial.counters[FACTORISATIONS] += 1
    return refactor(factor, trial, trial.out[entries : entries + nnz]) > PIVOT_QUALITY


@inner
def _corrected(problem, factor, trial):
    """Newton's method, with the kept matrix while corrections shrink fast, with a new one in each iteration where they
    do not.

    What is left is judged by the contraction seen in this stage. Where corrections have grown, two within the tolerance
    must contract: far up an exponential every correction is as small as its knee, which may be less than a tolerance. A
    contraction of before says nothing beyond a knee, where corrections by the matrix of steep slopes are small whatever
    is left; a linear network is asked again after some stages. Where equations curve, the next correction of every
    unknown must be smaller still by a kept matrix: beyond a limit it stays as small as the steep side makes it."""
    tolerances, counters, u, du = trial.tolerances, trial.counters, trial.u, trial.work[0]
    kept, before, growths = counters[FRESH] == 1, 0.0, 0
    linear = counters[CURVED] == 0 and tolerances[RATE] < LINEAR
    rate = tolerances[RATE]
    for iteration in range(MOST):
        spread(problem, trial.g, trial.history, u)
        if kept:
            evaluate(problem.residual, trial, problem.sizes[ENTRIES])
        elif not _factorised(problem, factor, trial):
            return SINGULAR
        solve(factor, trial, trial.out[: u.shape[0]], du)
        counters[ITERATIONS] += 1
        for i in range(u.shape[0]):
            u[i] -= du[i]
        widen_scales(problem, trial, u, False)
        norm = error_norm(problem, trial, du[:0], du[:0], du, 0.0)
        if iteration:
            rate = norm / before if before > 0.0 else 0.0
            growths += rate > 1.0 and norm > SHARE
            rate = 1.0 if growths and before > 1.0 else rate
        if not norm < REJECTED_ALWAYS:
            return NOT_CONVERGED
        if growths > GROWTHS:
            break
        rate = min(STAYS, max(LEAST, rate))
        if norm * rate / (1.0 - rate) <= SHARE and (iteration or linear):
            spread(problem, trial.g, trial.history, u)
            evaluate(problem.residual, trial, problem.sizes[ENTRIES])
            if counters[CURVED] and kept and _stays(problem, factor, trial):
                kept, before = False, norm
                continue
            counters[FRESH] = 1 if rate < SLOW else 0
            tolerances[RATE] = rate if iteration else 2.0 * rate
            return CONVERGED
        kept, before = rate < SLOW or iteration == 0, norm
    return CONVERGED if norm < 1.0 and _solved(problem, trial) else NOT_CONVERGED


@inner
def _solved(problem, trial):
    """Whether the equations hold to rounding, or to the tolerance, where corrections do not tell."""
    entries, nnz = problem.sizes[ENTRIES], problem.sizes[NNZ]
    spread(problem, trial.g, trial.history, trial.u)
    evaluate(problem.jacobian, trial, entries + nnz + 1)
    without_infinite(trial.out[entries : entries + nnz])
    trial.counters[FRESH], trial.tolerances[RATE] = 0, 1.0
    matrix = trial.out[entries : entries + nnz]
    return rounded(problem, trial, trial.out[: trial.u.shape[0]], matrix, trial.u, SHARE, trial.work[4])


@inner
def _stays(problem, factor, trial):
    """Whether the next correction of an unknown that a test weighs is no smaller than its last one, beyond rounding."""
    nk, du, ahead = problem.sizes[NK], trial.work[0], trial.work[4]
    solve(factor, trial, trial.out[: du.shape[0]], ahead)
    for i in range(du.shape[0]):
        size = abs(ahead[i]) / trial.scale[nk + i]
        if (
            trial.exponent[nk + i] == 0
            and size * trial.tolerances[RTOL] > FAINTEST
            and abs(ahead[i]) > STAYS * abs(du[i])
        ):
            return True
    return False


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
    """The norm of (1 - step J)^-1 raw, raw = [x | v | q] at the step's end: what a stiff component would damp does not
    count.

    One residual at rates shifted by raw/step, and one solution with the step's own factor (see
    netsim.core.methods.radau)."""
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
    widen_scales(problem, trial, trial.end, True)
    norm = kept_norm(problem, trial, dx, du, du[nk:], h)
    again = trial.counters[REFUSED] > 0 or trial.counters[ACCEPTED] == 0
    return _damped(problem, factor, trial, h) if norm > 1.0 and nk == 0 and again else norm


@inner
def _damped(problem, factor, trial, h):
    """The norm of (1 - step J)^-1 e = e - M^-1 K e for the estimate e in trial.work[0]; M is the step's matrix, K that
    without rates of differentiated quantities.

    A state beside what fast parts allow goes back there at once, whatever the step (see netsim.core.methods.radau)."""
    nq, g, out, e, r = problem.sizes[NQ], trial.g, trial.out, trial.work[0], trial.work[1]
    entries, history, at = problem.sizes[ENTRIES], problem.sizes[HISTORY], problem.sizes[NY]
    g[ALPHA] = 0.0
    copy(trial.end, at + nq, g, history, nq)
    evaluate(problem.jacobian, trial, entries + problem.sizes[NNZ] + 1)
    for i in range(e.shape[0]):
        r[i] = 0.0
    for j in range(e.shape[0]):
        for p in range(problem.indptr[j], problem.indptr[j + 1]):
            r[problem.indices[p]] += out[entries + p] * e[j]
    solve(factor, trial, r, r)
    for i in range(e.shape[0]):
        e[i] -= r[i]
    return kept_norm(problem, trial, e[:0], e[:0], e, h)
