"""Solving a point order by order: F_i^(c_i + k) = 0 for the variables z_j^(d_j + k), k = -max d .. 0 (see
netsim.structure.orders).

Below k = 0 there are more variables than equations: what is free changes least, in the metric of `weights` or of the
masses. At k = 0 the system is square: accelerations, multipliers, rates and everything algebraic follow. These stages
serve the start of a run and recovered forces alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from netsim.core.linear.columns import Columns, columns_of
from netsim.equations.machine import Machine
from netsim.equations.starts.rows import StartRow, linearised
from netsim.initial.consistent.derivatives import derivative, partial_values
from netsim.structure.orders import Offsets, Signature, signature

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Stages:
    """A machine's equations by order: which triples take part (`chosen`), the offsets, weights of least change,
    unknowns that are angles."""

    machine: Machine
    signature: Signature
    offsets: Offsets
    chosen: Array
    weights: Array
    angles: Array = field(default_factory=lambda: np.zeros(0, np.int64))


def signature_of(machine: Machine) -> Signature:
    """The signature of a machine's system."""
    return machine.element.partials.signature if machine.element is not None else signature(machine.system)


def partials_in(stages: Stages, g: Array) -> Array:
    """The derivatives of every triple of the stages' signature, which may have sums of balances."""
    return stages.signature.of(partial_values(stages.machine, g))


def slots(machine: Machine, variables: Array, orders: Array) -> Array:
    """Places in g of variables (unknowns, then differentiated quantities) at orders."""
    layout = machine.system.layout
    found = np.zeros(len(variables), np.int64)
    for order in np.unique(orders):
        at = orders == order
        unknown = variables[at]
        found[at] = np.where(
            unknown < layout.n,
            layout.unknown(np.minimum(unknown, layout.n - 1), order),
            layout.differentiated(np.maximum(unknown - layout.n, 0), order),
        )
    return found


def stage_matrix(stages: Stages, g: Array, k: int) -> tuple[Columns, Array, Array]:
    """The matrix of stage k at what g holds, with its equations and variables."""
    o = stages.offsets
    equations, variables = stage_equations(o, k), stage_variables(o, k)
    values = partials_in(stages, g)
    return stage_jacobian(stages, values, k, equations, variables, (), (), g), equations, variables


def stage_equations(o: Offsets, k: int) -> Array:
    """Equations of stage k."""
    return np.flatnonzero((o.match >= 0) & (o.c + k >= 0))


def stage_variables(o: Offsets, k: int) -> Array:
    """Variables that stage k solves for."""
    return np.flatnonzero(np.isin(np.arange(len(o.d)), o.match) & (o.d + k >= 0))


def stage_residuals(stages: Stages, g: Array, k: int, equations: Array, rows: Sequence[StartRow]) -> Array:
    """Residuals of a stage's equations, differentiated as it asks, then of its rows."""
    o, (sums, parts) = stages.offsets, stages.signature.sums
    wanted, highest = o.c[equations] + k, np.where(o.match >= 0, o.c + k, -1)
    np.maximum.at(highest, parts, highest[sums])
    found = np.zeros(len(equations))
    for order in np.unique(wanted):
        at = wanted == order
        own = derivative(stages.machine, g, int(order), stages.signature.size, highest)
        np.add.at(own, sums, own[parts])
        found[at] = own[equations[at]]
    return np.concatenate([found, [miss for miss, _ in linearised(rows, stages.machine, g)]])


def stage_jacobian(
    stages: Stages,
    values: Array,
    k: int,
    equations: Array,
    variables: Array,
    rows: Sequence[StartRow],
    freed: Sequence[int],
    g: Array,
) -> Columns:
    """Derivatives of a stage's equations, then rows, by its variables, then freed rates; `values` are the partials at
    g."""
    o = stages.offsets
    at, of, triples = stage_triples(stages, k, equations, variables, freed)
    i, j, v = [at], [of], [values[triples]]
    column_of = np.full(stages.signature.size + 1, -1)
    column_of[variables] = np.arange(len(variables))
    if rows:
        coefficients = np.concatenate([each for _, each in linearised(rows, stages.machine, g)])
        spoken, orders = (np.concatenate(each) for each in zip(*((row.variables, row.orders) for row in rows)))
        number = np.repeat(len(equations) + np.arange(len(rows)), [len(row.variables) for row in rows])
        known = (column_of[spoken] >= 0) & (orders == o.d[spoken] + k)
        i, j, v = [at, number[known]], [of, column_of[spoken[known]]], [v[0], coefficients[known]]
    shape = (len(equations) + len(rows), len(variables) + len(freed))
    return columns_of(np.concatenate(v), np.concatenate(i), np.concatenate(j), shape)


def stage_triples(
    stages: Stages, k: int, equations: Array, variables: Array, freed: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Rows and columns of a stage's matrix and the triples of the signature whose derivatives stand there: those of
    highest order, then, in columns behind the variables, the rates of `freed` differentiated quantities wherever they
    enter."""
    s, o = stages.signature, stages.offsets
    row_of, column_of = np.full(s.size + 1, -1), np.full(s.size + 1, -1)
    row_of[equations], column_of[variables] = np.arange(len(equations)), np.arange(len(variables))
    top = (
        stages.chosen
        & s.kept
        & (s.order == o.d[s.variable] - o.c[s.equation])
        & (row_of[s.equation] >= 0)
        & (column_of[s.variable] >= 0)
    )
    found = np.flatnonzero(top)
    freed_at = np.full(s.size + 1, -1)
    freed_at[np.array(freed, np.int64)] = len(variables) + np.arange(len(freed))
    rates = np.flatnonzero(s.kept & (freed_at[s.variable] >= 0) & (s.order == 1) & (row_of[s.equation] >= 0))
    rates = rates[np.argsort(freed_at[s.variable[rates]], kind="stable")]
    columns = np.concatenate([column_of[s.variable[found]], freed_at[s.variable[rates]]])
    triples = np.concatenate([found, rates])
    return row_of[s.equation[triples]], columns, triples


def masses(stages: Stages, column_of: Array) -> Array:
    """Which derivatives are entries of the mass matrix between variables that have a column (-1: none)."""
    s, nk = stages.signature, stages.machine.system.layout.nk
    motion = s.kept & (s.order == 2) & (s.equation < nk) & (s.variable < nk)
    return motion & (column_of[s.variable] >= 0) & (column_of[s.equation] >= 0)


def momenta_of(stages: Stages, column_of: Array) -> Array:
    """Pairs of triples whose negative product is mass: a balance's share of the rate of a differentiated quantity, and
    that quantity's definition over a velocity."""
    s, n, nk = stages.signature, stages.machine.system.n, stages.machine.system.layout.nk
    rate = np.flatnonzero(
        s.kept & (s.order == 1) & (s.equation < nk) & (s.variable >= n) & (column_of[s.equation] >= 0)
    )
    content = np.flatnonzero(
        s.kept & (s.order == 1) & (s.equation >= n) & (s.variable < nk) & (column_of[s.variable] >= 0)
    )
    order = np.argsort(s.equation[content], kind="stable")
    content = content[order]
    low, high = (np.searchsorted(s.equation[content], s.variable[rate], side) for side in ("left", "right"))
    first = np.repeat(rate, high - low)
    second = np.concatenate([content[a:b] for a, b in zip(low, high)]) if len(rate) else np.zeros(0, np.int64)
    return np.vstack([first, second])
