"""A robot as a subnetwork: links are nodes, joints instances of the spatial library, and every driven joint has a 1-D
node of its own, JOINT_flange.

    model puma (base : spatial)   the terminal is the root link; ground or another body carries it, or nothing: then the
    robot floats
      param at, axes              where the root's frame stands in the reference placement
      forearm   link             (forearm_node ...)

What stands on a line of the URDF has its span: a mistake found later is shown there.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from netsim.formats.format import Format
from netsim.formats.urdf.reading import read_robot
from netsim.formats.urdf.robot import DRIVEN, HINGES, Joint, Link, Robot
from netsim.text.errors import Span
from netsim.text.grammar.words import RESERVED
from netsim.text.spelling import new_name
from netsim.text.syntax import (
    Binary,
    Binding,
    Bound,
    Call,
    Expr,
    Instance,
    ModelDef,
    Name,
    Number,
    Param,
    Part,
    Program,
    Statement,
    Terminal,
    Unary,
    Use,
    Vector,
)

Array = np.ndarray


def robot_program(path: Path, alone: bool = False) -> Program:
    """What `use "robot.urdf"` brings in: the model named after the robot. With `alone` also an instance `robot` of it
    on the ground."""
    robot = read_robot(path)
    names = Names(robot)
    uses = ["spatial", *(["couplings"] if _mixes(robot) else [])]
    statements: list[Statement] = [*(Use(target, False, span=robot.span) for target in uses), _model(robot, names)]
    here = (
        (Instance(_name("robot", robot.span), names.model, (_name("ground", robot.span),), span=robot.span),)
        if alone
        else ()
    )
    return Program((*statements, *here), robot.file, tuple(robot.notes))


class Names:
    """What links and joints are called in the netlist: letters, digits and _; a joint named as a link gets `_joint`, a
    reserved word gets `_`."""

    def __init__(self, robot: Robot):
        self.model = _word(robot.name)
        taken = {"at", "axes", "hinge_stops", "slide_stops"}
        self.link: dict[str, str] = {link.name: new_name(_word(link.name), "_link", taken) for link in robot.links}
        self.joint: dict[str, str] = {
            joint.name: new_name(_word(joint.name), "_joint", taken) for joint in robot.joints
        }
        driven = [joint.name for joint in robot.joints if joint.kind in DRIVEN]
        self.flange: dict[str, str] = {name: new_name(f"{self.joint[name]}_flange", "_", taken) for name in driven}
        self.taken = taken

    def of(self, joint: str, suffix: str) -> str:
        """A further name that begins with the joint's."""
        return new_name(f"{self.joint[joint]}_{suffix}", "_", self.taken)


def _word(name: str) -> str:
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    word = f"_{word}" if word[0].isdigit() else word
    return f"{word}_" if word in RESERVED else word


def _mixes(robot: Robot) -> bool:
    """Whether a slide mimics a hinge or a hinge a slide."""
    kinds = {joint.name: joint.kind in HINGES for joint in robot.joints}
    return any(joint.mimic and kinds[joint.name] != kinds[joint.mimic.joint] for joint in robot.joints)


def _model(robot: Robot, names: Names) -> ModelDef:
    span, root = robot.span, names.link[robot.links[0].name]
    placed = robot.placements()
    zeros, ones = Vector((Number(0.0),) * 3), Call("diag", (Number(1.0),) * 3)
    three = (Number(3.0),)
    params = [
        Param("at", "m", (), zeros, three, "origin of the root link's frame in the reference placement", span=span),
        Param("axes", None, (), ones, three * 2, "columns: the axes of the root link's frame", span=span),
    ]
    bounded = [j for j in robot.joints if j.limit and j.limit.lower is not None]
    positive = (Bound(">=", Number(0.0)),)
    if any(j.kind in HINGES for j in bounded):
        params.append(
            Param(
                "hinge_stops",
                "N.m/rad",
                positive,
                Number(0.0),
                (),
                "stiffness of the hinges' stops; 0: no stops",
                span=span,
            )
        )
    if any(j.kind not in HINGES for j in bounded):
        params.append(
            Param(
                "slide_stops",
                "N/m",
                positive,
                Number(0.0),
                (),
                "stiffness of the slides' stops; 0: no stops",
                span=span,
            )
        )
    body: list = [*params]
    for link in robot.links:
        body.append(_link(link, placed[link.name].position, placed[link.name].rotation, names))
    for joint in robot.joints:
        body += _joint(joint, placed[joint.child].position, placed[joint.child].rotation, names)
    for joint in robot.joints:
        if joint.mimic:
            body += _mimic(joint, {j.name: j for j in robot.joints}, names)
    doc = f"robot {robot.name}, from {Path(robot.file).name}".replace('"', "'")
    return ModelDef(names.model, (Terminal(root, "spatial", span=span),), tuple(body), doc, span=span)


# ----------------------------------------------------------------------------------------------------- expressions


def _name(text: str, span: Span) -> Name:
    return Name((Part(text),), span=span)


def _number(value: float, span: Span, unit: str = "") -> Expr:
    number = Number(abs(float(value)), unit, span=span)
    return Unary("-", number, span=span) if value < 0 else number


def _vector(values: Array, span: Span, unit: str = "") -> Vector:
    """A vector or a matrix; what a product of rotations leaves of zero, beside the largest component, is zero."""
    rounded = np.where(np.abs(values) < 1e-15 * np.max(np.abs(values)), 0.0, values)
    items = [_vector(row, span) if np.ndim(row) else _number(row, span) for row in rounded]
    return Vector(tuple(items), unit, span=span)


