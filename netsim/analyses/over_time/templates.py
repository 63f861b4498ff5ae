"""Runs of a model that have been begun once and serve other parameter values: kept with the model, shared by its
variants.

A template is made at the netlist's own values. It serves one run at a time; several threads have one each. All of them
begin alike, so that results do not depend on what ran before, nor where.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from netsim.analyses.over_time.long_runs import windowed
from netsim.analyses.over_time.start import (
    RecordedSignals,
    SignalRequest,
    StartedRun,
    named_signals,
    signals_recorded,
    start_run,
)
from netsim.equations.machine import Machine, build_machine
from netsim.initial.initial import Structure
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.results.partial.recording import Recording
from netsim.simulate.options import TransientOptions
from netsim.simulate.run_template import RunTemplate, can_restart, restart, template_of
from netsim.simulate.setup.arrays.readings import weights_of
from netsim.structure.orders import absent_rates
from netsim.text.errors import NetsimError

Array = np.ndarray
KEPT = 8
"""Kinds of runs (options, signals) that a model keeps templates for; the oldest is dropped first."""
LARGE = 1e6
"""Numbers of samples of a run above which its arrays are not kept."""


@dataclass(eq=False)
class Template:
    """A run that has been begun at the netlist's values, and what begins it anew."""

    started: StartedRun
    variant: RunTemplate


@dataclass(eq=False)
class TemplateStore:
    """The templates of a netlist that no run uses at present, by structure, options and signals; None where runs
    cannot be begun anew."""

    network: Network
    free: dict[Any, list[Template] | None] = field(default_factory=dict)

    def borrow(self, asked: "RunRequest") -> tuple[Template | None, StartedRun | None]:
        """A template for such runs; where there is none, the run itself if it was begun to find that out."""
        key = asked.key
        if key not in self.free:
            found = self._make(asked)
            for oldest in list(self.free)[: max(0, len(self.free) + 1 - KEPT)]:
                self.free.pop(oldest, None)
            self.free[key] = None if found[0] is None else []
            return found
        waiting = self.free.get(key, [])
        if waiting is None:
            return None, None
        try:
            return waiting.pop(), None
        except IndexError:  # others use what there is
            return self._make(asked)

    def give_back(self, asked: "RunRequest", template: Template) -> None:
        """Let another run use a template."""
        run, waiting = template.variant.run, self.free.get(asked.key)
        if waiting is not None and run.sampler.values.size < LARGE:
            waiting.append(template)

    def _make(self, asked: "RunRequest") -> tuple[Template | None, StartedRun | None]:
        """One for runs whose rates vanish where those of the machine do: other ones have another structure."""
        machine, structure, options = asked.machine, asked.structure, asked.options
        if not can_restart(machine, options):
            return None, None
        system = machine.system
        system = (
            system if system.network.beginnings is self.network.beginnings else replace(system, network=self.network)
        )
        own = machine.values.network is self.network and not machine.values.overrides and not machine.values.inputs
        values = machine.values if own else Values(self.network)
        try:
            if not own and not np.array_equal(absent_rates(system, values), absent_rates(system, machine.values)):
                return None, None
            started = start_run(
                build_machine(system, values), structure, options, asked.asked, None, asked.recording, asked.choose
            )
        except NetsimError:
            return None, None
        served = not started.at.changes and can_restart(started.at.machine, started.run.options)
        parts = started.run, started.at.machine, started.structure, started.readers, started.start
        variant = template_of(*parts) if served else None
        if variant is not None:
            return Template(started, variant), None
        same = system is machine.system and not machine.values.overrides and not started.run.reused
        return None, started if same else None


@dataclass(frozen=True, eq=False)
class RunRequest:
    """A run that is wanted: of which machine and structure, how, and what it is sampled for; who chooses the signals
    (the same in all runs of a netlist)."""

    machine: Machine
    structure: Structure
    options: TransientOptions
    asked: SignalRequest
    recording: Recording | None
    choose: Callable[[Machine, SignalRequest, bool], RecordedSignals] = signals_recorded

    @cached_property
    def key(self) -> Any:
        """What runs that are begun alike have in common."""
        asked, whole = self.asked, self.recording is None or self.recording.whole
        return (
            self.structure,
            self.options,
            tuple(asked.saves),
            tuple(asked.plots),
            tuple(asked.beside),
            asked.traced,
            whole,
        )


def restart_template(
    template: Template, values: Values, parameters: Mapping[int, Array], goals: list[float], recording: Recording | None
) -> StartedRun | None:
    """The template's run at t = 0 with these values, parameters by batch and targets of written starts; None where the
    run has to begin by itself. Raises `InputError` as `windowed` does."""
    started, variant, run = template.started, template.variant, template.started.run
    if recording:  # else this was asked when the template was begun
        windowed(run.options, len(started.signals.selection.entries), recording, not run.options.window)
    if not restart(variant, values, parameters, goals):
        return None
    if run.named:
        named = named_signals(run.machine, started.signals, started.readers)
        read = run.trial.readings
        read.weights[:], read.constants[:] = weights_of([*named[0], *named[1]])
    point = variant.point.copy()
    at = replace(started.at, machine=run.machine, g=point, absolute=run.machine, point=point)
    return replace(started, at=at, start=point)
