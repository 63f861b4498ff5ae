"""A pendulum that meets the stops of its joint, a few thousandths of its way deep: errors of the stops' torque are tested."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim

WEIGHT, INERTIA, LOWER, UPPER = 0.5 * 9.80665, 1 / 3, -0.5, 0.7
DAMPING, STIFF, END = 0.064, 2e4 * WEIGHT, 6.5
JOINT = f"d = {DAMPING!r} N.m.s/rad, lower = {LOWER} rad, upper = {UPPER} rad, cs = {STIFF!r} N.m/rad"
SPATIAL = f"""use spatial
b body (a) m = 1 kg, I = diag(1, 1, 1)*{1 / 12!r} kg.m2, at = [0, 0, -0.5] m
j limited_revolute (ground, a) at = [0, 0, 0] m, axis = [0, 1, 0], {JOINT}
start j.q = 0.65 rad
"""
PLANAR = f"""use planar
world gravity = [0, -9.80665, 0] m/s2
b planar_body (a) m = 1 kg, I = {1 / 12!r} kg.m2, at = [0, -0.5] m
j planar_limited_revolute (ground, a) at = [0, 0] m, {JOINT}
start j.q = 0.65 rad
"""


def rate(t, y):
    stop = STIFF * (max(y[0] - UPPER, 0) + min(y[0] - LOWER, 0))
    return [y[1], -(WEIGHT * np.sin(y[0]) + DAMPING * y[1] + stop) / INERTIA]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
@pytest.mark.parametrize("text", [SPATIAL, PLANAR], ids=["spatial", "planar"])
def test_the_pendulum_comes_back_as_it_should(text, method, rtol):
    result = netsim.load(text).transient(method=method, rtol=rtol, stop=END, sample=0.05, save=["j.q"])
    exact = solve_ivp(rate, (0, END), [0.65, 0], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True, max_step=5e-4).sol
    t = np.minimum(result["time"].values, END)
    assert np.abs(result["j.q"] - exact(t)[0]).max() < 20 * rtol * 0.65
