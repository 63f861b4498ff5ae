"""Generalized-alpha of order 2 with adjustable damping at infinity (rho), for x'' = ... with constraints and for q' = ... alike.

    (1 - am) z+ + am z = (1 - af) a+ + af a            z: the algorithmic acceleration
    v+ = v + h (1 - g) z + h g z+,     x+ = x + h v + h^2 (1/2 - b) z + h^2 b z+
    am = (2 rho - 1)/(rho + 1),  af = rho/(rho + 1),  g = 1/2 + af - am,  b = (g + 1/2)^2/4

Balances and constraints hold at the end of the step, with the true accelerations a+. Charges use the same averages with q' in place of a. Sources:
J. Chung, G. Hulbert, J. Appl. Mech. 60, 1993; M. Arnold, O. Bruels, Multibody Syst. Dyn. 18, 2007 (constraints, order 2 of the multipliers).
"""

from __future__ import annotations

import numpy as np

from netsim.kernels.call import compiled
from netsim.solvers.machine import NK, NQ, NY
from netsim.solvers.newton import set_coefficients

ORDER = 2
RHO = 0.8


def coefficients(rho: float = RHO) -> np.ndarray:
    """(am, af, beta, gamma) for a spectral radius at infinity 0 <= rho <= 1."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    return np.array([am, af, (gamma + 0.5) ** 2 / 4, gamma])


@compiled
def begin(problem, coefficients_, g, state, algorithmic, history, h):
    """Coefficients and history of a step; `algorithmic` = [z of x | z of q]. The unknown of a kinematic node is its acceleration."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    am, af, beta, gamma = coefficients_[0], coefficients_[1], coefficients_[2], coefficients_[3]
    share = (1.0 - af) / (1.0 - am)
    set_coefficients(g, h * h * beta * share, h * gamma * share, 1.0, 1.0 / (h * gamma * share))
    for i in range(nk):
        x, v, a, z = state[i], state[nk + i], state[2 * nk + i], algorithmic[i]
        fixed = (af * a - am * z) / (1.0 - am)
        history[i] = x + h * v + h * h * ((0.5 - beta) * z + beta * fixed)
        history[nk + i] = v + h * ((1.0 - gamma) * z + gamma * fixed)
        history[2 * nk + i] = 0.0
    charges = 3 * nk + ny
    for k in range(nq):
        q, rate, z = state[charges + k], state[charges + nq + k], algorithmic[nk + k]
        fixed = (af * rate - am * z) / (1.0 - am)
        history[3 * nk + k] = -(q + h * ((1.0 - gamma) * z + gamma * fixed)) / (h * gamma * share)


@compiled
def guess(problem, state, u):
    """The last accelerations and values."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    for i in range(nk):
        u[i] = state[2 * nk + i]
    for i in range(ny):
        u[nk + i] = state[3 * nk + i]


@compiled
def averaged(coefficients_, before, after, algorithmic):
    """z+ = ((1 - af) a+ + af a - am z)/(1 - am)"""
    am, af = coefficients_[0], coefficients_[1]
    return ((1.0 - af) * after + af * before - am * algorithmic) / (1.0 - am)
