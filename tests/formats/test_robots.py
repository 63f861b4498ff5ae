"""Every robot of the package example-robot-data as a tree, attribute by attribute against Pinocchio: on the ground, and floating.

Both are optional: pip install 'netsim-acausal[robots]'.
"""

import re
from importlib.metadata import PackageNotFoundError, files

import numpy as np
import pytest

from netsim.formats.urdf.reading import read_robot
from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.derivatives import rnea_derivatives
from netsim.multibody.tree.algorithms.forward import aba, mixed
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.algorithms.observers import centre_of_mass, jacobian, kinetic_energy, placements, potential_energy
from netsim.multibody.tree.model import DOFS, INERTIA, PARENT
from netsim.multibody.tree.robot import robot_tree
from netsim.text.errors import InputError

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'netsim-acausal[robots]'")
G = 9.81


def robots():
    """The URDF files of the package, by short names."""
    try:
        found = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    urdf = [file.locate() for file in found if file.suffix == ".urdf"]
    return {f"{path.parts[-3].removesuffix('_description')}/{path.stem}": path for path in sorted(urdf)}


ROBOTS = robots()
REFUSED = {"alex/alex_psyonic_hands": "E251", "ur/ur3": "E253"}
"""Fingers that mimic joints which no robot has (Pinocchio leaves mimicry out); a robot without links (Pinocchio refuses it too)."""
every = pytest.mark.parametrize("name", [name for name in ROBOTS if name not in REFUSED])


@pytest.mark.parametrize("name", [name for name in ROBOTS if name in REFUSED])
def test_mistakes_in_published_files_are_named(name):
    with pytest.raises(InputError) as caught:
        read_robot(ROBOTS[name])
    assert {problem.code for problem in caught.value.problems} == {REFUSED[name]}


def test_the_robots_are_there():
    if not ROBOTS:
        pytest.skip("example-robot-data is not installed: pip install 'netsim-acausal[robots]'")
    assert len(ROBOTS) >= 60


class Case:
    """Both models of a robot in the same random state; `order` are the places of Pinocchio's velocities in ours."""

    def __init__(self, path, floating):
        self.model = pinocchio.buildModelFromUrdf(str(path), *([pinocchio.JointModelFreeFlyer()] if floating else []))
        self.model.gravity.linear = np.array([0, 0, -G])
        self.data = self.model.createData()
        self.own = robot_tree(read_robot(path), (0, 0, -G), floating, friction=False)
        self.tree = self.own.tree
        self.joints = {n: self.model.joints[self.model.getJointId(n)] for n, part in self.own.velocity.items() if part.stop > part.start}
        self.order = np.zeros(self.model.nv, int)
        rng = np.random.default_rng(len(str(path.name)))
        q, self.v, self.a = rng.normal(size=self.tree.nq), rng.normal(size=self.tree.nv), rng.normal(size=self.tree.nv)
        if floating:
            q[3:7] /= np.linalg.norm(q[3:7])
        self.q, self.theirs = q, np.zeros(self.model.nq)
        for n, joint in self.joints.items():
            self.order[joint.idx_v : joint.idx_v + joint.nv] = np.arange(self.own.velocity[n].start, self.own.velocity[n].stop)
            own = q[self.own.position[n]]
            self.theirs[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(own[0]), np.sin(own[0])] if joint.nq == 2 else own

    def node(self, name):
        """Our node of a joint."""
        body = next(joint.child for joint in self.own.robot.joints if joint.name == name) if name != "root_joint" else self.own.robot.links[0].name
        return self.tree.node[body]


def close(ours, theirs, tolerance=1e-10):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return np.max(np.abs(ours - theirs), initial=0.0) <= tolerance * max(np.max(np.abs(theirs), initial=0.0), 1e-9)


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


@pytest.mark.parametrize("floating", (False, True), ids=("grounded", "floating"))
@every
def test_dynamics_and_derivatives(name, floating):
    case = Case(ROBOTS[name], floating)
    model, data, tree, order = case.model, case.data, case.tree, case.order
    q, v, a, theirs, zero = case.q, case.v, case.a, case.theirs, np.zeros(case.tree.nv)
    assert model.nv == tree.nv and sorted(order) == list(range(tree.nv))
    assert close(rnea(tree, q, zero, zero)[order], pinocchio.computeGeneralizedGravity(model, data, theirs))
    assert close(rnea(tree, q, v, zero)[order], pinocchio.nonLinearEffects(model, data, theirs, v[order]))
    tau = rnea(tree, q, v, a)
    assert close(tau[order], pinocchio.rnea(model, data, theirs, v[order], a[order]))
    matrix = symmetric(pinocchio.crba(model, data, theirs))
    assert close(crba(tree, q)[np.ix_(order, order)], matrix)
    motion = np.arange(tree.nv) % 2 == 0
    if np.linalg.eigvalsh(matrix).min(initial=1.0) > 0:
        assert close(rnea(tree, q, v, pinocchio_accelerations(case, tau)), tau, 1e-9)
        accelerations, forces = mixed(tree, q, v, np.where(motion, a, tau), motion)
        assert close(forces, tau, 1e-9) and close(accelerations, a, 1e-6)
    else:  # inertias that no body has: forces have no one acceleration any more
        with pytest.raises(np.linalg.LinAlgError):
            aba(tree, q, v, tau)
    pinocchio.computeRNEADerivatives(model, data, theirs, v[order], a[order])
    by_q, by_v, by_a = rnea_derivatives(tree, q, v, a)
    at = np.ix_(order, order)
    assert close(by_q[at], data.dtau_dq) and close(by_v[at], data.dtau_dv) and close(by_a[at], symmetric(data.M))


