"""Optimal motion: inputs, starts and parameters over a whole span such that the network's equations hold and an
objective is least, by collocation and IPOPT.

The network is rewired as for an inverse run: every free input is an unknown, every followed signal a row. The equations
at the points of a mesh and the objective are one nonlinear program (`transcription`), whose solution is sampled like a
run.
"""

import time as clock
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.inverse.authority import authority
from netsim.analyses.inverse.runs import FOUND
from netsim.analyses.inverse.tracking import APPLIED, FOLLOW, Actuator, actuators_of, motions_of, rewired
from netsim.analyses.optimal.ends import begin_of, end_of, independent
from netsim.analyses.optimal.failing import explained, refuse_idle, refuse_unmet
from netsim.analyses.optimal.guess import first_guess, nearest_end
from netsim.analyses.optimal.meshes import Limits, Refined, first_mesh, on_fine_mesh, with_values
from netsim.analyses.optimal.options import KINDS, OptimalOptions, optimal_options, word
from netsim.analyses.optimal.parameters import Tuned, tuned_of
from netsim.analyses.optimal.program.points import Point, point_of, present
from netsim.analyses.optimal.program.transcription import Setting, fixed_start, silent
from netsim.analyses.optimal.results.answer import sampled
from netsim.analyses.optimal.results.costates import with_costates
from netsim.analyses.optimal.results.pointwise import pointwise, price
from netsim.analyses.optimal.results.verification import ZERO, doubtful, unresolved, verified
from netsim.analyses.optimal.simulated import Series, on_mesh, places_of, saved, simulated, unknowns_of
from netsim.analyses.optimal.units import own_units, scale_of
from netsim.analyses.optimal.wishes import watching, wishes_of
from netsim.core.problem import TIME
from netsim.equations.forms.form import UNIFORM
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Structure
from netsim.results.samples import Samples
from netsim.simulate.options import TransientOptions
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
    begins = Run("transient", (Binding("from", Name((Part(options.start or "rest"),))),))
    if motions and len(inputs) > len(motions):
        applied = rewired(network, [APPLIED] * len(inputs), motions, inputs, FOUND)
        order = authority(
            task.prepare(replace(applied, runs=(begins,))), motions, inputs, TransientOptions(1.0, start="rest")
        )
        inputs = [inputs[k] for k in order]
    kinds = [FOLLOW if k < len(motions) else APPLIED for k in range(len(inputs))]
    network = watching(rewired(network, kinds, motions, inputs, FOUND), wishes)
    values, system, structure = task.prepare(replace(network, runs=(begins,)))
    machine = build_machine(system, values, _earlier(task))
    refuse_delays(system, "optimize()", "an optimum would look ahead")
    _refuse_events(machine)
    machine, structure, g, _ = begun(machine, structure, options.start)
    tuned = tuned_of(task.network, values, machine, options, _earlier(task))
    machine = tuned.machines[0] if tuned.machines else machine
    _refuse_moved_start(task, tuned, structure, options, g)
    free = unknowns_of(machine, inputs[len(motions) :], task.network)
    structure = present(machine, structure)
    point = replace(point_of(machine, structure, free), scale=scale_of(machine, own_units(machine, options, wishes)))
    watched = np.array([_watched(machine, point, wishes.name(k)) for k in range(len(wishes.expressions))], np.int64)
    z = fixed_start(g, point)
    end = nearest_end(point, end_of(point, options, wishes, watched, z, g), watched, g, z)
    ends = end_of(point, options, wishes, watched, end, g)
    begin = begin_of(point, options, wishes, watched, z, g)
    owner = np.repeat(np.arange(len(point.d)), point.d + 1)
    refuse_idle(structure, inputs[len(motions) :], free, owner[np.append(watched, ends.places)])
    setting = Setting(point, wishes, watched, options.stop, np.array(free, np.int64), begin, ends, tuned=tuned)
    followed = np.array(unknowns_of(machine, inputs[: len(motions)], task.network), np.int64)
    setting = replace(setting, progress=task.progress or silent, followed=followed)
    _refuse_time(setting, options, g)
    limits = Limits(options.intervals, options.points, options.rtol, options.refinements, options.iterations)
    states = places_of(point, structure)
    places = {state.name: place for state, place in states.items()}
    moves = point.state_places[point.states[0] < machine.system.layout.nk]
    fixed = bool(motions) and not len(independent(point, moves, z, g))
    moving = simulated(machine, structure, places, options.stop[1]) if fixed else {}
    shared = unknowns_of(machine, inputs, task.network) if motions and free and not tuned.names else []
    mesh, span = first_mesh(setting, limits)
    start = first_guess(setting, mesh, z, end, span)
    series, own = _series(task, setting, options, places, inputs[len(motions) :], moving)
    guess = on_mesh(point, mesh, start, series, own) if series else None
    if guess is None and shared and not options.guess and begin.fixed:
        guess = pointwise(setting, mesh, start, span, g, shared)
    calm = bool(motions) and guess is None and not options.guess
    fine = on_fine_mesh(setting, limits, g, mesh, start if guess is None else guess, span, calm)
    fine, beside = _below_pointwise(fine, limits, g, shared, fixed)
    solution = fine.solution
    if not solution.solved:
        raise explained(solution)
    refuse_unmet(solution)
    chosen = tuned.named(solution.tuned)
    solution = with_values(solution)
    check = verified(task.under(chosen) if chosen else task, solution, g, (motions, inputs), options.rtol)
    named = {a.name: u for a, u in zip(inputs[len(motions) :], free)}
    warnings = [*doubtful(check, options.rtol), *unresolved(solution, named)]
    objective, attributes = options.sign * solution.objective, dict[str, Any]()
    words = f"objective = {objective:.9g} {wishes.unit}".rstrip() + f", stop = {solution.stop:.9g} s"
    if beside is not None:
        attributes |= {"pointwise": options.sign * beside}
        words += f", {_beside(options.sign * beside, objective)}"
    attributes = {
        **attributes,
        "analysis": "optimize",
        "objective": objective,
        "stop": solution.stop,
        **fine.told,
        "deviation": check.deviation,
        **{f"costate.{name}": options.sign * float(solution.gradient[place]) for name, place in places.items()},
        **{f"parameter.{name}": value for name, value in chosen.items()},
        "notes": "; ".join(
            [*(f"{name} = {value:.9g}" for name, value in chosen.items()), words, fine.text, check.text]
        ),
        "wall_seconds": clock.perf_counter() - began,
        "cpu_seconds": clock.thread_time() - cpu,
        "netlist": task.network.text,
    }
    found = sampled(solution, g, options.sample, task.saves, task.plots, task.beside, attributes)
    if options.costates:
        found = with_costates(found, solution, states, options.sign)
    return replace(found, warnings=tuple(warnings))


