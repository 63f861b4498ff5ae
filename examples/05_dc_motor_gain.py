"""A DC motor between two domains: no-load speed w = V k/(k^2 + R d), and what a load torque T costs: T R/(k^2 + R
d)."""

import numpy as np

import netsim
from netsim.library.files import models_folder

V, R, K, D, LOAD = 12.0, 1.0, 0.05, 1e-5, 0.05


def compute():
    result = netsim.load(models_folder() / "dc_motor.net").transient(stop=2, save=["shaft.w", "motor.i"])
    speed = result["shaft.w"]
    free, loaded = float(speed.sel(time=0.999, method="nearest")), float(speed[-1])
    assert np.isclose(free, V * K / (K**2 + R * D), rtol=1e-5)
    assert np.isclose(free - loaded, LOAD * R / (K**2 + R * D), rtol=1e-5)
    return result


def draw(result):
    from matplotlib import pyplot

    result["shaft.w"].plot()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
