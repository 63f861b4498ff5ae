"""Switched capacitors between ideal amplifiers: points behind an instant of switching follow from held charges."""

import pytest

import netsim

TEXT = """use electrical
use signal
clock boolean_pulse (phase) period = 0.1 s, share = 0.5
s1 two_way_switch (p, top, ground, phase)
s2 two_way_switch (n, m, ground, phase)
c capacitor (p, n) C = 0.1 F, start v = 0
v voltage (top, ground) v = 1 V
f capacitor (m, o) C = 1 F, start v = 0
op opamp (ground, m, o)
d capacitor (o, k) C = 1 F
op2 opamp (ground, k, o2)
b capacitor (k, o2) C = 2 F, start v = 0
run transient(stop = 1 s, sample = 0.01 s)
save o.v, o2.v
"""


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_every_point_behind_a_switching_is_consistent(rtol):
    """Charges of a loop of capacitors say the same twice, beside a resistance of 10 uOhm and a conductance of 10 uS: the
    charge of 0.1 C that goes over in each of ten periods is exact to the leakage, and no point is passed over."""
    (samples,) = netsim.load(TEXT).samples({"rtol": rtol})
    about = samples.attributes
    assert samples.finished
    assert (about["inconsistent_points"], about["jumps"], about["untested_steps"]) == (0, 0, 0)
    assert samples.series("o.v")[-1] == pytest.approx(-1.0, rel=1e-8)
    assert samples.series("o2.v")[-1] == pytest.approx(0.5, rel=1e-8)
