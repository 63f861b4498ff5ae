"""Stage 1 of the tripod (30 s, h = 10 ms: 3 000 steps), netsim beside Exudyn, CPU time per step in one run.

Exudyn is an optional peer (`pip install exudyn`). Its model is the same machine: eight rigid bodies in redundant
coordinates, the same joints, the same bells; the largest difference of the two markers is printed, and that of the
forces. Exudyn integrates by generalized-alpha (spectral radius 0.8), once with its defaults (full Newton, dense matrix,
Python functions for the bells) and once with the settings that make it fastest here (modified Newton, sparse matrix,
symbolic functions). netsim's time is that of its time loop, Exudyn's that of its solver call.
"""

import contextlib
import importlib
import importlib.util
import io
import math
import os
import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS, STEP = 3_000, 10e-3
REPEATS = 3
AMPLITUDES, AT, WIDTH = (0.03, 0.045, 0.06), 15.0, 4.0
REST = math.exp(-((AT / WIDTH) ** 2))


@dataclass(frozen=True, eq=False)
class Run:
    """Microseconds of CPU per step, Newton iterations per step, marker (nt, 3) and forces (nt, 3)."""

    microseconds: float
    iterations: float
    marker: np.ndarray
    forces: np.ndarray


def netsim_run(forces: str, steps: int, repeats: int) -> Run:
    """The best of some runs, each timed from its first block of steps to its last."""
    import netsim
    from netsim.library.files import models_folder

    model = netsim.load(models_folder() / "tripod" / "stage1.net")
    costs = []
    for _ in range(repeats):
        marks: list[tuple[int, float]] = []

        def mark(fraction: float, time: float, done: int, marks: list[tuple[int, float]] = marks) -> None:
            marks.append((done, clock.process_time()))

        result = model.transient(mark, stop=steps * STEP, step=STEP, method="euler", forces=forces)
        (first, began), (last, ended) = marks[0], marks[-1]
        costs.append((ended - began) / (last - first) * 1e6)
    marker, force = (
        np.array([result[name].values for name in names]).T for names in (("M.x", "M.y", "M.z"), ("A.F", "B.F", "C.F"))
    )
    return Run(min(costs), result.attrs["iterations"] / result.attrs["steps"], marker, force)


def exudyn_run(fastest: bool, steps: int, repeats: int) -> Run:
    """The same by Exudyn. The solver call holds its steps, its sensors and its initial accelerations."""
    import exudyn as exu

    costs = []
    for _ in range(repeats):
        mbs, sensors, _alive = exudyn_machine(exu, fastest)
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = steps * STEP
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        settings.timeIntegration.newton.useModifiedNewton = fastest
        settings.linearSolver.solverType = (
            exu.LinearSolverType.EigenSparse if fastest else exu.LinearSolverType.EXUdense
        )
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = STEP
        began = clock.process_time()
        mbs.SolveDynamic(settings)
        costs.append((clock.process_time() - began) / steps * 1e6)
    iterations = mbs.sys["dynamicSolver"].it.newtonStepsCount / steps
    marker, *forces = (np.asarray(mbs.GetSensorStoredData(sensor))[:, 1:] for sensor in sensors)
    return Run(min(costs), iterations, marker, -np.column_stack([force[:, 0] for force in forces]))


