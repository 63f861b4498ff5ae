"""How elements of a mechanism look: shapes of bodies and joints from their parameters, in the axes of the reference
placement.

A body by shape is drawn as it is; a body by mass and inertia as the cuboid that has both. What a body is attached by is
drawn as rods to its centre.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from netsim.output.scene import Shape, box, cylinder, quaternions, rod, sphere

Array = np.ndarray
Numbers = Mapping[str, Array]
STEEL = "#46505b"
"""The colour of joints."""
THIN = 0.018
"""Radius of a rod as a part of the mechanism's size."""

HINGES = ("revolute", "revolute_driven", "cylindrical")
SLIDERS = ("prismatic", "prismatic_driven")
PINS = ("planar_revolute", "planar_revolute_driven", "planar_pin_in_slot")
PLANAR_SLIDERS = ("planar_prismatic", "planar_prismatic_driven")


def space(point: Sequence[float] | Array) -> Array:
    """A point or direction of the plane in space; one of space as it is."""
    return np.append(np.asarray(point, float), 0.0)[:3]


def body_shapes(given: Numbers, place: Array, size: float, reach: float) -> list[Shape]:
    """The shapes of what a body element says of itself; none for a point mass, or an inertia that reaches beyond the
    body's joints (`reach`)."""
    if "at1" in given and "at2" in given:
        return [rod(_point(space(given["at1"]) - place), _point(space(given["at2"]) - place), 1.1 * THIN * size)]
    if "l" in given and given["l"].size == 3:
        return [_turned_box(given["l"], given.get("axes"))]
    if "l" in given and "r" in given:
        inner = float(given["ri"][0]) if "ri" in given else 0.0
        return [cylinder(float(given["l"][0]), float(given["r"][0]), _point(given["axis"]), inner=inner)]
    if "radius" in given:
        return [cylinder(1.5 * THIN * size, float(given["radius"][0]), (0.0, 0.0, 1.0))]
    if "r" in given:
        return [sphere(float(given["r"][0]))]
    return _cuboid(given, size, reach) if "m" in given and "I" in given else []


def _cuboid(given: Numbers, size: float, reach: float) -> list[Shape]:
    """The cuboid of mass m and inertia I: its edges obey m e_x^2/6 = I_y + I_z - I_x."""
    mass, inertia = float(given["m"][0]), given["I"]
    if inertia.size == 1:  # in the plane: a disc
        radius = float(np.sqrt(2 * inertia[0] / mass))
        return [cylinder(THIN * size, radius, (0.0, 0.0, 1.0))] if np.isinf(reach) else []
    moments, columns = np.linalg.eigh(inertia.reshape(3, 3))
    edges = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / mass, 0.0))
    if edges.max() > 2.2 * reach:
        return []
    axes = given["axes"].reshape(3, 3) @ columns if "axes" in given else columns
    return [_turned_box(np.maximum(edges, 1.5 * THIN * size), axes)]


def _turned_box(edges: Array, axes: Array | None) -> Shape:
    x, y, z = (float(e) for e in edges)
    plain = box(x, y, z)
    if axes is None:
        return plain
    columns = np.asarray(axes, float).reshape(3, 3)
    columns = columns if np.linalg.det(columns) > 0 else columns * [1, 1, -1]
    w, i, j, k = quaternions(columns)[0].tolist()
    return replace(plain, rotation=(w, i, j, k))


def arms(points: Sequence[Array], shapes: Sequence[Shape], size: float) -> list[Shape]:
    """Rods from a body's centre to where it is attached, none where it is a bar between such points; a ball where there
    is nothing else to see."""
    if any(shape.kind == "cylinder" and shape.size[0] > 3 * shape.size[1] for shape in shapes) and len(points) <= 2:
        return []
    rods = [rod((0.0, 0.0, 0.0), _point(p), THIN * size) for p in _distinct(points, size)]
    return rods or ([] if shapes else [sphere(3 * THIN * size)])


def _distinct(points: Sequence[Array], size: float) -> list[Array]:
    found: list[Array] = []
    for p in points:
        if np.linalg.norm(p) > 1e-6 * size and all(np.linalg.norm(p - q) > 1e-6 * size for q in found):
            found.append(p)
    return found


def joint_shapes(name: str, given: Numbers, at: Array, size: float) -> list[Shape]:
    """What a joint of this type looks like around `at`."""
    radius, place = 1.7 * THIN * size, _point(at)
    if name in HINGES:
        return [cylinder(4.5 * radius, radius, _point(given["axis"]), place, colour=STEEL)]
    if name in SLIDERS:
        return [_along(_point(given["axis"]), at, 5 * radius, 2 * radius)]
    if name in PLANAR_SLIDERS:
        return [_along(_point(space(given["axis"])), at, 5 * radius, 2 * radius)]
    if name in PINS:
        return [cylinder(2.5 * radius, radius, (0.0, 0.0, 1.0), place, colour=STEEL)]
    if name == "universal":
        return [
            cylinder(4 * radius, 0.6 * radius, _point(given[axis]), place, colour=STEEL) for axis in ("axis1", "axis2")
        ]
    return [sphere(1.2 * radius, place, STEEL)]


def _along(axis: tuple[float, float, float], at: Array, length: float, edge: float) -> Shape:
    """A sleeve: a box with its long edge along an axis."""
    lying = cylinder(length, edge, axis)
    return replace(box(length, edge, edge, _point(at), STEEL), rotation=lying.rotation)


def support(at: Array, size: float) -> Shape:
    """Where something is fixed to the world."""
    edge = 3.2 * THIN * size
    return box(edge, edge, edge, _point(at), "#9aa5b1")


def _point(p: Array) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in p)
    return x, y, z
