"""The step matrix in joint coordinates: what kernels say of frames, at the entries of the coordinates that move them.

Kernels leave derivatives by and of frames in a buffer. All that a coordinate's unknown does to a body behind it follows
from three twists that are the same for all bodies: with S_k its column, V_c and A_c the motion of its link c, d(x, v,
a)/du = (kx, kv, ka),

    X_k = kx S_k,   U_k = kv S_k + kx S'_k,   B_k = ka S_k + kv (S'_k + U) + kx (E'_k - S'_k x V_c - S_k x A_c),   U =
    E_k - S_k x V_c = S'_k,

    a body answers with X_k,   U_k + X_k x V,   B_k + U_k x V + X_k x A:

the shift of `netsim.multibody.tree.algorithms.derivatives`. So how the wrench on a body answers is a matrix (6, 18) on
(X, U, B), and what a link carries answers with the sum of its bodies' (`carried`): nothing is transformed on the way. A
row meets the coordinates before its link with its covector, those behind it meet its axis with their wrenches: 24
multiplications an entry. Pairs of two bodies (a spring between them) become wrenches per unit of a coordinate's
unknown, which travel inward like any wrench.
"""

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.equations.forms.symbols import UNIFORMS
from netsim.multibody.jointspace.compiled.plan import BODY, BUFFER, ENTRIES, FIRST, FLAT, FREEDOM, LINK, PARENT, ROWS
from netsim.multibody.jointspace.compiled.twists import bracket, cross

KX = 1 + UNIFORMS.index("kx")
BEFORE, BEHIND, OWN, ELSEWHERE = range(4)
"""Where a column of a link stands: it moves the link, it is moved by it, it is one of its own; else a pair of bodies
leads there."""


@compiled
def answers(p, m, kx, kv, ka):
    """m.shift: X, U, B of every coordinate; m.answer: x, v, a (charts' coordinates for rotations) of bodies that other
    equations read."""
    d = np.empty(6)
    for k in range(p.coordinates.shape[0]):
        c, s = p.coordinates[k, LINK], m.shift[k]
        for r in range(6):
            s[r] = kx * m.S[k, r]
            s[6 + r] = kv * m.S[k, r] + kx * m.dS[k, r]
            s[12 + r] = ka * m.S[k, r] + 2.0 * kv * m.dS[k, r] + kx * m.dE[k, r]
        d[:] = 0.0
        bracket(m.V[c], m.dS[k], d)
        bracket(m.A[c], m.S[k], d)
        for r in range(6):
            s[12 + r] += kx * d[r]
    V, A, part = np.empty(6), np.empty(6), np.empty(3)
    v = np.empty(3)
    for i in range(1, p.links.shape[0]):
        body = p.links[i, BODY]
        if body < 0 or not p.read[body]:
            continue
        _point_velocity(m, i, v)
        for at in range(p.path_first[body], p.path_first[body + 1]):
            s = m.shift[p.path[at]]
            for r in range(6):
                V[r], A[r] = s[6 + r], s[12 + r]
            bracket(s[:6], m.V[i], V)
            bracket(s[6:12], m.V[i], A)
            bracket(s[:6], m.A[i], A)
            y = m.answer[at]
            _place_answers(m.r[i], v, m.V[i, 3:], m.A[i, 3:], s, V, A, part, y)
            if p.links[i, FLAT]:  # an angle is no chart
                y[17] = A[5]


@compiled
def _point_velocity(m, i, v):
    """v = the velocity of the point of link i's body."""
    cross(m.V[i], 3, m.r[i], 0, v, 0)
    for c in range(3):
        v[c] += m.V[i, c]


@compiled
def _place_answers(r, v, w, alpha, X, V, A, part, y):
    """The same for the body's point and its chart: y = (dr, psi | dv, dpsi' | da, dpsi'')."""
    cross(X, 3, r, 0, part, 0)
    for c in range(3):
        y[c], y[3 + c] = X[c] + part[c], X[3 + c]
        y[6 + c], y[12 + c] = V[c], A[c]
    _add_cross(V, 3, r, 0, 1.0, y, 6)
    _add_cross(w, 0, y, 0, 1.0, y, 6)
    cross(X, 3, w, 0, part, 0)
    for c in range(3):
        y[9 + c] = V[3 + c] - part[c] / 2.0
    _add_cross(A, 3, r, 0, 1.0, y, 12)
    _add_cross(alpha, 0, y, 0, 1.0, y, 12)
    _add_cross(V, 3, v, 0, 1.0, y, 12)
    _add_cross(w, 0, y, 6, 1.0, y, 12)
    cross(X, 3, alpha, 0, part, 0)
    along = (X[3] * w[0] + X[4] * w[1] + X[5] * w[2]) / 2.0
    for c in range(3):
        y[15 + c] = A[3 + c] - part[c] / 2.0 + along * w[c]


