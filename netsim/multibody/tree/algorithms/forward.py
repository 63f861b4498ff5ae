"""Forward and mixed dynamics in three recursions, without a global mass matrix (G17 eqs 16-24; G22 eqs 2-5).

Outward: frames, twists, and what depends on velocities. Inward: the articulated inertia K and bias p of each body with
all it carries, where the wrench a body needs from its parent is F = K V' + p; coordinates with a known force are
eliminated from it one block at a time (first the elastic ones of a body, then its joint), those with a known
acceleration enter p. Outward again: accelerations, and the unknown forces.

A block of coordinates x with rows u (6 each) and matrix D obeys D x'' + u V' + c = tau. Where all forces are known

    x'' = y - G V',  y = D^-1 (tau - c),  G = D^-1 u,      K <- K - u^T G,  p <- p + u^T y

which is K_j and m_j of G22 for the elastic block (u = J_er, D = J_ee) and Z_j, U_j, p~_j for a joint (u = a^T K, D =
1/Z_j).
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inlined, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.articulated import add_to_parent, inertia_times, set_rigid, subtract_outer
from netsim.multibody.tree.algorithms.inverse import flexible_wrench, friction, no_wrenches
from netsim.multibody.tree.flexible import coupling, elastic_mass, set_coordinates
from netsim.multibody.tree.kinematics import joint_motion, make_motion, place, point_columns, point_motion
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import (
    add,
    cross_twist,
    cross_wrench,
    dot,
    minus,
    momentum,
    plus,
    put,
    row,
    scaled,
    twist_to_child,
    wrench_to_parent,
)


class Articulated(NamedTuple):
    """K (n, 21), bias p and velocity-dependent rate h (n, 6); per coordinate: u and G (nv, 6), c and y (nv,), D's rows
    (nv, largest block), what else is added to the diagonal of a joint's D (see newmark), room for a factor and a
    solution, and zeros."""

    inertia: Array
    bias: Array
    drift: Array
    coupling: Array
    gain: Array
    force: Array
    offset: Array
    block: Array
    factor: Array
    zero: Array
    extra: Array
    solution: Array


def aba(tree: Tree, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
    """The accelerations (nv,) that generalised forces tau (nv,) cause at q and v, friction, gravity and wrenches
    (tree.nodes, 6) acting.

    The arguments are those of pinocchio.aba(model, data, q, v, tau, fext). Raises LinAlgError where a coordinate has no
    inertia to accelerate.
    """
    a, _ = mixed(tree, q, v, tau, np.zeros(tree.nv, np.bool_), wrenches)
    return a


def mixed(
    tree: Tree, q: Array, v: Array, known: Array, motion: Array, wrenches: Array | None = None
) -> tuple[Array, Array]:
    """Accelerations and generalised forces (both nv,) where each coordinate has one of them given: chi of G17 (24).

    known[k] is the acceleration of coordinate k where motion[k] is true (chi = 1), and its force otherwise (chi = 0).
    With motion false everywhere it is aba, with motion true everywhere rnea. Raises LinAlgError where a coordinate has
    no inertia to accelerate.
    """
    values = [np.asarray(x, float) for x in (q, v, known)]
    a, tau, solved = _mixed(
        tree.flat, *values, np.asarray(motion, np.bool_), no_wrenches(tree) if wrenches is None else wrenches
    )
    if not solved:
        raise np.linalg.LinAlgError("a coordinate without inertia has a known force: its acceleration is undetermined")
    return a, tau


@compiled
def make_articulated(t):
    """Room for the articulated inertias of a tree."""
    n, nv = len(t.node), len(t.coordinate)
    size = max(6, t.beams.spin.shape[1])
    return Articulated(
        np.zeros((n, 21)),
        np.zeros((n, 6)),
        np.zeros((n, 6)),
        np.zeros((nv, 6)),
        np.zeros((nv, 6)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros((nv, size)),
        np.zeros((size, size)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
    )


@compiled
def _mixed(t, q, v, known, motion, wrenches):
    a, tau = np.empty(len(v)), np.empty(len(v))
    solved = mixed_into(t, q, v, known, motion, wrenches, make_motion(t), make_articulated(t), a, tau)
    return a, tau, solved


@inner
def mixed_into(t, q, v, known, motion, wrenches, m, w, a, tau):
    """mixed with given room (Motion, Articulated) and results; false where a block is singular."""
    for k in range(len(v)):
        tau[k] = 0.0
        w.force[k] = 0.0
    friction(t, v, 1.0, tau)  # kept in tau until the forces are known
    velocities(t, q, v, wrenches, m, w)
    if not condense(t, q, known, motion, tau, m, w):
        return False
    accelerate(t, q, known, motion, m, w, a, tau)
    return True


@inlined
def velocities(t, q, v, wrenches, m, w):
    """First recursion: frames, twists, drift h, and each body's own inertia, bias and elastic blocks."""
    for i in range(1, len(t.node)):
        if t.node[i, model.KIND] == model.POINT:
            relative, drift = point_motion(t, i, q, v, w.zero, m)
        else:
            place(t, i, q, m.frame)
            relative, drift = joint_motion(t, i, v), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        twist = plus(twist_to_child(m.frame, i, row(m.twist, t.node[i, model.PARENT])), relative)
        put(m.twist, i, twist)
        put(w.drift, i, plus(drift, cross_twist(twist, relative)))
        put(m.rate, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        put(w.bias, i, minus(cross_wrench(twist, momentum(t.rest, i, model.INERTIA, twist)), row(wrenches, i)))
        set_rigid(w.inertia, i, t.rest, i, model.INERTIA)
    if len(t.beams.size) > 0:
        for i in range(1, len(t.node)):
            if t.node[i, model.ELASTIC] > 0 and t.node[i, model.KIND] != model.POINT:
                _elastic_blocks(t, i, q, v, wrenches, m, w)


@inlined
def _elastic_blocks(t, i, q, v, wrenches, m, w):
    """Bias, inertia, coupling and elastic mass of a flexible body; flexible_wrench leaves the modal sums they need."""
    flexible_wrench(t, i, q, v, w.zero, m, w.force)
    put(w.bias, i, minus(row(m.wrench, i), row(wrenches, i)))
    set_rigid(w.inertia, i, m.deformed, 0, 0)
    at = t.node[i, model.ELASTIC_V]
    coupling(t.beams, t.node[i, model.FLEXIBLE], m.modal, w.coupling[at:])
    elastic_mass(t.beams, t.node[i, model.FLEXIBLE], m.modal, w.block[at:])


@inlined
def condense(t, q, known, motion, friction_force, m, w):
    """Second recursion, inward."""
    for i in range(len(t.node) - 1, 0, -1):
        if t.node[i, model.KIND] == model.POINT:
            point_inward(t, i, q, m, w)
        else:
            if t.node[i, model.ELASTIC] > 0 and not eliminate(
                t.node[i, model.ELASTIC_V], t.node[i, model.ELASTIC], i, known, motion, friction_force, w
            ):
                return False
            at, count = t.node[i, model.JOINT_V], t.node[i, model.DOFS]
            joint_block(t, i, w)
            if count > 0 and not eliminate(at, count, i, known, motion, friction_force, w):
                return False
        bias = plus(row(w.bias, i), inertia_times(w.inertia, i, row(w.drift, i)))
        add(w.bias, t.node[i, model.PARENT], wrench_to_parent(m.frame, i, bias))
        if t.node[i, model.PARENT] > 0:
            add_to_parent(w.inertia, i, t.node[i, model.PARENT], m.frame)
    return True


@compiled(forceinline=True)
def joint_block(t, i, w):
    """u = S^T K, D = S^T K S and c = S^T p of the joint of node i."""
    at, count = t.node[i, model.JOINT_V], t.node[i, model.DOFS]
    bias = row(w.bias, i)
    for k in range(count):
        twist = row(t.coordinate, at + k)
        u = inertia_times(w.inertia, i, twist)
        put(w.coupling, at + k, u)
        w.force[at + k] = dot(twist, bias)
        for j in range(count):
            w.block[at + k, j] = dot(row(t.coordinate, at + j), u)
        w.block[at + k, k] += w.extra[at + k]


@inlined
def point_inward(t, i, q, m, w):
    """What hangs on a point of a flexible body enters the body's elastic blocks: Phi^T K X, Phi^T K Phi and Phi^T (K h
    + p)."""
    set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
    point_columns(t, i, q, m)
    at = t.node[i, model.ELASTIC_V]
    bias = plus(row(w.bias, i), inertia_times(w.inertia, i, row(w.drift, i)))
    for k in range(t.node[i, model.ELASTIC]):
        column = row(m.columns, k)
        u = inertia_times(w.inertia, i, column)
        add(w.coupling, at + k, wrench_to_parent(m.frame, i, u))
        w.force[at + k] += dot(column, bias)
        for j in range(t.node[i, model.ELASTIC]):
            w.block[at + k, j] += dot(row(m.columns, j), u)


@compiled(forceinline=True)
def eliminate(at, count, i, known, motion, friction_force, w):
    """Remove the coordinates at, at + 1, .. from K and p of node i; false where their block is singular."""
    if count == 1:
        if motion[at]:
            w.offset[at] = known[at]
            put(w.gain, at, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        else:
            if not w.block[at, 0] > 0.0:
                return False
            z = 1.0 / w.block[at, 0]
            w.offset[at] = z * (known[at] - friction_force[at] - w.force[at])
            for c in range(6):
                w.gain[at, c] = z * w.coupling[at, c]
    elif not _solve_block(at, count, known, motion, friction_force, w):
        return False
    for k in range(at, at + count):
        u, y = row(w.coupling, k), w.offset[k]
        subtract_outer(w.inertia, i, u, row(w.gain, k))
        for c in range(6):
            w.bias[i, c] += u[c] * y
    return True


@inlined
def _solve_block(at, count, known, motion, friction_force, w):
    """y and G by Cholesky of D, where a coordinate with known acceleration counts as a unit row and column."""
    for k in range(at, at + count):
        w.offset[k] = known[k]
        put(w.gain, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        if not motion[k]:
            put(w.gain, k, row(w.coupling, k))
            w.offset[k] -= friction_force[k] + w.force[k]
            for j in range(count):
                if motion[at + j]:
                    w.offset[k] -= w.block[k, j] * known[at + j]
    if not _factorise(at, count, motion, w.block, w.factor):
        return False
    for k in range(count):
        for j in range(k):
            _take(w, at + k, at + j, w.factor[k, j])
        _take(w, at + k, at + k, 1.0 - 1.0 / w.factor[k, k])
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            _take(w, at + k, at + j, w.factor[j, k])
        _take(w, at + k, at + k, 1.0 - 1.0 / w.factor[k, k])
    return True


@inlined
def _factorise(at, count, motion, block, f):
    """Cholesky factor f of the free part of a block, unit rows elsewhere; false where it is not positive definite."""
    for k in range(count):
        for j in range(k + 1):
            entry = 1.0 if k == j else 0.0
            if not (motion[at + k] or motion[at + j]):
                entry = block[at + k, j]
            for e in range(j):
                entry -= f[k, e] * f[j, e]
            if k > j:
                f[k, j] = entry / f[j, j]
            elif entry > 0.0:
                f[k, k] = np.sqrt(entry)
            else:
                return False
    return True


@inlined
def _take(w, k, j, factor):
    """Row k of (y | G) less a multiple of row j."""
    w.offset[k] -= factor * w.offset[j]
    for c in range(6):
        w.gain[k, c] -= factor * w.gain[j, c]


@inlined
def accelerate(t, q, known, motion, m, w, a, tau):
    """Third recursion, outward: accelerations, and the forces that were not known (G22 eqs 4, 5)."""
    for i in range(1, len(t.node)):
        rate = plus(twist_to_child(m.frame, i, row(m.rate, t.node[i, model.PARENT])), row(w.drift, i))
        if t.node[i, model.KIND] == model.POINT:
            set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
            point_columns(t, i, q, m)
            for k in range(t.node[i, model.ELASTIC]):
                rate = plus(rate, scaled(row(m.columns, k), a[t.node[i, model.ELASTIC_V] + k]))
            put(m.rate, i, rate)
            continue
        at, count = t.node[i, model.JOINT_V], t.node[i, model.DOFS]
        _close(at, count, rate, known, motion, w, a, tau)
        for k in range(at, at + count):
            rate = plus(rate, scaled(row(t.coordinate, k), a[k]))
        put(m.rate, i, rate)
        if t.node[i, model.ELASTIC] > 0:
            _close(t.node[i, model.ELASTIC_V], t.node[i, model.ELASTIC], rate, known, motion, w, a, tau)


@compiled(forceinline=True)
def _close(at, count, rate, known, motion, w, a, tau):
    """x'' = y - G V' of a block; the force of a coordinate with known acceleration is D x'' + u V' + c + friction."""
    for k in range(at, at + count):
        a[k] = known[k] if motion[k] else w.offset[k] - dot(row(w.gain, k), rate)
    for k in range(at, at + count):
        if motion[k]:
            tau[k] += dot(row(w.coupling, k), rate) + w.force[k]
            for j in range(count):
                tau[k] += w.block[k, j] * a[at + j]
        else:
            tau[k] = known[k]
