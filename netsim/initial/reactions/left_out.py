"""Whether constraints that were left out, because others said the same where the mechanism stood, hold later as well.

They do in a chain that moves although it has constraints too many. Where a drive and the joints of a chain allow no
motion together, those of a joint were left out that the drive repeats at first and contradicts as soon as it moves.
"""

import numpy as np

from netsim.equations.machine import Machine
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.reactions.redundancy import without
from netsim.initial.stages import derivative, signature_of
from netsim.network.network import GROUND
from netsim.text.errors import Problem

Array = np.ndarray
OPEN = 1e-5
"""Residuals of constraints (of the size of the mechanism, and of 1) above which these do not hold."""


def not_held(machine: Machine, g: Array, t: float) -> Problem | None:
    """E519 where a joint, some of whose constraints were left out, does not hold at the positions in g."""
    redundant = machine.system.redundant
    if redundant is None:
        return None
    whole = without(machine, None)
    size = signature_of(whole).size
    residual = np.abs(derivative(whole, g, 0, size, np.zeros(size, np.int64)))
    size_of_all = sizes_of_machine(whole).size
    rows = redundant.rows[residual[redundant.rows] > OPEN * min(1.0, size_of_all)]
    for batch in whole.system.batches if len(rows) else ():
        for key, unknowns in batch.unknowns.items():
            for k in np.flatnonzero(np.isin(unknowns, rows) & (unknowns != GROUND)) if key[0] == "own" else ():
                joint = batch.instances[k]
                message = f"'{joint.name}' does not hold at t = {t:g} s: its chain cannot move as it is driven"
                hint = "the drive and the joints of the chain contradict one another: look at axes and points of its "
                return Problem("E519", message, joint.span, hint=f"{hint}joints, or remove the drive")
    return None
