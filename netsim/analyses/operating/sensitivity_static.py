"""`run sensitivity_static(of = out.v, to = [r1.R, src.v])`: derivatives of signals at rest by parameters and inputs.

With the equations at rest F(u, p) = 0 and a signal y = h(u, p) it is dy/dp = h_p - F_p^T a, where F_u^T a = h_u: one
solution for each signal, whatever the number of parameters (`to` none: all parameters and inputs). Derivatives by u are
exact; those by p are differences of fourth order of the element that has the parameter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, NAMES, Kind, items_of
from netsim.analyses.signals.inputs import (
    STEP,
    by_differences,
    by_parameter,
    derivative_signal,
    inputs_of,
    parameter,
    source_inputs,
)
from netsim.analyses.signals.linearised import Linearised, at_zero, shown_at
from netsim.analyses.signals.points import linearised_at
from netsim.equations.batches import Batch
from netsim.equations.kernels.reference import evaluate
from netsim.equations.parameters import moved_parameters
from netsim.equations.prescribed import Prescribed
from netsim.initial.consistent.derivatives import derivative_of
from netsim.network.network import parameter_names
from netsim.network.signals import Reading
from netsim.results.samples import PARAMETER_VALUES, Samples, Signal
from netsim.results.selection import Selection
from netsim.structure.orders import all_equation_numbers
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.from_python import expressions_given
from netsim.text.syntax import Expr

Array = np.ndarray
OPTIONS: dict[str, Kind] = {"of": EXPRESSION, "to": NAMES}
EXAMPLE = "sensitivity_static(of = out.v, to = [r1.R, src.v])"


@dataclass(frozen=True, eq=False)
class SensitivityOptions:
    """Signals; parameters and inputs by name (none: all)."""

    of: tuple[Expr, ...]
    to: tuple[str, ...]


def check(options: Mapping[str, Any], line: OptionSource) -> SensitivityOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    given = options.get("of")
    of = items_of(expressions_given("of", given)) if given is not None else ()
    to = options.get("to", ())
    return SensitivityOptions(of, (to,) if isinstance(to, str) else tuple(to))


def run(task: Task, options: SensitivityOptions) -> Samples:
    """One row: the signals, and the derivative `d(out.v)/d(r1.R)` of each by each parameter."""
    asked = replace(task, saves=options.of, plots=[]) if options.of else task
    ((lin, selection, point),) = linearised_at(asked, ())
    if not lin.signals:
        raise InputError(Problem("E422", "sensitivity_static() needs signals", hint=EXAMPLE))
    at_rest = LinearisedAtRest(at_zero(lin), asked, selection)
    found = dict(at_rest.derivatives(options.to or at_rest.everything(), bool(options.to)))
    values = shown_at(lin.machine, lin.g, selection)
    columns = [*zip(lin.signals, values.tolist())]
    for signal, _, derivatives in found.values():
        for of, derivative in zip(lin.signals, derivatives.tolist()):
            columns.append((derivative_signal(of, signal), derivative))
    attributes = {
        "parameters": ", ".join(found),
        PARAMETER_VALUES: ", ".join(repr(value) for _, value, _ in found.values()),
    }
    row = np.array([[value for _, value in columns]])
    signals = tuple(signal for signal, _ in columns)
    about = (point.about(),)
    return Samples("", np.ones(1), signals, row, attributes=attributes, origin=point.g, axis="row", about=about)


@dataclass(frozen=True, eq=False)
class LinearisedAtRest:
    """The network linearised at rest, what it is asked of, and the signals."""

    lin: Linearised
    task: Task
    selection: Selection

    def everything(self) -> list[str]:
        """All inputs and parameters."""
        sources = source_inputs(self.lin.machine.system)
        inputs = [name for name, (signal, _, row) in sources.items() if name == signal.name and row < 0]
        return [*inputs, *parameter_names(self.task.network)]

    def derivatives(self, names: Sequence[str], wanted: bool) -> Iterator[tuple[str, tuple[Signal, float, Array]]]:
        """Name, unit, value and derivatives (p,) by each; what is no number or cannot be moved is left out unless it
        is `wanted`: then it raises `InputError`."""
        sources, adjoint = source_inputs(self.lin.machine.system), self._adjoint()
        for name in names:
            try:
                if name in sources or name not in self._parameters:
                    inputs = inputs_of(self.lin, self.task, self.selection, [name])
                    signal, value = inputs.signals[0], float(inputs.values[0])
                    parts = np.vstack([inputs.equations[0].toarray(), inputs.outputs[0].toarray()])[:, 0]
                else:
                    signal, value = parameter(self.task.values, name)
                    parts = self._by_parameter(name, value)
            except InputError:
                if wanted:
                    raise
                continue
            size = self.lin.size
            yield signal.name, (signal, value, parts[size:] - adjoint @ parts[:size])

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(parameter_names(self.task.network))

    def _adjoint(self) -> Array:
        """h_u F_u^-1 (p, size); raises `SimulationError` where the operating point is not unique nearby."""
        size = self.lin.size
        matrix = csc_array(self.lin.equations[0][:, :size])
        try:
            return np.asarray(splu(matrix).solve(self.lin.outputs[0][:, :size].toarray().T, trans="T").T)
        except RuntimeError:
            message = "the equations at rest are singular at this point: derivatives do not exist"
            raise SimulationError(Problem("E444", message, hint="netsim check says what nothing determines")) from None

    def _by_parameter(self, name: str, value: float) -> Array:
        """What equations and signals change by: of an element that nothing else reads, this element alone is asked."""
        owner = self._owners.get(name.rpartition(".")[0])
        if owner is None or self._is_shown(*owner):
            return by_parameter(self.lin, self.task, self.selection, name, value)
        batch, k = owner

        def changed(values: Array, weights: Array) -> Array:
            return self._of_element(batch, k, moved_parameters(batch, k, self.task.values, name, values), weights)

        return by_differences(value, STEP * (abs(value) or 1.0), changed)

    def _of_element(self, batch: Batch, k: int, columns: Array, weights: Array) -> Array:
        system, g = self.lin.machine.system, self.lin.g
        kernel, numbers = derivative_of(batch, 0), all_equation_numbers(system, batch)[:, k]
        gathered = np.repeat(g[system.gather(batch, kernel)[:, k]][:, None], len(weights), axis=1)
        outputs = evaluate(kernel.program, gathered, g[system.layout.uniforms], columns)
        found = np.zeros(self.lin.size + len(self.lin.signals))
        np.add.at(found, numbers[numbers >= 0], ((outputs - outputs[:, :1]) @ weights)[numbers >= 0])
        return found

    def _is_shown(self, batch: Batch, k: int) -> bool:
        """Whether a signal is a reading of the element."""
        return any(entry.batch is batch and entry.position == k for entry in self.selection.entries.values())

    @cached_property
    def _owners(self) -> Mapping[str, tuple[Batch, int]]:
        """Batch and position of the elements whose parameters nothing else reads."""
        system = self.lin.machine.system
        items: list[Batch | Prescribed] = [*system.batches, *system.prescribed_inputs]
        read = {s.instance for item in items for shape in item.shapes for s in shape.signals if isinstance(s, Reading)}
        lent = {system.network.instances[i].name for i in read}
        return {
            instance.name: (batch, k)
            for batch in system.batches
            for k, instance in enumerate(batch.instances if not batch.shapes else ())
            if instance.name not in lent
        }


ANALYSIS = Analysis("sensitivity_static", OPTIONS, check, run)
