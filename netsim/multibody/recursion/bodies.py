"""The tree of a network, in space or in the plane: bodies, joints and flexible links as `netsim.multibody.tree` has
them, and what is known of each coordinate.

All that acts must be part of it: rigid bodies, flexible links, joints, sources of a joint's coordinate or force that
are functions of time (chi = 1 and chi = 0), and what exerts nothing. Anything else is refused, as is a loop of joints.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.equations.machine import Machine
from netsim.library.component import is_body
from netsim.multibody.jointspace.joints import FIXED, PRISMATIC, REVOLUTE, SPHERICAL, Step, flange_of, steps_of
from netsim.multibody.jointspace.spanning import axis_of, is_planar, point
from netsim.multibody.recursion.chains import ENDS, chains_of
from netsim.multibody.recursion.inertias import NOTHING, RigidBody, is_silent, rigid_bodies
from netsim.multibody.recursion.links import LINKS, ForeshortenedNode, PlacedLink, own_slots, placed
from netsim.multibody.recursion.projection import TOGETHER
from netsim.multibody.recursion.sources import (
    FORCE,
    SPEED,
    Push,
    Source,
    flange_friction,
    numbers_of,
    sources_of_joints,
)
from netsim.multibody.tree.beam import Beam
from netsim.multibody.tree.model import PARENT, Body, Inertia, Joint, Tree, build_tree
from netsim.network.network import GROUND, Instance
from netsim.text.errors import InputError, Problem

Array = np.ndarray
Slots = tuple[tuple[Array, slice], ...]
"""Slots of a global vector, each group with a slice of v."""
ANOTHER = "run transient() instead, which has no such restriction"
WELDS = ("spatial_weld", "planar_weld")
NO_NODE = -2
KINDS = {FIXED: "fixed", REVOLUTE: "revolute", PRISMATIC: "prismatic", SPHERICAL: "spherical"}


@dataclass(frozen=True)
class Frame:
    """A frame of the tree: a body, its origin and axes (columns) in the reference placement. Of a flexible link it is a
    section: the clamped one (at = 0), which moves as the body itself, or that at its end (at = 1)."""

    body: str | None
    origin: Array
    axes: Array
    at: float = 0.0


@dataclass(frozen=True, eq=False)
class NetworkTree:
    """The tree; for every node that is a body its frame; slots of a global vector whose values are coordinates, and
    others that are their rates, each with a slice of v; what links draw back by, with the slice of their elastic
    coordinates; sources of coordinates, and pushes between bodies."""

    tree: Tree
    frames: dict[int, Frame]
    coordinates: Slots
    rates: Slots
    drawn: tuple[tuple[ForeshortenedNode, slice], ...]
    sources: tuple[Source, ...]
    pushes: tuple[Push, ...] = ()

    @property
    def motion(self) -> Array:
        """chi: coordinates of prescribed motion (nv,)."""
        found = np.zeros(self.tree.nv, bool)
        found[[s.coordinate for s in self.sources if s.what != FORCE]] = True
        return found

    @property
    def speeds(self) -> Array:
        """Those of them whose speed alone is prescribed (nv,)."""
        found = np.zeros(self.tree.nv, bool)
        found[[s.coordinate for s in self.sources if s.what == SPEED]] = True
        return found

    def node(self, frame: Frame) -> int:
        """The tree's node that moves with a frame."""
        if frame.body is None:
            return 0
        if not frame.at:
            return self.tree.node[frame.body]
        hung = next(b.name for b in self.tree.bodies if b.parent == frame.body and b.at == frame.at)
        return int(self.tree.flat.node[self.tree.node[hung], PARENT])


def network_tree(machine: Machine) -> NetworkTree:
    """The tree of a machine's network; raises `InputError` (E450) naming all that has no place in one."""
    growing = _Growing(machine, *rigid_bodies(machine))
    growing.grow()
    return growing.finished()


