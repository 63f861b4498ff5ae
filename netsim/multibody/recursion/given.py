"""What is known of a tree's coordinates: prescribed motions, and forces of sources and of pushes between bodies."""

from typing import Any, NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.core.newton import set_time
from netsim.multibody.jointspace.joints import REVOLUTE
from netsim.multibody.recursion.bodies import NetworkTree
from netsim.multibody.recursion.pushes import Pushes
from netsim.multibody.recursion.sources import POSITION, SPEED
from netsim.multibody.recursion.states import places
from netsim.multibody.tree.algorithms.superelements import Cut

Array = np.ndarray


class GivenMotion(NamedTuple):
    """The tree's superelements, and what is known of coordinates: motion (nv) marks, place in q (nv); for each source
    its coordinate, its prescribed input's slots (value, rate, second rate), its share, and what that is of the
    coordinate; and the pushes between bodies. Truncated: the equations M v' + dV/dq = tau."""

    motion: Array
    places: Array
    coordinate: Array
    slots: Array
    share: Array
    what: Array
    pushes: Pushes
    cut: Cut
    truncated: bool


@compiled
def set_given(given, problem, g, t, q, v, known):
    """Prescribed motions into q, v and known accelerations; forces into known."""
    for k in range(len(known)):
        known[k] = 0.0
    if len(given.coordinate) + len(given.pushes.nodes) > 0:
        set_time(problem, g, t)
    for s in range(len(given.coordinate)):
        k = given.coordinate[s]
        if given.what[s] == POSITION:
            q[given.places[k]] = given.share[s] * g[given.slots[s, 0]]
            v[k] = given.share[s] * g[given.slots[s, 1]]
            known[k] = given.share[s] * g[given.slots[s, 2]]
        elif given.what[s] == SPEED:
            v[k] = given.share[s] * g[given.slots[s, 0]]
            known[k] = given.share[s] * g[given.slots[s, 1]]
        elif not given.motion[k]:
            known[k] += given.share[s] * g[given.slots[s, 0]]


def given_of(found: NetworkTree, layout: Any, cut: Cut, truncated: bool = False) -> GivenMotion:
    """The arrays of what is known."""
    sources, pushes = found.sources, found.pushes
    slots = [layout.prescribed(np.array([s.prescribed for s in sources], np.int64), order) for order in range(3)]
    frames = [(found.frames[p.source.nodes[0]], found.frames[p.source.nodes[1]]) for p in pushes]
    return GivenMotion(
        found.motion,
        places(found.tree),
        np.array([s.coordinate for s in sources], np.int64),
        np.stack(slots, axis=1).astype(np.int64).reshape(-1, 3),
        np.array([s.share for s in sources], float),
        np.array([s.what for s in sources], np.int64),
        Pushes(
            np.array([(found.node(a), found.node(b)) for a, b in frames], np.int64).reshape(-1, 2),
            np.array([a.axes.T @ p.acting.axis for p, (a, _) in zip(pushes, frames)], float).reshape(-1, 3),
            np.array([b.axes.T @ (p.acting.at - b.origin) for p, (_, b) in zip(pushes, frames)], float).reshape(-1, 3),
            np.array([p.acting.kind == REVOLUTE for p in pushes], np.bool_),
            layout.prescribed(np.array([p.prescribed for p in pushes], np.int64), 0).astype(np.int64),
        ),
        cut,
        truncated,
    )
