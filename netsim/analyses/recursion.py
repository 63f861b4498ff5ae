"""Recursion: networks whose bodies form a tree, integrated in the coordinates of joints and flexible links by recursive
dynamics (netsim.multibody.tree).

Without `step` an explicit Runge-Kutta method (`method`, of order 8 unless said) with an error test; with `step`
Newmark's method (H. A. Gevorkyan 2022, eq. 6), whose beta, gamma and iteration matrix are options. Every sample is
completed by the network's own equations (netsim.initial.recovery), so all signals may be saved.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.recursion_options import NAMES, TRUNCATED, RecursionOptions, recursion_options
from netsim.analyses.refusals import check_size
from netsim.core.methods.tableaux import watched_nodes
from netsim.core.newton import set_time
from netsim.core.states import KINETIC, STORED, energies, sample
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine, power_buffer
from netsim.equations.starts.written import start_rows
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.diagnosis.changes import Change, changes
from netsim.initial.differentiated import DifferentiatedPlan, plan_differentiated, set_planned_differentiated
from netsim.initial.initial import Structure
from netsim.initial.recovery import Recovery, plan_recovery, recover_point
from netsim.multibody.recursion.bodies import NetworkTree, network_tree
from netsim.multibody.recursion.given import given_of
from netsim.multibody.recursion.integrals import integrals_of, summed
from netsim.multibody.recursion.runge_kutta import FINISHED, SINGULAR, TABLEAUX, runge_kutta
from netsim.multibody.recursion.sources import FORCE, POSITION, SPEED
from netsim.multibody.recursion.starts import placed
from netsim.multibody.recursion.states import Translation, coordinates, fill, places, translation
from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.newmark import Drive, newmark
from netsim.multibody.tree.algorithms.superelements import superelements
from netsim.results.progress import Report
from netsim.results.samples import Samples
from netsim.results.selection import Reader, add_unseen, reader_of, select
from netsim.simulate.setup.features import ends_of
from netsim.simulate.setup.start_of_run import start_attributes, start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
ELASTIC_SIZE = 1e-3
"""A deflection that counts as ordinary [m]: what absolute tolerances are relative to."""
GRID = 500
WEIGHTLESS = 1e-12
"""Masses below this part of what else moves are rounding."""
SAME = 1e-9
"""Coordinates [rad, m] that differ by less are the same."""
WILD = 1e6
"""Coordinates and rates beyond this [m, rad and per second] end the samples of a run that diverged."""
TOLD = 100
"""The progress is told every so many samples, which take 0.4 ms each."""


def recursion(task: Task, options: RecursionOptions) -> Samples:
    """Integrate a network whose bodies form a tree. Raises `InputError` (E450) where they do not, or a start is
    wrong."""
    found = tree_of(task.machine, options)
    begin = _beginning(task.machine, task.structure, found, options.start)
    machine = begin.machine
    selection = select(machine, task.saves, task.plots)
    unseen = add_unseen(machine, selection, task.beside)
    reader = reader_of(machine, selection)
    every = options.step * options.every if options.step else options.stop / GRID
    check_size(options.stop, options.sample or every, max(len(selection.entries), len(begin.q)))
    run = _newmark if options.step else _explicit
    time, qs, vs, failure, effort = run(begin, found, options)
    if failure:
        failure = _weightless(found, begin.q) or failure
        tame = np.append(np.abs(np.hstack([qs, vs])).max(axis=1) < WILD, False)
        time = time[: max(1, int(np.argmin(tame)))]
    values, account, wrong = _sampled(begin, reader, time, qs, vs, task.progress)
    failure, time = failure or wrong, time[: len(values)]
    columns = {name: values[:, j] for j, name in enumerate(selection.entries)}
    signals, shown = selection.table(machine, columns, time)
    attributes = {
        "method": options.name,
        **(
            {"step": options.step, "beta": options.beta, "gamma": options.gamma}
            if options.step
            else {"rtol": options.rtol}
        ),
        "stop": options.stop,
        **({"equations": TRUNCATED} if options.equations == TRUNCATED else {}),
        "unknowns": int((~found.motion).sum()),
        **effort,
        **start_attributes(begin.changed),
        **({"failure": failure} if failure else {}),
    }
    seen = {name: columns[name] for name in unseen}
    message = failure.message if failure else ""
    energy, kinetic = account[:, :3], account[:, 3]
    return Samples(
        "", time, signals, shown, energy, attributes, not failure, message, origin=begin.g, unseen=seen, kinetic=kinetic
    )


@dataclass(frozen=True, eq=False)
class TreeStart:
    """Where a tree begins: its machine, its place in that, the point in g, coordinates and speeds, what moved; and how
    points of the network are completed there."""

    machine: Machine
    moved: Translation
    g: Array
    q: Array
    v: Array
    changed: list[Change]
    recovery: Recovery
    differentiated: DifferentiatedPlan


def _sampled(
    begin: TreeStart, reader: Reader, time: Array, qs: Array, vs: Array, progress: Report | None
) -> tuple[Array, Array, Problem | None]:
    """What the reader reads at the instants (nt, signals), the energy account [stored, supplied, dissipated, kinetic]
    (nt, 4) and, where they end early, the reason: what diverges has no accelerations to sample any more."""
    machine, work, totals = begin.machine, integrals_of(begin.machine), None
    values, account = np.full((len(time), len(reader.places)), np.nan), np.zeros((len(time) + 1, 4))
    accounts, before, room = power_buffer(machine.system), np.zeros(4), np.zeros(reader.size)
    (power,) = accounts
    for i, t in enumerate(time):
        if progress and i % TOLD == 0:
            progress(i / len(time), float(t), i)
        try:
            point = _complete(begin, t, qs[i], vs[i])
        except SimulationError as wrong:
            return values[:i], account[:i], wrong.problems[0]
        span = time[i] - time[i - 1] if i else 0.0
        totals = summed(work, point, totals, span)
        energies(machine.problem, point, accounts)
        if not i:
            before[:] = power[:4]
        account[i, 0], account[i, 3] = power[STORED], power[KINETIC]
        account[i, 1:3] = account[i - 1, 1:3] + 0.5 * span * (before[:2] + power[:2])
        before[:] = power[:4]
        sample(reader.table, reader.places, point, room, values[i])
    return values, account[:-1], None


def tree_of(machine: Machine, options: RecursionOptions) -> NetworkTree:
    """The tree that is integrated; raises `InputError` (E428, E450) for a network without one, or not for this
    method."""
    refuse_delays(machine.system, "recursion()", "its states are those of bodies and elements only")
    found = network_tree(machine)
    if found.pushes and options.step:
        said = "belongs to no coordinate of a joint: Newmark's method allows no force that depends on positions"
        hint = "omit `step` (rk8, rk6 and rk45 allow it), or run transient()"
        messages = [(p, f"recursion(): '{p.source.name}' {said}") for p in found.pushes]
        raise InputError([Problem("E450", message, p.source.span, hint=hint) for p, message in messages])
    return found


def _beginning(machine: Machine, structure: Structure, found: NetworkTree, start: str) -> TreeStart:
    """Where the tree begins: coordinates that no start speaks of are 0."""
    drawn, trial = machine.g, placed(machine, translation(machine, found)) if not start else None
    machine, structure, g, changed = start_of_run(trial[0] if trial else machine, structure, start, stands=not start)
    moved = translation(machine, found)
    q, v = coordinates(machine, moved, g)
    if trial is not None:
        # the network's own start may move others to make up for a written speed
        if np.abs(q - trial[1]).max(initial=0.0) <= SAME:
            q, v = trial[1], trial[2]
            fill(machine, moved, q, v, g)
        written = [row for row in start_rows(machine.system, machine.values) if row.word == "start"]
        rest = changes(machine, drawn, g, written, written, sizes_of_machine(machine))
        changed = [change for change in changed if change.kind in ("start", "far")] + rest
    plans = plan_recovery(machine, structure, g), plan_differentiated(machine)
    return TreeStart(machine, moved, g, q, v, changed, *plans)


def _complete(begin: TreeStart, t: float, q: Array, v: Array) -> Array:
    """The network's point at positions and velocities of the tree: accelerations and forces from its own equations."""
    machine, moved, point = begin.machine, begin.moved, begin.g.copy()
    set_time(machine.problem, point, t)
    fill(machine, moved, q, v, point)
    set_planned_differentiated(begin.differentiated, point)
    point = recover_point(begin.recovery, point, machine.system.layout.state(point), t)
    point[moved.coordinates[0]] = q[moved.coordinates[1]]  # exactly, not as frames say to rounding
    return point


