"""Optimal motion: inputs, starts and parameters over a whole span such that the network's equations hold and an
objective is least, by collocation and IPOPT.

The network is rewired as for an inverse run: every free input is an unknown, every followed signal a row. The equations
at the points of a mesh and the objective are one nonlinear program (`transcription`), whose solution is sampled like a
run.
"""

import time as clock
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.inverse.runs import FOUND
from netsim.analyses.inverse.tracking import APPLIED, FOLLOW, Actuator, actuators_of, motions_of, rewired
from netsim.analyses.optimal.answer import sampled
from netsim.analyses.optimal.ends import begin_of, end_of
from netsim.analyses.optimal.failing import explained, refuse_idle, refuse_unmet
from netsim.analyses.optimal.guess import nearest_end
from netsim.analyses.optimal.meshes import Limits, on_fine_mesh, with_values
from netsim.analyses.optimal.options import KINDS, OptimalOptions, optimal_options, word
from netsim.analyses.optimal.parameters import Tuned, tuned_of
from netsim.analyses.optimal.program.points import Point, point_of, present
from netsim.analyses.optimal.program.radau import Mesh
from netsim.analyses.optimal.program.transcription import Setting, fixed_start, silent
from netsim.analyses.optimal.simulated import Series, on_mesh, places_of, saved, simulated
from netsim.analyses.optimal.verification import ZERO, doubtful, unresolved, verified
from netsim.analyses.optimal.wishes import watching, wishes_of
from netsim.core.problem import TIME
from netsim.equations.forms.form import UNIFORM
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Structure
from netsim.results.samples import Samples
from netsim.simulate.setup.beginning import begun
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binding, Name, Part, Run

Array = np.ndarray


def optimize(task: Task, options: OptimalOptions) -> Samples:
    """The optimal motion as samples; raises `InputError` for what cannot be optimised."""
    began, cpu = clock.perf_counter(), clock.thread_time()
    network, values = task.network, task.values
    inputs = actuators_of(network, options.inputs)
    motions = motions_of(network, values, options.track)
    wishes = wishes_of(network, values, options)
    kinds = [FOLLOW if k < len(motions) else APPLIED for k in range(len(inputs))]
    network = watching(rewired(network, kinds, motions, inputs, FOUND), wishes)
    begins = Run("transient", (Binding("from", Name((Part(options.start or "rest"),))),))
    values, system, structure = task.prepare(replace(network, runs=(begins,)))
    machine = build_machine(system, values, _earlier(task))
    refuse_delays(system, "optimize()", "an optimum would look ahead")
    _refuse_events(machine)
    machine, structure, g, _ = begun(machine, structure, options.start)
    tuned = tuned_of(task.network, values, machine, options, _earlier(task))
    machine = tuned.machines[0] if tuned.machines else machine
    _refuse_moved_start(task, tuned, structure, options, g)
    free = _unknowns(machine, inputs[len(motions) :], task)
    structure = present(machine, structure)
    point = point_of(machine, structure, free)
    watched = np.array([_watched(machine, point, wishes.name(k)) for k in range(len(wishes.expressions))], np.int64)
    z = fixed_start(g, point)
    ends = end_of(point, options, wishes, watched, z, g)
    end = nearest_end(point, ends, watched, g, z)
    begin = begin_of(point, options, wishes, watched, z, g)
    owner = np.repeat(np.arange(len(point.d)), point.d + 1)
    refuse_idle(structure, inputs[len(motions) :], free, owner[np.append(watched, ends.places)])
    setting = Setting(point, wishes, watched, options.stop, np.array(free, np.int64), begin, ends, tuned=tuned)
    setting = replace(setting, progress=task.progress or silent)
    _refuse_time(setting, options, g)
    limits = Limits(options.intervals, options.points, options.rtol, options.refinements, options.iterations)
    better = _better(task, setting, options, structure, inputs[len(motions) :])
    fine = on_fine_mesh(setting, limits, g, z, end, better)
    solution = fine.solution
    if not solution.solved:
        raise explained(solution)
    refuse_unmet(solution)
    chosen = tuned.named(solution.tuned)
    solution = with_values(solution)
    check = verified(task.under(chosen) if chosen else task, solution, g, (motions, inputs), options.rtol)
    named = {a.name: u for a, u in zip(inputs[len(motions) :], free)}
    warnings = [*doubtful(check, options.rtol), *unresolved(solution, named)]
    objective = options.sign * solution.objective
    words = f"objective = {objective:.9g} {wishes.unit}".rstrip() + f", stop = {solution.stop:.9g} s"
    attributes = {
        "analysis": "optimize",
        "unknowns": machine.system.n,
        "objective": objective,
        "stop": solution.stop,
        **fine.told,
        "deviation": check.deviation,
        **{f"parameter.{name}": value for name, value in chosen.items()},
        "notes": "; ".join(
            [*(f"{name} = {value:.9g}" for name, value in chosen.items()), words, fine.text, check.text]
        ),
        "wall_seconds": clock.perf_counter() - began,
        "cpu_seconds": clock.thread_time() - cpu,
        "netlist": task.network.text,
    }
    found = sampled(solution, g, options.sample, task.saves, task.plots, task.beside, attributes)
    return replace(found, warnings=tuple(warnings))


