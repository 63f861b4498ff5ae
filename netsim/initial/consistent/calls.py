"""Calls of a plan: those derivatives that it uses, by order, and the derivatives in time of its equations."""

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.kernels.kernel import Kernel
from netsim.equations.kernels.program import restricted
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.stages import derivative_of
from netsim.structure.orders import all_equation_numbers

Array = np.ndarray


def partials_table(machine: Machine, used: Array, alive: list[list[Call]]) -> Array:
    """The call table of those derivatives by order that are used; what it must keep is added to `alive`."""
    if machine.element is not None:
        return machine.element.partials.table(used)
    calls: list[Call] = []
    first = 0
    for batch in machine.system.batches:
        kernel = batch.kernels.partials
        places = first + np.arange(kernel.program.n_outputs * batch.n).reshape(-1, batch.n)
        first += places.size
        wanted = np.asarray(used[places].any(axis=1))
        if wanted.any():
            calls.append(_call(machine, batch, kernel, places, wanted))
    alive.append(calls)
    return call_table(calls, machine.system.layout.uniforms)


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
    gather = np.ascontiguousarray(machine.system.gather(batch, kernel).ravel())
    program = restricted(kernel.program, np.flatnonzero(wanted).tolist())
    return Call(
        program,
        batch.n,
        gather,
        machine.parameters[id(batch)],
        np.ascontiguousarray(places[wanted].ravel().astype(np.int32)),
    )
