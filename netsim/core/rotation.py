"""Rotations by Cayley charts: R = cay(psi) R_c, with psi affine in the unknown of a step and R_c the rotation where the
step began.

    cay(psi) = 1 + (S + S S/2)/(1 + |psi|^2/4),    S = [psi]x
    w        = (psi' + psi x psi'/2)/(1 + |psi|^2/4)

At psi = 0: w = psi' and w' = psi'', so a chart that is moved after every step loses nothing. The map is rational (no
angle, no branch at zero) and regular below half a turn per step. Rotations are kept as unit quaternions, which never
drift. Source: O. Bauchau, L. Trainelli, The vectorial parameterization of rotation, Nonlinear Dynamics 32, 2003
(Cayley-Gibbs-Rodrigues parameters, scaled to the rotation vector).
"""

from typing import Any

import numpy as np

from netsim.core.compiled.function import compiled, inner


def cayley_matrix(psi: list[Any], chart: list[list[Any]]) -> list[list[Any]]:
    """cay(psi) R_c for symbols or numbers."""
    p = psi
    scale = 1.0 / (1.0 + (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / 4.0)
    columns = [[chart[i][j] for i in range(3)] for j in range(3)]
    turned = []
    for c in columns:
        first = _cross(p, c)
        second = _cross(p, first)
        turned.append([c[i] + scale * (first[i] + second[i] / 2.0) for i in range(3)])
    return [[turned[j][i] for j in range(3)] for i in range(3)]


def cayley_rate(psi: list[Any], rate: list[Any]) -> list[Any]:
    """The angular velocity w (world axes) of the chart's coordinates and their rates."""
    scale = 1.0 / (1.0 + (psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]) / 4.0)
    turn = _cross(psi, rate)
    return [scale * (rate[i] + turn[i] / 2.0) for i in range(3)]


def _cross(a: list[Any], b: list[Any]) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@compiled
def move_chart(psi, rate, second, quaternion):
    """The same motion in a chart at the present rotation: psi = 0, psi' = w, psi'' = w'.

    The quaternion (w, x, y, z) is turned along and normalised.
    """
    w = angular_velocity(psi, rate)
    dw = angular_acceleration(psi, rate, second)
    _turn(psi, quaternion)
    for i in range(3):
        psi[i], rate[i], second[i] = 0.0, w[i], dw[i]


@compiled
def angular_velocity(psi, rate):
    """w = (psi' + psi x psi'/2)/(1 + |psi|^2/4), three numbers."""
    scale = 1.0 / (1.0 + (psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2) / 4.0)
    turn = _turned(psi, rate)
    return scale * (rate[0] + turn[0] / 2.0), scale * (rate[1] + turn[1] / 2.0), scale * (rate[2] + turn[2] / 2.0)


@compiled
def angular_acceleration(psi, rate, second):
    """w' = (psi'' + psi x psi''/2 - (psi . psi'/2) w)/(1 + |psi|^2/4), of any vector of psi'', algorithmic ones too."""
    scale = 1.0 / (1.0 + (psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2) / 4.0)
    slope = (psi[0] * rate[0] + psi[1] * rate[1] + psi[2] * rate[2]) / 2.0
    w, turn = angular_velocity(psi, rate), _turned(psi, second)
    return (
        scale * (second[0] + turn[0] / 2.0 - slope * w[0]),
        scale * (second[1] + turn[1] / 2.0 - slope * w[1]),
        scale * (second[2] + turn[2] / 2.0 - slope * w[2]),
    )


@compiled
def chart_rates(psi, w, dw):
    """psi' and psi'' of a motion with angular velocity w and acceleration dw: the inverse of the two functions
    above."""
    size = 1.0 + (psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2) / 4.0
    rate = _unturned(psi, w)
    slope = (psi[0] * rate[0] + psi[1] * rate[1] + psi[2] * rate[2]) / (2.0 * size)
    return rate, _unturned(psi, (dw[0] + slope * w[0], dw[1] + slope * w[1], dw[2] + slope * w[2]))


@compiled
def in_chart(centre, psi, rate, second):
    """psi, psi' and psi'' of the same motion in the chart whose middle is the rotation `centre` of the present one.

    cay(psi) cay(-centre) in Gibbs' composition; w and w' stay."""
    (a, b, c), (p, q, r) = psi, centre
    scale = 1.0 / (1.0 + (a * p + b * q + c * r) / 4.0)
    turned = (
        scale * (a - p - (b * r - c * q) / 2.0),
        scale * (b - q - (c * p - a * r) / 2.0),
        scale * (c - r - (a * q - b * p) / 2.0),
    )
    first, then = chart_rates(turned, angular_velocity(psi, rate), angular_acceleration(psi, rate, second))
    return turned, first, then


@compiled
def _unturned(psi, b):
    """(1 - [psi]x/2 + psi psi'/4) b, which is (1 + |psi|^2/4) (1 + [psi]x/2)^-1 b"""
    turn, along = _turned(psi, b), (psi[0] * b[0] + psi[1] * b[1] + psi[2] * b[2]) / 4.0
    return (
        b[0] - turn[0] / 2.0 + along * psi[0],
        b[1] - turn[1] / 2.0 + along * psi[1],
        b[2] - turn[2] / 2.0 + along * psi[2],
    )


@compiled
def _turned(a, b):
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def _turn(psi, q):
    """q <- cay(psi) q, normalised: the quaternion of cay(psi) is (1, psi/2) / |.|"""
    a, b, c = psi[0] / 2.0, psi[1] / 2.0, psi[2] / 2.0
    w = q[0] - a * q[1] - b * q[2] - c * q[3]
    x = q[1] + a * q[0] + b * q[3] - c * q[2]
    y = q[2] + b * q[0] + c * q[1] - a * q[3]
    z = q[3] + c * q[0] + a * q[2] - b * q[1]
    size = np.sqrt(w * w + x * x + y * y + z * z)
    q[0], q[1], q[2], q[3] = w / size, x / size, y / size, z / size


@inner
def chord(one, o, other, s):
    """2 sin(angle/2) of the rotation between the unit quaternions at one[o] and other[s], exact where that is small:
    twice the vector part of the second times the conjugate of the first."""
    square = 0.0
    for i in range(1, 4):
        j, k = i % 3 + 1, (i + 1) % 3 + 1
        part = one[o] * other[s + i] - other[s] * one[o + i] - one[o + j] * other[s + k] + one[o + k] * other[s + j]
        square += part * part
    return 2.0 * np.sqrt(square)


@compiled
def quaternion_matrix(q, matrix):
    """The rotation matrix (nine entries by rows) of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    matrix[0], matrix[1], matrix[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    matrix[3], matrix[4], matrix[5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    matrix[6], matrix[7], matrix[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """The unit quaternion w, x, y, z of a rotation matrix (3, 3), from its largest component (S. Shepperd, Quaternion
    from rotation matrix, J. Guidance and Control 1, 1978)."""
    m, trace = matrix.tolist(), float(matrix[0, 0] + matrix[1, 1] + matrix[2, 2])
    i = int(np.argmax([m[0][0], m[1][1], m[2][2], trace]))
    found = [1 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    if i < 3:
        j, k = (i + 1) % 3, (i + 2) % 3
        found[0], found[1 + i] = m[k][j] - m[j][k], 1 - trace + 2 * m[i][i]
        found[1 + j], found[1 + k] = m[j][i] + m[i][j], m[k][i] + m[i][k]
    return np.array(found) / np.linalg.norm(found)
