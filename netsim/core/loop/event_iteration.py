"""Event iteration in compiled code: relations, discretes and the consistent point change until they agree.

A round begins with `begin_round`, which gives contradicted relations their new values. If anything changes, `follow`
computes discretes and a consistent point that agree; relations of signals without a memory, as those of logic gates,
are exchanged there, so that what has a memory sees them settled. `iterate_events` repeats this until nothing changes.
It returns to Python when a `when` sets states, when the discretes select a matrix with another plan, or when the plan
finds no point.
"""

from netsim.core.compiled.function import inner
from netsim.core.consistent import make_consistent
from netsim.core.loop.crossings import (
    DISCRETES,
    FIRED,
    RELATION_VALUES,
    RELATIONS,
    SEARCHED,
    SEEN,
    SLACK,
    TIMED,
    Z,
    evaluate_events,
    relation_scale,
)
from netsim.core.problem import NK, X
from netsim.core.states import copy

STILL, CHANGED, RESETS = 0, 1, 2
"""Answers of `begin_round`: nothing changes; discretes or conditions change; a `when` sets states too."""
AGREED, OTHER_MODE, LOST, ENDLESS, SWITCHING = 3, 4, 5, 6, 7
"""Answers of `follow`: discretes and point agree; the discretes now in g need another plan; the plan finds no point;
the discretes never agree. SWITCHING is an answer of `iterate_events`: the rounds do not end."""
ROUND, FOLLOWING = 0, 1
"""Positions in Watch.stage: number of the round, and number of its evaluations of discretes (0: not begun)."""
ROUNDS, PATIENCE = 100, 10
CLOSE, LEAST = 1e-12, 1e-15
"""After PATIENCE evaluations of a round, discretes agree if they differ by less than CLOSE of their value plus LEAST.
Without it the rounding of each new point would change the last digit of a discrete for ever."""
FOUND = 0.5 * SLACK
"""In the first round of an instant, a relation keeps its value while its zero-crossing function is below this share of
its largest value. Where the event was located it is beyond SLACK, and so beyond this share at the consistent point
too. Any other relation is contradicted as everywhere, beyond SEEN."""
LOOSE = 1e-9
"""The same share in the later rounds of an instant."""
ROUNDING, RESTING = 1e-15, 1e-20
"""Shares of the largest value: a zero-crossing function below the first is zero; a change below the second, in the look
ahead of `set_directions`, has no direction."""


@inner
def iterate_events(watch, plan, g, once):
    """Continue the rounds from `stage`. Returns STILL, RESETS, SWITCHING or an answer of `follow`; AGREED only if the
    plan may be used `once`."""
    stage = watch.stage
    while stage[ROUND] < ROUNDS:
        if stage[FOLLOWING] == 0:
            answer = begin_round(watch, g, stage[ROUND] == 0)
            if answer == STILL:
                return STILL
            stage[FOLLOWING] = 1
            if answer == RESETS:
                return RESETS
        answer = follow(watch, plan, g, once)
        if answer != AGREED:
            return answer
        stage[FOLLOWING] = 0
        stage[ROUND] += 1
        if once:
            return AGREED
    return SWITCHING


@inner
def begin_round(watch, g, first):
    """Give contradicted relations their new values and evaluate what follows. Returns STILL, CHANGED or RESETS, and
    marks the causes in `changed`."""
    relations, discretes, fired = watch.sizes[RELATIONS], watch.sizes[DISCRETES], watch.sizes[FIRED]
    evaluate_events(watch, g)
    for k in range(relations):
        slack = LOOSE if not first else FOUND if watch.flips[k] else SEEN
        watch.flips[k] = _exchanged(watch, g, k, slack)
    evaluate_events(watch, g)
    answer = STILL
    for i in range(discretes):
        watch.following[i] = watch.found[relations + i]
        if watch.following[i] != g[watch.sizes[Z] + i]:
            answer = CHANGED
    for j in range(fired):
        if watch.found[relations + discretes + j] > 0.5:
            answer = max(answer, RESETS if watch.setting[j] else CHANGED)
            watch.changed[relations + j] = 1
    if answer != STILL:
        for k in range(relations):
            watch.changed[k] = max(watch.changed[k], watch.flips[k])
    return answer


