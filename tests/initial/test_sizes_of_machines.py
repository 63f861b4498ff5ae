"""Starts of mechanisms of any size: moments of momentum of 1e16 N.m.s do not pull at what is written or drawn."""

import numpy as np
import pytest

import netsim

SHAFTS = """use spatial
world gravity = [0, 0, -9.81] m/s2
param s = 1 m
let m = 100 kg/m^3*s^3
let I = m*s^2
rod   body (a)  m = m, I = I*[[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.04]], at = s*[0.25, 0, 0]
shaft body (b)  m = m, I = I*[[0.03, 0.002, 0.001], [0.002, 0.04, 0], [0.001, 0, 0.05]], at = s*[0.8, 0.2, 0]
end_  body (c)  m = m, I = I*[[0.02, 0, 0.001], [0, 0.03, 0.001], [0.001, 0.001, 0.02]], at = s*[1.3, 0.5, 0]
j1 revolute    (ground, a)  at = s*[0, 0, 0], axis = [1, 0, 0]
j2 universal   (a, b)       at = s*[0.5, 0, 0], axis1 = [0, 0, 1], axis2 = [-0.4, 0.6, 0]
j3 universal   (b, c)       at = s*[1.1, 0.4, 0], axis1 = [0, 0, 1], axis2 = [-0.15, 0.4, 0]
j4 cylindrical (ground, c)  at = s*[1.5, 0.55, 0], axis = [0.4, 0.15, 0]
push hinge_torque (ground, a) axis = [1, 0, 0], T = 0.1*m*s*9.81 m/s2
start j1.rate = RATE rad/s
run transient(stop = TIME s, sample = TIME s)
save j1.q, j4.q, j1.rate
"""


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_a_loop_of_any_size_begins_with_the_rate_of_one_joint(formulation):
    """Cardan shafts of 1 mm, 1 m, 1 km fall and turn alike, in times that go with the root of the size."""
    found = []
    for size in (1e-3, 1.0, 1e3):
        root = float(np.sqrt(size))
        text = SHAFTS.replace("RATE", repr(0.8 / root)).replace("TIME", repr(0.5 * root))
        model = netsim.load(text).with_params(s=size)
        run = model.transient(stop=0.5 * root, sample=0.25 * root, formulation=formulation)
        found.append([run["j1.q"].values, run["j4.q"].values, run["j1.rate"].values * root])
    assert np.allclose(found[0], found[1], rtol=0, atol=2e-5)
    assert np.allclose(found[2], found[1], rtol=0, atol=2e-5)
    assert found[1][2][0] == pytest.approx(0.8)
