"""How the forces of one body answer to its motion, compiled: derivatives of `body_wrench` and `elastic_forces`, all
terms.

In the coordinates z (with products) of flexible.py; what depends on q is dz/dq times that, because z, z', z'' have the
slopes

    dz/dq = Z,  dz'/dq = Z',  dz'/dq' = Z,  dz''/dq = Z'',  dz''/dq' = 2 Z',  dz''/dq'' = Z      (Z'' with q'' in the
    place of q).
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree.flexible import deformation_wrench
from netsim.multibody.tree.model import METRIC, Array
from netsim.multibody.tree.spatial import (
    cross3,
    dot3,
    join,
    minus,
    plus3,
    put,
    scaled3,
    turned,
    turned_back,
    unit,
    wrench_to_parent,
)


class Slopes(NamedTuple):
    """The slope B = dF/dV of bodies, then of all they carry, in the ground's axes about its origin, as 12 numbers (n,
    12): momentum p and C (3, 3),

        B (v, w) = (2 w x p, C w),    V' - V x dV being held: what every body of a carried group then has in common.

    Room for one flexible body: Z, Z', Z'' (3, Z, N), its wrench's slopes in z, z', z'' (3, Z, 6), its elastic forces'
    in z, z', later those of the products (3, Z, Z), and its columns dF/dq, dF/dq' (2, N, 6).
    """

    gyroscopic: Array
    z: Array
    wrench: Array
    force: Array
    column: Array


@compiled
def make_slopes(t):
    """Room for the slopes of a tree."""
    n, z, count = len(t.node), t.beams.linear.shape[1], t.beams.spin.shape[1]
    return Slopes(
        np.zeros((n, 12)), np.zeros((3, z, count)), np.zeros((3, z, 6)), np.zeros((3, z, z)), np.zeros((2, count, 6))
    )


@compiled(forceinline=True)
def gyroscopic_times(g, i, d):
    """B[i] d"""
    x, y, z = d[3], d[4], d[5]
    return (
        2 * (y * g[i, 2] - z * g[i, 1]),
        2 * (z * g[i, 0] - x * g[i, 2]),
        2 * (x * g[i, 1] - y * g[i, 0]),
        g[i, 3] * x + g[i, 4] * y + g[i, 5] * z,
        g[i, 6] * x + g[i, 7] * y + g[i, 8] * z,
        g[i, 9] * x + g[i, 10] * y + g[i, 11] * z,
    )


@compiled(forceinline=True)
def transposed_times(g, i, d):
    """B[i]^T d; its linear part is zero."""
    a, b, c = d[3], d[4], d[5]
    return (
        0.0,
        0.0,
        0.0,
        g[i, 3] * a + g[i, 6] * b + g[i, 9] * c + 2 * (g[i, 1] * d[2] - g[i, 2] * d[1]),
        g[i, 4] * a + g[i, 7] * b + g[i, 10] * c + 2 * (g[i, 2] * d[0] - g[i, 0] * d[2]),
        g[i, 5] * a + g[i, 8] * b + g[i, 11] * c + 2 * (g[i, 0] * d[1] - g[i, 1] * d[0]),
    )


@compiled(forceinline=True)
def own_gyroscopic(g, i, a, j, twist):
    """g[i] = p, C of the rigid row a[j] at a twist, both in the ground's axes and about its origin: see Slopes.

    C = [w]x (2 J - tr J) + 2 (h . v - v h^T), with h = mass times centre, J the moments: from dF/dV at fixed V' - V x
    dV by Jacobi's identity.
    """
    h, w, v = (a[j, 1], a[j, 2], a[j, 3]), (twist[3], twist[4], twist[5]), (twist[0], twist[1], twist[2])
    swept = cross3(w, h)
    g[i, 0], g[i, 1], g[i, 2] = a[j, 0] * v[0] + swept[0], a[j, 0] * v[1] + swept[1], a[j, 0] * v[2] + swept[2]
    trace, along = a[j, 4] + a[j, 7] + a[j, 9], 2 * dot3(h, v)
    columns = (
        cross3(w, (2 * a[j, 4] - trace, 2 * a[j, 5], 2 * a[j, 6])),
        cross3(w, (2 * a[j, 5], 2 * a[j, 7] - trace, 2 * a[j, 8])),
        cross3(w, (2 * a[j, 6], 2 * a[j, 8], 2 * a[j, 9] - trace)),
    )
    for k in range(3):
        for r in range(3):
            g[i, 3 + 3 * r + k] = columns[k][r] - 2 * v[r] * h[k] + (along if r == k else 0.0)


@inner
def flexible_gyroscopic(beams, f, s, world, i, g):
    """g[i] += what deformation adds: its wrench is linear in the angular velocity, and its force is 2 w x c'."""
    still = deformation_wrench(beams, f, (0.0, 0.0, 0.0), s)
    x, y, z = 0.0, 0.0, 0.0
    for k in range(beams.size[f, 0] + beams.size[f, 1]):
        rate = s.z[1, k]
        x, y, z = x + rate * beams.linear[f, k, 0], y + rate * beams.linear[f, k, 1], z + rate * beams.linear[f, k, 2]
    p = turned(world, i, x, y, z)
    g[i, 0], g[i, 1], g[i, 2] = g[i, 0] + p[0], g[i, 1] + p[1], g[i, 2] + p[2]
    for k in range(3):
        d = unit(3 + k)
        spin = turned_back(world, i, d[3], d[4], d[5])
        column = wrench_to_parent(world, i, minus(deformation_wrench(beams, f, spin, s), still))
        for r in range(3):
            g[i, 3 + 3 * r + k] += column[3 + r]


