"""Prescribed motions that a mechanism cannot follow: singular configurations, where bodies stand in line, and lengths
that do not reach.

Where Newton's method fails in a step, the positions at its end are solved by themselves, from those before it. If the
constraints stay open although they are met as well as they can be, no smaller step and no better guess would help, and
the joint that stays open is named.
"""

import numpy as np

from netsim.core.newton import CONVERGED, set_time
from netsim.equations.machine import Machine
from netsim.initial.assembly import length, open_joint, sizes_of_machine
from netsim.initial.consistent.newton import Inconsistent, solve_stage
from netsim.initial.initial import structure_of
from netsim.initial.stages import Stages
from netsim.structure.orders import StructurallySingular
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
NAMED = 3
POSITIONS = -2
"""The stage of positions; what lies below follows from functions of time alone."""


def unreachable(machine: Machine, g: Array, before: float, t: float) -> Problem | None:
    """E506 if a mechanism with the positions g of time `before` cannot be assembled at t; None if it can.

    Not for joint coordinates, which meet the constraints of tree joints by themselves."""
    system = machine.system
    if not system.layout.nk or machine.element is not None:
        return None
    try:
        structure = structure_of(system)
    except StructurallySingular:  # only the present parameters gave it a structure
        return None
    sizes = sizes_of_machine(machine)
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    weights[sizes.lengths] /= sizes.size
    everything = np.ones(len(structure.signature.equation), bool)
    stages = Stages(machine, structure.signature, structure.dynamic, everything, weights, sizes.angles)
    point = g.copy()
    if set_time(machine.struct, point, t) != CONVERGED:
        return None
    for k in range(-int(structure.dynamic.d.max(initial=0)), POSITIONS + 1):
        start = point.copy()
        try:
            solve_stage(stages, point, k)
        except Inconsistent:
            return _explained(stages, start, k, before, t)
        except SimulationError:
            return None
    return None


def _drives(stages: Stages) -> list[str]:
    """The sources that prescribe positions: their equations are differentiated twice."""
    found = []
    for batch in stages.machine.system.batches:
        if batch.instances and batch.instances[0].component.is_source:
            own = [unknowns for key, unknowns in batch.unknowns.items() if key[0] == "own"]
            places = np.any([stages.offsets.c[u] >= 2 for u in own], axis=0) if own else np.zeros(batch.n, bool)
            found += [f"'{batch.instances[k].name}'" for k in np.flatnonzero(places)]
    return found


def _explained(stages: Stages, start: Array, k: int, before: float, t: float) -> Problem:
    joint = open_joint(stages, start, k, (), sizes_of_machine(stages.machine))
    where = (
        f"the points of '{joint.name}' stay {length(joint.distance)} apart"
        if joint
        else "its constraints cannot all be met"
    )
    drives = _drives(stages)
    motion = f"the motion of {', '.join(drives)}" if 0 < len(drives) <= NAMED else "its prescribed motion"
    message = f"the mechanism cannot follow {motion} beyond t = {before:g} s: at {t:g} s {where}"
    hint = "it is in a singular configuration (bodies in line), or the position is out of reach: "
    hint += "drive another joint, or prescribe a smaller motion"
    return Problem("E506", message, joint.span if joint else None, hint=hint)
