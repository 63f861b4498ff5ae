"""The poles of a network linearised at a point: every finite s of P(s) u = (K + s D + s^2 M) u = 0, of a network of any
index.

Of an inverse problem these are the zeros between the actuators and the followed signals: with the motions prescribed,
what is left free moves as e^(s t) (zero dynamics; A. Isidori, Nonlinear Control Systems, chapter 4). P has many
infinite s there, which rounding brings near the finite ones. So the orders of the signature method (J. Pryce, BIT 41,
2001), found for the entries of P, turn it into an ODE on a subspace first: with z = (x_j^(l)), l < d_j, the equations
differentiated c_i times give z' = A z, those differentiated less often C z = 0; A leaves that subspace as it is, and
the poles are the eigenvalues of A in an orthonormal basis of it: sum d - sum c of them.
"""

from dataclasses import dataclass

import numpy as np

from netsim.analyses.modal import matrices
from netsim.core.linear.symbolic import equilibrate
from netsim.equations.machine import Machine
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
class Poles:
    """s (1/s) and u of motions u e^(s t), in columns."""

    rates: Array
    shapes: Array


def poles(machine: Machine, g: Array, time: float) -> Poles | None:
    """The poles at the point g; `time` (s) is what scales them at first.

    None where the point is singular (no orders exist) or the network too large."""
    parts = [part.tocoo() for part in matrices(machine, g.copy())]
    dense = [part.toarray() for part in parts] if parts[0].shape[0] <= LARGEST else None
    if dense is None:
        return None
    found = None
    for _ in range(2):  # the second time in units of the poles themselves
        found = _poles(dense, time)
        if found is None or not (found.rates != 0.0).any():
            break
        sizes = np.abs(found.rates[found.rates != 0.0])
        time = 1.0 / float(np.exp(np.log(sizes).mean()))
    return found


def _poles(dense: list[Array], time: float) -> Poles | None:
    from scipy import linalg
    from scipy.sparse import csc_matrix

    scaled = [part / time**k for k, part in enumerate(dense)]
    rows, columns = equilibrate(csc_matrix(sum(np.abs(part) for part in scaled)))
    scaled = [rows[:, None] * part * columns for part in scaled]
    scaled = [np.where(np.abs(part) > FAINT, part, 0.0) for part in scaled]
    orders = _orders(scaled)
    if orders is None:
        return None
    c, d = orders.c, orders.d
    if d.sum() > LARGEST:
        return None
    n, first = len(d), np.concatenate([[0], np.cumsum(d)])
    top, lower, constraints = _differentiated(scaled, c, d)
    sizes = np.linalg.svd(top, compute_uv=False)
    if not sizes[-1] > SINGULAR * sizes[0]:
        return None
    rates = np.linalg.solve(top, -lower)
    whole = np.eye(first[-1], k=1)  # x^(l) has the rate x^(l+1)
    for j in np.flatnonzero(d):
        whole[first[j + 1] - 1] = rates[j]
    basis = linalg.qr(constraints.T)[0][:, len(constraints) :] if len(constraints) else np.eye(first[-1])
    if not basis.shape[1]:
        return Poles(np.zeros(0, complex), np.zeros((n, 0), complex))
    s, vectors = linalg.eig(basis.T @ whole @ basis)
    states = basis @ vectors
    shapes = np.array([states[first[j]] if d[j] else rates[j] @ states for j in range(n)])
    shapes = columns[:, None] * shapes
    kept = [_to_axis(dense, s[k] / time, shapes[:, k]) for k in range(len(s))]
    return Poles(np.array(kept), shapes)


def _differentiated(scaled: list[Array], c: Array, d: Array) -> tuple[Array, Array, Array]:
    """Equations i differentiated c_i times, by x_j^(d_j) and by lower derivatives, and those differentiated less often,
    which know these alone."""
    first, at = np.concatenate([[0], np.cumsum(d)]), np.concatenate([[0], np.cumsum(c)])
    top, lower, constraints = np.zeros((len(d), len(d))), np.zeros((len(d), first[-1])), np.zeros((at[-1], first[-1]))
    for p, part in enumerate(scaled):
        for i, j in zip(*np.nonzero(part)):
            if p + c[i] == d[j]:
                top[i, j] = part[i, j]
            else:
                lower[i, first[j] + p + c[i]] += part[i, j]
            for k in range(c[i]):
                constraints[at[i] + k, first[j] + p + k] += part[i, j]
    return top, lower, constraints


def _orders(scaled: list[Array]) -> Offsets | None:
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


def _to_axis(dense: list[Array], s: complex, u: Array) -> complex:
    """The pole without its real part, where that is rounding: the motion fulfils the equations as well on the imaginary
    axis."""
    axis = 1j * s.imag
    residual = sum(part @ u * axis**k for k, part in enumerate(dense))
    terms = sum(np.abs(part) @ np.abs(u) * abs(s) ** k for k, part in enumerate(dense))
    large = terms > FAINT * terms.max(initial=0.0)
    return axis if np.all(np.abs(residual[large]) <= ON_AXIS * terms[large]) else s
