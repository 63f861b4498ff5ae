"""What is found once per pattern: scales, ordering, pivots, the patterns of L and U, and the null spaces of a singular
matrix.

The matrix A (n x n, compressed columns) is scaled to S = R A C with powers of two, so that scaling itself never rounds
(Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034). Ordering and pivots
of S come from SuperLU; the patterns of L and U for these pivots come from the reach of each column in the graph of L
(Gilbert and Peierls, Sparse partial pivoting in time proportional to arithmetic operations, SISC 9, 1988).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.core.compiled.function import compiled, inlined
from netsim.core.linear.columns import Columns, columns_of, diagonal_of, lapack, splu
from netsim.core.linear.matching import heaviest_matching, structural_deficiency

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

RANK_TOLERANCE = 16 * np.finfo(float).eps
"""Singular values of the equilibrated matrix below this, relative to its norm, count as zero: what rounding the entries
leaves."""

_SWEEPS = 60
_FIT_SWEEPS = 8
_SETTLED = 0.05
_LARGEST_EXPONENT = 500
_TRY_BOTH_ORDERINGS_ABOVE = 50
_ENOUGH_DIAGONAL = 0.95
_SPARSE_PRODUCT = 50
_COLUMN_MINIMUM_DEGREE: dict[str, Any] = {"permc_spec": "COLAMD", "diag_pivot_thresh": 1.0}
_PRODUCT_MINIMUM_DEGREE: dict[str, Any] = {"permc_spec": "MMD_ATA", "diag_pivot_thresh": 1.0}
_SYMMETRIC_MINIMUM_DEGREE: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.1,
    "options": {"SymmetricMode": True},
}
_MATCHED_MINIMUM_DEGREE: dict[str, Any] = _SYMMETRIC_MINIMUM_DEGREE | {"diag_pivot_thresh": 1.0}


class SingularMatrix(Exception):
    """The matrix has no inverse: `null_columns` (n, deficiency) with A z = 0 and `null_rows` (n, deficiency) with A^T w
    = 0.

    Numbering and scales are those of A. Each vector has largest entry 1, and the bases are reduced, so that independent
    causes come as separate vectors: the large entries of a column of `null_columns` name unknowns that nothing
    determines, those of `null_rows` equations that depend on each other. `deficiency` is n minus the numerical rank,
    `structural` the part of it that the places of the nonzeros alone explain.
    """

    def __init__(self, null_columns: Floats, null_rows: Floats, structural: int):
        self.null_columns, self.null_rows, self.structural = null_columns, null_rows, structural
        self.deficiency = null_columns.shape[1]
        super().__init__(f"singular matrix: {null_columns.shape[0]} unknowns, rank deficiency {self.deficiency}")

    def __reduce__(self) -> "tuple[type[SingularMatrix], tuple[Floats, Floats, int]]":
        return SingularMatrix, (self.null_columns, self.null_rows, self.structural)

    @property
    def null_column(self) -> Floats:
        """A right null vector, (n,)."""
        return self.null_columns[:, 0]

    @property
    def null_row(self) -> Floats:
        """A left null vector, (n,)."""
        return self.null_rows[:, 0]


def equilibrate(matrix: Any, fitted: bool = False) -> tuple[Floats, Floats]:
    """Row and column scales r, c (powers of two) such that every row and column of r_i a_ij c_j has Euclidean norm
    about 1.

    Simultaneous sweeps, each halving the distance from 1 (D. Ruiz, A scaling algorithm to equilibrate both rows and
    columns norms in matrices, RAL 2001-034, in the 2-norm). A mechanism's matrix [[M/h, G'], [h G, 0]] comes out with a
    condition near that of its geometry at any step. `fitted` begins with a least-squares fit of log r_i + log c_j to
    -log |a_ij| (Curtis and Reid, JIMA 10, 1972): it undoes scales many decades apart, but gives entries that are only
    round-off a voice. A zero row or column keeps scale 1.
    """
    exponents = np.zeros((2, matrix.shape[0]))
    present = matrix.data != 0
    column = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))[present]
    size = np.log2(np.abs(matrix.data[present]))
    _equilibrate(matrix.indices[present], column, size, exponents, _FIT_SWEEPS if fitted else 0)
    row_scale, column_scale = np.exp2(np.clip(np.rint(exponents), -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    return row_scale, column_scale


@compiled
def _equilibrate(row, column, size, exponents, fitting):
    """Exponents (2, n) of the scales of rows and columns for entries of these binary logarithms."""
    n = exponents.shape[1]
    largest, found = np.empty((2, n)), np.empty((2, n))
    for _ in range(fitting):
        _fit(row, column, size, exponents[0], exponents[1], found[0], found[1])
        _fit(column, row, size, exponents[1], exponents[0], found[0], found[1])
    for _ in range(_SWEEPS):
        for i in range(n):
            largest[0, i] = largest[1, i] = -np.inf
            found[0, i] = found[1, i] = 0.0
        for p in range(len(size)):
            scaled = size[p] + exponents[0, row[p]] + exponents[1, column[p]]
            largest[0, row[p]] = max(largest[0, row[p]], scaled)
            largest[1, column[p]] = max(largest[1, column[p]], scaled)
        for p in range(len(size)):
            scaled = size[p] + exponents[0, row[p]] + exponents[1, column[p]]
            found[0, row[p]] += np.exp2(2.0 * (scaled - largest[0, row[p]]))
            found[1, column[p]] += np.exp2(2.0 * (scaled - largest[1, column[p]]))
        most = 0.0
        for k in range(2):
            for i in range(n):
                if found[k, i] > 0.0:
                    step = 0.5 * (largest[k, i] + 0.5 * np.log2(found[k, i]))
                    exponents[k, i] -= step
                    most = max(most, abs(step))
        if most < _SETTLED:
            return


@inlined
def _fit(place, other, size, exponents, others, total, count):
    """exponents <- minus the means of the logarithms of all entries of a row (column), the others being scaled."""
    for i in range(len(exponents)):
        total[i] = count[i] = 0.0
    for p in range(len(size)):
        total[place[p]] += size[p] + others[other[p]]
        count[place[p]] += 1.0
    for i in range(len(exponents)):
        exponents[i] = -total[i] / max(count[i], 1.0)


def pivot_order(scaled: Any) -> tuple[Ints, Ints] | None:
    """Rows and columns of the pivots in the order of elimination, of the ordering with the smallest fill; None where a
    pivot is zero.

    SuperLU goes on behind a column without a pivot, and may then write beyond its arrays: it is not asked where the
    places of the nonzeros alone say that there is such a column.

    Fill is compared without relaxed supernodes: these store zeros that a refactorisation column by column never
    touches.
    """
    least, best = np.inf, None
    if np.count_nonzero(scaled.diagonal()) < scaled.shape[0] and structural_deficiency(scaled):
        return None
    for options, rows in _orderings(scaled):
        try:
            candidate = splu(scaled if rows is None else _with_rows(scaled, rows), relax=1, **options)
        except RuntimeError:
            # exactly singular, or an ordering that trips SuperLU itself (dpanel_bmod on some singular saddle points)
            continue
        if candidate.nnz < least:
            order = _inverse(candidate.perm_r)
            least, best = candidate.nnz, (order if rows is None else rows[order], _inverse(candidate.perm_c))
    return best


def _with_rows(matrix: Any, rows: Ints) -> Columns:
    """The matrix with its rows in another order."""
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return columns_of(matrix.data, _inverse(rows)[matrix.indices], columns, matrix.shape)


def symmetric_order(pattern: Columns) -> Ints:
    """Pivots of least degree on the diagonal of a symmetric pattern."""
    n = pattern.shape[0]
    if not n:
        return np.zeros(0, np.int32)
    return _inverse(splu(pattern + diagonal_of(np.full(n, 2.0 * n)), **_SYMMETRIC_MINIMUM_DEGREE).perm_c)


def _orderings(scaled: Any) -> Iterator[tuple[dict[str, Any], Ints | None]]:
    """What to try, each with the rows in another order where it wants them so: columns of least degree, and what may
    beat them.

    That is symmetric elimination where the diagonal allows it. Multipliers have no diagonal; there rows are put in an
    order that has large entries on it first. Columns of least degree forget that equations that many elements meet in
    (the balance of a frame that carries a beam of n elements) need not be eliminated early: their fill grows like n^2.
    """
    yield _COLUMN_MINIMUM_DEGREE, None
    n = scaled.shape[0]
    if n <= _TRY_BOTH_ORDERINGS_ABOVE:
        return
    if np.count_nonzero(scaled.diagonal()) > _ENOUGH_DIAGONAL * n:
        yield _SYMMETRIC_MINIMUM_DEGREE, None
        return
    degrees = np.bincount(scaled.indices, minlength=n).astype(float)
    if degrees @ degrees < _SPARSE_PRODUCT * len(scaled.data):
        yield _PRODUCT_MINIMUM_DEGREE, None
    yield _MATCHED_MINIMUM_DEGREE, heaviest_matching(scaled)


def _inverse(permutation: NDArray[Any]) -> Ints:
    inverse = np.empty(len(permutation), np.int32)
    inverse[permutation] = np.arange(len(permutation), dtype=np.int32)
    return inverse


def triangular_patterns(start: Ints, row: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Patterns of strictly lower L and strictly upper U (column starts and ascending rows) of a matrix whose pivots are
    its diagonal."""
    n = len(start) - 1
    l_start, u_start = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    l_row, u_row = _reach(start, row, l_start, u_start, np.full(n, -1, np.int32), np.empty(n, np.int32))
    return l_start, _ascending(l_start, l_row), u_start, _ascending(u_start, u_row)


