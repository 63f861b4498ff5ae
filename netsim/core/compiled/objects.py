"""Machine code of compiled functions as object files: in the package, in the user's cache, or translated and kept.

An object holds one public function. Its file is named by a digest of all that the code is made of: the function
(netsim.core.compiled.digests), the kinds of its arguments, the way in, the versions of Python, numba and LLVM, and the
instruction set. Numba is imported only where there is no file.

`BUILT` is the package's own folder. It is filled by `python -m netsim build`, which runs models and keeps all machine
code that they need, for every instruction set (`building`).
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from netsim.core.compiled import kinds
from netsim.core.compiled.digests import hashed, text_of
from netsim.core.compiled.entries import PYTHON, python_function, way_in
from netsim.core.compiled.linking import LEVELS, level_of_host, link, object_code, told
from netsim.core.compiled.sources import Source
from netsim.text.cache import cache_folder, write_atomically

BUILT = Path(__file__).parent / "built"
LARGEST, KEPT = 1 << 30, 1 << 29
"""Bytes: a folder beyond the first is cut to the second, the code longest unused first."""

_lock = threading.RLock()
_loaded: dict[str, tuple[int, kinds.Kind]] = {}
_building: list[Path] = []
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


@contextmanager
def building(folder: Path) -> Iterator[None]:
    """Keep in a folder, for every instruction set, all machine code that is asked for."""
    _building.append(folder)
    try:
        yield
    finally:
        _building.remove(folder)


def _found(function: Source, arguments: tuple[kinds.Kind, ...], entry: str) -> tuple[int, kinds.Kind]:
    with _lock:
        made_of = hashed(function.digest, ", ".join(map(str, arguments)).encode(), entry.encode())
        name = _name(function, made_of, level_of_host())
        if name not in _loaded:
            header, code = _read(name) or _made(function, made_of, arguments, entry)
            found = link(code, header["symbol"], header["needs_numba"])
            assert found, name
            _loaded[name] = found, kinds.from_words(header["returns"])
        return _loaded[name]


def _name(function: Source, made_of: bytes, level: str) -> str:
    return f"{function.py_func.__name__}-{hashed(made_of, _environment(level)).hex()[:40]}"


def _folders() -> list[Path]:
    """Where machine code is looked for; it is kept in the last one."""
    if _building:
        return _building[-1:]
    cache_ = cache_folder("code")
    return [BUILT, *([cache_] if cache_ else [])]


def _read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """Header and object of a file that holds both; None where there is none, or one that is damaged."""
    for folder in _folders():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            continue
        head, _, code = content.partition(b"\n")
        with suppress(ValueError, KeyError):
            header = json.loads(head)
            if header["check"] == hashed(code).hex():
                with suppress(OSError):  # a folder that cannot be written
                    (folder / name).touch()
                return header, code
    return None


def _made(
    function: Source, made_of: bytes, arguments: tuple[kinds.Kind, ...], entry: str
) -> tuple[dict[str, Any], bytes]:
    """Header and object of a function, translated now and kept where a folder can be written."""
    for tell in translating:
        tell(function.py_func.__name__)
    from netsim.core.compiled.translation import translate

    translated = translate(function, arguments)
    symbol = f"netsim_{made_of.hex()[:40]}"
    text, needs_numba = way_in(translated.text, translated.symbol, arguments, entry, symbol)
    for level in [*LEVELS, level_of_host()] if _building else [level_of_host()]:
        code = object_code(text, symbol, level)
        header = {
            "symbol": symbol,
            "returns": kinds.in_words(translated.returns),
            "check": hashed(code).hex(),
            "needs_numba": needs_numba,
        }
        content = json.dumps(header).encode() + b"\n" + code
        folder = _folders()[-1]
        if (
            (folder != BUILT or _building)
            and write_atomically(folder / _name(function, made_of, level), content)
            and not _building
        ):
            _cut(folder)
    return header, code


@cache
def _environment(level: str) -> bytes:
    """What machine code depends on besides the function."""
    here = Path(__file__).parent
    files = [
        text_of(here / f"{name}.py") for name in ("bundle", "entries", "kinds", "linking", "objects", "translation")
    ]
    versions = f"{sys.implementation.cache_tag} {version('numba')} {told(level)}"
    return hashed(versions.encode(), *files)


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
