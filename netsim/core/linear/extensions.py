"""Extension modules of SciPy by themselves: the packages around them import, in a tenth of a second, what no run needs.

They are private to SciPy. Where one is not found as expected, its user calls the public function, which does the same.
"""

import importlib.util
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy
from scipy import sparse

_SUPERLU = "scipy.sparse.linalg._dsolve._superlu"


@cache
def extension(name: str) -> ModuleType | None:
    """An extension module such as `scipy.sparse.csgraph._matching`, without its package; None where it cannot be
    loaded so."""
    if name in sys.modules:
        return sys.modules[name]
    folder = Path(scipy.__file__).parent.joinpath(*name.split(".")[1:-1])
    found = PathFinder.find_spec(name, [str(folder)])
    if found is None or found.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
    except ImportError:
        return None
    return sys.modules.setdefault(name, module)


def splu(
    matrix: Any,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """The LU factors of a square sparse matrix in compressed columns, as `scipy.sparse.linalg.splu` gives them. Raises
    RuntimeError for a singular one."""
    factorise = getattr(extension(_SUPERLU), "gstrf", None)
    plain = sparse.issparse(matrix) and matrix.format == "csc" and matrix.dtype in (float, complex)
    if factorise is None or not plain or matrix.shape[0] != matrix.shape[1] or matrix.indices.dtype != np.int32:
        from scipy.sparse import linalg

        return linalg.splu(matrix, permc_spec, diag_pivot_thresh, relax, options=options)
    matrix.sum_duplicates()
    said = {"DiagPivotThresh": diag_pivot_thresh, "ColPerm": permc_spec, "PanelSize": None, "Relax": relax}
    return factorise(
        matrix.shape[0], matrix.nnz, matrix.data, matrix.indices, matrix.indptr,
        csc_construct_func=sparse.csc_array, ilu=False, options=said | (options or {}),
    )  # fmt: skip
