"""Implicit Euler, exactly as in Fedoruk et al. 2013: a = (v - v_prev)/h, x = x_prev + h v, q' = (q - q_prev)/h.

For a mass this is F = m/h (V - V_prev), for a spring F = F_prev + c h V. Order 1.
"""

from netsim.core.compiled.function import compiled
from netsim.core.newton import set_coefficients
from netsim.core.problem import NK, NQ, NY

NUMBER = 0.0
"""What the loop of given steps (netsim.core.loop.fixed) knows it by."""


@compiled
def begin(problem, g, state, history, h):
    """Coefficients and history of one step of size h from `state` = [x | v | a | y | q | q']; the unknown of a
    kinematic node is its v."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    set_coefficients(g, h, 1.0, 1.0 / h, 1.0 / h)
    for i in range(nk):
        history[i] = state[i]
        history[nk + i] = 0.0
        history[2 * nk + i] = -state[nk + i] / h
    differentiated = 3 * nk + ny
    for k in range(nq):
        history[3 * nk + k] = -state[differentiated + k] / h


@compiled
def guess(problem, state, u):
    """The last velocities and values: a first guess for Newton."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    for i in range(nk):
        u[i] = state[nk + i]
    for i in range(ny):
        u[nk + i] = state[3 * nk + i]
