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
    parts = {"r1.R": "100 Ohm +- 5 %", "l1.L": "10 mH +- 20 %"}
    shares = model.sweep(parts, of=["overshoot"], sampling="saltelli", cases=32, stop="2 ms")
    total = {name: shares.attrs[f"measure.ST(overshoot, {name})"] for name in parts}
    assert total["l1.L"] > 2 * total["r1.R"] > 0, "zeta has R and sqrt(1/L)"
    return found, corners, total


def draw(found, corners, total):
    print(f"yield {found.attrs['measure.yield']:.1%} of {found.sizes['case']} circuits")
    worst = float(corners["overshoot"].max())
    print(f"overshoot {float(found['overshoot'].mean()):.1%} on average, {worst:.1%} in the worst corner")
    print("share of the variance:", ", ".join(f"{name} {share:.0%}" for name, share in total.items()))
    print("wrote", netsim.load("many/tolerances").plot(result=found).save("yield.png"))


if __name__ == "__main__":
    draw(*compute())
