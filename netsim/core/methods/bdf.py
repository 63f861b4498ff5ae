"""Backward differentiation formulas of order 1 to 5 with variable step and order, in backward differences of
quasi-constant step.

    sum_{k=1..p} (1/k) D^k z_{n+1} = h z'_{n+1}         z: x, v and the differentiated quantities; D: differences

With the predictor z0 = sum D^k z_n and g_k = 1 + ... + 1/k the formula is g_p (z - z0) + sum g_k D^k z_n = h z', the
error d/(p + 1), d = z - z0. A new step size interpolates the differences. Rotations keep their chart until |psi| > 0.5;
then every point of the history, being a rotation, is expressed exactly in the new one: cay(psi_k) cay(psi_0)^-1. Order
p for index 1 and 2, and for index 3 after p + 1 equal steps; every step ends in a projection of velocities. Good for
large networks at moderate accuracy: one system per step. Sources: L. Shampine, M. Reichelt, The MATLAB ODE suite, SIAM
J. Sci. Comput. 18, 1997 (quasi-constant steps); Brenan, Campbell, Petzold, Numerical Solution of IVPs in DAEs, 1996
(index 2 and 3).

d tells what a stiff part of a circuit did not settle in an earlier step, too: the charge of a diode, read by the
formula of another order or step size, is another one at once, however short the step is. So an error that is refused
again in a shorter step counts by what that step leaves of it, (1 - h/g_p J)^-1 d (`filtered_error`).
"""

import numpy as np

from netsim.core.bdf.differences import (
    BEFORE,
    BEGAN,
    EQUAL,
    HIGHEST,
    LEFT,
    LIMIT,
    ORDER_NOW,
    SAME,
    STEP,
    SUMS,
    UPDATED,
    begin,
    gather,
    move_charts,
    predict,
    prepare,
    renew,
    rescale,
)
from netsim.core.bdf.stability import BARRED, GROWTH, STABLE, USELESS, WORTH, WORTHWHILE, oscillation
from netsim.core.compiled.function import inner
from netsim.core.contract import POWER, REFUSED, RESTARTED
from netsim.core.method import Method, Orders
from netsim.core.methods.single import begin_stage, filtered_error, keep_stage, solve_stage
from netsim.core.newton import CONVERGED
from netsim.core.problem import NK, NQ, NY
from netsim.core.readings import kept_norm
from netsim.core.scales import widen_scales
from netsim.core.states import copy

CAUTION = 8.0
"""Errors of motion count so many times: they damp, all with one sign, so an oscillation adds them up (energies keep to
1e-6 at rtol = 1e-8)."""


@inner
def step(method, problem, factor, trial, t, h, last):
    """One step at the present order."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    memory, z0, history = method.memory, method.predictor, trial.history
    if memory[STEP] == 0.0 or trial.counters[RESTARTED] != 0:
        begin(method, problem, trial, h)
    elif abs(h - memory[STEP]) > 1e-12 * h:
        rescale(method, h)
    order = int(memory[ORDER_NOW])
    g = SUMS[order]
    predict(method, order)
    begin_stage(problem, trial, trial.start)
    copy(z0, nk, trial.u, 0, nk + ny)
    length, psi = h / g, method.spread
    for i in range(nk):
        history[i] = z0[i] - psi[i] / g
        history[nk + i] = 0.0
        history[2 * nk + i] = (psi[nk + i] - g * z0[nk + i]) / h
    for k in range(nq):
        at = 2 * nk + ny + k
        history[3 * nk + k] = (psi[at] - g * z0[at]) / h
    status = solve_stage(problem, factor, trial, last, length)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, trial.end)
    memory[UPDATED] = 0.0
    gather(problem, trial.end, method.spread)
    for i in range(z0.shape[0]):
        method.spread[i] = (method.spread[i] - z0[i]) / (order + 1.0)
    trial.tolerances[POWER] = order + 1.0
    return CONVERGED, _error(method, problem, factor, trial, length, h)


@inner
def _error(method, problem, factor, trial, length, h):
    """The norm of the error in method.spread, or of what a step leaves of it."""
    nk, ny, nq, e = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ], method.spread
    # behind a restart rates of values are unknown: their error follows from that of x, v and differentiated quantities
    norm = np.inf
    if trial.counters[RESTARTED] == 0:
        widen_scales(problem, trial, trial.end, True)
        norm = _norm(problem, trial, e, h)
        if norm <= 1.0 or nk > 0 or trial.counters[REFUSED] == 0:
            return norm
    copy(e, 2 * nk + ny, e, 2 * nk, nq)
    return min(norm, filtered_error(problem, factor, trial, e[: 2 * nk + nq], length, h))


@inner
def _norm(problem, trial, e, h):
    """The norm of the error e of [x | v | y | q], of motion with caution."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    for i in range(2 * nk):
        e[i] *= CAUTION
    return kept_norm(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk : 2 * nk + ny], h)


