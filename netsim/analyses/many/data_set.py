"""The result of a sweep: parameters, measures and signals of all cases as one table with named dimensions.

A grid has a dimension for every parameter; other cases lie along `case`, with their parameters as coordinates. Signals
have the dimension `time` besides. `failed` marks cases that did not finish (their values are not numbers), `holds`
those that finished and whose assertions hold, `message` says what was wrong.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.many.cases import Cases
from netsim.analyses.many.one_case import Outcome
from netsim.analyses.many.ranges import present
from netsim.formats.format import AXES, Table, Variable
from netsim.results.samples import Figure, Samples, Signal
from netsim.text.columns import counted
from netsim.text.units import NO_DIMENSION, format_dimension

Array = np.ndarray
NOT_RUN = "not run"


def swept(
    task: Task, cases: Cases, instants: Array, kept: frozenset[str], found: Mapping[int, Outcome],
    attributes: Mapping[str, Any], message: str,
) -> Samples:  # fmt: skip
    """Samples with a row for each case (parameters, then measures, then last values of signals) and the whole table."""
    sample = next((each for each in found.values() if not each.failed), Outcome())
    units = {name: _unit_of(task, name) for name in cases.names}
    heads = [f for f in sample.figures if f.name in kept]
    measures = np.full((len(cases), len(heads)), np.nan)
    series = np.full((len(cases), len(instants), len(sample.signals)), np.nan)
    failed, holds = np.ones(len(cases), bool), np.zeros(len(cases), bool)
    messages = np.full(len(cases), NOT_RUN, object)
    for i, each in found.items():
        failed[i], holds[i], messages[i] = each.failed, each.holds, each.message
        if not each.failed:
            known = {f.name: f.value for f in each.figures}
            measures[i] = [known[f.name] for f in heads]
            if each.series is not None:
                series[i] = each.series
    sizes, dims = tuple(cases.sizes.values()), tuple(cases.sizes)
    coordinates = {"time": Variable(("time",), instants, AXES["time"])} if sample.signals else {}
    columns: dict[str, Variable] = {}
    if cases.is_grid:
        for j, name in enumerate(cases.names):
            along = np.moveaxis(cases.values[:, j].reshape(sizes), j, 0).reshape(sizes[j], -1)[:, 0]
            coordinates[name] = Variable((name,), along, {"units": units[name] or "1"})
    else:
        coordinates["case"] = Variable(("case",), np.arange(1.0, len(cases) + 1), AXES["case"])
        for j, name in enumerate(cases.names):
            coordinates[name] = Variable(("case",), cases.values[:, j], {"units": units[name] or "1"})
    for j, figure in enumerate(heads):
        columns[figure.name] = Variable(dims, measures[:, j].reshape(sizes), _told(figure))
    for j, signal in enumerate(sample.signals):
        columns[signal.name] = Variable((*dims, "time"), series[:, :, j].reshape(*sizes, len(instants)), _told(signal))
    columns["failed"] = Variable(dims, failed.reshape(sizes), {"long_name": "whether the run did not finish"})
    columns["holds"] = Variable(
        dims, holds.reshape(sizes), {"long_name": "whether it finished and all assertions hold"}
    )
    columns["message"] = Variable(dims, messages.reshape(sizes), {"long_name": "why it failed, what does not hold"})
    ended = series[:, -1] if sample.signals else np.zeros((len(cases), 0))
    shown = (
        *(Signal(name, unit) for name, unit in units.items()),
        *(Signal(f.name, f.unit, f.doc) for f in heads),
        *(Signal(f"final({s.name})", s.unit, s.doc) for s in sample.signals),
    )
    rows = np.hstack([cases.values, measures, ended])
    names = [*(f.name for f in heads), *(f"final({s.name})" for s in sample.signals)]
    figures = _statistics(dict(zip(names, rows[:, len(cases.names) :].T)), {s.name: s.unit for s in shown})
    if task.network.asserts and len(found) == len(cases):
        figures = (Figure("yield", float(holds.mean()), "", "share of cases whose assertions hold"), *figures)
    ran = failed & (messages != NOT_RUN)
    about = {**attributes, "cases": len(cases), "failures": int(ran.sum()), "notes": _notes(ran, messages)}
    table = Table(dims[0], coordinates[dims[0]].values, columns, {}, coordinates=coordinates)
    return Samples(
        "", np.arange(1.0, len(cases) + 1), shown, rows, np.zeros((0, 3)), about, not message, message,
        axis="case", figures=figures, table=table,
    )  # fmt: skip


def _unit_of(task: Task, name: str) -> str:
    dimension = present(task.values, name).dimension or NO_DIMENSION
    return "" if dimension.is_none else format_dimension(dimension)


def _told(each: Figure | Signal) -> dict[str, str]:
    return {"units": each.unit or "1"} | ({"long_name": each.doc} if each.doc else {})


def _statistics(columns: Mapping[str, Array], units: Mapping[str, str]) -> tuple[Figure, ...]:
    """Mean, standard deviation, least and largest value of what the cases gave, over those that have it."""
    found = []
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        if len(known):
            spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
            figures = {"mean": known.mean(), "sd": spread, "min": known.min(), "max": known.max()}
            found += [Figure(f"{word}({name})", float(x), units[name]) for word, x in figures.items()]
    return tuple(found)


def _notes(failed: Array, messages: Array) -> str:
    """How many cases failed, by what was said."""
    told, counts = np.unique(messages[failed].astype(str), return_counts=True)
    most = sorted(zip(counts.tolist(), told.tolist()), reverse=True)[:3]
    return "; ".join(f"{counted(count, 'case')} failed: {text.replace(';', ',')}" for count, text in most)
