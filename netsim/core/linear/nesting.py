"""Superelements of a network: subnetworks whose own unknowns are eliminated first, each by itself, before any others.

With B what a subnetwork keeps to itself and R all else, the elimination of B leaves of A

    A_RR - A_RB A_BB^-1 A_BR,

the Schur complement: to the rest the subnetwork is a dense element on the unknowns it meets (a kinetostatic element of
H. A. Gevorkyan, Proc. NAS RA and NPUA, 2017, that takes motions and hands forces back). As an order of pivots this is
free of extra arithmetic, and of extra rounding: the factors are those of the whole matrix, block after block. A
subnetwork in another one comes before it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.core.linear.columns import splu
from netsim.core.linear.symbolic import Ints, null_spaces, pivot_order

Places = NDArray[Any]
ROUNDS = 8
RANK = 1e-10


def nested_order(scaled: Any, parts: Sequence[Places]) -> tuple[Ints, Ints] | None:
    """Rows and columns of the pivots of a matrix of SciPy, the unknowns and equations of each part before those of the
    next and of the rest; None where a pivot is zero.

    What cannot be eliminated inside (a part whose own block is singular) stays with the rest."""
    left, matrix = (np.arange(scaled.shape[0]),) * 2, scaled
    rows: list[Places] = []
    columns: list[Places] = []
    for part in parts:
        inside = _inside(matrix, *(np.flatnonzero(np.isin(numbers, part)) for numbers in left))
        if inside is None or not len(inside[0]):
            continue
        rows.append(left[0][inside[0]])
        columns.append(left[1][inside[1]])
        stay = np.setdiff1d(np.arange(len(left[0])), inside[0]), np.setdiff1d(np.arange(len(left[1])), inside[1])
        matrix = _complement(matrix, inside, stay)
        left = left[0][stay[0]], left[1][stay[1]]
    last = pivot_order(matrix) if matrix.shape[0] else (np.zeros(0, np.int32),) * 2
    if last is None:
        return None
    rows.append(left[0][last[0]])
    columns.append(left[1][last[1]])
    return np.concatenate(rows).astype(np.int32), np.concatenate(columns).astype(np.int32)


def _inside(matrix: Any, rows: Places, columns: Places) -> tuple[Places, Places] | None:
    """Rows and columns of a part's pivots in their order, without what its block leaves undetermined."""
    for _ in range(ROUNDS):
        if not len(rows):
            return None
        block = matrix[rows][:, columns].tocsc()
        right, left = null_spaces(block, RANK) if len(rows) == len(columns) else (np.zeros((0, 0)),) * 2
        if not right.shape[1] and not left.shape[1]:
            order = pivot_order(block)
            return None if order is None else (rows[order[0]], columns[order[1]])
        rows, columns = (
            np.delete(numbers, np.argmax(np.abs(null), axis=0)) for numbers, null in ((rows, left), (columns, right))
        )
    return None


def _complement(matrix: Any, inside: tuple[Places, Places], stay: tuple[Places, Places]) -> Any:
    """What is left of a matrix behind the elimination of a block."""
    from scipy import sparse

    ahead = matrix[inside[0]].tocsc()
    block, outward = ahead[:, inside[1]].tocsc(), ahead[:, stay[1]].tocsc()
    below = matrix[stay[0]].tocsc()
    met = np.flatnonzero(np.diff(outward.indptr))
    answer = splu(block).solve(outward[:, met].toarray()) if len(met) else np.zeros((len(inside[0]), 0))
    share = below[:, inside[1]] @ sparse.csc_matrix(answer)
    spread = sparse.csc_matrix((np.ones(len(met)), (np.arange(len(met)), met)), shape=(len(met), len(stay[1])))
    return (below[:, stay[1]] - share @ spread).tocsc()
