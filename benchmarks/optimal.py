"""Optimal motions: CPU seconds of every netlist in models/optimal, of the tripod with a fourth rod and of those with
elastic rods and with flexible links, of building and of solving their programs, and how they ended; then of the tripod
with a fourth rod (145 unknowns) on a mesh of 200 intervals."""

import sys
from collections.abc import Sequence
from pathlib import Path

import netsim
from netsim.library.files import models_folder

COLUMNS = ("in all", "building", "solving", "unknowns", "points", "iterations", "optimality", "deviation")
GOAL = 10.0
"""CPU seconds that no example should exceed."""


INTERVALS, LARGE = 200, 60.0
"""The fine mesh of the tripod, and the CPU seconds that it should not exceed."""


def spent(path: Path, **options: float) -> tuple[float, ...]:
    """A row of COLUMNS for a netlist, with other options of its run."""
    (samples,) = netsim.load(path).samples(options)
    a = samples.attributes
    points = a["intervals"] * a["points"] + 1
    return (
        a["cpu_seconds"], a["building_seconds"], a["solving_seconds"], a["unknowns"], points, a["iterations"],
        a["optimality"], a["deviation"],
    )  # fmt: skip


def report(names: Sequence[str] = (), intervals: int = INTERVALS) -> None:
    """A line for every netlist of the folder of models, then how many exceed the goal, then the tripod on a mesh of so
    many intervals."""
    folder = models_folder()
    tripods = (folder / "tripod" / name for name in ("four_rods.net", "elastic_stage2.net", "bending_stage2.net"))
    every = [*sorted((folder / "optimal").glob("*.net")), *tripods]
    paths = [folder / name for name in names] or every
    print(f"{'':28}" + "".join(f"{each:>12}" for each in COLUMNS))
    rows = []
    for path in paths:
        rows.append(spent(path))
        print(f"{path.stem:28}" + "".join(f"{value:12.3g}" for value in rows[-1]), flush=True)
    beyond = [path.stem for path, row in zip(paths, rows) if row[0] > GOAL]
    print(f"above {GOAL:g} s: {', '.join(beyond) or 'none'}; building takes {sum(r[1] for r in rows):.3g} s, ", end="")
    print(f"solving {sum(r[2] for r in rows):.3g} s")
    fine = spent(folder / "tripod" / "four_rods.net", intervals=intervals, refinements=0)
    print(f"{fine[3]:g} unknowns, {intervals} intervals: {fine[0]:.3g} s (goal {LARGE:g} s), ", end="")
    print(f"building {fine[1]:.3g} s, solving {fine[2]:.3g} s in {fine[5]:g} iterations")


if __name__ == "__main__":
    report(sys.argv[1:])
