"""The functions of SPICE's dialects (ngspice, PSpice, LTspice, HSPICE) as expressions of the language.

A function with memory (`ddt`, `sdt`, `delay`) is a block of the library beside the element: `Blocks` makes it. A random
one (`gauss`, `unif` ...) is its nominal value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from netsim.text.errors import Span
from netsim.text.syntax import Binary, Call, Conditional, Expr, Name, Number, Unary, Vector


class Blocks(Protocol):
    """What makes a block of the signal library that reads a number and writes one."""

    def block_output(self, type_: str, reads: Expr, bindings: Mapping[str, Expr], starts: Mapping[str, Expr]) -> Expr:
        """The number that the block writes."""

    def drawn(self, name: str, span: Span) -> None:
        """A random function stands here."""


@dataclass(frozen=True)
class Function:
    """`least` to `most` arguments (any number where None); `condition`: the first one is a truth."""

    least: int
    most: int | None
    make: Callable[..., Expr]
    condition: bool = False
    blocks: bool = False
    random: bool = False


ALIKE = {
    **{name: name for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
        "log10", "abs", "floor", "atan2")},
    "ln": "log", "arctan": "atan", "arcsin": "asin", "arccos": "acos", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "sgn": "sign", "sign": "sign", "m": "abs",
}  # fmt: skip
"""Functions of one meaning here and there."""


def call(name: str, *arguments: Expr, **named: Expr) -> Expr:
    """A function of the language."""
    return Call(name, arguments, tuple(named.items()), span=arguments[0].span)


def _of(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, span=left.span)


def _less(x: Expr) -> Expr:
    return Unary("-", x, span=x.span)


def _holds(op: str, x: Expr, y: Expr | None = None) -> Expr:
    return Conditional(_of(op, x, y or Number(0.0)), Number(1.0), Number(0.0), span=x.span)


LEAST = 1e-24
"""A root of a signal is that of this number at least: its slope stays finite where the signal is 0."""


def reads_signals(value: Expr) -> bool:
    """Whether an expression follows the time or a signal, so that it is more than a number of the parameters."""
    match value:
        case Name(parts):
            return len(parts) > 1 or parts[0].text == "time"
        case Unary(_, inner):
            return reads_signals(inner)
        case Binary(_, left, right):
            return reads_signals(left) or reads_signals(right)
        case Call(_, arguments, keywords):
            return any(map(reads_signals, (*arguments, *(v for _, v in keywords))))
        case Conditional(c, a, b):
            return any(map(reads_signals, (c, a, b)))
    return False


def _root(x: Expr) -> Expr:
    return call("sqrt", call("max", x, Number(LEAST)) if reads_signals(x) else x)


def power(x: Expr, y: Expr) -> Expr:
    """x^y; with an exponent between 0 and 1 a root."""
    steep = isinstance(y, Number) and 0 < y.value < 1 and reads_signals(x)
    return _of("^", call("max", x, Number(LEAST)) if steep else x, y)


def _signed_power(x: Expr, y: Expr) -> Expr:
    return _of("*", call("sign", x), power(call("abs", x), y))


def _unit_step(x: Expr) -> Expr:
    """1 above 0; a half at 0, as in ngspice, where a number of the parameters is meant."""
    if reads_signals(x):
        return _holds(">", x)
    return _of("*", Number(0.5), _of("+", Number(1.0), call("sign", x)))


def _held(x: Expr, low: Expr, high: Expr) -> Expr:
    return call("min", call("max", x, low), high)


def _whole(x: Expr) -> Expr:
    return _of("*", call("sign", x), call("floor", call("abs", x)))


def _ceiling(x: Expr) -> Expr:
    return _less(call("floor", _less(x)))


def _nearest(x: Expr) -> Expr:
    return call("floor", _of("+", x, Number(0.5)))


def _even(x: Expr) -> Expr:
    """The nearest whole number; of two the even one, as in ngspice."""
    above = _nearest(x)
    half = _holds("==", above, _of("+", x, Number(0.5)))
    return _of("-", above, _of("*", half, call("mod", above, Number(2.0))))


def _extreme(name: str) -> Callable[..., Expr]:
    return lambda x, *rest: call(name, x, *rest) if rest else x


def _broken_line(x: Expr, *pairs: Expr) -> Expr:
    if len(pairs) < 4:
        return pairs[1]
    return call("clamped", x, Vector(pairs[::2]), Vector(pairs[1::2]))


def _straight_on(x: Expr, *pairs: Expr) -> Expr:
    """The same, straight beyond its ends, as ngspice's pwl goes on."""
    return pairs[1] if len(pairs) < 4 else call("interpolate", x, Vector(pairs[::2]), Vector(pairs[1::2]))


