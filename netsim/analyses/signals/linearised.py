"""A network linearised at a point, as polynomials in s = d/dt:

    P(s) z + W(s) w = 0,   y = C(s) z + D(s) w

z: the unknowns u (n), then the differentiated quantities q (nq); w: the chosen inputs (m); y: the saved signals (p).
All come from one list of derivatives (row, column, order, value): of the equations F(x, v, a, y, q', w, t) = 0, of the
definitions q - q(u) = 0, and of the signals. A quantity of order k is s^k times the quantity itself. What is delayed by
T is a column of its own, e^(-s T) times the column of what it is a delay of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from netsim.core.problem import PAST
from netsim.core.states import sample
from netsim.equations.batches import Batch
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.kernel import reading_partials_kernel
from netsim.equations.kernels.reference import evaluate
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.equations.numbering import suffixes
from netsim.equations.system import System
from netsim.initial.charts import recharted
from netsim.initial.static.rest import carried_unknowns
from netsim.results.samples import Signal
from netsim.results.selection import Entry, Reader, Selection, reader_of
from netsim.results.series import series_scope, unit_of
from netsim.structure.orders import all_equation_numbers, variables_of
from netsim.text.expressions.sizes import flatten, shape
from netsim.text.expressions.typed import evaluate as evaluated
from netsim.text.units import NO_DIMENSION

Array = np.ndarray
Powers = tuple[Any, ...]
"""Sparse matrices by the power of s that they are factors of."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """P, C by powers of s over the columns [u | q | prescribed inputs], at the point in g; `signals` are the rows of
    C. The last columns are delays: `length` (s) and the unknown `of` each, `delayed` its column."""

    machine: Machine
    g: Array
    equations: Powers
    outputs: Powers
    signals: tuple[Signal, ...]
    values: Array
    length: Array
    of: Array
    delayed: Array

    @property
    def n(self) -> int:
        return self.machine.system.n

    @property
    def size(self) -> int:
        """Unknowns and differentiated quantities."""
        return self.n + self.machine.system.layout.nq

    @property
    def dense(self) -> list[Array]:
        """P by powers of s over unknowns and differentiated quantities."""
        return [power[:, : self.size].toarray() for power in self.equations]

    @cached_property
    def reduced(self) -> tuple[Powers, Powers]:
        """(P, C) over [u | prescribed inputs], without differentiated quantities: q = -(their definitions' rows) u."""
        n, size = self.n, self.size
        kept = np.r_[:n, size : self.equations[0].shape[1]]
        definitions = [-power[n:][:, kept] for power in self.equations]
        found = []
        for powers, rows in ((self.equations, slice(0, n)), (self.outputs, slice(None))):
            sums = [power[rows][:, kept] for power in powers]
            for i, power in enumerate(powers):
                by_differentiated = power[rows][:, n:size]
                for j, definition in enumerate(definitions):
                    if by_differentiated.nnz and definition.nnz:
                        sums += [csr_array(sums[0].shape)] * (i + j + 1 - len(sums))
                        sums[i + j] = sums[i + j] + by_differentiated @ definition
            while len(sums) > 1 and not sums[-1].nnz:
                sums.pop()
            found.append(tuple(map(csr_array, sums)))
        return found[0], found[1]


def linearised(machine: Machine, g: Array, selection: Selection) -> Linearised:
    """The derivatives at the point in g (consistent, rates and accelerations included) of equations and signals."""
    system, g = machine.system, g.copy()
    recharted(system, g, all_of_them=True)
    past = machine.problem.buffer
    if len(past.length):
        g[PAST] = 1.0
        g[system.layout.prescribed(past.prescribed, 0)] = g[past.slot]
    size, layout = system.n + system.layout.nq, system.layout
    width = size + layout.nd
    equations = _powers(_equations(machine, g), (size, width))
    base = list(selection.entries.values())
    gradients = _powers(_entries(machine, g, base), (len(base), width))
    shown, jacobian, signals = shown_signals(machine, selection)
    values = read(reader_of(machine, selection), g)
    unknown = np.array([*past.place], np.int64)
    of = np.where(unknown >= 0, unknown + layout.nk, -1)
    return Linearised(
        machine,
        g,
        equations,
        tuple(csr_array(jacobian(values)) @ power for power in gradients),
        signals,
        shown(values),
        np.array(past.length),
        of,
        size + np.array(past.prescribed, np.int64),
    )


def read(reader: Reader, g: Array) -> Array:
    """The signals at a point."""
    row = np.full(len(reader.places), np.nan)
    sample(reader.table, reader.places, g, np.zeros(reader.size), row)
    return row


def _equations(machine: Machine, g: Array) -> Iterator[tuple[Array, Array, int, Array]]:
    """(rows, columns, order, values) of equations, then definitions."""
    for batch, row, _, columns, order, values in derivatives(machine, g):
        yield all_equation_numbers(machine.system, batch)[row], columns, order, values


def derivatives(machine: Machine, g: Array) -> Iterator[tuple[Batch, int, Key, Array, int, Array]]:
    """(batch, row of its form, key, columns, order, values) of what elements add to equations and definitions."""
    system = machine.system
    for batch in system.batches:
        kernel = batch.kernels.partials
        if kernel.program.n_outputs:
            gathered, uniforms = g[system.gather(batch, kernel)], g[system.layout.uniforms]
            values = evaluate(kernel.program, gathered, uniforms, machine.parameters[id(batch)])
            for (_, row, key, order), value in zip(kernel.scatter, values):
                yield batch, row, key, _columns(system, batch, key), order, value


def _columns(system: System, batch: Batch, key: Key) -> Array:
    """Columns of a key; negative for ground and for what never moves."""
    if key in batch.prescribed_inputs:
        return system.n + system.layout.nq + batch.prescribed_inputs[key]
    return variables_of(system, batch, key)


def _entries(machine: Machine, g: Array, entries: Sequence[Entry]) -> Iterator[tuple[Array, Array, int, Array]]:
    """(rows, columns, order, values) of signals: places in g, and readings of instances."""
    system = machine.system
    wanted: dict[int, list[tuple[int, Entry]]] = {}
    for row, entry in enumerate(entries):
        if entry.batch is None:
            yield from ((np.array([row]), np.array([c]), k, np.array([v])) for c, k, v in _place(system, g, entry.slot))
        else:
            wanted.setdefault(id(entry.batch), []).append((row, entry))
    for found in wanted.values():
        batch = found[0][1].batch
        assert batch is not None
        readings = list(dict.fromkeys(entry.reading for _, entry in found))
        kernel = reading_partials_kernel(batch.form, readings)
        gathered, uniforms = g[system.gather(batch, kernel)], g[system.layout.uniforms]
        values = evaluate(kernel.program, gathered, uniforms, machine.parameters[id(batch)])
        for (_, reading, key, order), value in zip(kernel.scatter, values):
            members = [(row, entry.position) for row, entry in found if entry.reading == readings[reading]]
            rows, at = np.array(members).T
            yield rows, _columns(system, batch, key)[at], order, value[at]


def _place(system: System, g: Array, slot: int) -> Iterator[tuple[int, int, float]]:
    """(column, order, derivative) of what stands in g: x, v, a, y, or an entry of a rotation R = cay(psi) R_c."""
    layout = system.layout
    if layout.x <= slot < layout.y:
        yield (slot - layout.x) % layout.nk, (slot - layout.x) // layout.nk, 1.0
    elif layout.y <= slot < layout.history:
        yield layout.nk + slot - layout.y, 0, 1.0
    elif layout.charts <= slot < layout.places:
        f, entry = divmod(slot - layout.charts, 9)
        i, j = divmod(entry, 3)
        column = g[layout.charts + 9 * f : layout.charts + 9 * f + 9].reshape(3, 3)[:, j]
        for k, axis in enumerate(np.eye(3)):
            yield int(system.numbering.rotations[f]) + k, 0, float(np.cross(axis, column)[i])


def _powers(found: Iterator[tuple[Array, Array, int, Array]], shape_: tuple[int, int]) -> Powers:
    by_order: dict[int, list[tuple[Array, Array, Array]]] = {0: []}
    for rows, columns, order, values in found:
        kept = (rows >= 0) & (columns >= 0) & (values != 0.0)
        by_order.setdefault(order, []).append((rows[kept], columns[kept], values[kept]))
    return tuple(_assembled(by_order.get(order, []), shape_) for order in range(max(by_order) + 1))


def _assembled(parts: list[tuple[Array, Array, Array]], shape_: tuple[int, int]) -> Any:
    if not parts:
        return csr_array(shape_)
    rows, columns, values = (np.concatenate(part) for part in zip(*parts))
    return csr_array((values, (rows, columns)), shape=shape_)


def shown_at(machine: Machine, g: Array, selection: Selection) -> Array:
    """The shown signals at a point."""
    return shown_signals(machine, selection)[0](read(reader_of(machine, selection), g))


def shown_signals(machine: Machine, selection: Selection) -> tuple[Any, Any, tuple[Signal, ...]]:
    """The shown signals, and their derivatives, as functions of the sampled ones; the shown signals."""
    names, top = list(selection.entries), machine.system.network.top
    symbols = ca.SX.sym("signals", len(names))
    known: Any = dict(zip(names, ca.vertsplit(symbols) if names else []))
    scope = series_scope(selection.dimensions, known, np.zeros(1), machine.values.scope(top), top)
    signals = [selection.entries[name].signal for name in selection.shown]
    expressions = [known[name] for name in selection.shown]
    for text, expr in selection.expressions.items():
        typed: Any = evaluated(expr, scope)
        for suffix, scalar in zip(suffixes(shape(typed.value)), flatten(typed.value)):
            signals.append(Signal(text + suffix, unit_of(typed.dimension or NO_DIMENSION)))
            expressions.append(scalar)
    column = ca.vertcat(ca.SX(0, 1), *map(ca.SX, expressions))
    function = ca.Function("shown", [symbols], [column, ca.jacobian(column, symbols)])
    sizes = len(signals), len(names)
    return (
        lambda values: np.array(function(values)[0]).reshape(sizes[0]),
        lambda values: np.array(function(values)[1]).reshape(sizes),
        tuple(signals),
    )


def at_zero(lin: Linearised) -> Linearised:
    """The network at s = 0, where the equations of elements that speak of rates only (friction that holds: s^2 x = 0)
    are divided by s as often as they can be: what is held stays."""
    powers, n = [csr_array(power) for power in lin.equations], lin.n
    carried = carried_unknowns(lin.machine, np.array(lin.machine.system.nominals))[0]
    spoken = np.array([np.bincount(p.nonzero()[0], minlength=lin.size) > 0 for p in powers])
    first = np.where(spoken.any(axis=0), spoken.argmax(axis=0), 0)
    first[:n][carried] = 0
    found = []
    for j in range(len(powers)):
        shifted = (diags_array((first == k).astype(float)) @ powers[j + k] for k in range(len(powers) - j))
        found.append(csr_array(sum(shifted, csr_array(powers[0].shape))))
    return replace(lin, equations=tuple(found))
