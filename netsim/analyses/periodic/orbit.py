"""The periodic state of a task, and what is seen of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.periodic.clock import clock_of
from netsim.analyses.periodic.shooting import NOTHING, PeriodMap, check_next, last_point, orbit
from netsim.analyses.periodic.sources import check_repeats, check_samples, common_period, is_free, later_change
from netsim.analyses.periodic.stability import MOVED
from netsim.analyses.periodic.states import point_at, states_of
from netsim.analyses.sensitivity.forward import traced_run
from netsim.analyses.signals.linearised import read
from netsim.analyses.signals.points import Point
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.results.samples import Samples, Signal, Trace
from netsim.results.selection import Selection, add_unseen, reader_of, select
from netsim.results.series import trajectory_of
from netsim.results.trajectories import Trajectory
from netsim.simulate.events.iteration import event_iteration
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem, SimulationError, Span

Array = np.ndarray


@dataclass(frozen=True)
class PeriodicOptions:
    """period in s (0: that of the sources); the run of a period; periods before the search; how many harmonics; where
    it is written."""

    period: float
    run: TransientOptions
    warm_up: int
    harmonics: int
    span: Span | None = None


@dataclass(frozen=True, eq=False)
class Orbit:
    """An orbit, how many periods were run for it, what is saved of it; whether it is a free oscillation; what its
    sources leave in doubt."""

    orbit: PeriodMap
    count: int
    selection: Selection
    unseen: Sequence[str]
    free: bool
    doubts: tuple[Problem, ...] = ()


def find_orbit(task: Task, options: PeriodicOptions) -> Orbit:
    """The periodic state that a task comes to from its start; raises `InputError` (E422, E448) and `SimulationError`
    (E447, E448, E449)."""
    try:
        return _found(task, options)
    except (InputError, SimulationError) as wrong:
        raise type(wrong)([p if p.span else replace(p, span=options.span) for p in wrong.problems]) from None


def _found(task: Task, options: PeriodicOptions) -> Orbit:
    machine, structure, g, _ = start_of_run(task.machine, task.structure, options.run.start)
    selection = select(machine, task.saves, task.plots)
    unseen = add_unseen(machine, selection, task.beside, named=False)
    period, free, repeats = period_of(machine, structure, g, options.period)
    duration = max(1, options.warm_up) * period
    warm, events = replace(options.run, stop=duration), time_events_of(machine, duration)
    first = traced_run(machine, structure, g.copy(), warm, events, Selection(), NOTHING, task.progress)
    states = states_of(first, first.traced[:, :, 1:].reshape(-1, machine.system.layout.size))
    later = later_change(machine, g, last_point(first), states.clock, period)
    if options.warm_up:
        g = point_at(machine, structure, states.clock.begun_again(machine, g, last_point(first), duration))
    start = Point(machine, structure, g, 0.0)
    found, count = orbit(start, period, free, options.run, selection, states)
    if not repeats:
        check_next(found, options.run)
    return Orbit(found, count, selection, unseen, free, (later,) if later else ())


def period_of(machine: Machine, structure: Structure, g: Array, given: float) -> tuple[float, bool, bool]:
    """The period; whether the oscillation is free: then it is where the search begins; whether sources surely repeat.

    Raises `InputError` where there is none (E422), or sources do not repeat after it (E448)."""
    clock = clock_of(machine, event_iteration(machine, structure), g)
    common = common_period(machine, clock)
    period = given or common or 0.0
    if not period:
        hint = "period = 1 ms: of the sources, or about that of a free oscillation"
        raise InputError(Problem("E422", "no common period of sources is found: periodic() needs 'period'", hint=hint))
    free = common is None and is_free(machine, structure, g, period)
    check_samples(clock, period)
    return period, free, free or check_repeats(machine, g, period)


def claims_along(found: Orbit, lap: PeriodMap, place: str = "") -> tuple[Machine, Samples]:
    """What components assert along an orbit, for `Samples.about`."""
    machine, (time, sampled, _) = lap.start.machine, lap.found.run.sampled
    unseen = {name: sampled[:, j] for j, name in enumerate(found.selection.entries) if name in found.unseen}
    return machine, Samples("", time, (), np.zeros((len(time), 0)), attributes={"place": place}, unseen=unseen)


@dataclass(frozen=True, eq=False)
class OrbitSamples:
    """Samples of what is saved over a period, with the energy account; all that was sampled, by name; the polynomials
    of its steps, and what is saved on a refined axis (signals, instants)."""

    time: Array
    signals: tuple[Signal, ...]
    values: Array
    account: Array
    columns: Mapping[str, Array]
    trace: Trace
    fine: Trajectory


def sample_orbit(lap: PeriodMap, selection: Selection) -> OrbitSamples:
    """What is selected of an orbit."""
    machine = lap.start.machine
    time, sampled, account = lap.found.run.sampled
    columns = {name: sampled[:, j] for j, name in enumerate(selection.entries)}
    nodes = lap.found.run.traced
    trace = Trace(nodes[:, :, 0], _read(machine, selection, nodes[:, :, 1:]))
    signals, values = selection.table(machine, columns, time, trace)
    axis, fine = trajectory_of(time, columns, trace)
    refined = Trajectory(axis, np.ascontiguousarray(selection.table(machine, fine, axis)[1].T))
    return OrbitSamples(time, signals, values, account[:, :3], columns, trace, refined)


def _read(machine: Machine, selection: Selection, rows: Array) -> dict[str, Array]:
    """What is sampled, by name, of rows of g (..., size)."""
    reader, plain = reader_of(machine, selection), rows.reshape(-1, rows.shape[-1])
    values = np.array([read(reader, row) for row in plain]) if reader.size else plain[:, reader.places]
    return {name: values[:, j].reshape(rows.shape[:-1]) for j, name in enumerate(selection.entries)}


def unsteady_verdict(found: Orbit, seen: OrbitSamples, options: TransientOptions) -> Problem | None:
    """W526 where something goes on from period to period and a signal that follows it is another curve in the next
    one: neither the same again, nor the same moved by a constant."""
    lap, names = found.orbit, found.orbit.states.names(found.orbit.start.machine.system)
    way = np.abs(lap.ahead + lap.turned)
    if not len(way) or way.max() <= MOVED:
        return None
    machine, structure, period = lap.start.machine, lap.start.structure, lap.period
    g, again = point_at(machine, structure, lap.end), replace(options, stop=period, resumed=True)
    beside = traced_run(machine, structure, g, again, time_events_of(machine, period), found.selection, NOTHING)
    ends = np.array([run.traced[k, k, 1:] for run in (lap.found.run, beside) for k in (0, -1)])
    time = np.array([0.0, period, 0.0, period])
    values = found.selection.table(machine, _read(machine, found.selection, ends), time)[1]
    moved = values[2:] - values[:2]
    uneven = np.abs(moved[1] - moved[0]) > MOVED * np.abs([*seen.values, *moved]).max(axis=0, initial=0.0)
    if not uneven.any():
        return None
    which = ", ".join(f"'{signal.name}'" for signal, each in zip(seen.signals, uneven) if each)
    message = f"{which} {'do' if uneven.sum() > 1 else 'does'} not repeat: '{names[int(np.argmax(way))]}' goes on in "
    message += "every period, and the next one is another curve"
    return Problem("W526", message, hint="mean and harmonics are those of this period alone")
