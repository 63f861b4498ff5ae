"""The definitions of all charges as one call table, for charges of many points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.recovery import equations_of

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ChargePlan:
    """The definitions q - expr = 0 of all charges as one call table, where it writes them, and the charges' slots."""

    table: Array
    sums: Array
    rows: Array
    charges: Array
    alive: list[Call]


def plan_charges(machine: Machine) -> ChargePlan:
    """The definitions of a machine's charges (absolute formulation)."""
    layout, every = machine.system.layout, np.arange(machine.system.layout.nq)
    calls = equations_of(machine, machine.system.n + every, 0)
    rows = layout.equation(machine.system.n + every)
    return ChargePlan(
        call_table(calls, layout.uniforms), np.zeros(machine.system.out_size), rows, layout.charge(every, 0), calls
    )


def set_planned_charges(plan: ChargePlan, g: Array) -> None:
    """Charges from their definitions, in place: `netsim.initial.initial.set_charges` for many points."""
    plan.sums[:] = 0.0
    run_table(plan.table, g, plan.sums)
    g[plan.charges] -= plan.sums[plan.rows]
