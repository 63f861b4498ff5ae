"""Sliders of closed loops that no start speaks of: where the loop can be put together with them as they are drawn, they
stay there, and else as near as it allows."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netsim.equations.machine import Machine
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import reading_row, start_rows
from netsim.initial.assembly import sizes_of_machine, speaks_of_positions
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.initial import Structure, with_coordinates
from netsim.initial.stages import Stages, stage_equations
from netsim.multibody.jointspace.joints import PRISMATIC, steps_of
from netsim.text.errors import SimulationError

Array = np.ndarray
STILL = 1e-9
"""A slider that moved by no more than this part of the machine's size stands where it is drawn."""


def with_still_sliders(machine: Machine, structure: Structure, g: Array) -> Machine | None:
    """The machine at the start g with its sliders as near to where they are drawn as constraints and written starts
    allow; None where none has moved, or where guesses choose.

    Least squares of the sliders' ways, with all else held: Gauss-Newton steps of least motion from g."""
    rows = start_rows(machine.system, machine.values)
    sizes, drawn = sizes_of_machine(machine), list(_sliders(machine))
    moved = any(abs(row.linearise(machine, g)[0]) > STILL * sizes.size for row in drawn)
    if not moved or any(row.word == "guess" for row in rows):
        return None
    spoken = np.concatenate([row.variables for row in (*rows, *drawn)])
    structure = with_coordinates(machine.system, structure, spoken)
    weights = 1.0 / np.concatenate([machine.system.nominals, np.ones(machine.system.layout.nq)])
    weights[sizes.lengths] /= sizes.size
    everything, k = np.ones(len(structure.signature.equation), bool), -int(structure.dynamic.d.max(initial=0))
    stages = Stages(machine, structure.signature, structure.dynamic, everything, weights, sizes.angles)
    held = [row for row in rows if speaks_of_positions(row) and abs(row.linearise(machine, g)[0]) <= STILL * sizes.size]
    hard = len(stage_equations(stages.offsets, k)) + len(held)
    point = g.copy()
    try:
        solve_stage(stages, point, k, (*held, *drawn), soft=[*np.zeros(hard), *np.full(len(drawn), sizes.size)])
    except SimulationError:
        return None
    layout, found = machine.system.layout, machine.g.copy()
    found[layout.x : layout.x + layout.nk] = point[layout.x : layout.x + layout.nk]
    found[layout.charts : layout.places] = point[layout.charts : layout.places]
    return replace(machine, g=found)


def _sliders(machine: Machine) -> Iterator[StartRow]:
    """A row for each slide of a joint, whose target is where the slide is drawn."""
    for instance in machine.system.network.instances:
        batch, position = machine.system.home[instance.name]
        for step in steps_of(instance) or ():
            if step.kind == PRISMATIC and step.coordinate in batch.form.readable:
                path = f"{instance.name}.{step.coordinate}"
                row = reading_row(machine.system, batch, position, step.coordinate, 0, path, 0.0)
                yield replace(row, target=row.linearise(machine, machine.g)[0])
