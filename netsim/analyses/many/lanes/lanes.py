"""Cases of a sweep side by side: one run of a network that has a copy of the netlist for each (copies).

All lanes take the same steps: each is that which the lane with the largest estimated error allows, so that every case
is at least as exact as by itself. Copies are islands (netsim.simulate.setup.kinds), and sizes and tolerances are found
in each by itself, and so is an account of energy. What is asked of a case is read in its own copy, and measured and
judged as that of a single run. Cases with events, delays, or joint coordinates run by themselves, and so do all lanes
of a run that fails or passes steps without a test, and each lane that may have something to tell (judged).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from netsim.analyses.analysis import OVERFLOWS, Task
from netsim.analyses.many.lanes.copies import copies, in_copy
from netsim.analyses.many.lanes.lane_verdicts import doubtful_lanes, named_of_case, named_of_lanes
from netsim.analyses.many.lanes.places import Pairs, Places, pairs_of
from netsim.analyses.many.one_case import CaseRequest, Outcome, SharedData, depends, outcome, outcome_of_samples
from netsim.analyses.many.ranges import present_value
from netsim.analyses.over_time.run import run_measured
from netsim.analyses.over_time.start import (
    RecordedSignals,
    SignalRequest,
    StartedRun,
    find_start,
    signals_recorded,
    start_run,
)
from netsim.analyses.over_time.templates import RunRequest, TemplateStore, restart_template
from netsim.analyses.over_time.verdicts import verdicts_of_steps
from netsim.analyses.sensitivity.changed_values import changed_network
from netsim.equations.batches import Batch
from netsim.equations.machine import Machine, build_machine
from netsim.equations.parameters import columns_of, in_lanes, keep_parameters
from netsim.equations.prescribed import Prescribed
from netsim.equations.system import System, build_system
from netsim.initial.initial import Structure
from netsim.initial.reactions.axes import locked_chains
from netsim.initial.reactions.redundancy import solvable
from netsim.network.bindings import leaf_values
from netsim.network.given import written_starts
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.results.claims import broken_claims, claims
from netsim.results.measuring.side_by_side import SideBySide, measured_side_by_side
from netsim.results.samples import Figure, Samples, Trace
from netsim.results.selection import Named, Reader, dimensions_measured
from netsim.simulate.events.iteration import may_have_events
from netsim.simulate.judgement import accounts_are_complete, value_verdicts
from netsim.simulate.run_template import targets
from netsim.structure.orders import absent_rates
from netsim.text.errors import NetsimError

Array = np.ndarray
Case = Mapping[str, float]
AllNamed = tuple[list[Named], list[Named]]


class NotParallel(Exception):
    """These cases cannot run side by side."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """`count` copies of a task's network, ready to be run: what is called `names` varies; the system of the copies,
    rates that vanish in it, and each element and function of time of the netlist's own system beside its copies."""

    task: Task
    asked: CaseRequest
    names: frozenset[str]
    count: int
    network: Network
    system: System
    structure: Structure
    absent: Array
    pairs: Pairs
    variants: TemplateStore

    @cached_property
    def wanted(self) -> RunRequest:
        """The run of all lanes at the netlist's own values."""
        overrides = _in_copies([self.task.values.overrides] * self.count)
        machine = build_machine(self.system, Values(self.network, overrides), self.task.earlier)
        return RunRequest(machine, self.structure, self.asked.options, self.signals, None, self.choose)

    @cached_property
    def reading(self) -> Pairs:
        """The pairs whose parameters depend on what varies."""
        return [(one, both) for one, both in self.pairs if self._varies(partial(_columns, one))]

    @cached_property
    def goals(self) -> list[float] | None:
        """The targets of written starts; None where they vary."""
        moving = self.names & set(written_starts(self.task.network))
        if moving or self._varies(partial(targets, self.task.machine.system)):
            return None
        return targets(self.system, self.wanted.machine.values)

    def _varies(self, find: Callable[[Values], object]) -> bool:
        return depends(self.task, {name: present_value(self.task.values, name).value for name in self.names}, find)

    @cached_property
    def signals(self) -> SignalRequest:
        """What is asked of each case."""
        return SignalRequest(self.asked.saves, (), (), self.task.beside)

    def own(self, formula: bool) -> RecordedSignals:
        """What is sampled of one case, by the names of the netlist."""
        if formula not in self._own:
            self._own[formula] = signals_recorded(self.task.machine, self.signals, formula)
        return self._own[formula]

    @cached_property
    def _own(self) -> dict[bool, RecordedSignals]:
        return {}

    def choose(self, machine: Machine, _: SignalRequest, formula: bool) -> RecordedSignals:
        """The signals of all lanes, by names of their own."""
        if machine.element is not None:  # these values give the graph another tree
            raise NotParallel
        one, of_copies = self.own(formula), Places(self.task.machine.system, machine.system, self.pairs, self.count)
        selection, followed = of_copies.selection(one.selection), of_copies.selection(one.followed)
        found = RecordedSignals(selection, list(selection.entries), followed, one.whole)
        return replace(found, named=partial(self._named, formula, found))

    def asked_by_name(self, formula: bool) -> AllNamed:
        """What is asked for by name of one case, at the netlist's own values, without places."""
        return self._by_name(formula)[0]

    def _by_name(self, formula: bool) -> tuple[AllNamed, bool]:
        """The same, and whether weights of sums depend on what varies."""
        if formula not in self._kept_by_name:
            one, own = self.own(formula), self.task.machine
            varies = self._varies(lambda known: named_of_case(replace(own, values=known), one))
            self._kept_by_name[formula] = named_of_case(own, one), varies
        return self._kept_by_name[formula]

    @cached_property
    def _kept_by_name(self) -> dict[bool, tuple[AllNamed, bool]]:
        return {}

    def _named(
        self, formula: bool, chosen: RecordedSignals, machine: Machine, readers: tuple[Reader, Reader]
    ) -> AllNamed:
        """What is asked for by name of all lanes; raises `NotParallel` where that is not as many of each."""
        (alike, varies), own, of = self._by_name(formula), self.task.machine, list[AllNamed]()
        for k in range(self.count if varies else 0):
            start, given = in_copy(k, ""), machine.values.overrides
            case = {name.removeprefix(start): value for name, value in given.items() if name.startswith(start)}
            known = own.values.changed(case)
            of.append(named_of_case(replace(own, values=known), self.own(formula)))
        if any(len(each) != len(first) for other in of for each, first in zip(other, alike)):
            raise NotParallel
        return named_of_lanes(of or [alike] * self.count, chosen, readers)

    @cached_property
    def judges_energy(self) -> bool:
        """Whether accounts of energy say something."""
        return accounts_are_complete(self.task.network)


