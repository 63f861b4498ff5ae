"""What an error may be: the scale of every position, velocity and value in the error test and in Newton's method.

    scale_i = max(rtol max(m_i, min(nominal_i, M_k)) + r_k, 16 eps M_k)    k: the kind (netsim.simulate.setup.kinds)

m_i is the largest |z_i| so far, M_k the largest of all quantities of its kind so far, with what starts and sources will
move (netsim.simulate.setup.sizes). A quantity that is zero by symmetry is thus measured by its kind, but never by more
than a nominal size; one that was large itself is measured by that. A difference of what is large (the 0 V between 1 MV
of a source and as much at a resistor) has the rounding of these. What a step tries counts for that step alone; what
Newton's method tries on the way up to the nominal size only, since corrections beside absurd values look small. A
rotation counts as the angle from where the run began, as 1 rad at most.

A kind that has not moved yet, since it was zero until a kink (the output of `max(u, 0)`), would be measured by what has
grown since then, or by a guess, and no step is short enough for that. A step refused there tells the size, also beyond
the nominal one, until the end of that step is passed, if the method settles what is fast (`settles` of
netsim.core.method). Others are far beyond what the run will reach there: v = h a/2 of generalized-alpha instead of the
velocity a/w of an oscillator, (h/T)^6 of an explicit method beyond its bound of stability.

r_k is what rounding leaves of quantities that are zero but for it (netsim.simulate.setup.sizes). A size that somebody
has written takes the place of all this: scale_i = rtol (c |z_i| + fixed_i), c = 0 for `nominal SIGNAL = VALUE` and 1
for `atol`.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.contract import FORMULA, RELATIVE, RTOL, SETTLING, UNTIL, WIDE
from netsim.core.problem import ALPHA, KA, KV, LEAST, NK, NQ, NY
from netsim.core.rotation import chord

Array = np.ndarray

NOTHING = 1e-18
"""The share of its nominal size that a quantity counts at least, so that no scale is zero."""
ROUNDING = 16 * 2.220446049250313e-16
"""What rounding may leave of a quantity, of the largest value of its kind."""
BEYOND = 3.0
"""What a step tries counts where it is so many times larger than what was known."""
UNKNOWN = 1e-15
"""A kind that was at most this share of its nominal size has no size yet."""
SO_FAR, TRIED, ROUNDED, REFUSED = range(4)
"""Rows of Trial.sizes."""


@inner
def set_origin(problem, trial):
    """Let rotations count from where the run stands."""
    first = 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    for i in range(trial.origin.shape[0]):
        trial.origin[i] = trial.start[first + i]


@inner
def set_scales(problem, trial):
    """What errors are allowed in this step, from the state where it begins; steps of the formula alone have no test."""
    if trial.counters[FORMULA]:
        return
    nk, ny, s = problem.sizes[NK], problem.sizes[NY], trial.start
    for i in range(2 * nk):
        trial.largest[i] = max(trial.largest[i], abs(s[i]))
    for i in range(ny):
        trial.largest[2 * nk + i] = max(trial.largest[2 * nk + i], abs(s[3 * nk + i]))
    first = 3 * nk + ny + 2 * problem.sizes[NQ]
    for f in range(problem.rotations.shape[0]):
        angle = min(1.0, chord(trial.origin, 4 * f, s, first + 4 * f))
        for i in range(problem.rotations[f], problem.rotations[f] + 3):
            trial.largest[i] = max(trial.largest[i], angle)
    known = trial.sizes[SO_FAR]
    for i in range(2 * nk + ny):
        k = trial.kind[i]
        known[k] = max(known[k], trial.largest[i])
    trial.tolerances[WIDE] = 0.0
    _fill(problem, trial, known, s, 0.0)
    for i in range(nk + ny):
        problem.least[i] = LEAST * trial.scale[nk + i] / trial.tolerances[RTOL]


@inner
def widen_scales(problem, trial, state, solved):
    """Scales that count what a step tries, where that is far beyond what was known (or was so when it was last looked
    at): what is not `solved` yet up to the nominal sizes."""
    nk, ny, rtol = problem.sizes[NK], problem.sizes[NY], trial.tolerances[RTOL]
    beyond = trial.tolerances[WIDE] > 0.0
    for i in range(2 * nk):
        beyond = beyond or abs(state[i]) * rtol > BEYOND * trial.scale[i]
    for i in range(ny):
        beyond = beyond or (
            trial.exponent[2 * nk + i] == 0 and abs(state[3 * nk + i]) * rtol > BEYOND * trial.scale[2 * nk + i]
        )
    if not beyond:
        return
    trial.tolerances[WIDE] = 1.0
    tried = trial.sizes[TRIED]
    for k in range(tried.shape[0]):
        tried[k] = trial.sizes[SO_FAR, k]
    for i in range(2 * nk + ny):
        k, value = trial.kind[i], abs(state[i if i < 2 * nk else i + nk])
        tried[k] = max(tried[k], value)
    _fill(problem, trial, tried, state, np.inf if solved else 1.0)


@inner
def count_refused(problem, trial, end):
    """Let the values at the `end` of a step that was refused count until then in kinds that have not moved yet, where
    the method settles what is fast."""
    if not trial.counters[SETTLING]:
        return
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    trial.tolerances[UNTIL] = max(trial.tolerances[UNTIL], end)
    seen = trial.sizes[TRIED]
    for k in range(seen.shape[0]):
        seen[k] = 0.0
    for i in range(2 * nk + ny):
        k = trial.kind[i]
        seen[k] = max(seen[k], trial.largest[i] / trial.nominal[i])
    for i in range(2 * nk + ny):
        k = trial.kind[i]
        if seen[k] <= UNKNOWN:
            trial.sizes[REFUSED, k] = max(trial.sizes[REFUSED, k], abs(trial.end[i if i < 2 * nk else i + nk]))


@inner
def pass_refused(trial, now):
    """Forget what refused steps found once their ends are passed."""
    if now >= trial.tolerances[UNTIL]:
        trial.sizes[REFUSED] = 0.0


@inner
def _fill(problem, trial, sizes, state, counted):
    """The formula above with these sizes of kinds, and of `state` so many nominal sizes; |z| beside a written size is
    that where the step begins."""
    nk, ny, rtol, relative = problem.sizes[NK], problem.sizes[NY], trial.tolerances[RTOL], trial.tolerances[RELATIVE]
    for i in range(2 * nk + ny):
        at, k = i if i < 2 * nk else i + nk, trial.kind[i]
        value, most = abs(trial.start[at]), trial.largest[i]
        if counted > 0.0:
            most = max(most, min(counted * trial.nominal[i], abs(state[at])))
        if trial.fixed[i] > 0.0:
            trial.scale[i] = max(rtol * (relative * value + trial.fixed[i]), ROUNDING * most)
        else:
            share = max(NOTHING * trial.nominal[i], min(trial.nominal[i], sizes[k]), trial.sizes[REFUSED, k])
            trial.scale[i] = max(rtol * max(most, share) + trial.sizes[ROUNDED, k], ROUNDING * sizes[k])


@inner
def set_least(problem, trial):
    """Sizes of the unknowns of a stage that Newton's method solves for a mechanism: velocities (or accelerations) that
    the step brings."""
    nk, g, rtol = problem.sizes[NK], trial.g, trial.tolerances[RTOL]
    tried = trial.sizes[TRIED]
    for k in range(tried.shape[0]):
        tried[k] = 0.0
    for i in range(nk):
        a, v, k = abs(trial.start[2 * nk + i]), abs(trial.start[nk + i]), trial.kind[nk + i]
        tried[k] = max(tried[k], v + a / g[ALPHA] if g[KV] == 1.0 else a)
    for i in range(nk):
        size = trial.scale[nk + i] / rtol if g[KA] != 1.0 else NOTHING * trial.nominal[nk + i]
        problem.least[i] = LEAST * max(size, min(trial.nominal[nk + i], tried[trial.kind[nk + i]]))


def first_kinds(count: int, given: Array) -> Array:
    """Sizes of kinds before a run."""
    sizes = np.zeros((4, count))
    sizes[SO_FAR] = given
    return sizes
