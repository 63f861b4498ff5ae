"""A run of the accept/reject loop: its variable part, and the blocks of steps that Python sees."""

import time as clock
from typing import Any, Protocol

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.function import address_of, prepare
from netsim.core.compiled.struct import struct_of
from netsim.core.contract import ACCEPTED, FACTORISATIONS, FAILED, FIRST_EVENT, FRESH, PROJECT, REJECTED, RESTARTED
from netsim.core.history import SEGMENTS, more_segments
from netsim.core.loop.adaptive import DONE, EVENT, FULL, GOING, advance
from netsim.core.loop.control import ACCOUNT, FAILURES, RECOVERING, ROW, SIZE, TRACED
from netsim.core.loop.crossings import first_event, without_events
from netsim.core.loop.sampler import store_row, with_longer_trace, with_more_rows
from netsim.core.loop.turnover import FIRST, FLOWS, no_turnover
from netsim.core.method import called_by_address
from netsim.core.newton import SINGULAR, UNRESOLVED, set_time
from netsim.core.states import load, project
from netsim.equations.machine import Machine, with_sizes
from netsim.initial.initial import Structure
from netsim.initial.reactions.indeterminacy import IndeterminacyFound, set_indeterminacy
from netsim.initial.reactions.left_out import joint_come_apart
from netsim.initial.reactions.minimum_norm import plan_minimum_norm
from netsim.initial.reactions.reactions import find_reactions
from netsim.initial.reactions.redundancy import is_ill_chosen, reselect, without_constraints
from netsim.results.selection import Reader, Selection, reader_of
from netsim.simulate.events.events import begin_relations
from netsim.simulate.events.iteration import event_iteration, moved_to
from netsim.simulate.events.magnitudes import write_magnitudes
from netsim.simulate.events.passing import pass_event
from netsim.simulate.failed_steps import failure_of, retry, run_reinitialised, stuck_problem
from netsim.simulate.methods import METHODS, prepared
from netsim.simulate.options import TransientOptions
from netsim.simulate.pivots import pivots_of
from netsim.simulate.retreat import Retreat
from netsim.simulate.run_template import round_sizes
from netsim.simulate.running import Running, too_large
from netsim.simulate.setup.arrays.consistent import closing_plan, consistent_plan
from netsim.simulate.setup.arrays.control import FEATURES, defect_limits, first_control
from netsim.simulate.setup.arrays.planned import Planned
from netsim.simulate.setup.arrays.sampler import first_sampler
from netsim.simulate.setup.arrays.trial import first_factor, first_trial
from netsim.simulate.setup.features import ends_of
from netsim.simulate.setup.sizes import set_rounding
from netsim.simulate.setup.sums import set_account
from netsim.simulate.setup.weights import recovers_samples, watched_values
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray

BLOCK_SECONDS = 0.15
NEW_PIVOTS = 6
LOOK, LOOKS, HARD = 10, 40, 3
"""Where constraints repeat one another: attempts after which it is asked whether others should be left out, at first
and at most, and how many failures ask for it."""
SELDOM = 1024
"""At most so many attempts after which it is asked what rounding leaves."""


def begin_adaptive(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    g: Array,
    reader: Reader,
    time_events: Array,
    tracer: Reader | None = None,
) -> Running:
    """A run from the consistent global vector g, with the first sample taken; `tracer` reads what measures and
    integrals ask for."""
    try:
        return _begin(machine, structure, options, g, reader, tracer or reader_of(machine, Selection()), time_events)
    except IndeterminacyFound as crowded:
        return begin_adaptive(crowded.machine, crowded.structure, options, g, reader, time_events, tracer)


