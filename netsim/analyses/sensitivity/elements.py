"""Derivatives by a parameter of one element of a circuit: they ask that element alone, and not the network.

Of the static problem R(z, p) = 0 of a start (netsim.analyses.sensitivity.static_start) the element's own rows depend on
p: dz = -R_z^-1 R_p, and the differentiated quantities q = Q(y, p) follow as dq = Q_y dy + Q_p.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.sensitivity.static_start import StaticStart, static_start
from netsim.analyses.sensitivity.varied import STEP, LocalParameter, VariedQuantity, placed_at, varied_quantity
from netsim.analyses.signals.inputs import CENTRAL
from netsim.equations.batches import Batch
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Machine
from netsim.equations.parameters import moved_parameters
from netsim.equations.prescribed import Prescribed
from netsim.equations.starts.rows import KernelScalar
from netsim.initial.consistent.derivatives import derivative_of, partial_values
from netsim.network.signals import Reading
from netsim.structure.of_time.switching import time_texts
from netsim.structure.orders import all_equation_numbers, signature
from netsim.text.errors import InputError, Span

Array = np.ndarray
SHARES, WEIGHTS = np.array(CENTRAL[0], float), np.array(CENTRAL[1])


def all_varied(task: Task, names: Sequence[str], options: Any, span: Span | None, g: Array) -> list[VariedQuantity]:
    """What names stand for, near the start g of a task where that can be, else started anew for each value; raises as
    `varied_quantity`."""
    near = None if options.start else static_start(task.machine, task.structure, g)
    if near is None:
        return [varied_quantity(task, name, options, span, placed_at) for name in names]
    local = Elements(task, near).local
    return [varied_quantity(task, name, options, span, near.placed, local) for name in names]


@dataclass(frozen=True, eq=False)
class Elements:
    """What derivatives by parameters of elements need of the start of a network."""

    task: Task
    near: StaticStart

    @property
    def machine(self) -> Machine:
        """That of the start."""
        return self.near.stages.machine

    @cached_property
    def owners(self) -> Mapping[str, tuple[Batch, int]]:
        """Batch and position of the elements whose parameters nothing else reads, by name; of none where equations read
        the time, or are differentiated at the start."""
        system, o = self.machine.system, self.near.stages.offsets
        if o.c[self.near.equations].any() or any(map(bool, time_texts(self.machine))):
            return {}
        items: list[Batch | Prescribed] = [*system.batches, *system.prescribed_inputs]
        shapes = [shape for item in items for shape in item.shapes]
        read = {s.instance for shape in shapes for s in shape.signals if isinstance(s, Reading)}
        lent = {system.network.instances[i].name for i in read}
        found = dict[str, tuple[Batch, int]]()
        for batch in system.batches:
            for k, instance in enumerate(batch.instances if not batch.shapes else ()):
                if instance.name not in lent:
                    found[instance.name] = batch, k
        return found

    @cached_property
    def definitions(self) -> Any:
        """Q_y, (nq, ny)."""
        from scipy.sparse import csr_matrix

        system, s = self.machine.system, signature(self.machine.system)
        n, nk = system.n, system.layout.nk
        own = s.kept & (s.equation >= n) & (s.variable < n) & (s.variable >= nk) & (s.order == 0)
        entries = -partial_values(self.machine, self.near.at)[own]
        shape = (system.layout.nq, system.layout.ny)
        return csr_matrix((entries, (s.equation[own] - n, s.variable[own] - nk)), shape=shape)

    def local(self, name: str, value: float) -> LocalParameter | None:
        """The derivatives by a parameter; None where more than its element depends on it, or where it stands at a
        bound."""
        element = name.rpartition(".")[0]
        if element not in self.owners:
            return None
        batch, k = self.owners[element]
        step = STEP * (abs(value) or 1.0)
        try:
            columns = moved_parameters(batch, k, self.task.values, name, value + step * np.array(SHARES))
        except InputError:
            return None
        weights = WEIGHTS / step
        rates = self._equations(batch, k, columns, weights)
        sums, parts = self.near.stages.signature.sums
        whole = rates.copy()
        np.add.at(whole, sums, rates[parts])
        residuals = np.append(whole[self.near.equations], self._rows(batch, k, columns, weights))
        quantities = self._quantities(-self.near.solve(residuals), rates)
        return LocalParameter(id(batch), k, _difference(columns, weights), quantities)

    def _equations(self, batch: Batch, k: int, columns: Array, weights: Array) -> Array:
        """What the network's equations change by, by number."""
        system = self.machine.system
        kernel, numbers = derivative_of(batch, 0), all_equation_numbers(system, batch)[:, k]
        gathered = self.near.at[system.gather(batch, kernel)[:, k]]
        uniforms = self.near.at[system.layout.uniforms]
        outputs = evaluate(kernel.program, np.repeat(gathered[:, None], len(weights), axis=1), uniforms, columns)
        found = np.zeros(system.n + system.layout.nq)
        np.add.at(found, numbers[numbers >= 0], _difference(outputs, weights)[numbers >= 0])
        return found

    def _rows(self, batch: Batch, k: int, columns: Array, weights: Array) -> Array:
        """What the rows of written starts change by."""
        found = np.zeros(len(self.near.rows))
        for r in self.started.get((id(batch), k), ()):
            values, row = self.machine.parameters[id(batch)].copy(), self.near.rows[r]
            misses = np.zeros((1, len(weights)))
            for i, column in enumerate(columns.T):
                values[:, k] = column
                moved = replace(self.machine, parameters={**self.machine.parameters, id(batch): values})
                misses[0, i] = row.linearise(moved, self.near.at)[0]
            found[r] = _difference(misses, weights)[0]
        return found

    @cached_property
    def started(self) -> Mapping[tuple[int, int], list[int]]:
        """The rows of written starts that each element computes, by its batch and its place there."""
        found = defaultdict[tuple[int, int], list[int]](list)
        for r, row in enumerate(self.near.rows):
            if isinstance(row.source, KernelScalar):
                found[id(row.source.batch), row.source.position].append(r)
        return found

    def _quantities(self, moved: Array, rates: Array) -> Array:
        """What the differentiated quantities change by, (nq,)."""
        layout, g = self.machine.system.layout, np.zeros(self.machine.system.layout.size)
        contents = layout.differentiated(np.arange(layout.nq), 0)
        g[self.near.places] = moved
        if np.isin(contents, self.near.places).all():
            return g[contents]
        return np.asarray(self.definitions @ g[layout.y : layout.y + layout.ny] - rates[layout.n :])


def _difference(values: Array, weights: Array) -> Array:
    """The derivative of rows of values at all points, exactly 0 where they are the same."""
    return np.asarray((values - values[:, :1]) @ weights)
