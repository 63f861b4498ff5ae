"""A transient run: from a consistent start through the time loop to samples, and what is to be said of them."""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.over_time.long_runs import on_disk, recorder_of, unseen_signals
from netsim.analyses.over_time.start import SignalRequest, StartedRun, start_run
from netsim.analyses.over_time.templates import RunRequest, Template, restart_template
from netsim.analyses.over_time.verdicts import Verdicts, errors_added_up, verdicts
from netsim.core.contract import FACTORISATIONS, ITERATIONS
from netsim.core.loop.turnover import turned_over
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Change, Structure
from netsim.initial.reactions.axes import locked_chains
from netsim.initial.reactions.redundancy import describe, solvable
from netsim.results.partial.recording import DISK, DiskFull, Recording
from netsim.results.progress import Report
from netsim.results.samples import Samples, Trace
from netsim.results.selection import Selection
from netsim.simulate.adaptive import Recorder, Running, integrate_adaptive
from netsim.simulate.events.event_log import log_text
from netsim.simulate.failed_steps import grown_errors, keep_last_step, near_rounding
from netsim.simulate.judgement import value_verdicts
from netsim.simulate.options import TransientOptions
from netsim.simulate.repeated import finer, verified
from netsim.simulate.run_template import targets
from netsim.simulate.setup.start_of_run import start_attributes
from netsim.structure.orders import absent_rates
from netsim.text.errors import Problem
from netsim.text.syntax import Expr, Name

if TYPE_CHECKING:
    from netsim.simulate.stepped.simulator import Simulator

Array = np.ndarray


@dataclass(frozen=True)
class _Ending:
    """How a run ended: the problem that stopped it (if any), what to say, and what it took, in all and in the time loop
    alone."""

    failure: Problem | None
    message: str
    wall_seconds: float
    cpu_seconds: float
    loop_cpu_seconds: float


def transient(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    saves: Sequence[Expr] = (),
    plots: Sequence[Expr] = (),
    progress: Report | None = None,
    rated: Sequence[Name] = (),
    beside: Sequence[Name] = (),
    origin: Array | None = None,
    recording: Recording | None = None,
) -> Samples:
    """Integrate from 0 to stop and sample; positions in `rated` with their rates, signals `beside` unseen.

    With an `origin` (of the samples of a network with the same unknowns) it begins at that point instead of a start of
    its own.

    What takes long is written by `recording` as it goes, and samples that memory does not take stay there.
    A failure or an interruption ends the samples early and says so (`finished`, `message`).
    Raises `InputError` for wrong options or starts, `SimulationError` where no consistent start exists.
    """
    began = clock.perf_counter(), clock.thread_time()
    asked = SignalRequest(saves, plots, rated, beside)
    return run_to_end(start_run(machine, structure, options, asked, origin, recording), progress, recording, began)


def run_to_end(
    started: StartedRun, progress: Report | None, recording: Recording | None, began: tuple[float, float]
) -> Samples:
    """The run, integrated: its samples and what is to be said of them."""
    at, run, selection, followed = started.at, started.run, started.signals.selection, started.signals.followed
    recorder = recorder_of(recording, run.machine, run.options, started.start, selection, followed)
    loop = clock.thread_time()
    failure, message = _ended(run, progress, recorder)
    ending = _Ending(
        failure, message, clock.perf_counter() - began[0], clock.thread_time() - began[1], clock.thread_time() - loop
    )
    trace = _trace(run, list(followed.entries)) if followed.entries else None
    samples = _samples(run, selection, started.rates, started.structure, at.changes, ending, at.coordinates, trace)
    warnings, broken = verdicts(run, samples.finished)
    warnings = (*warnings, *value_verdicts(samples.signals, samples.time, samples.values))
    if samples.finished and not broken:
        warnings = (*warnings, *locked_chains(at.absolute, at.point))
    also = unseen_signals(selection, started.signals.unseen, run.sampled[1])
    samples = replace(samples, origin=at.point, trace=trace, warnings=warnings, broken=broken, unseen=also)
    return on_disk(samples, run, selection, started.signals.unseen, recorder) if recorder and run.flushed else samples


