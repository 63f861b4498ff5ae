"""A tree of bodies: what a user states (Body, Joint, Inertia or Beam), and the flat arrays the algorithms run on.

Coordinates are numbered body by body, a body's joint before its elastic coordinates, in q as in v. A flexible body
hands its motion on through
*points*: massless nodes between it and what is attached to it, whose motion relative to the body is that of the elastic
coordinates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from netsim.multibody.tree.beam import Beam

Array = np.ndarray

FIXED, REVOLUTE, PRISMATIC, SPHERICAL, FREE, POINT = range(6)
PARENT, KIND, JOINT_Q, JOINT_V, DOFS, ELASTIC_Q, ELASTIC_V, ELASTIC, FLEXIBLE, AT_POINT = range(10)
ALONG, COSINE, SINE, INERTIA = 12, 21, 30, 39
COULOMB, VISCOUS, WIDTH = 6, 7, 8
METRIC = 9
_KINDS = {
    "fixed": (FIXED, 0, 0),
    "revolute": (REVOLUTE, 1, 1),
    "prismatic": (PRISMATIC, 1, 1),
    "spherical": (SPHERICAL, 4, 3),
    "free": (FREE, 7, 6),
}


@dataclass(frozen=True)
class Joint:
    """A joint: fixed, revolute or prismatic (along `axis`, in the body's frame), spherical or free.

    Positions and velocities: angle [rad] or length [m]; spherical: unit quaternion (x, y, z, w) and angular velocity in
    body axes; free: origin, quaternion (x, y, z, w) and the body's twist (linear, angular) in its own axes, as
    Pinocchio's spherical and free-flyer joints. Friction of every axis: coulomb tanh(v/width) + viscous v.
    """

    kind: str
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    coulomb: float = 0.0
    viscous: float = 0.0
    width: float = 1e-3


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre of mass in the body's frame [m], inertia tensor about the centre [kg m2]."""

    mass: float = 0.0
    centre: Sequence[float] = (0.0, 0.0, 0.0)
    tensor: Sequence[Sequence[float]] | Array = field(default_factory=lambda: np.zeros((3, 3)))

    def __add__(self, other: "Inertia") -> "Inertia":
        """Both as one body: in the same frame, tensors moved to the common centre."""
        mass = self.mass + other.mass
        centre = (self.mass * np.asarray(self.centre) + other.mass * np.asarray(other.centre)) / (mass or 1.0)
        tensor = np.zeros((3, 3))
        for part in (self, other):
            d = np.asarray(part.centre) - centre
            tensor += np.asarray(part.tensor) + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return Inertia(mass, tuple(centre.tolist()), tensor)


@dataclass(frozen=True)
class Body:
    """A body and the joint that carries it.

    `position` and `rotation` place the joint on the parent; on a flexible parent relative to the section at `at` (0 ..
    1 of its length). `parent` is a name, or None for the ground. A beam lies along the body's x axis from its origin.
    """

    name: str
    parent: str | None
    joint: Joint
    inertia: Inertia | Beam = field(default_factory=Inertia)
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[Sequence[float]] | Array = field(default_factory=lambda: np.eye(3))
    at: float = 1.0


class Beams(NamedTuple):
    """The flexible bodies' integrals (beam.Integrals), padded to the largest: F bodies, N coordinates, Z with products.

    size (F, 2): N and the number of products; pairs (F, P, 2); linear (F, Z, 12): first, mixed; second (F, Z, Z, 10):
    second, METRIC; spin (F, N, 3); strain (F, 2, N, N): stiffness, damping; points (points, Z + 1, 6): psi, theta, and
    in the last row the place at rest and curl (see kinematics.point_motion).
    """

    size: Array
    pairs: Array
    linear: Array
    second: Array
    spin: Array
    strain: Array
    points: Array


class FlatTree(NamedTuple):
    """The nodes of a tree, 0 the ground, each after its parent: few arrays with named columns, because every array
    passed costs compilation.

    node (n, 10) integers: PARENT, KIND; JOINT_Q, JOINT_V, DOFS of its joint; ELASTIC_Q, ELASTIC_V, ELASTIC (how many)
    and FLEXIBLE (which beam) of its elastic coordinates (of a point: its parent's); AT_POINT (which point).
    rest (n, 49): the frame at rest (rotation by rows, origin); ALONG, COSINE, SINE: a revolute's rotation is along +
    cosine cos q + sine sin q; INERTIA: mass, moment, xx xy xz yy yz zz about the body's origin, undeformed.
    coordinate (nv, 9): the twist of the body per unit rate, in its own frame; COULOMB, VISCOUS, WIDTH. gravity (3).
    """

    node: Array
    rest: Array
    coordinate: Array
    gravity: Array
    beams: Beams


@dataclass(frozen=True)
class Tree:
    """A tree of bodies and its arrays. nq positions, nv velocities; node, joint and elastic coordinates (slices of v)
    by body name."""

    bodies: tuple[Body, ...]
    flat: FlatTree
    nq: int
    nv: int
    node: dict[str, int]
    joint: dict[str, slice]
    elastic: dict[str, slice]

    @property
    def nodes(self) -> int:
        """The number of nodes with the ground and the points: the length of an array of wrenches."""
        return len(self.flat.node)


@dataclass
class _Nodes:
    """The lists a FlatTree is gathered in."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    frames: list[Array] = field(default_factory=list)
    axes: list[Array] = field(default_factory=list)
    inertias: list[Array] = field(default_factory=list)

    def add(self, row: tuple[int, ...], frame: Array, axis: Array | None = None, inertia: Array | None = None) -> int:
        self.rows.append(row)
        self.frames.append(frame)
        self.axes.append(np.array([0.0, 0.0, 1.0]) if axis is None else axis)
        self.inertias.append(np.zeros(10) if inertia is None else inertia)
        return len(self.rows) - 1


def build_tree(bodies: Sequence[Body], gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Tree:
    """The tree of bodies, each named after its parent, under gravity [m/s2] in the ground's axes.

    Raises ValueError for a parent that is not named before, a name used twice, an unknown kind of joint, an axis
    without direction, or a placement that is no rotation.
    """
    nodes = _Nodes()
    nodes.add((-1, FIXED, 0, 0, 0, 0, 0, 0, -1, -1), _frame(np.eye(3), np.zeros(3)))
    node: dict[str, int] = {}
    joint: dict[str, slice] = {}
    elastic: dict[str, slice] = {}
    beams: list[Beam] = []
    points: list[tuple[Beam, float]] = []
    twists: list[Array] = []
    friction: list[tuple[float, float, float]] = []
    nq = nv = 0
    for body in bodies:
        parent, beam = _parent(body, bodies, node)
        if beam is not None and beam.count:
            owner = nodes.rows[parent]
            points.append((beam, body.at))
            parent = nodes.add(
                (parent, POINT, 0, 0, 0, *owner[5:8], owner[8], len(points) - 1), _frame(np.eye(3), np.zeros(3))
            )
        elif beam is not None:
            parent = nodes.add(
                (parent, FIXED, nq, nv, 0, nq, nv, 0, -1, -1),
                _frame(np.eye(3), np.array([body.at * beam.length, 0, 0])),
            )
        kind, width_q, width_v = _joint_kind(body)
        axis = _unit(body)
        link = body.inertia if isinstance(body.inertia, Beam) else None
        count = link.count if link else 0
        index = len(beams) if count else -1
        if link and count:
            beams.append(link)
        row = (parent, kind, nq, nv, width_v, nq + width_q, nv + width_v, count, index, -1)
        node[body.name] = nodes.add(
            row, _frame(_rotation(body), np.asarray(body.position, float)), axis, _inertia_row(body)
        )
        joint[body.name], elastic[body.name] = slice(nv, nv + width_v), slice(nv + width_v, nv + width_v + count)
        twists += [*_twists(kind, axis), *[np.zeros(6)] * count]
        friction += [(body.joint.coulomb, body.joint.viscous, body.joint.width)] * width_v + [(0.0, 0.0, 1.0)] * count
        nq, nv = nq + width_q + count, nv + width_v + count
    flat = _flatten(nodes, twists, friction, np.asarray(gravity, float), _pad(beams, points))
    return Tree(tuple(bodies), flat, nq, nv, node, joint, elastic)


def neutral(tree: Tree) -> Array:
    """The positions at rest: zeros, and unit quaternions."""
    q = np.zeros(tree.nq)
    for kind, at in tree.flat.node[:, (KIND, JOINT_Q)]:
        if kind in (SPHERICAL, FREE):
            q[at + (3 if kind == SPHERICAL else 6)] = 1.0
    return q


def _parent(body: Body, bodies: Sequence[Body], node: dict[str, int]) -> tuple[int, Beam | None]:
    if body.name in node:
        raise ValueError(f"two bodies are called '{body.name}'")
    if body.parent is None:
        return 0, None
    if body.parent not in node:
        raise ValueError(f"the parent '{body.parent}' of '{body.name}' is not among the bodies before it")
    inertia = next(b for b in bodies if b.name == body.parent).inertia
    return node[body.parent], inertia if isinstance(inertia, Beam) else None


def _joint_kind(body: Body) -> tuple[int, int, int]:
    if body.joint.kind not in _KINDS:
        raise ValueError(f"'{body.name}': no joint called '{body.joint.kind}'; there are {', '.join(_KINDS)}")
    return _KINDS[body.joint.kind]


def _unit(body: Body) -> Array:
    axis = np.asarray(body.joint.axis, float)
    size = np.linalg.norm(axis)
    if not size > 0:
        raise ValueError(f"'{body.name}': the axis of its joint has no direction")
    return axis / size


def _rotation(body: Body) -> Array:
    rotation = np.asarray(body.rotation, float)
    if rotation.shape != (3, 3) or abs(rotation @ rotation.T - np.eye(3)).max() > 1e-9 or np.linalg.det(rotation) < 0:
        raise ValueError(f"'{body.name}': its placement is no rotation matrix")
    return rotation


def _twists(kind: int, axis: Array) -> list[Array]:
    if kind == REVOLUTE:
        return [np.concatenate([np.zeros(3), axis])]
    if kind == PRISMATIC:
        return [np.concatenate([axis, np.zeros(3)])]
    return list(np.eye(6)[{FIXED: 6, SPHERICAL: 3, FREE: 0}[kind] :])


def _inertia_row(body: Body) -> Array:
    if isinstance(body.inertia, Beam):
        beam = body.inertia.integrals
        mass, moment, about = beam.mass, beam.moment, beam.inertia
    else:
        mass, centre = body.inertia.mass, np.asarray(body.inertia.centre, float)
        moment = mass * centre
        about = np.asarray(body.inertia.tensor, float) + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.array([mass, *moment, *about[np.triu_indices(3)]])


def _frame(rotation: Array, origin: Array) -> Array:
    return np.concatenate([rotation.ravel(), origin])


def skew(a: Array) -> Array:
    """[a]x, of numbers of any type."""
    return np.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def _flatten(
    nodes: _Nodes, twists: list[Array], friction: list[tuple[float, float, float]], gravity: Array, beams: Beams
) -> FlatTree:
    frame = np.array(nodes.frames)
    rotation = frame[:, :9].reshape(-1, 3, 3)
    outer = np.array([np.outer(a, a) for a in nodes.axes])
    cross = np.array([skew(a) for a in nodes.axes])
    parts = [(rotation @ part).reshape(-1, 9) for part in (outer, np.eye(3) - outer, cross)]
    rest = np.concatenate([frame, *parts, np.array(nodes.inertias)], axis=1)
    coordinate = np.concatenate(
        [np.array(twists, float).reshape(-1, 6), np.array(friction, float).reshape(-1, 3)], axis=1
    )
    return FlatTree(np.array(nodes.rows, np.int64), rest, coordinate, gravity, beams)


def _pad(beams: list[Beam], points: list[tuple[Beam, float]]) -> Beams:
    """The beams' integrals in arrays of one size each, zeros beyond a beam's own."""
    n = max([b.count for b in beams], default=0)
    p = max([len(b.pairs) for b in beams], default=0)
    z = max([b.count + len(b.pairs) for b in beams], default=0)
    size = np.array([[b.count, len(b.pairs)] for b in beams], np.int64).reshape(-1, 2)
    pairs = np.zeros((len(beams), p, 2), np.int64)
    for i, beam in enumerate(beams):
        pairs[i, : len(beam.pairs)] = np.reshape(beam.pairs, (-1, 2))
    every = [b.integrals for b in beams]
    linear = [np.concatenate([i.first, i.mixed.reshape(-1, 9)], axis=1) for i in every]
    second = [np.concatenate([i.second.reshape(*i.metric.shape, 9), i.metric[:, :, None]], axis=2) for i in every]
    strain = [np.array([i.stiffness, i.damping]) for i in every]
    shapes = [_point_row(beam, at, z) for beam, at in points]
    return Beams(
        size,
        pairs,
        _stack(linear, (z, 12)),
        _stack(second, (z, z, 10)),
        _stack([i.spin for i in every], (n, 3)),
        _stack(strain, (2, n, n)),
        _stack(shapes, (z + 1, 6)),
    )


def _point_row(beam: Beam, at: float, size: int) -> Array:
    """psi and theta of the section at a fraction of the length; in the last row its place at rest, and curl: 0 where
    theta is the angle, else 1."""
    place = np.array([at * beam.length])
    row = np.zeros((size + 1, 6))
    psi, theta = beam.displacement(place)[:, 0], beam.rotation(place)[:, 0]
    row[: len(psi), :3], row[: len(theta), 3:], row[size, 0], row[size, 3] = (
        psi,
        theta,
        place[0],
        float(not beam.in_plane),
    )
    return row


def _stack(arrays: list[Array], shape: tuple[int, ...]) -> Array:
    stacked = np.zeros((len(arrays), *shape))
    for row, array in zip(stacked, arrays):
        row[tuple(slice(size) for size in array.shape)] = array
    return stacked


def places_in_q(tree: Tree) -> Array:
    """The place in q of every velocity coordinate that has one of its own (nv,); -1 for those of rotations."""
    found = np.full(tree.nv, -1)
    for row in tree.flat.node[1:]:
        if row[KIND] != POINT:
            count, first = row[ELASTIC], row[ELASTIC_V]
            found[first : first + count] = row[ELASTIC_Q] + np.arange(count)
            if row[DOFS] == 1:
                found[row[JOINT_V]] = row[JOINT_Q]
    return found
