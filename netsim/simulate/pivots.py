"""Pivots for the matrix of a step, or the problem of a matrix without pivots.

Scales that make every row and column about 1 are not unique: a matrix [[J s^2, -1, 0], [0, 1, -1], [0, 0, 1]] with the
unknowns angle, torque, input is equilibrated for every J, and singular up to rounding for a J of 1e-20 kg.m2 or, with
a constraint beside it, of 1e14 kg.m2. Where a matrix looks singular, scales therefore spread from the motion: rows that
read it have the size of what they read, what else they read has theirs, and so on.
"""

from typing import Any

import numpy as np

from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.equations.machine import Machine
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.diagnosis.diagnosis import explain_singular
from netsim.text.errors import Problem

Array = np.ndarray
ROUNDS = 50
"""How far scales spread, in rows from the motion."""


def pivots_of(machine: Machine, out: Array, t: float) -> Factor | Problem:
    """Ordering and pivots for the matrix that `out` holds; E502 or E503 for one that has none."""
    system = machine.system
    entries = out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    try:
        return scaled_factor(machine, entries, machine.parts)
    except SingularMatrix as singular:
        return explain_singular(machine, singular, t)
    except ValueError:
        hint = "a parameter or start value may cause a division by zero"
        return Problem("E503", f"the matrix of the equations is not finite at t = {t:g} s", hint=hint)


def scaled_factor(machine: Machine, entries: Array, parts: Any = ()) -> Factor:
    """The factor of the system's matrix with these entries, by scales that spread from the motion where others make it
    look singular; raises `SingularMatrix` where it is, ValueError where entries are not finite."""
    system, pattern = machine.system, machine.system.pattern
    try:
        return analyse(system.n, pattern.indptr, pattern.indices, entries, parts=parts)
    except SingularMatrix:
        if not system.layout.nk:
            raise
        rows, columns = spread_scales(machine, entries)
        scale = rows[pattern.indices] * np.repeat(columns, np.diff(pattern.indptr))
        try:
            found = analyse(system.n, pattern.indptr, pattern.indices, entries * scale, explain=False, parts=parts)
        except SingularMatrix:
            found = None
        if found is None:
            raise
    return found._replace(
        row_scale=found.row_scale * rows,
        column_scale=found.column_scale * columns,
        scale=found.scale * scale[found.source],
    )


def spread_scales(machine: Machine, entries: Array) -> tuple[Array, Array]:
    """Scales of rows and columns, powers of two: that of lengths is the machine's size, of other motions 1; then, in
    turn, the largest entry so far of every row becomes 1, and of every column."""
    system, pattern, sizes = machine.system, machine.system.pattern, sizes_of_machine(machine)
    i, j = pattern.indices, np.repeat(np.arange(system.n), np.diff(pattern.indptr))
    size = np.where(entries != 0, np.log2(np.abs(np.where(entries != 0, entries, 1.0))), -np.inf)
    rows, columns = np.full(system.n, np.nan), np.full(system.n, np.nan)
    columns[: system.layout.nk] = 0.0
    columns[sizes.lengths] = np.log2(sizes.size)
    for _ in range(ROUNDS):
        before = np.isnan(rows).sum() + np.isnan(columns).sum()
        _spread(rows, columns, i, j, size)
        _spread(columns, rows, j, i, size)
        if before == np.isnan(rows).sum() + np.isnan(columns).sum():
            break
    return np.exp2(np.rint(np.nan_to_num(rows))), np.exp2(np.rint(np.nan_to_num(columns)))


def _spread(scales: Array, known: Array, i: Array, j: Array, size: Array) -> None:
    """Scales (binary logarithms) of items i that have none yet, from those of what they touch, in place."""
    largest = np.full(len(scales), -np.inf)
    np.maximum.at(largest, i, np.where(np.isnan(known[j]), -np.inf, size + np.nan_to_num(known[j])))
    new = np.isnan(scales) & np.isfinite(largest)
    scales[new] = -largest[new]
