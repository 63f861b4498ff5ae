"""A flexible body's own dynamics from its integrals, compiled: forces for a motion, and the blocks of its inertia.

With z the coordinates and their products (beam.py), U_k = int psi_k r^T, and dots on it for the same sum with z', z'':

    int r r^T = int s s^T + sum_k z_k (mixed_k + U_k^T),      int r r'^T = sum_k z'_k U_k^T,      int r r''^T = sum_k
    z''_k U_k^T

so that all terms are exact in the coordinates. The elastic force conjugate to z_k is int psi_k . acceleration; to q it
is (dz/dq)^T of that.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inlined
from netsim.multibody.tree.model import INERTIA, METRIC, Array


class Modal(NamedTuple):
    """Room for one flexible body: rows z, z', z'' and the elastic forces before dz/dq (4, Z); U, U', U'' (3, Z, 3,
    3)."""

    z: Array
    u: Array


@compiled
def make_modal(beams):
    """A Modal large enough for any of the beams."""
    n = beams.linear.shape[1]
    return Modal(np.zeros((4, n)), np.zeros((3, n, 3, 3)))


@inlined
def set_modal(beams, f, q, v, a, at_q, at_v, s):
    """z, z', z'' of the beam f whose coordinates begin at q[at_q], v[at_v], a[at_v]."""
    count = beams.size[f, 0]
    for k in range(count):
        s.z[0, k], s.z[1, k], s.z[2, k] = q[at_q + k], v[at_v + k], a[at_v + k]
    for m in range(beams.size[f, 1]):
        k, j = beams.pairs[f, m, 0], beams.pairs[f, m, 1]
        s.z[0, count + m] = s.z[0, k] * s.z[0, j]
        s.z[1, count + m] = s.z[1, k] * s.z[0, j] + s.z[0, k] * s.z[1, j]
        s.z[2, count + m] = s.z[2, k] * s.z[0, j] + 2.0 * s.z[1, k] * s.z[1, j] + s.z[0, k] * s.z[2, j]


@inlined
def set_coordinates(beams, f, q, at_q, s):
    """z of the beam f alone."""
    count = beams.size[f, 0]
    for k in range(count):
        s.z[0, k] = q[at_q + k]
    for m in range(beams.size[f, 1]):
        s.z[0, count + m] = s.z[0, beams.pairs[f, m, 0]] * s.z[0, beams.pairs[f, m, 1]]


@inlined
def fold(beams, f, e, covector, out, at):
    """out[at:] += (dz/dq)^T covector at coordinates e: what acts on products acts on both factors."""
    count = beams.size[f, 0]
    for k in range(count):
        out[at + k] += covector[k]
    for m in range(beams.size[f, 1]):
        k, j = beams.pairs[f, m, 0], beams.pairs[f, m, 1]
        out[at + k] += covector[count + m] * e[j]
        out[at + j] += covector[count + m] * e[k]


@inlined
def set_moments(beams, f, s):
    """U, U' and U'' for the z, z', z'' that are set."""
    size = beams.size[f, 0] + beams.size[f, 1]
    for k in range(size):
        for i in range(3):
            for j in range(3):
                u, du, ddu = beams.linear[f, k, 3 + 3 * j + i], 0.0, 0.0
                for m in range(size):
                    g = beams.second[f, k, m, 3 * i + j]
                    u += g * s.z[0, m]
                    du += g * s.z[1, m]
                    ddu += g * s.z[2, m]
                s.u[0, k, i, j], s.u[1, k, i, j], s.u[2, k, i, j] = u, du, ddu


@inlined
def deformed_inertia(beams, f, rest, i, s, out):
    """out[0] = the rigid row (mass, moment, moments about the origin) of the body as it is deformed now; U must be
    set."""
    size = beams.size[f, 0] + beams.size[f, 1]
    for c in range(10):
        out[0, c] = rest[i, INERTIA + c]
    for k in range(size):
        z = s.z[0, k]
        for c in range(3):
            out[0, 1 + c] += z * beams.linear[f, k, c]
        xx, yy, zz = (
            beams.linear[f, k, 3] + s.u[0, k, 0, 0],
            beams.linear[f, k, 7] + s.u[0, k, 1, 1],
            beams.linear[f, k, 11] + s.u[0, k, 2, 2],
        )
        out[0, 4] += z * (yy + zz)
        out[0, 7] += z * (xx + zz)
        out[0, 9] += z * (xx + yy)
        # the sum over k is symmetric, single terms are not: take the mean
        out[0, 5] -= z * (beams.linear[f, k, 4] + beams.linear[f, k, 6] + s.u[0, k, 0, 1] + s.u[0, k, 1, 0]) / 2
        out[0, 6] -= z * (beams.linear[f, k, 5] + beams.linear[f, k, 9] + s.u[0, k, 0, 2] + s.u[0, k, 2, 0]) / 2
        out[0, 8] -= z * (beams.linear[f, k, 8] + beams.linear[f, k, 10] + s.u[0, k, 1, 2] + s.u[0, k, 2, 1]) / 2