def _begin(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    g: Array,
    reader: Reader,
    tracer: Reader,
    time_events: Array,
) -> Running:
    method = METHODS[options.method]
    if (reason := method.refused(structure.index)) and not options.formula:
        raise InputError(Problem("E426", reason, hint="omit `method`: the default serves every index"))
    machine = with_sizes(machine)
    features = np.zeros(0) if options.step else ends_of(machine, options.stop, time_events, method.work, options.rtol)
    planned = Planned(machine, structure, options, method)
    trial, size = first_trial(planned, g, np.union1d(features, time_events))
    if not options.formula:
        set_rounding(machine, trial, size, 0.0)
    events = event_iteration(machine, structure, method.explicit)
    if events:
        set_indeterminacy(machine, structure, g, events.mode(g))
    problem, factor = machine.struct, first_factor(machine, trial, size, 0.0)
    conditions = events.calls if events else []
    watched = watched_values(machine, reader, conditions)
    looked = defect_limits(planned, trial, watched)
    plan, recovery = consistent_plan(planned, trial, time_events, 0.0, events is not None)
    closing, closed = closing_plan(planned, trial, 0.0)
    arrays, alive = prepared(method, machine, factor, plan, closing)
    read = np.union1d(watched, watched_values(machine, tracer, conditions))
    rates = events is not None or any(each.rates(machine.system.layout) for each in (reader, tracer))
    recovering = recovers_samples(machine, structure, options.formula, trial.exponent, read, rates)
    control = first_control(planned, size, time_events, features, plan, looked, recovering)
    if events and len(plan.sizes):  # values that switch have no polynomial worth a sample where nothing else moves
        control.places[RECOVERING] = 1
    set_account(control, machine, structure, trial, method.explicit or events is not None or len(tracer.places) > 0)
    reactions = find_reactions(machine)
    minimum_norm, tables = plan_minimum_norm(machine, reactions)
    sampler = first_sampler(planned, reader, tracer, minimum_norm, control)
    if events:
        events.watch.spacing[0] = options.stop / FEATURES
    nothing = without_events()._replace(room=np.zeros(machine.system.layout.size))
    watch = struct_of(events.watch if events else nothing)
    held = [alive, recovery, closed, tables, reader, tracer]
    parts = method, trial, control, sampler, plan, closing, factor, arrays, reactions, watch
    run = Running(machine, structure, options, *parts, held, events, watched=watched, first=(plan, arrays))
    _fill(run)
    flows = 2 * len(sampler.power)
    sampler.totals[:, flows:] = g[sampler.summed[0]]
    set_time(problem, trial.g, 0.0)
    if events:
        write_magnitudes(events.magnitudes, machine, trial, 0.0, size)
        begin_relations(events, trial.g, options.resumed)
        pass_event(run)
    trial.middle[:] = trial.start
    store_row(problem, run.struct("trial"), run.struct("sampler"), 0, 0.0)
    run.sampler.turnover[:] = no_turnover(sampler.power)
    lost = run.sampler.totals[0, 1:flows:2]  # what impulses took at the start
    run.sampler.turnover[:, FLOWS, FIRST] += lost
    control.places[ROW] = 1
    return run


def _chosen_anew(run: Running, failing: bool) -> bool:
    """Whether the run goes on from here with other constraints left out than before (see
    netsim.initial.reactions.redundancy)."""
    present = run.machine.system.redundant
    if present is None:
        return False
    stands, now, problem = run.trial.g.copy(), run.now, run.machine.struct
    set_time(problem, stands, now)
    load(problem, stands, run.trial.start)
    run.whole = run.whole or without_constraints(run.machine, None)
    if not run.pace.parted and (row := joint_come_apart(run.whole, present, stands)) is not None:
        run.pace.parted = [row, now]
    found = reselect(run.machine, run.whole, stands) if failing or is_ill_chosen(run.whole, present, stands) else None
    if found is None:
        return False
    _go_on(run, *found, stands)
    return True


