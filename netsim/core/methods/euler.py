"""Implicit Euler, exactly as in Fedoruk et al. 2013: a = (v - v_prev)/h, x = x_prev + h v, q' = (q - q_prev)/h.

For a mass this is F = m/h (V - V_prev), for a spring F = F_prev + c h V. Order 1. Without a given step, the error test
goes by h/2 times the change of the rates.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import FORMULA, interpolate_linearly, keeps_step, proposed
from netsim.core.method import TRAPEZOID, Method, Orders, Setting
from netsim.core.methods.single import begin_stage, filtered_error, keep_stage, solve_stage
from netsim.core.newton import CONVERGED
from netsim.core.problem import NK, NQ, NY
from netsim.core.states import follow

Array = np.ndarray


class ImplicitEuler(NamedTuple):
    """Room for the raw estimate [x | v | q]."""

    raw: Array


def prepare(setting: Setting) -> Struct:
    """The arrays of one run."""
    return struct_of(ImplicitEuler(np.zeros(2 * setting.nk + setting.nq)))


@inner
def step(method, problem, factor, trial, t, h, last):
    """One step; the estimate compares it with the trapezoidal rule."""
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    s, e, raw, history = trial.start, trial.end, method.raw, trial.history
    begin_stage(problem, trial, s)
    for i in range(nk):
        history[i], history[nk + i], history[2 * nk + i] = s[i], 0.0, -s[nk + i] / h
    for k in range(nq):
        history[3 * nk + k] = -s[at + k] / h
    status = solve_stage(problem, factor, trial, last, h)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, trial.end)
    if trial.counters[FORMULA]:
        return CONVERGED, 0.0
    for i in range(2 * nk):
        raw[i] = 0.5 * h * (s[nk + i] - e[nk + i])
    for k in range(nq):
        raw[2 * nk + k] = 0.5 * h * (s[at + nq + k] - e[at + nq + k])
    return CONVERGED, filtered_error(problem, factor, trial, raw, h, h)


@inner
def on_accept(method, problem, trial, h, error):
    """The elementary rule; a step that would hardly grow stays, and keeps its factor."""
    follow(problem, trial, h)
    return keeps_step(proposed(error, 2.0))


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Straight lines."""
    interpolate_linearly(problem, trial, theta, h, state, wanted)


METHOD = Method(
    "euler", Orders(1, 1, 1), prepare, step, on_accept, dense_output, estimate=2, work=TRAPEZOID, formula=True,
    title="implicit Euler", reason="its matrix becomes ill-conditioned at the short steps of the error test",
)  # fmt: skip
