"""Solving a point order by order: F_i^(c_i + k) = 0 for the variables z_j^(d_j + k), k = -max d .. 0 (see
netsim.structure.orders).

Below k = 0 there are more variables than equations: what is free changes least, in the metric of `weights` or of the
masses. At k = 0 the system is square: accelerations, multipliers, rates and everything algebraic follow. These stages
serve the start of a run and recovered forces alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from netsim.core.linear.least_change import Pivots, least_change
from netsim.equations.kernels.kernel import Kernel, derivative_kernel
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Machine
from netsim.equations.messages import unmet
from netsim.equations.starts import StartRow
from netsim.initial.charts import recharted
from netsim.initial.diagnosis.suspects import refuse_infinite, without_derivative
from netsim.structure.orders import Offsets, Signature, all_equation_numbers, signature
from netsim.structure.prescribed import holding, prescribed_pairs
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
ROUNDS = 60
ROUNDED, STALLED = 16 * np.finfo(float).eps, 1e-10
"""Residuals below these parts of their terms are rounding: at any time, and where a full step of Newton's method makes
them no smaller."""
SMALLEST = 1e-4
PATIENCE = 3
"""PATIENCE: so many full steps that make residuals no smaller, where these are small enough, are the end."""
LONGEST_TURN = 0.5
"""How far (rad) one Newton step turns a body: a loop that starts far from where it is drawn closes on the branch it was
drawn on."""


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


def partial_values(machine: Machine, g: Array) -> Array:
    """The derivatives of every triple of the signature at what g holds."""
    if machine.element is not None:
        return np.asarray(machine.element.partials.values(g))
    system = machine.system
    found = [np.zeros(0)]
    for batch in system.batches:
        kernel = batch.kernels.partials
        if kernel.program.n_outputs:
            found.append(_run(machine, batch, kernel, g).ravel())
    return np.concatenate(found)


def partials_in(stages: Stages, g: Array) -> Array:
    """The same of every triple of the stages' signature, which may have sums of balances."""
    return stages.signature.of(partial_values(stages.machine, g))


def derivative(machine: Machine, g: Array, order: int, size: int, highest: Array) -> Array:
    """F^(order) of all equations that are wanted at least so often (`highest`), others 0."""
    if machine.element is not None:
        return np.asarray(machine.element.partials.derivative(g, order))
    total = np.zeros(size + 1)
    for batch in machine.system.batches:
        equations = all_equation_numbers(machine.system, batch)
        if len(equations) and np.any(highest[np.where(equations < 0, 0, equations)] >= order):
            values = _run(machine, batch, derivative_of(batch, order), g)
            np.add.at(total, np.where(equations < 0, size, equations), values)
    return total[:size]


_derivatives: dict[tuple[int, int], tuple[Any, Kernel]] = {}


def derivative_of(batch: Any, order: int) -> Kernel:
    """The kernel of F^(order) of a batch's form, lowered once."""
    key = (id(batch.form), order)
    if key not in _derivatives:
        _derivatives[key] = (batch.form, derivative_kernel(batch.form, order))
    return _derivatives[key][1]


def _run(machine: Machine, batch: Any, kernel: Kernel, g: Array) -> Array:
    system = machine.system
    return evaluate(
        kernel.program, g[system.gather(batch, kernel)], g[system.layout.uniforms], machine.parameters[id(batch)]
    )


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
    before = g.copy()
    try:
        _step_by_step(stages, g, k, rows, freed, mass_metric, soft, known, SMALLEST)
    except Inconsistent as wrong:
        if not wrong.exhausted or len(soft):
            raise
        careful = g.copy()
        g[:] = before
        try:
            _step_by_step(stages, g, k, rows, freed, mass_metric, soft, known, 1.0)
        except SimulationError:
            g[:] = careful
            raise wrong from None


