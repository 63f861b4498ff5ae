"""Velocities of constrained masses count in the error test of explicit methods, which find them as exactly as positions."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import netsim


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9])
def test_a_pendulum_in_absolute_coordinates_by_rk45(rtol):
    """2.5 rad to both sides, four periods: energy was off by 6 to 13 rtol, and the angle by 110."""
    w, k = 2 * np.pi, np.sin(1.25)
    text = f"use planar\nworld gravity = [0, {-w * w!r}, 0] m/s2\nb1 planar_bar (a) m = 1 kg, at1 = [0, 0] m, at2 = [0, -1.5] m\n"
    text += "j1 planar_revolute (ground, a) at = [0, 0] m\nstart j1.q = 2.5 rad\nsave j1.q\nrun transient(stop = 6 s)\n"
    (samples,) = netsim.load(text).samples({"method": "rk45", "rtol": rtol})
    right = 2 * np.arcsin(k * ellipj(w * samples.time + ellipk(k * k), k * k)[0])
    assert np.abs(samples.values[:, 0] - right).max() < 20 * rtol * 2.5
