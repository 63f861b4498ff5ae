"""From a model and its run to a moving scene: bodies with their shapes and joints, springs, forces of sources and
supports, paths of markers.

Nodes in space and in the plane are bodies; where there are none, nodes on a line are shown, each in a lane of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netsim.api import Model
from netsim.library.component import is_body, is_kinematic, is_rotation
from netsim.network.network import GROUND, Instance, Node
from netsim.output.bending import CHORDED, coordinates_of_links, curves_of
from netsim.output.scene import Arrow, Frame, Link, Scene, Shape, Trace, box
from netsim.output.visual_shapes import arms, body_shapes, joint_shapes, space, support
from netsim.results.samples import Samples
from netsim.text.errors import InputError, NetsimError, Problem
from netsim.text.expressions.sizes import flatten
from netsim.text.syntax import DomainDef, Name, Part

Array = np.ndarray
COLOURS = ("#3b6ea8", "#c8553d", "#4f9d69", "#8d6a9f", "#d99a2b", "#5b8e9c", "#a14a76", "#7a7a3a")
PUSH, REACTION = "#c2185b", "#7b8794"
MOST_ARROWS = 24
LONGEST_ARROW = 0.4
"""Of the size of the mechanism."""


@dataclass(frozen=True, eq=False)
class _Motion:
    """Position (nt, 3) and rotation matrices (nt, 3, 3) of a body, and where its reference placement has it."""

    position: Array
    rotation: Array
    place: Array

    def point(self, at: Array) -> Array:
        """Where a point given in the reference placement is at all times: (nt, 3)."""
        return self.position + np.einsum("tij,j->ti", self.rotation, at - self.place)

    def turned(self, vector: Array) -> Array:
        return np.einsum("tij,j->ti", self.rotation, vector)


def moving_signals(model: Model) -> list[Name]:
    """What a run must sample for its scene: position and rotation of every node that moves, forces of sources and at
    supports."""
    found: list[Name] = []
    for node in model.network.nodes:
        if is_kinematic(node.domain):
            found += [_name(node.name, q.name, node) for q in node.domain.integral]
    found += [_name(instance.name, name, instance) for instance, name in coordinates_of_links(model)]
    for instance, terminal, _ in _forces(model):
        found += [_name(f"{instance.name}.{terminal}", part, instance) for part in ("f", "t")]
    return found


def _name(path: str, quantity: str, owner: Node | Instance) -> Name:
    return Name((*(Part(text) for text in path.split(".")), Part(quantity)), span=owner.span)


def scene_of(model: Model, samples: Samples) -> Scene:
    """The scene of a run that sampled `moving_signals(model)`; raises `InputError` where nothing moves in space, in the
    plane or on a line."""
    nodes = model.network.nodes
    motions = {i: _motion(model, i, samples) for i, node in enumerate(nodes) if is_body(node.domain)}
    title = samples.name or Path(model.network.file).stem
    message = "" if samples.finished else samples.message
    if not motions:
        return _lanes(model, samples, title, message)
    motions[GROUND] = _Motion(
        np.zeros((len(samples.time), 3)), np.tile(np.eye(3), (len(samples.time), 1, 1)), np.zeros(3)
    )
    given = {i.name: _numbers(model, i) for i in model.network.instances}
    size = _size(motions, given)
    frames = _bodies(model, motions, given, size)
    traces = _traces(model, motions, given)
    return Scene(
        title, samples.time, tuple(frames), tuple(_arrows(model, motions, given, samples, size)), tuple(traces),
        tuple(_links(model, motions, given)), tuple(curves_of(model, motions, given, samples)), message=message,
    )  # fmt: skip


def _numbers(model: Model, instance: Instance) -> dict[str, Array]:
    """The parameters of an element between bodies as arrays, by name."""
    try:
        values = model.values.parameters(instance)
    except NetsimError:
        return {}
    return {name: np.array([float(x) for x in flatten(value.value)]) for name, value in values.items()}


def _body_terminals(instance: Instance) -> list[tuple[str, int]]:
    """Terminals at bodies (or at the ground they might be), with their nodes."""
    component = instance.component
    return [(t, node) for t, node in zip(component.terminals, instance.nodes) if is_body(component.domain(t))]


# --------------------------------------------------------------------------------------------------- motion


def _motion(model: Model, number: int, samples: Samples) -> _Motion:
    node, unseen = model.network.nodes[number], samples.unseen
    layout, first = model.machine.system.layout, int(model.machine.system.numbering.first[number])
    which = next(i for i, q in enumerate(node.domain.integral) if q.unit == "m" and q.size)
    axes = [unseen[name] for c in "xyz" if (name := f"{node.name}.{node.domain.integral[which].name}.{c}") in unseen]
    place = model.machine.g[layout.place(first + np.arange(len(axes)))]
    position = np.column_stack([*axes, np.zeros_like(axes[0])][:3])
    return _Motion(position, _rotation(node, unseen, len(position)), space(place))


def _rotation(node: Node, unseen: Mapping[str, Array], rows: int) -> Array:
    for i, quantity in enumerate(node.domain.integral):
        path = f"{node.name}.{quantity.name}"
        if is_rotation(node.domain, i):
            return np.stack([unseen[f"{path}[{a},{b}]"] for a in (1, 2, 3) for b in (1, 2, 3)], axis=1).reshape(
                -1, 3, 3
            )
        if not quantity.size and path in unseen:
            c, s, o = np.cos(unseen[path]), np.sin(unseen[path]), np.zeros(rows)
            return np.stack([c, -s, o, s, c, o, o, o, o + 1], axis=1).reshape(-1, 3, 3)
    return np.tile(np.eye(3), (rows, 1, 1))


def _points(given: Mapping[str, Array]) -> dict[str, Array]:
    return {name: space(given[name]) for name in ("at", "at1", "at2") if name in given and given[name].size in (2, 3)}


def _attached(given: Mapping[str, Array], terminal: int, terminals: int) -> Array | None:
    """The point by which an element holds its terminal's body: `at`, or `at1`, `at2` of its two ends."""
    points = _points(given)
    return points.get("at") if "at" in points or terminals < 2 else points.get(f"at{terminal + 1}")


