"""The linear solver against dense solves, on matrices of the shapes networks and mechanisms give."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from netsim.core.compiled.function import compiled
from netsim.core.consistent import DENSE
from netsim.core.linear.elimination import solve_with_new_pivots
from netsim.core.linear.factors import Factor, SingularMatrix, analyse, condition_estimate, refactor, solve, solve_transpose
from netsim.core.linear.symbolic import equilibrate, triangular_patterns
from netsim.initial.flat_plan import _workspace


def factorised(matrix) -> tuple[sparse.csc_matrix, Factor]:
    matrix = sparse.csc_matrix(matrix)
    return matrix, analyse(matrix.shape[0], matrix.indptr, matrix.indices, matrix.data)


def solved(factor: Factor, rhs: np.ndarray) -> np.ndarray:
    x = np.empty(len(rhs))
    solve(factor, rhs, x)
    return x


def solved_transposed(factor: Factor, rhs: np.ndarray) -> np.ndarray:
    x = np.empty(len(rhs))
    solve_transpose(factor, rhs, x)
    return x


def backward_error(matrix, x: np.ndarray, rhs: np.ndarray) -> float:
    """Largest componentwise |b - A x| / (|A| |x| + |b|): no scaling of rows can hide in it (Oettli and Prager)."""
    size = abs(matrix) @ np.abs(x) + np.abs(rhs)
    return float(np.max(np.abs(rhs - matrix @ x)[size > 0] / size[size > 0]))


def random_matrix(n: int, per_column: int, seed: int) -> sparse.csc_matrix:
    """Random places plus a permuted diagonal, so that it is nonsingular but no pivot sits on the diagonal by itself."""
    rng = np.random.default_rng(seed)
    places = sparse.random(n, n, min(1.0, per_column / n), format="csc", random_state=rng, data_rvs=rng.standard_normal)
    permuted = sparse.csc_matrix((3.0 + rng.random(n), (rng.permutation(n), np.arange(n))), shape=(n, n))
    return (places + permuted).tocsc()


def fill_ratio(factor: Factor) -> float:
    """Nonzeros of L + U for each nonzero of A."""
    return (len(factor.l_row) + len(factor.u_row) + len(factor.pivot_inverse)) / max(1, len(factor.source))


def tridiagonal(n: int) -> sparse.csc_matrix:
    return sparse.diags([-1.0, 2.3, -1.1], [-1, 0, 1], shape=(n, n), format="csc")


def ladder(n: int) -> sparse.csc_matrix:
    """Modified nodal matrix of an RC ladder: n - 1 nodes and the current of the source at the first."""
    nodes = tridiagonal(n - 1)
    source = sparse.csc_matrix(([1.0], ([0], [0])), shape=(n - 1, 1))
    return sparse.bmat([[nodes, source], [source.T, None]], format="csc")


def mechanism(bodies: int, h: float, seed: int = 1) -> sparse.csc_matrix:
    """Index-3 matrix [[M, h^2 G^T], [G, 0]] of a chain: masses over six decades, a constraint between neighbours."""
    rng = np.random.default_rng(seed)
    mass = sparse.diags(10.0 ** rng.uniform(-3, 3, bodies))
    chain = sparse.diags([np.ones(bodies), -1.0 - 0.5 * rng.random(bodies - 1)], [0, 1], format="csc")[: bodies // 2]
    return sparse.bmat([[mass, h**2 * chain.T], [chain, None]], format="csc")


@compiled
def with_new_pivots(factor, entries, rhs, x, matrix, right):
    return solve_with_new_pivots(factor, entries, rhs, x, matrix, right)


def test_pivots_of_a_plan_give_way_to_new_ones():
    """Entries whose pivots of before are zero; a diagonal of 1e-11 is one, of 1e-13 is none; stages of 100 unknowns have room for it, larger ones
    have not."""
    matrix, factor = factorised([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    other = matrix.copy()
    for k in range(3):
        other[k, k] = 0.0 if k == 0 else 1e-14
    other[0, 0], other[2, 2] = 1e-20, 0.5
    rhs, x = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    assert refactor(factor, other.data) < 1e-9
    assert with_new_pivots(factor, other.data, rhs, x, np.zeros((3, 3)), np.zeros((3, 1)))
    assert x == pytest.approx(np.linalg.solve(other.toarray(), rhs), rel=1e-13)
    for least, found in ((1e-11, True), (1e-13, False)):
        matrix, factor = factorised(np.eye(2))
        assert with_new_pivots(factor, np.array([1.0, least]), np.ones(2), np.zeros(2), np.zeros((2, 2)), np.zeros((2, 1))) == found
    sizes = np.array([[3, 3, 3], [DENSE, DENSE, 100], [101, 101, 101]])
    assert [each.shape for each in _workspace(sizes)] == [(100, 100), (100, 1)]


@pytest.mark.parametrize("n", [1, 2, 5, 20, 51, 200])
def test_random_matrices_agree_with_dense_solves(n):
    for seed in range(4):
        matrix, factor = factorised(random_matrix(n, 3, seed))
        rhs = np.random.default_rng(seed).standard_normal(n)
        assert backward_error(matrix, solved(factor, rhs), rhs) < 1e-13
        assert backward_error(matrix.T, solved_transposed(factor, rhs), rhs) < 1e-13
        np.testing.assert_allclose(solved(factor, rhs), np.linalg.solve(matrix.toarray(), rhs), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(solved_transposed(factor, rhs), np.linalg.solve(matrix.toarray().T, rhs), rtol=1e-8, atol=1e-10)


@settings(max_examples=40)
@given(n=st.integers(1, 30), per_column=st.floats(0.5, 6), seed=st.integers(0, 2**31), decades=st.integers(0, 30))
def test_badly_scaled_matrices_are_solved_row_by_row(n, per_column, seed, decades):
    rng = np.random.default_rng(seed)
    rows, columns = 10.0 ** rng.uniform(-decades, decades, (2, n))
    matrix, factor = factorised(sparse.diags(rows) @ random_matrix(n, per_column, seed) @ sparse.diags(columns))
    rhs = rows * rng.standard_normal(n)
    assert backward_error(matrix, solved(factor, rhs), rhs) < 1e-9  # row by row and without refinement: growth in badly scaled rows shows here


def test_equilibration_brings_rows_and_columns_to_one_with_powers_of_two():
    rng = np.random.default_rng(3)
    matrix = (sparse.diags(10.0 ** rng.uniform(-9, 9, 60)) @ random_matrix(60, 4, 3) @ sparse.diags(10.0 ** rng.uniform(-9, 9, 60))).tolil()
    matrix[7, :] = 0.0
    scales = equilibrate(matrix.tocsc())
    scaled = np.abs(sparse.diags(scales[0]) @ matrix @ sparse.diags(scales[1]))
    largest = np.concatenate([scaled.max(axis=0).toarray().ravel(), np.delete(scaled.max(axis=1).toarray().ravel(), 7)])
    assert scales[0][7] == 1.0
    assert np.all((largest > 0.4) & (largest < 2.5))
    assert np.all(np.frexp(np.concatenate(scales))[0] == 0.5)


@pytest.mark.parametrize("h", [1e-2, 1e-4, 1e-6])
def test_index_3_mechanisms_keep_full_accuracy(h):
    matrix, factor = factorised(mechanism(60, h))
    expected = np.random.default_rng(2).standard_normal(matrix.shape[0])
    expected[60:] /= h**2
    rhs = matrix @ expected
    x = solved(factor, rhs)
    residual = np.abs(rhs - matrix @ x)
    assert residual.max() <= 1e-14 * np.abs(rhs).max()
    assert backward_error(matrix, x, rhs) <= 1e-13  # row by row, elimination promises this only up to growth; Newton's second correction refines
    np.testing.assert_allclose(x, expected, rtol=1e-10)


def test_equilibration_is_what_keeps_it():
    """The same elimination with all scales 1 loses the multipliers: the test above could fail."""
    matrix, factor = factorised(mechanism(60, 1e-6))
    expected = np.concatenate([np.ones(60), np.full(matrix.shape[0] - 60, 1e12)])
    plain = sparse.linalg.splu(matrix, options={"Equil": False}, diag_pivot_thresh=0.0).solve(matrix @ expected)
    ours = solved(factor, matrix @ expected)
    assert backward_error(matrix, ours, matrix @ expected) <= 1e-14
    assert backward_error(matrix, plain, matrix @ expected) > 1e-12


@pytest.mark.parametrize("n", [10, 100, 1000, 10_000])
def test_a_tridiagonal_matrix_fills_in_nothing(n):
    matrix, factor = factorised(tridiagonal(n))
    assert len(factor.l_row) + len(factor.u_row) + n <= 1.05 * matrix.nnz + 20
    assert fill_ratio(factor) < 1.6 if n < 50 else fill_ratio(factor) < 1.05
    rhs = np.sin(np.arange(n))
    assert backward_error(matrix, solved(factor, rhs), rhs) < 1e-15


def test_a_ladder_with_its_source_fills_in_nothing():
    for n in (20, 200, 2000):
        matrix, factor = factorised(ladder(n))
        assert len(factor.l_row) + len(factor.u_row) + n <= matrix.nnz + 2
        assert backward_error(matrix, solved(factor, np.ones(n)), np.ones(n)) < 1e-15


def test_patterns_are_those_of_elimination():
    """Boolean elimination of a random pattern, dense, as the oracle of the depth-first search."""
    for seed in range(5):
        pattern = (sparse.random(40, 40, 0.06, random_state=seed) + sparse.identity(40)).tocsc()
        filled = pattern.toarray() != 0
        for k in range(40):
            filled[k + 1 :, k + 1 :] |= np.outer(filled[k + 1 :, k], filled[k, k + 1 :])
        l_start, l_row, u_start, u_row = triangular_patterns(pattern.indptr, pattern.indices)
        for k in range(40):
            np.testing.assert_array_equal(l_row[l_start[k] : l_start[k + 1]], k + 1 + np.flatnonzero(filled[k + 1 :, k]))
            np.testing.assert_array_equal(u_row[u_start[k] : u_start[k + 1]], np.flatnonzero(filled[:k, k]))


def test_refactorisation_solves_for_the_new_values():
    rng = np.random.default_rng(5)
    for n in (1, 8, 120):
        matrix, factor = factorised(random_matrix(n, 3, n))
        for _ in range(5):
            changed = matrix.copy()
            changed.data = matrix.data * rng.uniform(0.8, 1.25, matrix.nnz)
            quality = refactor(factor, changed.data)
            rhs = rng.standard_normal(n)
            assert 1e-3 < quality <= 1.0
            np.testing.assert_allclose(changed @ solved(factor, rhs), rhs, rtol=1e-9, atol=1e-9)
        assert np.all(factor.work == 0.0)


def test_refactorisation_reproduces_the_first_factorisation_bit_by_bit():
    matrix, factor = factorised(random_matrix(90, 4, 9))
    first = [factor.l_value.copy(), factor.u_value.copy(), factor.pivot_inverse.copy()]
    refactor(factor, 2.0 * matrix.data)
    refactor(factor, matrix.data)
    for before, after in zip(first, (factor.l_value, factor.u_value, factor.pivot_inverse)):
        np.testing.assert_array_equal(before, after)


def test_the_triangles_multiply_to_the_scaled_matrix():
    matrix, f = factorised(random_matrix(70, 4, 2))
    n = len(f.work)
    lower = sparse.csc_matrix((f.l_value, f.l_row, f.l_start), shape=(n, n)) + sparse.identity(n)
    upper = sparse.csc_matrix((f.u_value, f.u_row, f.u_start), shape=(n, n)) + sparse.diags(1.0 / f.pivot_inverse)
    scaled = (sparse.diags(f.row_scale) @ matrix @ sparse.diags(f.column_scale)).toarray()
    np.testing.assert_allclose((lower @ upper).toarray(), scaled[f.row_order][:, f.column_order], rtol=0, atol=1e-13)


def test_quality_tells_when_the_pivots_no_longer_fit():
    matrix, factor = factorised([[2.0, 1.0], [1.0, 3.0]])
    first = (factor.row_order[0], factor.column_order[0])
    quality = {}
    for size in (1.0, 1e-4, 1e-9, 0.0):
        changed = matrix.toarray()
        changed[first] = size
        quality[size] = refactor(factor, changed.ravel(order="F"))
    assert quality[1.0] > 0.4
    assert 1e-5 < quality[1e-4] < 1e-3
    assert 1e-10 < quality[1e-9] < 1e-8
    assert quality[0.0] == 0.0
    assert np.all(factor.work == 0.0)
    assert refactor(factor, matrix.data) > 0.3
    np.testing.assert_allclose(solved(factor, np.array([3.0, 4.0])), [1.0, 1.0], rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named_or_reported(bad):
    matrix, factor = factorised(tridiagonal(6))
    broken = matrix.copy()
    broken[3, 2] = bad
    with pytest.raises(ValueError, match=r"1 matrix entries are not finite: \(3, 2\) = "):
        factorised(broken)
    assert refactor(factor, broken.data) == 0.0
    assert refactor(factor, matrix.data) > 0.0
    assert backward_error(matrix, solved(factor, np.ones(6)), np.ones(6)) < 1e-15


def test_a_floating_part_is_named_by_the_null_vector():
    """Nodes 4, 5, 6 hang on each other by springs, and nothing holds them: any common motion is a solution."""
    floating = np.array([[1.0, -1.0, 0.0], [-1.0, 3.0, -2.0], [0.0, -2.0, 2.0]])
    matrix = sparse.block_diag([tridiagonal(4), floating, tridiagonal(5)], format="csc")
    with pytest.raises(SingularMatrix, match="12 unknowns, rank deficiency 1") as caught:
        factorised(matrix)
    expected = np.zeros(12)
    expected[4:7] = 1.0
    np.testing.assert_allclose(caught.value.null_column / caught.value.null_column[4], expected, atol=1e-9)
    np.testing.assert_allclose(caught.value.null_row / caught.value.null_row[4], expected, atol=1e-9)
    assert (caught.value.deficiency, caught.value.structural) == (1, 0)


def test_independent_causes_give_separate_vectors():
    """Two floating parts, an unknown in no equation and an equation without unknowns: one vector for each."""
    pair = np.array([[1.0, -1.0], [-1.0, 1.0]])
    hole = sparse.csc_matrix((1, 1))
    with pytest.raises(SingularMatrix) as caught:
        factorised(sparse.block_diag([tridiagonal(3), pair, tridiagonal(2), 1e6 * pair, hole], format="csc"))
    parts = {tuple(np.flatnonzero(np.abs(z) > 1e-6)) for z in caught.value.null_columns.T}
    assert parts == {(3, 4), (7, 8), (9,)}
    assert (caught.value.deficiency, caught.value.structural) == (3, 1)


def test_a_redundant_constraint_names_the_equations_that_depend_on_each_other():
    """Rows 60 .. 62 of an index-3 matrix: the third constraint repeats the sum of the first two up to rounding."""
    h, rng = 1e-4, np.random.default_rng(4)
    rows = rng.standard_normal((2, 60)) * (rng.random((2, 60)) < 0.2)
    chain = sparse.csc_matrix(np.vstack([rows, 0.3 * rows[0] - 0.7 * rows[1]]))
    matrix = sparse.bmat([[sparse.diags(10.0 ** rng.uniform(-2, 2, 60)), h**2 * chain.T], [chain, None]], format="csc")
    with pytest.raises(SingularMatrix) as caught:
        factorised(matrix)
    w = caught.value.null_row
    np.testing.assert_allclose(w[60:] / w[62], [-0.3, 0.7, 1.0], rtol=1e-9)
    np.testing.assert_allclose(w[:60], 0.0, atol=1e-9)
    z = caught.value.null_column
    np.testing.assert_allclose(z[60:] / z[62], [-0.3, 0.7, 1.0], rtol=1e-9)
    np.testing.assert_allclose(z[:60], 0.0, atol=1e-9)


@pytest.mark.parametrize("deficiency", [1, 3, 4, 9])
def test_the_rank_deficiency_is_counted(deficiency):
    """Dense-like products of random factors have rounding in every entry: the rank is numerical, no pivot is exactly zero."""
    rng = np.random.default_rng(deficiency)
    n = 30
    matrix = rng.standard_normal((n, n - deficiency)) @ rng.standard_normal((n - deficiency, n))
    with pytest.raises(SingularMatrix) as caught:
        factorised(matrix)
    assert caught.value.deficiency == deficiency
    assert caught.value.null_columns.shape == caught.value.null_rows.shape == (n, deficiency)
    assert np.linalg.matrix_rank(caught.value.null_columns) == deficiency
    assert np.abs(matrix @ caught.value.null_columns).max() < 1e-12
    assert np.abs(matrix.T @ caught.value.null_rows).max() < 1e-12


def test_small_singular_matrices():
    for dense, deficiency in (([[0.0]], 1), (np.zeros((3, 3)), 3), (np.ones((2, 2)), 1), (np.arange(1.0, 10.0).reshape(3, 3), 1)):
        with pytest.raises(SingularMatrix) as caught:
            factorised(dense)
        assert caught.value.deficiency == deficiency
        assert np.abs(np.asarray(dense) @ caught.value.null_columns).max() < 1e-13


def test_zero_values_in_the_pattern_raise_only_while_they_matter():
    start, row = [0, 2, 4], [0, 1, 0, 1]
    with pytest.raises(SingularMatrix) as caught:
        analyse(2, start, row, [1.0, 0.0, 1.0, 0.0])
    np.testing.assert_array_equal(np.flatnonzero(np.abs(caught.value.null_row) > 1e-9), [1])
    factor = analyse(2, start, row, [1.0, 0.0, 0.0, 1.0])
    assert refactor(factor, np.array([1.0, 0.5, 0.25, 1.0])) == 1.0
    np.testing.assert_allclose(solved(factor, np.array([1.25, 1.5])), [1.0, 1.0])


def test_ill_conditioned_is_not_singular():
    """Two stiffnesses twelve decades apart: the small one carries the answer and must be kept."""
    stiff = 1e12
    matrix, factor = factorised([[stiff, -stiff], [-stiff, stiff + 1.0]])
    np.testing.assert_allclose(solved(factor, np.array([0.0, 1.0])), [1.0, 1.0], rtol=1e-3)
    assert condition_estimate(factor, matrix.data) > 1e12


def test_the_exception_survives_a_process_boundary():
    with pytest.raises(SingularMatrix) as caught:
        factorised(np.ones((2, 2)))
    copy = pickle.loads(pickle.dumps(caught.value))
    np.testing.assert_array_equal(copy.null_columns, caught.value.null_columns)
    assert (str(copy), copy.structural) == (str(caught.value), caught.value.structural)


def test_an_empty_and_a_single_unknown():
    empty = analyse(0, [0], [], [])
    assert refactor(empty, np.empty(0)) == 1.0
    assert solved(empty, np.empty(0)).shape == (0,)
    assert condition_estimate(empty, np.empty(0)) == 1.0
    assert fill_ratio(empty) == 0.0
    _, single = factorised([[-4e-200]])
    np.testing.assert_allclose(solved(single, np.array([2.0])), [-5e199], rtol=1e-15)


def test_right_side_and_solution_may_share_memory_and_repeated_entries_add_up():
    factor = analyse(2, [0, 3, 5], [1, 0, 0, 0, 1], [1.0, 1.5, 0.5, 1.0, 3.0])
    x = np.array([3.0, 4.0])
    solve(factor, x, x)
    np.testing.assert_allclose(x, [1.0, 1.0], rtol=1e-15)
    solve_transpose(factor, x, x)
    np.testing.assert_allclose(x, np.linalg.solve([[2.0, 1.0], [1.0, 3.0]], [1.0, 1.0]), rtol=1e-15)


@pytest.mark.parametrize("matrix", [tridiagonal(80), random_matrix(60, 4, 8), mechanism(40, 1e-3)], ids=["tridiagonal", "random", "mechanism"])
def test_the_condition_estimate_is_a_close_lower_bound(matrix):
    matrix, factor = factorised(matrix)
    scaled = (sparse.diags(factor.row_scale) @ matrix @ sparse.diags(factor.column_scale)).toarray()
    exact = np.linalg.cond(scaled, 1)
    assert exact / 4 < condition_estimate(factor, matrix.data) < 1.0000001 * exact


def test_a_mesh_stays_within_the_fill_of_a_good_ordering():
    line = sparse.diags([-1.0, 2.01, -1.0], [-1, 0, 1], shape=(30, 30))
    matrix, factor = factorised(sparse.kronsum(line, line))
    assert 2.0 < fill_ratio(factor) < 6.0
    assert backward_error(matrix, solved(factor, np.ones(900)), np.ones(900)) < 1e-14


@compiled
def _steps(factor, values, rhs, x, count):
    """A time loop as compiled code writes it: new values, refactor, solve; returns the worst quality."""
    worst = 1.0
    for _ in range(count):
        values *= 1.01
        worst = min(worst, refactor(factor, values))
        solve(factor, rhs, x)
    return worst


def test_it_runs_inside_compiled_loops():
    matrix, factor = factorised(ladder(50))
    values, x = matrix.data.copy(), np.empty(50)
    assert _steps(factor, values, np.ones(50), x, 10) > 0.1
    np.testing.assert_allclose(1.01**10 * (matrix @ x), np.ones(50), rtol=1e-12)


def test_fill_of_a_chain_with_multipliers_does_not_grow_with_its_length():
    """[[M, G'], [G, 0]] of bodies with three coordinates, each tied to the next by two constraints: no diagonal where the multipliers are."""
    ratios = []
    for links in (50, 800):
        rng = np.random.default_rng(links)
        ties = sparse.block_diag([rng.uniform(0.5, 2, (2, 3)) for _ in range(links)], format="csc")
        others = sparse.hstack([ties[:, 3:], sparse.csc_matrix((2 * links, 3))])
        g = (ties - others * 0.9).tocsc()
        matrix = sparse.bmat([[sparse.identity(3 * links), g.T], [g, None]], format="csc")
        matrix.sort_indices()
        ratios.append(fill_ratio(analyse(5 * links, matrix.indptr, matrix.indices, matrix.data)))
    assert ratios[1] < 1.2 * ratios[0] < 12
