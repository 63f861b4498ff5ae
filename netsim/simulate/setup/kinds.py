"""Which quantities are of one kind and act on one another: they share a size in the error test.

Two quantities are of one kind where they have one dimension and belong to one island. An island is a connected part of
the graph whose vertices are nodes and whose edges are elements, each edge within one domain; ground joins nothing. An
element's own quantity belongs to the island of the terminal whose domain knows its dimension, else to that of its first
terminal. So the x, y and z of all velocities of a mechanism are one kind, the potentials on both sides of a resistor
too, those on both sides of a transformer not. Velocities of nodes without mass are a kind of their own: those of
masses are integrated to positions, and a light spring's end may be a hundred times faster than they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from netsim.core.linear.graphs import connected
from netsim.equations.batches import Batch
from netsim.equations.numbering import component_suffixes
from netsim.equations.system import System
from netsim.initial.initial import Structure
from netsim.library.component import Component, dimension, scalar_count, sizes_of
from netsim.network.network import GROUND, Network
from netsim.text.units import Dimension

Array = np.ndarray
Key = tuple[Any, ...]
"""What quantities of one kind have in common: the island, the dimension, whether they are positions."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kind of every position, velocity and value (2 nk + ny), the largest value that sources give each kind, and
    their numbers by what they have in common."""

    of: Array
    given: Array
    numbers: dict[Key, int]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.numbers)


def massless(structure: Structure, nk: int) -> Array:
    """Positions whose accelerations are in no equation."""
    return np.setdiff1d(np.arange(nk), structure.signature.variable[structure.signature.order == 2])


def kinds_of(system: System, amplitudes: Array, massless: Array) -> Kinds:
    """The kinds of a system's quantities; `amplitudes`: the largest value of every prescribed input over the run;
    `massless`: positions whose accelerations are in no equation."""
    kind, found = np.full(system.layout.nk + system.n, -1), {}  # type: Array, dict[Key, int]
    islands = _kept_islands(system)
    _number_nodes(system, islands, kind, found)
    given = _number_elements(system, islands, amplitudes, kind, found)
    nk = system.layout.nk
    for unknown, coordinate in system.numbering.coordinates.items():
        if kind[nk + unknown] < 0:
            rate = dimension(coordinate.unit)
            kind[nk + unknown], kind[unknown] = _number(found, (rate,)), _number(found, (rate, "position"))
    for i in np.flatnonzero(kind < 0):
        kind[i] = _number(found, ("alone", int(i)))
    for i in nk + massless:
        kind[i] = _number(found, ("massless", int(kind[i])))
    sizes = np.zeros(len(found))
    for key, size in given:
        if key in found:
            sizes[found[key]] = max(sizes[found[key]], size)
    return Kinds(kind, sizes, found)


def islands_of(system: System, batch: Batch, unit: Dimension) -> Array:
    """The island of each element of a batch in which a quantity of this dimension is found; -1 where that is ground."""
    return _labels(batch, _kept_islands(system), unit)


def parts_of(system: System) -> Array:
    """The number of the connected part of the network that each island belongs to: elements join all their nodes."""
    islands, ends = _kept_islands(system), []  # type: Array, list[tuple[int, int]]
    for instance in system.network.instances:
        nodes = [i for i in instance.nodes if i != GROUND]
        ends += pairwise(nodes)
    found = np.zeros(islands.max(initial=-1) + 1, np.int64)
    found[islands] = connected(len(islands), *np.array(ends, np.int64).reshape(-1, 2).T)
    return found


def _kept_islands(system: System) -> Array:
    kept = vars(system)
    islands = kept["islands"] = kept["islands"] if "islands" in kept else _islands(system.network)
    return islands


def _number(found: dict[Key, int], key: Key) -> int:
    return found.setdefault(key, len(found))


def _number_nodes(system: System, islands: Array, kind: Array, found: dict[Key, int]) -> None:
    """Kinds of the nodes' quantities."""
    nk, numbers = system.layout.nk, system.network.node_numbers
    for node, first in system.numbering.with_unknowns(system.network):
        label, at = int(islands[numbers[node.name]]), first
        for i, quantity in enumerate(node.domain.across):
            count = len(component_suffixes(quantity, {}))
            kind[nk + at : nk + at + count] = _number(found, (label, dimension(quantity.unit)))
            if at < nk:
                position = node.domain.integral[i] if i < len(node.domain.integral) else None
                kind[at : at + count] = _number(
                    found, (label, dimension(position.unit if position else None), "position", i)
                )
            at += count


