"""Forward simulation of a robot arm of seven joints from its URDF, beside Pinocchio's aba under an explicit Runge-Kutta method, at equal error.

The arm (xarm7 of example-robot-data; pip install 'netsim[robots]') falls from a bent posture for a second, its joints without drives and friction.
netsim runs a netlist, `use "xarm7.urdf"`, in joint coordinates by its Dormand-Prince method; the peer is scipy's RK45, which is the same method, with
pinocchio.aba as its right side, called from Python; its own time in aba alone is shown too. The error of both is the largest of any angle at the end
against scipy's DOP853 at 1e-12; time is interpolated to equal errors.
"""

from __future__ import annotations

import time as clock
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

START = (0.3, -0.8, 0.5, 1.2, 0.4, 0.9, -0.2)
STOP = 1.0
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
ERRORS = (1e-5, 1e-7)


def urdf(name: str) -> Path | None:
    """A URDF file of example-robot-data, None where that is not installed."""
    try:
        found = files("example-robot-data") or []
    except PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in found if file.name == name), None)


def netlist(path: Path) -> str:
    """The falling arm."""
    starts = "\n".join(f"start arm.joint{k}.q = {q} rad" for k, q in enumerate(START, 1))
    saved = ", ".join(f"arm.joint{k}.q" for k in range(1, 8))
    run = f"run transient(stop = {STOP} s, method = rk45, rtol = 1e-6, sample = {STOP} s, formulation = tree)"
    return f'use "{path}"\nworld gravity = [0, 0, -9.81] m/s2\narm {path.stem} (ground)\n{starts}\n{run}\nsave {saved}\n'


def ours(path: Path) -> dict[float, tuple[np.ndarray, float]]:
    """Angles at the end and CPU seconds of the time loop, by tolerance."""
    import netsim

    model = netsim.load(netlist(path))
    found = {}
    for rtol in TOLERANCES:
        samples = model.run({"rtol": rtol})[0]
        seconds = samples.attributes["loop_seconds"]
        for _ in range(2):
            seconds = min(seconds, model.run({"rtol": rtol})[0].attributes["loop_seconds"])
        found[rtol] = samples.values[-1], seconds
    return found


def theirs(path: Path) -> tuple[np.ndarray, dict[float, tuple[np.ndarray, float, float]]]:
    """The reference at the end; angles at the end, CPU seconds, and those spent in aba, by tolerance."""
    import pinocchio
    from scipy.integrate import solve_ivp

    model = pinocchio.buildModelFromUrdf(str(path))
    data, zero = model.createData(), np.zeros(model.nv)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[model.nq :], pinocchio.aba(model, data, y[: model.nq], y[model.nq :], zero)])

    start = np.concatenate([START, np.zeros(model.nv)])
    reference = solve_ivp(rate, (0, STOP), start, "DOP853", rtol=1e-12, atol=1e-12).y[: model.nq, -1]
    found = {}
    for rtol in TOLERANCES:
        seconds = np.inf
        for _ in range(3):
            began = clock.process_time()
            run = solve_ivp(rate, (0, STOP), start, "RK45", rtol=rtol, atol=rtol)
            seconds = min(seconds, clock.process_time() - began)
        began = clock.process_time()
        for _ in range(run.nfev):
            pinocchio.aba(model, data, start[: model.nq], zero, zero)
        found[rtol] = run.y[: model.nq, -1], seconds, clock.process_time() - began
    return reference, found


def at_error(error: float, errors: Any, times: Any) -> float:
    """Time at an error, between the runs that are nearest, logarithmically."""
    order = np.argsort(errors)
    return float(np.exp(np.interp(np.log(error), np.log(np.array(errors)[order]), np.log(np.array(times)[order]))))


def report() -> None:
    """Errors and milliseconds of both by tolerance, and the ratio of times at equal errors."""
    path = urdf("xarm7.urdf")
    try:
        import pinocchio
    except ImportError:
        pinocchio = None
    if path is None or pinocchio is None:
        print("Arm from URDF: Pinocchio or example-robot-data is not installed (pip install 'netsim[robots]')")
        return
    mine, (reference, other) = ours(path), theirs(path)
    print("Arm of seven joints falling for 1 s: error of the angles and milliseconds of CPU")
    print(f"  {'rtol':>6} {'netsim':>18} {'Pinocchio + scipy':>20} {'of it aba':>10}")
    errors, rows = [], []
    for rtol in TOLERANCES:
        one, two = np.abs(mine[rtol][0] - reference).max(), np.abs(other[rtol][0] - reference).max()
        errors.append((one, two))
        rows.append((mine[rtol][1], other[rtol][1], other[rtol][2]))
        print(f"  {rtol:6.0e} {one:9.1e} {1e3 * rows[-1][0]:8.2f} {two:11.1e} {1e3 * rows[-1][1]:8.2f} {1e3 * rows[-1][2]:10.2f}")
    for error in ERRORS:
        times = [at_error(error, [e[k] for e in errors], [r[j] for r in rows]) for k, j in ((0, 0), (1, 1), (1, 2))]
        print(f"  at an error of {error:.0e}: {times[0] / times[1]:.3f} of its time, {times[0] / times[2]:.2f} of what aba alone takes there")


if __name__ == "__main__":
    report()
