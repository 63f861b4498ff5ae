"""Numbers for unknowns: kinematic nodes first, then other nodes, then what components own, then bound expressions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.library.component import is_kinematic, is_rotation, sizes_of
from netsim.network.network import Network
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import DomainDef, Quantity

Array = np.ndarray


@dataclass(frozen=True)
class OwnCoordinate:
    """A joint's or an elastic coordinate: its name, the unit of its rate, and typical sizes of itself and of its
    rate."""

    name: str
    unit: str
    size: float = 1.0
    rate: float = 1.0


@dataclass(frozen=True)
class Numbering:
    """`first[i]` is node i's first unknown; unknowns of instances and bindings follow the nodes'.

    `frame[i]` numbers the nodes that rotate (-1: they do not), `rotations[f]` is the first of frame f's three rotation
    unknowns. `coordinates` are the unknowns that belong to joints and links themselves."""

    first: Array
    nk: int
    n: int
    frame: Array
    rotations: Array
    coordinates: Mapping[int, OwnCoordinate] = field(default_factory=dict)

    def grown(self, count: int) -> "tuple[int, Numbering]":
        """Room for `count` more unknowns: the first of them, and the new numbering."""
        return self.n, replace(self, n=self.n + count)

    def unknown_names(self, network: Network, batches: Any) -> list[str]:
        names = [""] * self.n
        for number, coordinate in self.coordinates.items():
            names[number] = coordinate.name
        for node, first in self.with_unknowns(network):
            for i, (quantity, component) in enumerate(across_scalars(node.domain)):
                names[first + i] = f"{node.name}{quantity_suffix(node.domain, quantity, component)}"
        for batch in batches:
            for i, own in enumerate(batch.form.own):
                for k, unknown in self._owned(batch, i):
                    names[unknown] = f"{batch.labels[k]}.{own}" if own else batch.labels[k]
        return names

    def nominals(self, network: Network, batches: Any) -> Array:
        """Typical sizes of the unknowns, for scaled norms: the domain's `nominal`, else 1."""
        sizes = np.ones(self.n)
        for number, coordinate in self.coordinates.items():
            sizes[number] = coordinate.rate
        known: dict[str, Array] = {}
        for node, first in self.with_unknowns(network):
            if node.domain.name not in known:
                known[node.domain.name] = np.array([nominal(quantity) for quantity, _ in across_scalars(node.domain)])
            own = known[node.domain.name]
            sizes[first : first + len(own)] = own
        for batch in batches:
            for i, value in enumerate(batch.form.own_nominal):
                for _, unknown in self._owned(batch, i):
                    sizes[unknown] = value or 1.0
        return sizes

    def position_nominals(self, network: Network) -> Array:
        """Typical sizes of positions: the `nominal` of the domain's integral, else that of its across."""
        sizes = np.ones(self.nk)
        for number, coordinate in self.coordinates.items():
            sizes[number] = coordinate.size
        for node, first in self.with_unknowns(network):
            if node.domain.integral:
                pairs = zip(node.domain.across, node.domain.integral)
                own = [nominal(i if i.nominal is not None else q) for q, i in pairs for _ in component_suffixes(q, {})]
                sizes[first : first + len(own)] = own
        return sizes

    def position_units(self, network: Network) -> list[str]:
        """The unit of every kinematic unknown's rate."""
        units = [""] * self.nk
        for node, first in self.with_unknowns(network):
            if is_kinematic(node.domain):
                own = [quantity.unit for quantity, _ in across_scalars(node.domain)]
                units[first : first + len(own)] = own
        for number, coordinate in self.coordinates.items():
            units[number] = coordinate.unit
        return units

    def with_unknowns(self, network: Network) -> Iterator[tuple[Any, int]]:
        """Nodes with their first unknowns, those left out whose motion follows from others."""
        return ((node, int(first)) for node, first in zip(network.nodes, self.first) if first >= 0)

    def _owned(self, batch: Any, i: int) -> Iterator[tuple[int, int]]:
        """Own unknown i of every element: (element, number), where it is one: neither a joint's coordinate nor what
        follows."""
        return ((k, int(unknown)) for k, unknown in enumerate(batch.columns(("own", i))) if unknown >= self.nk)


def nominal(quantity: Quantity) -> float:
    """The size of a quantity that counts as ordinary, 1 where its domain states none."""
    return 1.0 if quantity.nominal is None else float(evaluate(quantity.nominal, Scope(lambda n: Typed(1.0))).value)


def across_scalars(domain: DomainDef) -> list[tuple[Quantity, str]]:
    """Every scalar across of a domain with its component's suffix ('' , '.x' ...)."""
    return [(q, suffix) for q in domain.across for suffix in component_suffixes(q, {})]


def component_suffixes(quantity: Quantity, counts: Mapping[str, int]) -> list[str]:
    """'' for a number, '.x' ... for the components of a quantity."""
    return suffixes(sizes_of(quantity.size, counts))


def suffixes(sizes: tuple[int, ...]) -> list[str]:
    """'' for a scalar, .x .y .z for a vector of up to three, [1] [2] ... else, [1,1] ... for a matrix."""
    if not sizes:
        return [""]
    if len(sizes) == 1:
        return [f".{'xyz'[i]}" if sizes[0] <= 3 else f"[{i + 1}]" for i in range(sizes[0])]
    return [f"[{i + 1},{j + 1}]" for i in range(sizes[0]) for j in range(sizes[1])]


def quantity_suffix(domain: DomainDef, quantity: Quantity, component: str) -> str:
    """'.v' for a conserving node; a signal node is known by its bare name."""
    return "" if domain.name == "signal" else f".{quantity.name}{component}"


def number_unknowns(network: Network) -> Numbering:
    """Nodes of kinematic domains get the first numbers, so that x, v and a are contiguous slices."""
    sizes: dict[str, int] = {}
    first = np.zeros(len(network.nodes), dtype=np.int64)
    at, nk = 0, 0
    for wanted in (True, False):
        for i, node in enumerate(network.nodes):
            if is_kinematic(node.domain) is wanted:
                if node.domain.name not in sizes:
                    sizes[node.domain.name] = len(across_scalars(node.domain))
                first[i] = at
                at += sizes[node.domain.name]
        nk = at if wanted else nk
    return Numbering(first, nk, at, *_frames(network, first))


def _frames(network: Network, first: Array) -> tuple[Array, Array]:
    """Rotating nodes in order, and where their rotation unknowns begin."""
    frame = np.full(len(network.nodes), -1)
    rotations: list[int] = []
    for i, node in enumerate(network.nodes):
        at = int(first[i])
        for position, quantity in enumerate(node.domain.across):
            if is_rotation(node.domain, position):
                frame[i] = len(rotations)
                rotations.append(at)
            at += len(component_suffixes(quantity, {}))
    return frame, np.array(rotations, dtype=np.int64)
