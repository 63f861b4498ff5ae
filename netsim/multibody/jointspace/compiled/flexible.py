"""Joints that turn and shift with several coordinates at once: ball joints and the ends of bent links.

Seen from one side, the frame a, the other one stands at c and is turned by the Cayley rotation of psi (a ball joint's
follows its chart):

    c = U q + q.H q/2,   psi = D q,   w = T(psi) psi',   T(psi) d = s (d + psi x d/2),   s = 1/(1 + |psi|^2/4).

The twist per unit rate of q_k, about a's point and in its axes, is s_k = (u_k + c x t_k, t_k) with u_k = dc/dq_k, t_k =
T(psi) D_k; Ad takes it to the world. Where the tree goes from a to b, and where it goes from b to a (so that a moves,
with the opposite twist),

    S_k = Ad s_k,    S_k' = V_a x S_k + Ad s_k',   E_k = Ad (s_k' - W x s_k),   E_k' = V_a x E_k + Ad (s_k'' - W' x s_k
    - W x s_k'), S_k = -Ad s_k,   S_k' = V_a x S_k - Ad s_k',   E_k = -Ad s_k',              E_k' = V_a x E_k - Ad s_k''

with W the sum of s_k q_k'. Both follow from S_k' = E_k + V_c x S_k, V_c being the motion of the link that moves.
"""

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.multibody.jointspace.compiled.plan import CHART, FIRST, FREEDOM, PARENT, SIGN, SLOT_A, SLOT_V, SLOT_X
from netsim.multibody.jointspace.compiled.twists import bracket, cayley, cross, in_world, product


@compiled
def flexible_motion(p, m, g, i, centre):
    """Motion of link i behind a joint of several coordinates, with the columns S, S', E, E' and the joint's dS_k/dq_j;
    `centre` goes from one side of the joint to the other."""
    b, first, count = p.links[i, PARENT], p.links[i, FIRST], p.links[i, FREEDOM]
    forward = p.links[i, SIGN] > 0
    scale = 1.0 if forward else -1.0
    psi, c, s = np.zeros((3, 3)), np.zeros((3, 3)), np.empty(3)  # with their first and second rates
    u = np.zeros((count, 3, 3))
    _placed(p, g, first, count, psi, c, u, s)
    twist, before = np.empty((count, 3, 6)), centre.copy()
    for k in range(count):
        _twist(p.lean[first + k], psi, c, u[k], s, twist[k])
    _turn(p, m, g, i, psi[0], s[0])
    R = m.R[b] if forward else m.R[i]
    for r in range(3):
        for q in range(3):
            centre[r] += scale * R[3 * r + q] * c[0, q]
    o = before if forward else centre
    for k in range(count):
        in_world(R, o, twist[k, 0], scale, m.S[first + k])
        for r in range(6):
            m.V[i, r] += m.S[first + k, r] * g[p.coordinates[first + k, SLOT_V]]
    _rates(p, m, g, i, R, o, scale, twist)
    _bending(p, m, i, R, o, scale, psi[0], c[0], u, s[0], twist)


@compiled
def _turn(p, m, g, i, psi, s):
    """The rotation of link i; where it is carried by the bent link's end, of what is turned against it."""
    b, chart, local, full = p.links[i, PARENT], p.links[i, CHART], np.empty(9), np.empty(9)
    cayley(psi * p.links[i, SIGN], s, local)
    if chart >= 0:
        product(local, g[chart : chart + 9], full)
        product(m.R[b], full, m.R[i])
    else:
        product(m.R[b], local, m.R[i])


@compiled
def _placed(p, g, first, count, psi, c, u, s):
    """psi, c and u_k with their first and second rates (rows), and s with its own."""
    for k in range(count):
        at, row = p.coordinates[first + k], first + k
        q, v, a = g[at[SLOT_X]], g[at[SLOT_V]], g[at[SLOT_A]]
        for r in range(3):
            psi[0, r] += p.lean[row, 3 + r] * q
            psi[1, r] += p.lean[row, 3 + r] * v
            psi[2, r] += p.lean[row, 3 + r] * a
            for j in range(count):
                h, by = p.foreshortening[p.flexible_first[row] + j, r], p.coordinates[first + j]
                u[k, 0, r] += h * g[by[SLOT_X]]
                u[k, 1, r] += h * g[by[SLOT_V]]
                u[k, 2, r] += h * g[by[SLOT_A]]
            c[0, r] += (p.lean[row, r] + u[k, 0, r] / 2.0) * q
            u[k, 0, r] += p.lean[row, r]
            c[1, r] += u[k, 0, r] * v
            c[2, r] += u[k, 0, r] * a + u[k, 1, r] * v
    square, once, twice = 0.0, 0.0, 0.0
    for r in range(3):
        square += psi[0, r] ** 2
        once += psi[0, r] * psi[1, r]
        twice += psi[1, r] ** 2 + psi[0, r] * psi[2, r]
    s[0] = 1.0 / (1.0 + square / 4.0)
    s[1] = -(s[0] ** 2) * once / 2.0
    s[2] = -s[0] * s[1] * once - s[0] ** 2 * twice / 2.0


