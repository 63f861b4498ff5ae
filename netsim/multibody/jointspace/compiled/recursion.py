"""The compiled element: motion outward, wrenches and their derivatives inward, in world axes about the world's origin.

With V the twist (velocity of the body-fixed point at the origin, angular velocity), A = dV/dt, S_k the twist per unit
rate of coordinate k, W the motion of a link relative to the one before, [ x ] the bracket of twists:

    V_i = V_p + W,    A_i = A_p + V_p x W + W',    tau_k = S_k . (sum of the wrenches on all that k carries).

A body i behind coordinate k of link c answers to it with

    displacement S_k,    dV_i/dq = E + S_k x (V_i - V_c),    dA_i/dq = E' + S_k' x (V_i - V_c) + S_k x (A_i - A_c),
    dV_i/dv = S_k,       dA_i/dv = S_k' + dV_i/dq,            dA_i/da = S_k

where S_k' is the rate of S_k and E = dW/dq of the joint alone (zero but for joints of several coordinates: bends.py).
The element is called before and after the kernels of all other elements: they see frames and add wrenches to their
rows.
"""

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.multibody.jointspace.compiled.flexible import flexible_motion
from netsim.multibody.jointspace.compiled.plan import (  # fmt: skip
    AFTER,
    AXIS,
    BEFORE,
    BODY,
    FIRST,
    FLAT,
    FRAME_CHARTS,
    FRAME_X,
    FRAMES,
    KIND,
    LINK,
    PARENT,
    ROW,
    ROWS,
    SLOT_A,
    SLOT_V,
    SLOT_X,
)
from netsim.multibody.jointspace.compiled.twists import about, bracket, cross, product, rotation, turned
from netsim.multibody.jointspace.joints import FIXED, PRISMATIC, REVOLUTE


@compiled
def outward(p, m, g):  # noqa: C901  (one pass from link to link)
    """Frames, twists, their rates and the columns S, S', E, E' from the ground to the leaves; writes the frames that
    follow to g."""
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
            flexible_motion(p, m, g, i, centre)
        turned(m.R[i], p.geometry[i], AFTER, n)
        for c in range(3):
            m.r[i, c] = centre[c] + n[c]
        if links[i, BODY] >= 0:
            _show(p, m, g, i)


@compiled
def _show(p, m, g, i):
    """The frame of a link's body in g: r and its rates, a chart at the present rotation with psi = 0, psi' = w, psi'' =
    w'; in the plane the third component is the angle."""
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
