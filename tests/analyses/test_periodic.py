"""Periodic states: closed forms, independent integrations, and the ends of long transient runs."""

import numpy as np
import pytest

import netsim
from netsim.results.over_frequency.harmonics import harmonics
from netsim.results.series import trajectory_of
from netsim.results.trajectories import Trajectory

DUFFING = """
use translational
m1 mass   (a)         m = 1 kg, start x = {x} m, start v = {v} m/s
s1 spring (a, ground) c = 1 N/m
d1 damper (a, ground) d = 0.1 N.s/m
f1 force  (a)         F = 1 N*cos(1.4*time/(1 s)) - 0.04 N/m^3*a.x^3
run periodic(rtol = 1e-10, warm_up = 0)
save a.x, a.v
"""
VAN_DER_POL = """
use signal
component oscillator (out y : signal)
  param mu = 1
  var w : 1
  der(y)*1 s = w
  der(w)*1 s = mu*(1 - y^2)*w - y
end
v oscillator (y) start y = 2
save y, v.w
"""


def found(text, **options):
    """The samples of the periodic run of a netlist."""
    model = netsim.load(text + "\n")
    if options:
        return model._alone(netsim.text.syntax.Run("periodic", ()), None, None, options)
    (samples,) = model.samples()
    return samples


def amplitudes(samples, name, count=3):
    axis, fine = trajectory_of(samples.time, {}, samples.trace)
    return np.abs(harmonics(Trajectory(axis, fine[name]), np.arange(count + 1)))


@pytest.mark.parametrize(("x", "v", "first", "third"), [(0, 0, 1.06805621, 7.34988e-4), (5.8, 0.5, 5.86215759, 0.13837189)])
def test_both_branches_of_duffings_oscillator(x, v, first, third):
    size = amplitudes(found(DUFFING.format(x=x, v=v)), "a.x")
    assert size[1] == pytest.approx(first, abs=1e-8)
    assert size[3] == pytest.approx(third, abs=5e-9)
    assert size[[0, 2]] == pytest.approx(0.0, abs=1e-9)


def test_the_period_of_van_der_pols_oscillator():
    samples = found(VAN_DER_POL, period=6.0, rtol=1e-11)
    assert samples.attributes["period"] == pytest.approx(6.6632868593231, abs=1e-9)
    assert samples.attributes["orbit"].splitlines()[1].startswith("stable: disturbances shrink to 0.00086")
    np.testing.assert_allclose(samples.values[-1], samples.values[0], atol=1e-9)
