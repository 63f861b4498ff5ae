"""Python functions -> LLVM modules, by numba: the only file that imports numba.

Only the LLVM code that numba writes of a function is used, as it is written. numba would link into each function all
that it calls and optimise the whole, level by level; here all that an entry calls, however deep, is linked once and
optimised once (netsim.core.compiled.linking). numba's own code generator, wrappers and cache are left out. Numba's
private interfaces that this needs were tested with the versions that pyproject.toml names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.core.typing.typeof import Purpose
from numba.extending import intrinsic, lower_builtin, lower_getattr_generic, models, register_model, typeof_impl
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from netsim.core.compiled import kinds
from netsim.core.compiled.digests import digest_of_parts
from netsim.core.compiled.linking import optimise
from netsim.core.compiled.sources import Foreign, Source
from netsim.core.compiled.struct import WORDS

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True}


@dataclass(frozen=True)
class Translated:
    """An optimised LLVM module with all that its function calls, the function in numba's calling convention,
    `int32 f(value *, exception **, arguments)`, and the kind of the value."""

    module: Any
    symbol: str
    returns: kinds.Kind


def dispatcher(function: Source) -> Any:
    """numba's object for a function."""
    if function.translated is None:
        function.translated = numba.njit(**{**OPTIONS, **function.options})(function.py_func)
    return function.translated


def translate(function: Source, arguments: tuple[kinds.Kind, ...]) -> Translated:
    """The module of a function for arguments of these kinds."""
    found = tuple(map(numba_of, arguments))
    with _modules_only():
        translated = dispatcher(function)
        translated.compile(found)
        made = translated.overloads[found]
        module, symbol = _linked(made.library), made.fndesc.llvm_func_name
    optimise(module, symbol)
    outside = [each.name for each in module.global_variables if each.name.startswith("numba.dynamic.globals")]
    assert not outside, f"{function.py_func.__name__} holds addresses of this process"
    return Translated(module, symbol, kind_of_type(made.signature.return_type))


class _Unlinked(codegen.AOTCodeLibrary):
    """A function's own code as numba writes it: what it calls is noted and not linked, nothing is optimised. A program
    that uses numba itself, whose functions may call the same ones of numba's library, gets them complete."""

    def _optimize_functions(self, ll_module):  # type: ignore[no-untyped-def]
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self):  # type: ignore[no-untyped-def]
        self._finalized = True

    def own(self) -> Any:
        """The module of the function alone."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self):  # type: ignore[no-untyped-def]
        module, public = _linked(self), [each.name for each in self.get_defined_functions()]
        optimise(module, *public)
        for name in public:
            module.get_function(name).linkage = "linkonce_odr"
        return module


def _linked(first: Any) -> Any:
    """The module of a function's code and that of all that it calls, however deep, each once. LLVM links what is asked
    for only: callers come before what they call."""
    whole = codegen.AOTCodeLibrary(first._codegen, first.name)
    whole._final_module.link_in(first._final_module, preserve=True)
    found: list[Any] = []
    _follow(first, found, {first})
    for library in reversed(found[:-1]):
        part = library.own() if isinstance(library, _Unlinked) else library._get_module_for_linking()
        whole._final_module.link_in(part, preserve=True)
    whole._final_module.verify()
    whole._verify_declare_only_symbols()
    return whole._final_module


def _follow(library: Any, found: list[Any], seen: set[Any]) -> None:
    """Append what a library calls, however deep, then the library."""
    for each in library._linking_libraries:
        if each not in seen:
            seen.add(each)
            _follow(each, found, seen)
    found.append(library)


@contextmanager
def _modules_only() -> Iterator[None]:
    """Let numba stop where a function's code is written."""
    context: Any = cpu_target.target_context
    generator: Any = context.codegen()
    with global_compiler_lock:
        library = generator._library_class
        generator._library_class = _Unlinked
        context.get_executable = lambda library, fndesc, env: [].append  # a builtin function of its own, never called
        try:
            yield
        finally:
            generator._library_class = library
            del context.get_executable


# ------------------------------------------------------------------------------------------------------------- types


@cache
def numba_of(kind: kinds.Kind) -> Any:
    """numba's type of a kind."""
    if isinstance(kind, kinds.ArrayKind):
        order: Any = kind.order
        return types.Array(from_dtype(np.dtype(kind.dtype)), kind.dimensions, order)
    if isinstance(kind, kinds.TupleKind):
        return types.BaseTuple.from_types(list(map(numba_of, kind.items)), kind.made)
    if isinstance(kind, kinds.StructKind):
        return BundleType(kind)
    if isinstance(kind, kinds.FunctionKind):
        return types.Dispatcher(dispatcher(kind.function))
    return types.none if kind == kinds.NOTHING else getattr(types, "boolean" if kind == kinds.BOOLEAN else kind)


