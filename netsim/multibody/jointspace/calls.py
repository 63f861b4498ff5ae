"""The recursion as calls of a call table: machine code at an address, with all it needs behind one pointer (see
netsim.core.compiled.call).

A call's `gather` points to a directory of arrays (address, rows, columns each); its n says which of the operations it
is.
"""

from functools import cache
from typing import Any

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.core.compiled.function import address_of, compiled
from netsim.core.compiled.sources import Foreign
from netsim.equations.forms.symbols import UNIFORMS
from netsim.multibody.jointspace.compiled.entries import answers, spread_entries
from netsim.multibody.jointspace.compiled.plan import (
    BUFFER,
    ENTRIES,
    FRAMES,
    MULTIPLIERS,
    N_BUFFER,
    N_G,
    N_MULTIPLIERS,
    N_OUT,
    ROWS,
    Motion,
    Plan,
)
from netsim.multibody.jointspace.compiled.recursion import balances, inward, outward

BEFORE_RESIDUAL, BEFORE_MATRIX, AFTER_RESIDUAL, AFTER_MATRIX, FRAMES_ONLY, OBSERVE, BEFORE_PARTIAL = range(7)
AFTER_PARTIAL = BEFORE_PARTIAL + 3
"""Operations; the last two, and two more behind each, are around a matrix by x, by v, by a alone, which is kept behind
`out`."""
KX, KV, KA, ALPHA = (1 + UNIFORMS.index(name) for name in ("kx", "kv", "ka", "alpha"))
PLAN, MOTION = len(Plan._fields), len(Motion._fields)


def _foreign(name: str) -> Foreign:
    def make() -> Any:
        from netsim.core.compiled import translation

        return getattr(translation, name)()

    return Foreign(make, name)


_pointer, carray = _foreign("pointer"), _foreign("carray")


@compiled
def _flat(d, i):
    return carray(_pointer(d[3 * i]), (d[3 * i + 1],), np.int64)


@compiled
def _table(d, i):
    return carray(_pointer(d[3 * i]), (d[3 * i + 1], d[3 * i + 2]), np.int64)


@compiled
def _line(d, i):
    return carray(_pointer(d[3 * i]), (d[3 * i + 1],), np.float64)


@compiled
def _matrix(d, i):
    return carray(_pointer(d[3 * i]), (d[3 * i + 1], d[3 * i + 2]), np.float64)


@compiled
def element(operation, d, g_pointer, out_pointer):
    """One operation of the tree element on the global vectors."""
    p = Plan(
        _flat(d, 0), _table(d, 1), _table(d, 2), _flat(d, 3), _flat(d, 4), _flat(d, 5), _flat(d, 6), _flat(d, 7),
        _flat(d, 8), _flat(d, 9),
        _table(d, 10), _table(d, 11), _table(d, 12), _table(d, 13), _flat(d, 14), _table(d, 15), _matrix(d, 16),
        _table(d, 17), _flat(d, 18), _flat(d, 19), _table(d, 20), _flat(d, 21), _matrix(d, 22), _matrix(d, 23),
    )  # fmt: skip
    m = Motion(
        _matrix(d, 24), _matrix(d, 25), _matrix(d, 26), _matrix(d, 27), _matrix(d, 28), _matrix(d, 29), _matrix(d, 30),
        _matrix(d, 31),
        _matrix(d, 32), _matrix(d, 33), _matrix(d, 34), _matrix(d, 35), _matrix(d, 36), _matrix(d, 37), _matrix(d, 38),
        _matrix(d, 39),
        _matrix(d, 40),
    )  # fmt: skip
    g = carray(g_pointer, (p.sizes[N_G],), np.float64)
    if operation >= BEFORE_PARTIAL:
        _partials(operation, p, m, g, out_pointer)
        return
    if operation in (AFTER_RESIDUAL, AFTER_MATRIX):
        out = carray(out_pointer, (p.sizes[N_OUT],), np.float64)
        inward(p, m, out)
        balances(p, m, out)
        if operation == AFTER_MATRIX:
            answers(p, m, g[KX], g[KV], g[KA])
            spread_entries(p, m, g, out)
        return
    for i in range(p.sizes[N_MULTIPLIERS]):
        g[p.sizes[MULTIPLIERS] + i] = 0.0
    outward(p, m, g)
    if operation in (BEFORE_RESIDUAL, BEFORE_MATRIX):
        out = carray(out_pointer, (p.sizes[N_OUT],), np.float64)
        for i in range(p.sizes[ROWS], p.sizes[ROWS] + 6 * p.sizes[FRAMES]):
            out[i] = 0.0
        if operation == BEFORE_MATRIX:
            for i in range(p.sizes[BUFFER], p.sizes[BUFFER] + p.sizes[N_BUFFER]):
                out[i] = 0.0
    if operation == OBSERVE:
        _react(p, m, g, _table(d, 41), _table(d, 42), _line(d, 43), _line(d, 44))


