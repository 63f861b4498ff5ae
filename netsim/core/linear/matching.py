"""Matchings of a matrix's rows and columns over its nonzero entries: of most pairs, and of the largest product."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.core.compiled.function import compiled, inlined

Ints = NDArray[np.int32]
Places = NDArray[Any]
KNOWN = 64
"""Patterns whose matchings are remembered: a search meets one of them at every step, and a model that runs again."""


def heaviest_matching(matrix: Any) -> Ints:
    """Rows in the order that gives the diagonal with the largest product, of a matrix without structural deficiency.

    I. Duff and J. Koster, The design and use of algorithms for permuting large entries to the diagonal, SIAM J. Matrix
    Anal. Appl. 20, 1999.
    """
    there = matrix.data != 0.0
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))[there]
    sizes = np.round(16.0 * np.log2(np.abs(matrix.data[there])))  # whole numbers, whose sums are exact
    found = least_matching(matrix.shape[0], matrix.indices[there], columns, sizes.max(initial=0.0) + 1.0 - sizes)
    order = np.empty(len(found), np.int32)
    order[found] = np.arange(len(found), dtype=np.int32)
    return order


def least_matching(n: int, rows: Places, columns: Places, weights: Places) -> Places:
    """The column of each of n rows in the matching of all n columns with the least sum of weights, whole numbers
    (weights[k] of rows[k] and columns[k]). There is a matching of all: without one the search may not end.

    R. Jonker and A. Volgenant, A shortest augmenting path algorithm for dense and sparse linear assignment problems,
    Computing 38, 1987. Of several such matchings it finds the one that SciPy's function of the same method finds."""
    order = np.lexsort((columns, rows))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    column, weight = np.asarray(columns, np.int64)[order], np.asarray(weights, np.float64)[order]
    found: Places = _matched(start, column, weight)
    return found


@compiled
def _matched(start, column, weight):
    """Columns of all rows. Prices of columns, lowered from their least weights, make what each row pays for its own
    column the least that it can."""
    n = len(start) - 1
    column_of, row_of = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    price, free = np.full(n, np.inf), np.empty(n, np.int64)
    _reduce(start, column, weight, price, row_of, column_of, free)
    count = _transfer(start, column, weight, price, column_of, free)
    for _ in range(2):
        count = _take(start, column, weight, price, row_of, column_of, free, count)
    distance, before, queue, seen = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    for k in range(count):
        _augment(start, column, weight, price, row_of, column_of, free[k], distance, before, queue, seen)
    return column_of


@inlined
def _reduce(start, column, weight, price, row_of, column_of, wanted):
    """Prices are least weights; each row takes the last column that it is the cheapest of. `wanted`: of how many it
    is."""
    n = len(price)
    for i in range(n):
        wanted[i] = 0
        for p in range(start[i], start[i + 1]):
            if weight[p] < price[column[p]]:
                price[column[p]], row_of[column[p]] = weight[p], i
    for j in range(n - 1, -1, -1):
        i = row_of[j]
        if i >= 0:
            wanted[i] += 1
            if column_of[i] < 0:
                column_of[i] = j
            else:
                row_of[j] = -1


@inlined
def _transfer(start, column, weight, price, column_of, free):
    """Where a row is the cheapest of its own column alone, that column's price falls until the row's second best is as
    good. How many rows have no column: the first ones in `free`, which holds how many were wanted."""
    count = 0
    for i in range(len(price)):
        own, wanted, second = column_of[i], free[i], np.inf
        if own < 0:
            free[count] = i
            count += 1
        elif wanted == 1:
            for p in range(start[i], start[i + 1]):
                if column[p] != own:
                    second = min(second, weight[p] - price[column[p]])
            price[own] -= second
    return count


@inlined
def _take(start, column, weight, price, row_of, column_of, free, count):
    """Each free row takes its best column, and its owner is free instead; how many are free in the end."""
    k = left = 0
    while k < count:
        i = free[k]
        k += 1
        first = second = np.inf
        best = other = -1
        for p in range(start[i], start[i + 1]):
            pays = weight[p] - price[column[p]]
            if pays < first:
                second, other, first, best = first, best, pays, column[p]
            elif pays < second:
                second, other = pays, column[p]
        if best < 0:
            free[left] = i
            left += 1
            continue
        owner = row_of[best]
        if first < second:
            price[best] -= second - first
        elif owner >= 0:
            best, owner = other, row_of[other]
        if owner >= 0:
            column_of[owner] = -1
            if first < second:
                k -= 1
                free[k] = owner
            else:
                free[left] = owner
                left += 1
        column_of[i], row_of[best] = best, i
    return left


