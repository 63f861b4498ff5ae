"""The ways along which a network is collocated: a basis of the directions that its constraints leave open.

The constraints F_i^(m) = 0, m < c_i, hold at every point (`points`) and leave sum d - sum c of the states z_j^(k),
k < d_j, open. Those of depth p = d_j - k are bound by the rows with c_i >= p of

    G_ij = dF_i/dz_j^(d_j - c_i).

A basis T of the null space of G (states in parts of their sizes) makes y = T'z coordinates of what is open, and
collocation asks T'(D z - h z') = 0, which is that of the differential equation in y. T belongs to an interval and need
not be exact: it serves as long as the null space stays within 60 degrees of it (F. Potra and J. Yen, Implicit numerical
integration for Euler-Lagrange equations via tangent space parametrization, Mechanics of Structures and Machines 19,
1991). So small entries are left out, and where a solution turned farther than its guess, it is solved once more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.radau import Mesh

Array = np.ndarray
SMALL = 0.3
"""Entries of a way that are smaller than this part of its largest one are left out."""
NEAR = 0.5
"""The cosine of the largest angle between the directions taken and those that are open."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The entries of T in all intervals: the interval, the number of the state (among `Point.state_places`), the way,
    the value."""

    interval: Array
    state: Array
    way: Array
    value: Array

    def matrix(self, point: Point, interval: int) -> Array:
        """T of an interval (states, ways)."""
        found = np.zeros((len(point.state_places), point.ways))
        own = self.interval == interval
        found[self.state[own], self.way[own]] = self.value[own]
        return found


def ways_of(point: Point, mesh: Mesh, g: Array, z: Array, kept: Ways | None = None) -> Ways:
    """The ways near variables z (variables, points) with g (slots, points). Those `kept` stay in all intervals in which
    they serve at every point; they are the answer themselves where they serve everywhere."""
    count = len(point.state_places)
    if point.ways == count:
        interval, state = np.divmod(np.arange(mesh.intervals * count), max(count, 1))
        return kept or Ways(interval, state, state, np.ones(len(state)))
    turned = np.ones(mesh.intervals, bool)
    if kept is not None:
        at = mesh.numbers[:, 1:].ravel()
        held = np.repeat(np.arange(mesh.intervals), mesh.degree)
        turned[:] = False
        for k, levels in zip(held, _open(point, g[:, at], z[:, at])):
            own = kept.matrix(point, int(k))
            turned[k] |= any(_cosine(own[s][:, own[s].any(axis=0)], basis) < NEAR for s, basis in levels)
        if not turned.any():
            return kept
    fresh = np.flatnonzero(turned)
    at, size = mesh.numbers[fresh, (mesh.degree + 1) // 2], _sizes(point)
    found = [np.zeros((4, 0))]
    for k, levels in zip(fresh, _open(point, g[:, at], z[:, at])):
        first = 0
        for states, basis in levels:
            large = np.abs(basis) >= SMALL * np.abs(basis).max(axis=0, initial=0.0)
            state, way = np.nonzero(large & (basis != 0.0))
            value = basis[state, way] / size[states[state]]
            found.append(np.stack([np.full(len(way), k), states[state], first + way, value]))
            first += basis.shape[1]
    if kept is not None:
        own = ~turned[kept.interval]
        found.append(np.stack([kept.interval, kept.state, kept.way, kept.value])[:, own])
    interval, state, way, value = np.hstack(found)
    return Ways(interval.astype(int), state.astype(int), way.astype(int), value)


def _sizes(point: Point) -> Array:
    return point.size_of[0, point.states[0]]


def _open(point: Point, g: Array, z: Array) -> Iterator[list[tuple[Array, Array]]]:
    """For every point and depth the numbers of its states and a basis of what is open (states, open), in parts of
    sizes."""
    bound, moving = np.flatnonzero(point.c > 0), np.flatnonzero(point.d > 0)
    slopes, last = point.slopes(g, z), np.cumsum(point.d)
    order = point.d[moving] - point.c[bound, None]
    column = point.first[moving] + np.maximum(order, 0)
    for k in range(z.shape[1]):
        own = slopes[k * point.rows + point.equations[bound]][:, k * point.size : (k + 1) * point.size].toarray()
        matrix = np.where(order >= 0, np.take_along_axis(own, column, axis=1), 0.0) * point.size_of[0, moving]
        matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
        found = []
        for depth in range(1, int(point.d.max()) + 1):
            there = point.d[moving] >= depth
            found.append((last[moving[there]] - depth, _null(matrix[np.ix_(point.c[bound] >= depth, there)])))
        yield found


def _null(matrix: Array) -> Array:
    """A basis of the null space: a unit vector for every column that no row needs, and what others owe to it."""
    from scipy.linalg import qr, solve_triangular

    count, width = matrix.shape
    if not count:
        return np.eye(width)
    upper, pivots = qr(matrix, mode="r", pivoting=True)
    found = np.zeros((width, width - count))
    found[pivots[count:], np.arange(width - count)] = 1.0
    found[pivots[:count]] = -solve_triangular(upper[:count, :count], upper[:count, count:])
    return found


def _cosine(one: Array, other: Array) -> float:
    """The cosine of the largest angle between the spaces of two sets of columns."""
    if not other.shape[1]:
        return 1.0
    return float(np.linalg.svd(np.linalg.qr(one)[0].T @ np.linalg.qr(other)[0], compute_uv=False).min())
