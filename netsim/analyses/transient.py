"""Transient analysis: from a consistent start through the time loop to samples."""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.analyses.analysis import Analysis, Line, Task
from netsim.analyses.given import NAMES as PARTS
from netsim.analyses.given import NUMBER, SECOND, WORD, Kind, plain_option
from netsim.analyses.long_runs import on_disk, recorder_of, seen, windowed
from netsim.core.contract import FACTORISATIONS, ITERATIONS
from netsim.core.loop.turnover import turned_over
from netsim.core.newton import set_time
from netsim.core.states import place
from netsim.equations.history import check_step
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Change, Structure, resumed_start, with_coordinates
from netsim.initial.reactions.axes import locked
from netsim.initial.reactions.left_out import not_held
from netsim.initial.reactions.left_out import told as told_parted
from netsim.initial.reactions.redundancy import describe, solvable, without
from netsim.multibody.superelements import check_names, parts_of
from netsim.network.lets import signals_in
from netsim.results.partial.recording import DISK, DiskFull, Recording
from netsim.results.progress import Report
from netsim.results.rates import add_rates, own_unknowns
from netsim.results.samples import Samples, Trace
from netsim.results.selection import Selection, add_unseen, reader_of, select, signals_measured
from netsim.results.series import integrals_in
from netsim.simulate.adaptive import Recorder, Running, begin_adaptive, integrate_adaptive
from netsim.simulate.events.event_log import log_text
from netsim.simulate.events.events import has_events
from netsim.simulate.failing import grown, keep_last_step, near_rounding
from netsim.simulate.judging import energy_verdict, step_verdicts, value_verdicts
from netsim.simulate.methods import METHODS
from netsim.simulate.options import NAMES, TIMES, WORDS, TransientOptions, check_options
from netsim.simulate.setup.beginning import begun, listed, told
from netsim.simulate.setup.choice import formulated, observing
from netsim.structure.orders import absent_rates
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Expr, Name, Run

if TYPE_CHECKING:
    from netsim.simulate.stepped.simulator import Simulator

Array = np.ndarray

SCALE = 1.0
"""The `stop` (s) of a run that is stepped from Python where nothing says it: its steps are scaled by it."""

OPTIONS: dict[str, Kind] = {
    **dict.fromkeys(NAMES, NUMBER),
    **dict.fromkeys(TIMES, SECOND),
    **dict.fromkeys(WORDS, WORD),
    "superelements": PARTS,
}


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
    began, cpu = clock.perf_counter(), clock.thread_time()
    at = _placed(machine, structure, options, origin)
    machine, structure, g, time_events = at.machine, at.structure, at.g, at.time_events
    selection = select(machine, saves, plots)
    own = np.array(own_unknowns(machine, rated) if options.recovers else [], np.int64)
    if len(own) and machine.element is None:  # points are recovered with the rates of these coordinates
        structure = with_coordinates(machine.system, structure, own)
        g = resumed_start(machine, structure, g)
    exact = own[own < machine.system.layout.nk] if machine.element else own[structure.dynamic.d[own] >= 2]
    rates = add_rates(machine, selection, rated, exact)
    unseen = add_unseen(machine, selection, beside)
    reader = observing(machine, reader_of(machine, selection))
    formula = options.plain and not (has_events(machine) or len(machine.problem.buffer.length) or len(time_events))
    options, followed = replace(options, formula=formula), Selection()
    measured = [*signals_measured(machine.system.network), *_integrated([*saves, *plots], machine)]
    traced = add_unseen(machine, followed, [] if formula else measured)
    tracer = reader_of(machine, followed)
    tracer = observing(machine, tracer) if traced else tracer
    options = windowed(options, len(selection.entries), recording, bool(measured or rated))
    recorder = recorder_of(recording, machine, options, g, selection, followed)
    run = begin_adaptive(machine, structure, options, g, reader, time_events, tracer)
    loop = clock.thread_time()
    failure, message = _ended(run, progress, recorder)
    ending = _Ending(
        failure, message, clock.perf_counter() - began, clock.thread_time() - cpu, clock.thread_time() - loop
    )
    trace = _trace(run, list(followed.entries)) if traced else None
    samples = _samples(run, selection, rates, structure, at.changes, ending, at.coordinates, trace)
    warnings, broken = _verdicts(run, samples.finished)
    warnings = (*warnings, *value_verdicts(samples.signals, samples.time, samples.values))
    if samples.finished and not broken:
        warnings = (*warnings, *_locked(at.absolute, at.point))
    also = seen(selection, unseen, run.sampled[1])
    samples = replace(samples, origin=at.point, trace=trace, warnings=warnings, broken=broken, unseen=also)
    return on_disk(samples, run, selection, unseen, recorder) if recorder and run.flushed else samples


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
        failure = near_rounding(failure, 1.0 if run.options.step else run.options.rtol, grown(run))
        keep_last_step(run)
    return failure, failure.message if failure else ""


@dataclass(frozen=True, eq=False)
class _Placed:
    """A machine at its start, in the coordinates of its run and (`absolute`, `point`) in those of all bodies; time
    events, what the start changed, and which coordinates were chosen."""

    machine: Machine
    structure: Structure
    g: Array
    absolute: Machine
    point: Array
    time_events: Array
    changes: Sequence[Change]
    coordinates: str