def pinocchio_accelerations(case, tau):
    """Their forward dynamics of our forces, beside ours; single small links make it ill-conditioned, so what counts is the force it stands for."""
    theirs = np.zeros(case.tree.nv)
    theirs[case.order] = pinocchio.aba(case.model, case.data, case.theirs, case.v[case.order], tau[case.order])
    ours = aba(case.tree, case.q, case.v, tau)
    assert close(ours, theirs, 1e-6)
    return ours


@pytest.mark.parametrize("floating", (False, True), ids=("grounded", "floating"))
@every
def test_kinematics_energies_and_inertias(name, floating):
    case = Case(ROBOTS[name], floating)
    model, data, tree, order = case.model, case.data, case.tree, case.order
    pinocchio.forwardKinematics(model, data, case.theirs, case.v[order], case.a[order])
    pinocchio.updateFramePlacements(model, data)
    pinocchio.computeJointJacobians(model, data, case.theirs)
    frames = placements(tree, case.q)
    for link in case.own.robot.links:
        assert close(frames[tree.node[link.name]], data.oMf[model.getFrameId(link.name, pinocchio.FrameType.BODY)].homogeneous[:3])
    for joint in case.joints:
        number, node = model.getJointId(joint), case.node(joint)
        local = pinocchio.getJointJacobian(model, data, number, pinocchio.ReferenceFrame.LOCAL)
        assert close(jacobian(tree, case.q, node)[:, order], local)
        assert close(carried_as_one(tree, node), inertia_row(model.inertias[number]))
    still = grounded(tree, frames)  # what is fixed to the ground: Pinocchio leaves it out of masses and energies
    mass = sum(tree.flat.rest[1:, INERTIA])
    assert mass - still[0] == pytest.approx(pinocchio.computeTotalMass(model), rel=1e-12)
    if model.nv:
        centre = (mass * centre_of_mass(tree, case.q) - still[1:]) / (mass - still[0])
        assert close(centre, pinocchio.centerOfMass(model, data, case.theirs))
    assert kinetic_energy(tree, case.q, case.v) == pytest.approx(pinocchio.computeKineticEnergy(model, data, case.theirs, case.v[order]), rel=1e-10)
    potential = potential_energy(tree, case.q) - G * still[3]
    assert potential == pytest.approx(pinocchio.computePotentialEnergy(model, data, case.theirs), rel=1e-9, abs=1e-9)


def inertia_row(inertia):
    """mass, mass times centre, moments about the origin xx xy xz yy yz zz."""
    lever, mass = np.asarray(inertia.lever), inertia.mass
    about = np.asarray(inertia.inertia) + mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    return np.array([mass, *(mass * lever), *about[np.triu_indices(3)]])


def moved(row, frame):
    """An inertia row in the axes of a frame's parent, about its origin."""
    rotation, place, mass, h = frame[:, :3], frame[:, 3], row[0], frame[:, :3] @ row[1:4]
    about = np.zeros((3, 3))
    about[np.triu_indices(3)] = row[4:]
    about = rotation @ symmetric(about) @ rotation.T
    shift = np.outer(h, place) + np.outer(place, h) + mass * np.outer(place, place)
    about += np.trace(shift) * np.eye(3) - shift
    return np.array([mass, *(h + mass * place), *about[np.triu_indices(3)]])


def carried_as_one(tree, node):
    """The inertia of a node with all that is fixed to it."""
    total = tree.flat.rest[node, INERTIA : INERTIA + 10].copy()
    for i in range(node + 1, tree.nodes):
        if tree.flat.node[i, PARENT] == node and tree.flat.node[i, DOFS] == 0:
            rest = tree.flat.rest[i]
            total += moved(carried_as_one(tree, i), np.column_stack([rest[:9].reshape(3, 3), rest[9:12]]))
    return total


def grounded(tree, frames):
    """Mass, and mass times place, of all that is fixed to the ground."""
    total, nodes = np.zeros(4), {0}
    for i in range(1, tree.nodes):
        if tree.flat.node[i, PARENT] in nodes and tree.flat.node[i, DOFS] == 0:
            nodes.add(i)
            mass, *moment = tree.flat.rest[i, INERTIA : INERTIA + 4]
            total += [mass, *(frames[i][:, :3] @ moment + mass * frames[i][:, 3])]
    return total


LIMITED = [name for name in ROBOTS if name not in REFUSED and re.search(r'type="(revolute|prismatic)"', ROBOTS[name].read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", LIMITED)
def test_limits(name):
    case, compared = Case(ROBOTS[name], False), 0
    for joint in case.own.robot.joints:
        if joint.name in case.joints and joint.limit is not None and case.joints[joint.name].nq == 1:
            at_q, at_v = case.joints[joint.name].idx_q, case.joints[joint.name].idx_v
            if joint.limit.lower is not None:
                assert close([joint.limit.lower, joint.limit.upper], [case.model.lowerPositionLimit[at_q], case.model.upperPositionLimit[at_q]])
            assert close([joint.limit.effort, joint.limit.speed], [case.model.upperEffortLimit[at_v], case.model.upperVelocityLimit[at_v]])
            compared += 1
    assert compared
