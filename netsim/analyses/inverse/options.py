"""Options of an inverse run: signals with their motions, actuators, and the problems of a given line."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from netsim.analyses.analysis import OptionSource
from netsim.analyses.option_values import EXPRESSION, NUMBER, SECOND, WORD, Kind, items_of, wrong_answer
from netsim.analyses.transient import OPTIONS, transient_options
from netsim.library.component import dimension
from netsim.simulate.options import DEFAULT_METHOD, TransientOptions
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expressions_given, mapping_given, parse_expression
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import quantity_of
from netsim.text.syntax import Binary, Binding, Expr, Name, Run, Vector

BVP: dict[str, Kind] = {"bounded": WORD, "lead": SECOND, "tail": SECOND, "intervals": NUMBER}
OWN = ("track", "actuators", "passes", "weights", "coordinates", "growth")
NAMES: dict[str, Kind] = {**OPTIONS, **dict.fromkeys(OWN, EXPRESSION), **BVP}
GROWTH = 1e3
"""How much an error may grow during a run by what the motions leave free: of a tolerance of 1e-6 a thousandth is left
then."""
EXAMPLE = (
    "inverse(track = [M.x = 10 mm*bell(time, at = 1 s, width = 0.2 s)], actuators = [A.F], stop = 2 s, step = 1 ms)"
)


EXAMPLES_OF_TRACK = "{'M.x': '10 mm*bell(time, at = 1 s, width = 0.2 s)'}"


@dataclass(frozen=True)
class InverseOptions:
    """(signal, motion) pairs, actuators, and how; `coordinates` are those of the actuators, found by their units where
    not given; `growth`: by how much an unstable part of the zero dynamics may multiply errors during the run.
    `bounded`: the internal motion stays bounded, by a boundary value problem that begins `lead` (s) before 0 and ends
    `tail` (s) behind the stop, on so many intervals at first."""

    track: tuple[tuple[Expr, Expr], ...]
    actuators: tuple[Expr, ...]
    transient: TransientOptions
    passes: int = 1
    weights: tuple[float, ...] = ()
    coordinates: tuple[Expr, ...] = ()
    growth: float = GROWTH
    bounded: bool = False
    lead: float = 0.0
    tail: float = 0.0
    intervals: int = 40


def inverse_options(options: Mapping[str, Any], line: OptionSource) -> InverseOptions:
    """The options of a run line: its own and those of its time stepping; raises `InputError` with all that is wrong."""
    run, scope = line.run, line.scope
    stepping = {"forces": "recovered", "method": DEFAULT_METHOD} | {
        n: v for n, v in options.items() if n not in (*OWN, *BVP)
    }
    transient = transient_options(stepping, line, "inverse")
    given: Mapping[str, Expr] = {b.name: b.value for b in run.options}
    problems = [
        Problem("E422", f"inverse() needs '{name}'", run.span, hint=f"run {EXAMPLE}")
        for name in ("track", "actuators")
        if name not in given or not items_of(given[name])
    ]
    if problems:
        raise InputError(problems)
    track, actuators, coordinates = (
        items_of(given[n]) if n in given else () for n in ("track", "actuators", "coordinates")
    )
    numbers = {
        n: [float(x) for x in flatten(quantity_of(given[n], scope, dimension(None)).value)]
        for n in ("passes", "weights", "growth")
        if n in given
    }
    problems += [*_wrong(given, track, actuators, numbers, coordinates), *_wrong_bounds(options, line.spans)]
    if problems:
        raise InputError(problems)
    passes, weights, growth = numbers.get("passes", [1.0]), numbers.get("weights", []), numbers.get("growth", [GROWTH])
    found = InverseOptions(
        pairs_of(track), actuators, transient, int(passes[0]), tuple(weights), coordinates, growth[0]
    )
    more = {n: options[n] for n in ("lead", "tail") if n in options}
    return replace(found, bounded=options.get("bounded") == "yes", intervals=int(options.get("intervals", 40)), **more)


def line_from(track: Mapping[str, str], lists: Mapping[str, Any]) -> Run:
    """The run line of an inverse problem from Python: signals with their motions as texts, and the options of `OWN`."""
    motions = mapping_given("track", track, EXAMPLES_OF_TRACK).items()
    pairs = tuple(Binary("=", parse_expression(s, "track"), parse_expression(m, "track")) for s, m in motions)
    given = (Binding(name, expressions_given(name, value)) for name, value in lists.items())
    return Run("inverse", (Binding("track", Vector(pairs)), *given))


def pairs_of(track: Iterable[Expr]) -> tuple[tuple[Expr, Expr], ...]:
    """Signals with their motions, as a list of `signal = motion` has them."""
    return tuple((item.left, item.right) for item in track if isinstance(item, Binary))


def wrong_track(track: Iterable[Expr], hint: str) -> Iterator[Problem]:
    """What in a list is no pair of a signal and its motion (E424)."""
    for item in track:
        if not (isinstance(item, Binary) and item.op == "=") or getattr(item.right, "op", "") == "..":
            yield Problem("E424", "track must list pairs signal = motion", item.span, hint=hint)


def motions_in(run: Run) -> list[Expr]:
    """The motions that a run line lists."""
    return [motion for b in run.options if b.name == "track" for _, motion in pairs_of(items_of(b.value))]


def _wrong_bounds(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the options of a bounded inverse."""
    yield from wrong_answer("bounded", options, spans)
    for name in (n for n in ("lead", "tail", "intervals") if n in options):
        if options.get("bounded") != "yes":
            message = f"'{name}' belongs to a bounded inverse"
            yield Problem("E423", message, spans.get(name), hint="add bounded = yes")
        elif not options[name] >= (1 if name == "intervals" else 0):
            yield Problem("E423", f"'{name}' must be positive", spans.get(name))


def _wrong(
    given: Mapping[str, Expr],
    track: tuple[Expr, ...],
    actuators: tuple[Expr, ...],
    numbers: Mapping[str, list[float]],
    coordinates: tuple[Expr, ...],
) -> Iterator[Problem]:
    yield from wrong_track(track, f"such as {EXAMPLE}")
    if numbers.get("passes", [1]) not in ([1], [2]):
        yield Problem("E424", "passes must be 1 or 2", given["passes"].span)
    if len(growth := numbers.get("growth", [GROWTH])) != 1 or not growth[0] >= 1.0:
        yield Problem(
            "E424", "growth must be a number of at least 1", given["growth"].span, hint=f"the default is {GROWTH:g}"
        )
    weights = numbers.get("weights", [])
    if weights and (len(weights) != len(actuators) or not all(w > 0 for w in weights)):
        yield Problem("E424", "weights must be positive numbers, one for each actuator", given["weights"].span)
    if coordinates and (len(coordinates) != len(actuators) or not all(isinstance(c, Name) for c in coordinates)):
        yield Problem("E424", "coordinates must be signals, one for each actuator", given["coordinates"].span)