def kind_of_type(kind: Any) -> kinds.Kind:
    """The kind of a numba type that a function returns."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Array):
        return kinds.array(str(kind.dtype), kind.ndim, "C" if kind.layout == "C" else "A")
    if isinstance(kind, types.BaseTuple):
        items: Any = kind
        return kinds.tuple_of(*[kind_of_type(each) for each in items], made=getattr(kind, "instance_class", None))
    return {types.none: kinds.NOTHING, types.boolean: kinds.BOOLEAN}.get(kind, str(kind))


class BundleType(types.Type):
    """The type of a struct."""

    def __init__(self, kind: kinds.StructKind):
        self.kind, self.names = kind, [name for name, _ in kind.fields]
        # every name of a function that takes one holds its name
        super().__init__(name=f"{kind.word}_{digest_of_parts(str(kind).encode()).hex()[:16]}")

    def field(self, name: str) -> tuple[int, Any]:
        """Number and type of a field; ValueError where there is none."""
        position = self.names.index(name)
        return position, numba_of(self.kind.fields[position][1])


@register_model(BundleType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):  # type: ignore[no-untyped-def]
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _Fields(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, kind, name):  # type: ignore[no-untyped-def, override]
        return kind.field(name)[1] if name in kind.names else None


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
    strides = [itemsize]
    for count in reversed(shape[1:]):
        strides.insert(0, builder.mul(count, strides[0]))
    data = builder.inttoptr(read(0), context.get_data_type(found.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()


@typeof_impl.register(Source)
def _typeof_source(value, context):  # type: ignore[no-untyped-def]
    return types.Dispatcher(dispatcher(value)) if context.purpose is Purpose.constant else None


@typeof_impl.register(Foreign)
def _typeof_foreign(value, context):  # type: ignore[no-untyped-def]
    made = value.made()
    cpu_target.typing_context.refresh()  # it may just have been taught to numba
    cpu_target.target_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


# ------------------------------------------------------------------------------------------------------------- calls


def call_by_address(returns: kinds.Kind) -> Any:
    """See netsim.core.compiled.function.by_address."""
    value_type = numba_of(returns)

    def call(address, *arguments):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    class _Typed(AbstractTemplate):
        key = call

        def generic(self, args, kws):  # type: ignore[no-untyped-def]
            return signature(value_type, *map(types.unliteral, args))

    infer_global(call, types.Function(_Typed))

    @lower_builtin(call, types.VarArg(types.Any))
    def _lower(context, builder, sig, args):  # type: ignore[no-untyped-def]
        convention, arguments = context.call_conv, sig.args[1:]
        kind = convention.get_function_type(value_type, arguments)
        function = builder.inttoptr(args[0], kind.as_pointer())
        none = cgutils.get_null_value(convention.get_return_type(value_type).pointee)
        value = cgutils.alloca_once_value(builder, none)
        raised = cgutils.alloca_once(builder, kind.args[1].pointee)
        packed = convention._get_arg_packer(arguments).as_arguments(builder, args[1:])
        builder.call(function, [value, raised, *packed])  # what is called raises nothing
        return context.get_returned_value(builder, value_type, builder.load(value))

    return call


def call_kernel() -> Any:
    """An intrinsic: call the kernel at an integer address (netsim.core.compiled.call); pointers come as integers."""

    @intrinsic
    def call(typing_context, address, n, gather, uniform, parameters, scatter, g, out):  # type: ignore[no-untyped-def]
        given = (address, n, gather, uniform, parameters, scatter, g, out)
        if any(not isinstance(kind, types.Integer) for kind in given):
            return None

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            pointer = ir.IntType(8).as_pointer()
            kernel = ir.FunctionType(ir.VoidType(), [ir.IntType(64), *[pointer] * 6])
            function = builder.inttoptr(arguments[0], kernel.as_pointer())
            builder.call(function, [arguments[1], *(builder.inttoptr(each, pointer) for each in arguments[2:])])
            return context.get_dummy_value()

        return types.void(*[types.int64] * 8), generate

    return call


def pointer() -> Any:
    """An intrinsic: an integer as a pointer."""

    @intrinsic
    def as_pointer(typing_context, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

        return types.voidptr(types.int64), generate

    return as_pointer


def tell_symbols() -> None:
    """Make numba's library known to LLVM: numba does so when its context is made."""
    cpu_target.target_context.refresh()


def carray() -> Any:
    """numba's view of a pointer as an array."""
    return numba.carray
