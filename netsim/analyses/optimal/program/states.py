"""Which states of a chosen point are differentiated: those that the equations leave open; others are dummy derivatives.

The constraints F_i^(m) = 0, m < c_i, of the orders that a point has (`points`) determine sum c_i of the sum d_j states
z_j^(k), k < d_j. Of equal depth, c_i - m = d_j - k, they do so by the matrix

    G_ij = dF_i/dz_j^(d_j - c_i),

whose rows with c_i >= p determine as many states of depth p; a pivoted QR factorisation chooses the best conditioned
ones. The choice belongs to an interval of the mesh, so a mechanism may turn as far as it likes (S. Mattsson and
G. Soederlind, Index reduction in differential-algebraic equations using dummy derivatives, SIAM J. Sci. Comput. 14,
1993).
"""

from typing import Any

import numpy as np

from netsim.analyses.optimal.program.blocks import slopes_of
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.radau import Mesh

Array = np.ndarray
KEPT = 0.2
"""A choice is kept from interval to interval as long as it is conditioned so well beside the best one."""


def point_slopes(point: Point, g: Array, z: Array) -> Any:
    """The Jacobian of the rows of points, one behind the other, with g (slots, points) and variables z (variables,
    points), without relations."""
    count = z.shape[1]
    rows = np.arange(point.rows)[:, None] + np.arange(count) * point.rows
    blocks = list(point.blocks(g, np.arange(count) * point.size, rows))
    return slopes_of(blocks, z.T.ravel(), count * point.rows)


def open_places(point: Point, mesh: Mesh, g: Array, z: Array, kept: Array | None = None) -> Array:
    """The places of the states that are differentiated in every interval (intervals, states), near a guess z
    (variables, points) with g (slots, points); `kept`, the places of an interval before."""
    bound, moving = np.flatnonzero(point.c > 0), np.flatnonzero(point.d > 0)
    if not point.chosen or not len(bound):
        return np.tile(point.state_places, (mesh.intervals, 1))
    at = mesh.numbers[:, (mesh.degree + 1) // 2]
    slopes = point_slopes(point, g[:, at], z[:, at])
    order = point.d[moving] - point.c[bound, None]
    column = point.first[moving] + np.maximum(order, 0)
    found = []
    for k in range(len(at)):
        own = slopes[k * point.rows + point.equations[bound]][:, k * point.size : (k + 1) * point.size].toarray()
        matrix = np.where(order >= 0, np.take_along_axis(own, column, axis=1), 0.0) * point.size_of[0, moving]
        matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
        kept = _chosen(point, matrix, bound, moving, kept)
        found.append(kept)
    return np.array(found)


def _chosen(point: Point, matrix: Array, bound: Array, moving: Array, kept: Array | None) -> Array:
    """The open places of an interval in which G is `matrix`."""
    from scipy.linalg import qr

    found = []
    for depth in range(1, int(point.d.max()) + 1):
        deep, there = point.c[bound] >= depth, point.d[moving] >= depth
        places = point.top_places[moving[there]] - depth
        part = matrix[np.ix_(deep, there)]
        free = np.zeros(len(places), bool)
        if len(part):
            _, upper, pivots = qr(part, mode="economic", pivoting=True)
            free[pivots[len(part) :]] = True
            if kept is not None:
                before = np.isin(places, kept)
                own = np.abs(np.diag(qr(part[:, ~before], mode="r", pivoting=True)[0]))
                free = before if own.min() >= KEPT * np.abs(np.diag(upper)).min() else free
        else:
            free[:] = True
        found.append(places[free])
    return np.sort(np.concatenate(found))
