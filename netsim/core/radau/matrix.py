"""The matrices of Radau IIA (netsim.core.methods.radau): K + l D + l^2 M at a real and a complex l, from three
evaluations of the kernels."""

from netsim.core.compiled import kinds
from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import by_address, inner
from netsim.core.contract import FACTOR_ALPHA, FACTORISATIONS, refactor, without_infinite
from netsim.core.newton import CONVERGED, PIVOT_QUALITY, SINGULAR
from netsim.core.problem import ALPHA, ENTRIES, HISTORY, KA, KV, KX, NK, NNZ, NQ, NY
from netsim.core.radau.arrays import FACTOR_H, REFACTOR_PAIR, SOLVE_PAIR
from netsim.core.states import copy

_refactor_pair = by_address(kinds.REAL)
_solve_pair = by_address(kinds.NOTHING)


@inner
def derivatives(method, problem, trial, state, h):
    """Coefficients of the matrix as a polynomial of l at a state that g holds too: three evaluations, two where nothing
    moves."""
    g, out = trial.g, trial.out
    entries, nnz, nq = problem.sizes[ENTRIES], problem.sizes[NNZ], problem.sizes[NQ]
    history, at = problem.sizes[HISTORY], 3 * problem.sizes[NK] + problem.sizes[NY]
    size = 1.0 / h
    moving = problem.sizes[NK] > 0
    for k in range(3 if moving else 2):
        s = (0.0, size, -size)[k]
        g[KX], g[KV], g[KA], g[ALPHA] = 1.0, s, s * s, s
        for c in range(nq):  # alpha q + history is q' of the state
            g[history + c] = state[at + nq + c] - s * state[at + c]
        for i in range(entries + nnz + 1):
            out[i] = 0.0
        run_table(problem.jacobian, g, out)
        without_infinite(out[entries : entries + nnz])
        copy(out, entries, method.powers[k], 0, nnz)
    for p in range(nnz):
        e0, e1 = method.powers[0, p], method.powers[1, p]
        e2 = method.powers[2, p] if moving else e0 + (e0 - e1)
        method.powers[1, p] = (e1 - e2) / (2.0 * size)
        method.powers[2, p] = ((e1 - e0) + (e2 - e0)) / (2.0 * size * size)


@inner
def factorise(method, problem, factor, trial, h):
    """Both factors for a step of size h; SINGULAR (with the real matrix in out) where the pivots do not serve."""
    entries, nnz, out = problem.sizes[ENTRIES], problem.sizes[NNZ], trial.out
    real = method.eigenvalues[0] / h
    pair = complex(method.eigenvalues[1], -method.eigenvalues[2]) * (1.0 / h)
    for p in range(nnz):
        c0, c1, c2 = method.powers[0, p], method.powers[1, p], method.powers[2, p]
        out[entries + p] = c0 + real * (c1 + real * c2)
        method.entries[p] = c0 + pair * (c1 + pair * c2)
    trial.counters[FACTORISATIONS] += 1
    method.memory[FACTOR_H] = 0.0
    if refactor(factor, trial, out[entries : entries + nnz]) < PIVOT_QUALITY:
        return SINGULAR
    if _refactor_pair(method.code[REFACTOR_PAIR], method.pair, method.entries) < 1e-3 * PIVOT_QUALITY:
        return SINGULAR
    method.memory[FACTOR_H], trial.tolerances[FACTOR_ALPHA] = h, real
    return CONVERGED


@inner
def solve_pair(method):
    """method.rhs <- the complex matrix's inverse times it."""
    _solve_pair(method.code[SOLVE_PAIR], method.pair, method.rhs, method.rhs)