@inner
def set_products(beams, f, s, z):
    """z (3, Z, N) = Z, Z', Z'' at the coordinates, rates and second rates in s.z."""
    count = beams.size[f, 0]
    for o in range(3):
        for k in range(count):
            for j in range(count):
                z[o, k, j] = 1.0 if o == 0 and k == j else 0.0
        for m in range(beams.size[f, 1]):
            for j in range(count):
                z[o, count + m, j] = 0.0
            k, j = beams.pairs[f, m, 0], beams.pairs[f, m, 1]
            z[o, count + m, k] += s.z[o, j]
            z[o, count + m, j] += s.z[o, k]


@inner
def wrench_slopes(beams, f, origin, w, dw, s, out):
    """out (3, Z, 6) = d(wrench)/dz, dz', dz'' of a flexible body; `origin` is its origin's acceleration. Modal sums
    must be set."""
    count = beams.size[f, 0]
    for k in range(count + beams.size[f, 1]):
        h = (beams.linear[f, k, 0], beams.linear[f, k, 1], beams.linear[f, k, 2])
        u, du, ddu = s.u[0, k], s.u[1, k], s.u[2, k]
        turned = cross3(w, h)
        force = plus3(cross3(dw, h), cross3(w, turned))
        # of the inertia: tr(U + U^T) 1 - (U + U^T)
        inertial = plus3(_spread(u, dw), cross3(w, _spread(u, w)))
        coriolis = _turning(du, w)
        couple = plus3(plus3(cross3(h, origin), inertial), plus3(scaled3(coriolis, 2.0), axial(ddu, -1.0)))
        put(out[0], k, join(force, couple))
        share = (0.0, 0.0, 0.0)
        if k < count:
            share = (beams.spin[f, k, 0], beams.spin[f, k, 1], beams.spin[f, k, 2])
        put(out[1], k, join(scaled3(turned, 2.0), plus3(scaled3(_turning_back(u, w), 2.0), cross3(w, share))))
        put(out[2], k, join(h, plus3(axial(u, 1.0), share)))


@inner
def _spread(u, w):
    """(tr(U + U^T) - U - U^T) w"""
    trace = 2 * (u[0, 0] + u[1, 1] + u[2, 2])
    return (
        trace * w[0] - 2 * u[0, 0] * w[0] - (u[0, 1] + u[1, 0]) * w[1] - (u[0, 2] + u[2, 0]) * w[2],
        trace * w[1] - (u[1, 0] + u[0, 1]) * w[0] - 2 * u[1, 1] * w[1] - (u[1, 2] + u[2, 1]) * w[2],
        trace * w[2] - (u[2, 0] + u[0, 2]) * w[0] - (u[2, 1] + u[1, 2]) * w[1] - 2 * u[2, 2] * w[2],
    )


