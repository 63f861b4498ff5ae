"""Implicit Euler with an error test: the formula of netsim.core.methods.euler, the step chosen from h/2 times the
change of the rates. Order 1."""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.contract import held, proposed, straight
from netsim.core.method import TRAPEZOID, Method, Orders, Setting
from netsim.core.methods import euler
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
    begin_stage(problem, trial, trial.start)
    euler.begin(problem, trial.g, trial.start, trial.history, h)
    status = solve_stage(problem, factor, trial, last, h)
    if status != CONVERGED:
        return status, 0.0
    keep_stage(problem, trial, trial.end)
    s, e, raw = trial.start, trial.end, method.raw
    for i in range(2 * nk):
        raw[i] = 0.5 * h * (s[nk + i] - e[nk + i])
    for k in range(nq):
        raw[2 * nk + k] = 0.5 * h * (s[at + nq + k] - e[at + nq + k])
    return CONVERGED, filtered_error(problem, factor, trial, raw, h, h)


@inner
def on_accept(method, problem, trial, h, error):
    """The elementary rule; a step that would hardly grow stays, and keeps its factor."""
    follow(problem, trial, h)
    return held(proposed(error, 2.0))


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Straight lines."""
    straight(problem, trial, theta, h, state, wanted)


METHOD = Method(
    "euler", Orders(1, 1, 1), prepare, step, on_accept, dense_output, estimate=2, work=TRAPEZOID,
    title="implicit Euler", reason="its matrix becomes ill-conditioned at the short steps of the error test",
    plain=(euler.NUMBER,),
)  # fmt: skip
