"""How elements that hold the same thing share its load: two brakes that both stick on one shaft, the dry joints of a
four-bar at rest.

Rows that switch (friction sliding or sticking, clutches, ideal diodes) may come to repeat one another. The matrix A of
accelerations and forces is then singular, A z = 0 and c'A = 0, while the equations F = 0 stay consistent. To as many
dependent rows of such elements as there are vectors z a combination of their forces f is added,

    F_p + sum_j T_pj f_j = 0,   T = -(N_p)^-1 N',   N the rows of z that belong to such forces (each over its nominal
    size),

with T_pp = -1 (or 1: see `_senses`). As c'F vanishes by itself, this says N' f = 0: of all forces that balance, those
of least norm (beside a prescribed motion none). The combinations belong to a mode, a
set of values of the discretes on which derivatives depend; in all other modes their coefficients are zero.
"""

from dataclasses import replace

import numpy as np

from netsim.core.linear.columns import Columns
from netsim.core.linear.factors import SingularMatrix, analyse, condition_estimate
from netsim.core.linear.symbolic import RANK_TOLERANCE, equilibrate, null_spaces, pivots
from netsim.equations.batches import Batch, Indeterminacy, indeterminacy_for, indeterminacy_of
from netsim.equations.forms.events import switching
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import CONSTANT, Key
from netsim.equations.kernels.symbolic import ca
from netsim.equations.layout import Layout
from netsim.equations.machine import Machine, with_history, with_system
from netsim.equations.system import System, with_indeterminacy
from netsim.initial.initial import Structure, structure_of
from netsim.initial.stages import Stages, stage_matrix
from netsim.network.network import GROUND
from netsim.structure.orders import Signature, signature

Array = np.ndarray
FAINT = 1e-7
"""Parts of null vectors and coefficients below this are rounding."""
INDEPENDENT = 1e-6
"""Null vectors, scaled to 1, whose pivots are larger are independent."""
ALONE = 1e-6
"""Where one element alone cannot hold (a prescribed motion, a singular configuration), this times its force is the
acceleration that it cannot stop: where there is any it slides at once."""
NEARLY, REGULAR = 1e-9, 1e8
"""A mechanism that stands this near to a singular configuration (where a joint cannot stop what moves) counts as
standing there; matrices of a condition below `REGULAR` are not looked at."""


class IndeterminacyFound(Exception):
    """Elements hold the same thing for which the machine has no places yet: `machine` and `structure` have them."""

    def __init__(self, machine: Machine, structure: Structure):
        super().__init__("elements that hold the same thing")
        self.machine, self.structure = machine, structure


def set_indeterminacy(machine: Machine, structure: Structure, g: Array, mode: bytes) -> None:
    """Coefficients for the mode in g, found anew where they may depend on the position. Raises `IndeterminacyFound`
    where the machine lacks places for them."""
    shares = indeterminacy_of(machine.system.batches)
    if shares is not None:
        shares.use(mode)
        if mode in shares.known and not machine.system.layout.nk:
            return
        shares.coefficients[:] = 0.0
    found = _combinations(machine, structure, g)
    if shares is None and not found:
        return
    if shares is not None and set(found) <= set(shares.pairs):
        shares.known[mode] = np.array([found.get(pair, 0.0) for pair in shares.pairs])
        shares.use(mode)
        return
    raise IndeterminacyFound(*with_combinations(machine, structure, indeterminacy_for(machine.system.batches, found)))


def with_combinations(
    machine: Machine, structure: Structure, indeterminacy: Indeterminacy
) -> tuple[Machine, Structure]:
    """The same machine and its orders with these combinations of forces."""
    if machine.element is not None:
        enlarged = with_history(machine.element.with_indeterminacy(machine, indeterminacy), machine.problem.buffer)
        return replace(enlarged, g=machine.g), structure_of(enlarged.system, found=enlarged.element.partials.signature)
    system = with_indeterminacy(machine.system, indeterminacy)
    return replace(with_system(machine, system), g=machine.g), structure_of(
        system, found=_signature(machine.system, structure.at_rest, system)
    )


def _signature(before: System, known: Signature, system: System) -> Signature:
    """The signature of a system that has other combinations, with the triples that do not count there (see
    `structure_of`)."""
    found, first = signature(system), 0
    marks: dict[int, Array] = {}
    for batch in before.batches:
        size = batch.kernels.partials.program.n_outputs * batch.n
        marks[id(batch)] = known.equation[first : first + size]
        first += size
    equation, first = found.equation.copy(), 0
    for batch in system.batches:
        size = batch.kernels.partials.program.n_outputs * batch.n
        equation[first : first + size] = marks.get(id(batch), equation[first : first + size])
        first += size
    return replace(found, equation=equation)


def _combinations(machine: Machine, structure: Structure, g: Array) -> dict[tuple[int, int], float]:
    """(row, unknown) -> coefficient, where the point's matrix is singular because switching rows repeat one another."""
    spoken = _switching_rows(machine.system)
    if not spoken:
        return {}
    stages = Stages(
        machine,
        structure.signature,
        structure.dynamic,
        np.ones(len(structure.signature.equation), bool),
        machine.system.nominals,
    )
    matrix, equations, variables = stage_matrix(stages, g, 0)
    if matrix.shape[0] != matrix.shape[1] or not np.all(np.isfinite(matrix.data)):
        return {}
    columns_right, rows_left = _null_spaces(matrix, NEARLY if machine.system.layout.nk else RANK_TOLERANCE)
    if not columns_right.shape[1] or columns_right.shape[1] != rows_left.shape[1]:
        return {}
    at = np.flatnonzero(np.isin(equations, list(spoken)))
    mentioned = np.array([np.isin(variables, spoken[int(row)]) for row in equations[at]]).reshape(
        len(at), len(variables)
    )
    load = (variables >= machine.system.layout.nk) & (variables < machine.system.n)
    forces = np.flatnonzero(mentioned.any(axis=0) & load)
    sizes = machine.system.nominals[variables[forces]]
    share = columns_right[forces] / sizes[:, None] ** 2
    sizes_left, order = pivots(rows_left[at] / np.maximum(np.abs(rows_left[at]).max(axis=0, initial=0.0), 1e-300))
    chosen = order[: int((sizes_left > INDEPENDENT).sum())]
    if len(chosen) < share.shape[1] or np.linalg.matrix_rank(share * sizes[:, None], INDEPENDENT) < share.shape[1]:
        return {}
    own = [int(np.argmax((np.abs(share) * sizes[:, None]).sum(axis=1) * line)) for line in mentioned[chosen][:, forces]]
    square = share[own]
    if len(set(own)) < len(own) or np.linalg.cond(square) > 1e8:
        square = np.eye(len(chosen))
    shares = -np.linalg.solve(square.T, share.T)
    if len(own) == len(set(own)):
        shares *= _senses(matrix, equations, variables, machine.system.layout, at[chosen], forces[own])[:, None]
    used = np.abs(shares) > FAINT * np.abs(shares).max(axis=1, keepdims=True)
    shares[used.sum(axis=1) == 1] *= ALONE
    return {
        (int(equations[at[p]]), int(variables[forces[j]])): float(shares[i, j])
        for i, p in enumerate(chosen)
        for j in np.flatnonzero(used[i])
    }


def _null_spaces(matrix: Columns, tolerance: float) -> tuple[Array, Array]:
    """Right and left null vectors of A, those of the scaled matrix to a tolerance; none where it is well
    conditioned."""
    try:
        factor = analyse(matrix.shape[0], matrix.indptr, matrix.indices, matrix.data, explain=False)
        if condition_estimate(factor, matrix.data) < REGULAR:
            return np.zeros((matrix.shape[0], 0)), np.zeros((matrix.shape[0], 0))
    except SingularMatrix:
        pass
    row_scale, column_scale = equilibrate(matrix)
    right, left = null_spaces(matrix.scaled(row_scale, column_scale).sparse, tolerance)
    return column_scale[:, None] * right, row_scale[:, None] * left


def _senses(matrix: Columns, equations: Array, variables: Array, layout: Layout, rows: Array, forces: Array) -> Array:
    """-1 where a force that resists the motion its row speaks of enters the balances against the row's own sign: beside
    a prescribed motion the row then gives a force that resists it, so that what held begins to slide the right way.
    Rows may speak through a differentiated quantity (the speed of a hinge)."""
    balances, moving = _paired(equations, variables, 0, layout.nk)
    definitions, differentiated = _paired(equations, variables, layout.n, layout.n + layout.nq)
    whole = matrix.sparse.tocsr()
    speaks = (
        whole[rows][:, moving].toarray()
        - whole[rows][:, differentiated].toarray() @ whole[definitions][:, moving].toarray()
    )
    return np.where((speaks * whole[balances][:, forces].toarray().T).sum(axis=1) < 0.0, -1.0, 1.0)


def _paired(equations: Array, variables: Array, first: int, last: int) -> tuple[Array, Array]:
    """Positions of equations and variables of the same number in a range."""
    _, rows, columns = np.intersect1d(equations, variables, return_indices=True)
    inside = (equations[rows] >= first) & (equations[rows] < last)
    return rows[inside], columns[inside]


def _switching_rows(system: System) -> dict[int, Array]:
    """Equations of elements that change their derivatives at events, with the unknowns of the element that each
    mentions."""
    found = {}
    for batch in (b for b in system.batches if b.n_discretes):
        for r, keys in _rows_of(batch):
            rows = batch.row(batch.form.rows[r])
            unknowns = np.array([batch.columns(key) for key in keys]).reshape(len(keys), batch.n)
            found.update({int(row): unknowns[:, k] for k, row in enumerate(rows) if row != GROUND})
    return found


def _rows_of(batch: Batch) -> list[tuple[int, list[Key]]]:
    """Rows of a form whose derivatives depend on discretes, and the unknowns they mention."""
    return batch.form.facts.recall(("switching rows",), lambda: _found_rows(batch.form))


def _found_rows(form: Form) -> list[tuple[int, list[Key]]]:
    moving = {key: s for key, s in form.symbols.gathered.items() if key[0][0] not in CONSTANT}
    chosen = switching(form)
    discretes = ca.vertcat(
        *(s for (key, _), s in form.symbols.gathered.items() if key[0] == "discrete" and key[1] in chosen)
    )
    found = []
    for r, residual in enumerate(form.residuals):
        derivatives = ca.jacobian(residual, ca.vertcat(*moving.values()))
        if form.rows[r][0] == "own" and chosen and ca.depends_on(derivatives, discretes):
            unknowns = ((key, s) for (key, order), s in moving.items() if order == 0 and key[0] != "differentiated")
            found.append((r, [key for key, s in unknowns if ca.depends_on(residual, s)]))
    return found
