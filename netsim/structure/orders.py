"""Differentiation orders by the signature-matrix method: how often each equation must be differentiated, and each
variable is.

Variables are the unknowns (a kinematic one counts by its position: order 0, 1, 2 = x, v, a) and the differentiated
quantities under der(); equations are their rows and their definitions. sigma_ij is the highest order of variable j in
equation i. A transversal of largest total sigma and the smallest offsets with d_j - c_i >= sigma_ij (equality on it)
give c_i and d_j (J. Pryce, BIT 41, 2001). Solving in stages k = -max d .. 0 the equations F_i^(c_i + k) = 0 for the
variables z_j^(d_j + k) makes every order of a point consistent.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from netsim.core.linear.graphs import strongly_connected
from netsim.core.linear.matching import largest_matching, least_matching
from netsim.equations.batches import Batch
from netsim.equations.kernels.program import restricted
from netsim.equations.kernels.reference import zeros
from netsim.equations.parameters import parameters_of
from netsim.equations.system import System
from netsim.network.values import Values
from netsim.text.collecting import collection_paused
from netsim.text.errors import InputError
from netsim.text.syntax import Number

Array = np.ndarray
SMALL = 2_000
"""Triples up to which transversals are kept: runs with other parameter values ask for the same ones."""
USUAL = 0.6180339887
"""So far from their present values, as a share of them or of 1, inputs have no special value such as 0 or 1."""


@dataclass(frozen=True, eq=False)
class Signature:
    """All (equation, variable, order) triples, batch by batch in the order of the order kernels' outputs; ground is -1.
    Those in `resting` count where all rests: in a run, what is delayed follows from the past.

    Where balances of a cut set are summed (netsim.structure.cut_sets), equation sums[0, i] has the terms of sums[1, i]
    besides its own, and triple i the derivative of triple source[i]."""

    equation: Array
    variable: Array
    order: Array
    size: int
    resting: Array
    source: Array | None = None
    sums: Array = field(default_factory=lambda: np.zeros((2, 0), np.int64))

    @cached_property
    def moving(self) -> "Signature":
        """The signature of a run."""
        return replace(self, equation=np.where(self.resting, -1, self.equation)) if self.resting.any() else self

    @cached_property
    def kept(self) -> Array:
        return (self.equation >= 0) & (self.variable >= 0)

    def matched(self, match: Array) -> Array:
        """Which triples are kept and belong to an equation with a variable of its own (`match`: of each, or -1)."""
        found = self.kept.copy()
        found[found] = match[self.equation[found]] >= 0
        return found

    def of(self, derivatives: Array) -> Array:
        """The derivative of every triple, from those of the elements' own."""
        return derivatives if self.source is None else derivatives[self.source]

    def raw(self, triples: Array) -> Array:
        """Where the derivatives of these triples stand among the elements' own."""
        return triples if self.source is None else self.source[triples]


@dataclass(frozen=True, eq=False)
class Offsets:
    """c_i per equation, d_j per variable; `unmatched` equations where the structure is singular."""

    c: Array
    d: Array
    match: Array

    @property
    def freedom(self) -> int:
        """Degrees of freedom, sum d - sum c."""
        return int(self.d.sum() - self.c.sum())


class StructurallySingular(Exception):
    """No transversal: these equations determine fewer variables than they are; and these variables stay
    undetermined."""

    def __init__(self, equations: Array, variables: Array):
        self.equations, self.variables = equations, variables
        super().__init__(f"{len(equations)} equations without a variable")


def equation_numbers(system: System, batch: Batch, row: int) -> Array:
    """The equations that row `row` of a batch's form adds to: node and own rows, then definitions of differentiated
    quantities."""
    if row < len(batch.form.rows):
        return batch.row(batch.form.rows[row])
    return system.n + batch.differentiated(row - len(batch.form.rows))


def all_equation_numbers(system: System, batch: Batch) -> Array:
    """The same of all rows, (rows, n), found once."""
    kept = vars(batch).setdefault("numbers", {})
    if system.n not in kept:
        rows = len(batch.form.rows) + batch.n_differentiated
        kept[system.n] = np.array([equation_numbers(system, batch, r) for r in range(rows)], np.int64)
    return kept[system.n].reshape(-1, batch.n)


_signatures: WeakKeyDictionary[System, Signature] = WeakKeyDictionary()


