"""Matchings of a matrix's rows and columns over its nonzero entries: of most pairs, and of the largest product."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from netsim.core.linear.extensions import extension

Ints = NDArray[np.int32]
REMEMBERED = 200
"""Patterns of at most so many columns are remembered: a model runs again with the same ones."""


def heaviest_matching(matrix: sparse.csc_matrix) -> Ints | None:
    """Rows in the order that gives the diagonal with the largest product; None where every order has a zero on it.

    I. Duff and J. Koster, The design and use of algorithms for permuting large entries to the diagonal, SIAM J. Matrix
    Anal. Appl. 20, 1999.
    """
    weights = matrix.tocsr()
    weights.eliminate_zeros()
    sizes = np.round(
        16.0 * np.log2(np.abs(weights.data))
    )  # whole numbers: sums are exact, on others SciPy's search may never end
    weights.data = sizes.max(initial=0.0) + 1.0 - sizes
    try:
        row, column = full_matching(weights)
    except ValueError:
        return None
    order = np.empty(len(row), np.int32)
    order[column] = row
    return order


def full_matching(weights: sparse.csr_matrix, maximize: bool = False) -> tuple[Ints, Ints]:
    """Rows and columns of the matching of all of them with the least sum of weights, or the largest. Raises ValueError
    where there is none."""
    match = getattr(extension("scipy.sparse.csgraph._matching"), "min_weight_full_bipartite_matching", None)
    if match is None:
        from scipy.sparse import csgraph

        match = csgraph.min_weight_full_bipartite_matching
    found: tuple[Ints, Ints] = match(weights, maximize)
    return found


def largest_matching(pattern: sparse.csr_matrix) -> Ints:
    """The column matched to each row by a matching of most pairs, -1 for rows without one: augmenting paths, phase by
    phase (Pothen, Fan 1990).

    SciPy's `maximum_bipartite_matching` takes exponential time on chains of loops (scipy issue 26147): it does not mark
    dead ends.
    """
    rows, columns = pattern.shape
    starts, adjacent = pattern.indptr.tolist(), pattern.indices.tolist()
    row_of, column_of = [-1] * columns, [-1] * rows
    for row in range(rows):
        for column in adjacent[starts[row] : starts[row + 1]]:
            if row_of[column] < 0:
                row_of[column], column_of[row] = row, column
                break
    searching = True
    while searching:
        searching, seen = False, [False] * columns
        for root in [row for row in range(rows) if column_of[row] < 0]:
            path, ends = _augmenting(root, starts, adjacent, row_of, seen)
            for row, column in zip(path, ends):
                row_of[column], column_of[row] = row, column
            searching = searching or bool(path)
    return np.array(column_of, dtype=np.int64)


def _augmenting(
    root: int, starts: list[int], adjacent: list[int], row_of: list[int], seen: list[bool]
) -> tuple[list[int], list[int]]:
    """Rows from `root` on and the column each takes, the last one a free one; nothing where there is no such path.
    Marks the columns it tried."""
    path, places = [root], [starts[root]]
    while path:
        if places[-1] == starts[path[-1] + 1]:
            path.pop()
            places.pop()
            continue
        column = adjacent[places[-1]]
        places[-1] += 1
        if seen[column]:
            continue
        seen[column] = True
        if row_of[column] < 0:
            return path, [adjacent[place - 1] for place in places]
        path.append(row_of[column])
        places.append(starts[row_of[column]])
    return [], []


def structural_deficiency(matrix: sparse.csc_matrix) -> int:
    """n minus the size of a maximum matching of rows and columns over the nonzero entries."""
    there = matrix.data != 0
    counts = np.add.reduceat(np.append(there, False), matrix.indptr[:-1], dtype=np.int64) * (np.diff(matrix.indptr) > 0)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    row = matrix.indices[there].astype(np.int32)
    deficiency = _remembered if len(start) <= REMEMBERED else _deficiency
    return deficiency(matrix.shape[0], start.tobytes(), row.tobytes())


def _deficiency(rows: int, start: bytes, row: bytes) -> int:
    """The same of a pattern in compressed columns, whose rows and columns may change places."""
    begins, places = np.frombuffer(start, np.int32), np.frombuffer(row, np.int32)
    pattern = sparse.csr_matrix((np.ones(len(places)), places, begins), shape=(len(begins) - 1, rows))
    return int(np.count_nonzero(largest_matching(pattern) < 0))


_remembered = lru_cache(1024)(_deficiency)
