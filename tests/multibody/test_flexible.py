"""Flexible links: against a Lagrangian written independently, against closed forms of beams, and against published figures."""

import casadi as ca
import numpy as np
import pytest
from random_trees import largest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.derivatives import rnea_derivatives
from netsim.multibody.tree.algorithms.forward import aba
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.algorithms.observers import kinetic_energy, potential_energy
from netsim.multibody.tree.beam import Beam, Section, flexible_beam, tube
from netsim.multibody.tree.model import Body, Inertia, Joint, build_tree
from netsim.text.expressions.shapes import bending_shapes, wave_number

GRAVITY = (0.7, -0.4, -9.81)


TIP = Inertia(1.3, (0.2, 0.1, -0.1), np.diag([0.02, 0.03, 0.04]))
NOTHING = Inertia()


def pendulum(beam, tip=TIP):
    """Two revolutes across each other, a beam, and a rigid body on its end that turns about y."""
    bodies = [
        Body("cross", None, Joint("revolute", (0, 0, 1))),
        Body("beam", "cross", Joint("revolute", (0, 1, 0)), beam),
        Body("tip", "beam", Joint("revolute", (0, 1, 0)), tip),
    ]
    return build_tree(bodies, gravity=GRAVITY), tip


def skew(a):
    return ca.vertcat(ca.horzcat(0, -a[2], a[1]), ca.horzcat(a[2], 0, -a[0]), ca.horzcat(-a[1], a[0], 0))


def lagrange(beam, tip):
    """The forces of d/dt dL/dv - dL/dq as a function (q, v, a), from inertial positions of mass points, differentiated symbolically."""
    n = beam.count
    q, v, a = (ca.SX.sym(name, 3 + n) for name in "qva")
    e = q[2 : 2 + n]

    def about(axis, angle):
        s = skew(ca.DM(axis))
        return ca.SX.eye(3) + ca.sin(angle) * s + (1 - ca.cos(angle)) * s @ s

    def rate(x):
        return ca.jtimes(x, q, v)

    def spin(r):
        w = r.T @ ca.reshape(rate(ca.reshape(r, 9, 1)), 3, 3)
        return ca.vertcat(w[2, 1], w[0, 2], w[1, 0])

    turned = about([0, 0, 1], q[0]) @ about([0, 1, 0], q[1])
    kinetic, potential = 0, 0
    at, weights = beam.quadrature()
    psi, theta = beam.displacement(at), beam.rotation(at)

    def place(x, shapes):
        z = [e[k] for k in range(n)] + [e[k] * e[j] for k, j in beam.pairs]
        return ca.vertcat(x, 0, 0) + sum(z[m] * ca.DM(shapes[m]) for m in range(len(z)))

    for p, (x, dx) in enumerate(zip(at, weights)):
        position = turned @ place(x, psi[:, p])
        velocity = rate(position)
        kinetic += beam.section.mass * dx * ca.dot(velocity, velocity) / 2
        potential -= beam.section.mass * dx * ca.dot(ca.DM(GRAVITY), position)
        w = spin(turned) + sum((v[2 + k] * ca.DM(theta[k, p]) for k in range(n)), ca.DM.zeros(3))
        kinetic += dx * ca.dot(w, ca.DM(np.diag(beam.section.rotary)) @ w) / 2
    end = np.array([beam.length])
    psi, theta = beam.displacement(end)[:, 0], beam.rotation(end)[:, 0]
    angle = sum((e[k] * ca.DM(theta[k]) for k in range(n)), ca.DM.zeros(3))
    cayley = ca.solve(ca.SX.eye(3) - skew(angle) / 2, ca.SX.eye(3) + skew(angle) / 2)
    frame = turned @ cayley @ about([0, 1, 0], q[2 + n])
    centre = turned @ place(beam.length, psi) + frame @ ca.DM(tip.centre)
    velocity, w = rate(centre), spin(frame)
    kinetic += tip.mass * ca.dot(velocity, velocity) / 2 + ca.dot(w, ca.DM(tip.tensor) @ w) / 2
    potential += -tip.mass * ca.dot(ca.DM(GRAVITY), centre) + ca.dot(e, ca.DM(beam.stiffness()) @ e) / 2
    momentum = ca.gradient(kinetic, v)
    forces = ca.jtimes(momentum, v, a) + ca.jtimes(momentum, q, v) - ca.gradient(kinetic, q) + ca.gradient(potential, q)
    return ca.Function("forces", [q, v, a], [forces])


