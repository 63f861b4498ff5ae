"""What the step's polynomials leave of the equations inside a step: F(t + theta h, x, x', x'', y, q') at them, through
the step's own matrix.

An error test looks at the ends and stages of a step. A force that acts on a short stretch only, and a value that
follows others at once (y = sin(u) of an integrator's ramp), may do anything between them. So the polynomials are put
into the equations there, and the correction that one Newton step would make is held against the tolerances (Enright,
Continuous numerical methods for ODEs with defect control, 2000). What every stretch of `SPACING` seconds contains is
looked at. A shorter step is looked into for its values alone, where any has a limit, with the motion as it is: that is
as smooth as its masses are heavy, and the rounding of positions over h^2 would say nothing. Nodes without mass are
settled first, as they are for samples: values that follow their velocities would be measured by an acceleration that
no equation knows.

Values and the quantities differentiated of them have polynomials of their own, which agree at the nodes of a step. Over
a kink of a charge, or where it curves, one of them is far off between the nodes, and rates do not know. So rates pull
values towards the polynomials of what is differentiated, as the step's formula does: q' + alpha (q(y) - q).
"""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.contract import (
    CURVED,
    FACTOR_ALPHA,
    FACTORISATIONS,
    FAINTEST,
    JUDGED,
    REJECTED_ALWAYS,
    RESTARTED,
    RTOL,
    STAYS,
    dense_output,
    refactor,
    set_time,
    solve,
)
from netsim.core.loop.control import AT_ONCE, EDGE, LIGHT, SPACING, WITHIN
from netsim.core.newton import CONVERGED, PIVOT_QUALITY
from netsim.core.problem import ALPHA, ENTRIES, HISTORY, KV, KX, NK, NNZ, NQ, NY, Y
from netsim.core.states import motion_between, place

FAR, NEAR, MOST = 0.86, 0.35, 1000
"""Where in its part of a step an instant lies: where the polynomials of Radau's stages are farthest from what they
follow, for values that follow others at once or charges by laws that curve (they may bend anywhere) also where they are
so between the first two; and how many instants there are at most."""
SETTLED = 1e-3
"""Tolerances by which the last correction of a node without mass moves it."""
CORRECTIONS = 8
"""So many corrections by the step's matrix lead a sample to its equations, or none does."""


@inner
def defect(method, problem, factor, trial, control, t, h):
    """The largest correction inside the step, as a multiple of what `control.limits` allows; 0 where nothing is
    limited."""
    if control.limits.shape[0] == 0:
        return 0.0
    count = min(MOST, max(1, int(np.ceil(h / control.numbers[SPACING]))))
    worst = 0.0
    first = problem.sizes[NK] if count == 1 else 0
    if count == 1 and not control.places[WITHIN]:
        return 0.0
    for k in range(count):
        worst = max(worst, _judged(method, problem, factor, trial, control, first, t, h, (k + FAR) / count))
        if worst > 1.0:
            return worst
    bends = control.places[AT_ONCE] or (trial.counters[CURVED] > 0 and problem.sizes[NQ] > 0)
    if count == 1 and bends:
        worst = max(worst, _judged(method, problem, factor, trial, control, first, t, h, NEAR))
    return worst


@inner
def _judged(method, problem, factor, trial, control, first, t, h, theta):
    """The correction at t + theta h, as a multiple of what is allowed. Where a small one stays it is that of another
    branch of a law, and the derivatives at that very point have the word."""
    missed = correction(method, problem, factor, trial, control, first, t, h, theta, 1)
    alpha = trial.tolerances[FACTOR_ALPHA]
    if missed > 1.0 or problem.sizes[NK] or not trial.counters[CURVED] or alpha == 0.0:
        return missed
    if not _stays(problem, factor, trial):
        return missed
    return max(missed, _by_own(problem, factor, trial, control, h, alpha))


