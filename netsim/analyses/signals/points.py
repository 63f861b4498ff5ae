"""Points at which a network is linearised: its equilibrium, or instants of a transient run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import OptionSource, Task
from netsim.analyses.option_values import SECOND
from netsim.analyses.over_time.verdicts import verdicts
from netsim.analyses.signals.corners import corners_note
from netsim.analyses.signals.linearised import Linearised, linearised
from netsim.core.newton import set_time
from netsim.core.states import load
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure, resumed_start
from netsim.network.lets import signals_in
from netsim.results.claims import AT_REST, at_point
from netsim.results.measuring.subjects import RESPONSES, subject_of
from netsim.results.over_cases.one_per_code import problem_lines
from netsim.results.samples import Samples
from netsim.results.selection import Finder, Selection, reader_of, select
from netsim.simulate.adaptive import begin_adaptive, integrate_adaptive
from netsim.simulate.options import DEFAULT_METHOD, TransientOptions, wrong_time
from netsim.simulate.setup.start_of_run import equilibrium_of_run, start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.from_python import expressions_given
from netsim.text.expressions.typed import number_of
from netsim.text.syntax import Name, Vector

Array = np.ndarray
DEFAULTS: dict[str, Any] = {"method": DEFAULT_METHOD, "forces": "recovered", "rtol": 1e-9}
"""Of the run that leads to an instant."""


@dataclass(frozen=True, eq=False)
class Point:
    """A machine, its structure, and the consistent global vector at a time (s); in words, where that lies, and, line by
    line, what the run that leads there tells."""

    machine: Machine
    structure: Structure
    g: Array
    time: float
    place: str = ""
    told: str = ""

    def about(self, more: str = "") -> tuple[Machine, Samples]:
        """What components assert here, for `Samples.about`, and what is at a corner; `more` about the place."""
        place = (self.place or f"t = {self.time:.6g} s") + more
        corners = corners_note(self.machine, self.structure, self.g)
        told = "; ".join(self.told.splitlines())
        notes = (told and f"on the way to {place}: {told}", corners and f"at {place}: {corners}")
        return at_point(self.machine, self.g, self.time, place, "; ".join(filter(None, notes)))


def instants(given: Any, line: OptionSource) -> tuple[float, ...]:
    """`at`: () is the equilibrium; raises `InputError` for what is neither `static` nor instants."""
    if given is None or (isinstance(given, Name) and given.parts[0].text == "static"):
        return ()
    expr = expressions_given("at", given)
    items: Any = expr.items if isinstance(expr, Vector) else (expr,)
    times = tuple(float(number_of(item, line.scope, SECOND)) for item in items)
    if not all(np.isfinite(t) and t >= 0.0 for t in times):
        hint = "at = static, at = 2 ms, or a list of instants"
        raise InputError(Problem("E423", "'at' must be an instant, 0 or later", line.spans.get("at"), hint=hint))
    if wrong := [p for time in times if time for p in wrong_time("at", time, line.spans.get("at"))]:
        raise InputError(wrong)
    return times


def points(task: Task, at: Sequence[float]) -> Iterator[Point]:
    """The equilibrium (an empty `at`), or the run's consistent points at these instants.

    Raises what `static` and `transient` raise."""
    if not at:
        try:
            machine, structure, found = equilibrium_of_run(task.machine, task.structure)
        except SimulationError as none:
            hint = f"{none.problems[0].hint}; at = 0 s is the start, where nothing need be at rest"
            raise SimulationError(replace(none.problems[0], hint=hint)) from None
        yield Point(machine, structure, found.g, 0.0, AT_REST)
        return
    machine, structure, g, _ = start_of_run(task.machine, task.structure)
    for time in at:
        yield after(Point(machine, structure, g, 0.0), time)


def selected(machine: Machine, task: Task, measured: bool = False) -> Selection:
    """What is saved (all of the top level without a line), and what plots and, where they are `measured`, measures of
    responses read besides."""
    network, selection = machine.system.network, select(machine, task.saves)
    read = [m.value for m in network.measures if measured and subject_of(m, network) == RESPONSES]
    read += [a.condition for a in network.asserts if measured and subject_of(a, network) == RESPONSES]
    finder, figures = Finder(machine), {m.name for m in network.measures}
    for expr in (*task.plots, *read):
        for name in signals_in(expr, network.top, figures):
            for entry, dimension in finder.entries(name):
                selection.add(entry, dimension, True)
    return selection


def after(point: Point, duration: float, **more: Any) -> Point:
    """Where a run that begins at a point, at time 0, is after `duration`; raises `SimulationError`, also where its
    result is wrong."""
    if duration == 0.0:
        return point
    machine, options = point.machine, TransientOptions(duration, **{**DEFAULTS, **more})
    events = time_events_of(machine, duration)
    run = begin_adaptive(machine, point.structure, options, point.g.copy(), reader_of(machine, Selection()), events)
    failure = integrate_adaptive(run, None)
    doubts, broken = verdicts(run, failure is None)
    if failure or broken:
        raise SimulationError(failure or broken[0])
    g = run.trial.g.copy()
    set_time(run.machine.struct, g, duration)
    load(run.machine.struct, g, run.trial.start)
    there = resumed_start(run.machine, run.structure, g, duration)
    return Point(run.machine, run.structure, there, duration, told=problem_lines(doubts))


def linearised_at(
    task: Task, at: Sequence[float], measured: bool = False
) -> Iterator[tuple[Linearised, Selection, Point]]:
    """The network linearised at each point, with what is saved, plotted and perhaps `measured` as its outputs."""
    for point in points(task, at):
        selection = selected(point.machine, task, measured)
        yield linearised(point.machine, point.g, selection), selection, point
