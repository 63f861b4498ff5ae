"""The step matrix in joint coordinates: what kernels say of frames, at the entries of the coordinates that move them.

Kernels leave derivatives by and of frames in a buffer; every one is spread over the coordinates before the frame. Of two frames it first becomes a
wrench per unit of a coordinate's unknown, which travels inward like any wrench. What the rows' own directions do with the coordinates comes last.
"""

from __future__ import annotations

import numpy as np

from netsim.jointspace.recursion import BODY, BUFFER, ENTRIES, FIRST, FLAT, FREEDOM, LINK, PARENT, ROWS, bracket, cross
from netsim.kernels.call import compiled
from netsim.kernels.form import UNIFORMS

KX = 1 + UNIFORMS.index("kx")


@compiled
def answers(p, m, kx, kv, ka):
    """m.answer: x, v, a of every body (charts' coordinates for rotations) per unit of each coordinate's unknown."""
    X, V, A, d, e = np.empty(6), np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    part = np.empty(3)
    for i in range(1, p.links.shape[0]):
        body = p.links[i, BODY]
        if body < 0:
            continue
        w = m.V[i, 3:]
        alpha = m.A[i, 3:]
        v = np.empty(3)
        cross(w, 0, m.r[i], 0, v, 0)
        for c in range(3):
            v[c] += m.V[i, c]
        for at in range(p.path_first[body], p.path_first[body + 1]):
            k = p.path[at]
            _twist_answers(p, m, i, k, kx, kv, ka, X, V, A, d, e)
            y = m.answer[at]
            _place_answers(m.r[i], v, w, alpha, X, V, A, part, y)
            if p.links[i, FLAT]:  # an angle is no chart
                y[17] = A[5]


@compiled
def _twist_answers(p, m, i, k, kx, kv, ka, X, V, A, d, e):
    """Displacement, twist and its rate of link i per unit of coordinate k's unknown."""
    c = p.coordinates[k, LINK]
    for r in range(6):
        V[r], A[r] = m.E[k, r], m.dE[k, r]
        d[r], e[r] = m.V[i, r] - m.V[c, r], m.A[i, r] - m.A[c, r]
    bracket(m.S[k], d, V)
    bracket(m.dS[k], d, A)
    bracket(m.S[k], e, A)
    for r in range(6):
        X[r] = kx * m.S[k, r]
        A[r] = ka * m.S[k, r] + kv * (m.dS[k, r] + V[r]) + kx * A[r]
        V[r] = kx * V[r] + kv * m.S[k, r]


@compiled
def _place_answers(r, v, w, alpha, X, V, A, part, y):
    """The same for the body's point and its chart: y = (dr, psi | dv, dpsi' | da, dpsi'')."""
    cross(X, 3, r, 0, part, 0)
    for c in range(3):
        y[c], y[3 + c] = X[c] + part[c], X[3 + c]
    cross(V, 3, r, 0, part, 0)
    for c in range(3):
        y[6 + c] = V[c] + part[c]
    cross(w, 0, y, 0, part, 0)
    for c in range(3):
        y[6 + c] += part[c]
    cross(X, 3, w, 0, part, 0)
    for c in range(3):
        y[9 + c] = V[3 + c] - part[c] / 2.0
    cross(A, 3, r, 0, part, 0)
    for c in range(3):
        y[12 + c] = A[c] + part[c]
    cross(alpha, 0, y, 0, part, 0)
    for c in range(3):
        y[12 + c] += part[c]
    cross(V, 3, v, 0, part, 0)
    for c in range(3):
        y[12 + c] += part[c]
    cross(w, 0, y, 6, part, 0)
    for c in range(3):
        y[12 + c] += part[c]
    cross(X, 3, alpha, 0, part, 0)
    along = (X[3] * w[0] + X[4] * w[1] + X[5] * w[2]) / 2.0
    for c in range(3):
        y[15 + c] = A[3 + c] - part[c] / 2.0 + along * w[c]


