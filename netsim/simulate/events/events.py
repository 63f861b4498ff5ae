"""Events of a run: event iteration at one instant, and impulses where `reinit` sets states.

A round of the event iteration evaluates relations at the present point, computes the next discretes from them, applies
the actions of `when`, and solves for a new point with positions, velocities and differentiated quantities held. The
iteration ends when nothing changes. A `reinit` of a velocity is an impulse. It gives the velocities that obey the
constraints, take the wanted values, and are nearest to the velocities before in the metric of kinetic energy. Momentum
is then conserved along every free direction.
"""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent, make_consistent, nothing_to_recover
from netsim.core.loop.crossings import CAREFUL, Watch, look
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
    rounds,
)
from netsim.core.problem import TIME
from netsim.equations.batches import Batch, indeterminacy_of
from netsim.equations.forms.events import switching
from netsim.equations.machine import Call, Machine, call_table
from netsim.equations.starts.rows import StartRow, state_kernel
from netsim.equations.starts.written import kernel_row
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.flat_plan import compiled_plan
from netsim.initial.initial import Structure
from netsim.initial.reactions.indeterminacy import set_indeterminacy
from netsim.initial.recovery import Recovery, differentiated_held, plan_recovery, recover
from netsim.initial.stages import Stages, partials_in
from netsim.simulate.events.event_log import Event, Placed, events_of
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray


@dataclass(eq=False)
class EventIteration:
    """The events of one run: kernels, places of relations and discretes, plans of consistent points by mode, log."""

    machine: Machine
    structure: Structure
    watch: Watch
    relations: list[Placed]
    discretes: list[Placed]
    whens: list[Placed]
    resets: list[Placed]
    calls: list[Call]
    looking: Struct
    plans: dict[bytes, tuple[Recovery, Consistent, Struct]] = field(default_factory=dict)
    nothing: Struct = field(default_factory=lambda: struct_of(nothing_to_recover()))
    log: list[Event] = field(default_factory=list)
    recent: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    @property
    def relation_values(self) -> slice:
        return slice(self.machine.system.layout.relation_values, self.machine.system.layout.x)

    @property
    def values(self) -> slice:
        return slice(self.machine.system.layout.discretes, self.machine.system.layout.befores)

    @property
    def befores(self) -> slice:
        return slice(self.machine.system.layout.befores, self.machine.system.layout.relation_values)

    @property
    def positions(self) -> bool:
        """Whether the network has positions. Then the constraints of one mode may depend on them."""
        return self.machine.system.layout.nk > 0

    def mode(self, g: Array) -> bytes:
        """The discretes in g that select the matrix, as a key."""
        return g[self.watch.modes].tobytes()


def has_events(machine: Machine) -> bool:
    """Whether the network has discretes or relations."""
    return machine.system.layout.nz + machine.system.layout.relation_count > 0


