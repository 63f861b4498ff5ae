"""Inverse dynamics in plain NumPy, as the books write it: 6 x 6 matrices, numbers of any type, deformation as a sum
over points of mass.

Slow, and on purpose independent of the compiled algorithms and of the inertia integrals: G17 (1)-(15), G22 (2), (3)
with a flexible link's force as a sum over the Gauss points of its beam. Complex coordinates carry derivatives (complex
step).
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from netsim.multibody.tree import model
from netsim.multibody.tree.beam import Beam
from netsim.multibody.tree.model import Array, Tree, skew


def rnea(tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Array:
    """The generalised forces tau (nv,) that give accelerations a at positions q (nq,) and velocities v; wrenches
    (nodes, 6) act on the nodes."""
    t = tree.flat
    kind: Any = np.result_type(q, v, a)
    twist, rate = np.zeros((tree.nodes, 6), kind), np.zeros((tree.nodes, 6), kind)
    force, frames = np.zeros((tree.nodes, 6), kind), np.zeros((tree.nodes, 6, 6), kind)
    columns: list[Array] = [np.zeros((6, 0))] * tree.nodes
    tau = np.zeros(tree.nv, kind)
    rate[0, :3] = -t.gravity
    owner = {node: tree.bodies[i].inertia for i, node in enumerate(tree.node.values())}
    for i in range(1, tree.nodes):
        p = t.node[i, model.PARENT]
        step = _point(tree, owner[p], i, q, v, a) if t.node[i, model.KIND] == model.POINT else _joint(tree, i, q, v, a)
        x, columns[i] = twist_matrix(step.rotation, step.origin), step.columns
        frames[i] = x
        twist[i] = x @ twist[p] + step.twist
        rate[i] = x @ rate[p] + step.rate + motion_cross(twist[i]) @ step.twist
        inertia = owner.get(i)
        if isinstance(inertia, Beam) and inertia.count:
            here_q, here_v = (
                slice(t.node[i, model.ELASTIC_Q], t.node[i, model.ELASTIC_Q] + inertia.count),
                slice(t.node[i, model.ELASTIC_V], t.node[i, model.ELASTIC_V] + inertia.count),
            )
            force[i], elastic = beam_force(inertia, twist[i], rate[i], q[here_q], v[here_v], a[here_v])
            tau[here_v] += elastic
        else:
            m = rigid_matrix(t.rest[i, model.INERTIA :])
            force[i] = m @ rate[i] - motion_cross(twist[i]).T @ (m @ twist[i])
        if wrenches is not None:
            force[i] -= wrenches[i]
    for i in range(tree.nodes - 1, 0, -1):
        first = t.node[i, model.ELASTIC_V] if t.node[i, model.KIND] == model.POINT else t.node[i, model.JOINT_V]
        tau[first : first + columns[i].shape[1]] += columns[i].T @ force[i]
        force[t.node[i, model.PARENT]] += frames[i].T @ force[i]
    return tau + t.coordinate[:, model.COULOMB] * np.tanh(v / t.coordinate[:, model.WIDTH]) + t.coordinate[:, model.VISCOUS] * v


def motion_cross(m: Array) -> Array:
    """[m x], the matrix of a x b on twists; minus its transpose is that of a x* f on wrenches."""
    return np.block([[skew(m[3:]), skew(m[:3])], [np.zeros((3, 3)), skew(m[3:])]])


def twist_matrix(rotation: Array, origin: Array) -> Array:
    """T: a parent's twist at the child, whose axes are the columns of the rotation and whose origin is given in the
    parent's."""
    return np.block([[rotation.T, -rotation.T @ skew(origin)], [np.zeros((3, 3)), rotation.T]])


def rigid_matrix(row: Array) -> Array:
    """The 6 x 6 inertia of a row (mass, moment, xx xy xz yy yz zz)."""
    xx, xy, xz, yy, yz, zz = row[4:]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[row[0] * np.eye(3), -skew(row[1:4])], [skew(row[1:4]), about]])


class _Step(NamedTuple):
    """From a node to the next: rotation (child to parent axes), origin, relative twist, the rest of its rate, and its
    columns."""

    rotation: Array
    origin: Array
    twist: Array
    rate: Array
    columns: Array


def _joint(tree: Tree, i: int, q: Array, v: Array, a: Array) -> _Step:
    t = tree.flat
    at, here = (
        t.node[i, model.JOINT_Q],
        slice(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]),
    )
    placed, origin = t.rest[i, :9].reshape(3, 3), t.rest[i, 9:12]
    columns = t.coordinate[here, :6].T
    rotation, shift = np.eye(3), np.zeros(3)
    if t.node[i, model.KIND] == model.REVOLUTE:
        cross = skew(columns[3:, 0])
        rotation = np.eye(3) + np.sin(q[at]) * cross + (1 - np.cos(q[at])) * cross @ cross
    elif t.node[i, model.KIND] == model.PRISMATIC:
        shift = columns[:3, 0] * q[at]
    elif t.node[i, model.KIND] == model.SPHERICAL:
        rotation = quaternion_rotation(q[at : at + 4])
    elif t.node[i, model.KIND] == model.FREE:
        rotation, shift = quaternion_rotation(q[at + 3 : at + 7]), q[at : at + 3]
    return _Step(placed @ rotation, origin + placed @ shift, columns @ v[here], columns @ a[here], columns)


