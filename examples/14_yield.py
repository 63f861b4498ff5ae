"""How many circuits of a series keep their limit: a sweep over tolerances of parts, by one line.

The overshoot of a damped series resonance is exp(-pi zeta/sqrt(1 - zeta^2)) with zeta = R/2 sqrt(C/L), so that every
case can be checked by hand.
"""

import numpy as np

import netsim


def compute():
    model = netsim.load("many/tolerances")
    found = model.run()  # an xarray.Dataset along `case`
    zeta = found["r1.R"] / 2 * np.sqrt(found["c1.C"] / found["l1.L"])
    exact = np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2))
    assert float(abs(found["overshoot"] - exact).max()) < 1e-5
    assert float(found["holds"].mean()) == found.attrs["measure.yield"] == float((exact < 0.2).mean())
    corners = model.sweep({"r1.R": "100 Ohm +- 5 %", "l1.L": "10 mH +- 20 %"}, sampling="corners", stop="2 ms")
    assert corners.sizes["case"] == 4
    return found, corners


def draw(found, corners):
    print(f"yield {found.attrs['measure.yield']:.1%} of {found.sizes['case']} circuits")
    worst = float(corners["overshoot"].max())
    print(f"overshoot {float(found['overshoot'].mean()):.1%} on average, {worst:.1%} in the worst corner")


if __name__ == "__main__":
    draw(*compute())
