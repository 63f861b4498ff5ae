"""Positions and velocities translated: from a consistent global vector to coordinates of the tree, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsim.network import Instance
from netsim.recursion.bodies import NetworkTree
from netsim.solvers.charts import recharted
from netsim.solvers.machine import Machine
from netsim.tree.model import DOFS, ELASTIC, ELASTIC_Q, ELASTIC_V, FREE, JOINT_Q, JOINT_V, KIND, PARENT, POINT, SPHERICAL, Tree
from netsim.tree.observers import jacobian, placements, twists

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Translation:
    """Slots of a global vector: of the frames (chart, x, v), of variables that are coordinates (of q) or their rates (of v), with these' places."""

    network_tree: NetworkTree
    nodes: Array
    offsets: Array
    axes: Array
    position: Array
    velocity: Array
    charts: Array
    variables: tuple[Array, Array]
    rates: tuple[Array, Array]


def translation(machine: Machine, found: NetworkTree) -> Translation:
    """The slots of a machine in absolute coordinates that a tree's motion fills."""
    system, layout = machine.system, machine.system.layout
    numbers = [n for n in found.frames if n >= 0]
    first = np.array([int(system.numbering.first[n]) for n in numbers]).reshape(-1, 1) + np.arange(6)
    charts = layout.charts + 9 * np.array([int(system.numbering.frame[n]) for n in numbers]).reshape(-1, 1) + np.arange(9)
    frames = [found.frames[n] for n in numbers]
    drawn = machine.g[layout.place(first[:, :3])]
    offsets = np.array([f.axes.T @ (d - f.origin) for f, d in zip(frames, drawn)]).reshape(-1, 3)
    q_of = places(found.tree)
    variables, rates = ([(_slots(machine, i, name), here) for i, name, here in listed] for listed in (found.variables, found.rates))
    for level, listed in enumerate((variables, rates)):
        listed += [(layout.unknown(system.numbering.first[node : node + 1], level), here) for node, here in found.flanges]
    return Translation(
        found,
        np.array([found.node(f) for f in frames]),
        offsets,
        np.array([f.axes for f in frames]).reshape(-1, 3, 3),
        layout.unknown(first, 0),
        layout.unknown(first, 1),
        charts,
        (_joined([s for s, _ in variables]), q_of[_joined([np.arange(h.start, h.stop) for _, h in variables])]),
        (_joined([s for s, _ in rates]), _joined([np.arange(h.start, h.stop) for _, h in rates])),
    )


def coordinates(machine: Machine, t: Translation, g: Array) -> tuple[Array, Array]:
    """q and v of the tree at a consistent global vector: from joints' own variables and rotations, and the frames' twists."""
    tree, g = t.network_tree.tree, g.copy()
    recharted(machine.system, g, all_of_them=True)
    q = np.zeros(tree.nq)
    q[t.variables[1]] = g[t.variables[0]]
    rotations = g[t.charts].reshape(-1, 3, 3) @ t.axes
    origins = g[t.position[:, :3]] - np.einsum("nij,nj->ni", rotations, t.offsets)
    for i, row in enumerate(tree.flat.node):
        if row[KIND] in (SPHERICAL, FREE):
            own = int(np.flatnonzero(t.nodes == i)[0])
            world, rest = placements(tree, _upright(tree, q))[row[PARENT]], tree.flat.rest[i]
            before = np.column_stack([world[:, :3] @ rest[:9].reshape(3, 3), world[:, 3] + world[:, :3] @ rest[9:12]])
            _set_frame(q, row, before, rotations[own], origins[own])
    columns, wanted = [], []
    for n, node in enumerate(t.nodes):
        turn = rotations[n]
        v, w = g[t.velocity[n, :3]], g[t.velocity[n, 3:]]
        wanted += [turn.T @ (v - np.cross(w, turn @ t.offsets[n])), turn.T @ w]
        columns.append(jacobian(tree, q, int(node)))
    return q, np.linalg.lstsq(np.concatenate(columns), np.concatenate(wanted), rcond=None)[0]


def fill(machine: Machine, t: Translation, q: Array, v: Array, g: Array) -> None:
    """Frames, their velocities, and variables that are coordinates, into a global vector; psi = 0 in charts at the present rotation."""
    tree = t.network_tree.tree
    world, (twist, _) = placements(tree, q)[t.nodes], twists(tree, q, v)
    rotation = world[:, :, :3]
    linear, angular = twist[t.nodes, :3], twist[t.nodes, 3:]
    g[t.charts] = (rotation @ np.swapaxes(t.axes, 1, 2)).reshape(-1, 9)
    g[t.position[:, :3]] = world[:, :, 3] + np.einsum("nij,nj->ni", rotation, t.offsets)
    g[t.position[:, 3:]] = 0.0
    g[t.velocity[:, :3]] = np.einsum("nij,nj->ni", rotation, linear + np.cross(angular, t.offsets))
    g[t.velocity[:, 3:]] = np.einsum("nij,nj->ni", rotation, angular)
    g[t.variables[0]] = q[t.variables[1]]
    g[t.rates[0]] = v[t.rates[1]]


def _set_frame(q: Array, row: Array, before: Array, rotation: Array, origin: Array) -> None:
    """The quaternion of a ball joint, or place and quaternion of a free body, from the joint's frame at rest and its own."""
    from scipy.spatial.transform import Rotation

    at = int(row[JOINT_Q])
    turn = Rotation.from_matrix(before[:, :3].T @ rotation).as_quat()
    if row[KIND] == FREE:
        q[at : at + 3], q[at + 3 : at + 7] = before[:, :3].T @ (origin - before[:, 3]), turn
    else:
        q[at : at + 4] = turn


def _upright(tree: Tree, q: Array) -> Array:
    """q with unit quaternions where none is known yet."""
    whole = q.copy()
    for row in tree.flat.node:
        if row[KIND] in (SPHERICAL, FREE):
            at = int(row[JOINT_Q]) + (3 if row[KIND] == FREE else 0)
            if not whole[at : at + 4].any():
                whole[at + 3] = 1.0
    return whole


def places(tree: Tree) -> Array:
    """The place in q of every coordinate that has one of its own (of rotations: 0)."""
    found = np.zeros(tree.nv, np.int64)
    for row in tree.flat.node[1:]:
        if row[KIND] != POINT:
            found[row[ELASTIC_V] : row[ELASTIC_V] + row[ELASTIC]] = row[ELASTIC_Q] + np.arange(row[ELASTIC])
            if row[DOFS] == 1:
                found[row[JOINT_V]] = row[JOINT_Q]
    return found


def _slots(machine: Machine, instance: Instance, name: str) -> Array:
    """Slots of an instance's own variable, all its components."""
    for batch in machine.system.batches:
        for k, other in enumerate(batch.instances if not batch.shapes else ()):
            if other is instance:
                own = [i for i, text in enumerate(batch.form.own) if text == name or text.startswith((f"{name}[", f"{name}."))]
                return machine.system.layout.unknown(np.array([batch.unknowns["own", i][k] for i in own]), 0)
    raise KeyError(instance.name)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
