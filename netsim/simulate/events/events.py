"""Events of a run: event iteration at one instant, and impulses where `reinit` sets states.

A round of the event iteration evaluates relations at the present point, computes the next discretes from them, applies
the actions of `when`, and solves for a new point with positions, velocities and differentiated quantities held. The
iteration ends when nothing changes. A `reinit` of a velocity is an impulse. It gives the velocities that obey the
constraints, take the wanted values, and are nearest to the velocities before in the metric of kinetic energy. Momentum
is then conserved along every free direction.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.core.loop.crossings import SEARCHED, evaluate_events
from netsim.core.loop.event_iteration import (
    AGREED,
    ENDLESS,
    LOOSE,
    LOST,
    OTHER_MODE,
    RESETS,
    ROUND,
    ROUNDING,
    ROUNDS,
    STILL,
    SWITCHING,
    iterate_events,
)
from netsim.equations.starts.rows import StartRow, state_kernel
from netsim.equations.starts.written import kernel_row
from netsim.initial.consistent.newton import solve_stage
from netsim.simulate.events.event_log import Event, LoggedPlace, lines_of
from netsim.simulate.events.iteration import EventIteration, same_when
from netsim.simulate.events.plans import make_whole, plan_for, stages_of
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray

# ------------------------------------------------------------------------------------------------ at the start


def starts_otherwise(s: EventIteration, g: Array, slack: float = 0.0, level: bool = False) -> bool:
    """Whether the discretes at a start do not agree with its point; g then holds their next values. Relations whose
    sides differ by less than `slack` of these stay, or have equal sides if that is `level`."""
    begin_relations(s, g, slack=slack, level=level)
    evaluate_events(s.looking, g)
    following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
    named = s.watch.named > 0
    if np.array_equal(following[named], g[s.values][named]):
        return False
    g[s.values] = g[s.befores] = np.where(named, following, g[s.values])
    return True


def begin_relations(
    s: EventIteration, g: Array, resumed: bool = False, slack: float = 0.0, level: bool = False
) -> None:
    """Set relations, and the discretes that hold conditions, as the point in g gives them. No `when` acts, and sampled
    blocks wait for their first sample. Where a run is `resumed` all are in g already. Relations
    whose sides differ by less than `slack` of these stay, or have equal sides if that is `level`."""
    evaluate_events(s.looking, g)
    sampled = np.array([p.of.sampled for p in s.relations], bool)
    crossings = s.watch.found[: len(s.relations)]
    sides = s.watch.found[len(s.watch.found) - len(s.relations) :]
    s.watch.peak[:] = np.maximum(s.watch.peak, sides)
    if resumed:
        return
    near = (np.abs(crossings) < slack * sides) & (s.watch.kind == SEARCHED)
    crossings[near & level] = 0.0
    true = ~sampled & ((crossings < 0.0) | ((crossings == 0.0) & (s.watch.strict == 0)))
    g[s.relation_values] = np.where(near & (not level), g[s.relation_values], true)
    before = g[s.values].copy()
    for _ in range(ROUNDS):
        evaluate_events(s.looking, g)
        following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
        hidden = np.array([not p.of for p in s.discretes])
        if np.array_equal(g[s.values][hidden], following[hidden]):
            break
        g[s.values] = g[s.befores] = np.where(hidden, following, before)


# ------------------------------------------------------------------------------------------------ at an instant


def settle(s: EventIteration, g: Array, t: float) -> bool:
    """The event iteration from the consistent point in g until nothing changes. Returns whether anything is other than
    before: what a round changes another one may take back.

    Raises `SimulationError` if the iteration does not end, or if no consistent point follows."""
    before = g[s.values].copy()
    s.watch.changed[:] = s.watch.stage[:] = 0
    (plan, struct), jumped = plan_for(s, g, t), None
    while (answer := iterate_events(s.looking, struct, g, jumped is not None or struct is s.nothing)) != STILL:
        if answer == SWITCHING or (answer == ENDLESS and s.watch.combinational.any()):
            raise _never_ending(t, _changed(s))
        if answer == ENDLESS:
            message = (
                f"at t = {t:.9g} s the event iteration does not end: every new point changes discrete variables again"
            )
            hint = "use pre(), the value before the event, where a discrete variable depends on itself"
            raise SimulationError(Problem("E509", message, hint=hint))
        if answer == RESETS:
            jumped = _reinitialised(s, g)
        elif answer == AGREED and jumped is not None:
            _relations_behind_reinit(s, g, jumped)
            jumped = None
        if answer != LOST:
            plan, struct = plan_for(s, g, t)
        if answer == LOST or (answer == OTHER_MODE and not len(plan.sizes)):
            make_whole(s, g, t)
            struct = s.nothing
    became, happened = np.flatnonzero(before != g[s.values]), s.watch.changed[len(s.relations) :].any()
    if not (s.watch.stage[ROUND] and (len(became) or happened)):
        return False
    s.log += _logged(s, t, became, g[s.values])
    return True


def _logged(s: EventIteration, t: float, became: Array, values: Array) -> list[Event]:
    """The entries of this instant, at which these discretes became other `values`."""
    key = became.tobytes() + s.watch.changed.tobytes()
    if key not in s.lines:
        places = [(s.discretes[k], i) for i, k in enumerate(became) if s.discretes[k].of]
        s.lines[key] = lines_of(places, _changed(s))
    values = values[became]
    return [Event(t, line, values) for line in s.lines[key]]


def _changed(s: EventIteration) -> list[LoggedPlace]:
    """Relations and whens that changed anything at this instant."""
    places = [*s.relations, *s.whens]
    return [places[k] for k in np.flatnonzero(s.watch.changed)]


def _never_ending(t: float, changed: list[LoggedPlace]) -> SimulationError:
    names = sorted({f"'{place.batch.labels[place.position]}' ({place.of.text})" for place in changed[-6:]})
    hint = "two of these conditions may exclude each other: separate their thresholds (hysteresis)"
    message = f"at t = {t:.9g} s these conditions switch each other back and forth: {', '.join(names)}"
    return SimulationError(Problem("E509", message, changed[-1].of.span, hint=hint))


def _reinitialised(s: EventIteration, g: Array) -> Array:
    """Set the states of all whens that fire. Returns the zero-crossing functions before."""
    n, m = len(s.relations), len(s.relations) + len(s.discretes)
    targets, fired = s.watch.found[m + len(s.whens) :].copy(), s.watch.found[m : m + len(s.whens)] > 0.5
    crossings = s.watch.found[:n].copy()
    happening = [when for when, now in zip(s.whens, fired) if now]
    set_states(s, g, [(r, targets[i]) for i, r in enumerate(s.resets) if any(same_when(w, r) for w in happening)])
    return crossings


def _relations_behind_reinit(s: EventIteration, g: Array, before: Array) -> None:
    """Set relations whose zero-crossing function an impulse has changed. A function that became zero counts as zero: a
    mass that a stop has brought to rest moves in neither direction."""
    evaluate_events(s.looking, g)
    now = s.watch.found[: len(s.relations)]
    zero = (
        (np.abs(now) <= LOOSE * s.watch.peak)
        & (np.abs(before - now) > LOOSE * s.watch.peak)
        & (s.watch.kind == SEARCHED)
    )
    across = (np.minimum(np.abs(now), np.abs(before - now)) > ROUNDING * s.watch.peak) & (s.watch.kind == SEARCHED)
    g[s.relation_values] = np.where(zero, s.watch.strict == 0, np.where(across, now < 0.0, g[s.relation_values]))


def set_states(s: EventIteration, g: Array, wanted: list[tuple[LoggedPlace, float]]) -> None:
    """The impulse, or the new differentiated quantities, that gives states the wanted values with the least change of
    all others that the equations allow."""
    machine, o = s.machine, s.structure.dynamic
    rows: dict[int, list[StartRow]] = {}
    for place, target in _last(wanted):
        reset, label = place.of, place.batch.labels[place.position]
        kernel, path = state_kernel(place.batch.form, reset), f"{label}: {reset.text}"
        if machine.element is None:
            row = kernel_row(machine.system, place.batch, place.position, kernel, path, "value", target, reset.span)
        else:
            from netsim.multibody.jointspace.rows import coordinate_row

            row = coordinate_row(machine, place.batch, place.position, kernel, path, target, reset.span)
        stage = int(np.max(row.orders - o.d[row.variables]))
        if stage >= 0:
            hint = "reinit sets velocities and quantities under der()"
            message = f"'{label}' sets a quantity that is not a state: {reset.text}"
            raise SimulationError(Problem("E511", message, reset.span, hint=hint))
        rows.setdefault(stage, []).append(row)
    for stage in sorted(rows):
        try:
            solve_stage(stages_of(s), g, stage, rows[stage], mass_metric=machine.system.layout.nk > 0)
        except SimulationError as wrong:
            if len(rows[stage]) == 1:
                raise
            paths = ", ".join(f"'{row.path}'" for row in rows[stage])
            hint = f"these act at one instant, and contradict one another or a constraint: {paths}"
            raise SimulationError([replace(each, hint=hint) for each in wrong.problems]) from wrong


def _last(wanted: list[tuple[LoggedPlace, float]]) -> list[tuple[LoggedPlace, float]]:
    """Without those that a later line of the same element sets too."""
    found, parts = dict[Any, tuple[LoggedPlace, float]](), Counter[Any]()
    for place, target in wanted:
        line = place.key, place.of.text, place.of.when
        found[place.key, place.of.text, parts[line]] = place, target
        parts[line] += 1  # of a vector
    return list(found.values())
