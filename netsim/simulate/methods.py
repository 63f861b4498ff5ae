"""The methods by name: what the run must know of each before it begins. A method's code is imported when it is
chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from netsim.core.consistent import Consistent
from netsim.core.contract import Trial
from netsim.core.linear.factors import Factor
from netsim.equations.kernels.kernel import make_kernel, rates_kernel
from netsim.equations.machine import Machine, call_table, custom_call

Array = np.ndarray


TRAPEZOID, SIMPSON = (0.0, 1.0), (0.0, 0.5, 1.0)
RADAU = (0.0, (4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0)
"""Nodes of quadratures of order 2, 4 and 5, the weight of 0 being none in the last."""
LOBATTO_6 = (0.0, 0.5 - 0.05**0.5, 0.5 + 0.05**0.5, 1.0)
LOBATTO_8 = (0.0, 0.5 - (3 / 28) ** 0.5, 0.5, 0.5 + (3 / 28) ** 0.5, 1.0)
"""The same of order 6 and 8."""

HIGH = 9
"""Above index 3 come inverse problems through motors and springs, where consistent points carry what Radau's own stages
no longer can."""

COARSE = 1e-3
"""The rtol at which methods of low order take the tolerance as it is given."""
FINE = 3e-7
"""The same for a method whose estimate is of lower order than itself: at larger rtol its errors would grow faster than
rtol."""


@dataclass(frozen=True)
class Together:
    """Stages of a step found all at once, where the method's own iteration fails: solve(machine, arrays, trial, t, h,
    last) tells whether they were, and size_that_failed(arrays, size) the step in which it last failed."""

    solve: Callable[..., bool]
    size_that_failed: Callable[[Any, float], float]


@dataclass(frozen=True)
class Method:
    """order: of convergence; estimate: the power of the step its error estimate shrinks with; work: nodes of its
    quadrature in a step; highest_index: of networks where it has an order; needs_rates: it reads accelerations and
    rates of the state where a step begins; single: it solves its stages one by one, by Newton's method; variable: the
    order is the highest, and the estimate that of the first step; gap: the longest part of a step in which it evaluates
    nothing."""

    name: str
    order: int
    estimate: int
    work: tuple[float, ...]
    highest_index: int
    needs_rates: bool
    prepare: Callable[..., tuple[Any, list[Any]]]
    explicit: bool = False
    single: bool = True
    variable: bool = False
    gap: float = 1.0
    together: Together | None = None

    def refused(self, index: int) -> str:
        """Why the method has no order at this index; empty where it has one."""
        if index <= self.highest_index:
            return ""
        return (
            f"{self.name} needs an index of at most {self.highest_index}, this network has {index}: "
            f"{_REASONS[self.name]}"
        )

    @property
    def module(self) -> ModuleType:
        """The file of its compiled functions."""
        name = "explicit" if self.explicit else "implicit_euler" if self.name == "euler" else self.name
        return import_module(f"netsim.core.methods.{name}")

    def tolerance(self, rtol: float) -> float:
        """What the error test of a step goes by, so that the error of the run follows rtol: steps grow with its
        1/estimate-th power, errors with step^order. Never more than rtol itself."""
        power = 0.0 if self.variable else self.estimate / self.order - 1.0
        return rtol * (min(1.0, rtol / COARSE) ** power if power > 0.0 else min(1.0, FINE / rtol) ** -power)

    def with_factor(self, arrays: Any, factor: Factor) -> Any:
        """The method's arrays after new pivots."""
        renewed = getattr(self.module, "renewed", None)
        return renewed(arrays, factor) if renewed else arrays

    def forget(self, arrays: Any) -> None:
        """Matrices that the method keeps serve no more."""
        forget = getattr(self.module, "forget", None)
        if forget:
            forget(arrays)


def _prepare_radau(machine: Machine, factor: Factor, plan: Consistent, closing: Consistent) -> tuple[Any, list[Any]]:
    from netsim.core.methods import radau

    layout = machine.system.layout
    calls, known = _charge_calls(machine), _calls_with_rates(machine)
    table, rates = (
        call_table(calls, layout.uniforms),
        call_table(known, layout.uniforms) if known else machine.problem.residual,
    )
    arrays = radau.prepare(
        layout.n, layout.nk, layout.nq, machine.system.pattern.nnz, layout.one - layout.drives, factor, table, rates
    )
    return arrays, [calls, known, table, rates]


