"""Forces with kinks that have no events, in mechanisms: the coordinates of bodies against those of joints."""

import numpy as np
import pytest

import netsim

BARS = """
use planar
use rotational
component angle_stop (p : rotational) "springs beyond 0.3 and -0.2 rad"
  branch p -> ground : phi, w, t
  t = 30 N.m/rad*(max(phi - 0.3, 0) - max(-0.2 - phi, 0))
end
world gravity = [0, -9.81, 0] m/s2
b1 planar_body (a) m = 1 kg, I = 0.02 kg.m2, at = [0, -0.5] m
j1 planar_revolute_driven (ground, a, f1) at = [0, 0] m
b2 planar_body (c) m = 1 kg, I = 0.02 kg.m2, at = [0, -1.5] m
j2 planar_revolute_driven (a, c, f2) at = [0, -1] m
k1 angle_stop (f1)
k2 angle_stop (f2)
start a.phi = {start} rad
save a.phi, c.phi, a.w
"""


@pytest.mark.parametrize("rtol, most", [(1e-4, 40.0), (1e-6, 60.0), (1e-8, 60.0)])
def test_kinks_of_torques_are_seen_in_coordinates_of_bodies(rtol, most):
    """The median of five starts, in rtol of the largest value: it was 115 at 1e-6 and 670 at 1e-8 (record 0239)."""
    missed = []
    for start in (0.1, 0.5, 0.8, 1.0, 1.2):
        model = netsim.load(BARS.format(start=start))
        exact = model.transient(method="rk8", rtol=1e-12, formulation="tree", sample=0.01, stop=3.0)
        found = model.transient(rtol=rtol, formulation="absolute", sample=0.01, stop=3.0)
        off = [np.abs(found[s].values - exact[s].values).max() / np.abs(exact[s].values).max() for s in ("a.phi", "c.phi", "a.w")]
        missed.append(max(off) / rtol)
    assert np.median(missed) < most