def _number_elements(
    system: System, islands: Array, amplitudes: Array, kind: Array, found: dict[Key, int]
) -> list[tuple[Key, float]]:
    """Kinds of what elements own and of their inputs; what prescribed inputs give to kinds."""
    nk, coordinates = system.layout.nk, system.numbering.coordinates
    given: list[tuple[Key, float]] = []
    for batch in (b for b in system.batches if b.instances and not b.shapes):
        for key, unit in _own(batch):
            labels = _labels(batch, islands, unit).tolist()
            if key in batch.prescribed_inputs:
                given += [
                    ((label, unit), float(amplitudes[prescribed]))
                    for label, prescribed in zip(labels, batch.prescribed_inputs[key])
                ]
                continue
            for label, unknown in zip(labels, batch.columns(key).tolist()):
                if unknown >= 0 and kind[nk + unknown] < 0:
                    own = dimension(coordinates[unknown].unit) if unknown in coordinates else unit
                    kind[nk + unknown] = _number(found, (label, own))
                    if unknown < nk:
                        kind[unknown] = _number(found, (label, own, "position"))
    return given


def _own(batch: Batch) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Keys of what elements own and of their inputs, with dimensions."""
    for k, unit in enumerate(batch.form.own_units):
        yield ("own", k), dimension(unit)
    at, first = 0, batch.instances[0]
    for quantity in first.component.definition.inputs:
        for _ in range(scalar_count(sizes_of(quantity.size, dict(first.counts)))):
            yield ("input", at), dimension(quantity.unit)
            at += 1


def _labels(batch: Batch, islands: Array, unit: Any) -> Array:
    """The island of each element in which a quantity of this dimension is found."""
    component = batch.instances[0].component
    names = list(component.terminals)
    nodes = np.array([i.nodes for i in batch.instances], np.int64).reshape(batch.n, len(names))
    if not names:
        return -2 - np.arange(batch.n)
    order = sorted(range(len(names)), key=lambda t: unit not in _dimensions(component, names[t]))
    labels = np.append(islands, -1)[nodes[:, order]]
    knows = np.array([unit in _dimensions(component, names[t]) for t in order])
    first = np.where(labels >= 0, np.where(knows, 0, 1), 2).argmin(axis=1)
    return labels[np.arange(batch.n), first]


def _dimensions(component: Component, terminal: str) -> list[Any]:
    domain = component.domain(terminal)
    return [dimension(q.unit) for q in (*domain.across, *domain.through, *domain.integral)]


def _islands(network: Network) -> Array:
    """The island of every node."""
    pairs: dict[int, list[tuple[int, int]]] = {}
    ends: list[tuple[int, int]] = []
    for instance in network.instances:
        known = id(instance.component)
        if known not in pairs:
            pairs[known] = list(_joined(instance.component))
        for a, b in pairs[known]:
            if (i := instance.nodes[a]) != GROUND and (j := instance.nodes[b]) != GROUND:
                ends.append((i, j))
    return connected(len(network.nodes), *np.array(ends, np.int64).reshape(-1, 2).T)


def _joined(component: Component) -> Iterator[tuple[int, int]]:
    """Pairs of terminals of one domain that an element joins: along its branches where it has any there, else all."""
    names = list(component.terminals)
    places = {name: t for t, name in enumerate(names)}
    branches = [(b.start, b.end) for b in component.definition.branches if b.start in places and b.end in places]
    on_branch = {end for b in component.definition.branches for end in (b.start, b.end)}
    yield from ((places[a], places[b]) for a, b in branches)
    first: dict[str, int] = {}
    for t, name in enumerate(names):
        domain = component.domain(name).name
        if name not in on_branch and domain in first:
            yield first[domain], t
        first.setdefault(domain, t)
