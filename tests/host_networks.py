"""What a written start may say of the networks in which each component of the library stands between hosts."""

import casadi as ca
from hosts import ALONE, LIBRARY

from operating_points import Element

STATES = {
    "electrical": ("v",), "thermal": ("T",), "hydraulic": ("p",), "gas": ("p", "T"), "translational": ("x", "v"), "rotational": ("phi", "w"),
    "planar": ("r.x", "r.y", "phi", "v.x", "v.y", "w"), "spatial": ("r.x", "r.y", "r.z", "R", "v.x", "v.y", "v.z", "w.x", "w.y", "w.z"),
}  # fmt: skip
"""What a written start may say of a node with its host."""


def states(name):
    """Signals of a hosted component that a start may speak of: of its nodes, and its own differentiated unknowns (vectors whole)."""
    terminals = LIBRARY.components[name].definition.terminals
    nodes = [f"n{k}.{q}" for k, t in enumerate(terminals, 1) for q in (() if name in ALONE else STATES.get(t.domain, ()))]
    form = Element(name).form

    def differentiated(*key):
        return any(ca.is_equal(ca.SX(q), form.symbols.at(key, 0)) for q in form.differentiated)

    own = dict.fromkeys("x." + text.partition("[")[0].partition(".")[0] for i, text in enumerate(form.own) if differentiated("own", i))
    signals = [f"n{k}" for k, t in enumerate(terminals, 1) if t.domain == "signal" and t.direction == "out" and differentiated("node", k - 1, 0)]
    return [*nodes, *signals, *own]
