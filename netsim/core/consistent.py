"""The stages of `netsim.initial.recovery` inside compiled loops: a consistent point near what a step found, without
Python.

Velocities go onto the differentiated constraints, then accelerations, forces and rates follow; positions and
differentiated quantities stay. The time loop takes these points for samples, for the projection after every step (which
keeps an index-3 system from drifting in velocity), and as the right side of explicit methods.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.core.compiled.function import compiled, inlined, inner
from netsim.core.linear.elimination import solve_with_new_pivots
from netsim.core.linear.factors import Factor, refactor, solve
from netsim.core.linear.triangles import condition

Array = np.ndarray
ROUNDS = 15
CLOSE = 1e-12
ROUNDING = 1e-7
"""Corrections this small that shrink no more are rounding, or a stage's own share where its matrix has a worse
condition."""
SLOW = 0.1
STAYS = 2
"""So many corrections in a row that do not shrink, with derivatives taken anew, are rounding where they are that small
beside the sizes of what they correct: a value near 0 in a sum of large ones moves to and fro by their rounding."""
LEAST = 1e-3
"""Corrections of values that are smaller than this share of their size are measured by that."""
FAR = 0.5
"""Behind a correction as large as this part of a value its derivatives say nothing any more: a diode's, before it takes
over a coil's current."""
LAST_BITS = 16 * 2.220446049250313e-16
"""Residuals below this part of the sizes of an equation's terms are rounding: corrections that do not shrink are then
what a matrix of a bad condition makes of it (the rates of voltages between blocking diodes)."""
PIVOT_QUALITY = 1e-9
DENSE = 100
"""The most unknowns of a stage that is solved with pivots of its own where those of the plan do not serve."""


class Consistent(NamedTuple):
    """Every stage in a few flat arrays (a compiled function takes long to compile where it is handed hundreds of them).

    `where[k]` tells where stage k's parts begin in `numbers` (int32), `reals` and `calls`; their order is that of
    `_parts`. dense, right: workspace (n, n) and (n, 1) for the largest stage of at most DENSE unknowns.
    """

    partials: Array
    partial_values: Array
    sums: Array
    where: Array
    sizes: Array
    numbers: Array
    reals: Array
    calls: Array
    dense: Array
    right: Array


NUMBERS, REALS = 16, 15
"""How many integer and real parts a stage has."""


def nothing_to_recover() -> Consistent:
    """A plan without stages: every point stays as it is."""
    none = np.zeros((0, NUMBERS + REALS + 3), np.int64)
    return Consistent(
        np.zeros((0, ROW_LENGTH), np.int64), np.zeros(0), np.zeros(1), none, np.zeros((0, 3), np.int64),
        np.zeros(0, np.int32), np.zeros(0), np.zeros((0, ROW_LENGTH), np.int64), np.zeros((0, 0)), np.zeros((0, 1)),
    )  # fmt: skip


@inner
def make_consistent(plan, g):
    """Newton's method stage by stage on what g holds, in place; False where a stage is singular or it does not
    converge.

    All stages begin with the derivatives where the first one starts; they are taken anew behind large corrections and
    where these do not shrink at once.
    """
    _derivatives(plan, g)
    for k in range(plan.sizes.shape[0]):
        if not _solve(plan, plan.where[k], plan.sizes[k], g):
            return False
    return True


@compiled
def condition_at(plan, g):
    """The estimated condition of the last stage's matrix (accelerations, forces and values) at what g holds, infinite
    where it has not as many equations as unknowns, or where its pivots break down."""
    last = plan.sizes.shape[0] - 1
    where, sizes = plan.where[last], plan.sizes[last]
    if sizes[0] != sizes[1] or sizes[2] != sizes[1]:
        return np.inf
    f = where[NUMBERS + 1 :]
    factor, entries = stage_factor(plan, where), plan.reals[f[10] : f[11]]
    _derivatives(plan, g)
    fill_stage(plan, where, entries)
    return condition(factor, entries) if refactor(factor, entries) > 0.0 else np.inf


@inlined
def _derivatives(plan, g):
    """The derivatives of all equations by order at what g holds."""
    for i in range(plan.partial_values.shape[0]):
        plan.partial_values[i] = 0.0
    run_table(plan.partials, g, plan.partial_values)


@inlined
def _residuals(plan, where, g, residual):
    """A stage's equations, order by order, at what g holds; a sum of balances is met several times."""
    w = plan.numbers
    first_call, first_row, at, equations = (
        w[where[9] : where[10]],
        w[where[10] : where[11]],
        w[where[11] : where[12]],
        w[where[12] : where[13]],
    )
    calls = plan.calls[where[NUMBERS + REALS + 2] :]
    for i in range(residual.shape[0]):
        residual[i] = 0.0
    add_equations(calls, first_call, first_row, at, equations, plan.sums, g, residual)


@inlined
def add_equations(calls, first_call, first_row, at, equations, sums, g, residual):
    """Add a stage's equations at what g holds to its residual: of each order its calls, whose sums belong `at` rows."""
    for order in range(first_call.shape[0] - 1):
        for i in range(sums.shape[0]):
            sums[i] = 0.0
        run_table(calls[first_call[order] : first_call[order + 1]], g, sums)
        for i in range(first_row[order], first_row[order + 1]):
            residual[at[i]] += sums[equations[i]]


