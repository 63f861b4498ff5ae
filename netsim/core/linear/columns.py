"""Sparse matrices in compressed columns and their factors by SuperLU, without SciPy's packages.

`scipy.sparse` imports 200 modules in a tenth of a second, most of them numpy's for its own tests. A run adds, scales
and multiplies matrices, and has them factorised: the extension module of SuperLU is loaded by itself. It is private to
SciPy; where it is not found as expected the public function serves, which does the same.
"""

import importlib.util
import sys
from dataclasses import dataclass, replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[Any]
SUPERLU, LAPACK = "scipy.sparse.linalg._dsolve._superlu", "scipy.linalg._flapack"


@dataclass(frozen=True, eq=False)
class Columns:
    """A matrix of `shape` (m, n): column j has the entries `data` in the rows `indices` from indptr[j] to indptr[j+1],
    rows ascending, none twice. The arrays are named as SciPy names them."""

    shape: tuple[int, int]
    indptr: Numbers
    indices: Numbers
    data: Floats

    @property
    def columns(self) -> Numbers:
        """The column of every entry."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))

    @property
    def nonzero(self) -> "Columns":
        """The same without entries that are zero, as sums and products have none."""
        kept = self.data != 0.0
        if kept.all():
            return self
        indptr = np.append(0, np.cumsum(kept))[self.indptr].astype(np.int32)
        return Columns(self.shape, indptr, self.indices[kept], self.data[kept])

    @property
    def sparse(self) -> Any:
        """The same as a matrix of SciPy."""
        from scipy.sparse import csc_matrix

        return csc_matrix((self.data, self.indices, self.indptr), shape=self.shape)

    @property
    def T(self) -> "Columns":
        return columns_of(self.data, self.columns, self.indices, self.shape[::-1])

    def __matmul__(self, right: Numbers) -> Floats:
        """The product with a vector (n,) or with columns (n, k)."""
        if right.ndim == 2:
            return (
                np.column_stack([self @ each for each in right.T]) if right.shape[1] else np.zeros((self.shape[0], 0))
            )
        return np.asarray(np.bincount(self.indices, self.data * right[self.columns], self.shape[0]), float)

    def __add__(self, other: "Columns") -> "Columns":
        rows, columns = (
            np.concatenate(pair) for pair in ((self.indices, other.indices), (self.columns, other.columns))
        )
        return columns_of(np.concatenate([self.data, other.data]), rows, columns, self.shape).nonzero

    def __abs__(self) -> "Columns":
        return replace(self, data=np.abs(self.data))

    def scaled(self, rows: Floats, columns: Floats) -> "Columns":
        """r_i a_ij c_j."""
        return replace(self, data=rows[self.indices] * self.data * columns[self.columns]).nonzero

    def largest(self, axis: int) -> Floats:
        """The largest size of an entry of every column (axis 0) or row (1); NaN counts as such."""
        found = np.zeros(self.shape[1 - axis])
        np.maximum.at(found, self.indices if axis else self.columns, np.abs(self.data))
        return found

    def diagonal(self) -> Floats:
        """(min(m, n),)"""
        found, own = np.zeros(min(self.shape), self.data.dtype), self.indices == self.columns
        found[self.indices[own]] = self.data[own]
        return found

    def toarray(self) -> Floats:
        """(m, n)"""
        found = np.zeros(self.shape, self.data.dtype)
        found[self.indices, self.columns] = self.data
        return found


def columns_of(values: Floats, rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> Columns:
    """The matrix with these entries; repeated ones add up in their order."""
    place = np.asarray(columns, np.int64) * shape[0] + rows
    order = np.argsort(place, kind="stable")
    place, data = place[order], np.asarray(values, float)[order]
    first = np.append(True, place[1:] != place[:-1])[: len(place)]
    if not first.all():
        data, place = np.bincount(np.cumsum(first) - 1, data), place[first]
    counts = np.bincount(place // max(shape[0], 1), minlength=shape[1])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return Columns(shape, indptr, (place % max(shape[0], 1)).astype(np.int32), data)


def diagonal_of(values: Floats) -> Columns:
    """The matrix with this diagonal, (n,)."""
    n = len(values)
    return Columns((n, n), np.arange(n + 1, dtype=np.int32), np.arange(n, dtype=np.int32), values)


@cache
def extension(name: str) -> ModuleType | None:
    """An extension module of SciPy without its package; None where it cannot be loaded so."""
    if name in sys.modules:
        return sys.modules[name]
    scipy, *folders, _ = name.split(".")
    root = importlib.util.find_spec(scipy)
    found = root and root.origin and PathFinder.find_spec(name, [str(Path(root.origin).parent.joinpath(*folders))])
    if not found or found.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
    except ImportError:
        return None
    return sys.modules.setdefault(name, module)


def lapack() -> Any:
    """LAPACK's functions as `scipy.linalg.lapack` has them."""
    if found := extension(LAPACK):
        return found
    from scipy.linalg import lapack

    return lapack


def splu(
    matrix: Any,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """The LU factors of a square sparse matrix in compressed columns, of `Columns` or of SciPy, as
    `scipy.sparse.linalg.splu` gives them (L and U are `Columns`). Raises RuntimeError for a singular one."""
    factorise = getattr(extension(SUPERLU), "gstrf", None)
    ours = isinstance(matrix, Columns)
    if ours and factorise and matrix.shape[0] != matrix.shape[1]:
        raise ValueError("only square matrices have factors")
    if not ours:
        plain = matrix.format == "csc" and matrix.dtype in (float, complex) and matrix.indices.dtype == np.int32
        if not plain or matrix.shape[0] != matrix.shape[1]:
            factorise = None
        else:
            matrix.sum_duplicates()
    if factorise is None:
        from scipy.sparse import linalg

        return linalg.splu(matrix.sparse if ours else matrix, permc_spec, diag_pivot_thresh, relax, options=options)
    said = {"DiagPivotThresh": diag_pivot_thresh, "ColPerm": permc_spec, "PanelSize": None, "Relax": relax}
    return factorise(
        matrix.shape[0], len(matrix.data), matrix.data, matrix.indices, matrix.indptr,
        csc_construct_func=_triangle, ilu=False, options=said | (options or {}),
    )  # fmt: skip


def _triangle(arrays: tuple[Floats, Numbers, Numbers], shape: tuple[int, int]) -> Columns:
    """A factor's triangle, where somebody asks for it, from entries, rows and starts of columns."""
    data, rows, starts = arrays
    return Columns(shape, starts, rows[: starts[-1]], data[: starts[-1]])
