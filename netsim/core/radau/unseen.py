"""What the estimate of Radau's error does not see of a kink of rates, from rates that the step before had.

The estimate is K h D[0, c1, c2, 1] with the third divided difference D of rates f at these nodes (in steps), K = -1/10,
filtered. Over a kink at the share theta of a step it is 2.6 times the error on average, but changes its sign at theta =
0.43, where the error is nearly the largest. A step is tried with one size after the other until its error seems small,
so that this place is found by one kink in twenty. The same difference at other nodes, D[-r (1 - c2), 0, c1, c2] with
the second stage of the step before, r times as long, changes its sign elsewhere; the larger of both is less than the
error at 1 % of all theta, less than a third of it nowhere. For smooth rates both are K h f'''/6 + O(h^2): the second
one counts, entry by entry, where it is `BLIND` times the first. It costs no evaluation. Positions have no kink, and the
rates of rotations are in another chart in each step.
"""

from netsim.core.compiled.function import inner
from netsim.core.contract import REFUSED, RESTARTED
from netsim.core.problem import NK, NQ
from netsim.core.radau.arrays import LAST_H, SMOOTH, C

BLIND = 3.0
"""Smooth rates differ by less from one half of a step to the next, but where f''' changes its sign."""
K = -0.1
"""The estimate's factor of the third divided difference, before its filter."""


@inner
def weights_of(method, trial, h):
    """K times the weights of f(-r (1 - c2)), f(0), f(c1) and f(c2) in their third divided difference; 0 where the step
    before is of no use: behind a restart, and where it was refused, since a kink may be in it."""
    if trial.counters[RESTARTED] != 0 or method.memory[SMOOTH] == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    a, b, c = -method.memory[LAST_H] / h * (1.0 - C[1]), C[0], C[1]
    return (
        K / (a * (a - b) * (a - c)),
        -K / (a * b * c),
        K / ((b - a) * b * (b - c)),
        K / ((c - a) * c * (c - b)),
    )


@inner
def larger(own, other):
    """The estimate's own difference of an entry, or the other one where that is many times as large."""
    return other if abs(other) > BLIND * abs(own) else own


@inner
def accelerations(method, k, v0, h):
    """What k's velocities at the stages make its accelerations at the first two."""
    w = method.w
    d0, d1, d2 = (method.v[0, k] - v0) / h, (method.v[1, k] - v0) / h, (method.v[2, k] - v0) / h
    return w[0, 0] * d0 + w[0, 1] * d1 + w[0, 2] * d2, w[1, 0] * d0 + w[1, 1] * d1 + w[1, 2] * d2


@inner
def see_in_motion(method, problem, trial, h, weights, differences):
    """Let kinks of accelerations count in the estimate's `differences` of velocities."""
    nk, start, turning = problem.sizes[NK], trial.start, 0
    for k in range(nk if weights[0] != 0.0 else 0):
        while turning < problem.rotations.shape[0] and problem.rotations[turning] + 2 < k:
            turning += 1
        if turning < problem.rotations.shape[0] and problem.rotations[turning] <= k:
            continue
        first, second = accelerations(method, k, start[nk + k], h)
        other = weights[0] * method.before[k] + weights[1] * start[2 * nk + k]
        differences[k] = larger(differences[k], other + weights[2] * first + weights[3] * second)


@inner
def remember(method, problem, trial, h):
    """The rates at the second stage of an accepted step, and whether a kink may be in it."""
    nk, nq = problem.sizes[NK], problem.sizes[NQ]
    for k in range(nk):
        _, method.before[k] = accelerations(method, k, trial.start[nk + k], h)
    for c in range(nq):
        method.before[nk + c] = method.rate[1, c]
    method.memory[SMOOTH] = 0.0 if trial.counters[REFUSED] else 1.0
