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


CHAINS = [
    ((335.048, 0.131535, 0.541541), (692.75, 2.90798e-4, 0), (0, 5863.72, 0),
     [0, 0, -4.95927499951e-8, -0.0382391511708 + 32.1138219214j, -55406.9262515]),
    ((2.35816, 0.00308666, 0.0849833), (730.611, 0.00229217, 0), (0.0475404, 0.00293307, 0),
     [0, 0, -0.0178777191119 + 0.166201848646j, -8.18552471693 + 486.767980344j]),
    ((1950.83, 3.25785, 0.025568), (0.00120206, 3475.29, 0.00358677), (231.034, 0, 0.17963),
     [-5.20318574028e-6, -5.36545987937e-5 + 0.00135318712457j, -70.5526608977, -3.75366448767 + 370.061618905j]),
    ((23.6662, 0.147026, 0.327848), (205.577, 0.00172052, 0.00232845), (0, 2293.21, 0.002061),
     [-7.50267098698e-7, -4.31796001234e-5 + 0.00982083494089j, -0.0234912506849 + 21.0142922834j, -22592.0039014]),
]  # fmt: skip
"""Masses, springs and dampers between neighbours (the last ones to the ground), and poles by 80 digits."""


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("masses, springs, dampers, wanted", CHAINS)
def test_slow_motions_of_chains_beside_fast_ones(masses, springs, dampers, wanted, scale):
    """A free chain of which one joint is stiff was said to grow, or to swing at the root of rounding."""
    lines, ends = ["use translational"], ["b", "c", "ground"]
    for k, (m, c, d) in enumerate(zip(masses, springs, dampers)):
        lines += [f"m{k} mass ({'abc'[k]}) m = {m * scale!r} kg"]
        lines += [f"s{k} spring ({'abc'[k]}, {ends[k]}) c = {c * scale!r} N/m"] if c else []
        lines += [f"d{k} damper ({'abc'[k]}, {ends[k]}) d = {d * scale!r} N.s/m"] if d else []
    text = "\n".join(lines) + "\n"
    assert poles(text) == pytest.approx(wanted, rel=1e-7)
    assert "unstable" not in netsim.load(text).poles().attrs["stability_of_poles"]
    modes = netsim.load(text).modal()
    moving = modes["decay"].values[modes["frequency"].values > 0.0]
    assert moving == pytest.approx([-s.real for s in map(complex, wanted) if s], rel=1e-6)


def test_slow_swings_beside_electronics_have_their_own_digits():
    """A mass of 1 rad/s moves with a coil whose current follows in 1 ps: neither takes the other for rounding."""
    found = poles("""use translational
    use electrical
    m mass (a) m = 1 kg
    s spring_damper (a, ground) c = 1 N/m, d = 1e-3 N.s/m
    v voltage (p, ground) v = 1 V
    r resistor (p, q) R = 1 kOhm
    l inductor (q, ground) L = 1 nH
    """)
    assert found == pytest.approx([-5e-4 + 1j * np.sqrt(1 - 2.5e-7), -1e12], rel=1e-9)


@pytest.mark.parametrize("leak", [1e-6, 1e-16, 1e-25])
def test_what_an_input_does_through_a_tiny_leak_is_no_rounding(leak):
    """C a' = G (v0 - a) - g a - h (a - b), C b' = h (a - b) with G far smaller than all: one zero, whatever G."""
    text = f"""use electrical
    src voltage   (s, ground) v = 1 V
    r1  conductor (s, a)      G = {leak!r} S
    c1  capacitor (a, ground) C = 1 uF
    r2  conductor (a, ground) G = 1 mS
    r3  conductor (a, b)      G = 2 mS
    c2  capacitor (b, ground) C = 1 uF
    """
    found, f = netsim.load(text).linearise(inputs=["src"], save=["a.v", "b.v"]), np.logspace(-3, 3, 7)
    s = 2j * np.pi * f * 1e-6
    a = leak / (s + leak + 1e-3 + 2e-3 * s / (s + 2e-3))
    wanted = np.transpose([a, a * 2e-3 / (s + 2e-3)])
    by_states = [found.c @ np.linalg.solve(x * np.eye(2) - found.a, found.b) + found.d for x in s * 1e6]
    assert np.abs(np.array(by_states)[:, :, 0] / wanted - 1).max() < 1e-9
    assert np.abs(found.frequency_response(f)[:, :, 0] / wanted - 1).max() < 1e-9
    assert found.zeros("a.v", "src.v") == pytest.approx([-2e3], rel=1e-9) and not len(found.zeros("b.v", "src.v"))
