"""The stages of a Radau step by Newton's method itself, where the simplified one (netsim.core.methods.radau) does not
get there.

Simplified Newton solves all stages with the derivatives of one point. Where these change over a step as much as they
are large (beside a position at which a mechanism's constraints lose rank, behind the knee of a law) it diverges however
near the solution is, and a shorter step only comes nearer to that position. Here every stage has derivatives of its
own, and the three are solved as one system:

    block (i, j) = delta_ij K_i + (W_ij / h) D_i + ((W W)_ij / h^2) M_i         W = A^-1

Steps then reach across such a position without evaluating anything at it: freedom rises there, yet what the mechanism
did before, continued smoothly, is a solution beyond it. Costs some milliseconds, in Python; a run needs it a few times.
Source of the stage equations: Hairer, Wanner, Solving Ordinary Differential Equations II, 1996, sec. IV.8.
"""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.struct import Struct
from netsim.core.contract import Trial
from netsim.core.linear.columns import Columns, columns_of
from netsim.core.linear.equilibrated import equilibrated
from netsim.core.newton import CONVERGED, ROUNDED, at_round_off, set_time
from netsim.core.problem import ALPHA, DIFFERENTIATED, ENTRIES, HISTORY, KA, KV, KX, NK, NNZ, NQ, NY, A, V, X, Y
from netsim.core.radau.arrays import EPS, SOLVED, C
from netsim.core.states import load

Array = np.ndarray
MOST, KNEES, PATIENCE = 12, 40, 4
"""Iterations in all, of a mechanism and of a circuit, and those after which each must be nearer than the one before."""
LEAST_PART, LONGEST, PARTS = 4.0**-8, 4.0, 100
"""The first part of a given step that a circuit is led by, how much longer the next one may be, and how many."""
ROUNDING = 30.0
"""What corrections may be beside errors, where rounding keeps them from shrinking: near a loss of rank it counts over
the distance."""


def step_together(problem: Struct, method: Struct, trial: Trial, t: float, h: float, last: float, given: bool) -> bool:
    """`solve_stages`, and the method's next `step` takes what was found."""
    if not solve_stages(problem, method, trial, t, h, last, given):
        return False
    method.memory[SOLVED] = h
    return True


def solve_stages(problem: Struct, method: Struct, trial: Trial, t: float, h: float, last: float, given: bool) -> bool:
    """Find the stages of the step from t to t + h into method.z; False where Newton's method does not converge from the
    predicted ones.

    `last` is the instant at which prescribed inputs are looked at for the step's end. Where the step is `given`, no
    other can be tried: a circuit is then led there by shorter ones, since the current of a diode that begins to conduct
    is far from that of the beginning; and corrections that rounding explains end the iteration however large they
    are."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    load(problem, trial.g, trial.start)
    found = _iterated(
        problem, method, trial, _predicted(nk, ny, trial.start, h), h, [t + C[0] * h, t + C[1] * h, last], given
    )
    if found is None and given and nk == 0:
        found = _led(problem, method, trial, t, h, last)
    if found is None:
        return False
    method.z[:] = found
    return True


def _led(problem: Struct, method: Struct, trial: Trial, t: float, h: float, last: float) -> Array | None:
    """The stages of a given step of a circuit by shorter ones from the same beginning, each the first values of the
    next: as much longer as can be."""
    ny, part, longer = problem.sizes[NY], LEAST_PART, LONGEST
    begin = trial.start[:ny]
    first = _predicted(0, ny, trial.start, h)
    for _ in range(PARTS):
        instants = [t + C[0] * part * h, t + C[1] * part * h, last if part == 1.0 else t + part * h]
        found = _iterated(problem, method, trial, first, part * h, instants, True)
        if found is not None:
            if part == 1.0:
                return found
            reached, known = part, np.vstack([begin, found])
            longer = min(longer**2, LONGEST)
        elif part == LEAST_PART:
            return None
        else:
            longer = np.sqrt(longer)
        part = min(1.0, longer * reached)
        first = np.column_stack([np.interp(part / reached * C, np.append(0.0, C), values) for values in known.T])
    return None


def _iterated(
    problem: Struct, method: Struct, trial: Trial, z: Array, h: float, instants: list[float], given: bool
) -> Array | None:
    """The stages by Newton's method from these first ones."""
    nk = problem.sizes[NK]
    rounding = 0.5 * EPS * method.eigenvalues[0] / (h * trial.tolerances[0]) if nk else 0.0
    tolerance, before = max(float(trial.tolerances[1]), rounding), np.inf
    for iteration in range(MOST if nk else KNEES):
        found = _linearised(problem, method, trial, z, h, instants)
        change = None if found is None else _solved(*found)
        if found is None or change is None:
            return None
        z = z - change
        size = _size(trial, nk, change, method.eigenvalues[0] / h)
        if size <= tolerance or (size <= ROUNDING and size > 0.5 * before):
            return z
        if not size < (1e12 if iteration < PATIENCE else before):
            return z if given and _is_rounding(problem, method, trial, *found, h, tolerance) else None
        before = size
    return None


