"""Samples of an optimal motion: the network's signals on the polynomials of the collocation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netsim.analyses.optimal.program.radau import Mesh, integrals
from netsim.analyses.optimal.program.solve import Solution
from netsim.core.states import DISSIPATED, KINETIC, STORED, SUPPLIED, energies, sample
from netsim.equations.machine import Machine, power_buffer
from netsim.initial.charts import recharted
from netsim.results.samples import Samples, Trace
from netsim.results.selection import Selection, add_unseen, reader_of, select
from netsim.simulate.setup.choice import observing
from netsim.text.syntax import Expr, Name

Array = np.ndarray
WATCHED = "watched "
BLOCK = 1_000
"""Global vectors that are held at a time."""


def vectors(solution: Solution, fractions: Array) -> Array:
    """Global vectors (fractions, slots) of the solution at fractions of its span."""
    setting, point = solution.program.setting, solution.program.setting.point
    z, (places, slots) = solution.at(fractions), point.slots()
    found = np.empty((len(fractions), len(point.g)))
    known = setting.known(fractions, solution.stop)
    for k in range(len(fractions)):
        row = known[:, k].copy()
        row[slots] = z[places, k]
        recharted(point.machine.system, row, all_of_them=True)
        found[k] = row
    return found


def sampled(
    solution: Solution,
    between: float,
    saves: Sequence[Expr],
    plots: Sequence[Expr],
    beside: Sequence[Name],
    attributes: Mapping[str, Any],
) -> Samples:
    """What is saved and plotted, at the collocation points or every `between` seconds."""
    mesh, stop = solution.program.mesh, solution.stop
    machine: Machine = solution.program.setting.point.machine
    shares = mesh.fractions
    if between:
        shares = np.append(np.arange(0.0, stop * (1 - 1e-9), between) / stop, 1.0)
    selection = select(machine, saves, plots)
    selection.shown = {name: None for name in selection.shown if not name.startswith(WATCHED)}
    unseen = add_unseen(machine, selection, beside)
    reader = observing(machine, reader_of(machine, selection))
    count = len(selection.entries)
    values, power = _read_at(solution, shares, reader, count)
    at_points, flows = _read_at(solution, mesh.fractions, reader, count) if between else (values, power)
    worked = stop * _integrals(mesh, flows[:, [SUPPLIED, DISSIPATED]], shares)
    energy = np.column_stack([power[:, STORED], worked])
    early = solution.program.setting.early
    time = early + shares * stop
    columns = {name: values[:, j] for j, name in enumerate(selection.entries)}
    nodes = mesh.numbers
    trace = Trace(
        early + mesh.fractions[nodes] * stop, {n: at_points[:, j][nodes] for j, n in enumerate(selection.entries)}
    )
    signals, shown = selection.table(machine, columns, time, trace)
    return Samples(
        "", time, signals, shown, energy, attributes,
        trace=trace, unseen={n: columns[n] for n in unseen}, kinetic=power[:, KINETIC],
    )  # fmt: skip


def read(machine: Machine, rows: Array, names: Sequence[Name]) -> dict[str, Array]:
    """Signals by the names of their scalars at global vectors."""
    selection = Selection()
    add_unseen(machine, selection, names)
    values, _ = _read(machine, observing(machine, reader_of(machine, selection)), rows, len(selection.entries))
    return {name: values[:, j] for j, name in enumerate(selection.entries)}


def _read_at(solution: Solution, shares: Array, reader: Any, count: int) -> tuple[Array, Array]:
    """Signals and powers at fractions of the span, from a `BLOCK` of global vectors after the other."""
    machine, blocks = solution.program.setting.point.machine, range(0, len(shares), BLOCK)
    found = [_read(machine, reader, vectors(solution, shares[k : k + BLOCK]), count) for k in blocks]
    return np.concatenate([values for values, _ in found]), np.concatenate([powers for _, powers in found])


def _read(machine: Machine, reader: Any, rows: Array, count: int) -> tuple[Array, Array]:
    values, power = np.full((len(rows), count), np.nan), power_buffer(machine.system)
    powers = np.empty((len(rows), 4))
    for k, row in enumerate(rows):
        sample(reader.table, reader.places, row, np.zeros(reader.size), values[k])
        energies(machine.problem, row, power)
        powers[k] = power[0, :4]
    return values, powers


def _integrals(mesh: Mesh, series: Array, shares: Array) -> Array:
    """Integrals from 0 to `shares` of series at all points (points, series), by the polynomials through the points of
    each interval."""
    whole = np.einsum("i,l,ilk->ik", mesh.spans, mesh.weights, series[mesh.numbers[:, 1:]])
    totals = np.vstack([np.zeros(series.shape[1]), np.cumsum(whole, axis=0)])
    interval, theta = mesh.within(shares)
    inner = np.einsum("tl,tlk->tk", integrals(mesh.nodes, theta), series[mesh.numbers[interval, 1:]])
    return totals[interval] + mesh.spans[interval][:, None] * inner
