"""Points translated: what one formulation knows of a state, written down in the other's unknowns."""

from collections.abc import Iterator

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.symbols import Key
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.initial.charts import recharted
from netsim.initial.initial import set_differentiated
from netsim.library.component import is_kinematic
from netsim.multibody.jointspace.compiled.recursion import outward
from netsim.multibody.jointspace.element import TreeElement
from netsim.multibody.jointspace.joints import BENT, REVOLUTE, SPHERICAL
from netsim.multibody.jointspace.spanning import Mechanism, is_planar

Array = np.ndarray


def in_joint_coordinates(absolute: Machine, point: Array, machine: Machine) -> Array:
    """The global vector of a machine in joint coordinates at a consistent point of the absolute one, at t = 0."""
    element: TreeElement = machine.element
    layout, old = machine.system.layout, absolute.system.layout
    point, g = point.copy(), machine.g.copy()
    recharted(absolute.system, point, all_of_them=True)
    g[: layout.one] = point[: old.one]
    for ours, theirs in (*shared_slots(machine, absolute), *_discretes(machine, absolute)):
        g[ours] = point[theirs]
    _place_coordinates(absolute, point, g, element)
    set_differentiated(machine, g)
    return g


def shared_slots(machine: Machine, absolute: Machine) -> Iterator[tuple[Array, Array]]:
    """Slots that both machines have: of nodes without frames, of what components own (of elastic coordinates with their
    rates), of inputs that read signals, of rates of differentiated quantities."""
    ours, theirs = machine.system, absolute.system
    for i, node in enumerate(ours.network.nodes):
        if ours.numbering.first[i] >= 0:
            size = np.arange(len(across_scalars(node.domain)))
            for order in range(3 if is_kinematic(node.domain) else 1):
                yield (
                    ours.layout.unknown(ours.numbering.first[i] + size, order),
                    theirs.layout.unknown(theirs.numbering.first[i] + size, order),
                )
    for batch in ours.batches:
        for k, instance in enumerate(batch.instances if not batch.shapes else ()):
            other, position = absolute.system.home[instance.name]
            for mine, order, wanted in _owned(batch, other, ours.layout.nk, k):
                yield (
                    ours.layout.unknown(mine[k : k + 1], order),
                    theirs.layout.unknown(wanted[position : position + 1], 0),
                )
            if batch.n_differentiated == other.n_differentiated:
                for c in range(batch.n_differentiated):
                    yield (
                        ours.layout.differentiated(batch.differentiated(c)[k : k + 1], 1),
                        theirs.layout.differentiated(other.differentiated(c)[position : position + 1], 1),
                    )


def _discretes(machine: Machine, absolute: Machine) -> Iterator[tuple[Array, Array]]:
    """Slots of what changes at events."""
    ours, theirs = machine.system.layout, absolute.system.layout
    for batch in machine.system.batches:
        for i in range(batch.n_discretes):
            for number, instance in zip(batch.discretes(i), batch.instances):
                other, position = absolute.system.home[instance.name]
                there = other.discretes(i)[position]
                yield (
                    np.array([ours.discretes, ours.befores]) + number,
                    np.array([theirs.discretes, theirs.befores]) + there,
                )


def _owned(batch: Batch, other: Batch, nk: int, k: int) -> Iterator[tuple[Array, int, Array]]:
    """Unknowns of element k that no node has, an order, and what they are at this order in the other formulation."""
    for key, numbers in batch.unknowns.items():
        if key[0] in ("own", "input") and (numbers[k] >= nk or key[1] in batch.form.coordinates):
            yield numbers, 0, matching_unknowns(batch, other, key)
    for i, (_, rate) in batch.form.coordinates.items():
        yield batch.unknowns["own", i], 1, other.unknowns["own", other.form.own.index(rate)]


def matching_unknowns(batch: Batch, other: Batch, key: Key) -> Array:
    """The unknowns of another form of the same type that are what `key` is in this one: own ones go by their names."""
    return (
        other.unknowns["own", other.form.own.index(batch.form.own[key[1]])] if key[0] == "own" else other.unknowns[key]
    )


def _place_coordinates(absolute: Machine, point: Array, g: Array, element: TreeElement) -> None:
    """Joint coordinates, their rates and second rates, from the joints' own variables and the bodies' motion."""
    tree, plan, motion = element.tree, element.plan, element.motion
    unknown = element.elements.unknown
    own = [
        k
        for k, c in enumerate(tree.coordinates)
        if unknown[k] >= 0 and c.flange is None and tree.links[c.link].freedom == 1
    ]
    slides = []
    for k in own:
        found = _position(absolute, point, element, k)
        slides += [k] if found is None else []
        g[plan.coordinates[k, 0]] = found or 0.0
    for k in slides:
        outward(plan, motion, g)
        end = _end(tree, tree.coordinates[k].link)
        g[plan.coordinates[k, 0]] += motion.S[k, :3] @ (
            _motion(absolute, point, tree.links[end].body)[0] - motion.r[end]
        )
    for i, link in enumerate(tree.links):
        if link.kind == SPHERICAL:
            outward(plan, motion, g)
            turn = motion.R[link.parent].reshape(3, 3).T @ _motion(absolute, point, link.body)[1]
            g[plan.links[i, 5] : plan.links[i, 5] + 9] = turn.ravel()
    _place_rates(absolute, point, element, g)


