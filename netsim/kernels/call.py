"""Kernels called from compiled loops: a table of addresses and pointers, run by numba.

A *call table* is an int64 array (n_kernels, 7) with one row per batch of instances:

    [function address, n, gather pointer, uniform pointer, parameters pointer, scatter pointer, 0]

It holds addresses only: whoever builds it keeps the arrays and the NativeKernels alive for as long as the table is used. A changed parameter or
gather *value* is written into the array in place and needs neither a new table nor a new compilation.

numba keeps what it compiles in a folder of the user's cache, so that an installation may be read-only. Import `compiled` from here in place of
numba's `njit`: it is `njit(nogil=True)` with IEEE 754 division, cached on disk where a folder can be written. numba itself notices a change of the
function's own file only, so the folder is named after the text of every file of the package that uses numba: a changed callee never meets a stale
caller.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from netsim.cache import cache_folder

ROW_LENGTH = 7


@cache
def prepare_numba() -> bool:
    """Point numba's cache at the user's cache folder; True where functions can be cached on disk.

    A folder set in $NUMBA_CACHE_DIR beforehand is respected. Nothing but this process' environment (and its children's) is changed.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    folder = cache_folder("numba")
    if folder is None:
        return False
    place = str(folder / _compiled_sources_digest())
    os.environ["NUMBA_CACHE_DIR"] = place
    if "numba" in sys.modules:  # numba reads its environment once, at its import
        sys.modules["numba"].config.CACHE_DIR = place
    return True


def _compiled_sources_digest() -> str:
    """A sha256 over the package's files that mention numba or this module (some milliseconds)."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text or b"kernels.call" in text:
            digest.update(file.name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:32]


_CACHED = prepare_numba()

import numba  # noqa: E402  (after its cache folder is set)
from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: the function as machine code by numba, without the interpreter's lock, cached on disk where that is possible.

    Division follows IEEE 754 (x/0 is infinite or NaN, nothing is raised). The wrapper for callers in C, which nobody here is, is left out: it takes
    a tenth of the time of a first compilation. `options` are further ones of numba's `njit`.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    settings: dict[str, Any] = {"cache": _CACHED, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    return numba.njit(**settings)(function)


def lean(function: Callable[..., Any]) -> Any:
    """As `compiled`, without counting references to arrays: for functions that allocate nothing and return no array.

    A function that is handed a hundred arrays compiles twice as fast this way."""
    return compiled(function, _nrt=False)


def inner(function: Callable[..., Any]) -> Any:
    """As `lean`, for functions that are called from compiled code only: Python's way in is a third of a small function's compilation."""
    return compiled(function, _nrt=False, no_cpython_wrapper=True)


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

    Raises TypeError for an array that is not contiguous or not of the kernel's type (int32 indices, float64 parameters), ValueError for a gather,
    scatter or parameter array whose length is no multiple of n, or a negative n.
    """
    _check_array("gather", gather, np.int32, n)
    _check_array("uniform", uniform, np.int32, 1)
    _check_array("parameters", parameters, np.float64, n)
    _check_array("scatter", scatter, np.int32, n)
    pointers = [array.ctypes.data for array in (gather, uniform, parameters, scatter)]
    return np.array([address, n, *pointers, 0], dtype=np.int64)


def _check_array(name: str, array: Any, kind: type, n: int) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != kind or not array.flags.c_contiguous:
        found = f"{array.dtype}{'' if array.flags.c_contiguous else ', not contiguous'}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"'{name}' must be a contiguous array of {kind.__name__}, got {found}")
    if n < 0 or (array.size % n if n else array.size):
        raise ValueError(f"'{name}' has {array.size} entries, which is no multiple of n = {n}")