@compiled
def _ascending(start, row):
    """The rows sorted within each column, by transposing twice: for U the order in which columns must be subtracted,
    for L locality."""
    n = len(start) - 1
    by_row, columns = np.zeros(n + 1, np.int32), np.empty(start[n], np.int32)
    for p in range(start[n]):
        by_row[row[p] + 1] += 1
    for i in range(n):
        by_row[i + 1] += by_row[i]
    place = by_row.copy()
    for k in range(n):
        for p in range(start[k], start[k + 1]):
            columns[place[row[p]]] = k
            place[row[p]] += 1
    found, place = np.empty(start[n], np.int32), start.copy()
    for i in range(n):
        for p in range(by_row[i], by_row[i + 1]):
            found[place[columns[p]]] = i
            place[columns[p]] += 1
    return found


@compiled
def _reach(start, row, l_start, u_start, seen, stack):
    """Column k of L + U holds what column k of A reaches through the columns of L before k: a depth-first search.

    Fills l_start and u_start, (n + 1,), and returns the rows of L and U with room to spare; `seen` (n,) comes as -1.
    """
    n = len(seen)
    l_row, u_row = np.empty(2 * len(row) + n, np.int32), np.empty(2 * len(row) + n, np.int32)
    l_count = u_count = 0
    for k in range(n):
        l_row, u_row = _room(l_row, l_count + n), _room(u_row, u_count + n)
        seen[k] = k
        for p in range(start[k], start[k + 1]):
            if seen[row[p]] == k:
                continue
            depth = 1
            stack[0] = row[p]
            seen[row[p]] = k
            while depth > 0:
                depth -= 1
                j = stack[depth]
                if j > k:
                    l_row[l_count] = j
                    l_count += 1
                    continue
                u_row[u_count] = j
                u_count += 1
                for q in range(l_start[j], l_start[j + 1]):
                    if seen[l_row[q]] != k:
                        seen[l_row[q]] = k
                        stack[depth] = l_row[q]
                        depth += 1
        l_start[k + 1], u_start[k + 1] = l_count, u_count
    return l_row, u_row