def quaternion_rotation(q: Array) -> Array:
    """The rotation matrix of a unit quaternion (x, y, z, w)."""
    cross = skew(q[:3])
    return np.eye(3) + 2 * q[3] * cross + 2 * cross @ cross


def _point(tree: Tree, beam: Any, i: int, q: Array, v: Array, a: Array) -> _Step:
    t = tree.flat
    count, (*place, curl) = beam.count, t.beams.points[t.node[i, model.AT_POINT], -1, :4]
    e, de, dde = (
        q[t.node[i, model.ELASTIC_Q] :][:count],
        v[t.node[i, model.ELASTIC_V] :][:count],
        a[t.node[i, model.ELASTIC_V] :][:count],
    )
    psi, theta = (functions[:, 0] for functions in _at(beam, (float(place[0]),)))
    z, slope, bend = products(beam, e, de)
    # a Cayley rotation: w = cay' in the turned axes, as a matrix on the rate of theta; in one plane (curl = 0) theta is
    # the angle
    angle, spin = theta.T @ e, theta.T @ de
    scale = 1 / (1 + curl * angle @ angle / 4)
    half = angle / 2 if curl else np.tan(angle / 2)
    rotation = np.eye(3) + 2 * (skew(half) + skew(half) @ skew(half)) / (1 + half @ half)
    turn = scale * (np.eye(3) - curl * skew(angle) / 2)
    columns = np.concatenate([rotation.T @ psi.T @ slope, turn @ theta.T])
    speed = psi.T @ slope @ de
    w = turn @ spin
    drift = np.concatenate([rotation.T @ psi.T @ bend - np.cross(w, rotation.T @ speed), -curl * scale * (angle @ spin) / 2 * w])
    return _Step(rotation, place + psi.T @ z, np.concatenate([rotation.T @ speed, w]), columns @ dde + drift, columns)


@lru_cache(maxsize=100)
def _at(beam: Beam, points: tuple[float, ...]) -> tuple[Array, Array]:
    """psi and theta of a beam at points: the same at every state."""
    return beam.displacement(np.array(points)), beam.rotation(np.array(points))


def products(beam: Beam, e: Array, de: Array) -> tuple[Array, Array, Array]:
    """z(q), dz/dq and the part of z'' without q'': coordinates and their products for foreshortening."""
    pairs = beam.pairs
    z = np.concatenate([e, [e[k] * e[m] for k, m in pairs]])
    slope = np.zeros((len(z), beam.count), z.dtype)
    slope[: beam.count] = np.eye(beam.count)
    for r, (k, m) in enumerate(pairs, beam.count):
        slope[r, k] += e[m]
        slope[r, m] += e[k]
    return z, slope, np.concatenate([0 * e, [2 * de[k] * de[m] for k, m in pairs]])


def beam_force(beam: Beam, twist: Array, rate: Array, e: Array, de: Array, dde: Array) -> tuple[Array, Array]:
    """The wrench (about the body's origin) and the elastic forces that move a beam: sums of dm (acceleration) over its
    points.

    `rate` is the rate of the twist's components, so the origin accelerates by v' + w x v.
    """
    at, dx = beam.quadrature()
    dm = beam.section.mass * dx
    psi, theta = _at(beam, tuple(at.tolist()))
    z, slope, bend = products(beam, e, de)
    r = np.einsum("mpi,m->pi", psi, z)
    r[:, 0] += at
    speed, acceleration = np.einsum("mpi,m->pi", psi, slope @ de), np.einsum("mpi,m->pi", psi, slope @ dde + bend)
    v, w, dw = twist[:3], twist[3:], rate[3:]
    moved = rate[:3] + np.cross(w, v) + np.cross(dw, r) + np.cross(w, np.cross(w, r)) + 2 * np.cross(w, speed) + acceleration
    force = dm[:, None] * moved
    sections = np.diag(beam.section.rotary)
    spin = dw + np.einsum("kpi,k->pi", theta, dde)  # of the sections, linear
    turning = np.einsum("ij,pj,p->pi", sections, spin, dx)
    gyroscopic = np.cross(w, sections @ np.einsum("pi,p->i", w + np.einsum("kpi,k->pi", theta, de), dx))
    wrench = np.concatenate([force.sum(0), np.cross(r, force).sum(0) + turning.sum(0) + gyroscopic])
    elastic = slope.T @ np.einsum("mpi,pi->m", psi, force) + np.einsum("kpi,pi->k", theta, turning)
    return wrench, elastic + beam.stiffness() @ e + beam.integrals.damping @ de
