"""Where the quantities of a system stand in the system of its copies (netsim.analyses.many.lanes.copies)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.many.lanes.copies import in_copy
from netsim.equations.batches import Batch
from netsim.equations.system import System
from netsim.results.selection import Entry, Selection

Pairs = Sequence[tuple[Any, Any]]
"""Batches and functions of time of a system, each beside the one that holds its copies."""


def pairs_of(one: System, many: System, count: int) -> Pairs:
    """Elements and functions of time of one system beside those of its copies; empty where they do not correspond."""
    if len(one.batches) != len(many.batches) or len(one.prescribed_inputs) != len(many.prescribed_inputs):
        return []
    for own, both in zip(one.batches, many.batches):
        if both.kernels is not own.kernels or both.labels != [in_copy(k, n) for n in own.labels for k in range(count)]:
            return []
    return [*zip(one.batches, many.batches), *zip(one.prescribed_inputs, many.prescribed_inputs)]


class Places:
    """Where the copies of a system's quantities stand."""

    def __init__(self, one: System, many: System, pairs: Pairs, count: int):
        self.count, self.batches = count, {id(own): both for own, both in pairs}
        unknowns = np.zeros((one.n, count), np.int64)
        for own, both in pairs:
            for key, numbers in own.unknowns.items() if isinstance(own, Batch) else ():
                owned = numbers >= 0
                unknowns[numbers[owned]] = both.unknowns[key].reshape(-1, count)[owned]
        self.slots = np.tile(np.arange(one.layout.size)[:, None], count)
        for order in range(3):
            self.slots[one.layout.unknown(np.arange(one.n), order)] = many.layout.unknown(unknowns, order)
        frames = np.arange(one.layout.nr)
        for k in range(9):
            self.slots[one.layout.chart(frames, k)] = many.layout.chart(frames[:, None] * count + np.arange(count), k)

    def selection(self, one: Selection) -> Selection:
        """The same signals of every copy."""
        found = Selection()
        for k in range(self.count):
            for name, entry in one.entries.items():
                found.add(self._entry(entry, k), one.dimensions[name], False, named=False)
        return found

    def _entry(self, entry: Entry, k: int) -> Entry:
        signal = replace(entry.signal, name=in_copy(k, entry.signal.name))
        if entry.batch is None:
            return replace(entry, signal=signal, slot=int(self.slots[entry.slot, k]))
        return replace(
            entry, signal=signal, batch=self.batches[id(entry.batch)], position=entry.position * self.count + k
        )
