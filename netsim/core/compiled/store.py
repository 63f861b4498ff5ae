"""Object code on disk: in the package, in the user's cache.

A file is an entry as the cache has them (netsim.text.kept.cache): a line of JSON, which tells about the code, and the
compressed code. Its name says what the code is made of, so that nothing is ever out of date; a damaged file is not
there (LLVM would end the process on a damaged object). A folder that is missing or cannot be written means compiling
each time, nothing else.

`BUILT` is the package's own folder (netsim.text.kept.shipped), filled by `hatch_build.py`: it runs models and keeps all
machine code that they need (`building`), functions for every instruction set (`find_code`, `make_code`).
"""

import json
import lzma
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from netsim.core.compiled.linking import LEVELS, level_of_host
from netsim.text.kept import cache
from netsim.text.kept.shipped import BUILT, building, folder_being_built, read_shipped

__all__ = ["BUILT", "building"]
_PACKED = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20}]
"""Machine code of x86-64 packs a seventh smaller behind the filter for it than by zlib."""


def is_building() -> bool:
    """Whether code is made for the package."""
    return folder_being_built() is not None


def instruction_sets() -> list[str]:
    """The instruction sets that code is made for now; the last one is this processor's."""
    host = level_of_host()
    return [*(each for each in LEVELS if is_building() and each != host), host]


def find_code(name_of: Callable[[str], str]) -> tuple[dict[str, Any], bytes] | None:
    """What `read_code` finds for this processor, by the names for instruction sets; while building, only where there is
    code for each of them."""
    codes = [read_code(name_of(level)) for level in instruction_sets()]
    return codes[-1] if all(codes) else None


def make_code(name_of: Callable[[str], str], about: dict[str, Any], code_of: Callable[[str], bytes]) -> bytes:
    """Make and keep code for the instruction sets that it is made for now; that of this processor comes back."""
    for level in instruction_sets():
        code = code_of(level)
        write_code(name_of(level), about, code)
    return code


def read_code(name: str) -> tuple[dict[str, Any], bytes] | None:
    """What is told about a code, and the code; None where there is none, or one that is damaged."""
    for folder in _folders():
        body = _body(folder, name)
        if body is not None:
            head, _, packed = body.partition(b"\n")
            with suppress(ValueError, lzma.LZMAError):
                return json.loads(head), lzma.decompress(packed, lzma.FORMAT_RAW, filters=_PACKED)
    return None


def code_descriptions(name: str) -> Iterator[dict[str, Any]]:
    """What is told about a code in each of the folders that have one."""
    for folder in _folders():
        if (body := _body(folder, name)) is not None:
            with suppress(ValueError):
                yield json.loads(body.partition(b"\n")[0])


def write_code(name: str, about: dict[str, Any], code: bytes) -> bool:
    """Write a code and what is told about it; False where no folder can be written."""
    folder = _folders()[-1]
    body = json.dumps(about).encode() + b"\n" + lzma.compress(code, lzma.FORMAT_RAW, filters=_PACKED)
    if is_building():
        return cache.write_atomically(folder / name, cache.with_checksum(body))
    return folder != BUILT and cache.write_entry(folder / name, body)


def _body(folder: Path, name: str) -> bytes | None:
    return read_shipped(folder / name) if folder in (BUILT, folder_being_built()) else cache.read_entry(folder / name)


def _folders() -> list[Path]:
    """Where machine code is looked for; it is kept in the last one."""
    if built := folder_being_built():
        return [built]
    own = cache.cache_folder("code")
    return [BUILT, *([own] if own else [])]