def signature(system: System) -> Signature:
    """The signature of a system, from the sparsity of its component types alone; found once."""
    if system not in _signatures:
        _signatures[system] = _signature(system)
    return _signatures[system]


def _signature(system: System) -> Signature:
    equations, variables, orders, resting = (
        [np.zeros(0, np.int64)],
        [np.zeros(0, np.int64)],
        [np.zeros(0, np.int64)],
        [np.zeros(0, bool)],
    )
    for batch in system.batches:
        for _, row, key, order in batch.kernels.partials.scatter:
            resting.append(np.full(batch.n, key[0] == "resting"))
            equations.append(equation_numbers(system, batch, row))
            variables.append(variables_of(system, batch, key))
            orders.append(np.full(batch.n, order))
    equation, variable, order = map(np.concatenate, (equations, variables, orders))
    return Signature(equation, variable, order, system.n + system.layout.nq, np.concatenate(resting))


def variables_of(system: System, batch: Batch, key: Any) -> Array:
    """The variables that a key of a batch's form stands for, unknowns or differentiated quantities; -1 for ground."""
    return system.n + batch.differentiated(key[1]) if key[0] == "differentiated" else batch.columns(key)


def offsets(found: Signature, least: Array, chosen: Array | None = None, match: Array | None = None) -> Offsets:
    """The smallest offsets with d_j >= least_j, over the triples marked in `chosen` (all by default), on a known
    transversal or a new one.

    Raises `StructurallySingular` where equations cannot be matched to variables.
    """
    kept = found.kept if chosen is None else found.kept & chosen
    equation, variable, order = found.equation[kept], found.variable[kept], found.order[kept]
    rows, columns = np.unique(equation), np.unique(variable)
    i, j, sigma = _highest(np.searchsorted(rows, equation), np.searchsorted(columns, variable), order, len(columns))
    if match is None:
        try:
            transversal = transversal_of(i, j, sigma, rows, columns)
        except StructurallySingular as singular:
            if chosen is not None:
                raise
            nowhere = np.setdiff1d(np.arange(found.size), columns)  # unknowns that no equation mentions
            raise StructurallySingular(singular.equations, np.concatenate([singular.variables, nowhere])) from None
    else:
        transversal = np.searchsorted(columns, match[rows])
    c, d = _smallest(i, j, sigma, transversal, least[columns])
    full_c, full_d = np.zeros(found.size, np.int64), np.zeros(found.size, np.int64)
    full_c[rows], full_d[columns] = c, d
    full_match = np.full(found.size, -1)
    full_match[rows] = columns[transversal]
    return Offsets(full_c, full_d, full_match)


def _highest(i: Array, j: Array, sigma: Array, width: int) -> tuple[Array, Array, Array]:
    """One triple per (i, j): the largest order."""
    order = np.lexsort((-sigma, j, i))
    code = (i * width + j)[order]
    first = np.append(True, code[1:] != code[:-1]) if len(code) else np.zeros(0, bool)
    pick = order[first]
    return i[pick], j[pick], sigma[pick]


def transversal_of(i: Array, j: Array, sigma: Array, rows: Array, columns: Array) -> Array:
    """The largest transversal, (rows,); that of a small pattern is found once."""
    if len(i) > SMALL:
        return _transversal(i, j, sigma, len(rows), len(columns), rows, columns)
    return _known_transversal(*(each.astype(np.int64).tobytes() for each in (i, j, sigma, rows, columns)))


@lru_cache(maxsize=256)
def _known_transversal(*pattern: bytes) -> Array:
    i, j, sigma, rows, columns = (np.frombuffer(each, np.int64) for each in pattern)
    found = _transversal(i, j, sigma, len(rows), len(columns), rows, columns)
    found.flags.writeable = False
    return found


def _transversal(i: Array, j: Array, sigma: Array, rows: int, columns: int, names: Array, variables: Array) -> Array:
    order = np.lexsort((j, i))
    start = np.append(0, np.cumsum(np.bincount(i, minlength=rows)))
    largest = largest_matching(rows, columns, start, j[order])
    if rows != columns or np.any(largest < 0):
        unmatched = np.setdiff1d(np.arange(columns), largest)
        raise StructurallySingular(names[largest < 0], variables[unmatched])
    place = np.empty(rows, np.int64)
    place[largest] = np.arange(rows)
    return largest[least_matching(rows, i, place[j], -1.0 - sigma)]


