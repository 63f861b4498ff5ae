"""Against Pinocchio (optional: pip install pin) on random trees: the same argument order, coordinates and signs."""

import numpy as np
import pytest
from random_trees import largest, random_state, random_tree

from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.derivatives import rnea_derivatives
from netsim.multibody.tree.algorithms.forward import aba
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.algorithms.observers import centre_of_mass, jacobian, kinetic_energy, placements, potential_energy
from netsim.multibody.tree.model import FREE, PRISMATIC, REVOLUTE, SPHERICAL, build_tree

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")

KINDS = ("revolute", "prismatic", "spherical", "free")
CASES = [(seed, n) for seed, n in enumerate((1, 5, 12, 25, 50))]


def twin(tree):
    """The same tree as a Pinocchio model: its joints count as our nodes do."""
    model = pinocchio.Model()
    model.gravity.linear = np.array(tree.flat.gravity)
    for i, body in enumerate(tree.bodies, 1):
        parent = tree.node[body.parent] if body.parent else 0
        axis = np.asarray(body.joint.axis) / np.linalg.norm(body.joint.axis)
        kinds = {
            REVOLUTE: lambda axis=axis: pinocchio.JointModelRevoluteUnaligned(axis),
            PRISMATIC: lambda axis=axis: pinocchio.JointModelPrismaticUnaligned(axis),
            SPHERICAL: pinocchio.JointModelSpherical,
            FREE: pinocchio.JointModelFreeFlyer,
        }
        placement = pinocchio.SE3(np.asarray(body.rotation), np.asarray(body.position))
        joint = model.addJoint(parent, kinds[tree.flat.node[i, 1]](), placement, body.name)
        inertia = pinocchio.Inertia(body.inertia.mass, np.asarray(body.inertia.centre), np.asarray(body.inertia.tensor))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    return model, model.createData()


def depth_first(tree):
    """The same bodies, each followed by what it carries: Pinocchio's subtrees are ranges of joints."""

    def branch(name):
        for body in tree.bodies:
            if body.parent == name:
                yield body
                yield from branch(body.name)

    return build_tree(list(branch(None)), gravity=tree.flat.gravity)


def case(seed, n):
    tree = depth_first(random_tree(seed + 100, n, kinds=KINDS, friction=False))
    model, data = twin(tree)
    assert (model.nq, model.nv) == (tree.nq, tree.nv)
    q, v, a, wrenches = random_state(tree, seed)
    forces = pinocchio.StdVec_Force()
    for wrench in wrenches:
        forces.append(pinocchio.Force(wrench[:3], wrench[3:]))
    return tree, model, data, q, v, a, wrenches, forces


def close(ours, theirs):
    return largest(ours - theirs) <= 1e-10 * largest(theirs)


@pytest.mark.parametrize("seed, n", CASES)
def test_dynamics(seed, n):
    tree, model, data, q, v, a, wrenches, forces = case(seed, n)
    tau = pinocchio.rnea(model, data, q, v, a, forces)
    assert close(rnea(tree, q, v, a, wrenches), tau)
    assert close(aba(tree, q, v, tau, wrenches), pinocchio.aba(model, data, q, v, tau, forces))
    upper = np.triu(pinocchio.crba(model, data, q))
    assert close(crba(tree, q), upper + np.triu(upper, 1).T)


@pytest.mark.parametrize("seed, n", CASES)
def test_derivatives(seed, n):
    tree, model, data, q, v, a, wrenches, forces = case(seed, n)
    pinocchio.computeRNEADerivatives(model, data, q, v, a, forces)
    by_q, by_v, by_a = rnea_derivatives(tree, q, v, a, wrenches)
    assert close(by_q, data.dtau_dq)
    assert close(by_v, data.dtau_dv)
    assert close(np.triu(by_a), np.triu(data.M))


@pytest.mark.parametrize("seed, n", CASES)
def test_observers(seed, n):
    tree, model, data, q, v, *_ = case(seed, n)
    pinocchio.computeJointJacobians(model, data, q)
    frames = placements(tree, q)
    for i in range(1, tree.nodes):
        assert close(frames[i], data.oMi[i].homogeneous[:3])
        assert close(jacobian(tree, q, i), pinocchio.getJointJacobian(model, data, i, pinocchio.ReferenceFrame.LOCAL))
    assert close(centre_of_mass(tree, q), pinocchio.centerOfMass(model, data, q))
    assert kinetic_energy(tree, q, v) == pytest.approx(pinocchio.computeKineticEnergy(model, data, q, v), rel=1e-11)
    assert potential_energy(tree, q) == pytest.approx(pinocchio.computePotentialEnergy(model, data, q), rel=1e-11)
