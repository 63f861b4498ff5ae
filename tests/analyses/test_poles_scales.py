"""Poles at scales far from one another in one network, and real ones beside those at zero."""

import numpy as np
import pytest

import netsim

AREAS = [1e-4, 1e-12, 1e-20, 1e-26]


def poles(text):
    found = netsim.load(text).poles()
    return found["real"].values + 1j * found["imaginary"].values


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_mass_on_a_damper(scale):
    """m s^2 + d s = 0: at s = 0 any place is an equilibrium, which the other motion, of the same shape, is not."""
    text = f"use translational\nm mass (a) m = {scale!r} kg\nd damper (a, ground) d = {2.0 * scale!r} N.s/m\n"
    assert poles(text) == pytest.approx([0.0, -2.0], rel=1e-12)
    more = f"n mass (b) m = {scale!r} kg\ne damper (b, ground) d = {10.0 * scale!r} N.s/m\n"
    assert poles(text + more) == pytest.approx([0.0, 0.0, -2.0, -10.0], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_motion_that_grows_beside_a_place_that_is_free_is_told(scale):
    text = f"""use translational
    m mass (a) m = {scale!r} kg
    f force (a) F = {scale!r} N*(a.v/(1 m/s))
    g force (a) F = 0 N
    save a.v
    run ac(input = g, frequencies = [1])"""
    (found,) = netsim.load(text).samples()
    assert found.attributes["notes"].startswith("the operating point is unstable (a motion grows as e^(t/1 s))")


@pytest.mark.parametrize("area", AREAS)
def test_an_orifice_before_a_volume(area):
    """s = -G K/V with the conductance G of two orifices, in proportion to their areas."""
    text = """use hydraulic
    s pressure (p0, ground) p = 10 bar
    o orifice (p0, p1) A = {0!r} m2
    v volume (p1) V = 1e-3 m3, K = 1.6e9 Pa
    o2 orifice (p1, ground) A = {0!r} m2
    """
    assert poles(text.format(area)) == pytest.approx(poles(text.format(1e-4)) * area / 1e-4, rel=1e-9)


@pytest.mark.parametrize("area", AREAS)
def test_the_liquid_in_a_thin_pipe_before_a_tank(area):
    """Inertance and capacitance in proportion: the same poles at every area."""
    text = """use hydraulic
    s pressure (p0, ground) p = 1 bar
    i inertance (p0, p1) L = {1!r} kg/m4
    t open_tank (p1) A = {0!r} m2
    o orifice (p1, ground) A = {0!r} m2
    """
    assert poles(text.format(area, 1 / area)) == pytest.approx(poles(text.format(1e-4, 1e4)), rel=1e-9)


@pytest.mark.parametrize("area", AREAS[:3])
def test_a_piston_that_hardly_moves_liquid(area):
    """m v' = -d v + A p, V/K p' = -A v: of the three motions one stays, one is slow as A^2, one is the mass's own."""
    text = f"""use hydraulic
    use translational
    use couplings
    c piston (p1, x, ground) A = {area!r} m2
    v volume (p1) V = 1e-3 m3, K = 1.6e9 Pa
    m mass (x) m = 1 kg
    d damper (x, ground) d = 1 N.s/m
    """
    stiffness = area**2 * 1.6e9 / 1e-3
    root = np.sqrt(complex(0.25 - stiffness))
    slow = -stiffness / (0.5 + root)
    expected = [0.0, slow, -0.5 - root] if stiffness < 0.25 else [0.0, slow if slow.imag > 0 else slow.conjugate()]
    assert poles(text) == pytest.approx(np.array(expected), rel=1e-9)