@compiled
def _twist(lean, psi, c, u, s, out):
    """s_k with its first and second rates, rows of out (3, 6)."""
    d, t, part = lean[3:], np.empty((3, 3)), np.empty((3, 3))
    for order in range(3):
        cross(psi[order], 0, d, 0, part[order], 0)
    for r in range(3):
        whole = d[r] + part[0, r] / 2.0
        t[0, r] = s[0] * whole
        t[1, r] = s[1] * whole + s[0] * part[1, r] / 2.0
        t[2, r] = s[2] * whole + s[1] * part[1, r] + s[0] * part[2, r] / 2.0
    for order in range(3):
        for r in range(3):
            out[order, r], out[order, 3 + r] = u[order, r], t[order, r]
    for order, i, j, times in (
        (0, 0, 0, 1.0),
        (1, 1, 0, 1.0),
        (1, 0, 1, 1.0),
        (2, 2, 0, 1.0),
        (2, 1, 1, 2.0),
        (2, 0, 2, 1.0),
    ):
        cross(c[i], 0, t[j], 0, part[0], 0)
        for r in range(3):
            out[order, r] += times * part[0, r]


@compiled
def _rates(p, m, g, i, R, o, scale, twist):
    """S', E, E' of the joint's coordinates, and A of the link."""
    b, first, count = p.links[i, PARENT], p.links[i, FIRST], p.links[i, FREEDOM]
    forward = scale > 0.0
    V = m.V[b] if forward else m.V[i]
    W, dW, e, de = np.zeros(6), np.zeros(6), np.empty(6), np.empty(6)
    if forward:
        for k in range(count):
            v, a = g[p.coordinates[first + k, SLOT_V]], g[p.coordinates[first + k, SLOT_A]]
            for r in range(6):
                W[r] -= twist[k, 0, r] * v
                dW[r] -= twist[k, 0, r] * a + twist[k, 1, r] * v
    for k in range(count):
        e[:], de[:] = twist[k, 1], twist[k, 2]
        if forward:
            bracket(W, twist[k, 0], e)
            bracket(dW, twist[k, 0], de)
            bracket(W, twist[k, 1], de)
        row = first + k
        in_world(R, o, twist[k, 1], scale, m.dS[row])
        bracket(V, m.S[row], m.dS[row])
        in_world(R, o, e, scale, m.E[row])
        in_world(R, o, de, scale, m.dE[row])
        bracket(V, m.E[row], m.dE[row])
        v, a = g[p.coordinates[row, SLOT_V]], g[p.coordinates[row, SLOT_A]]
        for r in range(6):
            m.A[i, r] += m.S[row, r] * a + m.dS[row, r] * v


@compiled
def _bending(p, m, i, R, o, scale, psi, c, u, s, twist):
    """m.bend: dS_k/dq_j of one joint's coordinates, what is before it being held."""
    first, count = p.links[i, FIRST], p.links[i, FREEDOM]
    found, part, turn = np.empty(6), np.empty(3), np.empty(3)
    for k in range(count):
        d, t = p.lean[first + k, 3:], twist[k, 0, 3:]
        for j in range(count):
            by, at = p.lean[first + j, 3:], p.flexible_first[first + k] + j
            slope = -(s**2) * (psi[0] * by[0] + psi[1] * by[1] + psi[2] * by[2]) / 2.0
            cross(psi, 0, d, 0, part, 0)
            cross(by, 0, d, 0, turn, 0)
            for r in range(3):
                found[3 + r] = slope * (d[r] + part[r] / 2.0) + s * turn[r] / 2.0
            cross(u[j, 0], 0, t, 0, part, 0)
            cross(c, 0, found, 3, turn, 0)
            for r in range(3):
                found[r] = p.foreshortening[at, r] + part[r] + turn[r]
            in_world(R, o, found, scale, m.bend[at])
            if scale < 0.0:
                bracket(m.S[first + j], m.S[first + k], m.bend[at])
