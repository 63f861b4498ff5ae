"""Sparse matrices solved in Python with rows and columns scaled to largest entries of 1, as matrices of the equations
with their units need it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, splu

Array = np.ndarray
_TINY = 1e-300
"""What rows and columns of zeros are divided by."""


@dataclass(frozen=True, eq=False)
class Equilibrated:
    """Factors of the scaled matrix, and the scales of its rows and columns."""

    rows: Array
    columns: Array
    factors: Any

    def solve(self, right: Array) -> Array:
        """matrix^-1 right, (n,)."""
        return np.asarray(self.columns * self.factors.solve(self.rows * right))

    @property
    def least_pivot(self) -> float:
        """The least size of a pivot of the scaled matrix; 1 without any."""
        return float(np.abs(self.factors.U.diagonal()).min(initial=1.0))


def equilibrated(matrix: Columns) -> Equilibrated | None:
    """The factors of a square matrix; None where it is singular."""
    rows = 1.0 / np.maximum(matrix.largest(1), _TINY)
    scaled = matrix.scaled(rows, np.ones(matrix.shape[1]))
    columns = 1.0 / np.maximum(scaled.largest(0), _TINY)
    try:
        return Equilibrated(rows, columns, splu(scaled.scaled(np.ones(matrix.shape[0]), columns)))
    except RuntimeError:
        return None