SECTION = Section(2.0, 50.0, 70.0, 20.0, (0.02, 0.01, 0.012))


@pytest.mark.parametrize("shapes, bending, torsion", [("guided", 1, 0), ("clamped_free", 2, 1), ("hermite", 2, 1)])
@pytest.mark.parametrize("foreshortening", [False, True])
def test_against_a_lagrangian(shapes, bending, torsion, foreshortening):
    beam = flexible_beam(1.2, SECTION, shapes, bending, torsion, foreshortening=foreshortening)
    tree, tip = pendulum(beam)
    expected = lagrange(beam, tip)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, a = (rng.normal(size=tree.nv) for _ in range(3))
        q[2:-1] *= 0.2
        forces = np.array(expected(q, v, a)).ravel()
        assert largest(rnea(tree, q, v, a) - forces) <= 1e-12 * largest(forces)
        assert largest(aba(tree, q, v, forces) - a) <= 1e-9 * largest(a)


def frequencies(beam, tip=NOTHING):
    tree = build_tree([Body("beam", None, Joint("fixed"), beam), Body("end", "beam", Joint("fixed"), tip)], gravity=(0, 0, 0))
    return np.sqrt(eigh(beam.stiffness(), crba(tree, np.zeros(tree.nq)), eigvals_only=True))


def one_plane(shapes, count, **options):
    return Beam(2.0, Section(3.0, 40.0, 40.0), along_y=bending_shapes(shapes, count), **options)


@pytest.mark.parametrize("shapes, count, modes, error", [("free_modes", 3, 3, 1e-10), ("clamped_free", 8, 3, 2e-6), ("hermite", 16, 3, 7e-4)])
def test_a_clamped_beam_vibrates_at_its_frequencies(shapes, count, modes, error):
    exact = [wave_number("free", k) ** 2 * np.sqrt(40.0 / (3.0 * 2.0**4)) for k in range(modes)]
    assert frequencies(one_plane(shapes, count))[:modes] == pytest.approx(exact, rel=error)


@pytest.mark.parametrize("far", ["free", "hinged"])
def test_few_hinged_functions_have_the_modes_of_a_beam_that_turns_freely(far):
    """Together with the joint they are its modes, so each is exact whatever their number: b = 3.9266 and 7.0686 where the other end is free
    (tan b = tanh b), multiples of pi where it is held."""
    beam = one_plane(f"hinged_{far}_modes", 2)
    tree = build_tree([Body("beam", None, Joint("revolute"), beam), Body("end", "beam", Joint("fixed"), NOTHING)], gravity=(0, 0, 0))
    stiffness = np.zeros((3, 3))
    stiffness[1:, 1:] = beam.stiffness()
    free = np.eye(3)
    if far == "hinged":  # joint and functions together leave the other end where it is
        end = np.array([[beam.length, *beam.displacement(np.array([beam.length]))[:, 0, 1]]])
        free = np.linalg.svd(end)[2][1:].T
    squares = eigh(free.T @ stiffness @ free, free.T @ crba(tree, np.zeros(3)) @ free, eigvals_only=True)[-2:]
    exact = [3.92660231, 7.06858275] if far == "free" else [np.pi, 2 * np.pi]
    assert np.sqrt(squares) == pytest.approx(np.square(exact) * np.sqrt(40.0 / (3.0 * 2.0**4)), rel=1e-8)


def test_guided_functions_are_another_beam():
    """Four times too stiff under a force at the end, and no number of them converges to the free end: 12 EI/L^3 instead of 3 EI/L^3."""
    load = np.ones(2)
    for count in (1, 2):
        compliance = load[:count] @ np.linalg.solve(one_plane("guided", count).stiffness(), load[:count])
        assert compliance == pytest.approx(2.0**3 / (12 * 40.0), rel=1e-12)
    free = np.ones(3) @ np.linalg.solve(one_plane("clamped_free", 3).stiffness(), np.ones(3))
    assert free == pytest.approx(2.0**3 / (3 * 40.0), rel=1e-12)


def test_torsion():
    """A clamped shaft: (2k - 1) pi/2 sqrt(GJ/I)/L; its polynomials converge to the same."""
    section = tube(0.05, 0.04, 2700.0, 7e10, 2.6e10)
    exact = np.array([1, 3]) * np.pi / 2 * np.sqrt(section.torsion / section.rotary[0]) / 2.0
    for shapes, count, error in (("free_modes", 2, 1e-12), ("clamped_free", 6, 1e-5)):
        beam = flexible_beam(2.0, section, shapes, 1, count)
        twisting = np.sort(frequencies(Beam(2.0, section, twist=beam.twist)))[:2]
        assert twisting == pytest.approx(exact, rel=error)


