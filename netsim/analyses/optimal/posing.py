"""The statement of an optimisation: the network rewired, its equations at a point, and all that holds at the ends.

The network is rewired as for an inverse run: every free input is an unknown, every followed signal a row. Every
expression that is asked for is an element of its own (`wishes`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.analysis import Prepared, Task
from netsim.analyses.inverse.authority import authority
from netsim.analyses.inverse.runs import FOUND
from netsim.analyses.inverse.tracking import APPLIED, FOLLOW, Actuator, Motion, actuators_of, motions_of, rewired
from netsim.analyses.optimal.ends import begin_of, end_of, independent
from netsim.analyses.optimal.guess import nearest_end
from netsim.analyses.optimal.options import OptimalOptions
from netsim.analyses.optimal.parameters import Tuned, tuned_of
from netsim.analyses.optimal.program.points import nominal_sizes, point_of, present, unknown_of, unknowns_of
from netsim.analyses.optimal.program.rounded import rounded_system
from netsim.analyses.optimal.program.transcription import Setting, silent
from netsim.analyses.optimal.results.failing import refuse_idle
from netsim.analyses.optimal.results.verification import ZERO
from netsim.analyses.optimal.simulated import places_of
from netsim.analyses.optimal.units import own_units, scale_of
from netsim.analyses.optimal.wishes import Wishes, watching, wishes_of
from netsim.core.problem import TIME
from netsim.equations.forms.symbols import UNIFORM
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Structure
from netsim.initial.reactions.redundancy import solvable
from netsim.results.samples import Signal
from netsim.simulate.events.iteration import acts
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.orders import absent_rates
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Binding, Name, Part, Run

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Posed:
    """What is to be solved: followed signals and inputs, the former's first; the rewired network's structure, the
    variables of a point near the end, the states with their places in a point; unknowns of inputs
    that are shared at every instant (none where nothing is chosen beside signals); `fixed`, the followed signals leave
    no movement; `applied`, the network whose inputs are all given."""

    motions: Sequence[Motion]
    inputs: Sequence[Actuator]
    setting: Setting
    structure: Structure
    end: Array
    states: dict[Signal, int]
    shared: list[int]
    fixed: bool
    applied: Prepared

    @property
    def chosen(self) -> Sequence[Actuator]:
        """Inputs that no followed signal determines."""
        return self.inputs[len(self.motions) :]

    @property
    def places(self) -> dict[str, int]:
        """Places of states in a point by their names."""
        return {state.name: place for state, place in self.states.items()}


def posed(task: Task, options: OptimalOptions, smooth: float = 0.0) -> Posed:
    """The problem, with all that switches rounded by `smooth`; raises `InputError` for what cannot be optimised."""
    wishes = wishes_of(task.network, task.values, options)

    def earlier(call: Any, run: str) -> Any:
        return ZERO if run == FOUND else task.earlier(call, run)

    def rounded(given: Prepared) -> Prepared:
        if not smooth:
            return given
        machine = build_machine(given[1], given[0], earlier)
        scale = scale_of(machine, own_units(machine, options, wishes))
        system = rounded_system(machine, smooth, nominal_sizes(machine, scale), options.stop[1])
        return given[0], *solvable(system, given[0], absent_rates(system, given[0]))

    motions, inputs, applied, (values, system, structure) = _wired(task, options, wishes, rounded)
    refuse_delays(system, "optimize()", "an optimum would look ahead")
    machine = build_machine(system, values, earlier)
    refuse_events(machine)
    scale = scale_of(machine, own_units(machine, options, wishes))
    machine, structure, g, _ = start_of_run(machine, structure, options.start)
    tuned = tuned_of(values, machine, options, earlier)
    machine = tuned.machines[0] if tuned.machines else machine
    _refuse_moved_start(tuned, structure, options, g)
    unknowns, count = unknowns_of(machine, inputs, task.network), len(motions)
    free, structure = unknowns[count:], present(machine, structure)
    point = replace(point_of(machine, structure, free, g), scale=scale)
    moves = point.state_places[point.states[0] < machine.system.layout.nk]
    fixed = bool(motions or len(moves)) and not len(independent(point, moves, point.start))
    wishes.places = point.first[[unknown_of(machine.system, wishes.name(k)) for k in range(len(wishes.expressions))]]
    end = nearest_end(point, end_of(point, options, wishes, point.start), wishes.places)
    begin, ends = begin_of(point, options, wishes, point.start), end_of(point, options, wishes, end)
    owner = np.repeat(np.arange(len(point.d)), point.d + 1)
    refuse_idle(structure, inputs[count:], free, owner[np.append(wishes.places, ends.places)])
    setting = Setting(
        point, wishes, options.stop, np.array(free, np.int64), begin, ends, tuned=tuned,
        progress=task.progress or silent, followed=np.array(unknowns[:count], np.int64),
    )  # fmt: skip
    _refuse_time(setting, options)
    shared = unknowns if motions and free and not tuned.names else []
    states = places_of(point, structure)
    return Posed(motions, inputs, setting, structure, end, states, shared, fixed, applied)


def _wired(
    task: Task, options: OptimalOptions, wishes: Wishes, rounded: Callable[[Prepared], Prepared]
) -> tuple[Sequence[Motion], Sequence[Actuator], Prepared, Prepared]:
    """Followed signals, all inputs, those first that move the signals best, and the rewired network prepared: with all
    inputs given, and, rounded, with signals that follow."""
    inputs = actuators_of(task.network, options.inputs)
    motions = motions_of(task.network, task.values, options.track)

    def prepared(kinds: Sequence[str], start: str) -> Prepared:
        network = watching(rewired(task.network, kinds, motions, inputs, FOUND), wishes)
        return task.prepare(replace(network, runs=(Run("transient", (Binding("from", Name((Part(start),))),)),)))

    applied = prepared([APPLIED] * len(inputs), "rest")
    if motions and len(inputs) > len(motions):
        order, _ = authority(rounded(applied), motions, inputs, TransientOptions(options.stop[1], start="rest"))
        inputs = [inputs[k] for k in order]
    kinds = [FOLLOW if k < len(motions) else APPLIED for k in range(len(inputs))]
    return motions, inputs, applied, rounded(prepared(kinds, options.start or "rest"))


def refuse_events(machine: Machine) -> None:
    """Raises E460 for the first element that switches."""
    for batch in machine.system.batches:
        if (batch.n_relations or batch.n_discretes) and acts(machine, batch):
            message = f"'{batch.instances[0].name}' switches, and optimize() cannot have events"
            hint = "write smooth = 1e-3, or take an element that is rounded where this one switches"
            raise InputError(Problem("E460", message, batch.instances[0].span, hint=hint))


def _refuse_moved_start(tuned: Tuned, structure: Structure, options: OptimalOptions, g: Array) -> None:
    """Raises E466 for free parameters that move a start which is given."""
    if not options.starts:
        return
    for machine, each in zip(tuned.machines[1:], options.parameters):
        layout, other = machine.system.layout, start_of_run(machine, structure, options.start)[2]
        if not np.allclose(layout.state(other)[: 2 * layout.nk], layout.state(g)[: 2 * layout.nk], 1e-9, 1e-12):
            message = f"the start depends on '{each.name}', and both are unknown"
            hint = "write begin = free, or the conditions that hold at the begin: begin = [rest, a.x == 0 m]"
            raise InputError(Problem("E466", message, each.span, hint=hint))


def _refuse_time(setting: Setting, options: OptimalOptions) -> None:
    """Raises E467 where the stop is free and something is a function of time."""
    if not options.is_free:
        return
    known = setting.known(np.linspace(0.0, 1.0, 7), options.stop[1])
    varying = (np.ptp(known, axis=1) > 0.0) & (np.arange(len(known)) != TIME)
    batches = {id(batch): batch for batch in setting.point.machine.system.batches}
    for group in setting.point.groups:
        reads = varying[group.slots].any(axis=0) | ca.depends_on(group.formula.results, UNIFORM["time"])
        for k in group.members[np.broadcast_to(reads, len(group.members))]:
            owner = batches[group.owner].instances[k]
            message = f"the stop is free, and '{owner.name}' is driven by a function of time"
            hint = "give the stop, or write the function with a state of its own (an integrator)"
            raise InputError(Problem("E467", message, owner.span, hint=hint))
