"""What a component dissipates is its output `loss`: a heat flow bound to it brings all of it to a body."""

import pytest

import netsim
from conftest import sampled

BODY = "body (a) m = 2 kg, I = diag([1 kg.m2, 2 kg.m2, 2 kg.m2]), at = [0 m, 0 m, 0.5 m]"
USE = "use couplings\nuse magnetic\nuse electrical\nuse translational\nuse planar\nuse spatial\nuse thermal\n"
LOSING = {
    "hinge": "b planar_bar (a) m = 2 kg, at1 = [0 m, 0 m], at2 = [1 m, 0 m]\n"
    "k planar_revolute (ground, a) at = [0 m, 0 m], d = 0.5 N.m.s/rad\nstart a.w = 3 rad/s\n",
    "slider": f"b {BODY}\nk prismatic (ground, a) at = [0 m, 0 m, 0 m], axis = [1, 0, -1], d = 0.5 N.s/m, friction = 1 N\n",
    "bushing": f"b {BODY}\n"
    "k bushing (ground, a) at = [0 m, 0 m, 0.5 m], c = [100 N/m, 200 N/m, 5e4 N/m], d = [1 N.s/m, 2 N.s/m, 300 N.s/m], "
    "ct = [10 N.m/rad, 10 N.m/rad, 10 N.m/rad], dt = [1 N.m.s/rad, 1 N.m.s/rad, 1 N.m.s/rad]\n",
    "contact": f"b {BODY}\nk plane_contact (ground, a) c = 1e5 N/m, lambda = 0.5 s/m, at = [0 m, 0 m, 0.5 m], r = 0.1 m\n",
    "transistor": "s voltage (p, ground) v = 5 V*sin(60 s^-1*time)\nk mosfet (p, p, o, ground) Is = 1e-14 A\nl capacitor (o, ground) C = 1 uF\n",
    "eddy currents": "s voltage (p, ground) v = 5 V*sin(60 s^-1*time)\n"
    "w winding (p, ground, m, ground) N = 100\nf permeance (m, i) G = 1 uH\nk eddy_current (i, ground) G = 1e3 S\n",
}
"""A component `k` that dissipates and has no loss of its own in its text."""


@pytest.mark.parametrize("kind", LOSING)
def test_losses_heat_a_body(kind):
    """Friction that holds is an element of its joint, `k.dry`, with a loss of its own."""
    lost = "k.loss + k.dry.loss" if "friction" in LOSING[kind] else "k.loss"
    text = f"{USE}{LOSING[kind]}q heat_flow (h) Q = {lost}\nc heat_capacity (h) C = 2 J/K, start T = 300 K\nrun transient(stop = 1 s)\n"
    samples = sampled(netsim.load(text), ("h.T", "k.loss"), rtol=1e-8)
    lost = samples.energy[-1, 2]
    assert 2 * (samples.series("h.T")[-1] - 300) == pytest.approx(lost, rel=1e-6) and lost > 0
