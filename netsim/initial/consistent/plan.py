"""One stage of consistent points as arrays: its unknowns, its residuals by order, and the entries of its matrix.

A stage with as many equations as unknowns has the matrix J of its entries of highest order. So has one with more where
nothing moves and n of its rows determine all n unknowns: these stand first, the others must hold at what they give.
Any other is solved by the least change, [W J'; J -eps], in the metric W of the mass where something has any, else
beside the sizes. (Its matrix J W^-1 J' squares the condition of J: 10 uOhm beside 10 uS would be lost in eps.)
"""

from dataclasses import dataclass, replace

import numpy as np

from netsim.core.linear.columns import columns_of, splu
from netsim.core.linear.factors import Factor
from netsim.equations.machine import Call, call_table
from netsim.initial.consistent.derivatives import equations_of
from netsim.initial.stages import Stages, masses, momenta_of, slots, stage_variables
from netsim.structure.prescribed import HOLD, hold_factors, prescribed_pairs

Array = np.ndarray
CORNER = 1e-13
RATE = 1e-25
INDEPENDENT = 1e-12
"""The smallest pivot beside the largest of rows that determine all unknowns, equilibrated."""


@dataclass(eq=False)
class StagePlan:
    """One stage as arrays: tables of residuals by order (each with the positions of its rows in the stage, and where it
    writes them), places and sizes of unknowns, and the entries of [W J'; J -eps] (or of J, or its first n rows, where
    they determine all), whose columns are measured by these sizes; how its rows are scaled there, and max |J| of
    each."""

    tables: list[tuple[Array, Array, Array]]
    places: Array
    sizes: Array
    m: int
    n: int
    indptr: Array
    indices: Array
    base: Array
    picks: Array
    targets: Array
    scales: Array
    row_scale: Array
    row_size: Array
    pairs: Array
    factor: Factor | None = None
    rounding: float = 0.0
    """What rounding leaves of a correction, relative to the smallest unknowns: units times the condition where the
    factor was taken."""


@dataclass(frozen=True, eq=False)
class _Stage:
    """The equations and variables of a stage, where these stand among its unknowns, and its entries of highest order:
    the triples `top`, at rows i and columns j."""

    k: int
    equations: Array
    variables: Array
    column_of: Array
    top: Array
    i: Array
    j: Array


@dataclass(frozen=True, eq=False)
class _Entries:
    """The matrix of a stage, square of `size`: scaled entries that the triples `picks` fill, at rows and columns;
    behind them those that products of pairs of triples fill, by `shares`; and what stays on the `diagonal`."""

    size: int
    rows: Array
    columns: Array
    picks: Array
    scales: Array
    row_scale: Array
    pairs: Array
    shares: Array
    diagonal: Array


def plan_stage(
    stages: Stages,
    k: int,
    values: Array,
    sizes: Array,
    held: Array,
    known: Array,
    alive: list[list[Call]],
    matched: bool = False,
) -> StagePlan:
    """One stage without variables that are `known`, of all its equations, or of those alone that are matched to the
    others."""
    o, s = stages.offsets, stages.signature
    stage, still = _stage(stages, k, known, matched), not stages.machine.system.layout.nk
    m, n = len(stage.equations), len(stage.variables)
    if n < m and still and (first := _independent(stage, values * sizes[s.variable])) is not None:
        stage, determined = _reordered(stage, first), True
    else:
        determined = m == n
    e = _square(stage, sizes) if determined else _least_change(stages, stage, values, sizes, held)
    size, diagonal = e.size, np.arange(len(e.diagonal))
    codes = np.concatenate([e.columns, diagonal]) * max(size, 1) + np.concatenate([e.rows, diagonal])
    unique, position = np.unique(codes, return_inverse=True)
    indptr = np.searchsorted(unique, np.arange(size + 1) * max(size, 1)).astype(np.int32)
    base, filled, picked = np.zeros(len(unique)), len(e.rows), len(e.picks)
    np.add.at(base, position[filled:], e.diagonal)
    places = slots(stages.machine, stage.variables, o.d[stage.variables] + k)
    return StagePlan(
        residual_tables(stages, k, stage.equations, alive), places, sizes[stage.variables], m, n, indptr,
        (unique % max(size, 1)).astype(np.int32), base, s.raw(e.picks), position[:picked],
        np.append(e.scales, e.shares), e.row_scale, _largest(m, stage.i, values[stage.top]),
        np.vstack([s.raw(e.pairs), position[picked:filled]]),
    )  # fmt: skip


