"""Machine code of compiled functions: from a file, or translated and kept (netsim.core.compiled.store).

An object holds one public function. Its file is named by a digest of all that the code is made of: the function
(netsim.core.compiled.digests), the kinds of its arguments, the way in, and the instruction set: one file serves all
versions of Python and LLVM. Where there is no file numba is needed, which a user need not have.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from netsim.core.compiled import kinds, store
from netsim.core.compiled.digests import digest_of_parts, text_of
from netsim.core.compiled.entries import PYTHON, add_entry, python_function
from netsim.core.compiled.linking import level_of_host, link, object_code, target_description
from netsim.core.compiled.sources import Source
from netsim.text.errors import Problem, SimulationError

_lock = threading.RLock()
_loaded: dict[str, tuple[int, kinds.Kind]] = {}
translating: list[Callable[[str], None]] = []
"""Who wants to be told of a function that is translated now."""


@dataclass(frozen=True)
class Entry:
    """A function for arguments of these kinds, called in the convention `way` (netsim.core.compiled.entries)."""

    function: Source
    arguments: tuple[kinds.Kind, ...]
    way: str = PYTHON

    @property
    def made_of(self) -> bytes:
        """A digest of all that the code is made of, whatever the instruction set."""
        return digest_of_parts(self.function.digest, ", ".join(map(str, self.arguments)).encode(), self.way.encode())

    @property
    def name_of(self) -> Callable[[str], str]:
        """The name of the code's file by the instruction set."""
        name, made_of = self.function.py_func.__name__, self.made_of
        return lambda level: f"{name}-{digest_of_parts(made_of, _environment(level)).hex()[:40]}"


Object = tuple[dict[str, Any], bytes]
"""What is told about a code, and the code."""


def python_entry(function: Source, arguments: tuple[kinds.Kind, ...]) -> Callable[..., Any]:
    """The machine code for arguments of these kinds, as a Python function."""
    return python_function(*_found(Entry(function, arguments)), arguments)


def address(function: Source, arguments: tuple[kinds.Kind, ...], returns: kinds.Kind, entry: str) -> int:
    """The address of the machine code, in the calling convention `entry` (netsim.core.compiled.entries)."""
    found, kind = _found(Entry(function, arguments, entry))
    assert str(kind) == str(returns), f"{function.py_func.__name__} returns {kind}, not {returns}"
    return found


def prepare(entries: Iterable[Entry]) -> None:
    """Have the code of several entries. What there is none of is translated by two processes where that can be; entries
    that take longest come first."""
    with _lock:
        missing = {}
        for name, each in {each.name_of(level_of_host()): each for each in entries}.items():
            if name not in _loaded:
                if there := store.find_code(each.name_of):
                    _load(name, there)
                else:
                    missing[name] = each
        if missing:
            from netsim.core.compiled.processes import shared_between_processes

            for each in missing.values():
                _tell(each)
            for name, made in zip(missing, shared_between_processes(_made, [*missing.values()])):
                _load(name, made)


def _found(entry: Entry) -> tuple[int, kinds.Kind]:
    with _lock:
        name = entry.name_of(level_of_host())
        if name not in _loaded:
            there = store.find_code(entry.name_of)
            if not there:
                _tell(entry)
            _load(name, there or _made(entry))
        return _loaded[name]


def _load(name: str, made: Object) -> None:
    about, code = made
    if about["needs_numba"]:
        _translation(name).tell_symbols()
    found = link(code, about["symbol"])
    assert found, name
    _loaded[name] = found, kinds.from_words(about["returns"])


def _tell(entry: Entry) -> None:
    """Tell that an entry is translated now; all that it needs of numba is there then."""
    name = entry.function.py_func.__name__
    for tell in translating:
        tell(name)
    _translation(name)


def _made(entry: Entry) -> Object:
    """Code translated now, and kept where a folder can be written.

    Raises SimulationError where there is no numba, TypeError where what is built for users would need it."""
    name = entry.function.py_func.__name__
    symbol = f"netsim_{entry.made_of.hex()[:40]}"
    translated = _translation(name).translate(entry.function, entry.arguments)
    needs_numba = add_entry(translated.module, translated.symbol, entry.arguments, entry.way, symbol)
    if needs_numba and store.is_building():
        raise TypeError(f"'{name}' calls numba's library, which a user need not have")
    about = {"symbol": symbol, "returns": kinds.in_words(translated.returns), "needs_numba": needs_numba}
    return about, store.make_code(entry.name_of, about, lambda level: object_code(translated.module, symbol, level))


def _translation(name: str) -> Any:
    """The module that needs numba, for a function of this name."""
    try:
        from netsim.core.compiled import translation
    except ModuleNotFoundError as missing:
        message = f"there is no machine code of '{name}' for this computer ({level_of_host()}), and no compiler"
        hint = "pip install numba; what is missing is compiled then, once"
        raise SimulationError(Problem("E490", message, hint=hint)) from missing
    return translation


@cache
def _environment(level: str) -> bytes:
    """What machine code depends on besides the function."""
    here = Path(__file__).parent
    files = [
        text_of(here / f"{name}.py") for name in ("struct", "entries", "kinds", "linking", "objects", "translation")
    ]
    return digest_of_parts(target_description(level).encode(), *files)
