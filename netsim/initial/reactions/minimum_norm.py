"""The arrays by which a closed loop shares its loads (netsim.core.minimum_norm)."""

from dataclasses import replace

import numpy as np

from netsim.core.compiled.call import ROW_LENGTH
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.linear.factors import analyse_definite
from netsim.core.minimum_norm import FAINT
from netsim.equations.machine import Call, Machine
from netsim.initial.consistent.derivatives import partials_table
from netsim.initial.reactions.reactions import Reactions

Array = np.ndarray


def plan_minimum_norm(machine: Machine, reactions: Reactions | None) -> tuple[Struct, list[list[Call]]]:
    """What `share` works on, and what keeps its tables alive; without reactions to share, nothing to do."""
    alive: list[list[Call]] = []
    none = np.zeros(0, np.int64)
    found = reactions or Reactions(1.0, none, np.zeros(0), none, np.zeros(0), none, none, (0, 0))
    (m, n), rows, columns = found.shape, found.rows, found.columns
    completed = machine.element.observed if machine.element is not None else np.zeros((0, ROW_LENGTH), np.int64)
    machine = replace(machine, element=None)  # what joints do to bodies is wanted, not what that is along coordinates
    used = np.zeros(sum(b.kernels.partials.program.n_outputs * b.n for b in machine.system.batches), bool)
    used[found.picks] = True
    size = np.sqrt(np.bincount(rows, (found.drawn / found.weights[columns]) ** 2, m))
    scales = 1.0 / (np.where(size > 0.0, size, 1.0)[rows] * found.weights[columns])
    first, second = _pairs_of_a_column(columns)
    codes = np.concatenate([rows[second] * m + rows[first], np.arange(m) * (m + 1)])
    unique, target = np.unique(codes, return_inverse=True)
    a = found.drawn * scales
    matrix = np.bincount(target, np.concatenate([a[first] * a[second], np.full(m, FAINT)]), len(unique)).astype(float)
    factor = analyse_definite(m, np.searchsorted(unique, np.arange(m + 1) * m), unique % max(m, 1), matrix)
    plan = Struct(
        "Sharing", completed=completed,
        partials=partials_table(machine, used, alive), partial_values=np.zeros(len(used)), places=found.places,
        weights=found.weights,
        picks=found.picks, rows=rows, columns=columns, scales=scales, entries=a, first=first, second=second,
        target=target[: len(first)],
        diagonal=target[len(first) :], matrix=matrix, factor=struct_of(factor), before=np.zeros(n), z=np.zeros(n),
        rest=np.zeros(m), y=np.zeros(m),
    )  # fmt: skip
    return plan, alive


def _pairs_of_a_column(columns: Array) -> tuple[Array, Array]:
    """All pairs of entries in one column, as two lists."""
    order = np.argsort(columns, kind="stable")
    low, high = (np.searchsorted(columns[order], columns, side) for side in ("left", "right"))
    counts = high - low
    first = np.repeat(np.arange(len(columns)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, order[np.repeat(low, counts) + within]
