"""From a model and its run to a moving scene: a moving node is a body, drawn from its point to the points where elements are attached."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netsim.component import is_kinematic, is_rotation
from netsim.errors import InputError, NetsimError, Problem
from netsim.language.expressions import flatten
from netsim.language.syntax import Name, Part
from netsim.model import Model
from netsim.network import GROUND, Node
from netsim.samples import Samples
from netsim.scene import Frame, Scene, Shape, Trace, point, rod, sphere

Array = np.ndarray
COLOURS = ("#3b6ea8", "#c8553d", "#4f9d69", "#8d6a9f", "#d99a2b", "#5b8e9c", "#a14a76", "#7a7a3a")


def moving_signals(model: Model) -> list[Name]:
    """What a run must sample for its scene: position and rotation of every node that moves."""
    found: list[Name] = []
    for node in model.network.nodes:
        if is_kinematic(node.domain):
            found += [_name(node, q.name) for q in node.domain.integral]
    return found


def _name(node: Node, quantity: str) -> Name:
    return Name((*(Part(text) for text in node.name.split(".")), Part(quantity)), span=node.span)


def scene_of(model: Model, samples: Samples) -> Scene:
    """The scene of a run that sampled `moving_signals(model)`; raises `InputError` where nothing moves in space, in the plane or on a line."""
    attachments = _attachments(model)
    size = _size(attachments, samples)
    frames: list[Frame] = []
    traces: list[Trace] = []
    for number, node in enumerate(model.network.nodes):
        placed = _motion(node, samples.unseen, len(frames)) if is_kinematic(node.domain) else None
        if placed is None:
            continue
        position, rotation = placed
        colour = COLOURS[len(frames) % len(COLOURS)]
        frames.append(Frame(node.name, position, rotation, _shapes(attachments.get(number, []), size), colour))
        traces.append(Trace(node.name, position))
    if not frames:
        raise InputError(Problem("E438", "nothing moves in this network: there is nothing to animate"))
    ground = attachments.get(GROUND, [])
    if ground:
        frames.append(Frame("_ground", np.zeros(3), shapes=tuple(sphere(0.02 * size, tuple(p), "#444444") for p in ground)))
    return Scene(samples.name or "motion", samples.time, tuple(frames), traces=tuple(traces), message="" if samples.finished else samples.message)


def _motion(node: Node, unseen: Mapping[str, Array], lane: int) -> tuple[Array, Array] | None:
    """Positions (nt, 3) and rotations of a node: of space, of the plane, or on a line of its own; None for angles alone."""

    def series(name: str, count: int) -> list[Array]:
        return [unseen[f"{node.name}.{name}{s}"] for s in ((".x", ".y", ".z")[:count] if count > 1 else ("",))]

    lengths = [i for i, q in enumerate(node.domain.integral) if q.unit == "m"]
    if not lengths:
        return None
    quantity = node.domain.integral[lengths[0]]
    count = round(float(getattr(quantity.size[0], "value", 1))) if quantity.size else 1
    axes = series(quantity.name, count)
    zero = np.zeros_like(axes[0])
    if count == 1:
        return np.column_stack([axes[0], zero - 0.1 * lane, zero]), np.array([1.0, 0.0, 0.0, 0.0])
    position = np.column_stack([*axes, zero][:3])
    for i, turning in enumerate(node.domain.integral):
        if is_rotation(node.domain, i):
            matrix = [unseen[f"{node.name}.{turning.name}[{a},{b}]"] for a in (1, 2, 3) for b in (1, 2, 3)]
            return position, np.stack(matrix, axis=1).reshape(-1, 3, 3)
        if i not in lengths:
            half = unseen[f"{node.name}.{turning.name}"] / 2
            return position, np.column_stack([np.cos(half), zero, zero, np.sin(half)])
    return position, np.array([1.0, 0.0, 0.0, 0.0])


def _attachments(model: Model) -> dict[int, list[Array]]:
    """Points of each node (GROUND for the world) where elements are attached, as seen from the node in the reference placement."""
    layout, g = model.machine.system.layout, model.machine.g
    found: dict[int, list[Array]] = {}
    for instance in model.network.instances:
        try:
            at = model.values.parameters(instance).get("at")
        except NetsimError:
            at = None
        scalars = np.array([float(x) for x in flatten(at.value)]) if at is not None else np.zeros(0)
        if len(scalars) not in (2, 3):
            continue
        for node in instance.nodes:
            if node == GROUND:
                found.setdefault(GROUND, []).append(np.resize(np.append(scalars, 0.0), 3))
            elif is_kinematic(model.network.nodes[node].domain):
                first = int(model.machine.system.numbering.first[node])
                place = g[layout.place(first + np.arange(len(scalars)))]
                found.setdefault(node, []).append(np.append(scalars - place, 0.0)[:3])
    return found


def _size(attachments: Mapping[int, list[Array]], samples: Samples) -> float:
    """A length the drawing's thicknesses follow: the largest arm, else the largest excursion."""
    arms = [float(np.linalg.norm(p)) for points in attachments.values() for p in points]
    if max(arms, default=0.0) > 0:
        return max(arms)
    moved = [float(np.ptp(series)) for series in samples.unseen.values()]
    return max(moved, default=0.0) or 1.0


def _shapes(points: list[Array], size: float) -> tuple[Shape, ...]:
    """Rods from the node's point to its attachment points, a ball where it is."""
    arms = [p for p in points if np.linalg.norm(p) > 1e-6 * size]
    rods = [rod((0.0, 0.0, 0.0), (float(p[0]), float(p[1]), float(p[2])), 0.02 * size) for p in arms]
    return (*rods, sphere(0.045 * size)) if rods else (sphere(0.06 * size), point())
