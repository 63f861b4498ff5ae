"""A robot as its URDF file states it: links with inertia and shapes, joints with axis, limits, friction and mimicry, in
the order of the tree.

The format: http://wiki.ros.org/urdf/XML. Angles of `rpy` are rotations about the fixed axes x, y, z in this order:
R = Rz(y) Ry(p) Rx(r).
"""

from dataclasses import dataclass

import numpy as np

from netsim.text.errors import Problem, Span

Array = np.ndarray

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
HINGES, DRIVEN = ("revolute", "continuous"), ("revolute", "continuous", "prismatic")
TOLERANCE = 1e-2
"""By how much of the trace rounded figures may miss what the moments of inertia of a body obey."""


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame stands in another one: origin (3) [m] and rotation (3, 3)."""

    position: Array
    rotation: Array

    def __matmul__(self, other: "Pose") -> "Pose":
        return Pose(self.position + self.rotation @ other.position, self.rotation @ other.rotation)


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass [kg], centre of mass (3) [m] and inertia about it (3, 3) [kg m2], in the axes of the link."""

    mass: float
    centre: Array
    tensor: Array


@dataclass(frozen=True, eq=False)
class Visual:
    """What a link looks like: 'box' (three edges), 'cylinder' (radius, length along z), 'sphere' (radius) [m]; or
    'mesh', the name of a file."""

    kind: str
    size: tuple[float, ...]
    pose: Pose
    file: str = ""


@dataclass(frozen=True, eq=False)
class Link:
    """A link; without `inertial` it has no mass."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]
    span: Span


@dataclass(frozen=True)
class Limit:
    """Of a coordinate [rad or m], None where it turns for ever; of the drive's effort [N m or N] and speed."""

    lower: float | None
    upper: float | None
    effort: float
    speed: float


@dataclass(frozen=True)
class Mimic:
    """The coordinate is `multiplier` times that of `joint` plus `offset`."""

    joint: str
    multiplier: float
    offset: float
    span: Span


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint (`kind` of KINDS): the child's frame stands at `pose` in the parent's, the axis (3, of length 1) is given
    in the child's frame."""

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose
    axis: Array
    limit: Limit | None
    damping: float
    friction: float
    mimic: Mimic | None
    span: Span


@dataclass(frozen=True, eq=False)
class Robot:
    """Links and joints, each after what carries it: the first link is the root."""

    name: str
    file: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    span: Span

    @property
    def notes(self) -> list[Problem]:
        """Inertias that no body has, which are taken as they are written (N102)."""
        return [note for link in self.links if (note := _doubt(link))]

    def placements(self) -> dict[str, Pose]:
        """The frame of every link in that of the root, all coordinates zero."""
        found = {self.links[0].name: Pose(np.zeros(3), np.eye(3))}
        for joint in self.joints:
            found[joint.child] = found[joint.parent] @ joint.pose
        return found


def _doubt(link: Link) -> Problem | None:
    """What is wrong with the principal moments of a link, None where nothing is."""
    if link.inertial is None:
        return None
    small, middle, large = np.linalg.eigvalsh(link.inertial.tensor)
    negative = small < -1e-9 * abs(large)
    if not negative and large <= small + middle + TOLERANCE * abs(small + middle + large):
        return None
    which = "one of them is negative" if negative else "the largest exceeds the sum of the other two"
    message = (
        f"no body has the inertia of link '{link.name}': its principal moments are {small:.4g}, {middle:.4g}, "
        f"{large:.4g} kg m2, {which}"
    )
    return Problem("N102", message, link.span, hint="it is used as written")
