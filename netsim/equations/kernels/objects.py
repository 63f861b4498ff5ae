"""Object code kept on disk: one file per program and kind of machine.

The name of a file is a sha256 over everything its content depends on: the program, the text of the code generator,
llvmlite and LLVM, the processor and its features. Files are written to a temporary name and moved, so that a reader
never sees half of one; each begins with a checksum, and a file that does not match it is compiled again (LLVM would end
the process on a damaged object file). A missing or read-only folder means compiling each time, nothing else.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from netsim.equations.kernels.program import Program
from netsim.text.cache import cache_folder, write_atomically

_FORMAT = b"netsim object 1\n"


def object_key(program: Program) -> str:
    """The cache's name (sha256, hex) for the machine code of a program on this machine."""
    return hashlib.sha256(f"{program.digest}\n{_environment()}".encode()).hexdigest()


def load_object(key: str) -> bytes | None:
    """The object code stored under `key`, or None where there is none or it is damaged."""
    folder = cache_folder("objects")
    if folder is None:
        return None
    try:
        content = (folder / f"{key}.o").read_bytes()
    except OSError:
        return None
    head = len(_FORMAT) + hashlib.sha256().digest_size
    code = content[head:]
    return code if content[:head] == _FORMAT + hashlib.sha256(code).digest() else None


def store_object(key: str, code: bytes) -> bool:
    """Keep object code under `key`; False where the folder cannot be written."""
    folder = cache_folder("objects")
    if folder is None:
        return False
    return write_atomically(folder / f"{key}.o", _FORMAT + hashlib.sha256(code).digest() + code)


@cache
def _environment() -> str:
    """What machine code depends on besides the program, as text."""
    import llvmlite
    import llvmlite.binding as llvm

    generator = hashlib.sha256(
        Path(__file__).with_name("native.py").read_bytes()
    ).hexdigest()  # a changed generator must not find old code
    processor = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return f"{generator}\n{llvmlite.__version__} {llvm.llvm_version_info}\n{processor}"
