"""Functions for compiled code: written in Python, run as machine code.

    @compiled    may allocate arrays and return them
    @inner       allocates nothing and returns no array, so that references are not counted
    @inlined     as inner, and its body becomes part of its callers: a call with a dozen arrays takes a tenth of a
                 microsecond

Division follows IEEE 754 (x/0 is infinite or NaN, nothing is raised). The interpreter's lock is released.

Machine code is looked for in the package, then in the user's cache folder (netsim.core.compiled.objects); where there
is none, numba translates the function (netsim.core.compiled.translation). Nothing else here needs numba.
"""

from collections.abc import Callable, Iterable
from typing import Any

from netsim.core.compiled import kinds, objects
from netsim.core.compiled.entries import NUMBA, PYTHON
from netsim.core.compiled.sources import Foreign, Source


class Compiled(Source):
    """A function with its machine code by the kinds of its arguments."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        super().__init__(function, options)
        self._entries: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self.addresses: dict[tuple[Any, ...], int] = {}

    def __call__(self, *arguments: Any) -> Any:
        entry = self._entries.get(tuple(map(kinds.kind_of, arguments)))
        return (entry or self.ready(*arguments))(*arguments)

    def ready(self, *arguments: Any) -> Callable[..., Any]:
        """The machine code for arguments of these kinds, as a Python function."""
        known = tuple(map(kinds.kind_of, arguments))
        entry = self._entries.get(known)
        if entry is None:
            entry = self._entries[known] = objects.python_entry(self, known)
        return entry


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: see the head of this file. `options` are further ones of numba's `njit`."""
    if function is None:
        return lambda function: Compiled(function, options)
    return Compiled(function, options)


def inner(function: Callable[..., Any]) -> Any:
    """Decorator for functions that allocate nothing and return no array."""
    return Compiled(function, {"_nrt": False})


def inlined(function: Callable[..., Any]) -> Any:
    """As `inner`; the body becomes part of the callers."""
    return Compiled(function, {"_nrt": False, "forceinline": True})


def by_address(returns: kinds.Kind) -> Any:
    """A function for compiled code: `call(address, *arguments)` calls what is at that address and returns `returns`.

    Whatever a function calls is linked into the function's own code and optimised with it. What is called through its
    address is compiled by itself, and its caller's code does not depend on which one it is: one time loop serves every
    method. Structs may be passed as such or as their own address."""

    def make() -> Any:
        from netsim.core.compiled.translation import call_by_address

        return call_by_address(returns)

    return Foreign(make, f"by address {returns}")


def address_of(function: Any, returns: kinds.Kind, *arguments: kinds.Kind, entry: str = NUMBA) -> int:
    """Where the machine code of a compiled function is for these kinds of arguments, in a calling convention
    (netsim.core.compiled.entries)."""
    known = returns, arguments, entry
    if known not in function.addresses:
        function.addresses[known] = objects.address(function, arguments, returns, entry)
    return function.addresses[known]


def prepare(calls: Iterable[tuple[Any, ...]], addresses: Iterable[tuple[Any, ...]]) -> None:
    """Have the machine code of functions that are called soon, translated by two processes where that can be
    (netsim.core.compiled.processes): of those that Python calls, each with its arguments, and of those whose
    `address_of` is asked for, each with what that takes. Those that take longest come first; what Python runs is
    passed over."""
    called = [(f, tuple(map(kinds.kind_of, given))) for f, *given in calls if isinstance(f, Compiled)]
    missing = [objects.Entry(f, known, PYTHON) for f, known in called if known not in f._entries]
    for f, returns, *given in addresses:
        if (returns, tuple(given), NUMBA) not in f.addresses:
            missing.append(objects.Entry(f, tuple(given), NUMBA))
    if missing:
        objects.prepare(missing)
