"""The derivatives of inverse dynamics with respect to q, v and a: analytic, by composite bodies, without a pass per coordinate.

What a body carries answers to a change of its twist V and rate A with the wrench K dA + B dV, where inward (X, W: frame and relative twist)

    K_p += X^T K X,        B_p += X^T (B - K [W x]) X.

A column (coordinate k, perturbed at its node: entries.py) sends this wrench through all ancestors; a row (coordinate j) is a covector
(alpha on dA, beta on dV) = (K S_j, B^T S_j) that goes the same way, alpha <- X^T alpha, beta <- X^T (beta + W x* alpha), and meets the entries of
every ancestor. The cost is that of the result: coordinates times depth. For rigid trees the figures are those of
 pinocchio.computeRNEADerivatives
(J. Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018).
"""

from __future__ import annotations

import numpy as np

from netsim.kernels.call import compiled
from netsim.tree.articulated import add_to_parent, inertia_times, set_rigid
from netsim.tree.entries import first_slot, joint_entries, make_entries, point_entries, turning_stiffness
from netsim.tree.flexible import coupling, elastic_forces, elastic_mass, set_coordinates, set_modal, set_moments
from netsim.tree.forward import make_articulated
from netsim.tree.inverse import no_wrenches, origin_acceleration, rnea_into
from netsim.tree.kinematics import make_motion
from netsim.tree.model import (
    COULOMB,
    DOFS,
    ELASTIC,
    ELASTIC_Q,
    ELASTIC_V,
    FLEXIBLE,
    INERTIA,
    JOINT_V,
    KIND,
    PARENT,
    POINT,
    VISCOUS,
    WIDTH,
    Array,
    Tree,
)
from netsim.tree.observers import own_inertia
from netsim.tree.slopes import elastic_slopes, flexible_gyroscopic, force_slopes, make_slopes, rigid_gyroscopic, set_products, wrench_slopes
from netsim.tree.spatial import add, cross_twist, cross_wrench, dot, minus, plus, row, scaled, twist_to_child, unit, wrench_to_parent


def rnea_derivatives(tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> tuple[Array, Array, Array]:
    """d tau/dq, d tau/dv and the mass matrix d tau/da, each (nv, nv), of rnea(tree, q, v, a, wrenches).

    The derivative by q is along the coordinates of v (see observers.move), so a quaternion counts three. Wrenches stay fixed in their nodes' axes.
    """
    values = [np.asarray(x, float) for x in (q, v, a)]
    return _derivatives(tree.flat, *values, no_wrenches(tree) if wrenches is None else wrenches)


@compiled
def _derivatives(t, q, v, a, wrenches):  # type: ignore[no-untyped-def]
    nv = len(v)
    dq, dv, da = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv))
    derivatives_into(t, q, v, a, wrenches, make_motion(t), make_articulated(t), make_entries(t), make_slopes(t), np.zeros(nv), dq, dv, da)
    return dq, dv, da


@compiled
def derivatives_into(t, q, v, a, wrenches, m, w, e, x, tau, dq, dv, da):  # type: ignore[no-untyped-def]
    """rnea_derivatives with given room; tau becomes that of rnea."""
    rnea_into(t, q, v, a, wrenches, m, tau)
    dq[:] = 0.0
    dv[:] = 0.0
    da[:] = 0.0
    for i in range(1, len(t.node)):
        if t.node[i, KIND] != POINT:
            joint_entries(t, i, v, a, m, e)
            _own_slopes(t, i, q, v, a, m, w, x, dq, dv)
        else:
            # a point comes after its body but not always right after: its products are set anew
            set_modal(t.beams, t.node[i, FLEXIBLE], q, v, a, t.node[i, ELASTIC_Q], t.node[i, ELASTIC_V], m.modal)
            set_products(t.beams, t.node[i, FLEXIBLE], m.modal, x.z)
            point_entries(t, i, q, v, a, m, x.z, e)
            set_rigid(w.inertia, i, t.rest, i, INERTIA)
            x.gyroscopic[i] = 0.0
    for i in range(len(t.node) - 1, 0, -1):
        if t.node[i, KIND] == POINT:
            _point_inward(t, i, q, m, w, e, x, dq, dv)
        else:
            _body_inward(t, i, q, m, w, e, x, dq, dv, da)
        if t.node[i, PARENT] > 0:
            _carry(t, i, m, w, e, x)
    for k in range(len(v)):
        share = np.tanh(v[k] / t.coordinate[k, WIDTH])
        dv[k, k] += t.coordinate[k, COULOMB] * (1 - share * share) / t.coordinate[k, WIDTH] + t.coordinate[k, VISCOUS]