def _size(motions: Mapping[int, _Motion], given: Mapping[str, dict[str, Array]]) -> float:
    """The extent of what is drawn in the reference placement, else of the motion."""
    points = [m.place for m in motions.values()] + [p for numbers in given.values() for p in _points(numbers).values()]
    spread = float(np.linalg.norm(np.ptp(points, axis=0)))
    moved = max(float(np.linalg.norm(np.ptp(m.position, axis=0))) for m in motions.values())
    return spread or moved or 1.0


# --------------------------------------------------------------------------------------------------- what is drawn


def _bodies(
    model: Model, motions: Mapping[int, _Motion], given: Mapping[str, dict[str, Array]], size: float
) -> list[Frame]:
    own: dict[int, list[Shape]] = {node: [] for node in motions}
    held: dict[int, list[Array]] = {node: [] for node in motions}
    joints: dict[int, list[Shape]] = {node: [] for node in motions}
    reach: dict[int, float] = {}
    for instance in model.network.instances:
        terminals, numbers = _body_terminals(instance), given[instance.name]
        if instance.component.definition.places:
            continue
        for k, (_, node) in enumerate(terminals):
            at = _attached(numbers, k, len(terminals))
            if at is not None:
                held[node].append(at - motions[node].place)
                reach[node] = (
                    max(reach.get(node, 0.0), float(np.linalg.norm(held[node][-1])))
                    if len(terminals) == 2
                    else reach.get(node, 0.0)
                )
        if len(terminals) == 2 and "at" in numbers and not instance.component.is_source:
            node = terminals[1][1] if terminals[1][1] != GROUND else terminals[0][1]
            joints[node] += joint_shapes(
                instance.component.name, numbers, space(numbers["at"]) - motions[node].place, size
            )
    for instance in model.network.instances:
        for _, node in _body_terminals(instance) if instance.component.definition.places else ():
            own[node] += body_shapes(given[instance.name], motions[node].place, size, reach.get(node, 0.0) or np.inf)
    frames = []
    for k, node in enumerate(n for n in motions if n != GROUND):
        shapes = (*own[node], *arms(held[node], own[node], size), *joints[node])
        motion = motions[node]
        frames.append(
            Frame(model.network.nodes[node].name, motion.position, motion.rotation, shapes, COLOURS[k % len(COLOURS)])
        )
    supports = {tuple(np.round(p, 9)): support(p, size) for p in held[GROUND]}
    return frames + ([Frame("_ground", np.zeros(3), shapes=tuple(supports.values()))] if supports else [])


def _links(model: Model, motions: Mapping[int, _Motion], given: Mapping[str, dict[str, Array]]) -> list[Link]:
    """Springs, dampers and rods between a point of one body and a point of another."""
    found = []
    for instance in model.network.instances:
        terminals, points = _body_terminals(instance), _points(given[instance.name])
        if len(terminals) == 2 and "at1" in points and "at2" in points and instance.component.name not in CHORDED:
            ends = [motions[node].point(points[f"at{k + 1}"]) for k, (_, node) in enumerate(terminals)]
            stiff, damped = (given[instance.name].get(name, np.zeros(1))[0] > 0 for name in "cd")
            found.append(Link(instance.name, ends[0], ends[1], "spring" if stiff else "damper" if damped else "line"))
    return found