@compiled
def _partials(operation, p, m, g, out_pointer):
    """Before and after a matrix of derivatives by x, v or a alone."""
    nnz = p.sizes[ROWS] - p.sizes[ENTRIES] - 1
    out = carray(out_pointer, (p.sizes[N_OUT] + 3 * nnz,), np.float64)
    if operation < AFTER_PARTIAL:
        g[KX], g[KV], g[KA], g[ALPHA] = 0.0, 0.0, 0.0, 0.0
        g[KX + operation - BEFORE_PARTIAL] = 1.0
        for i in range(p.sizes[N_MULTIPLIERS]):
            g[p.sizes[MULTIPLIERS] + i] = 0.0
        outward(p, m, g)
        for i in range(p.sizes[N_OUT]):
            out[i] = 0.0
        return
    inward(p, m, out)
    answers(p, m, g[KX], g[KV], g[KA])
    spread_entries(p, m, g, out)
    first = p.sizes[N_OUT] + (operation - AFTER_PARTIAL) * nnz
    for i in range(nnz):
        out[first + i] = out[p.sizes[ENTRIES] + i]


@compiled
def _react(p, m, g, residual, sides, out, columns):
    """The joints' multipliers: what balances the wrench on all that each carries."""
    out[:] = 0.0
    columns[:] = 0.0
    run_table(residual, g, out)
    run_table(sides, g, columns)
    inward(p, m, out)
    load, side, rest, found = np.empty(6), np.empty((6, 6)), np.empty(6), np.empty(6)
    for j in range(p.joints.shape[0]):
        i, first, count, at = p.joints[j, 0], p.joints[j, 2], p.joints[j, 3], p.joints[j, 4]
        for c in range(3):
            a, b = (c + 1) % 3, (c + 2) % 3
            load[c] = -m.wrench[i, c]
            load[3 + c] = -m.wrench[i, 3 + c] + m.r[i, a] * m.wrench[i, b] - m.r[i, b] * m.wrench[i, a]
        for c in range(6):
            for k in range(count):
                side[c, k] = columns[at + 6 * c + k]
        found[:] = 0.0
        for _ in range(2):  # once, and once more for what rounding left
            for c in range(6):
                rest[c] = load[c]
                for k in range(count):
                    rest[c] -= side[c, k] * found[k]
            _least_squares(side, count, rest, found)
        for k in range(count):
            g[first + k] = found[k]


@compiled
def _least_squares(side, count, rest, found):  # noqa: C901  (two triangular loops)
    """found += the x of least |side x - rest|, by Householder reflections (side (6, count) of full rank)."""
    a, b = side.copy(), rest.copy()
    for k in range(count):
        size = 0.0
        for c in range(k, 6):
            size += a[c, k] ** 2
        size = np.sqrt(size)
        if size == 0.0:
            continue
        if a[k, k] > 0.0:
            size = -size
        head = a[k, k] - size
        scale = -size * head
        for j in range(k + 1, count + 1):
            total = 0.0
            for c in range(k, 6):
                h = head if c == k else a[c, k]
                total += h * (b[c] if j == count else a[c, j])
            total /= scale
            for c in range(k, 6):
                h = head if c == k else a[c, k]
                if j == count:
                    b[c] -= total * h
                else:
                    a[c, j] -= total * h
        a[k, k] = size
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            b[k] -= a[k, j] * b[j]
        b[k] = b[k] / a[k, k] if a[k, k] != 0.0 else 0.0
        found[k] += b[k]


@compiled
def _call(operation, directory, uniforms, parameters, scatter, g, out):
    element(operation, carray(directory, (3 * (PLAN + MOTION + 4),), np.int64), g, out)


@cache
def _code() -> int:
    """The operation as a C function: what a call table calls."""
    return address_of(_call, kinds.NOTHING, kinds.WHOLE, *["voidptr"] * 6, entry="c")


def row(operation: int, directory: np.ndarray) -> np.ndarray:
    """A row of a call table (1, 7) for an operation; the directory and its arrays must outlive it."""
    found = np.zeros((1, ROW_LENGTH), np.int64)
    found[0, :3] = _code(), operation, directory.ctypes.data
    return found


def directory(arrays: list[np.ndarray]) -> np.ndarray:
    """Address, rows and columns of every array."""
    for array in arrays:
        assert array.flags.c_contiguous and array.dtype in (np.float64, np.int64)
    entries = [(a.ctypes.data, a.shape[0], a.shape[-1] if a.ndim > 1 else 1) for a in arrays]
    return np.array(entries, np.int64).ravel()
