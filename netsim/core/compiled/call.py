"""Kernels called from compiled loops: a table of addresses and pointers, run by numba.

A *call table* is an int64 array (n_kernels, 7) with one row per batch of instances:

    [function address, n, gather pointer, uniform pointer, parameters pointer, scatter pointer, 0]

It holds addresses only: whoever builds it keeps the arrays and the NativeKernels alive for as long as the table is
used. A changed parameter or gather *value* is written into the array in place and needs neither a new table nor a new
compilation.

Import `compiled` from here in place of numba's `njit`: it is `njit(nogil=True)` with IEEE 754 division, whose machine
code is kept in the user's cache folder (netsim/core/compiled/machine_code.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from netsim.core.compiled.machine_code import keep

ROW_LENGTH = 7


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: the function as machine code by numba, without the interpreter's lock, kept on disk where that is
    possible.

    Division follows IEEE 754 (x/0 is infinite or NaN, nothing is raised). The wrapper for callers in C, which nobody
    here is, is left out: it takes a tenth of the time of a first compilation. `options` are further ones of numba's
    `njit`.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    return keep(numba.njit(**settings)(function), function, settings)


def lean(function: Callable[..., Any]) -> Any:
    """As `compiled`, without counting references to arrays: for functions that allocate nothing and return no array.

    A function that is handed a hundred arrays compiles twice as fast this way."""
    return compiled(function, _nrt=False)


def inner(function: Callable[..., Any]) -> Any:
    """As `lean`, for functions that are called from compiled code only: Python's way in is a third of a small
    function's compilation."""
    return compiled(function, _nrt=False, no_cpython_wrapper=True)


def inlined(function: Callable[..., Any]) -> Any:
    """As `inner`, put into its callers: a call that hands on a dozen arrays takes a tenth of a microsecond, more than
    what small ones do."""
    return compiled(function, _nrt=False, no_cpython_wrapper=True, forceinline=True)


def ready(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A compiled function's machine code for arguments of these types, to be called with them: to look at the types of
    a hundred arrays takes half a millisecond at every call."""
    code: Callable[..., Any] = function.compile(tuple(map(numba.typeof, arguments)))
    return code


def _type_call(typing_context, address, n, gather, uniform, parameters, scatter, g, out):  # type: ignore[no-untyped-def]
    """Call the kernel at an integer address; all pointers come as integers."""
    if any(not isinstance(kind, types.Integer) for kind in (address, n, gather, uniform, parameters, scatter, g, out)):
        return None
    signature = types.void(*[types.int64] * 8)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = ir.IntType(8).as_pointer()
        kernel = ir.FunctionType(ir.VoidType(), [ir.IntType(64), *[pointer] * 6])
        function = builder.inttoptr(arguments[0], kernel.as_pointer())
        builder.call(function, [arguments[1], *(builder.inttoptr(argument, pointer) for argument in arguments[2:])])
        return context.get_dummy_value()

    return signature, generate


_call_address: Any = intrinsic(_type_call)


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