def _position(absolute: Machine, point: Array, element: TreeElement, k: int) -> float | None:
    """A coordinate: the joint's own variable, the angle between bodies in the plane, the place of a free body; None of
    a slide that says neither."""
    tree = element.tree
    link = tree.links[tree.coordinates[k].link]
    body = tree.links[_end(tree, tree.coordinates[k].link)].body
    if link.joint >= 0:
        batch, position = absolute.system.home[absolute.system.network.instances[link.joint].name]
        if tree.coordinates[k].own in batch.form.own:
            number = batch.unknowns["own", batch.form.own.index(tree.coordinates[k].own)][position : position + 1]
            return float(point[absolute.system.layout.unknown(number, 0)[0]])
    if link.kind == REVOLUTE:
        start = tree.links[_chain(tree, _end(tree, tree.coordinates[k].link))[0]].parent
        turned = _angle(absolute, point, body) - _angle(absolute, point, tree.links[start].body)
        return float(element.plan.geometry[tree.coordinates[k].link, 2] * turned)
    return float(_motion(absolute, point, body)[0][link.direction]) if link.joint < 0 else None


def _place_rates(absolute: Machine, point: Array, element: TreeElement, g: Array) -> None:
    """Rates and second rates of the coordinates, joint by joint, from the twists of bodies."""
    tree, plan, motion = element.tree, element.plan, element.motion
    for order in (1, 2):
        outward(plan, motion, g)
        before = motion.V if order == 1 else motion.A
        for i, link in enumerate(tree.links):
            if link.body >= 0:
                chain = _chain(tree, i)
                own = [c for j in chain for c in range(tree.links[j].first, tree.links[j].first + plan.links[j, 3])]
                start = tree.links[chain[0]].parent
                wanted = _spatial(absolute, point, link.body, order) - _spatial(
                    absolute, point, tree.links[start].body, order
                )
                wanted = wanted - (before[i] - before[start])
                free = [
                    c
                    for c in own
                    if tree.coordinates[c].flange is None and tree.links[tree.coordinates[c].link].kind != BENT
                ]
                unknown = [c for c in free if element.elements.unknown[c] >= 0]
                if unknown:
                    g[plan.coordinates[unknown, order]] += np.linalg.lstsq(motion.S[unknown].T, wanted, rcond=None)[0]
    outward(plan, motion, g)


def _chain(tree, i: int) -> list[int]:
    """The links of the joint that ends in link i, from its first one on."""
    chain = [i]
    while tree.links[chain[0]].parent > 0 and tree.links[tree.links[chain[0]].parent].body < 0:
        chain = [tree.links[chain[0]].parent, *chain]
    return chain


def _end(tree: Mechanism, i: int) -> int:
    """The link in which the joint of link i ends."""
    return next(j for j in range(i, len(tree.links)) if tree.links[j].body >= 0)


def _angle(absolute: Machine, point: Array, node: int) -> float:
    """The angle of a body in the plane, 0 of the ground."""
    system = absolute.system
    return float(point[system.layout.unknown(system.numbering.first[node : node + 1] + 2, 0)[0]]) if node >= 0 else 0.0


def _motion(absolute: Machine, point: Array, node: int) -> tuple[Array, ...]:
    """r, R, v, w, v', w' of a node of the absolute formulation, whose chart is at its rotation; a body in the plane as
    one in space."""
    system = absolute.system
    if is_planar(system.network, node):
        x, v, a = (
            point[system.layout.unknown(int(system.numbering.first[node]) + np.arange(3), order)] for order in range(3)
        )
        c, s = np.cos(x[2]), np.sin(x[2])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        flat, normal = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        return flat * x, turn, flat * v, normal * v, flat * a, normal * a
    first = int(system.numbering.first[node]) + np.arange(6)
    x, v, a = (point[system.layout.unknown(first, order)] for order in range(3))
    chart = system.layout.charts + 9 * int(system.numbering.frame[node])
    return x[:3], point[chart : chart + 9].reshape(3, 3), v[:3], v[3:], a[:3], a[3:]


def _spatial(absolute: Machine, point: Array, node: int, order: int) -> Array:
    """The twist (order 1) of a node about the world's origin, or its rate (order 2); of the ground zero."""
    if node < 0:
        return np.zeros(6)
    r, _, v, w, a, alpha = _motion(absolute, point, node)
    if order == 1:
        return np.concatenate([v - np.cross(w, r), w])
    return np.concatenate([a - np.cross(alpha, r) - np.cross(w, v), alpha])
