"""The methods by name, and a method's arrays for the run of a machine."""

import numpy as np

from netsim.core import methods
from netsim.core.compiled.struct import Struct
from netsim.core.consistent import Consistent
from netsim.core.linear.factors import Factor
from netsim.core.method import Method, Setting
from netsim.equations.kernels.kernel import differentiated_kernel, rates_kernel
from netsim.equations.machine import Call, Machine, call_table, custom_call
from netsim.text.registry import Registry

Array = np.ndarray

METHODS = Registry(methods, Method)


def prepared(
    method: Method, machine: Machine, factor: Factor, plan: Consistent, closing: Consistent
) -> tuple[Struct, list[object]]:
    """A method's arrays for a run, and what keeps their call tables alive."""
    layout, problem, alive = machine.system.layout, machine.problem, list[object]()

    def table(calls: list[Call]) -> Array:
        found = call_table(calls, layout.uniforms)
        alive.extend([calls, found])
        return found

    def rates() -> Array:
        calls = _calls_with_rates(machine)
        return table(calls) if calls else problem.residual

    setting = Setting(
        layout.n, layout.nk, layout.ny, layout.nq, machine.system.pattern.nnz, layout.one - layout.prescribed_inputs,
        3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr,
        factor, plan, closing, lambda: table(_differentiated_calls(machine)), rates,
    )  # fmt: skip
    return method.prepare(setting), alive


def _differentiated_calls(machine: Machine) -> list[Call]:
    """The calls that compute differentiated quantities alone."""
    system, calls = machine.system, []
    for batch in system.batches:
        if batch.n_differentiated:
            kernel = differentiated_kernel(batch.form)
            scatter = np.concatenate(
                [system.layout.differentiated_results + batch.differentiated(k) for k in range(batch.n_differentiated)]
            )
            calls.append(custom_call(system, batch, kernel, machine.parameters, scatter))
    return calls


def _calls_with_rates(machine: Machine) -> list[Call]:
    """The calls that compute residuals where rates of differentiated quantities are known; none where there are no
    differentiated quantities."""
    system, calls = machine.system, []
    if machine.element is not None or not system.layout.nq:
        return []
    for batch, call in zip(system.batches, machine.calls["residual"]):
        if batch.n_differentiated:
            kernel = rates_kernel(batch.form)
            call = custom_call(system, batch, kernel, machine.parameters, system.scatter(batch, kernel))
        calls.append(call)
    return calls
