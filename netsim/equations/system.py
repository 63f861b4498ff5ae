"""Network -> system: unknowns numbered, instances batched by type, one residual, one sparsity pattern, computed once.

A system holds structure only (index arrays, kernels); parameter values live in `Parameters` and are replaced without
touching it. Unknowns: node acrosses (velocities in mechanics), the throughs of sources and implicit branches, internal
variables, and one for every input bound to an expression of signals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from netsim.equations.batches import Batch, Indeterminacy, changing, delays_of, pins
from netsim.equations.elements import KernelsOf, batches_of, plain_kernels
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.kernel import Kernel
from netsim.equations.layout import Layout
from netsim.equations.numbering import Numbering, number_unknowns
from netsim.equations.prescribed import Prescribed
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.text.collecting import collection_paused
from netsim.text.errors import InputError

Array = np.ndarray


@dataclass(frozen=True)
class Pattern:
    """Compressed columns of the step matrix, and where each kernel's entries land in it."""

    indptr: Array
    indices: Array

    @property
    def nnz(self) -> int:
        return len(self.indices)


@dataclass(frozen=True, eq=False)
class Redundant:
    """Constraints that repeat what others say: their rows are dropped, and as many multipliers are held at zero
    (`multipliers[i] = 0` in row i)."""

    rows: Array
    multipliers: Array


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """The modified nodal system F(t, x, v, a, y, q') = 0 of a network; `room` is what elements of several
    calls need behind it in `out`; `accounts`: of how many networks side by side, element by element, energies are
    accounted for."""

    network: Network
    numbering: Numbering
    layout: Layout
    batches: tuple[Batch, ...]
    prescribed_inputs: tuple[Prescribed, ...]
    pattern: Pattern
    positions: Mapping[int, Array] = field(repr=False)
    redundant: Redundant | None = None
    room: int = 0
    accounts: int = 1

    def __repr__(self) -> str:
        return f"<System of {self.n} unknowns, {self.network!r}>"

    @cached_property
    def _scattered(self) -> dict[tuple[int, int], tuple[Array, Batch, Kernel]]:
        return {}

    @cached_property
    def _gathered(self) -> dict[tuple[int, int], tuple[Array, Batch, Kernel]]:
        return {}

    @property
    def n(self) -> int:
        return self.layout.n

    @property
    def out_size(self) -> int:
        return self.layout.entries + self.pattern.nnz + 1 + 6 * self.layout.nf + self.room

    @cached_property
    def names(self) -> list[str]:
        """A name for every unknown: 'a.v', 's1.f', 'r.i'."""
        return self.numbering.unknown_names(self.network, self.batches)

    @cached_property
    def home(self) -> dict[str, tuple[Batch, int]]:
        """Batch and position in it of every instance, by name."""
        return {
            instance.name: (batch, k)
            for batch in self.batches
            if not batch.shapes
            for k, instance in enumerate(batch.instances)
        }

    @cached_property
    def nominals(self) -> Array:
        return self.numbering.nominals(self.network, self.batches)

    @cached_property
    def position_nominals(self) -> Array:
        return self.numbering.position_nominals(self.network)

    # ------------------------------------------------------------------------------- index arrays of kernels

    def gather(self, batch: Batch, kernel: Kernel) -> Array:
        """Places in g of every (key, order) a kernel reads, for all instances of the batch."""
        known = self._gathered.get((id(batch), id(kernel)))
        if known is None:
            rows = [self._slots(batch, key, order) for key, order in kernel.gather]
            places = np.ascontiguousarray(np.array(rows, dtype=np.int32).reshape(len(rows), batch.n))
            known = self._gathered[id(batch), id(kernel)] = (places, batch, kernel)  # what has a number keeps it
        return known[0]

    def _slots(self, batch: Batch, key: Key, order: int) -> Array:
        if key[0] == "differentiated":
            return self.layout.differentiated(batch.differentiated(key[1]), order)
        if key[0] == "chart":
            return self.layout.chart(*batch.constants[key])
        if key[0] == "place":
            return self.layout.place(batch.constants[key][0])
        if key[0] in ("discrete", "before", "relation_value"):
            return (getattr(self.layout, f"{key[0]}s") + batch.constants[key][0]).astype(np.int32)
        if key in batch.prescribed_inputs:
            return self.layout.prescribed(batch.prescribed_inputs[key], order)
        if key in batch.tables:
            return self.layout.table(batch.tables[key], order)
        return self.layout.unknown(batch.unknowns[key], order)

    def scatter(self, batch: Batch, kernel: Kernel) -> Array:
        """Places in out of every output of a step kernel."""
        known = self._scattered.get((id(batch), id(kernel)))
        if known is None:
            known = self._scattered[id(batch), id(kernel)] = (self._places(batch, kernel), batch, kernel)
        return known[0]

    def _places(self, batch: Batch, kernel: Kernel) -> Array:
        entry = 0
        rows = []
        for place in kernel.scatter:
            match place[0]:
                case "row":
                    rows.append(self.layout.frame_row(batch.row(place[1]), self.pattern.nnz))
                case "differentiated":
                    rows.append((self.layout.differentiated_results + batch.differentiated(place[1])).astype(np.int32))
                case "entry":
                    rows.append(self.positions[id(batch)][entry] + self.layout.entries)
                    entry += 1
        return np.ascontiguousarray(np.array(rows, dtype=np.int32).reshape(len(rows), batch.n))


