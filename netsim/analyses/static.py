"""Static analysis: the equilibrium or operating point, as one row of samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.option_values import SECOND, WORD, Kind
from netsim.core.minimum_norm import least_reactions
from netsim.core.states import STORED, energies, sample
from netsim.equations.machine import Machine, power_buffer
from netsim.initial.initial import set_differentiated
from netsim.initial.reactions.minimum_norm import plan_minimum_norm
from netsim.initial.reactions.reactions import find_reactions
from netsim.initial.reactions.redundancy import describe
from netsim.initial.static.equilibrium import Equilibrium
from netsim.results.samples import Samples
from netsim.results.selection import Reader, Selection, add_unseen, reader_of, select
from netsim.simulate.options import unknown_values
from netsim.simulate.setup.choice import observing
from netsim.simulate.setup.start_of_run import equilibrium_of_run
from netsim.text.errors import InputError

Array = np.ndarray
NAMES: dict[str, Kind] = {"at": SECOND, "formulation": WORD}
MOST_SIGNALS = 4


@dataclass(frozen=True)
class StaticOptions:
    """at: the time (s) at which functions of time are taken; the coordinates of mechanisms."""

    at: float = 0.0
    start: str = "static"
    formulation: str = "absolute"


def static_options(options: Mapping[str, Any], spans: Mapping[str, Any]) -> StaticOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    if wrong := list(unknown_values(options, spans)):
        raise InputError(wrong)
    return StaticOptions(float(options.get("at", 0.0)), formulation=options.get("formulation", "absolute"))


def static(task: Task, options: StaticOptions) -> Samples:
    """The equilibrium: capacitors carry no current, inductors no voltage, mechanisms rest under their loads.

    Raises `InputError` for wrong starts, `SimulationError` where no equilibrium is found (E440 to E442)."""
    machine, _, found = equilibrium_of_run(task.machine, task.structure, options.at, options.formulation, judged=True)
    g = found.g
    selection = select(machine, task.saves, task.plots)
    unseen = add_unseen(machine, selection, task.beside)
    reader = observing(machine, reader_of(machine, selection))
    plan, _alive = plan_minimum_norm(machine, find_reactions(machine))
    least_reactions(plan, g)
    values, power = np.full((1, len(selection.entries)), np.nan), power_buffer(machine.system)
    sample(reader.table, reader.places, g, np.zeros(reader.size), values[0])
    energies(machine.problem, g, power)
    time, columns = np.array([options.at]), {name: values[:, j] for j, name in enumerate(selection.entries)}
    signals, shown = selection.table(machine, columns, time)
    attributes = {
        "formulation": "tree" if machine.element else "absolute",
        "unknowns": machine.system.n,
        "redundant": describe(machine.system),
        **equilibrium_attributes(found),
        "others": "; ".join(_reading(machine, reader, selection, other) for other in found.others),
    }
    energy = np.array([[power[0, STORED], 0.0, 0.0]])
    seen = {n: columns[n] for n in unseen}
    return Samples("", time, signals, shown, energy, attributes, origin=g, unseen=seen)


def _reading(machine: Machine, reader: Reader, selection: Selection, g: Array) -> str:
    """The first signals at another equilibrium, in words."""
    row = np.full(len(selection.entries), np.nan)
    place = g.copy()
    set_differentiated(machine, place)
    sample(reader.table, reader.places, place, np.zeros(reader.size), row)
    found = [
        f"{name} = {row[j]:.5g} {entry.signal.unit}".rstrip()
        for j, (name, entry) in enumerate(selection.entries.items())
    ]
    return ", ".join(found[:MOST_SIGNALS]) + (" ..." if len(found) > MOST_SIGNALS else "")


def equilibrium_attributes(found: Equilibrium) -> dict[str, Any]:
    """Attributes that say how an equilibrium was found and what it is."""
    stability = {None: "not judged", True: "stable", False: "unstable"}[found.stable]
    if found.free and found.stable is not False:
        stability = "neutral"
    return {
        "iterations": found.iterations,
        "homotopy": "; ".join(found.log),
        "stability": stability,
        "free": found.free,
    }


ANALYSIS = Analysis(
    "static",
    NAMES,
    check=lambda options, line: static_options(options, line.spans),
    run=static,
)
