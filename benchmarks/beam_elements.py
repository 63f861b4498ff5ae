"""CPU time of a step of a flexible link in 10 to 1000 elements, and of two links at equal accuracy beside Exudyn's ANCF
cables.

    python benchmarks/beam_elements.py [--most 1000] [--stops 0.5,2,5]      (--most 0: the comparison alone; --stops "":
    the steps alone)

The step: the difference of two runs of different length, without samples in between. Two links
(models/manipulators/flexible_pendulum_2.net and the same through the recursion): directions of both chords at samples
of 10 ms; of every setting that meets an error the least CPU time of the integration alone, the best of three runs,
everything that either program writes turned off. Each program is held against a limit of its own: the recursion against
six functions at rtol 1e-9; Exudyn (https://github.com/jgerstmayr/EXUDYN: ObjectANCFCable2D,
EA = 1.28e8 N, generalized-alpha with modified Newton, which was the fastest of its methods) against eight elements
with steps of 0.2 and 0.4 ms,
extrapolated (with shorter ones its Newton iteration stalls, and the error grows).
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle threads that wait would count as CPU time

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice

import numpy as np

import netsim
from netsim.library.files import models_folder

SIZES = (10, 30, 100, 300, 1000)
EVERY = 0.01
Trial = tuple[str, float, np.ndarray]


@cache
def pendulum(links: int, elements: int) -> netsim.Model:
    return netsim.load(models_folder() / f"manipulators/flexible_pendulum_{links}.net", counts={"elements": elements})


def cost_of_a_step(elements: int, method: str) -> tuple[float, int, float]:
    """Microseconds of a step, factorisations in a hundred steps, seconds before the first step."""
    model, runs, before = pendulum(1, elements), [], 0.0
    for stop in (0.01, 0.1):
        run = model.transient(stop=stop, sample=stop, method=method, rtol=1e-3, save=["theta1"]).attrs
        runs.append((run["loop_cpu_seconds"], run["steps"], run["factorisations"]))
        before = run["cpu_seconds"] - run["loop_cpu_seconds"]
    seconds, steps, factorisations = (later - sooner for sooner, later in zip(*runs))
    return 1e6 * seconds / steps, round(100 * factorisations / steps), before


def growth(sizes: tuple[int, ...] = SIZES, methods: tuple[str, ...] = ("radau", "bdf", "generalized_alpha")) -> None:
    """A table for each method, and how the step grows."""
    for method in methods:
        print(
            f"\n{method}, rtol 1e-3\nelements  unknowns  us per step  us per element  factorisations in 100 steps  "
            "seconds before the first step"
        )
        found = []
        for n in sizes:
            each, factorisations, before = cost_of_a_step(n, method)
            found.append((n, each))
            print(f"{n:8} {2 * n + 11:9} {each:12.0f} {each / n:15.1f} {factorisations:28} {before:30.1f}", flush=True)
        n, each = np.log(np.array(found[1:])).T
        print(f"grows like n^{np.polyfit(n, each, 1)[0]:.2f} from {sizes[1]} elements on")


def chords(ends: np.ndarray) -> np.ndarray:
    """Directions of both links from the places (samples, 4) of their ends."""
    first, second = ends[:, :2], ends[:, 2:] - ends[:, :2]
    return np.array([np.unwrap(np.arctan2(r[:, 1], r[:, 0])) for r in (first, second)])


LINKS = """
use spatial
world gravity = [0, -9.81, 0] m/s2
j1 revolute (ground, a1) at = [0, 0, 0] m, axis = [0, 0, 1]
l1 flexible_link (a1, b1) at1 = [0, 0, 0] m, at2 = {middle}, side = [1, 0, 0], line = 5 kg/m, EIy = {EI} N.m2, {first}
j2 revolute (b1, a2) at = {middle}, axis = [0, 0, 1]
l2 flexible_link (a2, b2) at1 = {middle}, at2 = {end}, side = [1, 0, 0], line = 5 kg/m, EIy = {EI} N.m2, {second}
run recursion(stop = 1 s, from = rest, sample = {sample} s)
save b1.r, b2.r
"""
HINGED = ("hinged_hinged_modes", "hinged_free_modes")


def recursive(
    stop: float,
    functions: int,
    options: dict[str, object],
    shapes: tuple[str, str] = HINGED,
    start2: float = 5.0,
    EI: float = 1000.0,
    link: str = "",
) -> tuple[float, np.ndarray]:
    """The same links by so many shape functions, through the recursion; `options` of its run, more counts of its
    links."""
    angle = np.radians(start2 - 90.0)
    end = f"[{np.cos(angle):.16f}, {np.sin(angle) - 1:.16f}, 0] m"
    first, second = (f"n = {functions}, planes = 1, shapes = {family}{link}" for family in shapes)
    text = LINKS.format(middle="[0, -1, 0] m", end=end, EI=EI, first=first, second=second, sample=EVERY)
    run = _loaded(text).samples({"stop": stop, **options})[0]
    places = [run.series(f"{b}.r.{c}") for b in ("b1", "b2") for c in "xy"]
    return run.attributes["loop_seconds"], chords(np.column_stack(places))


@cache
def _loaded(text: str) -> netsim.Model:
    return netsim.load(text)


def exudyn(
    stop: float, elements: int, step: float, radius: float, solver: str = "EigenSparse", rtol: float = 1e-8
) -> tuple[float, np.ndarray]:
    """The same links of ANCF cables by generalized-alpha of a spectral radius; `rtol` of its Newton iteration."""
    import exudyn as exu
    from exudyn import itemInterface as item
    from exudyn.beams import GenerateBeamElementsAlongLine

    mbs = exu.SystemContainer().AddSystem()
    angle, places = np.radians(-85.0), [np.zeros(3), np.array([0.0, -1.0, 0.0])]
    places.append(places[1] + np.array([np.cos(angle), np.sin(angle), 0.0]))
    cable = item.ObjectANCFCable2D(
        physicsMassPerLength=5.0, physicsBendingStiffness=1000.0, physicsAxialStiffness=1.28e8
    )
    ends, sensors = [], []
    for k in range(2):
        fixed = [True, True, False, False] if k == 0 else None
        made = GenerateBeamElementsAlongLine(
            mbs,
            places[k],
            places[k + 1],
            elements,
            beamTemplate=cable,
            gravity=[0, -9.81, 0],
            groundConstraintsStart=fixed,
        )
        ends.append((made["nodes"][0], made["nodes"][-1]))
        sensors.append(
            mbs.AddSensor(
                item.SensorNode(
                    nodeNumber=ends[k][1], outputVariableType=exu.OutputVariableType.Position, storeInternal=True
                )
            )
        )
    markers = [mbs.AddMarker(item.MarkerNodePosition(nodeNumber=n)) for n in (ends[0][1], ends[1][0])]
    mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=markers))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(stop / step)
    settings.timeIntegration.endTime = stop
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = radius
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = rtol
    settings.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = EVERY
    began = time.process_time()
    mbs.SolveDynamic(settings)
    spent = time.process_time() - began
    seen = [np.asarray(mbs.GetSensorStoredData(sensor)) for sensor in sensors]
    return spent, chords(np.column_stack([seen[0][:, 1:3], seen[1][:, 1:3]]))


SOLVERS = {1: "EXUdense", 2: "EigenDense", 4: "EigenDense", 8: "EigenSparse"}
"""Exudyn's fastest for so many elements."""
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4)
STABLE = {1: 5e-3, 2: 2e-3, 3: 1e-3, 4: 5e-4}
"""The longest steps of the explicit Newmark method with so many functions."""


