"""Named arrays behind one address: what a compiled function is handed in place of a hundred arrays.

A NamedTuple of arrays passes every array by value, seven words each, through every call: a loop with a few of them
compiles for minutes. A `Bundle` is one word; its table of addresses and shapes is read where a field is used (the reads
are marked invariant, so loops keep them in registers). Fields are contiguous arrays of one or two dimensions, or
bundles. The arrays must not be exchanged while a compiled function runs; their content may change.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

Array = np.ndarray
WORDS = 4
"""Words per field in the table: address and up to two lengths, one to spare."""


class BundleType(types.Type):
    """The type of a bundle: its word, and the fields' names and types."""

    def __init__(self, word: str, fields: tuple[tuple[str, Any], ...]):
        self.word, self.fields = word, fields
        super().__init__(name=f"{word}({', '.join(f'{name}: {kind}' for name, kind in fields)})")

    def field(self, name: str) -> tuple[int, Any]:
        """Number and type of a field; KeyError where there is none."""
        names = [each for each, _ in self.fields]
        if name not in names:
            raise KeyError(name)
        return names.index(name), self.fields[names.index(name)][1]


class Bundle:
    """Arrays (or bundles) by name, readable as attributes here and in compiled code. `word` names the kind: compiled
    code is shared by kind."""

    address: int
    kind: BundleType

    def __init__(self, word: str, **fields: Any):
        self.word, self._fields = word, fields
        table = np.zeros((len(fields), WORDS), np.int64)
        kinds: list[Any] = []
        for row, (name, value) in zip(table, fields.items()):
            if isinstance(value, Bundle):
                row[0] = value.address
                kinds.append(value.kind)
            else:
                assert isinstance(value, np.ndarray) and value.flags.c_contiguous and value.ndim <= 2, name
                row[0] = value.ctypes.data
                row[1 : 1 + value.ndim] = value.shape
                kinds.append((value.dtype, value.ndim))
        self._table = table
        self.address = int(table.ctypes.data)
        self.kind = _kind(word, tuple(fields), tuple(kinds))

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

    def changed(self, **fields: Any) -> Bundle:
        """The same with some fields exchanged."""
        return Bundle(self.word, **{**self._fields, **fields})


def bundled(values: Any) -> Bundle:
    """A NamedTuple of arrays as a bundle of the same fields."""
    return Bundle(type(values).__name__, **values._asdict())


_entries: dict[tuple[int, ...], tuple[Any, Any]] = {}


def called(function: Any, *arguments: Any) -> Any:
    """A compiled function's value, without numba's search for the types of bundles, which takes longer than what
    follows an event.

    Its machine code is found by the kinds of the bundles; the other arguments are of the types that they had first."""
    key = (id(function), *(id(each.kind) for each in arguments if type(each) is Bundle))
    if key not in _entries:
        kinds = tuple(map(typeof, arguments))
        function.compile(kinds)
        _entries[key] = function.overloads[kinds].entry_point, (function, kinds)
    return _entries[key][0](*arguments)


@cache
def _kind(word: str, names: tuple[str, ...], kinds: tuple[Any, ...]) -> BundleType:
    """The type of bundles with these fields: types of bundles, and (dtype, dimensions) of arrays. numba takes long to
    make one."""
    types_ = [
        kind if isinstance(kind, BundleType) else types.Array(from_dtype(kind[0]), kind[1], "C") for kind in kinds
    ]
    return BundleType(word, tuple(zip(names, types_)))


@typeof_impl.register(Bundle)
def _typeof(value, context):  # type: ignore[no-untyped-def]
    return value.kind


@register_model(BundleType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):  # type: ignore[no-untyped-def]
        super().__init__(manager, kind, ir.IntType(64))


@unbox(BundleType)
def _unbox(kind, value, c):  # type: ignore[no-untyped-def]
    address = c.pyapi.object_getattr_string(value, "address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(number)


@infer_getattr
class _Fields(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, kind, name):  # type: ignore[no-untyped-def, override]
        return dict(kind.fields).get(name)


@lower_getattr_generic(BundleType)
def _field(context, builder, kind, value, name):  # type: ignore[no-untyped-def]
    index, found = kind.field(name)
    word = ir.IntType(64)
    table = builder.inttoptr(value, word.as_pointer())
    invariant = builder.module.add_metadata([])

    def read(k):  # type: ignore[no-untyped-def]
        loaded = builder.load(builder.gep(table, [ir.Constant(word, WORDS * index + k)]))
        loaded.set_metadata("invariant.load", invariant)
        return loaded

    if isinstance(found, BundleType):
        return read(0)
    array = context.make_array(found)(context, builder)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(found.dtype)))
    shape = [read(1 + k) for k in range(found.ndim)]
    strides = [itemsize] if found.ndim == 1 else [builder.mul(shape[1], itemsize), itemsize]
    data = builder.inttoptr(read(0), context.get_data_type(found.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()
