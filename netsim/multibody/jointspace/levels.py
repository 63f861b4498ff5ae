"""Derivatives by level in joint coordinates: what the index, consistent points and error tests go by
(netsim.structure.levels, netsim.initial.stages).

With (kx, kv, ka) = (1, 0, 0), (0, 1, 0), (0, 0, 1) and alpha = 0 the step matrix is dF/dx, dF/dv, dF/da: the machine's
own calls give every derivative by a coordinate, whatever frames lie between. What charges are made of comes from the
kernels' derivatives by level. All stand in one vector: [out | dF/dx | dF/dv | dF/da, each as the matrix's entries |
derivatives that charges take part in].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import ROW_LENGTH, run_table
from netsim.equations.batches import Batch
from netsim.equations.kernels.program import restricted
from netsim.equations.layout import FOLLOWING
from netsim.equations.machine import Call, Machine, call_table, custom_call
from netsim.equations.system import System
from netsim.initial.stages import derivative_of
from netsim.multibody.jointspace import calls
from netsim.multibody.jointspace.numbering import Elements
from netsim.multibody.jointspace.pattern import Places, is_frame
from netsim.multibody.jointspace.spanning import Mechanism
from netsim.network.network import GROUND
from netsim.structure.levels import Offsets, Signature
from netsim.text.errors import InputError, Problem

Array = np.ndarray
LEVELS = 3
"""Positions, velocities and accelerations: frames have no more."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The signature of a machine in joint coordinates and the calls behind its values: `matrix` those of the step
    matrix without the tree's, `charges` every batch's call of derivatives by level with the places of its charges'
    triples, `read` (n + nq) the highest level of a frame that an equation reads (-1: none), `balances` which equations
    are balances along coordinates."""

    machine: Machine
    signature: Signature
    directory: Array
    matrix: Array
    charges: Array
    read: Array
    balances: Array
    alive: list[list[Call]]

    def table(self, used: Array) -> Array:
        """The call table that gives the derivatives marked in `used`."""
        first, nnz = self.machine.system.out_size, self.machine.system.pattern.nnz
        parts = []
        for level in range(LEVELS):
            if used[first + level * nnz : first + (level + 1) * nnz].any():
                before, after = calls.BEFORE_LEVEL + level, calls.AFTER_LEVEL + level
                parts += [calls.row(before, self.directory), self.matrix, calls.row(after, self.directory)]
        if used[first + LEVELS * nnz :].any():
            parts.append(self.charges)
        return np.concatenate([np.zeros((0, ROW_LENGTH), np.int64), *parts])

    def values(self, g: Array) -> Array:
        """The derivatives of every triple at what g holds."""
        point, found = g.copy(), np.zeros(len(self.signature.level))
        run_table(self.table(self.signature.kept), point, found)
        return found

    def equations(self, order: int) -> Array:
        """The call table of F^(order) of all equations, in places as those of `out`."""
        system = self.machine.system
        found = []
        for batch in system.batches:
            kernel = derivative_of(batch, order)
            rows = [system.layout.frame_row(batch.row(key), system.pattern.nnz) for key in batch.form.rows]
            rows += [system.layout.equation(system.n + batch.charges(k)) for k in range(batch.n_charges)]
            if rows:
                found.append(custom_call(system, batch, kernel, self.machine.parameters, np.array(rows)))
        self.alive.append(found)
        table = call_table(found, system.layout.uniforms)
        if order:
            return np.concatenate([calls.row(calls.FRAMES_ONLY, self.directory), table])
        return np.concatenate(
            [calls.row(calls.BEFORE_RESIDUAL, self.directory), table, calls.row(calls.AFTER_RESIDUAL, self.directory)]
        )

    def derivative(self, g: Array, order: int) -> Array:
        """F^(order) at what g holds: rows, then definitions of charges."""
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


def find_levels(
    machine: Machine, elements: Elements, tree: Mechanism, places: Places, directory: Array, constant: Array
) -> Levels:
    """The levels of a machine in joint coordinates; triples marked in `constant` (as the kernels have them) do not
    count.

    Raises `InputError` where a charge reads a frame, or an equation the reaction of a joint."""
    system = machine.system
    n = system.n
    noted = _Noted(elements, tree, places)
    charged: list[tuple[Array, Array, Array]] = []
    found: list[Call] = []
    at, count = 0, system.out_size + LEVELS * system.pattern.nnz
    for batch in system.batches:
        kernel = batch.kernels.levels
        scatter = np.full((len(kernel.scatter), batch.n), -1)
        for e, (_, row, key, level) in enumerate(kernel.scatter):
            left = ~constant[at : at + batch.n]
            at += batch.n
            if key[0] == "resting":
                continue
            rows = (
                batch.row(batch.form.rows[row])
                if row < len(batch.form.rows)
                else n + batch.charges(row - len(batch.form.rows))
            )
            columns = n + batch.charges(key[1]) if key[0] == "charge" else batch.columns(key)
            if batch.shapes:  # an expression of signals; a link's own rows are the tree's
                _refuse_reactions(batch, rows, columns, system.layout.nf)
            if row < len(batch.form.rows) and key[0] != "charge":
                noted.note(rows, columns, level)
                continue
            _refuse_frames(batch, rows, columns, system.layout.nf)
            kept = left & (rows >= 0) & (columns >= 0)
            scatter[e, kept] = count + np.arange(kept.sum())
            count += int(kept.sum())
            charged.append((rows[kept], columns[kept], np.full(kept.sum(), level)))
        wanted = np.flatnonzero((scatter >= 0).any(axis=1))
        if len(wanted):
            call = custom_call(system, batch, kernel, machine.parameters, np.where(scatter < 0, n, scatter)[wanted])
            found.append(
                Call(restricted(kernel.program, wanted.tolist()), call.n, call.gather, call.parameters, call.scatter)
            )
    signature = _joined(system, noted.highest(), charged)
    balances = np.zeros(signature.size, bool)
    balances[elements.row[elements.row >= 0]] = True
    charges = call_table(found, system.layout.uniforms)
    return Levels(machine, signature, directory, machine.problem.jacobian, charges, noted.read, balances, [found])


def _joined(system: System, highest: Array, charged: list[tuple[Array, Array, Array]]) -> Signature:
    """The triples in the vector's order: a matrix entry counts at its highest level, those of values among the
    derivatives by accelerations."""
    first, nnz, nk = system.out_size, system.pattern.nnz, system.layout.nk
    columns = np.repeat(np.arange(system.n), np.diff(system.pattern.indptr))
    equation, variable, level = (np.full(first + LEVELS * nnz, -1) for _ in range(3))
    at = np.flatnonzero(highest >= 0)
    place = first + np.where(columns[at] < nk, highest[at], LEVELS - 1) * nnz + at
    equation[place], variable[place], level[place] = system.pattern.indices[at], columns[at], highest[at]
    whole = [
        np.concatenate([entries, *(c[k] for c in charged)]) for k, entries in enumerate((equation, variable, level))
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
    """The highest level at which every matrix entry stands, gathered from triples of kernels: those of frames are of
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

    def note(self, rows: Array, columns: Array, level: int) -> None:
        """One triple of a batch, of every element."""
        row_frames, column_frames = is_frame(rows, self.frames), is_frame(columns, self.frames)
        plain = (rows >= 0) & (columns >= 0)
        self._mark(rows[plain], columns[plain], level)
        bodies, others = (rows - FOLLOWING) // 6, (columns - FOLLOWING) // 6
        for k in np.flatnonzero((rows >= 0) & column_frames):
            self.read[rows[k]] = max(self.read[rows[k]], level)
            self._mark(rows[k], self.elements.unknown[self.paths[others[k]]], level)
        for k in np.flatnonzero(row_frames & (columns >= 0)):
            self._mark(self.elements.row[self.paths[bodies[k]]], columns[k], level)
        for k in np.flatnonzero(row_frames & column_frames):
            pair = self.tree.body_links[int(bodies[k])], int(others[k])
            self.pairs[pair] = max(self.pairs.get(pair, -1), level)

    def highest(self) -> Array:
        """The level of every entry of the pattern (-1: only steps have it)."""
        acting: list[dict[int, int]] = [dict.fromkeys(self.tree.path(i), 0) for i in range(len(self.tree.links))]
        for (link, body), level in self.pairs.items():
            _raise(acting[link], dict.fromkeys(self.paths[body].tolist(), level))
        for i in range(len(self.tree.links) - 1, 0, -1):
            if self.tree.links[i].parent > 0:
                _raise(acting[self.tree.links[i].parent], acting[i])
        for k, coordinate in enumerate(self.tree.coordinates):
            by, levels = (
                np.array(list(part), np.int64) for part in (acting[coordinate.link], acting[coordinate.link].values())
            )
            for level in range(LEVELS):
                self._mark(self.elements.row[k], self.elements.unknown[by[levels == level]], level)
        return self.found

    def _mark(self, rows: Array, columns: Array, level: int) -> None:
        rows, columns = np.broadcast_arrays(rows, columns)
        codes = (columns * self.n + rows)[(rows >= 0) & (columns >= 0)]
        at = np.searchsorted(self.codes, codes)
        self.found[at] = np.maximum(self.found[at], level)


def _raise(levels: dict[int, int], others: dict[int, int]) -> None:
    for k, level in others.items():
        levels[k] = max(levels.get(k, -1), level)