def run_measured(started: StartedRun, judge: Callable[[Running, bool], Verdicts] = verdicts) -> Samples:
    """The run, integrated, with what measures and assertions read: no saved signals, and of attributes why it failed
    alone."""
    run, followed = started.run, started.signals.followed
    failure, message = _ended(run, None, None)
    time, sampled, account = run.sampled
    unseen = {name: sampled[:, j] for j, name in enumerate(started.signals.selection.entries)}
    trace = _trace(run, list(followed.entries)) if followed.entries else None
    warnings, broken = map(tuple, judge(run, failure is None))
    return Samples(
        "", np.minimum(time, run.options.stop), (), sampled[:, :0], account[:, :3],
        {"failure": failure} if failure else {}, not message, message,
        unseen=unseen, trace=trace, warnings=warnings, broken=broken,
    )  # fmt: skip


def _ended(run: Running, progress: Report | None, recorder: Recorder | None) -> tuple[Problem | None, str]:
    """The run, integrated: the problem that stopped it, if any, and what to say of its end."""
    failure: Problem | None = None
    try:
        failure = integrate_adaptive(run, progress, recorder)
        if recorder and not failure:
            recorder.ended(run)
    except DiskFull as full:
        failure = full.problems[0]
    except KeyboardInterrupt:
        return None, f"interrupted at t = {run.now:g} s"
    if failure and failure.code != DISK:
        failure = near_rounding(failure, 1.0 if run.options.step else run.options.rtol, grown_errors(run))
        keep_last_step(run)
    return failure, failure.message if failure else ""


def start_simulator(task: Task, options: TransientOptions, inputs: Sequence[str]) -> "Simulator":
    """The run of a task, to be stepped from Python, with parameters that are its inputs (netsim.simulate.stepped).

    Raises as `transient` does, and `InputError` (E429) for what cannot be an input."""
    from netsim.simulate.stepped.inputs import inputs_of
    from netsim.simulate.stepped.simulator import Simulator
    from netsim.simulate.stepped.stepped_run import begin_stepping

    known = inputs_of(task.machine.system, task.values, inputs)
    machine, structure = task.machine, task.structure
    if inputs:
        system, absent = machine.system, absent_rates(machine.system, known.values)
        if not np.array_equal(absent, absent_rates(system, task.values)):
            system, structure = solvable(system, known.values, absent)
        machine = build_machine(system, known.values, task.earlier)
    options = replace(options, sample=options.stop, every=1, jumping=bool(inputs))
    asked = SignalRequest(task.saves, task.plots, (), task.beside, traced=False)
    wanted = RunRequest(machine, structure, options, asked, None)
    started = (None if inputs else _restarted(task, wanted)[0]) or start_run(machine, structure, options, asked)
    at, selection = started.at, started.signals.selection
    going = begin_stepping(started.run, at.absolute, known)
    return Simulator(going, list(selection.entries), selection.expressions)


def _trace(run: Running, names: Sequence[str]) -> Trace:
    """What the steps found at their nodes."""
    time, *signals = np.ascontiguousarray(np.moveaxis(run.traced, 2, 0))
    return Trace(time, dict(zip(names, signals)))


def _samples(
    run: Running,
    selection: Selection,
    rates: Mapping[str, tuple[str, str]],
    structure: Structure,
    changes: Sequence[Change],
    ending: _Ending,
    coordinates: str,
    trace: Trace | None,
) -> Samples:
    time, sampled, account = run.sampled
    time = np.minimum(time, run.options.stop)  # the state behind an event at the stop
    columns = {name: sampled[:, j] for j, name in enumerate(selection.entries)}
    shown, values = selection.table(run.machine, columns, time, trace)
    kept = {name: (columns[v], columns[a]) for name, (v, a) in rates.items()}
    finished = ending.failure is None and not ending.message
    attributes = _attributes(run, structure, changes, ending) | {"coordinates": coordinates}
    kinetic = account[:, 3] if run.machine.system.layout.nk else None
    return Samples("", time, shown, values, account[:, :3], attributes, finished, ending.message, kept, kinetic=kinetic)


