"""Ways into machine code: the convention by which a translated function is called.

    numba     as compiled code calls it: int32 f(value *, exception **, arguments); an array is seven words and more
    c         void f(arguments)
    python    int32 f(leaves, value *): arrays by the address of their Python object, structs by their own address,
              numbers by value; items of tuples one by one. `python_function` calls it by ctypes.

A function for Python reads an array's data, lengths and strides in the array object itself (numpy's PyArrayObject,
whose head is part of numpy's binary interface).
"""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.linking import external_functions

NUMBA, C, PYTHON = "numba", "c", "python"
DATA, LENGTHS, STRIDES = 16, 32, 40
"""Offsets in PyArrayObject, in bytes."""
_CTYPES: dict[str, Any] = {
    "float64": ctypes.c_double, "int64": ctypes.c_int64, "int32": ctypes.c_int32, "boolean": ctypes.c_int8,
    "uint64": ctypes.c_uint64, "none": ctypes.c_void_p,
}  # fmt: skip
_READ = {"float64": "{}", "boolean": "int({})", "int64": "int({})", "int32": "int({})", "uint64": "int({})"}

RUNTIME = """
define linkonce_odr ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %room = add i64 %size, 128
  %block = call ptr @malloc(i64 %room)
  %null = icmp eq ptr %block, null
  br i1 %null, label %none, label %fill
none:
  ret ptr null
fill:
  %word = ptrtoint ptr %block to i64
  %up = add i64 %word, 111
  %data = and i64 %up, -64
  %pointer = inttoptr i64 %data to ptr
  store i64 1, ptr %block
  %p1 = getelementptr i64, ptr %block, i64 1
  store ptr null, ptr %p1
  %p2 = getelementptr i64, ptr %block, i64 2
  store ptr null, ptr %p2
  %p3 = getelementptr i64, ptr %block, i64 3
  store ptr %pointer, ptr %p3
  %p4 = getelementptr i64, ptr %block, i64 4
  store i64 %size, ptr %p4
  %p5 = getelementptr i64, ptr %block, i64 5
  store ptr null, ptr %p5
  ret ptr %block
}
define linkonce_odr ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}
define linkonce_odr ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 64)
  ret ptr %block
}
define linkonce_odr void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}
define linkonce_odr ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}
define linkonce_odr void @NRT_Free(ptr %block) {
  call void @free(ptr %block)
  ret void
}
"""
"""What numba's counting of references asks for: a block {count, destructor, its argument, data, size, allocator} before
its data."""


def add_entry(module: Any, name: str, arguments: tuple[kinds.Kind, ...], entry: str, public: str) -> bool:
    """Have a module's function called `public` in the convention `entry`; whether it needs numba's library."""
    needed = external_functions(module)
    ours = {name for name in needed if f"@{name}(" in RUNTIME}
    if ours and ours == needed:
        module.link_in(_module(module, RUNTIME_WITH_C))
    function = module.get_function(name)
    formal = [str(each.type) for each in function.arguments]
    function.name = public if entry == NUMBA else f"{public}_inside"
    if entry != NUMBA:
        function.linkage = "external"
        shim = _for_c(public, formal[2:]) if entry == C else _for_python(public, formal, arguments)
        module.link_in(_module(module, shim))
    return ours != needed


RUNTIME_WITH_C = "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n" + RUNTIME


def _module(like: Any, text: str) -> Any:
    return llvm.parse_assembly(f'target triple = "{like.triple}"\ntarget datalayout = "{like.data_layout}"\n{text}')


def _for_c(public: str, formal: list[str]) -> str:
    head = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(formal))
    return f"""
declare i32 @{public}_inside(ptr, ptr, {", ".join(formal)})
define void @{public}({head}) {{
  %raised = alloca ptr
  %value = alloca [64 x i8], align 16
  %status = call i32 @{public}_inside(ptr %value, ptr %raised, {head})
  ret void
}}
"""


def _for_python(public: str, formal: list[str], arguments: tuple[kinds.Kind, ...]) -> str:
    """The function that reads arrays in their Python objects; `formal`: types of the function's own arguments."""
    lines: list[str] = []
    actual = ["%value", "%raised"]
    parameters = []
    for i, leaf in enumerate(_leaves(arguments)):
        if isinstance(leaf, kinds.ArrayKind):
            parameters.append(f"ptr %a{i}")
            actual += _read_array(i, leaf, lines)
        elif leaf is None:
            actual.append("null")
        else:
            parameters.append(f"{formal[len(actual)]} %a{i}")
            actual.append(f"%a{i}")
    assert len(actual) == len(formal), (public, len(actual), formal)
    given = ", ".join(f"{kind} {value}" for kind, value in zip(formal, actual))
    body = "\n  ".join(lines)
    return f"""
declare i32 @{public}_inside({", ".join(formal)})
define i32 @{public}({", ".join([*parameters, "ptr %value"])}) {{
  %raised = alloca ptr
  store ptr null, ptr %raised
  {body}
  %status = call i32 @{public}_inside({given})
  ret i32 %status
}}
"""


def _leaves(arguments: tuple[kinds.Kind, ...]) -> Iterator[Any]:
    """Kinds of arrays, names of numbers' types, int64 for a struct's address, None for what takes no value."""
    for kind in arguments:
        if isinstance(kind, kinds.TupleKind):
            yield from _leaves(kind.items)
        elif isinstance(kind, kinds.StructKind):
            yield kinds.WHOLE
        elif isinstance(kind, kinds.FunctionKind) or kind == kinds.NOTHING:
            yield None
        else:
            yield kind


