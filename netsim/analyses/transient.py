"""Transient analysis: from a consistent start through the time loop to samples."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.options import TransientOptions
from netsim.analyses.stepping import Progress, Stepping, begin_run, integrate
from netsim.errors import Problem
from netsim.integrators.loop import FACTORISATIONS, ITERATIONS
from netsim.jointspace.choice import in_tree, joint_coordinates, observing, recovery_of
from netsim.language.syntax import Expr, Name
from netsim.rates import add_rates, own_unknowns
from netsim.samples import Samples, Signal
from netsim.selection import Selection, add_unseen, computed, sampler, select
from netsim.solvers.initial import Change, Structure, consistent_start, resumed_start, structure_of, with_coordinates
from netsim.solvers.machine import Machine, build_machine
from netsim.solvers.redundancy import describe, joined, repeated
from netsim.system import without_redundant

Array = np.ndarray


@dataclass(frozen=True)
class _Ending:
    """How a run ended: the problem that stopped it (if any), what to say, and what it took."""

    failure: Problem | None
    message: str
    wall_seconds: float
    cpu_seconds: float


def transient(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    saves: Sequence[Expr] = (),
    plots: Sequence[Expr] = (),
    progress: Progress | None = None,
    rated: Sequence[Name] = (),
    beside: Sequence[Name] = (),
    origin: Array | None = None,
) -> Samples:
    """Integrate from 0 to stop and sample; positions in `rated` with their rates, signals `beside` unseen.

    With an `origin` (of the samples of a network with the same unknowns) it begins at that point instead of a start of its own.

    A failure or an interruption ends the samples early and says so (`finished`, `message`).
    Raises `InputError` for wrong options or starts, `SimulationError` where no consistent start exists.
    """
    began, cpu = clock.perf_counter(), clock.process_time()
    machine, structure, g, changes = begun(machine, structure, options.start == "rest", origin)
    point = g.copy()
    absolute = machine, g
    if in_tree(machine, options.formulation):
        machine, g = joint_coordinates(machine, g)
    selection = select(machine, saves, plots)
    own = np.array(own_unknowns(machine, rated) if options.recovers else [], np.int64)
    if len(own) and machine.element is None:  # points are recovered with the rates of these coordinates
        structure = with_coordinates(machine.system, structure, own)
        g = resumed_start(machine, structure, g)
    exact = own[own < machine.system.layout.nk] if machine.element else own[structure.dynamic.d[own] >= 2]
    rates = add_rates(machine, selection, rated, exact)
    unseen = add_unseen(machine, selection, beside)
    reader = observing(machine, sampler(machine, selection))
    recovery = recovery_of(machine, g, structure, *absolute) if options.recovers else None
    run = begin_run(machine, options, g, reader, selection, recovery)
    failure: Problem | None = None
    message = ""
    try:
        failure = integrate(run, reader, progress)
    except KeyboardInterrupt:
        message = f"interrupted at t = {run.times[run.done]:g} s"
    if failure:
        message = failure.message
    ending = _Ending(failure, message, clock.perf_counter() - began, clock.process_time() - cpu)
    samples = _samples(run, selection, rates, structure, changes, ending)
    return replace(samples, origin=point, unseen={name: run.values[: len(samples.time), list(selection.entries).index(name)] for name in unseen})


def begun(machine: Machine, structure: Structure, at_rest: bool, origin: Array | None = None) -> tuple[Machine, Structure, Array, list[Change]]:
    """A consistent start, at `origin` where there is one; where constraints turn out to repeat one another there, the machine without them."""

    def start(machine: Machine, structure: Structure) -> tuple[Array, list[Change]]:
        if origin is not None:
            return resumed_start(machine, structure, origin), []
        return consistent_start(machine, structure, at_rest=at_rest)

    g, changes = start(machine, structure)
    found = repeated(machine, g) if machine.system.layout.nk else None
    if found is None:
        return machine, structure, g, changes
    system = without_redundant(machine.system, joined(machine.system.redundant, found))
    reduced = build_machine(system, machine.values, machine.earlier)
    structure = structure_of(system)
    return reduced, structure, *start(reduced, structure)


def _samples(
    run: Stepping, selection: Selection, rates: Mapping[str, tuple[str, str]], structure: Structure, changes: Sequence[Change], ending: _Ending
) -> Samples:
    rows = _rows_done(run)
    time = run.times[np.minimum(np.arange(rows) * run.options.every, len(run.times) - 1)]
    top = run.machine.system.network.top
    columns = {name: run.values[:rows, j] for j, name in enumerate(selection.entries)}
    signals = {name: (columns[name], selection.entries[name].signal) for name in selection.shown}
    signals.update(computed(selection, columns, time, run.machine.values.scope(top), top))
    values = np.column_stack([series for series, _ in signals.values()]) if signals else np.zeros((rows, 0))
    shown: tuple[Signal, ...] = tuple(signal for _, signal in signals.values())
    kept = {name: (columns[v], columns[a]) for name, (v, a) in rates.items()}
    finished = ending.failure is None and not ending.message
    attributes = _attributes(run, structure, changes, ending)
    return Samples("", time, shown, values, run.account[:rows], attributes, finished, ending.message, kept)


def listed(changes: Sequence[Change], most: int = 12) -> str:
    """What moved to close the start, in words: written starts first, then the largest changes of defaults."""
    words = [c.text for c in sorted(changes, key=lambda c: (c.kind != "start", -c.size))[:most]]
    return "; ".join(words + ([f"and {len(changes) - most} more"] if len(changes) > most else []))


def _rows_done(run: Stepping) -> int:
    """Samples taken so far: every so many steps, and at the last one."""
    whole = run.done // run.options.every + 1
    return whole + int(run.done == len(run.times) - 1 and run.done % run.options.every != 0)


def _attributes(run: Stepping, structure: Structure, changes: Sequence[Change], ending: _Ending) -> dict[str, Any]:
    found: dict[str, Any] = {
        "analysis": "transient",
        "method": run.options.method,
        "forces": run.options.forces,
        "step": run.options.step,
        "stop": run.options.stop,
        "formulation": "tree" if run.machine.element else "absolute",
        "unknowns": run.machine.system.n,
        "index": structure.index,
        "steps": run.done,
        "iterations": int(run.counters[ITERATIONS]),
        "factorisations": int(run.counters[FACTORISATIONS]),
        "wall_seconds": ending.wall_seconds,
        "cpu_seconds": ending.cpu_seconds,
        "redundant": describe(run.machine.system),
        "characteristic_length": run.reactions.length if run.reactions else 0.0,
        "start_changes": listed(changes),
        "start_moves": listed([c for c in changes if c.kind != "velocity"]),
        "netlist": run.machine.system.network.text,
    }
    return found | ({"failure": ending.failure} if ending.failure else {})
