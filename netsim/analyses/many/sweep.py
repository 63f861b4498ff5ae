"""`run sweep(over = [r1.R = 1 .. 10 kOhm], stop = 5 ms)`: a transient run under many values of parameters and starts.

The values follow from `over` (netsim.analyses.many.spreads, cases); each case is a run by itself (one_case), or several
are side by side in one (lanes), by several workers (workers); measures and signals of all of them are one data set with
named dimensions (data_set).
"""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import netsim
from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.many.cases import SAMPLINGS, Cases, cases_in, cases_of, sampling_of
from netsim.analyses.many.data_set import sweep_samples
from netsim.analyses.many.journal import Journal
from netsim.analyses.many.lanes.lanes import lanes_of, outcomes_of
from netsim.analyses.many.one_case import CaseRequest, Outcome, outcome, shared_data_of
from netsim.analyses.many.processes import Work
from netsim.analyses.many.spreads import EXAMPLE, spread_of
from netsim.analyses.many.workers import Elsewhere, cpu_seconds, outcomes
from netsim.analyses.option_values import EXPRESSION, NUMBER, WORD, Kind, items_of, whole_numbers
from netsim.analyses.transient import OPTIONS
from netsim.results.claims import claims, signals_judged
from netsim.results.measures import check_measures
from netsim.results.samples import Samples
from netsim.results.selection import select, signals_measured
from netsim.simulate.options import TransientOptions, check_options
from netsim.simulate.stored.recorder import identity_of
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.expressions.show import show_expression
from netsim.text.limits import check_limit
from netsim.text.syntax import Expr, String

Array = np.ndarray
NUMBERS = {"points": (11, 2), "cases": (100, 1), "seed": (0, 0), "workers": (0, 0), "lanes": (1, 1)}
"""Whole numbers of a sweep, what they are unless given, and their least values."""
KINDS: dict[str, Kind] = {
    **OPTIONS,
    **dict.fromkeys(("over", "of"), EXPRESSION),
    **dict.fromkeys(NUMBERS, NUMBER),
    "sampling": WORD,
}
SOME = 8
"""Cases that are tried for what all have in common: the first ones may have values out of bounds."""
INSTANTS = 100
"""Intervals of the samples of signals in each run, unless `sample` says another one."""


@dataclass(frozen=True, eq=False)
class SweepOptions:
    """The run; its cases and how they were chosen; signals and measures that are kept (none: measures and saved
    signals); workers; how many cases are side by side in one run."""

    run: TransientOptions
    cases: Cases
    sampling: str
    of: tuple[Expr, ...] = ()
    workers: int = 0
    lanes: int = 1


def check(options: Mapping[str, Any], line: OptionSource) -> SweepOptions:
    """The options of a run line or call; raises `InputError` with all that is wrong."""
    spans = line.spans
    wrong = list[Problem]()
    if "over" not in options:
        wrong.append(Problem("E422", "sweep() needs 'over', which says what varies", spans.get(""), hint=EXAMPLE))
    sampling = options.get("sampling", "grid")
    if sampling not in SAMPLINGS:
        message = f"sampling must be one of {', '.join(SAMPLINGS)}, not '{sampling}'"
        wrong.append(Problem("E424", message, spans.get("sampling")))
    wrong += whole_numbers(options, {name: least for name, (_, least) in NUMBERS.items()}, spans)
    if wrong:
        raise InputError(wrong)
    whole = {name: int(options.get(name, usual)) for name, (usual, _) in NUMBERS.items()}
    run = check_options("sweep", {name: o for name, o in options.items() if name in OPTIONS}, spans)
    sampling, cases = _cases(options, whole, line)
    return SweepOptions(run, cases, sampling, items_of(options.get("of")), whole["workers"], whole["lanes"])


def _cases(options: Mapping[str, Any], whole: Mapping[str, int], line: OptionSource) -> tuple[str, Cases]:
    over, span = options["over"], line.spans.get("over")
    if isinstance(over, String):
        return "file", cases_in(over.text, line.network, span)
    spreads = [spread_of(each, line.network, line.scope) for each in items_of(over)]
    names = [each.name for each in spreads]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InputError(Problem("E423", f"'{twice}' is listed twice", span))
    sampling = options.get("sampling", sampling_of(spreads))
    count = _count(spreads, sampling, whole)
    check_limit("cases", count, f"these are {count:.4g} cases", span)
    return sampling, cases_of(spreads, sampling, whole["points"], whole["cases"], whole["seed"])


def _count(spreads: Sequence[Any], sampling: str, whole: Mapping[str, int]) -> float:
    if sampling == "grid":
        return float(np.prod([float(len(s.values) or whole["points"]) for s in spreads]))
    if sampling == "saltelli":
        return float(whole["cases"] * (len(spreads) + 2))
    return 2.0 ** len(spreads) if sampling == "corners" else float(whole["cases"])