def event_iteration(machine: Machine, structure: Structure, careful: bool = False) -> EventIteration | None:
    """The events of a machine; None where it has none."""
    system, layout = machine.system, machine.system.layout
    if not has_events(machine):
        return None
    batches = [b for b in system.batches if b.n_discretes or b.n_relations]
    fired = sum(len(b.form.events.whens) * b.n for b in batches)
    relations, discretes = _places(batches, layout.relation_count, "relations"), _places(batches, layout.nz, "names")
    whens, resets, calls = [], [], []
    first_fired, first_target = layout.relation_count + layout.nz, layout.relation_count + layout.nz + fired
    scales = first_target + sum(len(b.form.events.resets) * b.n for b in batches)
    for b in batches:
        events, at = b.form.events, np.arange(b.n)
        begin = {
            "next": layout.relation_count + b.first.discrete,
            "fired": first_fired,
            "target": first_target,
            "crossing": b.first.relation,
        }
        begin["scale"] = scales + b.first.relation
        scatter = np.array(
            [begin[kind] + k * b.n + np.arange(b.n) for kind, k in b.kernels.events.scatter], np.int32
        ).reshape(-1, b.n)
        gather = np.ascontiguousarray(system.gather(b, b.kernels.events).ravel())
        calls.append(
            Call(
                b.kernels.events.program, b.n, gather, machine.parameters[id(b)], np.ascontiguousarray(scatter.ravel())
            )
        )
        whens += [Placed(b, int(k), w) for w in events.whens for k in at]
        resets += [Placed(b, int(k), r) for r in events.resets for k in at]
        first_fired, first_target = first_fired + len(events.whens) * b.n, first_target + len(events.resets) * b.n
    modes = (
        np.array([k for b in batches for i in switching(b.form) for k in b.discretes(i)], np.int64) + layout.discretes
    )
    table = call_table(calls, layout.uniforms)
    if machine.element is not None:
        from netsim.multibody.jointspace.rows import frames_first

        table = np.concatenate([frames_first(machine), table])
    setting = np.array([any(same_when(w, r) for r in resets) for w in whens], np.int64)
    watch = Watch(
        table, np.zeros(scales + layout.relation_count), np.zeros(layout.relation_count),
        np.array([p.of.timed for p in relations], np.int64),
        np.array([p.of.strict for p in relations], np.int64), np.zeros(layout.relation_count, np.int64),
        np.array([bool(p.of) for p in discretes], np.int64), modes, np.zeros(layout.nz), setting,
        np.zeros(layout.relation_count + fired, np.int64),
        np.zeros(layout.relation_count), np.zeros(3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr),
        np.zeros(layout.size),
        np.zeros(2, np.int64), np.array([layout.relation_count, layout.nz, fired, layout.discretes,
        layout.relation_values, int(careful)], np.int64),
        np.zeros((3, layout.relation_count)), np.array([np.inf, -1.0]),
    )  # fmt: skip
    return EventIteration(machine, structure, watch, relations, discretes, whens, resets, calls, struct_of(watch))


def same_when(when: Placed, reset: Placed) -> bool:
    """Whether a state is set anew by this `when`."""
    return when.key == reset.key and reset.batch.form.events.whens[reset.of.when] is when.of


def moved_to(s: EventIteration, machine: Machine, structure: Structure) -> EventIteration:
    """The same events on a machine of the same network (other constraints left out), with what has been seen so far."""
    found = event_iteration(machine, structure, bool(s.watch.sizes[CAREFUL]))
    assert found is not None
    found.watch.peak[:], found.watch.timed[:], found.watch.spacing[0] = s.watch.peak, s.watch.timed, s.watch.spacing[0]
    found.log, found.recent = s.log, s.recent
    return found


def _places(batches: list[Batch], count: int, kind: str) -> list[Placed]:
    """What stands behind every relation or discrete, by its number."""
    found: list[Any] = [None] * count
    for b in batches:
        for i, of in enumerate(getattr(b.form.events, kind)):
            for k, number in enumerate(b.relation_values(i) if kind == "relations" else b.discretes(i)):
                found[number] = Placed(b, k, of)
    return found


# ------------------------------------------------------------------------------------------------ at the start


def starts_otherwise(s: EventIteration, g: Array) -> bool:
    """Whether the discretes at a start do not agree with its point; g then holds their next values."""
    begin_relations(s, g)
    look(s.looking, g)
    following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
    named = s.watch.named > 0
    if np.array_equal(following[named], g[s.values][named]):
        return False
    g[s.values] = g[s.befores] = np.where(named, following, g[s.values])
    return True


def begin_relations(s: EventIteration, g: Array, resumed: bool = False) -> None:
    """Set relations, and the discretes that hold conditions, as the point in g gives them. No `when` acts, and sampled
    blocks wait for their first sample. Where a run is `resumed` all are in g already."""
    look(s.looking, g)
    sampled = np.array([p.of.sampled for p in s.relations], bool)
    crossings = s.watch.found[: len(s.relations)]
    s.watch.peak[:] = np.maximum(s.watch.peak, s.watch.found[len(s.watch.found) - len(s.relations) :])
    if resumed:
        return
    g[s.relation_values] = ~sampled & ((crossings < 0.0) | ((crossings == 0.0) & (s.watch.strict == 0)))
    before = g[s.values].copy()
    for _ in range(ROUNDS):
        look(s.looking, g)
        following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
        hidden = np.array([not p.of for p in s.discretes])
        if np.array_equal(g[s.values][hidden], following[hidden]):
            break
        g[s.values] = g[s.befores] = np.where(hidden, following, before)


