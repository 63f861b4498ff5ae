"""Named arrays behind one address: what a compiled function is handed in place of a hundred arrays.

A NamedTuple of arrays passes every array by value, seven words each, through every call: a loop with a few of them
compiles for minutes. A `Struct` is one word; its table of addresses and shapes is read where a field is used (the reads
are marked invariant, so loops keep them in registers). Fields are contiguous arrays of one or two dimensions, or
structs. The arrays must not be exchanged while a compiled function runs; their content may change.
"""

from functools import cache
from typing import Any

import numpy as np

from netsim.core.compiled import kinds

WORDS = 4
"""Words per field in the table: address and up to three lengths."""
_SPARE = ((0, 0, 0), (0, 0), (0,), ())


class Struct:
    """Arrays (or structs) by name, readable as attributes here and in compiled code. `word` names the kind: compiled
    code is shared by kind."""

    address: int
    kind: kinds.StructKind

    def __init__(self, word: str, **fields: Any):
        self.word, self._fields = word, fields
        words: list[int] = []
        found: list[Any] = []
        for name, value in fields.items():
            if isinstance(value, Struct):
                words += (value.address, 0, 0, 0)
                found.append(value.kind)
            else:
                assert isinstance(value, np.ndarray) and value.flags.c_contiguous and value.ndim <= 3, name
                words += (value.ctypes.data, *value.shape, *_SPARE[value.ndim])
                found.append(_array(value.dtype, value.ndim))
        self._table = np.array(words, np.int64).reshape(len(fields), WORDS)
        self.address = int(self._table.ctypes.data)
        self.kind = _kind(word, tuple(fields), tuple(found))

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def exchange(self, **fields: Any) -> None:
        """Other arrays of the same types in the places of some, for all who hold the address; not while a compiled
        function runs."""
        for name, value in fields.items():
            row = self._table[list(self._fields).index(name)]
            row[0], row[1 : 1 + value.ndim] = value.ctypes.data, value.shape
        self._fields.update(fields)

    def changed(self, **fields: Any) -> "Struct":
        """The same with some fields exchanged."""
        return Struct(self.word, **{**self._fields, **fields})


def struct_of(values: Any) -> Struct:
    """A NamedTuple of arrays as a struct of the same fields."""
    return Struct(type(values).__name__, **values._asdict())


@cache
def _array(dtype: Any, dimensions: int) -> kinds.ArrayKind:
    return kinds.array(dtype, dimensions)


@cache
def _kind(word: str, names: tuple[str, ...], found: tuple[Any, ...]) -> kinds.StructKind:
    return kinds.struct(word, tuple(zip(names, found)))
