"""How the motion of a node answers to the coordinates just before it, compiled: the columns the derivatives of the recursions start from.

With W the twist of node i relative to its parent, V and A its twist and rate, V' = V - W and A' = A - W' - V x W what the parent brings, and
Phi_k the twist per unit rate of coordinate k (a joint's axis; a point's shape):

    dV/dv = Phi                     dA/da = Phi
    dV/dq = V' x Phi + dW/dq        dA/dv = dW'/dv + Phi x W + V x Phi
                                    dA/dq = A' x Phi + dW'/dq + (dV/dq) x W + V x dW/dq

in a joint's own frame dW/dq = dW'/dq = dW'/dv = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netsim.kernels.call import compiled
from netsim.tree.kinematics import joint_motion, point_columns, point_motion
from netsim.tree.model import AT_POINT, DOFS, ELASTIC, ELASTIC_Q, ELASTIC_V, FLEXIBLE, JOINT_V, KIND, POINT, Array
from netsim.tree.spatial import cross3, cross_twist, dot3, join, minus, minus3, plus, plus3, put, row, scaled3, turned_back


class Entries(NamedTuple):
    """Rows of Phi, dV/dq, dA/dq, dA/dv: the joints' coordinates k at k, those of point number p at nv + p N + k; relative: W of each node."""

    phi: Array
    vq: Array
    aq: Array
    av: Array
    relative: Array


@compiled
def make_entries(t):  # type: ignore[no-untyped-def]
    """Room for the entries of a tree."""
    slots = len(t.coordinate) + t.beams.points.shape[0] * t.beams.spin.shape[1]
    return Entries(np.zeros((slots, 6)), np.zeros((slots, 6)), np.zeros((slots, 6)), np.zeros((slots, 6)), np.zeros((len(t.node), 6)))


@compiled
def first_slot(t, i):  # type: ignore[no-untyped-def]
    """Where the rows of node i begin."""
    if t.node[i, KIND] == POINT:
        return len(t.coordinate) + t.node[i, AT_POINT] * t.beams.spin.shape[1]
    return t.node[i, JOINT_V]


@compiled
def joint_entries(t, i, v, a, m, e):  # type: ignore[no-untyped-def]
    """The rows of the joint of node i; twists and rates must be there."""
    w, twist = joint_motion(t, i, v), row(m.twist, i)
    put(e.relative, i, w)
    brought = minus(twist, w)
    rate = minus(minus(row(m.rate, i), joint_motion(t, i, a)), cross_twist(twist, w))
    for k in range(t.node[i, JOINT_V], t.node[i, JOINT_V] + t.node[i, DOFS]):
        phi = row(t.coordinate, k)
        vq = cross_twist(brought, phi)
        put(e.phi, k, phi)
        put(e.vq, k, vq)
        put(e.aq, k, plus(cross_twist(rate, phi), cross_twist(vq, w)))
        put(e.av, k, plus(cross_twist(phi, w), cross_twist(twist, phi)))


