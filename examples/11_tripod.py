"""Inverse dynamics of a mechanism in space: the tripod of Fedoruk et al. 2013 through its four stages, with the numbers
docs/tripod.md quotes.

Stage 4 reads stage 3 through tables, stage 3 reads stage 2, stage 2 reads stage 1: running the last runs them all. With
exact forces the marker returns to its path within an error of first order in the step.
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

STEPS = (0.1, 0.05)
FOLDER = models_folder() / "tripod"
WORKS = ("work_net", "work_abs", "work_pos")


def compute(steps=STEPS):
    """By step h: the works of stage 1, the peak of its forces, the method's own error in them, the marker's largest
    deviations in stage 4."""
    first, last = (netsim.load(FOLDER / f"stage{n}.net") for n in (1, 4))
    found = {}
    for h in steps:
        stage1 = first.with_params(h=h).transient(stop=30.0, step=h, method="euler", forces="recovered")
        method = first.with_params(h=h).transient(stop=30.0, step=h, method="euler", forces="method")
        stage4 = last.with_params(h=h).run()
        exact, late = (np.array([run[f"{rod}.F"].values for rod in "ABC"]) for run in (stage1, method))
        rods = np.array([(stage4[f"k2.{rod}"] - stage4[f"k1.{rod}"]).values for rod in "ABC"])
        back = np.array([stage4[f"dev_{axis}"].values for axis in "xyz"])
        found[h] = {
            "works": [float(stage1[name].values[-1]) for name in WORKS],
            "peak": float(np.abs(exact).max()),
            "late": float(np.abs(late - exact).max()),
            "elongations": float(np.abs(rods).max()),
            "deviations": np.abs(back).max(axis=1),
            "at the end": np.abs(back[:, -1]),
        }
    coarse, fine = (found[h] for h in sorted(steps, reverse=True)[:2])
    ratio = max(steps) / sorted(steps)[-2]
    assert np.allclose(coarse["deviations"] / fine["deviations"], ratio, rtol=0.02), "first order in the step"
    assert all(abs(each["late"] / each["peak"] / h - 0.488) < 0.002 for h, each in found.items()), (
        "implicit Euler's force is late by one step"
    )
    assert all(each["elongations"] < 1e-12 for each in found.values()), (
        "three freedoms, three coordinates: stage 2 finds what stage 1 imposed"
    )
    return found


def draw(found):
    for h, each in found.items():
        print(f"h = {h:g} s")
        print("  stage 1, works: net {:.7e} J, abs {:.7e} J, pos {:.7e} J".format(*each["works"]))
        error = each["late"] / each["peak"]
        print(
            f"  stage 1, largest force {each['peak']:.6e} N; the method's own force is off by {error:.3e} of it, "
            f"{error / h:.4f} h"
        )
        print(f"  stage 2, elongations off by {each['elongations']:.0e} m")
        print(
            "  stage 4, marker off by at most x {:.4f}, y {:.4f}, z {:.4f} mm".format(*each["deviations"] * 1e3), end=""
        )
        print("; at 30 s x {:.4f}, y {:.4f}, z {:.4f} mm".format(*each["at the end"] * 1e3))


if __name__ == "__main__":
    draw(compute((0.1, 0.05, 0.01)))
