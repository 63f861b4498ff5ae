"""What rounding leaves of quantities that are zero but for it: a pendulum at rest, the current of a balanced bridge.

The terms of equation i are known to eps T_i, T_i = sum |dF_i/dz_j| |z_j|. What that does to the unknowns of a step of size h is J(h)^-1 of it, J the
step's matrix; signs are taken at random, twice. An error test that asks for less would shorten steps for ever. Only kinds whose
largest value so far is far below their nominal size are asked for: others have a size that rounding is small beside.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from netsim.integrators.contract import RTOL, Trial
from netsim.integrators.scales import ROUNDED, SO_FAR
from netsim.integrators.states import load
from netsim.kernels.call import run_table
from netsim.solvers.machine import ALPHA, KA, KV, KX, Machine
from netsim.solvers.newton import set_time

Array = np.ndarray

SMALL = 1e-6
"""The share of its nominal size below which a kind's largest value may be rounding."""
TIMES = 20.0
"""So many times the rounding of the equations' terms passes the error test."""
AHEAD = 30.0
"""Steps grow: what rounding leaves is asked for at this multiple of the present one too."""
EPS = 2.220446049250313e-16


def set_rounding(machine: Machine, trial: Trial, h: float, t: float) -> None:
    """What rounding leaves of every kind that is small, into trial.sizes; nothing where the step's matrix is singular."""
    nominal = np.zeros(trial.sizes.shape[1])
    np.maximum.at(nominal, trial.kind, trial.nominal)
    small = trial.sizes[SO_FAR] < SMALL * nominal
    if not small.any() or not h > 0.0:
        return
    found = np.zeros(len(nominal))
    for step in (h, AHEAD * h):
        left = _left(machine, trial, step, t)
        if left is not None:
            np.maximum.at(found, trial.kind, left)
    trial.sizes[ROUNDED] = np.where(small, np.minimum(TIMES * found, trial.tolerances[RTOL] * nominal), 0.0)


def _left(machine: Machine, trial: Trial, h: float, t: float) -> Array | None:
    """What the rounding of the equations' terms makes of positions, velocities and values (2 nk + ny) in a step of size h."""
    system, layout, state = machine.system, machine.system.layout, trial.start
    nk, n = layout.nk, system.n
    levels = [np.maximum(np.abs(state[:nk]), machine.problem.reach), np.abs(state[nk : 2 * nk]), np.abs(state[2 * nk : 3 * nk])]
    values = np.abs(state[3 * nk : 3 * nk + layout.ny])
    terms = np.zeros(n)
    for level in range(3 if nk else 1):
        sizes = np.concatenate([levels[level], values if level == 0 else np.zeros(layout.ny)])
        terms += abs(_matrix(machine, trial, t, *np.eye(3)[level], 1.0 / h)) @ sizes
    matrix = _matrix(machine, trial, t, 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h)
    if not (np.isfinite(matrix.data).all() and np.isfinite(terms).all()):
        return None
    rows = 1.0 / np.maximum(abs(matrix).max(axis=1).toarray().ravel(), 1e-300)
    scaled = diags_array(rows) @ matrix
    columns = 1.0 / np.maximum(abs(scaled).max(axis=0).toarray().ravel(), 1e-300)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, 2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            change = splu(csc_array(scaled @ diags_array(columns))).solve((EPS * rows * terms)[:, None] * signs)
    except RuntimeError:
        return None
    change = (columns[:, None] * np.abs(change)).max(axis=1)
    return np.concatenate([change[:nk], change[:nk] / h, change[nk:]]) if np.isfinite(change).all() else None


def _matrix(machine: Machine, trial: Trial, t: float, kx: float, kv: float, ka: float, alpha: float) -> csc_array:
    """The step's matrix at the beginning of a step with these coefficients."""
    system, g, problem = machine.system, trial.g.copy(), machine.problem
    load(machine.bundle, g, trial.start)
    set_time(machine.bundle, g, t)
    g[[KX, KV, KA, ALPHA]] = kx, kv, ka, alpha
    out = np.zeros(system.out_size)
    run_table(problem.jacobian, g, out)
    entries = out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    return csc_array((entries, system.pattern.indices, system.pattern.indptr), shape=(system.n, system.n))