def _step_by_step(
    stages: Stages,
    g: Array,
    k: int,
    rows: Sequence[StartRow],
    freed: Sequence[int],
    mass_metric: bool,
    soft: Sequence[float],
    known: Sequence[int],
    smallest: float,
) -> None:
    """Newton's method of a stage; a step that enlarges the residuals is halved while it is longer than the part
    `smallest`."""
    o = stages.offsets
    active_e = stage_equations(o, k)
    active_v = np.setdiff1d(np.union1d(stage_variables(o, k), _spoken_of(o, k, rows)), known)
    if not len(active_v) or not (len(active_e) or rows):
        return
    orders = o.d[active_v] + k
    rates = slots(stages.machine, np.array(freed, np.int64), np.ones(len(freed), np.int64))
    places = np.concatenate([slots(stages.machine, active_v, orders), rates]).astype(np.int64)
    turns = np.flatnonzero(np.isin(active_v, stages.angles) & (orders == 0))
    square = len(active_e) + len(rows) == len(places) and not len(soft)
    size = np.concatenate([stages.weights[active_v], np.ones(len(freed))])
    least = 1.0 / np.maximum(size, 1e-300) * 1e-6 + 1e-300
    # differentiated equations are linear in the highest order
    linear, before = k < 0 and not np.any(o.c + k == 0) and not rows, np.inf
    damping, step, origin, jacobian = 1.0, np.zeros(0), g[places].copy(), None
    floor, pivots = np.zeros(len(places)), Pivots()
    scale, within, stalls = np.ones(len(active_e) + len(rows)), np.inf, 0
    floor[turns] = 1.0
    for round_ in range(ROUNDS):
        r = stage_residuals(stages, g, k, active_e, rows)
        norm, sized = _norm(r), _norm(scale * r)
        if (
            round_
            and damping == 1.0
            and not len(soft)
            and _settled(jacobian, r, np.maximum(np.abs(g[places]), floor), norm > 0.5 * before)
        ):
            break
        stalls = stalls + 1 if damping == 1.0 and norm > 0.5 * before else 0
        if stalls == PATIENCE and not _violated(stages, g, r, k, active_e, rows).any():
            break  # a singular matrix keeps rounding alive
        worse = norm > 1e-12 and not (norm <= before * (1 + 1e-9) or sized <= within)
        if round_ and not len(soft) and worse and damping > (smallest if np.isfinite(norm) else SMALLEST):
            damping *= 0.5
            g[places] = origin - damping * step
            continue
        if len(turns):
            recharted(stages.machine.system, g)
        values = partials_in(stages, g)
        jacobian = stage_jacobian(stages, values, k, active_e, active_v, rows, freed, g)
        if not round_ and (bare := without_derivative(jacobian)).any():
            g[places[bare]] += 1.0 / np.maximum(size[bare], 1e-300)  # sqrt(u), 1/u where u begins at 0
            r = stage_residuals(stages, g, k, active_e, rows)
            norm, values = _norm(r), partials_in(stages, g)
            jacobian = stage_jacobian(stages, values, k, active_e, active_v, rows, freed, g)
        refuse_infinite(stages.machine, g, r, jacobian.data)
        metric = partial(_metric, stages, values, active_v, orders, size, mass_metric)
        step = least_change(jacobian, r, metric, square, np.asarray(soft), pivots)
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
        recharted(stages.machine.system, g, all_of_them=True)
    _check_solved(stages, g, k, active_e, rows, np.asarray(soft), round_ == ROUNDS)


def stage_matrix(stages: Stages, g: Array, k: int) -> tuple[Any, Array, Array]:
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


def _spoken_of(o: Offsets, k: int, rows: Sequence[StartRow]) -> Array:
    """Variables that no equation determines (a pressure behind a fluid at rest) but a row speaks of."""
    spoken = np.array(
        [v for row in rows for v, order in zip(row.variables, row.orders) if order == o.d[v] + k], np.int64
    )
    return spoken[~np.isin(spoken, o.match)]


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
    return np.concatenate([found, [row.linearise(stages.machine, g)[0] for row in rows]])


def _row_scale(jacobian: Any, size: Array) -> Array:
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


def stage_jacobian(
    stages: Stages,
    values: Array,
    k: int,
    equations: Array,
    variables: Array,
    rows: Sequence[StartRow],
    freed: Sequence[int],
    g: Array,
) -> Any:
    """Derivatives of a stage's equations, then rows, by its variables, then freed rates; `values` are the partials at
    g."""
    from scipy.sparse import csc_matrix

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
    i, j, v = [row_of[s.equation[top]]], [column_of[s.variable[top]]], [values[top]]
    for f, quantity in enumerate(freed):  # the rate of a freed differentiated quantity, wherever it enters
        at = s.kept & (s.variable == quantity) & (s.order == 1) & (row_of[s.equation] >= 0)
        i, j, v = [*i, row_of[s.equation[at]]], [*j, np.full(at.sum(), len(variables) + f)], [*v, values[at]]
    for r, row in enumerate(rows):
        coefficients = row.linearise(stages.machine, g)[1]
        known = (column_of[row.variables] >= 0) & (row.orders == o.d[row.variables] + k)
        i = [*i, np.full(known.sum(), len(equations) + r)]
        j, v = [*j, column_of[row.variables[known]]], [*v, coefficients[known]]
    shape = (len(equations) + len(rows), len(variables) + len(freed))
    return csc_matrix((np.concatenate(v), (np.concatenate(i), np.concatenate(j))), shape=shape)


