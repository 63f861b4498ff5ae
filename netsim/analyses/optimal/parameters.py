"""Free parameters: what the network's constants become when they change.

The constants of a point (parameters of elements, places of bodies, functions of time) are taken as affine in the free
parameters: c = c0 + sum_k (p_k - p0_k) dc/dp_k, from machines under two further values of each. What is not affine is
refused. Elements' own formulas of their parameters are no constants and may be anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.analyses.many.ranges import Range
from netsim.analyses.optimal.options import OptimalOptions
from netsim.equations.machine import Machine, build_machine
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Number

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


def tuned_of(values: Values, machine: Machine, options: OptimalOptions, earlier: Any) -> Tuned:
    """The free parameters of the options; raises `InputError` for constants that are not affine in them (E465)."""
    if not options.parameters:
        return Tuned()
    ranges = options.parameters
    names = tuple(each.name for each in ranges)

    def under(changed: Mapping[str, float]) -> Machine:
        given = {each.name: Number(changed[each.name], "", span=each.span) for each in ranges if each.name in changed}
        return build_machine(machine.system, values.changed(given), earlier)

    for each in ranges:  # elements may not take what lies at their ends
        under({each.name: each.low})
        under({each.name: each.high})
    low, high = np.array([each.low for each in ranges]), np.array([each.high for each in ranges])
    present = np.array([each.present(values) for each in ranges])
    first = np.where((present >= low) & (present <= high), present, 0.5 * (low + high))
    steps = SHARE * (high - low) * np.where(first > 0.5 * (low + high), -1.0, 1.0)
    found = Tuned(names, low, high, first, steps, (), under)
    base, near = under(found.named(0.0 * steps)), list[Machine]()
    for j, each in enumerate(ranges):
        one = steps * (np.arange(len(names)) == j)
        near.append(under(found.named(one)))
        _refuse_curved(base, near[-1], under(found.named(2.0 * one)), each)
    return replace(found, machines=(base, *near))


def _refuse_curved(base: Machine, near: Machine, far: Machine, of: Range) -> None:
    """Raises E465 where a constant is not affine in a parameter."""
    pairs = [(base.g, near.g, far.g)]
    pairs += [(base.parameters[key], near.parameters[key], far.parameters[key]) for key in base.parameters]
    for zero, one, two in pairs:
        bend, slope = np.abs(two - 2.0 * one + zero), np.abs(one - zero)
        if (bend > AFFINE * (slope + np.abs(zero)) + 1e-300).any():
            message = f"the netlist computes something from '{of.name}' that is not linear in it"
            hint = "make the computed parameter itself free, or write the formula into a component"
            raise InputError(Problem("E465", message, of.span, hint=hint))