def _go_on(run: Running, machine: Machine, structure: Structure, stands: Array) -> None:
    """The run on another machine with the same unknowns, from where it stands."""
    now, machine = run.now, with_sizes(machine)
    if run.events:
        try:
            set_indeterminacy(machine, structure, stands, run.events.mode(stands))
        except IndeterminacyFound as crowded:
            return _go_on(run, crowded.machine, crowded.structure, stands)
    run.alive.append(run.machine)  # the table of readings may point into it
    ends = np.union1d(run.control.features[:-1], run.control.time_events[:-1])
    planned = Planned(machine, structure, run.options, run.method)
    trial, size = first_trial(planned, stands, ends)
    former = run.trial
    same = {name: getattr(former, name) for name in ("counters", "largest", "origin", "readings")}
    run.trial = trial._replace(**same)
    run.counters[RESTARTED] = 1
    limits, resting, light = defect_limits(planned, run.trial, run.watched)
    run.control = run.control._replace(limits=limits, resting=resting, light=light)
    set_account(run.control, machine, structure, run.trial, bool(run.control.places[ACCOUNT]))
    run.first = None
    run.machine, run.structure, run.factor = machine, structure, first_factor(machine, run.trial, size, now)
    events, time_events = run.events is not None, run.control.time_events[:-1]
    run.plan, recovery = consistent_plan(planned, run.trial, time_events, now, events)
    run.closing, closed = closing_plan(planned, run.trial, now)
    run.arrays, alive = prepared(run.method, machine, run.factor, run.plan, run.closing)
    run.reactions = find_reactions(machine)
    minimum_norm, tables = plan_minimum_norm(machine, run.reactions)
    run.sampler = run.sampler._replace(minimum_norm=minimum_norm)
    if run.events:
        run.events, run.served = moved_to(run.events, machine, structure), {}
        run.watch = struct_of(run.events.watch)
    run.alive += [alive, recovery, closed, tables]
    run.control.numbers[SIZE], run.control.places[FAILURES] = size, 0
    _fill(run)


def pass_events(run: Running, jumped: bool = False) -> None:
    """What happens at the present instant, on a machine with more room where elements come to hold the same thing;
    `jumped`: inputs have."""
    stands = run.trial.g.copy()
    try:
        pass_event(run, jumped)
    except IndeterminacyFound as crowded:
        run.trial.g[:] = stands
        set_time(run.machine.struct, stands, run.now)
        load(run.machine.struct, stands, run.trial.start)
        _go_on(run, crowded.machine, crowded.structure, stands)
        pass_events(run, jumped)


def _fill(run: Running) -> None:
    """Compile what the loop calls by address, the loop and the sampler, or read them from the cache."""
    problem, vector, real = run.machine.struct, kinds.VECTOR, kinds.REAL
    trial, plan, sampler = map(run.struct, ("trial", "plan", "sampler"))
    called = called_by_address(run.method, run.arrays, problem, run.factor, trial)
    called[PROJECT] = project, kinds.BOOLEAN, problem.kind, plan.kind, vector, vector
    if run.events:
        watched = (each.kind for each in (problem, trial, plan, run.watch))
        called[FIRST_EVENT] = first_event, real, kinds.WHOLE, *watched, real, real, real
    prepare([(advance, *_given(run, 0)), (store_row, problem, trial, sampler, 0, 0.0)], called.values())
    for place, each in called.items():
        run.trial.code[place] = address_of(*each)


class Recorder(Protocol):
    """What writes a run down and goes on from there (netsim.simulate.stored.recorder)."""

    def begun(self, run: Running) -> Retreat: ...

    def between(self, run: Running, retreat: Retreat) -> None: ...

    def rewound(self, run: Running) -> None: ...

    def ended(self, run: Running) -> None: ...


def integrate_adaptive(run: Running, progress: Any, recorder: Recorder | None = None) -> Problem | None:
    """Blocks of steps until the end, a failure (returned) or an interruption (raised); what `recorder` has is gone on
    from."""
    block, retreat = 16, recorder.begun(run) if recorder else Retreat()
    while True:
        if recorder:
            recorder.between(run, retreat)
        started, tried, due = clock.perf_counter(), _tried(run), run.pace.due
        status = attempts(run, 1 if retreat.on_the_way(run) else block)
        spent = clock.perf_counter() - started
        if progress:
            progress(min(1.0, run.now / run.options.stop), run.now, run.steps)
        if status == DONE:
            return None
        if problem := answer_status(run, status):
            if not retreat.begin(run, problem):
                return problem
            if recorder:
                recorder.rewound(run)
        elif status == GOING and run.pace.due != due:
            retreat.remember(run)
        if status == GOING:
            block = max(4, min(10 * block, int((_tried(run) - tried) * BLOCK_SECONDS / max(spent, 1e-4))))


