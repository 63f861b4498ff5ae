"""CPU time of a step of a chain of n links joined by hinges, in absolute coordinates, and the exponent of its growth
with n. Behind it, the same step in joint coordinates.

Every link has six coordinates, every hinge five constraints and an angle: 12 unknowns per link in the sparse system of
a step, whose cost should grow like n. The chain starts straight and level and falls under gravity. The time of a step
is that of the time loop alone; what comes before it (loading, consistent start) has a column of its own, and larger
sizes are left out once it takes longer than its budget.
"""

import time as clock

from ladder import Cost, growth_exponent

SIZES = {16: 1_000, 32: 1_000, 64: 500, 128: 500, 256: 250, 512: 250, 1024: 125}
"""Links -> time steps."""
COMPARED = (4, 16, 64)
"""Links of the chains that run in joint coordinates too."""
STEP = 1e-3
START_BUDGET = 20.0
"""Seconds of CPU from the text to the first step: where a size takes longer, larger ones are left out."""


def chain(n: int) -> str:
    """A netlist of n links of 0.1 m."""
    return f"""
use spatial
count n = {n}
hinge[1]  revolute  (ground, link[1])     at = [0, 0, 0] m, axis = [0, 1, 0]
hinge[k]  revolute  (link[k-1], link[k])  at = [(k - 1)*0.1, 0, 0]*1 m, axis = [0, 1, 0]  for k in 2..n
bar[k] body (link[k]) m = 0.1 kg, I = diag(1e-5, 9e-5, 9e-5)*1 kg.m2, at = [(k - 0.5)*0.1, 0, 0]*1 m  for k in 1..n
run  transient(stop = 1 s, step = 1 ms, method = euler)
save link[{n}].r.x, link[{n}].r.z
"""


def cost(n: int, steps: int, formulation: str = "absolute") -> tuple[Cost, int, float]:
    """The cost of a step, from the run's first block of steps to its last; the unknowns; and the seconds before the
    first step."""
    import netsim

    marks: list[tuple[int, float]] = []
    opened = clock.process_time()
    model = netsim.load(chain(n))
    options = {"stop": steps * STEP, "step": STEP, "method": "euler", "formulation": formulation}
    run = model.transient(lambda fraction, time, done: marks.append((done, clock.process_time())), **options).attrs
    (first, began), (last, ended) = marks[0], marks[-1]
    each = (ended - began) / (last - first)
    ahead = began - opened - first * each
    return (
        Cost(each * 1e6, run["iterations"] / run["steps"], run["factorisations"] / run["steps"]),
        run["unknowns"],
        ahead,
    )


def report(sizes: dict[int, int] = SIZES, compared: tuple[int, ...] = COMPARED, steps_compared: int = 200) -> None:
    """A row for each size, and the growth exponents; the chains in both coordinates."""
    cost(3, 32)  # compiles
    print("Chain of n links joined by hinges, absolute coordinates, implicit Euler, CPU time in the time loop")
    print(
        f"  {'links':>6} {'unknowns':>9} {'us/step':>10} {'us/step/link':>13} {'iterations':>11} {'factor':>7} "
        f"{'before, s':>10}"
    )
    found: dict[int, Cost] = {}
    for n, steps in sizes.items():
        found[n], unknowns, ahead = cost(n, steps)
        each = found[n]
        line = (
            f"  {n:6,} {unknowns:9,} {each.microseconds:10.1f} {each.microseconds / n:13.2f} "
            f"{each.iterations:11.2f} {each.factorisations:7.2f}"
        )
        print(f"{line} {ahead:10.1f}", flush=True)
        if ahead > START_BUDGET and n != max(sizes):
            print(f"  larger chains are left out: before the first step of this one {ahead:.0f} s went by")
            break
    per_iteration = {n: Cost(each.microseconds / each.iterations, 1.0) for n, each in found.items()}
    print(
        f"  growth with n: step n^{growth_exponent(found):.2f}, Newton iteration n^{growth_exponent(per_iteration):.2f}"
    )
    compare(compared, steps_compared)


def compare(sizes: tuple[int, ...], steps: int) -> None:
    """The same step in the coordinates of the hinges, beside the absolute one: least of three runs each."""
    print("The same chain in joint coordinates (formulation = tree)")
    print(f"  {'links':>6} {'unknowns':>9} {'us/step':>10} {'absolute':>10} {'ratio':>6}")
    for n in sizes:
        tree, absolute = (
            min((cost(n, steps, which) for _ in range(3)), key=lambda each: each[0].microseconds)
            for which in ("tree", "absolute")
        )
        ratio = tree[0].microseconds / absolute[0].microseconds
        print(
            f"  {n:6,} {tree[1]:9,} {tree[0].microseconds:10.1f} {absolute[0].microseconds:10.1f} {ratio:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    report()
