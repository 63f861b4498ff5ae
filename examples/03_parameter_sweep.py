"""Another stiffness is another set of numbers, not another network: a sweep rebuilds and recompiles nothing.

A mass on a spring swings with w = sqrt(c/m); the period is read off the zero crossings.
"""

import numpy as np

import netsim

OSCILLATOR = """
use translational
param  stiffness = 100 N/m
m1  mass    (a)          m = 1 kg
c1  spring  (a, ground)  c = stiffness
start  a.x = 10 mm
run   transient(stop = 3 s, step = 0.2 ms)
save  a.x
"""


def frequency(time, x):
    """Angular frequency from the first and last upward zero crossing."""
    rising = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = time[rising] - x[rising] * (time[rising + 1] - time[rising]) / (x[rising + 1] - x[rising])
    return 2 * np.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])


def compute():
    model = netsim.load(OSCILLATOR)
    system = model.system  # numbered and compiled here
    found = {}
    for stiffness in (50.0, 100.0, 200.0, 400.0):
        other = model.with_params(stiffness=stiffness)
        assert other.system is system, "the same system, other numbers"
        result = other.run()  # an xarray.Dataset
        found[stiffness] = frequency(result["time"].values, result["a.x"].values)
        assert abs(found[stiffness] - np.sqrt(stiffness)) < 2e-3 * np.sqrt(stiffness)
    assert model.with_params(stiffness="0.1 kN/m").run().equals(model.run()), "the same value in other words"
    return found


def draw(found):
    for stiffness, w in found.items():
        print(f"c = {stiffness:5.0f} N/m: w = {w:.4f} rad/s, sqrt(c/m) = {np.sqrt(stiffness):.4f} rad/s")


if __name__ == "__main__":
    draw(compute())
