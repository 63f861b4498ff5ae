"""Written starts in the coordinates of a tree: what nobody speaks of begins at exactly 0.

The written starts are equations of the coordinates q, solved by Newton's method from the placement where the tree is
drawn, with steps of least norm in the coordinates that they read: a joint whose coordinate is written turns, and the
others carry on what hangs on them. Velocities are one linear solution from rest. Where starts contradict one another,
the start solver of the whole network says so (netsim.initial.initial).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netsim.core.newton import set_time
from netsim.equations.machine import Machine
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import start_rows
from netsim.initial.stages import slots
from netsim.multibody.recursion.sources import POSITION, SPEED
from netsim.multibody.recursion.states import Translation, fill, places
from netsim.multibody.tree.algorithms.observers import move
from netsim.multibody.tree.model import neutral

Array = np.ndarray
ROUNDS = 60
LARGEST = 0.5
"""The longest step [rad, m] of Newton's method in a coordinate."""
NEAR, MET = 1e-6, 1e-9
"""Newton's method ends where a step, below the part NEAR, is no shorter than half the one before; starts hold to this
part of them."""


def placed(machine: Machine, t: Translation) -> tuple[Machine, Array, Array] | None:
    """The machine with its bodies where the written starts say, and these q and v; None where no such point is
    found."""
    written = [row for row in start_rows(machine.system, machine.values) if row.word == "start"]
    moving = [
        bool(np.any(row.orders == 1) or np.isin(slots(machine, row.variables, row.orders), t.rates[0]).any())
        for row in written
    ]
    positions, velocities = (
        [row for row, moves in zip(written, moving) if moves == wanted] for wanted in (False, True)
    )
    point = machine.g.copy()
    q, v = _prescribed(machine, t, point)
    for derivative, rows in enumerate((positions, velocities)):
        before = np.inf
        for _ in range(ROUNDS if rows else 0):
            change, missed = _change(machine, t, point, q, v, rows, derivative)
            longest = float(np.abs(change).max(initial=0.0))
            if derivative == 0:
                q = move(t.network_tree.tree, q, change * min(1.0, LARGEST / max(longest, 1e-300)))
            else:
                v = v + change
            if (before < NEAR and longest >= 0.5 * before) or longest == 0.0:
                break
            before = longest
        if rows and np.any(missed > MET * np.abs([row.target for row in rows])):
            return None
    fill(machine, t, q, v, point)
    return replace(machine, g=point), q, v


def _prescribed(machine: Machine, t: Translation, g: Array) -> tuple[Array, Array]:
    """The tree as it is drawn, at rest, but for what sources prescribe at t = 0."""
    found, of_q = t.network_tree, places(t.network_tree.tree)
    q, v = neutral(found.tree), np.zeros(found.tree.nv)
    set_time(machine.problem, g, 0.0)
    for source in found.sources:
        value, rate = (
            source.share * g[machine.system.layout.prescribed(np.array([source.prescribed]), derivative)[0]]
            for derivative in (0, 1)
        )
        if source.what == POSITION:
            q[of_q[source.coordinate]], v[source.coordinate] = value, rate
        elif source.what == SPEED:
            v[source.coordinate] = value
    return q, v


def _change(
    machine: Machine, t: Translation, g: Array, q: Array, v: Array, rows: Sequence[StartRow], derivative: int
) -> tuple[Array, Array]:
    """The change of q (v) of least norm that meets the rows, linearised, and by how much they are missed; coordinates
    that none reads stay."""
    found, layout = t.network_tree, machine.system.layout
    fill(machine, t, q, v, g)
    lines = [(row, slots(machine, row.variables, row.orders).tolist(), *row.linearise(machine, g)) for row in rows]
    at = {
        slot: k
        for own, here in (found.rates if derivative else found.coordinates)
        for slot, k in zip(own.tolist(), range(here.start, here.stop))
    }
    matrix, unit, point = np.zeros((len(rows), found.tree.nv)), np.zeros(found.tree.nv), g.copy()
    for k in np.flatnonzero(~found.motion | (found.speeds & (derivative == 0))):
        unit[k] = 1.0
        fill(machine, t, q, unit, point)  # what moves per unit of the coordinate's rate
        unit[k] = 0.0
        for r, (row, places_, _, factors) in enumerate(lines):
            for variable, order, slot, factor in zip(row.variables, row.orders, places_, factors):
                if slot in at:
                    matrix[r, k] += factor * (at[slot] == k)
                elif order == derivative and variable < layout.nk:
                    matrix[r, k] += factor * point[layout.unknown(np.array([variable]), 1)[0]]
    missed = np.array([value for _, _, value, _ in lines])
    spoken, change = np.flatnonzero(np.abs(matrix).max(axis=0, initial=0.0) > 0.0), np.zeros(found.tree.nv)
    change[spoken] = np.linalg.lstsq(matrix[:, spoken], -missed, rcond=1e-9)[0]
    return change, np.abs(missed)
