"""The second backward difference in given steps of any length (order 2, L-stable at equal steps), written from CONTRIBUTING.md.

    z+ = ((1 + w)^2 z - w^2 z-)/(1 + 2 w) + b h z+',    b = (1 + w)/(1 + 2 w),    w = h/h-        z: x, v and the differentiated quantities

z- is the state before z, h- the step between them. The first step behind a start or an event has w = 0: implicit Euler.
Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, 1993, sec. III.5.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import struct_of
from netsim.core.contract import cubic_differentiated, earlier, interpolate_linearly
from netsim.core.method import Method, Orders
from netsim.core.methods.single import begin_stage, keep_stage, solve_stage
from netsim.core.newton import CONVERGED
from netsim.core.problem import NK, NQ, NY
from netsim.core.states import follow


class Bdf2(NamedTuple):
    """Room for the known part of z+."""

    known: np.ndarray


def prepare(setting):
    """The arrays of one run."""
    return struct_of(Bdf2(np.zeros(setting.length)))


@inner
def step(method, problem, factor, trial, t, h, last):
    """One stage at the end of the step."""
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    s, known, history = trial.start, method.known, trial.history
    w = h / trial.spans[0] if earlier(trial) else 0.0
    step = h * (1.0 + w) / (1.0 + 2.0 * w)
    for i in range(s.shape[0]):
        before = trial.earlier[0, i] if w else 0.0
        known[i] = ((1.0 + w) ** 2 * s[i] - w * w * before) / (1.0 + 2.0 * w)
    begin_stage(problem, trial, s)
    for i in range(nk):
        history[i], history[nk + i], history[2 * nk + i] = known[i], 0.0, -known[nk + i] / step
    for k in range(nq):
        history[3 * nk + k] = -known[at + k] / step
    status = solve_stage(problem, factor, trial, last, step)
    if status == CONVERGED:
        keep_stage(problem, trial, trial.end)
    return status, 0.0


@inner
def on_accept(method, problem, trial, h, error):
    """The end becomes the next beginning."""
    follow(problem, trial, h)
    return 1.0


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Values on the line between the ends, differentiated quantities on the cubic."""
    interpolate_linearly(problem, trial, theta, h, state, wanted)
    cubic_differentiated(problem, trial, theta, h, state, wanted)


METHOD = Method("bdf2", Orders(2, 2, 2), prepare, step, on_accept, dense_output, earlier=1)
