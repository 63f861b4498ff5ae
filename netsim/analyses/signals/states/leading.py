"""Differentiation orders of a polynomial matrix P(s) = sum_k s^k parts[k] whose leading coefficients are regular.

The orders of the signature method (J. Pryce, BIT 41, 2001) are those of the entries. Where J_ij, the coefficients of
s^(d_j - c_i), is singular (a triangle of capacitors that nothing ties to the ground), with u^T J = 0, equation l of the
least c among those in u gives way to sum_i u_i s^(c_i - c_l) P_i: what was leading there cancels, the determinant keeps
its finite s, and sum d - sum c falls (G. Tan, N. Nedialkov, J. Pryce, Conversion methods for improving structural
analysis of differential-algebraic equation systems, BIT 57, 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.core.linear.symbolic import equilibrate
from netsim.structure.orders import Offsets, Signature, StructurallySingular, offsets

Array = np.ndarray
FAINT = 1e-13
"""Entries below this share of the largest in their row and in their column, both scaled, are rounding."""
CANCELS = 1e-12
"""Sums below this share of their terms are rounding: of the terms, and of the factors from a null vector."""
SINGULAR = 1e-13
"""Relative singular value of the leading coefficients below which they are singular."""
REGULAR = 1e-8
"""Reciprocal condition of the leading coefficients, by their factors, from which singular values are not asked for."""
PART = 1e-8
"""Equations with a smaller share of a null vector have no part in it."""


@dataclass(frozen=True, eq=False)
class Leading:
    """The equations, what drives them (both by powers of s), their orders, the leading coefficients, and the units of
    unknowns."""

    parts: Sequence[Array]
    inputs: Sequence[Array]
    orders: Offsets
    top: Array
    columns: Array


def in_own_units(
    parts: Sequence[Array], time: float, drives: Sequence[Array] = (), reverse: bool = False
) -> Leading | None:
    """`leading` of the equations for s in units of 1/time (`reverse`: for 1/s), rows and columns scaled, without what
    is rounding; None where there are no orders.

    Scales are those by which norms are 1, and where too little is left then, those that bring all entries near 1:
    a conductance of 1e-24 of everything beside it is not rounding where it alone determines a pressure."""
    from scipy.sparse import csc_matrix

    found = [part / time**k for k, part in enumerate(parts)]
    sizes = csc_matrix(sum(np.abs(part) for part in found))
    for fitted in (False, True):
        rows, columns = equilibrate(sizes, fitted)
        own = [rows[:, None] * part * columns for part in found]
        own = [np.where(np.abs(part) > FAINT, part, 0.0) for part in own]
        driven = [rows[:, None] * drive / time**k for k, drive in enumerate(drives)]
        if regular := leading(own[::-1] if reverse else own, driven):
            return replace(regular, columns=columns)
    return None


def leading(parts: Sequence[Array], inputs: Sequence[Array] = ()) -> Leading | None:
    """Scaled equations with orders whose leading coefficients are regular; None where there are no orders."""
    for _ in range(2 * len(parts[0]) * len(parts) + 1):
        if (orders := _orders(parts)) is None:
            return None
        top = np.zeros_like(parts[0])
        for p, part in enumerate(parts):
            i, j = np.nonzero(part)
            own = p + orders.c[i] == orders.d[j]
            top[i[own], j[own]] = part[i[own], j[own]]
        null = _null(top)
        if null is None:
            return Leading(parts, inputs, orders, top, np.ones(len(top)))
        parts, inputs = _combined(parts, inputs, orders, null)
    return None


def _orders(parts: Sequence[Array]) -> Offsets | None:
    equation, variable, order = (
        np.concatenate(x)
        for x in zip(*((*np.nonzero(part), np.full(np.count_nonzero(part), p)) for p, part in enumerate(parts)))
    )
    size = len(parts[0])
    try:
        return offsets(
            Signature(equation, variable, order, size, np.zeros(len(equation), bool)), np.zeros(size, np.int64)
        )
    except StructurallySingular:
        return None


def _null(top: Array) -> Array | None:
    """u with u^T top = 0; None where there is none."""
    from scipy.linalg import lapack
    from scipy.sparse import csc_matrix

    if not len(top):
        return None
    rows, columns = equilibrate(csc_matrix(np.abs(top)))
    own_units = rows[:, None] * top * columns
    factor, _, singular = lapack.dgetrf(own_units)
    if not singular and lapack.dgecon(factor, np.abs(own_units).sum(axis=0).max())[0] > REGULAR:
        return None
    left, sizes, _ = np.linalg.svd(own_units)
    if sizes[-1] > SINGULAR * sizes[0]:
        return None
    found = np.where(np.abs(left[:, -1]) > PART * np.abs(left[:, -1]).max(), left[:, -1], 0.0)
    return rows * found


def _combined(
    parts: Sequence[Array], inputs: Sequence[Array], orders: Offsets, null: Array
) -> tuple[list[Array], list[Array]]:
    """With the combination of equations in place of one of them."""
    c, d = orders.c, orders.d
    among = np.flatnonzero(null)
    least = among[c[among] == c[among].min()]
    own = int(least[np.argmax(np.abs(null[least]))])
    factor, raised = null / null[own], c - c[own]
    deepest = int(raised[among].max())

    def summed(powers: Sequence[Array]) -> list[Array]:
        made = [part.copy() for part in (*powers, *[np.zeros_like(part) for part in powers[:1]] * deepest)]
        total, terms = np.zeros((2, len(made), *made[0].shape[1:])) if made else ([], [])
        for i in among:
            for p, part in enumerate(powers):
                total[p + raised[i]] += factor[i] * part[i]
                terms[p + raised[i]] += np.abs(factor[i] * part[i])
        for part, row, size in zip(made, total, terms):
            part[own] = np.where(np.abs(row) > CANCELS * size, row, 0.0)
        return made

    found, drives = summed(parts), summed(inputs)
    for p, part in enumerate(found):
        part[own, p + c[own] >= d] = 0.0
    size = max(np.abs(part[own]).max() for part in found)
    for part in (*found, *drives):
        part[own] /= size or 1.0
    return found, drives