def _stairs(x: Expr, *pairs: Expr) -> Expr:
    """SCHEDULE(time, t1, x1, t2, x2, ...): x_k from t_k on."""
    found = pairs[1]
    for at, before, after in zip(pairs[2::2], pairs[1::2], pairs[3::2]):
        found = _of("+", found, _of("*", _of("-", after, before), _holds(">=", x, at)))
    return found


def _integral(blocks: Blocks, x: Expr, start: Expr | None = None, *_: Expr) -> Expr:
    return blocks.block_output("integrator", x, {"k": Number(1.0, "1/s")}, {"y": start or Number(0.0)})


def _delayed(blocks: Blocks, x: Expr, t: Expr, *_: Expr) -> Expr:
    return blocks.block_output("delay", x, {"T": _of("*", t, Number(1.0, "s"))}, {})


def _one(make: Callable[..., Expr]) -> Function:
    return Function(1, 1, make)


_SQUARE = _one(lambda x: _of("^", x, Number(2.0)))
_STEP = _one(_unit_step)
_CHOICE = Function(3, 3, lambda c, a, b: Conditional(c, a, b, span=c.span), condition=True)
_TABLE = Function(3, None, _broken_line)
_STRAIGHT_ON = Function(3, None, _straight_on)
_POWER = Function(2, 2, power)
_SIGNED = Function(2, 2, _signed_power)
_NOMINAL = Function(2, 4, lambda x, *_: x, random=True)
_INTEGRAL = Function(1, 4, _integral, blocks=True)
_DELAY = Function(2, 3, _delayed, blocks=True)

FURTHER: dict[str, Function] = {
    "pow": _POWER, "pwr": _SIGNED, "pwrs": _SIGNED, "sqr": _SQUARE, "square": _SQUARE,
    "cbrt": _one(lambda x: _signed_power(x, Number(1 / 3))),
    "u": _STEP, "stp": _STEP, "buf": _one(lambda x: _holds(">", x, Number(0.5))),
    "inv": _one(lambda x: _holds("<=", x, Number(0.5))),
    "u2": _one(lambda x: _held(x, Number(0.0), Number(1.0))),
    "uramp": _one(lambda x: call("max", x, Number(0.0))),
    "eq0": _one(lambda x: _holds("==", x)), "ne0": _one(lambda x: _holds("!=", x)),
    "gt0": _one(lambda x: _holds(">", x)), "lt0": _one(lambda x: _holds("<", x)),
    "ge0": _one(lambda x: _holds(">=", x)), "le0": _one(lambda x: _holds("<=", x)),
    "int": _one(_whole), "trunc": _one(_whole), "ceil": _one(_ceiling), "nint": _one(_even), "round": _one(_nearest),
    "real": _one(lambda x: x), "re": _one(lambda x: x), "r": _one(lambda x: x),
    "db": _one(lambda x: _of("*", Number(20.0), call("log10", call("abs", x)))),
    "hypot": Function(2, 2, lambda x, y: _root(_of("+", _of("*", x, x), _of("*", y, y)))),
    "sqrt": _one(_root),
    "fmod": Function(2, 2, lambda x, y: _of("-", x, _of("*", y, _whole(_of("/", x, y))))),
    "mod": Function(2, 2, lambda x, y: call("mod", x, y)),
    "min": Function(1, None, _extreme("min")), "max": Function(1, None, _extreme("max")),
    "limit": Function(2, 3, lambda x, low, high=None: x if high is None else _held(
        x, call("min", low, high), call("max", low, high))),
    "uplim": Function(2, 3, lambda x, high, *_: call("min", x, high)),
    "dnlim": Function(2, 3, lambda x, low, *_: call("max", x, low)),
    "if": _CHOICE, "ternary_fcn": _CHOICE, "ternary": _CHOICE,
    "table": _TABLE, "tbl": _TABLE, "pwl": _STRAIGHT_ON, "schedule": Function(3, None, _stairs),
    "ddt": Function(1, 1, lambda blocks, x: blocks.block_output("rate_of", x, {}, {}), blocks=True),
    "sdt": _INTEGRAL, "idt": _INTEGRAL, "delay": _DELAY, "absdelay": _DELAY,
    "gauss": _NOMINAL, "agauss": _NOMINAL, "unif": _NOMINAL, "aunif": _NOMINAL, "mc": _NOMINAL,
}  # fmt: skip
