"""First guesses: a transient run or the equilibrium with inputs as they are written, or what an earlier run saved."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.inverse.check import states_of
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.transcription import Motion
from netsim.analyses.optimal.results.answer import read
from netsim.analyses.over_time.run import transient
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.network.bindings import TableCall
from netsim.results.samples import Signal
from netsim.results.selection import Finder
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError, NetsimError, Problem, nearest
from netsim.text.expressions.from_python import parse_expression
from netsim.text.syntax import Call, Name

Array = np.ndarray
Series = Mapping[str, tuple[Array, Array]]
ROUGH = 1e-4
"""The tolerance of a run that only gives a guess."""


def places_of(point: Point, structure: Structure) -> dict[Signal, int]:
    """The states that are places of a point."""
    finder, known = Finder(point.machine), dict(zip(*(each.tolist() for each in reversed(point.slots()))))
    names, _ = states_of(point.machine, structure)
    entries = [entry for name in names for entry, _ in finder.entries(name)]
    return {entry.signal: known[entry.slot] for entry in entries if entry.slot in known}


def simulated(machine: Machine, structure: Structure, states: Mapping[str, int], stop: float) -> Series:
    """The states of a transient run by name; none where it does not finish."""
    options = TransientOptions(stop, method="radau", forces="recovered", rtol=ROUGH, sample=stop / 100)
    try:
        run = transient(machine, structure, options, [], beside=[_name(n) for n in states])
    except NetsimError:
        return {}
    return {name: (run.time, run.unseen[name]) for name in states} if run.finished else {}


def standing(task: Task, names: Iterable[str], stop: float) -> Series:
    """States and inputs by name in the equilibrium under the inputs as they are written, held for the span; raises
    `SimulationError` where there is none."""
    machine, _, g, _ = start_of_run(task.machine, task.structure, "static")
    found = read(machine, g[None], [_name(n) for n in names])
    return {name: (np.array([0.0, stop]), np.repeat(values, 2)) for name, values in found.items()}


def saved(task: Task, run: str, states: Mapping[str, int], inputs: Mapping[str, int]) -> Series:
    """What an earlier run saved of states and inputs, by name; raises `InputError` (E244) where it saved none."""
    found: dict[str, tuple[Array, Array]] = {}
    if run not in (names := [each.name for each in task.network.runs if each.name]):
        raise InputError(
            Problem("E244", f"there is no run '{run}'", hint=nearest(run, names) or "name the earlier run")
        )
    for name in (*states, *inputs):
        call = TableCall(Call("table", ()), run=run, signal=_name(name))
        try:
            series = task.earlier(call, run)
        except InputError:
            continue
        if series is not None:
            found[name] = series[0], series[1]
    if not found:
        hint = "add positions, velocities and inputs to a save line"
        raise InputError(Problem("E244", f"the run '{run}' saved no state and no input", hint=hint))
    return found


def with_series(point: Point, guess: Motion, series: Series, places: Mapping[str, int]) -> Motion:
    """A guess with the given series, stretched over the span, and rates that go with them."""
    found, fractions = guess.z.copy(), guess.mesh.fractions
    for name, (time, values) in series.items():
        found[places[name]] = np.interp(fractions * time[-1], time, values)
    span = max(float(time[-1]) for time, _ in series.values())
    given = {places[name] for name in series}
    variable, order = point.states
    for place, k in zip(point.first[variable] + order, order):
        if int(place) in given and int(place) + 1 not in given and k >= 1:
            found[place + 1] = np.gradient(found[place], fractions) / span
    return replace(guess, z=found)


def _name(text: str) -> Name:
    found = parse_expression(text, "guess")
    assert isinstance(found, Name)
    return found