@inlined
def deformation_wrench(beams, f, w, s):
    """What z' and z'' add to the wrench of the body as a rigid one: 2 w x c' + c'', 2 int r x (w x r') + int r x r'',
    and the sections'."""
    fx, fy, fz, nx, ny, nz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    px, py, pz = 0.0, 0.0, 0.0
    count = beams.size[f, 0]
    for k in range(count + beams.size[f, 1]):
        x, y, z = beams.linear[f, k, 0], beams.linear[f, k, 1], beams.linear[f, k, 2]
        d, dd = 2.0 * s.z[1, k], s.z[2, k]
        fx += d * (w[1] * z - w[2] * y) + dd * x
        fy += d * (w[2] * x - w[0] * z) + dd * y
        fz += d * (w[0] * y - w[1] * x) + dd * z
        u = s.u[0, k]
        trace = u[0, 0] + u[1, 1] + u[2, 2]
        nx += d * (trace * w[0] - u[0, 0] * w[0] - u[0, 1] * w[1] - u[0, 2] * w[2]) + dd * (u[2, 1] - u[1, 2])
        ny += d * (trace * w[1] - u[1, 0] * w[0] - u[1, 1] * w[1] - u[1, 2] * w[2]) + dd * (u[0, 2] - u[2, 0])
        nz += d * (trace * w[2] - u[2, 0] * w[0] - u[2, 1] * w[1] - u[2, 2] * w[2]) + dd * (u[1, 0] - u[0, 1])
    for k in range(count):
        x, y, z = beams.spin[f, k, 0], beams.spin[f, k, 1], beams.spin[f, k, 2]
        px, py, pz = px + s.z[1, k] * x, py + s.z[1, k] * y, pz + s.z[1, k] * z
        nx, ny, nz = nx + s.z[2, k] * x, ny + s.z[2, k] * y, nz + s.z[2, k] * z
    return fx, fy, fz, nx + w[1] * pz - w[2] * py, ny + w[2] * px - w[0] * pz, nz + w[0] * py - w[1] * px


@inlined
def elastic_forces(beams, f, acceleration, w, dw, s, tau, at):
    """tau[at:] += the forces conjugate to the elastic coordinates: inertia, stiffness and damping; `acceleration` is
    the origin's, v' + w x v."""
    count = beams.size[f, 0]
    size = count + beams.size[f, 1]
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    for k in range(size):
        u, du = s.u[0, k], s.u[1, k]
        force = -square * (u[0, 0] + u[1, 1] + u[2, 2])
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            force += beams.linear[f, k, i] * acceleration[i] + w[i] * (u[i, 0] * w[0] + u[i, 1] * w[1] + u[i, 2] * w[2])
            force += dw[i] * (u[m, j] - u[j, m]) + 2.0 * w[i] * (du[m, j] - du[j, m])
            if k < count:
                force += beams.spin[f, k, i] * dw[i]
        for m in range(size):
            force += beams.second[f, k, m, METRIC] * s.z[2, m]
        s.z[3, k] = force
    for k in range(count):
        for m in range(count):
            s.z[3, k] += beams.strain[f, 0, k, m] * s.z[0, m] + beams.strain[f, 1, k, m] * s.z[1, m]
    fold(beams, f, s.z[0], s.z[3], tau, at)


@inlined
def coupling(beams, f, s, rows):
    """rows[k] (N, 6) = the wrench per unit of the acceleration of coordinate k: M_re^T; U must be set."""
    count = beams.size[f, 0]
    rows[:count] = 0.0
    for k in range(count):
        for i in range(3):
            rows[k, 3 + i] = beams.spin[f, k, i]
        _add_column(beams, f, s, k, 1.0, rows, k)
    for m in range(beams.size[f, 1]):
        k, j = beams.pairs[f, m, 0], beams.pairs[f, m, 1]
        _add_column(beams, f, s, count + m, s.z[0, j], rows, k)
        _add_column(beams, f, s, count + m, s.z[0, k], rows, j)


@inlined
def _add_column(beams, f, s, m, factor, rows, k):
    u = s.u[0, m]
    for i in range(3):
        rows[k, i] += factor * beams.linear[f, m, i]
    rows[k, 3] += factor * (u[2, 1] - u[1, 2])
    rows[k, 4] += factor * (u[0, 2] - u[2, 0])
    rows[k, 5] += factor * (u[1, 0] - u[0, 1])


@inlined
def elastic_mass(beams, f, s, m_ee):
    """m_ee[:N, :N] = (dz/dq)^T metric (dz/dq)"""
    count, products = beams.size[f, 0], beams.size[f, 1]
    for k in range(count):
        for j in range(count):
            m_ee[k, j] = beams.second[f, k, j, METRIC]
    if products == 0:
        return
    for p in range(products):
        for side in range(2):
            k, e = beams.pairs[f, p, side], s.z[0, beams.pairs[f, p, 1 - side]]
            for j in range(count):
                m_ee[k, j] += e * beams.second[f, count + p, j, METRIC]
                m_ee[j, k] += e * beams.second[f, count + p, j, METRIC]
            for r in range(products):
                for other in range(2):
                    j, d = beams.pairs[f, r, other], s.z[0, beams.pairs[f, r, 1 - other]]
                    m_ee[k, j] += e * d * beams.second[f, count + p, count + r, METRIC]
