"""The places of a factor: those of the permuted matrix and of its triangles, kept by the matrix's places and pivots.

A run with other parameter values asks for the same ones again.
"""

from functools import lru_cache

import numpy as np

from netsim.core.linear.symbolic import Ints, triangular_patterns

_SMALL = 2_000
"""Entries of a matrix up to which its patterns are kept."""


def factor_patterns(start: Ints, row: Ints, rows: Ints, columns: Ints) -> tuple[Ints, ...]:
    """Of a matrix in compressed columns with its pivots at these rows and columns: starts of columns, sources and rows
    of the permuted matrix, then the patterns of L and U (see `triangular_patterns`). Nobody writes into them: those of
    small matrices are found once."""
    given = start, row, rows, columns
    return _known_patterns(*(each.tobytes() for each in given)) if len(row) <= _SMALL else _patterns(*given)


@lru_cache(maxsize=256)
def _known_patterns(*given: bytes) -> tuple[Ints, ...]:
    return _patterns(*(np.frombuffer(each, np.int32) for each in given))


def _patterns(start: Ints, row: Ints, rows: Ints, columns: Ints) -> tuple[Ints, ...]:
    n = len(rows)
    place = np.empty(n, np.int32)
    place[rows] = np.arange(n, dtype=np.int32)
    counts = np.diff(start)[columns]
    new_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    source = (np.arange(new_start[-1]) + np.repeat(start[columns] - new_start[:-1], counts)).astype(np.int32)
    new_row = place[row[source]] if n else source
    found = new_start, source, new_row, *triangular_patterns(new_start, new_row)
    for each in found:
        each.flags.writeable = False
    return found
