"""The step of Newton's method at a stage of a start (see netsim.initial.stages): the least change that makes linearised
equations hold."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
GOOD_PIVOTS = 1e-6


@dataclass(eq=False)
class Pivots:
    """Ordering and pivots of one stage's square matrix, taken in its first round and used while they serve."""

    matrix: Any = None
    factor: Any = None

    def of(self, matrix: Any) -> Any:
        """The factor of a matrix; raises `SingularMatrix`."""
        from netsim.core.linear.factors import analyse, refactor

        known = (
            self.matrix is not None
            and np.array_equal(matrix.indptr, self.matrix.indptr)
            and np.array_equal(matrix.indices, self.matrix.indices)
        )
        if not known or not refactor(self.factor, matrix.data) > GOOD_PIVOTS:
            self.factor = analyse(matrix.shape[0], matrix.indptr, matrix.indices, matrix.data, explain=False)
            self.matrix = matrix
        return self.factor


def least_change(
    jacobian: Any, r: Array, metric: Callable[[], Any], square: bool, soft: Array, pivots: Pivots
) -> Array:
    """The step J dz = r of least |dz|_W, W = metric(); for a regular square J simply its solution."""
    from netsim.core.linear.factors import SingularMatrix, solve

    if square and np.all(np.isfinite(jacobian.data)):
        with suppress(SingularMatrix):
            step = np.zeros(len(r))
            solve(pivots.of(jacobian), r, step)
            return step
    return _saddle_point(jacobian, r, metric, soft)


def _saddle_point(jacobian: Any, r: Array, metric: Callable[[], Any], soft: Array) -> Array:
    """[W J'; J -eps] with rows of J scaled to 1; the small corner lets dependent (but consistent) rows pass, a larger
    one is a soft row's square."""
    from scipy.sparse import block_array, diags_array

    from netsim.core.linear.extensions import splu

    m, n = jacobian.shape
    if not (r.any() and np.all(np.isfinite(r)) and np.all(np.isfinite(jacobian.data))):
        return np.zeros(n)
    largest = abs(jacobian).max(axis=1).toarray().ravel()
    scale = 1.0 / np.where(largest > 1e-300, largest, 1.0)  # a row of zeros says nothing, however small its residual
    j = (diags_array(scale) @ jacobian).tocsc()
    own = metric()
    w = own * (1.0 / max(float(abs(own).max()), 1e-300)) + diags_array(np.full(n, 1e-13))
    yielding = 1e-6 * (scale * soft) ** 2 if len(soft) else np.zeros(m)
    corner = diags_array(-np.maximum(1e-13, yielding))
    matrix = block_array([[w, j.T], [j, corner]], format="csc")
    lu, rhs = splu(matrix), np.concatenate([np.zeros(n), scale * r])
    z = lu.solve(rhs)
    for _ in range(3):  # refinement against the system without the corner that regularises
        rest = rhs - np.concatenate([w @ z[:n] + j.T @ z[n:], j @ z[:n] - yielding * z[n:]])
        z = z + lu.solve(rest)
    return z[:n] if np.all(np.isfinite(z)) else np.zeros(n)
