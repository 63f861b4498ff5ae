"""Starts of a network under other values, near one that is known.

A start of a network without mechanics, delays and events is its static solution with written starts fixed: one square
system R(z, p) = 0, z the unknowns, differentiated quantities and the rates that written starts free. Near the known
solution z0 it is

    z(p) = z0 - R_z(z0, p0)^-1 R(z0, p)

up to terms of second order in p - p0 whose part in derivatives by p vanishes at p0: differences around p0 are those of
the starts themselves. Other networks are started anew for each value.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.sensitivity.varied import Point
from netsim.core.linear.equilibrated import equilibrated
from netsim.core.newton import set_time
from netsim.core.problem import PAST, TIME
from netsim.equations.machine import Machine
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import start_rows
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.fixed import fixed_rows, free_rates, held_offsets, stage_of
from netsim.initial.initial import Structure, set_differentiated, with_coordinates
from netsim.initial.stages import (
    Stages,
    partials_in,
    slots,
    stage_equations,
    stage_jacobian,
    stage_residuals,
    stage_variables,
)
from netsim.simulate.events.iteration import has_events
from netsim.structure.time_events import time_events_of
from netsim.text.errors import SimulationError
from netsim.text.syntax import Number

Array = np.ndarray
REGULAR = 1e-12
"""The least pivot of an equilibrated matrix that counts as regular."""
SAME = 1e-9
"""The static solution is the start where its values agree to this share of the largest of their kind."""


@dataclass(frozen=True, eq=False)
class StaticStart:
    """The static problem of a start g: its equations, rows, places of its unknowns, and what solves its matrix."""

    g: Array
    at: Array
    stages: Stages
    equations: Array
    rows: list[StartRow]
    places: Array
    solve: Callable[[Array], Array]

    def placed(self, machine: Machine, structure: Structure, options: Any) -> Point:
        """The point of a machine under changed values."""
        layout = machine.system.layout
        g, point = self.g.copy(), self.at.copy()
        for each in (g, point):
            each[1 : layout.prescribed_inputs] = machine.g[1 : layout.prescribed_inputs]
            each[layout.one : layout.x] = machine.g[layout.one : layout.x]
            each[PAST] = self.g[PAST]
            set_time(machine.struct, each, float(self.g[TIME]))
        stages = replace(self.stages, machine=machine)
        residuals = stage_residuals(stages, point, 0, self.equations, self._rows(machine))
        moved = point[self.places] - self.solve(residuals)
        values = layout.y <= self.places
        g[self.places[values]] = moved[values]
        if not np.isin(layout.differentiated(np.arange(layout.nq), 0), self.places).all():
            set_differentiated(machine, g)
        return Point(machine, g, time_events_of(machine, options.stop))

    def _rows(self, machine: Machine) -> list[StartRow]:
        """The rows with the targets of a machine, which may be other ones."""
        network = machine.system.network
        if network is self.stages.machine.system.network and all(type(b.value) is Number for b in network.beginnings):
            return self.rows
        targets = {(row.path, row.word): row.target for row in start_rows(machine.system, machine.values)}
        return [replace(row, target=targets.get((row.path, row.word), row.target)) for row in self.rows]


def static_start(machine: Machine, structure: Structure, g: Array) -> StaticStart | None:
    """The static problem that the start g solves; None where the start is more than that."""
    layout = machine.system.layout
    if layout.nk or machine.element is not None or has_events(machine) or len(machine.problem.buffer.length):
        return None
    rows = start_rows(machine.system, machine.values)
    written = [row for row in rows if row.word == "start"]
    if len({(row.path, row.word) for row in rows}) < len(rows):
        return None
    sizes = sizes_of_machine(machine)
    weights = 1.0 / np.concatenate([machine.system.nominals, np.ones(layout.nq)])
    spoken = [row.variables for row in rows]
    structure = with_coordinates(machine.system, structure, np.concatenate([np.zeros(0, np.int64), *spoken]))
    try:
        fixed, freed = fixed_rows(machine, structure.at_rest, structure.static, written)
        o = held_offsets(structure.at_rest, structure.static, structure.static_triples, fixed, freed)
        stages = Stages(machine, structure.at_rest, o, structure.static_triples, weights, sizes.angles)
        if o.d.max(initial=0) or any(stage_of(row, o) for row in fixed):
            return None
        at = free_rates(stages, g, fixed, freed)
    except SimulationError:
        return None
    if at is None or not _same(at, g, layout):
        return None
    equations, variables = stage_equations(o, 0), stage_variables(o, 0)
    rates = slots(machine, np.array(freed, np.int64), np.ones(len(freed), np.int64))
    places = np.concatenate([slots(machine, variables, o.d[variables]), rates]).astype(np.int64)
    solve = _solver(stage_jacobian(stages, partials_in(stages, at), 0, equations, variables, fixed, freed, at))
    return None if solve is None else StaticStart(g, at, stages, equations, fixed, places, solve)


def _same(static: Array, g: Array, layout: Any) -> bool:
    """Whether values and differentiated quantities of the static solution are those of the start."""
    contents = layout.differentiated(np.arange(layout.nq), 0)
    kinds = (slice(layout.y, layout.y + layout.ny), contents)
    return all(bool(np.all(np.abs(static[k] - g[k]) <= SAME * np.abs(g[k]).max(initial=0.0))) for k in kinds)


def _solver(jacobian: Any) -> Callable[[Array], Array] | None:
    """What solves a square regular matrix; None for another one."""
    if jacobian.shape[0] != jacobian.shape[1]:
        return None
    found = equilibrated(jacobian)
    return None if found is None or found.least_pivot < REGULAR else found.solve