def _placed(machine: Machine, structure: Structure, options: TransientOptions, origin: Array | None = None) -> _Placed:
    check_step(machine.system, machine.problem.buffer, options.step)
    absolute, structure, g, changes = begun(machine, structure, options.start, origin)
    point = g.copy()
    # steps that no time event cuts
    whole = options.plain and not has_events(absolute) and METHODS[options.method].order == 1
    time_events = np.zeros(0) if whole else time_events_of(absolute, options.stop)
    machine, structure, g, coordinates = formulated(absolute, structure, g, options.formulation)
    machine = replace(machine, parts=tuple(part.own for part in parts_of(machine.system, options.superelements)))
    return _Placed(machine, structure, g, absolute, point, time_events, changes, coordinates)


def stepped(task: Task, options: TransientOptions, inputs: Sequence[str]) -> "Simulator":
    """The run of a task, to be stepped from Python, with parameters that are its inputs (netsim.simulate.stepped).

    Raises as `transient` does, and `InputError` (E429) for what cannot be an input."""
    from netsim.simulate.stepped.going import begin
    from netsim.simulate.stepped.inputs import inputs_of
    from netsim.simulate.stepped.simulator import Simulator

    known = inputs_of(task.machine.system, task.values, inputs)
    machine, structure = task.machine, task.structure
    if inputs:
        system, absent = machine.system, absent_rates(machine.system, known.values)
        if not np.array_equal(absent, absent_rates(system, task.values)):
            system, structure = solvable(system, known.values, absent)
        machine = build_machine(system, known.values, task.earlier)
    options = replace(options, sample=options.stop, every=1, jumping=bool(inputs))
    at = _placed(machine, structure, options)
    selection = select(at.machine, task.saves, task.plots)
    add_unseen(at.machine, selection, task.beside)
    reader = observing(at.machine, reader_of(at.machine, selection))
    run = begin_adaptive(at.machine, at.structure, options, at.g, reader, at.time_events)
    return Simulator(begin(run, at.absolute, known, at.time_events), list(selection.entries), selection.expressions)


def stepped_options(line: Run, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run that is stepped from Python: those beside a transient line, with a `stop` where nothing says it.

    Raises `InputError` for `every` and `sample`."""
    for name in ("every", "sample"):
        if name in options:
            hint = "samples are where `step` and `advance` end"
            raise InputError(Problem("E421", f"simulator() has no option '{name}'", hint=hint))
    given = {name.rstrip("_"): value for name, value in options.items()}
    if line.options or "stop" in given:
        return given
    step = float(plain_option("step", given.get("step", 0.0), SECOND))
    return {**given, "stop": step * max(1000, np.ceil(SCALE / step)) if step > 0.0 else SCALE}


def _verdicts(run: Running, finished: bool) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """What makes a result doubtful, and what makes it wrong."""
    found = step_verdicts(run.options, run.counters, run.control.numbers)
    energy = energy_verdict(run.options, run.machine.system.network, run.turnover) if finished else None
    wrong = energy is not None and energy.code.startswith("E")
    open_ = not_held(run.machine, _stands(run), run.now) if finished and not run.pace.parted else None
    if run.pace.parted:
        open_ = told_parted(run.machine, int(run.pace.parted[0]), run.pace.parted[1])
    broken = [problem for problem in (open_, energy if wrong else None) if problem]
    return (*found, *([energy] if energy and not wrong else [])), tuple(broken)


def _stands(run: Running) -> Array:
    """The global vector where the run has come to."""
    g, state, problem = run.trial.g.copy(), run.trial.start, run.machine.struct
    set_time(problem, g, run.now)
    place(problem, g, state)
    return g


def _integrated(shown: Sequence[Expr], machine: Machine) -> list[Name]:
    """The signals that running integrals read."""
    return [
        name for expr in shown for call in integrals_in(expr) for name in signals_in(call, machine.system.network.top)
    ]


def _trace(run: Running, names: Sequence[str]) -> Trace:
    """What the steps found at their nodes."""
    rows = run.traced
    return Trace(rows[:, :, 0], {name: rows[:, :, 1 + j] for j, name in enumerate(names)})


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
        "turned_over": turned_over(run.turnover),
        "cpu_seconds": ending.cpu_seconds,
        "loop_cpu_seconds": ending.loop_cpu_seconds,
        "redundant": describe(run.machine.system),
        "characteristic_length": run.reactions.length if run.reactions else 0.0,
        **told(changes),
        "netlist": run.machine.system.network.text,
    }
    return found | ({"failure": ending.failure} if ending.failure else {})


def transient_options(options: Mapping[str, Any], line: Line, name: str = "transient") -> TransientOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    found = check_options(name, options, line.spans)
    check_names(line.network, found.superelements, line.spans)
    return found


def _notes(task: Task, options: TransientOptions) -> list[Problem]:
    """What the run moves to begin; raises what makes it impossible."""
    machine, _, g, changes = begun(task.machine, task.structure, options.start)
    moved = listed([c for c in changes if c.kind not in ("velocity", "far")])
    notes = [Problem("N401", f"the start was changed to meet the constraints: {moved}")] if moved else []
    notes += [Problem("N402", c.text) for c in changes if c.kind == "far"]
    return [*notes, *_locked(machine, g)]


def _locked(machine: Machine, g: Array) -> list[Problem]:
    """N403 where a closed chain has constraints too many and cannot move."""
    found = locked(without(machine, None), g) if machine.system.redundant else None
    return [found] if found else []


def _run(task: Task, options: TransientOptions) -> Samples:
    return transient(
        task.machine, task.structure, options, task.saves, task.plots, task.progress, task.rated, task.beside,
        recording=task.recording,
    )  # fmt: skip


ANALYSIS = Analysis("transient", OPTIONS, transient_options, _run, notes=_notes)
