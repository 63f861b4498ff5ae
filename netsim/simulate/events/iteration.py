"""The event iteration of a network as arrays: kernels, places of relations and discretes, plans of consistent points by
mode, and the log."""

import itertools
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent, nothing_to_recover
from netsim.core.loop.crossings import AT_EVENTS, CAREFUL, SEARCHED, TIMED, EventWatch
from netsim.core.loop.event_iteration import ROUNDS
from netsim.equations.batches import Batch, Indeterminacy, indeterminacy_of
from netsim.equations.forms.events import switching
from netsim.equations.forms.form import Relation
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.initial import Structure
from netsim.initial.recovery import Recovery
from netsim.simulate.events.event_log import Event, Line, LoggedPlace
from netsim.simulate.events.magnitudes import Magnitudes, magnitudes_of

Array = np.ndarray
FEW, SIZES = 6, (1e-3, 1.0, 1e3, 1e6, 1e9)
"""Relations of an element of which all combinations are looked at, and sizes of what else its discretes read, before
they are known to stay."""


@dataclass(eq=False)
class EventIteration:
    """The events of one run: kernels, places of relations and discretes, plans of consistent points by mode, log."""

    machine: Machine
    structure: Structure
    watch: EventWatch
    relations: list[LoggedPlace]
    discretes: list[LoggedPlace]
    whens: list[LoggedPlace]
    resets: list[LoggedPlace]
    calls: list[Call]
    looking: Struct
    shares: Indeterminacy | None
    plans: dict[bytes, tuple[Recovery, Consistent, Struct]] = field(default_factory=dict)
    nothing: Struct = field(default_factory=lambda: struct_of(nothing_to_recover()))
    lines: dict[bytes, list[Line]] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)
    recent: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    @cached_property
    def magnitudes(self) -> Magnitudes:
        """What scale(v) in the text of components is taken of."""
        return magnitudes_of(self.machine.system, self.structure)

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


def may_have_events(machine: Machine) -> bool:
    """Whether the network has discretes or relations."""
    return machine.system.layout.nz + machine.system.layout.relation_count > 0


def has_events(machine: Machine) -> bool:
    """Whether events change anything with the present parameters: those of a limit without a stiffness do not."""
    return any((b.n_relations or b.n_discretes) and acts(machine, b) for b in machine.system.batches)


def acts(machine: Machine, batch: Batch) -> bool:
    """Whether a discrete of a batch may become other than it begins, or a `when` act, whichever relations are true."""
    if batch.n_relations > FEW:
        return True
    kernel, random, layout = batch.kernels.events, np.random.default_rng(0), machine.system.layout
    begins = [machine.g[layout.discretes + batch.discretes(i)] for i in range(len(batch.form.events.names))]
    own, uniforms = machine.parameters[id(batch)], machine.g[layout.uniforms]
    for size, truths in itertools.product(SIZES, itertools.product((0.0, 1.0), repeat=batch.n_relations)):
        read = size * random.standard_normal((len(kernel.gather), batch.n))
        for k, (key, _) in enumerate(kernel.gather):
            if key[0] in ("discrete", "before"):
                read[k] = begins[key[1]]
            elif key[0] == "relation_value":
                read[k] = truths[key[1]]
        with np.errstate(all="ignore"):
            results = evaluate(kernel.program, read, uniforms, own)
        for (kind, i), found in zip(kernel.scatter, results):
            if (kind == "next" and not np.array_equal(found, begins[i])) or (kind == "fired" and np.any(found)):
                return True
    return False


def most_rounds(machine: Machine) -> int:
    """How often the modes of a start or of an operating point may change: logic gates may stand behind one another."""
    batches = machine.system.batches
    return ROUNDS + sum(b.n * sum(r.combinational for r in b.form.events.relations) for b in batches)


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
        whens += [LoggedPlace(b, int(k), w) for w in events.whens for k in at]
        resets += [LoggedPlace(b, int(k), r) for r in events.resets for k in at]
        first_fired, first_target = first_fired + len(events.whens) * b.n, first_target + len(events.resets) * b.n
    modes = (
        np.array([k for b in batches for i in switching(b.form) for k in b.discretes(i)], np.int64) + layout.discretes
    )
    table = call_table(calls, layout.uniforms)
    if machine.element is not None:
        from netsim.multibody.jointspace.rows import frames_first

        table = np.concatenate([frames_first(machine), table])
    setting = np.array([any(same_when(w, r) for r in resets) for w in whens], np.int64)
    watch = EventWatch(
        table, np.zeros(scales + layout.relation_count), np.zeros(layout.relation_count),
        np.array([_kind(p.of) for p in relations], np.int64),
        np.array([p.of.strict for p in relations], np.int64), np.zeros(layout.relation_count, np.int64),
        np.array([p.of.combinational for p in relations], np.int64),
        np.array([bool(p.of) for p in discretes], np.int64), modes, np.zeros(layout.nz), setting,
        np.zeros(layout.relation_count + fired, np.int64),
        np.zeros(layout.relation_count), np.zeros(3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr),
        np.zeros(layout.size),
        np.zeros(2, np.int64), np.array([layout.relation_count, layout.nz, fired, layout.discretes,
        layout.relation_values, int(careful)], np.int64),
        np.zeros((3, layout.relation_count)), np.array([np.inf, -1.0]),
    )  # fmt: skip
    return EventIteration(
        machine,
        structure,
        watch,
        relations,
        discretes,
        whens,
        resets,
        calls,
        struct_of(watch),
        indeterminacy_of(system.batches),
    )


def same_when(when: LoggedPlace, reset: LoggedPlace) -> bool:
    """Whether a state is set anew by this `when`."""
    return when.key == reset.key and reset.batch.form.events.whens[reset.of.when] is when.of


def moved_to(s: EventIteration, machine: Machine, structure: Structure) -> EventIteration:
    """The same events on a machine of the same network (other constraints left out), with what has been seen so far."""
    found = event_iteration(machine, structure, bool(s.watch.sizes[CAREFUL]))
    assert found is not None
    found.watch.peak[:], found.watch.kind[:], found.watch.spacing[0] = s.watch.peak, s.watch.kind, s.watch.spacing[0]
    found.log, found.recent = s.log, s.recent
    return found


def _kind(relation: Relation) -> int:
    return TIMED if relation.timed else AT_EVENTS if relation.at_events else SEARCHED


def _places(batches: list[Batch], count: int, kind: str) -> list[LoggedPlace]:
    """What stands behind every relation or discrete, by its number."""
    found: list[Any] = [None] * count
    for b in batches:
        for i, of in enumerate(getattr(b.form.events, kind)):
            for k, number in enumerate(b.relation_values(i) if kind == "relations" else b.discretes(i)):
                found[number] = LoggedPlace(b, k, of)
    return found
