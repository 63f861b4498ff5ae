"""Forces and couples between two bodies of a tree as these stand: wrenches on both, for the recursions of
`netsim.multibody.tree`.

A couple T about n, which travels with the first body, is T R1 n on the second body and the opposite on the first. A
force F along n acts on both at the place where a point of the second body is.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.multibody.tree.kinematics import outward
from netsim.multibody.tree.model import PARENT
from netsim.multibody.tree.spatial import to_ground

Array = np.ndarray


class Pushes(NamedTuple):
    """The tree's nodes (n, 2), the axis in the first one's axes (n, 3), the point in the second one's frame (n, 3),
    which are couples (n,), the slots of the inputs (n,)."""

    nodes: Array
    axis: Array
    at: Array
    couple: Array
    slots: Array


@compiled
def add_push_wrenches(t, q, pushes, g, zero, m, world, wrenches):
    """wrenches (n, 6) = what the pushes do at q, in the nodes' own axes about their origins; Motion, world (n, 12) and
    zero (nv,) are room."""
    wrenches[:] = 0.0
    outward(t, q, zero, zero, m)
    world[0] = m.frame[0]
    for i in range(1, len(t.node)):
        to_ground(world, t.node[i, PARENT], m.frame, i)
    along, place, back = np.empty(3), np.empty(3), np.empty(3)
    for s in range(len(pushes.nodes)):
        first, second = pushes.nodes[s, 0], pushes.nodes[s, 1]
        effort = g[pushes.slots[s]]
        for r in range(3):
            along[r] = place[r] = 0.0
            for c in range(3):
                along[r] += world[first, 3 * r + c] * pushes.axis[s, c] * effort
                place[r] += world[second, 3 * r + c] * pushes.at[s, c]
            place[r] += world[second, 9 + r]
            back[r] = -along[r]
        _act(world, second, along, place, pushes.couple[s], wrenches)
        _act(world, first, back, place, pushes.couple[s], wrenches)


@compiled
def _act(world, i, along, place, couple, wrenches):
    """A couple, or a force at a place, in the ground's axes, onto node i."""
    x, y, z = place[0] - world[i, 9], place[1] - world[i, 10], place[2] - world[i, 11]
    a, b, c = along
    turn = (a, b, c) if couple else (y * c - z * b, z * a - x * c, x * b - y * a)
    for r in range(3):
        for k in range(3):
            part = world[i, 3 * k + r]
            wrenches[i, 3 + r] += part * turn[k]
            if not couple:
                wrenches[i, r] += part * along[k]
