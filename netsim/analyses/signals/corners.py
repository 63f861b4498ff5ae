"""Corners at an operating point: where the equations have other derivatives on one side than on the other, so that no
linear network is that of the point (a diode at its knee, a rope that is just tight).

Discrete variables tell of the corners of what switches: a condition that is just met, and whose exchange changes one of
them. Others are found by derivatives to either side.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Machine
from netsim.equations.parameters import parameters_of
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.initial import Structure
from netsim.initial.static.rest import ordinary_sizes, places_of_unknowns
from netsim.simulate.events.events import evaluate_events
from netsim.simulate.events.iteration import event_iteration, has_events

Array = np.ndarray
MET = 1e-13
"""A condition is just met where its sides differ by less than this share of them."""
ASIDE, NEARER = 1e-9, 1e-12
"""How far to either side of a point derivatives are looked at, in sizes of the unknowns: at a corner they differ as
much at the smaller distance."""
DIFFERS = 1e-3
"""The share of the larger one by which derivatives on both sides of a corner differ."""
DECIDING = frozenset({"fmin", "fmax", "fabs", "sign", "lt", "le", "copysign", "select"})
"""Operations that make corners."""
MOST_TOLD = 3


def corners_note(machine: Machine, structure: Structure, g: Array) -> str:
    """A sentence about the elements that are at a corner; '' where there are none."""
    names = list(dict.fromkeys([*_switching(machine, structure, g), *_bent(machine, g)]))
    if not names:
        return ""
    return f"{listed(names)} at a corner: the linear network is that of one side of it"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, some of them where they are many."""
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(f"'{name}'" for name in names[:MOST_TOLD]) + more


def _switching(machine: Machine, structure: Structure, g: Array) -> Iterator[str]:
    """Elements whose discretes change where a condition that is just met is exchanged."""
    s = event_iteration(machine, structure) if has_events(machine) else None
    if s is None:
        return
    g, count = g.copy(), len(s.relations)
    evaluate_events(s.looking, g)
    sides = s.watch.found[len(s.watch.found) - count :]
    met = (np.abs(s.watch.found[:count]) <= MET * sides) & ~np.array(
        [p.of.timed or p.of.sampled for p in s.relations], bool
    )
    for k in np.flatnonzero(met):
        other = g.copy()
        found = []
        for truth in (0.0, 1.0):
            other[s.relation_values.start + k] = truth
            evaluate_events(s.looking, other)
            found.append(s.watch.found[count : count + len(s.discretes)].copy())
        if not np.array_equal(found[0], found[1]):
            place = s.relations[k]
            yield place.batch.labels[place.position]


def _bent(machine: Machine, g: Array) -> Iterator[str]:
    """Elements whose derivatives differ on both sides of the point, however near."""
    batches = [b for b in machine.system.batches if b.kernels.partials.program.operations & DECIDING]
    if not batches:
        return
    weight, push = ordinary_sizes(machine, sizes_of_machine(machine).size), np.zeros(len(g))
    aside = weight * np.random.default_rng(0).choice([-1.0, 1.0], len(weight))
    push[places_of_unknowns(machine.system.layout)] = aside
    for batch in batches:
        program, places = batch.kernels.partials.program, machine.system.gather(batch, batch.kernels.partials)
        uniforms, values = g[machine.system.layout.uniforms], parameters_of(batch, machine.values)
        sides = (-ASIDE, ASIDE, -NEARER, NEARER)
        found = [evaluate(program, (g + aside * push)[places], uniforms, values) for aside in sides]
        far, near = np.abs(found[1] - found[0]), np.abs(found[3] - found[2])
        bent = (far > DIFFERS * np.maximum(*map(np.abs, found[:2]))) & (near > far / 2.0)
        yield from (batch.labels[k] for k in np.flatnonzero(bent.any(axis=0)))
