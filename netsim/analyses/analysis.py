"""What an analysis is: a record that its file in `netsim/analyses/` holds. The folder is the registry.

A line `run NAME(option = value, ...)` finds the record by its name. `options` tells how each option is read; `check`
makes an object of them, or raises `InputError` with all that is wrong; `run` does the analysis. An analysis with an
option `stop` runs over time: `--stop`, `--step` and `--method` of the command line are options of it, and `measure` and
`assert` see its samples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from netsim.analyses.option_values import Kind, plain_option, written_option
from netsim.equations.machine import Machine
from netsim.equations.system import System
from netsim.initial.initial import Structure
from netsim.initial.reactions.axes import with_axis
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.results.partial.recording import Recording
from netsim.results.progress import Report, Stopwatch
from netsim.results.samples import Samples
from netsim.simulate.options import unknown_options
from netsim.text.errors import InputError, NetsimError, Problem, Span, nearest
from netsim.text.expressions.from_python import parse_expression
from netsim.text.expressions.typed import Scope
from netsim.text.limits import TOO_LARGE
from netsim.text.syntax import Binding, Expr, Name, Run
from netsim.text.terms import NOWHERE

Prepared = tuple[Values, System, Structure]
Options = TypeVar("Options")


OVERFLOWS = np.errstate(all="ignore")
"""Around calls of the user: what is not finite is told where it is looked at, not by NumPy where it arises."""


@dataclass(frozen=True, eq=False)
class Task:
    """What an analysis works on: a network under its parameter values, and what is asked of it.

    build: machine and structure; earlier: what a table over an earlier run shows; prepare: another network with the
    same parameters; under: the same task with other parameter values (nothing is compiled anew). Saved and plotted
    signals; signals `beside` them, sampled unseen; positions `rated`, with their rates; where long runs write
    themselves down; runs that serve other values; the cluster that computes many runs."""

    network: Network
    values: Values
    build: Callable[[], tuple[Machine, Structure]]
    earlier: Callable[[Any, str], Any]
    prepare: Callable[[Network], Prepared]
    under: "Callable[[Mapping[str, float]], Task]"
    saves: Sequence[Expr] = ()
    plots: Sequence[Expr] = ()
    progress: Report | None = None
    beside: Sequence[Name] = ()
    rated: Sequence[Name] = ()
    recording: Recording | None = None
    shared: dict[Any, Any] | None = None
    cluster: Any = None

    @property
    def variants(self) -> Any:
        """Runs that were begun and serve other values, kept in `shared`; None where none are."""
        from netsim.analyses.over_time.templates import TemplateStore

        return None if self.shared is None else self.shared.setdefault("variants", TemplateStore(self.network))

    @cached_property
    def _built(self) -> tuple[Machine, Structure]:
        return self.build()

    @property
    def machine(self) -> Machine:
        """The equations as machine code, with their values."""
        return self._built[0]

    @property
    def structure(self) -> Structure:
        """Differentiation orders of the equations."""
        return self._built[1]


@dataclass(frozen=True)
class OptionSource:
    """Where options are from: the run line (from Python an empty one), those that were given beside it, the network and
    what its expressions may name."""

    run: Run
    given: frozenset[str]
    network: Network
    scope: Scope

    @property
    def spans(self) -> dict[str, Span | None]:
        """Where each option is written; the line itself under ''."""
        line = self.run.span if self.run.span != NOWHERE else None
        return {"": line, **{b.name: b.span for b in self.run.options if b.name not in self.given}}


@dataclass(frozen=True)
class Analysis(Generic[Options]):
    """An analysis. refuse(task, options) raises `InputError` where the network does not allow it; notes(task, options)
    are what `netsim check` has to say about a first run."""

    name: str
    options: Mapping[str, Kind]
    check: Callable[[Mapping[str, Any], OptionSource], Options]
    run: Callable[[Task, Options], Samples]
    refuse: Callable[[Task, Options], object] = lambda task, options: None
    notes: Callable[[Task, Options], list[Problem]] = lambda task, options: []

    @property
    def over_time(self) -> bool:
        """Whether it runs over time."""
        return "stop" in self.options


STEPPING = ("method", "rtol", "atol", "step", "max_step")
"""Options of steps in time, which analyses have that are no run over time themselves (a periodic state)."""


def lines_that_take(option: str, runs: Sequence[Run], analyses: Mapping[str, Analysis]) -> list[bool]:
    """Which run lines an option is for that is given for all: those of runs over time, and where it is one of steps
    also others that have it. Where there is no such line it is for every one, so that none drops it in silence."""
    of = [analyses.get(run.analysis) for run in runs]
    found = [bool(a and (a.over_time or (option in STEPPING and option in a.options))) for a in of]
    return found if any(found) else [True] * len(runs)


def options_by_line(
    options: Mapping[str, Any], runs: Sequence[Run], analyses: Mapping[str, Analysis]
) -> list[dict[str, Any]]:
    """Of options that are given for all run lines, those of each."""
    takes = {name: lines_that_take(name, runs, analyses) for name in options}
    return [{name: value for name, value in options.items() if takes[name][i]} for i in range(len(runs))]


def options_of(analysis: Analysis[Options], line: OptionSource, given: Mapping[str, Any]) -> Options:
    """The options of a run line, and those that were given beside it, as the analysis reads them. Raises `InputError`:
    for options that it does not have (E421), else for all that is wrong with those that it has."""
    kinds, run = analysis.options, line.run
    names = [b.name for b in run.options]
    if twice := [b for i, b in enumerate(run.options) if b.name in names[:i] and b.name not in given]:
        raise InputError([Problem("E228", f"'{b.name}' is given twice", b.span) for b in twice])
    named = {**dict.fromkeys(b.name for b in run.options), **given}
    if wrong := list(unknown_options(analysis.name, kinds, named, line.spans)):
        raise InputError(wrong)
    options = {b.name: written_option(b, line.scope, kinds[b.name]) for b in run.options}
    options |= {name: plain_option(name, value, kinds[name]) for name, value in given.items()}
    return analysis.check(options, line)


def run_analysis(analysis: Analysis, task: Task, options: Any, line: Span | None = None) -> Samples:
    """The analysis of a task, with its name, what it took and the text of the netlist as attributes. Where a mechanism
    cannot move, the axis that locks it is told, and at the `line` of the run that it asks for too much."""
    watch = Stopwatch()
    try:
        samples = analysis.run(task, options)
    except NetsimError as error:
        told = [with_axis(p, task.machine.system, task.values) for p in error.problems]
        raise type(error)(p if p.span or p.code != TOO_LARGE else replace(p, span=line) for p in told) from None
    broken = tuple(with_axis(p, task.machine.system, task.values) for p in samples.broken)
    named, own = {"analysis": analysis.name}, samples.attributes
    attributes = {**named, **own, **watch.read, "netlist": task.network.text, **own, **named}
    if (failure := attributes.get("failure")) is not None:
        attributes["failure"] = with_axis(failure, task.machine.system, task.values)
    return replace(samples, broken=broken, attributes=attributes)


def with_options(
    runs: Sequence[Run], given: Sequence[tuple[str, str, str]], analyses: Mapping[str, Analysis]
) -> tuple[Run, ...]:
    """Run lines with options given beside them, (where, NAME.option, value as text), in the place of their own:
    `run.option` in the `lines_that_take` it, others in the line of that name.

    Raises `InputError` where there is no such line, or the text is not a value."""
    for where, path, text in given:
        name, _, option = path.partition(".")
        if name not in (names := ["run", *(run.name for run in runs if run.name)]) or not option:
            hint = nearest(name, names) or f"write {' or '.join(f'{each}.OPTION' for each in names)}"
            raise InputError(Problem("E420", f"'{path}' is not an option of a run line (in '{where}')", hint=hint))
        value = parse_expression(text, where)
        binding = Binding(option, value, span=value.span)
        takes = lines_that_take(option, runs, analyses) if name == "run" else [run.name == name for run in runs]
        runs = [
            replace(run, options=(*(b for b in run.options if b.name != option), binding)) if taken else run
            for run, taken in zip(runs, takes)
        ]
    return tuple(runs)
