"""Time of the mixed problem of dynamics against the number of links, by how many links are condensed into a
superelement.

H. A. Gevorkyan, Proc. NAS RA and NPUA, 2017, fig. 6 (there 1 to 4 links): one link in each superelement is the method
without inversion of the mass matrix, O(n) (the paper's line 1); all links in one is the mass matrix and its
factorisation by LAPACK, O(n^2) to O(n^3) (its curve 2). Half of the joints have known motions. The arm is that of
models/manipulators/gevorkyan2017.net. With --figure FILE the table is drawn.
"""

import argparse
import time as clock
from typing import Any

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.multibody.tree.algorithms.forward import make_articulated, mixed_into
from netsim.multibody.tree.algorithms.superelements import condensed_into, superelements
from netsim.multibody.tree.kinematics import make_motion
from netsim.multibody.tree.model import Body, Inertia, Joint, Tree, build_tree

SIZES = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PARTS = (1, 4, 16, 0)
"""Links in a superelement; 0: all."""
LENGTH, RADIUS, DENSITY, FRICTION = 0.5, 0.03, 2700.0, 0.2
BUDGET = 0.05


def arm(n: int) -> Tree:
    """The arm of the netlist with n links."""
    mass = DENSITY * np.pi * RADIUS**2 * LENGTH
    across = mass * (3 * RADIUS**2 + LENGTH**2) / 12
    inertia = Inertia(mass, (LENGTH / 2, 0, 0), np.diag([mass * RADIUS**2 / 2, across, across]))
    bodies = []
    for k in range(1, n + 1):
        joint = Joint("revolute", (0.0, np.cos(0.8 * k), np.sin(0.8 * k)), viscous=FRICTION)
        bodies.append(Body(f"b{k}", f"b{k - 1}" if k > 1 else None, joint, inertia, (LENGTH if k > 1 else 0.0, 0, 0)))
    return build_tree(bodies)


@compiled
def repeat_recursion(t, q, v, known, motion, wrenches, cut, count):  # type: ignore[no-untyped-def]
    """The articulated recursion `count` times."""
    m, w, a, tau = make_motion(t), make_articulated(t), np.empty(len(v)), np.empty(len(v))
    for _ in range(count):
        mixed_into(t, q, v, known, motion, wrenches, m, w, a, tau)
    return a


@compiled
def repeat_condensed(t, q, v, known, motion, wrenches, cut, count):  # type: ignore[no-untyped-def]
    """The same by superelements."""
    m, w, a, tau = make_motion(t), make_articulated(t), np.empty(len(v)), np.empty(len(v))
    for _ in range(count):
        condensed_into(t, q, v, known, motion, wrenches, cut, m, w, a, tau)
    return a


def measured(n: int, size: int, budget: float = BUDGET) -> float:
    """Microseconds of CPU for one solution, the best of three measurements."""
    tree = arm(n)
    rng = np.random.default_rng(n)
    q, v, known = rng.normal(size=(3, n))
    state = q, v, known, np.arange(n) < n // 2, np.zeros((tree.nodes, 6))
    cut = superelements(tree, size or n)[0]
    work: Any = repeat_recursion if size == 1 else repeat_condensed
    work(tree.flat, *state, cut, 1)
    began = clock.process_time()
    work(tree.flat, *state, cut, 3)
    count = max(1, int(budget / max((clock.process_time() - began) / 3, 1e-7)))
    found = []
    for _ in range(3):
        began = clock.process_time()
        work(tree.flat, *state, cut, count)
        found.append((clock.process_time() - began) / count)
    return 1e6 * min(found)


def table(sizes: tuple[int, ...], budget: float) -> np.ndarray:
    """Microseconds (sizes, parts)."""
    return np.array([[measured(n, size, budget) for size in PARTS] for n in sizes])


def report(figure: str = "", sizes: tuple[int, ...] = SIZES, budget: float = BUDGET) -> None:
    """Print the table and the growth of each column from 64 links on; draw it where a file is named."""
    names = [f"{size} links" if size > 1 else "1 link" if size else "all links" for size in PARTS]
    print("Mixed problem, microseconds of CPU by links in a superelement")
    print(f"  {'links':>6}" + "".join(f" {name:>12}" for name in names))
    found = table(sizes, budget)
    for n, row in zip(sizes, found):
        print(f"  {n:6}" + "".join(f" {time:12.2f}" for time in row), flush=True)
    large = np.array(sizes) >= 64
    growth = [np.polyfit(np.log(np.array(sizes)[large]), np.log(column[large]), 1)[0] for column in found.T]
    print("  growth" + "".join(f" {'n^' + format(g, '.2f'):>12}" for g in growth))
    if figure:
        draw(figure, sizes, names, found)


def draw(figure: str, sizes: tuple[int, ...], names: list[str], found: np.ndarray) -> None:
    """The table as curves, logarithmic in both directions."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(6, 4))
    for name, column in zip(names, found.T):
        axes.loglog(sizes, column, "o-", markersize=3, label=name)
    axes.set_xlabel("links")
    axes.set_ylabel("time of one solution, us")
    axes.legend(title="in a superelement")
    axes.grid(alpha=0.3)
    pyplot.savefig(figure, bbox_inches="tight", dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", default="", help="draw into this file")
    report(parser.parse_args().figure)