def _explicit(begin: TreeStart, found: NetworkTree, options: RecursionOptions) -> tuple[Any, ...]:
    """Samples of an explicit method: times, q, v, what went wrong, what it took."""
    machine, between = begin.machine, options.sample or options.stop / GRID
    times = np.append(np.arange(0.0, options.stop * (1 - 1e-12), between), options.stop)
    tree = found.tree
    nominal = np.ones(tree.nq + tree.nv)
    of_q = places(tree)
    for here in tree.elastic.values():
        nominal[of_q[here]] = ELASTIC_SIZE
    given = given_of(
        found, machine.system.layout, superelements(tree, options.superelement)[0], options.equations == TRUNCATED
    )
    time_events = time_events_of(machine, options.stop)
    ends = np.union1d(
        time_events,
        ends_of(machine, options.stop, time_events, watched_nodes(TABLEAUX[options.method]()), options.rtol),
    )
    longest = options.max_step or np.inf
    start = begin.g.copy(), begin.q, begin.v
    qs, vs, ended, rows, last, steps, rejected, seconds = runge_kutta(
        tree.flat, given, machine.problem, *start, ends, times, options.method, options.rtol, nominal, longest
    )
    effort = {"steps": steps, "rejected": rejected, "loop_seconds": seconds}
    return times[:rows], qs[:rows], vs[:rows], _failure(ended, last), effort


