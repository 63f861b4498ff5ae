"""Steps of the positions, compiled: q moved by a step in the coordinates of the velocities, by the Cayley map of
rotations and of frames.

    rotation: R <- R cay(psi);    frame: (1 - X/2)^-1 (1 + X/2) of the twist's 4 x 4 matrix X, p <- p + R Y d,  Y = (1 -
    [psi]x/2)^-1

Both agree with the exponential to second order, so the coordinates' second derivative at the start of a step is the
rate of the twist. Source: O. Bauchau, L. Trainelli, The vectorial parameterization of rotation, Nonlinear Dynamics 32,
2003.
"""

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.spatial import cross3, dot3, minus3, plus3, scaled3


@inner
def move_into(t, step, q):
    """q moved in place."""
    for i in range(1, len(t.node)):
        kind, at, k = t.node[i, model.KIND], t.node[i, model.JOINT_Q], t.node[i, model.JOINT_V]
        if kind == model.POINT:
            continue
        if kind == model.SPHERICAL:
            _turn_quaternion(step[k], step[k + 1], step[k + 2], q, at)
        elif kind == model.FREE:
            _shift_origin(step, k, q, at)
            _turn_quaternion(step[k + 3], step[k + 4], step[k + 5], q, at + 3)
        elif t.node[i, model.DOFS] == 1:
            q[at] += step[k]
        for e in range(t.node[i, model.ELASTIC]):
            q[t.node[i, model.ELASTIC_Q] + e] += step[t.node[i, model.ELASTIC_V] + e]


@inner
def _turn_quaternion(a, b, c, q, at):
    """q <- q (psi/2, 1), normalised; quaternions (x, y, z, w), psi = (a, b, c) in body axes."""
    a, b, c = a / 2, b / 2, c / 2
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    x, y, z, w = (
        x + w * a + y * c - z * b,
        y + w * b + z * a - x * c,
        z + w * c + x * b - y * a,
        w - x * a - y * b - z * c,
    )
    size = np.sqrt(x * x + y * y + z * z + w * w)
    q[at], q[at + 1], q[at + 2], q[at + 3] = x / size, y / size, z / size, w / size


@inner
def _shift_origin(step, k, q, at):
    """p <- p + R Y d"""
    psi = (step[k + 3], step[k + 4], step[k + 5])
    u0, u1, u2 = _cayley_origin((step[k], step[k + 1], step[k + 2]), psi, 1.0 / (1.0 + dot3(psi, psi) / 4), 1.0)
    x, y, z, w = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
    # R u = u + 2 w (r x u) + 2 r x (r x u)
    s0, s1, s2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0
    q[at] += u0 + 2 * (w * s0 + y * s2 - z * s1)
    q[at + 1] += u1 + 2 * (w * s1 + z * s0 - x * s2)
    q[at + 2] += u2 + 2 * (w * s2 + x * s1 - y * s0)


@compiled
def turn_columns(t, step, matrix):
    """matrix <- matrix T, with T the change of position at the end of a step (in body axes) per change of the step.

    Rotation: T = (1 - [psi]x/2)/(1 + |psi|^2/4) = T_r. Frame: linear rows Y^T (1 | -[Y d]x/2), angular rows T_r.
    """
    turn = np.zeros((6, 6))
    held = np.zeros(6)
    for i in range(1, len(t.node)):
        kind, k = t.node[i, model.KIND], t.node[i, model.JOINT_V]
        if kind != model.SPHERICAL and kind != model.FREE:
            continue
        at, count = (k, 6) if kind == model.FREE else (k - 3, 3)
        psi = (step[at + 3], step[at + 4], step[at + 5])
        d = (step[k], step[k + 1], step[k + 2]) if kind == model.FREE else (0.0, 0.0, 0.0)
        _step_slope(d, psi, turn)
        for r in range(len(matrix)):
            for c in range(count):
                held[c] = matrix[r, k + c]
                matrix[r, k + c] = 0.0
            for c in range(count):
                for e in range(count):
                    matrix[r, k + c] += held[e] * turn[6 - count + e, 6 - count + c]


@inner
def _step_slope(d, psi, turn):
    """The 6 x 6 matrix T of a frame's step (d, psi)."""
    scale = 1.0 / (1.0 + dot3(psi, psi) / 4)
    origin = _cayley_origin(d, psi, scale, 1.0)
    for c in range(3):
        unit = (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2))
        linear = _cayley_origin(unit, psi, scale, -1.0)
        angular = minus3(unit, scaled3(cross3(psi, unit), 0.5))
        coupled = _cayley_origin(scaled3(cross3(unit, origin), 0.5), psi, scale, -1.0)
        for r in range(3):
            turn[r, c], turn[3 + r, c] = linear[r], 0.0
            turn[r, 3 + c], turn[3 + r, 3 + c] = coupled[r], scale * angular[r]


@inner
def _cayley_origin(d, psi, scale, sign):
    """(1 - sign [psi]x/2)^-1 d = (d + sign psi x d/2 + (psi . d) psi/4)/(1 + |psi|^2/4)"""
    return scaled3(plus3(plus3(d, scaled3(cross3(psi, d), sign / 2)), scaled3(psi, dot3(psi, d) / 4)), scale)
