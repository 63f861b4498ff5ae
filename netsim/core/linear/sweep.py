"""P(s) x = r at many complex s, with one symbolic analysis: refactorisations on the pivots of a real matrix of the same
pattern.

    P(s) = sum_k s^k P_k + sum_d s^(m_d) e^(-s T_d) v_d        (entry d of value v_d at one place of the pattern)

Where pivots are not firm each solution is refined once, x + P^-1 (r - P x), so that fixed pivots cost no digits.
"""

import math

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.core.linear.factors import Factor, refactor, solve, solve_transpose

FIRM = 0.1
"""Pivots above this share of the entries below them cost less than a digit."""


def complex_factor(factor: Factor) -> Factor:
    """The same pivots and patterns with room for complex values."""
    sizes = {name: getattr(factor, name).shape for name in ("l_value", "u_value", "pivot_inverse", "work")}
    return factor._replace(**{name: np.zeros(shape, complex) for name, shape in sizes.items()})


@compiled
def solve_many(  # noqa: C901  (one compiled loop)
    factor, indptr, indices, powers, delays, places, s, sides, transposed, found, room, pivots
):
    """found[f, m] = P(s_f)^-1 sum_k s_f^k sides[k, m], or with the transposed P; pivots[f] is the least ratio of a
    pivot to the entries below it.

    powers (k, nnz) real, delays (3, d): value, length, power of s; places (d,) in the pattern; sides (k, m, n); room
    (2, max(nnz, n)) complex."""
    n, nnz = indptr.shape[0] - 1, indices.shape[0]
    values, rest = room[0], room[1]
    for f in range(s.shape[0]):
        for p in range(nnz):
            total = complex(0.0, 0.0)
            for k in range(powers.shape[0] - 1, -1, -1):
                total = total * s[f] + powers[k, p]
            values[p] = total
        for d in range(places.shape[0]):
            values[places[d]] += delays[0, d] * _delayed(s[f], delays[1, d], int(delays[2, d]))
        pivots[f] = refactor(factor, values[:nnz])
        for m in range(sides.shape[1]):
            x = found[f, m]
            for i in range(n):
                total = complex(0.0, 0.0)
                for k in range(sides.shape[0] - 1, -1, -1):
                    total = total * s[f] + sides[k, m, i]
                rest[i] = x[i] = total
            _solve(factor, x, transposed)
            if pivots[f] > FIRM:
                continue
            for j in range(n):
                for p in range(indptr[j], indptr[j + 1]):
                    if transposed:
                        rest[j] -= values[p] * x[indices[p]]
                    else:
                        rest[indices[p]] -= values[p] * x[j]
            _solve(factor, rest[:n], transposed)
            for i in range(n):
                x[i] += rest[i]


@inner
def _solve(factor, x, transposed):
    if transposed:
        solve_transpose(factor, x, x)
    else:
        solve(factor, x, x)


@inner
def _delayed(s, length, power):
    """s^power e^(-s length), without numba's library."""
    size, angle = math.exp(-s.real * length), s.imag * length
    found = complex(size * math.cos(angle), -size * math.sin(angle))
    for _ in range(power):
        found *= s
    return found
