"""Which values a sweep gives a parameter or a start: `1 .. 10 kOhm`, `[1 kOhm, 2 kOhm]`, `1 kOhm +- 5 %`,
`normal(1 kOhm, 50 Ohm)`, `uniform(1 kOhm, 2 kOhm)`, `loguniform(1 Ohm, 1 kOhm)`.

Each is a distribution by its quantiles x(u), 0 < u < 1. A grid takes the values from end to end, a random case the
quantile at a random u, corners take both ends. A normal distribution has its ends three standard deviations from the
mean.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.analyses.many.ranges import ends_of, name_and_values, reader, with_unit
from netsim.network.network import Network
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, evaluate
from netsim.text.syntax import Binary, Call, Expr, Number, Unary, Vector

Array = np.ndarray
EXAMPLE = "over = [r1.R = 1 .. 10 kOhm, c1.C = [1 uF, 2 uF], r2.R = 1 kOhm +- 5 %, r3.R = normal(1 kOhm, 50 Ohm)]"
KINDS = ("range", "list", "tolerance", "normal", "uniform", "loguniform")
RANDOM = ("tolerance", "normal", "uniform", "loguniform")
"""Kinds that are drawn unless something else is asked for."""
WIDTH = 3.0
"""Ends of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Spread:
    """Values of a parameter or a start (SI) from `low` to `high`, or those of a list."""

    name: str
    kind: str
    low: float
    high: float
    values: tuple[float, ...] = ()

    def quantile(self, u: Array) -> Array:
        """Values at shares u, 0 < u < 1, of the distribution."""
        if self.kind == "list":
            return np.array(self.values)[np.minimum((u * len(self.values)).astype(int), len(self.values) - 1)]
        if self.kind == "normal":
            from scipy.special import ndtri

            middle, deviation = (self.low + self.high) / 2, (self.high - self.low) / (2 * WIDTH)
            return np.asarray(middle + deviation * ndtri(np.clip(u, 1e-12, 1 - 1e-12)))
        if self.kind == "loguniform":
            return np.asarray(self.low * (self.high / self.low) ** u)
        return np.asarray(self.low + u * (self.high - self.low))

    def grid(self, points: int) -> Array:
        """So many values from end to end, both included, or those of the list."""
        if self.kind == "list":
            return np.array(self.values)
        spaced = np.geomspace if self.kind == "loguniform" else np.linspace
        return np.asarray(spaced(self.low, self.high, points))

    @property
    def ends(self) -> Array:
        """The least and the largest value."""
        return np.array([self.low, self.high])


def spread_of(expr: Expr, network: Network, scope: Scope) -> Spread:
    """What an item of `over` says; raises `InputError` for another form, an unknown name, an empty range."""
    name, given = name_and_values(expr, network, EXAMPLE)
    read = reader(network, name, scope)
    match given:
        case Binary(op=".."):
            found = Spread(name, "range", *ends_of(given, read, scope))
        case Vector(items=items, unit=unit):
            values = tuple(read(with_unit(item, unit, scope)) for item in items)
            return Spread(name, "list", min(values), max(values), values)
        case Binary(op="+", left=middle, right=Unary(op="-", operand=deviation)):  # the text is `middle +- deviation`
            width = _deviation(deviation, read(middle), read, scope)
            found = Spread(name, "tolerance", read(middle) - width, read(middle) + width)
        case Call(function="normal", arguments=(mean, deviation)):
            width = WIDTH * read(deviation)
            found = Spread(name, "normal", read(mean) - width, read(mean) + width)
        case Call(function="uniform" | "loguniform" as kind, arguments=(low, high)):
            found = Spread(name, kind, read(low), read(high))
        case _:
            message = f"'{show_expression(given)}' does not say which values '{name}' takes"
            raise InputError(Problem("E424", message, given.span, hint=EXAMPLE))
    if not found.low < found.high or (found.kind == "loguniform" and found.low <= 0.0):
        why = "is empty" if not found.low < found.high else "has no logarithm"
        raise InputError(Problem("E424", f"the range of '{name}' {why}", given.span))
    return found


def _deviation(expr: Expr, middle: float, read: Callable[[Expr], float], scope: Scope) -> float:
    """`5 %` of the middle, or a deviation in its dimension."""
    if isinstance(expr, Number) and expr.unit in ("%", "percent"):
        return abs(middle) * float(evaluate(expr, scope).value)
    return read(expr)
