"""First guesses of Newton's method: polynomials through the last points, as SPICE predicts node voltages.

    y(t) ~ sum_k w_k y_k,   w_k = prod_{j != k} (t - t_j)/(t_k - t_j)

Points are ends and stages of steps, where all equations hold, so that algebraic values are predicted like states.
"""

from netsim.core.compiled.function import inner
from netsim.core.problem import NK, NY


@inner
def weights(instants, count, t, found):
    """w_k of the first `count` instants at t."""
    for k in range(count):
        found[k] = 1.0
        for j in range(count):
            if j != k:
                found[k] *= (t - instants[j]) / (instants[k] - instants[j])


@inner
def combine(problem, found, points, count, u):
    """Values of the guess u from those in the first `count` rows of `points`."""
    nk = problem.sizes[NK]
    for i in range(problem.sizes[NY]):
        total = 0.0
        for k in range(count):
            total += found[k] * points[k, i]
        u[nk + i] = total