def _traces(model: Model, motions: Mapping[int, _Motion], given: Mapping[str, dict[str, Array]]) -> list[Trace]:
    """Paths of markers (massless elements at a point of one body); without any, of the bodies' centres."""
    found = []
    for instance in model.network.instances:
        terminals, definition = _body_terminals(instance), instance.component.definition
        pushes = any(q.unit in ("N", "N.m") for q in definition.inputs)
        if (
            len(terminals) == 1
            and "at" in _points(given[instance.name])
            and not (definition.stores or instance.component.is_lagrangian or definition.places or pushes)
        ):
            found.append(Trace(instance.name, motions[terminals[0][1]].point(_points(given[instance.name])["at"])))
    centres = [(node, m) for node, m in motions.items() if node != GROUND]
    return found or [
        Trace(model.network.nodes[node].name, m.position, COLOURS[k % len(COLOURS)])
        for k, (node, m) in enumerate(centres)
    ]


def _forces(model: Model) -> list[tuple[Instance, str, bool]]:
    """Elements whose force on a body is shown, the terminal it acts at, and whether it is a source's: the others are
    supports on the ground."""
    found = []
    for instance in model.network.instances:
        component, terminals = instance.component, _body_terminals(instance)
        bodies = [t for t, node in terminals if node != GROUND]
        if component.is_source:
            found += [(instance, t, True) for t in bodies]
        elif len(terminals) == 2 and len(bodies) == 1 and not component.definition.places:
            found += [(instance, bodies[0], False)]
    return found[:MOST_ARROWS]


def _arrows(
    model: Model, motions: Mapping[int, _Motion], given: Mapping[str, dict[str, Array]], samples: Samples, size: float
) -> list[Arrow]:
    """Forces on bodies (minus what enters the element), at its point or else where the line of action passes nearest to
    the body's centre."""
    drawn = []
    for instance, terminal, pushes in _forces(model):
        terminals = _body_terminals(instance)
        k, node = next((k, node) for k, (t, node) in enumerate(terminals) if t == terminal)
        force, moment = (
            -_vector(samples.unseen, f"{instance.name}.{terminal}.{part}", len(samples.time)) for part in ("f", "t")
        )
        if not np.any(force):
            continue
        at = _attached(given[instance.name], k, len(terminals))
        square = np.maximum(np.sum(force**2, axis=1, keepdims=True), 1e-300)
        origin = (
            motions[node].point(at) if at is not None else motions[node].position + np.cross(force, moment) / square
        )
        # a weak force's line of action may pass anywhere
        near = np.linalg.norm(origin - motions[node].position, axis=1) < 2 * size
        origin = np.where(near[:, None], origin, motions[node].position)
        drawn.append((instance.name, origin, force, PUSH if pushes else REACTION))
    longest = max((float(np.linalg.norm(force, axis=1).max()) for _, _, force, _ in drawn), default=0.0)
    scale = LONGEST_ARROW * size / longest if longest else 0.0
    weakest = 1e-6 * longest
    return [
        Arrow(name, origin, force, scale, "N", colour)
        for name, origin, force, colour in drawn
        if np.linalg.norm(force, axis=1).max() > weakest
    ]


def _vector(unseen: Mapping[str, Array], path: str, rows: int) -> Array:
    """A sampled vector (nt, 3): of the plane with z = 0, a moment in the plane along z."""
    if path in unseen:
        return np.column_stack([np.zeros(rows), np.zeros(rows), unseen[path]])
    return np.column_stack([unseen.get(f"{path}.{c}", np.zeros(rows)) for c in "xyz"])


# --------------------------------------------------------------------------------------------------- on a line


def _lanes(model: Model, samples: Samples, title: str, message: str) -> Scene:
    """Nodes that move on a line, below one another."""
    lines = [
        (n.name, samples.unseen[f"{n.name}.{n.domain.integral[0].name}"])
        for n in model.network.nodes
        if _moves_on_a_line(n.domain)
    ]
    if not lines:
        raise InputError(
            Problem("E438", "this network has no positions to animate", hint="an animation needs mechanical nodes")
        )
    size = max(float(np.ptp([x for _, x in lines])), 1e-9)
    frames, edge = [], 0.08 * size
    for lane, (name, x) in enumerate(lines):
        position = np.column_stack([x, np.full_like(x, -0.15 * size * lane), np.zeros_like(x)])
        frames.append(Frame(name, position, shapes=(box(edge, edge, edge),), colour=COLOURS[lane % len(COLOURS)]))
    return Scene(title, samples.time, tuple(frames), message=message)


def _moves_on_a_line(domain: DomainDef) -> bool:
    return is_kinematic(domain) and domain.integral[0].unit == "m" and not domain.integral[0].size
