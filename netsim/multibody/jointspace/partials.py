"""Derivatives by order in joint coordinates: what the index, consistent points and error tests go by
(netsim.structure.orders, netsim.initial.stages).

With (kx, kv, ka) = (1, 0, 0), (0, 1, 0), (0, 0, 1) and alpha = 0 the step matrix is dF/dx, dF/dv, dF/da: the machine's
own calls give every derivative by a coordinate, whatever frames lie between. What differentiated quantities are made of
comes from the kernels' derivatives by order. All stand in one vector: [out | dF/dx | dF/dv | dF/da, each as the
matrix's entries | derivatives that differentiated quantities take part in].
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.equations.batches import Batch
from netsim.equations.kernels.program import restricted
from netsim.equations.layout import FOLLOWING
from netsim.equations.machine import Call, Machine, call_table, custom_call
from netsim.equations.system import System
from netsim.initial.consistent.derivatives import derivative_of
from netsim.multibody.jointspace import calls
from netsim.multibody.jointspace.numbering import Elements
from netsim.multibody.jointspace.pattern import Places, is_frame
from netsim.multibody.jointspace.spanning import Mechanism
from netsim.network.network import GROUND
from netsim.structure.orders import Offsets, Signature
from netsim.text.errors import InputError, Problem

Array = np.ndarray
ORDERS = 3
"""Positions, velocities and accelerations: frames have no more."""


@dataclass(frozen=True, eq=False)
class Partials:
    """The signature of a machine in joint coordinates and the calls behind its values: `matrix` those of the step
    matrix without the tree's, `differentiated` every batch's call of derivatives by order with the places of their
    triples, `read` (n + nq) the highest order of a frame that an equation reads (-1: none), `balances` which equations
    are balances along coordinates."""

    machine: Machine
    signature: Signature
    directory: Array
    matrix: Array
    differentiated: Array
    read: Array
    balances: Array
    alive: list[list[Call]]

    def table(self, used: Array) -> Array:
        """The call table that gives the derivatives marked in `used`."""
        first, nnz = self.machine.system.out_size, self.machine.system.pattern.nnz
        parts = []
        for order in range(ORDERS):
            if used[first + order * nnz : first + (order + 1) * nnz].any():
                before, after = calls.BEFORE_PARTIAL + order, calls.AFTER_PARTIAL + order
                parts += [calls.row(before, self.directory), self.matrix, calls.row(after, self.directory)]
        if used[first + ORDERS * nnz :].any():
            parts.append(self.differentiated)
        return np.concatenate([np.zeros((0, ROW_LENGTH), np.int64), *parts])

    def values(self, g: Array) -> Array:
        """The derivatives of every triple at what g holds."""
        point, found = g.copy(), np.zeros(len(self.signature.order))
        run_table(self.table(self.signature.kept), point, found)
        return found

    def equations(self, order: int) -> Array:
        """The call table of F^(order) of all equations, in places as those of `out`, made once."""
        return self.machine.table_of(order, lambda: self._equations(order))

    def _equations(self, order: int) -> tuple[list[Call], Array]:
        system = self.machine.system
        found = []
        for batch in system.batches:
            kernel = derivative_of(batch, order)
            rows = [system.layout.frame_row(batch.row(key), system.pattern.nnz) for key in batch.form.rows]
            rows += [system.layout.equation(system.n + batch.differentiated(k)) for k in range(batch.n_differentiated)]
            if rows:
                found.append(custom_call(system, batch, kernel, self.machine.parameters, np.array(rows)))
        table = call_table(found, system.layout.uniforms)
        if order:
            return found, np.concatenate([calls.row(calls.FRAMES_ONLY, self.directory), table])
        before, after = (
            calls.row(calls.BEFORE_RESIDUAL, self.directory),
            calls.row(calls.AFTER_RESIDUAL, self.directory),
        )
        return found, np.concatenate([before, table, after])

    def derivative(self, g: Array, order: int) -> Array:
        """F^(order) at what g holds: rows, then definitions of differentiated quantities."""
        layout, point, out = self.machine.system.layout, g.copy(), np.zeros(self.machine.system.out_size)
        run_table(self.equations(order), point, out)
        return out[layout.equation(np.arange(layout.n + layout.nq))]

    def check(self, offsets: Offsets) -> None:
        """Raise `InputError` (E439) if equations need derivatives of accelerations of bodies."""
        wanted = np.where(self.balances, 2 * offsets.c + 2, np.where(self.read >= 0, offsets.c + self.read, 0))
        if np.any(wanted[offsets.match >= 0] > 2):
            message = "formulation = tree has no derivatives of accelerations of bodies, and this network needs them"
            hint = "use formulation = absolute; the cause is a motion prescribed behind a spring or an inductance, "
            hint += "or springs at a massless node"
            raise InputError(Problem("E439", message, hint=hint))


def find_partials(
    machine: Machine, elements: Elements, tree: Mechanism, places: Places, directory: Array, constant: Array
) -> Partials:
    """The orders of a machine in joint coordinates; triples marked in `constant` (as the kernels have them) do not
    count.

    Raises `InputError` where a differentiated quantity reads a frame, or an equation the reaction of a joint."""
    system = machine.system
    n = system.n
    noted = _Noted(elements, tree, places)
    charged: list[tuple[Array, Array, Array]] = []
    found: list[Call] = []
    at, count = 0, system.out_size + ORDERS * system.pattern.nnz
    for batch in system.batches:
        kernel = batch.kernels.partials
        scatter = np.full((len(kernel.scatter), batch.n), -1)
        for e, (_, row, key, order) in enumerate(kernel.scatter):
            left = ~constant[at : at + batch.n]
            at += batch.n
            if key[0] == "resting":
                continue
            rows = (
                batch.row(batch.form.rows[row])
                if row < len(batch.form.rows)
                else n + batch.differentiated(row - len(batch.form.rows))
            )
            columns = n + batch.differentiated(key[1]) if key[0] == "differentiated" else batch.columns(key)
            if batch.shapes:  # an expression of signals; a link's own rows are the tree's
                _refuse_reactions(batch, rows, columns, system.layout.nf)
            if row < len(batch.form.rows) and key[0] != "differentiated":
                noted.note(rows, columns, order)
                continue
            _refuse_frames(batch, rows, columns, system.layout.nf)
            kept = left & (rows >= 0) & (columns >= 0)
            scatter[e, kept] = count + np.arange(kept.sum())
            count += int(kept.sum())
            charged.append((rows[kept], columns[kept], np.full(kept.sum(), order)))
        wanted = np.flatnonzero((scatter >= 0).any(axis=1))
        if len(wanted):
            call = custom_call(system, batch, kernel, machine.parameters, np.where(scatter < 0, n, scatter)[wanted])
            found.append(
                Call(restricted(kernel.program, wanted.tolist()), call.n, call.gather, call.parameters, call.scatter)
            )
    signature = _joined(system, noted.highest(), charged)
    balances = np.zeros(signature.size, bool)
    balances[elements.row[elements.row >= 0]] = True
    differentiated = call_table(found, system.layout.uniforms)
    return Partials(
        machine, signature, directory, machine.problem.jacobian, differentiated, noted.read, balances, [found]
    )


def _joined(system: System, highest: Array, charged: list[tuple[Array, Array, Array]]) -> Signature:
    """The triples in the vector's order: a matrix entry counts at its highest order, those of values among the
    derivatives by accelerations."""
    first, nnz, nk = system.out_size, system.pattern.nnz, system.layout.nk
    columns = np.repeat(np.arange(system.n), np.diff(system.pattern.indptr))
    equation, variable, order = (np.full(first + ORDERS * nnz, -1) for _ in range(3))
    at = np.flatnonzero(highest >= 0)
    place = first + np.where(columns[at] < nk, highest[at], ORDERS - 1) * nnz + at
    equation[place], variable[place], order[place] = system.pattern.indices[at], columns[at], highest[at]
    whole = [
        np.concatenate([entries, *(c[k] for c in charged)]) for k, entries in enumerate((equation, variable, order))
    ]
    return Signature(whole[0], whole[1], whole[2], system.n + system.layout.nq, np.zeros(len(whole[0]), bool))


def _refuse_frames(batch: Batch, rows: Array, columns: Array, frames: int) -> None:
    for k in np.flatnonzero(is_frame(rows, frames) | is_frame(columns, frames)):
        message = (
            f"formulation = tree does not support '{batch.labels[k]}': its differentiated quantity depends on "
            "the motion of bodies"
        )
        span = batch.instances[k].span if batch.instances else None
        raise InputError(Problem("E439", message, span, hint="use formulation = absolute"))


def _refuse_reactions(batch: Batch, rows: Array, columns: Array, frames: int) -> None:
    """Raises E439 for expressions that read reactions of the tree's joints, which are computed after each step."""
    for k in np.flatnonzero((rows >= 0) & (columns < GROUND) & ~is_frame(columns, frames)):
        message = f"formulation = tree does not support '{batch.labels[k]}': it reads a reaction of a joint"
        span = batch.instances[k].span if batch.instances else None
        raise InputError(Problem("E439", message, span, hint="use formulation = absolute"))


