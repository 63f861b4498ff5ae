"""The shares of constraints' gradients in the relations of collocation (`points`): dF_i/dz_j^(d_j - c_i) mu_(i, m)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from netsim.analyses.optimal.program.blocks import NOWHERE
from netsim.equations.forms.form import Form

Array = np.ndarray


class Alike(NamedTuple):
    """Elements of a form whose equations and variables have the same orders: the rows of the form and, for every
    element, the equations (rows, n) they add to, differentiated up to c (rows) times; the keys of its variables, those
    of every element (keys, n), and their highest derivatives d (keys)."""

    form: Form
    source: Array
    equation: Array
    c: Array
    keys: list[Any]
    variable: Array
    d: Array


def corrections(
    first: Array, relations: Array, alike: Alike, residuals: list[Any], multipliers: list[Any], where: list[Array]
) -> Iterator[tuple[Array, Any]]:
    """What constraints add to relations: rows of a point with expressions. `first` are the places of every equation's
    first multiplier, `relations` the rows of every variable's first relation. `multipliers` gets the symbols and
    `where` their places."""
    form, source, equation, c, keys, variable, d = alike
    found: dict[tuple[int, int], Any] = {}
    for r in np.flatnonzero(c > 0):
        own = [ca.SX.sym(f"mu_{r}_{m}") for m in range(c[r])]
        multipliers += own
        where += [np.where(equation[r] >= 0, first[equation[r]] + m, NOWHERE) for m in range(c[r])]
        for i, key in enumerate(keys):
            sigma = d[i] - c[r]
            symbol = form.symbols.gathered.get((key, sigma)) if sigma >= 0 else None
            if symbol is None or not ca.depends_on(residuals[source[r]], symbol):
                continue
            slope = ca.jacobian(ca.SX(residuals[source[r]]), symbol)
            for m in range(c[r]):
                found[i, sigma + m] = found.get((i, sigma + m), 0) + slope * own[m]
    for (i, order), term in found.items():
        rows = np.where(variable[i] >= 0, relations[variable[i]] + order, NOWHERE)
        yield rows, term
