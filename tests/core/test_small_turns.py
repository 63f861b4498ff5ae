"""Small angles beside positions of metres, and of bodies that are turned: rotations are measured from where a run began."""

import numpy as np
import pytest

import netsim

ALLOWED = 20
"""Errors at all samples, as multiples of rtol times the signal's amplitude."""
DRIVEN = 7.0
"""rad/s; the angular frequency of each swing is 10 rad/s."""

PLANAR = """use planar
rod planar_bar (a) m = 3 kg, at1 = [1, 0] m, at2 = [1, -1] m
hinge planar_revolute (ground, a) at = [1, 0] m
k planar_hinge_spring (ground, a) c = 100 N.m/rad
drive planar_hinge_torque (ground, a) T = {torque} N.m*sin(7 rad/s*time)
"""
SPATIAL = """use spatial
rod body (a) m = 3 kg, I = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] kg.m2, at = [{at}, 0, 0] m
hinge revolute (ground, a) at = [{at}, 0, 0] m, axis = [0.6, 0, 0.8]
k hinge_spring (ground, a) c = 100 N.m/rad, axis = [0.6, 0, 0.8], q0 = {turned} rad
drive hinge_torque (ground, a) T = {torque} N.m*sin(7 rad/s*time), axis = [0.6, 0, 0.8]
start hinge.q = {turned} rad
"""
SWINGS = {
    "about a pin 1 m away": (PLANAR, 0.0),
    "about an axis 1 m away": (SPATIAL.replace("{at}", "1").replace("{turned}", "0"), 0.0),
    "of a body turned by 1 rad": (SPATIAL.replace("{at}", "0").replace("{turned}", "1"), 1.0),
    "of a body turned by 3 rad": (SPATIAL.replace("{at}", "1").replace("{turned}", "3"), 3.0),
}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
@pytest.mark.parametrize("torque", [1e-4, 1.0])
@pytest.mark.parametrize("which", SWINGS)
def test_a_driven_swing(which, torque, method, rtol):
    """J q'' + c q = T sin(W t) from rest: q = T/(c - J W^2) (sin(W t) - W/w sin(w t)), w = sqrt(c/J)."""
    text, zero = SWINGS[which]
    result = netsim.load(text.replace("{torque}", repr(torque)) + "save hinge.q\n").transient(stop=3.0, sample=0.0137, rtol=rtol, method=method)
    t = np.asarray(result["time"])
    right = torque / (100 - DRIVEN**2) * (np.sin(DRIVEN * t) - DRIVEN / 10 * np.sin(10 * t))
    assert np.abs(np.asarray(result["hinge.q"]) - zero - right).max() <= ALLOWED * rtol * np.abs(right).max()
