"""Small dense systems in compiled code: Gaussian elimination with row pivots.

G. Golub and C. Van Loan, Matrix Computations, 4th ed., algorithm 3.4.1. numba would call LAPACK through its own
library, which a user need not have.
"""

import numpy as np

from netsim.core.compiled.function import inner

SINGULAR = 1e-12
"""A pivot below this part of the largest one, of equilibrated rows and columns, is zero."""


@inner
def solve_dense(matrix, right):
    """right <- matrix^-1 right, matrix (n, n), right (n, columns), both overwritten; False where a pivot is zero or not
    finite."""
    for k in range(len(matrix)):
        best = k
        for i in range(k + 1, len(matrix)):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        _exchange(matrix, k, best)
        _exchange(right, k, best)
        if not 0.0 < abs(matrix[k, k]) < np.inf:
            return False
        for i in range(k + 1, len(matrix)):
            factor = matrix[i, k] / matrix[k, k]
            _take(matrix, i, k, factor, k + 1)
            _take(right, i, k, factor, 0)
    for k in range(len(matrix) - 1, -1, -1):
        for j in range(k + 1, len(matrix)):
            _take(right, k, j, matrix[k, j], 0)
        for c in range(right.shape[1]):
            right[k, c] /= matrix[k, k]
    return True


@inner
def solve_with_new_pivots(factor, entries, rhs, x, matrix, right):
    """x = A^-1 rhs with pivots of these entries of A, where those of a factor (netsim.core.linear.factors.Factor) do
    not serve; x may be rhs itself. False where A is singular. matrix (n, n) and right (n, 1) are overwritten."""
    n = len(factor.pivot_inverse)
    for k in range(n):
        i = factor.row_order[k]
        right[k, 0] = factor.row_scale[i] * rhs[i]
        for j in range(n):
            matrix[k, j] = 0.0
    for k in range(n):
        for p in range(factor.start[k], factor.start[k + 1]):
            matrix[factor.row[p], k] += entries[factor.source[p]] * factor.scale[p]
    if not solve_dense(matrix, right):
        return False
    least, largest = np.inf, 0.0
    for k in range(n):
        j = factor.column_order[k]
        x[j] = factor.column_scale[j] * right[k, 0]
        least, largest = min(least, abs(matrix[k, k])), max(largest, abs(matrix[k, k]))
    return least > SINGULAR * largest


@inner
def _take(rows, i, k, factor, first):
    """Row i less a multiple of row k, from column `first` on."""
    for c in range(first, rows.shape[1]):
        rows[i, c] -= factor * rows[k, c]


@inner
def _exchange(rows, a, b):
    """Two rows change places."""
    if a != b:
        for c in range(rows.shape[1]):
            rows[a, c], rows[b, c] = rows[b, c], rows[a, c]
