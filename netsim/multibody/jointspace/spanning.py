"""The tree of a network: which joints carry which bodies, and the links (one for each freedom) from the ground to the
leaves.

The tree is the one of least depth; joints that are left over close loops and stay constraints. A body that no joint
connects with the ground is carried by three slides and a ball joint, so its coordinates are the position and rotation
of its node.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from netsim.equations.batches import form_of
from netsim.equations.inputs import bounds_of
from netsim.equations.numbering import across_scalars
from netsim.library.component import PLANAR, is_body
from netsim.multibody.jointspace.joints import (
    BENT,
    FIXED,
    MOTIONS,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Step,
    flange_of,
    steps_of,
)
from netsim.network.network import GROUND, Instance, Network
from netsim.network.values import Values
from netsim.text.expressions.sizes import flatten

Array = np.ndarray
NOWHERE = -1
NORMAL = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Link:
    """One freedom: the link before it (0 is the ground), what it is, the body it ends in (a node, NOWHERE between the
    freedoms of one joint).

    `joint` is the instance it belongs to (NOWHERE for a body without joint, whose slide goes along `direction`);
    `first` is its first coordinate of `freedom`; `sign` is -1 where the tree goes from b to a.
    """

    parent: int
    step: Step
    body: int
    joint: int
    sign: int
    first: int
    freedom: int = 0
    direction: int = 0

    @property
    def kind(self) -> int:
        return self.step.kind


@dataclass(frozen=True)
class Coordinate:
    """A joint coordinate: its name, its link, and what it is: `part` of a `flange` (a node), a `motion` (instance that
    prescribes it), else an unknown; `own` is the joint's own var that it is."""

    name: str
    link: int
    flange: int | None = None
    motion: int | None = None
    part: int = 0
    own: str = ""


@dataclass(frozen=True)
class Mechanism:
    """Links (0 the ground), coordinates, the frame number of every node that is a body, those of them in the plane, and
    the joints that are part of the tree: instance -> last link."""

    links: tuple[Link, ...]
    coordinates: tuple[Coordinate, ...]
    frames: dict[int, int]
    flat: frozenset[int]
    joints: dict[int, int]

    def component(self, frame: int, position: int) -> int:
        """The component of a twist (0 to 5) that a body's component at this position is: the third one of a body in the
        plane is its turn."""
        return 5 if position == 2 and frame in self.flat else position

    def path(self, link: int) -> list[int]:
        """The coordinates that move a link, from the ground on."""
        found: list[int] = []
        while link > 0:
            item = self.links[link]
            found = [*range(item.first, item.first + item.freedom), *found]
            link = item.parent
        return found

    def carries(self, link: int, other: int) -> bool:
        """Whether one link is on the way from another to the ground."""
        return link in self._ways[other]

    @cached_property
    def _ways(self) -> list[set[int]]:
        """The links from every link to the ground."""
        found: list[set[int]] = [{0}]
        for i, item in enumerate(self.links[1:], 1):
            found.append(found[item.parent] | {i})
        return found

    @cached_property
    def own(self) -> dict[int, list[int]]:
        """The coordinates of every joint of the tree."""
        found: dict[int, list[int]] = {i: [] for i in self.joints}
        for k, coordinate in enumerate(self.coordinates):
            if self.links[coordinate.link].joint >= 0:
                found[self.links[coordinate.link].joint].append(k)
        return found

    @cached_property
    def body_links(self) -> dict[int, int]:
        """The link that ends in a frame."""
        return {self.frames[link.body]: i for i, link in enumerate(self.links) if link.body >= 0}

    @cached_property
    def body_paths(self) -> list[list[int]]:
        """The coordinates that move a frame."""
        return [self.path(self.body_links[f]) for f in range(len(self.frames))]


def is_planar(network: Network, node: int) -> bool:
    """Whether a node is a frame in the plane of x and y."""
    return network.nodes[node].domain.name == PLANAR


def ends_of(instance: Instance) -> tuple[int, int]:
    """The nodes that a joint connects: its first two frames."""
    a, b, *_ = (
        node for node, name in zip(instance.nodes, instance.component.terminals) if takes_frames(instance, name)
    )
    return a, b


def takes_frames(instance: Instance, terminal: str) -> bool:
    """Whether a terminal takes frames."""
    return not instance.component.is_signal(terminal) and is_body(instance.component.domain(terminal))


def mechanism(network: Network, values: Values) -> Mechanism:
    """The tree of a network's spatial bodies, with the joints' coordinates whose motion a source prescribes (chi = 1)
    marked."""
    return _Growing(network, values, _motions(network, values)).grown()