def _earlier(task: Task) -> Any:
    def earlier(call: Any, run: str) -> Any:
        if run != FOUND:
            return task.earlier(call, run)
        return ZERO

    return earlier


def _better(
    task: Task, setting: Setting, options: OptimalOptions, structure: Structure, inputs: list[Actuator]
) -> Callable[[Mesh, Array], Array]:
    """What makes a first guess better: an earlier run, or, where nothing is asked for at the end, a transient run."""
    point, places = setting.point, places_of(setting.point, structure)
    own = {a.name: int(point.first[u]) for a, u in zip(inputs, setting.free)}
    series: Series = {}
    if options.guess not in ("", "transient", "start"):
        series = saved(task, options.guess, places, own)
    elif options.guess == "transient" or not (options.guess or options.end or options.begin):
        series = simulated(task, places, float(np.sqrt(options.stop[0] * options.stop[1])))
    if not series:
        return lambda mesh, z: z
    return lambda mesh, z: on_mesh(point, mesh, z, series, {**places, **own})


def _refuse_events(machine: Machine) -> None:
    """Raises E460 for the first element that switches."""
    for batch in machine.system.batches:
        if batch.n_relations or batch.n_discretes:
            message = f"'{batch.instances[0].name}' switches, and optimize() cannot have events"
            hint = "take an element that is rounded where this one switches"
            raise InputError(Problem("E460", message, batch.instances[0].span, hint=hint))


def _refuse_moved_start(task: Task, tuned: Tuned, structure: Structure, options: OptimalOptions, g: Array) -> None:
    """Raises E466 for free parameters that move a start which is given."""
    if options.begin is not None and not (len(options.begin) == 1 and word(options.begin[0]) == "rest"):
        return
    for name, machine, (_, low, _) in zip(tuned.names, tuned.machines[1:], options.parameters):
        layout, other = machine.system.layout, begun(machine, structure, options.start)[2]
        if not np.allclose(layout.state(other)[: 2 * layout.nk], layout.state(g)[: 2 * layout.nk], 1e-9, 1e-12):
            message = f"the start depends on '{name}', and both are unknown"
            hint = "write begin = free, or the conditions that hold at the begin: begin = [rest, a.x == 0 m]"
            raise InputError(Problem("E466", message, low.span, hint=hint))


def _refuse_time(setting: Setting, options: OptimalOptions, g: Array) -> None:
    """Raises E467 where the stop is free and something is a function of time."""
    if not options.is_free:
        return
    known = setting.known(np.linspace(0.0, 1.0, 7), options.stop[1], g)
    varying = (np.ptp(known, axis=1) > 0.0) & (np.arange(len(known)) != TIME)
    batches = {id(batch): batch for batch in setting.point.machine.system.batches}
    for group in setting.point.groups:
        reads = varying[group.slots].any(axis=0) | ca.depends_on(group.formula.results, UNIFORM["time"])
        for k in group.members[np.broadcast_to(reads, len(group.members))]:
            owner = batches[group.owner].instances[k]
            message = f"the stop is free, and '{owner.name}' is driven by a function of time"
            hint = "give the stop, or write the function with a state of its own (an integrator)"
            raise InputError(Problem("E467", message, owner.span, hint=hint))


def _unknowns(machine: Machine, inputs: list[Actuator], task: Task) -> list[int]:
    """The unknowns of the network that stand for free inputs."""
    found = []
    for actuator in inputs:
        batch, position = machine.system.home[actuator.element(task.network)]
        found.append(int(batch.columns(("own", 0))[position]))
    return found


def _watched(machine: Machine, point: Point, name: str) -> int:
    batch, position = machine.system.home[name]
    return int(point.first[batch.columns(("own", 0))[position]])


def _refuse(task: Task, options: OptimalOptions) -> None:
    """What can be refused before anything is solved."""
    actuators_of(task.network, options.inputs)
    motions_of(task.network, task.values, options.track)
    wishes_of(task.network, task.values, options)
    _refuse_events(task.machine)


ANALYSIS = Analysis("optimize", KINDS, optimal_options, optimize, _refuse)
