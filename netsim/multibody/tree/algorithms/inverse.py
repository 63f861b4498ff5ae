"""Inverse dynamics in two recursions: motion outward, wrenches inward (recursive Newton-Euler, G17 eqs 1-15; G22 eqs
2-3)."""

import numpy as np

from netsim.core.compiled.function import compiled, inlined, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.flexible import (
    deformation_wrench,
    deformed_inertia,
    elastic_forces,
    set_coordinates,
    set_modal,
    set_moments,
)
from netsim.multibody.tree.kinematics import make_motion, outward, point_columns
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import add, cross_wrench, dot, momentum, plus, put, row, wrench_to_parent


def rnea(tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Array:
    """The generalised forces tau (nv,) at which accelerations a (nv,) arise at positions q (nq,) and velocities v
    (nv,).

    tau of a joint is the force of its drive, friction included; tau of an elastic coordinate is zero in free motion.
    `wrenches` (tree.nodes, 6) act on the nodes at their origins in their own axes (force, couple). The arguments are
    those of pinocchio.rnea(model, data, q, v, a, fext).
    """
    return _rnea(
        tree.flat, *(np.asarray(x, float) for x in (q, v, a)), no_wrenches(tree) if wrenches is None else wrenches
    )


def no_wrenches(tree: Tree) -> Array:
    """Room for a wrench on every node, zero."""
    return np.zeros((tree.nodes, 6))


@compiled
def _rnea(t, q, v, a, wrenches):
    tau = np.empty(len(v))
    rnea_into(t, q, v, a, wrenches, make_motion(t), tau)
    return tau


@inner
def rnea_into(t, q, v, a, wrenches, m, tau):
    """rnea with given room (Motion) and result; m.wrench[0] becomes the wrench of the tree on the ground, turned
    around."""
    outward(t, q, v, a, m)
    tau[:] = 0.0
    put(m.wrench, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    body_wrenches(t, q, v, a, m, tau)
    for i in range(1, len(t.node)):
        for c in range(6):
            m.wrench[i, c] -= wrenches[i, c]
    inward(t, q, m, tau)
    friction(t, v, 1.0, tau)


@inlined
def body_wrenches(t, q, v, a, m, tau):
    """m.wrench = what moves each body as its twist and rate say; tau += elastic forces (G22 eq. 2, left side).

    Flexible bodies have a loop of their own: a call that passes the whole tree would cost the rigid ones more than
    their dynamics.
    """
    for i in range(1, len(t.node)):
        twist = row(m.twist, i)
        inertial = momentum(t.rest, i, model.INERTIA, row(m.rate, i))
        put(m.wrench, i, plus(inertial, cross_wrench(twist, momentum(t.rest, i, model.INERTIA, twist))))
    if len(t.beams.size) > 0:
        for i in range(1, len(t.node)):
            if t.node[i, model.ELASTIC] > 0 and t.node[i, model.KIND] != model.POINT:
                flexible_wrench(t, i, q, v, a, m, tau)


@inlined
def flexible_wrench(t, i, q, v, a, m, tau):
    """m.wrench[i] of a flexible body, with tau += its elastic forces; leaves its modal sums and its deformed inertia in
    m."""
    twist, rate = row(m.twist, i), row(m.rate, i)
    f, s = t.node[i, model.FLEXIBLE], m.modal
    set_modal(t.beams, f, q, v, a, t.node[i, model.ELASTIC_Q], t.node[i, model.ELASTIC_V], s)
    set_moments(t.beams, f, s)
    deformed_inertia(t.beams, f, t.rest, i, s, m.deformed)
    w, dw = (twist[3], twist[4], twist[5]), (rate[3], rate[4], rate[5])
    rigid = plus(momentum(m.deformed, 0, 0, rate), cross_wrench(twist, momentum(m.deformed, 0, 0, twist)))
    put(m.wrench, i, plus(rigid, deformation_wrench(t.beams, f, w, s)))
    elastic_forces(t.beams, f, origin_acceleration(twist, rate), w, dw, s, tau, t.node[i, model.ELASTIC_V])


@inlined
def origin_acceleration(twist, rate):
    """v' + w x v"""
    return (
        rate[0] + twist[4] * twist[2] - twist[5] * twist[1],
        rate[1] + twist[5] * twist[0] - twist[3] * twist[2],
        rate[2] + twist[3] * twist[1] - twist[4] * twist[0],
    )


@inlined
def inward(t, q, m, tau):
    """The inward recursion (G17 eqs 10, 11, 15): wrenches to the parents, tau += their power per unit of each
    coordinate's rate."""
    for i in range(len(t.node) - 1, 0, -1):
        wrench = row(m.wrench, i)
        if t.node[i, model.KIND] == model.POINT:
            set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
            point_columns(t, i, q, m)
            for k in range(t.node[i, model.ELASTIC]):
                tau[t.node[i, model.ELASTIC_V] + k] += dot(row(m.columns, k), wrench)
        else:
            for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
                tau[k] += dot(row(t.coordinate, k), wrench)
        add(m.wrench, t.node[i, model.PARENT], wrench_to_parent(m.frame, i, wrench))


@inner
def friction(t, v, sign, tau):
    """tau += sign (F_c tanh(v/width) + F_v v): Coulomb and viscous friction of the joints (G22, below eq. 5, with a
    smooth sign)."""
    for k in range(len(v)):
        if t.coordinate[k, model.COULOMB] != 0.0:
            tau[k] += sign * t.coordinate[k, model.COULOMB] * np.tanh(v[k] / t.coordinate[k, model.WIDTH])
        tau[k] += sign * t.coordinate[k, model.VISCOUS] * v[k]