def test_structural_damping():
    """The same fraction of critical damping in every mode."""
    beam = one_plane("clamped_free", 3, damping_ratio=0.02)
    integrals = beam.integrals
    squares, modes = eigh(integrals.stiffness, integrals.metric)
    assert np.diag(modes.T @ integrals.damping @ modes) / (2 * np.sqrt(squares)) == pytest.approx([0.02] * 3, rel=1e-9)


def test_foreshortening_stiffens_a_turning_beam():
    """Southwell: w^2 = w_0^2 + (1.193 - cos^2) W^2 for the first flapping mode of a cantilever (1.193: W. Carnegie, J. Mech. Eng. Sci. 1, 1959)."""

    def squared(foreshortening, speed):
        beam = Beam(2.0, Section(3.0, 40.0, 40.0), along_z=bending_shapes("clamped_free", 4), foreshortening=foreshortening)
        tree = build_tree([Body("hub", None, Joint("revolute", (0, 0, 1)), beam)], gravity=(0, 0, 0))
        v = np.zeros(tree.nv)
        v[0] = speed
        stiffness, _, mass = rnea_derivatives(tree, np.zeros(tree.nq), v, np.zeros(tree.nv))
        return eigh(stiffness[1:, 1:], mass[1:, 1:], eigvals_only=True)[0]

    gain = (squared(True, 0.1) - squared(True, 0.0)) / 0.01
    assert gain == pytest.approx(1.193, abs=1e-3)
    assert squared(False, 3.0) == pytest.approx(squared(False, 0.0), rel=1e-9)


def k94(links):
    """K94: links of 1 m, 5 kg/m, EI = 1000, two Hermite elements each, in the plane x y."""
    beam = Beam(1.0, Section(5.0, 1000.0, 1000.0), along_y=bending_shapes("hermite", 4))
    bodies = [Body(f"l{i}", f"l{i - 1}" if i else None, Joint("revolute", (0, 0, 1)), beam) for i in range(links)]
    return build_tree(bodies, gravity=(0, -9.81, 0))


@pytest.mark.parametrize(
    "links, expected", [(1, [3.8359, 219.16, 788.94, 1916.0, 3524.3]), (2, [2.6800, 7.1861, 162.75, 282.83, 670.95])], ids=["one", "two"]
)
def test_k94_frequencies_about_hanging(links, expected):
    tree = k94(links)
    q = np.zeros(tree.nq)
    q[0] = -np.pi / 2
    stiffness, _, mass = rnea_derivatives(tree, q, np.zeros(tree.nv), np.zeros(tree.nv))
    assert np.sqrt(eigh(stiffness, mass, eigvals_only=True))[:5] == pytest.approx(expected, rel=3e-5)


def test_k94_one_link():
    """The motion from -80 degrees; elastic values are phases of a 35 Hz vibration, so every term counts. The energy stays."""
    tree = k94(1)
    start = np.zeros(10)
    start[0] = np.deg2rad(-80)
    none = np.zeros(5)

    def rate(t, y):
        return np.concatenate([y[5:], aba(tree, y[:5], y[5:], none)])

    run = solve_ivp(rate, (0, 2), start, method="DOP853", rtol=1e-11, atol=1e-14, t_eval=[1.0, 2.0])
    expected = [
        [-1.70565950, -3.21052031e-05, -1.60722043e-04, -1.50654935e-04, -2.71425184e-04],
        [-1.53665760, -7.88097045e-08, 6.32048192e-06, 8.53186449e-06, 2.20238522e-05],
    ]
    for y, row in zip(run.y.T, expected):
        assert y[0] == pytest.approx(row[0], abs=1e-8)
        assert y[1:5] == pytest.approx(row[1:], abs=2e-11)
        energy = kinetic_energy(tree, y[:5], y[5:]) + potential_energy(tree, y[:5])
        assert energy == pytest.approx(potential_energy(tree, start[:5]), abs=1e-8)


def test_unknown_shapes_are_refused():
    refused = [("spline", 1, "no shape functions"), ("hermite", 3, "pairs"), ("free_modes", 0, "at least one")]
    for name, count, words in refused:
        with pytest.raises(ValueError, match=words):
            bending_shapes(name, count)
