"""A run with the changes that go along with it, from its start over every event to its end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.over_time.named_signals import named_in, places_of
from netsim.analyses.over_time.start import watch_readings
from netsim.analyses.sensitivity.crossing import HIT, Crossing, pass_instant
from netsim.analyses.sensitivity.kinks import split_at_kinks
from netsim.analyses.sensitivity.variations import Wave, begin_variations, centred, propagate, variations
from netsim.analyses.sensitivity.varied import VariedQuantity, parameter_changes, start_changes
from netsim.core.problem import TIME
from netsim.core.radau.arrays import C
from netsim.equations.layout import Layout
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.results.progress import Report
from netsim.results.selection import Reader, Selection, reader_of
from netsim.simulate.adaptive import begin_adaptive, integrate_adaptive
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.simulate.running import Running
from netsim.simulate.setup.arrays.sampler import quadrature
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
NODES = np.append(0.0, C)
"""Where the variational equations look into a step."""


@dataclass(frozen=True, eq=False)
class Forward:
    """Instants, values (instants, m) and changes (instants, p, m) of signals; rates of signals (instants, m); how much
    events move with each parameter, and linearly between them the instants (instants, p); the global vector at the end
    and its changes, the last row its rates (p + 1, size), both in charts of the end; what makes changes doubtful.
    begins: which instants come behind an event, or first; shifts (begins, p): how much these events move. nodes (steps,
    4): which instants are those of the nodes of each step, where they are looked at inside."""

    time: Array
    values: Array
    changes: Array
    rates: Array
    moves: Array
    run: Running
    end: Array
    last: Array
    doubts: list[Problem]
    begins: Array
    shifts: Array
    nodes: Array

    @property
    def between(self) -> Array:
        """Which instants are those of steps and events, not inside steps."""
        found = np.ones(len(self.time), bool)
        found[self.nodes[:, 1:-1]] = False
        return found


def by_radau(options: TransientOptions) -> TransientOptions:
    """The options of a run whose steps, of tested errors, the variational equations may take: those of explicit methods
    of order 5 and more are so long that Radau's are far off, and what is between their nodes."""
    explicit = METHODS[options.method].explicit and not options.step
    return replace(options, method="radau") if explicit else options


def method_notes(asked: TransientOptions, taken: TransientOptions) -> list[str]:
    """What is told of a run that went by another method than was asked for."""
    if asked.method == taken.method:
        return []
    reason = f"derivatives along the long steps of {asked.method} would be far off"
    return [f"the run went by {taken.method}: {reason}"]


def forward(
    machine: Machine, structure: Structure, g: Array, options: TransientOptions, of: Sequence[VariedQuantity],
    time_events: Array, selection: Selection, instants: Array, progress: Report | None = None, inside: bool = False,
) -> Forward:  # fmt: skip
    """The run, with its changes by everything in `of`; steps end at `instants`. `inside`: see `follow`."""
    start = g.copy()
    run = traced_run(machine, structure, g, options, time_events, selection, instants, progress)
    return follow(run, start, of, time_events, selection, inside=inside)


def traced_run(
    machine: Machine, structure: Structure, g: Array, options: TransientOptions, time_events: Array,
    selection: Selection, instants: Array, progress: Report | None = None,
) -> Running:  # fmt: skip
    """The run, which has kept all unknowns at the nodes of its steps; errors of what the selection has by name are
    found."""
    layout, reader = machine.system.layout, reader_of(machine, selection)
    whole = Reader(np.zeros((0, 7), np.int64), np.arange(layout.size), 0, [])
    run = begin_adaptive(machine, structure, options, g, reader, time_events, whole)
    powers = np.zeros((len(NODES), run.sampler.powers.shape[1]))
    run.sampler = run.sampler._replace(nodes=NODES.copy(), integrals=quadrature(NODES), powers=powers)
    if not options.step:
        places = places_of(selection, reader)
        watch_readings(run, reader, whole, named_in(machine, selection, places, selection.expressions.values()), [])
    if len(instants) and not options.step:
        ends = np.union1d(run.control.features, instants)
        run.control = run.control._replace(features=ends)
    if problem := integrate_adaptive(run, progress):
        raise SimulationError(problem)
    if run.machine.system is not machine.system:
        hint = "leave out what repeats another constraint"
        raise SimulationError(
            Problem("E516", "constraints that repeat one another were chosen anew on the way", hint=hint)
        )
    return run


