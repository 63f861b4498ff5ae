"""The recursions against the reference in NumPy, and against one another: inverse, forward, mixed, mass matrix, energy, friction, wrenches."""

import numpy as np
import pytest
import tree_reference as reference
from random_trees import largest, random_inertia, random_state, random_tree

from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.forward import aba, mixed
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.algorithms.observers import (
    centre_of_mass,
    dissipated_power,
    jacobian,
    kinetic_energy,
    move,
    placements,
    potential_energy,
    twists,
)
from netsim.multibody.tree.model import ELASTIC_Q, Body, Inertia, Joint, build_tree, neutral

TREES = [(0, 50, 0.0, False), (1, 50, 0.3, False), (2, 20, 0.5, True), (3, 8, 1.0, True), (4, 30, 0.2, False), (5, 1, 0.0, False)]
trees = pytest.mark.parametrize("seed, n, flexible, foreshortening", TREES)


@trees
def test_inverse_dynamics_is_that_of_the_reference(seed, n, flexible, foreshortening):
    """Inertia integrals against sums over mass points, tuples against 6 x 6 matrices."""
    tree = random_tree(seed, n, flexible, foreshortening)
    q, v, a, wrenches = random_state(tree, seed)
    expected = reference.rnea(tree, q, v, a, wrenches)
    assert largest(rnea(tree, q, v, a, wrenches) - expected) <= 1e-13 * largest(expected)


@trees
def test_forward_and_mixed_dynamics_invert_it(seed, n, flexible, foreshortening):
    tree = random_tree(seed, n, flexible, foreshortening)
    q, v, a, wrenches = random_state(tree, seed)
    tau = rnea(tree, q, v, a, wrenches)
    assert largest(rnea(tree, q, v, aba(tree, q, v, tau, wrenches), wrenches) - tau) <= 1e-12 * largest(tau)
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.3, 0.7, 1.0):
        chi = rng.random(tree.nv) < share
        known = np.where(chi, a, tau)
        found, forces = mixed(tree, q, v, known, chi, wrenches)
        assert np.array_equal(found[chi], a[chi]) and np.array_equal(forces[~chi], tau[~chi])
        assert largest(rnea(tree, q, v, found, wrenches) - forces) <= 1e-12 * largest(tau)
        assert largest(forces - tau) <= 1e-11 * largest(tau)


@trees
def test_mass_matrix(seed, n, flexible, foreshortening):
    tree = random_tree(seed, n, flexible, foreshortening)
    q, v, a, _ = random_state(tree, seed)
    matrix, bias, tau = crba(tree, q), rnea(tree, q, v, 0 * a), rnea(tree, q, v, a)
    assert largest(matrix @ a + bias - tau) <= 1e-12 * largest(tau)
    assert largest(matrix - matrix.T) <= 1e-13 * largest(matrix)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert kinetic_energy(tree, q, v) == pytest.approx(v @ matrix @ v / 2, rel=1e-12)


@trees
def test_power_is_the_rate_of_energy(seed, n, flexible, foreshortening):
    """v . tau = (T + V)' + dissipation, the rate by central differences along the motion."""
    tree = random_tree(seed, n, flexible, foreshortening)
    q, v, a, _ = random_state(tree, seed)
    tau, h = rnea(tree, q, v, a), 1e-5

    def energy(s):
        moved = move(tree, q, s * v)
        return kinetic_energy(tree, moved, v + s * a) + potential_energy(tree, moved)

    rate = (energy(h) - energy(-h)) / (2 * h)
    assert rate + dissipated_power(tree, v) == pytest.approx(v @ tau, rel=1e-6, abs=1e-6 * np.sum(np.abs(v * tau)))