# ------------------------------------------------------------------------------------------------ at an instant


def settle(s: EventIteration, g: Array, t: float) -> bool:
    """The event iteration from the consistent point in g until nothing changes. Returns whether anything changed.

    Raises `SimulationError` if the iteration does not end, or if no consistent point follows."""
    before = g[s.values].copy()
    s.watch.changed[:] = s.watch.stage[:] = 0
    (plan, struct), jumped = plan_for(s, g, t), None
    while (answer := rounds(s.looking, struct, g, jumped is not None or struct is s.nothing)) != STILL:
        if answer == SWITCHING:
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
    s.log += events_of(t, s.discretes, before, g[s.values], _changed(s))
    return bool(s.watch.stage[ROUND])


def _changed(s: EventIteration) -> list[Placed]:
    """Relations and whens that changed anything at this instant."""
    places = [*s.relations, *s.whens]
    return [places[k] for k in np.flatnonzero(s.watch.changed)]


def _never_ending(t: float, changed: list[Placed]) -> SimulationError:
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
    look(s.looking, g)
    now = s.watch.found[: len(s.relations)]
    zero = (np.abs(now) <= LOOSE * s.watch.peak) & (np.abs(before - now) > LOOSE * s.watch.peak) & (s.watch.timed == 0)
    across = (np.minimum(np.abs(now), np.abs(before - now)) > ROUNDING * s.watch.peak) & (s.watch.timed == 0)
    g[s.relation_values] = np.where(zero, s.watch.strict == 0, np.where(across, now < 0.0, g[s.relation_values]))


def set_states(s: EventIteration, g: Array, wanted: list[tuple[Placed, float]]) -> None:
    """The impulse, or the new differentiated quantities, that gives states the wanted values with the least change of
    all others that the equations allow."""
    machine, o = s.machine, s.structure.dynamic
    rows: dict[int, list[StartRow]] = {}
    for place, target in wanted:
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
        solve_stage(_stages(s), g, stage, rows[stage], mass_metric=machine.system.layout.nk > 0)


def _stages(s: EventIteration) -> Stages:
    system = s.machine.system
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    everything = np.ones(len(s.structure.signature.equation), bool)
    return Stages(s.machine, s.structure.signature, s.structure.dynamic, everything, weights)


def make_whole(s: EventIteration, g: Array, t: float) -> None:
    """Compute accelerations, forces, rates and values for the discretes and the time in g. Positions, velocities and
    differentiated quantities stay."""
    before = g.copy()
    for _ in range(2):
        plan, struct = plan_for(s, g, t)
        if len(plan.sizes) and make_consistent(struct, g):
            return
        g[:] = before
        s.plans.pop(s.mode(g), None)
    stages, d = _stages(s), s.structure.dynamic.d
    held = np.flatnonzero(differentiated_held(s.machine, s.structure, partials_in(stages, g)))
    for k in range(1 - int(d.max(initial=0)), 1):
        before = g.copy()
        try:
            solve_stage(
                stages,
                g,
                k,
                mass_metric=s.machine.system.layout.nk > 0,
                known=held[(d[held] + k == 0) & (s.machine.system.layout.nk == 0)],
            )
        except SimulationError:  # a voltage that steps at a capacitor moves its charge
            g[:] = before
            solve_stage(stages, g, k, mass_metric=s.machine.system.layout.nk > 0)


def plan_for(s: EventIteration, g: Array, t: float) -> tuple[Consistent, Struct]:
    """The plan of consistent points for the discretes in g, and its struct for compiled code. A new plan takes its
    pivots at g.

    Raises `Crowded` if elements come to hold the same quantity (netsim.initial.reactions.indeterminacy)."""
    key = s.mode(g)
    if key not in s.plans or s.positions or indeterminacy_of(s.machine.system.batches):
        set_indeterminacy(s.machine, s.structure, g, key)
    if key not in s.plans:
        recovery, plan = plan_recovery(s.machine, s.structure, g, jumping=False), nothing_to_recover()
        with suppress(SimulationError):
            recover(recovery, g, s.machine.system.layout.state(g), float(g[TIME]))
            plan = compiled_plan(recovery)
        s.plans[key] = recovery, plan, struct_of(plan)
    return s.plans[key][1:]
