"""What every run of an inverse analysis shares: the task, one run of a rewired network, and what a later run reads of
an earlier one."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from netsim.analyses.inverse.options import InverseOptions
from netsim.analyses.inverse.tracking import APPLIED, FOLLOW, Actuator, Motion, rewired
from netsim.analyses.over_time.run import transient
from netsim.equations.machine import Machine, build_machine
from netsim.equations.messages import quoted
from netsim.equations.system import System
from netsim.initial.initial import Structure
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.results.progress import Report
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Binding, Expr, Name, Part, Run

Array = np.ndarray
Prepared = tuple[Values, System, Structure]
Earlier = Callable[[Any, str], Any]
Series = Callable[[str], Any]

FOUND, FIRST = "the inputs that were found", "the first pass"
"""Runs that tables of the rewired networks read."""

SAMPLES = 1000
"""Samples of a run that another one reads, where no times of samples are given."""
DEGREES = 1, 3, 5
TOGETHER = 1e-12
"""The share of a run between the two sides of a time event."""


@dataclass(frozen=True, eq=False)
class Task:
    """What every run of the analysis shares. Actuators (with their weights and coordinates) stand in the order of need:
    spare ones last. All runs begin at one point: `origin`, once it is known."""

    network: Network
    prepare: Callable[[Network], Prepared]
    options: InverseOptions
    motions: tuple[Motion, ...]
    actuators: tuple[Actuator, ...]
    earlier: Earlier
    progress: Report | None
    origin: Array | None = None

    @property
    def spare(self) -> int:
        """How many actuators there are beyond the motions."""
        return len(self.actuators) - len(self.motions)

    @property
    def inputs(self) -> list[str]:
        """The unknowns that stand for the actuators' inputs."""
        return [f"{a.element(self.network)}.u" for a in self.actuators]

    def wired(self, applied: bool = False) -> Prepared:
        """The network with the motions imposed, or with all inputs applied, ready to be run.

        Only where the motions are imposed must everything be determined at rest: they may determine what inputs alone
        leave open (the pressure of a vessel that a pump fills), and with inputs applied runs begin where the motions
        say."""
        begins = "rest" if applied else self.options.transient.start or "static"
        kinds = [APPLIED if applied or k >= len(self.motions) else FOLLOW for k in range(len(self.actuators))]
        try:
            wired = rewired(self.network, kinds, self.motions, self.actuators, FOUND)
            return self.prepare(replace(wired, runs=(Run("transient", (Binding("from", Name((Part(begins),))),)),)))
        except InputError as error:
            raise InputError([_renamed(p, self) for p in error.problems]) from None

    def stepping(self, **changes: Any) -> "Task":
        """The same task with other options of its time stepping."""
        return replace(self, options=replace(self.options, transient=replace(self.options.transient, **changes)))


def machine_of(task: Task, prepared: Prepared, series: Mapping[str, Series]) -> Machine:
    """The machine of a rewired network; `series` gives what tables over the analysis' own runs read: their signals by
    name, for each run."""
    values, system, _ = prepared

    def earlier(call: Any, run: str) -> Any:
        if run not in (FOUND, FIRST):
            return task.earlier(call, run)
        return series[run](show_expression(call.signal)) if run in series else None

    return build_machine(system, values, earlier)


def run(
    task: Task,
    prepared: Prepared,
    series: Mapping[str, Series],
    saves: Sequence[Expr],
    plots: Sequence[Expr] = (),
    rated: Sequence[Name] = (),
    beside: Sequence[Name] = (),
) -> Samples:
    """One transient run of a rewired network."""
    machine = machine_of(task, prepared, series)
    try:
        found = transient(
            machine, prepared[2], task.options.transient, saves, plots, task.progress, rated, beside, task.origin
        )
    except SimulationError as error:
        raise in_words_of_user(error, task) from None
    failure = found.attributes.get("failure")
    return replace(found, attributes={**found.attributes, "failure": _renamed(failure, task)}) if failure else found


def require_finished(found: Samples, what: str) -> Samples:
    """The run, if it came to its end."""
    if found.finished:
        return found
    raise SimulationError(found.attributes.get("failure") or Problem("E502", f"{what} did not finish: {found.message}"))


