"""The stages of a step of Radau IIA (netsim.core.methods.radau): first values, their residuals, and simplified
Newton."""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import CURVED, ITERATIONS, REFUSED, RESTARTED, RTOL, error_norm, rounded, solve
from netsim.core.newton import CONVERGED, NOT_CONVERGED, NOT_FINITE
from netsim.core.problem import ALPHA, DIFFERENTIATED, ENTRIES, HISTORY, NK, NQ, NY, PRESCRIBED, A, V, X, Y
from netsim.core.radau.arrays import EPS, FAINT, LAST_H, SHRINK, STAYED, THETA, C
from netsim.core.radau.matrix import solve_pair
from netsim.core.scales import widen_scales
from netsim.core.states import copy

ITERATIONS_MOST = 14
ROUNDINGS, RESTING = 4.0, 1e-12
"""So many roundings of a position may be left when its corrections grow no smaller; the part of its nominal size below
which a velocity rests."""

BELIEVED, BELIEVED_CURVED = 1e-6, 1e-3
"""The smallest contraction of a step before that a first correction is judged by: where equations curve (the square of
a signal near its zero), it is no measure of the next."""
RESTS = 0.02
"""Corrections that small, in parts of the test, are rounding where they shrink no more."""
STAYS, ROUNDED, LATER, PATIENCE = 0.9, 1e4, 3, 2
"""A correction stays that is no smaller than this part of the one before, and tells no distance from a solution: the
derivatives are those of another branch of a law (steep before a limit, flat beyond it). So many roundings of a quantity
are left out of account; from this iteration on a law's branch is no longer left by the first correction; and so many
more corrections are made where others are within the tolerance."""


