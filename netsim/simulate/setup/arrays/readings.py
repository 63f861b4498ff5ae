"""Readings of elements, and sums of signals, whose errors are told (netsim.core.readings), at the start of a run."""

from collections.abc import Sequence

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.readings import Readings
from netsim.equations.machine import call_table
from netsim.results.selection import Named, Reader

Array = np.ndarray


def readings(reader: Reader, sampled: Sequence[Named], tracer: Reader, traced: Sequence[Named], size: int) -> Struct:
    """What samples and traces ask for, for a global vector of `size` numbers."""
    named, first = [*sampled, *traced], np.cumsum([0, *(len(each.places) for each in (*sampled, *traced))])
    places = np.array([p for each in named for p in each.places], np.int64)
    places[(np.arange(len(places)) >= first[len(sampled)]) & (places >= size)] += reader.size
    return _struct((reader.table, tracer.table), first, places, *weights_of(named), (reader.size, tracer.size), size)


def weights_of(named: Sequence[Named]) -> tuple[Array, Array]:
    """Their weights one after the other, and their constants."""
    return np.array([w for each in named for w in each.weights], float), np.array([e.constant for e in named], float)


def no_readings() -> Struct:
    """None at all."""
    nothing, none = call_table([], np.zeros(0, np.int32)), np.zeros(0, np.int64)
    return _struct((nothing, nothing), np.zeros(1, np.int64), none, np.zeros(0), np.zeros(0), (0, 0), 0)


def _struct(
    tables: tuple[Array, Array],
    first: Array,
    places: Array,
    weights: Array,
    constants: Array,
    sizes: tuple[int, int],
    size: int,
) -> Struct:
    values, rows = np.zeros((2, 3, len(constants)))
    room = np.zeros(size), np.zeros(sum(sizes)), values, rows, np.zeros(size), np.array(sizes[:1], np.int64)
    return struct_of(Readings(*tables, first, places, weights, constants, *room))
