"""How a closed loop shares its loads: of all reactions that balance the same forces, those of least norm, inside compiled loops.

With weights w (1 for forces, 1/L for moments; `netsim.solvers.reactions`), A = B/w, z = w lam and z0 as the step found it,

    minimise |z|^2  subject to  A z = A z0:    z = A' y,  A A' y = A z0.

A A' is singular along balances that repeat one another, where A z0 has no part: a faint diagonal makes it definite, and pivots on the diagonal
serve at every position. What this leaves of A z0 is taken up in further rounds. Motion and sources stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import ROW_LENGTH, lean, run_table
from netsim.solvers.linear import analyse_definite, refactor, solve
from netsim.solvers.machine import Call, Machine
from netsim.solvers.reactions import Reactions
from netsim.solvers.recovery import levels_table

Array = np.ndarray
FAINT = 1e-12
"""What is added to the diagonal, whose entries are 1 as the mechanism is drawn."""
ROUNDS = 4


def plan_sharing(machine: Machine, reactions: Reactions | None) -> tuple[Bundle, list[list[Call]]]:
    """What `share` works on, and what keeps its tables alive; without reactions to share, nothing to do."""
    alive: list[list[Call]] = []
    none = np.zeros(0, np.int64)
    found = reactions or Reactions(1.0, none, np.zeros(0), none, np.zeros(0), none, none, (0, 0))
    (m, n), rows, columns = found.shape, found.rows, found.columns
    completed = machine.element.observed if machine.element is not None else np.zeros((0, ROW_LENGTH), np.int64)
    machine = replace(machine, element=None)  # what joints do to bodies is wanted, not what that is along coordinates
    used = np.zeros(sum(b.kernels.levels.program.n_outputs * b.n for b in machine.system.batches), bool)
    used[found.picks] = True
    size = np.sqrt(np.bincount(rows, (found.drawn / found.weights[columns]) ** 2, m))
    scales = 1.0 / (np.where(size > 0.0, size, 1.0)[rows] * found.weights[columns])
    first, second = _sharing_a_column(columns)
    codes = np.concatenate([rows[second] * m + rows[first], np.arange(m) * (m + 1)])
    unique, target = np.unique(codes, return_inverse=True)
    a = found.drawn * scales
    matrix = np.bincount(target, np.concatenate([a[first] * a[second], np.full(m, FAINT)]), len(unique)).astype(float)
    factor = analyse_definite(m, np.searchsorted(unique, np.arange(m + 1) * m), unique % max(m, 1), matrix)
    plan = Bundle(
        "Sharing", completed=completed,
        levels=levels_table(machine, used, alive), level_values=np.zeros(len(used)), places=found.places, weights=found.weights,
        picks=found.picks, rows=rows, columns=columns, scales=scales, entries=a, first=first, second=second, target=target[: len(first)],
        diagonal=target[len(first) :], matrix=matrix, factor=bundled(factor), before=np.zeros(n), z=np.zeros(n), rest=np.zeros(m), y=np.zeros(m),
    )  # fmt: skip
    return plan, alive


def _sharing_a_column(columns: Array) -> tuple[Array, Array]:
    """All pairs of entries in one column, as two lists."""
    order = np.argsort(columns, kind="stable")
    low, high = (np.searchsorted(columns[order], columns, side) for side in ("left", "right"))
    counts = high - low
    first = np.repeat(np.arange(len(columns)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, order[np.repeat(low, counts) + within]


@lean
def share(plan, g):
    """Replace the loops' reactions in g, at what g holds, by the balancing ones of least norm."""
    places, entries, z, y, rest = plan.places, plan.entries, plan.z, plan.y, plan.rest
    if places.shape[0] == 0:
        return
    run_table(plan.completed, g, rest)
    _balances(plan, g)
    if refactor(plan.factor, plan.matrix) == 0.0:
        return
    for j in range(z.shape[0]):
        plan.before[j] = plan.weights[j] * g[places[j]]
        z[j] = 0.0
    for _ in range(ROUNDS):
        for i in range(rest.shape[0]):
            rest[i] = 0.0
        for e in range(entries.shape[0]):
            j = plan.columns[e]
            rest[plan.rows[e]] += entries[e] * (plan.before[j] - z[j])
        solve(plan.factor, rest, y)
        for e in range(entries.shape[0]):
            z[plan.columns[e]] += entries[e] * y[plan.rows[e]]
    for j in range(z.shape[0]):
        g[places[j]] = z[j] / plan.weights[j]


@lean
def _balances(plan, g):
    """A and A A' at what g holds."""
    values, entries, matrix = plan.level_values, plan.entries, plan.matrix
    for i in range(values.shape[0]):
        values[i] = 0.0
    run_table(plan.levels, g, values)
    for e in range(entries.shape[0]):
        entries[e] = values[plan.picks[e]] * plan.scales[e]
    for p in range(matrix.shape[0]):
        matrix[p] = 0.0
    for i in range(plan.diagonal.shape[0]):
        matrix[plan.diagonal[i]] = FAINT
    for p in range(plan.first.shape[0]):
        matrix[plan.target[p]] += entries[plan.first[p]] * entries[plan.second[p]]
