"""Integrals over time that components keep (`der(work) = power`): summed over the samples, since no equation of motion
reads them."""

from functools import partial

import numpy as np

from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.structure.orders import all_equation_numbers

Array = np.ndarray
Integrals = tuple[Array, Array, Array]


def integrals_of(machine: Machine) -> Integrals:
    """Slots of the unknowns, of their differentiated quantities, and of their rates."""
    layout, (unknowns, differentiated) = machine.system.layout, integrated(machine)
    return (
        layout.unknown(unknowns, 0),
        layout.differentiated(differentiated, 0),
        layout.differentiated(differentiated, 1),
    )


def integrated(machine: Machine) -> tuple[Array, Array]:
    """Unknowns that are integrals over time which no other equation reads, and their differentiated quantities."""
    unknowns, differentiated = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in machine.system.batches:
        form = batch.form
        if form.n_differentiated:
            for k, key in form.facts.recall(("integrals",), partial(_integrals, form)):
                unknowns.append(batch.unknowns[key])
                differentiated.append(batch.differentiated(k))
    return np.concatenate(unknowns), np.concatenate(differentiated)


def _integrals(form: Form) -> list[tuple[int, Key]]:
    """Differentiated quantities that are own unknowns which no residual reads: (number, key of the unknown)."""
    found, residuals = [], ca.vertcat(*form.residuals)
    for k, quantity in enumerate(form.differentiated):
        keys = [
            key
            for (key, order), s in form.symbols.gathered.items()
            if key[0] == "own" and order == 0 and ca.is_equal(ca.SX(quantity), s)
        ]
        if keys and not ca.depends_on(residuals, form.symbols.at(keys[0], 0)):
            found.append((k, keys[0]))
    return found


def rate_equations(machine: Machine) -> tuple[Array, Array]:
    """Of each integral that `integrated` finds the equation that its rate stands in, and 1 or -1 as it stands there; 0
    where it stands in several, or otherwise than a sum."""
    equations, signs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in machine.system.batches:
        form = batch.form
        if form.n_differentiated:
            numbers = all_equation_numbers(machine.system, batch)
            for row, sign in form.facts.recall(("rates of integrals",), partial(_rates, form)):
                equations.append(numbers[row])
                signs.append(np.full(batch.n, sign))
    return np.concatenate(equations).astype(np.int64), np.concatenate(signs).astype(np.int64)


def _rates(form: Form) -> list[tuple[int, int]]:
    """(row, sign) of the only residual with each integral's rate."""
    found, residuals = [], ca.vertcat(*form.residuals)
    for k, _ in form.facts.recall(("integrals",), partial(_integrals, form)):
        slopes = ca.jacobian(residuals, form.symbols.at(("differentiated", k), 1))
        rows = slopes.sparsity().row()
        alone = len(rows) == 1 and slopes.nz[0].is_constant() and abs(float(slopes.nz[0])) == 1.0
        found.append((rows[0], int(float(slopes.nz[0]))) if alone else (0, 0))
    return found


def summed(integrals: Integrals, point: Array, before: tuple[Array, Array] | None, span: float) -> tuple[Array, Array]:
    """Put the integrals at a sample into its point, by the trapezoid from the sample before (values, rates); the same
    of this one."""
    unknowns, differentiated, rates = integrals
    rate = point[rates].copy()
    value = point[unknowns].copy() if before is None else before[0] + 0.5 * span * (before[1] + rate)
    point[unknowns] = point[differentiated] = value
    return value, rate
