"""Newmark's method on the inverse problem of Gevorkyan 2022 (25 s, four driven joints, two flexible links): iterations,
time, error of every variant.

`exact` is the whole iteration matrix, `reduced` the mass matrix with stiffness and damping of the elastic blocks (the
paper's fig. 4), `mass` the mass matrix alone; beta = 0 is explicit, with gamma = 1/2 and with gamma = 0, the member the
paper calls explicit. The error is the largest of dX, of its peak, against the explicit method of order 8 at rtol 1e-11.
Times are CPU seconds of the compiled loop, the best of three. With Exudyn installed the same manipulator runs there as
a kinematic tree of rigid segments (`exudyn_tree`), the nearest thing it has in joint coordinates.
"""

import time as clock
from typing import Any

import numpy as np

import netsim
from netsim.library.files import models_folder

NETLIST = models_folder() / "manipulators" / "gevorkian2022.net"
VARIANTS = (
    ("average, exact", "beta = 0.25, gamma = 0.5, matrix = exact"),
    ("average, reduced", "beta = 0.25, gamma = 0.5, matrix = reduced"),
    ("average, mass", "beta = 0.25, gamma = 0.5, matrix = mass"),
    ("explicit, gamma = 1/2", "beta = 0, gamma = 0.5"),
    ("explicit, gamma = 0", "beta = 0, gamma = 0"),
)
STEPS = (0.1, 0.01, 0.005)


def run(line: str) -> Any:
    """Samples of the netlist under another run line."""
    text = NETLIST.read_text()
    first = text.index("\nrun ")
    text = text[:first] + f"\nrun {line}" + text[text.index("\n", first + 1) :]
    return netsim.load(text).samples()[0]


def exudyn_tree(step: float) -> float | None:
    """CPU seconds of Exudyn's implicit trapezoidal rule on the manipulator as a kinematic tree, each flexible link
    rigid segments with elastic hinges in both planes, driven by stiff springs towards the motions; None where it is not
    installed."""
    try:
        import exudyn
        from exudyn.robotics import Robot, RobotBase, RobotLink, RobotTool
    except ImportError:
        return None
    from exudyn.utilities import HomogeneousTransformation

    container = exudyn.SystemContainer()
    mbs = container.AddSystem()
    robot = Robot(gravity=[0, 0, 0], base=RobotBase(), tool=RobotTool(HT=np.eye(4)), referenceConfiguration=[])
    section, stiff = 2699 * np.pi * (0.05**2 - 0.04**2), 6.895e10 * np.pi * (0.05**4 - 0.04**4) / 4
    driven: list[tuple[int, float]] = []

    def shift(x: float, y: float = 0.0) -> Any:
        return HomogeneousTransformation(np.eye(3), [x, y, 0])

    def add(kind: str, place: Any, mass: float, length: float, spring: float = 0.0, turn: float = 0.0) -> None:
        if turn:
            driven.append((len(robot.links), turn))
        inertia = np.diag([1e-4, mass * length**2 / 12 + 1e-4, mass * length**2 / 12 + 1e-4])
        control = (1e7, 1e4) if turn else (spring, 1e-3 * spring)
        robot.AddLink(
            RobotLink(
                mass=mass,
                COM=[length / 2, 0, 0],
                inertia=inertia,
                localHT=np.eye(4),
                preHT=place,
                jointType=kind,
                PDcontrol=control,
            )
        )

    add("Ry", shift(0), 6.35937, 0.3, turn=np.pi / 2)
    before = shift(0, 0.3)
    for length in (4.0, 5.0):
        add("Rz", before, 0.25 * section * length, length / 4, turn=np.pi / 4)
        for share in (0.25, 0.5):
            add("Rz", shift(length * share), 0.0, 0.0, spring=2 * stiff / length)
            add(
                "Ry",
                shift(0),
                (0.5 if share == 0.25 else 0.25) * section * length,
                length * (0.5 if share == 0.25 else 0.25),
                spring=2 * stiff / length,
            )
        before = shift(length / 4)
    add("Rz", before, 210.6, 0.5, turn=np.pi / 2)
    made = robot.CreateKinematicTree(mbs)
    count = len(robot.links)

    def follow(mbs: Any, t: float) -> bool:
        s, inside = min(t, 15) / 15, t <= 15
        offset, speed = np.zeros(count), np.zeros(count)
        for k, turn in driven:
            offset[k] = turn * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
            speed[k] = turn * inside * (1 - np.cos(2 * np.pi * s)) / 15
        mbs.SetObjectParameter(made["objectKinematicTree"], "jointPositionOffsetVector", offset)
        mbs.SetObjectParameter(made["objectKinematicTree"], "jointVelocityOffsetVector", speed)
        return True

    mbs.SetPreStepUserFunction(follow)
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(25 / step)
    settings.timeIntegration.endTime = 25
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.newton.useModifiedNewton = True
    began = clock.process_time()
    mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    seconds = clock.process_time() - began
    angles = mbs.GetNodeOutput(made["nodeGeneric"], exudyn.OutputVariableType.Coordinates)
    assert max(abs(angles[k] - turn) for k, turn in driven) < 1e-2, "the joints did not follow their motions"
    return seconds


def report(steps: tuple[float, ...] = STEPS, repeats: int = 3, peer_step: float = 0.01, finest: float = 1e-11) -> None:
    """The table of variants and steps."""
    exact = run(f"recursion(stop = T, rtol = {finest:g}, sample = 0.1 s)").series("dX")
    print(
        "Newmark on the manipulator of Gevorkyan 2022, 25 s: iterations per step, CPU seconds, error of dX of its peak"
    )
    for step in steps:
        for name, options in VARIANTS:
            runs = [
                run(f"recursion(stop = T, step = {1000 * step:g} ms, sample = 0.1 s, {options})")
                for _ in range(repeats)
            ]
            found = runs[0]
            seconds = min(r.attributes["loop_seconds"] for r in runs)
            if not found.finished or not np.abs(found.series("dX")).max() < 1:
                print(f"  h = {step:5g} s  {name:22} diverges after {found.time[-1]:.4g} s")
                continue
            error = np.abs(found.series("dX") - exact).max() / np.abs(exact).max()
            each = found.attributes["iterations"] / found.attributes["steps"]
            print(f"  h = {step:5g} s  {name:22} {each:5.1f} {seconds:9.4f} s {100 * error:8.3f} %", flush=True)
    other = exudyn_tree(peer_step)
    print(
        f"  h = {peer_step:5g} s  Exudyn kinematic tree  {other:15.4f} s"
        if other
        else "  Exudyn is not installed (pip install exudyn)"
    )


if __name__ == "__main__":
    report()
