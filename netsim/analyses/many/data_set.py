"""The result of a sweep: parameters, measures and signals of all cases as one table with named dimensions.

A grid has a dimension for every parameter; other cases lie along `case`, with their parameters as coordinates. Signals
have the dimension `time` besides. `failed` marks cases that did not finish (their values are not numbers), `holds`
those that finished and whose assertions hold, `message` says what was wrong; `doubtful` marks those that finished and
of which a single run would warn, `warnings` says why. All of that is told once per code behind the sweep.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.many.cases import Cases
from netsim.analyses.many.indices import index_figures
from netsim.analyses.many.one_case import Outcome
from netsim.analyses.many.ranges import present_value
from netsim.formats.format import AXES, Table, Variable
from netsim.results.over_cases.one_per_code import one_per_code, problem_lines
from netsim.results.over_frequency.curves import reading
from netsim.results.samples import Figure, Samples, Signal
from netsim.text.columns import counted
from netsim.text.errors import Problem
from netsim.text.units import NO_DIMENSION, format_dimension

Array = np.ndarray
NOT_RUN = "not run"


def sweep_samples(
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
    messages, doubts = np.full(len(cases), NOT_RUN, object), np.full(len(cases), "", object)
    for i, each in found.items():
        failed[i], holds[i], messages[i] = each.failed, each.holds, each.message
        if not each.failed:
            doubts[i] = problem_lines(each.told)
            known = {f.name: f.value for f in each.figures}
            measures[i] = [known[f.name] for f in heads]
            if each.series is not None:
                series[i] = each.series
    values: dict[str, tuple[Figure | Signal, Array]] = {f.name: (f, measures[:, j]) for j, f in enumerate(heads)}
    values |= {g.name: (g, series[:, :, j]) for j, g in enumerate(sample.signals)}
    states = {
        "failed": (failed, "whether the run did not finish"),
        "holds": (holds, "whether it finished and all assertions hold"),
        "message": (messages, "why it failed, what does not hold"),
        "doubtful": (doubts != "", "whether it finished with warnings"),
        "warnings": (doubts, "why it may be less right than it was asked for"),
    }
    coordinates = _coordinates(cases, units)
    if sample.signals:
        coordinates = {"time": Variable(("time",), instants, AXES["time"]), **coordinates}
    columns = _columns(cases, values, states)
    dims = tuple(cases.sizes)
    ended = series[:, -1] if sample.signals else np.zeros((len(cases), 0))
    shown = (
        *(Signal(name, unit) for name, unit in units.items()),
        *(Signal(f.name, f.unit, f.doc) for f in heads),
        *(Signal(f"final({s.name})", s.unit, s.doc) for s in sample.signals),
    )
    rows = np.hstack([cases.values, measures, ended])
    names = [*(f.name for f in heads), *(f"final({s.name})" for s in sample.signals)]
    ends = dict(zip(names, rows[:, len(cases.names) :].T))
    figures = _figures(ends, {s.name: s.unit for s in shown}, cases, str(attributes["method"]))
    if task.network.asserts and len(found) == len(cases):
        figures = (Figure("yield", float(holds.mean()), "", "share of cases whose assertions hold"), *figures)
    ran = failed & (messages != NOT_RUN)
    corners = attributes["method"] == "corners"
    notes = _asserted(holds, messages)
    notes += _worst(ends, cases, {s.name: s.unit for s in shown}) if corners else []
    about = {**attributes, "cases": len(cases), "failures": int(ran.sum()), "notes": "; ".join(notes)}
    table = Table(dims[0], coordinates[dims[0]].values, columns, {}, coordinates=coordinates)
    return Samples(
        "", np.arange(1.0, len(cases) + 1), shown, rows, np.zeros((0, 3)), about, not message, message,
        axis="case", figures=figures, table=table, warnings=_warnings(cases, found, units),
    )  # fmt: skip


def _coordinates(cases: Cases, units: Mapping[str, str]) -> dict[str, Variable]:
    """Values of what varies: along an axis each in a grid, else along the cases."""
    sizes = tuple(cases.sizes.values())
    if not cases.is_grid:
        number = {"case": Variable(("case",), np.arange(1.0, len(cases) + 1), AXES["case"])}
        given = ((name, ("case",), cases.values[:, j]) for j, name in enumerate(cases.names))
    else:
        number, axes = {}, cases.values.T.reshape(len(sizes), *sizes)
        given = (
            (name, (name,), np.moveaxis(axes[j], j, 0).reshape(sizes[j], -1)[:, 0])
            for j, name in enumerate(cases.names)
        )
    return number | {name: Variable(dims, along, {"units": units[name] or "1"}) for name, dims, along in given}


def _columns(
    cases: Cases, values: Mapping[str, tuple[Figure | Signal, Array]], states: Mapping[str, tuple[Array, str]]
) -> dict[str, Variable]:
    """Measures, signals (dimension `time` last) and how each case ended, by name."""
    sizes, dims = tuple(cases.sizes.values()), tuple(cases.sizes)
    found = {
        name: Variable((*dims, "time")[: len(dims) + each.ndim - 1], each.reshape(*sizes, *each.shape[1:]), _told(told))
        for name, (told, each) in values.items()
    }
    return found | {
        name: Variable(dims, each.reshape(sizes), {"long_name": doc}) for name, (each, doc) in states.items()
    }


def _unit_of(task: Task, name: str) -> str:
    dimension = present_value(task.values, name).dimension or NO_DIMENSION
    return "" if dimension.is_none else format_dimension(dimension)


def _told(each: Figure | Signal) -> dict[str, str]:
    return {"units": each.unit or "1"} | ({"long_name": each.doc} if each.doc else {})


def _figures(columns: Mapping[str, Array], units: Mapping[str, str], cases: Cases, method: str) -> tuple[Figure, ...]:
    """Statistics of what the cases gave, and whose share of the variance it is."""
    found = _statistics(columns, units)
    if method == "saltelli":
        found += tuple(f for name, values in columns.items() for f in index_figures(name, values, cases.names))
    return found


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


def _warnings(cases: Cases, found: Mapping[int, Outcome], units: Mapping[str, str]) -> tuple[Problem, ...]:
    """Why cases failed or are doubtful."""

    def values(i: int) -> str:
        return ", ".join(f"{name} = {reading(x, units[name])}" for name, x in cases.case(i).items())

    return one_per_code(sorted((i, each.told) for i, each in found.items() if each.told), len(cases), "case", values)


def _asserted(holds: Array, messages: Array) -> list[str]:
    """In how many cases a component is where its equations do not hold, and the first of them."""
    told = messages[holds & (messages != "")]
    if not len(told):
        return []
    first = str(told[0]).replace(";", ",")
    return [f"what a component asserts does not hold in {counted(len(told), 'case')}, first: {first}"]


def _worst(columns: Mapping[str, Array], cases: Cases, units: Mapping[str, str]) -> list[str]:
    """At which corner each measure is least and largest."""
    found = []
    for name, values in columns.items():
        for word, i in (("least", np.nanargmin), ("largest", np.nanargmax)) if np.isfinite(values).any() else ():
            at = (f"{n} = {reading(x, units[n])}" for n, x in cases.case(int(i(values))).items())
            found.append(f"{name} is {word} at {', '.join(at)}")
    return found
