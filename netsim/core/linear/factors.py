"""Sparse linear systems A x = b of one pattern and many values: analyse once, refactor often.

`analyse` scales the matrix, takes ordering and pivots from SuperLU and lays out L and U; `refactor` computes their
values on that fixed pattern for new values of A, column by column (left-looking; Davis and Palamadai Natarajan,
Algorithm 907: KLU, TOMS 37, 2010); `solve` and `solve_transpose` use them. In pivot order, with scales r and c,

    L U = P (R A C) Q,    L with unit diagonal.

`refactor` and the solves allocate nothing, are compiled and release the interpreter lock. They write into the arrays of
the factor, so each thread needs its own factor.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netsim.core.compiled.function import compiled
from netsim.core.linear.columns import Columns, columns_of
from netsim.core.linear.matching import structural_deficiency
from netsim.core.linear.nesting import nested_order
from netsim.core.linear.patterns import factor_patterns
from netsim.core.linear.symbolic import (
    RANK_TOLERANCE,
    Floats,
    Ints,
    SingularMatrix,
    equilibrate,
    null_size,
    null_spaces,
    pivot_order,
    symmetric_order,
)
from netsim.core.linear.triangles import _solve_triangles, _solve_triangles_transpose, condition_estimate

__all__ = [
    "Factor",
    "SingularMatrix",
    "analyse",
    "analyse_definite",
    "condition_estimate",
    "refactor",
    "solve",
    "solve_transpose",
]

_SUSPICIOUS_CONDITION = 1e12
_HOPELESS_CONDITION = 1e14
_GOOD_CONDITION = 1e6
_NAMED_ENTRIES = 5
_NESTED_QUALITY = 1e-4
_at = np.uint32  # a signed subscript is tested for wrapping around: a quarter of the time of `refactor`


class Factor(NamedTuple):
    """L and U of one matrix, with all that computing them anew needs; n = len(pivot_inverse).

    Rows and columns of the triangles count in pivot order: pivot k is A[row_order[k], column_order[k]]. The entry p of
    column k of the permuted matrix is values[source[p]] * scale[p], in row row[p], for p in start[k]:start[k+1]. L and
    U are stored by columns without their diagonals; `pivot_inverse` holds 1 / U[k, k]. `work` is zero between calls.
    """

    row_order: Ints
    column_order: Ints
    row_scale: Floats
    column_scale: Floats
    start: Ints
    source: Ints
    row: Ints
    scale: Floats
    l_start: Ints
    l_row: Ints
    l_value: Floats
    u_start: Ints
    u_row: Ints
    u_value: Floats
    pivot_inverse: Floats
    work: Floats


def analyse(
    n: int,
    indptr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    explain: bool = True,
    parts: Sequence[NDArray[Any]] = (),
) -> Factor:
    """The factor of an n x n matrix in compressed columns: scales, pivots, patterns and the values of L and U.

    Repeated entries add up. Entries that are zero now but in the pattern stay in it. Raises SingularMatrix where the
    rank is below n, by structure or up to rounding, and ValueError where values are not finite. With `explain` False
    null spaces, which cost far more than the factor, are sought where the condition leaves no other way to tell. The
    unknowns of `parts` are eliminated part by part before all others (netsim.core.linear.nesting), where pivots of
    sufficient size are found so.
    """
    start, row = np.asarray(indptr, np.int32), np.asarray(indices, np.int32)
    entries = np.ascontiguousarray(values, np.float64)
    _require_finite(start, row, entries)
    if n == 0:
        return _lay_out(start, row, (np.empty(0), np.empty(0)), (np.empty(0, np.int32), np.empty(0, np.int32)))
    matrix = columns_of(entries, row, np.repeat(np.arange(n), np.diff(start)), (n, n))
    attempts = [_attempt(matrix, start, row, entries, equilibrate(matrix), explain, parts)]
    if isinstance(attempts[0], _Found) and attempts[0].condition < _GOOD_CONDITION:
        return attempts[0].factor
    # scales many decades apart want another beginning
    attempts.append(_attempt(matrix, start, row, entries, equilibrate(matrix, fitted=True), explain, parts))
    findings = {k: each for k, each in enumerate(attempts) if isinstance(each, SingularMatrix)}
    for k, found in sorted(
        ((k, each) for k, each in enumerate(attempts) if isinstance(each, _Found)), key=lambda pair: pair[1].condition
    ):
        suspicious = found.condition > (_SUSPICIOUS_CONDITION if explain else _HOPELESS_CONDITION)
        if not suspicious or _regular(found) or not (singular := _singular(found.scaled, found.scales, RANK_TOLERANCE)):
            return found.factor
        findings[k] = singular
    raise findings[0]


class _Found(NamedTuple):
    """A factor, its condition, and the scaled matrix with its scales: what tells whether it is singular where the
    condition leaves a doubt."""

    factor: Factor
    condition: float
    scaled: Columns
    scales: tuple[Floats, Floats]


def analyse_definite(n: int, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike) -> Factor:
    """The factor of a symmetric positive definite n x n matrix in compressed columns: pivots on the diagonal serve for
    all values."""
    start, row = np.asarray(indptr, np.int32), np.asarray(indices, np.int32)
    entries = np.ascontiguousarray(values, np.float64)
    order = symmetric_order(Columns((n, n), start, row, np.ones(len(row))))
    factor = _lay_out(start, row, (np.ones(n), np.ones(n)), (order, order))
    refactor(factor, entries)
    return factor


def _attempt(
    matrix: Columns,
    start: Ints,
    row: Ints,
    entries: Floats,
    scales: tuple[Floats, Floats],
    explain: bool,
    parts: Sequence[NDArray[Any]] = (),
) -> _Found | SingularMatrix:
    """The factor with the given scales, or the finding that the elimination breaks down."""
    n = matrix.shape[0]
    unexplained = SingularMatrix(np.zeros((n, 0)), np.zeros((n, 0)), 0)
    scale = scales[0][matrix.indices] * scales[1][matrix.columns]
    scaled = replace(matrix, data=matrix.data * scale)
    if not np.isfinite(scaled.data).all():
        return unexplained
    if len(parts) and (nested := nested_order(scaled.sparse, parts)):
        factor = _lay_out(start, row, scales, nested)
        if (
            refactor(factor, entries) > _NESTED_QUALITY
            and (condition := condition_estimate(factor, entries)) < _SUSPICIOUS_CONDITION
        ):
            return _Found(factor, condition, scaled, scales)
    order = pivot_order(scaled)
    if order is None:
        return _broken_down(scaled, scales) if explain else unexplained
    factor = _lay_out(start, row, scales, order)
    if refactor(factor, entries) == 0.0:
        return _broken_down(scaled, scales) if explain else unexplained
    return _Found(factor, condition_estimate(factor, entries), scaled, scales)


def _require_finite(start: Ints, row: Ints, entries: Floats) -> None:
    wrong = np.flatnonzero(~np.isfinite(entries))
    if len(wrong):
        column = np.searchsorted(start, wrong[:_NAMED_ENTRIES], side="right") - 1
        named = ", ".join(f"({row[p]}, {j}) = {entries[p]}" for p, j in zip(wrong, column))
        raise ValueError(
            f"{len(wrong)} matrix entries are not finite: {named}{', ...' if len(wrong) > _NAMED_ENTRIES else ''}"
        )


def _regular(found: _Found) -> bool:
    """Whether inverse iteration with the factor at hand finds nothing null: a search for null spaces has fill like n^2
    where n elements meet."""
    factor, n = found.factor, found.scaled.shape[0]
    block = np.random.default_rng(1).standard_normal((min(4, n), n))
    for _ in range(3):
        for vector in block:
            _solve_triangles_transpose(factor, vector)
            _solve_triangles(factor, vector)
        if not np.isfinite(block).all():
            return False
        block = np.ascontiguousarray(np.linalg.qr(block.T)[0].T)
    scaled = found.scaled.sparse
    permuted = scaled[factor.row_order][:, factor.column_order]
    return bool(np.linalg.svd(permuted @ block.T, compute_uv=False).min() > null_size(scaled))


def _broken_down(scaled: Columns, scales: tuple[Floats, Floats]) -> SingularMatrix:
    """The finding after a zero pivot: growth in the elimination may blur the rank, so the tolerance widens until it
    shows."""
    tolerance = RANK_TOLERANCE
    while (singular := _singular(scaled, scales, tolerance)) is None:
        tolerance *= 16.0
    return singular


def _singular(scaled: Columns, scales: tuple[Floats, Floats], tolerance: float) -> SingularMatrix | None:
    """The finding in terms of A: S z = 0 means A (C z) = 0, and S^T w = 0 means A^T (R w) = 0."""
    null_columns, null_rows = null_spaces(scaled.sparse, tolerance)
    # a true deficiency has both; one alone is a bad condition at the border
    if not null_columns.shape[1] or not null_rows.shape[1]:
        return None
    return SingularMatrix(
        _unscaled(null_columns, scales[1]), _unscaled(null_rows, scales[0]), structural_deficiency(scaled)
    )


def _unscaled(vectors: Floats, scale: Floats) -> Floats:
    vectors = vectors * scale[:, None]
    return vectors / np.abs(vectors).max(axis=0)


def _lay_out(start: Ints, row: Ints, scales: tuple[Floats, Floats], order: tuple[Ints, Ints]) -> Factor:
    """The factor with patterns in place and values still to be computed."""
    n = len(order[0])
    new_start, source, new_row, l_start, l_row, u_start, u_row = factor_patterns(start, row, *order)
    scale = scales[0][row[source]] * np.repeat(scales[1][order[1]], np.diff(new_start)) if n else np.empty(0)
    l_value, u_value = np.zeros(len(l_row)), np.zeros(len(u_row))
    return Factor(
        *order,
        *scales,
        new_start,
        source,
        new_row,
        scale,
        l_start,
        l_row,
        l_value,
        u_start,
        u_row,
        u_value,
        np.ones(n),
        np.zeros(n),
    )


@compiled(fastmath={"reassoc"})
def _all_finite(values):
    total = 0.0
    for value in values:
        total += value * 0.0
    return total == 0.0


@compiled
def refactor(factor, values):
    """Values of L and U for new values of A, (nonzeros,), on the pattern and pivots found by `analyse`.

    Returns the pivot quality: the least ratio, over the columns, of the pivot to the largest entry on and below it,
    all scaled (the size of a complex one is |re| + |im|). 1 is what free row pivoting would give, below about 1e-6 the
    pivots no longer fit and the matrix wants a new `analyse`; 0 is a breakdown (a pivot is zero or an entry is not
    finite) and leaves a useless factor.
    """
    if not _all_finite(values):
        return 0.0
    work, u_value, l_value = factor.work, factor.u_value, factor.l_value
    quality = 1.0
    for k in range(len(work)):
        for p in range(factor.start[k], factor.start[k + 1]):
            work[_at(factor.row[p])] += values[_at(factor.source[p])] * factor.scale[p]
        for p in range(factor.u_start[k], factor.u_start[k + 1]):
            j = _at(factor.u_row[p])
            u = work[j]
            work[j] = 0.0
            u_value[p] = u
            for q in range(factor.l_start[j], factor.l_start[j + 1]):
                work[_at(factor.l_row[q])] -= l_value[q] * u
        pivot = work[k]
        work[k] = 0.0
        size = length = abs(pivot.real) + abs(pivot.imag)
        inverse = 1.0 / pivot if pivot != 0.0 else 0.0
        for p in range(factor.l_start[k], factor.l_start[k + 1]):
            i = _at(factor.l_row[p])
            below = work[i]
            work[i] = 0.0
            size = max(size, abs(below.real) + abs(below.imag))
            l_value[p] = below * inverse
        factor.pivot_inverse[k] = inverse
        if not (length > 0.0 and size < np.inf):
            return 0.0
        if length < quality * size:
            quality = length / size
    return quality


@compiled
def solve(factor, rhs, x):
    """x = A^-1 rhs, both (n,); x may be rhs itself."""
    work = factor.work
    for k in range(len(work)):
        i = _at(factor.row_order[k])
        work[k] = factor.row_scale[i] * rhs[i]
    _solve_triangles(factor, work)
    for k in range(len(work)):
        j = _at(factor.column_order[k])
        x[j] = factor.column_scale[j] * work[k]
        work[k] = 0.0


@compiled
def solve_transpose(factor, rhs, x):
    """x = A^-T rhs, both (n,); x may be rhs itself."""
    work = factor.work
    for k in range(len(work)):
        j = _at(factor.column_order[k])
        work[k] = factor.column_scale[j] * rhs[j]
    _solve_triangles_transpose(factor, work)
    for k in range(len(work)):
        i = _at(factor.row_order[k])
        x[i] = factor.row_scale[i] * work[k]
        work[k] = 0.0
