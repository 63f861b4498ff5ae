"""Superelements: the numbers do not depend on how a tree is cut, what is eliminated stays inside, and the cut is as announced."""

import numpy as np
import pytest
from random_trees import largest, random_state, random_tree

from netsim.multibody.tree.algorithms.forward import mixed
from netsim.multibody.tree.algorithms.superelements import mixed_by_superelements, superelements
from netsim.multibody.tree.model import PARENT


@pytest.mark.parametrize("size", (1, 2, 5, 50))
@pytest.mark.parametrize("seed, n, flexible", [(1, 12, 0.0), (2, 25, 0.0), (3, 9, 0.5), (4, 8, 1.0)])
def test_any_cut_gives_the_numbers_of_the_recursion(seed, n, flexible, size):
    tree = random_tree(seed, n, flexible)
    q, v, a, wrenches = random_state(tree, seed)
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.4, 1.0):  # second kind, mixed, first kind
        motion = rng.random(tree.nv) < share
        known = np.where(motion, a, rng.normal(size=tree.nv))
        expected = mixed(tree, q, v, known, motion, wrenches)
        found = mixed_by_superelements(tree, q, v, known, motion, size, wrenches)
        for ours, theirs in zip(found, expected):
            assert largest(ours - theirs) <= 1e-11 * largest(theirs)


@pytest.mark.parametrize("size", (1, 3, 7))
def test_parts_are_connected_and_hold_every_coordinate_once(size):
    tree = random_tree(7, 30, 0.3)
    cut, parts = superelements(tree, size)
    head = cut.head
    assert sorted(np.concatenate([part.coordinates for part in parts])) == list(range(tree.nv))
    assert sorted(name for part in parts for name in part.bodies) == sorted(tree.node)
    assert all(1 <= len(part.bodies) <= size for part in parts)
    for i in range(1, tree.nodes):
        assert head[i] == i or head[tree.flat.node[i, PARENT]] == head[i]
    for number, part in enumerate(parts):
        above = int(tree.flat.node[tree.node[part.bodies[0]], PARENT])
        assert part.parent is None if head[above] == 0 else tree.node[parts[part.parent].bodies[0]] == head[above]
        assert part.parent is None or part.parent < number


def test_a_superelement_without_bodies_is_refused():
    with pytest.raises(ValueError, match="at least one body"):
        superelements(random_tree(1, 3), 0)
