"""Connected components of graphs."""

import numpy as np
from scipy.sparse import coo_array

Ints = np.ndarray


def connected(count: int, a: Ints, b: Ints) -> Ints:
    """The number of the component of every one of `count` vertices, where edges join a[k] and b[k]."""
    from scipy.sparse.csgraph import connected_components

    return connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(count, count)), directed=False)[1]


def strongly_connected(count: int, a: Ints, b: Ints) -> Ints:
    """The number of the strong component of every one of `count` vertices, where arrows lead from a[k] to b[k]."""
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a)), (a, b)), shape=(count, count))
    return connected_components(graph, directed=True, connection="strong")[1]


def members(labels: Ints) -> list[frozenset[int]]:
    """The vertices of each component, in the order of its least one."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []
    return sorted((frozenset(part.tolist()) for part in parts), key=min)
