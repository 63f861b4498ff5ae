"""Forward simulation of a robot arm with seven joints from URDF beside Pinocchio's ABA, explicit Runge-Kutta methods at
equal error.

The Panda of the package example-robot-data, its two fingers welded on, falls from its reference placement without
drives or friction for a second. Ours is a netlist of three lines: `run recursion` (articulated bodies under Dormand and
Prince's method of order 8, all compiled) and `run transient(formulation = tree)` (the general network in the joints'
coordinates, methods of order 5 and 8). The peer is scipy's DOP853, the same tableau, around pinocchio.aba; it is called
from Python, so a row counts its calls of aba alone, less what a call costs for a model of one joint: what no program
around it could go below. The peer runs in a process of its own. Error: the largest of all angles and speeds at the end,
of the largest angle or speed, against the peer's tightest run; the first lines say how far ours at its tightest is from
that.
"""

import json
import re
import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
from integrators import REPEATS, Point, table

ROBOT = "panda.urdf"
STOP = 1.0
RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
WANTED = (1e-4, 1e-6, 1e-8, 1e-10)
EXACT = 1e-13
GRAVITY = [0.0, 0.0, -9.81]
SAVED = [f"arm.panda_joint{k}_flange.{what}" for what in ("phi", "w") for k in range(1, 8)]


def arm() -> str | None:
    """The URDF text of the arm with seven joints and no friction; None where the package is not installed."""
    try:
        found = [file for file in files("example-robot-data") or [] if file.name == ROBOT]
    except PackageNotFoundError:
        return None
    text = Path(str(found[0].locate())).read_text(encoding="utf-8")
    return re.sub(r"<(mimic|dynamics)[^>]*/>", "", text).replace('type="prismatic"', 'type="fixed"')


def netlist(urdf: Path, run: str) -> str:
    """The arm hanging on nothing but its base; all angles and speeds are saved."""
    return f'use "{urdf}"\nworld gravity = {GRAVITY} m/s2\narm panda (ground)\nrun {run}\nsave {", ".join(SAVED)}\n'


def ours(urdf: Path, line: str, rtol: float, repeats: int = 1) -> tuple[list[float], float]:
    """Angles and speeds at the end, and the least CPU seconds of the time loop."""
    import netsim

    with netsim.allow(urdf.parent):
        model = netsim.load(netlist(urdf, f"{line}, stop = {STOP} s, sample = {STOP} s, rtol = {rtol})"))
    seconds = []
    for _ in range(repeats):
        samples = model.samples()[0]
        seconds.append(samples.attributes.get("loop_seconds", samples.attributes.get("loop_cpu_seconds")))
    return [float(samples.series(name)[-1]) for name in SAVED], min(seconds)


def peer(urdf: str, rtols: Sequence[float], repeats: int) -> list[dict[str, Any]]:
    """For every tolerance the same by scipy and Pinocchio, evaluations, and the CPU seconds of one aba less that of a
    call."""
    import pinocchio
    from recursion import chain_or_tree, theirs, twin
    from scipy.integrate import solve_ivp

    model = pinocchio.buildModelFromUrdf(urdf)
    model.gravity.linear = np.array(GRAVITY)
    data, n, none = model.createData(), model.nv, np.zeros(model.nv)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], pinocchio.aba(model, data, y[:n], y[n:], none)])

    call = theirs(pinocchio, "aba", twin(pinocchio, chain_or_tree(1, 1)), (np.zeros(1),) * 3)
    each = theirs(pinocchio, "aba", model, (np.full(n, 0.5),) * 3) - call
    found = []
    for rtol in (*rtols, EXACT):
        seconds = []
        for _ in range(repeats):
            began = clock.process_time()
            end = solve_ivp(rates, (0.0, STOP), np.zeros(2 * n), method="DOP853", rtol=rtol, atol=rtol)
            seconds.append(clock.process_time() - began)
        found.append(
            {"end": end.y[:, -1].tolist(), "seconds": min(seconds), "evaluations": end.nfev, "each": each * 1e-6}
        )
    return found


def distance(end: list[float], exact: list[float]) -> float:
    """The largest difference of the largest figure."""
    return float(np.max(np.abs(np.subtract(end, exact))) / np.max(np.abs(exact)))


def report(rtols: Sequence[float] = RTOLS, wanted_errors: Sequence[float] = WANTED, repeats: int = REPEATS) -> None:
    """A table for each error."""
    text = arm()
    if text is None:
        print("Robot arm: example-robot-data is not installed: pip install 'netsim-acausal[robots]'")
        return
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder, ROBOT)
        urdf.write_text(text, encoding="utf-8")
        said = subprocess.run(
            [sys.executable, __file__, "--peer", str(urdf), str(repeats), *map(str, rtols)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        *theirs_, exact = json.loads(said)
        found: dict[str, list[Point]] = {}
        for name, line in (
            ("netsim, recursion", "recursion(superelement = 1"),
            ("netsim, rk8 in joints", "transient(formulation = tree, method = rk8"),
            ("netsim, rk45 in joints", "transient(formulation = tree, method = rk45"),
        ):
            ours(urdf, line, 1e-3)  # compiles
            runs = [ours(urdf, line, rtol, repeats) for rtol in rtols]
            found[name] = [(distance(end, exact["end"]), seconds) for end, seconds in runs]
        found["scipy and Pinocchio's aba"] = [(distance(p["end"], exact["end"]), p["seconds"]) for p in theirs_]
        found["its calls of aba alone"] = [
            (distance(p["end"], exact["end"]), p["evaluations"] * p["each"]) for p in theirs_
        ]
    print(
        f"Arm with seven joints from URDF, {STOP:g} s, explicit Runge-Kutta methods at equal error, CPU time (best of "
        f"{repeats})"
    )
    print(f" ours and the peer at their tightest are {found['netsim, recursion'][-1][0]:.0e} apart")
    for wanted in wanted_errors:
        table("Panda", wanted, found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        print(json.dumps(peer(sys.argv[2], [float(rtol) for rtol in sys.argv[4:]], int(sys.argv[3]))))
    else:
        report()