@compiled
def _own_slopes(t, i, q, v, a, m, w, x, dq, dv):  # type: ignore[no-untyped-def]
    """Inertia, dF/dV and the elastic rows, columns and block of body i alone."""
    twist, rate = row(m.twist, i), row(m.rate, i)
    if t.node[i, ELASTIC] == 0:
        set_rigid(w.inertia, i, t.rest, i, INERTIA)
        rigid_gyroscopic(x.gyroscopic, i, t.rest, i, INERTIA, twist)
        return
    f, at, s = t.node[i, FLEXIBLE], t.node[i, ELASTIC_V], m.modal
    own_inertia(t, i, q, v, m)
    set_modal(t.beams, f, q, v, a, t.node[i, ELASTIC_Q], at, s)
    set_moments(t.beams, f, s)
    set_products(t.beams, f, s, x.z)
    set_rigid(w.inertia, i, m.deformed, 0, 0)
    rigid_gyroscopic(x.gyroscopic, i, m.deformed, 0, 0, twist)
    flexible_gyroscopic(t.beams, f, s, x.gyroscopic, i)
    coupling(t.beams, f, s, w.coupling[at:])
    elastic_mass(t.beams, f, s, w.block[at:])
    origin = origin_acceleration(twist, rate)
    spin, gain = (twist[3], twist[4], twist[5]), (rate[3], rate[4], rate[5])
    elastic_forces(t.beams, f, origin, spin, gain, s, w.offset, at)  # for its forces on the products, left in s
    force_slopes(t.beams, f, twist, origin, spin, gain, s, x.wrench[0], x.force)
    size = t.beams.size[f, 0] + t.beams.size[f, 1]
    for k in range(t.node[i, ELASTIC]):
        for c in range(6):
            total = 0.0
            for r in range(size):
                total += x.z[0, r, k] * x.wrench[0, r, c]
            x.row_v[at + k, c] = total
    elastic_slopes(t.beams, f, s, x, dq, dv, at)
    wrench_slopes(t.beams, f, origin, spin, gain, s, x.wrench)
    for k in range(t.node[i, ELASTIC]):
        for c in range(6):
            by_q, by_v = 0.0, 0.0
            for r in range(size):
                by_q += x.wrench[0, r, c] * x.z[0, r, k] + x.wrench[1, r, c] * x.z[1, r, k] + x.wrench[2, r, c] * x.z[2, r, k]
                by_v += x.wrench[1, r, c] * x.z[0, r, k] + 2 * x.wrench[2, r, c] * x.z[1, r, k]
            x.column_q[at + k, c], x.column_v[at + k, c] = by_q, by_v


@compiled
def _times(g, i, d):  # type: ignore[no-untyped-def]
    """B[i] d"""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(6):
        total = plus(total, (g[i, 0, k] * d[k], g[i, 1, k] * d[k], g[i, 2, k] * d[k], g[i, 3, k] * d[k], g[i, 4, k] * d[k], g[i, 5, k] * d[k]))
    return total


@compiled
def _transposed_times(g, i, d):  # type: ignore[no-untyped-def]
    """B[i]^T d"""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(6):
        total = plus(total, scaled(row(g[i], k), d[k]))
    return total


@compiled
def _carry(t, i, m, w, e, x):  # type: ignore[no-untyped-def]
    """K and B of node i go to its parent, column by column of X^T (B - K [W x]) X."""
    p, relative = t.node[i, PARENT], row(e.relative, i)
    for k in range(6):
        d = twist_to_child(m.frame, i, unit(k))
        wrench = minus(_times(x.gyroscopic, i, d), inertia_times(w.inertia, i, cross_twist(relative, d)))
        wrench = wrench_to_parent(m.frame, i, wrench)
        for r in range(6):
            x.gyroscopic[p, r, k] += wrench[r]
    add_to_parent(w.inertia, i, p, m.frame)


