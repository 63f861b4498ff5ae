"""Velocities known by integration alone: a row that prescribes an acceleration and no force acts on velocities as an
infinite mass does.

Where velocities are made consistent with constraints, they change least in the metric of kinetic energy. A row a'
der(v) = f(t, ...) has no share in that energy, and yet its velocity a' v is not free to move: nothing would bring it
back. HOLD a a' added to the mass matrix (with a and the masses scaled to 1) keeps it, up to what constraints demand.
"""

import numpy as np

from netsim.structure.orders import Offsets, Signature, blocks

Array = np.ndarray
HOLD = 1e5


def prescribed_pairs(s: Signature, o: Offsets, n: int, nk: int) -> Array:
    """Pairs (2, .) of triples over accelerations in the same row, for every row that holds accelerations and no force
    (no unknown of a balance)."""
    force = np.zeros(s.size + 1, bool)
    force[s.variable[s.kept & (s.equation < nk) & (s.variable >= nk)]] = True
    ruled = np.zeros(s.size + 1, bool)
    ruled[s.equation[s.kept & force[s.variable]]] = True
    free = ~ruled[s.equation] & (s.equation >= nk) & (s.equation < n) & (o.c[np.minimum(s.equation, s.size - 1)] == 0)
    found = np.flatnonzero(s.kept & free & (s.order == 2) & (s.variable < nk))
    found = found[np.argsort(s.equation[found], kind="stable")]
    rows = [np.zeros((2, 0), np.int64)]
    for of_row in np.split(found, np.flatnonzero(np.diff(s.equation[found])) + 1):
        rows.append(np.stack([part.ravel() for part in np.meshgrid(of_row, of_row)]))
    return np.hstack(rows)


def hold_factors(s: Signature, values: Array, pairs: Array) -> Array:
    """HOLD / |a|^2 for each pair: what its product contributes with."""
    square = np.zeros(s.size + 1)
    same = pairs[0] == pairs[1]
    np.add.at(square, s.equation[pairs[0, same]], values[pairs[0, same]] ** 2)
    return HOLD / np.maximum(square[s.equation[pairs[0]]], 1e-300)


def constrained(found: Signature, solved: Offsets) -> Array:
    """Which variables stand in a block of the highest derivatives (equations that must be solved together) that has a
    differentiated equation. A differentiated quantity of any other block follows from its own rate, whatever the others
    do: a filter's output, although a prescribed flux is a function of it."""
    equations = np.flatnonzero(solved.match >= 0)
    top = found.matched(solved.match)
    top[top] = found.order[top] == solved.d[found.variable[top]] - solved.c[found.equation[top]]
    block, has = blocks(found, solved, top), np.zeros(found.size, bool)
    has[block[solved.match[equations[solved.c[equations] > 0]]]] = True
    return has[block]
