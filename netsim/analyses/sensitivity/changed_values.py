"""A task under other values of parameters and written starts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.equations.machine import build_machine
from netsim.initial.reactions.redundancy import solvable
from netsim.network.given import written_starts
from netsim.network.network import Network
from netsim.structure.orders import absent_rates
from netsim.text.syntax import Expr, Number


def task_with_values(task: Task, values: Mapping[str, float]) -> Task:
    """The task where parameters, and starts (`m1.x.start`), have these values in SI. Nothing is compiled anew; orders
    of differentiation are found anew where other rates vanish (a capacitance of zero). Raises `InputError` for values
    out of bounds."""
    network, changed = changed_network(task.network, values)
    known = task.values.changed(changed, network)
    system, structure = task.machine.system, task.structure
    system = replace(system, network=network) if network is not task.network else system
    absent = absent_rates(system, known)
    if not np.array_equal(absent, absent_rates(task.machine.system, task.values)):
        system, structure = solvable(system, known, absent)
    machine = build_machine(system, known, task.earlier)
    return replace(task, network=network, values=known, build=lambda: (machine, structure))


def changed_network(network: Network, values: Mapping[str, Any]) -> tuple[Network, dict[str, Expr]]:
    """The network with those of the values that are of written starts, and the others, of parameters."""
    starts = written_starts(network)
    given: dict[str, Expr] = {name: Number(value, "") for name, value in values.items()}
    written = {id(starts[name]): number for name, number in given.items() if name in starts}
    changed = {name: number for name, number in given.items() if name not in starts}
    if not written:
        return network, changed
    beginnings = tuple(replace(b, value=written.get(id(b), b.value)) for b in network.beginnings)
    return replace(network, beginnings=beginnings), changed
