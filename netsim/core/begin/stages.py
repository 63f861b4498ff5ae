"""Stages of a consistent start in compiled code: `netsim.initial.consistent.newton`, line by line, for stages with as
many equations and rows as unknowns and without turns.

    F(z) = 0,  rows(z) = target:   J dz = r,  z <- z - damping dz

A stage with fewer equations than unknowns changes nothing where its equations hold already. What this does not settle
(a stage whose residuals can only be met by a least change, a full step that enlarges them to the end, a matrix without
pivots, what is not finite) is answered by False: the caller then starts with `netsim.initial.initial`.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import by_address, inner
from netsim.core.compiled.struct import Struct
from netsim.core.consistent import add_equations
from netsim.core.linear.elimination import solve_with_new_pivots
from netsim.core.linear.factors import Factor, refactor, solve

Array = np.ndarray
ROUNDS = 60
ROUNDED, STALLED = 16 * 2.220446049250313e-16, 1e-10
SMALLEST, PATIENCE = 1e-4, 3
GOOD_PIVOTS = 1e-6
"""As in netsim.initial.consistent.newton and netsim.core.linear.least_change, where they are explained."""


class Start(NamedTuple):
    """The stages of a start, by the addresses of their structs, and what they share.

    partials: the call table of all derivatives by order that a stage reads, and their values; sums: what residuals
    write; rows: the calls of written starts that elements compute, and what these write; definitions: the calls, places
    in `sums` and places in g of differentiated quantities; code: the address of `solve_stage`; dense (n, n) and right
    (n, 1): workspace."""

    stages: Array
    code: Array
    partials: Array
    values: Array
    sums: Array
    rows: Array
    row_out: Array
    definitions: Array
    defined: Array
    defining: Array
    dense: Array
    right: Array


class StartStage(NamedTuple):
    """One stage; whether one step of it is exact.

    Residuals: the calls of order k are those from first_call[k] on, and the entries i from first_row[k] on add
    sums[source[i]] to equation target[i]. Behind the equations come rows, g[slot] - goal or, where the slot is
    negative, row_out[computed] - goal. Unknowns: places in g, their weights 1/size.

    J in compressed columns: the entry at `filled` gets values[pick]; behind these, `row_filled` gets row_out[row_pick],
    or 1 where that is negative. Terms of residuals (see `_violated`): |values[term]| |g[term_place]| of equation
    term_of."""

    linear: Array
    calls: Array
    first_call: Array
    first_row: Array
    target: Array
    source: Array
    slot: Array
    computed: Array
    goal: Array
    places: Array
    weight: Array
    indptr: Array
    indices: Array
    filled: Array
    pick: Array
    row_filled: Array
    row_pick: Array
    term: Array
    term_place: Array
    term_of: Array
    entries: Array
    residual: Array
    scale: Array
    step: Array
    origin: Array
    terms: Array
    factor: Struct


_solve_stage = by_address(kinds.BOOLEAN)


@inner
def solve_start(start, g, first, end):
    """The stages from `first` to `end` on what g holds, in place (time and prescribed inputs are in g); False where one
    is not settled here."""
    for k in range(first, end):
        if not _solve_stage(start.code[0], start, start.stages[k], g):
            return False
    return True


@inner
def define(start, g):
    """Differentiated quantities from their definitions: q - expr = 0 is linear in q."""
    for i in range(start.sums.shape[0]):
        start.sums[i] = 0.0
    run_table(start.definitions, g, start.sums)
    for k in range(start.defined.shape[0]):
        g[start.defined[k]] -= start.sums[start.defining[k]]


@inner
def solve_stage(start, stage, g):  # noqa: C901  (one loop: look, damp, step)
    """One stage in place; False where it is not settled here."""
    n, m = stage.places.shape[0], stage.residual.shape[0]
    if n == 0 or m == 0:
        return True
    before, within, damping, stalls, held = np.inf, np.inf, 1.0, 0, False
    for i in range(m):
        stage.scale[i] = 1.0
    for round_ in range(ROUNDS):
        _residuals(start, stage, g)
        norm, sized = _norm(stage.residual, stage.residual, False), _norm(stage.residual, stage.scale, True)
        if not round_ and m != n:
            return norm == 0.0 or (_derivatives(start, stage, g) and _settled(stage, g, ROUNDED))
        if round_ and damping == 1.0 and _settled(stage, g, STALLED if norm > 0.5 * before else ROUNDED):
            held = True
            break
        stalls = stalls + 1 if damping == 1.0 and norm > 0.5 * before else 0
        if stalls == PATIENCE and not _violated(start, stage, g):
            held = True
            break
        worse = norm > 1e-12 and not (norm <= before * (1.0 + 1e-9) or sized <= within)
        if round_ and worse and damping > SMALLEST:
            damping *= 0.5
            for i in range(n):
                g[stage.places[i]] = stage.origin[i] - damping * stage.step[i]
            continue
        if not _derivatives(start, stage, g) or not _corrected(start, stage):
            return False
        for i in range(n):
            stage.origin[i] = g[stage.places[i]]
        before, within = norm, _norm(stage.residual, stage.scale, True)
        damping = min(1.0, 2.0 * damping) if round_ else 1.0
        moved = 0.0
        for i in range(n):
            at, least = stage.places[i], 1e-6 / max(stage.weight[i], 1e-300) + 1e-300
            g[at] = stage.origin[i] - damping * stage.step[i]
            moved = max(moved, abs(stage.step[i]) / max(abs(g[at]), least))
        if damping == 1.0 and (moved < 1e-13 or (round_ >= 1 and (moved < 1e-9 or stage.linear[0] == 1))):
            held = True
            break
    if not held:
        return False
    _residuals(start, stage, g)
    return not _violated(start, stage, g)


@inner
def _residuals(start, stage, g):
    """Residuals of a stage's equations, then of its rows."""
    equations = stage.residual.shape[0] - stage.slot.shape[0]
    for i in range(equations):
        stage.residual[i] = 0.0
    calls, first_call, first_row = stage.calls, stage.first_call, stage.first_row
    add_equations(calls, first_call, first_row, stage.target, stage.source, start.sums, g, stage.residual)
    _rows(start, stage, g)
    for i in range(stage.slot.shape[0]):
        value = g[stage.slot[i]] if stage.slot[i] >= 0 else start.row_out[stage.computed[i]]
        stage.residual[equations + i] = value - stage.goal[i]


