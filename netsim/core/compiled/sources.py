"""What numba translates: Python functions, and what they name that only numba knows."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from netsim.core.compiled import kinds
from netsim.core.compiled.digests import digest_of


class Source:
    """A function to be translated, and numba's options for it."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        update_wrapper(self, function)  # type: ignore[arg-type]
        self.py_func, self.options = function, options
        self.translated: Any = None
        """numba's object, made when something is translated (netsim.core.compiled.translation)."""
        self._digest: bytes | None = None

    @property
    def kind(self) -> kinds.FunctionKind:
        """The function as an argument of another one."""
        return kinds.function(self)

    @property
    def digest(self) -> bytes:
        """A digest of all that the function's code is made of. Raises TypeError where something it names cannot be told
        apart."""
        if self._digest is None:
            self._digest = b"itself"  # what a function that calls itself reads
            try:
                self._digest = digest_of(self.py_func, self.options)
            except BaseException:
                self._digest = None
                raise
        return self._digest


class Foreign:
    """What compiled code names and only numba knows: `make()` is called when something is compiled."""

    def __init__(self, make: Callable[[], Any], made_of: str = ""):
        self.make, self.made_of = make, made_of
        self._made: Any = None

    def made(self) -> Any:
        """numba's object."""
        if self._made is None:
            self._made = self.make()
        return self._made

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError("only compiled code can call this")
