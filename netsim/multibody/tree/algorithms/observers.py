"""What a user asks of a state besides forces: placements, twists, body Jacobians, centre of mass, energies, and steps
of the positions."""

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.forward import make_articulated
from netsim.multibody.tree.algorithms.inverse import friction
from netsim.multibody.tree.charts import move_into
from netsim.multibody.tree.flexible import (
    coupling,
    deformed_inertia,
    elastic_mass,
    set_coordinates,
    set_modal,
    set_moments,
)
from netsim.multibody.tree.kinematics import make_motion, outward, point_columns
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import dot, momentum, put, row, to_ground, twist_to_child


def placements(tree: Tree, q: Array) -> Array:
    """The frames of all nodes in the ground's axes (nodes, 3, 4): rotation (columns are the node's axes) and origin
    [m]."""
    return (
        _placements(tree.flat, np.asarray(q, float))
        .reshape(-1, 12)[:, [0, 1, 2, 9, 3, 4, 5, 10, 6, 7, 8, 11]]
        .reshape(-1, 3, 4)
    )


def twists(tree: Tree, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
    """Twists of all nodes and the rates of their components, (nodes, 6) each, in the nodes' axes; without gravity."""
    return _twists(
        tree.flat, np.asarray(q, float), np.asarray(v, float), np.zeros(tree.nv) if a is None else np.asarray(a, float)
    )


def jacobian(tree: Tree, q: Array, node: int) -> Array:
    """J (6, nv) of a node: its twist in its own axes is J v (Pinocchio's getJointJacobian in the LOCAL frame)."""
    return _jacobian(tree.flat, np.asarray(q, float), node)


def centre_of_mass(tree: Tree, q: Array) -> Array:
    """The centre of mass of the deformed tree in the ground's axes [m]."""
    moments = _moments(tree.flat, np.asarray(q, float))
    return moments[1:] / moments[0]


def kinetic_energy(tree: Tree, q: Array, v: Array) -> float:
    """v^T M v / 2 [J], body by body."""
    return float(_kinetic_energy(tree.flat, np.asarray(q, float), np.asarray(v, float)))


def potential_energy(tree: Tree, q: Array) -> float:
    """Of gravity (zero for a centre of mass at the ground's origin) and of strain [J]."""
    moments = _moments(tree.flat, np.asarray(q, float))
    return float(-tree.flat.gravity @ moments[1:] + _strain_energy(tree.flat, np.asarray(q, float)))


def dissipated_power(tree: Tree, v: Array) -> float:
    """Lost in friction of the joints and damping of the flexible links [W]."""
    v = np.asarray(v, float)
    rubbing = np.zeros(tree.nv)
    friction(tree.flat, v, 1.0, rubbing)
    return float(v @ rubbing + _damped_power(tree.flat, v))


def move(tree: Tree, q: Array, step: Array) -> Array:
    """The positions q (nq,) moved by a step (nv,) in the coordinates of the velocities; rotations turn by the Cayley
    map, in body axes.

    A step h v + h^2 v'/2 gives the position after h with an error of order h^3. (Pinocchio's integrate has the
    exponential map instead.)
    """
    moved = np.asarray(q, float).copy()
    move_into(tree.flat, np.asarray(step, float), moved)
    return moved


@compiled
def _placements(t, q):
    m = make_motion(t)
    zero = np.zeros(len(t.coordinate))
    outward(t, q, zero, zero, m)
    world = np.zeros((len(t.node), 12))
    for c in range(12):
        world[0, c] = m.frame[0, c]
    for i in range(1, len(t.node)):
        to_ground(world, t.node[i, model.PARENT], m.frame, i)
    return world


@compiled
def _twists(t, q, v, a):
    m = make_motion(t)
    m.rate[0] = 0.0
    outward(t, q, v, a, m)
    return m.twist, m.rate


@compiled
def _jacobian(t, q, node):
    """Columns carried outward from where they begin: a column (6,) of an ancestor's coordinate goes through every frame
    to the node."""
    nv = len(t.coordinate)
    m = make_motion(t)
    zero = np.zeros(nv)
    outward(t, q, zero, zero, m)
    path = np.empty(len(t.node), np.int64)
    length, i = 0, node
    while i > 0:
        path[length] = i
        length, i = length + 1, t.node[i, model.PARENT]
    columns = np.zeros((nv, 6))
    for step in range(length - 1, -1, -1):
        i = path[step]
        for k in range(nv):
            put(columns, k, twist_to_child(m.frame, i, row(columns, k)))
        if t.node[i, model.KIND] == model.POINT:
            set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
            point_columns(t, i, q, m)
            for k in range(t.node[i, model.ELASTIC]):
                put(columns, t.node[i, model.ELASTIC_V] + k, row(m.columns, k))
        else:
            for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
                put(columns, k, row(t.coordinate, k))
    return columns.T.copy()


@compiled
def _moments(t, q):
    """Mass, and mass times centre of mass in the ground's axes."""
    world, m = _placements(t, q), make_motion(t)
    zero = np.zeros(len(t.coordinate))
    total = np.zeros(4)
    for i in range(1, len(t.node)):
        own_inertia(t, i, q, zero, m)
        mass = m.deformed[0, 0]
        total[0] += mass
        for r in range(3):
            total[1 + r] += mass * world[i, 9 + r]
            for k in range(3):
                total[1 + r] += world[i, 3 * r + k] * m.deformed[0, 1 + k]
    return total


@inner
def own_inertia(t, i, q, v, m):
    """m.deformed[0] = the inertia row of body i as it is; of a flexible one, the modal sums are set."""
    if t.node[i, model.ELASTIC] > 0 and t.node[i, model.KIND] != model.POINT:
        set_modal(
            t.beams, t.node[i, model.FLEXIBLE], q, v, v, t.node[i, model.ELASTIC_Q], t.node[i, model.ELASTIC_V], m.modal
        )
        set_moments(t.beams, t.node[i, model.FLEXIBLE], m.modal)
        deformed_inertia(t.beams, t.node[i, model.FLEXIBLE], t.rest, i, m.modal, m.deformed)
        return
    for c in range(10):
        m.deformed[0, c] = t.rest[i, model.INERTIA + c]


@compiled
def _kinetic_energy(t, q, v):
    m, w = make_motion(t), make_articulated(t)
    outward(t, q, v, v, m)
    energy = 0.0
    for i in range(1, len(t.node)):
        own_inertia(t, i, q, v, m)
        twist = row(m.twist, i)
        energy += dot(twist, momentum(m.deformed, 0, 0, twist)) / 2
        if t.node[i, model.ELASTIC] > 0 and t.node[i, model.KIND] != model.POINT:
            coupling(t.beams, t.node[i, model.FLEXIBLE], m.modal, w.coupling)
            elastic_mass(t.beams, t.node[i, model.FLEXIBLE], m.modal, w.block)
            for k in range(t.node[i, model.ELASTIC]):
                rate = v[t.node[i, model.ELASTIC_V] + k]
                energy += rate * dot(twist, row(w.coupling, k))
                for j in range(t.node[i, model.ELASTIC]):
                    energy += rate * w.block[k, j] * v[t.node[i, model.ELASTIC_V] + j] / 2
    return energy


@inner
def _strain_energy(t, q):
    return _elastic_form(t, model.ELASTIC_Q, 0, q) / 2


@inner
def _damped_power(t, v):
    return _elastic_form(t, model.ELASTIC_V, 1, v)


@inner
def _elastic_form(t, place, matrix, x):
    """The sum of x^T B x over flexible bodies, with B their stiffness (0) or damping (1) and x their coordinates."""
    total = 0.0
    for i in range(1, len(t.node)):
        if t.node[i, model.KIND] != model.POINT:
            at = t.node[i, place]
            for k in range(t.node[i, model.ELASTIC]):
                for j in range(t.node[i, model.ELASTIC]):
                    total += x[at + k] * t.beams.strain[t.node[i, model.FLEXIBLE], matrix, k, j] * x[at + j]
    return total
