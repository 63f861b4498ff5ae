"""Integrators on Kozlowski's flexible pendulums: steps, evaluations, CPU time and error, for one and two links of 1 to
8 elements.

    python benchmarks/beams.py [--stop 0.1] [--picture FILE]     the comparison of methods, and its work-precision
    picture

Errors are of angles and of bending (deflections, slopes) at samples of 10 ms, as parts of each one's largest size,
against `rk8` at rtol 1e-12. An evaluation is a consistent point for explicit methods and a Newton iteration for
implicit ones. Source of the case: K. Kozlowski, Zeszyty Naukowe Politechniki Slaskiej, Automatyka 115, 1994.
"""

import argparse
import time

import numpy as np

import netsim
from netsim.library.files import models_folder
from netsim.text.errors import SimulationError

METHODS = ("rk6", "rk8", "bdf", "radau", "generalized_alpha")
TOLERANCES = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)
LIMIT = 15.0
"""CPU seconds after which smaller tolerances of a method are left out."""


def pendulum(links: int, elements: int) -> netsim.Model:
    return netsim.load(models_folder() / f"manipulators/flexible_pendulum_{links}.net", counts={"elements": elements})


def names(links: int, elements: int) -> list[str]:
    return [
        *(f"theta{k + 1}" for k in range(links)),
        *(f"{c}{k}" for c in "uw"[:links] for k in range(3, 2 * elements + 3)),
    ]


def measured(model: netsim.Model, saves: list[str], stop: float, **options: object) -> tuple[object, float]:
    began = time.process_time()
    result = model.transient(stop=stop, sample=0.01, save=saves, **options)
    return result, time.process_time() - began


def compare(
    stop: float, picture: str, cases: list[tuple[int, int]], tolerances: tuple[float, ...] = TOLERANCES
) -> None:
    """The table, a line per run; the picture has a panel per case."""
    found: dict[tuple[int, int], list[tuple[str, float, float]]] = {}
    print("links elements             method   rtol    steps  refused evaluations   CPU s   angles  bending")
    for links, elements in cases:
        model, saves = pendulum(links, elements), names(links, elements)
        exact, _ = measured(model, saves, stop, method="rk8", rtol=1e-12)
        for method in METHODS:
            measured(model, saves, 0.01, method=method, rtol=1e-3)  # compiled before it is timed
            for rtol in tolerances:
                try:
                    result, cpu = measured(model, saves, stop, method=method, rtol=rtol)
                except SimulationError as wrong:
                    print(f"{links:5} {elements:8} {method:>18} {rtol:6.0e} {wrong.problems[0].code}", flush=True)
                    break
                errors = [np.abs(result[n] - exact[n]).values.max() / np.abs(exact[n]).values.max() for n in saves]
                angles, bending = max(errors[:links]), max(errors[links:])
                counts = "".join(
                    f"{result.attrs[n]:{w}}" for n, w in (("steps", 9), ("rejected", 9), ("iterations", 12))
                )
                print(
                    f"{links:5} {elements:8} {method:>18} {rtol:6.0e}{counts} {cpu:7.2f} {angles:8.1e} {bending:8.1e}",
                    flush=True,
                )
                found.setdefault((links, elements), []).append((method, cpu, bending))
                if cpu > LIMIT:
                    break
    if picture:
        draw(found, picture)


def draw(found: dict[tuple[int, int], list[tuple[str, float, float]]], picture: str) -> None:
    """Error of bending against CPU time: a row for each number of links, a panel for each number of elements."""
    import matplotlib.pyplot as plt

    links, elements = (sorted(set(kinds)) for kinds in zip(*found))
    shape = (len(links), len(elements))
    figure, panels = plt.subplots(
        *shape, figsize=(2.6 * shape[1] + 0.4, 2.5 * shape[0] + 0.5), squeeze=False, sharey=True, sharex=True
    )
    for (k, n), runs in found.items():
        axes = panels[links.index(k)][elements.index(n)]
        for method in METHODS:
            points = [(cpu, error) for name, cpu, error in runs if name == method]
            if points:
                axes.loglog(*zip(*points), "o-", ms=3, lw=1, label=method)
        axes.set_title(f"{k} link{'s' * (k > 1)}, {n} element{'s' * (n > 1)}", fontsize=9)
        axes.axhline(1.0, color="0.8", lw=1, zorder=0)
        axes.tick_params(labelsize=7)
    for k, row in zip(links, panels):
        for n, axes in zip(elements, row):
            axes.set_visible((k, n) in found)
    for axes in panels[-1]:
        axes.set_xlabel("CPU time, s", fontsize=8)
    for row in panels:
        row[0].set_ylabel("error of bending", fontsize=8)
    figure.legend(
        *panels[0][0].get_legend_handles_labels(), loc="upper center", ncols=len(METHODS), fontsize=8, frameon=False
    )
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stop", type=float, default=0.1)
    parser.add_argument("--picture", default="")
    parser.add_argument("--elements", default="1,2,4,8")
    parser.add_argument("--links", default="1,2")
    given = parser.parse_args()
    compare(
        given.stop,
        given.picture,
        [(k, int(n)) for k in map(int, given.links.split(",")) for n in given.elements.split(",")],
    )