def _read_array(i: int, kind: kinds.ArrayKind, lines: list[str]) -> list[str]:
    """Instructions that read array i, and what a function of numba's is handed: owner, parent, count, size of an entry,
    data, lengths, strides."""

    def word(name: str, base: str, offset: int, type_: str) -> str:
        lines.append(f"%p{name} = getelementptr i8, ptr {base}, i64 {offset}")
        lines.append(f"%{name} = load {type_}, ptr %p{name}")
        return f"%{name}"

    data = word(f"d{i}", f"%a{i}", DATA, "ptr")
    lengths, strides = word(f"l{i}", f"%a{i}", LENGTHS, "ptr"), word(f"s{i}", f"%a{i}", STRIDES, "ptr")
    shape = [word(f"l{i}_{k}", lengths, 8 * k, "i64") for k in range(kind.dimensions)]
    steps = [word(f"s{i}_{k}", strides, 8 * k, "i64") for k in range(kind.dimensions)]
    count = "1"
    for k, length in enumerate(shape):
        lines.append(f"%n{i}_{k} = mul i64 {count}, {length}")
        count = f"%n{i}_{k}"
    return ["null", "null", count, str(np.dtype(kind.dtype).itemsize), data, *shape, *steps]


# ------------------------------------------------------------------------------------------------------ from Python


def python_function(address: int, returns: kinds.Kind, arguments: tuple[kinds.Kind, ...]) -> Callable[..., Any]:
    """A Python function that calls machine code of the convention `python`. Raises ArithmeticError where it raises."""
    types, read = [], []
    for i, kind in enumerate(arguments):
        for path, leaf in _paths(f"a{i}", kind):
            if isinstance(leaf, kinds.ArrayKind):
                types.append(ctypes.py_object)
                read.append(path)
            elif leaf is not None:
                types.append(_CTYPES[leaf])
                read.append(_READ[leaf].format(path))
    call = ctypes.CFUNCTYPE(ctypes.c_int32, *types, ctypes.c_void_p)(address)
    made = _value_type(returns)
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    inside = ", ".join([*read, "byref(value)"])

    def failed(status: int) -> None:
        raise ArithmeticError(f"compiled code raised (status {status})")

    space = {"call": call, "made": made, "byref": ctypes.byref, "failed": failed, "value_of": _value_of(returns)}
    source = f"def entry({names}):\n value = made()\n status = call({inside})\n if status > 0: failed(status)\n"
    exec(source + ("" if returns == kinds.NOTHING else " return value_of(value)\n"), space)
    return space["entry"]


def _paths(path: str, kind: kinds.Kind) -> Iterator[tuple[str, Any]]:
    """How each leaf of an argument is read in Python."""
    if isinstance(kind, kinds.TupleKind):
        for k, item in enumerate(kind.items):
            yield from _paths(f"{path}[{k}]", item)
    elif isinstance(kind, kinds.StructKind):
        yield f"{path}.address", kinds.WHOLE
    else:
        yield from ((path, leaf) for leaf in _leaves((kind,)))


def _value_type(kind: kinds.Kind) -> Any:
    """The ctypes type of a value in memory."""
    if isinstance(kind, kinds.ArrayKind):
        words = ctypes.c_int64 * (2 * kind.dimensions)
        heads = [(name, ctypes.c_void_p) for name in ("owner", "parent")]
        rest = [("count", ctypes.c_int64), ("size", ctypes.c_int64), ("data", ctypes.c_void_p), ("words", words)]
        return type("Array", (ctypes.Structure,), {"_fields_": [*heads, *rest]})
    if isinstance(kind, kinds.TupleKind):
        fields = [(f"f{k}", _value_type(item)) for k, item in enumerate(kind.items)]
        return type("Tuple", (ctypes.Structure,), {"_fields_": fields})
    if kind == "complex128":
        return ctypes.c_double * 2
    return _CTYPES[kind]


def _value_of(kind: kinds.Kind) -> Callable[[Any], Any]:
    """What reads a value in memory."""
    if isinstance(kind, kinds.ArrayKind):
        return lambda value: _adopted(value, kind)
    if isinstance(kind, kinds.TupleKind):
        parts = [(f"f{k}", _item_of(item)) for k, item in enumerate(kind.items)]
        made: Callable[..., Any] = kind.made._make if kind.made else tuple  # type: ignore[attr-defined]
        return lambda value: made([read(getattr(value, name)) for name, read in parts])
    return (lambda value: bool(value.value)) if kind == kinds.BOOLEAN else (lambda value: value.value)


def _item_of(kind: kinds.Kind) -> Callable[[Any], Any]:
    """The same for a field of a structure, which ctypes hands out as a number already."""
    if isinstance(kind, kinds.ArrayKind | kinds.TupleKind):
        return _value_of(kind)
    return bool if kind == kinds.BOOLEAN else (lambda value: value)


def _adopted(value: Any, kind: kinds.ArrayKind) -> Any:
    """A returned array, copied from memory that is given back."""
    shape, strides = value.words[: kind.dimensions], value.words[kind.dimensions :]
    if not value.data or not value.count:
        found = np.zeros(tuple(shape), kind.dtype)
    else:
        length = value.size + sum(step * (n - 1) for step, n in zip(strides, shape))
        room = (ctypes.c_char * length).from_address(value.data)
        found = np.ndarray(tuple(shape), kind.dtype, room, 0, tuple(strides)).copy()
    if value.owner:
        _free(value.owner)
    return found


_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None