def attempts(run: Running, most: int) -> int:
    """At most so many attempts, none beyond the next look, with room for their traces; what the loop answers."""
    most = min(most, max(1, run.pace.due - _tried(run)))
    sampler = run.sampler
    while len(sampler.traces) and len(sampler.trace) - run.control.places[TRACED] <= most * len(sampler.nodes):
        run.structs.pop(id(sampler), None)
        sampler = run.sampler = with_longer_trace(sampler)
    return int(advance(*_given(run, most)))


def _given(run: Running, most: int) -> tuple[Any, ...]:
    """What the loop is handed."""
    factor, *parts = map(run.struct, ("factor", "trial", "control", "plan", "sampler"))
    return run.arrays.address, run.machine.struct, factor, *parts, run.watch, most


def _tried(run: Running) -> int:
    return int(run.counters[ACCEPTED] + run.counters[REJECTED] + run.counters[FAILED])


def answer_status(run: Running, status: int) -> Problem | None:  # noqa: C901  (one case per answer of the loop)
    """What Python does where the loop stopped, so that it can go on; the problem where it cannot.

    A run that goes on is looked at behind so many attempts, not after some time: its bits are the same every time."""
    pace = run.pace
    if problem := too_large(run):
        return problem
    if status == GOING and _tried(run) < pace.due:
        return stuck_problem(run, pace.mark)
    looking = not run.options.formula
    if status not in (FULL, EVENT):
        if looking:
            round_sizes(run)
        pace.span = min(2 * pace.span, LOOKS if run.machine.system.redundant and looking else SELDOM)
        pace.due = _tried(run) + pace.span
    if status == FULL:
        _grow(run)
    elif status == EVENT:
        try:
            pass_events(run)
        except SimulationError as error:
            return error.problems[0]
    elif looking and _chosen_anew(run, _worn(run, status)):
        pace.span, pace.due = LOOK, _tried(run) + LOOK
    elif status == GOING or retry(run, status):
        return stuck_problem(run, pace.mark)
    elif status == SINGULAR and pace.broken.get(run.steps, 0) < NEW_PIVOTS:
        pace.broken[run.steps] = pace.broken.get(run.steps, 0) + 1
        if (hopeless := _new_pivots(run)) and not run_reinitialised(run):
            return hopeless
    elif status not in (SINGULAR, UNRESOLVED) or not run_reinitialised(run):
        return failure_of(run, int(status))
    return None


def _grow(run: Running) -> None:
    """More room for what the run remembers, or else for samples, as far as these are to stay in memory."""
    buffer, sampler = run.machine.problem.buffer, run.sampler
    if buffer.numbers[SEGMENTS] == len(buffer.spans):
        return more_segments(buffer)
    if run.options.window and len(sampler.times) >= run.options.window:  # rows go to the disk
        return None
    run.structs.pop(id(sampler))
    run.sampler = with_more_rows(sampler)


def _new_pivots(run: Running) -> Problem | None:
    """Pivots that serve the matrix where the old ones broke down, else a smaller step; the problem where that helps no
    more."""
    found = pivots_of(run.machine, run.trial.out, run.now)
    if not isinstance(found, Problem):
        run.counters[FACTORISATIONS] += 1
        run.factor, run.arrays = found, run.method.renewed(run.arrays, found)
        if run.options.formula:  # they come with the factor of the step that is tried again
            run.counters[FRESH] = 1
    elif run.options.step or run.control.numbers[SIZE] < 1e-12 * run.options.stop:
        return found
    else:
        run.control.numbers[SIZE] *= 0.25
    return None


def _worn(run: Running, status: int) -> bool:
    """Whether steps fail where constraints repeat one another, so that the choice of those left out may be to blame."""
    failed = int(run.counters[FAILED])
    if run.machine.system.redundant is None or (status == GOING and failed <= run.pace.failed + HARD):
        return False
    run.pace.failed = failed
    return True
