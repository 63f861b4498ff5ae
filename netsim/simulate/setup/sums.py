"""Integrals over time that components keep (`der(work) = power`) and nobody reads: where samples show recovered forces,
they are summed of these.

A method's own forces of constraints have a lower order than its motion (2 of 5 for Radau's method at index 3), and so
has the work that it integrates of them. The energy account sums recovered powers by a quadrature; these integrals join
it, so that the work of a source is what the account says it supplied.
"""

import numpy as np

from netsim.core.contract import FORMULA, Trial
from netsim.core.loop.control import ACCOUNT, LIGHT, RECOVERING, Control
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.multibody.recursion.integrals import integrated, rate_equations
from netsim.results.selection import Reader

Array = np.ndarray
NO_SUMS = np.zeros((5, 0), np.int64)


def summed_places(machine: Machine, tracer: Reader | None = None) -> Array:
    """(5, n): places in g of integrals that no equation and no condition reads, places of their rates, 1 where a trace
    reads them; place of the equation of each rate among what residuals write, and its sign there (see
    `netsim.multibody.recursion.integrals.rate_equations`)."""
    layout, (unknowns, differentiated) = machine.system.layout, integrated(machine)
    equations, signs = rate_equations(machine)
    if not len(unknowns):
        return NO_SUMS
    places, rates = (
        layout.unknown(unknowns, 0).astype(np.int64),
        layout.differentiated(differentiated, 1).astype(np.int64),
    )
    alone = _readers(machine)[places] == 1
    traced = np.isin(places, tracer.reads(layout.y, layout.history)) if tracer else np.zeros(len(places), bool)
    return np.ascontiguousarray(
        np.array([places, rates, traced, layout.equation(equations), signs])[:, alone], np.int64
    )


def _readers(machine: Machine) -> Array:
    """How many elements' equations or conditions read each place of g."""
    found = np.zeros(machine.system.layout.size, np.int64)
    for batch in machine.system.batches:
        kernels = [batch.kernels.residual, *([batch.kernels.events] if batch.n_relations or batch.n_discretes else [])]
        for kernel in kernels:
            np.add.at(found, machine.system.gather(batch, kernel).ravel(), 1)
    return found


def set_account(control: Control, machine: Machine, structure: Structure, trial: Trial, always: bool) -> None:
    """Say whether the nodes of work are consistent points: where samples are, and either `always`, in steps of the
    formula alone, with nodes without mass, or where the account reads what only these know."""
    wanted = always or trial.counters[FORMULA] or control.places[LIGHT]
    control.places[ACCOUNT] = control.places[RECOVERING] and (
        wanted or _reads_recovered(machine, structure, trial.exponent)
    )


def _reads_recovered(machine: Machine, structure: Structure, exponent: Array) -> bool:
    """Whether energies, powers and integrals read values that only consistent points know as well as the motion.

    These are values that follow from differentiated constraints (their order in a step is lower, and no test weighs
    them), accelerations and rates. Powers of springs, dampers and given forces are as good where a step's polynomials
    are: these go through its stages, and motion inside it through both ends, which are consistent."""
    layout, s, n = machine.system.layout, structure.signature, machine.system.n
    if machine.element is not None or exponent[: layout.nk].any() or not rate_equations(machine)[1].all():
        return True
    read = np.concatenate([np.zeros(0, np.int64), *(call.gather for call in machine.calls["energy"])])
    if np.any((read >= layout.a) & (read < layout.y)) or np.any(read >= layout.history):
        return True
    summed = s.kept & (s.order > 0) & np.isin(s.variable, n + integrated(machine)[1])
    beside = s.kept & np.isin(s.equation, s.equation[summed]) & (s.variable >= layout.nk) & (s.variable < n)
    values = np.append(read[(read >= layout.y) & (read < layout.history)] - layout.y, s.variable[beside] - layout.nk)
    return bool((exponent[2 * layout.nk :][values.astype(np.int64)] > 0).any())