def _at(position: Array, span: Span) -> Expr:
    """A point of the root's frame in the reference placement."""
    at = _name("at", span)
    return (
        Binary("+", at, Binary("*", _name("axes", span), _vector(position, span, "m"), span=span), span=span)
        if np.any(position)
        else at
    )


def _axes(rotation: Array, span: Span) -> Expr:
    axes = _name("axes", span)
    return (
        axes
        if np.allclose(rotation, np.eye(3), rtol=0, atol=1e-15)
        else Binary("*", axes, _vector(rotation, span), span=span)
    )


def _instance(name: str, type_: str, nodes: tuple[str, ...], bindings: dict[str, Expr], span: Span) -> Instance:
    given = tuple(Binding(key, value, span=span) for key, value in bindings.items())
    return Instance(_name(name, span), type_, tuple(_name(node, span) for node in nodes), given, span=span)


# ------------------------------------------------------------------------------------------------ links and joints


def _link(link: Link, position: Array, rotation: Array, names: Names) -> Instance:
    node, span = names.link[link.name], link.span
    where = {"at": _at(position, span), "axes": _axes(rotation, span)}
    name = new_name(f"{node}_body", "_", names.taken)
    if link.inertial is None:
        return _instance(name, "link_frame", (node,), where, span)
    inertial = link.inertial
    bindings: dict[str, Expr] = {
        "m": _number(inertial.mass, span, "kg"),
        "I": _vector((inertial.tensor + inertial.tensor.T) / 2, span, "kg.m2"),
    }
    if np.any(inertial.centre):
        bindings["centre"] = _vector(inertial.centre, span, "m")
    return _instance(name, "link", (node,), bindings | where, span)


def _joint(joint: Joint, position: Array, rotation: Array, names: Names) -> Iterator[Instance]:
    """A weld, `revolute_driven`, `prismatic_driven` (with friction and limits on the flange), `planar_joint`; nothing
    where the child floats."""
    ends, name, span = (names.link[joint.parent], names.link[joint.child]), names.joint[joint.name], joint.span
    at: dict[str, Expr] = {"at": _at(position, span)}
    axis = Binary("*", _name("axes", span), _vector(rotation @ joint.axis, span), span=span)
    if joint.kind == "fixed":
        yield _instance(name, "spatial_weld", ends, at, span)
    elif joint.kind == "planar":
        along = Binary("*", _name("axes", span), _vector(rotation @ across(joint.axis), span), span=span)
        yield _instance(name, "planar_joint", ends, at | {"normal": axis, "along": along}, span)
    elif joint.kind in DRIVEN:
        type_ = "revolute_driven" if joint.kind in HINGES else "prismatic_driven"
        yield _instance(name, type_, (*ends, names.flange[joint.name]), at | {"axis": axis}, span)
        yield from _dynamics(joint, names)


def across(axis: Array) -> Array:
    """The x direction of a planar joint in its plane: the joint's x axis seen along the normal, or y where that is the
    normal."""
    for e in np.eye(3):
        along = e - (e @ axis) * axis
        if np.linalg.norm(along) > 0.6:
            return along / np.linalg.norm(along)
    raise AssertionError("no vector of length 1 is near to every axis")


def _dynamics(joint: Joint, names: Names) -> Iterator[Instance]:
    flange, span, hinge = names.flange[joint.name], joint.span, joint.kind in HINGES
    force, length, damping = ("N.m", "rad", "N.m.s/rad") if hinge else ("N", "m", "N.s/m")
    if joint.damping or joint.friction:
        type_, dry = ("bearing_friction", "T") if hinge else ("friction", "F")
        figures = {dry: _number(joint.friction, span, force), "d": _number(joint.damping, span, damping)}
        yield _instance(names.of(joint.name, "friction"), type_, (flange, "ground"), figures, span)
    limit = joint.limit
    if limit and limit.lower is not None and limit.upper is not None:
        figures = {"lower": _number(limit.lower, span, length), "upper": _number(limit.upper, span, length)}
        figures |= {
            "effort": _number(abs(limit.effort), span, force),
            "speed": _number(abs(limit.speed), span, f"{length}/s"),
        }
        stops = "hinge_stops" if hinge else "slide_stops"
        yield _instance(names.of(joint.name, "limits"), stops, (flange,), figures | {"c": _name(stops, span)}, span)


def _mimic(joint: Joint, joints: dict[str, Joint], names: Names) -> Iterator[Instance]:
    """q = multiplier*q_other + offset: a gear, lever or rack between the flanges; an offset is a rigid connection
    before it."""
    given = joint.mimic
    assert given is not None
    span, hinge, of_hinge = given.span, joint.kind in HINGES, joints[given.joint].kind in HINGES
    mine, other = names.flange[joint.name], names.flange[given.joint]
    name, weld, shift, unit = (
        names.of(joint.name, "mimic"),
        *(("rotary_weld", "phi0", "rad") if hinge else ("weld", "l", "m")),
    )
    if given.multiplier == 0:
        yield _instance(name, weld, (mine, "ground"), {shift: _number(given.offset, span, unit)}, span)
        return
    if given.offset:
        mine, before = names.of(joint.name, "mimic_flange"), mine
        yield _instance(
            names.of(joint.name, "offset"), weld, (before, mine), {shift: _number(given.offset, span, unit)}, span
        )
    ratio = given.multiplier
    if hinge == of_hinge:
        yield _instance(name, "gear" if hinge else "lever", (mine, other), {"ratio": _number(ratio, span)}, span)
    elif hinge:
        yield _instance(name, "rack_pinion", (mine, other), {"r": _number(1 / ratio, span, "m")}, span)
    else:
        yield _instance(name, "rack_pinion", (other, mine), {"r": _number(ratio, span, "m")}, span)


FORMAT = Format("urdf", (".urdf",), program=lambda path, alone, types: robot_program(path, alone))
