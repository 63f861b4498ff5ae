"""Kernels called from compiled loops: a table of addresses and pointers.

A *call table* is an int64 array (n_kernels, 7) with one row per batch of instances:

    [function address, n, gather pointer, uniform pointer, parameters pointer, scatter pointer, 0]

It holds addresses only: whoever builds it keeps the arrays and the NativeKernels alive for as long as the table is
used. A changed parameter or gather *value* is written into the array in place and needs neither a new table nor a new
compilation.
"""

from typing import Any

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.core.compiled.sources import Foreign

ROW_LENGTH = 7


def _call_kernel() -> Any:
    from netsim.core.compiled.translation import call_kernel

    return call_kernel()


_call_address = Foreign(_call_kernel, "kernel")


@compiled
def run_table(table, g, out):  # type: ignore[no-untyped-def]
    """Run every kernel of a call table on the global vectors g and out (float64, contiguous, not overlapping).

    Adds to `out`; the caller zeroes it. Usable inside other compiled functions; allocates nothing.
    """
    source = g.ctypes.data
    target = out.ctypes.data
    for i in range(table.shape[0]):
        _call_address(table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5], source, target)


def table_row(address: int, n: int, gather: Any, uniform: Any, parameters: Any, scatter: Any) -> np.ndarray:
    """One row of a call table, int64 (7,). The arrays must outlive the row.

    Raises TypeError for an array that is not contiguous or not of the kernel's type (int32 indices, float64
    parameters), ValueError for a gather, scatter or parameter array whose length is no multiple of n, or a negative n.
    """
    _check_array("gather", gather, np.int32, n)
    _check_array("uniform", uniform, np.int32, 1)
    _check_array("parameters", parameters, np.float64, n)
    _check_array("scatter", scatter, np.int32, n)
    pointers = [array.ctypes.data for array in (gather, uniform, parameters, scatter)]
    return np.array([address, n, *pointers, 0], dtype=np.int64)


def _check_array(name: str, array: Any, kind: type, n: int) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != kind or not array.flags.c_contiguous:
        found = (
            f"{array.dtype}{'' if array.flags.c_contiguous else ', not contiguous'}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise TypeError(f"'{name}' must be a contiguous array of {kind.__name__}, got {found}")
    if n < 0 or (array.size % n if n else array.size):
        raise ValueError(f"'{name}' has {array.size} entries, which is no multiple of n = {n}")
