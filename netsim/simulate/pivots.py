"""Pivots for the matrix of a step, or the problem of a matrix without pivots."""

import numpy as np

from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.equations.machine import Machine
from netsim.initial.diagnosis.diagnosis import explain_singular
from netsim.text.errors import Problem

Array = np.ndarray


def pivots_of(machine: Machine, out: Array, t: float) -> Factor | Problem:
    """Ordering and pivots for the matrix that `out` holds; E502 or E503 for one that has none."""
    system = machine.system
    entries = out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    try:
        return analyse(system.n, system.pattern.indptr, system.pattern.indices, entries, parts=machine.parts)
    except SingularMatrix as singular:
        return explain_singular(machine, singular, t)
    except ValueError:
        hint = "a parameter or start value may cause a division by zero"
        return Problem("E503", f"the matrix of the equations is not finite at t = {t:g} s", hint=hint)
