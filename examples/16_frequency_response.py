"""Where a nonlinear oscillator jumps: the frequency response of Duffing's oscillator, followed round both folds.

Between the folds there are two stable periodic states and an unstable one. A slow sweep upwards jumps down at the upper
fold, and one downwards jumps up at the lower fold. Harmonic balance gives both at w = 1.5224480 and 1.2520150.
"""

import numpy as np

import netsim

OSCILLATOR = """
use translational
param w = 1
ball   mass    (a)          m = 1 kg
coil   spring  (a, ground)  c = 1 N/m
brake  damper  (a, ground)  d = 0.1 N.s/m
push   force   (a)          F = 1 N*cos(w*time/(1 s)) - 0.04 N/m^3*a.x^3
save   a.x
"""


def compute():
    found = netsim.load(OSCILLATOR).sweep_periodic(over="w", from_=1.2, to=1.6, points=3, rtol=1e-8)
    folds = [float(each) for each in found.attrs["folds"].split(", ")]
    assert np.allclose(folds, [1.5224480, 1.2520150], atol=1e-6)
    return folds, found


def draw(folds, found):
    print(f"jumps down at w = {folds[0]:.6f}, up at w = {folds[1]:.6f}")
    for w, size, multiplier in zip(found["w"].values, found["amplitude(a.x)"].values, found["multiplier"].values):
        print(f"w = {w:.4f}: amplitude {size:.4f} m, {'unstable' if multiplier > 1 else 'stable'}")


if __name__ == "__main__":
    draw(*compute())
