"""Vectors, rotations and twists (v, w) about the world's origin, compiled."""

import numpy as np

from netsim.core.compiled.function import compiled


@compiled
def cross(a, i, b, j, out, k):
    """out[k:] = a[i:] x b[j:]"""
    x = a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1]
    y = a[i + 2] * b[j] - a[i] * b[j + 2]
    z = a[i] * b[j + 1] - a[i + 1] * b[j]
    out[k], out[k + 1], out[k + 2] = x, y, z


@compiled
def bracket(a, b, out):
    """out += a x b of twists (v, w): (w_a x v_b + v_a x w_b, w_a x w_b)"""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] += a[3 + j] * b[k] - a[3 + k] * b[j] + a[j] * b[3 + k] - a[k] * b[3 + j]
        out[3 + i] += a[3 + j] * b[3 + k] - a[3 + k] * b[3 + j]


@compiled
def turned(R, a, i, out):
    """out[:3] = R a[i:]"""
    for r in range(3):
        out[r] = R[3 * r] * a[i] + R[3 * r + 1] * a[i + 1] + R[3 * r + 2] * a[i + 2]


@compiled
def rotation(axis, angle, out):
    """The matrix (by rows) of a turn by an angle about a unit axis."""
    c, s = np.cos(angle), np.sin(angle)
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = (1.0 - c) * axis[i] * axis[j]
        out[4 * i] += c
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[3 * j + k] -= s * axis[i]
        out[3 * k + j] += s * axis[i]


@compiled
def product(a, b, out):
    """out = a b of matrices by rows."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]


@compiled
def about(centre, direction, out):
    """out = the twist of a turn with this angular velocity about a centre."""
    cross(centre, 0, direction, 0, out, 0)
    for i in range(3):
        out[3 + i] = direction[i]


@compiled
def cayley(psi, s, out):
    """1 + s (S + S S/2), by rows."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = s * psi[i] * psi[j] / 2.0
    square = psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[4 * i] += 1.0 - s * square / 2.0
        out[3 * j + k] -= s * psi[i]
        out[3 * k + j] += s * psi[i]


@compiled
def in_world(R, o, local, scale, out):
    """out = scale times a twist given about a point o in axes R."""
    for r in range(3):
        out[r] = scale * (R[3 * r] * local[0] + R[3 * r + 1] * local[1] + R[3 * r + 2] * local[2])
        out[3 + r] = scale * (R[3 * r] * local[3] + R[3 * r + 1] * local[4] + R[3 * r + 2] * local[5])
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] += o[j] * out[3 + k] - o[k] * out[3 + j]
