"""The compiled element: motion outward, wrenches and their derivatives inward, in world axes about the world's origin.

With V the twist (velocity of the body-fixed point at the origin, angular velocity), A = dV/dt, S_k the twist per unit rate of coordinate k, W the
motion of a link relative to the one before, [ x ] the bracket of twists:

    V_i = V_p + W,    A_i = A_p + V_p x W + W',    tau_k = S_k . (sum of the wrenches on all that k carries).

A body i behind coordinate k of link c answers to it with

    displacement S_k,    dV_i/dq = E + S_k x (V_i - V_c),    dA_i/dq = E' + S_k' x (V_i - V_c) + S_k x (A_i - A_c),
    dV_i/dv = S_k,       dA_i/dv = S_k' + dV_i/dq,            dA_i/da = S_k

where S_k' is the rate of S_k and E = dW/dq of the joint alone (zero but for a ball joint, whose coordinates are those of a Cayley chart). The element
is called before and after the kernels of all other elements: they see frames and add wrenches to their rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netsim.jointspace.joints import FIXED, PRISMATIC, REVOLUTE
from netsim.kernels.call import compiled

LINKS, COORDINATES, FRAMES, FRAME_X, FRAME_CHARTS, ROWS, MULTIPLIERS, N_MULTIPLIERS, ENTRIES, BUFFER, N_BUFFER, N_G, N_OUT = range(13)
PARENT, KIND, FIRST, FREEDOM, BODY, CHART, FLAT = range(7)
AXIS, BEFORE, AFTER = 0, 3, 6
SLOT_X, SLOT_V, SLOT_A, ROW, LINK = range(5)


class Plan(NamedTuple):
    """Integers: sizes; links (L, 7): PARENT ... CHART (slot of a ball joint's chart), FLAT (a body in the plane); coordinates (K, 5): slots,
    row, link.

    path_first, path: coordinates before the link of every body. columns_first, columns, up: the coordinates that act on what a link carries, and
    where each stands in its parent's list. target: matrix entries of (coordinate k, column), from target_first[k] on; -1 without an unknown.
    Entries in the buffer: alone (b, target, level), rows (b, component, body, first target), columns (b, level, pull, component),
    pairs (b, body, component, body, component, first place in columns); `places` has the lists they point to. own (b, link, component, component):
    of a body by itself. side: how every column of a link stands to it. read: bodies that
    entries in `rows` and `pairs` speak of. pulls (link, first target): what one unknown does to one body.
    joints (J, 5): link, body, first multiplier, how many, first of its columns in the wrench matrix.
    geometry (L, 9): axis, from the body before to the joint, from the joint to the body.
    """

    sizes: np.ndarray
    links: np.ndarray
    coordinates: np.ndarray
    path_first: np.ndarray
    path: np.ndarray
    columns_first: np.ndarray
    columns: np.ndarray
    up: np.ndarray
    target_first: np.ndarray
    target: np.ndarray
    alone: np.ndarray
    by_rows: np.ndarray
    by_columns: np.ndarray
    pairs: np.ndarray
    places: np.ndarray
    joints: np.ndarray
    geometry: np.ndarray
    own: np.ndarray
    side: np.ndarray
    read: np.ndarray
    pulls: np.ndarray


class Motion(NamedTuple):
    """Of links: r (L, 3), R (L, 9), V, A (L, 6), the wrench on all they carry (L, 6), the angle they have turned by about z (L, 1: in the plane). Of
    coordinates: S, S', E, E' (K, 6), and of those of a ball joint bend (K, 3, 6): dS_k/dpsi_j. answer (P, 18): what a body's x, v, a do per unit of a
    coordinate's unknown; block (C, 6): wrenches per unit of the unknowns of columns. shift (K, 18): X, U, B of
    coordinates; behind (K, 6), carried (L, 108), pull (., 6): see netsim.jointspace.entries."""

    r: np.ndarray
    R: np.ndarray
    V: np.ndarray
    A: np.ndarray
    wrench: np.ndarray
    angle: np.ndarray
    S: np.ndarray
    dS: np.ndarray
    E: np.ndarray
    dE: np.ndarray
    bend: np.ndarray
    answer: np.ndarray
    block: np.ndarray
    shift: np.ndarray
    behind: np.ndarray
    carried: np.ndarray
    pull: np.ndarray


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
def outward(p, m, g):  # noqa: C901  (one pass from link to link)
    """Frames, twists, their rates and the columns S, S', E, E' from the ground to the leaves; writes the frames that follow to g."""
    links, coordinates = p.links, p.coordinates
    centre, n, local = np.empty(3), np.empty(3), np.empty(9)
    for i in range(1, links.shape[0]):
        b, kind, k = links[i, PARENT], links[i, KIND], links[i, FIRST]
        turned(m.R[b], p.geometry[i], BEFORE, centre)
        for c in range(3):
            centre[c] += m.r[b, c]
        for c in range(9):
            m.R[i, c] = m.R[b, c]
        for c in range(6):
            m.V[i, c], m.A[i, c] = m.V[b, c], m.A[b, c]
        m.angle[i, 0] = m.angle[b, 0]
        if kind in (REVOLUTE, PRISMATIC):
            q, v, a = g[coordinates[k, SLOT_X]], g[coordinates[k, SLOT_V]], g[coordinates[k, SLOT_A]]
            turned(m.R[b], p.geometry[i], AXIS, n)
            m.dS[k] = 0.0
            if kind == REVOLUTE:
                rotation(p.geometry[i, AXIS : AXIS + 3], q, local)
                product(m.R[b], local, m.R[i])
                about(centre, n, m.S[k])
                m.angle[i, 0] += q * p.geometry[i, AXIS + 2]
            else:
                for c in range(3):
                    m.S[k, c], m.S[k, 3 + c] = n[c], 0.0
                    centre[c] += q * n[c]
            bracket(m.V[b], m.S[k], m.dS[k])
            for c in range(6):
                m.V[i, c] += m.S[k, c] * v
                m.A[i, c] += m.S[k, c] * a + m.dS[k, c] * v
        elif kind != FIXED:
            _ball(p, m, g, i, centre)
        turned(m.R[i], p.geometry[i], AFTER, n)
        for c in range(3):
            m.r[i, c] = centre[c] + n[c]
        if links[i, BODY] >= 0:
            _show(p, m, g, i)


@compiled
def _ball(p, m, g, i, centre):
    """A ball joint with Cayley coordinates psi in the axes of the link before: w = s (psi' + psi x psi'/2), s = 1/(1 + |psi|^2/4)."""
    b, k = p.links[i, PARENT], p.links[i, FIRST]
    psi, rate, second = np.empty(3), np.empty(3), np.empty(3)
    for c in range(3):
        psi[c] = g[p.coordinates[k + c, SLOT_X]]
        rate[c], second[c] = g[p.coordinates[k + c, SLOT_V]], g[p.coordinates[k + c, SLOT_A]]
    s = 1.0 / (1.0 + (psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2) / 4.0)
    slope = (psi[0] * rate[0] + psi[1] * rate[1] + psi[2] * rate[2]) / 2.0
    w, dw, world, unit = np.empty(3), np.empty(3), np.empty(3), np.zeros(3)
    cross(psi, 0, rate, 0, w, 0)
    cross(psi, 0, second, 0, dw, 0)
    for c in range(3):
        w[c] = s * (rate[c] + w[c] / 2.0)
        dw[c] = s * (second[c] + dw[c] / 2.0 - slope * w[c])
    chart, local, full = p.links[i, CHART], np.empty(9), np.empty(9)
    _cayley(psi, s, local)
    product(local, g[chart : chart + 9], full)
    product(m.R[b], full, m.R[i])
    W = np.empty(6)
    turned(m.R[b], w, 0, world)
    about(centre, world, W)
    for c in range(6):
        m.V[i, c] += W[c]
    bracket(m.V[b], W, m.A[i])
    turned(m.R[b], dw, 0, world)
    about(centre, world, W)
    for c in range(6):
        m.A[i, c] += W[c]
    t, dt, e, de = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for j in range(3):
        unit[:] = 0.0
        unit[j] = 1.0
        cross(psi, 0, unit, 0, t, 0)
        cross(rate, 0, unit, 0, dt, 0)
        cross(unit, 0, rate, 0, e, 0)
        cross(unit, 0, second, 0, de, 0)
        for c in range(3):
            t[c] = s * (unit[c] + t[c] / 2.0)
            dt[c] = s * (dt[c] / 2.0 - slope * t[c])
            e[c] = s * (e[c] / 2.0 - psi[j] / 2.0 * w[c])
            de[c] = s * (de[c] / 2.0 - rate[j] / 2.0 * w[c] - slope * e[c] - psi[j] / 2.0 * dw[c])
        for target, rated, x, dx in ((m.S, m.dS, t, dt), (m.E, m.dE, e, de)):
            turned(m.R[b], x, 0, world)
            about(centre, world, target[k + j])
            turned(m.R[b], dx, 0, world)
            about(centre, world, rated[k + j])
            bracket(m.V[b], target[k + j], rated[k + j])
        for other in range(3):
            e[:] = 0.0
            e[other] = 1.0
            cross(e, 0, unit, 0, de, 0)
            for c in range(3):
                de[c] = s * (de[c] / 2.0 - psi[other] / 2.0 * t[c])
            turned(m.R[b], de, 0, world)
            about(centre, world, m.bend[k + j, other])


@compiled
def _cayley(psi, s, out):
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
def _show(p, m, g, i):
    """The frame of a link's body in g: r and its rates, a chart at the present rotation with psi = 0, psi' = w, psi'' = w'; in the plane the third
    component is the angle."""
    body, count = p.links[i, BODY], 6 * p.sizes[FRAMES]
    x, chart = p.sizes[FRAME_X] + 6 * body, p.sizes[FRAME_CHARTS] + 9 * body
    v, turn = np.empty(3), np.empty(3)
    cross(m.V[i], 3, m.r[i], 0, v, 0)
    for c in range(3):
        v[c] += m.V[i, c]
        g[x + c], g[x + 3 + c] = m.r[i, c], 0.0
        g[x + count + c], g[x + count + 3 + c] = v[c], m.V[i, 3 + c]
        g[x + 2 * count + 3 + c] = m.A[i, 3 + c]
    cross(m.A[i], 3, m.r[i], 0, turn, 0)
    for c in range(3):
        g[x + 2 * count + c] = m.A[i, c] + turn[c]
    cross(m.V[i], 3, v, 0, turn, 0)
    for c in range(3):
        g[x + 2 * count + c] += turn[c]
    if p.links[i, FLAT]:
        g[x + 2], g[x + count + 2], g[x + 2 * count + 2] = m.angle[i, 0], m.V[i, 5], m.A[i, 5]
    for c in range(9):
        g[chart + c] = m.R[i, c]


@compiled
def inward(p, m, out):
    """Wrenches on the bodies (rows of out) to their parents: m.wrench of every link, about the origin."""
    m.wrench[:] = 0.0
    own, moment = np.empty(6), np.empty(3)
    for i in range(p.links.shape[0] - 1, 0, -1):
        if p.links[i, BODY] >= 0:
            at = p.sizes[ROWS] + 6 * p.links[i, BODY]
            for c in range(6):
                own[c] = out[at + c]
            if p.links[i, FLAT]:
                own[5], own[2] = own[2], 0.0
            cross(m.r[i], 0, own, 0, moment, 0)
            for c in range(3):
                m.wrench[i, c] += own[c]
                m.wrench[i, 3 + c] += own[3 + c] + moment[c]
        for c in range(6):
            m.wrench[p.links[i, PARENT], c] += m.wrench[i, c]


@compiled
def balances(p, m, out):
    """tau_k = S_k . wrench, added to the coordinates' rows."""
    for k in range(p.coordinates.shape[0]):
        i = p.coordinates[k, LINK]
        for c in range(6):
            out[p.coordinates[k, ROW]] += m.S[k, c] * m.wrench[i, c]
