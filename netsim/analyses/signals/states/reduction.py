"""A linear network of any index as an ODE on a subspace, with states that are quantities of its own.

P(s) x + W(s) w = 0 has infinitely fast modes, which rounding brings near the finite ones. The orders of the signature
method (J. Pryce, BIT 41, 2001), found for the entries of P, leave them out: with z = (x_j^(l)), l < d_j, the equations
differentiated c_i times give z' = A z + sum_k B_k w^(k), those differentiated less often V z + sum_k V_k w^(k) = 0. A
leaves that subspace as it is, and sum d - sum c entries of z are coordinates of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.signals.states.leading import FAINT, in_own_units
from netsim.core.linear.symbolic import equilibrate

Array = np.ndarray
LARGEST = 3000
"""Orders of unknowns beyond which eigenvalues are not computed: half a minute."""
SURE = 1e-6
"""Where poles are slower than this share of the fastest one, slow ones are found apart: to 1e-10 they are not known
else. Where the slowest are by as much slower than the middle, entries that make them are nothing beside others then."""
WIDEST = 80.0
"""Rates between e^-80 and e^80 /s are looked for."""
ON_AXIS = 1e-12
"""A pole is on the imaginary axis where moving it there leaves residuals below this share of their terms."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """z' = whole z + sum_k drive[k] w^(k) on z = basis xi - sum_k fixed[k] w^(k); z is x_j^(l) for l < d_j, and
    x_j^(d_j) = rates[j] z + sum_k driven[k, j] w^(k).

    In units of their own: x = columns * x~, s = s~/time. `of` (len z, 2): j and l of every entry of z."""

    whole: Array
    basis: Array
    drive: Array
    fixed: Array
    rates: Array
    driven: Array
    d: Array
    of: Array
    columns: Array
    time: float

    @property
    def states(self) -> int:
        return self.basis.shape[1]

    def chosen(self, weights: Array) -> Array:
        """Entries of z that are coordinates of the subspace, those with large weights rather than others."""
        from scipy import linalg

        return np.sort(linalg.qr((self.basis * weights[:, None]).T, mode="r", pivoting=True)[1][: self.states])

    @property
    def dynamics(self) -> Array:
        """xi' = dynamics xi: its eigenvalues are the finite s (in 1/time)."""
        return self.basis.T @ self.whole @ self.basis


def reduced(parts: Sequence[Array], drives: Sequence[Array] = ()) -> Reduced | None:
    """The ODE of sum_k s^k parts[k] x + sum_k s^k drives[k] w = 0 (dense).

    None where the point is singular (no orders exist) or the network too large."""
    return _reduced(parts, drives, time_of(parts))


def time_of(parts: Sequence[Array], count: int = 0) -> float:
    """The time (s) than which all but `count` (0: half, -1: those that are zero) of the finite s of
    det sum_k s^k parts[k] = 0 are faster, from the sizes of the entries alone.

    The largest product of one entry of each row and column grows as |s|^n, n being about the number of finite s that
    are smaller (tropical roots: S. Gaubert, M. Sharify, Lecture Notes in Control and Information Sciences 389, 2009).
    """
    found = [
        (*np.nonzero(part), np.full(np.count_nonzero(part), k), part[np.nonzero(part)]) for k, part in enumerate(parts)
    ]
    row, column, power, value = (np.concatenate(x) for x in zip(*found))
    if not len(value):
        return 1.0
    size, shape = np.log(np.abs(value)), parts[0].shape
    slow, fast = _smaller(row, column, power, size, shape, -WIDEST), _smaller(row, column, power, size, shape, WIDEST)
    below, above, wanted = -WIDEST, WIDEST, count - 0.5 if count > 0 else slow + 0.5 if count else (slow + fast) / 2
    while fast > slow and above - below > 0.5:
        middle = (below + above) / 2
        if _smaller(row, column, power, size, shape, middle) > wanted:
            above = middle
        else:
            below = middle
    return float(np.exp(-(below + above) / 2))


