"""TR-BDF2: the trapezoidal rule to t + c h, c = 2 - sqrt 2, then the second backward difference; both with one matrix.
Order 2, L-stable.

    z_c = z + (c h/2) (z' + z_c'),   z+ = (z_c - (1 - c)^2 z)/(c (2 - c)) + (c h/2) z+'        z: x, v and the
    differentiated quantities

For circuits at moderate accuracy: it damps what the trapezoidal rule lets ring, and loses nothing of slow oscillations.
First guesses of values by the parabola and the cubic through stages and ends of before.
Error estimate by the embedded formula of order 3, filtered. Sources: R. Bank et al., Transient simulation of silicon
devices and circuits, IEEE Trans. CAD 4, 1985; M. Hosea, L. Shampine, Analysis and implementation of TR-BDF2, Appl.
Numer. Math. 20, 1996.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import RESTARTED, UNSOLVED, cubic_differentiated, keeps_step, proposed
from netsim.core.method import Method, Orders, Setting
from netsim.core.methods.prediction import combine, weights
from netsim.core.methods.single import begin_stage, filtered_error, keep_stage, solve_stage
from netsim.core.newton import CONVERGED
from netsim.core.problem import NK, NQ, NY
from netsim.core.states import copy, follow

Array = np.ndarray

C = 2.0 - np.sqrt(2.0)
D = C / 2.0
W = np.sqrt(2.0) / 4.0

INNER, BEGINNING, INNER_BEFORE, BEGINNING_BEFORE = range(4)
"""Rows of the points for predictions."""
LENGTH, STEPS = range(2)
"""Positions in the memory."""


class TrBdf2(NamedTuple):
    """The state of the inner stage; room for the raw estimate [x | v | q]; values for predictions, a row a point (this
    inner stage, the beginning, the inner stage before, the beginning before), their instants and weights; (length of
    the last step, steps since nothing of before may be used, at most two)."""

    inner: Array
    raw: Array
    points: Array
    instants: Array
    weights: Array
    memory: Array


def prepare(setting: Setting) -> Struct:
    """The arrays of one run."""
    inner_, raw, points = np.zeros(setting.length), np.zeros(2 * setting.nk + setting.nq), np.zeros((4, setting.ny))
    return struct_of(TrBdf2(inner_, raw, points, np.zeros(4), np.zeros(4), np.zeros(2)))


@inner
def _predict(method, problem, trial, t, first):
    """Values of the next stage, t behind the step's beginning, by the polynomial through the points from row `first`
    on; what the guess was where steps begin anew, and where Newton's method has just failed.

    Values where a run begins anew may be those before a jump: they are no point."""
    memory, instants, found = method.memory, method.instants, method.weights
    if trial.counters[RESTARTED] != 0 or trial.counters[UNSOLVED] > 0 or memory[STEPS] == 0.0:
        return
    copy(trial.start, 3 * problem.sizes[NK], method.points[BEGINNING], 0, problem.sizes[NY])
    instants[BEGINNING], instants[INNER_BEFORE] = 0.0, (C - 1.0) * memory[LENGTH]
    instants[BEGINNING_BEFORE] = -memory[LENGTH]
    count = (BEGINNING_BEFORE if memory[STEPS] == 1.0 else BEGINNING_BEFORE + 1) - first
    weights(instants[first:], count, t, found)
    combine(problem, found, method.points[first:], count, trial.u)


@inner
def step(method, problem, factor, trial, t, h, last):
    """Both stages, and the estimate from the rates at the beginning, inside and at the end."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    s, m, e, history, at, length = trial.start, method.inner, trial.end, trial.history, 3 * nk + ny, D * h
    begin_stage(problem, trial, s)
    _predict(method, problem, trial, C * h, INNER + 1)
    for i in range(nk):
        history[i] = s[i] + length * s[nk + i]
        history[nk + i] = 0.0
        history[2 * nk + i] = -s[nk + i] / length - s[2 * nk + i]
    for k in range(nq):
        history[3 * nk + k] = -s[at + k] / length - s[at + nq + k]
    status = solve_stage(problem, factor, trial, t + C * h, length)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, m)
    copy(m, 3 * nk, method.points[INNER], 0, ny)
    method.instants[INNER] = C * h
    _predict(method, problem, trial, h, INNER)
    near, far = 1.0 / (C * (2.0 - C)), (1.0 - C) ** 2 / (C * (2.0 - C))
    for i in range(nk):
        history[i] = near * m[i] - far * s[i]
        history[2 * nk + i] = -(near * m[nk + i] - far * s[nk + i]) / length
    for k in range(nq):
        history[3 * nk + k] = -(near * m[at + k] - far * s[at + k]) / length
    status = solve_stage(problem, factor, trial, last, length)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, e)
    raw = method.raw
    for i in range(2 * nk):
        raw[i] = h * ((1.0 - 4.0 * W) * s[nk + i] + m[nk + i] - 2.0 * D * e[nk + i]) / 3.0
    for k in range(at + nq, at + 2 * nq):
        raw[2 * nk + k - at - nq] = h * ((1.0 - 4.0 * W) * s[k] + m[k] - 2.0 * D * e[k]) / 3.0
    return CONVERGED, filtered_error(problem, factor, trial, raw, length, h)


@inner
def on_accept(method, problem, trial, h, error):
    """The elementary rule; a step that would hardly grow stays, and keeps its factor."""
    nk, ny, memory, points = problem.sizes[NK], problem.sizes[NY], method.memory, method.points
    copy(method.inner, 3 * nk, points[INNER_BEFORE], 0, ny)
    copy(trial.start, 3 * nk, points[BEGINNING_BEFORE], 0, ny)
    memory[LENGTH], memory[STEPS] = h, 1.0 if trial.counters[RESTARTED] != 0 else 2.0
    follow(problem, trial, h)
    return keeps_step(proposed(error, 3.0))


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Values on the parabola through beginning, stage and end; differentiated quantities on the cubic of both ends."""
    s = theta
    a, b, c = (s - C) * (s - 1.0) / C, s * (s - 1.0) / (C * (C - 1.0)), s * (s - C) / (1.0 - C)
    for m in range(wanted.shape[0]):
        if wanted[m] < problem.sizes[NY]:
            i = 3 * problem.sizes[NK] + wanted[m]
            state[i] = a * trial.start[i] + b * method.inner[i] + c * trial.end[i]
    cubic_differentiated(problem, trial, theta, h, state, wanted)


METHOD = Method(
    "trbdf2", Orders(2, 2, 0), prepare, step, on_accept, dense_output, estimate=3, highest_index=2, caution=0.25,
    reason="the accelerations of constrained masses would oscillate from step to step",
)  # fmt: skip
