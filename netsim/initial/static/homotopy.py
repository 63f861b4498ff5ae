"""A ladder of ways to solve the equations of rest, tried in turn; what was tried and what helped is told.

    limited Newton     F(u) = 0; every unknown of a balance moves by its ordinary size or its own at most (L. Nagel,
                       SPICE2, ERL-M520, 1975)
    damped Newton      F(u) = 0; steps shortened until the next correction is smaller (P. Deuflhard, Newton Methods for
                       Nonlinear Problems, 2004)
    gmin stepping      F(u) + lambda D (u - u0) = 0: conductances or springs to where the search began, lambda = 1 .. 0
    source stepping    F(u) = (1 - s) F(u0), s = 0 .. 1: at u0 = 0, F(u0) is what the sources put in
    pseudo-transient   (D/h) (u - u_old) + F(u) = 0, one Newton step each; h grows as F falls (C. Kelley and D. Keyes,
                       SIAM J. Numer. Anal. 35, 1998)

D is diagonal on the balances of nodes: what a node's own conductance, stiffness or mass is there, or an ordinary size
of it. Where things move with large displacements the pseudo-transient comes first: it follows the loads downhill, as
long as a step does not climb, and so finds a stable state. Where something switches it ends at the first point that
contradicts the discrete variables.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, diagonal_of
from netsim.initial.charts import recharted
from netsim.initial.static.rest import Rest
from netsim.initial.static.search import PLAIN, DeformedEquations, Search

Array = np.ndarray
TOLERANCE = 1e-11
ROUGH = 1e-6
"""The same on the way, where only the next rung wants the point (stiff rods round their forces far above TOLERANCE of
their bending)."""
MOST_NEWTON = 120
MOST_LIMITED, MOST_CONDUCTING = 100, 3
AT_REST = 10
"""Iterations without moving behind which an unknown of limited Newton has settled for now: where one moves again, a
chain has come to it. To and fro takes fewer."""
MOST_STEPS = 400
LONGEST_WAY = 0.5
"""How far (rad, and parts of the machine's size) one pseudo-transient step moves anything."""
WILD = 1e6
"""A pseudo-transient step that lets residuals grow by so much is taken back."""
NEUTRAL = 1e-12
"""Residuals (relative) at which a state with a motion that nothing resists counts as an equilibrium."""
RUNNING = 20
"""Steps in a row that bring loads no nearer to balance, behind which a motion that may end at something that switches
goes twice as far with each step: a stop may be far away."""
MOST_CLOSING, CLOSED = 8, 1e-11
"""Iterations that let constraints hold where something is held, and the correction that ends them (of LONGEST_WAY)."""


def newton(search: Search, deformed: DeformedEquations = PLAIN, most: int = MOST_NEWTON) -> bool:
    """Damped Newton from where the search stands; False (and g as it was left) where it does not converge."""
    rest, damping, before, step = search.rest, 1.0, np.inf, np.zeros(search.rest.n)
    origin, plain = search.g.copy(), deformed.offset is None and deformed.anchor is None
    enough = TOLERANCE if plain else ROUGH
    for _ in range(most):
        search.iterations += 1
        r, matrix = deformed.both(search)
        correction = search.solve(matrix, r)
        if correction is None:
            if not np.isfinite(before) or damping < 1e-6:
                return False
            damping *= 0.25  # the step led where nothing can be evaluated: a shorter one
            search.g[:] = origin
            search.move(-damping * step)
            continue
        step = correction
        size = _size(search, step)
        if size <= enough or (plain and size < 1e-6 and rest.settled(search.g, r)):
            search.move(-step)
            return True
        # gains in a chain blow rounding up: nothing nearer can be told from this
        if plain and rest.settled(search.g, r):
            return True
        origin, before = search.g.copy(), size
        damping = min(1.0, 4.0 * damping)
        while True:
            search.g[:] = origin
            search.move(-damping * step)
            again = search.solve(matrix, deformed.residual(search))
            if again is not None and _size(search, again) <= (1.0 - damping / 4.0) * before + enough:
                break
            damping *= 0.5
            if damping < 1e-5:
                search.g[:] = origin
                return False
    return False


def _size(search: Search, step: Array) -> float:
    """The largest relative step."""
    return float(np.max(_sizes(search, step), initial=0.0))


def _sizes(search: Search, step: Array) -> Array:
    """|du| / max(|u|, a thousandth of an ordinary size) of every unknown."""
    return np.asarray(np.abs(step) / np.maximum(np.abs(search.u), 1e-3 * search.rest.weight))


def limited_newton(search: Search, free: int = 1) -> bool:
    """Newton's method with every unknown limited by itself.

    Along a chain of amplifiers gains multiply, and no norm of all unknowns tells whether a step was good; one by one
    they settle from its beginning to its end, in at least as many iterations as there are stages: it ends where no
    further one settles and none begins to move. The first step (so many as are `free`) is not limited: it finds what
    sources say."""
    rest, least, best = search.rest, search.rest.n + 1, 0
    moved = np.zeros(rest.n, int)  # the iteration in which each unknown moved last
    for k in range(max(MOST_LIMITED, rest.n)):
        search.iterations += 1
        r, matrix = PLAIN.both(search)
        step = _conducting(search, matrix, r)
        if step is None:
            return False
        sizes = _sizes(search, step)
        if sizes.max(initial=0.0) <= TOLERANCE or (k and rest.settled(search.g, r)):
            search.move(-step)
            return True
        moving = np.flatnonzero(sizes > ROUGH)
        if len(moving) < least or np.any(k - moved[moving] > AT_REST):
            best = k
        least, moved[moving] = min(least, len(moving)), k
        if k - best >= MOST_LIMITED:
            return False
        longest = np.maximum(rest.weight, np.abs(search.u)) if k >= free else np.inf
        search.move(-np.clip(step, -longest, longest))
    return False


def _conducting(search: Search, matrix: Columns, r: Array) -> Array | None:
    """matrix^-1 r; where stages amplify that conduct nothing, with the least conductances at all nodes that make it
    regular."""
    unit, step = np.where(search.rest.carried, search.rest.unit, 0.0), search.solve(matrix, r)
    for decade in range(search.decade - 1, MOST_CONDUCTING) if step is None else ():
        step = search.solve(matrix + diagonal_of(10.0**decade * unit), r)
        if step is not None:
            search.decade = decade
            break
    return step


def gmin_stepping(search: Search) -> bool:
    """Strong conductances to ground (springs to the beginning), weakened in steps that adapt, then taken away."""
    anchor, strength, factor = search.u.copy(), 1.0, 0.1
    kept, reached = search.g.copy(), np.inf
    while strength > 1e-14:
        if newton(search, DeformedEquations(strength, anchor), 40):
            kept, reached, factor = search.g.copy(), strength, max(factor**1.5, 1e-3)
            strength *= factor
            continue
        search.g[:] = kept
        factor = factor**0.5
        strength = 1e2 * strength if not np.isfinite(reached) else reached * factor
        if factor > 0.97 or strength > 1e9:
            return False
    return newton(search)


def source_stepping(search: Search) -> bool:
    """F(u) = (1 - s) F(u0): sources from nothing to their full size, in steps that adapt."""
    at_start = search.rest.residual(search.g)
    if not np.all(np.isfinite(at_start)):
        return False
    s, ds, kept = 0.0, 0.1, search.g.copy()
    while s < 1.0:
        ds = min(ds, 1.0 - s)
        if newton(search, DeformedEquations(offset=(1.0 - s - ds) * at_start), 40):
            s, ds, kept = s + ds, 2.0 * ds, search.g.copy()
            continue
        search.g[:] = kept
        ds *= 0.25
        if ds < 1e-6:
            return False
    return newton(search)


def pseudo_transient(search: Search, shortest: float | None = None) -> bool:
    """A massless, damped motion downhill, in steps that grow as the residual falls, and Newton's at its end.

    With `shortest`, a step so short that it follows the motion, longer ones must go the same way: an implicit step that
    is long against the growth away from an unstable state leads back to it."""
    rest, h, before, running = search.rest, shortest or search.first, np.inf, 0
    for _ in range(MOST_STEPS):
        search.iterations += 1
        r, matrix = DeformedEquations(1.0 / h).both(search)
        step = search.solve(matrix, r)
        if step is None or _leads_wrong(search, matrix, step, h, shortest):
            h *= 0.25
            if h < 1e-14:
                return False
            continue
        longest = _longest(rest, step) * (1.0 if rest.held.rows.any() else 0.5 ** max(running - RUNNING, 0))
        if longest > 1.0:
            step, h = step / longest, max(h / longest, 1e-12)
        kept = search.g.copy()
        search.move_watched(-step)
        left = rest.residual(search.g)
        norm = _scaled(rest, matrix, left)
        if not np.isfinite(norm) or norm > WILD * before:
            search.g[:] = kept
            h *= 0.1
            continue
        _hold_on(search, h)
        running = running + 1 if search.contradicted and _stays(rest, r, left) else 0
        if running > RUNNING:
            h *= 2.0
        elif np.isfinite(before) and longest <= 1.0:
            h *= _growth(before, norm, 2.0 if shortest else 0.3)
        before = norm
        if h > 1e3 and _size(search, step) < 1e-3:
            if _ends(search, norm):
                return True
            h = min(h, 1e8)
    return False


def _stays(rest: Rest, before: Array, now: Array) -> bool:
    """Whether the loads that are left are what they were."""
    return bool(np.linalg.norm(now[rest.carried]) > 0.99 * np.linalg.norm(before[rest.carried]))


def _growth(before: float, norm: float, least: float) -> float:
    """How a step grows as the residual falls."""
    return min(max(before / norm, least), 10.0) if norm > NEUTRAL else 10.0


def _hold_on(search: Search, h: float) -> None:
    """Integrate what is held up to a point where constraints hold: beside these what moves as one does not."""
    rest = search.rest
    if not rest.held.rows.any():
        return
    for _ in range(MOST_CLOSING if rest.held.turns(rest.machine.system) else 0):
        r, matrix = DeformedEquations(1.0 / h).both(search)
        step = search.solve(matrix, np.where(rest.carried, 0.0, r))
        if step is None or not _longest(rest, step) < 1.0:
            break
        step[rest.machine.system.layout.nk :] = 0.0  # forces that would push there mean nothing
        search.move(-step)
        if _longest(rest, step) < CLOSED:
            break
    rest.advance(search.g)


def _ends(search: Search, norm: float) -> bool:
    """Whether Newton's method ends the way here; or nothing resists some motion, and no load asks for it."""
    kept = search.g.copy()
    if newton(search, most=15):
        search.check_from(kept)
        return True
    search.g[:] = kept
    return norm < NEUTRAL


def _leads_wrong(search: Search, matrix: Any, step: Array, h: float, shortest: float | None) -> bool:
    """Whether a step climbs, or turns back from the way of the shortest one."""
    if _climbs(search.rest, matrix, step):
        return True
    return bool(shortest and h > shortest and _turns_back(search, step, shortest))


def _climbs(rest: Rest, matrix: Any, step: Array) -> bool:
    """Whether a step goes against the loads: they would do negative work, on the way to an unstable state."""
    moved = np.where(rest.carried, step, 0.0)
    return bool(moved @ (matrix @ moved) < 0.0)


def _turns_back(search: Search, step: Array, shortest: float) -> bool:
    """Whether a step goes against one of the shortest size."""
    r, matrix = DeformedEquations(1.0 / shortest).both(search)
    small = search.solve(matrix, r)
    return small is not None and bool((search.diagonal * small) @ step < 0.0)


def _longest(rest: Rest, step: Array) -> float:
    """How many times longer than allowed a step of what moves is."""
    nk = rest.machine.system.layout.nk
    return float(np.max(np.abs(step[:nk]) / (LONGEST_WAY * rest.weight[:nk]), initial=0.0))


def _scaled(rest: Rest, matrix: Any, r: Array) -> float:
    """|r|, every row relative to what ordinary sizes of the unknowns bring to it."""
    scale = np.asarray(abs(matrix) @ rest.weight).ravel()
    return float(np.linalg.norm(r / np.maximum(scale, 1e-300)))


RUNGS: dict[str, Callable[[Search], bool]] = {
    "limited Newton": limited_newton,
    "damped Newton": newton,
    "gmin stepping": gmin_stepping,
    "source stepping": source_stepping,
    "pseudo-transient continuation": pseudo_transient,
}


def run_rungs(search: Search, names: tuple[str, ...]) -> bool:
    """The rungs in turn, each from where the search began; the log tells how many iterations each took and which one
    helped."""
    start, held = search.g.copy(), search.rest.held.kept()
    for name in names:
        search.g[:] = start
        search.rest.held.back(held)
        before = search.iterations
        with np.errstate(all="ignore"):
            solved = RUNGS[name](search)
        search.log.append(f"{name} {'converged' if solved else 'failed'} ({search.iterations - before} iterations)")
        if solved:
            recharted(search.rest.machine.system, search.g, all_of_them=True)
            return True
    return False