@inner
def _turning(u, w):
    """(tr U - U^T) w"""
    columns = ((u[0, 0], u[1, 0], u[2, 0]), (u[0, 1], u[1, 1], u[2, 1]), (u[0, 2], u[1, 2], u[2, 2]))
    return _traced(columns, w)


@inner
def _turning_back(u, w):
    """(tr U - U) w"""
    rows = ((u[0, 0], u[0, 1], u[0, 2]), (u[1, 0], u[1, 1], u[1, 2]), (u[2, 0], u[2, 1], u[2, 2]))
    return _traced(rows, w)


@inner
def _traced(a, w):
    """(tr A - A) w of a matrix by rows."""
    trace = a[0][0] + a[1][1] + a[2][2]
    x, y, z = a
    return (
        trace * w[0] - x[0] * w[0] - x[1] * w[1] - x[2] * w[2],
        trace * w[1] - y[0] * w[0] - y[1] * w[1] - y[2] * w[2],
        trace * w[2] - z[0] * w[0] - z[1] * w[1] - z[2] * w[2],
    )


@inner
def axial(u, sign):
    """sign (u32 - u23, u13 - u31, u21 - u12): int r x psi for U = int psi r^T"""
    return (sign * (u[2, 1] - u[1, 2]), sign * (u[0, 2] - u[2, 0]), sign * (u[1, 0] - u[0, 1]))


@inner
def force_slopes(beams, f, twist, origin, w, dw, s, row_v, force):
    """Rows df_z/dV into row_v (Z, 6), and df_z/dz, df_z/dz' into force[0], force[1] (Z, Z)."""
    size = beams.size[f, 0] + beams.size[f, 1]
    v = (twist[0], twist[1], twist[2])
    square = dot3(w, w)
    for k in range(size):
        h = (beams.linear[f, k, 0], beams.linear[f, k, 1], beams.linear[f, k, 2])
        angular = plus3(plus3(cross3(v, h), scaled3(_spread(s.u[0, k], w), -1.0)), scaled3(axial(s.u[1, k], 1.0), 2.0))
        put(row_v, k, join(cross3(h, w), angular))
        for m in range(size):
            g = beams.second[f, k, m]
            turn = (g[7] - g[5], g[2] - g[6], g[3] - g[1])
            stretch = 0.0
            for i in range(3):
                stretch += w[i] * (g[3 * i] * w[0] + g[3 * i + 1] * w[1] + g[3 * i + 2] * w[2])
            force[0, k, m] = dot3(dw, turn) + stretch - square * (g[0] + g[4] + g[8])
            force[1, k, m] = 2 * dot3(w, turn)


@inner
def elastic_slopes(beams, f, s, x, dq, dv, at):
    """dq, dv [at:, at:] += a flexible body's own stiffness and damping: Z^T (f_z Z + f_z' Z' + metric Z'') and Z^T
    (f_z' Z + 2 metric Z')."""
    count, products = beams.size[f, 0], beams.size[f, 1]
    size = count + products
    for k in range(size):
        for j in range(count):
            by_q, by_v = 0.0, 0.0
            for m in range(size):
                metric = beams.second[f, k, m, METRIC]
                by_q += x.force[0, k, m] * x.z[0, m, j] + x.force[1, k, m] * x.z[1, m, j] + metric * x.z[2, m, j]
                by_v += x.force[1, k, m] * x.z[0, m, j] + 2 * metric * x.z[1, m, j]
            for r in range(count):
                dq[at + r, at + j] += x.z[0, k, r] * by_q
                dv[at + r, at + j] += x.z[0, k, r] * by_v
    for k in range(count):
        for j in range(count):
            dq[at + k, at + j] += beams.strain[f, 0, k, j]
            dv[at + k, at + j] += beams.strain[f, 1, k, j]
    for m in range(products):
        k, j = beams.pairs[f, m, 0], beams.pairs[f, m, 1]
        dq[at + k, at + j] += s.z[3, count + m]
        dq[at + j, at + k] += s.z[3, count + m]
