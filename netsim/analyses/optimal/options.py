"""Options of an optimisation: what is free, what is made least, and what must hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from netsim.analyses.analysis import Line
from netsim.analyses.given import EXPRESSION, NUMBER, SECOND, WORD, Kind
from netsim.simulate.options import unknown_options, wrong_time
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expressions_given, mapping_given, pair_given, parse_expression
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope, number_of
from netsim.text.syntax import Binary, Binding, Call, Expr, Name, Number, Run, Vector

KINDS: dict[str, Kind] = {
    "stop": EXPRESSION,
    "minimize": EXPRESSION,
    "maximize": EXPRESSION,
    **dict.fromkeys(("inputs", "parameters", "track", "limits", "begin", "end"), EXPRESSION),
    **dict.fromkeys(("intervals", "points", "rtol", "refinements", "iterations"), NUMBER),
    "sample": SECOND,
    **dict.fromkeys(("guess", "costates"), WORD),
    "from": WORD,
}
EXAMPLE = "optimize(stop = 1 s, minimize = integral(A.F^2), inputs = [A.F], end = [rest, a.x == 1 m])"
DEFAULT_RTOL = 1e-4
"""How much of its size a state may err by in an interval of the mesh."""
COMPARISONS = ("<=", ">=", "<", ">", "==")


@dataclass(frozen=True)
class OptimalOptions:
    """stop (s) or its bounds where it is free; the objective (`sign` -1: made largest); free inputs and parameters with
    their bounds; signals that follow motions; comparisons that hold at all times, at the begin and at the end; the mesh
    and when it is fine enough."""

    stop: tuple[float, float]
    minimize: Expr
    sign: float
    inputs: tuple[Expr, ...]
    parameters: tuple[tuple[str, Expr, Expr], ...] = ()
    track: tuple[tuple[Expr, Expr], ...] = ()
    limits: tuple[Expr, ...] = ()
    begin: tuple[Expr, ...] | None = None
    end: tuple[Expr, ...] = ()
    intervals: int = 20
    points: int = 3
    rtol: float = DEFAULT_RTOL
    refinements: int = 5
    iterations: int = 500
    sample: float = 0.0
    guess: str = ""
    start: str = ""
    costates: bool = False

    @property
    def is_free(self) -> bool:
        """Whether the stop is free."""
        return self.stop[0] < self.stop[1]


def optimal_options(options: Mapping[str, Any], line: Line) -> OptimalOptions:
    """The options of a run line or call, checked; raises `InputError` with all that is wrong."""
    spans, scope = line.spans, line.scope
    wrong = [*unknown_options("optimize", KINDS, options, spans), *_missing(options, spans)]
    wrong += list(_wrong_values(options, spans))
    if wrong:
        raise InputError(wrong)
    goal = options.get("minimize", options.get("maximize"))
    if goal is None:
        goal = Number(0.0, "")
    plain: dict[str, Any] = {
        n: int(options[n]) for n in ("intervals", "points", "refinements", "iterations") if n in options
    }
    return OptimalOptions(
        _stop(options["stop"], scope),
        goal,
        -1.0 if "maximize" in options else 1.0,
        listed(options.get("inputs")),
        tuple(_parameter(each) for each in listed(options.get("parameters"))),
        tuple(_pair(each) for each in listed(options.get("track"))),
        tuple(map(_comparison, listed(options.get("limits")))),
        tuple(map(_condition, listed(options["begin"]))) if "begin" in options else None,
        tuple(map(_condition, listed(options.get("end")))),
        **plain,
        rtol=float(options.get("rtol", DEFAULT_RTOL)),
        sample=float(options.get("sample", 0.0)),
        guess=options.get("guess", ""),
        start=options.get("from", ""),
        costates=options.get("costates") == "yes",
    )


def line_from(options: Mapping[str, Any]) -> Run:
    """The run line of an optimisation from Python: texts, lists of texts, numbers."""
    return Run("optimize", tuple(Binding(name.rstrip("_"), _expression(name, v)) for name, v in options.items()))


def _expression(name: str, value: Any) -> Expr:
    if isinstance(value, Mapping):
        found = mapping_given(name, value, "{'A.F': '1 N'}").items()
        return Vector(tuple(_equal(name, key, motion) for key, motion in found))
    return expressions_given(name, value)


def _equal(name: str, key: str, value: Any) -> Binary:
    """`signal: motion` of a mapping, `parameter: (least, largest)`."""
    if isinstance(value, tuple):
        low, high = pair_given(key, value)
        return Binary("=", parse_expression(key, name), Binary("..", low, high))
    return Binary("=", parse_expression(key, name), _expression(name, value))


def listed(value: Expr | None) -> tuple[Expr, ...]:
    """The items of a list, or the one thing that stands in its place."""
    if value is None:
        return ()
    return value.items if isinstance(value, Vector) else (value,)


def word(expr: Expr) -> str:
    """A lone word, '' for anything else."""
    return expr.parts[0].text if isinstance(expr, Name) and len(expr.parts) == 1 else ""


def _missing(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    if "stop" not in options:
        yield Problem("E422", "optimize() needs 'stop'", spans.get(""), hint=f"such as run {EXAMPLE}")
    if "minimize" in options and "maximize" in options:
        yield Problem("E423", "'minimize' and 'maximize' exclude each other", spans.get("maximize"))


def _wrong_values(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    for name, least, most in (
        ("intervals", 1, 10000),
        ("points", 1, 5),
        ("refinements", 0, 20),
        ("iterations", 1, 1e5),
    ):
        value = options.get(name, least)
        if value != int(value) or not least <= value <= most:
            message = f"'{name}' must be a whole number from {least} to {most:g}"
            yield Problem("E423", message, spans.get(name))
    if not 1e-10 <= options.get("rtol", DEFAULT_RTOL) <= 1.0:
        yield Problem("E423", "'rtol' must be between 1e-10 and 1", spans.get("rtol"), hint="rtol = 1e-4")
    if (given := options.get("costates", "no")) not in ("yes", "no"):
        yield Problem("E424", f"costates must be yes or no, not '{given}'", spans.get("costates"))
    if options.get("sample", 0.0) < 0.0:
        yield Problem("E423", "'sample' must be positive", spans.get("sample"))


def _stop(expr: Expr, scope: Scope) -> tuple[float, float]:
    """The stop, twice, or its bounds."""
    if isinstance(expr, Call) and expr.function == "free":
        if len(expr.arguments) != 2 or expr.keywords:
            message = "free() takes the shortest and the longest span"
            raise InputError(Problem("E423", message, expr.span, hint="stop = free(0.5 s, 3 s)"))
        low, high = (float(number_of(each, scope, SECOND)) for each in expr.arguments)
    else:
        low = high = float(number_of(expr, scope, SECOND))
    if not 0.0 < low <= high < float("inf"):
        message = "'stop' must be positive" if low == high else "free() needs two positive times, the shorter one first"
        raise InputError(Problem("E423", message, expr.span, hint="stop = free(0.5 s, 3 s)"))
    if wrong := [problem for end in (low, high) for problem in wrong_time("stop", end, expr.span)]:
        raise InputError(wrong)
    return low, high


def _pair(expr: Expr) -> tuple[Expr, Expr]:
    if isinstance(expr, Binary) and expr.op == "=" and not _is_range(expr.right):
        return expr.left, expr.right
    raise InputError(
        Problem("E424", "track must list pairs signal = motion", expr.span, hint="track = [a.x = 1 m*time/(1 s)]")
    )


def _parameter(expr: Expr) -> tuple[str, Expr, Expr]:
    if isinstance(expr, Binary) and expr.op == "=" and isinstance(expr.left, Name) and _is_range(expr.right):
        assert isinstance(expr.right, Binary)
        low, high = expr.right.left, expr.right.right
        if isinstance(low, Number) and not low.unit and isinstance(high, Number):
            low = Number(low.value, high.unit, span=low.span)
        return show_expression(expr.left), low, high
    hint = "parameters = [c1.c = 10 .. 200 N/m]"
    raise InputError(Problem("E424", "parameters must list ranges name = least .. largest", expr.span, hint=hint))


def _is_range(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op == ".."


def _comparison(expr: Expr) -> Expr:
    if isinstance(expr, Binary) and expr.op in COMPARISONS:
        return expr
    hint = "limits = [abs(motor.i) <= 8 A, tip.z >= 0.02 m]"
    raise InputError(Problem("E424", "a limit is a comparison", expr.span, hint=hint))


def _condition(expr: Expr) -> Expr:
    if word(expr) in ("rest", "free", "begin"):
        return expr
    if isinstance(expr, Binary) and expr.op in COMPARISONS:
        return expr
    hint = "begin = rest, end = [rest, a.x == 1 m], end = begin"
    raise InputError(Problem("E424", "begin and end list comparisons, or say rest", expr.span, hint=hint))
