"""Extension modules by themselves do what SciPy's functions do, and SciPy finds them loaded."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from netsim.core.linear import extensions, matching

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
    ours, public = extensions.splu(matrix.copy(), **options), splu(matrix.copy(), **options)
    assert np.array_equal(ours.perm_r, public.perm_r) and np.array_equal(ours.perm_c, public.perm_c)
    assert np.array_equal(ours.L.toarray(), public.L.toarray()) and np.array_equal(ours.U.toarray(), public.U.toarray())
    assert np.array_equal(ours.solve(np.ones(40, kind)), public.solve(np.ones(40, kind)))


def test_a_singular_matrix_is_refused_and_integers_are_taken():
    with pytest.raises(RuntimeError):
        extensions.splu(sparse.csc_matrix(np.zeros((3, 3))))
    assert np.array_equal(extensions.splu(sparse.csc_matrix(np.diag([2, 4]))).solve(np.ones(2)), [0.5, 0.25])


def test_without_the_extension_the_public_function_serves(monkeypatch):
    monkeypatch.setattr(extensions, "extension", lambda name: None)
    assert extensions.splu(sparse.csc_matrix(np.diag([2.0, 4.0]))).solve(np.ones(2)).tolist() == [0.5, 0.25]


def test_scipy_uses_the_loaded_extension():
    code = """
import sys, numpy as np
from scipy import sparse
from netsim.core.linear.matching import full_matching
from netsim.core.linear.extensions import splu
matrix = sparse.csc_matrix(np.diag([2.0, 4.0]))
splu(matrix)
full_matching(sparse.csr_matrix(matrix))
assert not {"scipy.sparse.linalg", "scipy.sparse.csgraph", "scipy.linalg"} & set(sys.modules)
from scipy.sparse.linalg import splu as public
from scipy.sparse.linalg._dsolve import linsolve
assert linsolve._superlu is sys.modules["scipy.sparse.linalg._dsolve._superlu"]
from scipy.sparse import csgraph
assert csgraph.min_weight_full_bipartite_matching(sparse.csr_matrix(matrix))[1].tolist() == [0, 1]
assert public(matrix).solve(np.ones(2)).tolist() == splu(matrix).solve(np.ones(2)).tolist()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("found", [True, False])
def test_matchings_are_those_of_the_public_function(found, monkeypatch):
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if not found:
        monkeypatch.setattr(matching, "extension", lambda name: None)
    weights = sparse.csr_matrix(np.random.default_rng(2).integers(1, 9, (20, 20)) * 1.0)
    for largest in (True, False):
        ours, public = matching.full_matching(weights, largest), min_weight_full_bipartite_matching(weights, largest)
        assert np.array_equal(ours, public)


def test_what_scipy_does_not_have_is_not_loaded():
    assert extensions.extension("scipy.sparse.csgraph._no_such_module") is None