def _smallest(i: Array, j: Array, sigma: Array, match: Array, least: Array) -> tuple[Array, Array]:
    """The fixed point of d_j = max_i (sigma_ij + c_i), c_i = d_match(i) - sigma_i,match(i)."""
    on_transversal = match[i] == j
    own = np.zeros(len(match), np.int64)
    own[i[on_transversal]] = sigma[on_transversal]
    c = np.zeros(len(match), np.int64)
    for _ in range(len(match) + 2):
        d = np.array(least)
        np.maximum.at(d, j, sigma + c[i])
        updated = d[match] - own
        if np.array_equal(updated, c):
            return c, d
        c = updated
    raise AssertionError("offsets do not settle although a transversal of largest total exists")


@collection_paused()
def absent_rates(system: System, values: Values) -> Array:
    """Which triples of rates and differentiated quantities vanish at the present parameters, whatever the state: of a
    definition (that differentiated quantity is then a constant), of the rate of a differentiated quantity that a factor
    0 hides (the resistance of a transistor's lead), of a velocity (a spring without damping), of an acceleration."""
    found = [np.zeros(0, bool)]
    for batch in system.batches:
        if batch.kernels.partials.program.n_outputs:
            wanted = _rates(batch).any()
            found.append(rates_absent(batch, _usual_parameters(batch, values) if wanted else np.zeros((0, batch.n))))
    return np.concatenate(found)


def rates_absent(batch: Batch, parameters: Array) -> Array:
    """The same of one batch with these parameters."""
    asked = _rates(batch)
    found = np.zeros((len(asked), batch.n), bool)
    if asked.any():
        found[asked] = _zeros(batch, np.flatnonzero(asked), parameters)
    return found.ravel()


def _rates(batch: Batch) -> Array:
    """Which derivatives of a batch are of rates, or of and by differentiated quantities."""
    first = len(batch.form.rows)
    return np.array(
        [
            (row >= first) != (key[0] == "differentiated") or order > 0
            for _, row, key, order in batch.kernels.partials.scatter
        ],
        bool,
    )


def _zeros(batch: Batch, asked: Array, parameters: Array) -> Array:
    """`zeros` of those of a batch's derivatives that are asked for; what the parameters of last time gave is kept."""
    before, found = vars(batch).get("zeros", (None, None))
    if before is None or not np.array_equal(before, parameters, equal_nan=True):
        found = zeros(restricted(batch.kernels.partials.program, asked.tolist()), parameters)
        vars(batch)["zeros"] = (parameters, found)
    return found


def _usual_parameters(batch: Batch, values: Values) -> Array:
    """A batch's parameters, where inputs (`Values.inputs`) have values that are nothing special: they may come."""
    if not values.inputs or not batch.shapes:
        return parameters_of(batch, values)
    overrides = {name: number for name, number in values.overrides.items() if name in values.inputs}
    present = {name: number.value for name, number in overrides.items()}  # type: ignore[union-attr]
    for share in (USUAL, -USUAL):
        moved = {name: Number(value + share * max(1.0, abs(value))) for name, value in present.items()}
        with suppress(InputError):  # out of bounds
            return parameters_of(batch, Values(values.network, {**values.overrides, **moved}))
    return parameters_of(batch, values)


def structural_index(system: System, found: Signature, solved: Offsets) -> int:
    """How often something must be differentiated to give an ODE (Pryce): max c, and one more where a variable is
    algebraic.

    The definitions of differentiated quantities do not count: they only name what stands under der().
    """
    natural = offsets(found, np.zeros(found.size, np.int64), match=solved.match)
    rows, unknowns = natural.c[: system.n], natural.d[: system.n]
    moving = natural.match[: system.n] >= 0
    return int(rows.max(initial=0)) + int(bool(np.any(unknowns[moving] == 0))) if system.n else 0


def least_offsets(system: System, found: Signature) -> Array:
    """What a consistent point must know: positions, velocities and accelerations of kinematic nodes, and the rates of
    what differentiated quantities are made of."""
    least = np.zeros(found.size, np.int64)
    least[: system.layout.nk] = 2
    in_definition = found.kept & (found.equation >= system.n)
    least[found.variable[in_definition]] = np.maximum(least[found.variable[in_definition]], 1)
    return least


def blocks(found: Signature, solved: Offsets, triples: Array) -> Array:
    """The number of every variable's block: of equations that must be solved together where these triples join them."""
    return strongly_connected(found.size, solved.match[found.equation[triples]], found.variable[triples])
