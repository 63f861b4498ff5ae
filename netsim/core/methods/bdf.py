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
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import POWER, RESTARTED, error_norm
from netsim.core.method import Method, Orders, Setting
from netsim.core.methods.bdf_stability import BARRED, GROWTH, STABLE, USELESS, WORTH, WORTHWHILE, oscillation
from netsim.core.methods.single import begin_stage, filtered_error, keep_stage, solve_stage
from netsim.core.newton import CONVERGED
from netsim.core.problem import NK, NQ, NY
from netsim.core.rotation import in_chart, move_chart
from netsim.core.scales import widen
from netsim.core.states import copy

Array = np.ndarray

HIGHEST = 5
ROWS = HIGHEST + 3
CAUTION = 8.0
"""Errors of motion count so many times: they damp, all with one sign, so an oscillation adds them up (energies keep to
1e-6 at rtol = 1e-8)."""
TURN = 0.5
"""Half-way to where a chart bends the history too much: |psi| at which it moves."""

ORDER_NOW, EQUAL, STEP, UPDATED, LIMIT, SAME, LEFT, BEFORE, BEGAN = range(9)
"""Positions in the memory: order, steps since the last choice of it, step size of the differences, whether `renewed` is
done, highest order, steps of one size and order, steps for which the order is limited (negative: for which it will not
be), their size when that was last looked at, and when it began."""

SUMS = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, HIGHEST + 1))])


class Bdf(NamedTuple):
    """Differences of [x | v | y | q] by order, the same after the step, the predictor, the highest difference two steps
    ago, work arrays."""

    memory: Array
    differences: Array
    renewed: Array
    predictor: Array
    spread: Array
    older: Array
    rescale: Array
    room: Array


def prepare(setting: Setting) -> Struct:
    """The arrays of one run."""
    m = setting.n + setting.nk + setting.nq
    memory = np.zeros(9)
    memory[ORDER_NOW], memory[LIMIT] = 1.0, HIGHEST
    (d, renewed), (z0, spread, older) = np.zeros((2, ROWS, m)), np.zeros((3, m))
    return struct_of(Bdf(memory, d, renewed, z0, spread, older, np.zeros((3, ROWS * ROWS)), np.zeros((2, ROWS * 6))))


@inner
def _gather(problem, state, values):
    """[x | v | y | q] of a state."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    copy(state, 0, values, 0, 2 * nk)
    copy(state, 3 * nk, values, 2 * nk, ny + problem.sizes[NQ])


@inner
def _begin(method, problem, trial, h):
    """Differences of a fresh start: the state and h times its rates (those of values are not known)."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    d, s = method.differences, trial.start
    for k in range(ROWS):
        for i in range(d.shape[1]):
            d[k, i] = 0.0
    _gather(problem, s, d[0])
    for i in range(2 * nk):
        d[1, i] = h * s[nk + i]
    for k in range(nq):
        d[1, 2 * nk + ny + k] = h * s[3 * nk + ny + nq + k]
    memory = method.memory
    memory[ORDER_NOW], memory[EQUAL], memory[STEP], memory[SAME] = 1.0, 0.0, h, 0.0


@inner
def _power(matrix, order, factor):
    """R(factor) of Shampine and Reichelt: differences of step factor h from those of step h, with R(1)."""
    size = order + 1
    for j in range(size):
        matrix[j] = 1.0
    for i in range(1, size):
        matrix[i * size] = 0.0
        for j in range(1, size):
            matrix[i * size + j] = matrix[(i - 1) * size + j] * (i - 1.0 - factor * j) / i


@inner
def _rescale(method, h):
    """Differences for another step size."""
    memory, d, room = method.memory, method.differences, method.rescale
    order, factor = int(memory[ORDER_NOW]), h / memory[STEP]
    size = order + 1
    _power(room[0], order, factor)
    _power(room[1], order, 1.0)
    for i in range(size):
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += room[0, i * size + k] * room[1, k * size + j]
            room[2, i * size + j] = total
    for c in range(d.shape[1]):
        for i in range(size):
            total = 0.0
            for k in range(size):
                total += room[2, k * size + i] * d[k, c]
            room[0, i] = total
        for i in range(size):
            d[i, c] = room[0, i]
    memory[STEP], memory[EQUAL], memory[SAME] = h, 0.0, 0.0


@inner
def _predict(method, order):
    """z0 = sum D^k z into the predictor and sum g_k D^k z into the spread."""
    z0, spread = method.predictor, method.spread
    copy(method.differences[0], 0, z0, 0, z0.shape[0])
    for i in range(z0.shape[0]):
        spread[i] = 0.0
    for k in range(1, order + 1):
        row = method.differences[k]
        for i in range(z0.shape[0]):
            z0[i] += row[i]
            spread[i] += SUMS[k] * row[i]


