"""Points translated: what one formulation knows of a state, written down in the other's unknowns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netsim.component import is_kinematic
from netsim.jointspace.element import TreeElement
from netsim.jointspace.joints import SPHERICAL
from netsim.jointspace.recursion import outward
from netsim.numbering import across_scalars
from netsim.solvers.charts import recharted
from netsim.solvers.machine import Machine
from netsim.solvers.stages import derivative

Array = np.ndarray


def in_joint_coordinates(absolute: Machine, point: Array, machine: Machine) -> Array:
    """The global vector of a machine in joint coordinates at a consistent point of the absolute one, at t = 0."""
    element: TreeElement = machine.element
    layout, old = machine.system.layout, absolute.system.layout
    point, g = point.copy(), machine.g.copy()
    recharted(absolute.system, point, all_of_them=True)
    g[: layout.one] = point[: old.one]
    for ours, theirs in shared(machine, absolute):
        g[ours] = point[theirs]
    _place_coordinates(absolute, point, machine, g, element)
    set_charges(machine, g)
    return g


def shared(machine: Machine, absolute: Machine) -> Iterator[tuple[Array, Array]]:
    """Slots that both machines have: of nodes without frames, of what components own, of inputs that read signals, of charges' rates."""
    ours, theirs = machine.system, absolute.system
    for i, node in enumerate(ours.network.nodes):
        if ours.numbering.first[i] >= 0:
            size = np.arange(len(across_scalars(node.domain)))
            for level in range(3 if is_kinematic(node.domain) else 1):
                yield ours.layout.unknown(ours.numbering.first[i] + size, level), theirs.layout.unknown(theirs.numbering.first[i] + size, level)
    home = homes(absolute)
    for batch in ours.batches:
        for k, instance in enumerate(batch.instances if not batch.shapes else ()):
            other, position = home[instance.name]
            for key, numbers in batch.unknowns.items():
                if key[0] in ("own", "input") and numbers[k] >= ours.layout.nk:
                    yield ours.layout.unknown(numbers[k : k + 1], 0), theirs.layout.unknown(other.unknowns[key][position : position + 1], 0)
            if batch.n_charges == other.n_charges:
                for c in range(batch.n_charges):
                    yield ours.layout.charge(batch.charges(c)[k : k + 1], 1), theirs.layout.charge(other.charges(c)[position : position + 1], 1)


def homes(machine: Machine) -> dict:
    """Batch and position of every instance."""
    return {instance.name: (batch, k) for batch in machine.system.batches if not batch.shapes for k, instance in enumerate(batch.instances)}


def _place_coordinates(absolute: Machine, point: Array, machine: Machine, g: Array, element: TreeElement) -> None:
    """Joint coordinates, their rates and second rates, from the joints' own variables and the bodies' motion."""
    tree, plan, motion, network = element.tree, element.plan, element.motion, machine.system.network
    home = homes(absolute)
    for k, coordinate in enumerate(tree.coordinates):
        link = tree.links[coordinate.link]
        if coordinate.flange is None and coordinate.motion is None and link.joint >= 0 and link.kind != SPHERICAL:
            batch, position = home[network.instances[link.joint].name]
            unknown = batch.unknowns["own", batch.form.own.index(link.step.coordinate)][position : position + 1]
            g[plan.coordinates[k, 0]] = point[absolute.system.layout.unknown(unknown, 0)[0]]
        elif link.joint < 0 and link.kind != SPHERICAL:
            body = next(link.body for link in tree.links[coordinate.link :] if link.body >= 0)
            g[plan.coordinates[k, 0]] = _motion(absolute, point, body)[0][link.direction]
    for i, link in enumerate(tree.links):
        if link.kind == SPHERICAL:
            outward(plan, motion, g)
            turn = motion.R[link.parent].reshape(3, 3).T @ _motion(absolute, point, link.body)[1]
            g[plan.links[i, 5] : plan.links[i, 5] + 9] = turn.ravel()
    for level in (1, 2):
        outward(plan, motion, g)
        before = motion.V if level == 1 else motion.A
        for i, link in enumerate(tree.links):
            if link.body >= 0:
                chain = _chain(tree, i)
                own = [c for j in chain for c in range(tree.links[j].first, tree.links[j].first + plan.links[j, 3])]
                start = tree.links[chain[0]].parent
                wanted = _spatial(absolute, point, link.body, level) - _spatial(absolute, point, tree.links[start].body, level)
                wanted = wanted - (before[i] - before[start])
                unknown = [c for c in own if element.elements.unknown[c] >= 0 and tree.coordinates[c].flange is None]
                if unknown:
                    g[plan.coordinates[unknown, level]] += np.linalg.lstsq(motion.S[unknown].T, wanted, rcond=None)[0]
    outward(plan, motion, g)


def _chain(tree, i: int) -> list[int]:  # type: ignore[no-untyped-def]
    """The links of the joint that ends in link i, from its first one on."""
    chain = [i]
    while tree.links[chain[0]].parent > 0 and tree.links[tree.links[chain[0]].parent].body < 0:
        chain = [tree.links[chain[0]].parent, *chain]
    return chain


def _motion(absolute: Machine, point: Array, node: int) -> tuple[Array, ...]:
    """r, R, v, w, v', w' of a node of the absolute formulation, whose chart is at its rotation."""
    system = absolute.system
    first = int(system.numbering.first[node]) + np.arange(6)
    x, v, a = (point[system.layout.unknown(first, level)] for level in range(3))
    chart = system.layout.charts + 9 * int(system.numbering.frame[node])
    return x[:3], point[chart : chart + 9].reshape(3, 3), v[:3], v[3:], a[:3], a[3:]


def _spatial(absolute: Machine, point: Array, node: int, level: int) -> Array:
    """The twist (level 1) of a node about the world's origin, or its rate (level 2); of the ground zero."""
    if node < 0:
        return np.zeros(6)
    r, _, v, w, a, alpha = _motion(absolute, point, node)
    if level == 1:
        return np.concatenate([v - np.cross(w, r), w])
    return np.concatenate([a - np.cross(alpha, r) - np.cross(w, v), alpha])


def set_charges(machine: Machine, g: Array) -> None:
    """Charges from their definitions."""
    system = machine.system
    every = np.arange(system.layout.nq)
    if len(every):
        size = system.n + system.layout.nq
        g[system.layout.charge(every, 0)] -= derivative(machine, g, 0, size, np.zeros(size, np.int64))[system.n :]


__all__ = ["homes", "in_joint_coordinates", "set_charges", "shared"]
