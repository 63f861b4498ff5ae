"""Modes against closed forms: circuits, chains, damping of every kind, mechanisms with constraints, states that are no equilibrium's neighbours."""

import numpy as np
import pytest

import netsim

RLC = """
use electrical
src  voltage   (a, ground)  v = 1 V
r1   resistor  (a, b)       R = 10 Ohm
l1   inductor  (b, c)       L = 2 mH
c1   capacitor (c, ground)  C = 3 uF
run  modal(modes = 3)
save c.v, l1.i
"""


def test_series_circuit():
    """w^2 = 1/(L C), damping R/2 sqrt(C/L); the current is a quarter turn and more ahead of the voltage: i = C s v."""
    found = netsim.load(RLC).modal(modes=3)
    w, zeta = 1 / np.sqrt(2e-3 * 3e-6), 10 / 2 * np.sqrt(3e-6 / 2e-3)
    assert found.attrs["degrees_of_freedom"] == 2 and found.sizes["mode"] == 1
    assert abs(2 * np.pi * found["frequency"].item() / w - 1) < 1e-9
    assert abs(found["damping"].item() / zeta - 1) < 1e-8
    v, i = (found[n].item() + 1j * found[f"{n} (quadrature)"].item() for n in ("c.v", "l1.i"))
    s = w * (-zeta + 1j * np.sqrt(1 - zeta**2))
    assert min(abs(i / v / (3e-6 * x) - 1) for x in (s, s.conjugate())) < 1e-6


CHAIN = """
use translational
count n = 10
m[k]  mass    (x[k])          m = 2 kg for k in 1..n
first spring  (ground, x[1])  c = 500 N/m
c[k]  spring  (x[k], x[k+1])  c = 500 N/m for k in 1..n-1
last  spring  (x[n], ground)  c = 500 N/m
run   modal(modes = 5)
save  x[1].x
"""


@pytest.mark.parametrize("n", [10, 700])
def test_chain(n):
    """w_k = 2 sqrt(c/m) sin(k pi/(2 (n + 1))): all modes at once, and the slowest of many by Arnoldi's method."""
    found = netsim.load(CHAIN, counts={"n": n}).modal(modes=5)
    exact = 2 * np.sqrt(500 / 2) * np.sin(np.arange(1, 6) * np.pi / (2 * (n + 1)))
    assert np.allclose(2 * np.pi * found["frequency"].values, exact, rtol=1e-8)
    assert np.all(np.abs(found["damping"].values) < 1e-6)


def test_unequal_damping():
    """Two masses, one damper: modes are complex; eigenvalues of the first-order form."""
    text = """
use translational
m1  mass    (a)          m = 1 kg
m2  mass    (b)          m = 3 kg
c1  spring  (a, ground)  c = 100 N/m
c2  spring  (a, b)       c = 50 N/m
d1  damper  (a, b)       d = 2 N.s/m
d2  damper  (b, ground)  d = 30 N.s/m
run modal()
"""
    found = netsim.load(text).modal()
    K, D, M = np.array([[150.0, -50], [-50, 50]]), np.array([[2.0, -2], [-2, 32]]), np.diag([1.0, 3])
    exact = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]]))
    exact = sorted(exact[exact.imag >= 0], key=abs)
    seen = 2 * np.pi * found["frequency"].values
    assert np.allclose(seen, np.abs(exact), rtol=1e-9)
    assert np.allclose(found["decay"].values, -np.real(exact), rtol=1e-7)


PENDULUM = """
use {library}
world gravity = {gravity} m/s2
rod   {body}
hinge {joint}
start hinge.q = {angle}
run   modal(modes = 2)
save  hinge.q
"""
PLANE = {
    "library": "planar", "gravity": "[0, -9.81, 0]", "body": "planar_body (a) m = 2 kg, I = 0.3 kg.m2, at = [0, -0.5] m",
    "joint": "planar_revolute (ground, a) at = [0, 0] m",
}  # fmt: skip
SPACE = {
    "library": "spatial", "gravity": "[0, 0, -9.81]", "body": "body (a) m = 2 kg, I = diag(0.2, 0.3, 0.2) kg.m2, at = [0, 0, -0.5] m",
    "joint": "revolute (ground, a) at = [0, 0, 0] m, axis = [0, 1, 0]",
}  # fmt: skip


@pytest.mark.parametrize("case", [PLANE, SPACE])
def test_pendulum_about_hanging_and_standing(case):
    """w^2 = m g r/(I + m r^2) about rest; standing on its head it falls with e^(w t). Joints are constraints of index 3."""
    w = np.sqrt(2 * 9.81 * 0.5 / (0.3 + 2 * 0.25))
    hanging = netsim.load(PENDULUM.format(**case, angle="0 deg")).modal(modes=2)
    assert hanging.attrs["degrees_of_freedom"] == 1
    assert abs(2 * np.pi * hanging["frequency"].values[0] / w - 1) < 1e-9
    standing = netsim.load(PENDULUM.format(**case, angle="180 deg")).modal(modes=2, from_="rest")
    assert np.allclose(np.sort(standing["decay"].values), [-w, w], rtol=1e-6)


