"""What is varied: parameters and starts by name, and what the network's numbers change by with each of them.

Components are differentiated symbolically by their own parameters (see tangents.py beside this). How these, places,
starts and time events depend on what is varied is arithmetic of the netlist, taken by differences of order 4 that are
exact up to degree 4 and otherwise to some 1e-12.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.signals.inputs import CENTRAL, STENCILS
from netsim.equations.machine import Machine, build_machine
from netsim.equations.starts.written import start_rows
from netsim.initial.initial import Structure
from netsim.network.given import refuse_unknown, value_of, written_starts
from netsim.network.values import Values
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.typed import evaluate
from netsim.text.syntax import Number
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray
STEP = 2.0**-11
"""The step of differences of order 4, as a share of what is varied: what h^4 leaves of 1/p and rounding over h meet
near 1e-12."""


@dataclass(frozen=True, eq=False)
class Point:
    """A machine under changed values, with its consistent start, time events and parameters by position."""

    machine: Machine
    start: Array
    time_events: Array

    @property
    def parameters(self) -> list[Array]:
        """Parameters of all batches and functions of time, in the order of the system's."""
        system = self.machine.system
        return [self.machine.parameters[id(each)] for each in (*system.batches, *system.prescribed_inputs)]


@dataclass(frozen=True)
class LocalParameter:
    """Derivatives by a parameter of one element of a circuit: of the parameters at a position of a batch, by its key,
    and of the differentiated quantities at the start (nq). Nothing else depends on it."""

    key: int
    position: int
    parameters: Array
    quantities: Array


@dataclass(frozen=True, eq=False)
class VariedQuantity:
    """A parameter or a start: its value (SI), the points around it, how far they are off, and the weights of their
    difference; instead of points what is `local` to an element. A `direction` of the start (size) is its derivative:
    the points are then all the same."""

    name: str
    value: float
    dimension: Dimension
    points: tuple[Point, ...]
    shares: tuple[float, ...]
    weights: tuple[float, ...]
    is_start: bool = False
    local: LocalParameter | None = None
    direction: Array | None = None

    def values(self, values: Values, step: float) -> Values:
        """Values of the network where this is larger by `step`."""
        return values if self.is_start else values.changed({self.name: Number(self.value + step)})

    def change(self, found: Callable[[Point], Array]) -> Array:
        """The derivative of what is found of a point: exactly 0 where that is the same for all points."""
        first, *others = map(found, self.points)
        return np.asarray(sum(w * (each - first) for w, each in zip(self.weights[1:], others)))


def direction(machine: Machine, g: Array, time_events: Array, along: Array) -> VariedQuantity:
    """Starts g + s `along` (size), with s of ordinary size 1."""
    weights = tuple(w / STEP for w in CENTRAL[1])
    shares = tuple(s * STEP for s in CENTRAL[0])
    points = (Point(machine, g, time_events),) * len(weights)
    return VariedQuantity("start", 0.0, NO_DIMENSION, points, shares, weights, is_start=True, direction=along)


def varied_quantity(
    task: Task, name: str, options: Any, span: Span | None, place: Callable[..., Point],
    local: Callable[[str, float], LocalParameter | None] = lambda name, value: None,
) -> VariedQuantity:  # fmt: skip
    """What a name stands for, by what is `local` to an element or by points around its value; raises `InputError` for a
    name that is neither parameter nor start, or no number."""
    is_start = name in written_starts(task.network)
    value, dimension, under = _of_start(task, name) if is_start else _of_parameter(task, name, span)
    if not is_start and (found := local(name, value)) is not None:
        return VariedQuantity(name, value, dimension, (), (), (), local=found)
    step = STEP * (abs(value) or 1.0)
    for shares, weights in STENCILS:
        try:
            points = tuple(place(*under(value + share * step), options) for share in shares)
        except InputError as wrong:
            refused = wrong
            continue
        sizes = {(len(p.start), len(p.parameters), len(p.time_events)) for p in points}
        if len(sizes) > 1:
            message = f"the network changes its structure where '{name}' changes"
            raise InputError(Problem("E471", message, span, hint="vary what leaves time events in place"))
        return VariedQuantity(
            name, value, dimension, points, tuple(s * step for s in shares), tuple(w / step for w in weights), is_start
        )
    raise refused


