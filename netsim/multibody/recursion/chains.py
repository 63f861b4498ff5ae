"""Chains of finite elements in a floating frame as one flexible link of a tree: Hermite's cubics are its shape
functions.

The elements' nodes keep deflections and slopes, and these are the elastic coordinates; where links draw back as they
bend, how far follows from them.
"""

from collections.abc import Iterator

import numpy as np

from netsim.equations.machine import Machine
from netsim.multibody.jointspace.spanning import point
from netsim.multibody.recursion.links import FlexibleLink, ForeshortenedNode, PlacedLink, axes_of
from netsim.multibody.tree.beam import Beam, Section
from netsim.network.network import GROUND, Instance
from netsim.network.values import Values
from netsim.text.errors import Problem
from netsim.text.expressions.shapes import ShapeFunctions, hermite, scaled

Array = np.ndarray
ENDS = {
    "planar_floating_element": "planar_floating_end",
    "planar_shortened_element": "planar_shortened_end",
    "spatial_floating_element": "spatial_floating_end",
    "spatial_shortened_element": "spatial_shortened_end",
}
"""Elements between the nodes (frame, p, n) or (frame, p, n, cp, cn), and what ends a chain of them: (frame, p, tip) or
(frame, p, c, tip)."""
DRAWN = ("planar_shortened_element", "spatial_shortened_element")
TOGETHER = 1e-9
"""Of a link's length: what differs by less is equal."""
Z = np.array([0.0, 0.0, 1.0])


def chains_of(machine: Machine) -> tuple[list[PlacedLink], list[Problem]]:
    """The chains of elements of a network, and what is wrong with others."""
    found: list[PlacedLink] = []
    problems: list[Problem] = []
    for elements, end in _runs(machine.system.network.instances):
        wrong = _refused(elements, end, machine.values)
        if wrong:
            problems.append(wrong)
        else:
            found.append(_placed(machine, elements, end, {link.name for link in found}))
    return found, problems


def _runs(instances: tuple[Instance, ...]) -> Iterator[tuple[list[Instance], Instance | None]]:
    """Elements from the clamped end on, each where the one before it ends, and what ends them."""
    following: dict[tuple[str, int, int], Instance] = {}
    for instance in instances:
        if instance.component.name in (*ENDS, *ENDS.values()):
            following.setdefault((instance.component.name, instance.nodes[0], instance.nodes[1]), instance)
    for first in instances:
        if first.component.name in ENDS and first.nodes[1] == GROUND:
            kind, elements = first.component.name, [first]
            while here := following.get((kind, first.nodes[0], elements[-1].nodes[2])):
                elements.append(here)
            yield elements, following.get((ENDS[kind], first.nodes[0], elements[-1].nodes[2]))


def _numbers(instance: Instance, values: Values) -> dict[str, Array]:
    """An instance's parameters by name; what lies in the plane has no third component, `at1` and `at` are the root."""
    lengths = values.parameters(instance)
    return {("root" if n in ("at", "at1") else n): point(instance, n, values) for n in lengths}


def _refused(elements: list[Instance], end: Instance | None, values: Values) -> Problem | None:
    """Why a chain is no link of a tree: one section, one straight line, no load but gravity."""
    first, reach = _numbers(elements[0], values), 0.0
    length = sum(_number(e, "l", values) for e in elements)
    for element in elements:
        own = _numbers(element, values)
        apart = abs(own["from"][0] - first["from"][0] - reach) > TOGETHER * length
        reach += own["l"][0]
        others = [
            n
            for n, v in own.items()
            if n not in ("from", "l") and np.abs(v - first[n]).max() > TOGETHER * np.abs(v).max()
        ]
        if others or apart:
            what = f"has another {others[0]} than" if others else "does not begin at the end of"
            message = (
                f"recursion(): '{element.name}' {what} the elements before it: a link of a tree has one section "
                "and one axis"
            )
            return Problem("E450", message, element.text.span)
    if np.any(first["load"]):
        message = f"recursion(): '{elements[0].name}' has a load: links of a tree carry gravity only"
        return Problem("E450", message, elements[0].text.span)
    if end is not None:
        own, along = _numbers(end, values), first["axis"] / np.linalg.norm(first["axis"])
        place = first["root"] + (first["from"][0] + length) * along
        there = own.pop("root") if "root" in own else own["at2"]
        if np.abs(there - place).max() > TOGETHER * length or np.abs(own["axis"] - first["axis"]).max() > TOGETHER:
            return Problem(
                "E450", f"recursion(): '{end.name}' is not placed at the end of the last element", end.text.span
            )
    return None


def _placed(machine: Machine, elements: list[Instance], end: Instance | None, taken: set[str]) -> PlacedLink:
    numbers = _numbers(elements[0], machine.values)
    lengths = np.array([_number(e, "l", machine.values) for e in elements])
    planar, drawn = "side" not in numbers, elements[0].component.name in DRAWN
    start = numbers["root"] + numbers["from"][0] * numbers["axis"] / np.linalg.norm(numbers["axis"])
    axes = axes_of(numbers["axis"], np.cross(Z, numbers["axis"]) if planar else numbers["side"])
    length = float(lengths.sum())
    line, stiff_y, stiff_z = (
        float(numbers[n][0]) for n in (("line", "EI", "EI") if planar else ("line", "EIy", "EIz"))
    )
    shapes = _deflections(lengths)
    beam = Beam(
        length,
        Section(line, stiff_y, stiff_z),
        shapes,
        None if planar else shapes,
        foreshortening=drawn,
        damping=float(numbers["damping"][0]),
        in_plane=planar,
        by_elements=drawn,
    )
    layout, first = machine.system.layout, machine.system.numbering.first
    planes = 1 if planar else 2
    # a node's numbers are its deflections, then its slopes: (u, s), or (u1, u2, s1, s2)
    order = np.concatenate(
        [[int(first[e.nodes[2]]) + k for e in elements for k in (plane, planes + plane)] for plane in range(planes)]
    )
    back = []
    for k, element in enumerate(elements if drawn else ()):
        slots = [
            int(layout.unknown(first[element.nodes[4] : element.nodes[4] + 1], derivative)[0]) for derivative in (0, 1)
        ]
        back.append(
            ForeshortenedNode(
                slots[0], slots[1], beam.shortening(float(lengths[: k + 1].sum()) if k + 1 < len(lengths) else length)
            )
        )
    parts = (*elements, *((end,) if end else ()))
    name = elements[0].name.rpartition(".")[0]
    return PlacedLink(
        name if name and name not in taken else elements[0].name,
        (elements[0].nodes[0], end.nodes[-1] if end else None),
        parts,
        FlexibleLink(beam, axes, start, start + length * axes[:, 0]),
        layout.unknown(order, 0),
        layout.unknown(order, 1),
        tuple(back),
    )


def _deflections(lengths: Array) -> ShapeFunctions:
    """Hermite's cubics whose coordinates are deflections [m] and slopes [rad] of the elements' ends."""
    ends = np.cumsum(lengths) / lengths.sum()
    ends[-1] = 1.0
    return scaled(hermite(ends.tolist()), np.tile([1.0, lengths.sum()], len(lengths)))


def _number(instance: Instance, name: str, values: Values) -> float:
    return float(point(instance, name, values)[0])
