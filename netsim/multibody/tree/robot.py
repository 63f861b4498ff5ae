"""A robot from URDF as a tree of bodies, for the recursions alone: every link a body, carried by its joint; mimic
joints by a reduction."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netsim.formats.urdf.netlist import across
from netsim.formats.urdf.reading import read_robot
from netsim.formats.urdf.robot import DRIVEN, HINGES, Link, Robot
from netsim.formats.urdf.robot import Joint as RobotJoint
from netsim.multibody.tree.model import Array, Body, Inertia, Joint, Tree, build_tree


@dataclass(frozen=True, eq=False)
class RobotTree:
    """The tree of a robot; `velocity[joint]` are the places of a joint's coordinates in v (and tau), `position[joint]`
    in q.

    Joints that mimic others are free coordinates of `tree`. The mechanism that mimics has v = G v_free with G =
    `reduction` (nv rows, a column for each coordinate that mimics nothing), hence M_free = G^T M G and tau_free = G^T
    tau; and, where q is as long as v, q = G q_free + offset.
    """

    robot: Robot
    tree: Tree
    position: dict[str, slice]
    velocity: dict[str, slice]
    reduction: Array
    offset: Array


def robot_tree(
    source: Path | str | Robot,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    floating: bool = False,
    friction: bool = True,
) -> RobotTree:
    """The tree of a URDF file (or of what `read_robot` made of one), its root on the ground or, `floating`, on a free
    joint called 'root_joint'.

    Bodies have the names of links. A continuous joint is an angle, where Pinocchio has its cosine and sine. A planar
    joint is two slides and a hinge with massless bodies between. Without `friction` the <dynamics> of joints are left
    out, as in Pinocchio's rnea and aba. Raises `InputError` for mistakes in the file.
    """
    robot = source if isinstance(source, Robot) else read_robot(source)
    inertia = {link.name: _inertia(link) for link in robot.links}
    root = robot.links[0].name
    bodies = [Body(root, None, Joint("free" if floating else "fixed"), inertia[root])]
    own = {"root_joint": [root]}
    for joint in robot.joints:
        carried = _bodies(joint, inertia[joint.child], friction)
        own[joint.name] = [body.name for body in carried]
        bodies += carried
    tree = build_tree(bodies, gravity)
    velocity = {name: slice(tree.joint[ours[0]].start, tree.joint[ours[-1]].stop) for name, ours in own.items()}
    position, at = {}, 0
    for name, part in velocity.items():
        width = part.stop - part.start
        position[name] = slice(at, at + (7 if width == 6 else width))
        at = position[name].stop
    return RobotTree(robot, tree, position, velocity, *_reduction(robot, tree, velocity))


def _inertia(link: Link) -> Inertia:
    own = link.inertial
    return Inertia(own.mass, tuple(own.centre), own.tensor) if own else Inertia()


def _bodies(joint: RobotJoint, inertia: Inertia, friction: bool) -> list[Body]:
    rubbing = {"coulomb": joint.friction, "viscous": joint.damping} if friction else {}
    position, turned = tuple(joint.pose.position), joint.pose.rotation
    x, y, z = joint.axis
    if joint.kind == "planar":
        along = across(joint.axis)
        first, second = f"{joint.name}.x", f"{joint.name}.y"
        return [
            Body(first, joint.parent, Joint("prismatic", tuple(along)), position=position, rotation=turned),
            Body(second, first, Joint("prismatic", tuple(np.cross(joint.axis, along)))),
            Body(joint.child, second, Joint("revolute", (x, y, z)), inertia),
        ]
    if joint.kind in DRIVEN:
        kind = "revolute" if joint.kind in HINGES else "prismatic"
        return [Body(joint.child, joint.parent, Joint(kind, (x, y, z), **rubbing), inertia, position, turned)]
    return [
        Body(
            joint.child, joint.parent, Joint("free" if joint.kind == "floating" else "fixed"), inertia, position, turned
        )
    ]


def _reduction(robot: Robot, tree: Tree, velocity: dict[str, slice]) -> tuple[Array, Array]:
    """G and c of v = G v_free, q = G q_free + c: chains of mimicry followed to their end."""
    mimics = {joint.name: joint.mimic for joint in robot.joints if joint.mimic}
    led = {velocity[name].start for name in mimics}
    free = [i for i in range(tree.nv) if i not in led]
    matrix, offset = np.zeros((tree.nv, len(free))), np.zeros(tree.nv)
    matrix[free, np.arange(len(free))] = 1.0

    for name in mimics:
        factor, shift, leader = 1.0, 0.0, name
        while leader in mimics:
            given = mimics[leader]
            shift += factor * given.offset
            factor *= given.multiplier
            leader = given.joint
        at = velocity[name].start
        matrix[at, free.index(velocity[leader].start)], offset[at] = factor, shift
    return matrix, offset
