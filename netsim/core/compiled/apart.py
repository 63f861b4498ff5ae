"""Compiled functions that are called through their address, so that they are compiled once.

numba links whatever a function calls into the function's own code and optimises the whole again, level by level: what
stands at the bottom of a loop is compiled once for every level above it. A function called through its address is
compiled by itself, and a caller's code does not depend on which one it is: one time loop serves every method.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import types
from numba.core import cgutils, config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin


def by_address(returns: Any) -> Any:
    """A function for compiled code: `call(address, *arguments)` calls what is at that address and returns `returns` (a
    type of numba's).

    Bundles may be passed as such or as their own address."""

    def call(address, *arguments):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    class _Typed(AbstractTemplate):
        key = call

        def generic(self, args, kws):  # type: ignore[no-untyped-def]
            return signature(returns, *map(types.unliteral, args))

    vars(call)["returns"] = returns  # a caller's code depends on it
    infer_global(call, types.Function(_Typed))

    @lower_builtin(call, types.VarArg(types.Any))
    def _lower(context, builder, sig, args):  # type: ignore[no-untyped-def]
        convention, arguments = context.call_conv, sig.args[1:]
        kind = convention.get_function_type(returns, arguments)
        function = builder.inttoptr(args[0], kind.as_pointer())
        value = cgutils.alloca_once_value(builder, cgutils.get_null_value(convention.get_return_type(returns).pointee))
        raised = cgutils.alloca_once(builder, kind.args[1].pointee)
        packed = convention._get_arg_packer(arguments).as_arguments(builder, args[1:])
        builder.call(function, [value, raised, *packed])  # what is called raises nothing
        return context.get_returned_value(builder, returns, builder.load(value))

    return call


@contextmanager
def plain_loops() -> Iterator[None]:
    """Compile loops as they are written: with vector instructions ours are no faster, and a first run takes a fifth
    longer."""
    with global_compiler_lock:
        settings: Any = config
        kept, settings.LOOP_VECTORIZE = settings.LOOP_VECTORIZE, 0
        try:
            yield
        finally:
            settings.LOOP_VECTORIZE = kept


def address_of(function: Any, returns: Any, *arguments: Any) -> int:
    """Where the machine code of a compiled function is for these types of arguments; compiled, or read from the cache,
    on the way."""
    with plain_loops():
        function.compile(arguments)
    found = function.overloads[arguments]
    assert found.signature.return_type == returns, (
        f"{function.__name__} returns {found.signature.return_type}, not {returns}"
    )
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


__all__ = ["address_of", "by_address", "plain_loops"]
