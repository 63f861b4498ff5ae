"""A nonlinear program put together from blocks: copies of small formulas r = f(v, c) that add to its rows.

A formula is differentiated once, symbolically; every copy gathers its variables and scatters its results, its Jacobian
and the Hessian of its share of the Lagrangian. So the derivatives of the whole are exact, sparse, and as cheap to set
up as index arrays.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
NOTHING = np.zeros(0)


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
        return _entries(ca.jacobian(self.results, self.variables), self.variables, self.constants)

    @cached_property
    def curvature(self) -> tuple[Any, Array, Array]:
        """The entries of the upper triangle of sum_i lam_i f_i'' as a function (v, c, lam), with both variables."""
        weights = ca.SX.sym("lam", self.results.numel())
        matrix = ca.triu(ca.hessian(ca.dot(weights, self.results), self.variables)[0])
        return _entries(matrix, self.variables, self.constants, weights)


def _entries(matrix: Any, *inputs: Any) -> tuple[Any, Array, Array]:
    """The entries of a sparse matrix as a function of its inputs, with their rows and columns."""
    row, column = matrix.sparsity().get_triplet()
    entries = ca.Function("entries", inputs, [ca.densify(ca.vec(matrix.nz[:]))])
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

    @property
    def sloping(self) -> tuple[Array, Array]:
        """Rows and places (entries, copies) of the entries of the Jacobian."""
        _, result, variable = self.formula.slopes
        return self.rows[result], self.places[variable]

    @property
    def curving(self) -> tuple[Array, Array]:
        """Both places (entries, copies) of the entries of the Hessian."""
        _, first, second = self.formula.curvature
        return self.places[first], self.places[second]


def joined(parts: Iterable[Array], kind: type = float) -> Array:
    """Arrays (entries, copies) of blocks, block by block and copy by copy."""
    return np.concatenate([np.zeros(0, kind), *(part.T.ravel() for part in parts)])


def weighted(places: Sequence[Array], factors: Sequence[Any], rows: Array, added: Any = 0.0) -> Block:
    """Places times factors and something added (summands, copies), in the row of each copy."""
    v, f = ca.SX.sym("v", len(places)), ca.SX.sym("f", len(places) + 1)
    given = np.stack([np.broadcast_to(each, rows.shape) for each in (*factors, added)])
    return Block(Formula(v, f, ca.dot(f[:-1], v) + f[-1]), np.stack(places), given, rows[None])


class Evaluation:
    """A function (variables, constants and, with `dual`, multipliers of rows) of every block for all its copies. What
    they read and give has fixed places in memory, so that an evaluation costs little more than its arithmetic."""

    def __init__(self, blocks: Sequence[Block], functions: Sequence[Any], dual: bool = False):
        sizes = [f.numel_out(0) * block.copies for f, block in zip(functions, blocks)]
        self.at, self.rows = (joined((getattr(b, name) for b in blocks), np.int64) for name in ("places", "rows"))
        self.read = [np.empty(len(self.at)), joined(block.given for block in blocks), np.empty(len(self.rows))]
        self.found, self.buffers, self.seen = np.empty(sum(sizes)), list[Any](), NOTHING
        first = [0, 0, 0, 0]
        for block, function, size in zip(blocks, functions, sizes):
            own = [block.places.size, block.given.size, block.rows.size, size]
            parts = [each[k : k + n] for each, k, n in zip((*self.read, self.found), first, own)]
            first = [k + n for k, n in zip(first, own)]
            if not size:
                continue
            buffer, run = function.map(block.copies).buffer()
            for k, part in enumerate(parts[: 3 if dual else 2]):
                if part.size:
                    buffer.set_arg(k, part.data)
            buffer.set_res(0, parts[3].data)
            self.buffers.append((buffer, run))

    def __call__(self, x: Array, lam: Array | None = None) -> Array:
        """The entries of all blocks, in the order of `joined`, until the next call; those of the last x are known."""
        if lam is not None:
            self.read[2][:] = np.append(lam, 0.0)[self.rows]
        elif np.array_equal(x, self.seen):
            return self.found
        self.seen, self.read[0][:] = x, np.append(x, 0.0)[self.at]
        for _, run in self.buffers:
            run()
        return self.found

    def give(self, blocks: Sequence[Block]) -> None:
        """Takes the constants of blocks that differ from its own in these alone."""
        self.read[1][:], self.seen = joined(block.given for block in blocks), NOTHING

    def summed(self, x: Array, rows: int) -> Array:
        """All rows, where the entries are results of the blocks."""
        return np.bincount(np.where(self.rows < 0, rows, self.rows), self(x), rows + 1)[:rows]


def values_in(blocks: Sequence[Block]) -> Evaluation:
    """The results of blocks."""
    return Evaluation(blocks, [block.formula.value for block in blocks])


def slopes_in(blocks: Sequence[Block]) -> Evaluation:
    """The entries of the Jacobians of blocks."""
    return Evaluation(blocks, [block.formula.slopes[0] for block in blocks])


def values_of(blocks: Sequence[Block], x: Array, rows: int) -> Array:
    """All rows at x."""
    return values_in(blocks).summed(x, rows)


def slopes_of(blocks: Sequence[Block], x: Array, rows: int) -> Any:
    """The Jacobian of all rows at x as a sparse matrix (rows, variables)."""
    from scipy.sparse import csr_array

    row, place = _pairs([block.sloping for block in blocks])
    there = (row >= 0) & (place >= 0)
    return csr_array((slopes_in(blocks)(x)[there], (row[there], place[there])), shape=(rows, len(x)))


def _pairs(places: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    return joined((one for one, _ in places), np.int64), joined((other for _, other in places), np.int64)


class Meeting:
    """Where entries with rows, columns and factors add up in a sparse matrix; those with a negative one are left
    out."""

    def __init__(self, row: Array, column: Array, factor: Array, shape: tuple[int, int]):
        self.picked = np.flatnonzero((row >= 0) & (column >= 0))
        self.factor = factor[self.picked]
        places, self.at = np.unique(column[self.picked] * shape[0] + row[self.picked], return_inverse=True)
        column, row = np.divmod(places, shape[0])
        self.pattern = ca.Sparsity(*shape, np.searchsorted(column, np.arange(shape[1] + 1)).tolist(), row.tolist())

    def summed(self, entries: Array) -> Array:
        """The entries of the matrix, column by column, from all that add to it."""
        return np.bincount(self.at, entries[self.picked] * self.factor, self.pattern.nnz())


class Scaled:
    """A program in variables x/`size` and rows `weight`*r, of which row 0 is made least by IPOPT with `options`."""

    def __init__(self, blocks: Sequence[Block], size: Array, weight: Array, options: Mapping[str, Any]):
        self.size, self.weight = size, weight
        self.values, self.slopes = values_in(blocks), slopes_in(blocks)
        self.curvature = Evaluation(blocks, [block.formula.curvature[0] for block in blocks], dual=True)
        row, column = _pairs([block.sloping for block in blocks])
        self.priced, self.prices = np.flatnonzero(self.values.rows == OBJECTIVE), np.flatnonzero(row == OBJECTIVE)
        self.priced_places = column[self.prices]
        self.jacobian = Meeting(row - 1, column, weight[row] * size[column], (len(weight) - 1, len(size)))
        one, other = _pairs([block.curving for block in blocks])
        # an entry of the upper triangle stands for both; where two variables of a copy are one, it counts twice
        twice = [np.not_equal(*block.formula.curvature[1:])[:, None] & np.equal(*block.curving) for block in blocks]
        factor = joined(np.where(each, 2.0, 1.0) for each in twice) * size[one] * size[other]
        self.hessian = Meeting(np.minimum(one, other), np.maximum(one, other), factor, (len(size), len(size)))
        x, m = ca.Sparsity.dense(len(size)), ca.Sparsity.dense(len(weight) - 1)
        number, at = ca.Sparsity.dense(1), {"x": x, "p": ca.Sparsity(0, 0)}
        ends = {"x": x, "f": number, "g": m, "lam_x": x, "lam_g": m, "lam_p": ca.Sparsity(0, 0)}
        dual = {**at, "lam_f": number, "lam_g": m}
        f, g = (number, self._objective), (m, self._values)
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

    def give(self, blocks: Sequence[Block]) -> None:
        """Takes the constants of blocks that differ from its own in these alone."""
        for each in (self.values, self.slopes, self.curvature):
            each.give(blocks)

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

    def _objective(self, x: Array, *_: Array) -> Any:
        return self.weight[OBJECTIVE] * self.values(x * self.size)[self.priced].sum()

    def _values(self, x: Array, *_: Array) -> Array:
        return (self.weight * self.values.summed(x * self.size, len(self.weight)))[1:]

    def _gradient(self, x: Array, _: Array) -> Array:
        slopes = np.bincount(self.priced_places, self.slopes(x * self.size)[self.prices], len(x))
        return self.weight[OBJECTIVE] * slopes * self.size

    def _slopes(self, x: Array, _: Array) -> Array:
        return self.jacobian.summed(self.slopes(x * self.size))

    def _curvature(self, x: Array, _: Array, sigma: Array, lam: Array) -> Array:
        return self.hessian.summed(self.curvature(x * self.size, np.append(sigma, lam) * self.weight))


@contextmanager
def _silence() -> Iterator[None]:
    """That a program has too many rows is said in words of the netlist."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield
