"""What the joints of the spatial and planar libraries are made of: turns and slides, one after the other, from a to
b."""

from dataclasses import dataclass

from netsim.network.network import Instance

FIXED, REVOLUTE, PRISMATIC, SPHERICAL, BENT = range(5)


@dataclass(frozen=True)
class Step:
    """One freedom of a joint: its kind, the parameter with its axis (several: a x (b x c), "" being the plane's normal;
    none: that), the var or terminal (`part` of it) that is its coordinate, or a name for what is neither, and the
    parameter that says where it is.

    What is BENT moves its end with several coordinates at once: those of a terminal, or all of the component's own."""

    kind: int
    axis: tuple[str, ...] = ()
    coordinate: str = ""
    part: int = 0
    at: str = "at"


JOINTS: dict[str, tuple[Step, ...]] = {
    "spatial_weld": (Step(FIXED),),
    "revolute": (Step(REVOLUTE, ("axis",), "q"),),
    "revolute_driven": (Step(REVOLUTE, ("axis",), "flange"),),
    "prismatic": (Step(PRISMATIC, ("axis",), "q"),),
    "prismatic_driven": (Step(PRISMATIC, ("axis",), "flange"),),
    "cylindrical": (Step(PRISMATIC, ("axis",), "s"), Step(REVOLUTE, ("axis",), "q")),
    "universal": (Step(REVOLUTE, ("axis1",), "q1"), Step(REVOLUTE, ("axis2",), "q2")),
    "spherical": (Step(SPHERICAL),),
    "point_on_line": (Step(PRISMATIC, ("axis",), "s"), Step(SPHERICAL)),
    "planar_joint": (
        Step(PRISMATIC, ("along",), "x"),
        Step(PRISMATIC, ("normal", "along"), "y"),
        Step(REVOLUTE, ("normal",), "q"),
    ),
    "planar_weld": (Step(FIXED),),
    "planar_revolute": (Step(REVOLUTE, (), "q"),),
    "planar_revolute_driven": (Step(REVOLUTE, (), "flange"),),
    "planar_prismatic": (Step(PRISMATIC, ("axis",), "q"),),
    "planar_prismatic_driven": (Step(PRISMATIC, ("axis",), "flange"),),
    "planar_pin_in_slot": (Step(PRISMATIC, ("axis",), "q"), Step(REVOLUTE, (), "phi")),
    "flexible_link": (Step(BENT, at="at2"),),
    "spatial_floating_end": (Step(BENT, (), "p", at="at2"),),
    "planar_floating_end": (Step(PRISMATIC, ("", "axis"), "p"), Step(REVOLUTE, (), "p", 1)),
    "planar_shortened_end": (
        Step(PRISMATIC, ("", "", "axis"), "c"),
        Step(PRISMATIC, ("", "axis"), "p"),
        Step(REVOLUTE, (), "p", 1),
    ),
}
"""Joints of which a tree may be made; any other constraint closes a loop."""

MOTIONS = {
    "hinge_angle": (REVOLUTE, "q", "T"),
    "slide_displacement": (PRISMATIC, "s", "F"),
    "planar_hinge_angle": (REVOLUTE, "q", "T"),
    "planar_slide_displacement": (PRISMATIC, "s", "F"),
}
"""Sources that prescribe a coordinate of the joint beside them: kind of the coordinate, input, and the var of the force
that keeps it."""


def steps_of(instance: Instance) -> tuple[Step, ...] | None:
    """The freedoms of a joint, None for what is no joint of a tree."""
    return JOINTS.get(instance.component.name)


def flange_of(instance: Instance, step: Step) -> int | None:
    """The node whose value is a freedom's coordinate (of a driven joint), None where the joint keeps it to itself."""
    terminals = list(instance.component.terminals)
    return instance.nodes[terminals.index(step.coordinate)] if step.coordinate in terminals else None
