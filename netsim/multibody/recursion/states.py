"""Positions and velocities translated: from a consistent global vector to coordinates of the tree, and back."""

from dataclasses import dataclass

import numpy as np

from netsim.core.rotation import quaternion_of
from netsim.equations.machine import Machine
from netsim.initial.charts import recharted
from netsim.multibody.jointspace.spanning import is_planar
from netsim.multibody.recursion.bodies import NetworkTree
from netsim.multibody.recursion.links import ForeshortenedNode
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.observers import jacobian, placements, twists
from netsim.multibody.tree.model import Tree, neutral

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Space:
    """Frames in space: which of all, slots of position and velocity (n, 6) and of the rotation (n, 9)."""

    which: Array
    position: Array
    velocity: Array
    charts: Array


@dataclass(frozen=True, eq=False)
class Plane:
    """Frames in the plane: which of all, slots (n, 3), and the angle per unit of every coordinate (n, nv): turns about
    z add up."""

    which: Array
    position: Array
    velocity: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class Translation:
    """Of the frames: the tree's nodes, place of the point and axes in the node's own (n, 3), (n, 3, 3). Slots of a
    global vector whose values are coordinates (of q) or their rates (of v), with these' places; what draws back, with
    the places of its elastic coordinates in q and v."""

    network_tree: NetworkTree
    nodes: Array
    offsets: Array
    axes: Array
    space: Space
    plane: Plane
    coordinates: tuple[Array, Array]
    rates: tuple[Array, Array]
    drawn: tuple[tuple[ForeshortenedNode, Array, slice], ...]


def translation(machine: Machine, found: NetworkTree) -> Translation:
    """The slots of a machine in absolute coordinates that a tree's motion fills."""
    system, layout, tree = machine.system, machine.system.layout, found.tree
    numbers = [n for n in found.frames if n >= 0]
    flat = np.array([is_planar(system.network, n) for n in numbers], bool)
    frames, first = (
        [found.frames[n] for n in numbers],
        np.array([int(system.numbering.first[n]) for n in numbers], np.int64),
    )
    drawn = np.zeros((len(numbers), 3))
    for here, size in ((flat, 2), (~flat, 3)):
        drawn[here, :size] = machine.g[layout.place(first[here, None] + np.arange(size))]
    charts = layout.charts + 9 * np.array([int(system.numbering.frame[n]) for n in numbers], np.int64)
    twist, planar = first[~flat, None] + np.arange(6), first[flat, None] + np.arange(3)
    nodes, rest = np.array([found.node(f) for f in frames], np.int64), neutral(tree)
    turns = np.array([jacobian(tree, rest, int(node))[5] for node in nodes[flat]]).reshape(-1, tree.nv)
    of_q = places(tree)
    return Translation(
        found,
        nodes,
        np.array([f.axes.T @ (d - f.origin) for f, d in zip(frames, drawn)]).reshape(-1, 3),
        np.array([f.axes for f in frames]).reshape(-1, 3, 3),
        Space(
            np.flatnonzero(~flat),
            layout.unknown(twist, 0),
            layout.unknown(twist, 1),
            charts[~flat, None] + np.arange(9),
        ),
        Plane(np.flatnonzero(flat), layout.unknown(planar, 0), layout.unknown(planar, 1), turns),
        (
            _joined([s for s, _ in found.coordinates]),
            of_q[_joined([np.arange(h.start, h.stop) for _, h in found.coordinates])],
        ),
        (_joined([s for s, _ in found.rates]), _joined([np.arange(h.start, h.stop) for _, h in found.rates])),
        tuple((each, of_q[here], here) for each, here in found.drawn),
    )


def coordinates(machine: Machine, t: Translation, g: Array) -> tuple[Array, Array]:
    """q and v of the tree at a consistent global vector: from joints' own variables, the frames, and their twists."""
    tree, g = t.network_tree.tree, g.copy()
    recharted(machine.system, g, all_of_them=True)
    q = np.zeros(tree.nq)
    q[t.coordinates[1]] = g[t.coordinates[0]]
    turned, points, speeds, spins = _motions(t, g)
    rotations = turned @ t.axes
    origins = points - np.einsum("nij,nj->ni", rotations, t.offsets)
    _set_joints_in_plane(t, q, g[t.plane.position[:, 2]], origins[t.plane.which])
    for i, row in enumerate(tree.flat.node):
        if row[model.KIND] in (model.SPHERICAL, model.FREE):
            own = int(np.flatnonzero(t.nodes == i)[0])
            world, rest = placements(tree, _upright(tree, q))[row[model.PARENT]], tree.flat.rest[i]
            before = np.column_stack([world[:, :3] @ rest[:9].reshape(3, 3), world[:, 3] + world[:, :3] @ rest[9:12]])
            _set_frame(q, row, before, rotations[own], origins[own])
    columns, wanted = [], []
    for n, node in enumerate(t.nodes):
        turn, v, w = rotations[n], speeds[n], spins[n]
        wanted += [turn.T @ (v - np.cross(w, turn @ t.offsets[n])), turn.T @ w]
        columns.append(jacobian(tree, q, int(node)))
    v, matrix, others = np.zeros(tree.nv), np.concatenate(columns), np.setdiff1d(np.arange(tree.nv), t.rates[1])
    v[t.rates[1]] = g[t.rates[0]]
    v[others] = np.linalg.lstsq(matrix[:, others], np.concatenate(wanted) - matrix @ v, rcond=None)[0]
    return q, v


