"""Readings of elements that have a test of their own (netsim.core.tested), at the start of a run."""

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.tested import END, UNTIL, Tested
from netsim.equations.machine import call_table
from netsim.equations.numbering import nominal
from netsim.library.component import dimension
from netsim.network.network import Network
from netsim.results.selection import Reader
from netsim.simulate.setup.arrays.planned import Planned
from netsim.text.units import Dimension

Array = np.ndarray


def tested_readings(planned: Planned, reader: Reader, tracer: Reader) -> Struct:
    """Those that samples and traces ask for by name; none in given steps."""
    named = [*reader.named.values(), *((reader.size + place, unit) for place, unit in tracer.named.values())]
    if planned.options.step or not named:
        return nothing_tested()
    system = planned.machine.system
    nominals, units = _nominals(system.network), {unit: k for k, (_, unit) in enumerate(named)}
    tables, sizes = (reader.table, tracer.table), (reader.size, tracer.size)
    places, own = np.array([place for place, _ in named], np.int64), [unit for _, unit in named]
    kind, nominal_ = np.array([units[unit] for unit in own]), np.array([nominals.get(unit, 1.0) for unit in own])
    return _struct(tables, sizes, places, kind, nominal_, system.layout.size)


def nothing_tested() -> Struct:
    """No readings at all."""
    nothing, whole = call_table([], np.zeros(0, np.int32)), np.zeros(0, np.int64)
    return _struct((nothing, nothing), (0, 0), whole, whole, np.zeros(0), 0)


def _struct(
    tables: tuple[Array, Array], sizes: tuple[int, int], places: Array, kind: Array, nominals: Array, size: int
) -> Struct:
    sampled, traced = (np.zeros((2, count)) for count in sizes)
    rows, units = np.zeros((END + 1, len(places))), np.zeros(len(places))
    return struct_of(
        Tested(*tables, places, kind, nominals, np.zeros(size), sampled, traced, rows, units, np.zeros(UNTIL + 1))
    )


def _nominals(network: Network) -> dict[Dimension, float]:
    """The nominal sizes of quantities of the network's domains, by dimension."""
    domains = {node.domain.name: node.domain for node in network.nodes}.values()
    quantities = [q for domain in domains for q in (*domain.through, *domain.across)]
    return {dimension(quantity.unit): nominal(quantity) for quantity in quantities}