def _stage(stages: Stages, k: int, known: Array, matched: bool) -> _Stage:
    o, s = stages.offsets, stages.signature
    equations = np.flatnonzero((o.match >= 0) & (o.c + k >= 0))
    variables = np.setdiff1d(stage_variables(o, k), known[o.d[known] + k == 0])
    equations = equations[np.isin(o.match[equations], variables)] if matched or not len(variables) else equations
    row_of, column_of = np.full(s.size + 1, -1), np.full(s.size + 1, -1)
    row_of[equations], column_of[variables] = np.arange(len(equations)), np.arange(len(variables))
    top = np.flatnonzero(s.kept & (row_of[s.equation] >= 0) & (column_of[s.variable] >= 0))
    top = top[s.order[top] == o.d[s.variable[top]] - o.c[s.equation[top]]]
    return _Stage(k, equations, variables, column_of, top, row_of[s.equation[top]], column_of[s.variable[top]])


def _independent(stage: _Stage, sized: Array) -> Array | None:
    """The m equations of a stage in an order whose first n determine its n unknowns; None where none do.

    They are the pivot rows of J, m - n columns of random numbers beside it to make it square."""
    m, n, entries = len(stage.equations), len(stage.variables), sized[stage.top]
    largest = _largest(m, stage.i, entries)
    order = np.argsort(np.bincount(stage.j, minlength=n), kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    scaled = columns_of(entries / largest[stage.i], stage.i, rank[stage.j], (m, n))
    scaled = scaled.scaled(np.ones(m), 1.0 / np.maximum(scaled.largest(0), 1e-300))
    others = np.random.default_rng(0).uniform(0.5, 1.0, (m, m - n))
    i, j = np.indices(others.shape).reshape(2, -1)
    values, rows = np.append(scaled.data, others), np.append(scaled.indices, i)
    square = columns_of(values, rows, np.append(scaled.columns, n + j), (m, m))
    if not np.isfinite(square.data).all():
        return None
    try:
        factors = splu(square, permc_spec="NATURAL", diag_pivot_thresh=1.0)
    except RuntimeError:
        return None
    pivots = np.abs(factors.U.diagonal())[np.argsort(factors.perm_c)][:n]
    return np.argsort(factors.perm_r) if pivots.min() > INDEPENDENT * pivots.max() else None


def _reordered(stage: _Stage, order: Array) -> _Stage:
    """The stage with its equations in this order."""
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return replace(stage, equations=stage.equations[order], i=position[stage.i])


def _square(stage: _Stage, sizes: Array) -> _Entries:
    """The first n rows of J, its columns measured by the sizes."""
    n, none = len(stage.variables), np.zeros(0)
    inside = stage.i < n
    i, j, top = stage.i[inside], stage.j[inside], stage.top[inside]
    ones = np.ones(len(stage.equations))
    return _Entries(n, i, j, top, sizes[stage.variables[j]], ones, np.zeros((2, 0), np.int64), none, none)


def _least_change(stages: Stages, stage: _Stage, values: Array, sizes: Array, held: Array) -> _Entries:
    """[W J'; J -eps]: changes are least in the metric of the mass, or beside the sizes where nothing has any."""
    o, s, variables, i, j = stages.offsets, stages.signature, stage.variables, stage.i, stage.j
    m, n, nk, sized = len(stage.equations), len(variables), stages.machine.system.layout.nk, values * sizes[s.variable]
    # a differentiated quantity is held, not the rate that it happens to have
    rates = held[variables] & (o.d[variables] + stage.k > 0)
    costs = np.where(held[variables] & ~rates, HOLD, 1.0)
    mass, momenta = np.flatnonzero(masses(stages, stage.column_of)), momenta_of(stages, stage.column_of)
    products = sized[momenta[0]] * sized[momenta[1]] * sizes[s.equation[momenta[0]]] / sizes[s.variable[momenta[0]]]
    top_mass = max(np.abs(sized[mass] * sizes[s.equation[mass]]).max(initial=0.0), np.abs(products).max(initial=0.0))
    mass_scale = 1.0 / top_mass if top_mass else 1.0
    prescribed = prescribed_pairs(s, o, stages.machine.system.n, nk) if stage.k < 0 else momenta[:, :0]
    pairs = np.hstack([momenta, prescribed])
    ends = np.stack([np.append(s.equation[momenta[0]], s.variable[prescribed[0]]), s.variable[pairs[1]]])
    shares = np.append(np.full(momenta.shape[1], -mass_scale), hold_factors(s, sized, prescribed))
    follows = (variables >= nk) & ~(held[variables] & ~rates)  # has no inertia that would keep what it is
    if len(mass) or pairs.size:
        own = _own_mass(stages, values, mass, momenta)[variables] * mass_scale * sizes[variables] ** 2
        massless = 1e-9 * np.where(costs > 1.0, costs**2, own[own > 0.0].min(initial=1.0))
        light = np.where(own > 0.0, 1e-9 * own, np.where(follows, RATE, massless))
    else:
        light = np.where(follows, CORNER, costs**2)
    top = sized[stage.top]
    row_scale = 1.0 / (_largest(m, i, top) if nk else _freedom(m, i, top, light[j]))
    by_row, column_of = row_scale[i] * sizes[variables[j]], stage.column_of
    return _Entries(
        n + m,
        np.concatenate([n + i, j, column_of[s.equation[mass]], column_of[ends[0]]]),
        np.concatenate([j, n + i, column_of[s.variable[mass]], column_of[ends[1]]]),
        np.concatenate([stage.top, stage.top, mass]),
        np.concatenate([by_row, by_row, mass_scale * sizes[s.equation[mass]] * sizes[s.variable[mass]]]),
        row_scale,
        pairs,
        shares * sizes[ends[0]] * sizes[ends[1]],
        np.concatenate([light, np.full(m, -CORNER)]),
    )


def _own_mass(stages: Stages, values: Array, mass: Array, pairs: Array) -> Array:
    """The mass of every variable itself: the diagonal of the mass matrix, of a rotation the largest of its three (axes
    turn).

    Of a momentum I w it is 1/I."""
    s, found = stages.signature, np.zeros(stages.signature.size + 1)
    own = mass[s.equation[mass] == s.variable[mass]]
    np.add.at(found, s.variable[own], values[own])
    first, second = pairs[:, s.equation[pairs[0]] == s.variable[pairs[1]]]
    np.add.at(found, s.variable[second], -values[first] * values[second])
    found = np.abs(found)
    for i in stages.machine.system.numbering.rotations:
        found[i : i + 3] = found[i : i + 3].max()
    inertia = np.zeros(len(found))
    np.maximum.at(inertia, s.variable[pairs[0]], np.abs(values[pairs[1]]))
    return np.where(inertia > 0.0, 1.0 / np.where(inertia > 0.0, inertia, 1.0), found)


def _freedom(m: int, i: Array, values: Array, weights: Array) -> Array:
    """sqrt(J W^-1 J') by rows: the corner is then small beside every row's own freedom."""
    return np.sqrt(np.maximum(np.bincount(i, values**2 / weights, m), 1e-300))


def _largest(m: int, i: Array, values: Array) -> Array:
    """max |J| by rows."""
    found = np.full(m, 1e-300)
    np.maximum.at(found, i, np.abs(values))
    return found


def residual_tables(
    stages: Stages, k: int, equations: Array, alive: list[list[Call]]
) -> list[tuple[Array, Array, Array]]:
    """(call table, equations' positions in the stage, in what it writes) by order; a sum of balances has several."""
    machine, (sums, parts) = stages.machine, stages.signature.sums
    found, row_of = [], np.full(stages.signature.size, -1)
    row_of[equations] = np.arange(len(equations))
    among = row_of[sums] >= 0
    rows, terms = np.append(row_of[equations], row_of[sums[among]]), np.append(equations, parts[among])
    orders = stages.offsets.c[equations][rows] + k
    places = machine.system.layout.equation(terms)
    for order in np.unique(orders):
        at = np.flatnonzero(orders == order)
        if machine.element is not None:
            found.append((machine.element.partials.equations(int(order)), rows[at], places[at]))
            continue
        calls = equations_of(machine, terms[at], int(order))
        alive.append(calls)
        found.append((call_table(calls, machine.system.layout.uniforms), rows[at], places[at]))
    return found