def check_varied(task: Task, name: str, span: Span | None) -> None:
    """Raises `InputError` for a name that is neither parameter nor start, or no number."""
    if name in written_starts(task.network):
        _of_start(task, name)
    else:
        _of_parameter(task, name, span)


def placed_at(machine: Machine, structure: Structure, options: Any) -> Point:
    """A machine at its consistent start."""
    machine, structure, g, _ = start_of_run(machine, structure, options.start)
    return Point(machine, g, time_events_of(machine, options.stop))


def _of_parameter(task: Task, name: str, span: Span | None) -> tuple[float, Dimension, Callable[[float], Any]]:
    refuse_unknown(task.network, name, span)
    found = value_of(task.values, name)
    if np.ndim(found.value):
        hint = f"it has {counted(np.size(found.value), 'component')}: give them parameters of their own"
        raise InputError(Problem("E204", f"'{name}' is no single number", span, hint=hint))

    def under(value: float) -> tuple[Machine, Structure]:
        values = task.values.changed({name: Number(value)})
        return build_machine(task.machine.system, values, task.earlier), task.structure

    return float(found.value), found.dimension or NO_DIMENSION, under


def dimension_of(task: Task, name: str) -> Dimension | None:
    """The dimension of a parameter or a start."""
    start = written_starts(task.network).get(name)
    found = evaluate(start.value, task.values.scope(start.frame)) if start else value_of(task.values, name)
    return found.dimension  # type: ignore[no-any-return]


def _of_start(task: Task, name: str) -> tuple[float, Dimension, Callable[[float], Any]]:
    machine = task.machine
    beginning = written_starts(task.network)[name]
    rows = [row for row in start_rows(machine.system, machine.values) if row.path == beginning.path]
    if len(rows) != 1:
        hint = "give its components starts of their own"
        raise InputError(
            Problem("E204", f"the start of '{beginning.path}' is no single number", beginning.span, hint=hint)
        )
    dimension = evaluate(beginning.value, task.values.scope(beginning.frame)).dimension or NO_DIMENSION

    def under(value: float) -> tuple[Machine, Structure]:
        other = replace(beginning, value=Number(value, ""))
        written = tuple(other if b is beginning else b for b in task.network.beginnings)
        network = replace(task.network, beginnings=written)
        return replace(machine, system=replace(machine.system, network=network)), task.structure

    return float(rows[0].target), dimension, under


def start_changes(machine: Machine, of: Sequence[VariedQuantity]) -> Array:
    """Derivatives of the start, one row for each that is varied, (p, size)."""
    layout, found = machine.system.layout, np.zeros((len(of), machine.system.layout.size))
    contents = layout.differentiated(np.arange(layout.nq), 0)
    for row, each in zip(found, of):
        if each.local:
            row[contents] = each.local.quantities
        elif each.direction is not None:
            row[:] = each.direction
        else:
            row[:] = each.change(lambda p: p.start)
    return found


def event_changes(of: Sequence[VariedQuantity], count: int) -> Array:
    """Derivatives of the instants of time events, (p, count)."""
    return np.array(
        [each.change(lambda p: p.time_events) if count and not each.local else np.zeros(count) for each in of]
    )


def parameter_changes(machine: Machine, each: VariedQuantity) -> Mapping[int, Array]:
    """Derivatives of the parameters of batches and functions of time, by the machine's own keys."""
    if each.local:
        found = {key: np.zeros_like(values) for key, values in machine.parameters.items()}
        found[each.local.key][:, each.local.position] = each.local.parameters
        return found
    items = (*machine.system.batches, *machine.system.prescribed_inputs)
    return {id(item): each.change(lambda p, k=k: p.parameters[k]) for k, item in enumerate(items)}  # type: ignore[misc]