@collection_paused()
def build_system(network: Network, values: Values | None = None, kernels_of: KernelsOf = plain_kernels) -> System:
    """Number, batch, and find the pattern; `kernels_of` as for `batches_of`. Raises `InputError` for what binding
    expressions get wrong."""
    values = values or Values(network)
    numbering = number_unknowns(network)
    try:
        batches, prescribed_inputs, numbering = batches_of(network, numbering, values, kernels_of)
    except InputError:
        for instance in (
            network.instances
        ):  # what a component asserts of its counts says more than that its text then makes no sense
            values.parameters(instance)
        raise
    nq, nd = sum(b.n_differentiated * b.n for b in batches), sum(d.n for d in prescribed_inputs) + delays_of(batches)
    nt = sum(a.size for d in prescribed_inputs for a in d.tables.values())
    layout = Layout(
        numbering.nk, numbering.n - numbering.nk, nq, nd, nt, len(numbering.rotations), 0, 0, *changing(batches)
    )
    pattern, positions = _pattern(layout, batches)
    return System(network, numbering, layout, tuple(batches), tuple(prescribed_inputs), pattern, positions)


def without_redundant(system: System, found: Redundant) -> System:
    """The same system with redundant rows replaced by `multiplier = 0`."""
    dropped = frozenset(map(int, found.rows))
    batches = [replace(b, dropped=dropped) for b in _elements(system)]
    batches.append(pins(found.rows, found.multipliers))
    pattern, positions = _pattern(system.layout, batches)
    return replace(system, batches=tuple(batches), pattern=pattern, positions=positions, redundant=found)


def with_redundant(system: System) -> System:
    """The system with every constraint again: `without_redundant` undone."""
    batches = [replace(b, dropped=frozenset()) for b in _elements(system)]
    pattern, positions = _pattern(system.layout, batches)
    return replace(system, batches=tuple(batches), pattern=pattern, positions=positions, redundant=None)


def with_indeterminacy(system: System, indeterminacy: Indeterminacy) -> System:
    """The same system with these combinations of unknowns in rows, and no others."""
    batches: list[Batch] = [b for b in system.batches if not isinstance(b, Indeterminacy)]
    batches.insert(len(batches) - (system.redundant is not None), indeterminacy)
    pattern, positions = _pattern(system.layout, batches)
    return replace(system, batches=tuple(batches), pattern=pattern, positions=positions)


def _elements(system: System) -> list[Batch]:
    """All batches but the one that holds multipliers of redundant constraints."""
    return [b for b in system.batches if b.instances or b.shapes or isinstance(b, Indeterminacy)]


def _pattern(layout: Layout, batches: list[Batch]) -> tuple[Pattern, dict[int, Array]]:
    """The union of all entries, in compressed columns, and each batch's positions in it (the waste slot for ground)."""
    codes, shapes = [], []
    for batch in batches:
        entries = [place for place in batch.jacobian.scatter if place[0] == "entry"]
        rows = np.array([batch.row(place[1]) for place in entries], dtype=np.int64).reshape(len(entries), batch.n)
        columns = np.array([batch.columns(place[2]) for place in entries], dtype=np.int64).reshape(
            len(entries), batch.n
        )
        codes.append(np.where((rows < 0) | (columns < 0), -1, columns * layout.n + rows).ravel())
        shapes.append(rows.shape)
    every = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    unique, inverse = np.unique(every, return_inverse=True)
    shift = 1 if len(unique) and unique[0] < 0 else 0
    unique = unique[shift:]
    position = np.where(inverse < shift, len(unique), inverse - shift).astype(np.int32)
    indptr = np.searchsorted(unique, np.arange(layout.n + 1) * layout.n).astype(np.int32)
    pattern = Pattern(indptr, (unique % max(layout.n, 1)).astype(np.int32))
    cuts = np.cumsum([len(c) for c in codes])[:-1]
    return pattern, {id(b): p.reshape(s) for b, p, s in zip(batches, np.split(position, cuts), shapes)}
