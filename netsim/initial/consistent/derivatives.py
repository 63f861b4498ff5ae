"""A machine's derivatives by order: the partial derivatives of its equations by what they read, and the derivatives in
time of the equations themselves; their values at a point, and call tables of those that compiled code uses.

Machine code gives the values of searches for a start, too: NumPy takes milliseconds for a kernel of a thousand
instructions, and a start asks for it a hundred times.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.equations.batches import Batch
from netsim.equations.kernels.kernel import Kernel, derivative_kernel
from netsim.equations.kernels.program import restricted
from netsim.equations.machine import Call, Machine, call_table, custom_call
from netsim.structure.orders import all_equation_numbers

Array = np.ndarray
_derivatives: dict[tuple[int, int], tuple[Any, Kernel]] = {}


def derivative_of(batch: Any, order: int) -> Kernel:
    """The kernel of F^(order) of a batch's form, lowered once."""
    key = (id(batch.form), order)
    if key not in _derivatives:
        _derivatives[key] = (batch.form, derivative_kernel(batch.form, order))
    return _derivatives[key][1]


def partial_values(machine: Machine, g: Array) -> Array:
    """The derivatives of every triple of the machine's signature at what g holds."""
    if machine.element is not None:
        return np.asarray(machine.element.partials.values(g))
    count = sum(batch.kernels.partials.program.n_outputs * batch.n for batch in machine.system.batches)
    found = np.zeros(count)
    table = machine.table_of("partials", lambda: _with_table(machine, _partials(machine, np.ones(count, bool))))
    run_table(table, g, found)
    return found


def derivative(machine: Machine, g: Array, order: int, size: int, highest: Array) -> Array:
    """F^(order) of all equations that are wanted at least so often (`highest`), 0 of elements that have none of
    them."""
    if machine.element is not None:
        return np.asarray(machine.element.partials.derivative(g, order))
    system, wanted = machine.system, np.append(highest >= order, False)
    numbers = [all_equation_numbers(system, batch) for batch in system.batches]
    among = tuple(i for i, each in enumerate(numbers) if wanted[each].any())

    def made() -> tuple[list[Call], Array]:
        used = [(system.batches[i], system.layout.equation(numbers[i])) for i in among]
        return _with_table(
            machine, [custom_call(system, b, derivative_of(b, order), machine.parameters, places) for b, places in used]
        )

    out, found = np.zeros(system.out_size), np.zeros(size)
    run_table(machine.table_of((order, among), made), g, out)
    every = np.arange(system.n + system.layout.nq)
    found[every] = out[system.layout.equation(every)]
    return found


def _with_table(machine: Machine, calls: list[Call]) -> tuple[list[Call], Array]:
    return calls, call_table(calls, machine.system.layout.uniforms)


def partials_table(machine: Machine, used: Array, alive: list[list[Call]]) -> Array:
    """The call table of those derivatives by order that are used; what it must keep is added to `alive`."""
    if machine.element is not None:
        return machine.element.partials.table(used)
    calls = _partials(machine, used)
    alive.append(calls)
    return call_table(calls, machine.system.layout.uniforms)


def _partials(machine: Machine, used: Array) -> list[Call]:
    """The calls that write those derivatives by order that are used."""
    calls: list[Call] = []
    first = 0
    for batch in machine.system.batches:
        kernel = batch.kernels.partials
        places = first + np.arange(kernel.program.n_outputs * batch.n).reshape(-1, batch.n)
        first += places.size
        wanted = np.asarray(used[places].any(axis=1))
        if wanted.any():
            calls.append(_call(machine, batch, kernel, places, wanted))
    return calls


def equations_of(machine: Machine, equations: Array, order: int) -> list[Call]:
    """The calls that write a derivative in time of some equations to these' own places."""
    system = machine.system
    size = system.n + system.layout.nq
    wanted = np.zeros(size + 1, bool)
    wanted[equations] = True
    calls = []
    for batch in system.batches:
        numbers = all_equation_numbers(system, batch)
        used = wanted[np.where(numbers < 0, size, numbers)]
        if used.any():
            scatter = system.layout.equation(numbers)
            calls.append(_call(machine, batch, derivative_of(batch, order), scatter, np.asarray(used.any(axis=1))))
    return calls


def _call(machine: Machine, batch: Batch, kernel: Kernel, places: Array, wanted: Array) -> Call:
    """Those outputs of a kernel that are `wanted`, to `places` (outputs, instances)."""
    whole = custom_call(machine.system, batch, kernel, machine.parameters, places[wanted])
    if wanted.all():
        return whole
    return replace(whole, program=restricted(kernel.program, np.flatnonzero(wanted).tolist()))
