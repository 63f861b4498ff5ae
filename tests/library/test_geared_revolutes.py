"""Two bodies geared in a bearing: closed form in a fixed one, constants of motion in one that turns freely."""

import numpy as np
import pytest

import netsim
from conftest import sampled

GEARED = """
use spatial
world gravity = [0, 0, 0] m/s2
bevel body (p) m = 1 kg, I = diag(0.1, 0.2, 0.2) kg.m2, at = [0.3, 0, 0] m
crown body (c) m = 1 kg, I = diag(0.3, 0.3, 0.5) kg.m2, at = [0, 0, 0.2] m
mesh  geared_revolutes ({bearing}, p, c) ratio = 3, at_a = [0.3, 0, 0] m, axis_a = [1, 0, 0], at_b = [0, 0, 0.2] m, axis_b = [0, 0, 1]
t     hinge_torque ({bearing}, p) axis = [1, 0, 0], T = 0.5 N.m
"""


def test_a_bevel_gear_in_a_fixed_bearing():
    """(I_b + ratio^2 I_a) q_b'' = ratio T."""
    samples = sampled(netsim.load(GEARED.format(bearing="ground") + "run transient(stop = 2 s)\n"), ("mesh.hinge_a.q", "mesh.hinge_b.q"), rtol=1e-9)
    turned = 0.5 * (3 * 0.5) / (0.5 + 9 * 0.1) * samples.time**2
    assert samples.series("mesh.hinge_b.q") == pytest.approx(turned, abs=1e-7)
    assert samples.series("mesh.hinge_a.q") == pytest.approx(3 * turned, abs=3e-7)


def test_a_bevel_gear_in_a_bearing_that_turns_freely():
    """Torque and gear act between bodies: the angular momentum about the fixed point stays, and the work becomes kinetic energy."""
    text = GEARED.format(bearing="h") + "house body (h) m = 5 kg, I = diag(1, 2, 3) kg.m2\npin spherical (ground, h) at = [0, 0, 0] m\n"
    text += "start mesh.hinge_b.rate = 2 rad/s\nstart h.w.x = 0 rad/s\nstart h.w.y = 0 rad/s\nstart h.w.z = 0 rad/s\nrun transient(stop = 2 s)\n"
    names = [f"{n}.{q}" for n in "hpc" for q in ("R", "w", "r", "v")]
    samples = sampled(netsim.load(text), tuple(names), rtol=1e-9)
    total = np.zeros((len(samples.time), 3))
    column = {s.name: samples.values[:, i] for i, s in enumerate(samples.signals)}
    for node, m, inertia in (("h", 5, [1, 2, 3]), ("p", 1, [0.1, 0.2, 0.2]), ("c", 1, [0.3, 0.3, 0.5])):
        R = np.array([[column[f"{node}.R[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]).transpose(2, 0, 1)
        w, r, v = (np.array([column[f"{node}.{q}.{e}"] for e in "xyz"]).T for q in ("w", "r", "v"))
        total += np.einsum("tij,j,tkj,tk->ti", R, np.array(inertia, float), R, w) + m * np.cross(r, v)
    assert total == pytest.approx(np.tile(total[0], (len(total), 1)), abs=1e-7)
    stored, supplied, dissipated = samples.energy.T
    assert stored - supplied + dissipated == pytest.approx(np.full(len(stored), stored[0]), abs=1e-7)