@inlined
def _augment(start, column, weight, price, row_of, column_of, root, distance, before, queue, seen):
    """The shortest path of exchanges from a row without a column to a column without a row, and what it changes.
    `queue` holds the nearest columns from its beginning, those that were looked at from its end."""
    n = len(price)
    distance[:], seen[:] = np.inf, False
    for p in range(start[root], start[root + 1]):
        distance[column[p]], before[column[p]] = weight[p] - price[column[p]], root
    waiting, looked, last, end = 0, n, n, -1
    while end < 0:
        if waiting == 0:
            last = looked
            waiting = _nearest(distance, queue, seen)
            nearest = distance[queue[0]]
            for k in range(waiting - 1, -1, -1):
                if row_of[queue[k]] < 0:
                    end = queue[k]
        else:
            waiting, looked = waiting - 1, looked - 1
            queue[looked] = queue[waiting]
            path = distance, before, queue, seen
            waiting, end = _look_on(start, column, weight, price, row_of, path, queue[looked], nearest, waiting)
    for k in range(last, n):
        price[queue[k]] += distance[queue[k]] - nearest
    i = -1
    while i != root:
        i = before[end]
        row_of[end] = i
        end, column_of[i] = column_of[i], end


@inlined
def _nearest(distance, queue, seen):
    """How many columns that were not seen are nearest; they are seen now and begin the queue."""
    waiting, nearest = 0, np.inf
    for j in range(len(distance)):
        if not seen[j] and distance[j] <= nearest:
            if distance[j] < nearest:
                waiting, nearest = 0, distance[j]
            queue[waiting] = j
            waiting += 1
    for k in range(waiting):
        seen[queue[k]] = True
    return waiting


@inlined
def _look_on(start, column, weight, price, row_of, path, own, nearest, waiting):
    """Ways on from the row that has the column `own`: how many columns wait then, and one without a row that is as
    near, or -1."""
    distance, before, queue, seen = path
    i, paid = row_of[own], 0.0
    for p in range(start[i], start[i + 1]):
        if column[p] == own:
            paid = weight[p] - price[own] - nearest
    for p in range(start[i], start[i + 1]):
        j = column[p]
        length = weight[p] - price[j] - paid
        if seen[j] or length >= distance[j]:
            continue
        distance[j], before[j] = length, i
        if length == nearest:
            if row_of[j] < 0:
                return waiting, j
            queue[waiting], seen[j] = j, True
            waiting += 1
    return waiting, -1


def largest_matching(rows: int, columns: int, start: Places, adjacent: Places) -> Ints:
    """The column matched to each row, whose nonzeros are in adjacent[start[row] : start[row + 1]], -1 for rows without
    one, by a matching of most pairs: augmenting paths, phase by phase (Pothen, Fan 1990).

    SciPy's `maximum_bipartite_matching` takes exponential time on chains of loops (scipy issue 26147): it does not mark
    dead ends.
    """
    starts, meets = start.tolist(), adjacent.tolist()
    row_of, column_of = [-1] * columns, [-1] * rows
    for row in range(rows):
        for column in meets[starts[row] : starts[row + 1]]:
            if row_of[column] < 0:
                row_of[column], column_of[row] = row, column
                break
    searching = True
    while searching:
        searching, seen = False, [False] * columns
        for root in [row for row in range(rows) if column_of[row] < 0]:
            path, ends = _augmenting(root, starts, meets, row_of, seen)
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


def structural_deficiency(matrix: Any) -> int:
    """n minus the size of a maximum matching of rows and columns over the nonzero entries.

    Where the entries that matched all of an earlier matrix of this pattern are nonzero again, they do so again."""
    there = matrix.data != 0
    known = _known(matrix.indptr.tobytes(), matrix.indices.tobytes())
    if known and there[known[0]].all():
        return 0
    columns, rows = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))[there], matrix.indices[there]
    start = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=matrix.shape[1]))])
    found = largest_matching(matrix.shape[1], matrix.shape[0], start, rows)
    missing = int(np.count_nonzero(found < 0))
    if not missing:
        known[:] = [np.flatnonzero(there)[rows == found[columns]]]
    return missing


@lru_cache(KNOWN)
def _known(start: bytes, row: bytes) -> list[Places]:
    """Of a pattern in compressed columns: the places of entries that match all, once they were found."""
    return []