def _charge_calls(machine: Machine) -> list[Any]:
    """The calls that compute charges alone."""
    system, calls = machine.system, []
    for batch in system.batches:
        if batch.n_charges:
            kernel = make_kernel(batch.form.symbols, [(("charge", k), q) for k, q in enumerate(batch.form.charges)])
            scatter = np.concatenate([system.layout.charge_results + batch.charges(k) for k in range(batch.n_charges)])
            calls.append(custom_call(system, batch, kernel, machine.parameters, scatter))
    return calls


def _calls_with_rates(machine: Machine) -> list[Any]:
    """The calls that compute residuals where rates of charges are known; none where there are no charges."""
    system, calls = machine.system, []
    if machine.element is not None or not system.layout.nq:
        return []
    for batch, call in zip(system.batches, machine.calls["residual"]):
        if batch.n_charges:
            kernel = rates_kernel(batch.form)
            call = custom_call(system, batch, kernel, machine.parameters, system.scatter(batch, kernel))
        calls.append(call)
    return calls


def _prepare_bdf(machine: Machine, factor: Factor, plan: Consistent, closing: Consistent) -> tuple[Any, list[Any]]:
    from netsim.core.methods import bdf

    return bdf.prepare(machine.system.n, machine.system.layout.nk, machine.system.layout.nq), []


def _prepare_trbdf2(machine: Machine, factor: Factor, plan: Consistent, closing: Consistent) -> tuple[Any, list[Any]]:
    from netsim.core.methods import trbdf2

    layout = machine.system.layout
    return trbdf2.prepare(3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr, layout.nk, layout.nq), []


def _prepare_euler(machine: Machine, factor: Factor, plan: Consistent, closing: Consistent) -> tuple[Any, list[Any]]:
    from netsim.core.methods import implicit_euler

    return implicit_euler.prepare(machine.system.layout.nk, machine.system.layout.nq), []


def _prepare_explicit(tableau: str) -> Callable[..., tuple[Any, list[Any]]]:
    def prepare(machine: Machine, factor: Factor, plan: Consistent, closing: Consistent) -> tuple[Any, list[Any]]:
        from netsim.core.methods import explicit, tableaux

        layout = machine.system.layout
        state = 3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr
        return explicit.prepare(getattr(tableaux, tableau)(), layout.n, layout.nk, layout.nq, state, plan, closing), []

    return prepare


def _prepare_generalized_alpha(
    machine: Machine, factor: Factor, plan: Consistent, closing: Consistent
) -> tuple[Any, list[Any]]:
    from netsim.core.methods import generalized_alpha

    return generalized_alpha.prepare(machine.system.layout.nk, machine.system.layout.nq, plan), []


def _solve_together(machine: Machine, arrays: Any, trial: Trial, t: float, h: float, last: float) -> bool:
    from netsim.simulate.radau_coupled import step_together

    return step_together(machine, arrays, trial, t, h, last)


def _size_that_failed(arrays: Any, size: float) -> float:
    from netsim.core.radau.arrays import FACTOR_H

    return float(arrays.memory[FACTOR_H]) or 2.0 * size


METHODS = {
    "euler": Method("euler", 1, 2, TRAPEZOID, 3, True, _prepare_euler),
    "generalized_alpha": Method("generalized_alpha", 2, 3, SIMPSON, 3, True, _prepare_generalized_alpha),
    "trbdf2": Method("trbdf2", 2, 3, SIMPSON, 2, True, _prepare_trbdf2),
    "bdf": Method("bdf", 5, 2, SIMPSON, 3, True, _prepare_bdf, variable=True),
    "radau": Method(
        "radau",
        5,
        4,
        RADAU,
        HIGH,
        False,
        _prepare_radau,
        single=False,
        together=Together(_solve_together, _size_that_failed),
    ),
    "rk45": Method(
        "rk45", 5, 5, RADAU, 3, True, _prepare_explicit("dormand_prince_5"), explicit=True, single=False, gap=0.5
    ),
    "rk6": Method("rk6", 6, 6, LOBATTO_6, 3, True, _prepare_explicit("verner_6"), explicit=True, single=False, gap=0.4),
    "rk8": Method(
        "rk8", 8, 8, LOBATTO_8, 3, True, _prepare_explicit("dormand_prince_8"), explicit=True, single=False, gap=0.27
    ),
}
_REASONS = {
    "euler": "its matrix becomes ill-conditioned at the short steps of the error test",
    "bdf": "its matrix becomes ill-conditioned at the short steps of the error test",
    "generalized_alpha": "its accelerations come from positions, and each further derivative costs an order",
    "trbdf2": "the accelerations of constrained masses would oscillate from step to step",
    **dict.fromkeys(("rk45", "rk6", "rk8"), "an explicit method cannot prescribe accelerations"),
}


def method_named(name: str) -> Method:
    """The method of this name (KeyError where there is none)."""
    return METHODS[name]
