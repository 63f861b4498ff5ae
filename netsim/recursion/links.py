"""Flexible links of a network as beams of a tree: the component's data become shape functions, a section and integrals.

A new kind of link needs an entry in `LINKS`: the tree and its recursions take any set of shape functions (netsim.tree.beam.Beam).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.jointspace.spanning import parameter
from netsim.language.beams import COLUMNS, GIVEN, family_of
from netsim.network import Instance
from netsim.shapes import bending_shapes, powers, torsion_shapes
from netsim.tree.beam import Beam, Section
from netsim.values import Values

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FlexibleLink:
    """A beam in the reference placement: its axes (columns, along it first), its clamped and its other end.

    `variables` are the component's own that are elastic coordinates, with those that are their rates, in the beam's order: (name, name of the rate,
    how many)."""

    beam: Beam
    axes: Array
    start: Array
    end: Array
    variables: tuple[tuple[str, str, int], ...]


def link_of(instance: Instance, values: Values) -> FlexibleLink:
    """The beam of an instance whose type is in `LINKS`."""
    return LINKS[instance.component.name](instance, values)


def _by_shape_functions(instance: Instance, values: Values) -> FlexibleLink:
    names = ("at1", "at2", "side", "line", "EIy", "EIz", "GJ", "spin", "rotary", "shape", "damping", "mass_damping")
    given, counts = {n: parameter(instance, n, values) for n in names}, dict(instance.counts)
    span = given["at2"] - given["at1"]
    length = float(np.linalg.norm(span))
    along, across = span / length, np.cross(span, given["side"])
    across /= np.linalg.norm(across)
    n, twisting, family = counts["n"], counts["torsion"], family_of(counts["shapes"])
    bending = powers(given["shape"].reshape(-1, COLUMNS)) if family == GIVEN else bending_shapes(family, n)
    planes = (("y", "ry", n), ("z", "rz", n))[: counts["planes"]]
    line, stiff_y, stiff_z, twist, spin = (float(given[name][0]) for name in ("line", "EIy", "EIz", "GJ", "spin"))
    tilt_y, tilt_z = given["rotary"]  # towards `side` a section turns about the axis across it
    beam = Beam(
        length,
        Section(line, stiff_y, stiff_z, twist, (spin, float(tilt_z), float(tilt_y))),
        bending,
        bending if len(planes) == 2 else None,
        torsion_shapes(family, twisting) if twisting else None,
        foreshortening=bool(counts["foreshortening"]),
        damping=float(given["damping"][0]),
        mass_damping=float(given["mass_damping"][0]),
    )
    variables = (*planes, *((("t", "rt", twisting),) if twisting else ()))
    return FlexibleLink(beam, np.column_stack([along, np.cross(across, along), across]), given["at1"], given["at2"], variables)


LINKS: dict[str, Callable[[Instance, Values], FlexibleLink]] = {"flexible_link": _by_shape_functions}
"""Components that are flexible links, between the frames of their first two nodes."""
