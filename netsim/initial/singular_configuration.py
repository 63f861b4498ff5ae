"""Singular configurations: placements at which constraints depend on one another although they do not nearby, where
bodies stand in line.

A constraint may be dropped if it repeats others wherever the mechanism moves. So the mechanism is moved a little along
what the other constraints leave free, closed again, and asked once more: what then says something of its own was no
repetition.
"""

import numpy as np

from netsim.equations.machine import Machine
from netsim.equations.system import Redundant, without_redundant
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.initial import Structure
from netsim.initial.reachability import POSITIONS
from netsim.initial.reactions.redundancy import dependent_constraints, describe
from netsim.initial.stages import Stages, slots, stage_matrix
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
AWAY = 1e-3
"""How far the mechanism is moved, of its own size or in rad: dependence that is lost shows in singular values of this
size."""
MOST = 1500
"""Kinematic unknowns up to which the free directions are looked for, by a dense decomposition."""


def check_regular(full: Machine, found: Redundant, reduced: Machine, structure: Structure, g: Array) -> None:
    """Raises `InputError` (E415) where the constraints `found` at g depend on the others at this placement only.

    full: the machine with these constraints; reduced, structure: without them; g: the start of the latter."""
    sizes = sizes_of_machine(reduced)
    weights = 1.0 / np.concatenate([reduced.system.nominals, np.ones(reduced.system.layout.nq)])
    weights[sizes.lengths] /= sizes.size
    everything = np.ones(len(structure.signature.equation), bool)
    stages = Stages(reduced, structure.signature, structure.dynamic, everything, weights, sizes.angles)
    if reduced.system.layout.nk > MOST:
        return
    jacobian, _, variables = stage_matrix(stages, g, POSITIONS)
    free = _free_directions(jacobian.toarray() / weights[variables])
    if not free.shape[1]:
        return
    way = free @ np.cos(np.arange(1.0, free.shape[1] + 1.0))  # any direction without symmetries
    point = g.copy()
    places = slots(reduced, variables, structure.dynamic.d[variables] + POSITIONS)
    point[places] += AWAY * way / np.max(np.abs(way)) / weights[variables]
    try:
        solve_stage(stages, point, POSITIONS)
    except SimulationError:
        return
    nearby = dependent_constraints(full, point)
    if nearby is None or len(nearby.rows) < len(found.rows):
        joints = describe(without_redundant(full.system, found)).partition(" at ")[2]
        message = (
            f"the mechanism is drawn in a singular configuration: only there are constraints of '{joints}' redundant"
        )
        hint = "bodies are in line, and the motion may continue in more than one way: "
        hint += "draw or start the mechanism slightly off this configuration (1 deg is enough)"
        span = next((i.span for i in full.system.network.instances if i.name == joints.partition(", ")[0]), None)
        raise InputError(Problem("E415", message, span, hint=hint))


def _free_directions(jacobian: Array) -> Array:
    """An orthonormal basis of what the rows leave free, (n, n - rank)."""
    if not len(jacobian):
        return np.eye(jacobian.shape[1])
    _, size, right = np.linalg.svd(jacobian / np.maximum(np.linalg.norm(jacobian, axis=1, keepdims=True), 1e-300))
    rank = int((size > 1e-9 * size.max(initial=1e-300)).sum())
    return right[rank:].T