@compiled
def _point_inward(t, i, q, m, w, e, x, dq, dv):  # type: ignore[no-untyped-def]
    """What hangs on point i enters the elastic block, rows and columns of its body."""
    at, count, slot = t.node[i, ELASTIC_V], t.node[i, ELASTIC], first_slot(t, i)
    wrench, relative = row(m.wrench, i), row(e.relative, i)
    set_coordinates(t.beams, t.node[i, FLEXIBLE], q, t.node[i, ELASTIC_Q], m.modal)
    turning_stiffness(t, i, q, m, wrench, dq)
    for k in range(count):
        phi = row(e.phi, slot + k)
        by_q = plus(inertia_times(w.inertia, i, row(e.aq, slot + k)), _times(x.gyroscopic, i, row(e.vq, slot + k)))
        by_v = plus(inertia_times(w.inertia, i, row(e.av, slot + k)), _times(x.gyroscopic, i, phi))
        alpha = inertia_times(w.inertia, i, phi)
        beta = _transposed_times(x.gyroscopic, i, phi)
        for j in range(count):
            other = row(e.phi, slot + j)
            dq[at + j, at + k] += dot(other, by_q)
            dv[at + j, at + k] += dot(other, by_v)
            w.block[at + j, k] += dot(other, alpha)
        add(w.coupling, at + k, wrench_to_parent(m.frame, i, alpha))
        add(x.row_v, at + k, wrench_to_parent(m.frame, i, plus(beta, cross_wrench(relative, alpha))))
        add(x.column_q, at + k, wrench_to_parent(m.frame, i, plus(by_q, cross_wrench(phi, wrench))))
        add(x.column_v, at + k, wrench_to_parent(m.frame, i, by_v))


@compiled
def _body_inward(t, i, q, m, w, e, x, dq, dv, da):  # type: ignore[no-untyped-def]
    """The rows and columns of the elastic coordinates and of the joint of node i."""
    own, at, count = t.node[i, ELASTIC_V], t.node[i, JOINT_V], t.node[i, DOFS]
    for k in range(own, own + t.node[i, ELASTIC]):
        for j in range(t.node[i, ELASTIC]):
            da[k, own + j] = w.block[k, j]
        _row(t, i, k, row(w.coupling, k), row(x.row_v, k), m, e, dq, dv, da)
        for j in range(at, at + count):
            dq[j, k] = dot(row(t.coordinate, j), row(x.column_q, k))
            dv[j, k] = dot(row(t.coordinate, j), row(x.column_v, k))
        _column(t, i, k, row(x.column_q, k), row(x.column_v, k), m, e, dq, dv)
    wrench = row(m.wrench, i)
    for k in range(at, at + count):
        phi = row(e.phi, k)
        _row(t, i, k, inertia_times(w.inertia, i, phi), _transposed_times(x.gyroscopic, i, phi), m, e, dq, dv, da)
        by_q = plus(inertia_times(w.inertia, i, row(e.aq, k)), _times(x.gyroscopic, i, row(e.vq, k)))
        by_v = plus(inertia_times(w.inertia, i, row(e.av, k)), _times(x.gyroscopic, i, phi))
        _column(t, i, k, plus(by_q, cross_wrench(phi, wrench)), by_v, m, e, dq, dv)


@compiled
def _row(t, i, j, alpha, beta, m, e, dq, dv, da):  # type: ignore[no-untyped-def]
    """Row j meets the entries of node i and of all its ancestors."""
    while i > 0:
        slot = first_slot(t, i)
        at, count = t.node[i, JOINT_V], t.node[i, DOFS]
        if t.node[i, KIND] == POINT:
            at, count = t.node[i, ELASTIC_V], t.node[i, ELASTIC]
        for k in range(count):
            phi = row(e.phi, slot + k)
            dq[j, at + k] = dot(alpha, row(e.aq, slot + k)) + dot(beta, row(e.vq, slot + k))
            dv[j, at + k] = dot(alpha, row(e.av, slot + k)) + dot(beta, phi)
            da[j, at + k] = dot(alpha, phi)
            da[at + k, j] = da[j, at + k]
        beta = wrench_to_parent(m.frame, i, plus(beta, cross_wrench(row(e.relative, i), alpha)))
        alpha = wrench_to_parent(m.frame, i, alpha)
        i = t.node[i, PARENT]


@compiled
def _column(t, i, k, by_q, by_v, m, e, dq, dv):  # type: ignore[no-untyped-def]
    """The wrenches of column k in the rows of all ancestors of node i."""
    while i > 0:
        if t.node[i, KIND] == POINT:
            slot = first_slot(t, i)
            for j in range(t.node[i, ELASTIC]):
                dq[t.node[i, ELASTIC_V] + j, k] = dot(row(e.phi, slot + j), by_q)
                dv[t.node[i, ELASTIC_V] + j, k] = dot(row(e.phi, slot + j), by_v)
        by_q, by_v = wrench_to_parent(m.frame, i, by_q), wrench_to_parent(m.frame, i, by_v)
        i = t.node[i, PARENT]
        if t.node[i, KIND] != POINT:
            for j in range(t.node[i, JOINT_V], t.node[i, JOINT_V] + t.node[i, DOFS]):
                dq[j, k] = dot(row(t.coordinate, j), by_q)
                dv[j, k] = dot(row(t.coordinate, j), by_v)