def request_of(task: Task, options: SweepOptions) -> tuple[Task, CaseRequest, frozenset[str]]:
    """What each run is asked for, and the names of the measures that are kept."""
    measures = frozenset(m.name for m in task.network.measures)
    wanted = [show_expression(each) for each in options.of]
    kept = frozenset(wanted) & measures if wanted else measures
    saves: Sequence[Expr] = [each for each, text in zip(options.of, wanted) if text not in measures]
    saves = saves if wanted else [*task.saves, *(each for each in task.plots if each not in task.saves)]
    shows = bool(saves) or not measures
    run = options.run
    select(task.machine, saves, ())
    if shows:
        run = replace(run, sample=run.sample or run.stop / INSTANTS, every=1)
    else:
        saves = signals_measured(task.network)[:1]  # what is measured is followed step by step anyway
        if _followed(task, run):
            run = replace(run, sample=run.stop, every=1)
    instants = np.arange(int(run.stop / run.sample * (1 + 1e-12)) + 1) * run.sample if shows else np.zeros(0)
    if shows and instants[-1] < run.stop * (1 - 1e-12):
        instants = np.append(instants, run.stop)
    beside = [*task.beside, *signals_judged(task.network)]
    plain = replace(task, saves=saves, plots=(), progress=None, recording=None, beside=list(dict.fromkeys(beside)))
    return plain, CaseRequest(run, saves, instants, shows), kept


def _followed(task: Task, run: TransientOptions) -> bool:
    """Whether all that is looked at are measures, which follow the steps: samples between the ends show nothing then.
    Assertions are judged at samples, and given steps of a formula are samples."""
    return not (task.network.asserts or run.sample or run.plain or any(claims(task.network)))


def _journal(task: Task, options: SweepOptions, asked: CaseRequest, kept: frozenset[str]) -> Journal | None:
    """Where the cases are written as they come, if there is a place for it."""
    if task.recording is None:
        return None
    names = [options.sampling, *sorted(kept), "", *(show_expression(each) for each in asked.saves)]
    identity = identity_of(task.machine, options.run, options.cases.values, names, netsim.__version__)
    return Journal(task.recording, identity)


def _work(plain: Task, asked: CaseRequest, cases: Cases, lanes: int) -> tuple[Work, int]:
    """What computes a group of cases by its number, as a list, and how many cases a group has."""
    some = (shared_data_of(plain, asked, cases.case(i)) for i in range(min(len(cases), SOME)))
    shared = next((found for found in some if found), None)
    if lanes > 1 and (wide := lanes_of(plain, asked, cases.names, min(lanes, len(cases)))):
        return lambda group: outcomes_of(
            wide, shared, [cases.case(i) for i in _group(group, wide.count, cases)]
        ), wide.count
    return lambda i: [outcome(plain, asked, shared, cases.case(i))], 1


def _group(number: int, size: int, cases: Cases) -> range:
    return range(number * size, min((number + 1) * size, len(cases)))


def rebuild_work(again: Callable[[], Task], options: SweepOptions) -> Work:
    """The same in another process, from what makes the task there."""
    plain, asked, _ = request_of(again(), options)
    return _work(plain, asked, options.cases, options.lanes)[0]


def _elsewhere(task: Task, options: SweepOptions) -> Elsewhere | None:
    """The cluster that computes the cases, if one was given."""
    if task.cluster is None:
        return None
    from netsim.analyses.many.cluster.pieces import compute_on_cluster

    return partial(compute_on_cluster, task.cluster, partial(rebuild_work, task.cluster.again, options))


def run(task: Task, options: SweepOptions) -> Samples:
    """All cases, a row each, with their data set; raises `SimulationError` where none of them finishes."""
    began, cpu = clock.perf_counter(), cpu_seconds()
    cases = options.cases
    check_measures(task.machine, task.network)  # before all cases have run
    plain, asked, kept = request_of(task, options)
    journal = _journal(task, options, asked, kept)
    found = dict(journal.former) if journal else {}

    work, size = _work(plain, asked, cases, options.lanes)

    def done(number: int, several: list[Outcome] | Outcome) -> None:
        group = _group(number, size, cases)
        for i, each in zip(group, several if isinstance(several, list) else [several] * len(group)):
            if i not in found:
                found[i] = each
                if journal:
                    journal.add(i, each)

    wanted = [
        number for number in range(-(-len(cases) // size)) if any(i not in found for i in _group(number, size, cases))
    ]
    message = outcomes(work, wanted, options.workers, task.progress, done, _elsewhere(task, options), size)
    if journal and message:
        journal.write()
    if not message and all(each.failed for each in found.values()):
        raise SimulationError(
            Problem("E521", f"all {counted(len(cases), 'case')} failed; the first: {found[0].message}")
        )
    attributes = {
        "analysis": "sweep",
        "method": options.sampling,
        "integrator": options.run.method,
        "lanes": size,
        "stop": options.run.stop,
        "wall_seconds": clock.perf_counter() - began,
        "cpu_seconds": cpu_seconds() - cpu + (task.cluster.spent[0] if task.cluster else 0.0),
        "netlist": task.network.text,
    }
    return sweep_samples(task, cases, asked.instants, kept, found, attributes, message)


ANALYSIS = Analysis("sweep", KINDS, check, run)
