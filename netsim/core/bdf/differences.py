"""The backward differences of BDF: begun, interpolated for another step size, renewed at a step's end, turned into the
chart of another rotation.

    D^0 z = z_n,   D^(k+1) z_n = D^k z_n - D^k z_(n-1),   z = [x | v | y | q]

(Shampine and Reichelt, The MATLAB ODE suite, SIAM J. Sci. Comput. 18, 1997)
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import RESTARTED
from netsim.core.method import Setting
from netsim.core.problem import NK, NQ, NY
from netsim.core.rotation import in_chart, move_chart
from netsim.core.states import copy

Array = np.ndarray

HIGHEST = 5
ROWS = HIGHEST + 3
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
def gather(problem, state, values):
    """[x | v | y | q] of a state."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    copy(state, 0, values, 0, 2 * nk)
    copy(state, 3 * nk, values, 2 * nk, ny + problem.sizes[NQ])


@inner
def begin(method, problem, trial, h):
    """Differences of a fresh start: the state and h times its rates (those of values are not known)."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    d, s = method.differences, trial.start
    for k in range(ROWS):
        for i in range(d.shape[1]):
            d[k, i] = 0.0
    gather(problem, s, d[0])
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
def rescale(method, h):
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
def predict(method, order):
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
def renew(method, problem, trial):
    """Differences at the step's end (after a projection, if there was one)."""
    memory, d, n = method.memory, method.differences, method.renewed
    if memory[UPDATED] == 1.0:
        return
    memory[UPDATED] = 1.0
    order = int(memory[ORDER_NOW])
    gather(problem, trial.end, method.spread)
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
def move_charts(method, problem, trial):
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
