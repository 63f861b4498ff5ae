"""Solutions at many complex s on the pivots of one real matrix."""

import numpy as np

from netsim.core.linear.factors import analyse
from netsim.core.linear.sweep import FIRM, complex_factor, solve_many

N = 12


def test_solutions_by_pivots_that_are_not_firm_are_refined():
    """P(s) = P0 + s P1, dense, with the pivots of s = 0.1 at other s: whatever these are, no digits are lost."""
    random, seen = np.random.default_rng(7), []
    indptr, indices = np.arange(0, N * N + 1, N).astype(np.int32), np.tile(np.arange(N), N).astype(np.int32)
    for _ in range(20):
        powers = random.normal(size=(2, N, N))  # by columns
        factor = complex_factor(analyse(N, indptr, indices, (powers[0] + 0.1 * powers[1]).ravel()))
        s = 10.0 ** random.uniform(-2, 2, 5) * np.exp(1j * random.uniform(0, np.pi, 5))
        sides, room = random.normal(size=(1, 1, N)).astype(complex), np.zeros((2, N * N), complex)
        found, pivots = np.zeros((5, 1, N), complex), np.zeros(5)
        given = powers.reshape(2, -1), np.zeros((3, 0)), np.zeros(0, np.int64)
        solve_many(factor, indptr, indices, *given, s, sides, False, found, room, pivots)
        for at, x, pivot in zip(s, found[:, 0], pivots):
            matrix = (powers[0] + at * powers[1]).T
            left = np.abs(matrix @ x - sides[0, 0]).max() / (np.abs(matrix) @ np.abs(x)).max()
            seen.append((pivot, left))
            assert left < (4e-16 if pivot < FIRM else 2e-14)
    assert min(pivot for pivot, _ in seen) < FIRM / 10
