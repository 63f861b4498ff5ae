"""CPU time of one Newton iteration on RC ladders, netsim's time loop beside ngspice's, on one netlist, in one run.

The plain ladder is linear: netsim keeps its factor, so an iteration is a residual and a solve. The diode ladder is
nonlinear: the column `factor` counts the iterations in which the matrix was evaluated and factorised anew. ngspice
loads and factorises in every iteration; its figure is the CPU time of the analysis over its iterations. Both save two
nodes at every step. netsim's time is that of the time loop alone (steps, samples, energy account): compilation, start
and the search for pivots are not in it.

The last table is of `.ac` on the plain ladder: CPU time of a frequency, of all but the first of the frequencies.
"""

import math
import shutil
import tempfile
import time as clock
from dataclasses import dataclass

from netlists import ladder, spice_ladder
from peers import cpu_of_runs, ngspice_run

SIZES = {10: 10_000, 100: 10_000, 1_000: 2_000, 10_000: 400}
"""Sections -> time steps."""
STOP = 300e-6
REPEATS = 3
FREQUENCIES = 1_000


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU per Newton iteration; iterations and factorisations per time step."""

    microseconds: float
    iterations: float
    factorisations: float = math.nan


def netsim_cost(n: int, steps: int, diodes: bool, repeats: int = REPEATS) -> Cost:
    """The best of some runs, each timed from its first block of steps (16 of them) to its last."""
    import netsim

    step = STOP / steps
    model = netsim.load(ladder(n, STOP, step, diodes))
    found = []
    for _ in range(repeats):
        marks: list[tuple[int, float]] = []

        def mark(fraction: float, time: float, done: int, marks: list[tuple[int, float]] = marks) -> None:
            marks.append((done, clock.process_time()))

        run = model.transient(mark, save=[f"n{n // 2}.v", f"n{n}.v"], stop=STOP, step=step, method="euler").attrs
        (first, began), (last, ended) = marks[0], marks[-1]
        per_step = run["iterations"] / run["steps"]
        found.append(
            Cost((ended - began) / ((last - first) * per_step) * 1e6, per_step, run["factorisations"] / run["steps"])
        )
    return min(found, key=lambda cost: cost.microseconds)


def ngspice_cost(n: int, steps: int, diodes: bool) -> Cost | None:
    """The same by ngspice; None where there is no ngspice."""
    run = ngspice_run(spice_ladder(n, STOP, STOP / steps, diodes))
    return run and Cost(run.seconds / run.iterations * 1e6, run.iterations / run.points)


def frequencies_cost(n: int, count: int, repeats: int = REPEATS) -> Cost:
    """Microseconds of CPU of a frequency by netsim: of the whole analysis less the analysis of two frequencies."""
    import numpy as np

    import netsim

    model, spent = netsim.load(ladder(n)), dict[int, float]()
    for points in (2, 2 + count):
        grid, times = np.geomspace(1e2, 1e8, points), list[float]()
        for _ in range(repeats):
            began = clock.process_time()
            model.ac(save=[f"n{n}.v"], input="src", frequencies=grid)
            times.append(clock.process_time() - began)
        spent[points] = min(times)
    return Cost((spent[2 + count] - spent[2]) / count * 1e6, 1.0)


def ngspice_frequencies_cost(n: int, count: int) -> Cost | None:
    """The same by ngspice; None where there is no ngspice."""
    if shutil.which("ngspice") is None:
        return None
    lines = [line for line in spice_ladder(n).splitlines() if not line.startswith((".tran", ".end", "Vsrc", ".save"))]
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        for points in (2, 2 + count):
            text = "\n".join([*lines, "Vsrc n0 0 0 ac 1", f".ac lin {points} 100 100meg", f".save v(n{n})", ""])
            spent[points] = min(cpu_of_runs(text, folder, 1)[0] for _ in range(3))
    return Cost((spent[2 + count] - spent[2]) / count * 1e6, 1.0)


def compare_frequencies(sizes: dict[int, int], count: int, repeats: int) -> None:
    """The table of `.ac`."""
    print(f"  {'sections':>9} {'us/frequency':>13} {'ngspice us':>11} {'ratio':>6}")
    ours = {}
    for n in sizes:
        own, other = frequencies_cost(n, count, repeats), ngspice_frequencies_cost(n, count)
        ours[n] = own
        told = f" {other.microseconds:11.2f} {own.microseconds / other.microseconds:6.2f}" if other else ""
        print(f"  {n:9,} {own.microseconds:13.2f}{told}", flush=True)
    last = dict(list(ours.items())[-2:])
    print(f"  growth with n ({' to '.join(f'{n:,}' for n in last)}): netsim n^{growth_exponent(last):.2f}")


def growth_exponent(costs: dict[int, Cost]) -> float:
    """The slope of log(time) over log(n) by least squares; of what took no time (on the clock) none."""
    if min(cost.microseconds for cost in costs.values()) <= 0.0:
        return math.nan
    points = [(math.log(n), math.log(cost.microseconds)) for n, cost in costs.items()]
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def compare(diodes: bool, sizes: dict[int, int], repeats: int) -> None:
    """One table: a row for each size, and the growth exponents."""
    ours: dict[int, Cost] = {}
    theirs: dict[int, Cost] = {}
    print(
        f"  {'sections':>9} {'us/iteration':>13} {'per step':>9} {'factor':>7} {'ngspice us':>11} {'per step':>9} "
        f"{'ratio':>6}"
    )
    for n, steps in sizes.items():
        own, other = netsim_cost(n, steps, diodes, repeats), ngspice_cost(n, steps, diodes)
        ours[n] = own
        line = f"  {n:9,} {own.microseconds:13.2f} {own.iterations:9.2f} {own.factorisations:7.2f}"
        if other is not None:
            theirs[n] = other
            line += f" {other.microseconds:11.2f} {other.iterations:9.2f} {own.microseconds / other.microseconds:6.2f}"
        print(line, flush=True)
    large = {n: cost for n, cost in ours.items() if n >= 100}
    print(f"  growth with n (100 and up): netsim n^{growth_exponent(large):.2f}", end="")
    print(
        f", ngspice n^{growth_exponent({n: c for n, c in theirs.items() if n >= 100}):.2f}"
        if theirs
        else "; ngspice is not installed: no ratio"
    )


def report(sizes: dict[int, int] = SIZES, repeats: int = REPEATS, frequencies: int = FREQUENCIES) -> None:
    """The three tables."""
    print("Newton iterations, CPU time in the time loop (implicit Euler; ngspice: trapezoidal, its default)")
    for diodes, title in (
        (False, "plain RC ladder (linear)"),
        (True, "RC ladder with a diode at every node (nonlinear)"),
    ):
        print(f" {title}")
        compare(diodes, sizes, repeats)
    print(f" responses of the plain ladder at {frequencies} frequencies")
    compare_frequencies(sizes, frequencies, repeats)


if __name__ == "__main__":
    report()