@inner
def _stays(problem, factor, trial):
    """Whether the correction in trial.work[0], once made, is asked for again, beyond rounding; g is that of the
    correction."""
    g, out, e, ahead, y = trial.g, trial.out, trial.work[0], trial.work[4], problem.sizes[Y]
    for i in range(e.shape[0]):
        g[y + i] -= e[i]
    _evaluate(problem.residual, g, out, problem.sizes[ENTRIES])
    solve(factor, trial, out[: e.shape[0]], ahead)
    for i in range(e.shape[0]):
        if abs(ahead[i]) > STAYS * abs(e[i]) and abs(ahead[i]) * trial.tolerances[RTOL] > FAINTEST * trial.scale[i]:
            return True
    return False


@inner
def _by_own(problem, factor, trial, control, h, alpha):
    """The correction at trial.middle by the derivatives there. The factor is then no longer that of the step."""
    g, out, entries, nnz = trial.g, trial.out, problem.sizes[ENTRIES], problem.sizes[NNZ]
    _place_bound(problem, g, trial.middle, alpha)
    _evaluate(problem.jacobian, g, out, entries + nnz + 1)
    trial.tolerances[FACTOR_ALPHA] = 0.0
    trial.counters[FACTORISATIONS] += 1
    if refactor(factor, trial, out[entries : entries + nnz]) < PIVOT_QUALITY:
        return REJECTED_ALWAYS
    return _missed(problem, factor, trial, control, 0, h, alpha)


@inner
def _place_bound(problem, g, state, alpha):
    """Place a state with rates that pull values towards the differentiated quantities of the polynomials, as those of
    the step's formula do: q' + alpha (q(y) - q)."""
    place(problem, g, state)
    history, at = problem.sizes[HISTORY], 3 * problem.sizes[NK] + problem.sizes[NY]
    g[ALPHA] = alpha
    for k in range(problem.sizes[NQ]):
        g[history + k] -= alpha * state[at + k]


@inner
def _evaluate(table, g, out, count):
    for i in range(count):
        out[i] = 0.0
    run_table(table, g, out)


@inner
def correction(method, problem, factor, trial, control, first, t, h, theta, judged):
    """The correction at t + theta h of the unknowns from `first` on, as a multiple of what is allowed; with slopes of
    differentiated quantities as their rates where `judged` is 1."""
    motion_between(problem, trial.start, trial.end, theta, h, trial.middle)
    trial.counters[JUDGED] = judged
    dense_output(method, problem, trial, theta, h, trial.middle, trial.whole)
    trial.counters[JUDGED] = 0
    if set_time(problem, trial, t + theta * h) != CONVERGED:
        return REJECTED_ALWAYS
    if control.places[LIGHT]:
        settle_massless(problem, factor, trial, control, theta, h)
    return _missed(problem, factor, trial, control, first, h, trial.tolerances[FACTOR_ALPHA])


@inner
def correct_start(method, problem, factor, trial, control, t, h):
    """Give values that follow others at once what they have just behind a time event or a start, where they are off.

    They jump there where rates do (the current of a capacitor whose voltage begins to rise), and where no consistent
    point was found behind the jump the step begins with what was before it. No shorter step has a smaller defect then.
    What is merely coarse begins right, and nothing changes."""
    if not trial.counters[RESTARTED] or not control.places[AT_ONCE]:
        return
    nk, e, start = problem.sizes[NK], trial.work[0], trial.start
    missed = correction(method, problem, factor, trial, control, nk, t, h, EDGE * max(abs(t), h) / h, 1)
    if not 1.0 < missed < REJECTED_ALWAYS:
        return
    for i in range(nk, e.shape[0]):
        if control.light[2, i] > 0.0 and abs(e[i]) > control.limits[i] * trial.scale[nk + i]:
            start[2 * nk + i] -= e[i]