def masses(stages: Stages, column_of: Array) -> Array:
    """Which derivatives are entries of the mass matrix between variables that have a column (-1: none)."""
    s, nk = stages.signature, stages.machine.system.layout.nk
    motion = s.kept & (s.order == 2) & (s.equation < nk) & (s.variable < nk)
    return motion & (column_of[s.variable] >= 0) & (column_of[s.equation] >= 0)


def _metric(stages: Stages, values: Array, variables: Array, orders: Array, size: Array, mass_metric: bool) -> Any:
    """W of |dz|_W: the diagonal of weights^2, or the mass matrix where there is one. Rates of what is no node's must
    not pull what they belong to."""
    from scipy.sparse import csc_matrix, diags_array

    if not mass_metric:
        return diags_array(size**2, format="csc")
    s, nk = stages.signature, stages.machine.system.layout.nk
    diagonal = diags_array(size**2 * np.where((variables >= nk) & (orders > 0), 1e-10, 1.0), format="csc")
    column_of = np.full(s.size + 1, -1)
    column_of[variables] = np.arange(len(variables))
    at = masses(stages, column_of)
    shape = (len(size), len(size))
    mass = csc_matrix((values[at], (column_of[s.equation[at]], column_of[s.variable[at]])), shape=shape)
    largest = max(float(np.abs(mass.data).max(initial=0.0)), 1e-300)
    massless = diags_array(
        (mass.diagonal() == 0.0).astype(float), format="csc"
    )  # what has mass is weighed by it alone: impulses keep momentum
    pairs = prescribed_pairs(s, stages.offsets, stages.machine.system.n, nk)
    pairs = pairs[:, np.all(column_of[s.variable[pairs]] >= 0, axis=0)]
    ends = column_of[s.variable[pairs]]
    held = csc_matrix(
        (largest * holding(s, values, pairs) * values[pairs[0]] * values[pairs[1]], (ends[0], ends[1])), shape=shape
    )
    return mass + held + massless @ diagonal * (1e-9 * largest)


def _violated(stages: Stages, g: Array, r: Array, k: int, equations: Array, rows: Sequence[StartRow]) -> Array:
    """Which residuals r of a stage's equations and rows are more than what rounding and Newton's last step leave of
    their terms."""
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
    floor = np.concatenate([terms[equations], [max(abs(row.target), 1e-9) for row in rows]])
    return np.asarray(~(np.abs(r) <= 1e-6 * floor + 1e-9))


def _check_solved(
    stages: Stages, g: Array, k: int, equations: Array, rows: Sequence[StartRow], soft: Array, exhausted: bool
) -> None:
    """Residuals must be at round-off of their terms; what is left names equations that contradict one another."""
    bad = _violated(stages, g, stage_residuals(stages, g, k, equations, rows), k, equations, rows) & (
        soft == 0.0 if len(soft) else True
    )
    if bad.any():
        violated = [row for row, wrong in zip(rows, bad[len(equations) :]) if wrong]
        raise Inconsistent(stages, k, equations[bad[: len(equations)]], violated, exhausted)


class Inconsistent(SimulationError):
    """A stage that cannot hold: numbers of equations that stay violated, written starts among them, whether Newton's
    method came to no end."""

    def __init__(self, stages: Stages, stage: int, equations: Array, rows: Sequence[StartRow], exhausted: bool):
        self.stage, self.equations, self.rows, self.exhausted = stage, equations, tuple(rows), exhausted
        hint = "two constraints may contradict each other, or Newton's method needs a `guess`"
        super().__init__(
            Problem("E501", f"no consistent point: {unmet(stages.machine.system, stage, equations)}", hint=hint)
        )