def lanes_of(task: Task, asked: CaseRequest, names: Iterable[str], count: int) -> Lanes | None:
    """Lanes for the cases of a task; None where they have to run by themselves."""
    machine = task.machine
    if may_have_events(machine) or len(machine.problem.buffer.length) or task.rated or machine.values.inputs:
        return None
    if any(call.run for each in machine.system.prescribed_inputs for _, call in each.calls):
        return None
    try:
        in_joints = find_start(machine, task.structure, asked.options).machine.element is not None
    except NetsimError:  # the netlist's own values may be out of bounds
        return None
    if in_joints:
        return None
    network = copies(task.network, count)
    values = Values(network, _in_copies([task.values.overrides] * count))
    system = build_system(network, values)
    absent = absent_rates(system, values)
    system, structure = solvable(system, values, absent)
    system = replace(system, accounts=count)
    pairs = pairs_of(machine.system, system, count)
    if not pairs:
        return None
    return Lanes(
        task, asked, frozenset(names), count, network, system, structure, absent, pairs, TemplateStore(network)
    )


def _in_copies(given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {in_copy(k, name): value for k, each in enumerate(given) for name, value in each.items()}


@OVERFLOWS
def outcomes_of(lanes: Lanes, shared: SharedData | None, cases: Sequence[Case]) -> list[Outcome]:
    """What cases give, `lanes.count` of them at most."""
    task, asked = lanes.task, lanes.asked
    try:
        return _side_by_side(lanes, shared, cases)
    except (NotParallel, NetsimError):  # each case tells what is wrong with it
        return [outcome(task, asked, shared, case) for case in cases]


def _side_by_side(lanes: Lanes, shared: SharedData | None, cases: Sequence[Case]) -> list[Outcome]:
    """Raises `NotParallel` where the run does not end well."""
    filled = [*cases, *[cases[-1]] * (lanes.count - len(cases))]
    started, give_back = _begun(lanes, filled)
    samples = run_measured(started, verdicts_of_steps)
    own = lanes.own(started.run.options.formula)
    asked = partial(lanes.asked_by_name, started.run.options.formula)
    doubts = doubtful_lanes(started.run, lanes.task.network, lanes.judges_energy, asked)
    give_back()
    locked = started.run.machine.system.redundant and locked_chains(started.at.absolute, started.at.point)
    if not samples.finished or samples.broken or samples.warnings or locked:
        raise NotParallel
    found = list[Outcome]()
    for k, (case, figures) in enumerate(zip(cases, _measured(lanes, own, started.run.machine, samples, cases))):
        if doubts[k]:
            found.append(outcome(lanes.task, lanes.asked, shared, case))
        else:
            found.append(_outcome(lanes, own, samples, case, k) if figures is None else Outcome(figures))
    return found


def _begun(lanes: Lanes, cases: Sequence[Case]) -> tuple[StartedRun, Callable[[], None]]:
    """The run of all lanes at its start, and what is to be done behind it."""
    task, variants, wanted = lanes.task, lanes.variants, lanes.wanted
    network, changed = changed_network(lanes.network, _in_copies(cases))
    known = Values(network, {**_in_copies([task.values.overrides] * lanes.count), **changed})
    known.used |= set(known.overrides)  # most are read in `values` alone
    wide = {name: np.array([case[name] for case in cases]) for name in cases[0]}
    own, others = changed_network(task.network, wide)
    values, parameters = task.values.changed(others, own), dict(wanted.machine.parameters)
    for one, both in lanes.reading:
        parameters[id(both)] = in_lanes(_columns(one, values), lanes.count)
    for _, both in lanes.pairs:
        if isinstance(both, Batch):
            keep_parameters(both, known, parameters[id(both)])
    system = replace(lanes.system, network=network) if network is not lanes.network else lanes.system
    if not np.array_equal(lanes.absent, absent_rates(system, known)):
        raise NotParallel
    template, _ = variants.borrow(wanted)
    goals = lanes.goals
    if template and (started := restart_template(template, known, parameters, goals or targets(system, known), None)):
        return started, lambda: variants.give_back(wanted, template)
    machine, options = build_machine(system, known, task.earlier), lanes.asked.options
    return start_run(machine, lanes.structure, options, lanes.signals, choose=lanes.choose), lambda: None


def _columns(one: Batch | Prescribed, values: Values) -> list[list[Any]]:
    return columns_of(one, values) if isinstance(one, Batch) else [leaf_values(shape, values) for shape in one.shapes]


def _measured(
    lanes: Lanes, own: RecordedSignals, machine: Machine, samples: Samples, cases: Sequence[Case]
) -> list[tuple[Figure, ...] | None]:
    """The figures of each lane, where nothing else is asked of it and nothing is wrong with it."""
    task, trace = lanes.task, samples.trace
    if lanes.asked.shows or not task.network.measures or trace is None or not len(trace.time):
        return [None] * len(cases)
    if any(claims(task.network)) and broken_claims(machine, samples):
        return [None] * len(cases)
    network, changed = changed_network(task.network, {name: np.array([[c[name]] for c in cases]) for name in cases[0]})
    parameters = task.values.changed(changed, network).scope(network.top)
    dimensions = dimensions_measured(task.machine, task.network)
    names = [name for name in own.followed.entries if name in dimensions]

    def rows(of: Mapping[str, Array]) -> dict[str, Array]:
        return {name: np.stack([of[in_copy(k, name)] for k in range(len(cases))]) for name in names}

    both = Trace(trace.time, rows(trace.values))
    return measured_side_by_side(
        SideBySide(samples.time, rows(samples.unseen), dimensions, parameters, network, trace=both)
    )


def _outcome(lanes: Lanes, own: RecordedSignals, samples: Samples, case: Case, k: int) -> Outcome:
    """What lane k gives."""
    task = lanes.task
    network, changed = changed_network(task.network, case)
    values = task.values.changed(changed, network)
    system = task.machine.system if network is task.network else replace(task.machine.system, network=network)
    machine = replace(task.machine, values=values, system=system)
    columns = {name: samples.unseen[in_copy(k, name)] for name in own.selection.entries}
    trace = None
    if samples.trace:
        trace = Trace(samples.trace.time, {n: samples.trace.values[in_copy(k, n)] for n in own.followed.entries})
    shown, series = samples.signals, samples.values
    if lanes.asked.shows:
        shown, series = own.selection.table(machine, columns, samples.time, trace)
    odd = tuple(value_verdicts(shown, samples.time, series))
    found = replace(samples, signals=shown, values=series, unseen=columns, trace=trace, warnings=odd)
    return outcome_of_samples(machine, found, lanes.asked)