def _is_rounding(
    problem: Struct, method: Struct, trial: Trial, matrix: Columns, residuals: Array, h: float, tolerance: float
) -> bool:
    """Whether corrections that do not shrink follow from the rounding of the residuals' terms: those for the rest of
    the residuals are within the tolerance.

    A constraint may sum lengths far beyond the position that it gives, and what rounding leaves of it is forces over
    the square of the step. `trial.g` holds the end of the step."""
    g, nk, ny = trial.g, problem.sizes[NK], problem.sizes[NY]
    rate = method.eigenvalues[0] / h
    g[[KX, KV, KA]] = 1.0 / rate, 1.0, rate
    x, v, a, y = (problem.sizes[k] for k in (X, V, A, Y))
    moving = np.concatenate([g[x : x + nk], g[v : v + nk], g[a : a + nk], np.zeros(problem.sizes[NQ])])
    size, terms = np.zeros((2, nk + ny))
    at_round_off(problem, moving, g, np.append(g[v : v + nk], g[y : y + ny]), trial.out, size, terms)
    explained = np.clip(residuals, -ROUNDED * terms, ROUNDED * terms)
    change = _solved(matrix, residuals - explained)
    return change is not None and _size(trial, nk, change, rate) <= tolerance


def _predicted(nk: int, ny: int, start: Array, h: float) -> Array:
    """x by v and a of the beginning, values as they are there."""
    steps = C[:, None] * h
    motion = steps * (start[nk : 2 * nk] + 0.5 * steps * start[2 * nk : 3 * nk])
    return np.hstack([motion, np.tile(start[3 * nk : 3 * nk + ny], (3, 1))])


def _size(trial: Trial, nk: int, change: Array, rate: float) -> float:
    """The largest correction beside what an error may be; algebraic values that no test weighs count for nothing."""
    weight = np.append(
        np.maximum(1.0 / trial.scale[:nk], rate / trial.scale[nk : 2 * nk]),
        (trial.exponent[2 * nk :] == 0) / trial.scale[2 * nk :],
    )
    return float(np.abs(change * weight).max(initial=0.0)) if np.all(np.isfinite(change)) else np.inf


def _linearised(
    problem: Struct, method: Struct, trial: Trial, z: Array, h: float, instants: list[float]
) -> tuple[Columns, Array] | None:
    """Matrix (3 n, 3 n) and residuals (3, n) of the stages; None where they are not finite or a table ends."""
    nk, ny, nq, nnz, entries = (problem.sizes[k] for k in (NK, NY, NQ, NNZ, ENTRIES))
    n, x, differentiated, history = nk + ny, problem.sizes[X], problem.sizes[DIFFERENTIATED], problem.sizes[HISTORY]
    g, out, start, w = trial.g, trial.out, trial.start, method.w
    v = w @ z[:, :nk] / h
    a = w @ (v - start[nk : 2 * nk]) / h
    q, residuals = np.zeros((3, nq)), np.zeros((3, n))

    def to_stage(i: int) -> bool:
        reached = set_time(problem, g, instants[i]) == CONVERGED
        g[x:history] = np.concatenate([start[:nk] + z[i, :nk], v[i], a[i], z[i, nk:]])
        return bool(reached)

    for i in range(3 if nq else 0):
        to_stage(i)
        out[differentiated : differentiated + nq] = 0.0
        run_table(method.differentiated, g, out)
        q[i] = out[differentiated : differentiated + nq]
    rate = w @ (q - start[3 * nk + ny : 3 * nk + ny + nq]) / h
    parts: list[Array] = []
    for i in range(3):
        if not to_stage(i):
            return None
        g[ALPHA], g[history : history + nq] = 0.0, rate[i]
        out[:] = 0.0
        run_table(problem.residual, g, out)
        residuals[i] = out[:n]
        powers = np.zeros((3, nnz))
        for k, s in enumerate((0.0, 1.0 / h, -1.0 / h)):
            g[[KX, KV, KA, ALPHA]] = 1.0, s, s * s, s
            g[history : history + nq] = rate[i] - s * q[i]
            out[:] = 0.0
            run_table(problem.jacobian, g, out)
            powers[k] = out[entries : entries + nnz]
        linear, square = 0.5 * (powers[1] - powers[2]), 0.5 * (powers[1] + powers[2]) - powers[0]
        parts += [(i == j) * powers[0] + w[i, j] * linear + (w @ w)[i, j] * square for j in range(3)]
    columns, block = np.repeat(np.arange(n), np.diff(problem.indptr)), np.arange(9)[:, None]
    places = (problem.indices + block // 3 * n).ravel(), (columns + block % 3 * n).ravel()
    matrix = columns_of(np.concatenate(parts), *places, (3 * n, 3 * n))
    return (matrix, residuals) if np.all(np.isfinite(matrix.data)) and np.all(np.isfinite(residuals)) else None


def _solved(matrix: Columns, residuals: Array) -> Array | None:
    """matrix^-1 residuals by stages; None where it is singular."""
    found = equilibrated(matrix)
    return None if found is None else found.solve(residuals.ravel()).reshape(residuals.shape)
