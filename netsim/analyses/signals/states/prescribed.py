"""Unknowns that an equation of their own gives from inputs, v x_j + W_i w = 0: elsewhere inputs stand in their place.

What an input does through a conductance of 1e-16 of everything beside it would be rounding among the equations, whose
scales no input takes part in."""

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


def without_prescribed(
    parts: Sequence[Array], drives: Sequence[Array], outputs: Sequence[Array], feeds: Sequence[Array]
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    """The same equations sum_k s^k (parts[k] x + drives[k] w) = 0 and signals sum_k s^k (outputs[k] x + feeds[k] w),
    where what is prescribed is read by its own equation alone."""
    equations, signals = _copies(parts, drives), _copies(outputs, feeds)
    done = np.zeros(len(parts[0]), bool)
    while len(rows := _own_equations(equations[0], done)):
        for i in rows:
            (j,) = np.flatnonzero(equations[0][0][i])
            given = [-drive[i] / equations[0][0][i, j] for drive in equations[1]]
            for of, by in (equations, signals):
                _substitute(of, by, int(j), given, kept=i if of is equations[0] else -1)
            done[i] = True
    return *equations, *signals


def _copies(of: Sequence[Array], by: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    return [part.copy() for part in of], [part.copy() for part in by]


def _own_equations(parts: Sequence[Array], done: Array) -> Array:
    """Equations of one unknown, without its derivatives."""
    entries = [np.count_nonzero(part, axis=1) for part in parts]
    return np.flatnonzero((entries[0] == 1) & (sum(entries[1:]) == 0) & ~done)


def _substitute(of: list[Array], by: list[Array], j: int, given: Sequence[Array], kept: int) -> None:
    """x_j = sum_m s^m given[m] w in every row but the one that is kept."""
    for k, part in enumerate(of):
        column = part[:, j].copy()
        if kept >= 0:
            column[kept] = 0.0
        if not column.any():
            continue
        part[:, j] -= column
        for m, each in enumerate(given):
            if each.any():
                by += [np.zeros_like(by[0]) for _ in range(k + m + 1 - len(by))]
                by[k + m] += np.outer(column, each)
