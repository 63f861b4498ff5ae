"""Where a run begins: a consistent start, or the equilibrium, of the machine without constraints that repeat one
another there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.core.history import begin_history
from netsim.core.loop.crossings import SLACK
from netsim.equations.batches import indeterminacy_of
from netsim.equations.machine import Machine, with_history, with_system
from netsim.equations.starts.written import start_rows, with_written_discretes
from netsim.equations.system import without_redundant
from netsim.initial.assembly import sizes_of_machine, speaks_of_positions
from netsim.initial.charts import recharted
from netsim.initial.initial import (
    Change,
    Structure,
    consistent_start,
    resumed_start,
    search_start,
    set_differentiated,
    structure_of,
)
from netsim.initial.reactions.indeterminacy import with_combinations
from netsim.initial.reactions.redundancy import dependent_constraints, union
from netsim.initial.singular_configuration import check_regular
from netsim.library.component import is_body
from netsim.simulate.events.iteration import event_iteration, has_events, most_rounds
from netsim.simulate.setup.choice import formulated
from netsim.simulate.setup.plane_turns import begun_at_plane_turns
from netsim.simulate.setup.sliders import with_still_sliders
from netsim.simulate.setup.turns import begun_at_written_turns, counted_turns
from netsim.text.errors import InputError, Problem, SimulationError

if TYPE_CHECKING:
    from netsim.initial.static.equilibrium import Equilibrium
    from netsim.simulate.events.releases import Releases

Array = np.ndarray
Start = tuple[Array, list[Change]]
HARD = Change("the static solution is what the homotopy ladder finds", 0.0, "hard")
"""Among the changes of a start that compiled code does not find anew (netsim.simulate.run_template)."""


def start_of_run(
    machine: Machine, structure: Structure, start: str = "", origin: Array | None = None, stands: bool = False
) -> tuple[Machine, Structure, Array, list[Change]]:
    """The machine that is run, its structure, its consistent start, and what moved off its default or its written
    start.

    `start` is "" (mechanics where it is drawn, all else in the static solution), "static" (all in equilibrium) or
    "rest"; an `origin` is the point to begin at; the bodies of a machine that `stands` are where the written starts
    say. Written starts hold in any case. Raises `InputError` and `SimulationError` where there is no such point."""
    if start == "static" and origin is None:
        machine, structure, found = equilibrium_of_run(machine, structure)
        drawn, at_rest = machine.g, replace(machine, g=found.g)
        return _agreeing(
            at_rest, structure, None, lambda m, s, _: (m, s, *consistent_start(m, s, drawn=drawn)), anew=False
        )
    return _agreeing(with_history(machine), structure, origin, lambda m, s, o: _begun(m, s, start, o, stands))


def start_at_origin(machine: Machine, structure: Structure, origin: Array) -> tuple[Machine, Structure, Array]:
    """The machine without constraints that repeat one another at the point `origin` of a network with the same
    unknowns, its structure, and this point, of which no equation is solved again."""
    one = machine.system.layout.one
    g = machine.g.copy()
    g[one:] = origin[len(origin) - len(g) + one :]
    return _reduced(machine, structure, lambda m, s: (g, []))[:3]


def _agreeing(
    machine: Machine,
    structure: Structure,
    origin: Array | None,
    find: Callable[..., Any],
    releases: "Releases | None" = None,
    anew: bool = True,
) -> Any:
    """What `find` finds for the machine once its discretes agree with the point: the third part of the answer is, or
    holds, the point. `releases` are told of what changes the discretes in a search for rest, where what is just at its
    limit holds; the discretes begin `anew` with what is written."""
    if not has_events(machine):
        return find(machine, structure, origin)
    from netsim.simulate.events.events import starts_otherwise
    from netsim.simulate.events.modes_at_rest import with_room

    machine = with_written_discretes(machine) if anew else machine
    for _ in range(most_rounds(machine)):
        found = find(machine, structure, origin)
        g = found[2] if isinstance(found[2], np.ndarray) else found[2].g
        events = event_iteration(found[0], found[1])
        before = g.copy()
        slack = SLACK if releases is not None else 0.0
        if events is None or not starts_otherwise(events, g, slack, level=True):
            return found
        if releases is not None:
            releases.note(events, before, g)
        roomy = with_room(found[0], found[1], g, events.mode(g))[0]
        if roomy is not found[0]:  # elements that hold the same thing
            room = indeterminacy_of(roomy.system.batches)
            assert room is not None
            machine, structure = with_combinations(machine, structure, room)
        changed, was, now = machine.g.copy(), machine.g[events.values], g[events.values]
        undecided = {p.key: p for p, old, new in zip(events.discretes, was, now) if p.of and old != new}
        conditions = [p for p in events.relations if p.key in undecided]
        changed[events.values] = changed[events.befores] = g[events.values]
        machine = replace(machine, g=changed)
        if origin is not None:
            origin = origin.copy()
            part = origin[len(origin) - len(g) :]
            part[events.values] = part[events.befores] = g[events.values]
    places = [(p, p.of.text) for p in conditions] or [(p, p.of) for p in undecided.values()]
    names = ", ".join(f"'{p.batch.labels[p.position]}' ({text})" for p, text in places)
    span = conditions[0].of.span if conditions else None
    hint = "write `start` for the discrete variables, or separate the thresholds (hysteresis)"
    raise SimulationError(
        Problem("E509", f"at the start these conditions switch each other back and forth: {names}", span, hint=hint)
    )


def _begun(
    machine: Machine, structure: Structure, start: str, origin: Array | None, stands: bool
) -> tuple[Machine, Structure, Array, list[Change]]:
    if origin is not None:
        begin_history(machine.problem.buffer, origin, at_rest=False)
        return _reduced(machine, structure, lambda m, s: (resumed_start(m, s, origin), []))
    drawn = machine.g
    if not stands:
        machine = with_placed_bodies(machine)
    if start == "rest":
        return _reduced(
            machine, structure, lambda m, s: _still(m, s, lambda m: consistent_start(m, s, 0.0, True, None, drawn))
        )
    return _reduced(machine, structure, lambda m, s: _still(m, s, lambda m: _drawn(m, s, drawn)))


def _still(machine: Machine, structure: Structure, start: Callable[[Machine], Start]) -> Start:
    """A start, begun anew where the sliders of closed loops stay as they are drawn, if it moves them."""
    g, changes = start(machine)
    nearer = with_still_sliders(machine, structure, g) if machine.system.layout.nk else None
    return (g, changes) if nearer is None else start(nearer)


def with_placed_bodies(machine: Machine) -> Machine:
    """The machine with its bodies where the written starts say, where they form a tree: joint coordinates that no start
    speaks of are 0."""
    if not any(is_body(node.domain) for node in machine.system.network.nodes):
        return machine
    if not any(map(speaks_of_positions, start_rows(machine.system, machine.values))):
        return machine
    from netsim.multibody.recursion.bodies import network_tree
    from netsim.multibody.recursion.starts import placed as tree_placed
    from netsim.multibody.recursion.states import translation

    try:
        found = tree_placed(machine, translation(machine, network_tree(machine)))
    except InputError:
        return machine
    return found[0] if found else machine


def equilibrium_of_run(
    machine: Machine, structure: Structure, t: float = 0.0, formulation: str = "absolute", judged: bool = False
) -> "tuple[Machine, Structure, Equilibrium]":
    """The machine that is solved, its structure, and its equilibrium under the sources' values at time t;
    `formulation`: in which coordinates; `judged`: whether it is asked if it is stable.

    Raises `InputError` (E439) where a tree is asked for and there is none."""
    machine = with_history(machine)
    if machine.system.layout.nk and has_events(machine):
        machine, structure, found = _through_switching(machine, structure, t, formulation, judged)
    else:
        machine, structure, found = _agreeing(
            machine, structure, None, lambda m, s, _: _settled(m, s, t, formulation, judged)
        )
    recharted(machine.system, found.g, all_of_them=True)  # signals read R itself
    set_differentiated(machine, found.g)
    return machine, structure, found


def _settled(
    machine: Machine, structure: Structure, t: float, formulation: str, judged: bool
) -> "tuple[Machine, Structure, Equilibrium]":
    from netsim.initial.static.equilibrium import equilibrium

    machine, structure, g = _search_start(machine, structure, t)
    machine, structure, g, _ = formulated(machine, structure, g, formulation)
    return machine, structure, equilibrium(machine, g, sizes_of_machine(machine), judged)


def _search_start(machine: Machine, structure: Structure, t: float) -> tuple[Machine, Structure, Array]:
    return _reduced(machine, structure, lambda m, s: (search_start(m, s, t), []))[:3]


def _through_switching(
    machine: Machine, structure: Structure, t: float, formulation: str, judged: bool
) -> "tuple[Machine, Structure, Equilibrium]":
    """The equilibrium of what moves and switches, searched from where a run begins and with its discretes."""
    from netsim.simulate.events.modes_at_rest import equilibrium_through_switching
    from netsim.simulate.events.releases import Releases

    releases = Releases()
    try:
        machine, structure, g = _agreeing(machine, structure, None, lambda m, s, _: _search_start(m, s, t), releases)
    except SimulationError:
        machine, structure, g = _search_start(with_written_discretes(machine), structure, t)
    machine, structure, g, _ = formulated(machine, structure, g, formulation)
    return equilibrium_through_switching(machine, structure, g, judged, releases)


def _drawn(machine: Machine, structure: Structure, drawn: Array) -> Start:
    """The usual start, `drawn` before anything was placed; where its static solution is hard to find and nothing moves,
    from the values that the homotopy ladder finds."""
    try:
        return consistent_start(machine, structure, unplaced=drawn)
    except SimulationError:
        layout = machine.system.layout
        if layout.nk:
            raise
        try:
            point = equilibrium_of_run(machine, structure)[2].g
        except (SimulationError, InputError):
            point = None
        if point is None:
            raise
        g = machine.g.copy()
        g[layout.y : layout.history] = point[layout.y : layout.history]
        found, changed = consistent_start(replace(machine, g=g), structure)
        return found, [*changed, HARD]


def _reduced(
    machine: Machine, structure: Structure, start: Callable[[Machine, Structure], Start]
) -> tuple[Machine, Structure, Array, list[Change]]:
    """A start whose coordinates count turns alike; where constraints turn out to repeat one another there, that of the
    machine without them."""
    machine = begun_at_plane_turns(begun_at_written_turns(machine), structure.at_rest.moving)
    g, changes = start(machine, structure)
    if (turned := counted_turns(machine, g)) is not None:
        machine = replace(machine, g=turned)
        g, changes = start(machine, structure)
    found = dependent_constraints(machine, g) if machine.system.layout.nk else None
    if found is None:
        return machine, structure, g, changes
    system = without_redundant(machine.system, union(machine.system.redundant, found))
    reduced, structure = with_system(machine, system), structure_of(system)
    g, changes = start(reduced, structure)
    check_regular(machine, found, reduced, structure, g)
    return reduced, structure, g, changes


def changes_in_words(changes: Sequence[Change], most: int = 12) -> str:
    """The changes of a start in words: written starts first, then the largest changes of defaults."""
    words = [c.text for c in sorted(changes, key=lambda c: (c.kind != "start", -c.size))[:most]]
    return "; ".join(words + ([f"and {len(changes) - most} more"] if len(changes) > most else []))


def start_attributes(changes: Sequence[Change]) -> dict[str, str]:
    """The attributes of a result about its start: all changes, those of positions, and states far from an operating
    point."""
    return {
        "start_changes": changes_in_words([c for c in changes if c.kind not in ("far", "hard")]),
        "start_moves": changes_in_words([c for c in changes if c.kind not in ("velocity", "far", "hard")]),
        "notes": changes_in_words([c for c in changes if c.kind == "far"]),
    }