def exudyn_machine(exu: Any, symbolic: bool) -> tuple[Any, list[Any], list[Any]]:
    """The assembled system, its sensors (marker; forces along the rods A, B, C), and what must stay alive while it
    runs."""
    from exudyn import itemInterface as item
    from exudyn.rigidBodyUtilities import RotationMatrix2RotXYZ

    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddObject(item.ObjectGround())
    alive: list[Any] = []

    def body(mass: float, inertia: list[float], centre: np.ndarray, axes: np.ndarray) -> Any:
        node = mbs.AddNode(item.NodeRigidBodyRxyz(referenceCoordinates=[*centre, *RotationMatrix2RotXYZ(axes)]))
        return mbs.AddObject(item.ObjectRigidBody(mass=mass, inertia=[*inertia, 0, 0, 0], nodeNumber=node))

    def at(owner: Any, point: Any, axes: np.ndarray | None = None) -> Any:
        turned = exu.HT(rotation=np.eye(3) if axes is None else axes, translation=list(point))
        return mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=owner, localHT=turned))

    def joint(a: Any, b: Any, axes: list[int], **more: Any) -> Any:
        return mbs.AddObject(item.ObjectJointGeneric(markerNumbers=[a, b], constrainedAxes=axes, **more))

    slide, cardan = (
        [0, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 0],
    )  # cardan: y of the first marker stays normal to z of the second
    centre = np.array([0.1922, 0.0, 0.0])
    platform = body(4.9, [0.087817, 0.044385, 0.044385], centre, np.eye(3))
    guided = body(0.073, [0.771e-6, 129e-6, 129e-6], centre / 2, np.eye(3))
    joint(at(ground, [0, 0, 0]), at(guided, -centre / 2), slide)
    joint(at(guided, centre / 2), at(platform, [0, 0, 0]), cardan)
    drives = []
    for azimuth, amplitude in zip(np.deg2rad([0, 120, 240]), AMPLITUDES):
        out, tangent = np.array([0, np.cos(azimuth), np.sin(azimuth)]), np.array([0, -np.sin(azimuth), np.cos(azimuth)])
        foot, ball = 0.151 * out, centre + 0.095 * out
        length = float(np.linalg.norm(ball - foot))
        along = (ball - foot) / length
        axes = np.column_stack([along, tangent, np.cross(along, tangent)])
        left = body(0.067, [1.81e-6, 171e-6, 171e-6], foot + 0.0875 * along, axes)
        right = body(0.093, [1.25e-6, 253.7e-6, 253.7e-6], ball - 0.0905 * along, axes)
        joint(at(ground, foot, axes), at(left, [-0.0875, 0, 0]), cardan)
        ends = at(left, [length - 0.0875, 0, 0]), at(right, [0.0905, 0, 0])
        joint(*ends, slide)
        mbs.AddObject(item.ObjectJointSpherical(markerNumbers=[ends[1], at(platform, 0.095 * out)]))
        damper = {
            "referenceLength": length,
            "stiffness": 0,
            "damping": 0.02,
        }  # along the rod: the rate of its length is that of its elongation
        mbs.AddObject(
            item.ObjectConnectorSpringDamper(markerNumbers=[at(ground, foot), at(platform, 0.095 * out)], **damper)
        )
        bell = exudyn_bell(exu, mbs, symbolic)
        alive += bell
        law = {
            "offsetUserFunction": bell[0],
            "offsetUserFunction_t": bell[1],
            "offsetUserFunctionParameters": [amplitude, 0, 0, 0, 0, 0],
        }
        drives.append(joint(*ends, [1, 0, 0, 0, 0, 0], **law))
    stored = {"storeInternal": True}
    sensors = [
        mbs.AddSensor(
            item.SensorBody(
                bodyNumber=platform,
                localPosition=[0.17, 0, 0],
                outputVariableType=exu.OutputVariableType.Position,
                **stored,
            )
        )
    ]
    sensors += [
        mbs.AddSensor(item.SensorObject(objectNumber=d, outputVariableType=exu.OutputVariableType.ForceLocal, **stored))
        for d in drives
    ]
    mbs.Assemble()
    return mbs, sensors, alive


def exudyn_bell(exu: Any, mbs: Any, symbolic: bool) -> list[Any]:
    """The elongation of a rod and its rate, by the amplitude in the joint's first parameter: Python functions, or
    expressions of Exudyn's own."""
    exp = exu.symbolic.exp if symbolic else math.exp

    def bell(mbs: Any, t: Any, itemNumber: Any, p: Any) -> list[Any]:
        return [p[0] * (exp(-((t - 15.0) / 4.0 * ((t - 15.0) / 4.0))) - 7.811489408304491e-07), 0, 0, 0, 0, 0]

    def rate(mbs: Any, t: Any, itemNumber: Any, p: Any) -> list[Any]:
        return [-0.125 * (t - 15.0) * p[0] * exp(-((t - 15.0) / 4.0 * ((t - 15.0) / 4.0))), 0, 0, 0, 0, 0]

    if not symbolic:
        return [bell, rate]
    from exudyn.advancedUtilities import CreateSymbolicUserFunction

    names = {"offsetUserFunction": bell, "offsetUserFunction_t": rate}
    return [
        CreateSymbolicUserFunction(mbs, function, name, itemTypeName="ObjectJointGeneric")
        for name, function in names.items()
    ]


def report(steps: int = STEPS, repeats: int = REPEATS) -> None:
    """A row for each program and setting."""
    print(f"Tripod, stage 1: {steps:,} steps of {STEP * 1e3:g} ms, CPU time per step (best of {repeats})")
    print(f"  {'':33} {'us/step':>9}{'iterations':>12}{'marker off by, m':>19}{'force off by, of peak':>24}")
    runs = {
        f"netsim, euler, forces = {forces}": netsim_run(forces, steps, repeats) for forces in ("method", "recovered")
    }
    ours = runs["netsim, euler, forces = recovered"]
    if importlib.util.find_spec("exudyn") is not None:
        os.environ.setdefault("EXUDYN_MODULE", "fast")  # its build without range checks
        with contextlib.redirect_stdout(io.StringIO()):  # what it says of that
            importlib.import_module("exudyn")
        runs |= {
            "Exudyn, defaults": exudyn_run(False, steps, repeats),
            "Exudyn, fastest settings": exudyn_run(True, steps, repeats),
        }
    peak = np.abs(ours.forces).max()
    late = round(1.0 / STEP)  # Exudyn's force has no inertia at t = 0 and settles within a second
    for name, run in runs.items():
        marker, force = np.abs(run.marker - ours.marker).max(), np.abs(run.forces - ours.forces)[late:].max() / peak
        print(f"  {name:34}{run.microseconds:9.1f}{run.iterations:12.2f}{marker:19.1e}{force:24.1e}")
    if len(runs) == 2:
        return print("  Exudyn is not installed (pip install exudyn): no ratio")
    for forces in ("method", "recovered"):
        for name in ("Exudyn, defaults", "Exudyn, fastest settings"):
            ratio = runs[name].microseconds / runs[f"netsim, euler, forces = {forces}"].microseconds
            print(f"  {name} over netsim (forces = {forces}): {ratio:.2f}")


if __name__ == "__main__":
    report()
