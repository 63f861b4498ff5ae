"""A nonlinear program put together from blocks: copies of small formulas r = f(v, c) that add to its rows.

A formula is differentiated once, symbolically; every copy gathers its variables and scatters its results, its Jacobian
and the Hessian of its share of the Lagrangian. So the derivatives of the whole are exact, sparse, and as cheap to set
up as index arrays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import count
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.optimal.program.called import Called

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
        return self._mapped(self.formula.value, x)

    def slopes(self, x: Array) -> Array:
        """Entries of the Jacobian (entries, copies) at x, whose rows and places are those of `sloping`."""
        return self._mapped(self.formula.slopes[0], x)

    @property
    def sloping(self) -> tuple[Array, Array]:
        """Rows and places (entries, copies) of the entries of the Jacobian."""
        _, result, variable = self.formula.slopes
        return self.rows[result], self.places[variable]

    def curvature(self, x: Array, lam: Array) -> Array:
        """Entries of the Hessian (entries, copies) of what rows times lam add up to, at places of `curving`."""
        return self._mapped(self.formula.curvature[0], x, np.append(lam, 0.0)[self.rows])

    @property
    def curving(self) -> tuple[Array, Array]:
        """Both places (entries, copies) of the entries of the Hessian."""
        _, first, second = self.formula.curvature
        return self.places[first], self.places[second]

    def _mapped(self, function: Any, x: Array, *more: Array) -> Array:
        """A function of columns for all copies at once."""
        if not self.copies or not function.numel_out(0):
            return np.zeros((function.numel_out(0), self.copies))
        every, results = function.map(self.copies), np.empty((self.copies, function.numel_out(0)))
        buffer, evaluate = every.buffer()
        given = [np.ascontiguousarray(each.T) for each in (np.append(x, 0.0)[self.places], self.given, *more)]
        for k, each in enumerate(given):
            if each.size:
                buffer.set_arg(k, each.data)
        buffer.set_res(0, results.data)
        evaluate()
        return results.T


def values_of(blocks: Sequence[Block], x: Array, rows: int) -> Array:
    """All rows at x."""
    at = np.concatenate([np.zeros(0, np.int64), *(block.rows.ravel() for block in blocks)])
    values = np.concatenate([np.zeros(0), *(block.values(x).ravel() for block in blocks)])
    return np.bincount(np.where(at < 0, rows, at), values, rows + 1)[:rows]


def slopes_of(blocks: Sequence[Block], x: Array, rows: int) -> Any:
    """The Jacobian of all rows at x as a sparse matrix (rows, variables)."""
    from scipy.sparse import csr_array

    row, place = _joined([block.sloping for block in blocks])
    there = (row >= 0) & (place >= 0)
    values = np.concatenate([np.zeros(0), *(block.slopes(x).ravel() for block in blocks)])
    return csr_array((values[there], (row[there], place[there])), shape=(rows, len(x)))


def _joined(places: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    none = np.zeros(0, np.int64)
    one, other = (np.concatenate([none, *(pair[k].ravel() for pair in places)]) for k in range(2))
    return one, other


class Meeting:
    """Where entries with rows, columns and factors add up in a sparse matrix; those with a negative one are left
    out."""

    def __init__(self, row: Array, column: Array, factor: Array, shape: tuple[int, int]):
        self.picked = np.flatnonzero((row >= 0) & (column >= 0))
        self.factor = factor[self.picked]
        places, self.at = np.unique(column[self.picked] * shape[0] + row[self.picked], return_inverse=True)
        column, row = np.divmod(places, shape[0])
        self.pattern = ca.Sparsity(*shape, np.searchsorted(column, np.arange(shape[1] + 1)).tolist(), row.tolist())

    def summed(self, parts: Sequence[Array]) -> Array:
        """The entries of the matrix, column by column, from those of all parts."""
        entries = np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])[self.picked]
        return np.bincount(self.at, entries * self.factor, self.pattern.nnz())


class Scaled:
    """A program in variables x/`size` and rows `weight`*r, of which row 0 is made least by IPOPT with `options`.
    `blocks` may be replaced by ones that differ in their constants alone."""

    def __init__(self, blocks: Sequence[Block], size: Array, weight: Array, options: Mapping[str, Any]):
        self.blocks, self.size, self.weight = blocks, size, weight
        row, column = _joined([block.sloping for block in blocks])
        self.jacobian = Meeting(row - 1, column, weight[row] * size[column], (len(weight) - 1, len(size)))
        one, other = _joined([block.curving for block in blocks])
        # an entry of the upper triangle stands for both; where two variables of a copy are one, it counts twice
        twice = [np.not_equal(*block.formula.curvature[1:])[:, None] & np.equal(*block.curving) for block in blocks]
        factor = np.concatenate([np.zeros(0), *(np.where(each, 2.0, 1.0).ravel() for each in twice)])
        factor *= size[one] * size[other]
        self.hessian = Meeting(np.minimum(one, other), np.maximum(one, other), factor, (len(size), len(size)))
        x, m = ca.Sparsity.dense(len(size)), ca.Sparsity.dense(len(weight) - 1)
        number, at = ca.Sparsity.dense(1), {"x": x, "p": ca.Sparsity(0, 0)}
        ends = {"x": x, "f": number, "g": m, "lam_x": x, "lam_g": m, "lam_p": ca.Sparsity(0, 0)}
        dual = {**at, "lam_f": number, "lam_g": m}
        f, g = (number, lambda *given: self._values(given[0])[0]), (m, lambda *given: self._values(given[0])[1:])
        slopes, curvature = (self.jacobian.pattern, self._slopes), (self.hessian.pattern, self._curvature)
        self.called = {
            "": Called("nlp", at, {"f": f, "g": g}),
            "grad_f": Called("nlp_grad_f", at, {"f": f, "grad_f_x": (x, self._gradient)}),
            "jac_g": Called("nlp_jac_g", at, {"g": g, "jac_g_x": slopes}),
            "hess_lag": Called("nlp_hess_l", dual, {"triu_hess_gamma_x_x": curvature}),
            "iteration_callback": Called("told", ends, {"ret": (number, self._told)}),
        }
        quiet = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False, "no_nlp_grad": True}
        nlp, given = self.called[""], {name: each for name, each in self.called.items() if name}
        with _silence():
            every: dict[str, Any] = {**quiet, **given, "ipopt": {"print_level": 0, "sb": "yes", **options}}
            self.solver = ca.nlpsol("optimum", "ipopt", nlp, every)

    def solved(self, tell: Callable[[int], object] = lambda step: None, **given: Any) -> tuple[Any, Any]:
        """The answer of IPOPT and how it ended; `tell` is called with the number of every iteration. What it raises
        ends the search, as an interruption does, and is raised."""
        self.tell, self.steps = tell, count()
        with _silence():
            found = self.solver(**given)
        for each in self.called.values():
            if each.raised is not None:
                raise each.raised
        return found, self.solver.stats()

    def _told(self, *_: Array) -> int:
        """1, which ends the search, once something was raised: errors inside are otherwise steps too long for IPOPT."""
        try:
            self.tell(next(self.steps))
        except BaseException as raised:  # raised behind the search, which cannot pass it on
            self.called["iteration_callback"].raised = raised
        return int(any(each.raised is not None for each in self.called.values()))

    def _values(self, x: Array) -> Array:
        return self.weight * values_of(self.blocks, x * self.size, len(self.weight))

    def _gradient(self, x: Array, _: Array) -> Array:
        """From those blocks alone that add to the objective."""
        priced = [block for block in self.blocks if (block.rows == OBJECTIVE).any()]
        slopes = slopes_of(priced, x * self.size, len(self.weight))[[OBJECTIVE]].toarray()[0]
        return np.asarray(self.weight[OBJECTIVE] * slopes * self.size)

    def _slopes(self, x: Array, _: Array) -> Array:
        return self.jacobian.summed([block.slopes(x * self.size) for block in self.blocks])

    def _curvature(self, x: Array, _: Array, sigma: Array, lam: Array) -> Array:
        lam = np.append(sigma, lam) * self.weight
        return self.hessian.summed([block.curvature(x * self.size, lam) for block in self.blocks])


@contextmanager
def _silence() -> Iterator[None]:
    """That a program has too many rows is said in words of the netlist."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield
