"""Rows of the initial problem, value(z) - target = 0, and what gives them their value and derivatives."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from netsim.core.rotation import cayley_matrix
from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form, Reset
from netsim.equations.kernels.kernel import Kernel, linear_kernel
from netsim.equations.kernels.reference import evaluate as evaluate_program
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.network.network import GROUND
from netsim.text.errors import Span
from netsim.text.expressions.sizes import flatten

Array = np.ndarray


class Source(Protocol):
    """What gives a row its value - target and its derivatives."""

    def linearise(self, machine: Machine, g: Array, target: float) -> tuple[float, Array]: ...


@dataclass(frozen=True, eq=False)
class StartRow:
    """One scalar equation value - target = 0 with its derivative: entries (variable, order, coefficient) at the present
    point.

    `unit` is that of value and target; `placed` is the node where the row speaks of a node's own quantity.
    """

    path: str
    word: str
    target: float
    span: Span | None
    variables: Array
    orders: Array
    source: Source
    unit: str = ""
    placed: int = GROUND
    batch: Batch | None = None
    position: int = 0

    def linearise(self, machine: Machine, g: Array) -> tuple[float, Array]:
        """(value - target, coefficients) at what g holds."""
        return self.source.linearise(machine, g, self.target)


@dataclass(frozen=True, eq=False)
class Slot:
    """A node's quantity: a place in g."""

    slot: int

    def linearise(self, machine: Machine, g: Array, target: float) -> tuple[float, Array]:
        return float(g[self.slot] - target), np.ones(1)


@dataclass(frozen=True, eq=False)
class KernelScalar:
    """A scalar of an element's kernel; `live` are its outputs that are derivatives by unknowns."""

    kernel: Kernel
    batch: Batch
    position: int
    live: Array

    def linearise(self, machine: Machine, g: Array, target: float) -> tuple[float, Array]:
        value, derivatives = kernel_scalars(machine, self.kernel, self.batch, self.position, g)
        return value - target, derivatives[self.live]


def linearised(rows: Sequence[StartRow], machine: Machine, g: Array) -> list[tuple[float, Array]]:
    """(value - target, coefficients) of each row at what g holds; scalars of one kernel are computed together."""
    found = {id(row): row.linearise(machine, g) for row in rows if not isinstance(row.source, KernelScalar)}
    for group in by_kernel(rows):
        one, positions = group[0][1], [source.position for _, source in group]
        values, derivatives = _scalars(machine, one.kernel, one.batch, positions, g)
        for (row, source), value, column in zip(group, values.tolist(), derivatives.T):
            found[id(row)] = value - row.target, column[source.live]
    return [found[id(row)] for row in rows]


def by_kernel(rows: Iterable[StartRow]) -> list[list[tuple[StartRow, KernelScalar]]]:
    """Rows whose scalars one kernel gives for one batch, each once, with what gives them."""
    groups: dict[tuple[int, int], dict[int, tuple[StartRow, KernelScalar]]] = {}
    for row in rows:
        if isinstance(row.source, KernelScalar):
            groups.setdefault((id(row.source.kernel), id(row.source.batch)), {})[id(row)] = row, row.source
    return [list(group.values()) for group in groups.values()]


def kernel_scalars(machine: Machine, kernel: Kernel, batch: Batch, position: int, g: Array) -> tuple[float, Array]:
    """What a `linear_kernel` gives at what g holds: the scalar and its derivatives."""
    values, derivatives = _scalars(machine, kernel, batch, [position], g)
    return float(values[0]), derivatives[:, 0]


def _scalars(machine: Machine, kernel: Kernel, batch: Batch, positions: Sequence[int], g: Array) -> tuple[Array, Array]:
    """Scalars of several instances, and their derivatives (derivatives, instances)."""
    gathered = g[machine.system.gather(batch, kernel)[:, positions]]
    parameters = machine.parameters[id(batch)][:, positions]
    result = evaluate_program(kernel.program, gathered, g[machine.system.layout.uniforms], parameters)
    return result[0], result[[place[0] == "partial" for place in kernel.scatter]]


@dataclass(frozen=True, eq=False)
class RotationDeviation:
    """A component of the rotation that is left from R* to a node's rotation: 2 tan(angle/2) along its axis, zero where
    they agree."""

    frame: int
    wanted: Array
    component: int

    def linearise(self, machine: Machine, g: Array, target: float) -> tuple[float, Array]:
        layout, first = machine.system.layout, int(machine.system.numbering.rotations[self.frame])
        chart = g[layout.charts + 9 * self.frame : layout.charts + 9 * self.frame + 9].reshape(3, 3)
        psi = g[layout.x + first : layout.x + first + 3].astype(complex)
        derivatives = [
            self._left(psi + 1e-30j * np.eye(3)[c], chart).imag / 1e-30 for c in range(3)
        ]  # complex step: exact
        return float(self._left(psi, chart).real), np.array(derivatives)

    def _left(self, psi: Array, chart: Array) -> Any:
        left = np.array(cayley_matrix(list(psi), chart.tolist())) @ self.wanted.T
        j, k = (self.component + 1) % 3, (self.component + 2) % 3
        return 2 * (left[k, j] - left[j, k]) / (1 + np.trace(left) + 1e-12)


def value_kernel(form: Form, reading: str, index: int) -> Kernel:
    """A scalar of a reading and its derivatives by (key, order)."""
    return linear_kernel(form, ("reading", reading, index), lambda: ca.SX(flatten(form.readings[reading].value)[index]))


def differentiated_kernel(form: Form, k: int) -> Kernel:
    """A differentiated quantity's definition and its derivatives."""
    return linear_kernel(form, ("differentiated", k), lambda: form.differentiated[k])


def state_kernel(form: Form, reset: Reset) -> Kernel:
    """The state that a `reinit` sets, and its derivatives."""
    return linear_kernel(form, ("state", reset.number), lambda: form.expressions.changes.states[reset.number])
