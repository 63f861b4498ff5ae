"""Symmetric 6 x 6 inertias as rows of 21 numbers, compiled: what composite-body and articulated-body recursions carry
inward.

[ A    B ]      A: row[0:6]   xx xy xz yy yz zz (force per linear acceleration)
[ B^T  C ]      B: row[6:15]  by rows (force per angular acceleration);  C: row[15:21], as A (couple per angular
acceleration)
"""

from netsim.core.compiled.function import compiled
from netsim.multibody.tree.spatial import turned


@compiled(forceinline=True)
def set_rigid(k, i, a, j, c):
    """k[i] = the inertia of a rigid body's row a[j, c:] (mass, moment, moments about the origin)."""
    mass, x, y, z = a[j, c], a[j, c + 1], a[j, c + 2], a[j, c + 3]
    k[i, 0], k[i, 1], k[i, 2], k[i, 3], k[i, 4], k[i, 5] = mass, 0.0, 0.0, mass, 0.0, mass
    k[i, 6], k[i, 7], k[i, 8] = 0.0, z, -y
    k[i, 9], k[i, 10], k[i, 11] = -z, 0.0, x
    k[i, 12], k[i, 13], k[i, 14] = y, -x, 0.0
    for e in range(6):
        k[i, 15 + e] = a[j, c + 4 + e]


@compiled(forceinline=True)
def inertia_times(k, i, m):
    """The wrench k[i] m for a twist rate m (a 6-tuple)."""
    return (
        k[i, 0] * m[0] + k[i, 1] * m[1] + k[i, 2] * m[2] + k[i, 6] * m[3] + k[i, 7] * m[4] + k[i, 8] * m[5],
        k[i, 1] * m[0] + k[i, 3] * m[1] + k[i, 4] * m[2] + k[i, 9] * m[3] + k[i, 10] * m[4] + k[i, 11] * m[5],
        k[i, 2] * m[0] + k[i, 4] * m[1] + k[i, 5] * m[2] + k[i, 12] * m[3] + k[i, 13] * m[4] + k[i, 14] * m[5],
        k[i, 6] * m[0] + k[i, 9] * m[1] + k[i, 12] * m[2] + k[i, 15] * m[3] + k[i, 16] * m[4] + k[i, 17] * m[5],
        k[i, 7] * m[0] + k[i, 10] * m[1] + k[i, 13] * m[2] + k[i, 16] * m[3] + k[i, 18] * m[4] + k[i, 19] * m[5],
        k[i, 8] * m[0] + k[i, 11] * m[1] + k[i, 14] * m[2] + k[i, 17] * m[3] + k[i, 19] * m[4] + k[i, 20] * m[5],
    )


@compiled(forceinline=True)
def subtract_outer(k, i, u, x):
    """k[i] -= u x^T, of which the sum over a block's coordinates is symmetric."""
    for at, first in ((0, 0), (15, 3)):
        for r in range(3):
            for c in range(r, 3):
                k[i, at + r * (5 - r) // 2 + c] -= u[first + r] * x[first + c]
    for r in range(3):
        for c in range(3):
            k[i, 6 + 3 * r + c] -= u[r] * x[3 + c]


@compiled(forceinline=True)
def _turned_symmetric(x, i, a):
    """R a R^T of a symmetric 3 x 3 matrix (six entries)."""
    b = _turned(x, i, (a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5]))
    return b[0], b[1], b[2], b[4], b[5], b[8]


@compiled(forceinline=True)
def _turned(x, i, b):
    """R b R^T of a 3 x 3 matrix by rows."""
    f, g, h = turned(x, i, b[0], b[3], b[6]), turned(x, i, b[1], b[4], b[7]), turned(x, i, b[2], b[5], b[8])  # R b
    first, second, third = (
        turned(x, i, f[0], g[0], h[0]),
        turned(x, i, f[1], g[1], h[1]),
        turned(x, i, f[2], g[2], h[2]),
    )
    return first + second + third


@compiled(forceinline=True)
def add_to_parent(k, i, parent, frame):
    """k[parent] += X^T k[i] X: turned to the parent's axes, then moved by p, with P = [p]x:

    B <- B - A P,    C <- C + P B - B_before^T P
    """
    a = _turned_symmetric(frame, i, (k[i, 0], k[i, 1], k[i, 2], k[i, 3], k[i, 4], k[i, 5]))
    b = _turned(frame, i, (k[i, 6], k[i, 7], k[i, 8], k[i, 9], k[i, 10], k[i, 11], k[i, 12], k[i, 13], k[i, 14]))
    c = _turned_symmetric(frame, i, (k[i, 15], k[i, 16], k[i, 17], k[i, 18], k[i, 19], k[i, 20]))
    x, y, z = frame[i, 9], frame[i, 10], frame[i, 11]
    d = (
        b[0] - z * a[1] + y * a[2],
        b[1] + z * a[0] - x * a[2],
        b[2] - y * a[0] + x * a[1],
        b[3] - z * a[3] + y * a[4],
        b[4] + z * a[1] - x * a[4],
        b[5] - y * a[1] + x * a[3],
        b[6] - z * a[4] + y * a[5],
        b[7] + z * a[2] - x * a[5],
        b[8] - y * a[2] + x * a[4],
    )
    for e in range(6):
        k[parent, e] += a[e]
    for e in range(9):
        k[parent, 6 + e] += d[e]
    k[parent, 15] += c[0] - z * d[3] + y * d[6] - z * b[3] + y * b[6]
    k[parent, 16] += c[1] - z * d[4] + y * d[7] + z * b[0] - x * b[6]
    k[parent, 17] += c[2] - z * d[5] + y * d[8] - y * b[0] + x * b[3]
    k[parent, 18] += c[3] + z * d[1] - x * d[7] + z * b[1] - x * b[7]
    k[parent, 19] += c[4] + z * d[2] - x * d[8] - y * b[1] + x * b[4]
    k[parent, 20] += c[5] - y * d[2] + x * d[5] - y * b[2] + x * b[5]
