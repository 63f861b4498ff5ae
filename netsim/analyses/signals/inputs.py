"""Inputs of a linearised network: what a source or a component reads (`src.v`, or `src` where it reads one number), and
parameters (`r1.R`, `supply`); by each, the columns of W(s) and D(s)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from netsim.analyses.analysis import Task
from netsim.analyses.signals.linearised import Linearised, Powers, shown_at
from netsim.core.compiled.call import run_table
from netsim.core.newton import set_coefficients, set_time
from netsim.core.problem import TIME
from netsim.equations.machine import Machine, build_machine
from netsim.equations.numbering import suffixes
from netsim.equations.system import System
from netsim.library.component import scalar_count, sizes_of
from netsim.network.given import value_of
from netsim.network.network import parameter_names
from netsim.network.values import Values
from netsim.results.samples import Signal
from netsim.results.selection import Selection
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.units import NO_DIMENSION, parse_unit

Array = np.ndarray
STEP = 1e-4
"""The share of a parameter by which it is moved; with four points the error is of the order STEP^4."""

CENTRAL = ((-2, -1, 1, 2), (1 / 12, -8 / 12, 8 / 12, -1 / 12))
ONE_SIDED = ((0, 1, 2, 3, 4), (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4))
STENCILS = (CENTRAL, ONE_SIDED, (tuple(-s for s in ONE_SIDED[0]), tuple(-w for w in ONE_SIDED[1])))
"""Differences of order 4, (steps, weights): the one-sided ones where a value stands at a bound."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The chosen inputs with their units, W (size, m) and D (p, m) by powers of s, and what they are at the point."""

    signals: tuple[Signal, ...]
    equations: Powers
    outputs: Powers
    values: Array


def inputs_of(lin: Linearised, task: Task, selection: Selection, names: Sequence[str]) -> Inputs:
    """The inputs of these names; raises `InputError` (E429) for what is none."""
    sources, parameters = source_inputs(lin.machine.system), set(parameter_names(lin.machine.system.network))
    count = max(len(lin.equations), len(lin.outputs))
    signals, columns, values, wrong = [], list[list[Any]](), [], list[Problem]()
    for name in names:
        if name in sources:
            signal, number, row = sources[name]
            columns.append(_of_source(lin, number, row, count))
            values.append(lin.g[lin.machine.system.layout.prescribed(np.array([number]), 0)[0]] if row < 0 else 0.0)
        elif name in parameters:
            signal, value = parameter(task.values, name)
            columns.append(_of_parameter(lin, task, selection, name, value, count))
            values.append(value)
        else:
            hint = nearest(name, [*sources, *parameters]) or f"inputs are {', '.join([*sources][:6])} and parameters"
            wrong.append(Problem("E429", f"'{name}' is no input and no parameter", hint=hint))
            continue
        signals.append(signal)
    if wrong:
        raise InputError(wrong)
    size = lin.size
    powers = [hstack([c[k] for c in columns], format="csr") for k in range(count)] if columns else []
    empty = csr_array((size + len(lin.signals), len(columns)))
    powers = powers or [empty]
    return Inputs(tuple(signals), tuple(p[:size] for p in powers), tuple(p[size:] for p in powers), np.array(values))


def source_inputs(system: System) -> dict[str, tuple[Signal, int, int]]:
    """Name -> (signal, number among the prescribed inputs, row): an input that an expression of signals is bound to has
    a row of its own instead. `src` is `src.v` where the element has one scalar input."""
    found: dict[str, tuple[Signal, int, int]] = {}
    for owner, name, number, row in _bound(system):
        inputs = {q.name: q for q in owner.component.definition.inputs}
        sizes = sizes_of(inputs[name].size, dict(owner.counts))
        for c, suffix in enumerate(suffixes(sizes)):
            full = f"{owner.name}.{name}{suffix}"
            signal = Signal(full, inputs[name].unit or "", inputs[name].doc)
            found[full] = (signal, number + c if row < 0 else -1, row + c if row >= 0 else -1)
            if len(inputs) == 1 and not sizes:
                found[owner.name] = found[full]
    return found


