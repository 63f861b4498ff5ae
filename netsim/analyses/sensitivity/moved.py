"""A task under other values of parameters and written starts."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from netsim.analyses.analysis import Task
from netsim.equations.machine import build_machine
from netsim.initial.reactions.redundancy import solvable
from netsim.network.given import written_starts
from netsim.network.values import Values
from netsim.structure.orders import absent_rates
from netsim.text.syntax import Number


def moved(task: Task, values: Mapping[str, float]) -> Task:
    """The task where parameters, and starts (`m1.x.start`), have these values in SI. Nothing is compiled anew; orders
    of differentiation are found anew where other rates vanish (a capacitance of zero). Raises `InputError` for values
    out of bounds."""
    starts = written_starts(task.network)
    given = {name: Number(float(value), "") for name, value in values.items()}
    written = {id(starts[name]): number for name, number in given.items() if name in starts}
    beginnings = tuple(replace(b, value=written.get(id(b), b.value)) for b in task.network.beginnings)
    network = replace(task.network, beginnings=beginnings) if written else task.network
    changed = {name: number for name, number in given.items() if name not in starts}
    known = Values(network, {**task.values.overrides, **changed})
    system, structure = task.machine.system, task.structure
    system = replace(system, network=network) if written else system
    absent = absent_rates(system, known)
    if not np.array_equal(absent, absent_rates(task.machine.system, task.values)):
        system, structure = solvable(system, known, absent)
    machine = build_machine(system, known, task.earlier)
    return replace(task, network=network, values=known, build=lambda: (machine, structure))
