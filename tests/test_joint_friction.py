"""Dry friction of joints that truly holds: stick and slip against closed forms, in space and in the plane, turning and sliding."""

import math

import numpy as np
import pytest
from conftest import sampled

import netsim

SPATIAL = (
    "use spatial\nworld gravity = [0, 0, 0] m/s2\nuse couplings\nuse translational\nuse rotational\nb body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2\n"
)
PLANAR = "use planar\nuse couplings\nuse translational\nuse rotational\nb planar_body (a) m = 1 kg, I = 1 kg.m2\n"
SLIDE = "F = 1 N, peak = 1.5\ns spring (y, x) c = 10 N/m\nd velocity (y, ground) v = 0.1 m/s\n"
TURN = "T = 1 N.m, peak = 1.5\ns torsion_spring (y, x) c = 10 N.m/rad\nd speed (y, ground) w = 0.1 rad/s\n"
PULLED = {
    "hinge": f"{SPATIAL}j revolute_driven (ground, a, x) at = [0, 0, 0] m, axis = [1, 2, 2]\nf hinge_friction (ground, a) axis = [1, 2, 2], {TURN}",
    "slider": f"{SPATIAL}j prismatic_driven (ground, a, x) axis = [2, -1, 2]\nf slide_friction (ground, a) axis = [2, -1, 2], {SLIDE}",
    "pin": f"{PLANAR}j planar_revolute_driven (ground, a, x) at = [0, 0] m\nf planar_hinge_friction (ground, a) {TURN}",
    "planar slider": f"{PLANAR}j planar_prismatic_driven (ground, a, x) axis = [3, 4]\nf planar_slide_friction (ground, a) axis = [3, 4], {SLIDE}",
}


def log(samples):
    return [line.split("\t") for line in samples.attributes["event_log"].splitlines()]


@pytest.mark.parametrize("joint", PULLED)
def test_stick_slip_has_its_exact_period(joint):
    """q'' = c (V t - q) - F from rest with the spring at peak F, inertia 1: as for the mass in test_events.py."""
    c, v, force, peak = 10.0, 0.1, 1.0, 1.5
    w = math.sqrt(c)
    slip = (math.pi + 2 * math.atan2(v / w, (peak - 1) * force / c)) / w
    stick = ((peak - (2 - peak)) * force / c) / v
    samples = sampled(netsim.load(f"{PULLED[joint]}run transient(stop = 7 s)\n"), ("f.mode", "f.loss"), rtol=1e-8)
    starts = np.array([float(t) for t, name, _, what in log(samples) if name == "f" and "mode = 1" in what])
    assert starts[0] == pytest.approx(peak * force / c / v, rel=1e-8)
    assert np.diff(starts) == pytest.approx(np.full(2, slip + stick), rel=1e-6)
    stored, supplied, dissipated = samples.energy.T
    assert stored + dissipated - supplied == pytest.approx(np.full(len(stored), stored[0]), abs=1e-6 * np.ptp(stored))


PENDULUM = """
use planar
world gravity = [0, -9.81, 0] m/s2
b planar_body (a) m = 1 kg, I = 0.5 kg.m2, at = [1, 0] m
j planar_revolute (ground, a) at = [0, 0] m
f planar_hinge_friction (ground, a) T = 2 N.m
run transient(stop = 20 s)
"""


def test_a_pendulum_comes_to_rest_within_its_friction():
    """It loses T times the angle it turns, and rests where its weight no longer overcomes the friction."""
    samples = sampled(netsim.load(PENDULUM), ("a.phi", "a.w", "f.mode"), rtol=1e-8)
    phi, mode = samples.series("a.phi"), samples.series("f.mode")
    assert mode[-1] == 0 and np.all(samples.series("a.w")[-5:] == pytest.approx(0, abs=1e-9))
    assert abs(9.81 * math.cos(phi[-1])) < 2
    turned = np.sum(np.abs(np.diff(phi)))
    assert 2 * turned == pytest.approx(9.81 * -math.sin(phi[-1]), rel=1e-6)
