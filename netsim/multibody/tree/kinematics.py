"""The outward recursion, compiled: frames, twists and their rates from the ground to the leaves (G17 eqs 4-8, G22 eq.
3), and steps of q.

A twist's rate is the rate of its components in the body's own frame (the book's spatial acceleration, Pinocchio's
data.a): the origin accelerates by v' + w x v. With W the twist relative to the parent,

    V_i = X V_p + W,      V'_i = X V'_p + W' + V_i x W.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inlined, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.flexible import Modal, make_modal, set_modal
from netsim.multibody.tree.model import Array
from netsim.multibody.tree.spatial import cross_twist, plus, put, row, turned_back, twist_to_child


class Motion(NamedTuple):
    """Per node: frame (n, 12), twist, its rate, wrench (n, 6); and room for one flexible body and for a point's columns
    (N, 6)."""

    frame: Array
    twist: Array
    rate: Array
    wrench: Array
    modal: Modal
    columns: Array
    deformed: Array


@compiled
def make_motion(t):
    """Room for a tree's motion; the ground stands still and accelerates by -gravity."""
    n = len(t.node)
    m = Motion(
        np.zeros((n, 12)),
        np.zeros((n, 6)),
        np.zeros((n, 6)),
        np.zeros((n, 6)),
        make_modal(t.beams),
        np.zeros((t.beams.spin.shape[1], 6)),
        np.zeros((1, 10)),
    )
    for i in range(3):
        m.rate[0, i] = -t.gravity[i]
        m.frame[0, 4 * i] = 1.0
    return m


@compiled(forceinline=True)
def place(t, i, q, frame):
    """frame[i] for the joint of node i (not a point) at positions q."""
    kind, at = t.node[i, model.KIND], t.node[i, model.JOINT_Q]
    if kind == model.REVOLUTE:
        c, s = np.cos(q[at]), np.sin(q[at])
        for k in range(9):
            frame[i, k] = t.rest[i, model.ALONG + k] + c * t.rest[i, model.COSINE + k] + s * t.rest[i, model.SINE + k]
        for k in range(9, 12):
            frame[i, k] = t.rest[i, k]
        return
    for k in range(12):
        frame[i, k] = t.rest[i, k]
    if kind == model.PRISMATIC:
        twist = row(t.coordinate, t.node[i, model.JOINT_V])
        _shift(t.rest, i, q[at] * twist[0], q[at] * twist[1], q[at] * twist[2], frame)
    elif kind == model.SPHERICAL:
        _turn(t.rest, i, q, at, frame)
    elif kind == model.FREE:
        _shift(t.rest, i, q[at], q[at + 1], q[at + 2], frame)
        _turn(t.rest, i, q, at + 3, frame)


@inlined
def _shift(rest, i, x, y, z, frame):
    for k in range(3):
        frame[i, 9 + k] += rest[i, 3 * k] * x + rest[i, 3 * k + 1] * y + rest[i, 3 * k + 2] * z


@inlined
def _turn(rest, i, q, at, frame):
    """Rotation at rest times that of the quaternion (x, y, z, w)."""
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    for k in range(3):
        a, b, c = rest[i, 3 * k], rest[i, 3 * k + 1], rest[i, 3 * k + 2]
        frame[i, 3 * k] = a * (1 - 2 * (y * y + z * z)) + b * 2 * (x * y + w * z) + c * 2 * (x * z - w * y)
        frame[i, 3 * k + 1] = a * 2 * (x * y - w * z) + b * (1 - 2 * (x * x + z * z)) + c * 2 * (y * z + w * x)
        frame[i, 3 * k + 2] = a * 2 * (x * z + w * y) + b * 2 * (y * z - w * x) + c * (1 - 2 * (x * x + y * y))


@compiled(forceinline=True)
def joint_motion(t, i, v):
    """S v of the joint of node i, a twist in its own frame."""
    at, count = t.node[i, model.JOINT_V], t.node[i, model.DOFS]
    if count == 1:
        s = row(t.coordinate, at)
        x = v[at]
        return (s[0] * x, s[1] * x, s[2] * x, s[3] * x, s[4] * x, s[5] * x)
    if count == 3:
        return (0.0, 0.0, 0.0, v[at], v[at + 1], v[at + 2])
    if count == 6:
        return (v[at], v[at + 1], v[at + 2], v[at + 3], v[at + 4], v[at + 5])
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def outward(t, q, v, a, m):
    """Fill frames, twists and rates of all nodes."""
    for i in range(1, len(t.node)):
        p = t.node[i, model.PARENT]
        if t.node[i, model.KIND] == model.POINT:
            relative, further = point_motion(t, i, q, v, a, m)
        else:
            place(t, i, q, m.frame)
            relative, further = joint_motion(t, i, v), joint_motion(t, i, a)
        twist = plus(twist_to_child(m.frame, i, row(m.twist, p)), relative)
        put(m.twist, i, twist)
        put(m.rate, i, plus(plus(twist_to_child(m.frame, i, row(m.rate, p)), further), cross_twist(twist, relative)))