class _Noted:
    """The highest order at which every matrix entry stands, gathered from triples of kernels: those of frames are of
    all that moves the frame."""

    def __init__(self, elements: Elements, tree: Mechanism, places: Places):
        self.elements, self.tree, self.places = elements, tree, places
        self.n, self.frames = elements.layout.n, len(tree.frames)
        self.paths = [np.array(path, np.int64) for path in tree.body_paths]
        pattern = places.pattern
        self.codes = np.repeat(np.arange(self.n), np.diff(pattern.indptr)) * self.n + pattern.indices
        self.found = np.full(pattern.nnz, -1)
        self.read = np.full(elements.layout.n + elements.layout.nq, -1)
        self.pairs: dict[tuple[int, int], int] = {}

    def note(self, rows: Array, columns: Array, order: int) -> None:
        """One triple of a batch, of every element."""
        row_frames, column_frames = is_frame(rows, self.frames), is_frame(columns, self.frames)
        plain = (rows >= 0) & (columns >= 0)
        self._mark(rows[plain], columns[plain], order)
        bodies, others = (rows - FOLLOWING) // 6, (columns - FOLLOWING) // 6
        for k in np.flatnonzero((rows >= 0) & column_frames):
            self.read[rows[k]] = max(self.read[rows[k]], order)
            self._mark(rows[k], self.elements.unknown[self.paths[others[k]]], order)
        for k in np.flatnonzero(row_frames & (columns >= 0)):
            self._mark(self.elements.row[self.paths[bodies[k]]], columns[k], order)
        for k in np.flatnonzero(row_frames & column_frames):
            pair = self.tree.body_links[int(bodies[k])], int(others[k])
            self.pairs[pair] = max(self.pairs.get(pair, -1), order)

    def highest(self) -> Array:
        """The order of every entry of the pattern (-1: only steps have it)."""
        acting: list[dict[int, int]] = [dict.fromkeys(self.tree.path(i), 0) for i in range(len(self.tree.links))]
        for (link, body), order in self.pairs.items():
            _raise(acting[link], dict.fromkeys(self.paths[body].tolist(), order))
        for i in range(len(self.tree.links) - 1, 0, -1):
            if self.tree.links[i].parent > 0:
                _raise(acting[self.tree.links[i].parent], acting[i])
        for k, coordinate in enumerate(self.tree.coordinates):
            by, orders = (
                np.array(list(part), np.int64) for part in (acting[coordinate.link], acting[coordinate.link].values())
            )
            for order in range(ORDERS):
                self._mark(self.elements.row[k], self.elements.unknown[by[orders == order]], order)
        return self.found

    def _mark(self, rows: Array, columns: Array, order: int) -> None:
        rows, columns = np.broadcast_arrays(rows, columns)
        codes = (columns * self.n + rows)[(rows >= 0) & (columns >= 0)]
        at = np.searchsorted(self.codes, codes)
        self.found[at] = np.maximum(self.found[at], order)


def _raise(orders: dict[int, int], others: dict[int, int]) -> None:
    for k, order in others.items():
        orders[k] = max(orders.get(k, -1), order)
