"""Sparse Newton for one implicit step, compiled: the factor is kept as long as it contracts, steps are damped, and the
test is scaled.

Unknowns u: velocities (accelerations, ...: what the method solves for) of kinematic unknowns, values of the others. The
method gives

    x = hx + kx u,  v = hv + kv u,  a = ha + ka u,     q' = alpha q + hq.

Convergence: max |du| / max(|u|, least) below tolerance, or every row's residual at the round-off of its terms. Damping
is the natural monotonicity test (Deuflhard, Newton Methods for Nonlinear Problems, 2004): a step counts when the next
correction is smaller.
"""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import compiled
from netsim.core.history import recall
from netsim.core.linear.factors import refactor, solve
from netsim.core.problem import (
    ALPHA,
    ENTRIES,
    HISTORY,
    KA,
    KV,
    KX,
    N_PRESCRIBED,
    N_TABLES,
    NK,
    NNZ,
    NQ,
    NY,
    PRESCRIBED,
    PRESCRIBED_ORDERS,
    TABLES,
    TIME,
    A,
    V,
    X,
    Y,
)

CONVERGED, NOT_CONVERGED, SINGULAR, NOT_FINITE, OUTSIDE_TABLE, UNRESOLVED = range(6)
"""How a step ends. UNRESOLVED: its error is too large, however short it
is."""

MAX_ITERATIONS = 80
TOLERANCE = 1e-10
GOOD_CONTRACTION = 0.1
ENOUGH = 3
"""A step that takes more iterations asks for a new matrix in the next one."""
NEAR = 1e-7
"""A correction this small by the present matrix leaves its square: where it is no smaller than the one before, both are
rounding."""
EPS = 2.220446049250313e-16
ROUNDED = 32 * EPS
"""A residual this small beside the terms of its row is rounding."""
PIVOT_QUALITY = 1e-7


@compiled
def set_time(problem, g, t):
    """Time, prescribed inputs and tables at t; the status is OUTSIDE_TABLE where a table does not reach."""
    g[TIME] = t
    first, count = problem.sizes[PRESCRIBED], problem.sizes[N_PRESCRIBED]
    g[first : first + PRESCRIBED_ORDERS * count] = 0.0
    out = g[:]
    status = CONVERGED
    if problem.arguments.shape[0]:
        run_table(problem.arguments, g, out)
        status = _evaluate_tables(problem, g)
    run_table(problem.prescribed_inputs, g, out)
    recall(problem.buffer, g, first, count)
    return status


@compiled
def _interval(breaks, u):
    """i with breaks[i] <= u < breaks[i + 1], the last interval at its end (by bisection)."""
    low, high = 0, breaks.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if breaks[middle] <= u:
            low = middle
        else:
            high = middle
    return low


@compiled
def _evaluate_tables(problem, g):
    """Value and total time derivatives 1..3 of every table at its argument (chain rule to third order)."""
    nd, nt = problem.sizes[N_PRESCRIBED], problem.sizes[N_TABLES]
    prescribed_inputs, tables = problem.sizes[PRESCRIBED], problem.sizes[TABLES]
    status = CONVERGED
    for k in range(nt):
        at = prescribed_inputs + problem.table_argument[k]
        u, u1, u2, u3 = g[at], g[at + nd], g[at + 2 * nd], g[at + 3 * nd]
        first, last = problem.table_first[k], problem.table_first[k + 1]
        breaks = problem.table_breaks[first:last]
        low, high = breaks[0], breaks[-1]
        mode = problem.table_outside[k]
        slack = 1e-12 * (high - low)
        if mode == 0 and (u < low - slack or u > high + slack):
            status = OUTSIDE_TABLE
        inside = min(max(u, low), high)
        i = _interval(breaks, inside)
        c = problem.table_coefficients[:, first + i]
        s = inside - breaks[i]
        f = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        f1 = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
        f2 = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
        f3 = 6 * c[3] + s * (24 * c[4] + s * 60 * c[5])
        if inside != u and mode != 0:
            f2, f3 = 0.0, 0.0
            if mode == 2:
                f += f1 * (u - inside)
            else:
                f1 = 0.0
        g[tables + k] = f
        g[tables + nt + k] = f1 * u1
        g[tables + 2 * nt + k] = f2 * u1 * u1 + f1 * u2
        g[tables + 3 * nt + k] = f3 * u1**3 + 3 * f2 * u1 * u2 + f1 * u3
    return status


@compiled
def set_coefficients(g, kx, kv, ka, alpha):
    """Tell the kernels how positions, velocities, accelerations and rates of differentiated quantities move with the
    unknowns."""
    g[KX], g[KV], g[KA], g[ALPHA] = kx, kv, ka, alpha


@compiled
def spread(problem, g, history, u):
    """Write x, v, a and y for the unknowns u; history holds hx, hv, ha and hq one after the other."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    x, v, a, y = problem.sizes[X], problem.sizes[V], problem.sizes[A], problem.sizes[Y]
    kx, kv, ka = g[KX], g[KV], g[KA]
    for i in range(nk):
        g[x + i] = history[i] + kx * u[i]
        g[v + i] = history[nk + i] + kv * u[i]
        g[a + i] = history[2 * nk + i] + ka * u[i]
    for i in range(ny):
        g[y + i] = u[nk + i]


@compiled
def set_differentiated_history(problem, g, history):
    """Hand the history of the differentiated quantities, hq in q' = alpha q + hq, to the kernels."""
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], problem.sizes[HISTORY]
    for k in range(nq):
        g[at + k] = history[3 * nk + k]


@compiled
def _evaluate(problem, table, g, out, stop):
    for i in range(stop):
        out[i] = 0.0
    run_table(table, g, out)


@compiled
def _norms(problem, du, u, weight, n):
    """max |du|/weight, with weights fixed for the step (the measure of contraction), and max |du|/max(weight, |u|) (the
    test)."""
    fixed, relative = 0.0, 0.0
    for i in range(n):
        size = abs(du[i])
        if not np.isfinite(size):
            return np.inf, np.inf
        fixed = max(fixed, size / weight[i])
        relative = max(relative, size / max(weight[i], abs(u[i])))
    return fixed, relative


@compiled
def _longest(problem, step, n):
    """max |step|/nominal."""
    longest = 0.0
    for i in range(n):
        longest = max(longest, abs(step[i]) / problem.nominal[i])
    return longest


@compiled
def _sizes(problem, history, order, k, u, size):
    """How large the terms are that each unknown brings by its position, velocity or acceleration = history + k u."""
    nk = problem.sizes[NK]
    for j in range(size.shape[0]):
        size[j] = max(abs(u[j]), problem.least[j])
        if j < nk and k != 0.0:
            size[j] = max(size[j], abs(history[order * nk + j] / k))
            if order == 0:
                size[j] = max(size[j], problem.reach[j] / abs(k))


@compiled
def at_round_off(problem, history, g, u, out, size, magnitude):
    """Whether every row's residual is explained by the rounding of its terms: |dF/dx| |x| + |dF/dv| |v| + |dF/da| |a| +
    |dF/dy| |y|.

    x, v and a count with their history, rotations as 1 rad, nothing as less than its least size. The orders are told
    apart by evaluating the matrix with one of kx, kv, ka at a time (in `out`, whose residuals stay). `size` and
    `magnitude` are room for (n,).
    """
    nk, entries = problem.sizes[NK], problem.sizes[ENTRIES]
    n = nk + problem.sizes[NY]
    for i in range(n):
        magnitude[i] = 0.0
    kept = (g[KX], g[KV], g[KA])
    for order in range(3):
        k = kept[order]
        g[KX], g[KV], g[KA] = 0.0, 0.0, 0.0
        g[KX + order] = k
        _sizes(problem, history, order, k, u, size)
        _evaluate(problem, problem.jacobian, g, out, entries + problem.sizes[NNZ] + 1)
        for j in range(n):
            for p in range(problem.indptr[j], problem.indptr[j + 1]):
                magnitude[problem.indices[p]] += abs(out[entries + p]) * size[j]
    g[KX], g[KV], g[KA] = kept
    for i in range(n):
        if not abs(out[i]) <= ROUNDED * magnitude[i]:
            return False
    return True


@compiled
def _factorise(problem, factor, g, out):
    """Evaluate residual and matrix, factorise; False where a pivot has become too small to trust (and the matrix is
    finite)."""
    entries, nnz = problem.sizes[ENTRIES], problem.sizes[NNZ]
    _evaluate(problem, problem.jacobian, g, out, entries + nnz + 1)
    if refactor(factor, out[entries : entries + nnz]) > PIVOT_QUALITY:
        return True
    for i in range(entries, entries + nnz):
        if not np.isfinite(out[i]):
            return True  # the next correction is not finite: damping deals with it
    return False


@compiled
def newton(problem, factor, fresh, g, history, out, u, work, tolerance):  # noqa: C901
    """Solve F(u) = 0 from the guess in u. `fresh` says that the factor belongs to these coefficients.

    `work` is (6, n). Returns (status, iterations, factorisations, factor still good). On SINGULAR `out` holds the
    matrix that broke down.
    """
    n, entries = problem.sizes[NK] + problem.sizes[NY], problem.sizes[ENTRIES]
    du, step, before, weight = work[0], work[1], work[2], work[3]
    for i in range(n):
        weight[i] = max(abs(u[i]), problem.least[i])
    set_differentiated_history(problem, g, history)
    factorisations, quiet, damping, norm_before = 0, 0, 1.0, np.inf
    refresh, stale_step = not fresh, False
    for iteration in range(1, MAX_ITERATIONS + 1):
        spread(problem, g, history, u)
        current = refresh
        if refresh:
            factorisations += 1
            if not _factorise(problem, factor, g, out):
                return SINGULAR, iteration, factorisations, False
        else:
            _evaluate(problem, problem.residual, g, out, entries)
        solve(factor, out[:n], du)
        norm, relative = _norms(problem, du, u, weight, n)
        contraction = norm / norm_before if norm_before > 0.0 else 0.0
        if quiet > 0 and contraction > 0.25 and relative > tolerance:  # perhaps only rounding is left to move
            if relative < NEAR and not current:
                refresh = True
                continue
            if relative < NEAR or at_round_off(problem, history, g, u, out, work[4], work[5]):
                for i in range(n):
                    u[i] -= du[i]
                spread(problem, g, history, u)
                return CONVERGED, iteration, factorisations, iteration <= ENOUGH
        if iteration > 1 and not contraction <= 1.0 and relative > tolerance:  # also for NaN
            for i in range(n):
                u[i] = before[i]
            if stale_step:  # the step came from an old matrix: take a new one where it began
                refresh, stale_step, norm_before, damping = True, False, np.inf, 1.0
                continue
            damping *= 0.5
            longest = _longest(problem, step, n)
            # an exponential far overshot: go on from steps of the unknowns' ordinary size
            if damping < 0.1 and damping * longest > 1.0:
                damping = 1.0 / longest
            if damping * max(longest, 1.0) < 1e-6:
                return (NOT_CONVERGED if np.isfinite(norm) else NOT_FINITE), iteration, factorisations, False
            for i in range(n):
                u[i] -= damping * step[i]
            refresh = False
            continue
        full = damping == 1.0
        # the first correction is mostly linear, so the second one's contraction says little about the nonlinear rest
        rate = max(contraction, GOOD_CONTRACTION) if iteration == 2 else contraction
        remaining = relative * min(1.0, rate / max(1.0 - rate, 1e-3)) if np.isfinite(norm_before) else relative
        if full and (relative <= 1e-3 * tolerance or (np.isfinite(norm_before) and remaining <= tolerance)):
            for i in range(n):
                u[i] -= du[i]
            spread(problem, g, history, u)
            return CONVERGED, iteration, factorisations, iteration <= ENOUGH
        if not np.isfinite(norm):
            if current:
                return NOT_FINITE, iteration, factorisations, False
            refresh = True
            continue
        quiet += contraction < 0.5
        slow = np.isfinite(norm_before) and contraction > GOOD_CONTRACTION
        refresh = slow or not full
        damping = min(1.0, 2.0 * damping)
        stale_step = not current
        norm_before = norm
        for i in range(n):
            before[i] = u[i]
            step[i] = du[i]
            u[i] -= damping * du[i]
    return NOT_CONVERGED, MAX_ITERATIONS, factorisations, False