@inlined
def point_motion(t, i, q, v, a, m):
    """Places point i of a flexible body; the twist W of the point relative to the body, and W', in the point's axes.

    The section's rotation is cay(theta): w = (theta' - theta x theta'/2)/(1 + |theta|^2/4) in the turned axes; of a
    beam in one plane (curl = 0) it is theta itself.
    """
    f, at = t.node[i, model.FLEXIBLE], t.node[i, model.AT_POINT]
    s = m.modal
    set_modal(t.beams, f, q, v, a, t.node[i, model.ELASTIC_Q], t.node[i, model.ELASTIC_V], s)
    count = t.beams.size[f, 0]
    shape = t.beams.points[at]
    x, y, z = 0.0, 0.0, 0.0
    dx, dy, dz = 0.0, 0.0, 0.0
    ddx, ddy, ddz = 0.0, 0.0, 0.0
    for k in range(count + t.beams.size[f, 1]):
        a0, a1, a2 = shape[k, 0], shape[k, 1], shape[k, 2]
        x, y, z = x + a0 * s.z[0, k], y + a1 * s.z[0, k], z + a2 * s.z[0, k]
        dx, dy, dz = dx + a0 * s.z[1, k], dy + a1 * s.z[1, k], dz + a2 * s.z[1, k]
        ddx, ddy, ddz = ddx + a0 * s.z[2, k], ddy + a1 * s.z[2, k], ddz + a2 * s.z[2, k]
    h0, h1, h2 = 0.0, 0.0, 0.0
    d0, d1, d2 = 0.0, 0.0, 0.0
    e0, e1, e2 = 0.0, 0.0, 0.0
    for k in range(count):
        a0, a1, a2 = shape[k, 3], shape[k, 4], shape[k, 5]
        h0, h1, h2 = h0 + a0 * s.z[0, k], h1 + a1 * s.z[0, k], h2 + a2 * s.z[0, k]
        d0, d1, d2 = d0 + a0 * s.z[1, k], d1 + a1 * s.z[1, k], d2 + a2 * s.z[1, k]
        e0, e1, e2 = e0 + a0 * s.z[2, k], e1 + a1 * s.z[2, k], e2 + a2 * s.z[2, k]
    rest = t.beams.points.shape[1] - 1  # the undeformed place, and curl
    curl = shape[rest, 3]
    scale = 1.0 / (1.0 + curl * (h0 * h0 + h1 * h1 + h2 * h2) / 4.0)
    w0, w1, w2 = (
        scale * (d0 - (h1 * d2 - h2 * d1) / 2),
        scale * (d1 - (h2 * d0 - h0 * d2) / 2),
        scale * (d2 - (h0 * d1 - h1 * d0) / 2),
    )
    slope = curl * (h0 * d0 + h1 * d1 + h2 * d2) / 2
    g0 = scale * (e0 - (h1 * e2 - h2 * e1) / 2 - slope * w0)
    g1 = scale * (e1 - (h2 * e0 - h0 * e2) / 2 - slope * w1)
    g2 = scale * (e2 - (h0 * e1 - h1 * e0) / 2 - slope * w2)
    if curl == 0.0:
        h2 = 2 * np.tan(h2 / 2)
        scale = 1.0 / (1.0 + h2 * h2 / 4.0)
    _cayley(h0, h1, h2, scale, i, m.frame)
    m.frame[i, 9], m.frame[i, 10], m.frame[i, 11] = shape[rest, 0] + x, shape[rest, 1] + y, shape[rest, 2] + z
    r = m.frame
    u0, u1, u2 = turned_back(r, i, dx, dy, dz)
    b0, b1, b2 = turned_back(r, i, ddx, ddy, ddz)
    relative = (u0, u1, u2, w0, w1, w2)
    return relative, (b0 - w1 * u2 + w2 * u1, b1 - w2 * u0 + w0 * u2, b2 - w0 * u1 + w1 * u0, g0, g1, g2)


@inlined
def _cayley(x, y, z, scale, i, frame):
    half = scale / 2
    frame[i, 0], frame[i, 1], frame[i, 2] = (
        1 - half * (y * y + z * z),
        half * x * y - scale * z,
        half * x * z + scale * y,
    )
    frame[i, 3], frame[i, 4], frame[i, 5] = (
        half * x * y + scale * z,
        1 - half * (x * x + z * z),
        half * y * z - scale * x,
    )
    frame[i, 6], frame[i, 7], frame[i, 8] = (
        half * x * z - scale * y,
        half * y * z + scale * x,
        1 - half * (x * x + y * y),
    )


@inlined
def point_columns(t, i, q, m):
    """m.columns[k] (N, 6): the twist of point i per unit rate of elastic coordinate k; the point must be placed and
    modal.z set."""
    f, at = t.node[i, model.FLEXIBLE], t.node[i, model.AT_POINT]
    count, s = t.beams.size[f, 0], m.modal
    shape = t.beams.points[at]
    h0, h1, h2 = 0.0, 0.0, 0.0
    for k in range(count):
        e = q[t.node[i, model.ELASTIC_Q] + k]
        h0, h1, h2 = h0 + shape[k, 3] * e, h1 + shape[k, 4] * e, h2 + shape[k, 5] * e
        for c in range(3):
            m.columns[k, c] = shape[k, c]
    scale = 1.0 / (1.0 + shape[len(shape) - 1, 3] * (h0 * h0 + h1 * h1 + h2 * h2) / 4.0)
    for r in range(t.beams.size[f, 1]):
        k, j = t.beams.pairs[f, r, 0], t.beams.pairs[f, r, 1]
        for c in range(3):
            m.columns[k, c] += shape[count + r, c] * s.z[0, j]
            m.columns[j, c] += shape[count + r, c] * s.z[0, k]
    for k in range(count):
        d0, d1, d2 = shape[k, 3], shape[k, 4], shape[k, 5]
        m.columns[k, 0], m.columns[k, 1], m.columns[k, 2] = turned_back(
            m.frame, i, m.columns[k, 0], m.columns[k, 1], m.columns[k, 2]
        )
        m.columns[k, 3] = scale * (d0 - (h1 * d2 - h2 * d1) / 2)
        m.columns[k, 4] = scale * (d1 - (h2 * d0 - h0 * d2) / 2)
        m.columns[k, 5] = scale * (d2 - (h0 * d1 - h1 * d0) / 2)
