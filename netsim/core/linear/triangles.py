"""What a factor's triangles (netsim.core.linear.factors) give: solutions in pivot order, and the condition."""

from typing import Any

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.core.linear.symbolic import Floats

_at = np.uint32  # a signed subscript is tested for wrapping around: a quarter of the time of `refactor`


@compiled
def _solve_triangles(factor, w):
    """w <- (L U)^-1 w in place, in pivot order."""
    n = len(w)
    for k in range(n):
        known = w[k]
        for p in range(factor.l_start[k], factor.l_start[k + 1]):
            w[_at(factor.l_row[p])] -= factor.l_value[p] * known
    for k in range(n - 1, -1, -1):
        known = w[k] * factor.pivot_inverse[k]
        w[k] = known
        for p in range(factor.u_start[k], factor.u_start[k + 1]):
            w[_at(factor.u_row[p])] -= factor.u_value[p] * known


@compiled
def solve_columns(factor, rhs, work):
    """rhs <- A^-1 rhs in place for the columns of (n, p), side by side: to the bits of a solution of each; `work` has n
    rows of p or more."""
    n, p = len(factor.work), rhs.shape[1]
    for k in range(n):
        i = _at(factor.row_order[k])
        for j in range(p):
            work[k, j] = factor.row_scale[i] * rhs[i, j]
    for k in range(n):
        for e in range(factor.l_start[k], factor.l_start[k + 1]):
            _subtract(work, _at(factor.l_row[e]), factor.l_value[e], _at(k), p)
    for k in range(n - 1, -1, -1):
        for j in range(p):
            work[_at(k), j] *= factor.pivot_inverse[k]
        for e in range(factor.u_start[k], factor.u_start[k + 1]):
            _subtract(work, _at(factor.u_row[e]), factor.u_value[e], _at(k), p)
    for k in range(n):
        i = _at(factor.column_order[k])
        for j in range(p):
            rhs[i, j] = factor.column_scale[i] * work[k, j]


@inner
def _subtract(rows, to, factor, of, count):
    """A multiple of one row from another one."""
    for j in range(count):
        rows[to, j] -= factor * rows[of, j]


@compiled
def _solve_triangles_transpose(factor, w):
    """w <- (L U)^-T w in place, in pivot order."""
    n = len(w)
    for k in range(n):
        rest = w[k]
        for p in range(factor.u_start[k], factor.u_start[k + 1]):
            rest -= factor.u_value[p] * w[_at(factor.u_row[p])]
        w[k] = rest * factor.pivot_inverse[k]
    for k in range(n - 1, -1, -1):
        rest = w[k]
        for p in range(factor.l_start[k], factor.l_start[k + 1]):
            rest -= factor.l_value[p] * w[_at(factor.l_row[p])]
        w[k] = rest


def condition_estimate(factor: Any, values: Floats) -> float:
    """Lower bound, rarely more than a few times too small, of the 1-norm condition number of the equilibrated matrix R
    A C.

    It tells how many digits of a well-scaled solution are lost; infinite after a breakdown. |(R A C)^-1| by Hager's
    method with Higham's alternating vector (Higham, FORTRAN codes for estimating the one-norm, TOMS 14, 1988).
    """
    return float(condition(factor, values)) if len(factor.work) else 1.0


@compiled
def condition(factor, values):
    """What `condition_estimate` gives, in compiled code."""
    n = len(factor.work)
    x, gradient = np.empty(n), np.empty(n)
    for i in range(n):
        x[i] = (1.0 + i / max(n - 1, 1)) * (-1.0 if i % 2 else 1.0)
    _solve_triangles(factor, x)
    estimate, last = 2.0 * _total(x) / (3.0 * n), -1
    for i in range(n):
        x[i] = 1.0 / n
    for _ in range(5):
        _solve_triangles(factor, x)
        estimate = max(estimate, _total(x))
        for i in range(n):
            gradient[i] = 1.0 if x[i] >= 0.0 else -1.0
        _solve_triangles_transpose(factor, gradient)
        steepest = 0
        for i in range(n):
            if abs(gradient[i]) > abs(gradient[steepest]):
                steepest = i
        if steepest == last:
            break
        last = steepest
        for i in range(n):
            x[i] = 1.0 if i == steepest else 0.0
    return _norm(factor, values) * estimate if estimate < np.inf else np.inf


@inner
def _norm(factor, values):
    """The largest sum of magnitudes in a column of R A C; infinite behind a pivot that broke down."""
    largest = 0.0
    for k in range(len(factor.work)):
        total = 0.0
        for p in range(factor.start[k], factor.start[k + 1]):
            total += abs(values[factor.source[p]] * factor.scale[p])
        largest = max(largest, total)
        if factor.pivot_inverse[k] == 0.0:
            return np.inf
    return largest


@inner
def _total(x):
    """The sum of magnitudes."""
    total = 0.0
    for each in x:
        total += abs(each)
    return total
