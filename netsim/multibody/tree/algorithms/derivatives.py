"""The derivatives of inverse dynamics with respect to q, v and a: analytic, by composite bodies, without a pass per
coordinate.

What a body carries answers to a change of its twist V and rate A with the wrench K dA + B dV. In the ground's axes,
with dA less dV x V (entries.py), both are sums over the bodies: nothing is transformed on the way inward. A row
(coordinate j) is a covector (alpha on dA, beta on dV) = (K Phi_j, B^T Phi_j) and meets the entries of all its ancestors
k; a column (coordinate k) is a wrench that meets the axes of all its ancestors j:

    dtau_j/dq_k = alpha_j . aq_k + beta_j . vq_k,   dtau_j/dv_k = alpha_j . av_k + beta_j . Phi_k,   M_jk = alpha_j .
    Phi_k         k before j dtau_j/dq_k = Phi_j . (K aq_k + B vq_k + Phi_k x* F),   dtau_j/dv_k = Phi_j . (K av_k + B
    Phi_k)                                 k behind j

The cost is that of the result, 42 multiplications for a pair of coordinates, in loops over runs of bodies that
processors take several at a time. For rigid trees the figures are those of pinocchio.computeRNEADerivatives (J.
Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018); that B has 12 numbers is
Jacobi's identity, as in S. Singh, R. Russell, P. Wensing, Efficient analytical derivatives of rigid-body dynamics using
spatial vector algebra, IEEE RA-L 7, 2022.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.forward import Articulated, make_articulated
from netsim.multibody.tree.algorithms.inverse import no_wrenches, origin_acceleration, rnea_into
from netsim.multibody.tree.algorithms.observers import own_inertia
from netsim.multibody.tree.entries import (
    ABOVE,
    COLUMN,
    FIRST,
    LAST,
    Entries,
    column,
    first_slot,
    joint_entries,
    make_entries,
    own_count,
    place_in_ground,
    point_entries,
    put_column,
    turning_stiffness,
)
from netsim.multibody.tree.flexible import (
    coupling,
    elastic_forces,
    elastic_mass,
    set_coordinates,
    set_modal,
    set_moments,
)
from netsim.multibody.tree.kinematics import Motion, make_motion
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import (
    add,
    add_columns_dot,
    columns_dot,
    cross_wrench,
    dot,
    inertia_to_ground,
    momentum,
    plus,
    put,
    row,
    scaled,
    wrench_to_parent,
)
from netsim.multibody.tree.wrench_derivatives import (
    Slopes,
    elastic_slopes,
    flexible_gyroscopic,
    force_slopes,
    gyroscopic_times,
    make_slopes,
    own_gyroscopic,
    set_products,
    transposed_times,
    wrench_slopes,
)

SHORT = 4
"""Runs with fewer coordinates are taken one at a time."""


class Derivatives(NamedTuple):
    """Room: inertias of bodies, then of all they carry, in the ground's axes (n, 10); per coordinate alpha, beta (nv,
    6) and the wrenches of a column by q and v (6, nv)."""

    motion: Motion
    articulated: Articulated
    entries: Entries
    slopes: Slopes
    inertia: Array
    alpha: Array
    beta: Array
    by_q: Array
    by_v: Array


def rnea_derivatives(
    tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None
) -> tuple[Array, Array, Array]:
    """d tau/dq, d tau/dv and the mass matrix d tau/da, each (nv, nv), of rnea(tree, q, v, a, wrenches).

    The derivative by q is along the coordinates of v (see observers.move), so a quaternion counts three. Wrenches stay
    fixed in their nodes' axes.
    """
    values = [np.asarray(x, float) for x in (q, v, a)]
    return _derivatives(tree.flat, *values, no_wrenches(tree) if wrenches is None else wrenches)


@compiled
def _derivatives(t, q, v, a, wrenches):
    nv = len(v)
    dq, dv, da = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv))
    derivatives_into(t, q, v, a, wrenches, make_derivatives(t), np.zeros(nv), dq, dv, da)
    return dq, dv, da


@compiled
def make_derivatives(t):
    """Room for the derivatives of a tree."""
    n, nv = len(t.node), len(t.coordinate)
    parts = make_motion(t), make_articulated(t), make_entries(t), make_slopes(t)
    room = np.zeros((n, 10)), np.zeros((nv, 6)), np.zeros((nv, 6)), np.zeros((6, nv)), np.zeros((6, nv))
    return Derivatives(parts[0], parts[1], parts[2], parts[3], room[0], room[1], room[2], room[3], room[4])


@inner
def derivatives_into(t, q, v, a, wrenches, d, tau, dq, dv, da):
    """rnea_derivatives with given room; tau becomes that of rnea.

    dq, dv and da come as zeros, or as a call with the same tree has left them: entries of coordinates on different
    branches are not touched.
    """
    rnea_into(t, q, v, a, wrenches, d.motion, tau)
    for i in range(1, len(t.node)):
        _outward(t, i, q, v, a, d, dq, dv)
    for i in range(len(t.node) - 1, 0, -1):
        if t.node[i, model.KIND] == model.POINT:
            _point_inward(t, i, q, d, dq, dv)
        else:
            if t.node[i, model.ELASTIC] > 0:
                _elastic_rows(t, i, d, dq, dv, da)
            _joint_rows(t, i, d, dq, dv, da)
        _add_to_parent(d, i, t.node[i, model.PARENT])
    for i in range(1, len(t.node)):
        if d.entries.run[i, LAST] == 1:
            _columns(t, i, d, dq, dv)
    for k in range(len(v)):
        if t.coordinate[k, model.COULOMB] != 0.0:
            share = np.tanh(v[k] / t.coordinate[k, model.WIDTH])
            dv[k, k] += t.coordinate[k, model.COULOMB] * (1 - share * share) / t.coordinate[k, model.WIDTH]
        dv[k, k] += t.coordinate[k, model.VISCOUS]


@compiled(forceinline=True)
def _outward(t, i, q, v, a, d, dq, dv):
    """Frame, entries, inertia and dF/dV of node i alone."""
    place_in_ground(t, i, d.motion, d.entries)
    if t.node[i, model.KIND] == model.POINT:
        _point_outward(t, i, q, v, a, d)
        return
    joint_entries(t, i, d.entries)
    if t.node[i, model.ELASTIC] == 0:
        inertia_to_ground(d.entries.world, i, t.rest, i, model.INERTIA, d.inertia)
        own_gyroscopic(d.slopes.gyroscopic, i, d.inertia, i, row(d.entries.twist, i))
    else:
        _flexible_outward(t, i, q, v, a, d, dq, dv)


@inner
def _point_outward(t, i, q, v, a, d):
    """Entries of a point. It comes after its body but not always right after: its products are set anew."""
    f, m, x = t.node[i, model.FLEXIBLE], d.motion, d.slopes
    set_modal(t.beams, f, q, v, a, t.node[i, model.ELASTIC_Q], t.node[i, model.ELASTIC_V], m.modal)
    set_products(t.beams, f, m.modal, x.z)
    point_entries(t, i, q, v, a, m, x.z, d.entries)
    d.inertia[i] = 0.0
    x.gyroscopic[i] = 0.0


@inner
def _flexible_outward(t, i, q, v, a, d, dq, dv):
    """Inertia and dF/dV of the flexible body i alone, and its elastic rows, columns and blocks."""
    m, w, e, x = d.motion, d.articulated, d.entries, d.slopes
    twist, rate = row(m.twist, i), row(m.rate, i)
    f, at, s = t.node[i, model.FLEXIBLE], t.node[i, model.ELASTIC_V], m.modal
    own_inertia(t, i, q, v, m)
    set_modal(t.beams, f, q, v, a, t.node[i, model.ELASTIC_Q], at, s)
    set_moments(t.beams, f, s)
    set_products(t.beams, f, s, x.z)
    inertia_to_ground(e.world, i, m.deformed, 0, 0, d.inertia)
    own_gyroscopic(x.gyroscopic, i, d.inertia, i, row(e.twist, i))
    flexible_gyroscopic(t.beams, f, s, e.world, i, x.gyroscopic)
    coupling(t.beams, f, s, w.coupling[at:])
    elastic_mass(t.beams, f, s, w.block[at:])
    origin = origin_acceleration(twist, rate)
    spin, gain = (twist[3], twist[4], twist[5]), (rate[3], rate[4], rate[5])
    elastic_forces(t.beams, f, origin, spin, gain, s, w.offset, at)  # for its forces on the products, left in s
    force_slopes(t.beams, f, twist, origin, spin, gain, s, x.wrench[0], x.force)
    size = t.beams.size[f, 0] + t.beams.size[f, 1]
    for k in range(t.node[i, model.ELASTIC]):
        own = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for r in range(size):
            own = plus(own, scaled(row(x.wrench[0], r), x.z[0, r, k]))
        alpha = row(w.coupling, at + k)
        put(d.alpha, at + k, wrench_to_parent(e.world, i, alpha))
        put(d.beta, at + k, wrench_to_parent(e.world, i, plus(own, cross_wrench(twist, alpha))))
    for k in range(at, at + t.node[i, model.ELASTIC]):
        for j in range(at, at + t.node[i, model.ELASTIC]):
            dq[k, j], dv[k, j] = 0.0, 0.0
    elastic_slopes(t.beams, f, s, x, dq, dv, at)
    wrench_slopes(t.beams, f, origin, spin, gain, s, x.wrench)
    for k in range(t.node[i, model.ELASTIC]):
        by_q, by_v = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for r in range(size):
            still, once, twice = row(x.wrench[0], r), row(x.wrench[1], r), row(x.wrench[2], r)
            by_q = plus(
                by_q, plus(scaled(still, x.z[0, r, k]), plus(scaled(once, x.z[1, r, k]), scaled(twice, x.z[2, r, k])))
            )
            by_v = plus(by_v, plus(scaled(once, x.z[0, r, k]), scaled(twice, 2 * x.z[1, r, k])))
        put_column(d.by_q, at + k, wrench_to_parent(e.world, i, by_q))
        put_column(d.by_v, at + k, wrench_to_parent(e.world, i, by_v))


@compiled(forceinline=True)
def _add_to_parent(d, i, p):
    """Inertia and slope of node i are carried by its parent (the ground's are not read)."""
    for c in range(10):
        d.inertia[p, c] += d.inertia[i, c]
    for c in range(12):
        d.slopes.gyroscopic[p, c] += d.slopes.gyroscopic[i, c]


@compiled(forceinline=True)
def _answer(d, i, slot):
    """K aq + B vq and K av + B Phi of an entry at node i, and Phi itself."""
    e, g = d.entries, d.slopes.gyroscopic
    phi = column(e.phi, slot)
    by_q = plus(momentum(d.inertia, i, 0, column(e.aq, slot)), gyroscopic_times(g, i, column(e.vq, slot)))
    by_v = plus(momentum(d.inertia, i, 0, column(e.av, slot)), gyroscopic_times(g, i, phi))
    return by_q, by_v, phi


@inner
def _point_inward(t, i, q, d, dq, dv):
    """What hangs on point i enters the elastic block, rows and columns of its body."""
    m, w, e = d.motion, d.articulated, d.entries
    at, count, slot = t.node[i, model.ELASTIC_V], t.node[i, model.ELASTIC], first_slot(t, i)
    set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
    turning_stiffness(t, i, q, m, row(m.wrench, i), dq)
    wrench = wrench_to_parent(e.world, i, row(m.wrench, i))
    for k in range(count):
        by_q, by_v, phi = _answer(d, i, slot + k)
        alpha = momentum(d.inertia, i, 0, phi)
        for j in range(count):
            other = column(e.phi, slot + j)
            dq[at + j, at + k] += dot(other, by_q)
            dv[at + j, at + k] += dot(other, by_v)
            w.block[at + j, k] += dot(other, alpha)
        add(d.alpha, at + k, alpha)
        add(d.beta, at + k, transposed_times(d.slopes.gyroscopic, i, phi))
        put_column(d.by_q, at + k, plus(column(d.by_q, at + k), plus(by_q, cross_wrench(phi, wrench))))
        put_column(d.by_v, at + k, plus(column(d.by_v, at + k), by_v))


@inner
def _elastic_rows(t, i, d, dq, dv, da):
    """The rows of the elastic coordinates of body i."""
    own = t.node[i, model.ELASTIC_V]
    for k in range(own, own + t.node[i, model.ELASTIC]):
        for j in range(t.node[i, model.ELASTIC]):
            da[k, own + j] = d.articulated.block[k, j]
        _row(t, i, k, row(d.alpha, k), row(d.beta, k), d.entries, dq, dv, da)


@compiled(forceinline=True)
def _joint_rows(t, i, d, dq, dv, da):
    """The rows of the joint of node i, and the wrenches of its columns."""
    e, at, count = d.entries, t.node[i, model.JOINT_V], t.node[i, model.DOFS]
    wrench = wrench_to_parent(e.world, i, row(d.motion.wrench, i))
    for k in range(at, at + count):
        by_q, by_v, phi = _answer(d, i, k)
        put_column(d.by_q, k, plus(by_q, cross_wrench(phi, wrench)))
        put_column(d.by_v, k, by_v)
        _row(t, i, k, momentum(d.inertia, i, 0, phi), transposed_times(d.slopes.gyroscopic, i, phi), e, dq, dv, da)


@compiled(forceinline=True)
def _row(t, i, j, alpha, beta, e, dq, dv, da):
    """Row j meets the entries of node i and of all its ancestors, run by run."""
    while i > 0:
        slot, at = e.run[i, FIRST], e.run[i, COLUMN]
        count = first_slot(t, i) + own_count(t, i) - slot
        if count < SHORT:
            for k in range(count):
                phi = column(e.phi, slot + k)
                dq[j, at + k] = dot(alpha, column(e.aq, slot + k)) + dot(beta, column(e.vq, slot + k))
                dv[j, at + k] = dot(alpha, column(e.av, slot + k)) + dot(beta, phi)
                da[j, at + k] = dot(alpha, phi)
        else:
            by_q, by_v, by_a = dq[j, at : at + count], dv[j, at : at + count], da[j, at : at + count]
            columns_dot(alpha, e.aq, slot, by_q)
            add_columns_dot(beta, e.vq, slot, by_q)
            columns_dot(alpha, e.av, slot, by_v)
            add_columns_dot(beta, e.phi, slot, by_v)
            columns_dot(alpha, e.phi, slot, by_a)
        for k in range(at, at + count):
            da[k, j] = da[j, k]
        i = e.run[i, ABOVE]


@compiled(forceinline=True)
def _columns(t, i, d, dq, dv):
    """The columns of the run that ends in node i, in its own rows and in those of its ancestors; and of the elastic
    coordinates of i."""
    e, start, above = d.entries, d.entries.run[i, COLUMN], d.entries.run[i, ABOVE]
    end = start
    if t.node[i, model.KIND] != model.POINT:
        end = t.node[i, model.ELASTIC_V] + t.node[i, model.ELASTIC]
        node = i
        while node != above:
            behind = t.node[node, model.JOINT_V] + t.node[node, model.DOFS]
            for j in range(t.node[node, model.JOINT_V], behind):
                _meet(column(e.phi, j), d, j, behind, end, dq, dv)
            node = t.node[node, model.PARENT]
    node = above
    while node > 0 and end > start:
        slot, at, count = first_slot(t, node), e.run[node, COLUMN], own_count(t, node)
        if t.node[node, model.KIND] != model.POINT:
            slot, at = e.run[node, FIRST], e.run[node, COLUMN]
            count = t.node[node, model.JOINT_V] + t.node[node, model.DOFS] - at
        for j in range(count):
            _meet(column(e.phi, slot + j), d, at + j, start, end, dq, dv)
        node = e.run[node, ABOVE]


@compiled(forceinline=True)
def _meet(phi, d, j, start, end, dq, dv):
    """Row j of the columns from start to end: phi . by_q and phi . by_v."""
    if end - start < SHORT:
        for k in range(start, end):
            dq[j, k] = dot(phi, column(d.by_q, k))
            dv[j, k] = dot(phi, column(d.by_v, k))
    else:
        columns_dot(phi, d.by_q, start, dq[j, start:end])
        columns_dot(phi, d.by_v, start, dv[j, start:end])
