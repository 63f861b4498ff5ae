"""Room for samples at the start of a run, and the quadrature of work between the ends of steps."""

import numpy as np

from netsim.core.compiled.struct import Struct
from netsim.core.loop.control import EVERY, RECOVERING, SOLVING, Control
from netsim.core.loop.sampler import Sampler
from netsim.core.loop.turnover import no_turnover
from netsim.core.method import TRAPEZOID
from netsim.equations.machine import power_buffer
from netsim.results.selection import Reader
from netsim.simulate.setup.arrays.planned import Planned
from netsim.simulate.setup.instants import is_windowed
from netsim.simulate.setup.sums import NO_SUMS, summed_places

Array = np.ndarray

ROOM = 4
"""Rows beside those of requested instants: a step that finds no room for its samples is tried again, with other
rounding."""
STEPS = 1000
"""Steps that a trace has room for at first."""
RECTANGLE = (1.0,)
"""The node of the rule that goes with implicit Euler: powers at the end of a step, for all of it."""


def first_sampler(planned: Planned, reader: Reader, tracer: Reader, shares: Struct, control: Control) -> Sampler:
    """Room for samples, and the quadrature of work: the method's, or the rule that goes with its formula. Where nothing
    moves samples are polynomials: only what is read is evaluated then."""
    machine, options, method = planned.machine, planned.options, planned.method
    layout, rows = machine.system.layout, len(control.grid) - 1 + (1000 if control.places[EVERY] else ROOM)
    rows = options.window if is_windowed(options) else rows
    whole = np.arange(layout.ny + layout.nq)
    work = method.work if not options.formula else TRAPEZOID if options.recovers or method.order > 1 else RECTANGLE
    rough = len(work) < min(method.order, 4)  # stored energy through the nodes would be less exact than the values
    read = np.intersect1d(reader.reads(layout.y, layout.y + len(whole)) - layout.y, whole)
    if layout.nk or control.places[RECOVERING] or control.places[SOLVING] or rough:
        read = whole
    nodes = np.array(work)
    integrals = quadrature(nodes)
    summed = summed_places(machine, tracer) if control.places[RECOVERING] else NO_SUMS
    power = power_buffer(machine.system)
    kept, accounts = summed.shape[1], len(power)
    return Sampler(
        reader.table, reader.places, np.zeros(max(reader.size, tracer.size)), np.zeros((rows, len(reader.places))),
        np.zeros((rows, 4)),
        np.zeros(rows), np.zeros((2, 2 * accounts + kept)), power, nodes,
        np.zeros((len(nodes), 3 * accounts + kept)), integrals, summed, shares, read,
        tracer.table, tracer.places, np.zeros((max(rows, STEPS) * len(nodes), 1 + len(tracer.places))),
        no_turnover(power),
    )  # fmt: skip


def quadrature(nodes: Array) -> Array:
    """The share of the power at node k in the work up to theta is sum_m integrals[k, m] theta^(m + 1)."""
    basis = np.linalg.inv(np.vander(nodes, increasing=True))
    return np.ascontiguousarray(basis.T / np.arange(1, len(nodes) + 1))
