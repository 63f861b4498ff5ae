"""A linearised network as first-order equations with its own unknowns:

E z' = A z + sum A_k z(t - T_k) + B w,   y = C z + sum C_k z(t - T_k) + D w

z has an unknown, or an input, with as many of its derivatives as the equations and outputs read; what is not read has
no place."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from netsim.analyses.signals.inputs import Inputs
from netsim.analyses.signals.linearised import Linearised, Powers

Array = np.ndarray
Triples = tuple[Array, Array, Array]


def descriptor(lin: Linearised, inputs: Inputs) -> dict[str, Any]:
    """E, A, B, C, D (sparse), `delays`: (T_k, A_k, C_k), and `z`: (unknown or, from their number on, input; how often
    differentiated) of every entry."""
    size, m, p = lin.size, len(inputs.signals), len(lin.signals)
    equations = _joined(lin.equations, inputs.equations, size)
    outputs = _joined(lin.outputs, inputs.outputs, size)
    orders = np.concatenate([np.ones(size, np.int64), np.zeros(m, np.int64)])
    for k, (_, columns, _) in enumerate(equations):
        np.maximum.at(orders, columns, k)
    for k, (_, columns, _) in enumerate(outputs):
        np.maximum.at(orders, columns, k + 1 if k else 0)
    late = [_late(powers, lin) for powers in (lin.equations, lin.outputs)]
    for number, _, k, _, _ in (*late[0], *late[1]):
        orders[number] = max(orders[number], k + 1)
    first, count = np.cumsum(orders) - orders, int(orders.sum())
    e, a, b, c, d = (csr_array(shape) for shape in ((count, count), (count, count), (count, m), (p, count), (p, m)))
    for k, (rows, columns, values) in enumerate(equations):
        highest = (orders[columns] == k) & (k > 0)
        e = e + _entries(rows, first[columns] + k - 1, values, highest, e.shape)
        a = a - _entries(rows, first[columns] + k, values, ~highest & (orders[columns] > 0), a.shape)
        b = b - _entries(rows, columns - size, values, orders[columns] == 0, b.shape)
    for k, (rows, columns, values) in enumerate(outputs):
        c = c + _entries(rows, first[columns] + k, values, orders[columns] > 0, c.shape)
        d = d + _entries(rows, columns - size, values, orders[columns] == 0, d.shape)
    of = np.repeat(np.arange(size + m), orders)
    level = np.arange(count) - first[of]
    lower = np.flatnonzero(level < orders[of] - 1)  # each with its derivative behind it
    copies = np.flatnonzero((of >= size) & (level == 0))  # inputs of which derivatives are read
    rows, ones = size + np.arange(len(lower)), np.ones(len(lower))
    e, a = e + csr_array((ones, (rows, lower)), e.shape), a + csr_array((ones, (rows, lower + 1)), a.shape)
    rows, ones = size + len(lower) + np.arange(len(copies)), np.ones(len(copies))
    a = a - csr_array((ones, (rows, copies)), a.shape)
    b = b + csr_array((ones, (rows, of[copies] - size)), b.shape)
    delays = []
    for length in sorted({each[1] for each in (*late[0], *late[1])}):
        parts = [csr_array((rows, count)) for rows in (count, p)]
        for which, sign in enumerate((-1.0, 1.0)):
            for number, own, k, rows, values in late[which]:
                if own == length:
                    place = np.full(len(rows), first[number] + k)
                    parts[which] = parts[which] + csr_array((sign * values, (rows, place)), parts[which].shape)
        delays.append((length, *parts))
    z = np.column_stack([of, level])
    return {"E": e, "A": a, "B": b, "C": c, "D": d, "delays": delays, "z": z}


def _late(powers: Powers, lin: Linearised) -> list[tuple[int, float, int, Array, Array]]:
    """(unknown, length, power of s, rows, values) of what reads an unknown a length ago."""
    found = []
    for k, power in enumerate(powers):
        for length, number, column in zip(lin.length, lin.of, lin.delayed):
            entries = power[:, [column]].tocoo()
            if number >= 0 and entries.nnz:
                found.append((int(number), float(length), k, entries.row, entries.data))
    return found


def _joined(own: Powers, driven: Powers, size: int) -> list[Triples]:
    """(rows, columns over [x, w], values) by power."""
    found = []
    for k in range(max(len(own), len(driven))):
        parts = [(powers[k][:, :size].tocoo(), at) for powers, at in ((own, 0), (driven, size)) if k < len(powers)]
        rows = np.concatenate([part.row for part, _ in parts])
        columns = np.concatenate([part.col + at for part, at in parts])
        found.append((rows, columns, np.concatenate([part.data for part, _ in parts])))
    return found


def _entries(rows: Array, columns: Array, values: Array, kept: Array, shape: tuple[int, int]) -> Any:
    return csr_array((values[kept], (rows[kept], columns[kept])), shape)