def _attributes(run: Running, structure: Structure, changes: Sequence[Change], ending: _Ending) -> dict[str, Any]:
    found: dict[str, Any] = {
        "analysis": "transient",
        "method": run.options.method,
        "forces": run.options.forces,
        **({"step": run.options.step} if run.options.step else {"rtol": run.options.rtol}),
        **({"atol": run.options.atol} if run.options.atol else {}),
        "stop": run.options.stop,
        "formulation": "tree" if run.machine.element else "absolute",
        "unknowns": run.machine.system.n,
        "index": structure.index,
        "steps": run.steps,
        **run.effort,
        **({"event_log": log_text(run.events.log)} if run.events else {}),
        "iterations": int(run.counters[ITERATIONS]),
        "factorisations": int(run.counters[FACTORISATIONS]),
        "wall_seconds": ending.wall_seconds,
        "turned_over": float(turned_over(run.turnover)),
        "added_up": errors_added_up(run),
        "cpu_seconds": ending.cpu_seconds,
        "loop_cpu_seconds": ending.loop_cpu_seconds,
        "redundant": describe(run.machine.system),
        "characteristic_length": run.reactions.length if run.reactions else 0.0,
        **start_attributes(changes),
        "netlist": run.machine.system.network.text,
    }
    return found | ({"failure": ending.failure} if ending.failure else {})


def run(task: Task, options: TransientOptions) -> Samples:
    """The run that a line asks for, compared with a finer one where it is to be verified."""
    samples = _run_once(task, options)
    if options.verify and samples.finished and samples.pieces is None:
        return verified(samples, _finer_run(task, options, samples.time), options)
    return samples


def _finer_run(task: Task, options: TransientOptions, times: Array) -> Samples:
    """The run with a smaller tolerance, sampled at these instants too."""
    began = clock.perf_counter(), clock.thread_time()
    asked = SignalRequest(task.saves, task.plots, (), ())
    started = start_run(task.machine, task.structure, finer(options), asked)
    if not (options.step or options.sample):
        started.run.control = started.run.control._replace(grid=np.append(np.unique(times[times > 0.0]), np.inf))
    return run_to_end(started, task.progress, None, began)


def _run_once(task: Task, options: TransientOptions) -> Samples:
    if task.rated:
        return _begin_and_run(task, options)
    began = clock.perf_counter(), clock.thread_time()
    asked = SignalRequest(task.saves, task.plots, (), task.beside)
    wanted = RunRequest(task.machine, task.structure, options, asked, task.recording)
    started, template = _restarted(task, wanted)
    samples = run_to_end(started, task.progress, task.recording, began) if started else _begin_and_run(task, options)
    if template is not None:
        task.variants.give_back(wanted, template)
    return samples


def _restarted(task: Task, wanted: RunRequest) -> tuple[StartedRun | None, Template | None]:
    """A run that begins in the arrays of another one, and the template that has them; None where it has to begin by
    itself."""
    template, started = task.variants.borrow(wanted) if task.variants else (None, None)
    if template is None:
        return started, None
    machine, goals = wanted.machine, targets(wanted.machine.system, task.values)
    return restart_template(template, task.values, machine.parameters, goals, wanted.recording), template


def _begin_and_run(task: Task, options: TransientOptions) -> Samples:
    """A run that begins by itself."""
    return transient(
        task.machine, task.structure, options, task.saves, task.plots, task.progress, task.rated, task.beside,
        recording=task.recording,
    )  # fmt: skip
