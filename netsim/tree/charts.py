"""Steps of the positions, compiled: q moved by a step in the coordinates of the velocities, by the Cayley map of rotations and of frames.

    rotation: R <- R cay(psi);    frame: (1 - X/2)^-1 (1 + X/2) of the twist's 4 x 4 matrix X, p <- p + R Y d,  Y = (1 - [psi]x/2)^-1

Both agree with the exponential to second order, so the coordinates' second derivative at the start of a step is the rate of the twist.
Source: O. Bauchau, L. Trainelli, The vectorial parameterization of rotation, Nonlinear Dynamics 32, 2003.
"""

from __future__ import annotations

import numpy as np

from netsim.kernels.call import compiled
from netsim.tree.model import DOFS, ELASTIC, ELASTIC_Q, ELASTIC_V, FREE, JOINT_Q, JOINT_V, KIND, POINT, SPHERICAL


@compiled
def move_into(t, step, q):  # type: ignore[no-untyped-def]
    """q moved in place."""
    for i in range(1, len(t.node)):
        kind, at, k = t.node[i, KIND], t.node[i, JOINT_Q], t.node[i, JOINT_V]
        if kind == POINT:
            continue
        if kind == SPHERICAL:
            _turn_quaternion(step[k], step[k + 1], step[k + 2], q, at)
        elif kind == FREE:
            _shift_origin(step, k, q, at)
            _turn_quaternion(step[k + 3], step[k + 4], step[k + 5], q, at + 3)
        elif t.node[i, DOFS] == 1:
            q[at] += step[k]
        for e in range(t.node[i, ELASTIC]):
            q[t.node[i, ELASTIC_Q] + e] += step[t.node[i, ELASTIC_V] + e]


@compiled
def _turn_quaternion(a, b, c, q, at):  # type: ignore[no-untyped-def]
    """q <- q (psi/2, 1), normalised; quaternions (x, y, z, w), psi = (a, b, c) in body axes."""
    a, b, c = a / 2, b / 2, c / 2
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    x, y, z, w = x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c
    size = np.sqrt(x * x + y * y + z * z + w * w)
    q[at], q[at + 1], q[at + 2], q[at + 3] = x / size, y / size, z / size, w / size


@compiled
def _shift_origin(step, k, q, at):  # type: ignore[no-untyped-def]
    """p <- p + R Y d with Y d = (d + psi x d/2 + (psi . d) psi/4)/(1 + |psi|^2/4)."""
    d0, d1, d2 = step[k], step[k + 1], step[k + 2]
    a, b, c = step[k + 3], step[k + 4], step[k + 5]
    scale, along = 1.0 / (1.0 + (a * a + b * b + c * c) / 4), (a * d0 + b * d1 + c * d2) / 4
    u0 = scale * (d0 + (b * d2 - c * d1) / 2 + along * a)
    u1 = scale * (d1 + (c * d0 - a * d2) / 2 + along * b)
    u2 = scale * (d2 + (a * d1 - b * d0) / 2 + along * c)
    x, y, z, w = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
    # R u = u + 2 w (r x u) + 2 r x (r x u)
    s0, s1, s2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0
    q[at] += u0 + 2 * (w * s0 + y * s2 - z * s1)
    q[at + 1] += u1 + 2 * (w * s1 + z * s0 - x * s2)
    q[at + 2] += u2 + 2 * (w * s2 + x * s1 - y * s0)
