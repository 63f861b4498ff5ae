"""Equilibria of what moves and switches: the first one to which the loads lead from a start.

    F(u, m) = 0 and m = next(m, u): the positions and values u at rest, the discrete variables (modes) m

The search begins with the modes that a run begins with: friction holds what it can, contacts push where they touch.
Modes then stand still along a piece of the way, a motion downhill without inertia (netsim.initial.static.homotopy). A
piece ends at the first point that contradicts them: friction would have to hold more than it can, a stop is reached.
They change there, what holds from there on holds at that place, and the way goes on, as the piecewise linear networks
of J. Katzenelson (Bell Syst. Tech. J. 44, 1965) are solved. Conditions on velocities see the direction of the way; a
mode that only a velocity would keep is not entered. At the end everything comes to rest.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from netsim.core.loop.crossings import SLACK
from netsim.equations.machine import Machine
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.charts import way_between
from netsim.initial.initial import Structure
from netsim.initial.reactions.indeterminacy import IndeterminacyFound, set_indeterminacy
from netsim.initial.static.equilibrium import Equilibrium, equilibrium
from netsim.initial.static.rest import at_rest, ordinary_sizes
from netsim.initial.static.search import Switched
from netsim.simulate.events.events import starts_otherwise
from netsim.simulate.events.iteration import EventIteration, event_iteration
from netsim.simulate.events.releases import MOST_NAMED, Releases, owner_of, owners_of
from netsim.text.columns import counted
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST = 1000
"""Pieces of a way."""
FAST = 1e6
"""Speed of the way (1/s, in ordinary sizes of what moves) that conditions on velocities see: far above any threshold
below which something counts as standing still."""
STILL = 1e-9
"""The share of the fastest speed below which something stands still on the way."""
ROUNDED, NOTHING = 64 * np.finfo(float).eps, 1e-25
"""The shares of positions, and of their ordinary sizes, below which a way is rounding."""
PATIENT, SHORTER = 3, 0.1
"""Pieces at one place behind which the first step of each further one is this share of the one before: over a short
step friction has one answer."""
RESTING = 10
"""Pieces in which what has stopped sliding settles in the modes of rest."""
SAME = 1e-9
"""Points nearer to one another, in ordinary sizes, are one."""


@dataclass(frozen=True, eq=False)
class ModesAtRest:
    """The modes that follow from points of a machine."""

    events: EventIteration
    standing: dict[bytes, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def weight(self) -> Array:
        """Ordinary sizes of positions."""
        machine = self.events.machine
        return ordinary_sizes(machine, sizes_of_machine(machine).size)[: machine.system.layout.nk]

    @cached_property
    def _scales(self) -> list[tuple[Array, bool]]:
        """Where g holds how fast anything of a dimension was so far, and whether that is an angular speed."""
        layout, found = self.events.machine.system.layout, []
        for batch in self.events.machine.system.batches:
            for number, unit in batch.form.events.scales:
                if str(unit) in ("m/s", "rad/s"):
                    found.append((layout.discretes + batch.discretes(number), unit.is_angle))
        return found

    def contradicted(self, g: Array, before: Array, way: Array | None) -> bool:
        """Whether the point g contradicts its modes (see `following`)."""
        return self.following(g, before, way) is not None

    def following(self, g: Array, before: Array, way: Array | None) -> Array | None:
        """The point g with the modes that follow from it, and from the direction in which a step from the point
        `before` leads there; None where its own do."""
        s, point = self.events, g.copy()
        if starts_otherwise(s, point, SLACK):
            return point
        layout = s.machine.system.layout
        begin = g.copy()  # where the step is tangent to the way
        begin[layout.x : layout.y] = before[layout.x : layout.y]
        begin[layout.charts : layout.places] = before[layout.charts : layout.places]
        moving = self._moving(begin, way)
        if moving is None or not starts_otherwise(s, moving, SLACK):
            return None
        point, entered = self._stopped(g, moving)
        left = {*owners_of(s, (point[s.values] != entered) & (entered != g[s.values])), *self._standing(g)}
        stay = np.array([owner_of(p) in left for p in s.discretes])
        point[s.values] = point[s.befores] = np.where(stay, g[s.values], entered)
        return None if np.array_equal(point[s.values], g[s.values]) else point

    def at_rest(self, g: Array, way: Array) -> Array | None:
        """The point g with the modes in which a motion along the way ends there and turns back; None where they are
        those of g."""
        s, point = self.events, g
        for sense in (1.0, -1.0):
            moving = self._moving(point, sense * way)
            if moving is None:
                return None
            starts_otherwise(s, moving, SLACK)
            point = self._stopped(point, moving)[0]
        return None if np.array_equal(point[s.values], g[s.values]) else point

    def _standing(self, g: Array) -> frozenset[str]:
        """Elements that hold something in the modes of the point g: what a step leaves of their velocities is none."""
        machine, mode = self.events.machine, self.events.mode(g)
        if mode not in self.standing:
            rows = at_rest(machine, g.copy(), sizes_of_machine(machine).size).held.rows
            self.standing[mode] = frozenset(
                label
                for batch in machine.system.batches
                for row in batch.form.rows
                if row[0] == "own"
                for label, place in zip(batch.labels, batch.row(row))
                if place >= 0 and rows[place]
            )
        return self.standing[mode]

    def _stopped(self, g: Array, moving: Array) -> tuple[Array, Array]:
        """The point g with the modes that follow from those of a motion there once it stands still; and those."""
        s, point = self.events, g.copy()
        point[s.values] = point[s.befores] = entered = np.where(s.watch.named > 0, moving[s.values], g[s.values])
        starts_otherwise(s, point, SLACK, level=True)
        return point, entered

    def _moving(self, g: Array, way: Array | None) -> Array | None:
        """The point g in a fast motion along the way; None where nothing moves."""
        layout = self.events.machine.system.layout
        if way is None:
            return None
        share = np.where(np.abs(way[: layout.nk]) > self.rounding(g), way[: layout.nk], 0.0) / self.weight
        fastest = np.abs(share).max(initial=0.0)
        if not fastest > 0.0 or not np.isfinite(fastest):
            return None
        moving, speeds = g.copy(), np.where(np.abs(share) > STILL * fastest, FAST * share / fastest, 0.0) * self.weight
        moving[layout.v : layout.v + layout.nk] = speeds
        turns = np.array([u == "rad/s" for u in self._units])
        for places, angular in self._scales:
            most = np.abs(speeds[turns == angular]).max(initial=0.0)
            for first in (0, self.events.befores.start - self.events.values.start):
                moving[places + first] = np.maximum(moving[places + first], most)
        return moving

    def rounding(self, g: Array) -> Array:
        """What rounding makes of positions that stand still."""
        layout, turning = self.events.machine.system.layout, np.zeros(len(self.weight), bool)
        for first in self.events.machine.system.numbering.rotations:
            turning[first : first + 3] = True
        size = np.where(turning, 1.0, np.abs(g[layout.x : layout.v]))
        for unit in set(self._units):
            alike = np.array([u == unit for u in self._units])
            size[alike] = size[alike].max()
        return np.maximum(ROUNDED * size, NOTHING * self.weight)

    @cached_property
    def _units(self) -> list[str]:
        system = self.events.machine.system
        return list(system.numbering.position_units(system.network))


def modes_at_rest(machine: Machine, structure: Structure) -> ModesAtRest:
    """The modes of a machine that has events."""
    events = event_iteration(machine, structure)
    assert events is not None
    return ModesAtRest(events)


def with_room(machine: Machine, structure: Structure, g: Array, mode: bytes) -> tuple[Machine, Structure]:
    """The machine with the combinations of this mode in it (of forces that elements which hold the same thing share),
    or one that has places for them: each time for more."""
    try:
        set_indeterminacy(machine, structure, g, mode)
    except IndeterminacyFound as crowded:
        return with_room(crowded.machine, crowded.structure, g, mode)
    return machine, structure


Settled = tuple[Machine, Structure, Equilibrium]


def equilibrium_through_switching(
    machine: Machine, structure: Structure, g: Array, judged: bool, releases: Releases
) -> Settled:
    """The first equilibrium to which the loads lead from the point g and its modes, the machine with the shares of
    loads that belong to its modes, and its structure. `releases` are told of what changes them.

    Raises `SimulationError`: E440 to E442 as `equilibrium`, E509 where the modes never agree."""
    (machine, structure, found), modes = led_to_equilibrium(machine, structure, g, judged, releases)
    after = modes.at_rest(found.g, way_between(machine.system, g, found.g))
    if after is None:
        return machine, structure, found
    try:  # sliding ends
        still, _ = led_to_equilibrium(machine, structure, after, judged, Releases(), RESTING)
    except SimulationError:
        still = machine, structure, found
    moved = np.abs(way_between(machine.system, found.g, still[2].g) / modes.weight).max(initial=0.0)
    if still[2] is found or moved > SAME:
        return *_in_mode(machine, structure, found.g, modes)[:2], found
    return *still[:2], replace(still[2], log=found.log, iterations=found.iterations + still[2].iterations)


def led_to_equilibrium(
    machine: Machine, structure: Structure, g: Array, judged: bool, releases: Releases, most: int = MOST
) -> tuple[Settled, ModesAtRest]:
    """The equilibrium behind `most` pieces of a way at most, in modes in which what has slid there still slides; and
    what tells its modes. Raises as `equilibrium_through_switching`."""
    sizes, modes, switching, stays = sizes_of_machine(machine), None, list[str](), 0
    for pieces in range(most):
        machine, structure, modes = _in_mode(machine, structure, g, modes)
        try:
            found = equilibrium(
                machine, g.copy(), sizes, judged, modes.contradicted, SHORTER ** max(stays - PATIENT, 0)
            )
        except Switched as switched:
            after = modes.following(switched.g, switched.before, switched.way)
            assert after is not None
            releases.note(modes.events, switched.g, after)
            switching += owners_of(modes.events, switched.g[modes.events.values] != after[modes.events.values])
            moved = np.abs(way_between(machine.system, g, after)) > modes.rounding(after)
            stays, g = 0 if moved.any() else stays + 1, after
            continue
        except SimulationError as none:
            raise _explained(none, releases.sentence(modes.events, g)) from None
        told = (f"modes changed at {counted(pieces, 'point')} of the way",) if pieces else ()
        return (machine, structure, replace(found, log=(*found.log, *told))), modes
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(switching[-MOST_NAMED:]))
    message = f"no equilibrium was found: on the way to it {names} switch back and forth"
    raise SimulationError(Problem("E509", message, hint="write `start` for positions near the equilibrium"))


def _in_mode(
    machine: Machine, structure: Structure, g: Array, known: ModesAtRest | None
) -> tuple[Machine, Structure, ModesAtRest]:
    """The machine with the shares of the modes in g, its structure, and its modes, where those of the machine before
    are `known`."""
    modes = known or modes_at_rest(machine, structure)
    other, structure = with_room(machine, structure, g, modes.events.mode(g))
    return other, structure, modes if other is machine else modes_at_rest(other, structure)


def _explained(none: SimulationError, sentence: str) -> SimulationError:
    """What the loads overcome, where nothing resists the motion that is left."""
    problem = none.problems[0]
    if problem.code != "E440" or not sentence:
        return none
    before, _, after = problem.message.rpartition(": ")
    return SimulationError(replace(problem, message=f"{before}: {sentence}: {after}"))
