"""What drives the joints of a tree: sources beside a joint or on its flange, and what rubs there.

A source between the bodies of a joint that acts on its coordinates alone (netsim.multibody.recursion.projection), or
between the flange of a driven one and the ground, gives chi = 1 (motion) or adds to the force (chi = 0), if it is a
function of time. Other forces and couples between two bodies of the tree act on both of them as these stand
(netsim.multibody.recursion.pushes).
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from netsim.equations.inputs import bounds_of
from netsim.equations.machine import Machine
from netsim.multibody.jointspace.joints import MOTIONS, PRISMATIC, REVOLUTE, Step, flange_of
from netsim.multibody.jointspace.spanning import point
from netsim.multibody.recursion.projection import SourceAxis, chain, measures_angle, source_axis, weights
from netsim.network.network import GROUND, Instance, Network
from netsim.network.values import Values
from netsim.text.errors import Problem

POSITION, SPEED, FORCE = range(3)
ACTING = {
    **{name: (kind, given, POSITION) for name, (kind, given, _) in MOTIONS.items()},
    "hinge_speed": (REVOLUTE, "w", SPEED),
    "slide_velocity": (PRISMATIC, "v", SPEED),
    "hinge_torque": (REVOLUTE, "T", FORCE),
    "slide_force": (PRISMATIC, "F", FORCE),
    "planar_hinge_speed": (REVOLUTE, "w", SPEED),
    "planar_slide_velocity": (PRISMATIC, "u", SPEED),
    "planar_hinge_torque": (REVOLUTE, "T", FORCE),
    "planar_slide_force": (PRISMATIC, "F", FORCE),
}
"""Sources of joints: kind of the coordinate, input, and what that is of the coordinate: position or speed (chi = 1), or
force (chi = 0)."""
ON_FLANGES = {
    "angle": (REVOLUTE, "phi", POSITION),
    "speed": (REVOLUTE, "w", SPEED),
    "torque": (REVOLUTE, "T", FORCE),
    "displacement": (PRISMATIC, "s", POSITION),
    "velocity": (PRISMATIC, "v", SPEED),
    "force": (PRISMATIC, "F", FORCE),
}
"""The same between the flange of a driven joint and the ground."""
RUBBING = {"bearing_friction": ("T", "ws"), "friction": ("F", "vs")}
"""Friction on a flange: dry friction and the speed that rounds it; `d` is viscous."""
STOPS = ("hinge_stops", "slide_stops")
"""Limits of a coordinate, which do nothing without a stiffness."""
OTHER_AXIS = (
    "connect it from b to a if its axis moves with b, give an angle the other axis of the joint as `across`, "
    "or run transient()"
)


@dataclass(frozen=True)
class Source:
    """What drives a coordinate: its input, how much of that is the coordinate's
    (netsim.multibody.recursion.projection), and what it is (POSITION, SPEED, FORCE)."""

    coordinate: int
    prescribed: int
    share: float
    what: int


@dataclass(frozen=True)
class Push:
    """A force or couple between two bodies that belongs to no coordinates: the source, its input, what it does."""

    source: Instance
    prescribed: int
    acting: SourceAxis


@dataclass
class TreeSources:
    """What drives a tree: sources with the bodies in whose joints they act, pushes, and sources that are neither."""

    sources: list[tuple[Source, str]] = field(default_factory=list)
    pushes: list[Push] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def moves(self, body: str) -> bool:
        """Whether the coordinate that ends in a body follows a source."""
        return any(other == body and source.what != FORCE for source, other in self.sources)


Joints = list[tuple[Instance, list[tuple[Step, str]]]]
"""Joints, each with its freedoms and the bodies these end in."""


def sources_of_joints(machine: Machine, joints: Joints, nodes: Collection[int], used: set[str]) -> TreeSources:
    """What drives joints between bodies on `nodes`; the names of the sources are added to `used`."""
    network, values = machine.system.network, machine.values
    of_time = {
        (network.instances[b.instance].name, b.quantity.name) for b in bounds_of(network, values) if not b.reads_signals
    }
    found = TreeSources()
    for instance in network.instances:
        name = (ACTING | ON_FLANGES).get(instance.component.name, (0, "", 0))[1]
        if (instance.name, name) not in of_time:
            continue
        batch, k = machine.system.home[instance.name]
        prescribed = int(batch.prescribed_inputs["input", 0][k])
        if instance.component.name in ACTING:
            placed = _between(instance, prescribed, joints, nodes, values, found)
        else:
            placed = _at_flange(instance, prescribed, joints, found)
        used |= {instance.name} if placed else set()
    return found


def _at_flange(source: Instance, prescribed: int, joints: Joints, found: TreeSources) -> bool:
    """Add a source between the ground and a flange; False where it has no place."""
    what = ON_FLANGES[source.component.name][2]
    for joint, named in joints:
        for step, body in named:
            sign = _on_flange(source, flange_of(joint, step))
            if sign and (what == FORCE or not found.moves(body)):
                found.sources.append((Source(-1, prescribed, sign, what), body))
                return True
    return False


def _between(
    source: Instance, prescribed: int, joints: Joints, nodes: Collection[int], values: Values, found: TreeSources
) -> bool:
    """Add a source between two bodies, along the coordinates of the joint between them or as a push; False where it has
    no place."""
    kind, _, what = ACTING[source.component.name]
    does = source_axis(source, kind, values)
    joint, freedoms = next(
        ((joint, c) for joint, named in joints if (c := chain(source, joint, named, values))), (None, [])
    )
    shares = None if joint is None else weights(freedoms, point(joint, "at", values), does)
    if what == FORCE:
        if shares is not None:
            found.sources += [
                (Source(-1, prescribed, float(share), what), f.body) for share, f in zip(shares, freedoms) if share
            ]
            return True
        if placed := {*source.nodes[:2]} <= set(nodes):
            found.pushes.append(Push(source, prescribed, does))
        return placed
    if joint is None:
        return False
    moving = [] if shares is None else np.flatnonzero(shares).tolist()
    across = point(source, "across", values) if "across" in values.parameters(source) else does.axis
    if (
        shares is None
        or len(moving) != 1
        or (what == POSITION and kind == REVOLUTE and not measures_angle(freedoms, shares, across))
    ):
        message = f"recursion(): '{source.name}' prescribes no coordinate of '{joint.name}', but a function of several"
        found.problems.append(Problem("E450", message, source.span, hint=OTHER_AXIS))
        return True
    if found.moves(freedoms[moving[0]].body):
        return False
    found.sources.append((Source(-1, prescribed, float(1.0 / shares[moving[0]]), what), freedoms[moving[0]].body))
    return True


def _on_flange(source: Instance, flange: int | None) -> float:
    """1 or -1 where a source acts from the ground on a flange, or from it on the ground; else 0."""
    ends = [*source.nodes, GROUND][:2]
    if source.component.name not in ON_FLANGES or flange is None or GROUND not in ends:
        return 0.0
    return float((ends[0] == flange) - (ends[1] == flange))


def flange_friction(network: Network, values: Values, flange: int) -> tuple[tuple[float, float, float], set[str]]:
    """(dry friction, viscous damping, speed that rounds it) between a flange and the ground, by the first that rubs
    there; the names of it and of stops without stiffness."""
    found, taken = (0.0, 0.0, 1e-3), set()
    for instance in network.instances:
        if flange not in instance.nodes or instance.component.name not in (*STOPS, *RUBBING):
            continue
        own = numbers_of(instance, values)
        if instance.component.name in STOPS:
            taken |= {instance.name} if not own["c"] else set()
        elif GROUND in instance.nodes and found[:2] == (0.0, 0.0):
            dry, width = RUBBING[instance.component.name]
            found = own[dry], own["d"], own[width]
            taken.add(instance.name)
    return found, taken


def numbers_of(instance: Instance, values: Values) -> dict[str, float]:
    """The parameters of an instance that are single numbers, in SI."""
    return {n: float(v.value) for n, v in values.parameters(instance).items() if isinstance(v.value, int | float)}