def follow(
    run: Running, start: Array, of: Sequence[VariedQuantity], time_events: Array, selection: Selection,
    waves: Sequence[Wave] = (), inside: bool = False,
) -> Forward:  # fmt: skip
    """The changes along a run that is done. The last of them come from inputs that swing by `waves`. `inside`: instants
    are those of stages, too."""
    machine, layout = run.machine, run.machine.system.layout
    nodes = split_at_kinks(machine, run.traced)
    rows, spans = np.ascontiguousarray(nodes[:, :, 1:]).reshape(-1, layout.size), nodes[:, 3, 0] - nodes[:, 0, 0]
    starts = start_changes(machine, of)
    stays = starts.copy()
    stays[:, layout.prescribed_inputs : layout.one] = stays[:, layout.x :] = 0.0  # what follows
    by = [parameter_changes(machine, each) for each in of]
    v = variations(machine, run.structure, by, stays, selection, rows, np.ascontiguousarray(spans), waves, inside)
    v.run.x[:-1], v.run.v[:-1] = starts[:, layout.x : layout.v], starts[:, layout.v : layout.a]
    v.run.q[:-1] = starts[:, layout.differentiated(np.arange(layout.nq), 0)]
    crossing = Crossing(run, v, of, time_events)
    parted = np.flatnonzero(rows[4::4, TIME] != rows[3:-1:4, TIME]) + 1
    begins, ends = np.append(0, parted), np.append(parted, len(spans))
    times, shown, places = list[float](), 1 if inside else 3, [np.zeros((0, 4), np.int64)]
    counts, shifts = list[int](), list[Array]()
    nothing = np.zeros(v.count)
    happens = _differ(layout, start, rows[0])
    if happens:
        begin_variations(v, crossing.mode(start), centred(v, start), -1)
    for k, (first, last) in enumerate(zip(begins, ends)):
        here = rows[4 * first].copy()
        shifts.append(pass_instant(crossing, rows[4 * first - 1] if k else start, here) if k or happens else nothing)
        mode = crossing.mode(here)
        begin_variations(v, mode, centred(v, here))
        propagate(v, mode, int(first), int(last))
        counts.append(len(times))
        places.append(len(times) + 3 * np.arange(last - first)[:, None] + np.arange(4))
        times += nodes[first, :1, 0].tolist() + nodes[first:last, shown:, 0].ravel().tolist()
    time, ends = np.array(times), np.append(nodes[begins, 0, 0], times[-1])
    moves = [nothing, *shifts[1:], nothing]
    moving = np.array([np.interp(time, ends, each) for each in np.transpose(moves)]).reshape(v.count, len(time)).T
    count, m = int(v.shown.row[0]), len(v.shown.places)
    changed = v.shown.changes[:count].reshape(count, v.count + 1, m)
    values = v.shown.values[:count]
    return Forward(
        time, values, changed[:, :-1], changed[:, -1], moving, run, v.run.at[2], v.run.d, crossing.doubts,
        np.array(counts), np.array(shifts), np.concatenate(places if inside else places[:1]),
    )  # fmt: skip


def _differ(layout: Layout, start: Array, first: Array) -> bool:
    """Whether something happened between a start and the first point of a run."""
    kept, rates = slice(layout.discretes, layout.befores), slice(layout.v, layout.a)
    jump = np.abs(first[rates] - start[rates])
    struck = (jump > HIT * (1e-300 + np.abs(start[rates]).max(initial=0.0))).any()
    return bool(struck) or not np.array_equal(start[kept], first[kept])
