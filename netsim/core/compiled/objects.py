"""Machine code of compiled functions: from a file, or translated and kept (netsim.core.compiled.store).

An object holds one public function. Its file is named by a digest of all that the code is made of: the function
(netsim.core.compiled.digests), the kinds of its arguments, the way in, and the instruction set: one file serves all
versions of Python and LLVM. Where there is no file numba is needed, which a user need not have.
"""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from netsim.core.compiled import kinds, store
from netsim.core.compiled.digests import hashed, text_of
from netsim.core.compiled.entries import PYTHON, python_function, way_in
from netsim.core.compiled.linking import level_of_host, link, object_code, told
from netsim.core.compiled.sources import Source
from netsim.text.errors import Problem, SimulationError

_lock = threading.RLock()
_loaded: dict[str, tuple[int, kinds.Kind]] = {}
translating: list[Callable[[str], None]] = []
"""Who wants to be told of a function that is translated now."""


def python_entry(function: Source, arguments: tuple[kinds.Kind, ...]) -> Callable[..., Any]:
    """The machine code for arguments of these kinds, as a Python function."""
    return python_function(*_found(function, arguments, PYTHON), arguments)


def address(function: Source, arguments: tuple[kinds.Kind, ...], returns: kinds.Kind, entry: str) -> int:
    """The address of the machine code, in the calling convention `entry` (netsim.core.compiled.entries)."""
    found, kind = _found(function, arguments, entry)
    assert str(kind) == str(returns), f"{function.py_func.__name__} returns {kind}, not {returns}"
    return found


def _found(function: Source, arguments: tuple[kinds.Kind, ...], entry: str) -> tuple[int, kinds.Kind]:
    with _lock:
        made_of = hashed(function.digest, ", ".join(map(str, arguments)).encode(), entry.encode())

        def name_of(level: str) -> str:
            return f"{function.py_func.__name__}-{hashed(made_of, _environment(level)).hex()[:40]}"

        name = name_of(level_of_host())
        if name not in _loaded:
            header, code = store.found(name_of) or _made(function, made_of, arguments, entry, name_of)
            if header["needs_numba"]:
                _translation(function).tell_symbols()
            found = link(code, header["symbol"])
            assert found, name
            _loaded[name] = found, kinds.from_words(header["returns"])
        return _loaded[name]


def _made(
    function: Source, made_of: bytes, arguments: tuple[kinds.Kind, ...], entry: str, name_of: Callable[[str], str]
) -> tuple[dict[str, Any], bytes]:
    """What is told about a function's code, and the code, translated now and kept where a folder can be written.

    Raises SimulationError where there is no numba, TypeError where what is built for users would need it."""
    for tell in translating:
        tell(function.py_func.__name__)
    translated = _translation(function).translate(function, arguments)
    symbol = f"netsim_{made_of.hex()[:40]}"
    text, needs_numba = way_in(translated.text, translated.symbol, arguments, entry, symbol)
    if needs_numba and store.is_building():
        raise TypeError(f"'{function.py_func.__name__}' calls numba's library, which a user need not have")
    about = {"symbol": symbol, "returns": kinds.in_words(translated.returns), "needs_numba": needs_numba}
    return about, store.made(name_of, about, lambda level: object_code(text, symbol, level))


def _translation(function: Source) -> Any:
    """The module that needs numba."""
    try:
        from netsim.core.compiled import translation
    except ModuleNotFoundError as missing:
        name = function.py_func.__name__
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
    return hashed(told(level).encode(), *files)
