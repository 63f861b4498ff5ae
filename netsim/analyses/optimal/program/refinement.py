"""Where a mesh is too coarse: what the equations say between collocation points.

Half-way between points the differentiated variables are polynomials, and the network's equations give rates, forces and
currents that go with them. Where these differ from the polynomials through the points, the interval's share of the
motion is wrong by about span * share * difference. Intervals in which that is more than rtol of the sizes are split.
"""

from typing import Any

import numpy as np

from netsim.analyses.optimal.program.blocks import slopes_of, values_of
from netsim.analyses.optimal.program.radau import Mesh
from netsim.analyses.optimal.program.solve import Solution
from netsim.core.linear.least_change import Pivots, least_change

Array = np.ndarray
MOST = 4
"""An interval is split into so many at most."""
ENOUGH = 0.3
"""The share of rtol above which intervals are split where one has more than rtol."""


def between(solution: Solution, g: Array) -> tuple[Array, Array]:
    """Fractions half-way between collocation points, (intervals, points), and all variables there (variables,
    fractions)."""
    mesh, point = solution.program.mesh, solution.program.setting.point
    inner = np.append(0.0, mesh.nodes)
    middle = 0.5 * (inner[1:] + inner[:-1])
    fractions = mesh.ends[:-1, None] + mesh.spans[:, None] * middle
    differentiated = np.zeros(point.size, bool)
    differentiated[point.state_places] = True
    return fractions, mesh.at(solution.program.matrix(solution.x), fractions.ravel(), differentiated)


def errors(solution: Solution, g: Array, sizes: Array) -> Array:
    """The error that each interval adds to a state, in parts of its size: the largest of all states (intervals)."""
    setting, mesh = solution.program.setting, solution.program.mesh
    point = setting.point
    fractions, z = between(solution, g)
    count = fractions.size
    known = setting.known(fractions.ravel(), solution.stop, g)
    offsets = np.arange(count) * point.size
    rows = np.arange(point.rows)[:, None] + np.arange(count) * point.rows
    blocks = list(point.blocks(known, offsets, rows))
    z[point.values :] = 0.0
    x = z.T.ravel()
    residual = values_of(blocks, x, count * point.rows).reshape(count, point.rows)
    slopes = slopes_of(blocks, x, count * point.rows)
    tops = np.setdiff1d(point.top_places, point.top_places[setting.free])
    at = (np.arange(count)[:, None] * point.rows + point.top_rows).ravel()
    of = (np.arange(count)[:, None] * point.size + tops).ravel()
    change = _solved(slopes[at][:, of], residual[:, point.top_rows].ravel()).reshape(count, len(tops))
    rates = np.zeros((count, point.size))
    rates[:, tops] = np.abs(change)
    states = point.state_places
    relative = rates[:, states + 1] * solution.stop / sizes[states]
    return np.max(relative.reshape(mesh.intervals, -1), axis=1, initial=0.0) * mesh.spans


def _solved(matrix: Any, residual: Array) -> Array:
    """The least change of the unknowns that makes the residuals vanish; forces may be indeterminate."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    if not residual.any():
        return residual
    square = matrix.shape[0] == matrix.shape[1]
    try:
        if square:
            return splu(csc_array(matrix)).solve(residual)
        return least_change(
            matrix, residual, lambda: eye_array(matrix.shape[1], format="csc"), False, np.zeros(0), Pivots()
        )
    except RuntimeError:  # singular at an instant: what is left cannot be weighed
        return np.zeros(matrix.shape[1])


def refined(mesh: Mesh, error: Array, rtol: float) -> Mesh:
    """The mesh with intervals split where the error is too large, by the order of the collocation."""
    parts = np.where(error > ENOUGH * rtol, np.ceil((error / (ENOUGH * rtol)) ** (1.0 / mesh.degree)), 1.0)
    parts = np.clip(np.nan_to_num(parts, nan=1.0, posinf=MOST), 1, MOST).astype(int)
    ends = [np.linspace(low, high, n, endpoint=False) for low, high, n in zip(mesh.ends, mesh.ends[1:], parts)]
    return Mesh(np.append(np.concatenate(ends), 1.0), mesh.degree)


def moved(solution: Solution, mesh: Mesh) -> Array:
    """All variables at the points of another mesh (variables, points)."""
    point = solution.program.setting.point
    differentiated = np.zeros(point.size, bool)
    differentiated[point.state_places] = True
    found = solution.program.mesh.at(solution.program.matrix(solution.x), mesh.fractions, differentiated)
    found[:, 0] = solution.program.matrix(solution.x)[:, 0]
    found[point.values :] = 0.0
    return found
