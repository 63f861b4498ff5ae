"""A run begun anew with other parameter values, in compiled code: its consistent start, sizes, first step, the values
of its pivots and its first sample, in the arrays of a run that has been begun before (netsim.simulate.run_template).
"""

from typing import NamedTuple

import numpy as np

from netsim.core.begin.stages import define, solve_start
from netsim.core.begin.step_responses import set_rounding, set_step_responses
from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import FORMULA
from netsim.core.linear.factors import refactor
from netsim.core.loop.adaptive import first_size
from netsim.core.loop.control import FIXED, SIZE, STOP
from netsim.core.loop.sampler import store_row
from netsim.core.loop.turnover import begin_turnover
from netsim.core.newton import CONVERGED, set_time
from netsim.core.problem import ALPHA, ENTRIES, HISTORY, KA, KV, KX, NK, NNZ, NQ, NY, PAST
from netsim.core.scales import SO_FAR, set_scales
from netsim.core.states import load, store_in_state

Array = np.ndarray
PIVOT_QUALITY = 1e-6
"""Pivots of a lower quality do not serve the first step."""
BEGUN, TABLE, START, FAR, PIVOTS = range(5)
"""What `begin` answers: all is done; or why not: a table does not reach, a stage is not settled here, a quantity starts
far from its operating point, the pivots do not serve."""


class VariantStart(NamedTuple):
    """What a run begins with: the global vector before its start and, found here, behind it; sizes that sources give
    kinds; places in g of what may start far from its operating point, and what is far; how many of the start's stages
    belong to the static solution; 1/power of the error with the step."""

    first: Array
    point: Array
    given: Array
    far: Array
    far_from: Array
    resting: Array
    order: Array


@inner
def begin(beginning, start, answers, problem, factor, trial, control, sampler):
    """The run at t = 0 with the parameters that its calls read; what is not BEGUN leaves arrays of no use."""
    found = _start(beginning, start, problem, trial.g)
    if found != BEGUN:
        return found
    store_in_state(problem, trial.g, trial.start)
    for i in range(trial.start.shape[0]):
        trial.end[i] = trial.middle[i] = trial.start[i]
    size = control.numbers[FIXED]
    if trial.counters[FORMULA] == 0:
        size = _first_scales(beginning, answers, problem, trial, control)
        if not _first_pivots(problem, factor, trial, size):
            return PIVOTS
    control.numbers[SIZE] = size
    set_time(problem, trial.g, 0.0)
    store_row(problem, trial, sampler, 0, 0.0)
    for a in range(sampler.power.shape[0]):
        begin_turnover(sampler.turnover[a], sampler.power[a])
    return BEGUN


@inner
def _start(beginning, start, problem, g):
    """The consistent start, in g and in `point`."""
    for i in range(g.shape[0]):
        g[i] = beginning.first[i]
    if set_time(problem, g, 0.0) != CONVERGED:
        return TABLE
    if not solve_start(start, g, 0, beginning.resting[0]):
        return START
    for i in range(beginning.far.shape[0]):
        if abs(g[beginning.far[i]]) > beginning.far_from[i]:
            return FAR
    g[PAST] = 1.0
    set_time(problem, g, 0.0)
    define(start, g)
    if not solve_start(start, g, beginning.resting[0], start.stages.shape[0]):
        return START
    define(start, g)
    for i in range(g.shape[0]):
        beginning.point[i] = g[i]
    return BEGUN


@inner
def _first_scales(beginning, answers, problem, trial, control):
    """Scales of errors with what start and sources will move and what rounding leaves; the size of the first step."""
    for i in range(trial.largest.shape[0]):
        trial.largest[i] = 0.0
    for k in range(trial.sizes.shape[1]):
        for row in range(trial.sizes.shape[0]):
            trial.sizes[row, k] = 0.0
        trial.sizes[SO_FAR, k] = beginning.given[k]
    set_scales(problem, trial)
    set_step_responses(problem, trial, answers)
    set_scales(problem, trial)
    size = control.numbers[FIXED]
    if size == 0.0:
        size = first_size(problem, trial, control.numbers[STOP], beginning.order[0])
    set_rounding(problem, trial, answers, size, 0.0)
    return size


@inner
def _first_pivots(problem, factor, trial, h):
    """The factor of the matrix of a step of size h from here, on its pivots; False where they do not serve."""
    g, out = trial.g, trial.out
    load(problem, g, trial.start)
    set_time(problem, g, 0.0)
    g[KX], g[KV], g[KA], g[ALPHA] = 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h
    at, nq = 3 * problem.sizes[NK] + problem.sizes[NY], problem.sizes[NQ]
    for q in range(nq):
        g[problem.sizes[HISTORY] + q] = trial.start[at + nq + q] - trial.start[at + q] / h
    for i in range(out.shape[0]):
        out[i] = 0.0
    run_table(problem.jacobian, g, out)
    first = problem.sizes[ENTRIES]
    return refactor(factor, out[first : first + problem.sizes[NNZ]]) > PIVOT_QUALITY