@inner
def _rows(start, stage, g):
    """What elements compute for written starts, where the stage has any."""
    if stage.slot.shape[0]:
        for i in range(start.row_out.shape[0]):
            start.row_out[i] = 0.0
        run_table(start.rows, g, start.row_out)


@inner
def _derivatives(start, stage, g):  # noqa: C901  (loops over entries)
    """J at what g holds, and what makes residuals comparable; False where an entry is not finite or a column empty."""
    for i in range(start.values.shape[0]):
        start.values[i] = 0.0
    run_table(start.partials, g, start.values)
    for p in range(stage.entries.shape[0]):
        stage.entries[p] = 0.0
    for p in range(stage.filled.shape[0]):
        stage.entries[stage.filled[p]] += start.values[stage.pick[p]]
    for p in range(stage.row_filled.shape[0]):
        stage.entries[stage.row_filled[p]] += start.row_out[stage.row_pick[p]] if stage.row_pick[p] >= 0 else 1.0
    for i in range(stage.residual.shape[0]):
        stage.scale[i] = 0.0
    for j in range(stage.places.shape[0]):
        total, typical = 0.0, 1.0 / max(stage.weight[j], 1e-300)
        for p in range(stage.indptr[j], stage.indptr[j + 1]):
            size = abs(stage.entries[p])
            total += size
            stage.scale[stage.indices[p]] += size * typical
        if not 0.0 < total < np.inf:
            return False
    for i in range(stage.residual.shape[0]):
        if not abs(stage.residual[i]) < np.inf:
            return False
        stage.scale[i] = 1.0 / stage.scale[i] if stage.scale[i] > 0.0 else 1.0
    return True


@inner
def _corrected(start, stage):
    """The step of Newton's method; False where the matrix has no pivots."""
    f = stage.factor
    factor = Factor(
        f.row_order, f.column_order, f.row_scale, f.column_scale, f.start, f.source, f.row, f.scale,
        f.l_start, f.l_row, f.l_value, f.u_start, f.u_row, f.u_value, f.pivot_inverse, f.work,
    )  # fmt: skip
    if refactor(factor, stage.entries) > GOOD_PIVOTS:
        solve(factor, stage.residual, stage.step)
    else:
        n = stage.places.shape[0]
        for i in range(n):
            f.work[i] = 0.0
        if n > start.dense.shape[0] or not solve_with_new_pivots(
            factor, stage.entries, stage.residual, stage.step, start.dense[:n, :n], start.right[:n]
        ):
            return False
    for i in range(stage.step.shape[0]):
        if not abs(stage.step[i]) < np.inf:
            return False
    return True


@inner
def _norm(r, scale, scaled):
    """|scale r|, or |r|; infinite where an entry is not finite."""
    total = 0.0
    for i in range(r.shape[0]):
        each = scale[i] * r[i] if scaled else r[i]
        if not abs(each) < np.inf:
            return np.inf
        total += each * each
    return np.sqrt(total)


@inner
def _settled(stage, g, part):
    """Whether residuals are below a part of their terms |J| |z|."""
    for i in range(stage.terms.shape[1]):
        stage.terms[0, i] = 0.0
    for j in range(stage.places.shape[0]):
        size = abs(g[stage.places[j]])
        for p in range(stage.indptr[j], stage.indptr[j + 1]):
            stage.terms[0, stage.indices[p]] += abs(stage.entries[p]) * size
    for i in range(stage.residual.shape[0]):
        if not abs(stage.residual[i]) <= part * stage.terms[0, i]:
            return False
    return True


@inner
def _violated(start, stage, g):
    """Whether a residual is more than what rounding and Newton's last step leave of its terms."""
    rows, m = stage.slot.shape[0], stage.residual.shape[0]
    for i in range(start.values.shape[0]):
        start.values[i] = 0.0
    run_table(start.partials, g, start.values)
    for k in range(3):
        for i in range(m):
            stage.terms[k, i] = 0.0
    for p in range(stage.term.shape[0]):
        i, value, size = stage.term_of[p], abs(start.values[stage.term[p]]), abs(g[stage.term_place[p]])
        stage.terms[0, i] += value * size
        stage.terms[1, i] += value
        stage.terms[2, i] = max(stage.terms[2, i], size)
    for i in range(m):
        floor = stage.terms[0, i] + 1e6 * ROUNDED * stage.terms[1, i] * stage.terms[2, i]
        if i >= m - rows:
            floor = max(abs(stage.goal[i - m + rows]), 1e-9)
        if not abs(stage.residual[i]) <= 1e-6 * floor + 1e-9:
            return True
    return False