@inner
def _order_error(method, problem, trial, order, h):
    """The error norm that formulas of this order would have had."""
    for i in range(method.spread.shape[0]):
        method.spread[i] = method.differences[order + 1, i] / (order + 1.0)
    return _norm(problem, trial, method.spread, h)


@inner
def on_accept(method, problem, trial, h, error):
    """Renew the differences; after enough equal steps choose the order that allows the longest step."""
    memory, d, n = method.memory, method.differences, method.renewed
    renew(method, problem, trial)
    order = int(memory[ORDER_NOW])
    for k in range(order + 3):
        copy(n[k], 0, d[k], 0, d.shape[1])
    copy(trial.end, 0, trial.start, 0, trial.start.shape[0])
    move_charts(method, problem, trial)
    memory[EQUAL] += 1.0
    memory[SAME] += 1.0
    if memory[LEFT] == 1.0:
        memory[LEFT] = (
            BARRED if h > WORTHWHILE * memory[BEFORE] else 0.0 if memory[BEFORE] > memory[BEGAN] else -USELESS
        )
        memory[BEFORE] = h
    elif memory[LEFT] != 0.0:
        memory[LEFT] += -1.0 if memory[LEFT] > 0.0 else 1.0
    if _barred(method, problem, trial, order, h, error):
        memory[LEFT], memory[BEFORE], memory[BEGAN] = BARRED, h, h
        memory[ORDER_NOW], memory[EQUAL], memory[SAME] = STABLE, 0.0, 0.0
        return min(1.0, 0.85 * max(_order_error(method, problem, trial, STABLE, h), 1e-10) ** (-1.0 / (STABLE + 1.0)))
    if memory[EQUAL] < order + 1:
        return 1.0
    best, factor = order, max(error, 1e-10) ** (-1.0 / (order + 1.0))
    for other in (order - 1, order + 1):
        if 1 <= other <= int(STABLE if memory[LEFT] > 0.0 else memory[LIMIT]):
            found = max(_order_error(method, problem, trial, other, h), 1e-10) ** (-1.0 / (other + 1.0))
            if found > factor:
                best, factor = other, found
    memory[SAME] = memory[SAME] if best == order else 0.0
    memory[ORDER_NOW], memory[EQUAL] = best, 0.0
    factor = min(10.0, 0.85 * factor)
    return 1.0 if 0.9 < factor < 1.3 else max(0.2, factor)


@inner
def _barred(method, problem, trial, order, h, error):
    """Whether the formula itself makes an oscillation grow that no step needs to resolve."""
    memory, newest, change = method.memory, method.differences[order + 1], method.differences[order + 2]
    growth, share = 0.0, 1.0
    if memory[SAME] > 2.0:
        growth, share = oscillation(problem, trial, newest, change, method.older, order)
    for i in range(newest.shape[0]):
        method.older[i] = newest[i] - change[i]
    if order <= STABLE or growth < GROWTH or memory[LEFT] != 0.0:
        return False
    its_own = error * (order + 1.0) / (STABLE + 1.0) * share ** (STABLE - order)
    return _order_error(method, problem, trial, STABLE, h) - its_own < WORTH


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """The polynomial of the formula, for values and differentiated quantities, and its rate."""
    renew(method, problem, trial)
    nk, ny, nq, n = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ], method.renewed
    order, s, share, rate, first = int(method.memory[ORDER_NOW]), theta - 1.0, 1.0, 0.0, 3 * nk
    for m in range(wanted.shape[0]):
        i = wanted[m]
        state[first + i] = n[0, 2 * nk + i]
        if i >= ny:
            state[first + i + nq] = 0.0
    for k in range(1, order + 1):
        rate = (rate * (s + k - 1.0) + share) / k
        share *= (s + k - 1.0) / k
        row = n[k]
        for m in range(wanted.shape[0]):
            i = wanted[m]
            state[first + i] += share * row[2 * nk + i]
            if i >= ny:
                state[first + i + nq] += rate / h * row[2 * nk + i]


METHOD = Method(
    "bdf", Orders(HIGHEST, HIGHEST, HIGHEST), prepare, step, on_accept, dense_output, estimate=2, variable=True,
    caution=0.4, motion=CAUTION, reason="its matrix becomes ill-conditioned at the short steps of the error test",
)  # fmt: skip
