"""`run sensitivity(of = [...], to = [...])`: a transient run with the exact derivatives of its signals and measures by
parameters and starts.

Signals are differentiated by the variational equations (netsim.core.variational), across events by the jump of the
instant. What is computed from signals (expressions, measures) is differentiated along their changes, by differences of
order 4: its instants move along with events.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, WORD, Kind
from netsim.analyses.option_values import NAMES as PARTS
from netsim.analyses.over_time.verdicts import verdicts
from netsim.analyses.refusals import check_size
from netsim.analyses.sensitivity.adjoint import run_adjoint
from netsim.analyses.sensitivity.elements import all_varied
from netsim.analyses.sensitivity.forward import Forward, by_radau, forward, method_notes
from netsim.analyses.sensitivity.varied import VariedQuantity, check_varied
from netsim.analyses.transient import OPTIONS
from netsim.equations.machine import Machine
from netsim.network.values import Values
from netsim.results.measures import measured
from netsim.results.samples import PARAMETER_VALUES, Figure, Samples, Signal, Trace
from netsim.results.selection import Selection, add_unseen, select, signals_measured
from netsim.results.series import integrals_in
from netsim.simulate.judgement import value_verdicts
from netsim.simulate.options import TransientOptions, check_options
from netsim.simulate.running import Running
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.from_python import expressions_given
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Expr, Vector
from netsim.text.units import format_dimension, parse_unit

Array = np.ndarray
KINDS: dict[str, Kind] = {**OPTIONS, "of": EXPRESSION, "to": PARTS, "derivatives": WORD}
WAYS = ("forward", "adjoint")
"""Along the steps for every parameter, or back along them for every figure."""
EXAMPLE = "sensitivity(stop = 1 s, of = [a.x], to = [m1.m, m1.x.start])"
WEIGHTS = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
STEP = 2.0**-11
"""How far what is computed from signals is moved along their changes, as a share of what is varied."""


@dataclass(frozen=True)
class SensitivityOptions:
    """The run; what is differentiated (signals, expressions of them, measures; none: all that is saved and measured);
    by which parameters and starts; one of `WAYS`."""

    run: TransientOptions
    of: tuple[Expr, ...]
    to: tuple[str, ...]
    spans: Mapping[str, Span | None]
    way: str = WAYS[0]


def check(options: Mapping[str, Any], line: OptionSource) -> SensitivityOptions:
    """The options of a run line or call; raises `InputError` with all that is wrong."""
    spans = line.spans
    wrong = list[Problem]()
    if not options.get("to"):
        wrong.append(Problem("E422", "sensitivity() needs 'to', parameters and starts", spans.get(""), hint=EXAMPLE))
    way = options.get("derivatives", WAYS[0])
    if way not in WAYS:
        wrong.append(Problem("E424", f"derivatives must be forward or adjoint, not '{way}'", spans.get("derivatives")))
    if wrong:
        raise InputError(wrong)
    run = check_options("sensitivity", {name: value for name, value in options.items() if name in OPTIONS}, spans)
    return SensitivityOptions(run, expressions(options.get("of", ())), tuple(dict.fromkeys(options["to"])), spans, way)


def expressions(value: Any) -> tuple[Expr, ...]:
    """The expressions that an option lists, from a run line or from Python."""
    expr = expressions_given("of", value)
    return expr.items if isinstance(expr, Vector) else (expr,)


@dataclass(frozen=True, eq=False)
class DifferentiatedRun:
    """A run that is differentiated: its machine, what is varied, its signals with all changes."""

    machine: Machine
    of: Sequence[VariedQuantity]
    selection: Selection
    unseen: Sequence[str]
    found: Forward

    def columns(self, changed: int = -1, step: float = 0.0) -> dict[str, Array]:
        """What was sampled, by name, changed by `step` along what varies as number `changed`."""
        values = self.found.values if changed < 0 else self.found.values + step * self.found.changes[:, changed]
        return {name: values[:, j] for j, name in enumerate(self.selection.entries)}

    def trace(self, time: Array, columns: Mapping[str, Array]) -> Trace | None:
        """What was sampled at the nodes of the steps, where these are known."""
        nodes = self.found.nodes
        return Trace(time[nodes], {name: series[nodes] for name, series in columns.items()}) if len(nodes) else None

    def shown(self, changed: int = -1, step: float = 0.0) -> dict[str, tuple[Array, Signal]]:
        """What is saved, of the run or of what it changes to."""
        top, values = self.machine.system.network.top, self.values(changed, step)
        scope, columns, time = values.scope(top), self.columns(changed, step), self.found.time
        return self.selection.signals(columns, time, scope, top, self.trace(time, columns))

    def told(self) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """What makes the run, what it shows, or its derivatives doubtful, and what makes the run wrong."""
        warnings, broken = verdicts(self.found.run)
        shown = list(self.shown().values())
        values = np.column_stack([series for series, _ in shown]) if shown else np.zeros((0, 0))
        odd = value_verdicts([signal for _, signal in shown], self.found.time, values)
        return (*warnings, *odd, *self.found.doubts), broken

    def changes(self, changed: int) -> dict[str, Array]:
        """The derivative of all that is saved."""
        step, names, found = self.step(changed), list(self.selection.entries), dict[str, Array]()
        for share, w in WEIGHTS if self.selection.expressions else ():
            for name, (series, _) in self.shown(changed, share * step).items():
                found[name] = found.get(name, 0.0) + w / step * series
        return {**found, **{n: self.found.changes[:, changed, names.index(n)] for n in self.selection.shown}}

    def figures(self, changed: int = -1, step: float = 0.0) -> dict[str, Figure]:
        """What is measured, of the run or of what it changes to, whose instants move."""
        time = self.found.time if changed < 0 else self.found.time + step * self.found.moves[:, changed]
        values = self.columns(changed, step)
        if changed >= 0:  # at the instants that moved
            rates = step * self.found.moves[:, [changed]] * self.found.rates
            values = {name: values[name] + rates[:, j] for j, name in enumerate(self.selection.entries)}
        none, trace = np.zeros((len(time), 0)), self.trace(time, values)
        samples = Samples("", time, (), none, np.zeros((0, 3)), unseen=values, trace=trace)
        machine = replace(self.machine, values=self.values(changed, step))
        return {figure.name: figure for figure in measured(machine, samples)[0]}

    def values(self, changed: int, step: float) -> Values:
        """Values of parameters, of the run or of what it changes to."""
        return self.machine.values if changed < 0 else self.of[changed].values(self.machine.values, step)

    def step(self, changed: int) -> float:
        """How far it is moved."""
        return STEP * (abs(self.of[changed].value) or 1.0)

    def figure_change(self, changed: int) -> dict[str, float]:
        """The derivatives of measures."""
        step, total = self.step(changed), dict[str, float]()
        for share, w in WEIGHTS:
            for name, figure in self.figures(changed, share * step).items():
                total[name] = total.get(name, 0.0) + w / step * figure.value
        return total


def differentiate(
    task: Task, options: TransientOptions, to: Sequence[str], spans: Mapping[str, Span | None], saves: Sequence[Expr],
    instants: Array, inside: bool = False,
) -> DifferentiatedRun:  # fmt: skip
    """The run of a task with its changes, those inside its steps too where they are asked for or integrated; raises
    `InputError` for what cannot be varied, `SimulationError` where the run or its derivatives end early."""
    options = replace(by_radau(options), sample=0.0, every=1, formulation="absolute")
    _refuse(task, spans)
    machine, structure, g, _ = start_of_run(task.machine, task.structure, options.start)
    of = all_varied(task, to, options, spans.get("to"), g)
    selection = select(machine, saves, task.plots)
    add_unseen(machine, selection, signals_measured(task.network))
    unseen = add_unseen(machine, selection, task.beside, named=False)
    events = time_events_of(machine, options.stop)
    inside = inside or any(any(integrals_in(each, task.network.top)) for each in selection.expressions.values())
    found = forward(machine, structure, g, options, of, events, selection, instants, task.progress, inside)
    return DifferentiatedRun(machine, of, selection, unseen, found)


def _refuse(task: Task, spans: Mapping[str, Span | None]) -> None:
    """Raises E472 for what is not differentiated: delays, and tables over other runs."""
    machine = task.machine
    if len(machine.problem.buffer.length):
        raise InputError(Problem("E472", "derivatives of a network with delays are not computed", spans.get("")))
    for prescribed in machine.system.prescribed_inputs:
        for _, call in prescribed.calls:
            if call.run:
                message = "derivatives of a run that reads a table over another run are not computed"
                raise InputError(Problem("E472", message, call.call.span))


def _run(task: Task, options: SensitivityOptions) -> Samples:
    return _back(task, options) if options.way == "adjoint" else _along(task, options)


def _back(task: Task, options: SensitivityOptions) -> Samples:
    """Signals over time; their last values with their derivatives are figures."""
    found = run_adjoint(task, options.run, options.to, options.spans, options.of or task.saves)
    signals = [found.selection.entries[name].signal for name in found.derivatives]
    figures = [Figure(f"final({s.name})", float(found.column(s.name)[-1]), s.unit) for s in signals]
    figures += [
        Figure(f"d(final({s.name}))/d({each.name})", float(change), _unit(s.unit, each))
        for s in signals
        for each, change in zip(found.of, found.derivatives[s.name])
    ]
    values = np.column_stack([found.column(s.name) for s in signals])
    warnings, broken = verdicts(found.run)
    unseen = {name: found.column(name) for name in found.unseen}
    attributes = _attributes(options, found.run, found.of)
    return Samples(
        "", found.run.sampled[0], tuple(signals), values, attributes=attributes, unseen=unseen,
        figures=tuple(figures), warnings=warnings, broken=broken,
    )  # fmt: skip


def _attributes(options: SensitivityOptions, run: Running, of: Sequence[VariedQuantity]) -> dict[str, Any]:
    return {
        "method": run.options.method,
        "notes": "; ".join(method_notes(options.run, run.options)),
        **({"step": options.run.step} if options.run.step else {"rtol": options.run.rtol}),
        "stop": options.run.stop,
        "steps": run.steps,
        "parameters": ", ".join(each.name for each in of),
        PARAMETER_VALUES: ", ".join(repr(each.value) for each in of),
    }


def _along(task: Task, options: SensitivityOptions) -> Samples:
    measures = {m.name for m in task.network.measures}
    asked = [show_expression(each) for each in options.of]
    saves = [each for each, text in zip(options.of, asked) if text not in measures] or (() if asked else task.saves)
    sample, stop = options.run.sample, options.run.stop
    check_size(stop, sample, len(select(task.machine, saves, task.plots).entries) * (1 + len(options.to)))
    instants = np.append(np.arange(1, int(stop / sample * (1 + 1e-12)) + 1) * sample, stop) if sample else np.zeros(0)
    looks = bool(measures or task.network.asserts)
    done = differentiate(task, options.run, options.to, options.spans, saves, instants, looks)
    kept = requested(done.found.time, instants) if sample else done.found.between
    plain = done.shown()
    columns, signals = [s for s, _ in plain.values()], [signal for _, signal in plain.values()]
    warnings, broken = done.told()
    figures = list[Figure]()
    known = done.figures() if measures else {}
    for j, each in enumerate(done.of):
        for name, change in done.changes(j).items():
            columns.append(change)
            signals.append(Signal(f"d({name})/d({each.name})", _unit(plain[name][1].unit, each)))
        for name, figure in done.figure_change(j).items() if measures else ():
            if not asked or name in asked:
                figures.append(Figure(f"d({name})/d({each.name})", figure, _unit(known[name].unit, each)))
    attributes = _attributes(options, done.found.run, done.of)
    own = done.columns()
    unseen, trace = {n: own[n][kept] for n in done.unseen}, done.trace(done.found.time, own)
    values = np.column_stack(columns)[kept] if columns else np.zeros((int(kept.sum()), 0))
    return Samples(
        "", done.found.time[kept], tuple(signals), values, attributes=attributes, unseen=unseen,
        trace=trace, figures=tuple(figures), warnings=warnings, broken=broken,
    )  # fmt: skip


def requested(time: Array, instants: Array) -> Array:
    """The start and the last sample at each requested instant."""
    found = np.zeros(len(time), bool)
    at = np.searchsorted(time, instants * (1.0 + 1e-12), side="right") - 1
    found[np.append(0, at)] = True
    return found


def _unit(unit: str, by: VariedQuantity) -> str:
    """The SI unit of a derivative."""
    dimension = parse_unit(unit or "1").dimension / by.dimension
    return "" if dimension.is_none else format_dimension(dimension)


def _refuse_names(task: Task, options: SensitivityOptions) -> None:
    """Raises what is wrong with a line before it is run."""
    _refuse(task, options.spans)
    for name in options.to:
        check_varied(task, name, options.spans.get("to"))


ANALYSIS = Analysis("sensitivity", KINDS, check, _run, refuse=_refuse_names)