@inner
def step(method, problem, factor, trial, t, h, last):
    """One step at the present order."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    memory, z0, history = method.memory, method.predictor, trial.history
    if memory[STEP] == 0.0 or trial.counters[RESTARTED] != 0:
        _begin(method, problem, trial, h)
    elif abs(h - memory[STEP]) > 1e-12 * h:
        _rescale(method, h)
    order = int(memory[ORDER_NOW])
    g = SUMS[order]
    _predict(method, order)
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
    _gather(problem, trial.end, method.spread)
    for i in range(z0.shape[0]):
        method.spread[i] = (method.spread[i] - z0[i]) / (order + 1.0)
    trial.tolerances[POWER] = order + 1.0
    e = method.spread
    if (
        trial.counters[RESTARTED] != 0
    ):  # rates of values are not known yet: their error follows from those of x, v and differentiated quantities
        copy(e, 2 * nk + ny, e, 2 * nk, nq)
        return CONVERGED, filtered_error(problem, factor, trial, e[: 2 * nk + nq], length, h)
    widen(problem, trial, trial.end, True)
    return CONVERGED, _norm(problem, trial, e, h)


@inner
def _norm(problem, trial, e, h):
    """The norm of the error e of [x | v | y | q], of motion with caution."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    for i in range(2 * nk):
        e[i] *= CAUTION
    return error_norm(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk : 2 * nk + ny], h)


@inner
def _renew(method, problem, trial):
    """Differences at the step's end (after a projection, if there was one)."""
    memory, d, n = method.memory, method.differences, method.renewed
    if memory[UPDATED] == 1.0:
        return
    memory[UPDATED] = 1.0
    order = int(memory[ORDER_NOW])
    _gather(problem, trial.end, method.spread)
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    if trial.counters[RESTARTED] != 0:
        for i in range(2 * nk, 2 * nk + ny):
            d[1, i] = method.spread[i] - d[0, i]
            method.predictor[i] = method.spread[i]
    for i in range(d.shape[1]):
        n[order + 1, i] = method.spread[i] - method.predictor[i]
        n[order + 2, i] = n[order + 1, i] - d[order + 1, i]
    for k in range(order, -1, -1):
        before, above, row = d[k], n[k + 1], n[k]
        for i in range(d.shape[1]):
            row[i] = before[i] + above[i]


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
    _renew(method, problem, trial)
    order = int(memory[ORDER_NOW])
    for k in range(order + 3):
        copy(n[k], 0, d[k], 0, d.shape[1])
    copy(trial.end, 0, trial.start, 0, trial.start.shape[0])
    _move_charts(method, problem, trial)
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
def _move_charts(method, problem, trial):
    """Where a rotation has left its chart's middle: the history in a chart at the present rotation."""
    s, d = trial.start, method.differences
    nk, quaternions = problem.sizes[NK], 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        if s[i] ** 2 + s[i + 1] ** 2 + s[i + 2] ** 2 > TURN * TURN:
            _transport(method, nk, i, s[i], s[i + 1], s[i + 2])
            method.memory[SAME] = 0.0
            move_chart(
                s[i : i + 3],
                s[nk + i : nk + i + 3],
                s[2 * nk + i : 2 * nk + i + 3],
                s[quaternions + 4 * f : quaternions + 4 * f + 4],
            )
            for k in range(3):
                d[0, i + k], d[0, nk + i + k] = s[i + k], s[nk + i + k]


@inner
def _transport(method, nk, i, p0, p1, p2):
    """Points of the history from their differences, each turned into the new chart, and back."""
    points = method.room[0]
    count = int(method.memory[ORDER_NOW]) + 3
    _binomial(method.differences, points, nk, i, count, True)
    for j in range(count):
        rates = (points[6 * j + 3], points[6 * j + 4], points[6 * j + 5])
        psi = (points[6 * j], points[6 * j + 1], points[6 * j + 2])
        turned, rate, _ = in_chart((p0, p1, p2), psi, rates, rates)
        points[6 * j], points[6 * j + 1], points[6 * j + 2] = turned
        points[6 * j + 3], points[6 * j + 4], points[6 * j + 5] = rate
    _binomial(method.differences, points, nk, i, count, False)


@inner
def _binomial(d, points, nk, i, count, out):
    """z_{n-j} = sum_k (-1)^k binomial(j, k) D^k, and the same the other way round (it is its own inverse)."""
    for j in range(count):
        for c in range(6):
            column = i + c if c < 3 else nk + i + c - 3
            total, weight = 0.0, 1.0
            for k in range(j + 1):
                total += weight * (d[k, column] if out else points[6 * k + c])
                weight *= -(j - k) / (k + 1.0)
            if out:
                points[6 * j + c] = total
            else:
                d[j, column] = total


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """The polynomial of the formula, for values and differentiated quantities, and its rate."""
    _renew(method, problem, trial)
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