def _set_joints_in_plane(t: Translation, q: Array, angles: Array, origins: Array) -> None:
    """Coordinates of joints in the plane, which have no variables: angles of frames are their sums, places are linear
    in slides after that."""
    tree, of_q, jacobians = t.network_tree.tree, places(t.network_tree.tree), []
    moving = np.abs(t.plane.turns).max(axis=0, initial=0.0) > 0.0
    shown = np.isin(of_q, t.coordinates[1])
    turning, nodes = np.flatnonzero(moving & ~shown), t.nodes[t.plane.which]
    q[of_q[turning]] = np.linalg.lstsq(t.plane.turns[:, turning], angles - t.plane.turns @ q[of_q], rcond=None)[0]
    world = placements(tree, q)[nodes]
    for node, frame in zip(nodes, world):
        jacobians.append(frame[:2, :3] @ jacobian(tree, q, int(node))[:3])
    columns = np.array(jacobians).reshape(-1, tree.nv)
    sliding = np.flatnonzero((np.abs(columns).max(axis=0, initial=0.0) > 0.0) & ~moving & ~shown)
    q[of_q[sliding]] = np.linalg.lstsq(columns[:, sliding], (origins - world[:, :, 3])[:, :2].ravel(), rcond=None)[0]


def _motions(t: Translation, g: Array) -> tuple[Array, Array, Array, Array]:
    """Rotations (n, 3, 3), points, velocities and angular velocities (n, 3) of all frames, in the world's axes."""
    rotations, points, speeds, spins = np.tile(np.eye(3), (len(t.nodes), 1, 1)), *np.zeros((3, len(t.nodes), 3))
    here = t.space.which
    rotations[here] = g[t.space.charts].reshape(-1, 3, 3)
    points[here], speeds[here], spins[here] = (
        g[t.space.position[:, :3]],
        g[t.space.velocity[:, :3]],
        g[t.space.velocity[:, 3:]],
    )
    here = t.plane.which
    c, s = np.cos(g[t.plane.position[:, 2]]), np.sin(g[t.plane.position[:, 2]])
    rotations[here, 0, 0], rotations[here, 0, 1], rotations[here, 1, 0], rotations[here, 1, 1] = c, -s, s, c
    points[here, :2], speeds[here, :2], spins[here, 2] = (
        g[t.plane.position[:, :2]],
        g[t.plane.velocity[:, :2]],
        g[t.plane.velocity[:, 2]],
    )
    return rotations, points, speeds, spins


def fill(machine: Machine, t: Translation, q: Array, v: Array, g: Array) -> None:
    """Frames, their velocities, values that are coordinates or follow from them, into a global vector; psi = 0 in
    charts at the present rotation."""
    tree = t.network_tree.tree
    world, (twist, _) = placements(tree, q)[t.nodes], twists(tree, q, v)
    rotation = world[:, :, :3]
    linear, angular = twist[t.nodes, :3], twist[t.nodes, 3:]
    points = world[:, :, 3] + np.einsum("nij,nj->ni", rotation, t.offsets)
    speeds = np.einsum("nij,nj->ni", rotation, linear + np.cross(angular, t.offsets))
    here = t.space.which
    g[t.space.charts] = (rotation @ np.swapaxes(t.axes, 1, 2))[here].reshape(-1, 9)
    g[t.space.position] = np.hstack([points[here], np.zeros((len(here), 3))])
    g[t.space.velocity] = np.hstack([speeds[here], np.einsum("nij,nj->ni", rotation, angular)[here]])
    here = t.plane.which
    g[t.plane.position] = np.column_stack([points[here, :2], t.plane.turns @ q[places(tree)]])
    g[t.plane.velocity] = np.column_stack([speeds[here, :2], t.plane.turns @ v])
    g[t.coordinates[0]] = q[t.coordinates[1]]
    g[t.rates[0]] = v[t.rates[1]]
    for each, of_q, of_v in t.drawn:
        back = each.matrix @ q[of_q]
        g[each.place], g[each.rate] = back @ q[of_q] / 2, back @ v[of_v]


def _set_frame(q: Array, row: Array, before: Array, rotation: Array, origin: Array) -> None:
    """The quaternion of a ball joint, or place and quaternion of a free body, from the joint's frame at rest and its
    own."""
    at = int(row[model.JOINT_Q])
    turn = np.roll(quaternion_of(before[:, :3].T @ rotation), -1)
    if row[model.KIND] == model.FREE:
        q[at : at + 3], q[at + 3 : at + 7] = before[:, :3].T @ (origin - before[:, 3]), turn
    else:
        q[at : at + 4] = turn


def _upright(tree: Tree, q: Array) -> Array:
    """q with unit quaternions where none is known yet."""
    whole = q.copy()
    for row in tree.flat.node:
        if row[model.KIND] in (model.SPHERICAL, model.FREE):
            at = int(row[model.JOINT_Q]) + (3 if row[model.KIND] == model.FREE else 0)
            if not whole[at : at + 4].any():
                whole[at + 3] = 1.0
    return whole


def places(tree: Tree) -> Array:
    """The place in q of every coordinate that has one of its own (of rotations: 0)."""
    return np.maximum(model.places_in_q(tree), 0)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
