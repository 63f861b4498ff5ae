"""Runs of one network with other parameter values, one after the other in the same arrays.

A run that has been begun at the network's own values has everything that does not depend on values: layouts, plans,
conditions, pivots, workspace. With other values compiled code finds the start, scales and first step anew
(netsim.core.begin.variant). What a variant finds depends on the netlist and its own values alone: pivots are those of
the netlist's values, and every array that a run changes is written back before the next one begins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.core.begin.step_responses import StepResponses, set_rounding
from netsim.core.begin.variant import BEGUN, VariantStart, begin
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import DENSE
from netsim.core.loop.control import SIZE
from netsim.equations.kernels.precomputation import split_precomputation
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Call, Machine
from netsim.equations.starts.written import start_rows
from netsim.equations.system import System
from netsim.initial.consistent.compiled_start import CompiledStart, compiled_start
from netsim.initial.initial import Structure
from netsim.initial.recovery import Recovery
from netsim.network.values import Values
from netsim.results.selection import Reader
from netsim.simulate.events.iteration import may_have_events
from netsim.simulate.options import TransientOptions
from netsim.simulate.running import Running
from netsim.simulate.setup import sizes
from netsim.simulate.setup.arrays.consistent import consistent_plan
from netsim.simulate.setup.features import ends_of, sampled
from netsim.simulate.setup.instants import time_events_within
from netsim.simulate.setup.kinds import kinds_of, massless
from netsim.simulate.setup.sizes import LADDER, integrals, largest_means
from netsim.simulate.setup.weights import untested_differences
from netsim.simulate.snapshots import RunSnapshot, restore_snapshot, snapshot
from netsim.structure.of_time.switching import time_texts
from netsim.structure.time_events import time_events_of

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class RunTemplate:
    """A run as it has been begun, what it is begun anew with, and the parameters that its calls read: copies of some
    columns of a batch's (array, batch, positions), calls with constants computed of parameters, those of prescribed
    inputs with the netlist's own, and what is known of these inputs then (levels of `answers`, sizes of kinds)."""

    run: Running
    kept: RunSnapshot
    machine: Machine
    start: CompiledStart
    beginning: VariantStart
    answers: StepResponses
    structs: tuple[Struct, ...]
    lent: list[tuple[Array, int, Array]]
    settled: list[Call]
    inputs: list[tuple[Array, Array]]
    known: tuple[Array, Array]

    @property
    def point(self) -> Array:
        """The consistent start of the run begun last."""
        return self.beginning.point


def can_restart(machine: Machine, options: TransientOptions) -> bool:
    """Whether runs of a network can be begun anew by compiled code: nothing moves, happens at events or is delayed,
    and functions of time stand in the netlist's sources alone."""
    system = machine.system
    plain = not system.layout.nk and machine.element is None and system.redundant is None and not machine.parts
    alone = not may_have_events(machine) and not len(machine.problem.buffer.length) and not machine.values.inputs
    written = not system.network.world and not system.network.nominals
    tables = any(call.run for each in system.prescribed_inputs for _, call in each.calls)
    begins = options.start in ("", "rest") and not options.jumping
    return plain and alone and written and not tables and begins and not any(time_texts(machine))


def template_of(
    run: Running, machine: Machine, structure: Structure, readers: Sequence[Reader], point: Array
) -> RunTemplate | None:
    """What begins a run anew, from one that has been begun at the values of the machine, at the start `point`; None
    where that takes more than compiled code, and the run is as it was."""
    trial, options = run.trial, run.options
    start = compiled_start(machine, structure, options.start == "rest", point)
    if start is None or len(trial.value) or run.method.explicit or run.reactions is not None:
        return None
    answers = _answers(run, machine)
    given = np.zeros(trial.sizes.shape[1])
    beginning = VariantStart(
        machine.g.copy(), np.zeros(len(machine.g)), given, start.far.astype(np.int64), start.far_from,
        np.array([start.resting]), np.array([float(run.method.estimate or 1)]),
    )  # fmt: skip
    calls = list(_calls([list(run.machine.calls.values()), run.alive, [r.calls for r in readers], start.calls]))
    settled = [c for c in calls if split_precomputation(c.program)[0] is not None and c.settled[1] is not c.parameters]
    prescribed = [run.machine.parameters[id(each)] for each in machine.system.prescribed_inputs]
    lent = [*start.lent, *(each for reader in readers for each in reader.lent)]
    structs = struct_of(beginning), start.start, struct_of(answers)
    inputs = [(each, each.copy()) for each in prescribed]
    known = answers.levels.copy(), given.copy()
    run.answers, run.reused = structs[2], True
    before = snapshot(run, with_rows=False)
    found = RunTemplate(
        run, before, run.machine, start, beginning, answers, structs, lent, settled, inputs, known,
    )  # fmt: skip
    if not _take_inputs(found, structure):
        return None
    known[0][:], known[1][:] = answers.levels, given
    if _begun(found) != BEGUN:  # a start that the careful search alone finds
        restore_snapshot(run, found.kept)
        run.answers, run.reused = None, False
        return None
    return found


def _begun(variant: RunTemplate) -> int:
    """What `netsim.core.begin.variant.begin` answers with the parameters that the run's calls read."""
    run, (beginning, start, answers) = variant.run, variant.structs
    trial, control, sampler, factor = map(run.struct, ("trial", "control", "sampler", "factor"))
    return int(begin(beginning, start, answers, variant.machine.struct, factor, trial, control, sampler))