@inlined
def fill_stage(plan, where, entries):
    """The stage's matrix from the derivatives."""
    w, r, f = plan.numbers, plan.reals, where[NUMBERS + 1 :]
    base, scales = r[f[7] : f[8]], r[f[8] : f[9]]
    chosen, pairs = w[where[14] : where[15]], w[where[15] : where[16]]
    products, values = pairs.shape[0] // 3, plan.partial_values
    picks = scales.shape[0] - products
    for p in range(entries.shape[0]):
        entries[p] = base[p]
    for p in range(picks):
        entries[chosen[picks + p]] += scales[p] * values[chosen[p]]
    for p in range(products):
        entries[pairs[2 * products + p]] += scales[picks + p] * values[pairs[p]] * values[pairs[products + p]]


@inner
def stage_factor(plan, where):
    """The factor of a stage's matrix."""
    w, r, f = plan.numbers, plan.reals, where[NUMBERS + 1 :]
    return Factor(
        w[where[0] : where[1]], w[where[1] : where[2]], r[f[0] : f[1]], r[f[1] : f[2]], w[where[2] : where[3]],
        w[where[3] : where[4]],
        w[where[4] : where[5]], r[f[2] : f[3]], w[where[5] : where[6]], w[where[6] : where[7]], r[f[3] : f[4]],
        w[where[7] : where[8]],
        w[where[8] : where[9]], r[f[4] : f[5]], r[f[5] : f[6]], r[f[6] : f[7]],
    )  # fmt: skip


@inlined
def _correct(g, places, step, sizes):
    """Subtract a step, in multiples of sizes; its largest entry beside what it corrects and what comes of it, and
    beside that and its size; infinite where one is not finite."""
    moved, share = 0.0, 0.0
    for i in range(sizes.shape[0]):
        if not np.isfinite(step[i]):
            return np.inf, np.inf
        before, change = abs(g[places[i]]), sizes[i] * step[i]
        g[places[i]] -= change
        value, change = max(before, abs(g[places[i]])), abs(change)
        moved, share = max(moved, change / (value + LEAST * sizes[i])), max(share, change / (value + sizes[i]))
    return moved, share


@inlined
def _step(plan, factor, entries, free, step):
    """A stage's correction for the residual in `step`, in its place, by the plan's pivots or, `free`, by new ones;
    False where the matrix is singular or too large for these."""
    if not free:
        solve(factor, step, step)
        return True
    n = step.shape[0]
    return n <= plan.dense.shape[0] and solve_with_new_pivots(
        factor, entries, step, step, plan.dense[:n, :n], plan.right[:n]
    )


@inlined
def _hold(residual, row_size):
    """Whether more equations than unknowns agree with one another: behind the last correction but one nothing is left
    of them."""
    for i in range(residual.shape[0]):
        if abs(residual[i]) > ROUNDING * 10 * row_size[i]:
            return False
    return True


@inlined
def _is_rounding(plan, where, square, g, residual, terms):
    """Whether what is left of the equations is what rounding leaves of their terms, as large as these were where the
    plan was made or, with as many unknowns, as |A| |z| is now; `terms`: room for these."""
    w, r, f = plan.numbers, plan.reals, where[NUMBERS + 1 :]
    factor, places, entries = stage_factor(plan, where), w[where[13] : where[14]], r[f[10] : f[11]]
    row_size, sizes = r[f[13] : f[14]], r[f[14] : f[15]]
    for i in range(residual.shape[0]):
        terms[i] = row_size[i]
    for k in range(factor.column_order.shape[0] if square else 0):
        j = factor.column_order[k]
        value = abs(g[places[j]]) / sizes[j]
        for p in range(factor.start[k], factor.start[k + 1]):
            terms[factor.row_order[factor.row[p]]] += abs(entries[factor.source[p]]) * value
    for i in range(residual.shape[0]):
        if not abs(residual[i]) <= LAST_BITS * terms[i]:
            return False
    return True


@inner
def _solve(plan, where, sizes, g):
    """One stage: corrections with one factor as long as they shrink fast, converged where the next one would not move
    anything."""
    m, n, size = sizes[0], sizes[1], sizes[2]
    w, r, f = plan.numbers, plan.reals, where[NUMBERS + 1 :]
    factor = stage_factor(plan, where)
    places, row_scale, entries = w[where[13] : where[14]], r[f[9] : f[10]], r[f[10] : f[11]]
    step, residual, rounding = r[f[11] : f[11] + size], r[f[11] + size : f[12]], r[f[12]]
    shift = n if size > n else 0
    before, fresh, stays, free = np.inf, False, 0, False
    for iteration in range(ROUNDS):
        if not fresh:
            fill_stage(plan, where, entries)
            free = refactor(factor, entries) < PIVOT_QUALITY
            fresh = True
        _residuals(plan, where, g, residual)
        for i in range(size):
            step[i] = 0.0
        for i in range(size - shift):  # further rows only have to hold
            step[shift + i] = residual[i] * (row_scale[i] if shift else 1.0)
        if not _step(plan, factor, entries, free, step):
            return False
        moved, share = _correct(g, places, step, r[f[14] : f[15]])
        if not np.isfinite(moved):
            return False
        contraction = moved / before if iteration else 1.0
        stays = stays + 1 if iteration and contraction > SLOW else 0
        if (
            moved * min(1.0, contraction) < CLOSE
            or (moved < (rounding if iteration else ROUNDING) and contraction > SLOW)
            or (
                stays >= STAYS
                and (
                    share < ROUNDING or (contraction > FAR and _is_rounding(plan, where, shift == 0, g, residual, step))
                )
            )
        ):
            return m <= n or _hold(residual, r[f[13] : f[14]])
        if moved > FAR or (iteration and contraction > SLOW):
            _derivatives(plan, g)
            fresh = False
        before = moved
    return False