def _bound(system: System) -> Iterator[tuple[Any, str, int, int]]:
    for batch in system.batches:
        for k, instance in enumerate(batch.instances if not batch.shapes else ()):
            at = 0
            for quantity in instance.component.definition.inputs:
                key = ("input", at)
                at += scalar_count(sizes_of(quantity.size, dict(instance.counts)))
                if key in batch.prescribed_inputs:
                    yield instance, quantity.name, int(batch.prescribed_inputs[key][k]), -1
                elif key in batch.unknowns:
                    yield instance, quantity.name, -1, int(batch.unknowns[key][k])


def _of_source(lin: Linearised, number: int, row: int, count: int) -> list[Any]:
    """[W; D] by powers: the column of a prescribed input; of a bound one what its row says of itself."""
    if row >= 0:
        first = csr_array(([-lin.equations[0][row, row]], ([row], [0])), shape=(lin.size + len(lin.signals), 1))
        return [first] + [first * 0.0] * (count - 1)
    return [_column(lin, k, lin.size + number) for k in range(count)]


def _column(lin: Linearised, power: int, column: int) -> Any:
    parts = []
    for powers, rows in ((lin.equations, lin.size), (lin.outputs, len(lin.signals))):
        parts.append(powers[power][:, [column]].toarray() if power < len(powers) else np.zeros((rows, 1)))
    return csr_array(np.vstack(parts))


def parameter(values: Values, name: str) -> tuple[Signal, float]:
    """A parameter's unit and value, of the top level, of a subnetwork or of an element; raises `InputError` where it is
    no single number."""
    typed = value_of(values, name)
    if not isinstance(typed.value, int | float):
        raise InputError(Problem("E429", f"'{name}' is not a single number"))
    return Signal(name, unit_of(typed.dimension or NO_DIMENSION)), float(typed.value)


def _of_parameter(lin: Linearised, task: Task, selection: Selection, name: str, value: float, count: int) -> list[Any]:
    """[W; D] of a parameter, by differences of fourth order of everything that reads it."""
    column = csr_array(by_parameter(lin, task, selection, name, value)[:, None])
    return [column] + [csr_array(column.shape)] * (count - 1)


def by_parameter(lin: Linearised, task: Task, selection: Selection, name: str, value: float) -> Array:
    """What residuals, definitions and signals at the point change by with a parameter; raises `InputError` where it
    cannot be moved."""

    def changed(values: Array, weights: Array) -> Array:
        moved = [task.under({name: float(each)}).values for each in values]
        machines = [build_machine(lin.machine.system, each, lin.machine.earlier) for each in moved]
        return np.asarray(sum(w * _all(lin, m, selection) for w, m in zip(weights, machines)))

    return by_differences(value, STEP * (abs(value) or 1.0), changed)


def by_differences(value: float, step: float, changed: Callable[[Array, Array], Array]) -> Array:
    """What something changes by with a parameter of this value: `changed(values, weights)` is its weighted sum at moved
    values. Raises the first `InputError` where none of the stencils may be taken: all leave the parameter's bounds."""
    refused: InputError | None = None
    for shares, weights in STENCILS:
        try:
            return changed(value + step * np.array(shares), np.array(weights) / step)
        except InputError as wrong:
            refused = refused or wrong
    assert refused is not None
    raise refused


def derivative_signal(of: Signal, by: Signal) -> Signal:
    """That of the derivative of a signal by a parameter or an input."""
    ratio = parse_unit(of.unit).dimension / parse_unit(by.unit).dimension
    return Signal(f"d({of.name})/d({by.name})", unit_of(ratio))


def _all(lin: Linearised, machine: Machine, selection: Selection) -> Array:
    """Residuals, definitions q - q(u), and signals at the point, by another machine."""
    g, system = lin.g.copy(), machine.system
    set_time(machine.problem, g, float(g[TIME]))
    if len(lin.length):
        g[system.layout.prescribed(lin.machine.problem.buffer.prescribed, 0)] = g[lin.machine.problem.buffer.slot]
    out = np.zeros(system.out_size)
    set_coefficients(g, 1.0, 0.0, 0.0, 0.0)
    run_table(machine.problem.residual, g, out)
    first = system.layout.differentiated_results
    return np.concatenate([out[: system.n], -out[first : first + system.layout.nq], shown_at(machine, g, selection)])