def test_motor_with_spring_and_inductance():
    """A motor against a torsion spring: J s^2 phi + c phi = k i, (L s + R) i = -k s phi; roots of the cubic."""
    text = """
use electrical
use rotational
use couplings
src   voltage     (a, ground)  v = 0 V
r1    resistor    (a, b)       R = 2 Ohm
l1    inductor    (b, d)       L = 5 mH
m1    emf         (d, ground, shaft)  k = 0.1 N.m/A
j1    inertia     (shaft)      J = 0.001 kg.m2
c1    torsion_spring (shaft, ground) c = 0.4 N.m/rad
run   modal()
"""
    roots = np.roots([5e-3 * 1e-3, 2 * 1e-3, 5e-3 * 0.4 + 0.1**2, 2 * 0.4])
    exact = np.array(sorted(roots[roots.imag >= 0], key=abs))
    found = netsim.load(text).modal()
    assert np.allclose(2 * np.pi * found["frequency"].values, np.abs(exact), rtol=1e-8)
    assert np.allclose(found["decay"].values, -exact.real, rtol=1e-6)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_one_mass_on_a_spring_has_one_degree_of_freedom(size):
    """w^2 = c/m, no damping at all: neither -0 nor rounding, at any scale."""
    text = f"use translational\nm1 mass (a) m = {size} kg\nc1 spring (a, ground) c = {100 * size} N/m\nrun modal()\n"
    found = netsim.load(text).modal()
    assert found.attrs["degrees_of_freedom"] == 1 and found.attrs["states"] == 2 and found.sizes["mode"] == 1
    assert abs(2 * np.pi * found["frequency"].item() / 10 - 1) < 1e-12
    for name in ("damping", "decay"):
        assert found[name].item() == 0.0 and not np.signbit(found[name].item())


def test_work_of_a_source_is_no_mode():
    """A torque of 3 N m holds a pendulum at sin q = 3/(m g r): w^2 = m g r cos q/(I + m r^2), and nothing else moves."""
    text = PENDULUM.format(**SPACE, angle="0 deg") + "push  hinge_torque (ground, a) axis = [0, 1, 0], T = 3 N.m\n"
    found = netsim.load(text).modal(modes=5)
    q = np.arcsin(3 / (2 * 9.81 * 0.5))
    assert found.attrs["degrees_of_freedom"] == 1 and found.sizes["mode"] == 1
    assert abs(2 * np.pi * found["frequency"].item() - np.sqrt(2 * 9.81 * 0.5 * np.cos(q) / 0.8)) < 1e-6


def test_a_motion_that_nothing_resists_is_one_mode_at_rate_zero():
    """Two masses and a spring between them: w^2 = 2 c/m, and once 0, without the signs of rounding."""
    text = "use translational\nm1 mass (a) m = 1 kg\nm2 mass (b) m = 1 kg\nc2 spring (a, b) c = 100 N/m\nrun modal()\nsave a.x, b.x\n"
    found = netsim.load(text).modal()
    assert found.attrs["degrees_of_freedom"] == 2 and found.sizes["mode"] == 2
    assert found["frequency"].values[0] == 0.0 and abs(2 * np.pi * found["frequency"].values[1] / np.sqrt(200) - 1) < 1e-9
    assert not np.signbit(found["damping"].values).any() and not found["damping"].values.any()
    assert abs(found["a.x"].values[0] - found["b.x"].values[0]) < 1e-6


@pytest.mark.parametrize("capacitance", [1e-6, 1e-12, 1e-15, 1e-18, 1e-21])
def test_capacitances_of_any_size_beside_a_conductance(capacitance):
    """The rate -1/(R C): a difference of matrices at rates of 1/s would leave nothing of 1 fF beside 1 S."""
    text = "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, b) R = 1 Ohm\n"
    found = netsim.load(f"{text}c capacitor (b, ground) C = {capacitance} F\nrun modal(modes = 1)\n").run()
    assert float(found["decay"][0]) == pytest.approx(1 / capacitance, rel=1e-12)


@pytest.mark.parametrize("mass", [1e-18, 1e-6, 1.0, 1e9])
def test_masses_of_any_size_beside_a_damper(mass):
    """Half of the critical damping: w0 = sqrt(c/m), decay w0/2."""
    w0 = (4 / mass) ** 0.5
    text = f"use translational\nm mass (a) m = {mass} kg\nk spring (a, ground) c = 4 N/m\nd damper (a, ground) d = {mass * w0} N.s/m\n"
    found = netsim.load(f"{text}run modal(modes = 1)\n").run()
    assert float(found["frequency"][0]) == pytest.approx(w0 / (2 * np.pi), rel=1e-9)
    assert float(found["decay"][0]) == pytest.approx(w0 / 2, rel=1e-9)
