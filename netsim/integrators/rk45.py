"""Explicit Runge-Kutta 5(4) of Dormand and Prince for what reduces to an ODE: x' = v, v' = a, q' from the equations solved for the rates.

Every stage takes a consistent point (netsim.solvers.consistent): linear in accelerations, forces and rates, with velocities on their constraints.
Positions on constraints are not corrected, so constrained mechanisms (index 3) are refused. Cheap where nothing is stiff; the first stage
of a step is the last one of the step before. Order 5; between steps charges have order 4 and positions the quintic of both ends.
Sources: J. Dormand, P. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6, 1980; L. Shampine, Some practical Runge-Kutta
formulas, Math. Comp. 46, 1986 (between steps).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netsim.integrators.contract import error_norm, proposed, set_time, straight
from netsim.integrators.states import copy, follow, load
from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import inner
from netsim.solvers.consistent import Consistent, make_consistent
from netsim.solvers.machine import HISTORY, NK, NQ, NY, A, V, Y
from netsim.solvers.newton import CONVERGED, NOT_FINITE

Array = np.ndarray

ORDER = 5
C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
TABLEAU = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
    [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
])  # fmt: skip
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

DENSE = np.array([
    [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
    [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
    [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
    [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
    [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
])  # fmt: skip
"""Weights of the stages' rates at theta, theta^2 ... theta^4: the formula of order 4 inside a step."""


class Rk45(NamedTuple):
    """Rates [x' | v' | q'] of the stages, the plan of consistent points, errors of x, v and values, what a step of order 4 gives."""

    rates: Array
    plan: Bundle
    error: Array
    lower: Array


def prepare(n: int, nk: int, nq: int, state: int, plan: Consistent) -> Bundle:
    """The method for one run of a system of these sizes (`state`: length of a state)."""
    return bundled(Rk45(np.zeros((7, 2 * nk + nq)), bundled(plan), np.zeros(n + nk), np.zeros(state)))


@inner
def _point(method, problem, trial, state, t):
    """Make a state consistent and read it back, in the charts it is in; the status."""
    g = trial.g
    status = set_time(problem, trial, t)
    if status != CONVERGED:
        return status
    load(problem, g, state)
    if not make_consistent(method.plan, g):
        return NOT_FINITE
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    copy(g, problem.sizes[V], state, nk, nk)
    copy(g, problem.sizes[A], state, 2 * nk, nk)
    copy(g, problem.sizes[Y], state, 3 * nk, ny)
    copy(g, problem.sizes[HISTORY], state, 3 * nk + ny + nq, nq)
    return CONVERGED


@inner
def _advanced(method, problem, trial, weights, count, h, state):
    """x, v and q of the beginning plus h times weighted rates of the first `count` stages."""
    nk, nq, at, s = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY], trial.start
    for i in range(2 * nk):
        total = 0.0
        for j in range(count):
            total += weights[j] * method.rates[j, i]
        state[i] = s[i] + h * total
    for k in range(nq):
        total = 0.0
        for j in range(count):
            total += weights[j] * method.rates[j, 2 * nk + k]
        state[at + k] = s[at + k] + h * total


@inner
def _keep_rates(method, problem, state, stage):
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    copy(state, nk, method.rates[stage], 0, 2 * nk)
    copy(state, at + nq, method.rates[stage], 2 * nk, nq)


@inner
def attempt(method, problem, factor, trial, t, h, last):
    """Six new stages; the error is the difference from the embedded formula of order 4, for values too (at a point made consistent with it)."""
    nk, ny, nq, end = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ], trial.end
    copy(trial.start, 0, end, 0, end.shape[0])
    _keep_rates(method, problem, end, 0)
    for stage in range(1, 7):
        _advanced(method, problem, trial, TABLEAU[stage], stage, h, end)
        status = _point(method, problem, trial, end, last if stage >= 5 else t + C[stage] * h)
        if status != CONVERGED:
            return status, 0.25
        _keep_rates(method, problem, end, stage)
    low, at = method.lower, 3 * nk + ny
    copy(end, 0, low, 0, end.shape[0])
    _advanced(method, problem, trial, ERROR, 7, h, low)
    for i in range(2 * nk):
        low[i] = end[i] - (low[i] - trial.start[i])
    for k in range(at, at + nq):
        low[k] = end[k] - (low[k] - trial.start[k])
    e = method.error
    for i in range(2 * nk):
        e[i] = low[i] - end[i]
    if _point(method, problem, trial, low, last) != CONVERGED:
        return NOT_FINITE, 0.25
    for i in range(ny):
        e[2 * nk + i] = low[3 * nk + i] - end[3 * nk + i]
    return CONVERGED, error_norm(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk :], h)


@inner
def accepted(method, problem, trial, h, error):
    """The elementary rule."""
    follow(problem, trial)
    return proposed(error, 5.0)


@inner
def between(method, problem, trial, theta, h, state):
    """Charges by the continuous formula of order 4; values on the line (they are recovered, where samples are)."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    straight(problem, trial, theta, h, state)
    for k in range(nq):
        rise, rate = 0.0, 0.0
        for j in range(7):
            c = DENSE[j]
            rise += theta * (c[0] + theta * (c[1] + theta * (c[2] + theta * c[3]))) * method.rates[j, 2 * nk + k]
            rate += (c[0] + theta * (2.0 * c[1] + theta * (3.0 * c[2] + theta * 4.0 * c[3]))) * method.rates[j, 2 * nk + k]
        state[3 * nk + ny + k] = trial.start[3 * nk + ny + k] + h * rise
        state[3 * nk + ny + nq + k] = rate


__all__ = ["ORDER", "Rk45", "accepted", "attempt", "between", "prepare"]