@compiled
def point_entries(t, i, q, v, a, m, z, e):  # type: ignore[no-untyped-def]
    """The rows of point i; z (3, Z, N) = dz/dq and its first two rates at the body's coordinates, twists and rates must be there."""
    w, dw = point_motion(t, i, q, v, a, m)
    twist = row(m.twist, i)
    put(e.relative, i, w)
    brought = minus(twist, w)
    rate = minus(minus(row(m.rate, i), dw), cross_twist(twist, w))
    point_columns(t, i, q, m)
    spin = (w[3], w[4], w[5])
    speed = (w[0], w[1], w[2])
    surge = plus3((dw[0], dw[1], dw[2]), cross3(spin, speed))  # R^T of the second derivative of the place
    theta, dtheta, ddtheta = section_angles(t, i, q, v, a)
    scale = 1.0 / (1.0 + dot3(theta, theta) / 4)
    slope = dot3(theta, dtheta) / 2
    shape = t.beams.points[t.node[i, AT_POINT]]
    size = t.beams.size[t.node[i, FLEXIBLE], 0] + t.beams.size[t.node[i, FLEXIBLE], 1]
    for k in range(t.node[i, ELASTIC]):
        phi = row(m.columns, k)
        turn = (phi[3], phi[4], phi[5])
        once = _in_section(m.frame, i, shape, z[1], size, k)
        twice = _in_section(m.frame, i, shape, z[2], size, k)
        d = (shape[k, 3], shape[k, 4], shape[k, 5])
        along = scale * dot3(theta, d) / 2
        spin_q = minus3(scaled3(cross3(d, dtheta), -scale / 2), scaled3(spin, along))
        change = plus3(plus3(scaled3(cross3(d, ddtheta), 0.5), scaled3(spin, dot3(d, dtheta) / 2)), scaled3(spin_q, slope))
        gain_q = minus3(scaled3(change, -scale), scaled3((dw[3], dw[4], dw[5]), along))
        gain_v = minus3(scaled3(spin, -along), scaled3(turn, scale * slope))
        speed_q = minus3(once, cross3(turn, speed))
        surge_q = minus3(twice, cross3(turn, surge))
        wq = join(speed_q, spin_q)
        dwq = join(minus3(surge_q, plus3(cross3(spin_q, speed), cross3(spin, speed_q))), gain_q)
        dwv = join(minus3(scaled3(once, 2.0), plus3(cross3(turn, speed), cross3(spin, (phi[0], phi[1], phi[2])))), gain_v)
        vq = plus(cross_twist(brought, phi), wq)
        s = first_slot(t, i) + k
        put(e.phi, s, phi)
        put(e.vq, s, vq)
        put(e.aq, s, plus(plus(cross_twist(rate, phi), dwq), plus(cross_twist(vq, w), cross_twist(twist, wq))))
        put(e.av, s, plus(dwv, plus(cross_twist(phi, w), cross_twist(twist, phi))))


@compiled
def _in_section(frame, i, shape, z, size, k):  # type: ignore[no-untyped-def]
    """R^T sum_m psi_m z[m, k]"""
    x, y, h = 0.0, 0.0, 0.0
    for r in range(size):
        x, y, h = x + shape[r, 0] * z[r, k], y + shape[r, 1] * z[r, k], h + shape[r, 2] * z[r, k]
    return turned_back(frame, i, x, y, h)


@compiled
def section_angles(t, i, q, v, a):  # type: ignore[no-untyped-def]
    """theta, theta', theta'' of the section of point i, before the Cayley map."""
    shape = t.beams.points[t.node[i, AT_POINT]]
    theta, dtheta, ddtheta = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(t.node[i, ELASTIC]):
        d = (shape[k, 3], shape[k, 4], shape[k, 5])
        theta = plus3(theta, scaled3(d, q[t.node[i, ELASTIC_Q] + k]))
        dtheta = plus3(dtheta, scaled3(d, v[t.node[i, ELASTIC_V] + k]))
        ddtheta = plus3(ddtheta, scaled3(d, a[t.node[i, ELASTIC_V] + k]))
    return theta, dtheta, ddtheta


@compiled
def turning_stiffness(t, i, q, m, wrench, dq):  # type: ignore[no-untyped-def]
    """dq[j, k] += (d Phi_j / d q_k) . wrench over the elastic coordinates of point i: its columns turn with the section."""
    point_columns(t, i, q, m)
    theta, _, _ = section_angles(t, i, q, q, q)
    scale = 1.0 / (1.0 + dot3(theta, theta) / 4)
    shape = t.beams.points[t.node[i, AT_POINT]]
    force, couple = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
    at, f = t.node[i, ELASTIC_V], t.node[i, FLEXIBLE]
    count = t.node[i, ELASTIC]
    for j in range(count):
        phi, d = row(m.columns, j), (shape[j, 3], shape[j, 4], shape[j, 5])
        for k in range(count):
            turn, by = row(m.columns, k), (shape[k, 3], shape[k, 4], shape[k, 5])
            moved = cross3((turn[3], turn[4], turn[5]), (phi[0], phi[1], phi[2]))
            turned = plus3(scaled3((phi[3], phi[4], phi[5]), dot3(theta, by)), cross3(by, d))
            dq[at + j, at + k] -= dot3(moved, force) + scale / 2 * dot3(turned, couple)
    for r in range(t.beams.size[f, 1]):
        j, k = t.beams.pairs[f, r, 0], t.beams.pairs[f, r, 1]
        psi = turned_back(m.frame, i, shape[count + r, 0], shape[count + r, 1], shape[count + r, 2])
        dq[at + j, at + k] += dot3(psi, force)
        dq[at + k, at + j] += dot3(psi, force)
