"""The tree of a network: its bodies, joints and flexible links as `netsim.tree` has them, and what is known of each coordinate.

All that acts must be part of it: rigid bodies, flexible links, joints, sources of a joint's coordinate or force that are functions of time (chi = 1
and chi = 0), and what exerts nothing. Anything else is refused, as is a loop of joints.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.errors import InputError, Problem
from netsim.jointspace.joints import FIXED, PRISMATIC, REVOLUTE, SPHERICAL, Step, flange_of, steps_of
from netsim.jointspace.spanning import axis_of, is_spatial, parameter
from netsim.network import GROUND, Instance
from netsim.recursion.inertias import NOTHING, RigidBody, is_silent, rigid_bodies
from netsim.recursion.links import LINKS, FlexibleLink, link_of
from netsim.recursion.sources import FORCE, SPEED, TOGETHER, Source, flange_friction, numbers_of, sources_of_joints
from netsim.solvers.machine import Machine
from netsim.tree.beam import Beam
from netsim.tree.model import PARENT, Body, Inertia, Joint, Tree, build_tree

Array = np.ndarray
ANOTHER = "run transient() instead: it serves any network"
WELD = "spatial_weld"
KINDS = {FIXED: "fixed", REVOLUTE: "revolute", PRISMATIC: "prismatic", SPHERICAL: "spherical"}


@dataclass(frozen=True)
class Frame:
    """A frame of the tree: a body, its origin and axes (columns) in the reference placement. Of a flexible link it is a section: the clamped one
    (at = 0), which moves as the body itself, or that at its end (at = 1)."""

    body: str | None
    origin: Array
    axes: Array
    at: float = 0.0


@dataclass(frozen=True, eq=False)
class NetworkTree:
    """The tree; for every spatial node its frame; own variables of instances (instance, name, slice of v; or of q) that are coordinates; sources;
    flanges (node, slice of v) whose values are coordinates."""

    tree: Tree
    frames: dict[int, Frame]
    variables: tuple[tuple[Instance, str, slice], ...]
    rates: tuple[tuple[Instance, str, slice], ...]
    sources: tuple[Source, ...]
    flanges: tuple[tuple[int, slice], ...] = ()

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
    bodies: list[Body] = field(default_factory=list)
    frames: dict[int, Frame] = field(default_factory=dict)
    joints: list[tuple[Instance, list[tuple[Step, str]], int]] = field(default_factory=list)
    links: list[tuple[Instance, str, FlexibleLink]] = field(default_factory=list)
    flanges: dict[int, str] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)
    problems: list[Problem] = field(default_factory=list)

    @property
    def network(self) -> Any:
        return self.machine.system.network

    def grow(self) -> None:
        edges: dict[int, list[tuple[int, Instance]]] = {}
        for instance in self.network.instances:
            spatial = any(n >= 0 and is_spatial(self.network, n) for n in instance.nodes[:2])
            if spatial and (steps_of(instance) is not None or instance.component.name in LINKS):
                for here, there in (instance.nodes[:2], instance.nodes[1::-1]):
                    edges.setdefault(here, []).append((there, instance))
        self.edges = edges
        self.frames[GROUND] = Frame(None, np.zeros(3), np.eye(3))
        self._spread(GROUND)
        for node in range(len(self.network.nodes)):
            if is_spatial(self.network, node) and node not in self.frames:
                self._free(node)
                self._spread(node)

    def _spread(self, root: int) -> None:
        self.waiting.append(root)
        while self.waiting:
            node = self.waiting.popleft()
            for other, instance in self.edges.get(node, []):
                if instance.name in self.used:
                    continue
                self.used.add(instance.name)
                if other in self.frames:
                    self._refuse(instance, f"'{instance.name}' closes a loop")
                elif instance.component.name not in LINKS:
                    self._joint(node, other, instance)
                    self.waiting.append(other)
                elif instance.nodes[0] != node:
                    self._refuse(instance, f"'{instance.name}' is reached from its free end", "turn it round: its first frame is the clamped end")
                else:
                    self._flexible(self.frames[node], instance)

    # ------------------------------------------------------------------------------------------- bodies

    def _joint(self, node: int, other: int, instance: Instance) -> None:
        """The bodies that carry a joint's freedoms, the last one with what hangs on the node."""
        if instance.component.name == WELD and self._welded(self.frames[node], other):
            return
        sign = 1 if instance.nodes[0] == node else -1
        steps, at = list(steps_of(instance) or ())[::sign], parameter(instance, "at", self.machine.values)
        frame, named = self.frames[node], []
        friction = self._friction(instance, steps)
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            axis = sign * axis_of(instance, step, self.machine.values) if step.axis else np.array([0.0, 0.0, 1.0])
            name = f"{instance.name} {k}"
            joint = Joint(KINDS[step.kind], tuple(axis), *friction)
            flange = flange_of(instance, step)
            if flange == GROUND or flange in self.flanges:
                self._refuse(instance, f"'{instance.name}' hands its coordinate to the ground or to a node that another joint's is")
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
        begins = [i for there, i in self.edges.get(node, []) if i.component.name in LINKS and i.nodes[0] == node and i.name not in self.used]
        if len(begins) == 1 and node not in self.masses and joint.kind != "spherical":
            link = link_of(begins[0], self.machine.values)
            if np.abs(link.start - at).max() <= TOGETHER * link.beam.length:
                self.used.add(begins[0].name)
                turned = replace(joint, axis=tuple(link.axes.T @ joint.axis))
                frame = self._add(name, parent, turned, Frame(name, at, link.axes), link.beam)
                self._end(begins[0], name, link)
                return frame
        return self._add(name, parent, joint, Frame(name, at, np.eye(3)), self._hung(node, at))

    def _flexible(self, frame: Frame, instance: Instance) -> None:
        """A flexible link fastened to a body."""
        link = link_of(instance, self.machine.values)
        self._add(instance.name, frame, Joint("fixed"), Frame(instance.name, link.start, link.axes), link.beam)
        self._end(instance, instance.name, link)

    def _end(self, instance: Instance, body: str, link: FlexibleLink) -> None:
        """The frame at a link's free end: its last section, or a body on it where there is mass, or nothing else."""
        self.links.append((instance, body, link))
        node = instance.nodes[1]
        self.waiting.append(node)
        section, name = Frame(body, link.end, link.axes, 1.0), f"{instance.name} end"
        if node not in self.masses and any(other.name not in self.used for _, other in self.edges[node]):
            self.frames[node] = section
        else:
            self.frames[node] = self._add(name, section, Joint("fixed"), Frame(name, link.end, np.eye(3)), self._hung(node, link.end))

    def _free(self, node: int) -> None:
        place, name = self._drawn(node), self.network.nodes[node].name
        self.frames[node] = self._add(name, self.frames[GROUND], Joint("free"), Frame(name, place, np.eye(3)), self._hung(node, place))

    def _add(self, name: str, parent: Frame, joint: Joint, frame: Frame, inertia: Inertia | Beam | None = None) -> Frame:
        position, rotation = parent.axes.T @ (frame.origin - parent.origin), parent.axes.T @ frame.axes
        self.bodies.append(Body(name, parent.body, joint, inertia or Inertia(), position, rotation, parent.at))
        return frame

    def _hung(self, node: int, origin: Array) -> Inertia:
        """The mass on a node, seen from a frame's origin."""
        body = self.masses.get(node, NOTHING)
        if not body.mass:
            return Inertia()
        centre = body.moment / body.mass
        about = body.inertia - body.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        return Inertia(body.mass, (self._drawn(node) - origin + centre).tolist(), about)

    def _drawn(self, node: int) -> Array:
        layout = self.machine.system.layout
        first = int(self.machine.system.numbering.first[node])
        return self.machine.g[layout.place(first + np.arange(3))].copy()

    def _friction(self, instance: Instance, steps: list[Step]) -> tuple[float, float, float]:
        """(dry friction, viscous damping, speed that rounds it); springs, and friction of joints of several freedoms, are refused."""
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
            self._refuse(instance, f"'{instance.name}' has {wrong[0]}, which the recursion does not know")
        if not single:
            return 0.0, 0.0, 1e-3
        return float(own.get("friction", 0.0)), float(own.get("d", 0.0)), float(own.get("ws", own.get("vs", 1e-3)))

    # ------------------------------------------------------------------------------------------ coordinates

    def finished(self) -> NetworkTree:
        sources = sources_of_joints(self.machine, [(joint, named) for joint, named, _ in self.joints], self.used)
        for batch in self.machine.system.batches:
            for instance in batch.instances if not batch.shapes and not is_silent(batch) else ():
                if instance.name not in self.used:
                    what = f"'{instance.name}' ({instance.component.name})"
                    rubs = bool(instance.component.definition.discretes)
                    hint = "where a joint gives `ws` (`vs`), its friction is rounded below that speed" if rubs else ANOTHER
                    self._refuse(instance, f"{what} has no place in a tree of bodies, links, joints and their sources", hint)
        if self.problems:
            raise InputError(self.problems)
        gravity = np.array(self.machine.values.world("gravity").value, float)
        tree = build_tree(self.bodies, gravity.tolist())
        variables, rates = [], []
        for instance, named, _ in self.joints:
            for step, body in named:
                if step.kind in (REVOLUTE, PRISMATIC) and flange_of(instance, step) is None:
                    variables.append((instance, step.coordinate, tree.joint[body]))
        for instance, body, link in self.links:
            first = tree.elastic[body].start
            for name, rate, count in link.variables:
                here, first = slice(first, first + count), first + count
                variables.append((instance, name, here))
                rates.append((instance, rate, here))
        found = tuple(replace(s, coordinate=tree.joint[body].start) for s, body in sources)
        flanges = tuple((node, tree.joint[body]) for node, body in self.flanges.items())
        return NetworkTree(tree, self.frames, tuple(variables), tuple(rates), found, flanges)

    def _refuse(self, instance: Instance, message: str, hint: str = ANOTHER) -> None:
        self.problems.append(Problem("E450", f"recursion(): {message}", instance.text.span, hint=hint))
