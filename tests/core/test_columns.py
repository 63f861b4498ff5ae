"""Matrices in compressed columns do what SciPy's do, and SuperLU by itself what its public function does; SciPy finds it
loaded."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from netsim.core.linear import columns
from netsim.core.linear.columns import Columns, columns_of, diagonal_of

OPTIONS = [
    {},
    {"permc_spec": "COLAMD", "diag_pivot_thresh": 1.0, "relax": 1},
    {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.1, "options": {"SymmetricMode": True}},
    {"permc_spec": "MMD_ATA", "diag_pivot_thresh": 1.0},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", [float, complex])
def test_factors_are_those_of_the_public_function(options, kind):
    from scipy.sparse.linalg import splu

    rng = np.random.default_rng(3)
    matrix = sparse.csc_matrix(sparse.random(40, 40, 0.1, rng=rng) + sparse.diags(rng.uniform(1, 2, 40)), dtype=kind)
    ours, public = columns.splu(matrix.copy(), **options), splu(matrix.copy(), **options)
    assert np.array_equal(ours.perm_r, public.perm_r) and np.array_equal(ours.perm_c, public.perm_c)
    assert np.array_equal(ours.L.toarray(), public.L.toarray()) and np.array_equal(ours.U.toarray(), public.U.toarray())
    assert np.array_equal(ours.solve(np.ones(40, kind)), public.solve(np.ones(40, kind)))


def test_a_singular_matrix_is_refused_and_integers_are_taken():
    with pytest.raises(RuntimeError):
        columns.splu(sparse.csc_matrix(np.zeros((3, 3))))
    assert np.array_equal(columns.splu(sparse.csc_matrix(np.diag([2, 4]))).solve(np.ones(2)), [0.5, 0.25])


def test_without_the_extension_the_public_function_serves(monkeypatch):
    monkeypatch.setattr(columns, "extension", lambda name: None)
    assert columns.splu(sparse.csc_matrix(np.diag([2.0, 4.0]))).solve(np.ones(2)).tolist() == [0.5, 0.25]
    assert columns.lapack().dgtsv


def ours_of(matrix):
    entries = sparse.coo_array(matrix)
    return columns_of(entries.data, entries.row, entries.col, matrix.shape)


@pytest.mark.parametrize("seed", range(20))
def test_sums_products_and_scales_are_those_of_scipy_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 30, 2))
    matrix = sparse.csc_array(sparse.random_array(shape, density=0.2, rng=rng, data_sampler=rng.standard_normal))
    ours, square = ours_of(matrix), sparse.csc_array(sparse.random_array((shape[1], shape[1]), density=0.2, rng=rng))
    vector, block, rows, own = (rng.standard_normal(s) for s in (shape[1], (shape[1], 3), shape[0], shape[1]))
    assert np.array_equal(ours.toarray(), matrix.toarray()) and np.array_equal(ours.T.toarray(), matrix.toarray().T)
    assert np.array_equal(ours @ vector, matrix @ vector) and np.array_equal(ours @ block, matrix @ block)
    assert np.array_equal(ours.T @ rows, matrix.T @ rows)
    assert np.array_equal(abs(ours).toarray(), abs(matrix).toarray())
    assert np.array_equal(ours.scaled(rows, vector).toarray(), (sparse.diags_array(rows) @ matrix @ sparse.diags_array(vector)).toarray())
    for axis in (0, 1):
        assert np.array_equal(ours.largest(axis), abs(matrix).max(axis=axis).toarray().ravel())
    added, public = ours_of(square) + diagonal_of(own), square + sparse.diags_array(own, format="csc")
    assert np.array_equal(added.toarray(), public.toarray()) and np.array_equal(added.diagonal(), public.diagonal())
    assert (ours.sparse != matrix).nnz == 0


def test_repeated_entries_add_up_and_sums_that_vanish_leave_no_entry():
    twice = columns_of(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 1, 0]), (2, 2))
    assert twice.toarray().tolist() == [[0.0, 2.0], [5.0, 0.0]] and len(twice.data) == 2
    rest = diagonal_of(np.array([1.0, 2.0])) + diagonal_of(np.array([-1.0, 1.0]))
    assert rest.indices.tolist() == [1] and rest.indptr.tolist() == [0, 0, 1]
    empty = columns_of(np.zeros(0), np.zeros(0, int), np.zeros(0, int), (0, 2))
    assert (empty @ np.ones(2)).shape == (0,) and empty.T.shape == (2, 0)


def test_factors_of_our_matrices_are_those_of_scipys_matrices():
    matrix = sparse.csc_matrix(np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]]))
    found, public = columns.splu(ours_of(matrix)), columns.splu(matrix)
    assert np.array_equal(found.L.toarray(), public.L.toarray()) and np.array_equal(found.U.toarray(), public.U.toarray())
    with pytest.raises(ValueError, match="square"):
        columns.splu(Columns((1, 2), np.zeros(3, np.int32), np.zeros(0, np.int32), np.zeros(0)))


def test_scipy_uses_the_loaded_extension():
    code = """
import sys, numpy as np
from netsim.core.linear.columns import diagonal_of, splu
splu(diagonal_of(np.array([2.0, 4.0])))
assert not {"scipy", "scipy.sparse", "scipy.linalg"} & set(sys.modules)
from scipy import sparse
matrix = sparse.csc_matrix(np.diag([2.0, 4.0]))
from scipy.sparse.linalg import splu as public
from scipy.sparse.linalg._dsolve import linsolve
assert linsolve._superlu is sys.modules["scipy.sparse.linalg._dsolve._superlu"]
assert public(matrix).solve(np.ones(2)).tolist() == splu(matrix).solve(np.ones(2)).tolist()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_scipy_uses_the_loaded_lapack_and_finds_the_same_pivots():
    code = """
import sys, numpy as np
from netsim.core.linear.symbolic import pivots
matrices = [np.random.default_rng(k).standard_normal((m, n)) for k in range(5) for m, n in [(1, 1), (5, 3), (3, 5), (60, 200), (0, 4)]]
found = [pivots(matrix) for matrix in matrices]
assert not {"scipy", "scipy.linalg"} & set(sys.modules)
from scipy import linalg
assert linalg.lapack._flapack is sys.modules["scipy.linalg._flapack"]
for matrix, (sizes, order) in zip(matrices, found):
    triangle, known = linalg.qr(matrix.T, mode="r", pivoting=True)
    assert np.array_equal(sizes, np.abs(np.diag(triangle))) and np.array_equal(order, known)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_scipy_does_not_have_is_not_loaded():
    assert columns.extension("scipy.sparse.csgraph._no_such_module") is None
