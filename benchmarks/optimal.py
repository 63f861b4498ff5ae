"""Optimal motions: CPU seconds of every netlist in models/optimal, of building and of solving its programs, unknowns,
points, how it ended and by how much the run forward in time differs; then the tripod with elastic rods."""

import sys
from pathlib import Path

import netsim
from netsim.library.files import models_folder

COLUMNS = ("in all", "building", "solving", "unknowns", "points", "iterations", "optimality", "deviation")


def spent(path: Path) -> tuple[float, ...]:
    """A row of COLUMNS for a netlist."""
    (samples,) = netsim.load(path).samples()
    a = samples.attributes
    points = a["intervals"] * a["points"] + 1
    return (
        a["cpu_seconds"], a["building_seconds"], a["solving_seconds"], a["unknowns"], points, a["iterations"],
        a["optimality"], a["deviation"],
    )  # fmt: skip


def report(names: list[str]) -> None:
    """A line a netlist."""
    print(f"{'':28}" + "".join(f"{each:>12}" for each in COLUMNS))
    folder = models_folder()
    paths = [folder / name for name in names] or [
        *sorted((folder / "optimal").glob("*.net")),
        folder / "tripod" / "elastic_stage2.net",
    ]
    for path in paths:
        row = spent(path)
        print(f"{path.stem:28}" + "".join(f"{value:12.3g}" for value in row), flush=True)


if __name__ == "__main__":
    report(sys.argv[1:])
