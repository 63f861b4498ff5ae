"""The definitions of all differentiated quantities as one call table, for differentiated quantities of many points."""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.consistent.derivatives import equations_of

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class DifferentiatedPlan:
    """The definitions q - expr = 0 of all differentiated quantities as one call table, where it writes them, and their
    slots."""

    table: Array
    sums: Array
    rows: Array
    differentiated: Array
    alive: list[Call]


def plan_differentiated(machine: Machine) -> DifferentiatedPlan:
    """The definitions of a machine's differentiated quantities (absolute formulation)."""
    layout, every = machine.system.layout, np.arange(machine.system.layout.nq)
    calls = equations_of(machine, machine.system.n + every, 0)
    rows = layout.equation(machine.system.n + every)
    return DifferentiatedPlan(
        call_table(calls, layout.uniforms),
        np.zeros(machine.system.out_size),
        rows,
        layout.differentiated(every, 0),
        calls,
    )


def set_planned_differentiated(plan: DifferentiatedPlan, g: Array) -> None:
    """Differentiated quantities from their definitions, in place: `netsim.initial.initial.set_differentiated` for many
    points."""
    plan.sums[:] = 0.0
    run_table(plan.table, g, plan.sums)
    g[plan.differentiated] -= plan.sums[plan.rows]
