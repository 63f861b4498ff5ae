"""The time loop once more, in plain NumPy: implicit Euler with full Newton and a dense solve, to be read and to test
the compiled loop against.

It runs the same programs through the NumPy target (netsim.equations.kernels.reference), so it needs neither machine
code nor a sparse factorisation.
"""

from itertools import pairwise

import numpy as np

from netsim.core.newton import set_time
from netsim.core.problem import ALPHA, KA, KV, KX
from netsim.equations.machine import Machine, run_calls

Array = np.ndarray
ITERATIONS = 50


def reference_run(machine: Machine, start: Array, times: Array) -> tuple[Array, Array]:
    """Positions (steps + 1, nk) and unknowns u = [v | y] (steps + 1, n) of implicit Euler from the consistent global
    vector `start`.

    a = (v - v_prev)/h, x = x_prev + h v, q' = (q - q_prev)/h. Raises ArithmeticError where Newton does not converge.
    """
    layout, g = machine.system.layout, start.copy()
    nk = layout.nk
    x, u = g[layout.x : layout.v].copy(), np.concatenate([g[layout.v : layout.a], g[layout.y : layout.history]])
    q = g[layout.differentiated(np.arange(layout.nq), 0)].copy()
    positions, unknowns = [x.copy()], [u.copy()]
    for before, now in pairwise(times):
        h = now - before
        set_time(machine.problem, g, now)
        g[[KX, KV, KA, ALPHA]] = h, 1.0, 1.0 / h, 1.0 / h
        g[layout.history : layout.step_size] = -q / h
        u, q = _newton(machine, g, x, u, h)
        x = x + h * u[:nk]
        positions.append(x.copy())
        unknowns.append(u.copy())
    return np.array(positions), np.array(unknowns)


def _newton(machine: Machine, g: Array, x: Array, before: Array, h: float) -> tuple[Array, Array]:
    """The unknowns of one step and the differentiated quantities there."""
    layout, nk = machine.system.layout, machine.system.layout.nk
    u, best = before.copy(), np.inf
    for _ in range(ITERATIONS):
        g[layout.x : layout.v] = x + h * u[:nk]
        g[layout.v : layout.a] = u[:nk]
        g[layout.a : layout.y] = (u[:nk] - before[:nk]) / h
        g[layout.y : layout.history] = u[nk:]
        residual, differentiated, matrix = _evaluate(machine, g)
        if best == 0.0:
            return u, differentiated
        step = np.linalg.solve(matrix, residual)
        size = np.max(np.abs(step) / np.maximum(np.abs(u), 1e-3 * machine.system.nominals), initial=0.0)
        u = u - step
        if size < 1e-14 or (size >= best and size < 1e-8):
            size = 0.0  # once more for the differentiated quantities at the accepted point
        best = size
    raise ArithmeticError("Newton does not converge")


def _evaluate(machine: Machine, g: Array) -> tuple[Array, Array, Array]:
    """Residual, differentiated quantities and dense matrix at what g holds."""
    system, layout = machine.system, machine.system.layout
    out = np.zeros(system.out_size)
    run_calls(machine.calls["jacobian"], layout.uniforms, g, out)
    matrix = np.zeros((system.n, system.n))
    columns = np.repeat(np.arange(system.n), np.diff(system.pattern.indptr))
    matrix[system.pattern.indices, columns] = out[layout.entries : layout.entries + system.pattern.nnz]
    return (
        out[: system.n],
        out[layout.differentiated_results : layout.differentiated_results + layout.nq].copy(),
        matrix,
    )
