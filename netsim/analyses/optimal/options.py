"""Options of an optimisation: what is free, what is made least, and what must hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netsim.analyses.analysis import OptionSource
from netsim.analyses.inverse.options import pairs_of, wrong_track
from netsim.analyses.many.ranges import Range, range_of
from netsim.analyses.option_values import EXPRESSION, NUMBER, SECOND, WORD, Kind, items_of, whole_numbers, wrong_answer
from netsim.network.network import parameter_names
from netsim.simulate.options import wrong_time
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.from_python import expressions_given
from netsim.text.expressions.typed import Scope, number_of
from netsim.text.syntax import Binary, Binding, Call, Expr, Name, Number, Run

KINDS: dict[str, Kind] = {
    "stop": EXPRESSION,
    "minimize": EXPRESSION,
    "maximize": EXPRESSION,
    **dict.fromkeys(("inputs", "parameters", "track", "limits", "begin", "end"), EXPRESSION),
    **dict.fromkeys(("intervals", "points", "rtol", "refinements", "iterations", "smooth"), NUMBER),
    "sample": SECOND,
    **dict.fromkeys(("guess", "costates"), WORD),
    "from": WORD,
}
EXAMPLE = "optimize(stop = 1 s, minimize = integral(A.F^2), inputs = [A.F], end = [rest, a.x == 1 m])"
DEFAULT_RTOL = 1e-4
"""How much of its size a state may err by in an interval of the mesh."""
LEAST = {"intervals": 1, "points": 1, "refinements": 0, "iterations": 1}
MOST = {"intervals": 10_000, "points": 5, "refinements": 20, "iterations": 1e5}
"""Whole numbers with their least and largest values."""
COMPARISONS = ("<=", ">=", "<", ">", "==")


@dataclass(frozen=True)
class Limits:
    """The first mesh, how fine it must become, how often it is refined, and IPOPT's iterations."""

    intervals: int = 20
    points: int = 3
    rtol: float = DEFAULT_RTOL
    refinements: int = 5
    iterations: int = 500


@dataclass(frozen=True)
class OptimalOptions:
    """stop (s) or its bounds where it is free; the objective (`sign` -1: made largest); free inputs and parameters with
    their bounds; signals that follow motions; comparisons that hold at all times, at the begin and at the end; the mesh
    and when it is fine enough."""

    stop: tuple[float, float]
    minimize: Expr
    sign: float
    inputs: tuple[Expr, ...]
    parameters: tuple[Range, ...] = ()
    track: tuple[tuple[Expr, Expr], ...] = ()
    limits: tuple[Expr, ...] = ()
    begin: tuple[Expr, ...] | None = None
    end: tuple[Expr, ...] = ()
    mesh: Limits = Limits()
    sample: float = 0.0
    guess: str = ""
    start: str = ""
    costates: bool = False
    smooth: float = 0.0

    @property
    def starts(self) -> bool:
        """Whether every state begins as in a transient run, but for velocities at rest."""
        return self.begin is None or [word(item) for item in self.begin] == ["rest"]

    @property
    def is_free(self) -> bool:
        """Whether the stop is free."""
        return self.stop[0] < self.stop[1]


def optimal_options(options: Mapping[str, Any], line: OptionSource) -> OptimalOptions:
    """The options of a run line or call, checked; raises `InputError` with all that is wrong."""
    spans, scope = line.spans, line.scope
    wrong = [*_missing(options, spans), *_wrong_values(options, spans)]
    wrong += wrong_track(items_of(options.get("track")), "track = [a.x = 1 m*time/(1 s)]")
    if wrong:
        raise InputError(wrong)
    goal = options.get("minimize", options.get("maximize", Number(0.0, "")))
    plain: dict[str, Any] = {n: int(options[n]) for n in LEAST if n in options}
    return OptimalOptions(
        _stop(options["stop"], scope),
        goal,
        -1.0 if "maximize" in options else 1.0,
        items_of(options.get("inputs")),
        tuple(_parameter(each, line) for each in items_of(options.get("parameters"))),
        pairs_of(items_of(options.get("track"))),
        tuple(_condition(each, (), LIMIT) for each in items_of(options.get("limits"))),
        tuple(map(_condition, items_of(options["begin"]))) if "begin" in options else None,
        tuple(map(_condition, items_of(options.get("end")))),
        Limits(**plain, rtol=float(options.get("rtol", DEFAULT_RTOL))),
        sample=float(options.get("sample", 0.0)),
        guess=options.get("guess", ""),
        start=options.get("from", ""),
        costates=options.get("costates") == "yes",
        smooth=float(options.get("smooth", 0.0)),
    )


def line_from(options: Mapping[str, Any]) -> Run:
    """The run line of an optimisation from Python: texts, lists of texts, numbers."""
    return Run("optimize", tuple(Binding(name.rstrip("_"), expressions_given(name, v)) for name, v in options.items()))


def word(expr: Expr) -> str:
    """A lone word, '' for anything else."""
    return expr.parts[0].text if isinstance(expr, Name) and len(expr.parts) == 1 else ""


def _missing(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    if "stop" not in options:
        yield Problem("E422", "optimize() needs 'stop'", spans.get(""), hint=f"such as run {EXAMPLE}")
    if "minimize" in options and "maximize" in options:
        yield Problem("E423", "'minimize' and 'maximize' exclude each other", spans.get("maximize"))


def _wrong_values(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    yield from whole_numbers(options, LEAST, spans, MOST)
    if not 1e-10 <= options.get("rtol", DEFAULT_RTOL) <= 1.0:
        yield Problem("E423", "'rtol' must be between 1e-10 and 1", spans.get("rtol"), hint="rtol = 1e-4")
    if not 0.0 < options.get("smooth", 1.0) <= 1.0:
        yield Problem("E423", "'smooth' must be above 0, and 1 at most", spans.get("smooth"), hint="smooth = 1e-3")
    yield from wrong_answer("costates", options, spans)
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


def _parameter(expr: Expr, line: OptionSource) -> Range:
    """A free parameter; raises `InputError` (E236) for a start, which is free where the begin is."""
    found = range_of(expr, line.network, line.scope)
    if found.name not in (known := parameter_names(line.network)):
        hint = nearest(found.name, known)
        raise InputError(Problem("E236", f"no parameter is called '{found.name}'", found.span, hint=hint))
    return found


LIMIT = "a limit is a comparison", "limits = [abs(motor.i) <= 8 A, tip.z >= 0.02 m]"
CONDITION = "begin and end list comparisons, or say rest", "begin = rest, end = [rest, a.x == 1 m], end = begin"


def _condition(
    expr: Expr, words: Sequence[str] = ("rest", "free", "begin"), wrong: tuple[str, str] = CONDITION
) -> Expr:
    """A comparison or one of these words; raises `InputError` (E424) for anything else."""
    if word(expr) in words or (isinstance(expr, Binary) and expr.op in COMPARISONS):
        return expr
    raise InputError(Problem("E424", wrong[0], expr.span, hint=wrong[1]))
