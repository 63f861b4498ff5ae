"""What a chamber holds follows from where its piston begins."""

import pytest

import netsim

CYLINDER = """use hydraulic
use couplings
supply  pressure               (p, ground)        p = 100 bar
spool   valve_43               (p, ground, a, b)  spool = 0.5*(1 - exp(-time/(20 ms))), A = {area!r} m2
drive   double_acting_cylinder (a, b, rod, ground)  Aa = {piston!r} m2, Ab = {piston!r} m2, stroke = {stroke!r} m, K = {bulk!r} Pa
load    mass                   (rod)              m = {mass!r} kg
start   rod.x = {begin!r} m
save a.p, b.p, rod.x
"""


@pytest.mark.parametrize("bulk", [1e5, 1.6e9])
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0, 1e3])
def test_chambers_begin_without_pressure_wherever_the_rod_begins(size, bulk):
    """From rest the pressures are 0, and what the chambers hold is what fits into them there."""
    text = CYLINDER.format(area=1e-5 * size**2, piston=1e-3 * size**2, stroke=0.5 * size, begin=0.1 * size, mass=50.0 * size**3, bulk=bulk)
    result = netsim.load(text).transient(stop=1e-4, **{"from": "rest"})
    assert float(result["rod.x"][0]) == pytest.approx(0.1 * size, rel=1e-12)
    assert abs(float(result["a.p"][0])) < 1e-9 and abs(float(result["b.p"][0])) < 1e-9
