"""Angles that an element's equations know up to whole turns: the coordinate q of a hinge, atan2(sin(phi - q), cos(phi -
q)) = 0."""

from typing import Any

import numpy as np

from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.symbolic import ca

TURN = 2 * np.pi
ALIKE = 1e-9
"""What rounding leaves of a residual after a whole turn."""


def turning(form: Form) -> tuple[tuple[Key, int], ...]:
    """(key, number of a residual) of unknowns and inputs that a residual reads, and that it does not tell from
    themselves a turn on."""
    return form.facts.recall(("turning",), lambda: _turning(form))


def _turning(form: Form) -> tuple[tuple[Key, int], ...]:
    found = []
    for number, residual in enumerate(map(ca.SX, form.residuals)):
        if not _has_atan2(residual):
            continue
        read = [(at, symbol) for at, symbol in form.symbols.gathered.items() if ca.depends_on(residual, symbol)]
        for (key, order), symbol in read:
            if order == 0 and key[0] in ("own", "input", "node") and _same_a_turn_on(residual, symbol):
                found.append((key, number))
    return tuple(found)


def _has_atan2(expression: Any) -> bool:
    function = ca.Function("f", ca.symvar(expression), [expression])
    return any(function.instruction_id(k) == ca.OP_ATAN2 for k in range(function.n_instructions()))


def _same_a_turn_on(residual: Any, symbol: Any) -> bool:
    """Whether a residual depends on a symbol, but not on its whole turns, at a point of no meaning."""
    others = ca.symvar(residual)
    later = ca.substitute(residual, symbol, symbol + TURN)
    function = ca.Function("f", others, [residual, later, ca.jacobian(residual, symbol)])
    value, turned, slope = (float(x) for x in function(*np.random.default_rng(1).uniform(0.2, 0.9, len(others))))
    return abs(value - turned) < ALIKE and abs(slope) > ALIKE
