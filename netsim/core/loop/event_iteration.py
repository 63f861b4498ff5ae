"""Rounds of an event without Python: relations exchanged where zero-crossing functions contradict them, discretes that follow, a
consistent point for them.

A round begins with `begin_round`; where it finds a change, `follow` brings discretes and point to agree. `rounds` goes
on until nothing changes, or Python is needed: states set anew, discretes whose matrix has another plan, a point that
the plan does not reach.
"""

from netsim.core.compiled.function import inner
from netsim.core.consistent import make_consistent
from netsim.core.loop.crossings import DISCRETES, FIRED, RELATION_VALUES, RELATIONS, SLACK, Z, look
from netsim.core.problem import NK, X
from netsim.core.states import copy

STILL, CHANGED, RESETS = 0, 1, 2
"""What `begin_round` answers: nothing changes, discretes or conditions do, and states are set anew besides."""
AGREED, OTHER_MODE, LOST, ENDLESS, SWITCHING = 3, 4, 5, 6, 7
"""What `follow` answers: agreed; the discretes now in g have another plan; the plan finds no point; they never agree.
`rounds`: they never end."""
ROUND, FOLLOWING = 0, 1
"""Positions in Watch.stage: the round, and how often its discretes were followed (0: not begun)."""
ROUNDS, PATIENCE = 100, 10
CLOSE, LEAST = 1e-12, 1e-15
"""Discretes followed more than PATIENCE times agree to CLOSE of their value (and LEAST): each plan's point has a
rounding of its own, and a direction that is taken from it would change in its last digit for ever."""
FOUND = 0.5 * SLACK
"""Where an instant begins an zero-crossing function this small beside the largest it had keeps its value: what was found beyond
SLACK is beyond this, although the consistent point has other rounding."""
LOOSE = 1e-9
"""Within an instant an zero-crossing function this small beside the largest it had keeps its value."""
ROUNDING, RESTING = 1e-15, 1e-20
"""An zero-crossing function this small is zero; a change this small in the look ahead, beside the largest value, says nothing of the
way it goes."""


@inner
def rounds(watch, plan, g, once):
    """Rounds from where `stage` stands: STILL, RESETS, SWITCHING or an answer of `follow`; AGREED only where the plan
    is to serve `once`."""
    stage = watch.stage
    while stage[ROUND] < ROUNDS:
        if stage[FOLLOWING] == 0:
            answer = begin_round(watch, g, FOUND if stage[ROUND] == 0 else LOOSE)
            if answer == STILL:
                return STILL
            stage[FOLLOWING] = 1
            if answer == RESETS:
                return RESETS
        answer = follow(watch, plan, g)
        if answer != AGREED:
            return answer
        stage[FOLLOWING] = 0
        stage[ROUND] += 1
        if once:
            return AGREED
    return SWITCHING


@inner
def begin_round(watch, g, slack):
    """Exchange relations that their zero-crossing functions contradict, and see what follows: STILL, CHANGED or RESETS; what caused it
    is marked in `changed`."""
    relations, discretes, fired = watch.sizes[RELATIONS], watch.sizes[DISCRETES], watch.sizes[FIRED]
    look(watch, g)
    for k in range(relations):
        watch.flips[k] = _exchanged(watch, g, k, slack)
    look(watch, g)
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
    """Whether the value of relation k was contradicted, and is exchanged; at instants known beforehand zero counts on
    the side that comes. What an zero-crossing function takes between rounds counts for that round alone: the voltage of a switch
    that opens while the diode beside it does not conduct yet is a million times any that stays."""
    x, at = watch.found[k], watch.sizes[RELATION_VALUES] + k
    size = max(watch.peak[k], watch.found[watch.found.shape[0] - watch.peak.shape[0] + k])
    bound = 0.0 if watch.timed[k] else slack * size
    level = watch.timed[k] and x == 0.0
    true = g[at] > 0.5
    if (true and (x > bound or (level and watch.strict[k]))) or (
        not true and (x < -bound or (level and not watch.strict[k]))
    ):
        g[at] = 0.0 if true else 1.0
        return 1
    return 0


@inner
def follow(watch, plan, g):
    """Discretes and a consistent point that agree, what happens happening all the while: a sampler behind a sampler
    takes the new value."""
    relations, discretes, z = watch.sizes[RELATIONS], watch.sizes[DISCRETES], watch.sizes[Z]
    while watch.stage[FOLLOWING] <= ROUNDS:
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
        look(watch, g)
        same = True
        for i in range(discretes):
            found, kept = watch.found[relations + i], watch.following[i]
            if not abs(found - kept) <= slack * (CLOSE * abs(kept) + LEAST):
                watch.following[i], same = found, False
        if same:
            copy(g, z, g, z + discretes, discretes)
            return AGREED
    return ENDLESS


@inner
def leave(problem, watch, g, dt):
    """Relations of zero-crossing functions at zero by the way they go from here (in a small time dt), as far as that is known and
    changes nothing else.

    A ball that leaves the floor is above it, however short the hop, and what stands still is neither above nor
    below."""
    relations, discretes, z, relation_values = (
        watch.sizes[RELATIONS],
        watch.sizes[DISCRETES],
        watch.sizes[Z],
        watch.sizes[RELATION_VALUES],
    )
    nk, x = problem.sizes[NK], problem.sizes[X]
    look(watch, g)
    copy(watch.found, 0, watch.kept, 0, relations)
    copy(g, 0, watch.room, 0, g.shape[0])
    for i in range(x, x + nk):
        g[i] += dt * g[i + nk] + 0.5 * dt * dt * g[i + 2 * nk]
        g[i + nk] += dt * g[i + 2 * nk]
    look(watch, g)
    copy(watch.room, x, g, x, 2 * nk)
    for k in range(relations):
        now, rise, peak = watch.kept[k], watch.found[k] - watch.kept[k], watch.peak[k]
        still = abs(rise) <= RESTING * peak
        if (
            watch.timed[k] == 0 and abs(now) <= LOOSE * peak and (not still or abs(now) <= ROUNDING * peak)
        ):  # of values the way is not known
            g[relation_values + k] = 1.0 if (rise < 0.0 and not still) or (still and not watch.strict[k]) else 0.0
    look(watch, g)
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