@compiled
def _add_cross(a, i, b, j, scale, out, k):
    """out[k:] += scale a[i:] x b[j:]"""
    out[k] += scale * (a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1])
    out[k + 1] += scale * (a[i + 2] * b[j] - a[i] * b[j + 2])
    out[k + 2] += scale * (a[i] * b[j + 1] - a[i + 1] * b[j])


@compiled
def _shifted(r, v, V, A, flat, y, g):
    """y, a covector on (dr, psi | dv, dpsi' | da, dpsi'') of a body, becomes g, one on (X, U, B): `_place_answers` and
    the twists transposed."""
    w, alpha = V[3:], A[3:]
    for c in range(18):
        g[c] = 0.0
    for c in range(6):
        g[12 + c] = y[12 + c]
    if not flat:
        _add_cross(alpha, 0, y, 15, -0.5, g, 3)
        along = (y[15] * w[0] + y[16] * w[1] + y[17] * w[2]) / 2.0
        for c in range(3):
            g[3 + c] += along * w[c]
    _add_cross(r, 0, y, 12, 1.0, g, 15)
    _add_cross(v, 0, y, 12, 1.0, g, 9)
    _add_cross(y, 12, alpha, 0, 1.0, y, 0)
    _add_cross(y, 12, w, 0, 1.0, y, 6)
    for c in range(3):
        g[6 + c] += y[6 + c]
        g[9 + c] += y[9 + c]
    _add_cross(w, 0, y, 9, -0.5, g, 3)
    _add_cross(r, 0, y, 6, 1.0, g, 9)
    _add_cross(y, 6, w, 0, 1.0, y, 0)
    for c in range(3):
        g[c] += y[c]
        g[3 + c] += y[3 + c]
    _add_cross(r, 0, y, 0, 1.0, g, 3)
    _through_bracket(V, g, 6, 0)
    _through_bracket(A, g, 12, 0)
    _through_bracket(V, g, 12, 6)


@compiled
def _through_bracket(V, g, a, b):
    """g[b:] += what g[a:] says of (twist at b) x V."""
    _add_cross(V, 3, g, a, 1.0, g, b)
    _add_cross(V, 0, g, a, 1.0, g, b + 3)
    _add_cross(V, 3, g, a + 3, 1.0, g, b + 3)


@compiled
def spread_entries(p, m, g, out):
    """The buffered derivatives by and of frames, added to the matrix in out."""
    _alone(p, m, g, out)
    _by_columns(p, m, g, out)
    _carried(p, m, out)
    pairs = p.pairs.shape[0] > 0
    if pairs:
        _blocks(p, m, out)
    row = np.empty(18)
    for i in range(p.links.shape[0] - 1, 0, -1):
        for k in range(p.links[i, FIRST], p.links[i, FIRST] + p.links[i, FREEDOM]):
            _row(p, m, out, i, k, pairs, g[KX], row)
        if pairs and p.links[i, PARENT] > 0:
            parent = p.columns_first[p.links[i, PARENT]]
            for at in range(p.columns_first[i], p.columns_first[i + 1]):
                for c in range(6):
                    m.block[parent + p.up[at], c] += m.block[at, c]


@compiled
def _row(p, m, out, i, k, pairs, kx, row):  # noqa: C901  (columns of three kinds)
    """The row of coordinate k of link i: with its covector what stands before the link, with its axis what stands
    behind.

    The row's own direction turns with the coordinates before it, and with those of its own joint."""
    start, t, entries = p.columns_first[i], p.target_first[k], p.sizes[ENTRIES]
    for c in range(18):
        total = 0.0
        for r in range(6):
            total += m.S[k, r] * m.carried[i, 18 * r + c]
        row[c] = total
    for at in range(start, p.columns_first[i + 1]):
        place = p.target[t + at - start]
        if place < 0:
            continue
        j, side, value = p.columns[at], p.side[at], 0.0
        if side == BEHIND:
            for c in range(6):
                value += m.S[k, c] * m.behind[j, c]
        elif side == OWN:
            for c in range(18):
                value += row[c] * m.shift[j, c]
            if p.links[i, FREEDOM] > 1:
                turn = 0.0
                for c in range(6):
                    turn += m.bend[p.flexible_first[k] + j - p.links[i, FIRST], c] * m.wrench[i, c]
                value += kx * turn
        if pairs:
            for c in range(6):
                value += m.S[k, c] * m.block[at, c]
        out[entries + place] += value
    _add_cross(m.S[k], 3, m.wrench[i], 0, 1.0, row, 0)
    _add_cross(m.S[k], 0, m.wrench[i], 0, 1.0, row, 3)
    _add_cross(m.S[k], 3, m.wrench[i], 3, 1.0, row, 3)
    for at in range(start, p.columns_first[i + 1]):
        place = p.target[t + at - start]
        if place >= 0 and p.side[at] == BEFORE:
            value, s = 0.0, m.shift[p.columns[at]]
            for c in range(18):
                value += row[c] * s[c]
            out[entries + place] += value


