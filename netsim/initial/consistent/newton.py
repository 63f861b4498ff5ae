"""Newton's method of a stage (netsim.initial.stages) as it stands: its unknowns change least, steps are damped, turns
are short, and what cannot hold is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, columns_of, diagonal_of
from netsim.core.linear.graphs import connected
from netsim.core.linear.least_change import Pivots, least_change
from netsim.equations.messages import unmet
from netsim.equations.starts.rows import StartRow
from netsim.initial.charts import recharted
from netsim.initial.diagnosis.suspects import refuse_infinite, without_derivative
from netsim.initial.stages import (
    Stages,
    masses,
    momenta_of,
    partials_in,
    slots,
    stage_equations,
    stage_jacobian,
    stage_residuals,
    stage_variables,
)
from netsim.structure.orders import Offsets
from netsim.structure.prescribed import hold_factors, prescribed_pairs
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
ROUNDS = 60
ROUNDED, STALLED = 16 * np.finfo(float).eps, 1e-10
"""Residuals below these parts of their terms are rounding: at any time, and where a full step of Newton's method makes
them no smaller."""
SMALLEST = 1e-4
LEFT, FAINT = 1e-9, 1e-9
"""What Newton's last step may leave of an equation whose unknowns have their nominal sizes, and the least part of these
that counts."""
PATIENCE = 3
"""PATIENCE: so many full steps that make residuals no smaller, where these are small enough, are the end."""
LONGEST_TURN = 0.5
"""How far (rad) one Newton step turns a body: a loop that starts far from where it is drawn closes on the branch it was
drawn on."""


@np.errstate(over="ignore", invalid="ignore")
def solve_stage(
    stages: Stages,
    g: Array,
    k: int,
    rows: Sequence[StartRow] = (),
    freed: Sequence[int] = (),
    mass_metric: bool = False,
    soft: Sequence[float] = (),
    known: Sequence[int] = (),
) -> None:
    """Make stage k hold in g, in place. `freed` differentiated quantities have their rate among the unknowns (static
    solutions); `known` variables keep what they have.

    With `soft` (a size per equation and row, 0 for those that must hold) the others are met in the least-squares sense,
    each divided by its size. Where steps that must not enlarge the residuals find no point, full steps try:
    temperatures that a flow must carry first make them larger. Raises `SimulationError` where the equations contradict
    one another or Newton does not converge.
    """
    before, stage, sizes = g.copy(), unknowns_of(stages, k, rows, freed, known), np.asarray(soft)
    if not len(stage.variables) or not (len(stage.equations) or rows):
        return
    try:
        _step_by_step(stage, g, mass_metric, sizes, SMALLEST)
    except Inconsistent as wrong:
        if not wrong.exhausted or len(soft):
            raise
        careful = g.copy()
        g[:] = before
        try:
            _step_by_step(stage, g, mass_metric, sizes, 1.0)
        except SimulationError:
            g[:] = careful
            raise wrong from None


@dataclass(frozen=True, eq=False)
class StageUnknowns:
    """Equations, rows and unknowns of stage k: `places` in g of variables at their orders and, behind them, of freed
    rates; `turns` are those that are angles, `size` is 1 over what is typical of each."""

    stages: Stages
    k: int
    equations: Array
    rows: Sequence[StartRow]
    variables: Array
    freed: Sequence[int]
    orders: Array
    places: Array
    turns: Array
    size: Array

    def residuals(self, g: Array) -> Array:
        return stage_residuals(self.stages, g, self.k, self.equations, self.rows)

    def derivatives(self, g: Array) -> tuple[Array, Columns]:
        """Every partial derivative of the machine at g, and those of the stage by its unknowns as a matrix."""
        values = partials_in(self.stages, g)
        return values, stage_jacobian(
            self.stages, values, self.k, self.equations, self.variables, self.rows, self.freed, g
        )  # fmt: skip


def unknowns_of(
    stages: Stages, k: int, rows: Sequence[StartRow], freed: Sequence[int], known: Sequence[int] = ()
) -> StageUnknowns:
    """Equations and unknowns of stage k with these rows, rates that are free, and variables that are known."""
    o = stages.offsets
    variables = np.setdiff1d(np.union1d(stage_variables(o, k), _spoken_of(o, k, rows)), known)
    orders = o.d[variables] + k
    rates = slots(stages.machine, np.array(freed, np.int64), np.ones(len(freed), np.int64))
    places = np.concatenate([slots(stages.machine, variables, orders), rates]).astype(np.int64)
    turns = np.flatnonzero(np.isin(variables, stages.angles) & (orders == 0))
    size = np.concatenate([stages.weights[variables], np.ones(len(freed))])
    return StageUnknowns(stages, k, stage_equations(o, k), rows, variables, freed, orders, places, turns, size)


def _step_by_step(stage: StageUnknowns, g: Array, mass_metric: bool, soft: Array, smallest: float) -> None:
    """Newton's method of a stage; a step that enlarges the residuals is halved while it is longer than the part
    `smallest`."""
    stages, k, places, size, turns, machine = (
        stage.stages, stage.k, stage.places, stage.size, stage.turns, stage.stages.machine
    )  # fmt: skip
    square = len(stage.equations) + len(stage.rows) == len(places) and not len(soft)
    least = 1.0 / np.maximum(size, 1e-300) * 1e-6 + 1e-300
    # differentiated equations are linear in the highest order
    linear, before = k < 0 and not np.any(stages.offsets.c + k == 0) and not stage.rows, np.inf
    damping, step, origin, jacobian = 1.0, np.zeros(0), g[places].copy(), None
    floor, pivots = np.zeros(len(places)), Pivots()
    scale, within, stalls = np.ones(len(stage.equations) + len(stage.rows)), np.inf, 0
    floor[turns] = 1.0
    for round_ in range(ROUNDS):
        r = stage.residuals(g)
        norm, sized = _norm(r), _norm(scale * r)
        if (
            round_
            and damping == 1.0
            and not len(soft)
            and _settled(jacobian, r, np.maximum(np.abs(g[places]), floor), norm > 0.5 * before)
        ):
            break
        stalls = stalls + 1 if damping == 1.0 and norm > 0.5 * before else 0
        if stalls == PATIENCE and not _violated(stage, g, r).any():
            break  # a singular matrix keeps rounding alive
        worse = norm > 1e-12 and not (norm <= before * (1 + 1e-9) or sized <= within)
        if round_ and not len(soft) and worse and damping > (smallest if np.isfinite(norm) else SMALLEST):
            damping *= 0.5
            g[places] = origin - damping * step
            continue
        if len(turns):
            recharted(machine.system, g)
        values, jacobian = stage.derivatives(g)
        if not round_ and (bare := without_derivative(jacobian)).any():
            g[places[bare]] += 1.0 / np.maximum(size[bare], 1e-300)  # sqrt(u), 1/u where u begins at 0
            r, (values, jacobian) = stage.residuals(g), stage.derivatives(g)
            norm = _norm(r)
        refuse_infinite(machine, g, r, jacobian.data)
        pull = _pull(stage, jacobian) if k < 0 else size
        metric = partial(_metric, stage, values, jacobian, pull, mass_metric)
        if square or k == 0:
            step = least_change(jacobian, r, metric, square, soft, pivots)
        else:  # positions and velocities, which may be left open
            step = _least_in_own_sizes(jacobian, r, metric(), soft, pivots)
        scale = _row_scale(jacobian, size)
        origin, before, within = g[places].copy(), norm, _norm(scale * r)
        turn = float(np.max(np.abs(step[turns]), initial=0.0))
        most = LONGEST_TURN / max(turn, LONGEST_TURN)
        damping = min(most, 2 * damping) if round_ else most
        g[places] = origin - damping * step
        moved = np.max(np.abs(step) / np.maximum(np.abs(g[places]), least), initial=0.0)
        if damping == 1.0 and (moved < 1e-13 or (round_ >= 1 and (moved < 1e-9 or linear))):
            break
    else:
        round_ = ROUNDS
    if len(turns):
        recharted(machine.system, g, all_of_them=True)
    _check_solved(stage, g, soft, round_ == ROUNDS)


def _spoken_of(o: Offsets, k: int, rows: Sequence[StartRow]) -> Array:
    """Variables that no equation determines (a pressure behind a fluid at rest) but a row speaks of."""
    spoken = np.array(
        [v for row in rows for v, order in zip(row.variables, row.orders) if order == o.d[v] + k], np.int64
    )
    return spoken[~np.isin(spoken, o.match)]


def _row_scale(jacobian: Columns, size: Array) -> Array:
    """What makes residuals comparable: 1 over the change of each when every unknown moves by its typical size
    1/size."""
    change = abs(jacobian) @ (1.0 / np.maximum(size, 1e-300))
    return 1.0 / np.where(change > 0.0, change, 1.0)


def _norm(r: Array) -> float:
    return float(np.linalg.norm(r)) if np.isfinite(r).all() else np.inf


def _settled(jacobian: Any, r: Array, content: Array, stalled: bool) -> bool:
    """Whether residuals are what rounding leaves of their terms |J| |z|: below some units, or many where Newton does
    not make them smaller."""
    return bool(np.all(np.abs(r) <= (STALLED if stalled else ROUNDED) * (abs(jacobian) @ content)))


def _least_in_own_sizes(jacobian: Columns, r: Array, metric: Columns, soft: Array, pivots: Pivots) -> Array:
    """`least_change` of unknowns that are counted in sizes by which the metric's diagonal is 1: what is added there to
    make a matrix regular is then small beside all of them, those of a machine of 1 km too."""
    weight, ones = metric.diagonal(), np.ones(len(r))
    largest = max(float(weight.max(initial=0.0)), 1e-300)
    own = 1.0 / np.sqrt(np.where(weight > 0.0, weight, 1e-13 * largest))
    counted = partial(metric.scaled, own, own)
    return own * least_change(jacobian.scaled(ones, own), r, counted, False, soft / np.sqrt(largest), pivots)


def _pull(stage: StageUnknowns, jacobian: Columns) -> Array:
    """The weights of least change: `size`, but of a differentiated quantity, which has no typical size, at most 1 over
    its change when the unknowns of its definition move by theirs. A moment of momentum of 1e9 N.m.s does not pull."""
    size, n = stage.size.copy(), stage.stages.machine.system.n
    own = np.flatnonzero((stage.variables >= n) & np.isin(stage.variables, stage.equations))
    if len(own):
        others = 1.0 / np.maximum(size, 1e-300)
        others[own] = 0.0
        change = (abs(jacobian) @ others)[np.searchsorted(stage.equations, stage.variables[own])]
        size[own] /= np.maximum(1.0, size[own] * change)
    return size


def _metric(stage: StageUnknowns, values: Array, jacobian: Columns, size: Array, mass_metric: bool) -> Columns:
    """W of |dz|_W: the diagonal of weights^2, or the mass matrix where there is one. Rates of what is no node's must
    not pull what they belong to."""
    if not mass_metric:
        return diagonal_of(size**2)
    stages, variables, nk = stage.stages, stage.variables, stage.stages.machine.system.layout.nk
    s = stages.signature
    diagonal = size**2 * np.where((variables >= nk) & (stage.orders > 0), 1e-10, 1.0)
    column_of = np.full(s.size + 1, -1)
    column_of[variables] = np.arange(len(variables))
    mass = _mass_matrix(stage, values, column_of)
    largest, own = max(float(np.abs(mass.data).max(initial=0.0)), 1e-300), np.abs(mass.diagonal())
    light = _masses_moved(jacobian, own) if stage.k < 0 else np.zeros(len(own))
    # what has mass is weighed by it alone: impulses keep momentum
    massless = diagonal_of(1e-9 * np.where(own > 0.0, 0.0, np.where(light > 0.0, light, diagonal * largest)))
    pairs = prescribed_pairs(s, stages.offsets, stages.machine.system.n, nk)
    pairs = pairs[:, np.all(column_of[s.variable[pairs]] >= 0, axis=0)]
    ends = column_of[s.variable[pairs]]
    held = largest * hold_factors(s, values, pairs) * values[pairs[0]] * values[pairs[1]]
    return mass + columns_of(held, ends[0], ends[1], mass.shape) + massless


def _masses_moved(jacobian: Columns, own: Array) -> Array:
    """The least mass that an unknown without one moves by a row, a^2/(sum of a_j^2/m_j); 0 where it moves none."""
    rows, columns, squares = jacobian.indices, jacobian.columns, jacobian.data**2
    found, moved = own.copy(), np.inf
    while 0 < (left := int((found == 0.0).sum())) < moved:
        moved, ease = left, np.zeros(jacobian.shape[0])
        known = found[columns] > 0.0
        np.add.at(ease, rows[known], squares[known] / found[columns[known]])
        at = ~known & (squares > 0.0) & (ease[rows] > 0.0)
        least = np.full(len(found), np.inf)
        np.minimum.at(least, columns[at], squares[at] / ease[rows[at]])
        found = np.where(np.isfinite(least), least, found)
    return found


def _mass_matrix(stage: StageUnknowns, values: Array, column_of: Array) -> Columns:
    """The mass matrix of the unknowns that have a column: of accelerations in balances and, of positions and
    velocities, of differentiated quantities there (I w) by their definitions."""
    s, at, rates = stage.stages.signature, masses(stage.stages, column_of), momenta_of(stage.stages, column_of)
    rates = rates[:, : len(rates[0]) if stage.k < 0 else 0]
    rows = column_of[np.append(s.equation[at], s.equation[rates[0]])]
    columns = column_of[np.append(s.variable[at], s.variable[rates[1]])]
    shape = (len(stage.places), len(stage.places))
    return columns_of(np.append(values[at], -values[rates[0]] * values[rates[1]]), rows, columns, shape)


def _violated(stage: StageUnknowns, g: Array, r: Array) -> Array:
    """Which residuals r of a stage's equations and rows are more than what rounding and Newton's last step leave of
    their terms."""
    stages, k = stage.stages, stage.k
    s, o = stages.signature, stages.offsets
    values = np.abs(partials_in(stages, g))
    variable, derivative, equation, values = (array[s.kept] for array in (s.variable, s.order, s.equation, values))
    terms, weight, largest = np.zeros((3, s.size + 1))
    # as the equations stand, and differentiated as the stage takes them
    for order in (0, np.maximum(o.c[equation] + k, 0)):
        there = derivative + order <= o.d[variable] + max(k, 0)
        content = np.abs(g[slots(stages.machine, variable[there], (derivative + order)[there])])
        np.add.at(terms, equation[there], values[there] * content)
        np.add.at(weight, equation[there], values[there])
        np.maximum.at(largest, equation[there], content)
    terms += 1e6 * ROUNDED * weight * largest  # a formula may take differences of what it reads before it weighs them
    floor = np.concatenate([terms[stage.equations], [max(abs(row.target), 1e-9) for row in stage.rows]])
    left = np.abs(r)
    met = left <= 1e-6 * floor + LEFT
    if (met & (left > 1e-6 * floor + LEFT * FAINT)).any():  # small numbers, or rounding of larger ones beside them
        met = left <= 1e-6 * floor + LEFT * _sizes(stage, g)
    return np.asarray(~met)


def _sizes(stage: StageUnknowns, g: Array) -> Array:
    """The largest unknown or written start, in nominal sizes, of what each equation and row acts on, from FAINT to 1:
    residuals of a circuit of nanovolts are no rounding for being less than those of one of volts. What moves has its
    nominal size: positions are counted from anywhere."""
    s, weights, nk = stage.stages.signature, stage.stages.weights, stage.stages.machine.system.layout.nk
    variable, equation = s.variable[s.kept], s.equation[s.kept]
    island = connected(2 * (s.size + 1), variable, s.size + 1 + equation)
    size, some = np.zeros(2 * (s.size + 1)), np.unique(variable)
    content = np.abs(g[slots(stage.stages.machine, some, np.zeros(len(some), np.int64))]) * weights[some]
    np.maximum.at(size, island[some], np.where(some < nk, 1.0, content))
    for row in stage.rows:
        np.maximum.at(size, island[row.variables], abs(row.target) * weights[row.variables])
    at = [*(s.size + 1 + stage.equations), *(int(row.variables[0]) for row in stage.rows)]
    return np.clip(size[island[at]], FAINT, 1.0)


def _check_solved(stage: StageUnknowns, g: Array, soft: Array, exhausted: bool) -> None:
    """Residuals must be at round-off of their terms; what is left names equations that contradict one another."""
    bad = _violated(stage, g, stage.residuals(g)) & (soft == 0.0 if len(soft) else True)
    if bad.any():
        count = len(stage.equations)
        violated = [row for row, wrong in zip(stage.rows, bad[count:]) if wrong]
        raise Inconsistent(stage.stages, stage.k, stage.equations[bad[:count]], violated, exhausted)


class Inconsistent(SimulationError):
    """A stage that cannot hold: numbers of equations that stay violated, written starts among them, whether Newton's
    method came to no end."""

    def __init__(self, stages: Stages, stage: int, equations: Array, rows: Sequence[StartRow], exhausted: bool):
        self.stage, self.equations, self.rows, self.exhausted = stage, equations, tuple(rows), exhausted
        hint = "two constraints may contradict each other, or Newton's method needs a `guess`"
        super().__init__(
            Problem("E501", f"no consistent point: {unmet(stages.machine.system, stage, equations)}", hint=hint)
        )
