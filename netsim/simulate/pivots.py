"""Pivots for the matrix of a step, or what is wrong with it in words."""

from __future__ import annotations

import numpy as np

from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.equations.machine import Machine
from netsim.initial.diagnosis.diagnosis import explain_singular
from netsim.text.errors import Problem

Array = np.ndarray


def pivots_of(machine: Machine, out: Array, t: float) -> Factor | Problem:
    """Ordering and pivots for the matrix that `out` holds; what is wrong with one that has none."""
    system = machine.system
    entries = out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    try:
        return analyse(system.n, system.pattern.indptr, system.pattern.indices, entries, parts=machine.parts)
    except SingularMatrix as singular:
        return explain_singular(machine, singular, t)
    except ValueError:
        return Problem("E503", f"the equations give no finite matrix at t = {t:g} s", hint="a parameter or start value may divide by zero")
