"""`run sweep_periodic(over = f, from = 0.1 Hz, to = 1 Hz)`: periodic states along a parameter, round folds, stable or
not: frequency responses of nonlinear oscillators, limit cycles over a gain.

`period` is an expression of parameters (1/f), or found anew from the sources at every value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.operating.continuation import Features, follow_curve
from netsim.analyses.option_values import EXPRESSION, NAMES, NUMBER, SECOND, WORD, Kind, whole_numbers
from netsim.analyses.over_time.verdicts import verdicts
from netsim.analyses.periodic.branch import Branch
from netsim.analyses.periodic.clock import clock_of
from netsim.analyses.periodic.orbit import PeriodicOptions, claims_along, find_orbit, sample_orbit
from netsim.analyses.periodic.periodic import PASSED_ON, PAST
from netsim.analyses.periodic.periodic import check as check_one
from netsim.analyses.periodic.shooting import PeriodMap
from netsim.analyses.periodic.sources import common_period
from netsim.analyses.periodic.stability import NEUTRAL, floquet
from netsim.analyses.signals.families import find_member
from netsim.analyses.signals.options import equal_steps
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine, build_machine
from netsim.network.network import parameter_names
from netsim.results.over_cases.one_per_code import one_per_code
from netsim.results.over_frequency.curves import reading
from netsim.results.over_frequency.harmonics import harmonics
from netsim.results.samples import Samples, Signal
from netsim.results.selection import Selection
from netsim.simulate.events.iteration import event_iteration
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.from_python import expression_given
from netsim.text.expressions.typed import number_of
from netsim.text.syntax import Expr
from netsim.text.units import parse_unit

Array = np.ndarray
OPTIONS: dict[str, Kind] = {
    **{"over": NAMES, "from": EXPRESSION, "to": EXPRESSION, "period": EXPRESSION, "step": SECOND, "max_step": SECOND},
    **dict.fromkeys(("points", "warm_up", "harmonics", "rtol", "atol"), NUMBER),
    "method": WORD,
}
EXAMPLE = "sweep_periodic(over = f, from = 0.1 Hz, to = 1 Hz)"
POINTS, HARMONICS = 21, 1
LONGEST = 0.3
"""Steps along the curve, in sizes of the states of its first point and in the range of the parameter."""


@dataclass(frozen=True, eq=False)
class SweepOptions:
    """The parameter, its steps, the expression of the period (None: that of the sources), and what each state takes."""

    over: Signal
    steps: Array
    period: Expr | None
    each: PeriodicOptions


def check(options: Mapping[str, Any], line: OptionSource) -> SweepOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    spans = line.spans
    if wrong := list(whole_numbers(options, {"points": 2}, spans)):
        raise InputError(wrong)
    over, span = "".join(options.get("over", ())), spans.get("over") or spans.get("")
    if over not in parameter_names(line.network):
        raise InputError(Problem("E429", f"'{over}' is no parameter", span, hint=EXAMPLE))
    signal = find_member(over, line.network, span, EXAMPLE)
    unit, count = parse_unit(signal.unit).dimension, float(options.get("points", POINTS))
    steps = equal_steps("sweep_periodic", options, line, unit, count, EXAMPLE)
    passed_on = {n: v for n, v in options.items() if n in (*PASSED_ON, "warm_up", "harmonics") and n != "from"}
    each = check_one({"harmonics": HARMONICS, **passed_on}, line)
    period = expression_given("period", options["period"]) if "period" in options else None
    return SweepOptions(signal, steps, period, each)


def run(task: Task, options: SweepOptions) -> Samples:
    """A row per point: the parameter, period, largest multiplier, then mean, amplitudes and phase of each signal."""
    refuse_delays(task.machine.system, "sweep_periodic()", PAST)
    first, last = float(options.steps[0]), float(options.steps[-1])
    name, run_ = options.over.name, options.each.run
    begin = task.under({name: first})
    start = find_orbit(begin, replace(options.each, period=_period(begin, options.period)))
    point, states, selection = start.orbit.start, start.orbit.states, start.selection

    def made(value: float) -> tuple[Machine, float]:
        here = task.under({name: value})
        machine = build_machine(point.machine.system, here.values, task.machine.earlier)
        found = start.orbit.period if start.free else _period(here, options.period)
        clock = clock_of(machine, event_iteration(machine, point.structure), point.g)
        return machine, found or common_period(machine, clock) or start.orbit.period

    branch = Branch(start.orbit, first, made, run_, selection, states, start.free, abs(last - first))
    rows, features, judged = list[list[float]](), Features(), list[Any]()
    doubts, wrong = list[Sequence[Problem]](), list[Sequence[Problem]]()
    failure: Problem | None = None
    try:
        for value in follow_curve(
            branch, first, last, options.steps, what="periodic states", features=features, longest=LONGEST
        ):
            rows.append([value, *_row(branch.here, selection, start.free, options.each.harmonics)])
            for each, found in zip((doubts, wrong), verdicts(branch.here.found.run)):
                each.append(found)
            judged.append(claims_along(start, branch.here, f"{name} = {reading(value, options.over.unit)}"))
            if task.progress:
                share = abs(value - first) / abs(last - first)
                task.progress(min(1.0, share), f"{name} = {reading(value, options.over.unit)}", len(rows))
    except SimulationError as lost:
        failure = lost.problems[0]
    told = [f"fold at {name} = {reading(value, options.over.unit)}" for value in features.folds]
    if features.closed:
        told.append(f"the curve is closed: it does not come to {name} = {reading(last, options.over.unit)}")
    values = np.array(rows)
    unstable = int(np.count_nonzero(values[:, 2] > 1.0 + NEUTRAL))
    told.append(f"{len(values)} periodic states, {unstable} of them unstable")
    attributes = {
        "over": name,
        "family": "",
        "orbit": "\n".join(told),
        "folds": ", ".join(repr(value) for value in features.folds),
        **({"failure": failure} if failure else {}),
    }
    signals = sample_orbit(start.orbit, selection).signals
    shown = (options.over, *_columns(signals, options.each.harmonics))
    count = np.arange(1.0, len(values) + 1)
    message = failure.message if failure else ""

    def where(i: int) -> str:
        return f"{name} = {reading(values[i, 0], options.over.unit)}"

    warnings, broken = (one_per_code(enumerate(each), len(values), "periodic state", where) for each in (doubts, wrong))
    return Samples(
        "", count, shown, values, attributes=attributes, finished=not failure, message=message, axis="point",
        about=tuple(judged), warnings=(*start.doubts, *warnings), broken=broken,
    )  # fmt: skip


def _period(task: Task, expr: Expr | None) -> float:
    """The period that an expression of parameters says; 0 without one."""
    return float(number_of(expr, task.values.scope(task.network.top), SECOND)) if expr is not None else 0.0


def _row(lap: PeriodMap, selection: Selection, free: bool, count: int) -> list[float]:
    """Period, largest multiplier, then mean, amplitudes and phases of each signal."""
    found = floquet(lap, free).multipliers
    row = [lap.period, float(np.abs(found).max(initial=0.0))]
    for size in harmonics(sample_orbit(lap, selection).fine, np.arange(count + 1)):
        row += [float(size[0].real), *np.abs(size[1:]).tolist(), *np.angle(size[1:]).tolist()]
    return row


def _columns(signals: Sequence[Signal], count: int) -> list[Signal]:
    """The signals of a row."""
    found = [Signal("period", "s"), Signal("multiplier", "", "the largest in size")]
    for s in signals:
        numbers_ = ["", *(f", {k}" for k in range(2, count + 1))]
        found.append(Signal(f"mean({s.name})", s.unit))
        found += [Signal(f"amplitude({s.name}{k})", s.unit) for k in numbers_]
        found += [Signal(f"phase({s.name}{k})", "rad") for k in numbers_]
    return found


ANALYSIS = Analysis(
    "sweep_periodic",
    OPTIONS,
    check,
    run,
    refuse=lambda task, options: refuse_delays(task.machine.system, "sweep_periodic()", PAST),
)