def with_even_samples(task: Task) -> Task:
    """The task with samples at equal distances, which other runs can read and compare."""
    given = task.options.transient
    if given.sample:
        return task
    return task.stepping(sample=given.step * given.every if given.step else given.stop / SAMPLES, every=1)


def signal_name(text: str) -> Name:
    """`legA.motor F.u` as a name: elements that were added have a blank in theirs."""
    return Name(tuple(Part(part) for part in text.split(".")))


def constant(value: float, task: Task) -> tuple[Array, ...]:
    """A series that does not change."""
    return np.array([0.0, task.options.transient.stop]), np.full(2, value), np.zeros(2), np.zeros(2)


def spline(time: Array, x: Array, time_events: Iterable[float] = ()) -> tuple[Array, ...]:
    """A series with its first two rates, by quintic splines between time events: the piecewise quintic through them is
    the spline itself.

    What is sampled at a time event belongs to one of its sides only, so each side is continued to it from within."""
    end = float(time[-1])
    inner = sorted(c for c in time_events if time[0] < c < end)
    edges = [float(time[0]), *inner, end]
    parts: list[tuple[Array, ...]] = []
    for low, high in pairwise(edges):
        after, before = (
            [low + TOGETHER * end] if low != edges[0] else [],
            [high - TOGETHER * end] if high != end else [],
        )
        inside = (time > after[0] if after else time >= low) & (time < before[0] if before else time <= high)
        if not inside.any():
            continue
        knots = np.concatenate([after, time[inside], before])
        parts.append(_smooth(time[inside], x[inside], knots))
    return tuple(np.concatenate(column) for column in zip(*parts))


def _smooth(time: Array, x: Array, knots: Array) -> tuple[Array, ...]:
    """The spline of highest degree up to five through a series, at knots: instants, values and two rates."""
    from scipy.interpolate import make_interp_spline

    degree = max((d for d in DEGREES if d < len(time)), default=0)
    if not degree:
        return knots, np.full(len(knots), x[0]), np.zeros(len(knots)), np.zeros(len(knots))
    found = make_interp_spline(time, x, k=degree)
    return knots, found(knots), found(knots, 1), found(knots, 2) if degree > 1 else np.zeros(len(knots))


def in_words_of_user(error: SimulationError, task: Task) -> SimulationError:
    """The error with the names of signals and actuators in the place of the elements that were added."""
    return SimulationError([_renamed(problem, task) for problem in error.problems])


def _renamed(problem: Problem, task: Task) -> Problem:
    """What is wrong with an element that was added, in words of the signal or the actuator it stands for. Where the
    equations are singular and one of them takes part, its input has no effect: a valve is closed, a source at its
    limit."""
    elements = {f"'{actuator.element(task.network)}'": actuator for actuator in task.actuators}
    if problem.code == "E502" and any(each in problem.message + problem.hint for each in elements):
        idle = [actuator for each, actuator in elements.items() if each in problem.message + problem.hint]
        when = re.search(r"(at|beyond) t = \S+ s", problem.message)
        message = f"{quoted([a.name for a in idle])} has no effect {when[0] if when else 'there'}"
        hint = "the motion asks for more than the element can give (a valve that is closed or wide open), or the input "
        hint += "changes nothing where it begins"
        return replace(problem, message=message, span=idle[0].expr.span, hint=hint)
    hint = _words(problem.hint, task)
    if problem.code in ("E501", "E505", "E507", "E508"):
        names = quoted([a.name for a in task.actuators[:3]])
        limits = "(a valve that is wide open, a source at its limit)"
        hint = f"the motion may ask for more than {names} can give {limits}; {hint}"
    span = problem.span or (task.motions[0].motion.span if task.motions else None)
    return replace(problem, message=_words(problem.message, task), hint=hint, span=span)


def _words(text: str, task: Task) -> str:
    """A text with the names of signals and actuators in the place of the elements that were added."""
    for k, actuator in enumerate(task.actuators):
        element = actuator.element(task.network)
        if k < len(task.motions):
            text = text.replace(f"the motion of '{element}'", f"the motion of {task.motions[k].name}")
        text = text.replace(f"'{element}'", f"'{actuator.name}'")
    return text
