"""Shape functions of the manipulator of Gevorkyan 2022: slowest frequency with locked joints, peaks of deflection and
torque by family and number.

    python benchmarks/shapes.py [--figure docs/shapes.png]

The figure shows the tip's deflection over time by the paper's functions and by the converged beam.
"""

import argparse
from typing import Any

import numpy as np

import netsim
from netsim.library.files import models_folder
from netsim.multibody.recursion.bodies import network_tree
from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.model import neutral
from netsim.text.expressions.beams import NAMES

NETLIST = models_folder() / "manipulators" / "gevorkian2022.net"
CHOICES = (
    ("guided", 1),
    ("guided", 2),
    ("free_modes", 1),
    ("free_modes", 3),
    ("craig_bampton", 2),
    ("craig_bampton", 3),
    ("clamped_free", 2),
    ("clamped_free", 3),
)


def manipulator(shapes: str, functions: int) -> Any:
    """The model of a choice by name and number."""
    return netsim.load(NETLIST, counts={"shapes": NAMES.index(shapes), "functions": functions})


def frequency(model: Any) -> float:
    """The slowest frequency (rad/s) at the start, joints locked."""
    from scipy.linalg import eigh

    tree = network_tree(model.machine).tree
    elastic = np.concatenate([np.arange(here.start, here.stop) for here in tree.elastic.values()])
    stiffness = np.zeros((tree.nv, tree.nv))
    for body in tree.bodies:
        here = tree.elastic[body.name]
        if here.stop > here.start:
            stiffness[here, here] = body.inertia.stiffness()
    at = np.ix_(elastic, elastic)
    return float(np.sqrt(eigh(stiffness[at], crba(tree, neutral(tree))[at], eigvals_only=True)[0]))


def report(figure: str = "", choices: tuple[tuple[str, int], ...] = CHOICES) -> None:
    """Print the table; draw the figure where asked."""
    print("| shapes | functions | slowest, rad/s | dX m | dY m | dZ m | G1 N.m |")
    print("|---|---|---|---|---|---|---|")
    runs = {}
    for choice in choices:
        model = manipulator(*choice)
        run = runs[choice] = model.samples()[0]
        peaks = [np.abs(run.series(name)).max() for name in ("dX", "dY", "dZ", "G1")]
        print(
            f"| {choice[0]} | {choice[1]} | {frequency(model):.4f} | {peaks[0]:.5f} | {peaks[1]:.5f} | {peaks[2]:.5f} "
            f"| {peaks[3]:.1f} |",
            flush=True,
        )
    if figure:
        draw(runs, figure)


def draw(runs: dict[tuple[str, int], Any], file: str) -> None:
    """Deflections of the tip in cm by the paper's two functions and by three that are free at the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(8, 6), sharex=True, layout="constrained")
    for axis, name in zip(axes, ("dX", "dY", "dZ")):
        for choice, style in ((("clamped_free", 3), {"color": "#3b6ea8"}), (("guided", 2), {"color": "#c8553d"})):
            run = runs[choice]
            axis.plot(run.time, 100 * run.series(name), label=f"{choice[0]}, {choice[1]} functions", lw=1.2, **style)
        axis.set_ylabel(f"{name}, cm")
        axis.grid(alpha=0.3)
    axes[0].legend(loc="upper right")
    axes[-1].set_xlabel("time, s")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", default="", help="file to draw the tip's deflections into")
    report(parser.parse_args().figure)