def _weightless(found: NetworkTree, q: Array) -> Problem | None:
    """Which bodies can move without any mass that follows: null vectors of the mass matrix of the free coordinates,
    scaled to a diagonal of 1."""
    tree, free = found.tree, np.flatnonzero(~found.motion)
    matrix = crba(tree, q)[np.ix_(free, free)]
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.diag(matrix).max(initial=0.0) * WEIGHTLESS**2 + 1e-300))
    sizes, vectors = np.linalg.eigh(scale[:, None] * matrix * scale)
    moving = set(free[np.abs(vectors[:, sizes < WEIGHTLESS]).max(axis=1, initial=0.0) > 0.1])
    bodies = (name for name, here in tree.joint.items() if moving & set(range(here.start, here.stop)))
    # a joint of several axes has bodies between, 'j 0' and 'j 1'
    names = [*dict.fromkeys(name.split(" ")[0] for name in bodies)]
    if not names:
        return None
    hint = "give the last body of each branch a mass and an inertia, fix free bodies, or prescribe the motion"
    return Problem("E502", f"no mass resists a motion of {' and '.join(repr(name) for name in names[:6])}", hint=hint)


def _failure(ended: int, t: float) -> Problem | None:
    if ended == FINISHED:
        return None
    if ended == SINGULAR:
        hint = "give the last body of each branch a mass and an inertia"
        return Problem("E502", f"a coordinate has no inertia at t = {t:g} s", hint=hint)
    hint = "use a larger rtol, or Newmark's method (step = 1 ms)"
    return Problem("E505", f"the error test requires ever smaller steps at t = {t:g} s", hint=hint)


def _newmark(begin: TreeStart, found: NetworkTree, options: RecursionOptions) -> tuple[Any, ...]:
    """Samples of Newmark's method."""
    machine, tree, point, q, v = begin.machine, found.tree, begin.g.copy(), begin.q, begin.v
    given = given_of(found, machine.system.layout, superelements(tree, 1)[0])

    def prescribed_inputs(times: Array) -> Array:
        values = np.zeros((len(times), len(given.coordinate), 3))
        for i, t in enumerate(times):
            set_time(machine.problem, point, t)
            values[i] = given.share[:, None] * point[given.slots]
        return values

    def moves(times: Array) -> tuple[Array, Array, Array]:
        derivatives = np.zeros((3, len(times), tree.nv))
        values, known = np.moveaxis(prescribed_inputs(times), 2, 0), given.what == POSITION
        derivatives[:, :, given.coordinate[known]] = values[:, :, known]
        known = given.what == SPEED
        derivatives[1:, :, given.coordinate[known]] = values[:2, :, known]
        return derivatives[0], derivatives[1], derivatives[2]

    def forces(times: Array) -> Array:
        total, values = np.zeros((len(times), tree.nv)), prescribed_inputs(times)[:, :, 0]
        for s in np.flatnonzero(given.what == FORCE):
            total[:, given.coordinate[s]] += values[:, s]
        return total

    drive = Drive(found.motion, moves, forces, found.speeds)
    try:
        run = newmark(tree, q, v, drive, options.stop, options.step, options.beta, options.gamma, options.matrix)
    except np.linalg.LinAlgError:  # of the first steps: later ones are not exactly singular
        return (
            np.zeros(1),
            q[None],
            v[None],
            Problem("E502", "the matrix of Newmark's method is singular"),
            {"steps": 0, "iterations": 0, "loop_seconds": 0.0},
        )
    every = round(options.sample / options.step) if options.sample else options.every
    rows = (
        np.unique(np.append(np.arange(0, len(run.times), every), len(run.times) - 1))
        if len(run.times)
        else np.zeros(0, int)
    )
    failure = None
    if not run.finished:
        explicit = (
            "beta = 0 is stable up to h = 2/w (w: highest angular frequency) with gamma = 1/2, never with gamma < 1/2"
        )
        hint = "use a shorter step, or matrix = exact" if options.beta else explicit
        tame = np.append(np.abs(np.hstack([run.q, run.v])).max(axis=1) < WILD, False)
        last, wild = max(1, int(np.argmin(tame))) - 1, not tame[:-1].all()
        said = f"diverges: coordinates or speeds are beyond {WILD:g}" if wild else "finds no solution"
        until = run.times[last] if len(run.times) else 0.0
        failure = Problem(
            "E505" if options.beta else "E507", f"Newmark's method {said} after t = {until:g} s", hint=hint
        )
    effort = {"steps": len(run.times) - 1, "iterations": run.iterations, "loop_seconds": run.seconds}
    return run.times[rows], run.q[rows], run.v[rows], failure, effort


ANALYSIS = Analysis(
    "recursion",
    NAMES,
    check=lambda options, line: recursion_options(options, line.spans),
    run=recursion,
    refuse=lambda task, options: tree_of(task.machine, options),
)
