"""Responses over frequency: y(j w) = (D - C P^-1 W)(j w) for all inputs, and by the adjoint the response of one output
to everything that may enter the equations."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from netsim.analyses.signals.linearised import Linearised, Powers
from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.core.linear.sweep import complex_factor, solve_many
from netsim.core.newton import PIVOT_QUALITY
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
AT_ONCE = 4_000_000
"""Complex numbers of solutions that are held at once."""


@dataclass(frozen=True, eq=False)
class Spectral:
    """P over the unknowns on one pattern: entries (k, nnz) by powers of s, and those of delays."""

    lin: Linearised

    @cached_property
    def pattern(self) -> tuple[Any, Array, Array, Array]:
        """The pattern (CSC), the entries of every power in it, (value, length, power) of delays, and their places."""
        n, lin = self.lin.n, self.lin
        powers = [power[:, :n].tocoo() for power in lin.reduced[0]]
        delays = list(delays_of(lin, lin.reduced[0]))
        rows = np.concatenate([*(p.row for p in powers), *(d[0] for d in delays)]).astype(np.int64)
        columns = np.concatenate([*(p.col for p in powers), *(d[1] for d in delays)]).astype(np.int64)
        code, place = np.unique(columns * n + rows, return_inverse=True)
        pattern = csc_array((np.ones(len(code)), (code % n, code // n)), shape=(n, n))
        entries, at = np.zeros((len(powers), len(code))), 0
        for k, power in enumerate(powers):
            entries[k, place[at : at + power.nnz]] = power.data
            at += power.nnz
        late = np.concatenate([np.zeros((3, 0)), *(np.array(d[2:]) for d in delays)], axis=1)
        return pattern, _lowest(entries), late, place[at:].astype(np.int64)

    def solve(self, s: Array, sides: Array, transposed: bool = False) -> Array:
        """P(s)^-1 sum_k s^k sides[k] (frequencies, m, n) for sides (k, m, n); raises `SimulationError` (E443) at an s
        that is a pole."""
        pattern, entries, late, places = self.pattern
        found = np.zeros((len(s), *sides.shape[1:]), complex)
        pivots, room = np.zeros(len(s)), np.zeros((2, max(pattern.nnz, self.lin.n)), complex)
        sides = np.ascontiguousarray(_lowest(sides), complex)
        begin = 0
        while begin < len(s):  # pivots serve as far as they stay large
            factor = complex_factor(self._factor(abs(s[begin]), s[begin]))
            indptr, indices = pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32)
            rest = slice(begin, len(s))
            given = entries, late, places, np.ascontiguousarray(s[rest], complex), sides, transposed
            solve_many(factor, indptr, indices, *given, found[rest], room, pivots[rest])
            poor = np.flatnonzero(~(pivots[rest] > PIVOT_QUALITY))
            if not len(poor):
                break
            begin += poor[0]
            if poor[0] == 0:  # not even those of this frequency serve: pivots of its own
                found[begin] = self._alone(s[begin], sides, transposed)
                begin += 1
        return found

    def _factor(self, size: float, s: complex) -> Factor:
        """Pivots of the real matrix P(|s|): that of an implicit step of this rate."""
        pattern, entries, late, places = self.pattern
        real = np.polynomial.polynomial.polyval(size, entries)
        np.add.at(real, places, late[0] * size ** late[2] * np.exp(-size * late[1]))
        try:
            return analyse(self.lin.n, pattern.indptr, pattern.indices, real, explain=False)
        except SingularMatrix:
            mixed = self.matrix(s)
        try:
            return analyse(self.lin.n, pattern.indptr, pattern.indices, mixed.real + mixed.imag, explain=False)
        except SingularMatrix:
            raise _pole(s) from None

    def matrix(self, s: complex) -> Array:
        """The entries of P(s) on the pattern."""
        _, entries, late, places = self.pattern
        values = np.polynomial.polynomial.polyval(complex(s), entries).astype(complex)
        np.add.at(values, places, late[0] * s ** late[2] * np.exp(-s * late[1]))
        return values

    def _alone(self, s: complex, sides: Array, transposed: bool) -> Array:
        from scipy.sparse.linalg import splu

        pattern = self.pattern[0]
        matrix = csc_array((self.matrix(s), pattern.indices, pattern.indptr), shape=pattern.shape)
        side = np.polynomial.polynomial.polyval(s, sides)
        try:
            return splu(matrix).solve(side.T, trans="T" if transposed else "N").T
        except RuntimeError:
            raise _pole(s) from None


def _lowest(powers: Array) -> Array:
    """Coefficients of the powers of s up to the highest that there is."""
    there = np.flatnonzero(powers.any(axis=tuple(range(1, powers.ndim))))
    return powers[: there[-1] + 1 if len(there) else 1]


def _pole(s: complex) -> SimulationError:
    message = f"the equations have no solution at s = {s:.6g} 1/s: it is a pole of the network"
    hint = "leave this frequency out, or add the small resistance or damping that the real system has"
    return SimulationError(Problem("E443", message, hint=hint))


def delays_of(lin: Linearised, powers: Powers) -> Any:
    """(row, column, value, length, power of s) of every entry that is delayed."""
    for k, power in enumerate(powers):
        for length, of, column in zip(lin.length, lin.of, lin.delayed - lin.size + lin.n):
            entries = power[:, [column]].tocoo()
            if of >= 0 and entries.nnz:
                ones = np.ones(entries.nnz)
                yield entries.row, of * ones, entries.data, length * ones, k * ones


def response(lin: Linearised, equations: Powers, outputs: Powers, s: Array, size: float = 1.0) -> Array:
    """y (frequencies, p, m) for inputs with these W and D over [u | q] and the signals."""
    spectral, m = Spectral(lin), equations[0].shape[1]
    w, d = without_differentiated(lin, equations, outputs)
    sides = -np.array([power.toarray().T for power in w])
    c, late = lin.reduced[1], list(delays_of(lin, lin.reduced[1]))
    found = np.zeros((len(s), len(lin.signals), m), complex)
    chunk = max(1, AT_ONCE // max(1, lin.n * m))
    for first in range(0, len(s), chunk):
        some = s[first : first + chunk]
        u = spectral.solve(some, size * sides) / size
        here = found[first : first + chunk]
        for k, power in enumerate(c):
            read = (power[:, : lin.n] @ u.reshape(-1, lin.n).T).reshape(-1, len(some), m)
            here += some[:, None, None] ** k * read.swapaxes(0, 1)
        for row, column, value, length, k in late:
            by = value * some[:, None] ** k * np.exp(-some[:, None] * length)
            each = by[:, :, None] * u[:, :, column.astype(np.int64)].swapaxes(1, 2)
            np.add.at(here.swapaxes(0, 1), row, each.swapaxes(0, 1))
        for k, power in enumerate(d):
            here += some[:, None, None] ** k * power.toarray()
    return found


def without_differentiated(lin: Linearised, equations: Powers, outputs: Powers) -> tuple[Powers, Powers]:
    """W (n, m) and D (p, m) where the differentiated quantities are eliminated: q = -(Q u + V w)."""
    n, size = lin.n, lin.size
    found = []
    for powers, given, rows in ((lin.equations, equations, slice(0, n)), (lin.outputs, outputs, slice(None))):
        sums = [power[rows] for power in given]
        for i, power in enumerate(powers):
            by_differentiated = power[rows][:, n:size]
            for j, own in enumerate(equations):
                if by_differentiated.nnz and own[n:].nnz:
                    sums += [sums[0] * 0.0] * (i + j + 1 - len(sums))
                    sums[i + j] = sums[i + j] - by_differentiated @ own[n:]
        found.append(tuple(sums))
    return found[0], found[1]
