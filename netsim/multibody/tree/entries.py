"""How the motion of a node answers to the coordinates just before it, compiled: the columns the derivatives of the
recursions start from.

With W the twist of node i relative to its parent, V and A its twist and rate, V' = V - W and A' = A - W' - V x W what
the parent brings, and Phi_k the twist per unit rate of coordinate k (a joint's axis; a point's shape):

    dV/dv = Phi                     dA/da = Phi
    dV/dq = V' x Phi + dW/dq        dA/dv = dW'/dv + Phi x W + V x Phi
                                    dA/dq = A' x Phi + dW'/dq + (dV/dq) x W + V x dW/dq

in a joint's own frame dW/dq = dW'/dq = dW'/dv = 0. All that a node carries has the same change of V, and of A - dV x V:
with the latter, here written aq and av, and in the axes of the ground about its origin, nothing has to be transformed
on the way from one body to the next. Of a joint

    dV/dq = V' x Phi,     aq = A' x Phi + V' x (V' x Phi),     av = (V + V') x Phi        with V', A' of its parent.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.kinematics import point_columns, point_motion
from netsim.multibody.tree.model import Array
from netsim.multibody.tree.spatial import (
    cross3,
    cross_twist,
    dot3,
    join,
    minus,
    minus3,
    plus,
    plus3,
    put,
    row,
    scaled3,
    to_ground,
    turned_back,
    twist_to_parent,
)

FIRST, COLUMN, ABOVE, LAST = range(4)


class Entries(NamedTuple):
    """Columns (6, slots) of Phi, dV/dq, aq, av in the ground's axes: the joints' coordinates k at k, those of point
    number p at nv + p N + k.

    world, twist, rate (n, 12 and 6): the nodes' frames, twists and rates, likewise. run (n, 4): a *run* is a row of
    rigid bodies, each on the one before, whose coordinates follow one another; FIRST slot and COLUMN of the run of a
    node, the node ABOVE it, and whether the node is its LAST.
    """

    phi: Array
    vq: Array
    aq: Array
    av: Array
    world: Array
    twist: Array
    rate: Array
    run: Array


@compiled
def make_entries(t):
    """Room for the entries of a tree, with its runs and the ground at rest."""
    n, slots = len(t.node), len(t.coordinate) + t.beams.points.shape[0] * t.beams.spin.shape[1]
    run = np.zeros((n, 4), np.int64)
    for i in range(1, n):
        p = t.node[i, model.PARENT]
        run[i, FIRST], run[i, COLUMN], run[i, ABOVE], run[i, LAST] = first_slot(t, i), first_column(t, i), p, 1
        alike = (
            p > 0
            and t.node[i, model.KIND] != model.POINT
            and t.node[p, model.KIND] != model.POINT
            and t.node[p, model.ELASTIC] == 0
        )
        if alike and t.node[p, model.JOINT_V] + t.node[p, model.DOFS] == t.node[i, model.JOINT_V]:
            run[i, :3] = run[p, :3]
            if t.node[i, model.DOFS] > 0:
                run[p, LAST] = 0
    e = Entries(
        np.zeros((6, slots)),
        np.zeros((6, slots)),
        np.zeros((6, slots)),
        np.zeros((6, slots)),
        np.zeros((n, 12)),
        np.zeros((n, 6)),
        np.zeros((n, 6)),
        run,
    )
    for k in range(3):
        e.world[0, 4 * k] = 1.0
        e.rate[0, k] = -t.gravity[k]
    return e


@compiled(forceinline=True)
def first_slot(t, i):
    """Where the entries of node i begin."""
    if t.node[i, model.KIND] == model.POINT:
        return len(t.coordinate) + t.node[i, model.AT_POINT] * t.beams.spin.shape[1]
    return t.node[i, model.JOINT_V]


@compiled(forceinline=True)
def first_column(t, i):
    """The first of the coordinates just before node i."""
    return t.node[i, model.ELASTIC_V] if t.node[i, model.KIND] == model.POINT else t.node[i, model.JOINT_V]


@compiled(forceinline=True)
def own_count(t, i):
    """How many coordinates are just before node i."""
    return t.node[i, model.ELASTIC] if t.node[i, model.KIND] == model.POINT else t.node[i, model.DOFS]


@compiled(forceinline=True)
def place_in_ground(t, i, m, e):
    """Frame, twist and rate of node i in the ground's axes."""
    to_ground(e.world, t.node[i, model.PARENT], m.frame, i)
    put(e.twist, i, twist_to_parent(e.world, i, row(m.twist, i)))
    put(e.rate, i, twist_to_parent(e.world, i, row(m.rate, i)))


@compiled(forceinline=True)
def put_column(a, k, x):
    """a[:, k] = x"""
    a[0, k], a[1, k], a[2, k], a[3, k], a[4, k], a[5, k] = x


@compiled(forceinline=True)
def column(a, k):
    """a[:, k] as a tuple."""
    return (a[0, k], a[1, k], a[2, k], a[3, k], a[4, k], a[5, k])


@compiled(forceinline=True)
def joint_entries(t, i, e):
    """The entries of the joint of node i; it and its parent must be placed."""
    p = t.node[i, model.PARENT]
    brought, rate = row(e.twist, p), row(e.rate, p)
    both = plus(row(e.twist, i), brought)
    for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
        phi = twist_to_parent(e.world, i, row(t.coordinate, k))
        vq = cross_twist(brought, phi)
        put_column(e.phi, k, phi)
        put_column(e.vq, k, vq)
        put_column(e.aq, k, plus(cross_twist(rate, phi), cross_twist(brought, vq)))
        put_column(e.av, k, cross_twist(both, phi))


@inner
def point_entries(t, i, q, v, a, m, z, e):
    """The entries of point i; z (3, Z, N) = dz/dq and its first two rates at the body's coordinates, twists and rates
    must be there."""
    w, dw = point_motion(t, i, q, v, a, m)
    twist = row(m.twist, i)
    brought = minus(twist, w)
    rate = minus(minus(row(m.rate, i), dw), cross_twist(twist, w))
    point_columns(t, i, q, m)
    spin = (w[3], w[4], w[5])
    speed = (w[0], w[1], w[2])
    surge = plus3((dw[0], dw[1], dw[2]), cross3(spin, speed))  # R^T of the second derivative of the place
    theta, dtheta, ddtheta = section_angles(t, i, q, v, a)
    shape = t.beams.points[t.node[i, model.AT_POINT]]
    curl = shape[len(shape) - 1, 3]
    scale = 1.0 / (1.0 + curl * dot3(theta, theta) / 4)
    slope = curl * dot3(theta, dtheta) / 2
    size = t.beams.size[t.node[i, model.FLEXIBLE], 0] + t.beams.size[t.node[i, model.FLEXIBLE], 1]
    for k in range(t.node[i, model.ELASTIC]):
        phi = row(m.columns, k)
        turn = (phi[3], phi[4], phi[5])
        once = _in_section(m.frame, i, shape, z[1], size, k)
        twice = _in_section(m.frame, i, shape, z[2], size, k)
        d = (shape[k, 3], shape[k, 4], shape[k, 5])
        along = curl * scale * dot3(theta, d) / 2
        spin_q = minus3(scaled3(cross3(d, dtheta), -scale / 2), scaled3(spin, along))
        change = plus3(
            plus3(scaled3(cross3(d, ddtheta), 0.5), scaled3(spin, curl * dot3(d, dtheta) / 2)), scaled3(spin_q, slope)
        )
        gain_q = minus3(scaled3(change, -scale), scaled3((dw[3], dw[4], dw[5]), along))
        gain_v = minus3(scaled3(spin, -along), scaled3(turn, scale * slope))
        speed_q = minus3(once, cross3(turn, speed))
        surge_q = minus3(twice, cross3(turn, surge))
        wq = join(speed_q, spin_q)
        dwq = join(minus3(surge_q, plus3(cross3(spin_q, speed), cross3(spin, speed_q))), gain_q)
        dwv = join(
            minus3(scaled3(once, 2.0), plus3(cross3(turn, speed), cross3(spin, (phi[0], phi[1], phi[2])))), gain_v
        )
        vq = plus(cross_twist(brought, phi), wq)
        s = first_slot(t, i) + k
        aq = plus(plus(cross_twist(rate, phi), dwq), plus(cross_twist(vq, w), cross_twist(twist, plus(wq, vq))))
        av = plus(dwv, plus(cross_twist(phi, w), cross_twist(twist, plus(phi, phi))))
        put_column(e.phi, s, twist_to_parent(e.world, i, phi))
        put_column(e.vq, s, twist_to_parent(e.world, i, vq))
        put_column(e.aq, s, twist_to_parent(e.world, i, aq))
        put_column(e.av, s, twist_to_parent(e.world, i, av))


@inner
def _in_section(frame, i, shape, z, size, k):
    """R^T sum_m psi_m z[m, k]"""
    x, y, h = 0.0, 0.0, 0.0
    for r in range(size):
        x, y, h = x + shape[r, 0] * z[r, k], y + shape[r, 1] * z[r, k], h + shape[r, 2] * z[r, k]
    return turned_back(frame, i, x, y, h)


@inner
def section_angles(t, i, q, v, a):
    """theta, theta', theta'' of the section of point i, before they become a rotation."""
    shape = t.beams.points[t.node[i, model.AT_POINT]]
    theta, dtheta, ddtheta = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(t.node[i, model.ELASTIC]):
        d = (shape[k, 3], shape[k, 4], shape[k, 5])
        theta = plus3(theta, scaled3(d, q[t.node[i, model.ELASTIC_Q] + k]))
        dtheta = plus3(dtheta, scaled3(d, v[t.node[i, model.ELASTIC_V] + k]))
        ddtheta = plus3(ddtheta, scaled3(d, a[t.node[i, model.ELASTIC_V] + k]))
    return theta, dtheta, ddtheta


@inner
def turning_stiffness(t, i, q, m, wrench, dq):
    """dq[j, k] += (d Phi_j / d q_k) . wrench over the elastic coordinates of point i: its columns turn with the
    section."""
    point_columns(t, i, q, m)
    theta, _, _ = section_angles(t, i, q, q, q)
    shape = t.beams.points[t.node[i, model.AT_POINT]]
    curl = shape[len(shape) - 1, 3]
    scale = 1.0 / (1.0 + curl * dot3(theta, theta) / 4)
    force, couple = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
    at, f = t.node[i, model.ELASTIC_V], t.node[i, model.FLEXIBLE]
    count = t.node[i, model.ELASTIC]
    for j in range(count):
        phi, d = row(m.columns, j), (shape[j, 3], shape[j, 4], shape[j, 5])
        for k in range(count):
            turn, by = row(m.columns, k), (shape[k, 3], shape[k, 4], shape[k, 5])
            moved = cross3((turn[3], turn[4], turn[5]), (phi[0], phi[1], phi[2]))
            turned = plus3(scaled3((phi[3], phi[4], phi[5]), curl * dot3(theta, by)), cross3(by, d))
            dq[at + j, at + k] -= dot3(moved, force) + scale / 2 * dot3(turned, couple)
    for r in range(t.beams.size[f, 1]):
        j, k = t.beams.pairs[f, r, 0], t.beams.pairs[f, r, 1]
        psi = turned_back(m.frame, i, shape[count + r, 0], shape[count + r, 1], shape[count + r, 2])
        dq[at + j, at + k] += dot3(psi, force)
        dq[at + k, at + j] += dot3(psi, force)