def _smaller(row: Array, column: Array, power: Array, size: Array, shape: tuple[int, int], rate: float) -> int:
    """About how many finite s are smaller than e^rate; 0 where no product exists."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    at = np.round(16.0 * (size + rate * power))  # whole numbers: on others SciPy's search may never end
    order = np.lexsort((-at, column, row))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(row[order]) != 0) | (np.diff(column[order]) != 0)
    top = order[first]
    weight = csr_array((at.max() + 1.0 - at[top], (row[top], column[top])), shape)
    try:
        rows, columns = min_weight_full_bipartite_matching(weight)
    except ValueError:
        return 0
    powers = csr_array((power[top] + 1, (row[top], column[top])), shape)
    return int(powers[rows, columns].sum() - len(rows))


def _reduced(parts: Sequence[Array], drives: Sequence[Array], time: float) -> Reduced | None:
    from scipy import linalg

    regular = in_own_units(parts, time, drives)
    if regular is None or regular.orders.d.sum() > LARGEST:
        return None
    c, d, inputs = regular.orders.c, regular.orders.d, regular.inputs
    n, m = len(d), inputs[0].shape[1] if inputs else 0
    first, at = np.concatenate([[0], np.cumsum(d)]), np.concatenate([[0], np.cumsum(c)])
    lower, constraints = np.zeros((n, first[-1])), np.zeros((at[-1], first[-1]))
    deepest = int(c.max(initial=0)) + len(inputs)
    driven, driving = np.zeros((max(deepest, 1), n, m)), np.zeros((max(deepest, 1), at[-1], m))
    for p, part in enumerate(regular.parts):
        i, j = np.nonzero(part)
        rest = p + c[i] < d[j]
        i, j = i[rest], j[rest]
        lower[i, first[j] + p + c[i]] += part[i, j]
        _fill(constraints, part, p, c, at, first)
    for p, part in enumerate(inputs):
        for row in range(n):
            driven[p + c[row], row] += part[row]
            for k in range(c[row]):
                driving[p + k, at[row] + k] += part[row]
    solved = np.linalg.solve(regular.top, np.concatenate([lower, *driven], axis=1))
    rates, rates_driven = -solved[:, : first[-1]], -solved[:, first[-1] :].reshape(n, len(driven), m).swapaxes(0, 1)
    whole, drive = np.eye(first[-1], k=1), np.zeros((len(driven), first[-1], m))  # x^(l) has the rate x^(l+1)
    moving = np.flatnonzero(d)
    whole[first[moving + 1] - 1] = rates[moving]
    drive[:, first[moving + 1] - 1] = rates_driven[:, moving]
    fixed = np.zeros((len(driven), first[-1], m))
    if len(constraints):
        q, r, order = linalg.qr(constraints.T, mode="full", pivoting=True)
        basis = q[:, len(constraints) :]
        back = linalg.solve_triangular(r[: len(constraints)], np.eye(len(order)), trans="T")
        inverse = q[:, : len(constraints)] @ back
        fixed = np.array([inverse @ part[order] for part in driving])
    else:
        basis = np.eye(first[-1])
    of = np.array([(j, level) for j in range(n) for level in range(d[j])], np.int64).reshape(-1, 2)
    return Reduced(whole, basis, drive, fixed, rates, rates_driven, d, of, regular.columns, time)


def _fill(constraints: Array, part: Array, p: int, c: Array, at: Array, first: Array) -> None:
    """Equations of power p differentiated less often than c_i times."""
    for k in range(int(c.max(initial=0))):
        i, j = np.nonzero(part * (c > k)[:, None])
        constraints[at[i] + k, first[j] + p + k] += part[i, j]


@dataclass(frozen=True, eq=False)
class Poles:
    """s (1/s) and x of motions x e^(s t), in columns; as many entries (j, l) of z as there are poles, which tell them
    apart."""

    rates: Array
    shapes: Array
    states: Array


def may_grow(parts: Sequence[Array], share: float) -> bool:
    """Whether an eigenvalue lies right of the imaginary axis by more than this share of the fastest, before those that
    are slow or zero are found anew: where none does `poles_of` need not be asked."""
    from scipy import linalg

    found = reduced(parts)
    if found is None or not found.states:
        return False
    s = linalg.eigvals(found.dynamics)
    return bool(s.real.max() > share * np.abs(s).max())


def poles_of(parts: Sequence[Array]) -> Poles | None:
    """Every finite s of sum_k s^k parts[k] x = 0; None as `reduced`."""
    found = reduced(parts)
    if found is None:
        return None
    rates, shapes = slow_ones_anew(parts, *_motions(found))
    kept = [_to_axis(parts, s, shapes[:, k], found.columns) for k, s in enumerate(rates)]
    return Poles(np.array(kept, complex), shapes, found.of[found.chosen(np.ones(len(found.of)))])


def slow_ones_anew(parts: Sequence[Array], rates: Array, shapes: Array) -> tuple[Array, Array]:
    """The poles with those at zero there, and those that are far slower than the fastest one as 1/s of s^N P(1/s),
    whose largest they are: among all of them their error is rounding of the fastest.

    In units of the middle rate first; entries that make the slowest may be nothing beside others in these."""
    rates, shapes = rates.astype(complex), shapes.astype(complex)
    middle, slowest = time_of(parts), time_of(parts, -1)
    if SURE * slowest <= middle:
        return _turned(parts, rates, shapes, middle, np.inf)
    rates, shapes = _turned(parts, rates, shapes, middle, np.inf)
    return _turned(parts, rates, shapes, slowest, SURE / middle)


def _turned(parts: Sequence[Array], rates: Array, shapes: Array, time: float, below: float) -> tuple[Array, Array]:
    """Slow ones `below` a rate anew. So many s are zero as powers of s det P(s) begins with, which are those that
    s^N P(1/s) has too few of. Eigenvalues of a multiple one differ by a root of rounding."""
    turned = _reduced(parts[::-1], (), 1.0 / time)
    if turned is None or not len(rates):
        return rates, shapes
    still = min((len(parts) - 1) * len(parts[0]) - turned.states, len(rates))
    order = np.argsort(np.abs(rates), kind="stable")
    rates[order[:still]] = 0.0
    size = np.abs(rates[order[still:]])
    if not len(size) or not (still > 1 or size[0] < SURE * size[-1]):  # a double zero alone may be far from zero
        return rates, shapes
    inverse, around = _motions(turned)
    largest = np.argsort(-np.abs(inverse), kind="stable")[: len(size)]
    least = max(np.sqrt(np.abs(inverse[largest[0]]) / size[-1]), 1.0 / below)
    count = int(np.count_nonzero(np.abs(inverse[largest]) > least))
    while 0 < count < len(largest) and abs(inverse[largest[count]]) > (1.0 - SURE) * abs(inverse[largest[count - 1]]):
        count -= 1  # a pair stays together
    again = order[still : still + count]
    rates[again], shapes[:, again] = 1.0 / inverse[largest[:count]], around[:, largest[:count]]
    return rates, shapes


def _motions(found: Reduced) -> tuple[Array, Array]:
    """s (1/s) of the dynamics, and the x of each, in columns."""
    from scipy import linalg

    s, vectors = linalg.eig(found.dynamics) if found.states else (np.zeros(0, complex), np.zeros((0, 0)))
    z = found.basis @ vectors
    first = np.cumsum(found.d) - found.d
    shapes = found.rates @ z
    shapes[found.d > 0] = z[first[found.d > 0]]
    return s / found.time, found.columns[:, None] * shapes


def around_shift(stiffness: Any, damping: Any, mass: Any, shift: float) -> tuple[Array, Array]:
    """1/(s - shift) of every s, and shapes: P(shift) u = -(t D' + t^2 M) u with t = s - shift, D' = D + 2 shift M."""
    from scipy import linalg

    *scaled, columns = _shifted(stiffness, damping, mass, shift)
    p, d, m = (x.toarray() for x in scaled)
    n = p.shape[0]
    lu = linalg.lu_factor(p)
    companion = np.block([[-linalg.lu_solve(lu, d), -linalg.lu_solve(lu, m)], [np.eye(n), np.zeros((n, n))]])
    mu, vectors = linalg.eig(companion)
    return mu, columns[:, None] * vectors[:n]


def _shifted(stiffness: Any, damping: Any, mass: Any, shift: float) -> tuple[Any, Any, Any, Array]:
    """P(shift), its first derivative and M, rows and columns scaled; the columns' scales."""
    from scipy.sparse import csc_matrix, diags_array

    p = csc_matrix(stiffness + shift * damping + shift**2 * mass)
    rows, columns = equilibrate(p)
    left, right = diags_array(rows), diags_array(columns)
    return left @ p @ right, left @ (damping + 2 * shift * mass) @ right, left @ mass @ right, columns


def _to_axis(parts: Sequence[Array], s: complex, x: Array, columns: Array) -> complex:
    """The pole without its real part, where that is rounding: the motion fulfils the equations as well on the imaginary
    axis. An equation whose terms are the rounding of a motion of ordinary size (`columns`) says nothing. A real pole
    stays, of which the axis would leave nothing: beside a mass on a damper any place is an equilibrium."""
    if not s.imag:
        return s
    axis = 1j * s.imag
    residual = sum(part @ x * axis**k for k, part in enumerate(parts))
    sizes = sum(np.abs(part) * abs(s) ** k for k, part in enumerate(parts))
    terms, ordinary = sizes @ np.abs(x), sizes @ columns * np.max(np.abs(x) / columns)
    large = terms > FAINT * ordinary
    return axis if np.all(np.abs(residual[large]) <= ON_AXIS * terms[large]) else s


@dataclass(frozen=True, eq=False)
class StateSpace:
    """x' = a x + b w, y = c x + d w + sum_k direct[k] w^(k+1); x are entries `chosen` of z less sum_k shift[k] w^(k)
    (inputs that the entries themselves follow)."""

    a: Array
    b: Array
    c: Array
    d: Array
    direct: Array
    chosen: Array
    shift: Array


def state_space(found: Reduced, outputs: Sequence[Array], feeds: Sequence[Array], weights: Array) -> StateSpace:
    """The ODE in entries of z, those with large `weights` rather than others, with y = sum_k s^k (outputs[k] x +
    feeds[k] w)."""
    units = found.columns[found.of[:, 0]] / found.time ** found.of[:, 1]
    count, m = len(found.drive) + max(len(outputs), len(feeds)), found.drive.shape[2]
    chosen = found.chosen(weights)
    whole = units[:, None] * found.whole / units / found.time
    drive = _padded(units[:, None] * found.drive / found.time, found.time, count)
    fixed = _padded(units[:, None] * found.fixed, found.time, count)
    basis = units[:, None] * found.basis
    spread = np.linalg.solve(basis[chosen].T, basis.T).T if found.states else basis
    back = spread @ fixed[:, chosen] - fixed  # z = spread x + sum_k back[k] w^(k)
    a, b = whole[chosen] @ spread, drive[:, chosen] + whole[chosen] @ back
    shift = np.zeros((count, len(chosen), m))
    for k in range(count - 1, 0, -1):  # x = x~ + b_k w^(k-1) takes one derivative off
        shift[k - 1], b[k - 1] = b[k], b[k - 1] + a @ b[k]
    size = found.columns / found.time**found.d
    values = size[:, None] * found.rates / units
    driven = _padded(size[:, None] * found.driven, found.time, count)
    first = np.cumsum(found.d) - found.d
    for j in np.flatnonzero(found.d):
        values[j], driven[:, j] = np.eye(len(units))[first[j]], 0.0
    c, d = np.zeros((len(feeds[0]), len(units))), np.zeros((count, len(feeds[0]), m))
    for p in range(max(len(outputs), len(feeds))):  # the unknowns' derivatives, one after the other
        if p < len(outputs):
            c, d = c + outputs[p] @ values, d + outputs[p] @ driven
        if p < len(feeds):
            d[p] += feeds[p]
        values, driven = values @ whole, values @ drive + np.concatenate([np.zeros_like(driven[:1]), driven[:-1]])
    d += c @ back + c @ spread @ shift
    return StateSpace(a, b[0], c @ spread, d[0], d[1:], chosen, shift)


def _padded(by_derivative: Array, time: float, count: int) -> Array:
    """Factors of w, w', ... in units of seconds, `count` of them."""
    scaled = by_derivative * time ** np.arange(len(by_derivative))[:, None, None]
    return np.concatenate([scaled, np.zeros((count - len(scaled), *scaled.shape[1:]))])
