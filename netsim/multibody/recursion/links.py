"""Flexible links of a network as beams of a tree: the component's data become shape functions, a section and integrals.

A link is one component with shape functions as data, or a chain of finite elements (netsim.multibody.recursion.chains):
the tree and its recursions take any set of shape functions (netsim.multibody.tree.beam.Beam).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.equations.machine import Machine
from netsim.multibody.jointspace.spanning import parameter
from netsim.multibody.tree.beam import Beam, Section
from netsim.network.network import Instance
from netsim.network.values import Values
from netsim.text.errors import Span
from netsim.text.expressions.beams import COLUMNS, GIVEN, family_of
from netsim.text.expressions.shapes import bending_shapes, powers, torsion_shapes

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FlexibleLink:
    """A beam in the reference placement: its axes (columns, along it first), its clamped and its other end.

    `variables` are the component's own that are elastic coordinates, with those that are their rates, in the beam's
    order: (name, name of the rate, how many)."""

    beam: Beam
    axes: Array
    start: Array
    end: Array
    variables: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, eq=False)
class ForeshortenedNode:
    """A node of a chain that draws back by q^T matrix q / 2: the slots of its place and rate in a global vector."""

    place: int
    rate: int
    matrix: Array


@dataclass(frozen=True, eq=False)
class PlacedLink:
    """A flexible link of a network: the node it is clamped to and that of its other end (None: nothing can be fastened
    there), the instances it is made of; slots of its elastic coordinates and of their rates in a global vector, in the
    beam's order; and what follows from these."""

    name: str
    nodes: tuple[int, int | None]
    instances: tuple[Instance, ...]
    link: FlexibleLink
    coordinates: Array
    rates: Array
    drawn: tuple[ForeshortenedNode, ...] = ()

    @property
    def span(self) -> Span:
        return self.instances[0].span


def link_of(instance: Instance, values: Values) -> FlexibleLink:
    """The beam of an instance whose type is in `LINKS`."""
    return LINKS[instance.component.name](instance, values)


def placed(machine: Machine, instance: Instance) -> PlacedLink:
    """The same with its place in a machine's network and global vector."""
    link = link_of(instance, machine.values)
    coordinates, rates = (
        np.concatenate([own_slots(machine, instance, name) for name in names])
        for names in zip(*((q, v) for q, v, _ in link.variables))
    )
    return PlacedLink(instance.name, (instance.nodes[0], instance.nodes[1]), (instance,), link, coordinates, rates)


def own_slots(machine: Machine, instance: Instance, name: str) -> Array:
    """Slots of an instance's own variable, all its components."""
    batch, k = machine.system.home[instance.name]
    own = [i for i, text in enumerate(batch.form.own) if text == name or text.startswith((f"{name}[", f"{name}."))]
    return machine.system.layout.unknown(np.array([batch.unknowns["own", i][k] for i in own]), 0)


def _by_shape_functions(instance: Instance, values: Values) -> FlexibleLink:
    names = ("at1", "at2", "side", "line", "EIy", "EIz", "GJ", "spin", "rotary", "shape", "damping", "mass_damping")
    given, counts = {n: parameter(instance, n, values) for n in names}, dict(instance.counts)
    span = given["at2"] - given["at1"]
    n, twisting, family = counts["n"], counts["torsion"], family_of(counts["shapes"])
    bending = powers(given["shape"].reshape(-1, COLUMNS)) if family == GIVEN else bending_shapes(family, n)
    planes = (("y", "ry", n), ("z", "rz", n))[: counts["planes"]]
    line, stiff_y, stiff_z, twist, spin = (float(given[name][0]) for name in ("line", "EIy", "EIz", "GJ", "spin"))
    tilt_y, tilt_z = given["rotary"]  # towards `side` a section turns about the axis across it
    beam = Beam(
        float(np.linalg.norm(span)),
        Section(line, stiff_y, stiff_z, twist, (spin, float(tilt_z), float(tilt_y))),
        bending,
        bending if len(planes) == 2 else None,
        torsion_shapes(family, twisting) if twisting else None,
        foreshortening=bool(counts["foreshortening"]),
        damping=float(given["damping"][0]),
        mass_damping=float(given["mass_damping"][0]),
    )
    variables = (*planes, *((("t", "rt", twisting),) if twisting else ()))
    return FlexibleLink(beam, axes_of(span, given["side"]), given["at1"], given["at2"], variables)


def axes_of(along: Array, side: Array) -> Array:
    """The axes of a beam (columns): along it, towards `side`, across both."""
    x, z = along / np.linalg.norm(along), np.cross(along, side)
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


LINKS: dict[str, Callable[[Instance, Values], FlexibleLink]] = {"flexible_link": _by_shape_functions}
"""Components that are flexible links, between the frames of their first two nodes."""