def trials(stop: float) -> tuple[Iterator[tuple[str, Callable[[], tuple[float, np.ndarray]]]], ...]:
    """Settings of both programs: of Exudyn's steps four each, the longer ones for few elements."""
    ours: list[tuple[int, str, dict[str, object]]] = []
    for n, longest in STABLE.items():
        ours += [(n, f"explicit Newmark, h = {h:.0e} s", {"step": h, "beta": 0.0}) for h in STEPS[:5] if h <= longest]
        ours += [(n, f"rk8 {rtol:.0e}", {"rtol": rtol}) for rtol in (1e-2, 1e-3)]
    here = ((f"{n} functions, {name}", partial(recursive, stop, n, options)) for n, name, options in ours)
    there = (
        (f"{n} elements, h = {h:.0e} s, radius {r}, Newton {rtol:.0e}", partial(exudyn, stop, n, h, r, solver, rtol))
        for (n, solver), first in zip(SOLVERS.items(), (0, 1, 2, 2))
        for r in (0.8, 1.0)
        for rtol in (1e-8, 1e-4)
        for h in STEPS[first : first + 4]
    )
    return here, there


def limits(stop: float) -> tuple[np.ndarray, np.ndarray]:
    """What the two programs converge to."""
    coarse, fine = (exudyn(stop, 8, step, 1.0, "EigenDense")[1] for step in (4e-4, 2e-4))
    return recursive(stop, 6, {"rtol": 1e-9})[1], fine + (fine - coarse) / 3


def beside(stop: float, most: int | None = None) -> None:
    """Least CPU time of both programs at equal error; of the first `most` settings of either, where it is given."""
    exact = limits(stop)
    print(f"the limits are {np.abs(exact[0] - exact[1]).max():.1e} rad apart")
    best: list[list[tuple[float, float, str]]] = []
    for own, settings in enumerate(trials(stop)):
        best.append([])
        for name, run in islice(settings, most):
            runs = [run() for _ in range(3)]
            seconds, found = min(spent for spent, _ in runs), runs[0][1]
            error, other = (
                np.abs(found - exact[k]).max() if found.shape == exact[k].shape else np.inf for k in (own, 1 - own)
            )
            best[-1].append((error, seconds, name))
            print(
                f"    {name:60} {1e3 * seconds:9.3f} ms, error {error:8.1e} rad, {other:8.1e} from the other's limit",
                flush=True,
            )
    print(f"\ntwo links, {stop:g} s: least CPU time of the integration\nerror, rad   netsim ms  Exudyn ms   ratio   by")
    for target in (2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6):
        each = [min((run[1:] for run in runs if run[0] <= target), default=(np.inf, "none of these")) for runs in best]
        print(
            f"{target:10.0e} {1e3 * each[0][0]:11.3f} {1e3 * each[1][0]:10.3f} {each[1][0] / each[0][0]:7.1f}   "
            f"{each[0][1]} | {each[1][1]}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stops", default="0.5,2,5")
    parser.add_argument("--most", type=int, default=1000)
    given = parser.parse_args()
    if given.most:
        growth(tuple(n for n in SIZES if n <= given.most))
    for stop in filter(None, given.stops.split(",")):
        beside(float(stop))