@dataclass
class _Growing:
    """The lists a tree is gathered in."""

    machine: Machine
    masses: dict[int, RigidBody]
    used: set[str]
    joined: set[str] = field(default_factory=set)
    bodies: list[Body] = field(default_factory=list)
    frames: dict[int, Frame] = field(default_factory=dict)
    edges: dict[int, list[tuple[int, Instance | PlacedLink]]] = field(default_factory=dict)
    joints: list[tuple[Instance, list[tuple[Step, str]], int]] = field(default_factory=list)
    links: list[tuple[PlacedLink, str]] = field(default_factory=list)
    flanges: dict[int, str] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)
    problems: list[Problem] = field(default_factory=list)

    @property
    def network(self) -> Any:
        return self.machine.system.network

    def grow(self) -> None:
        chains, self.problems = chains_of(self.machine)
        self._join([placed(self.machine, i) for i in self.network.instances if i.component.name in LINKS] + chains)
        self._join(
            [
                i
                for i in self.network.instances
                if steps_of(i) is not None and i.component.name not in (*LINKS, *ENDS.values())
            ]
        )
        self.frames[GROUND] = Frame(None, np.zeros(3), np.eye(3))
        self._spread(GROUND)
        for number, node in enumerate(self.network.nodes):
            if is_body(node.domain) and number not in self.frames:
                self._free(number)
                self._spread(number)

    def _join(self, found: Sequence[Instance | PlacedLink]) -> None:
        """Joints and links as edges between bodies (a link that ends in no node hangs on its first alone)."""
        for item in found:
            here, there = item.nodes[:2]
            for node, other in ((here, there), (there, here)):
                if node is not None:
                    self.edges.setdefault(node, []).append((NO_NODE if other is None else other, item))

    def _spread(self, root: int) -> None:
        self.waiting.append(root)
        while self.waiting:
            node = self.waiting.popleft()
            for other, item in self.edges.get(node, []):
                if item.name in self.joined:
                    continue
                self._use(item)
                if other in self.frames:
                    self._refuse(item, f"'{item.name}' closes a loop")
                elif not isinstance(item, PlacedLink):
                    self._joint(node, other, item)
                    self.waiting.append(other)
                elif item.nodes[0] != node:
                    message = f"'{item.name}' is connected to the tree by its free end"
                    self._refuse(item, message, "exchange its frames: the first one is the clamped end")
                else:
                    self._flexible(self.frames[node], item)

    def _use(self, item: Instance | PlacedLink) -> None:
        self.joined.add(item.name)
        self.used |= {i.name for i in item.instances} if isinstance(item, PlacedLink) else {item.name}

    # ------------------------------------------------------------------------------------------- bodies

    def _joint(self, node: int, other: int, instance: Instance) -> None:
        """The bodies that carry a joint's freedoms, the last one with what hangs on the node."""
        if instance.component.name in WELDS and self._welded(self.frames[node], other):
            return
        sign = 1 if instance.nodes[0] == node else -1
        steps, at = list(steps_of(instance) or ())[::sign], point(instance, "at", self.machine.values)
        frame, named = self.frames[node], []
        friction = self._friction(instance, steps)
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            axis = sign * axis_of(instance, step, self.machine.values)
            name = f"{instance.name} {k}"
            joint = Joint(KINDS[step.kind], tuple(axis), *friction)
            flange = flange_of(instance, step)
            if flange == GROUND or flange in self.flanges:
                self._refuse(instance, f"'{instance.name}' has its flange at ground or at the flange of another joint")
            elif flange is not None:
                self.flanges[flange] = name
            if last:
                frame = self._carrier(name, frame, joint, at, other)
            else:
                frame = self._add(name, frame, joint, Frame(name, at, np.eye(3)))
            named.append((step, name))
        self.frames[other] = frame
        self.joints.append((instance, named, sign))

    def _welded(self, frame: Frame, node: int) -> bool:
        """Make what hangs on a node part of a rigid body or the ground; False on a flexible link."""
        at = next((k for k, body in enumerate(self.bodies) if body.name == frame.body), None)
        if at is not None:
            inertia = self.bodies[at].inertia
            if not isinstance(inertia, Inertia):
                return False
            both = inertia + self._hung(node, frame.origin)
            self.bodies[at] = replace(self.bodies[at], inertia=both)
        self.frames[node] = frame
        return True

    def _carrier(self, name: str, parent: Frame, joint: Joint, at: Array, node: int) -> Frame:
        """The body of a node: a flexible link itself where one begins right here and nothing else hangs on the node."""
        begins = [
            i
            for _, i in self.edges.get(node, [])
            if isinstance(i, PlacedLink) and i.nodes[0] == node and i.name not in self.joined
        ]
        if len(begins) == 1 and node not in self.masses and joint.kind != "spherical":
            link = begins[0].link
            if np.abs(link.start - at).max() <= TOGETHER * link.beam.length:
                self._use(begins[0])
                turned = replace(joint, axis=tuple(link.axes.T @ joint.axis))
                frame = self._add(name, parent, turned, Frame(name, at, link.axes), link.beam)
                self._end(begins[0], name)
                return frame
        return self._add(name, parent, joint, Frame(name, at, np.eye(3)), self._hung(node, at))

    def _flexible(self, frame: Frame, placed_link: PlacedLink) -> None:
        """A flexible link fastened to a body."""
        link, name = placed_link.link, placed_link.name
        self._add(name, frame, Joint("fixed"), Frame(name, link.start, link.axes), link.beam)
        self._end(placed_link, name)

    def _end(self, placed_link: PlacedLink, body: str) -> None:
        """The frame at a link's free end: its last section, or a body on it where there is mass, or nothing else."""
        self.links.append((placed_link, body))
        link, node = placed_link.link, placed_link.nodes[1]
        if node is None:
            return
        self.waiting.append(node)
        section, name = Frame(body, link.end, link.axes, 1.0), f"{placed_link.name} end"
        if node not in self.masses and any(other.name not in self.joined for _, other in self.edges[node]):
            self.frames[node] = section
        else:
            self.frames[node] = self._add(
                name, section, Joint("fixed"), Frame(name, link.end, np.eye(3)), self._hung(node, link.end)
            )

    def _free(self, node: int) -> None:
        """A body that no joint holds; in the plane two slides and a turn, whose coordinates are its own."""
        place, name = self._drawn(node), self.network.nodes[node].name
        if is_planar(self.network, node):
            for k, before in enumerate((None, f"{name} x")):
                self.bodies.append(Body(f"{name} {'xy'[k]}", before, Joint("prismatic", tuple(np.eye(3)[k]))))
            self.bodies.append(Body(name, f"{name} y", Joint("revolute"), self._hung(node, place)))
            self.frames[node] = Frame(name, place, np.eye(3))
            return
        self.frames[node] = self._add(
            name, self.frames[GROUND], Joint("free"), Frame(name, place, np.eye(3)), self._hung(node, place)
        )

    def _add(
        self, name: str, parent: Frame, joint: Joint, frame: Frame, inertia: Inertia | Beam | None = None
    ) -> Frame:
        position, rotation = parent.axes.T @ (frame.origin - parent.origin), parent.axes.T @ frame.axes
        self.bodies.append(Body(name, parent.body, joint, inertia or Inertia(), position, rotation, parent.at))
        return frame

    def _hung(self, node: int, origin: Array) -> Inertia:
        """The mass on a node, seen from a frame's origin."""
        body = self.masses.get(node, NOTHING)
        centre = body.moment / (body.mass or 1.0)
        about = body.inertia - body.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        return Inertia(body.mass, (self._drawn(node) - origin + centre).tolist(), about)

    def _drawn(self, node: int) -> Array:
        layout = self.machine.system.layout
        first = int(self.machine.system.numbering.first[node])
        size = 2 if is_planar(self.network, node) else 3
        return np.append(self.machine.g[layout.place(first + np.arange(size))], np.zeros(3 - size))

    def _friction(self, instance: Instance, steps: list[Step]) -> tuple[float, float, float]:
        """(dry friction, viscous damping, speed that rounds it); springs, and friction of joints of several freedoms,
        are refused."""
        flange = flange_of(instance, steps[0]) if steps else None
        if flange is not None:
            found, taken = flange_friction(self.network, self.machine.values, flange)
            self.used |= taken
            return found
        own = numbers_of(instance, self.machine.values)
        single = len(steps) == 1 and steps[0].kind in (REVOLUTE, PRISMATIC)
        known = ("d", "friction", "ws", "vs") if single else ("ws", "vs")
        wrong = [n for n, v in own.items() if v and n not in known and n.rstrip("q12xy") in ("c", "d", "friction")]
        if wrong:
            self._refuse(instance, f"'{instance.name}' has {wrong[0]}, which is not supported")
        if not single:
            return 0.0, 0.0, 1e-3
        return float(own.get("friction", 0.0)), float(own.get("d", 0.0)), float(own.get("ws", own.get("vs", 1e-3)))

    # ------------------------------------------------------------------------------------------ coordinates

    def finished(self) -> NetworkTree:
        driven = sources_of_joints(
            self.machine, [(joint, named[::sign]) for joint, named, sign in self.joints], self.frames, self.used
        )
        self.problems += driven.problems
        for batch in self.machine.system.batches:
            for instance in batch.instances if not batch.shapes and not is_silent(batch) else ():
                if instance.name not in self.used:
                    what = f"'{instance.name}' ({instance.component.name})"
                    rubs = bool(instance.component.definition.discretes)
                    rounded = "give the joint `ws` (or `vs`): its friction is rounded below that speed"
                    message = f"{what} is not allowed in a tree of bodies, links, joints and their sources"
                    self._refuse(instance, message, rounded if rubs else ANOTHER)
        if not (self.bodies or self.problems):
            hint = "run transient(): it serves every network"
            self.problems.append(Problem("E450", "recursion(): there is no body that moves", hint=hint))
        if self.problems:
            raise InputError(self.problems)
        gravity = np.array(self.machine.values.world("gravity").value, float)
        tree = build_tree(self.bodies, gravity.tolist())
        found = tuple(replace(s, coordinate=tree.joint[body].start) for s, body in driven.sources)
        return NetworkTree(tree, self.frames, *self._slots(tree), found, tuple(driven.pushes))

    def _slots(self, tree: Tree) -> tuple[Slots, Slots, tuple[tuple[ForeshortenedNode, slice], ...]]:
        """What of a global vector are coordinates of the tree, what their rates, and what follows from them."""
        system = self.machine.system
        layout, first = system.layout, system.numbering.first
        coordinates: list[tuple[Array, slice]] = []
        rates: list[tuple[Array, slice]] = []
        drawn: list[tuple[ForeshortenedNode, slice]] = []
        for instance, named, _ in self.joints:
            for step, body in named:
                if (
                    step.kind in (REVOLUTE, PRISMATIC)
                    and flange_of(instance, step) is None
                    and not is_planar(self.network, max(instance.nodes[:2]))
                ):
                    coordinates.append((own_slots(self.machine, instance, step.coordinate), tree.joint[body]))
        for node, body in self.flanges.items():
            for order, listed in enumerate((coordinates, rates)):
                listed.append((layout.unknown(first[node : node + 1], order), tree.joint[body]))
        for link, body in self.links:
            coordinates.append((link.coordinates, tree.elastic[body]))
            rates.append((link.rates, tree.elastic[body]))
            drawn += [(each, tree.elastic[body]) for each in link.drawn]
        return tuple(coordinates), tuple(rates), tuple(drawn)

    def _refuse(self, item: Instance | PlacedLink, message: str, hint: str = ANOTHER) -> None:
        self.problems.append(Problem("E450", f"recursion(): {message}", item.span, hint=hint))
