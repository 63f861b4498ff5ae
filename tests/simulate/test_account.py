"""The energy account at the inner nodes of a step: where it reads nothing that follows from differentiated constraints,
these are the step's own points, and the energies are those of an independent integration."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from conftest import sampled
from netsim.core.loop.control import ACCOUNT
from netsim.simulate import adaptive

PENDULUM = """use planar
world gravity = [0, -9.81, 0] m/s2
p planar_revolute (ground, x) at = [0, 0] m
b planar_body (x) m = 2 kg, I = 0.1 kg.m2, at = [0.5, 0] m
d planar_hinge_spring (ground, x) c = 0 N.m/rad, d = 0.7 N.m.s/rad
t planar_hinge_torque (ground, x) T = 6 N.m*sin(4 rad/s*time)
run transient(stop = 3 s, sample = 0.05 s)
save p.q, x.w
"""
DRIVEN = PENDULUM.replace("planar_hinge_torque (ground, x) T = 6 N.m*", "planar_hinge_angle (ground, x) q = 1 rad*")


def energies_of_the_pendulum(times):
    """Supplied, dissipated and stored energy, by SciPy's DOP853 at 1e-12."""
    inertia = 0.1 + 2 * 0.5**2

    def rates(t, y):
        torque = 6 * np.sin(4 * t)
        return [y[1], (torque - 0.7 * y[1] - 2 * 9.81 * 0.5 * np.cos(y[0])) / inertia, torque * y[1], 0.7 * y[1] ** 2]

    q, w, supplied, dissipated = solve_ivp(rates, (0, 3), [0.0] * 4, "DOP853", times, rtol=1e-12, atol=1e-12).y
    return supplied, dissipated, inertia * w**2 / 2 + 2 * 9.81 * 0.5 * np.sin(q)


def account_of(text, monkeypatch, **options):
    """The samples, and whether the nodes of work were consistent points."""
    seen, begin = [], adaptive.set_account
    monkeypatch.setattr(adaptive, "set_account", lambda control, *args: (begin(control, *args), seen.append(bool(control.places[ACCOUNT]))))
    return sampled(netsim.load(text), **options), seen


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["radau", "bdf", "generalized_alpha"])
def test_energies_of_a_given_torque_need_no_consistent_points(method, rtol, monkeypatch):
    samples, seen = account_of(PENDULUM, monkeypatch, method=method, rtol=rtol, stop=3.0, sample=0.05)
    assert seen and not any(seen)
    stored, supplied, dissipated = samples.energy[:, 0], samples.energy[:, 1], samples.energy[:, 2]
    found = (supplied, dissipated, stored - stored[0])
    for ours, wanted in zip(found, energies_of_the_pendulum(samples.time)):
        assert np.abs(ours - (wanted - wanted[0])).max() <= 100 * rtol * np.abs(wanted).max()


def test_the_power_of_a_given_motion_does(monkeypatch):
    """Its torque is a multiplier, whose order inside a step is lower."""
    samples, seen = account_of(DRIVEN, monkeypatch, rtol=1e-6, stop=3.0, sample=0.05)
    assert seen and all(seen)
    w = 4 * np.cos(4 * samples.time)
    kinetic = (0.1 + 2 * 0.5**2) / 2 * w**2
    height = 2 * 9.81 * 0.5 * np.sin(np.sin(4 * samples.time))
    lost = 0.7 * (8 * samples.time + np.sin(8 * samples.time))
    assert samples.energy[:, 1] == pytest.approx(kinetic - kinetic[0] + height + lost, abs=2e-5 * lost[-1])


CELL = """use electrical
component cell (p, n : electrical) "a voltage that rises and falls, behind a resistance and a capacitance"
  param  heat = 1  "1: its resistance is told as heat"
  branch p -> n : v, i
  var    u : V
  (1 F)*der(u) = i
  v = 1 V*sin(time/(1 s)) + u + (3 Ohm)*i
  source
  LINES
end
b cell (a, ground)
r resistor (a, ground) R = 2 Ohm
start b.u = 0 V
run transient(stop = 10 s)
"""


@pytest.mark.parametrize("lines", ["", "stores (0.5 F)*u^2", "dissipates (3 Ohm)*i^2", "stores (0.5 F)*u^2\n  dissipates (3 Ohm)*i^2"])
def test_a_source_supplies_what_it_dissipates_and_gives(lines):
    """The capacitance of what stores counts as supplied. Reference: DOP853 at 1e-12."""
    samples = sampled(netsim.load(CELL.replace("LINES", lines)), ("r.v",), rtol=1e-8)
    assert not samples.warnings and not samples.broken

    def rates(t, y):
        i = -(np.sin(t) + y[0]) / 5
        return [i, 2 * i**2, 3 * i**2, -i * (np.sin(t) + y[0] + 3 * i)]

    _, outer, inner, given = solve_ivp(rates, (0, 10), [0.0] * 4, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    own = inner if "dissipates" in lines else 0.0
    assert outer == pytest.approx(given, rel=1e-9)
    assert samples.energy[-1] == pytest.approx([0.0, given + own, outer + own], rel=1e-6, abs=1e-12)
