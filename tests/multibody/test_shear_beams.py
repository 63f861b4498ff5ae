# ruff: noqa: E501  (netlists in a line read best)
"""Beams that shear (Timoshenko) against closed forms: tip of a cantilever, frequencies of a beam between pins, rotation at large displacements."""

import numpy as np
import pytest

import netsim

E, POISSON, SHEAR, WIDTH, HEIGHT, LENGTH, RHO = 200e9, 0.3, 5 / 6, 0.1, 0.4, 2.0, 7800.0
AREA, IN_PLANE, ACROSS = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12, HEIGHT * WIDTH**3 / 12
GA = SHEAR * E * AREA / (2 * (1 + POISSON))
SECTION = f"E = 200 GPa, rho = 7800 kg/m3, width = 0.1 m, height = 0.4 m, shear = {SHEAR!r}"
FREE = "world gravity = [0, 0, 0] m/s2\n"


def values(text):
    """The samples of the only run of a netlist without gravity."""
    return netsim.load(FREE + text).samples()[0]


@pytest.mark.parametrize("elements", [1, 4])
@pytest.mark.parametrize("shear", [0.0, SHEAR])
def test_cantilever_bends_and_shears(elements, shear):
    """F L^3/(3 EI) + F L/(kappa G A) at the tip, whatever the number of elements; its turn knows bending alone."""
    slip = LENGTH / GA if shear else 0.0
    given = SECTION.replace(repr(SHEAR), repr(shear))
    plane = f"use planar\nt planar_body (x) m = 1 kg, I = 1 kg.m2, at = [2, 0] m\nq planar_beam (ground, x) at1 = [0, 0] m, at2 = [2, 0] m, elements = {elements}, {given}\nf planar_force (x) F = [0, 1 N], at = [2, 0] m\nrun static()\nsave x.r.y, x.phi\n"
    assert values(plane).values[-1] == pytest.approx([LENGTH**3 / (3 * E * IN_PLANE) + slip, LENGTH**2 / (2 * E * IN_PLANE)], rel=1e-9)
    space = f"use spatial\nt body (x) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [2, 0, 0] m\nq spatial_beam (ground, x) at1 = [0, 0, 0] m, at2 = [2, 0, 0] m, side = [0, 1, 0], elements = {elements}, {given}\nf world_force (x) F = [0, 1 N, 1 N], at = [2, 0, 0] m\nrun static()\nsave x.r.y, x.r.z\n"
    assert values(space).values[-1] == pytest.approx([LENGTH**3 / (3 * E * i) + slip for i in (IN_PLANE, ACROSS)], rel=1e-9)


def pinned(n):
    """The n-th frequency between pins: the lower root of Timoshenko's characteristic equation for sin(n pi x/L)."""
    k2 = (n * np.pi / LENGTH) ** 2
    stiff = E * IN_PLANE / GA
    a, b, c = RHO * IN_PLANE * RHO * AREA / GA, RHO * AREA * (1 + stiff * k2) + RHO * IN_PLANE * k2, E * IN_PLANE * k2**2
    return np.sqrt((b - np.sqrt(b * b - 4 * a * c)) / (2 * a)) / (2 * np.pi)


def test_frequencies_of_a_beam_between_pins_converge():
    """The errors of the first three fall with the square of the elements; thin beams' formula is 6 to 45 % off here."""
    found = {}
    for elements in (8, 16):
        text = f"use planar\nt planar_body (x) m = 1e-9 kg, I = 1e-9 kg.m2, at = [0, 0] m\nu planar_body (y) m = 1e-9 kg, I = 1e-9 kg.m2, at = [2, 0] m\np planar_revolute (ground, x) at = [0, 0] m\nr planar_pin_in_slot (ground, y) at = [2, 0] m\nq planar_beam (x, y) at1 = [0, 0] m, at2 = [2, 0] m, elements = {elements}, {SECTION}\nrun modal(modes = 5)\n"
        frequencies = values(text).series("frequency")
        found[elements] = np.array([frequencies[np.argmin(np.abs(frequencies - pinned(n)))] / pinned(n) - 1 for n in (1, 2, 3)])
    assert np.abs(found[16]).max() < 0.006 and found[8] / found[16] == pytest.approx([4, 4, 4], rel=0.1)
    thin = [n**2 * np.pi / (2 * LENGTH**2) * np.sqrt(E * IN_PLANE / (RHO * AREA)) / pinned(n) for n in (1, 3)]
    assert thin[0] > 1.05 and thin[1] > 1.4


def test_space_and_plane_agree():
    """The same beam as an element of either kind: one frequency."""
    plane = f"use planar\nt planar_body (x) m = 50 kg, I = 1 kg.m2, at = [2, 0] m\nq planar_beam (ground, x) at1 = [0, 0] m, at2 = [2, 0] m, elements = 3, {SECTION}\nrun modal(modes = 3)\n"
    space = f"use spatial\nt body (x) m = 50 kg, I = diag(1, 1, 1) kg.m2, at = [2, 0, 0] m\nj planar_joint (ground, x) at = [2, 0, 0] m\nq spatial_beam (ground, x) at1 = [0, 0, 0] m, at2 = [2, 0, 0] m, side = [0, 1, 0], elements = 3, {SECTION}\nrun modal(modes = 8)\n"
    first, second = values(plane).series("frequency"), values(space).series("frequency")
    assert all(np.abs(second / f - 1).min() < 1e-7 for f in first[:2])


@pytest.mark.parametrize("damping", [0.0, 1e-4])
def test_energy_of_a_whirling_beam_is_accounted(damping):
    """A soft thick beam turned by its root and let go: stored, supplied and lost make up the same."""
    text = f"use planar\nt planar_body (x) m = 1 kg, I = 0.1 kg.m2, at = [1, 0] m\nr planar_body (y) m = 1 kg, I = 1 kg.m2, at = [0, 0] m\np planar_revolute (ground, y) at = [0, 0] m\nq planar_beam (y, x) at1 = [0, 0] m, at2 = [1, 0] m, elements = 2, line = 1 kg/m, EI = 20 N.m2, EA = 1e4 N, GA = 500 N, rotary = 0.01 kg.m, damping = {damping} s\nstart p.rate = 6 rad/s\nrun transient(stop = 0.5 s, rtol = 1e-8)\n"
    samples = values(text)
    stored, supplied, lost = samples.energy.T
    assert np.abs(supplied - lost - stored + stored[0]).max() < 1e-6 * np.ptp(stored - stored[0] + lost) + 1e-5 and (lost[-1] > 1e-6) == (damping > 0)