@inner
def start_stages(method, problem, trial, h):
    """First values: x by v and a of the beginning, y along the polynomial of the last step."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    old = method.memory[LAST_H]
    known = old > 0.0 and trial.counters[RESTARTED] == 0
    for i in range(3):
        step = C[i] * h
        for k in range(nk):
            method.z[i, k] = step * (trial.start[nk + k] + 0.5 * step * trial.start[2 * nk + k])
        s = 1.0 + step / old if known else 1.0
        l0 = (s - C[1]) * (s - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
        l1 = (s - C[0]) * (s - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
        l2 = (s - C[0]) * (s - C[1]) / ((C[2] - C[0]) * (C[2] - C[1]))
        for k in range(ny):
            p = method.previous
            method.z[i, nk + k] = l0 * p[0, k] + l1 * p[1, k] + l2 * p[2, k] if known else trial.start[3 * nk + k]


@inner
def place_stage(method, problem, trial, h, i):
    """Write stage i into g: time and prescribed inputs, x, v, a, y."""
    nk, ny, g = problem.sizes[NK], problem.sizes[NY], trial.g
    x, v, a, y = problem.sizes[X], problem.sizes[V], problem.sizes[A], problem.sizes[Y]
    w = method.w
    for k in range(nk):
        v0 = trial.start[nk + k]
        g[x + k] = trial.start[k] + method.z[i, k]
        g[v + k] = method.v[i, k]
        g[a + k] = (
            w[i, 0] * (method.v[0, k] - v0) + w[i, 1] * (method.v[1, k] - v0) + w[i, 2] * (method.v[2, k] - v0)
        ) / h
    for k in range(ny):
        g[y + k] = method.z[i, nk + k]
    first, count = problem.sizes[PRESCRIBED], method.prescribed_inputs.shape[1] - 1
    copy(method.prescribed_inputs[i], 0, g, first, count)
    g[1] = method.prescribed_inputs[i, count]


@inner
def velocities(method, problem, h):
    """Velocities of all stages."""
    w, z = method.w, method.z
    for i in range(3):
        for k in range(problem.sizes[NK]):
            method.v[i, k] = (w[i, 0] * z[0, k] + w[i, 1] * z[1, k] + w[i, 2] * z[2, k]) / h


@inner
def stage_differentiated(method, problem, trial, h):
    """Differentiated quantities of all stages and their rates."""
    nq, differentiated, at = problem.sizes[NQ], problem.sizes[DIFFERENTIATED], 3 * problem.sizes[NK] + problem.sizes[NY]
    if nq == 0:
        return
    for i in range(3):
        place_stage(method, problem, trial, h, i)
        for c in range(nq):
            trial.out[differentiated + c] = 0.0
        run_table(method.differentiated, trial.g, trial.out)
        copy(trial.out, differentiated, method.q[i], 0, nq)
    w, q = method.w, method.q
    for i in range(3):
        for c in range(nq):
            q0 = trial.start[at + c]
            method.rate[i, c] = (w[i, 0] * (q[0, c] - q0) + w[i, 1] * (q[1, c] - q0) + w[i, 2] * (q[2, c] - q0)) / h


@inner
def _residuals(method, problem, trial, h):
    """F at all stages into method.residual."""
    g, out, history = trial.g, trial.out, problem.sizes[HISTORY]
    n = method.z.shape[1]
    velocities(method, problem, h)
    stage_differentiated(method, problem, trial, h)
    g[ALPHA] = 0.0
    for i in range(3):
        place_stage(method, problem, trial, h, i)
        copy(method.rate[i], 0, g, history, problem.sizes[NQ])
        for k in range(problem.sizes[ENTRIES]):
            out[k] = 0.0
        run_table(method.rates, g, out)
        copy(out, 0, method.residual[i], 0, n)


@inner
def _correct(method, problem, factor, trial, h):
    """One simplified Newton step; the largest scaled correction."""
    n, r, ti, t = method.z.shape[1], method.residual, method.inverse, method.transform
    du = trial.work[0]
    for k in range(n):
        r0, r1, r2 = r[0, k], r[1, k], r[2, k]
        du[k] = ti[0, 0] * r0 + ti[0, 1] * r1 + ti[0, 2] * r2
        method.rhs[k] = complex(
            ti[1, 0] * r0 + ti[1, 1] * r1 + ti[1, 2] * r2, ti[2, 0] * r0 + ti[2, 1] * r1 + ti[2, 2] * r2
        )
    solve(factor, trial, du, du)
    solve_pair(method)
    for i in range(3):
        for k in range(n):
            change = t[i, 0] * du[k] + t[i, 1] * method.rhs[k].real + t[i, 2] * method.rhs[k].imag
            method.z[i, k] -= change
            r[i, k] = change
    norm, nk, rate = 0.0, problem.sizes[NK], method.eigenvalues[0] / h
    for k in range(nk):
        trial.end[k], trial.end[nk + k] = trial.start[k] + method.z[2, k], method.v[2, k]
    copy(method.z[2], nk, trial.end, 3 * nk, n - nk)
    widen_scales(problem, trial, trial.end, False)
    for i in range(3):
        # velocities with their full weight, whatever the index: what Newton leaves of them adds up over the steps
        for k in range(nk):
            size = abs(r[i, k]) * max(1.0 / trial.scale[k], rate / trial.scale[nk + k])
            # not max(): that of a number and NaN may be the number
            norm = norm if size <= norm or norm != norm else size
        if not np.isfinite(norm):
            return 1e30
        norm = max(norm, error_norm(problem, trial, r[i, :0], r[i, :0], r[i, nk:], h))
    return norm


@inner
def rounding_of_positions(method, problem, trial, h):
    """What the rounding of positions, each to the rounding of its reach at least, makes of velocities over the step, in
    their scales; what rests has no scale that rounding could be measured in."""
    nk, most = problem.sizes[NK], 0.0
    for k in range(nk):
        if trial.scale[nk + k] > RESTING * trial.tolerances[RTOL] * trial.nominal[nk + k]:
            most = max(most, max(abs(trial.start[k]), problem.reach[k]) / trial.scale[nk + k])
    return ROUNDINGS * EPS * method.eigenvalues[0] / h * most


@inner
def _staying(method, problem, trial, first):
    """The largest correction of a value that is no smaller than its last one, in its scale; where the first one may
    hide what stays, the largest of all. Keeps them for the next one. What moves is left out: its positions' rounding
    over a short step stays too."""
    nk, r, moved, most = problem.sizes[NK], method.residual, method.moved, 0.0
    for i in range(3):
        for k in range(nk, method.z.shape[1]):
            if trial.exponent[nk + k] > 0:
                continue
            size = abs(r[i, k]) / trial.scale[nk + k]
            if first or size > STAYS * moved[i, k]:
                most = max(most, size)
            moved[i, k] = size
    return most


@inner
def _solved(method, problem, trial, h, tolerance):
    """Whether the equations hold at all stages to rounding, or to the tolerance."""
    entries, real, out = problem.sizes[ENTRIES], method.eigenvalues[0] / h, trial.out
    _residuals(method, problem, trial, h)
    matrix = out[entries : entries + method.powers.shape[1]]
    for p in range(matrix.shape[0]):
        matrix[p] = method.powers[0, p] + real * method.powers[1, p]
    for i in range(3):
        if not rounded(problem, trial, method.residual[i], matrix, method.z[i], tolerance, trial.work[0]):
            return False
    return True


@inner
def newton(method, problem, factor, trial, h, own):
    """Simplified Newton for the stages; (status, iterations).

    Where something moves, the second correction tells nothing of the third: positions are corrected at once, forces by
    what that changes, which can be as much as before, and is the last. In a step that was refused the contraction of
    the steps before is not believed: what they left may be all that the error test saw. Where equations curve, the
    corrections of every value must shrink: small ones that stay are rounding only with derivatives that are the end's
    `own`.
    """
    memory, nk = method.memory, problem.sizes[NK]
    branches, exact = not own and trial.counters[CURVED] > 0, own and nk == 0
    waits, rounded = 0, ROUNDED * EPS / trial.tolerances[RTOL]
    tolerance = trial.tolerances[1]
    if nk:  # velocities are known to the rounding of positions over the step: of sizes of 1, or of their own, if larger
        rounding = 0.5 * EPS * method.eigenvalues[0] / (h * trial.tolerances[RTOL])
        tolerance = max(tolerance, min(rounding, rounding_of_positions(method, problem, trial, h)))
    believed = BELIEVED_CURVED if trial.counters[CURVED] else BELIEVED
    faint = 1.0 if trial.counters[REFUSED] else max(memory[FAINT], believed) ** 0.8
    before, theta = 0.0, 1e-3
    seen = 2 if nk else 1
    memory[SHRINK], memory[STAYED] = 0.5, 0.0
    for iteration in range(1, ITERATIONS_MOST + 1):
        _residuals(method, problem, trial, h)
        norm = _correct(method, problem, factor, trial, h)
        trial.counters[ITERATIONS] += 1
        if not norm < 1e29:
            return NOT_FINITE, iteration
        stays = _staying(method, problem, trial, iteration < LATER) if branches else 0.0
        small = not branches or (nk > 0 and stays <= rounded)
        if iteration > 1:
            ratio = norm / before if before > 0.0 else 0.0
            theta = ratio if iteration == 2 else np.sqrt(ratio * theta)
            if ratio >= (0.99 if iteration > seen else 2.0):
                memory[THETA], memory[STAYED] = theta, 1.0 if norm < RESTS else 0.0
                rests = norm < max(RESTS if small else 0.0, rounding_of_positions(method, problem, trial, h))
                rests = rests or (exact and norm < 1.0 and _solved(method, problem, trial, h, tolerance))
                return (CONVERGED if rests else NOT_CONVERGED), iteration
            faint = theta / (1.0 - theta) if theta < 1.0 else 1e3
            if iteration > seen and faint * norm * theta ** (ITERATIONS_MOST - 1 - iteration) > tolerance:
                memory[THETA] = theta
                missed = min(20.0, max(1e-4, faint * norm * theta ** (ITERATIONS_MOST - 1 - iteration) / tolerance))
                memory[SHRINK] = 0.8 * missed ** (-1.0 / (3 + ITERATIONS_MOST - iteration))
                rests = norm < rounding_of_positions(method, problem, trial, h)
                rests = rests or (exact and norm < 1.0 and _solved(method, problem, trial, h, tolerance))
                return (CONVERGED if rests else NOT_CONVERGED), iteration
        before = max(norm, 1e-300)
        if faint * norm <= tolerance:
            if stays <= max(rounded, rounding_of_positions(method, problem, trial, h)):
                memory[FAINT], memory[THETA] = faint, theta
                return CONVERGED, iteration
            waits += 1
            if waits > PATIENCE:
                memory[THETA], memory[STAYED] = theta, 1.0
                return NOT_CONVERGED, iteration
    memory[THETA] = theta
    return NOT_CONVERGED, ITERATIONS_MOST