@compiled
def _carried(p, m, out):
    """m.carried: how the wrench on all that a link carries answers to (X, U, B), (6, 18) by rows; m.behind: to a
    coordinate of its own."""
    buffer = p.sizes[BUFFER]
    m.carried[:] = 0.0
    for e in range(p.own.shape[0]):
        m.carried[p.own[e, 1], 18 * p.own[e, 2] + p.own[e, 3]] += out[buffer + p.own[e, 0]]
    v, y, g = np.empty(3), np.empty((6, 18)), np.empty(18)
    for i in range(1, p.links.shape[0]):
        if p.links[i, BODY] >= 0:
            _shift_body(p, m, out, i, v, y, g)
    for i in range(p.links.shape[0] - 1, 0, -1):
        for k in range(p.links[i, FIRST], p.links[i, FIRST] + p.links[i, FREEDOM]):
            for r in range(6):
                total = 0.0
                for c in range(18):
                    total += m.carried[i, 18 * r + c] * m.shift[k, c]
                m.behind[k, r] = total
        if p.links[i, PARENT] > 0:
            for c in range(108):
                m.carried[p.links[i, PARENT], c] += m.carried[i, c]


@compiled
def _shift_body(p, m, out, i, v, y, g):
    """What kernels say of link i's body, (6, 18) by its x, v, a, as moments about the origin and by (X, U, B); in
    m.carried."""
    at = p.sizes[ROWS] + 6 * p.links[i, BODY]
    fx, fy, fz = out[at], out[at + 1], 0.0 if p.links[i, FLAT] else out[at + 2]
    _point_velocity(m, i, v)
    for r in range(6):
        for c in range(18):
            y[r, c] = m.carried[i, 18 * r + c]
    for r in range(3):  # r x f
        a, b = (r + 1) % 3, (r + 2) % 3
        for c in range(18):
            y[3 + r, c] += m.r[i, a] * y[b, c] - m.r[i, b] * y[a, c]
    y[3, 1] += fz
    y[3, 2] -= fy
    y[4, 2] += fx
    y[4, 0] -= fz
    y[5, 0] += fy
    y[5, 1] -= fx
    for r in range(6):
        _shifted(m.r[i], v, m.V[i], m.A[i], p.links[i, FLAT], y[r], g)
        for c in range(18):
            m.carried[i, 18 * r + c] = g[c]


@compiled
def _alone(p, m, g, out):
    """Entries that came order by order although no frame is concerned, and rows of other equations."""
    entries, buffer = p.sizes[ENTRIES], p.sizes[BUFFER]
    for e in range(p.alone.shape[0]):
        out[entries + p.alone[e, 1]] += out[buffer + p.alone[e, 0]] * g[KX + p.alone[e, 2]]
    for e in range(p.by_rows.shape[0]):
        value, component, body, first = out[buffer + p.by_rows[e, 0]], p.by_rows[e, 1], p.by_rows[e, 2], p.by_rows[e, 3]
        start = p.path_first[body]
        for at in range(start, p.path_first[body + 1]):
            place = p.places[first + at - start]
            if place >= 0:
                out[entries + place] += value * m.answer[at, component]


@compiled
def _by_columns(p, m, g, out):
    """Wrenches on frames by unknowns that are no coordinates of frames: those of one unknown on one body together."""
    entries, buffer = p.sizes[ENTRIES], p.sizes[BUFFER]
    m.pull[:] = 0.0
    for e in range(p.by_columns.shape[0]):
        value, order = out[buffer + p.by_columns[e, 0]], p.by_columns[e, 1]
        m.pull[p.by_columns[e, 2], p.by_columns[e, 3]] += value * g[KX + order] if order >= 0 else value
    for u in range(p.pulls.shape[0]):
        link, first, w = p.pulls[u, 0], p.pulls[u, 1], m.pull[u]
        _add_cross(m.r[link], 0, w, 0, 1.0, w, 3)
        start = p.path_first[p.links[link, BODY]]
        for at in range(start, p.path_first[p.links[link, BODY] + 1]):
            place = p.places[first + at - start]
            if place >= 0:
                k, value = p.path[at], 0.0
                for c in range(6):
                    value += m.S[k, c] * w[c]
                out[entries + place] += value


@compiled
def _blocks(p, m, out):
    """m.block of every link: how the wrench on its own body answers to the columns that move other bodies."""
    m.block[:] = 0.0
    buffer = p.sizes[BUFFER]
    for e in range(p.pairs.shape[0]):
        value, link, row, body, component, first = (
            out[buffer + p.pairs[e, 0]], p.pairs[e, 1], p.pairs[e, 2], p.pairs[e, 3], p.pairs[e, 4], p.pairs[e, 5],
        )  # fmt: skip
        start = p.path_first[body]
        a, b = (row + 1) % 3, (row + 2) % 3
        for at in range(start, p.path_first[body + 1]):
            x = value * m.answer[at, component]
            place = p.places[first + at - start]
            m.block[place, row] += x
            if row < 3:  # r x f
                m.block[place, 3 + a] += m.r[link, b] * x
                m.block[place, 3 + b] -= m.r[link, a] * x
