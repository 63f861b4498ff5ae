"""Generalized-alpha of order 2 with adjustable damping at infinity (rho), for x'' = ... with constraints and for q' =
... alike.

    (1 - am) z+ + am z = (1 - af) a+ + af a            z: the algorithmic acceleration
    v+ = v + h (1 - g) z + h g z+,     x+ = x + h v + h^2 (1/2 - b) z + h^2 b z+
    am = (2 rho - 1)/(rho + 1),  af = rho/(rho + 1),  g = 1/2 + af - am,  b = (g + 1/2)^2/4

Balances and constraints hold at the end of the step, with the true accelerations a+. Differentiated quantities use the
same averages with q' in place of a. Sources: J. Chung, G. Hulbert, J. Appl. Mech. 60, 1993; M. Arnold, O. Bruels,
Multibody Syst. Dyn. 18, 2007 (constraints, order 2 of the multipliers).

Steps of changing size. z stands for the acceleration s h behind the step's instant, s = am - af: z = a + s h a' +
(s^2/2 + e) h^2 a''. Where h changes by a factor r it is shifted to the new place, z <- a + r (z - a), which keeps order
2 (with z left as it is velocities lose it); where a run begins, or goes on behind a time event, a' comes from a
consistent point a little later.

Error estimate. Put into the formulas, the expansion leaves in a step

    x+ - x(t + h) = X h^3 a',  X = s/2 + b - 1/6,         v+ - v(t + h) = V h^3 a'',  V = (s^2 + g (1 + 2 s))/2 - 1/6 +
    e, e = (1 - af)/2 - (1 - am)(1 + 2 s)/2 - s^2/2          (what z itself is off by; differentiated quantities are as
    velocities)

with h a' = a+ - a and, since z holds what was before, h^2 a'' (1/2 - s/2 - e/s) = (a+ - a) - (z - a)/s. The estimate is
what these leave in the solution of the step's equations: one residual and one solution with the step's own factor, so
that what is stiff or constrained does not count.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import (
    ASTRAY,
    FORMULA,
    RESTARTED,
    cubic_differentiated,
    interpolate_linearly,
    keeps_step,
    proposed,
    set_time,
    solve,
)
from netsim.core.method import Method, Orders, Setting
from netsim.core.methods.single import evaluate, keep_stage, solve_given
from netsim.core.newton import CONVERGED, set_coefficients
from netsim.core.problem import ALPHA, ENTRIES, HISTORY, KV, KX, NK, NQ, NY, V, X
from netsim.core.readings import kept_norm
from netsim.core.rotation import angular_acceleration
from netsim.core.scales import widen_scales
from netsim.core.states import copy, follow, load, project_end

Array = np.ndarray

RHO = 0.8


def coefficients(rho: float = RHO) -> np.ndarray:
    """(am, af, beta, gamma) for a spectral radius at infinity 0 <= rho <= 1."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    return np.array([am, af, (gamma + 0.5) ** 2 / 4, gamma])


def error_constants(am: float, af: float, beta: float, gamma: float) -> np.ndarray:
    """(s, X, V, 1/2 - s/2 - e/s): the shift of z, the errors' constants, and what (a+ - a) - (z - a)/s is of h^2 a''; s
    must not be zero."""
    s = am - af
    e = (1 - af) / 2 - (1 - am) * (1 + 2 * s) / 2 - s**2 / 2
    return np.array([s, s / 2 + beta - 1 / 6, (s**2 + gamma * (1 + 2 * s)) / 2 - 1 / 6 + e, 0.5 - s / 2 - e / s])


class GeneralizedAlpha(NamedTuple):
    """Coefficients, error constants, [z of x | z of q] for steps of size `length`, room for the raw estimate
    [x | v | q], values at a point beside the ends of the step and its seconds from the step's begin (0: none),
    consistent points."""

    coefficients: Array
    constants: Array
    algorithmic: Array
    length: Array
    raw: Array
    beside: Array
    apart: Array
    plan: Struct


def prepare(setting: Setting) -> Struct:
    """The arrays of one run."""
    given, nk, nq = coefficients(), setting.nk, setting.nq
    room = np.zeros(nk + nq), np.zeros(1), np.zeros(2 * nk + nq), np.zeros(setting.ny), np.zeros(1)
    return struct_of(GeneralizedAlpha(given, error_constants(*given), *room, struct_of(setting.plan)))


@compiled
def begin(problem, coefficients_, g, state, algorithmic, history, h):
    """Coefficients and history of a step; `algorithmic` = [z of x | z of q]. The unknown of a kinematic node is its
    acceleration."""
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
    differentiated = 3 * nk + ny
    for k in range(nq):
        q, rate, z = state[differentiated + k], state[differentiated + nq + k], algorithmic[nk + k]
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


@inner
def _first(method, problem, trial, t, h):
    """z at a beginning: 2 a - a(t - s h), the latter from a consistent point there (prescribed inputs need not reach
    back before the start). Its values tell how values bend in the step."""
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    s, e, z, ahead = trial.start, trial.end, method.algorithmic, -method.constants[0] * h
    astray, method.apart[0] = trial.counters[ASTRAY], 0.0
    copy(s, 0, e, 0, s.shape[0])
    for _ in range(2):  # with the rates of the start, then with the mean of both
        for i in range(nk):
            e[i] = s[i] + ahead * (s[nk + i] + ahead * (2.0 * s[2 * nk + i] + e[2 * nk + i]) / 6.0)
            e[nk + i] = s[nk + i] + 0.5 * ahead * (s[2 * nk + i] + e[2 * nk + i])
        for k in range(at, at + nq):
            e[k] = s[k] + 0.5 * ahead * (s[k + nq] + e[k + nq])
        if set_time(problem, trial, t + ahead) != CONVERGED:
            break
        project_end(problem, method.plan, trial)
        method.apart[0] = ahead if method.plan.sizes.shape[0] and trial.counters[ASTRAY] == astray else 0.0
    copy(e, 3 * nk, method.beside, 0, method.beside.shape[0])
    for i in range(nk):
        z[i] = 2.0 * s[2 * nk + i] - e[2 * nk + i]
    for k in range(nq):
        z[nk + k] = 2.0 * s[at + nq + k] - e[at + nq + k]


