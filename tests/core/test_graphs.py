"""Components of graphs are those that SciPy finds."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from netsim.core.linear.graphs import connected, strongly_connected


def same_parts(one, other):
    pairs = set(zip(one.tolist(), other.tolist()))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("seed", range(40))
def test_components_of_random_graphs(seed):
    rng = np.random.default_rng(seed)
    count, edges = rng.integers(1, 60), rng.integers(0, 120)
    a, b = rng.integers(0, count, (2, edges))
    graph = coo_array((np.ones(edges), (a, b)), shape=(count, count))
    assert np.array_equal(connected(count, a, b), connected_components(graph, directed=False)[1])
    found = strongly_connected(count, a, b)
    assert same_parts(found, connected_components(graph, directed=True, connection="strong")[1]) and found.max() < count


def test_long_chains_need_no_recursion():
    order = np.random.default_rng(1).permutation(20_000)
    assert connected(20_000, order[:-1], order[1:]).max() == 0
    assert len(set(strongly_connected(20_000, order[:-1], order[1:]))) == 20_000
    assert len(set(strongly_connected(20_000, order, np.roll(order, 1)))) == 1


def test_no_vertices_have_no_components():
    nothing = np.zeros(0, np.int64)
    assert len(connected(0, nothing, nothing)) == len(strongly_connected(0, nothing, nothing)) == 0
