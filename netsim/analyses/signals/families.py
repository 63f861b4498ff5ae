"""What operating points are varied by: inputs and parameters by name, `family = [gate.v = [1 V, 2 V, 3 V]]`: one curve
for each value, of several each with each."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.analysis import OptionSource, Task
from netsim.analyses.signals.inputs import parameter, source_inputs
from netsim.analyses.signals.options import numbers
from netsim.core.newton import set_time
from netsim.core.problem import PRESCRIBED_ORDERS, TIME
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import System, build_system
from netsim.network.network import Network, parameter_names
from netsim.network.values import Values
from netsim.results.measures import member_words
from netsim.results.samples import Signal
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.from_python import expressions_given
from netsim.text.expressions.show import show_expression
from netsim.text.limits import check_limit
from netsim.text.syntax import Binary, Name, Vector
from netsim.text.units import parse_unit

Array = np.ndarray
EXAMPLE = "family = [gate.v = [1 V, 2 V, 3 V]]"

PARAMETERS = "family = [r1.R = [1 kOhm, 2 kOhm]]"


@dataclass(frozen=True, eq=False)
class Member:
    """An input or a parameter and its values (SI)."""

    signal: Signal
    values: Array

    @property
    def name(self) -> str:
        """As the user calls it."""
        return self.signal.name


def find_member(name: str, network: Network, span: Span | None, hint: str) -> Signal:
    """The input or parameter of this name with its unit; raises `InputError` (E429)."""
    sources = source_inputs(build_system(network))
    if name in sources:
        return sources[name][0]
    if name in parameter_names(network):
        return parameter(Values(network), name)[0]
    hint = nearest(name, [*sources, *parameter_names(network)]) or hint
    raise InputError(Problem("E429", f"'{name}' is no input and no parameter", span, hint=hint))


def family_of(given: Any, line: OptionSource, inputs: bool = True) -> tuple[Member, ...]:
    """The members that `family` lists, `inputs` among them or parameters alone; raises `InputError`."""
    expr = expressions_given("family", given) if given is not None else Vector(())
    members = list[Member]()
    for item in expr.items if isinstance(expr, Vector) else (expr,):
        if not (isinstance(item, Binary) and item.op == "=" and isinstance(item.left, Name)):
            raise InputError(Problem("E424", "this must be a name and its values", item.span, hint=EXAMPLE))
        signal = find_member(show_expression(item.left), line.network, item.left.span, EXAMPLE)
        if not inputs and signal.name not in parameter_names(line.network):
            raise InputError(Problem("E429", f"'{signal.name}' is no parameter", item.left.span, hint=PARAMETERS))
        values = numbers(item.right, line, parse_unit(signal.unit).dimension)
        members.append(Member(signal, np.array(values)))
    count = float(np.prod([float(len(m.values)) for m in members])) if members else 1.0
    check_limit("cases", count, f"these are {count:.4g} curves", line.spans.get("family"))
    return tuple(members)


def combinations(members: Sequence[Member]) -> Iterator[dict[str, float]]:
    """Values by name, the first member fastest."""
    for values in itertools.product(*(m.values.tolist() for m in reversed(members))):
        yield dict(zip((m.name for m in reversed(members)), values))


def tasks(task: Task, members: Sequence[Member]) -> Iterator[tuple[str, Task]]:
    """The task under each combination of parameters, with the words ` at r1.R = 1000 Ohm` behind the names of its
    signals ('' without a family)."""
    units = {m.name: m.signal.unit for m in members}
    for values in combinations(members):
        yield member_words(values, units), task.under(values) if values else task


def slot_of(system: System, name: str) -> int:
    """Where an input stands in g, -1 for a parameter; raises `InputError` for one that other signals prescribe."""
    sources = source_inputs(system)
    if name not in sources:
        return -1
    _, number, row = sources[name]
    if row >= 0:
        raise InputError(Problem("E429", f"'{name}' follows other signals and cannot be swept"))
    return int(system.layout.prescribed(np.array([number]), 0)[0])


def under(task: Task, machine: Machine, g: Array, values: Mapping[str, float]) -> tuple[Task, Machine]:
    """The task and the machine with these values: those of inputs are written into g."""
    slots = {name: slot_of(machine.system, name) for name in values}
    if parameters := {name: values[name] for name, slot in slots.items() if slot < 0}:
        task = task.under(parameters)
        machine = build_machine(machine.system, task.values, machine.earlier)
    prescribe(machine, g, {slot: values[name] for name, slot in slots.items() if slot >= 0})
    return task, machine


def prescribe(machine: Machine, g: Array, held: Mapping[int, float]) -> None:
    """Write what the machine prescribes at its time into g, at rest, but for slots that are held at values."""
    layout = machine.system.layout
    set_time(machine.problem, g, float(g[TIME]))
    for order in range(1, PRESCRIBED_ORDERS):
        g[layout.prescribed(np.arange(layout.nd), order)] = 0.0
    for slot, value in held.items():
        g[slot] = value