@inner
def corrected(method, problem, factor, trial, control, t, h, theta):
    """Values at t + theta h into trial.middle and g, for which the equations hold, as far as corrections by the step's
    own matrix lead there.

    Where they grow, values that the polynomials miss are those on the straight line between the ends; False then."""
    first, at, e, middle = problem.sizes[NK], 2 * problem.sizes[NK], trial.work[0], trial.middle
    missed = correction(method, problem, factor, trial, control, first, t, h, theta, 0)
    for _ in range(CORRECTIONS):
        if missed <= 1.0:
            break
        for i in range(first, e.shape[0]):
            middle[at + i] -= e[i]
        before = missed
        missed = _missed(problem, factor, trial, control, first, h, trial.tolerances[FACTOR_ALPHA])
        if not missed <= 0.9 * before:
            break
    if missed <= 1.0:
        place(problem, trial.g, middle)
        return True
    correction(method, problem, factor, trial, control, first, t, h, theta, 0)
    for i in range(first, e.shape[0]):
        if not abs(e[i]) <= control.limits[i] * trial.scale[problem.sizes[NK] + i]:
            middle[at + i] = (1.0 - theta) * trial.start[at + i] + theta * trial.end[at + i]
    place(problem, trial.g, middle)
    return False


@inner
def settle_massless(problem, factor, trial, control, theta, h):
    """Let the balances of nodes without mass hold at trial.middle, by corrections by the step's own matrix.

    Such a node follows its springs within d/c, which may be far less than a step. Its position between the ends is then
    what its springs say, and no polynomial knows it well enough for v = (F - c x)/d. They begin at the cubic through x
    and v of both ends, since its accelerations are in no equation."""
    g, out, e, nk, middle = trial.g, trial.out, trial.work[0], problem.sizes[NK], trial.middle
    for i in range(nk):
        if control.light[1, i] > 0.0:
            rise, v0, v1 = (trial.end[i] - trial.start[i]) / h, trial.start[nk + i], trial.end[nk + i]
            bend, turn = 3.0 * rise - 2.0 * v0 - v1, v0 + v1 - 2.0 * rise
            middle[i] = trial.start[i] + h * theta * (v0 + theta * (bend + theta * turn))
            middle[nk + i] = v0 + theta * (2.0 * bend + theta * 3.0 * turn)
    before = np.inf
    for _ in range(CORRECTIONS):
        place(problem, g, middle)
        _evaluate(problem.residual, g, out, problem.sizes[ENTRIES])
        for i in range(e.shape[0]):
            out[i] *= control.light[0, i]
        solve(factor, trial, out[: e.shape[0]], e)
        worst = 0.0
        for i in range(nk):
            e[i] *= control.light[1, i]
            worst = max(worst, abs(g[KX] * e[i]) / trial.scale[i], abs(g[KV] * e[i]) / trial.scale[nk + i])
        if not worst <= 0.9 * before:
            return
        for i in range(nk):
            middle[i] -= g[KX] * e[i]
            middle[nk + i] -= g[KV] * e[i]
        if worst <= SETTLED:
            return
        before = worst


@inner
def _missed(problem, factor, trial, control, first, h, alpha):
    """The correction of trial.middle into trial.work[0], and its size; multipliers, which no polynomial follows, have
    no limit."""
    g, out, e, nk, limits = trial.g, trial.out, trial.work[0], problem.sizes[NK], control.limits
    _place_bound(problem, g, trial.middle, alpha)
    _evaluate(problem.residual, g, out, problem.sizes[ENTRIES])
    for i in range(e.shape[0] if first else 0):
        out[i] *= control.resting[i]
    solve(factor, trial, out[: e.shape[0]], e)
    worst = 0.0
    for i in range(first, e.shape[0]):
        if i < nk:
            fast = trial.exponent[nk + i] > 0
            size = abs(g[KX] * e[i]) / trial.scale[i]
            size = (
                max(size, abs(g[KV] * e[i]) * (h / trial.scale[i] if fast else 1.0 / trial.scale[nk + i])) / limits[i]
            )
        else:
            size = abs(e[i]) / trial.scale[nk + i] / limits[i]
        if not np.isfinite(size):
            return REJECTED_ALWAYS
        worst = max(worst, size)
    return worst
