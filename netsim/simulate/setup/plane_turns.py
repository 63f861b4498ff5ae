"""Whole turns of what turns in a plane, where the search for a start begins.

A mechanism has the same pose a turn on, but a hinge written at 350 deg would be turned by 350 deg from where it is
drawn, and drag its loop along. Equations that read angles alone (of a slider that does not turn, a weld, a gear, of
written and prescribed angles) say L dphi = -r. Their solution of least sum |dphi|, which turns the fewest bodies, is
rounded to whole turns; the search goes the rest, half a turn at most.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, columns_of
from netsim.core.newton import set_time
from netsim.equations.forms.turns import TURN
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import start_rows
from netsim.initial.consistent.derivatives import derivative, partial_values
from netsim.library.component import is_body, is_kinematic, turns
from netsim.structure.orders import Signature

Array = np.ndarray
TIE = 1e-9
"""Half a turn and this part of a turn more is still half a turn forwards."""
HALF = TURN * (0.5 + TIE)
LATER = 1e-3
"""By how much less it costs to turn the last body than the first, where either serves."""


@dataclass(frozen=True, eq=False)
class Relations:
    """Equations and written starts that read angles in the plane alone, with their derivatives by the angles (rows,
    angles)."""

    machine: Machine
    found: Signature
    equations: Array
    starts: tuple[StartRow, ...]
    slopes: Columns

    def missed(self, g: Array) -> Array:
        """By how much each is missed at g."""
        size = self.found.size
        values = derivative(self.machine, g, 0, size, np.zeros(size, np.int64))[self.equations]
        return np.append(values, [row.linearise(self.machine, g)[0] for row in self.starts])

    def turned(self, missed: Array, bodies: Array) -> Array:
        """The change of the angles that turns `bodies` by whole turns, and shafts as these then ask."""
        near = np.flatnonzero(np.abs(missed[: len(self.equations)]) <= HALF)
        slopes = self.slopes.sparse.tocsr()
        change = least(slopes, -missed)
        change[bodies] = TURN * np.ceil(change[bodies] / TURN - 0.5 - TIE)
        change[~bodies] = least(slopes[near][:, ~bodies], -(slopes[near][:, bodies] @ change[bodies]))
        return change


def least(matrix: Any, wanted: Array) -> Array:
    """x of least sum of magnitudes with matrix x = wanted; zero where there is none."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack

    count = matrix.shape[1]
    if not count:
        return np.zeros(0)
    cost = np.tile(1.0 - LATER * np.arange(count) / count, 2)
    solved = linprog(cost, A_eq=hstack([matrix, -matrix]), b_eq=wanted, bounds=(0, None))
    return np.zeros(count) if solved.x is None else solved.x[:count] - solved.x[count:]


def begun_at_plane_turns(machine: Machine, found: Signature) -> Machine:
    """The machine whose angles in the plane begin at the whole turns that written starts and sources ask for."""
    angles, bodies = plane_angles(machine)
    if not bodies.any():
        return machine
    g = machine.g.copy()
    set_time(machine.struct, g, 0.0)
    relations = relations_of(machine, found, angles, g)
    missed = relations.missed(g)
    if not HALF < np.abs(missed).max(initial=0.0) < np.inf:  # what is not finite is told where it is solved
        return machine
    g[machine.system.layout.unknown(angles, 0)] += relations.turned(missed, bodies)
    return replace(machine, g=g) if np.linalg.norm(relations.missed(g)) < np.linalg.norm(missed) else machine


def plane_angles(machine: Machine) -> tuple[Array, Array]:
    """Unknowns that are angles of bodies in a plane and of shafts, and which are those of bodies."""
    system, found, bodies = machine.system, list[int](), list[bool]()
    for node, first in zip(system.network.nodes, system.numbering.first):
        if is_kinematic(node.domain) and not turns(node.domain):
            units = [quantity.unit for quantity, _ in across_scalars(node.domain)]
            here = [int(first) + i for i, unit in enumerate(units) if unit == "rad/s"]
            found, bodies = found + here, bodies + [is_body(node.domain)] * len(here)
    return np.array(found, np.int64), np.array(bodies, bool)


def relations_of(machine: Machine, found: Signature, angles: Array, g: Array) -> Relations:
    """What reads angles alone, linearised at g."""
    column = np.full(found.size + 1, -1)
    column[angles] = np.arange(len(angles))
    alone = (column[found.variable] >= 0) & (found.order == 0)
    equations = np.setdiff1d(found.equation[found.kept & alone], found.equation[found.kept & ~alone])
    starts = tuple(
        row
        for row in start_rows(machine.system, machine.values)
        if row.word == "start" and not row.orders.any() and np.all(column[row.variables] >= 0)
    )
    row_of = np.full(found.size + 1, -1)
    row_of[equations] = np.arange(len(equations))
    at = np.flatnonzero(found.kept & (row_of[found.equation] >= 0))
    rows, columns, values = [row_of[found.equation[at]]], [column[found.variable[at]]], [partial_values(machine, g)[at]]
    for i, row in enumerate(starts, len(equations)):
        rows.append(np.full(len(row.variables), i))
        columns.append(column[row.variables])
        values.append(row.linearise(machine, g)[1])
    shape = len(equations) + len(starts), len(angles)
    slopes = columns_of(np.concatenate(values), np.concatenate(rows), np.concatenate(columns), shape)
    return Relations(machine, found, equations, starts, slopes)
