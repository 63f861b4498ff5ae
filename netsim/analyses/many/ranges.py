"""What runs vary: `r1.R = 1 .. 10 kOhm`, `[1 kOhm, 2 kOhm]`, `normal(1 kOhm, 50 Ohm)`, `tolerance(1 kOhm, 5)` in
percent."""

from dataclasses import dataclass

import numpy as np

from netsim.analyses.sensitivity.varied import value_of
from netsim.network.network import Network
from netsim.network.values import Values, parameter_names
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, evaluate, number_of
from netsim.text.syntax import Binary, Call, Expr, Name, Number, Vector
from netsim.text.units import NO_DIMENSION

Array = np.ndarray
KINDS = ("range", "list", "normal", "tolerance")
EXAMPLE = "r1.R = 1 .. 10 kOhm, c1.C = [1 uF, 2 uF], r2.R = normal(1 kOhm, 50 Ohm), r3.R = tolerance(1 kOhm, 5)"


@dataclass(frozen=True)
class Range:
    """Values of a parameter or a start (SI): from `low` to `high`, or those of a list, or normal with mean and standard
    deviation (`low` and `high` are then 3 of these away)."""

    name: str
    kind: str
    low: float
    high: float
    values: tuple[float, ...] = ()

    def at(self, share: Array) -> Array:
        """Values at shares from 0 to 1 of the distribution."""
        if self.kind == "list":
            return np.array(self.values)[np.minimum((share * len(self.values)).astype(int), len(self.values) - 1)]
        if self.kind == "normal":
            from scipy.special import ndtri

            return np.asarray(
                (self.low + self.high) / 2 + (self.high - self.low) / 6 * ndtri(np.clip(share, 1e-12, 1 - 1e-12))
            )
        return self.low + share * (self.high - self.low)

    def grid(self, points: int) -> Array:
        """So many values from end to end, or those of the list."""
        return np.array(self.values) if self.kind == "list" else np.linspace(self.low, self.high, points)

    def present(self, values: Values) -> float:
        """The value that the netlist gives."""
        start = next((b for b in values.network.beginnings if f"{b.path}.start" == self.name), None)
        if start is not None:
            return float(evaluate(start.value, values.scope(start.frame)).value)
        return float(value_of(values, self.name).value)


def range_of(expr: Expr, network: Network, scope: Scope, bounded: bool = False) -> Range:
    """What an item of a list says; raises `InputError` for another form, an unknown name, an empty range."""
    if not (isinstance(expr, Binary) and expr.op == "=" and isinstance(expr.left, Name)):
        raise InputError(Problem("E424", "this must be a name and its values", expr.span, hint=EXAMPLE))
    name, given = show_expression(expr.left), expr.right
    known = [*parameter_names(network), *(f"{b.path}.start" for b in network.beginnings if b.word == "start")]
    if name not in known:
        raise InputError(
            Problem(
                "E236", f"no parameter or written start is called '{name}'", expr.left.span, hint=nearest(name, known)
            )
        )
    match given:
        case Binary(op="..", left=low, right=high):
            if isinstance(low, Number) and not low.unit and isinstance(high, Number):
                low = Number(low.value, high.unit, span=low.span)
            found = Range(name, "range", _number(low, scope), _number(high, scope))
        case Vector() if not bounded:
            values = tuple(_number(item, scope) for item in given.items)
            return Range(name, "list", min(values), max(values), values)
        case Call(function="normal", arguments=(mean, sd)) if not bounded:
            middle, width = _number(mean, scope), 3 * _number(sd, scope)
            found = Range(name, "normal", middle - width, middle + width)
        case Call(function="tolerance", arguments=(mean, percent)) if not bounded:
            middle, share = _number(mean, scope), float(number_of(percent, scope, NO_DIMENSION)) / 100
            found = Range(name, "tolerance", middle - abs(middle) * share, middle + abs(middle) * share)
        case _:
            hint = f"{name} = least .. largest" if bounded else EXAMPLE
            raise InputError(
                Problem("E424", f"'{show_expression(given)}' is no range of values", given.span, hint=hint)
            )
    if not found.low < found.high:
        raise InputError(Problem("E424", f"the range of '{name}' is empty", given.span))
    return found


def _number(expr: Expr, scope: Scope) -> float:
    return float(evaluate(expr, scope).value)
