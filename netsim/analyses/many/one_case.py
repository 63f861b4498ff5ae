"""One case of a sweep: the run under its values, and what is kept of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from netsim.analyses.analysis import OVERFLOWS, Task, carried_out
from netsim.analyses.over_time.begun import Asked as Signals
from netsim.analyses.over_time.begun import Begun
from netsim.analyses.over_time.run import finished, measured_alone
from netsim.analyses.over_time.variants import Template, Wanted, begun_anew
from netsim.analyses.sensitivity.moved import changed_network, moved
from netsim.analyses.sensitivity.sensitivity import requested
from netsim.analyses.transient import ANALYSIS as TRANSIENT
from netsim.equations.batches import Batch
from netsim.equations.machine import Machine
from netsim.equations.parameters import parameters_of
from netsim.equations.prescribed import Prescribed, prescribed_parameters
from netsim.network.given import written_starts
from netsim.network.values import Values
from netsim.results.claims import broken_claims
from netsim.results.measures import BROKEN, measured
from netsim.results.measuring.record import MISSING
from netsim.results.over_cases.told import lines_of
from netsim.results.samples import Figure, Samples, Signal
from netsim.simulate.options import TransientOptions
from netsim.simulate.variants import targets
from netsim.structure.orders import rates_absent
from netsim.text.errors import NetsimError, Problem
from netsim.text.syntax import Expr

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of each case: the run, signals (none: measures alone), and the instants of their samples."""

    options: TransientOptions
    saves: Sequence[Expr]
    instants: Array
    shows: bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a case gave: measures, signals at the instants (instants, signals); whether all assertions of the netlist
    hold; why it failed, which assertion does not hold, or what components assert and does not, '' where all is well;
    what makes it doubtful, as a single run tells it (netsim.analyses.over_time.verdicts), or the failure."""

    figures: tuple[Figure, ...] = ()
    signals: tuple[Signal, ...] = ()
    series: Array | None = None
    failed: bool = False
    holds: bool = True
    message: str = ""
    told: tuple[Problem, ...] = ()


def failed(problem: Problem) -> Outcome:
    """That of a case that failed."""
    return Outcome(failed=True, holds=False, message=lines_of([problem]), told=(problem,))


@dataclass(frozen=True, eq=False)
class Shared:
    """What all cases of a task have in common where one run serves them (netsim.analyses.over_time.variants):
    parameters by batch that no case changes, the batches and functions of time that cases change, which rates of the
    batches vanish, and targets of written starts (None where cases change them)."""

    task: Task
    wanted: Wanted
    parameters: Mapping[int, Array]
    batches: Sequence[Batch]
    inputs: Sequence[Prescribed]
    absent: Sequence[Array]
    goals: list[float] | None


def depends(task: Task, values: Mapping[str, float], find: Callable[[Values], object]) -> bool:
    """Whether what `find` reads depends on the parameters that these values change."""
    network, changed = changed_network(task.network, values)
    known = Values(network, {**task.values.overrides, **changed})
    find(known)
    return bool(known.used & set(changed))


def shared_of(task: Task, asked: Asked, values: Mapping[str, float]) -> Shared | None:
    """What the case with these values has in common with all that change the same names; None where runs begin by
    themselves."""
    signals = Signals(task.saves, task.plots, (), task.beside)
    wanted = Wanted(task.machine, task.structure, asked.options, signals, None)
    template = task.variants.taken(wanted)[0] if task.variants else None
    if template is None or task.rated:
        return None
    task.variants.given_back(wanted, template)
    system, parameters = task.machine.system, task.machine.parameters
    reads = partial(depends, task, values)
    try:
        batches = [each for each in system.batches if reads(partial(parameters_of, each))]
        inputs = [each for each in system.prescribed_inputs if reads(partial(prescribed_parameters, each))]
        moving = bool(values.keys() & written_starts(task.network)) or reads(partial(targets, system))
    except NetsimError:  # each case tells what is wrong with it
        return None
    absent = [rates_absent(each, parameters[id(each)]) for each in batches]
    return Shared(
        task, wanted, parameters, batches, inputs, absent, None if moving else targets(system, task.values)
    )  # fmt: skip


def _begun(shared: Shared, values: Mapping[str, float]) -> tuple[Begun, Template] | None:
    """The run of a case at its start, and the template that it takes; None where it has to begin by itself."""
    task, system = shared.task, shared.task.machine.system
    network, changed = changed_network(task.network, values)
    known = Values(network, {**task.values.overrides, **changed})
    own = [parameters_of(each, known) for each in shared.batches]
    absent = [rates_absent(batch, found) for batch, found in zip(shared.batches, own)]
    if not all(map(np.array_equal, absent, shared.absent)):
        return None
    parameters = {**shared.parameters, **{id(each): found for each, found in zip(shared.batches, own)}}
    parameters |= {id(each): prescribed_parameters(each, known) for each in shared.inputs}
    goals = shared.goals if shared.goals is not None else targets(replace(system, network=network), known)
    template, _ = task.variants.taken(shared.wanted)
    if template is None:
        return None
    if begun := begun_anew(template, known, parameters, goals, None):
        return begun, template
    task.variants.given_back(shared.wanted, template)
    return None


def _found(task: Task, asked: Asked, shared: Shared | None, values: Mapping[str, float]) -> Outcome:
    """The run of a case, judged."""
    found = _begun(shared, values) if shared else None
    if not shared or not found:
        other = moved(task, values)
        return kept(other.machine, carried_out(TRANSIENT, other, asked.options), asked)
    begun, template = found
    samples = finished(begun, None, None, (0.0, 0.0)) if asked.shows else measured_alone(begun)
    outcome = kept(begun.run.machine, samples, asked)
    task.variants.given_back(shared.wanted, template)
    return outcome


@OVERFLOWS
def outcome(task: Task, asked: Asked, shared: Shared | None, values: Mapping[str, float]) -> Outcome:
    """The case with these values of parameters and starts (SI). What goes wrong is told in the outcome."""
    try:
        return _found(task, asked, shared, values)
    except NetsimError as error:
        return failed(error.problems[0])


def failure_of(samples: Samples) -> Problem:
    """What ended a run early; raises `KeyboardInterrupt` where the user did."""
    if "failure" not in samples.attributes:
        raise KeyboardInterrupt
    return samples.attributes["failure"]


def kept(machine: Machine, samples: Samples, asked: Asked) -> Outcome:
    """Figures and sampled signals; a broken assertion is no failure, an account of energy that does not close is."""
    if not samples.finished:
        return failed(failure_of(samples))
    figures, missing = measured(machine, samples) if len(samples.time) > 1 else ((), ())
    broken = (*samples.broken, *missing)
    if wrong := [problem for problem in broken if problem.code not in (BROKEN, MISSING)]:
        return failed(wrong[0])
    message = broken[0].message if broken else "; ".join(broken_claims(machine, samples))
    series = None
    if asked.shows:
        series = samples.values[requested(samples.time, asked.instants[1:])]
    signals = samples.signals if asked.shows else ()
    return Outcome((*figures, *samples.figures), signals, series, False, not broken, message, samples.warnings)
