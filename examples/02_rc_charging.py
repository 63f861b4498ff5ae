"""A capacitor charges through a resistor: v = V (1 - exp(-t/RC)). Implicit Euler's error halves with the step."""

import numpy as np

import netsim
from netsim.library.files import models_folder

SUPPLY, TAU = 5.0, 1e-3


def error(step):
    result = netsim.load(models_folder() / "rc.net").transient(stop=5e-3, step=step, method="euler")
    exact = SUPPLY * (1 - np.exp(-result["time"].values / TAU))
    return np.abs(result["mid.v"].values - exact).max(), result


def compute():
    coarse, _ = error(10e-6)
    fine, result = error(5e-6)
    assert fine < 0.01 * SUPPLY
    assert abs(coarse / fine - 2) < 0.02, "first order"
    return result


def draw(result):
    from matplotlib import pyplot

    result["mid.v"].plot()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