@compiled
def spread_entries(p, m, g, out):
    """The buffered derivatives by and of frames, added to the matrix in out."""
    _alone(p, m, g, out)
    _by_columns(p, m, g, out)
    _blocks(p, m, out)
    for i in range(p.links.shape[0] - 1, 0, -1):
        start, stop = p.columns_first[i], p.columns_first[i + 1]
        for k in range(p.links[i, FIRST], p.links[i, FIRST] + p.links[i, FREEDOM]):
            for at in range(start, stop):
                place = p.target[p.target_first[k] + at - start]
                if place >= 0:
                    for c in range(6):
                        out[p.sizes[ENTRIES] + place] += m.S[k, c] * m.block[at, c]
            _turning(p, m, out, i, k, g[KX])
        if p.links[i, PARENT] > 0:
            parent = p.columns_first[p.links[i, PARENT]]
            for at in range(start, stop):
                for c in range(6):
                    m.block[parent + p.up[at], c] += m.block[at, c]


@compiled
def _alone(p, m, g, out):
    """Entries that came level by level although no frame is concerned, and rows of other equations."""
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
    """Wrenches on frames by unknowns that are no coordinates of frames."""
    entries, buffer = p.sizes[ENTRIES], p.sizes[BUFFER]
    for e in range(p.by_columns.shape[0]):
        value, level = out[buffer + p.by_columns[e, 0]], p.by_columns[e, 1]
        link, component, first = p.by_columns[e, 2], p.by_columns[e, 3], p.by_columns[e, 4]
        if level >= 0:
            value *= g[KX + level]
        start = p.path_first[p.links[link, BODY]]
        for at in range(start, p.path_first[p.links[link, BODY] + 1]):
            place = p.places[first + at - start]
            if place >= 0:
                out[entries + place] += value * _seen(m, p.path[at], link, component)


@compiled
def _seen(m, k, i, component):
    """Component of the velocity (0..2) or the angular velocity (3..5) of link i's body per unit rate of coordinate k."""
    if component > 2:
        return m.S[k, component]
    a, b = (component + 1) % 3, (component + 2) % 3
    return m.S[k, component] + m.S[k, 3 + a] * m.r[i, b] - m.S[k, 3 + b] * m.r[i, a]


@compiled
def _blocks(p, m, out):
    """m.block of every link: how the wrench on its own body answers to the columns."""
    m.block[:] = 0.0
    buffer, rows = p.sizes[BUFFER], p.sizes[ROWS]
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
    moved = np.empty(3)
    for i in range(1, p.links.shape[0]):
        body = p.links[i, BODY]
        if body >= 0:
            force = out[rows + 6 * body : rows + 6 * body + 3].copy()
            if p.links[i, FLAT]:
                force[2] = 0.0
            for at in range(p.path_first[body], p.path_first[body + 1]):
                cross(m.answer[at], 0, force, 0, moved, 0)
                place = p.columns_first[i] + _position(p, i, p.path[at])
                for c in range(3):
                    m.block[place, 3 + c] += moved[c]


@compiled
def _position(p, i, k):
    """Where coordinate k stands among the (ordered) columns of link i."""
    low, high = p.columns_first[i], p.columns_first[i + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if p.columns[middle] <= k:
            low = middle
        else:
            high = middle
    return low - p.columns_first[i]


@compiled
def _turning(p, m, out, i, k, kx):
    """The row of coordinate k of link i changes its direction with the coordinates before it, and with those of its own ball joint."""
    d, t = np.zeros(6), p.target_first[k]
    b = p.links[i, PARENT]
    while b > 0:
        for j in range(p.links[b, FIRST], p.links[b, FIRST] + p.links[b, FREEDOM]):
            place = p.target[t + _position(p, i, j)]
            if place >= 0:
                d[:] = 0.0
                bracket(m.S[j], m.S[k], d)
                _add_turn(p, m, out, i, place, kx, d)
        b = p.links[b, PARENT]
    if p.links[i, FREEDOM] == 3:
        for j in range(p.links[i, FIRST], p.links[i, FIRST] + 3):
            place = p.target[t + _position(p, i, j)]
            if place >= 0:
                _add_turn(p, m, out, i, place, kx, m.bend[k, j - p.links[i, FIRST]])


@compiled
def _add_turn(p, m, out, i, place, kx, d):
    value = 0.0
    for c in range(6):
        value += d[c] * m.wrench[i, c]
    out[p.sizes[ENTRIES] + place] += kx * value
