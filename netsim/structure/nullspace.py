"""What a singular sparse matrix leaves undetermined: sparse null vectors, one per independent cause."""

from contextlib import suppress
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, diagonal_of, splu
from netsim.core.linear.graphs import connected, members

Array = np.ndarray
SHIFT = 1e-13
NULL = 1e-11
SUPPORT = 1e-6
ROUNDS = 6


def null_basis(matrix: Columns) -> tuple[Array, Array]:
    """(N, scale): columns of N span the x with A diag(scale) x = 0, in reduced echelon form; N has no columns for a
    regular A.

    Rows and columns are brought to size one first; block inverse iteration on A + SHIFT*D with a random diagonal D
    finds the null space (a bare diagonal makes every matrix regular, empty rows included)."""
    n = matrix.shape[0]
    balanced, _, scale = equilibrated(matrix)
    rng = np.random.default_rng(1)
    factor = _shifted(balanced, rng) if n else None
    count = min(4, n)
    while factor is not None:
        block = rng.standard_normal((n, count))
        for _ in range(3):
            block, _ = np.linalg.qr(factor.solve(block))
        _, sizes, right = np.linalg.svd(balanced @ block, full_matrices=False)
        found = block @ right[sizes < NULL].T
        if found.shape[1] < count or count == n:
            return _echelon(found), scale
        count = min(2 * count, n)
    return np.zeros((0, 0)), scale


def _shifted(balanced: Columns, rng: np.random.Generator) -> Any:
    """The factor of A + SHIFT*D; anew with a larger shift where rounding makes a pivot exactly zero."""
    n = balanced.shape[0]
    for larger in (1.0, 10.0, 100.0):
        with suppress(RuntimeError):
            return splu(balanced + diagonal_of(larger * SHIFT * rng.uniform(0.5, 2, n)))
    raise RuntimeError("no shift makes the matrix regular")


def equilibrated(matrix: Columns) -> tuple[Columns, Array, Array]:
    """(R A C, r, c) with rows and columns scaled towards largest entries of one (Ruiz 2001)."""
    row_scale, scale = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(ROUNDS):
        rows, columns = _roots(matrix.largest(1)), _roots(matrix.largest(0))
        matrix = matrix.scaled(rows, columns)
        row_scale, scale = row_scale * rows, scale * columns
    return matrix, row_scale, scale


def _roots(largest: Array) -> Array:
    return 1 / np.sqrt(np.where(largest > 0, largest, 1.0))


def _echelon(basis: Array) -> Array:
    """The same span with a one in each column where all others have zeros: separate causes fall into separate
    columns."""
    basis = basis.copy()
    for k in range(basis.shape[1]):
        row = int(np.argmax(np.abs(basis[:, k])))
        basis[:, k] /= basis[row, k]
        for j in range(basis.shape[1]):
            if j != k:
                basis[:, j] -= basis[:, k] * basis[row, j]
    return basis


def supports(basis: Array) -> list[frozenset[int]]:
    """The unknowns each cause leaves undetermined; null vectors that share an unknown are one cause."""
    inside = np.abs(basis) > SUPPORT * np.abs(basis).max(axis=0, initial=0.0)
    unknown, vector = np.nonzero(inside)
    parts = members(connected(len(basis) + basis.shape[1], unknown, len(basis) + vector))
    touched = frozenset(unknown.tolist())
    return [part & touched for part in parts if part & touched]
