"""Two masses held s(t) apart: the force that keeps a prescribed distance is an unknown of the network, and comes out of
it.

Model: models/two_masses.net (Fedoruk et al. 2013, fig. 1). Away from the pulse the force must balance the free body b
alone: its own equation m2 dv/dt + k2 v = s1.f holds for whatever motion came out.
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

MASS, DAMPING = 1.0, 0.5  # of body b


def compute():
    result = netsim.load(models_folder() / "two_masses.net").transient(
        stop=5, step=1e-3, method="euler", save=["s1.f", "a.x", "b.x", "b.v", "s1.s"]
    )
    apart = (result["a.x"] - result["b.x"]).values
    assert np.abs(apart - result["s1.s"].values).max() < 1e-12, "the distance is the prescribed one"

    h, v, force = 1e-3, result["b.v"].values, result["s1.f"].values
    balance = MASS * np.diff(v) / h + DAMPING * v[1:]  # implicit Euler's own equation of body b
    assert np.abs(balance - force[1:]).max() < 1e-6 * np.abs(force).max()
    return result


def draw(result):
    from matplotlib import pyplot

    result["s1.f"].plot()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
