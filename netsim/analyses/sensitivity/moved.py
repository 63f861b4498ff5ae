"""A task under other values of parameters and written starts."""

from collections.abc import Mapping
from dataclasses import replace

from netsim.analyses.analysis import Task
from netsim.equations.machine import build_machine
from netsim.network.given import written_starts
from netsim.network.values import Values
from netsim.text.syntax import Number


def moved(task: Task, values: Mapping[str, float]) -> Task:
    """The task where parameters, and starts (`m1.x.start`), have these values in SI. Nothing is compiled anew; orders
    of differentiation are those of the task. Raises `InputError` for values out of bounds."""
    starts = written_starts(task.network)
    given = {name: Number(float(value), "") for name, value in values.items()}
    written = {id(starts[name]): number for name, number in given.items() if name in starts}
    beginnings = tuple(replace(b, value=written.get(id(b), b.value)) for b in task.network.beginnings)
    network = replace(task.network, beginnings=beginnings) if written else task.network
    changed = {name: number for name, number in given.items() if name not in starts}
    known = Values(network, {**task.values.overrides, **changed})
    system = replace(task.machine.system, network=network) if written else task.machine.system
    machine = build_machine(system, known, task.earlier)
    return replace(task, network=network, values=known, build=lambda: (machine, task.structure))