@inner
def _shift(method, problem, trial, h):
    """z for steps of another size."""
    nk, nq, rates = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY] + problem.sizes[NQ]
    s, z, factor = trial.start, method.algorithmic, h / method.length[0]
    for i in range(nk):
        z[i] = s[2 * nk + i] + factor * (z[i] - s[2 * nk + i])
    for k in range(nq):
        z[nk + k] = s[rates + k] + factor * (z[nk + k] - s[rates + k])


@inner
def step(method, problem, factor, trial, t, h, last):
    """One step, z shifted to its size, and the estimate."""
    if method.length[0] == 0.0 or trial.counters[RESTARTED] != 0:
        _first(method, problem, trial, t, h)
    elif h != method.length[0]:
        _shift(method, problem, trial, h)
    method.length[0] = h
    load(problem, trial.g, trial.start)
    begin(problem, method.coefficients, trial.g, trial.start, method.algorithmic, trial.history, h)
    guess(problem, trial.start, trial.u)
    status = set_time(problem, trial, last)
    if status == CONVERGED:
        status = solve_given(problem, factor, trial)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, trial.end)
    return CONVERGED, 0.0 if trial.counters[FORMULA] else _error(method, problem, factor, trial, h)


@inner
def _error(method, problem, factor, trial, h):
    """The estimate's norm; see the head of this file."""
    nk, nq, g, out = problem.sizes[NK], problem.sizes[NQ], trial.g, trial.out
    s, e, raw, c, rates = trial.start, trial.end, method.raw, method.constants, 3 * nk + problem.sizes[NY] + nq
    x, v, history = problem.sizes[X], problem.sizes[V], problem.sizes[HISTORY]
    for i in range(nk):
        a, rise = s[2 * nk + i], e[2 * nk + i] - s[2 * nk + i]
        raw[i] = c[1] * h * h * rise
        raw[nk + i] = c[2] * h * (rise - (method.algorithmic[i] - a) / c[0]) / c[3]
        g[x + i] += raw[i]
        g[v + i] += raw[nk + i]
    for k in range(nq):
        rate, rise = s[rates + k], e[rates + k] - s[rates + k]
        raw[2 * nk + k] = c[2] * h * (rise - (method.algorithmic[nk + k] - rate) / c[0]) / c[3]
        g[history + k] -= g[ALPHA] * raw[2 * nk + k]
    evaluate(problem.residual, trial, problem.sizes[ENTRIES])
    du, dx, dv = trial.work[0], trial.work[1], trial.work[2]
    solve(factor, trial, out[: du.shape[0]], du)
    for i in range(nk):
        dx[i], dv[i] = raw[i] - g[KX] * du[i], raw[nk + i] - g[KV] * du[i]
    widen_scales(problem, trial, e, True)
    return kept_norm(problem, trial, dx[:nk], dv[:nk], du[nk:], h)


@inner
def on_accept(method, problem, trial, h, error):
    """z of the end, rotations' one in the chart of the next step; the elementary rule, a step that would hardly grow
    stays."""
    nk, nq, rates = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY] + problem.sizes[NQ]
    s, e, z = trial.start, trial.end, method.algorithmic
    for i in range(nk):
        z[i] = averaged(method.coefficients, s[2 * nk + i], e[2 * nk + i], z[i])
    for k in range(nq):
        z[nk + k] = averaged(method.coefficients, s[rates + k], e[rates + k], z[nk + k])
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        turned = angular_acceleration(
            (e[i], e[i + 1], e[i + 2]), (e[nk + i], e[nk + i + 1], e[nk + i + 2]), (z[i], z[i + 1], z[i + 2])
        )
        z[i], z[i + 1], z[i + 2] = turned[0], turned[1], turned[2]
    copy(s, 3 * nk, method.beside, 0, method.beside.shape[0])
    method.apart[0] = -h
    follow(problem, trial, h)
    return keeps_step(proposed(error, 3.0))


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Values on the parabola through the ends and the step's begin before (at a beginning a consistent point inside),
    differentiated quantities on the cubic.

    A line would leave h^2/8 y'' between the ends, of which the error test sees nothing, and delays read it."""
    interpolate_linearly(problem, trial, theta, h, state, wanted)
    first, third = 3 * problem.sizes[NK], method.apart[0] / h
    if third != 0.0:
        bend = theta * (theta - 1.0) / (third * (third - 1.0))
        for m in range(wanted.shape[0]):
            if wanted[m] < problem.sizes[NY]:
                i = first + wanted[m]
                on_line = (1.0 - third) * trial.start[i] + third * trial.end[i]
                state[i] += bend * (method.beside[wanted[m]] - on_line)
    cubic_differentiated(problem, trial, theta, h, state, wanted)


METHOD = Method(
    "generalized_alpha", Orders(2, 2, 2), prepare, step, on_accept, dense_output, estimate=3, title="generalized-alpha",
    reason="its accelerations come from positions, and each further derivative costs an order",
    formula=True, settles=False,
)  # fmt: skip
