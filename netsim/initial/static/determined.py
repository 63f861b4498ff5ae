"""Steps of Newton's method where nothing determines some unknowns: these stay."""

import numpy as np

from netsim.core.linear.columns import Columns, columns_of
from netsim.core.linear.factors import Factor, SingularMatrix, analyse, solve
from netsim.equations.messages import LARGE

Array = np.ndarray


def least_determined_step(matrix: Columns, r: Array, singular: SingularMatrix, weight: Array) -> Array | None:
    """The step of a singular matrix that keeps what nothing determines, by the large parts of null vectors R (in
    ordinary sizes, `weight`), and meets all equations but what contradicts others (L' matrix = 0): that of
    [matrix L; R' 0]."""
    n, left, right = len(r), singular.null_rows, singular.null_columns / weight[:, None]
    if left.shape != right.shape:  # the ranks of rows and columns differ by rounding
        return None
    (i, k), (j, m) = np.nonzero(left), np.nonzero(np.abs(right) > LARGE * np.abs(right).max(axis=0))
    entries = np.concatenate([matrix.data, left[i, k], right[j, m] / weight[j]])
    rows, columns = np.concatenate([matrix.indices, i, n + m]), np.concatenate([matrix.columns, n + k, j])
    size = n + singular.deficiency
    whole = columns_of(entries, rows, columns, (size, size))
    try:
        factor = analyse(size, whole.indptr, whole.indices, whole.data, explain=False)
    except SingularMatrix:
        return None
    step = finite(factor, np.append(r, np.zeros(size - n)))
    return None if step is None else step[:n]


def finite(factor: Factor, r: Array) -> Array | None:
    """The solution, None where it is not finite."""
    step = np.zeros(len(r))
    solve(factor, r, step)
    return step if np.all(np.isfinite(step)) else None
