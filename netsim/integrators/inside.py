"""The error between a step's ends: what its polynomials miss where they are farthest from the solution.

A stiff component follows what drives it. At the stages it is where it must be, however long the step, and an estimate at the step's end that is
filtered by the matrix sees nothing of it; between the stages the polynomials do not know the drive. So they are put into the equations at one
instant more, and the residual is carried back to the values by the matrix of the step:

    e = (K + l D)^-1 F(t + theta h, y(theta), q'(theta))

For what is stiff e is the error of the polynomial there, for what is not it is small (its errors are those of the step's end). `theta`
is where the polynomial's node function is largest, so that its rate there is no error. Interpolation errors do not add up: they count against
the tolerance that was asked for, not against the one that steps are tested with. Source: W. Enright, K. Jackson, S. Norsett, P. Thomsen,
Interpolants for Runge-Kutta formulas, ACM TOMS 12, 1986 (the defect between the steps).
"""

from __future__ import annotations

import numpy as np

from netsim.integrators.contract import ASKED, REJECTED_ALWAYS, RTOL, between, set_time, solve
from netsim.integrators.states import motion_between, place
from netsim.kernels.call import inner, run_table
from netsim.solvers.machine import ENTRIES, NK
from netsim.solvers.newton import CONVERGED


@inner
def error_inside(method, problem, factor, trial, rates, t, h, theta):
    """max |e|/scale over the values that the equations differentiate; `rates`: the table of residuals. Zero where there are none."""
    count = trial.inside.shape[0]
    if count == 0 or set_time(problem, trial, t + theta * h) != CONVERGED:
        return 0.0
    nk, g, out, e, state = problem.sizes[NK], trial.g, trial.out, trial.work[0], trial.middle
    motion_between(problem, trial.start, trial.end, theta, h, state)
    between(method, problem, trial, theta, h, state, trial.whole)
    place(problem, g, state)
    for i in range(problem.sizes[ENTRIES]):
        out[i] = 0.0
    run_table(rates, g, out)
    solve(factor, trial, out[: e.shape[0]], e)
    norm = 0.0
    for m in range(count):
        i = nk + trial.inside[m]
        size = abs(e[i]) / trial.scale[nk + i]
        if not np.isfinite(size):
            return REJECTED_ALWAYS
        norm = max(norm, size)
    return norm * trial.tolerances[RTOL] / trial.tolerances[ASKED]
