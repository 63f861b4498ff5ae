"""The functions of the language: their arguments, defaults, dimensions, smoothness in time, and meaning.

`compute` works on floats, NumPy series and CasADi symbols alike; vectors are tuples. `smoothness` is the number of
continuous derivatives the function adds no doubt about: -1 jumps, 0 is continuous, None means as smooth as its
arguments.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np

from netsim.text.expressions import beams, filters
from netsim.text.expressions.junctions import (
    clamped,
    depletion,
    depletion_energy,
    increasing,
    interpolate,
    interpolate_integral,
    junction,
    junction_capacitance,
    junction_energy,
    junction_potential,
    shift,
    silicon_gap,
)
from netsim.text.expressions.operations import apply
from netsim.text.units import NO_DIMENSION, Dimension, parse_unit

Dimensions = Mapping[str, Dimension | None]
Rule = Callable[[Dimensions], tuple[str, Dimension | None]]


@dataclass(frozen=True)
class Function:
    """`parameters` in order, `defaults` as (value, dimension), the dimension rule, and the computation."""

    parameters: tuple[str, ...]
    compute: Callable[..., Any]
    dimension: Rule
    defaults: Mapping[str, tuple[Any, Dimension | None]] = field(default_factory=dict)
    smoothness: int | None = None
    variadic: bool = False
    doc: str = ""


# ------------------------------------------------------------------------------------------ dimension rules


def _pure(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    bad = [name for name, d in dimensions.items() if d not in (None, NO_DIMENSION)]
    return (f"'{bad[0]}' must be a number without unit (angles in rad or deg)" if bad else "", NO_DIMENSION)


def _same(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    known = {d for d in dimensions.values() if d is not None}
    return ("the arguments differ in dimension" if len(known) > 1 else "", next(iter(known), None))


def _same_to_number(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    return _same(dimensions)[0], NO_DIMENSION


def _root(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    (d,) = dimensions.values()
    return "", None if d is None else d**0.5


def _multiplied(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    left, right = dimensions.values()
    return "", None if left is None or right is None else left * right


def _sine_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    d = dict(dimensions)
    cycles = d["frequency"]
    if d["t"] is not None and cycles is not None and d["t"] * cycles != NO_DIMENSION:
        return "'frequency' times time must be a number", None
    return _same({"amplitude": d["amplitude"], "offset": d["offset"]})


# ------------------------------------------------------------------------------------------ functions of time


def _step(t: Any, at: Any) -> Any:
    return apply("select", apply(">=", t, at), 1.0, 0.0)


def _ramp(t: Any, at: Any) -> Any:
    return apply("max", t - at, 0.0)


def _bell(t: Any, at: Any, width: Any) -> Any:
    z = (t - at) / width
    return apply("exp", -(z * z))


def _cycloid(t: Any, duration: Any, at: Any) -> Any:
    """From 0 to 1 within `duration`: S - sin(2 pi S)/(2 pi), whose rate and second derivative are zero at both ends."""
    s = apply("min", apply("max", (t - at) / duration, 0.0), 1.0)
    return s - apply("sin", 2 * np.pi * s) / (2 * np.pi)


SMOOTHEST = 4


def _smooth_step(u: Any, order: Any) -> Any:
    """0 for u <= 0, 1 for u >= 1, between them the polynomial of degree 2 n + 1 whose first n derivatives vanish at
    both ends: u^(n+1) sum_k binom(n+k, k) binom(2n+1, n-k) (-u)^k, here by (1 - u): sum_k binom(n+k, k) (1-u)^k
    u^(n+1)."""
    s = apply("min", apply("max", u, 0.0), 1.0)
    if isinstance(order, float | int):
        if order not in range(1, SMOOTHEST + 1):
            raise ValueError(f"order is a whole number from 1 to {SMOOTHEST}")
        return _ends_softly(s, int(order))
    found: Any = float("nan")
    for n in range(SMOOTHEST, 0, -1):
        found = apply("select", apply("==", order, float(n)), _ends_softly(s, n), found)
    return found


def _ends_softly(s: Any, n: int) -> Any:
    rest, found = 1.0 - s, 0.0
    for k in range(n, -1, -1):
        found = found * rest + float(comb(n + k, k))
    power = s
    for _ in range(n):
        power = power * s
    return power * found


def _sine(t: Any, amplitude: Any, frequency: Any, phase: Any, offset: Any, at: Any) -> Any:
    wave = apply("sin", 2 * np.pi * frequency * (t - at) + phase)
    return offset + amplitude * apply("select", apply(">=", t, at), wave, apply("sin", phase))


def _pulse(t: Any, at: Any, width: Any, rise: Any, fall: Any, period: Any) -> Any:
    """0, then 1 for `width`, with linear flanks; flanks of zero length are jumps; period 0 means once."""
    since = t - at
    safe = apply("select", apply(">", period, 0.0), period, 1.0)
    phase = apply(
        "select",
        apply("and", apply(">", period, 0.0), apply(">=", since, 0.0)),
        since - safe * apply("floor", since / safe),
        since,
    )
    up = apply("select", apply(">", rise, 0.0), phase / apply("select", apply(">", rise, 0.0), rise, 1.0), 1.0)
    late = phase - rise - width
    down = apply("select", apply(">", fall, 0.0), 1.0 - late / apply("select", apply(">", fall, 0.0), fall, 1.0), 0.0)
    level = apply(
        "select", apply("<", phase, rise), up, apply("select", apply("<", late, 0.0), 1.0, apply("max", down, 0.0))
    )
    return apply("select", apply(">=", phase, 0.0), level, 0.0)


# -------------------------------------------------------------------------------------------------- vectors


def _dot(a: tuple, b: tuple) -> Any:
    if len(a) != len(b):
        raise ValueError
    return sum((x * y for x, y in zip(a, b)), 0.0)


def _first(A: tuple, n: float) -> tuple:
    if not 0 <= n <= len(A) or n != int(n):
        raise ValueError
    return A[: int(n)]


def _padded(A: tuple, n: float) -> tuple:
    """The components of a vector, and zeros up to n of them."""
    if not len(A) <= n == int(n):
        raise IndexError
    return (*A, *[0.0] * (int(n) - len(A)))


def _cross(a: tuple, b: tuple) -> tuple:
    (a1, a2, a3), (b1, b2, b3) = a, b
    return (a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1)


def _diag(*values: Any) -> tuple:
    entries = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    return tuple(tuple(entries[i] if i == j else 0.0 for j in range(len(entries))) for i in range(len(entries)))


def _extreme(name: str) -> Callable[..., Any]:
    def compute(**values: Any) -> Any:
        first, *others = values.values()
        for other in others:
            first = apply(name, first, other)
        return first

    return compute


def _scalar(name: str, rule: Rule = _pure, smoothness: int | None = None) -> Function:
    return Function(("x",), lambda x: apply(name, x), rule, smoothness=smoothness)


def _junction_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    d = dict(dimensions)
    problem = _same({"v": d["v"], "V": d["V"]})[0] or _same({"I": d["I"], "limit": d["limit"]})[0]
    return problem, d["I"]


def _junction_energy_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    problem, current = _junction_rule(dimensions)
    return problem, None if current is None or dimensions["V"] is None else current * dimensions["V"]


def _depletion_rule(power: int) -> Rule:
    def rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
        d = dict(dimensions)
        problem = _same({"v": d["v"], "V": d["V"]})[0] or _pure({"M": d["M"], "fc": d["fc"]})[0]
        return problem, None if d["C"] is None or d["V"] is None else d["C"] * d["V"] ** power

    return rule


def _temperature_rule(first: str) -> Rule:
    """The dimension of the first argument; potentials are in V and temperatures in K, because laws of silicon hold
    numbers."""

    def rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
        for name, unit in (("V", "V"), ("T", "K"), ("Tnom", "K")):
            if dimensions.get(name) not in (None, parse_unit(unit).dimension):
                return f"'{name}' must be in {unit}", None
        return "", dimensions.get(first, parse_unit("V").dimension)

    return rule


def _first_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    return _pure({"n": dimensions["n"]})[0], dimensions["A"]


def _broken_line_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    return _same({"x": dimensions["x"], "xs": dimensions["xs"]})[0], dimensions["ys"]


def _broken_line_integral_rule(dimensions: Dimensions) -> tuple[str, Dimension | None]:
    wrong, ys = _broken_line_rule(dimensions)
    xs = dimensions["xs"]
    return wrong, None if xs is None or ys is None else xs * ys


_TIME = {"at": (0.0, None)}
_ONE_PART = {"parts": (1.0, NO_DIMENSION)}
FUNCTIONS: dict[str, Function] = {
    **{name: _scalar(name) for name in ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp",
    "asinh", "acosh", "atanh", "expm1", "log", "log10", "log1p"]},
    "sqrt": _scalar("sqrt", _root),
    "abs": _scalar("abs", _same, 0),
    "sign": _scalar("sign", _same_to_number, -1),
    "floor": _scalar("floor", _pure, -1),
    "mod": Function(("x", "y"), lambda x, y: apply("mod", x, y), _same, smoothness=-1),
    "atan2": Function(("y", "x"), lambda y, x: apply("atan2", y, x), _same_to_number),
    "min": Function((), _extreme("min"), _same, smoothness=0, variadic=True),
    "max": Function((), _extreme("max"), _same, smoothness=0, variadic=True),
    "step": Function(("t", "at"), _step, _same_to_number, _TIME, smoothness=-1, doc="0 before `at`, 1 from `at` on"),
    "ramp": Function(("t", "at"), _ramp, _same, _TIME, smoothness=0, doc="0 before `at`, then t - at"),
    "pulse": Function(
        ("t", "at", "width", "rise", "fall", "period"), _pulse, _same_to_number,
        {"at": (0.0, None), "rise": (0.0, None), "fall": (0.0, None), "period": (0.0, None)},
        smoothness=-1, doc="1 for `width` from `at` on, linear flanks of length `rise` and `fall`, repeated after "
                           "`period`",
    ),
    "sine": Function(
        ("t", "amplitude", "frequency", "phase", "offset", "at"), _sine, _sine_rule,
        {"amplitude": (1.0, NO_DIMENSION), "phase": (0.0, NO_DIMENSION), "offset": (0.0, None), "at": (0.0, None)},
        smoothness=None, doc="offset + amplitude*sin(2*pi*frequency*(t - at) + phase), held before `at`",
    ),
    "bell": Function(("t", "at", "width"), _bell, _same_to_number, doc="exp(-((t - at)/width)^2)"),
    "cycloid": Function(
        ("t", "duration", "at"), _cycloid, _same_to_number, _TIME, smoothness=2, doc="from 0 to 1 within `duration`, "
            "starting and ending softly"
    ),
    "smooth_step": Function(
        ("u", "order"), _smooth_step, _pure, smoothness=1, doc="0 for u <= 0, 1 for u >= 1, between them a polynomial; "
            "1 to 4 continuous derivatives"
    ),
    "dot": Function(("a", "b"), _dot, _multiplied),
    "cross": Function(("a", "b"), _cross, _multiplied),
    "norm": Function(("a",), lambda a: apply("sqrt", _dot(a, a)), _same),
    "diag": Function((), lambda **v: _diag(*v.values()), _same, variadic=True),
    "shift": Function(("x", "u"), shift, _same, doc="(x2, ..., xn, u)"),
    "interpolate": Function(("x", "xs", "ys"), interpolate, _broken_line_rule, smoothness=0,
    doc="broken line through points, straight beyond"),
    "interpolate_integral": Function(("x", "xs", "ys"), interpolate_integral, _broken_line_integral_rule, smoothness=1,
    doc="integral of `interpolate` from xs[1] to x"),
    "clamped": Function(("x", "xs", "ys"), clamped, _broken_line_rule, smoothness=0, doc="broken line through points, "
        "constant beyond"),
    "increasing": Function(("xs",), increasing, _same_to_number, doc="1 where every component exceeds the one before "
        "it, else 0"),
    "junction": Function(("v", "I", "V", "limit"), junction, _junction_rule, doc="I*(exp(v/V) - 1), straight beyond "
        "`limit`"),
    "junction_energy": Function(("v", "I", "V", "limit"), junction_energy, _junction_energy_rule,
    doc="integral of v dI of a junction"),
    "depletion": Function(("v", "C", "V", "M", "fc"), depletion, _depletion_rule(1), doc="charge of a depletion layer"),
    "depletion_energy": Function(("v", "C", "V", "M", "fc"), depletion_energy, _depletion_rule(2), doc="its energy"),
    "silicon_gap": Function(("T",), silicon_gap, _temperature_rule("gap"), doc="band gap of silicon in V"),
    "junction_potential": Function(("V", "T", "Tnom"), junction_potential, _temperature_rule("V"),
    doc="built-in potential at T"),
    "junction_capacitance": Function(("C", "V", "M", "T", "Tnom"), junction_capacitance, _temperature_rule("C"),
    doc="at T"),
    "first": Function(("A", "n"), _first, _first_rule, doc="the first n components, or rows of a matrix"),
    "padded": Function(("A", "n"), _padded, _first_rule, doc="the components of a vector, then zeros up to n"),
    "gauss_points": Function(
        ("n", "parts"), beams.gauss_points, _pure, _ONE_PART, doc="points of Gauss's quadrature on 0 .. 1, n on each "
            "of so many equal parts"
    ),
    "gauss_weights": Function(("n", "parts"), beams.gauss_weights, _pure, _ONE_PART, doc="and their weights"),
    "quadrature": Function(
        ("f", "g", "weights"), beams.quadrature, lambda d: _multiplied({"f": d["f"], "g": d["g"]}),
        doc="integrals of products of functions by their values at Gauss's points, with the points' weights",
    ),
    "shape_functions": Function(
        ("shapes", "n", "order", "x", "rows"), beams.shape_functions, _pure, {"rows": ((), NO_DIMENSION)},
        doc="derivatives of n shape functions of a family at points x, by rows",
    ),
    "shortening": Function(
        ("shapes", "n", "x", "rows"), beams.shortening, _pure, {"rows": ((), NO_DIMENSION)},
        doc="integrals of products of their slopes from 0 to x"
    ),
    "twist_functions": Function(("shapes", "n", "order", "x"), beams.twist_functions, _pure,
    doc="functions of torsion that go with a family"),
    "products": Function(("a", "b"), beams.products, _multiplied, doc="all products of components; Kronecker's product "
        "of matrices"),
    "zeros": Function(("n", "m"), beams.zeros, lambda dimensions: (_pure(dimensions)[0], None),
    doc="a matrix of zeros"),
    "filter_matrix": Function(("family", "n", "ripple"), filters.filter_matrix, _pure, doc="A of a low pass x' = A x + "
        "b u, y = x[1], cut off at 1"),
    "filter_input": Function(("family", "n", "ripple"), filters.filter_input, _pure, doc="its b"),
    "transpose": Function(("A",), lambda A: tuple(zip(*A)), _same),
}  # fmt: skip
