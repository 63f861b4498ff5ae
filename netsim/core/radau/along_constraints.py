"""Errors of velocities along constraints, in a step of Radau IIA (netsim.core.methods.radau)."""

from netsim.core.compiled.function import inner
from netsim.core.contract import solve
from netsim.core.problem import NK
from netsim.core.radau.stages import rounding_of_positions

WEIGHT = 0.5
"""With all of its weight the error along constraints would shorten the steps of smooth motions by a fifth, whose
velocities are exact far beyond the tolerance."""


@inner
def error_along_constraints(method, problem, factor, trial, h):
    """The largest error of a velocity of index 2, in its scale: of d with l^2 M d + G^T m = l^2 M dv, G d = 0, where dv
    is the estimate and l = g/h, so that the matrix K + l D + l^2 M of the step serves.

    The estimate itself counts as the change of position that it makes over the step (`error_norm`): what constraints
    make of it is of a lower order. Along them it is none, and is all that tells of a force that bends inside a step.
    0 without such velocities, and for what is the rounding of positions."""
    nk, dv, r, d = problem.sizes[NK], method.error[1], trial.work[4], trial.work[5]
    bound = False
    for k in range(nk):
        bound = bound or trial.exponent[nk + k] == 1
    if not bound:
        return 0.0
    rate, norm = method.eigenvalues[0] / h, 0.0
    for i in range(r.shape[0]):
        r[i] = 0.0
    for j in range(nk):
        for p in range(problem.indptr[j], problem.indptr[j + 1]):
            r[problem.indices[p]] += rate * rate * method.powers[2, p] * dv[j]
    solve(factor, trial, r, d)
    for k in range(nk):
        size = abs(d[k]) / trial.scale[nk + k]
        if trial.exponent[nk + k] == 1 and size > norm:  # not max(): that of a number and NaN may be NaN
            norm = size
    return WEIGHT * norm if norm > rounding_of_positions(method, problem, trial, h) else 0.0
