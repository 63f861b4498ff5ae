"""A circuit's values just behind an instant at which they jump: a transistor can no longer carry a coil's current, no
capacitance slows its node.

Charges and fluxes stay; all else is solved for by one step of implicit Euler, so short that they hardly move, with
Newton's method whose unknowns are limited one by one (netsim.initial.static.homotopy): no guess is near, and no shorter
step brings one nearer.
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.linear.columns import Columns
from netsim.core.newton import set_coefficients
from netsim.equations.machine import Machine
from netsim.initial.static.held import Held
from netsim.initial.static.homotopy import limited_newton
from netsim.initial.static.rest import Rest, carried_unknowns, step_matrix
from netsim.initial.static.search import Search

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class EulerEquations(Rest):
    """The equations of a step of implicit Euler of size 1/alpha; the histories of differentiated quantities stand in
    g."""

    alpha: float = 0.0

    def evaluate(self, g: Array) -> tuple[Array, Columns]:
        pattern = self.machine.system.pattern
        residual, entries = step_matrix(self.machine, g, 1.0, 0.0, self.alpha)
        return residual, Columns((self.n, self.n), pattern.indptr, pattern.indices, entries)

    def settled(self, g: Array, residual: Array) -> bool:
        return False


def reinitialise(machine: Machine, g: Array, differentiated: Array, h: float) -> tuple[Array, Array, Array] | None:
    """Values, differentiated quantities and their rates h behind the point in g, which has the time and the prescribed
    inputs of there and the values to start from.

    None where none are found. Only for networks in which nothing moves."""
    layout, problem = machine.system.layout, machine.problem
    g = g.copy()
    g[layout.history : layout.history + layout.nq] = -differentiated / h
    weight = np.array(machine.system.nominals)
    nothing = np.zeros(machine.system.n, bool)
    carried, unit = carried_unknowns(machine, weight)
    held = Held(nothing, nothing, g, np.zeros(0), np.zeros(0))
    start = g[layout.y : layout.history]
    within = EulerEquations(machine, start, nothing, held, weight, carried, unit, nothing, 1.0 / h)
    with np.errstate(all="ignore"):
        if not limited_newton(Search(within, g, np.where(carried, unit, 0.0)), free=0):
            return None
    out = np.zeros(machine.system.out_size)
    set_coefficients(g, 1.0, 0.0, 0.0, 1.0 / h)
    run_table(problem.residual, g, out)
    found = out[layout.differentiated_results : layout.differentiated_results + layout.nq]
    return g[layout.y : layout.y + layout.ny], found, (found - differentiated) / h
