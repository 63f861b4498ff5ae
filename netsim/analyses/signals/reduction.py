"""A linear network of any index as an ODE on a subspace, with states that are quantities of its own.

P(s) x + W(s) w = 0 has infinitely fast modes, which rounding brings near the finite ones. The orders of the signature
method (J. Pryce, BIT 41, 2001), found for the entries of P, leave them out: with z = (x_j^(l)), l < d_j, the equations
differentiated c_i times give z' = A z + sum_k B_k w^(k), those differentiated less often V z + sum_k V_k w^(k) = 0. A
leaves that subspace as it is, and sum d - sum c entries of z are coordinates of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.core.linear.symbolic import equilibrate
from netsim.structure.orders import Offsets, Signature, StructurallySingular, offsets

Array = np.ndarray
FAINT = 1e-13
"""Entries below this share of the largest in their row and in their column, both scaled, are rounding."""
LARGEST = 3000
"""Orders of unknowns beyond which eigenvalues are not computed: half a minute."""
SINGULAR = 1e-13
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


def reduced(parts: Sequence[Array], drives: Sequence[Array] = (), time: float = 1.0) -> Reduced | None:
    """The ODE of sum_k s^k parts[k] x + sum_k s^k drives[k] w = 0 (dense); `time` (s) is what scales it at first.

    None where the point is singular (no orders exist) or the network too large."""
    found = None
    for _ in range(2):  # the second time in units of the poles themselves
        found = _reduced(parts, drives, time)
        if found is None or not found.states:
            break
        rates = np.abs(np.linalg.eigvals(found.dynamics))
        if not (rates > 0.0).any():
            break
        time = found.time / float(np.exp(np.log(rates[rates > 0.0]).mean()))
    return found


def _reduced(parts: Sequence[Array], drives: Sequence[Array], time: float) -> Reduced | None:
    from scipy import linalg
    from scipy.sparse import csc_matrix

    scaled = [part / time**k for k, part in enumerate(parts)]
    rows, columns = equilibrate(csc_matrix(sum(np.abs(part) for part in scaled)))
    scaled = [rows[:, None] * part * columns for part in scaled]
    scaled = [np.where(np.abs(part) > FAINT, part, 0.0) for part in scaled]
    inputs = [rows[:, None] * drive / time**k for k, drive in enumerate(drives)]
    orders = _orders(scaled)
    if orders is None or orders.d.sum() > LARGEST:
        return None
    c, d = orders.c, orders.d
    n, m = len(d), inputs[0].shape[1] if inputs else 0
    first, at = np.concatenate([[0], np.cumsum(d)]), np.concatenate([[0], np.cumsum(c)])
    top, lower, constraints = np.zeros((n, n)), np.zeros((n, first[-1])), np.zeros((at[-1], first[-1]))
    deepest = int(c.max(initial=0)) + len(inputs)
    driven, driving = np.zeros((max(deepest, 1), n, m)), np.zeros((max(deepest, 1), at[-1], m))
    for p, part in enumerate(scaled):
        i, j = np.nonzero(part)
        own = p + c[i] == d[j]
        top[i[own], j[own]] = part[i[own], j[own]]
        i, j = i[~own], j[~own]
        lower[i, first[j] + p + c[i]] += part[i, j]
        _fill(constraints, part, p, c, at, first)
    for p, part in enumerate(inputs):
        for row in range(n):
            driven[p + c[row], row] += part[row]
            for k in range(c[row]):
                driving[p + k, at[row] + k] += part[row]
    sizes = np.linalg.svd(top, compute_uv=False)
    if not len(sizes) or not sizes[-1] > SINGULAR * sizes[0]:
        return None
    solved = np.linalg.solve(top, np.concatenate([lower, *driven], axis=1))
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
    return Reduced(whole, basis, drive, fixed, rates, rates_driven, d, of, columns, time)


def _fill(constraints: Array, part: Array, p: int, c: Array, at: Array, first: Array) -> None:
    """Equations of power p differentiated less often than c_i times."""
    for k in range(int(c.max(initial=0))):
        i, j = np.nonzero(part * (c > k)[:, None])
        constraints[at[i] + k, first[j] + p + k] += part[i, j]


def _orders(scaled: Sequence[Array]) -> Offsets | None:
    equation, variable, order = (
        np.concatenate(x)
        for x in zip(*((*np.nonzero(part), np.full(np.count_nonzero(part), p)) for p, part in enumerate(scaled)))
    )
    size = len(scaled[0])
    try:
        return offsets(
            Signature(equation, variable, order, size, np.zeros(len(equation), bool)), np.zeros(size, np.int64)
        )
    except StructurallySingular:
        return None


@dataclass(frozen=True, eq=False)
class Poles:
    """s (1/s) and x of motions x e^(s t), in columns; as many entries (j, l) of z as there are poles, which tell them
    apart."""

    rates: Array
    shapes: Array
    states: Array


def poles_of(parts: Sequence[Array], time: float) -> Poles | None:
    """Every finite s of sum_k s^k parts[k] x = 0; None as `reduced`."""
    from scipy import linalg

    found = reduced(parts, (), time)
    if found is None:
        return None
    s, vectors = linalg.eig(found.dynamics) if found.states else (np.zeros(0, complex), np.zeros((0, 0)))
    z = found.basis @ vectors
    first = np.cumsum(found.d) - found.d
    shapes = found.rates @ z
    shapes[found.d > 0] = z[first[found.d > 0]]
    shapes = found.columns[:, None] * shapes
    kept = [_to_axis(parts, s[k] / found.time, shapes[:, k]) for k in range(len(s))]
    return Poles(np.array(kept, complex), shapes, found.of[found.chosen(np.ones(len(found.of)))])


def _to_axis(parts: Sequence[Array], s: complex, x: Array) -> complex:
    """The pole without its real part, where that is rounding: the motion fulfils the equations as well on the imaginary
    axis."""
    axis = 1j * s.imag
    residual = sum(part @ x * axis**k for k, part in enumerate(parts))
    terms = sum(np.abs(part) @ np.abs(x) * abs(s) ** k for k, part in enumerate(parts))
    large = terms > FAINT * terms.max(initial=0.0)
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
