"""A nonlinear program put together from blocks: copies of small formulas r = f(v, c) that add to its rows.

A formula is differentiated once, symbolically; every copy gathers its variables and scatters its results, its Jacobian
and the Hessian of its share of the Lagrangian. So the derivatives of the whole are exact, sparse, and as cheap to set
up as index arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

Array = np.ndarray
NOWHERE = -1
"""The place of a variable that is zero for ever, and the row of a result that nobody wants."""
OBJECTIVE = 0
"""The row that is made least."""


@dataclass(frozen=True, eq=False)
class Formula:
    """results = f(variables, constants), columns of CasADi symbols and expressions."""

    variables: Any
    constants: Any
    results: Any

    @cached_property
    def value(self) -> Any:
        """The results as a function."""
        return ca.Function("value", [self.variables, self.constants], [ca.densify(self.results)])

    @cached_property
    def slopes(self) -> tuple[Any, Array, Array]:
        """The entries of the Jacobian as a function, with their results and variables."""
        matrix = ca.jacobian(self.results, self.variables)
        row, column = matrix.sparsity().get_triplet()
        entries = ca.Function("slopes", [self.variables, self.constants], [ca.densify(ca.vec(matrix.nz[:]))])
        return entries, np.array(row, np.int64), np.array(column, np.int64)

    @cached_property
    def curvature(self) -> tuple[Any, Array, Array]:
        """The entries of the upper triangle of sum_i lam_i f_i'' as a function (v, c, lam), with both variables."""
        weights = ca.SX.sym("lam", self.results.numel())
        matrix = ca.triu(ca.hessian(ca.dot(weights, self.results), self.variables)[0])
        row, column = matrix.sparsity().get_triplet()
        inputs = [self.variables, self.constants, weights]
        entries = ca.Function("curvature", inputs, [ca.densify(ca.vec(matrix.nz[:]))])
        return entries, np.array(row, np.int64), np.array(column, np.int64)


@dataclass(frozen=True, eq=False)
class Block:
    """Copies of a formula: `places` (variables, copies) of what each reads, `given` (constants, copies), the `rows`
    (results, copies) that it adds to."""

    formula: Formula
    places: Array
    given: Array
    rows: Array

    @property
    def copies(self) -> int:
        return int(self.places.shape[1])

    def values(self, x: Array) -> Array:
        """The results (results, copies) at a vector of all variables."""
        return mapped(self.formula.value, self.copies, np.append(x, 0.0)[self.places], self.given)

    def slopes(self, x: Array) -> tuple[Array, Array, Array]:
        """Entries of the Jacobian at x with their rows and places, those that count."""
        entries, result, variable = self.formula.slopes
        values = mapped(entries, self.copies, np.append(x, 0.0)[self.places], self.given)
        row, place = self.rows[result], self.places[variable]
        there = (row >= 0) & (place >= 0)
        return values[there], row[there], place[there]


def mapped(function: Any, copies: int, *given: Array) -> Array:
    """A function of columns at many columns at once."""
    if not copies or not function.numel_out(0):
        return np.zeros((function.numel_out(0), copies))
    return np.asarray(function.map(copies)(*(ca.DM(each) for each in given)))


def values_of(blocks: Sequence[Block], x: Array, rows: int) -> Array:
    """All rows at x."""
    found = np.zeros(rows + 1)
    for block in blocks:
        np.add.at(found, block.rows, block.values(x))
    return found[:rows]


def slopes_of(blocks: Sequence[Block], x: Array, rows: int) -> Any:
    """The Jacobian of all rows at x as a sparse matrix (rows, variables)."""
    from scipy.sparse import csr_array

    parts = [block.slopes(x) for block in blocks]
    value, row, place = (np.concatenate([np.zeros(0), *(part[k] for part in parts)]) for k in range(3))
    return csr_array((value, (row.astype(np.int64), place.astype(np.int64))), shape=(rows, len(x)))


def constants_of(blocks: Sequence[Block]) -> Array:
    """All constants, copy by copy: the parameter of the program."""
    return np.concatenate([np.zeros(0), *(block.given.ravel("F") for block in blocks)])


@dataclass(frozen=True, eq=False)
class Scaled:
    """A program in variables x/`size` and rows `weight`*r; row 0 is the objective."""

    blocks: Sequence[Block]
    size: Array
    weight: Array

    def functions(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The program as `casadi.nlpsol` takes it, and its derivatives as options of it."""
        x, p = ca.MX.sym("x", len(self.size)), ca.MX.sym("p", len(constants_of(self.blocks)))
        sigma, lam = ca.MX.sym("sigma"), ca.MX.sym("lam", len(self.weight) - 1)
        every = ca.vertcat(x * ca.DM(self.size), 0), p
        results = self._rows(every)
        f, g = results[0], results[1:]
        slope, jacobian = self._jacobian(every)
        hessian = self._hessian(every, ca.vertcat(sigma, lam))
        names = ["x", "p"], ["f", "grad_f_x"]
        options = {
            "grad_f": ca.Function("nlp_grad_f", [x, p], [f, slope], *names),
            "jac_g": ca.Function("nlp_jac_g", [x, p], [g, jacobian], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": ca.Function(
                "nlp_hess_l", [x, p, sigma, lam], [hessian], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
        }
        return {"x": x, "p": p, "f": f, "g": g}, options

    @cached_property
    def _first(self) -> dict[int, int]:
        """Where the constants of every block begin."""
        sizes = np.cumsum([0, *(block.given.size for block in self.blocks)])
        return {id(block): int(first) for block, first in zip(self.blocks, sizes)}

    def _mapped(self, function: Any, block: Block, every: tuple[Any, Any], *more: Any) -> Any:
        """The results of all copies as one column, from all variables and constants."""
        variables, constants = every
        read = ca.reshape(variables[_listed(block.places, variables)], block.places.shape[0], block.copies)
        first = self._first[id(block)]
        given = ca.reshape(constants[first : first + block.given.size], *block.given.shape)
        return ca.vec(function.map(block.copies)(read, given, *more))

    def _rows(self, every: Any) -> Any:
        total = ca.MX.zeros(len(self.weight))
        for block in self.blocks:
            row = block.rows.ravel("F")
            there = np.flatnonzero(row >= 0)
            shape = len(self.weight), len(row)
            picking = _sparse(self.weight[row[there]], row[there], there, shape)
            total += ca.mtimes(picking, self._mapped(block.formula.value, block, every))
        return total

    def _jacobian(self, every: Any) -> tuple[Any, Any]:
        """The gradient of row 0, from those blocks alone that add to it, and the Jacobian of the others."""
        priced = [block for block in self.blocks if (block.rows == OBJECTIVE).any()]
        gradient = self._slopes(every, priced, lambda row: row == OBJECTIVE)[0, :]
        return ca.densify(gradient).T, self._slopes(every, self.blocks, lambda row: row > OBJECTIVE)[1:, :]

    def _slopes(self, every: Any, blocks: Sequence[Block], picked: Callable[[Array], Array]) -> Any:
        """The Jacobian of the picked rows as blocks give it."""
        entries, rows, columns = [ca.MX(0, 1)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for block in blocks:
            function, result, variable = block.formula.slopes
            if len(result):
                entries.append(self._mapped(function, block, every))
                rows.append(block.rows[result].ravel("F"))
                columns.append(block.places[variable].ravel("F"))
        row, column, shape = np.concatenate(rows), np.concatenate(columns), (len(self.weight), len(self.size))
        weights = np.where((row >= 0) & (column >= 0), self.weight[row] * self.size[column], 0.0)
        return _summed(ca.vertcat(*entries), row, column, weights, shape, picked(row))

    def _hessian(self, every: Any, multipliers: Any) -> Any:
        entries, rows, columns, weights = [], [], [], []
        scaled = ca.vertcat(multipliers * ca.DM(self.weight), 0)
        for block in self.blocks:
            function, first, second = block.formula.curvature
            if not len(first):
                continue
            lam = ca.reshape(scaled[_listed(block.rows, scaled)], *block.rows.shape)
            entries.append(self._mapped(function, block, every, lam))
            one, other = block.places[first].ravel("F"), block.places[second].ravel("F")
            twice = np.repeat((first != second)[:, None], block.copies, axis=1).ravel("F") & (one == other)
            weights.append(np.where(twice, 2.0, 1.0))
            rows.append(np.minimum(one, other))
            columns.append(np.maximum(one, other))
        width = len(self.size)
        if not entries:
            return ca.MX(width, width)
        row, column = np.concatenate(rows), np.concatenate(columns)
        weight = np.concatenate(weights) * self.size[row] * self.size[column]
        return _summed(ca.vertcat(*entries), row, column, weight, (width, width), row >= 0)


def _listed(places: Array, column: Any) -> list[int]:
    """Places in a column copy by copy; NOWHERE is its last entry."""
    flat = places.ravel("F")
    return np.where(flat < 0, column.numel() - 1, flat).tolist()


def _sparse(values: Array, rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csc_matrix

    return ca.DM(csc_matrix((values, (rows, columns)), shape=shape))


def _summed(entries: Any, row: Array, column: Array, weight: Array, shape: tuple[int, int], pick: Array) -> Any:
    """The sparse matrix of those weighted entries that are picked and have a place; those that meet in a place add
    up."""
    there = np.flatnonzero(pick & (row >= 0) & (column >= 0))
    code = column[there] * shape[0] + row[there]
    places, meeting = np.unique(code, return_inverse=True)
    pattern = ca.Sparsity.triplet(*shape, (places % shape[0]).tolist(), (places // shape[0]).tolist())
    if not len(places):
        return ca.MX(*shape)
    adding = _sparse(weight[there], meeting, there, (len(places), len(row)))
    return ca.MX(pattern, ca.mtimes(adding, entries))