@dataclass
class _Growing:
    """The lists a mechanism is gathered in."""

    network: Network
    values: Values
    motions: list[int]
    links: list[Link] = field(default_factory=lambda: [Link(NOWHERE, Step(FIXED), NOWHERE, NOWHERE, 1, 0)])
    coordinates: list[Coordinate] = field(default_factory=list)
    joints: dict[int, int] = field(default_factory=dict)
    carried: dict[int, int] = field(default_factory=lambda: {GROUND: 0})

    def grown(self) -> Mechanism:
        bodies = [i for i, node in enumerate(self.network.nodes) if is_body(node.domain)]
        neighbours: dict[int, list[tuple[int, int, int]]] = {}
        for i, instance in enumerate(self.network.instances):
            a, b = ends_of(instance) if steps_of(instance) is not None else (GROUND, GROUND)
            if a != b:
                neighbours.setdefault(a, []).append((b, i, 1))
                neighbours.setdefault(b, []).append((a, i, -1))
        self._spread(GROUND, neighbours)
        for body in bodies:
            if body not in self.carried:
                self._free(body)
                self._spread(body, neighbours)
        flat = frozenset(k for k, node in enumerate(bodies) if is_planar(self.network, node))
        return Mechanism(
            tuple(self.links), tuple(self.coordinates), {node: k for k, node in enumerate(bodies)}, flat, self.joints
        )

    def _spread(self, root: int, neighbours: dict[int, list[tuple[int, int, int]]]) -> None:
        waiting = deque([root])
        while waiting:
            node = waiting.popleft()
            for other, instance, sign in neighbours.get(node, []):
                if other not in self.carried:
                    self._joint(node, other, instance, sign)
                    waiting.append(other)

    def _joint(self, node: int, other: int, number: int, sign: int) -> None:
        instance = self.network.instances[number]
        steps = steps_of(instance) or ()
        parent = self.carried[node]
        for k, step in enumerate(steps[::sign]):
            body = other if k == len(steps) - 1 else NOWHERE
            first, link = len(self.coordinates), len(self.links)
            self.coordinates += self._coordinates(instance, step, link)
            self.links.append(Link(parent, step, body, number, sign, first, len(self.coordinates) - first))
            parent = link
        self.carried[other] = self.joints[number] = parent

    def _coordinates(self, instance: Instance, step: Step, link: int) -> list[Coordinate]:
        """The coordinates of a link."""
        if step.kind == FIXED:
            return []
        if step.kind == SPHERICAL:
            return [Coordinate(f"{instance.name}.turn.{axis}", link) for axis in "xyz"]
        flange, name = flange_of(instance, step), f"{instance.name}.{step.coordinate}"
        if flange is None and step.kind == BENT:
            form = form_of(instance, True).form
            return [Coordinate(f"{instance.name}.{form.own[k]}", link, own=form.own[k]) for k in form.coordinates]
        if flange is not None:
            parts = (
                range(len(across_scalars(instance.component.domain(step.coordinate))))
                if step.kind == BENT
                else (step.part,)
            )
            return [Coordinate(name, link, flange, part=part) for part in parts]
        return [Coordinate(name, link, motion=self._motion(instance, step), own=step.coordinate)]

    def _free(self, body: int) -> None:
        """Slides along the axes, then a ball joint, or in the plane a turn."""
        name, parent, flat = self.network.nodes[body].name, 0, is_planar(self.network, body)
        for k, axis in enumerate("xy" if flat else "xyz"):
            self.links.append(Link(parent, Step(PRISMATIC), NOWHERE, NOWHERE, 1, len(self.coordinates), 1, k))
            parent = len(self.links) - 1
            self.coordinates.append(Coordinate(f"{name}.v.{axis}", parent))
        self.links.append(
            Link(
                parent,
                Step(REVOLUTE if flat else SPHERICAL),
                body,
                NOWHERE,
                1,
                len(self.coordinates),
                1 if flat else 3,
                2,
            )
        )
        self.coordinates += [
            Coordinate(name, parent + 1) for name in ([f"{name}.w"] if flat else [f"{name}.w.{axis}" for axis in "xyz"])
        ]
        self.carried[body] = parent + 1

    def _motion(self, joint: Instance, step: Step) -> int | None:
        """The source that prescribes this coordinate: between the same nodes, along the same axis."""
        if joint.component.name == "universal" or step.coordinate in joint.component.terminals:
            return None
        wanted = axis_of(joint, step, self.values)
        for number in self.motions:
            source = self.network.instances[number]
            kind = MOTIONS[source.component.name][0]
            if kind == step.kind and source.nodes == joint.nodes:
                axis = axis_of(
                    source, Step(kind, ("axis",) if "axis" in self.values.parameters(source) else ()), self.values
                )
                if np.linalg.norm(axis - wanted) <= 1e-12:
                    self.motions.remove(number)
                    return number
        return None


def _motions(network: Network, values: Values) -> list[int]:
    """Sources of joint coordinates whose input is a function of time."""
    bounds = bounds_of(network, values)
    known = {(b.instance, b.quantity.name) for b in bounds if not b.reads_signals}
    names = {i: instance.component.name for i, instance in enumerate(network.instances)}
    return [i for i, name in names.items() if name in MOTIONS and (i, MOTIONS[name][1]) in known]


def parameter(instance: Instance, name: str, values: Values) -> Array:
    """A vector parameter of an instance, in SI."""
    return np.array(flatten(values.parameters(instance)[name].value), float)


def point(instance: Instance, name: str, values: Values) -> Array:
    """A vector parameter as one in space: what lies in the plane has no third component."""
    found = parameter(instance, name, values)
    return np.append(found, np.zeros(3 - len(found)))


def axis_of(instance: Instance, step: Step, values: Values) -> Array:
    """The unit vector of a freedom's axis in the reference placement."""
    if not step.axis:
        return NORMAL
    given = [point(instance, name, values) if name else NORMAL for name in step.axis]
    units = [axis / np.linalg.norm(axis) for axis in given]
    return reduce(lambda found, axis: np.cross(axis, found), units[-2::-1], units[-1])
