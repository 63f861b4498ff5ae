"""Connected components of graphs."""

import numpy as np

from netsim.core.compiled.function import compiled

Ints = np.ndarray


def connected(count: int, a: Ints, b: Ints) -> Ints:
    """The number of the component of every one of `count` vertices, where edges join a[k] and b[k]."""
    least = np.arange(count)  # of the vertices known to be joined to each
    while True:
        found = least.copy()
        lower = np.minimum(least[a], least[b])
        for ends in (a, b):
            np.minimum.at(found, least[ends], lower)
            np.minimum.at(found, ends, lower)
        found = found[found]
        if np.array_equal(found, least):
            return np.unique(least, return_inverse=True)[1]
        least = found


def strongly_connected(count: int, a: Ints, b: Ints) -> Ints:
    """The number of the strong component of every one of `count` vertices, where arrows lead from a[k] to b[k]."""
    label, stack, path, place = (np.full(count, -1, np.int64) for _ in range(4))
    number, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    start = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=count))])
    _label_strong(start, np.asarray(b, np.int64)[np.argsort(a, kind="stable")], label, number, low, stack, path, place)
    return label


@compiled
def _label_strong(start, adjacent, label, number, low, stack, path, place):
    """Labels of strong components (R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972),
    without recursion; arrows from v lead to adjacent[start[v] : start[v + 1]]."""
    count = components = top = 0
    for root in range(len(label)):
        if number[root] != 0:
            continue
        count += 1
        number[root] = low[root] = count
        place[root], path[0], stack[top] = start[root], root, root
        top += 1
        depth = 0
        while depth >= 0:
            v = path[depth]
            if place[v] < start[v + 1]:
                w = adjacent[place[v]]
                place[v] += 1
                if number[w] == 0:
                    count += 1
                    number[w] = low[w] = count
                    depth += 1
                    place[w], path[depth], stack[top] = start[w], w, w
                    top += 1
                elif label[w] < 0:
                    low[v] = min(low[v], number[w])
                continue
            if low[v] == number[v]:
                while label[v] < 0:
                    top -= 1
                    label[stack[top]] = components
                components += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[v])


def members(labels: Ints) -> list[frozenset[int]]:
    """The vertices of each component, in the order of its least one."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []
    return sorted((frozenset(part.tolist()) for part in parts), key=min)
