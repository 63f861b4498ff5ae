"""How the forces of one body answer to its motion, compiled: derivatives of `body_wrench` and `elastic_forces`, all terms.

In the coordinates z (with products) of flexible.py; what depends on q is dz/dq times that, because z, z', z'' have the slopes

    dz/dq = Z,  dz'/dq = Z',  dz'/dq' = Z,  dz''/dq = Z'',  dz''/dq' = 2 Z',  dz''/dq'' = Z      (Z'' with q'' in the place of q).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netsim.kernels.call import compiled
from netsim.tree.flexible import deformation_wrench
from netsim.tree.model import METRIC, Array
from netsim.tree.spatial import cross3, cross_wrench, dot3, join, minus, momentum, plus, plus3, put, scaled3, unit


class Slopes(NamedTuple):
    """dF/dV of bodies, then of what they carry (n, 6, 6); per elastic coordinate the row df/dV and columns dF/dq, dF/dq' (nv, 6); room:
    Z, Z', Z'' (3, Z, N), the wrench's slopes in z, z', z'' (3, Z, 6) and the elastic forces' in z, z', after that of the products (3, Z, Z)."""

    gyroscopic: Array
    row_v: Array
    column_q: Array
    column_v: Array
    z: Array
    wrench: Array
    force: Array


@compiled
def make_slopes(t):  # type: ignore[no-untyped-def]
    """Room for the slopes of a tree."""
    n, nv, z, count = len(t.node), len(t.coordinate), t.beams.linear.shape[1], t.beams.spin.shape[1]
    return Slopes(
        np.zeros((n, 6, 6)),
        np.zeros((nv, 6)),
        np.zeros((nv, 6)),
        np.zeros((nv, 6)),
        np.zeros((3, z, count)),
        np.zeros((3, z, 6)),
        np.zeros((3, z, z)),
    )


@compiled
def rigid_gyroscopic(g, i, a, j, c, twist):  # type: ignore[no-untyped-def]
    """g[i] = d(V x* I V)/dV for the inertia row a[j, c:]: dV x* (I V) + V x* (I dV)."""
    held = momentum(a, j, c, twist)
    for k in range(6):
        d = unit(k)
        column = plus(cross_wrench(d, held), cross_wrench(twist, momentum(a, j, c, d)))
        for r in range(6):
            g[i, r, k] = column[r]


@compiled
def flexible_gyroscopic(beams, f, s, g, i):  # type: ignore[no-untyped-def]
    """g[i] += what deformation adds: its wrench is linear in the angular velocity."""
    still = deformation_wrench(beams, f, (0.0, 0.0, 0.0), s)
    for k in range(3):
        d = unit(k)
        column = minus(deformation_wrench(beams, f, (d[0], d[1], d[2]), s), still)
        for r in range(6):
            g[i, r, 3 + k] += column[r]


@compiled
def set_products(beams, f, s, z):  # type: ignore[no-untyped-def]
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


@compiled
def wrench_slopes(beams, f, origin, w, dw, s, out):  # type: ignore[no-untyped-def]
    """out (3, Z, 6) = d(wrench)/dz, dz', dz'' of a flexible body; `origin` is its origin's acceleration. Modal sums must be set."""
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


@compiled
def _spread(u, w):  # type: ignore[no-untyped-def]
    """(tr(U + U^T) - U - U^T) w"""
    trace = 2 * (u[0, 0] + u[1, 1] + u[2, 2])
    return (
        trace * w[0] - 2 * u[0, 0] * w[0] - (u[0, 1] + u[1, 0]) * w[1] - (u[0, 2] + u[2, 0]) * w[2],
        trace * w[1] - (u[1, 0] + u[0, 1]) * w[0] - 2 * u[1, 1] * w[1] - (u[1, 2] + u[2, 1]) * w[2],
        trace * w[2] - (u[2, 0] + u[0, 2]) * w[0] - (u[2, 1] + u[1, 2]) * w[1] - 2 * u[2, 2] * w[2],
    )


@compiled
def _turning(u, w):  # type: ignore[no-untyped-def]
    """(tr U - U^T) w"""
    trace = u[0, 0] + u[1, 1] + u[2, 2]
    return (
        trace * w[0] - u[0, 0] * w[0] - u[1, 0] * w[1] - u[2, 0] * w[2],
        trace * w[1] - u[0, 1] * w[0] - u[1, 1] * w[1] - u[2, 1] * w[2],
        trace * w[2] - u[0, 2] * w[0] - u[1, 2] * w[1] - u[2, 2] * w[2],
    )


@compiled
def _turning_back(u, w):  # type: ignore[no-untyped-def]
    """(tr U - U) w"""
    trace = u[0, 0] + u[1, 1] + u[2, 2]
    return (
        trace * w[0] - u[0, 0] * w[0] - u[0, 1] * w[1] - u[0, 2] * w[2],
        trace * w[1] - u[1, 0] * w[0] - u[1, 1] * w[1] - u[1, 2] * w[2],
        trace * w[2] - u[2, 0] * w[0] - u[2, 1] * w[1] - u[2, 2] * w[2],
    )


@compiled
def axial(u, sign):  # type: ignore[no-untyped-def]
    """sign (u32 - u23, u13 - u31, u21 - u12): int r x psi for U = int psi r^T"""
    return (sign * (u[2, 1] - u[1, 2]), sign * (u[0, 2] - u[2, 0]), sign * (u[1, 0] - u[0, 1]))


@compiled
def force_slopes(beams, f, twist, origin, w, dw, s, row_v, force):  # type: ignore[no-untyped-def]
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


@compiled
def elastic_slopes(beams, f, s, x, dq, dv, at):  # type: ignore[no-untyped-def]
    """dq, dv [at:, at:] += a flexible body's own stiffness and damping: Z^T (f_z Z + f_z' Z' + metric Z'') and Z^T (f_z' Z + 2 metric Z')."""
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
