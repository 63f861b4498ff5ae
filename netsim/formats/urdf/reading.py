"""A URDF file read: elements -> links and joints, and every mistake in their figures."""

from pathlib import Path

import numpy as np

from netsim.formats.urdf.elements import Element, read_elements
from netsim.formats.urdf.robot import DRIVEN, KINDS, Inertial, Joint, Limit, Link, Mimic, Pose, Robot, Visual
from netsim.formats.urdf.tree import STRUCTURE, UNKNOWN, no_tree, ordered, unknown_names
from netsim.text.errors import InputError, Problem, nearest

Array = np.ndarray
VALUE = "E252"
"""Figures that no body or joint has."""


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
        problems += unknown_names(links, joints) or no_tree(root, links, joints)
    if problems:
        raise InputError(problems)
    return ordered(root, Path(path), links, joints)


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
    if shape is None:
        return None
    match shape.tag:
        case "box":
            return Visual("box", shape.numbers("size", 3, (0.0,) * 3), pose)
        case "cylinder":
            return Visual("cylinder", (shape.number("radius"), shape.number("length")), pose)
        case "sphere":
            return Visual("sphere", (shape.number("radius"),), pose)
        case "mesh":
            return Visual("mesh", (), pose, shape.text("filename"))
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
    limit, mimic = _limit(element, name, kind), _mimic(element, kind)
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


def _mimic(element: Element, kind: str) -> Mimic | None:
    given = element.first("mimic")
    if given is None:
        return None
    if kind not in DRIVEN:
        return None  # it has no coordinate that could follow another
    return Mimic(given.text("joint"), given.number("multiplier", 1.0), given.number("offset", 0.0), given.span)
