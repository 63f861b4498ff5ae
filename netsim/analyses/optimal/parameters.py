"""Free parameters: what the network's constants become when they change.

The constants of a point (parameters of elements, places of bodies, functions of time) are taken as affine in the free
parameters: c = c0 + sum_k (p_k - p0_k) dc/dp_k, from machines under two further values of each. What is not affine is
refused. Elements' own formulas of their parameters are no constants and may be anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.analyses.optimal.options import OptimalOptions
from netsim.equations.machine import Machine, build_machine
from netsim.network.network import Network
from netsim.network.values import Values, parameter_names
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.typed import evaluate
from netsim.text.syntax import Expr, Number

Array = np.ndarray
SHARE = 0.1
"""The share of a parameter's range by which it is moved to find what depends on it."""
AFFINE = 1e-9
"""What is left of a second difference, in parts of the first, where a constant is affine."""


@dataclass(frozen=True, eq=False)
class Tuned:
    """Free parameters: names, bounds and first values; a machine under a value `step` further for each."""

    names: tuple[str, ...] = ()
    low: Array = field(default_factory=lambda: np.zeros(0))
    high: Array = field(default_factory=lambda: np.zeros(0))
    first: Array = field(default_factory=lambda: np.zeros(0))
    steps: Array = field(default_factory=lambda: np.zeros(0))
    machines: tuple[Machine, ...] = ()
    build: Callable[[Mapping[str, Any]], Machine] | None = None

    def named(self, moved: Array) -> dict[str, float]:
        """The values by name of parameters that differ so much from their first ones."""
        return dict(zip(self.names, map(float, self.first + moved)))

    def known(self, base: Machine, other: Machine, g: Array) -> Array:
        """A global vector g of the base machine as another one has it."""
        return np.where(other.g != base.g, other.g, g)


def tuned_of(network: Network, values: Values, machine: Machine, options: OptimalOptions, earlier: Any) -> Tuned:
    """The free parameters of the options; raises `InputError` for names that are none, wrong units, and constants that
    are not affine in them (E465)."""
    if not options.parameters:
        return Tuned()
    known = parameter_names(network)
    for name, least, _ in options.parameters:
        if name not in known:
            hint = nearest(name, known)
            raise InputError(Problem("E236", f"no parameter is called '{name}'", least.span, hint=hint))

    def under(changed: Mapping[str, Any]) -> Machine:
        given = {n: v if not isinstance(v, float) else Number(v, "") for n, v in changed.items()}
        return build_machine(machine.system, Values(values.network, {**values.overrides, **given}), earlier)

    for name, *ends in options.parameters:  # their units are looked at
        for each in ends:
            under({name: each})
    names = tuple(name for name, _, _ in options.parameters)
    low = np.array([_bound(values, network, least) for _, least, _ in options.parameters])
    high = np.array([_bound(values, network, largest) for _, _, largest in options.parameters])
    for k in map(int, np.flatnonzero(~(low < high))):
        raise InputError(Problem("E424", f"the range of '{names[k]}' is empty", options.parameters[k][1].span))
    present = np.array([_present(network, values, name) for name in names])
    first = np.where((present >= low) & (present <= high), present, 0.5 * (low + high))
    steps = SHARE * (high - low) * np.where(first > 0.5 * (low + high), -1.0, 1.0)
    found = Tuned(names, low, high, first, steps, (), under)
    base, near = under(found.named(0.0 * steps)), list[Machine]()
    for j, name in enumerate(names):
        one = steps * (np.arange(len(names)) == j)
        near.append(under(found.named(one)))
        _refuse_curved(base, near[-1], under(found.named(2.0 * one)), name, options.parameters[j][1])
    return replace(found, machines=(base, *near))


def _bound(values: Values, network: Network, expr: Expr) -> float:
    return float(evaluate(expr, values.scope(network.top)).value)


def _present(network: Network, values: Values, name: str) -> float:
    """The present value of a parameter."""
    head, _, last = name.rpartition(".")
    if name in network.top.definitions:
        found: Any = values.defined(name, network.top.definitions[name]).value
    else:
        instance = next((i for i in network.instances if i.name == head), None)
        found = values.parameters(instance)[last].value if instance is not None else float("nan")
    return float(found) if np.ndim(found) == 0 else float("nan")


def _refuse_curved(base: Machine, near: Machine, far: Machine, name: str, expr: Expr) -> None:
    """Raises E465 where a constant is not affine in a parameter."""
    pairs = [(base.g, near.g, far.g)]
    pairs += [(base.parameters[key], near.parameters[key], far.parameters[key]) for key in base.parameters]
    for zero, one, two in pairs:
        bend, slope = np.abs(two - 2.0 * one + zero), np.abs(one - zero)
        if (bend > AFFINE * (slope + np.abs(zero)) + 1e-300).any():
            message = f"the netlist computes something from '{name}' that is not linear in it"
            hint = "make the computed parameter itself free, or write the formula into a component"
            raise InputError(Problem("E465", message, expr.span, hint=hint))
