"""Matchings against SciPy's, and on the chain of loops on which SciPy's takes exponential time."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching, structural_rank

from netsim.core.linear import symbolic
from netsim.core.linear.columns import Columns
from netsim.core.linear.matching import heaviest_matching, largest_matching, least_matching, structural_deficiency


@pytest.mark.parametrize("seed", range(60))
def test_as_large_as_any_and_a_matching(seed):
    rng = np.random.default_rng(seed)
    pattern = sparse.random(*rng.integers(1, 40, 2), rng.uniform(0.02, 0.2), random_state=rng, format="csr")
    found = largest_matching(*pattern.shape, pattern.indptr, pattern.indices)
    rows = np.flatnonzero(found >= 0)
    assert len(rows) == np.count_nonzero(maximum_bipartite_matching(pattern, perm_type="column") >= 0)
    assert len(set(found[rows])) == len(rows)
    assert all(pattern[row, found[row]] != 0 for row in rows)


def test_layers_without_an_end_take_no_time():
    """Levels of two rows and two columns, all joined to the next level, and one row too many at the beginning: 2^200 paths, none of them free."""
    levels = 200
    rows = [2 * k + a for k in range(levels) for a in (0, 1) for b in range(4)] + [2 * levels, 2 * levels]
    columns = [2 * (k + b // 2) % (2 * levels) + b % 2 for k in range(levels) for a in (0, 1) for b in range(4)] + [0, 1]
    pattern = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * levels + 1, 2 * levels))
    found = largest_matching(*pattern.shape, pattern.indptr, pattern.indices)
    assert np.count_nonzero(found >= 0) == 2 * levels


def test_the_least_matching_is_the_one_that_scipy_finds():
    """Small weights, so that many matchings are as good: which of them is found decides where pivots are."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        pattern = sparse.random_array((n, n), density=rng.uniform(0.0, 0.5), rng=rng) + sparse.eye_array(n)
        weights = sparse.csr_array(pattern)
        weights.data = rng.integers(1, rng.choice([2, 4, 400]) + 1, weights.nnz).astype(float)
        entries = weights.tocoo()
        found = least_matching(n, entries.row, entries.col, entries.data)
        assert np.array_equal(found, min_weight_full_bipartite_matching(weights)[1])


def test_the_heaviest_matching_ends_whatever_the_sizes():
    """Entries from 1e-50 to 1, many equal but for rounding: the product of the diagonal is that of a dense assignment, to the step of the weights."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 40
        matrix = sparse.random_array((n, n), density=0.15, rng=rng, format="csc") + sparse.eye_array(n, format="csc")
        matrix.data = 10.0 ** -rng.choice([0.0, 0.3, 1.0, 25.0, 50.0], matrix.nnz) * (1 + rng.integers(-3, 4, matrix.nnz) * 2.0**-52)
        order = heaviest_matching(matrix)
        assert sorted(order) == list(range(n))
        dense = np.full((n, n), 1e6)
        dense[matrix.nonzero()] = -np.log2(matrix.toarray()[matrix.nonzero()])
        best = dense[linear_sum_assignment(dense)].sum()
        assert dense[order, np.arange(n)].sum() <= best + n / 16


def test_superlu_is_not_asked_about_a_matrix_whose_pattern_is_singular(monkeypatch):
    """Two columns share their only row: SuperLU would go on behind the column without a pivot, beyond its arrays."""
    monkeypatch.setattr(symbolic, "splu", lambda *_, **__: pytest.fail("asked"))
    dense = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 3.0]])
    assert symbolic.pivot_order(sparse.csc_matrix(dense)) is None


@pytest.mark.parametrize("density", [0.1, 0.2, 0.5])
def test_entries_that_vanish_are_no_pairs(density):
    """One pattern, of which each time other entries are zero: what matched all before is asked for first."""
    random = np.random.default_rng(3)
    pattern = sparse.random(30, 30, density=density, format="csc", random_state=4) + sparse.eye(30, format="csc")
    found = set()
    for share in np.linspace(0.0, 0.6, 60):
        data = np.where(random.random(pattern.nnz) < share, 0.0, 1.0)
        matrix = Columns((30, 30), pattern.indptr, pattern.indices, data)
        nonzero = matrix.sparse.copy()
        nonzero.eliminate_zeros()
        wanted = 30 - structural_rank(nonzero)
        assert structural_deficiency(matrix) == wanted
        found.add(bool(wanted))
    assert found == {False, True}
