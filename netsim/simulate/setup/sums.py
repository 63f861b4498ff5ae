"""Integrals over time that components keep (`der(work) = power`) and nobody reads: where samples show recovered forces,
they are summed of these.

A method's own forces of constraints have a lower order than its motion (2 of 5 for Radau's method at index 3), and so
has the work that it integrates of them. The energy account sums recovered powers by a quadrature; these integrals join
it, so that the work of a source is what the account says it supplied.
"""

import numpy as np

from netsim.equations.machine import Machine
from netsim.multibody.recursion.integrals import integrated
from netsim.results.selection import Reader

Array = np.ndarray
NO_SUMS = np.zeros((3, 0), np.int64)


def summed_places(machine: Machine, tracer: Reader | None = None) -> Array:
    """(3, n): places in g of integrals that no equation and no condition reads, places of their rates, and 1 where a
    trace reads them."""
    layout, (unknowns, differentiated) = machine.system.layout, integrated(machine)
    if not len(unknowns):
        return NO_SUMS
    places, rates = (
        layout.unknown(unknowns, 0).astype(np.int64),
        layout.differentiated(differentiated, 1).astype(np.int64),
    )
    alone = _readers(machine)[places] == 1
    traced = np.isin(places, tracer.reads(layout.y, layout.history)) if tracer else np.zeros(len(places), bool)
    return np.ascontiguousarray(np.array([places, rates, traced])[:, alone], np.int64)


def _readers(machine: Machine) -> Array:
    """How many elements' equations or conditions read each place of g."""
    found = np.zeros(machine.system.layout.size, np.int64)
    for batch in machine.system.batches:
        kernels = [batch.kernels.residual, *([batch.kernels.events] if batch.n_relations or batch.n_discretes else [])]
        for kernel in kernels:
            np.add.at(found, machine.system.gather(batch, kernel).ravel(), 1)
    return found
