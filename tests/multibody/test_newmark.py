"""Newmark on trees: its order on rotating bodies too, conserved energy, growth of the unstable member, and what it refuses."""

import numpy as np
import pytest

from netsim.multibody.tree.algorithms.newmark import Drive, newmark
from netsim.multibody.tree.algorithms.observers import kinetic_energy, placements, potential_energy
from netsim.multibody.tree.beam import Beam, Section, flexible_beam
from netsim.multibody.tree.model import Body, Inertia, Joint, build_tree, neutral
from netsim.text.expressions.shapes import bending_shapes

TOP = Inertia(1.0, (0, 0, 0.3), np.diag([0.1, 0.12, 0.05]))


def machine():
    """A heavy top in a ball, a free brick with a flexible mast and a pendulum on it, viscous friction."""
    mast = flexible_beam(0.8, Section(1.0, 30.0, 40.0), "clamped_free", 1, damping=0.01)
    bodies = [
        Body("top", None, Joint("spherical", viscous=0.05), TOP),
        Body("brick", None, Joint("free"), Inertia(2.0, (0.1, 0, 0), np.diag([0.2, 0.3, 0.4]))),
        Body("mast", "brick", Joint("fixed"), mast),
        Body("bob", "mast", Joint("revolute", (0, 1, 0), viscous=0.02), Inertia(0.5, (0.3, 0, 0), 0.01 * np.eye(3))),
    ]
    tree = build_tree(bodies)
    v = np.zeros(tree.nv)
    v[:3], v[3:9] = [1.0, 0.5, 3.0], [0.2, 0.1, 3.0, 0.7, 0.4, -0.5]
    return tree, neutral(tree), v


def run(tree, q, v, stop, step, *constants, **options):
    return newmark(tree, q, v, Drive(np.zeros(tree.nv, bool)), stop, step, *constants, **options)


@pytest.mark.parametrize("beta, gamma, order", [(0.25, 0.5, 2), (0.0, 0.5, 2), (0.3025, 0.6, 1), (0.0, 0.0, 1)])
def test_order(beta, gamma, order):
    """Places of all bodies at t = 0.5 s against h/32."""
    tree, q, v = machine()

    def ends(step):
        return placements(tree, run(tree, q, v, 0.5, step, beta, gamma).q[-1])

    exact = placements(tree, run(tree, q, v, 0.5, 0.5 / 2048 / 8).q[-1])
    errors = [np.abs(ends(0.5 / n) - exact).max() for n in (256, 512, 1024)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("matrix", ["reduced", "mass"])
def test_matrices_of_a_tree_agree_with_the_exact_one(matrix):
    tree, q, v = machine()
    exact, other = run(tree, q, v, 0.1, 1e-3), run(tree, q, v, 0.1, 1e-3, matrix=matrix)
    assert exact.finished and other.finished
    assert np.abs(exact.q - other.q).max() < 1e-9
    assert exact.iterations <= other.iterations


def test_the_exact_matrix_converges_quadratically():
    """At most three iterations a step although the step turns the bodies by a tenth of a radian."""
    tree, q, v = machine()
    found = run(tree, q, v, 0.9, 0.03)
    assert found.finished and found.iterations <= 4 * 30


def test_average_acceleration_keeps_the_energy_of_an_undamped_beam():
    beam = Beam(1.0, Section(1.0, 10.0, 10.0), along_y=bending_shapes("free_modes", 2))
    tree = build_tree([Body("beam", None, Joint("fixed"), beam)], gravity=(0, 0, 0))
    q = np.array([0.01, 0.002])
    found = run(tree, q, np.zeros(2), 5.0, 0.01)
    energies = [kinetic_energy(tree, x, y) + potential_energy(tree, x) for x, y in zip(found.q, found.v)]
    assert energies == pytest.approx([energies[0]] * len(energies), rel=1e-9)


def test_the_growth_of_the_paper_s_explicit_member():
    """beta = gamma = 0: amplitudes grow as exp(w^2 h t/4) on a linear vibration."""
    beam = Beam(1.0, Section(1.0, 10.0, 10.0), along_y=bending_shapes("free_modes", 1))
    tree = build_tree([Body("beam", None, Joint("fixed"), beam)], gravity=(0, 0, 0))
    square = beam.integrals.stiffness[0, 0] / beam.integrals.metric[0, 0]
    h, stop = 0.002, 10.0
    found = run(tree, np.array([0.01]), np.zeros(1), stop, h, 0.0, 0.0)
    energy = [kinetic_energy(tree, found.q[k], found.v[k]) + potential_energy(tree, found.q[k]) for k in (0, -1)]
    assert np.log(energy[1] / energy[0]) / 2 == pytest.approx(square * h * stop / 4, rel=0.02)


def test_a_known_force_moves_a_known_mass():
    tree = build_tree([Body("cart", None, Joint("prismatic", (1, 0, 0)), Inertia(2.0))])
    pushed = Drive(np.array([False]), forces=lambda t: np.full((len(t), 1), 3.0))
    found = newmark(tree, np.zeros(1), np.zeros(1), pushed, 2.0, 0.1)
    assert found.q[-1] == pytest.approx([3.0 / 2.0 * 2.0], rel=1e-12)


@pytest.mark.parametrize(
    "options, words",
    [({"beta": 0.7}, "0 <= beta"), ({"matrix": "full"}, "no iteration matrix"), ({"step": 0.3}, "does not divide")],
)
def test_refusals(options, words):
    tree, q, v = machine()
    with pytest.raises(ValueError, match=words):
        newmark(tree, q, v, Drive(np.zeros(tree.nv, bool)), **({"stop": 1.0, "step": 0.1} | options))
    chosen = np.zeros(tree.nv, bool)
    chosen[0] = True
    with pytest.raises(ValueError, match="one degree of freedom"):
        newmark(tree, q, v, Drive(chosen, lambda t: (np.zeros((len(t), tree.nv)),) * 3), 1.0, 0.1)
