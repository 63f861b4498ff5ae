"""Responses of a line, a beam and a machine: closed forms of ladders and of Euler and Bernoulli's beam, and a dense oracle of the tripod."""

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder
from tripod_oracle import Jet, Tripod


@pytest.mark.parametrize(("R", "G"), [(0.0, 0.0), (0.3, 2e-5)])
@pytest.mark.parametrize("length", [10.0, 1e-3])
def test_coaxial_line(length, R, G):
    """n T-sections in a row: 2 sinh(g/2) = (Z Y)^(1/2) for the series impedance Z and the admittance Y of one, Zc^2 = Z/Y (1 + Z Y/4)."""
    n = 60
    text = (
        "use electrical\nsrc voltage (s, ground) v = 0 V\nrs resistor (s, a) R = 50 Ohm\nload resistor (b, ground) R = 75 Ohm\n"
        f"cable transmission_line (a, b) n = {n}, length = {length} m, L = 250 nH/m, C = 100 pF/m, R = {R} Ohm/m, G = {G} S/m\n"
    )
    f = np.array([1e3, 1e6, 3.3e7, 2e8]) * 10.0 / length
    found = netsim.load(text).ac(save=["b.v", "a.v"], inputs=["src"], frequencies=f)
    s = 2j * np.pi * f
    Z, Y = (R + s * 250e-9) * length / n, (G + s * 100e-12) * length / n
    g, Zc = 2 * np.arcsinh(np.sqrt(Z * Y) / 2), np.sqrt(Z / Y * (1 + Z * Y / 4))
    A, B, C = np.cosh(n * g), Zc * np.sinh(n * g), np.sinh(n * g) / Zc
    b = 1 / (A + B / 75 + 50 * (C + A / 75))
    assert np.abs(found["b.v"].values / b - 1).max() < 1e-10
    assert np.abs(found["a.v"].values / ((A + B / 75) * b) - 1).max() < 1e-10


BEAM = """
use planar
world gravity = [0, 0, 0] m/s2
count elements = 8
beam  planar_flexible_link (a, b)      at1 = [0, 0] m, at2 = [2, 0] m, line = 3 kg/m, EI = 50 N.m2, elements = elements
hold  planar_weld          (ground, a) at = [0, 0] m
push  planar_force         (b)         F = [0, 0] N, at = [2, 0] m
"""


def test_receptance_at_the_tip_of_a_cantilever():
    """(cosh z sin z - sinh z cos z)/(EI b^3 (1 + cosh z cos z)) with b^4 = line w^2/EI, z = b L: cubic elements are exact for the static part and
    come near as h^4, before and behind the first resonance."""
    f, EI, line, L = np.array([0.01, 0.5, 3.0]), 50.0, 3.0, 2.0
    b = (line * (2 * np.pi * f) ** 2 / EI) ** 0.25
    z = b * L
    exact = (np.cosh(z) * np.sin(z) - np.sinh(z) * np.cos(z)) / (EI * b**3 * (1 + np.cosh(z) * np.cos(z)))
    errors = []
    for elements in (8, 16):
        model = netsim.load(BEAM, counts={"elements": elements})
        errors.append(np.abs(model.ac(save=["b.r.y"], inputs=["push.F.y"], at=0.0, frequencies=f)["b.r.y"].values / exact - 1))
    assert (np.array(errors)[:, 0] < 1e-10).all()
    assert (np.array(errors)[:, 1:] < [[2e-5, 1e-3], [1e-6, 5e-5]]).all()
    assert np.abs(np.log2(errors[0][1:] / errors[1][1:]) - 4).max() < 0.1


def test_receptances_of_the_tripod_at_its_marker():
    """x = J (M s^2 + D s)^-1 F for the three thrusts: M, D and J by the oracle's exact derivatives in its three coordinates."""
    f = np.array([0.01, 0.3, 10.0, 1e3])
    model = netsim.load(models_folder() / "tripod" / "inverse.net")
    found = model.ac(save=["M.x", "M.y", "M.z"], inputs=["A.F", "B.F", "C.F"], at=0.0, frequencies=f)
    tripod, none, one = Tripod(), np.zeros((3, 1)), np.eye(3)[:, :, None]
    home = tripod.coordinates(Jet(none, none, none)).x
    rest = tripod.forces(Jet(home, none, none))
    M = np.hstack([tripod.forces(Jet(home, none, unit)) - rest for unit in one])
    D = np.hstack([tripod.forces(Jet(home, unit, none)) - tripod.forces(Jet(home, -unit, none)) for unit in one]) / 2
    J = np.hstack([tripod.marker(Jet(home, unit, none)).v for unit in one])
    for k, s in enumerate(2j * np.pi * f):
        wanted = J @ np.linalg.inv(M * s**2 + D * s)
        ours = np.array([[found[f"M.{x} per {rod}.F"].values[k] for rod in "ABC"] for x in "xyz"])
        assert np.abs(ours - wanted).max() < 1e-10 * np.abs(wanted).max()