@inner
def _exchanged(watch, g, k, slack):
    """Exchange relation k if it is contradicted; returns whether it was. At instants known before the run, zero counts
    as the side that comes. The scale is that of this round only: between rounds, the voltage of a switch that opens
    while the diode beside it does not conduct yet is a million times any voltage that stays."""
    x, at = watch.found[k], watch.sizes[RELATION_VALUES] + k
    bound = 0.0 if watch.kind[k] == TIMED else slack * relation_scale(watch, k)
    level = watch.kind[k] == TIMED and x == 0.0
    true = g[at] > 0.5
    if (true and (x > bound or (level and watch.strict[k]))) or (
        not true and (x < -bound or (level and not watch.strict[k]))
    ):
        g[at] = 0.0 if true else 1.0
        return 1
    return 0


@inner
def follow(watch, plan, g, once):
    """Compute discretes and a consistent point that agree. Conditions are evaluated again at every new point, so that a
    sampler behind another sampler takes the new value, and a gate behind a gate, unless the plan may be used `once`."""
    relations, discretes, z = watch.sizes[RELATIONS], watch.sizes[DISCRETES], watch.sizes[Z]
    while watch.stage[FOLLOWING] <= ROUNDS + relations:
        watch.stage[FOLLOWING] += 1
        slack = 1.0 if watch.stage[FOLLOWING] > PATIENCE else 0.0
        other = False
        for m in range(watch.modes.shape[0]):
            other = other or watch.following[watch.modes[m] - z] != g[watch.modes[m]]
        copy(watch.following, 0, g, z, discretes)
        if other:
            return OTHER_MODE
        copy(g, 0, watch.room, 0, g.shape[0])
        if not make_consistent(plan, g):
            copy(watch.room, 0, g, 0, g.shape[0])
            return LOST
        evaluate_events(watch, g)
        same = once or not _exchange_combinational(watch, g)
        for i in range(discretes):
            found, kept = watch.found[relations + i], watch.following[i]
            if not abs(found - kept) <= slack * (CLOSE * abs(kept) + LEAST):
                watch.following[i], same = found, False
        if same:
            copy(g, z, g, z + discretes, discretes)
            return AGREED
    return ENDLESS


@inner
def _exchange_combinational(watch, g):
    """Exchange the contradicted relations of signals without a memory, and evaluate what follows; whether any was."""
    some = False
    for k in range(watch.sizes[RELATIONS]):
        if watch.combinational[k] and _exchanged(watch, g, k, LOOSE):
            watch.changed[k], some = 1, True
    if some:
        evaluate_events(watch, g)
    return some


@inner
def set_directions(problem, watch, g, dt):
    """Set relations whose zero-crossing function is zero by its direction in a small time dt ahead, if the direction is
    known and nothing else changes.

    A ball that leaves the floor is above it, however short the hop. A body at rest is neither above nor below."""
    relations, discretes, z, values = (
        watch.sizes[RELATIONS],
        watch.sizes[DISCRETES],
        watch.sizes[Z],
        watch.sizes[RELATION_VALUES],
    )
    nk, x = problem.sizes[NK], problem.sizes[X]
    evaluate_events(watch, g)
    copy(watch.found, 0, watch.kept, 0, relations)
    copy(g, 0, watch.room, 0, g.shape[0])
    for i in range(x, x + nk):
        g[i] += dt * g[i + nk] + 0.5 * dt * dt * g[i + 2 * nk]
        g[i + nk] += dt * g[i + 2 * nk]
    evaluate_events(watch, g)
    copy(watch.room, x, g, x, 2 * nk)
    for k in range(relations):
        now, rise, peak = watch.kept[k], watch.found[k] - watch.kept[k], watch.peak[k]
        still = abs(rise) <= RESTING * peak
        # the direction of algebraic quantities is not known
        if watch.kind[k] == SEARCHED and abs(now) <= LOOSE * peak and (not still or abs(now) <= ROUNDING * peak):
            g[values + k] = 1.0 if (rise < 0.0 and not still) or (still and not watch.strict[k]) else 0.0
    evaluate_events(watch, g)
    changes = False
    for i in range(discretes):
        changes = changes or (watch.named[i] != 0 and watch.found[relations + i] != g[z + i])
    for j in range(watch.sizes[FIRED]):
        changes = changes or watch.found[relations + discretes + j] > 0.5
    if changes:
        copy(watch.room, 0, g, 0, g.shape[0])
    else:
        copy(watch.found, relations, g, z, discretes)
        copy(watch.found, relations, g, z + discretes, discretes)
