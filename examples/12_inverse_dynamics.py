"""Inverse dynamics of a closed loop: the two torques of a five-bar whose tip goes round an ellipse, by one line of the
netlist.

The tip's ellipse is followed exactly, and the torques are those of the movement to round-off: applied in a free run,
they keep the tip on its path up to the integrator's own error, which the result reports.
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

MODEL = models_folder() / "mechanisms" / "five_bar_inverse.net"


def compute():
    model = netsim.load(MODEL)
    result = model.run(step=5e-3)
    x, y = result["tip.r.x"].values, result["tip.r.y"].values
    ellipse = (x / 0.03) ** 2 + ((y + 0.38) / 0.02) ** 2
    assert np.abs(ellipse - 1).max() < 1e-9, "the tip stays on the ellipse"
    deviations = [
        float(note.split("deviates by ")[1].split()[0])
        for note in result.attrs["notes"].split("; ")
        if "deviates by" in note
    ]
    assert max(deviations) < 1e-4, "and so it does when the torques drive it"
    return result


def draw(result):
    for name in ("mA.T", "mB.T"):
        print(f"{name}: at most {np.abs(result[name].values).max() * 1e3:.1f} mN.m")
    print(result.attrs["notes"].replace("; ", "\n"))


if __name__ == "__main__":
    draw(compute())
