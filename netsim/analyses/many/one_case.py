"""One case of a sweep: the run under its values, and what is kept of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from netsim.analyses.analysis import OVERFLOWS, Task, run_analysis
from netsim.analyses.over_time.run import run_measured, run_to_end
from netsim.analyses.over_time.start import SignalRequest, StartedRun
from netsim.analyses.over_time.templates import RunRequest, Template, restart_template
from netsim.analyses.sensitivity.changed_values import changed_network, task_with_values
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
from netsim.results.over_cases.one_per_code import problem_lines
from netsim.results.samples import Figure, Samples, Signal
from netsim.simulate.options import TransientOptions
from netsim.simulate.run_template import targets
from netsim.structure.orders import rates_absent
from netsim.text.errors import NetsimError, Problem
from netsim.text.syntax import Expr

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CaseRequest:
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


def failed_outcome(problem: Problem) -> Outcome:
    """That of a case that failed."""
    return Outcome(failed=True, holds=False, message=problem_lines([problem]), told=(problem,))


@dataclass(frozen=True, eq=False)
class SharedData:
    """What all cases of a task have in common where one run serves them (netsim.analyses.over_time.templates):
    parameters by batch that no case changes, the batches and functions of time that cases change, which rates of the
    batches vanish, and targets of written starts (None where cases change them)."""

    task: Task
    wanted: RunRequest
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


def shared_data_of(task: Task, asked: CaseRequest, values: Mapping[str, float]) -> SharedData | None:
    """What the case with these values has in common with all that change the same names; None where runs begin by
    themselves."""
    signals = SignalRequest(task.saves, task.plots, (), task.beside)
    wanted = RunRequest(task.machine, task.structure, asked.options, signals, None)
    template = task.variants.borrow(wanted)[0] if task.variants else None
    if template is None or task.rated:
        return None
    task.variants.give_back(wanted, template)
    system, parameters = task.machine.system, task.machine.parameters
    reads = partial(depends, task, values)
    try:
        batches = [each for each in system.batches if reads(partial(parameters_of, each))]
        inputs = [each for each in system.prescribed_inputs if reads(partial(prescribed_parameters, each))]
        moving = bool(values.keys() & written_starts(task.network)) or reads(partial(targets, system))
    except NetsimError:  # each case tells what is wrong with it
        return None
    absent = [rates_absent(each, parameters[id(each)]) for each in batches]
    return SharedData(
        task, wanted, parameters, batches, inputs, absent, None if moving else targets(system, task.values)
    )  # fmt: skip


def _begun(shared: SharedData, values: Mapping[str, float]) -> tuple[StartedRun, Template] | None:
    """The run of a case at its start, and the template that it takes; None where it has to begin by itself."""
    task, system = shared.task, shared.task.machine.system
    network, changed = changed_network(task.network, values)
    known = task.values.changed(changed, network)
    own = [parameters_of(each, known) for each in shared.batches]
    absent = [rates_absent(batch, found) for batch, found in zip(shared.batches, own)]
    if not all(map(np.array_equal, absent, shared.absent)):
        return None
    parameters = {**shared.parameters, **{id(each): found for each, found in zip(shared.batches, own)}}
    parameters |= {id(each): prescribed_parameters(each, known) for each in shared.inputs}
    goals = shared.goals if shared.goals is not None else targets(replace(system, network=network), known)
    template, _ = task.variants.borrow(shared.wanted)
    if template is None:
        return None
    if started := restart_template(template, known, parameters, goals, None):
        return started, template
    task.variants.give_back(shared.wanted, template)
    return None


def _found(task: Task, asked: CaseRequest, shared: SharedData | None, values: Mapping[str, float]) -> Outcome:
    """The run of a case, judged."""
    found = _begun(shared, values) if shared else None
    if not shared or not found:
        other = task_with_values(task, values)
        return outcome_of_samples(other.machine, run_analysis(TRANSIENT, other, asked.options), asked)
    started, template = found
    samples = run_to_end(started, None, None, (0.0, 0.0)) if asked.shows else run_measured(started)
    outcome = outcome_of_samples(started.run.machine, samples, asked)
    task.variants.give_back(shared.wanted, template)
    return outcome


@OVERFLOWS
def outcome(task: Task, asked: CaseRequest, shared: SharedData | None, values: Mapping[str, float]) -> Outcome:
    """The case with these values of parameters and starts (SI). What goes wrong is told in the outcome."""
    try:
        return _found(task, asked, shared, values)
    except NetsimError as error:
        return failed_outcome(error.problems[0])


def failure_of(samples: Samples) -> Problem:
    """What ended a run early; raises `KeyboardInterrupt` where the user did."""
    if "failure" not in samples.attributes:
        raise KeyboardInterrupt
    return samples.attributes["failure"]


def outcome_of_samples(machine: Machine, samples: Samples, asked: CaseRequest) -> Outcome:
    """Figures and sampled signals; a broken assertion is no failure, an account of energy that does not close is."""
    if not samples.finished:
        return failed_outcome(failure_of(samples))
    figures, missing = measured(machine, samples) if len(samples.time) > 1 else ((), ())
    broken = (*samples.broken, *missing)
    if wrong := [problem for problem in broken if problem.code not in (BROKEN, MISSING)]:
        return failed_outcome(wrong[0])
    message = broken[0].message if broken else "; ".join(broken_claims(machine, samples))
    series = None
    if asked.shows:
        series = samples.values[requested(samples.time, asked.instants[1:])]
    signals = samples.signals if asked.shows else ()
    return Outcome((*figures, *samples.figures), signals, series, False, not broken, message, samples.warnings)
