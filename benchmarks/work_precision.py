"""Work and precision on published problems: `python benchmarks/work_precision.py [problem or method ...]`.

The problems are models/benchmarks/NAME.net, their solutions and the runs of known solvers
benchmarks/published/NAME.json. The digits of a run are

    mescd = -log10 max_i |y_i - ref_i| / (size_i + |ref_i|)

at its end, over the components that the Test Set for IVP Solvers scores, with its ratio size = atol/rtol (1, and 1e6 Pa
for pressures). Every method that serves the problem goes through the tolerances until a run takes too long. Prints a
table per problem and draws docs/work_precision.svg.
"""

import json
import sys
import time as clock
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PUBLISHED = Path(__file__).parent / "published"
PICTURE = Path(__file__).parents[1] / "docs" / "work_precision.svg"
NAMES = ("transistor_amplifier", "andrews", "car_axis", "water_tube")
METHODS = ("radau", "bdf", "trbdf2", "generalized_alpha", "euler", "rk45")
TOLERANCES = tuple(10.0**-k for k in range(3, 11))
REPEATS = 2
LONGEST = 0.3
"""Seconds of CPU after which a method is not asked for more digits."""
TOO_LONG = 5.0
"""Seconds of CPU after which a run is given up."""


@dataclass(frozen=True)
class Problem:
    """A published problem: signals at the start and at `stop`, sizes (atol/rtol where it is not 1), runs of known
    solvers (solver, rtol, digits)."""

    name: str
    title: str
    source: str
    stop: float
    sizes: Mapping[str, float]
    start: Mapping[str, float]
    reference: Mapping[str, float]
    published: tuple[Mapping[str, Any], ...]

    def best(self, rtol: float) -> float | None:
        """Most digits of a published run at this tolerance; None where there is none."""
        return max((run["digits"] for run in self.published if run["rtol"] == rtol), default=None)

    def digits(self, found: Mapping[str, float]) -> float:
        """mescd of the values at the end."""
        return -np.log10(
            max(abs(found[n] - ref) / (self.sizes.get(n, 1.0) + abs(ref)) for n, ref in self.reference.items())
        )


def problem(name: str) -> Problem:
    """The problem of this name."""
    given = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    return Problem(name, **given | {"published": tuple(given["published"])})


@dataclass(frozen=True)
class Point:
    """What a run took and gave."""

    method: str
    rtol: float
    digits: float
    steps: int
    iterations: int
    seconds: float


def loaded(name: str) -> Any:
    """The model of a problem."""
    import netsim
    from netsim.library.files import models_folder

    return netsim.load(models_folder() / "benchmarks" / f"{name}.net")


def measured(model: Any, given: Problem, method: str, rtol: float, repeats: int = 1) -> Point | None:
    """A run to the end of the problem, the CPU time of the fastest of some; None where it takes too long."""
    runs = [_run(model, given, method, rtol) for _ in range(repeats)]
    attributes = runs[0].attrs
    if float(runs[0]["time"][-1]) < given.stop:
        return None
    digits = given.digits({name: float(runs[0][name][-1]) for name in given.reference})
    return Point(
        method,
        rtol,
        digits,
        attributes["steps"],
        attributes["iterations"],
        min(run.attrs["cpu_seconds"] for run in runs),
    )


def _run(model: Any, given: Problem, method: str, rtol: float) -> Any:
    deadline = clock.process_time() + TOO_LONG

    def watch(fraction: float, time: float, steps: int) -> None:
        if clock.process_time() > deadline:
            raise KeyboardInterrupt

    return model.transient(
        progress=watch, stop=given.stop, sample=given.stop, method=method, rtol=rtol, save=list(given.reference)
    )


def points(
    given: Problem, methods: tuple[str, ...] = METHODS, tolerances: tuple[float, ...] = TOLERANCES
) -> Iterator[Point]:
    """Every method that serves, by falling tolerance, as long as it is quick."""
    from netsim.text.errors import InputError, SimulationError

    model = loaded(given.name)
    for method in methods:
        try:
            model.transient(stop=1e-3 * given.stop, method=method, save=list(given.reference))  # compiles
            quick = True
            for rtol in tolerances:
                point = measured(model, given, method, rtol, REPEATS if quick else 1)
                if point is None:
                    break
                yield point
                quick = point.seconds < LONGEST / 10
                if point.seconds > LONGEST:
                    break
        except InputError:  # the method has no order at this index
            continue
        except SimulationError as failure:
            print(f"  {method} fails: {failure}")


def row(given: Problem, p: Point) -> str:
    """A point, for the default method beside the best published run at its tolerance."""
    best = given.best(p.rtol) if p.method == "radau" else None
    beside = " " * 14 if best is None else f"{best:14.2f}"
    return (
        f"  {p.method:17} {p.rtol:.0e}  {p.digits:6.2f} {beside}   {p.steps:8,}  {p.iterations:10,}  "
        f"{1e3 * p.seconds:6.1f}"
    )


def draw(results: Mapping[str, tuple[Problem, list[Point]]], picture: Path = PICTURE) -> None:
    """Digits over CPU time, a panel per problem."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "netsim", "font.size": 9})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(results), figsize=(3.2 * len(results), 3.4), layout="constrained", sharey=False, squeeze=False
    )
    for panel, (given, found) in zip(panels[0], results.values()):
        for k, method in enumerate(METHODS):
            own = [p for p in found if p.method == method]
            if own:
                panel.semilogy(
                    [p.digits for p in own],
                    [p.seconds for p in own],
                    marker="os^PDv"[k],
                    markersize=3.5,
                    lw=1,
                    color=f"C{k}",
                    label=method,
                )
        panel.set(title=given.title.split(" (")[0], xlabel="digits (mescd)")
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    panels[0][0].set_ylabel("CPU time, s")
    figure.savefig(picture, metadata={"Date": None})


def report(
    names: tuple[str, ...] = NAMES,
    methods: tuple[str, ...] = METHODS,
    tolerances: tuple[float, ...] = TOLERANCES,
    picture: Path = PICTURE,
) -> None:
    """Tables of some problems and methods; the picture where it is all problems."""
    results: dict[str, tuple[Problem, list[Point]]] = {}
    for name in names:
        given = problem(name)
        results[name] = given, []
        print(
            f"{given.title}; mescd at {given.stop:g} s\n  method             rtol   digits  best published      steps  "
            "iterations  CPU ms",
            flush=True,
        )
        for point in points(given, methods, tolerances):
            results[name][1].append(point)
            print(row(given, point), flush=True)
    if names == NAMES:
        draw(results, picture)
        print(f"wrote {picture.parent.name}/{picture.name}")


if __name__ == "__main__":
    report(
        tuple(n for n in NAMES if n in sys.argv[1:]) or NAMES, tuple(m for m in METHODS if m in sys.argv[1:]) or METHODS
    )
