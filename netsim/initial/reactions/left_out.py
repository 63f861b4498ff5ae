"""Whether constraints that were left out, because others said the same where the mechanism stood, hold later as well.

They do in a chain that moves although it has constraints too many. Where a drive and the joints of a chain allow no
motion together, those of a joint were left out that the drive repeats at first and contradicts as soon as it moves.
"""

import numpy as np

from netsim.equations.machine import Machine
from netsim.equations.system import Redundant
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.consistent.derivatives import derivative
from netsim.initial.reactions.redundancy import without_constraints
from netsim.initial.stages import signature_of
from netsim.text.errors import Problem

Array = np.ndarray
OPEN = 1e-5
"""Residuals of constraints (of the size of the mechanism, and of 1) above which these do not hold."""


def joint_come_apart(whole: Machine, redundant: Redundant, g: Array) -> int | None:
    """The unknown of the joint that holds least at the positions in g, of those some of whose constraints were left
    out; None where all of them hold. `whole` is the machine of all constraints."""
    size = signature_of(whole).size
    residual = np.abs(derivative(whole, g, 0, size, np.zeros(size, np.int64)))[redundant.rows]
    worst = int(np.argmax(residual))
    return int(redundant.rows[worst]) if residual[worst] > OPEN * min(1.0, sizes_of_machine(whole).size) else None


def unmet_constraints(machine: Machine, g: Array, t: float) -> Problem | None:
    """E519 where a joint, some of whose constraints were left out, does not hold at the positions in g."""
    redundant = machine.system.redundant
    row = None if redundant is None else joint_come_apart(without_constraints(machine, None), redundant, g)
    return None if row is None else come_apart_problem(machine, row, t)


def come_apart_problem(machine: Machine, row: int, t: float) -> Problem:
    """E519 of the joint whose unknown `row` is."""
    owners = (
        batch.instances[k]
        for batch in without_constraints(machine, None).system.batches
        for key, unknowns in batch.unknowns.items()
        if key[0] == "own"
        for k in np.flatnonzero(np.any(np.atleast_2d(unknowns) == row, axis=0))
    )
    joint = next(owners)
    message = f"'{joint.name}' does not hold at t = {t:g} s: its chain cannot move so"
    hint = "joints of the chain, or they and its drive, contradict one another: look at axes and points of its "
    return Problem("E519", message, joint.span, hint=f"{hint}joints, or remove the drive")
