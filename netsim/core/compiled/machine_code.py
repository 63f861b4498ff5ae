"""Machine code of compiled functions, kept on disk from run to run and from one checkout of the package to another.

numba's own cache looks at a function's file, not at what the function calls: a changed callee would meet a stale
caller. Here code is kept under a digest of all that it was made of: the function's bytecode and constants, the
constants and types it names, and the same of every compiled function it calls, however deep; besides the types of its
arguments, the processor, and the versions of Python and numba. An edit therefore costs the compilation of what depends
on it and nothing else, and a comment costs nothing.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import compiler
from numba.core.serialize import dumps

from netsim.text.cache import cache_folder, write_atomically

LARGEST, KEPT = 1 << 30, 1 << 29
"""Bytes: a folder beyond the first is cut to the second, the code longest unused first."""
PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype, types.Type)


class MachineCode:
    """What numba asks for a function's code before it compiles, and hands it to afterwards (in place of its own
    `FunctionCache`)."""

    def __init__(self, function: Any, options: dict[str, Any]):
        self._function, self._options = function, options
        self._digest: bytes | None = None

    @property
    def digest(self) -> bytes:
        """A digest of all the text that the function's code is made of. Raises TypeError where something it names
        cannot be told apart."""
        if self._digest is None:
            self._digest = b"itself"  # what a function that calls itself reads
            try:
                self._digest = _hashed(
                    _extensions(), repr(sorted(self._options.items())).encode(), _made_of(self._function)
                )
            except BaseException:
                self._digest = None
                raise
        return self._digest

    @property
    def cache_path(self) -> Path | None:
        """The folder; None where none can be written."""
        return cache_folder("machine_code")

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code for a signature, ready to be called; None where there is none."""
        context.refresh()
        file = self._file(signature, context.codegen())
        if file is None or not file.exists():
            return None
        content = file.read_bytes()
        with suppress(OSError):  # a folder that has become read-only
            file.touch()
        return compiler.CompileResult._rebuild(context, *pickle.loads(content))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a result of compilation, where a folder can be written. Code that holds addresses of this process is not
        kept."""
        file = self._file(signature, result.codegen)
        if file is None or result.library.has_dynamic_globals or any(not each.can_cache for each in result.lifted):
            return
        if write_atomically(file, dumps(result._reduce())):
            _cut(file.parent)

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        if (folder := self.cache_path) is None:
            return None
        arguments = signature if isinstance(signature, tuple) else (*signature.args, signature.return_type)
        name = _hashed(
            self.digest, repr([_told(each) for each in arguments]).encode(), repr(codegen.magic_tuple()).encode()
        ).hex()
        return folder / f"{self._function.__name__}-{name[:40]}"


def keep(compiled: Any, function: Any, options: dict[str, Any]) -> Any:
    """The same compiled function, with its machine code kept on disk."""
    compiled._cache = MachineCode(function, options)
    return compiled


def _hashed(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


@cache
def _extensions() -> bytes:
    """What every compilation goes through: Python, numba, and the files that teach it new types and calls."""
    here = Path(__file__).parent
    versions = f"{sys.implementation.cache_tag} {numba.__version__}".encode()
    return _hashed(versions, *(_text(here / f"{name}.py") for name in ("apart", "bundle", "machine_code")))


@cache
def _text(path: Path) -> bytes:
    return path.read_bytes()


def _made_of(function: Any) -> bytes:
    """A function's bytecode and constants, the defaults and cells it was made with, and what it names."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = _names(code)
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    inside = [
        vars(each)[name] for each in named if _ours(each) for name in names if name in vars(each)
    ]  # of `module.name`
    return _hashed(_bytecode(code), *(_part(each) for each in [function.__defaults__, cells, named, inside]))


def _bytecode(code: CodeType) -> bytes:
    constants = [_bytecode(each) if isinstance(each, CodeType) else repr(each).encode() for each in code.co_consts]
    return _hashed(
        code.co_code, repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)).encode(), *constants
    )


def _names(code: CodeType) -> list[str]:
    inner = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return sorted({*code.co_names, *inner})


def _ours(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.split(".")[0] == __name__.split(".")[0]


def _part(value: Any) -> bytes:
    """What a value contributes to the code that names it."""
    if isinstance(kept := getattr(value, "_cache", None), MachineCode):
        return kept.digest
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, tuple | list):
        return _hashed(type(value).__name__.encode(), *(_part(each) for each in value))
    if isinstance(value, np.ndarray):
        return _hashed(f"{value.dtype} {value.shape} {value.flags.c_contiguous}".encode(), value.tobytes())
    if isinstance(value, ModuleType):
        return value.__name__.encode()
    if module := getattr(
        value, "__module__", None
    ):  # a class, or what is compiled in a way of its own: all of its file, and what it carries
        place = f"{module}.{getattr(value, '__qualname__', type(value).__name__)}"
        if module.split(".")[0] != __name__.split(".")[0]:
            return place.encode()
        carried = vars(value).get("returns") if hasattr(value, "__dict__") else None
        return _hashed(place.encode(), repr(carried).encode(), _text(Path(str(sys.modules[module].__file__))))
    raise TypeError(f"{value!r} in compiled code: nothing says what code it makes")


def _told(kind: Any) -> Any:
    """A type of an argument in words; of a named tuple its fields too, which numba finds by place; of a function what
    it is made of."""
    if isinstance(kind, types.Dispatcher):
        return "function", _part(kind.dispatcher).hex()
    if isinstance(kind, types.BaseTuple):
        places: Any = kind
        return (
            type(kind).__name__,
            str(getattr(kind, "instance_class", "")),
            getattr(kind, "fields", ()),
            [_told(each) for each in places],
        )
    return type(kind).__name__, repr(kind)


@cache
def _cut(folder: Path) -> None:
    """Forget what was longest unused where a folder has grown beyond `LARGEST`; one look in a process."""
    found = []
    for file in folder.iterdir():
        with suppress(OSError):  # another process was faster
            found.append((file.stat().st_mtime, file.stat().st_size, file))
    total = sum(size for _, size, _ in found)
    if total <= LARGEST:
        return
    for _, size, file in sorted(found):
        with suppress(OSError):
            file.unlink()
        total -= size
        if total <= KEPT:
            return


__all__ = ["MachineCode", "keep"]
