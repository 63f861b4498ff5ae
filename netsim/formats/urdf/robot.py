"""A robot as its URDF file states it: links with inertia and shapes, joints with axis, limits, friction and mimicry, in
the order of the tree.

The format: http://wiki.ros.org/urdf/XML. Angles of `rpy` are rotations about the fixed axes x, y, z in this order:
R = Rz(y) Ry(p) Rx(r).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netsim.formats.urdf.elements import Element, read_elements
from netsim.text.errors import InputError, Problem, Span, nearest

Array = np.ndarray

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
HINGES, DRIVEN = ("revolute", "continuous"), ("revolute", "continuous", "prismatic")
UNKNOWN, VALUE, STRUCTURE = "E251", "E252", "E253"
"""Names that nothing has; figures that no body or joint has; links and joints that make no tree."""
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


def read_robot(path: Path | str) -> Robot:
    """The robot of a URDF file. Raises `InputError` with every mistake in it: E250 (XML), E251 (names), E252 (figures),
    E253 (not a tree)."""
    root = read_elements(Path(path))
    if root.tag != "robot":
        raise InputError(Problem(STRUCTURE, f"the outermost element is <{root.tag}>, not <robot>", root.span))
    xacro = next((e for e in root.children if e.tag.startswith("xacro:")), None)
    if xacro is not None:
        raise InputError(
            Problem(
                STRUCTURE,
                "this is a xacro file, not a URDF file",
                xacro.span,
                hint="convert it: xacro robot.xacro > robot.urdf",
            )
        )
    problems: list[Problem] = []
    links = _collected(root, "link", _link, problems)
    joints = _collected(root, "joint", _joint, problems)
    if not problems:
        problems += _unknown_names(links, joints) or _no_tree(root, links, joints)
    if problems:
        raise InputError(problems)
    return _ordered(root, Path(path), links, joints)


def _collected(root: Element, tag: str, read, problems: list[Problem]) -> dict:
    found: dict = {}
    for element in root.each(tag):
        try:
            item = read(element)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if item.name in found:
            problems.append(
                Problem(
                    STRUCTURE,
                    f"there are two {tag}s called '{item.name}'",
                    item.span,
                    also=((found[item.name].span, "the first one"),),
                )
            )
        found[item.name] = item
    return found


# ------------------------------------------------------------------------------------------------------ links


def _link(element: Element) -> Link:
    name, inertial = element.text("name"), element.first("inertial")
    visuals = tuple(v for e in element.each("visual") if (v := _visual(e)))
    return Link(name, _inertial(inertial, name) if inertial else None, visuals, element.span)


def rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    (a, b, c), (x, y, z) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [c * b, c * y * x - z * a, c * y * a + z * x],
            [z * b, z * y * x + c * a, z * y * a - c * x],
            [-y, b * x, b * a],
        ]
    )


def _pose(parent: Element) -> Pose:
    origin = parent.first("origin")
    if origin is None:
        return Pose(np.zeros(3), np.eye(3))
    zeros = (0.0, 0.0, 0.0)
    return Pose(np.array(origin.numbers("xyz", 3, zeros)), rotation(*origin.numbers("rpy", 3, zeros)))


def _inertial(element: Element, link: str) -> Inertial | None:
    pose, mass_text, moments = _pose(element), element.first("mass"), element.first("inertia")
    if mass_text is None:
        raise InputError(Problem("E250", f"the <inertial> of link '{link}' has no <mass>", element.span))
    mass = mass_text.number("value")
    if mass < 0:
        raise InputError(
            Problem(VALUE, f"the mass of link '{link}' is {mass:g} kg, but must not be negative", mass_text.span)
        )
    ixx, iyy, izz, ixy, ixz, iyz = (
        (moments.number(name, 0.0) if moments else 0.0) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if mass == 0 and not np.any(tensor):
        return None
    return Inertial(mass, pose.position, pose.rotation @ tensor @ pose.rotation.T)


def _visual(element: Element) -> Visual | None:
    pose, geometry = _pose(element), element.first("geometry")
    shape = next(iter(geometry.children), None) if geometry else None
    match shape.tag if shape else "":
        case "box":
            return Visual("box", shape.numbers("size", 3, (0.0,) * 3), pose)  # type: ignore[union-attr]
        case "cylinder":
            return Visual("cylinder", (shape.number("radius"), shape.number("length")), pose)  # type: ignore[union-attr]
        case "sphere":
            return Visual("sphere", (shape.number("radius"),), pose)  # type: ignore[union-attr]
        case "mesh":
            return Visual("mesh", (), pose, shape.text("filename"))  # type: ignore[union-attr]
    return None


# ----------------------------------------------------------------------------------------------------- joints


def _joint(element: Element) -> Joint:
    name, kind = element.text("name"), element.text("type")
    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"the types are {', '.join(KINDS)}"
        raise InputError(Problem(UNKNOWN, f"joint '{name}' has the unknown type '{kind}'", element.span, hint=hint))
    ends = [element.first("parent"), element.first("child")]
    if None in ends:
        raise InputError(
            Problem(
                "E250",
                f"joint '{name}' does not say its <{'parent' if ends[0] is None else 'child'} link=\"...\">",
                element.span,
            )
        )
    parent, child = (end.text("link") for end in ends)  # type: ignore[union-attr]
    given = element.first("axis")
    axis = np.array(given.numbers("xyz", 3, (1.0, 0.0, 0.0)) if given else (1.0, 0.0, 0.0))
    if kind not in ("fixed", "floating") and not np.any(axis):
        raise InputError(Problem(VALUE, f"the axis of joint '{name}' has no direction", (given or element).span))
    dynamics = element.first("dynamics")
    damping, friction = ((dynamics.number(word, 0.0) if dynamics else 0.0) for word in ("damping", "friction"))
    if damping < 0 or friction < 0:
        wrong = "damping" if damping < 0 else "friction"
        raise InputError(Problem(VALUE, f"joint '{name}' has negative {wrong}", (dynamics or element).span))
    length = np.hypot(np.hypot(*axis[:2]), axis[2]) or 1.0  # squares overflow
    limit, mimic = _limit(element, name, kind), _mimic(element, name, kind)
    return Joint(
        name, kind, parent, child, _pose(element), axis / length, limit, damping, friction, mimic, element.span
    )


def _limit(element: Element, name: str, kind: str) -> Limit | None:
    given = element.first("limit")
    if given is None or kind not in DRIVEN:
        return None
    bounded = kind != "continuous" and ("lower" in given.attributes or "upper" in given.attributes)
    lower, upper = (given.number(word, 0.0) if bounded else None for word in ("lower", "upper"))
    if lower is not None and upper is not None and lower > upper:
        raise InputError(
            Problem(VALUE, f"joint '{name}' has its lower limit {lower:g} above its upper one {upper:g}", given.span)
        )
    return Limit(lower, upper, given.number("effort", 0.0), given.number("velocity", 0.0))


def _mimic(element: Element, name: str, kind: str) -> Mimic | None:
    given = element.first("mimic")
    if given is None:
        return None
    if kind not in DRIVEN:
        return None  # it has no coordinate that could follow another
    return Mimic(given.text("joint"), given.number("multiplier", 1.0), given.number("offset", 0.0), given.span)


# ------------------------------------------------------------------------------------------------------ the tree


def _unknown_names(links: dict[str, Link], joints: dict[str, Joint]) -> list[Problem]:
    problems = []
    for joint in joints.values():
        for word, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                problems.append(
                    Problem(
                        UNKNOWN,
                        f"the {word} of joint '{joint.name}' is '{link}', and no link is called so",
                        joint.span,
                        hint=nearest(link, links),
                    )
                )
        if joint.mimic is None:
            continue
        if joint.mimic.joint not in joints:
            problems.append(
                Problem(
                    UNKNOWN,
                    f"joint '{joint.name}' mimics '{joint.mimic.joint}', and no joint is called so",
                    joint.mimic.span,
                    hint=nearest(joint.mimic.joint, joints),
                )
            )
        elif joints[joint.mimic.joint].kind not in DRIVEN:
            problems.append(
                Problem(
                    STRUCTURE,
                    f"joint '{joint.name}' mimics '{joint.mimic.joint}', which has no coordinate",
                    joint.mimic.span,
                )
            )
    return problems


def _no_tree(root: Element, links: dict[str, Link], joints: dict[str, Joint]) -> list[Problem]:
    if not links:
        return [Problem(STRUCTURE, "the robot has no link", root.span)]
    problems: list[Problem] = []
    carried: dict[str, Joint] = {}
    for joint in joints.values():
        if joint.child in carried:
            message = f"link '{joint.child}' is the child of two joints: a URDF is a tree, close loops in the netlist"
            problems.append(
                Problem(STRUCTURE, message, joint.span, also=((carried[joint.child].span, "the first one"),))
            )
        carried.setdefault(joint.child, joint)
    roots = [link for link in links.values() if link.name not in carried]
    if len(roots) > 1:
        message = f"the robot has {len(roots)} roots: {', '.join(repr(r.name) for r in roots[:4])} are no joint's child"
        problems.append(Problem(STRUCTURE, message, roots[1].span, also=((roots[0].span, "the first one"),)))
    problems += _circles({name: joint.parent for name, joint in carried.items()}, links, "link '{}' carries itself: {}")
    followed = {j.name: j.mimic.joint for j in joints.values() if j.mimic}
    return problems + _circles(followed, joints, "joint '{}' mimics itself: {}")


def _circles(above: dict[str, str], items: dict, sentence: str) -> list[Problem]:
    """A problem for each circle of names of which each has one above it."""
    problems: list[Problem] = []
    seen: set[str] = set()
    for name in above:
        path = [name]
        while path[-1] in above and above[path[-1]] not in path:
            path.append(above[path[-1]])
        if above.get(path[-1]) == name and not seen & set(path):
            seen |= set(path)
            problems.append(
                Problem(STRUCTURE, sentence.format(name, " -> ".join([*reversed(path), path[-1]])), items[name].span)
            )
    return problems


def _ordered(root: Element, path: Path, links: dict[str, Link], joints: dict[str, Joint]) -> Robot:
    """Depth first, in the order of the file."""
    below: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints.values():
        below[joint.parent].append(joint)
    first = next(name for name in links if all(j.child != name for j in joints.values()))
    order: list[Joint] = []
    waiting = below[first][::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += below[joint.child][::-1]
    names = [first, *(joint.child for joint in order)]
    return Robot(
        root.attributes.get("name", "").strip() or path.stem,
        str(path),
        tuple(links[n] for n in names),
        tuple(order),
        root.span,
    )
