"""A transient run at its start: placed in the coordinates it runs in, with what its samples are to become."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.over_time.long_runs import windowed
from netsim.analyses.over_time.named_signals import named_in, places_of
from netsim.equations.history import check_step
from netsim.equations.machine import Machine
from netsim.initial.initial import Change, Structure, resumed_start, with_coordinates
from netsim.multibody.superelements import parts_of
from netsim.network.lets import signals_in
from netsim.results.partial.recording import Recording
from netsim.results.rates import add_rates, own_unknowns
from netsim.results.selection import Named, Reader, Selection, add_unseen, reader_of, select, signals_measured
from netsim.results.series import integrals_in
from netsim.simulate.adaptive import Running, begin_adaptive
from netsim.simulate.events.iteration import has_events
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.arrays.readings import readings
from netsim.simulate.setup.choice import formulated, observing
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.syntax import Expr, Name

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class StartPoint:
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


def find_start(
    machine: Machine, structure: Structure, options: TransientOptions, origin: Array | None = None
) -> StartPoint:
    """A machine at the start of a run, or at `origin`, in the coordinates that the options ask for."""
    check_step(machine.system, machine.problem.buffer, options.step, options.stop)
    absolute, structure, g, changes = start_of_run(machine, structure, options.start, origin)
    point = g.copy()
    # steps that no time event cuts
    whole = options.plain and not has_events(absolute) and METHODS[options.method].order == 1
    time_events = np.zeros(0) if whole else time_events_of(absolute, options.stop)
    machine, structure, g, coordinates = formulated(absolute, structure, g, options.formulation)
    machine = replace(machine, parts=tuple(part.own for part in parts_of(machine.system, options.superelements)))
    return StartPoint(machine, structure, g, absolute, point, time_events, changes, coordinates)


@dataclass(frozen=True, eq=False)
class SignalRequest:
    """What a run is sampled for: saved and plotted expressions, positions `rated` with their rates, signals `beside`,
    unseen."""

    saves: Sequence[Expr]
    plots: Sequence[Expr]
    rated: Sequence[Name]
    beside: Sequence[Name]
    traced: bool = True
    """Whether measures and integrals follow the steps."""


@dataclass(frozen=True, eq=False)
class RecordedSignals:
    """The signals of a run: what is sampled, those of it that are unseen, and what is followed step by step; whether
    something reads all of them at once; the expressions that read them, of samples and of what is followed; who tells
    what of all that is asked for by name (None: `named_signals`)."""

    selection: Selection
    unseen: Sequence[str]
    followed: Selection
    whole: bool
    expressions: tuple[Sequence[Expr], Sequence[Expr]] = (), ()
    named: Callable[[Machine, tuple[Reader, Reader]], tuple[list[Named], list[Named]]] | None = None


def signals_recorded(machine: Machine, asked: SignalRequest, formula: bool) -> RecordedSignals:
    """What is asked of a run among the signals of its machine; the steps of a formula are samples."""
    selection, followed = select(machine, asked.saves, asked.plots), Selection()
    unseen, shown = add_unseen(machine, selection, asked.beside, named=False), [*asked.saves, *asked.plots]
    measured = [*signals_measured(machine.system.network), *_integrated(shown, machine)] if asked.traced else []
    add_unseen(machine, followed, [] if formula else measured)
    network = machine.system.network
    figures = [*(m.value for m in network.measures), *(a.condition for a in network.asserts)]
    return RecordedSignals(selection, unseen, followed, bool(measured), (shown, figures if followed.entries else []))


@dataclass(frozen=True, eq=False)
class StartedRun:
    """A run at its start, with what its samples are to become: signals, rates of positions; readers of samples and of
    the trace; the global vector where it starts."""

    at: StartPoint
    run: Running
    structure: Structure
    signals: RecordedSignals
    rates: Mapping[str, tuple[str, str]]
    readers: tuple[Reader, Reader]
    start: Array


def start_run(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    asked: SignalRequest,
    origin: Array | None = None,
    recording: Recording | None = None,
    choose: Callable[[Machine, SignalRequest, bool], RecordedSignals] = signals_recorded,
) -> StartedRun:
    """A run from its start, or from the point `origin` of a network with the same unknowns, its first sample taken.

    Raises `InputError` for wrong options or starts, `SimulationError` where no consistent start exists."""
    at = find_start(machine, structure, options, origin)
    machine, structure, g, time_events = at.machine, at.structure, at.g, at.time_events
    formula = options.plain and not (has_events(machine) or len(machine.problem.buffer.length) or len(time_events))
    options, signals = replace(options, formula=formula), choose(machine, asked, formula)
    selection, followed = signals.selection, signals.followed
    own = np.array(own_unknowns(machine, asked.rated) if options.recovers else [], np.int64)
    if len(own) and machine.element is None:  # points are recovered with the rates of these coordinates
        structure = with_coordinates(machine.system, structure, own)
        g = resumed_start(machine, structure, g)
    exact = own[own < machine.system.layout.nk] if machine.element else own[structure.dynamic.d[own] >= 2]
    rates = add_rates(machine, selection, asked.rated, exact)
    reader, tracer = observing(machine, reader_of(machine, selection)), reader_of(machine, followed)
    tracer = observing(machine, tracer) if followed.entries else tracer
    options = windowed(options, len(selection.entries), recording, signals.whole or bool(asked.rated))
    run = begin_adaptive(machine, structure, options, g.copy(), reader, time_events, tracer)
    if not options.step:
        watch_readings(run, reader, tracer, *named_signals(machine, signals, (reader, tracer)))
    return StartedRun(at, run, structure, signals, rates, (reader, tracer), g)


def watch_readings(run: Running, reader: Reader, tracer: Reader, sampled: list[Named], traced: list[Named]) -> None:
    """Let a run find the errors of what somebody asks for by name, of samples and of the trace."""
    size = len(run.trial.g)
    run.trial = run.trial._replace(readings=readings(reader, sampled, tracer, traced, size))
    run.named = [*sampled, *traced]


def named_signals(
    machine: Machine, signals: RecordedSignals, readers: tuple[Reader, Reader]
) -> tuple[list[Named], list[Named]]:
    """What somebody asks for by name: of samples, and of the trace."""
    if signals.named:
        return signals.named(machine, readers)
    (reader, tracer), (shown, figures) = readers, signals.expressions
    of_samples = named_in(machine, signals.selection, places_of(signals.selection, reader), shown)
    return of_samples, named_in(machine, signals.followed, places_of(signals.followed, tracer), figures)


def _integrated(shown: Sequence[Expr], machine: Machine) -> list[Name]:
    """The signals that running integrals read."""
    top = machine.system.network.top
    return [name for expr in shown for call in integrals_in(expr, top) for name in signals_in(call, top)]
