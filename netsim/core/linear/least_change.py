"""The step of Newton's method at a stage of a start (see netsim.initial.stages): the least change that makes linearised
equations hold."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, columns_of, diagonal_of, splu

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
    jacobian: Columns, r: Array, metric: Callable[[], Columns], square: bool, soft: Array, pivots: Pivots
) -> Array:
    """The step J dz = r of least |dz|_W, W = metric(); for a regular square J simply its solution."""
    from netsim.core.linear.factors import SingularMatrix, solve

    if square and np.all(np.isfinite(jacobian.data)):
        with suppress(SingularMatrix):
            step = np.zeros(len(r))
            solve(pivots.of(jacobian), r, step)
            return step
    return _saddle_point(jacobian, r, metric, soft)


def _saddle_point(jacobian: Columns, r: Array, metric: Callable[[], Columns], soft: Array) -> Array:
    """[W J'; J -eps] with rows of J scaled to 1; the small corner lets dependent (but consistent) rows pass, a larger
    one is a soft row's square."""
    m, n = jacobian.shape
    if not (r.any() and np.all(np.isfinite(r)) and np.all(np.isfinite(jacobian.data))):
        return np.zeros(n)
    largest = jacobian.largest(1)
    scale = 1.0 / np.where(largest > 1e-300, largest, 1.0)  # a row of zeros says nothing, however small its residual
    j, own, ones = jacobian.scaled(scale, np.ones(n)), metric(), np.ones(n)
    w = own.scaled(ones, ones / max(float(np.abs(own.data).max(initial=0.0)), 1e-300)) + diagonal_of(1e-13 * ones)
    yielding = 1e-6 * (scale * soft) ** 2 if len(soft) else np.zeros(m)
    transposed, corner = j.T, diagonal_of(-np.maximum(1e-13, yielding))
    parts = [(w, 0, 0), (transposed, 0, n), (j, n, 0), (corner, n, n)]
    rows, columns = (np.concatenate(places) for places in zip(*((p.indices + i, p.columns + k) for p, i, k in parts)))
    matrix = columns_of(np.concatenate([part.data for part, *_ in parts]), rows, columns, (n + m, n + m))
    lu, rhs = splu(matrix), np.concatenate([np.zeros(n), scale * r])
    z = lu.solve(rhs)
    for _ in range(3):  # refinement against the system without the corner that regularises
        rest = rhs - np.concatenate([w @ z[:n] + transposed @ z[n:], j @ z[:n] - yielding * z[n:]])
        z = z + lu.solve(rest)
    return z[:n] if np.all(np.isfinite(z)) else np.zeros(n)
