"""Transient analysis: from a consistent start through the time loop to samples."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.adaptive import Running, begin_adaptive, integrate_adaptive
from netsim.analyses.options import TransientOptions
from netsim.analyses.stepping import Progress, Stepping, begin_run, integrate
from netsim.corners import corners_of
from netsim.errors import Problem
from netsim.integrators.loop import FACTORISATIONS, ITERATIONS
from netsim.language.syntax import Expr, Name
from netsim.samples import Samples, Signal
from netsim.selection import Selection, add_rates, add_unseen, computed, sampler, select
from netsim.solvers.initial import Change, Structure, consistent_start, structure_of
from netsim.solvers.machine import Machine, build_machine
from netsim.solvers.recovery import plan_recovery
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
) -> Samples:
    """Integrate from 0 to stop and sample; positions in `rated` with their rates, signals `beside` unseen.

    A failure or an interruption ends the samples early and says so (`finished`, `message`).
    Raises `InputError` for wrong options or starts, `SimulationError` where no consistent start exists.
    """
    began, cpu = clock.perf_counter(), clock.process_time()
    machine, structure, g, changes = _ready(machine, structure, options)
    selection = select(machine, saves, plots)
    rates = add_rates(machine, selection, rated)
    unseen = add_unseen(machine, selection, beside)
    reader = sampler(machine, selection)
    failure: Problem | None = None
    message = ""
    run: Stepping | Running
    if options.plain:
        recovery = plan_recovery(machine, structure, g) if options.recovers else None
        run = begin_run(machine, options, g, reader, selection, recovery)
    else:
        run = begin_adaptive(machine, structure, options, g, reader, corners_of(machine, options.stop))
    try:
        failure = integrate(run, reader, progress) if isinstance(run, Stepping) else integrate_adaptive(run, progress)
    except KeyboardInterrupt:
        message = f"interrupted at t = {run.now:g} s"
    if failure:
        message = failure.message
    ending = _Ending(failure, message, clock.perf_counter() - began, clock.process_time() - cpu)
    samples = _samples(run, selection, rates, structure, changes, ending)
    return replace(samples, unseen={name: run.sampled[1][:, list(selection.entries).index(name)] for name in unseen})


def _ready(machine: Machine, structure: Structure, options: TransientOptions) -> tuple[Machine, Structure, Array, list[Change]]:
    """A consistent start; where constraints turn out to repeat one another there, the machine without them."""
    g, changes = consistent_start(machine, structure, at_rest=options.start == "rest")
    found = repeated(machine, g) if machine.system.layout.nk else None
    if found is None:
        return machine, structure, g, changes
    system = without_redundant(machine.system, joined(machine.system.redundant, found))
    reduced = build_machine(system, machine.values, machine.earlier)
    structure = structure_of(system)
    g, changes = consistent_start(reduced, structure, at_rest=options.start == "rest")
    return reduced, structure, g, changes


def _samples(
    run: Stepping | Running,
    selection: Selection,
    rates: Mapping[str, tuple[str, str]],
    structure: Structure,
    changes: Sequence[Change],
    ending: _Ending,
) -> Samples:
    time, sampled, account = run.sampled
    top = run.machine.system.network.top
    columns = {name: sampled[:, j] for j, name in enumerate(selection.entries)}
    signals = {name: (columns[name], selection.entries[name].signal) for name in selection.shown}
    signals.update(computed(selection, columns, time, run.machine.values.scope(top), top))
    values = np.column_stack([series for series, _ in signals.values()]) if signals else np.zeros((len(time), 0))
    shown: tuple[Signal, ...] = tuple(signal for _, signal in signals.values())
    kept = {name: (columns[v], columns[a]) for name, (v, a) in rates.items()}
    finished = ending.failure is None and not ending.message
    attributes = _attributes(run, structure, changes, ending)
    return Samples("", time, shown, values, account, attributes, finished, ending.message, kept)


def _listed(changes: Sequence[Change], most: int = 12) -> str:
    """The largest changes of defaults in words."""
    largest = sorted(changes, key=lambda c: -abs(c.after - c.before))
    words = [f"{c.name}: {c.before:g} -> {c.after:g}" for c in largest[:most]]
    return "; ".join(words + ([f"and {len(changes) - most} more"] if len(changes) > most else []))


def _attributes(run: Stepping | Running, structure: Structure, changes: Sequence[Change], ending: _Ending) -> dict[str, Any]:
    found: dict[str, Any] = {
        "analysis": "transient",
        "method": run.options.method,
        "forces": run.options.forces,
        **({"step": run.options.step} if run.options.step else {"rtol": run.options.rtol}),
        "stop": run.options.stop,
        "unknowns": run.machine.system.n,
        "index": structure.index,
        "steps": run.steps,
        **(run.effort if isinstance(run, Running) else {}),
        "iterations": int(run.counters[ITERATIONS]),
        "factorisations": int(run.counters[FACTORISATIONS]),
        "wall_seconds": ending.wall_seconds,
        "cpu_seconds": ending.cpu_seconds,
        "redundant": describe(run.machine.system),
        "start_changes": _listed(changes),
        "netlist": run.machine.system.network.text,
    }
    return found | ({"failure": ending.failure} if ending.failure else {})