def restart(variant: RunTemplate, values: Values, parameters: Mapping[int, Array], goals: Sequence[float]) -> bool:
    """The run at t = 0 with these values: parameters by batch, and targets of written starts. False where that takes
    more than compiled code; the run is of no use then, but can be begun anew."""
    run, machine, structure = variant.run, variant.machine, variant.run.structure
    restore_snapshot(run, variant.kept)
    for key, own in machine.parameters.items():
        own[...] = parameters[key]
    for array, key, positions in variant.lent:
        array[...] = machine.parameters[key][:, positions]
    for call in variant.settled:
        _settle(call)
    wanted = np.array(goals, float)
    for goal, positions, rows in variant.start.goals:
        goal[positions] = wanted[rows]
    run.machine = replace(machine, values=values)
    vars(run.machine)["struct"] = machine.struct
    if all(np.array_equal(now, text) for now, text in variant.inputs):
        variant.answers.levels[:], variant.beginning.given[:] = variant.known
    elif not _take_inputs(variant, structure):
        return False
    if _begun(variant) != BEGUN:
        return False
    exponent = run.trial.exponent
    if (exponent > 0).any() and len(untested_differences(run.machine, structure, exponent, variant.point)[1]):
        return False  # which differences no test weighs depends on values
    return not len(run.plan.sizes) or _plan_anew(variant)


def round_sizes(run: Running) -> None:
    """The sizes that rounding leaves, where the run stands."""
    size, now = float(run.control.numbers[SIZE]), run.now
    if run.answers:
        set_rounding(run.machine.struct, run.struct("trial"), run.answers, size, now)
    else:
        sizes.set_rounding(run.machine, run.trial, size, now)


def targets(system: System, values: Values) -> list[float]:
    """The targets of written starts, in the order of the netlist."""
    return [row.target for row in start_rows(system, values)]


def _settle(call: Call) -> None:
    """The constants that a call reads, of its present parameters."""
    before, _ = split_precomputation(call.program)
    assert before is not None
    given = np.reshape(call.parameters, (call.program.n_parameters, call.n))
    found = call.settled[1]
    found[: given.size] = given.ravel()
    found[given.size :] = evaluate(before, np.zeros((0, call.n)), np.zeros(0), given).ravel()


def _plan_anew(variant: RunTemplate) -> bool:
    """Consistent points for time events, from where the run begins; False where the plan takes other pivots."""
    run, plan = variant.run, variant.run.plan
    time_events = run.control.time_events[:-1]
    found, _ = consistent_plan(run.planned, run.trial, time_events, 0.0, False)
    pairs = [(getattr(plan, name), getattr(found, name)) for name in ("numbers", "reals", "sizes", "where")]
    if any(own.shape != other.shape for own, other in pairs):
        return False
    for own, other in pairs:
        own[...] = other
    return True


def _answers(run: Running, machine: Machine) -> StepResponses:
    """Workspace for sizes, with the pivots of the step's matrix where the run begins."""
    system, trial, n = machine.system, run.trial, machine.system.n
    pattern, factor = system.pattern, run.factor
    own = factor._replace(
        **{name: getattr(factor, name).copy() for name in ("l_value", "u_value", "pivot_inverse", "work")}
    )
    nominal = np.zeros(trial.sizes.shape[1])
    np.maximum.at(nominal, trial.kind, trial.nominal)
    steps, dense = LADDER * run.options.stop, n if n <= DENSE else 0
    return StepResponses(
        steps, np.zeros((len(steps), system.layout.nd)), np.random.default_rng(0).choice([-1.0, 1.0], (n, 2)),
        np.repeat(np.arange(n), np.diff(pattern.indptr)), struct_of(own), nominal, np.zeros_like(nominal),
        np.zeros_like(nominal), np.zeros(len(steps)), np.zeros(system.out_size), np.zeros(system.layout.size),
        np.zeros(system.layout.size), np.zeros((len(steps), n)), np.zeros(n), np.zeros(pattern.nnz),
        np.zeros((dense, dense)), np.zeros((dense, 1)),
    )  # fmt: skip


def _calls(held: Any) -> Iterator[Call]:
    """The kernel calls among what a run keeps alive."""
    if isinstance(held, Call):
        yield held
    elif isinstance(held, Recovery):
        yield from _calls(held.alive)
    elif isinstance(held, list | tuple):
        for each in held:
            yield from _calls(each)


def _take_inputs(variant: RunTemplate, structure: Structure) -> bool:
    """What the run knows of its prescribed inputs, from their present parameters; False where it has no room for it."""
    run, machine = variant.run, variant.run.machine
    options, control = run.options, run.control
    stop, system = options.stop, machine.system
    time_events = time_events_of(machine, stop)
    features = np.zeros(0) if options.step else ends_of(machine, stop, time_events, run.method.work, options.rtol)
    cut = time_events if not options.step or run.method.order > 1 else np.zeros(0)
    inside = time_events_within(cut, stop)
    if len(inside) != len(control.time_events) or len(features) + 1 != len(control.features):
        return False
    times, values = sampled(machine, stop, np.union1d(features, time_events))
    kinds = kinds_of(system, np.abs(values).max(axis=0, initial=0.0), massless(structure, 0))
    sums = integrals(times, values)
    for k, h in enumerate(variant.answers.steps):
        variant.answers.levels[k] = values[0] + largest_means(times, sums, h)
    variant.beginning.given[:] = kinds.given
    control.time_events[:], control.features[:-1] = inside, features
    return True
