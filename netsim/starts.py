"""Written starts and guesses as rows of the initial problem: value(z) = start, linearised by level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from netsim.batches import Batch, form_of
from netsim.component import dimension
from netsim.errors import InputError, Problem, Span, nearest
from netsim.kernels.form import CONSTANT, Form, Key, nonzeros
from netsim.kernels.kernel import Kernel, make_kernel
from netsim.kernels.program import forward_jacobian
from netsim.kernels.reference import evaluate as evaluate_program
from netsim.language.expressions import Typed, flatten, quantity_of
from netsim.language.syntax import Expr, Name, Part
from netsim.network import Beginning, Frame
from netsim.signals import NodeSignal, find_signal
from netsim.solvers.machine import Machine
from netsim.system import System
from netsim.values import Values

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class StartRow:
    """One scalar equation value - target = 0 with its derivative: entries (variable, level, coefficient) at the present point."""

    path: str
    word: str
    target: float
    span: Span | None
    slots: Array
    variables: Array
    levels: Array
    kernel: Kernel | None
    batch: Batch | None
    position: int

    def linearise(self, machine: Machine, g: Array) -> tuple[float, Array]:
        """(value - target, coefficients) at what g holds."""
        if self.kernel is None:
            return float(g[self.slots[0]] - self.target), np.ones(1)
        assert self.batch is not None
        gathered = g[machine.system.gather(self.batch, self.kernel)][:, [self.position]]
        parameters = machine.parameters[id(self.batch)][:, [self.position]]
        result = evaluate_program(self.kernel.program, gathered, g[machine.system.layout.uniforms], parameters)[:, 0]
        keep = np.array([place[0] == "level" for place in self.kernel.scatter])
        used = np.flatnonzero(keep)[self._live()]
        return float(result[0] - self.target), result[used]

    def _live(self) -> Array:
        return self.slots


@lru_cache(maxsize=512)
def _value_kernel(form: Form, reading: str, index: int) -> Kernel:
    """A scalar of a reading and its derivatives by (key, level)."""
    scalar = ca.SX(flatten(form.readings[reading].value)[index])
    return _linear_kernel(form, scalar)


@lru_cache(maxsize=512)
def charge_kernel(form: Form, k: int) -> Kernel:
    """A charge's definition and its derivatives."""
    return _linear_kernel(form, form.charges[k])


def _linear_kernel(form: Form, scalar: Any) -> Kernel:
    keys = [key for key in form.symbols.gathered if key[0][0] not in CONSTANT]
    jacobian = forward_jacobian(scalar, ca.vertcat(*(form.symbols.gathered[k] for k in keys)))
    entries = [(("level", *keys[c]), value) for _, c, value in nonzeros(jacobian)]
    return make_kernel(form.symbols, [(("value",), scalar), *entries])


def start_rows(system: System, values: Values) -> list[StartRow]:
    """Every written start and guess; raises `InputError` for targets that do not exist or cannot be started."""
    network = system.network
    nodes, numbers = network.node_numbers(), {instance.name: i for i, instance in enumerate(network.instances)}
    home = {instance.name: (batch, k) for batch in system.batches if not batch.shapes for k, instance in enumerate(batch.instances)}
    found: list[StartRow] = []
    problems: list[Problem] = []
    for beginning in network.beginnings:
        try:
            found += _rows(system, values, beginning, nodes, numbers, home)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def _rows(system: System, values: Values, beginning: Beginning, nodes: Any, numbers: Any, home: Any) -> list[StartRow]:
    name = Name(tuple(Part(text) for text in beginning.path.split(".")), span=beginning.span)
    signal = find_signal(name, Frame(""), system.network, nodes, numbers, form_of)
    if signal is None:
        raise InputError(Problem("E401", f"nothing is called '{beginning.path}'", beginning.span, hint=nearest(beginning.path, [*nodes, *numbers])))
    scope = values.scope(beginning.frame)
    if isinstance(signal, NodeSignal):
        targets = _targets(beginning.value, scope, signal.dimension, len(signal.components), beginning)
        unknowns = [int(system.numbering.first[signal.node] + c) for c in signal.components]
        return [
            StartRow(
                beginning.path, beginning.word, target, beginning.span, system.layout.unknown(np.array([u]), signal.level), np.array([u]),
                np.array([signal.level]), None, None, 0,
            )
            for u, target in zip(unknowns, targets)
        ]  # fmt: skip
    batch, position = home[system.network.instances[signal.instance].name]
    typed: Typed = batch.form.readings[signal.reading]
    size = len(flatten(typed.value))
    targets = _targets(beginning.value, scope, typed.dimension or dimension(None), size, beginning)
    return [
        kernel_row(system, batch, position, _value_kernel(batch.form, signal.reading, i), beginning.path, beginning.word, target, beginning.span)
        for i, target in enumerate(targets)
    ]


def kernel_row(system: System, batch: Batch, position: int, kernel: Kernel, path: str, word: str, target: float, span: Span | None) -> StartRow:
    """A row whose value and derivatives come from a kernel of an instance's form."""
    entries: list[tuple[int, int]] = []
    live: list[int] = []
    for e, place in enumerate([p for p in kernel.scatter if p[0] == "level"]):
        key, level = place[1], place[2]
        variable = _variable(system, batch, key, position)
        if variable >= 0:
            entries.append((variable, level))
            live.append(e)
    if not entries:
        raise InputError(Problem("E402", f"'{path}' does not depend on any state: it cannot be given a {word}", span))
    variables, levels = zip(*entries)
    return StartRow(path, word, target, span, np.array(live), np.array(variables), np.array(levels), kernel, batch, position)


def _variable(system: System, batch: Batch, key: Key, position: int) -> int:
    if key[0] == "charge":
        return int(system.n + batch.charges(key[1])[position])
    return int(batch.columns(key)[position])


def _targets(value: Expr, scope: Any, wanted: Any, size: int, beginning: Beginning) -> list[float]:
    scalars = [float(x) for x in flatten(quantity_of(value, scope, wanted).value)]
    if len(scalars) != size:
        raise InputError(Problem("E204", f"'{beginning.path}' has {size} components, {len(scalars)} are given", beginning.span))
    return scalars
