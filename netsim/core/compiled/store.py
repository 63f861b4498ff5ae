"""Object code on disk: in the package, in the user's cache.

A file is a line of JSON, which tells about the code and has its checksum, and the compressed code. Its name says what
the code is made of, so that nothing is ever out of date; a file that does not match its checksum is not there (LLVM
would end the process on a damaged object). A folder that is missing or cannot be written means compiling each time,
nothing else.

`BUILT` is the package's own folder, filled by `hatch_build.py`: it runs models and keeps all machine code that they
need, for every instruction set (`building`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from netsim.core.compiled.digests import hashed
from netsim.core.compiled.linking import LEVELS, level_of_host
from netsim.text.cache import cache_folder, write_atomically

BUILT = Path(__file__).parent / "built"
LARGEST, KEPT = 1 << 30, 1 << 29
"""Bytes: a folder beyond the first is cut to the second, the code longest unused first."""
_building: list[Path] = []


@contextmanager
def building(folder: Path) -> Iterator[None]:
    """Keep in a folder, for every instruction set, all machine code that is asked for."""
    _building.append(folder)
    try:
        yield
    finally:
        _building.remove(folder)


def levels() -> list[str]:
    """The instruction sets that code is made for now; the last one is this processor's."""
    host = level_of_host()
    return [*(each for each in LEVELS if _building and each != host), host]


def found(name_of: Callable[[str], str]) -> tuple[dict[str, Any], bytes] | None:
    """What `read` finds for this processor, by the names for instruction sets; while building, only where there is code
    for each of them."""
    codes = [read(name_of(level)) for level in levels()]
    return codes[-1] if all(codes) else None


def made(name_of: Callable[[str], str], about: dict[str, Any], code_of: Callable[[str], bytes]) -> bytes:
    """Make and keep code for the instruction sets that it is made for now; that of this processor comes back."""
    for level in levels():
        code = code_of(level)
        keep(name_of(level), about, code)
    return code


def read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """What is told about a code, and the code; None where there is none, or one that is damaged."""
    for folder in _folders():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            continue
        head, _, packed = content.partition(b"\n")
        with suppress(ValueError, KeyError, zlib.error):
            header = json.loads(head)
            if header["check"] == hashed(packed).hex():
                if folder != BUILT or _building:
                    with suppress(OSError):  # a folder that cannot be written
                        (folder / name).touch()
                return header, zlib.decompress(packed)
    return None


def keep(name: str, about: dict[str, Any], code: bytes) -> bool:
    """Write a code and what is told about it; False where no folder can be written."""
    folder = _folders()[-1]
    if folder == BUILT and not _building:
        return False
    packed = zlib.compress(code)
    head = json.dumps(about | {"check": hashed(packed).hex()}).encode()
    written = write_atomically(folder / name, head + b"\n" + packed)
    if written and not _building:
        _cut(folder)
    return written


def _folders() -> list[Path]:
    """Where machine code is looked for; it is kept in the last one."""
    if _building:
        return _building[-1:]
    cache_ = cache_folder("code")
    return [BUILT, *([cache_] if cache_ else [])]


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