@compiled
def _room(rows, needed):
    if needed <= len(rows):
        return rows
    larger = np.empty(2 * needed, np.int32)
    for p in range(len(rows)):
        larger[p] = rows[p]
    return larger


def null_spaces(scaled: Any, tolerance: float = RANK_TOLERANCE) -> tuple[Floats, Floats]:
    """Bases (n, deficiency) of the right and left null space of an equilibrated matrix S of SciPy, each vector with
    largest entry 1.

    Inverse iteration with the regularised matrix [[d I, S], [S^T, -d I]], d above the rounding of S: it is never
    singular, as its eigenvalues are +-sqrt(s^2 + d^2) for the singular values s of S, so both null spaces grow by s/d
    in each step. A block of vectors is iterated and doubled until it holds more than the null space; `tolerance` is
    relative to the norm of S.
    """
    from scipy import sparse

    n, zero = scaled.shape[0], null_size(scaled, tolerance)
    shift = max(1e-8, zero)
    identity = shift * sparse.identity(n)
    regularised = splu(
        sparse.vstack([sparse.hstack([identity, scaled]), sparse.hstack([scaled.T, -identity])], format="csc")
    )
    width = min(4, n)
    while True:
        left, right = _iterate(regularised, n, width)
        null_columns, null_rows = _null_part(scaled, right, zero), _null_part(scaled.T, left, zero)
        if width == n or max(null_columns.shape[1], null_rows.shape[1]) < width:
            return null_columns, null_rows
        width = min(2 * width, n)


def null_size(scaled: Any, tolerance: float = RANK_TOLERANCE) -> float:
    """What a singular value of an equilibrated matrix must exceed to count."""
    magnitude = abs(scaled)
    return tolerance * max(1.0, float(np.sqrt(magnitude.sum(0).max() * magnitude.sum(1).max())))


def _iterate(regularised: Any, n: int, width: int) -> tuple[Floats, Floats]:
    block = np.random.default_rng(1).standard_normal((2 * n, width))
    for _ in range(5):
        block = regularised.solve(block)
        block = np.vstack([np.linalg.qr(block[:n])[0], np.linalg.qr(block[n:])[0]])
    return block[:n], block[n:]


def _null_part(matrix: Any, basis: Floats, zero: float) -> Floats:
    """Those combinations z of an orthonormal basis with |matrix z| <= zero, reduced so that each has its own leading
    entry 1."""
    _, sizes, combinations = np.linalg.svd(matrix @ basis, full_matrices=False)
    null = basis @ combinations[sizes <= zero].T
    leading = pivots(null)[1][: null.shape[1]]
    return np.linalg.solve(null[leading].T, null.T).T


def pivots(rows: Floats) -> tuple[Floats, Ints]:
    """What each row adds to those taken before it when always the largest rest is next: the sizes, falling, and the
    rows' order (QR with pivots)."""
    if not rows.size:
        return np.zeros(0), np.arange(len(rows), dtype=np.int32)
    columns, factorise = np.asarray_chkfinite(rows.T), lapack().dgeqp3
    *_, work, _ = factorise(columns, lwork=-1)
    triangle, order, *_ = factorise(columns, lwork=int(work[0]))
    return np.abs(np.diag(triangle)), order - 1
