"""What drives the joints of a tree: sources beside a joint or on its flange, and what rubs there.

A source between the bodies of a joint, along its axis, or between the flange of a driven one and the ground, gives chi = 1 (motion) or adds to the
force (chi = 0), if it is a function of time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsim.inputs import bounds_of
from netsim.jointspace.joints import MOTIONS, PRISMATIC, REVOLUTE, Step, flange_of
from netsim.jointspace.spanning import axis_of
from netsim.network import GROUND, Instance, Network
from netsim.solvers.machine import Machine
from netsim.values import Values

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
"""Sources of joints: kind of the coordinate, input, and what that is of the coordinate: position or speed (chi = 1), or force (chi = 0)."""
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
TOGETHER = 1e-12


@dataclass(frozen=True)
class Source:
    """What prescribes a coordinate: the drive, the sign with which it enters, and what it is (POSITION, SPEED, FORCE)."""

    coordinate: int
    drive: int
    sign: float
    what: int


def sources_of_joints(machine: Machine, joints: list[tuple[Instance, list[tuple[Step, str]]]], used: set[str]) -> list[tuple[Source, str]]:
    """The sources of joints (each with its freedoms and the bodies these end in), with the body of each; their names are added to `used`."""
    network, values = machine.system.network, machine.values
    bounds = bounds_of(network, values)
    of_time = {(network.instances[b.instance].name, b.quantity.name) for b in bounds if not b.reads_signals}
    freedoms = [(joint, step, body) for joint, named in joints for step, body in named]
    found, moved = [], set()
    for instance in network.instances:
        kind, name, what = (ACTING | ON_FLANGES).get(instance.component.name, (None, "", FORCE))
        if kind is None or (instance.name, name) not in of_time:
            continue
        for joint, step, body in freedoms:
            sign = _on_flange(instance, flange_of(joint, step)) or _along(instance, joint, step, kind, values)
            if sign and (body not in moved or what == FORCE) and instance.name not in used:
                batch, k = machine.system.home[instance.name]
                found.append((Source(-1, int(batch.drives["input", 0][k]), sign, what), body))
                used.add(instance.name)
                moved |= {body} if what != FORCE else set()
    return found


def _on_flange(source: Instance, flange: int | None) -> float:
    """1 or -1 where a source acts from the ground on a flange, or from it on the ground; else 0."""
    ends = [*source.nodes, GROUND][:2]
    if source.component.name not in ON_FLANGES or flange is None or GROUND not in ends:
        return 0.0
    return float((ends[0] == flange) - (ends[1] == flange))


def _along(source: Instance, joint: Instance, step: Step, kind: int, values: Values) -> float:
    """1 or -1 where a source between a joint's bodies acts along its freedom or against it, else 0."""
    if source.component.name not in ACTING or step.kind != kind or source.nodes[:2] != joint.nodes[:2]:
        return 0.0
    own = Step(kind, ("axis",) if "axis" in values.parameters(source) else ())
    cosine = axis_of(source, own, values) @ axis_of(joint, step, values)
    return float(np.sign(cosine)) if abs(abs(cosine) - 1) <= TOGETHER else 0.0


def flange_friction(network: Network, values: Values, flange: int) -> tuple[tuple[float, float, float], set[str]]:
    """(dry friction, viscous damping, speed that rounds it) between a flange and the ground, by the first that rubs there; the names of it and of
    stops without stiffness."""
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
