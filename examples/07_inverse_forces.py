"""Inverse dynamics: prescribe a motion, read the force. As the method gives it, and recovered on the acceleration
level.

A mass is moved by x = A sin(w t); the force must be -m A w^2 sin(w t). Implicit Euler's own force is that of the motion
a step ago (an error of the order h); the recovered one is exact to round-off at the same step. At t = 0 both are exact:
the start is always solved on the acceleration level.
"""

import numpy as np

import netsim

SHAKER = """
use translational
m1  mass          (a)          m = 2 kg
s1  displacement  (a, ground)  s = sine(time, amplitude = 10 mm, frequency = 5 Hz)
run  transient(stop = 0.4 s, step = 1 ms, method = euler)
save s1.push
"""
M, A, W = 2.0, 0.010, 2 * np.pi * 5


def compute():
    model = netsim.load(SHAKER)
    worst = {}
    for forces in ("method", "recovered"):
        result = model.transient(stop=0.4, step=1e-3, method="euler", forces=forces)
        wanted = -M * A * W**2 * np.sin(W * result["time"].values)
        worst[forces] = np.abs(result["s1.push"].values - wanted)[3:].max() / (M * A * W**2)
    assert 0.5 * W * 1e-3 < worst["method"] < 2 * W * 1e-3, "late by one step"
    assert worst["recovered"] < 1e-9, "exact"
    return worst


def draw(worst):
    for forces, error in worst.items():
        print(f"forces = {forces:9}: relative error {error:.1e}")


if __name__ == "__main__":
    draw(compute())
