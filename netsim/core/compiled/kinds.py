"""The types of arguments and values of compiled functions, in words of this package.

numba has types of its own. They are made from these when something is compiled (netsim.core.compiled.translation), so
that a run whose machine code is on disk does not import numba. Every kind exists once: two kinds are equal where they
are the same object.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

Kind = Any
"""The name of a number's type, or one of the classes below."""
REAL, WHOLE, BOOLEAN, NOTHING = "float64", "int64", "boolean", "none"


@dataclass(frozen=True, eq=False)
class ArrayKind:
    """Arrays of a dtype (numpy's name) and a number of dimensions; `order` is C, or A for any strides."""

    dtype: str
    dimensions: int
    order: str

    def __str__(self) -> str:
        return f"{self.dtype}[{self.dimensions}{self.order}]"


@dataclass(frozen=True, eq=False)
class TupleKind:
    """A tuple, or a named tuple of class `made`, and the kinds of its items."""

    made: Any
    items: tuple[Kind, ...]

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.items))
        if self.made is None:
            return f"({inside})"
        fields = self.made._fields
        return f"{self.made.__module__}.{self.made.__qualname__}{fields}({inside})"


@dataclass(frozen=True, eq=False)
class StructKind:
    """A struct (netsim.core.compiled.struct): its word, and the names and kinds of its fields."""

    word: str
    fields: tuple[tuple[str, Kind], ...]

    def __str__(self) -> str:
        return f"{self.word}({', '.join(f'{name}: {kind}' for name, kind in self.fields)})"


@dataclass(frozen=True, eq=False)
class FunctionKind:
    """A compiled function handed to another one."""

    function: Any

    def __str__(self) -> str:
        return f"function {self.function.digest.hex()}"


@cache
def array(dtype: Any, dimensions: int, order: str = "C") -> ArrayKind:
    """The kind of arrays of a dtype."""
    if not isinstance(dtype, str):
        return array(np.dtype(dtype).name, dimensions, order)
    return ArrayKind(dtype, dimensions, order)


@cache
def tuple_of(*items: Kind, made: Any = None) -> TupleKind:
    """The kind of tuples of these items."""
    return TupleKind(made, items)


@cache
def struct(word: str, fields: tuple[tuple[str, Kind], ...]) -> StructKind:
    """The kind of structs with these fields."""
    return StructKind(word, fields)


@cache
def function(called: Any) -> FunctionKind:
    """The kind that is one compiled function."""
    return FunctionKind(called)


_NUMBERS: dict[type, str] = {
    float: REAL, int: WHOLE, bool: BOOLEAN, complex: "complex128", type(None): NOTHING, np.bool_: BOOLEAN,
}  # fmt: skip


_TELLING: set[type] = set()
"""Types whose values tell their kind."""


def kind_of(value: Any) -> Kind:
    """The kind of an argument. Raises TypeError for what compiled code cannot be handed."""
    made = type(value)
    if made in _TELLING:
        return value.kind
    if made is np.ndarray:
        return array(value.dtype, value.ndim, "C" if value.flags.c_contiguous else "A")
    if (found := _NUMBERS.get(made)) is not None:
        return found
    if isinstance(value, tuple):
        named: Any = None if made is tuple else made
        return tuple_of(*map(kind_of, value), made=named)
    if (known := getattr(value, "kind", None)) is not None:
        _TELLING.add(made)
        return known
    if isinstance(value, np.generic):
        return value.dtype.name
    raise TypeError(f"compiled code cannot be handed {value!r}")


VECTOR, MATRIX, WHOLES = array("float64", 1), array("float64", 2), array("int64", 1)


def in_words(kind: Kind) -> Any:
    """A kind for a file (JSON)."""
    if isinstance(kind, ArrayKind):
        return ["array", kind.dtype, kind.dimensions, kind.order]
    if isinstance(kind, TupleKind):
        made = [kind.made.__module__, kind.made.__qualname__] if kind.made else None
        return ["tuple", made, *map(in_words, kind.items)]
    return kind


def from_words(words: Any) -> Kind:
    """The kind that `in_words` wrote."""
    if isinstance(words, str):
        return words
    if words[0] == "array":
        return array(*words[1:])
    made = getattr(import_module(words[1][0]), words[1][1]) if words[1] else None
    return tuple_of(*map(from_words, words[2:]), made=made)