@trees
def test_jacobians_and_wrenches(seed, n, flexible, foreshortening):
    """J v is the node's twist; a wrench on it asks for -J^T wrench; J' v + J a is the rate of the twist."""
    tree = random_tree(seed, n, flexible, foreshortening)
    q, v, a, _ = random_state(tree, seed)
    twist, rate = twists(tree, q, v, a)
    for node in {1, tree.nodes // 2, tree.nodes - 1}:
        columns = jacobian(tree, q, node)
        assert largest(columns @ v - twist[node]) <= 1e-12 * (1 + largest(twist[node]))
        wrenches = np.zeros((tree.nodes, 6))
        wrenches[node] = np.arange(1.0, 7.0)
        expected = rnea(tree, q, v, a) - columns.T @ wrenches[node]
        assert largest(rnea(tree, q, v, a, wrenches) - expected) <= 1e-11 * largest(expected)
        h = 1e-6
        change = (jacobian(tree, move(tree, q, h * v), node) - jacobian(tree, move(tree, q, -h * v), node)) / (2 * h)
        assert largest(change @ v + columns @ a - rate[node]) <= 1e-6 * (1 + largest(rate[node]))


def test_centre_of_mass_falls_freely():
    """Of a tree with a free base and no forces, whatever its links do."""
    tree = random_tree(7, 6, 0.5, kinds=("revolute", "spherical"), friction=False)
    free = Body("base", None, Joint("free"), random_inertia(np.random.default_rng(0)))
    bodies = [free, *[Body(b.name, b.parent or "base", b.joint, b.inertia, b.position, b.rotation, b.at) for b in tree.bodies]]
    tree = build_tree(bodies, gravity=(1.0, 2.0, -9.0))
    q, v, _, _ = random_state(tree, 3)
    # released undeformed: stiff links would otherwise accelerate by 1e4 and need a far smaller step than round-off allows
    for name, here in tree.elastic.items():
        at = tree.flat.node[tree.node[name], ELASTIC_Q]
        q[at : at + here.stop - here.start], v[here] = 0.0, 0.0
    a, h = aba(tree, q, v, np.zeros(tree.nv)), 1e-4
    places = [centre_of_mass(tree, move(tree, q, s * h * v + s * s * h * h * a / 2)) for s in (-1, 0, 1)]
    assert (places[0] - 2 * places[1] + places[2]) / h**2 == pytest.approx([1.0, 2.0, -9.0], abs=1e-4)


def test_friction_by_hand():
    joint = Joint("revolute", (0, 0, 1), coulomb=2.0, viscous=0.5, width=0.01)
    tree = build_tree([Body("wheel", None, joint, Inertia(1.0, (0, 0, 0), np.eye(3)))])
    assert rnea(tree, [0.3], [2.0], [1.0]) == pytest.approx([1 + 2 + 1])
    assert rnea(tree, [0.3], [0.005], [0.0]) == pytest.approx([2 * np.tanh(0.5) + 0.0025])
    assert aba(tree, [0.3], [-2.0], [0.0]) == pytest.approx([3.0])


def test_joints_by_composition():
    """A universal joint is two revolutes with a massless body between: the cardan's relation of its shafts' speeds."""
    wheel = Inertia(1.0, (0, 0, 0), np.eye(3))
    bodies = [Body("cross", None, Joint("revolute", (1, 0, 0))), Body("shaft", "cross", Joint("revolute", (0, 1, 0)), wheel)]
    tree = build_tree(bodies)
    q = np.array([0.4, 0.7])
    frame = placements(tree, q)[tree.node["shaft"]]
    c, s = np.cos(q), np.sin(q)
    assert frame[:, :3] @ [0, 0, 1] == pytest.approx([s[1], -s[0] * c[1], c[0] * c[1]])
    assert rnea(tree, q, [0.0, 0.0], aba(tree, q, [0.0, 0.0], [1.0, 2.0])) == pytest.approx([1.0, 2.0])


def test_a_force_on_nothing_is_refused():
    tree = build_tree([Body("ghost", None, Joint("prismatic", (1, 0, 0)))])
    with pytest.raises(np.linalg.LinAlgError, match="without inertia"):
        aba(tree, [0.0], [0.0], [1.0])
    a, tau = mixed(tree, [0.0], [0.0], [3.0], [True])
    assert a == [3.0] and tau == [0.0]


@pytest.mark.parametrize(
    "bodies, words",
    [
        ([Body("a", "b", Joint("fixed"))], "not among the bodies"),
        ([Body("a", None, Joint("fixed")), Body("a", None, Joint("fixed"))], "two bodies"),
        ([Body("a", None, Joint("hinge"))], "no joint called 'hinge'"),
        ([Body("a", None, Joint("revolute", (0, 0, 0)))], "no direction"),
        ([Body("a", None, Joint("fixed"), rotation=2 * np.eye(3))], "no rotation"),
    ],
)
def test_mistakes_in_a_tree_are_named(bodies, words):
    with pytest.raises(ValueError, match=words):
        build_tree(bodies)


def test_the_neutral_position():
    tree = random_tree(3, 12, 0.3)
    assert all(np.linalg.det(r) == pytest.approx(1) for r in placements(tree, neutral(tree))[:, :, :3])
