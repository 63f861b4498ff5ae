"""Where a mesh is too coarse: what the equations say between collocation points.

Half-way between points the differentiated variables are polynomials, and the network's equations give rates, forces and
currents that go with them. Where these differ from the polynomials through the points, the interval's share of the
motion is wrong by about h = span * share times the difference. States that are fast beside h follow what drives them:
their differences are those of a step of implicit Euler, in which lower orders move with the rates by h, h^2 ... The
smaller one of the two counts. Intervals in which a state errs by more than rtol of its size are split.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.optimal.program.blocks import values_of
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.radau import Mesh
from netsim.analyses.optimal.program.solve import Solution
from netsim.analyses.optimal.program.transcription import Motion, Setting
from netsim.core.linear.columns import columns_of, diagonal_of
from netsim.core.linear.least_change import Pivots, least_change

Array = np.ndarray
MOST = 4
"""An interval is split into so many at most."""
PARTS = 1.0, 1.0 / 8.0, 1.0 / 64.0
"""Parts of an interval in whose steps its differences are weighed."""
ENOUGH = 0.3
"""The share of rtol above which intervals are split where one has more than rtol."""


def between(mesh: Mesh) -> Array:
    """Fractions half-way between collocation points, interval by interval."""
    inner = np.append(0.0, mesh.nodes)
    return (mesh.ends[:-1, None] + mesh.spans[:, None] * 0.5 * (inner[1:] + inner[:-1])).ravel()


def errors(solution: Solution, sizes: Array) -> Array:
    """The error that each interval adds to a state, in parts of its size: the largest of all states (intervals)."""
    setting, mesh = solution.program.setting, solution.program.mesh
    point = setting.point
    fractions = between(mesh)
    z, count = solution.at(fractions), len(fractions)
    known = setting.known(fractions, solution.stop)
    residual = values_of(point.one_by_one(known), z.T.ravel(), count * point.rows).reshape(count, point.rows)
    slopes = point.slopes(known, z)
    chosen = np.setdiff1d(np.arange(len(point.d)), setting.free)
    tops = point.top_places[chosen]
    at = (np.arange(count)[:, None] * point.rows + point.top_rows).ravel()
    h = np.repeat(mesh.spans * solution.stop, mesh.degree)
    rates, states = np.zeros((count, point.size)), np.zeros((count, point.size))
    for part in PARTS:
        found = _solved(slopes[at] @ _together(point, chosen, part * h), residual[:, point.top_rows].ravel())
        change = found.reshape(count, len(tops))
        rates[:, tops] = np.maximum(rates[:, tops], part * h[:, None] * np.abs(change))
        inputs = change[:, np.searchsorted(chosen, setting.followed)]
        states = np.maximum(states, np.abs(_led_astray(setting, slopes, inputs, part * h)))
    places = point.state_places
    states[:, places] += rates[:, places + 1]
    return np.max((states[:, places] / sizes[places]).reshape(mesh.intervals, -1), axis=1, initial=0.0)


def _led_astray(setting: Setting, slopes: Any, inputs: Array, h: Array) -> Array:
    """What errors of the inputs that followed signals determine (points, inputs) make of the variables in a step h of
    implicit Euler (points, variables): positions and velocities, and what else is differentiated. The network is that
    of a run forward in time, with given inputs."""
    from scipy.sparse import csc_array

    point, count = setting.point, len(h)
    found = np.zeros((count, point.size))
    if not inputs.any():
        return found
    given = np.union1d(setting.free, setting.followed)
    counted = np.setdiff1d(np.flatnonzero(point.c >= 0), setting.followed)
    own = slopes[(np.arange(count)[:, None] * point.rows + point.equations[counted]).ravel()]
    astray = np.zeros((count, point.size))
    astray[:, point.top_places[setting.followed]] = inputs
    moved = np.setdiff1d(np.arange(len(point.d)), given)
    steps = _together(point, moved, h, upward=True)
    change = steps @ _solved(csc_array(own @ steps), own @ astray.ravel())
    variable, order = point.states
    low = order <= np.where(variable < point.machine.system.layout.nk, 1, 0)
    places = point.state_places[low]
    found[:, places] = change.reshape(count, point.size)[:, places]
    return found


def _together(point: Point, chosen: Array, h: Array, upward: bool = False) -> Any:
    """How all variables of points move in a step with the highest orders of the chosen ones: order d - k by h^k; or,
    `upward`, with their lowest orders: order k by h^-k."""
    from scipy.sparse import csr_array

    lower = np.concatenate([np.arange(point.d[j] + 1) for j in chosen])
    column = np.repeat(np.arange(len(chosen)), point.d[chosen] + 1)
    place = point.first[chosen][column] + lower if upward else point.top_places[chosen][column] - lower
    each = np.arange(len(h))[:, None]
    where = (each * point.size + place).ravel(), (each * len(chosen) + column).ravel()
    values = h[:, None] ** (-lower if upward else lower)
    return csr_array((values.ravel(), where), shape=(len(h) * point.size, len(h) * len(chosen)))


def _solved(matrix: Any, residual: Array) -> Array:
    """The least change of the unknowns that makes the residuals vanish; forces may be indeterminate."""
    from scipy.sparse import coo_array, csc_array
    from scipy.sparse.linalg import splu

    if not residual.any():
        return residual
    square = matrix.shape[0] == matrix.shape[1]
    try:
        if square:
            return splu(csc_array(matrix)).solve(residual)
        whole, weights = coo_array(matrix), diagonal_of(np.ones(matrix.shape[1]))
        columns = columns_of(whole.data, whole.row, whole.col, matrix.shape)
        return least_change(columns, residual, lambda: weights, False, np.zeros(0), Pivots())
    except RuntimeError:  # singular at an instant: what is left cannot be weighed
        return np.zeros(matrix.shape[1])


def refined(mesh: Mesh, error: Array, rtol: float) -> Mesh:
    """The mesh with intervals split where the error is too large, by the order of the collocation."""
    parts = np.where(error > ENOUGH * rtol, np.ceil((error / (ENOUGH * rtol)) ** (1.0 / mesh.degree)), 1.0)
    parts = np.clip(np.nan_to_num(parts, nan=1.0, posinf=MOST), 1, MOST).astype(int)
    ends = [np.linspace(low, high, n, endpoint=False) for low, high, n in zip(mesh.ends, mesh.ends[1:], parts)]
    return Mesh(np.append(np.concatenate(ends), 1.0), mesh.degree)


def moved(solution: Solution, mesh: Mesh) -> Motion:
    """The motion at the points of another mesh."""
    found = solution.at(mesh.fractions)
    found[:, 0] = solution.motion.z[:, 0]
    return replace(solution.motion, mesh=mesh, z=found)