def _beside(shared: float, objective: float) -> str:
    """The objective where inputs have the least norm at every instant, in words."""
    aside = "with the least norm of the inputs at every instant (limits and ends aside)"
    if not np.isfinite(shared):
        return f"the motion {aside} does not reach the end"
    more = f" ({shared / objective - 1.0:+.3g} of it)" if objective else ""
    return f"{aside} {shared:.9g}{more}"


def _earlier(task: Task) -> Any:
    def earlier(call: Any, run: str) -> Any:
        if run != FOUND:
            return task.earlier(call, run)
        return ZERO

    return earlier


def _below_pointwise(
    fine: Refined, limits: Limits, g: Array, inputs: list[int], fixed: bool
) -> tuple[Refined, float | None]:
    """The optimum, and what the motion with the least norm of the inputs (unknowns of the network) at every instant
    costs: NaN where that runs away, None without inputs. Where it costs less, the optimum found is that of another
    valley, and the search goes on from the pointwise motion."""
    solution = fine.solution
    if not inputs or not solution.solved or solution.program.setting.wishes.objective is None:
        return fine, None
    cost, z = price(solution, g, inputs, fixed)
    if z is not None and cost < solution.objective - limits.rtol * abs(solution.objective):
        setting, mesh = solution.program.setting, solution.program.mesh
        other = on_fine_mesh(setting, limits, g, mesh, z, solution.stop)
        if other.solution.solved and other.solution.objective < solution.objective:
            return other, cost
    return fine, cost


def _series(
    task: Task,
    setting: Setting,
    options: OptimalOptions,
    places: Mapping[str, int],
    inputs: list[Actuator],
    moving: Series,
) -> tuple[Series, dict[str, int]]:
    """Series for a first guess, and the places of all that they may give: an earlier run; the movement, where followed
    signals fix it (`moving`); or, where nothing is asked for at the end, a transient run."""
    own = {a.name: int(setting.point.first[u]) for a, u in zip(inputs, setting.free)}
    every = {**places, **own}
    if options.guess not in ("", "transient", "start"):
        return saved(task, options.guess, places, own), every
    if options.guess == "transient" or not (moving or options.guess or options.end or options.begin or options.track):
        return simulated(task.machine, task.structure, places, float(np.sqrt(options.stop[0] * options.stop[1]))), every
    return moving, every


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
