"""Digests of compiled functions: all that their machine code is made of.

A function's statements, the constants and types it names, and the same of every compiled function it calls, however
deep. An edit costs the compilation of what depends on it and nothing else; a comment, a docstring or an annotation
costs nothing, and the versions of Python agree. A file is parsed once: its functions' digests are kept by its content.
"""

import ast
import hashlib
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from netsim.core.compiled import store

_BEGUN = time.time()
SILENT = frozenset(["annotation", "returns", "decorator_list", "type_comment", "type_params", "ctx", "kind"])
"""Fields of syntax trees that make no machine code, or that not all versions of Python have."""
PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)


def digest_of(function: Callable[..., Any], options: dict[str, Any]) -> bytes:
    """The digest of a function that is compiled with these options. Raises TypeError where something it names cannot be
    told apart."""
    return digest_of_parts(repr(sorted(options.items())).encode(), _made_of(function))


def digest_of_parts(*parts: bytes) -> bytes:
    """A digest of parts in their order."""
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


@cache
def text_of(path: Path) -> bytes:
    """The content of a file."""
    return path.read_bytes()


def _made_of(function: Any) -> bytes:
    """A function's statements, the defaults and cells it was made with, and what it names."""
    code = function.__code__
    cells = [cell.cell_contents for _, cell in sorted(zip(code.co_freevars, function.__closure__ or ()))]
    names = _names(code)
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    # of `module.name`
    inside = [vars(each)[name] for each in named if _ours(each) for name in names if name in vars(each)]
    return digest_of_parts(_statements(code), *(_part(each) for each in [function.__defaults__, cells, named, inside]))


def _statements(code: CodeType) -> bytes:
    """A digest of a function's statements: of their syntax tree, or of their bytecode where the file that they were
    read from is none or may have changed since."""
    found = _functions(Path(code.co_filename)).get(f"{code.co_firstlineno} {code.co_name}")
    return (
        bytes.fromhex(found) if found else digest_of_parts(str(sys.implementation.cache_tag).encode(), _bytecode(code))
    )


@cache
def _functions(path: Path) -> dict[str, str]:
    """Digests of a file's functions by first line and name."""
    try:
        text, changed = text_of(path), path.stat().st_mtime
    except OSError:
        return {}
    name = f"functions-{digest_of_parts(text_of(Path(__file__)), text).hex()[:40]}"
    if changed > _BEGUN and not (store.BUILT / name).is_file():
        return {}
    if (known := store.read_code(name)) is None:
        found = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
        known = (
            {f"{_first_line(each)} {each.name}": digest_of_parts(repr(_said(each)).encode()).hex() for each in found},
            b"",
        )
        store.write_code(name, *known)
    return known[0]


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _said(node: Any) -> Any:
    """A syntax tree without places, texts that stand alone, and what is `SILENT`; fields that hold nothing are left
    out."""
    if isinstance(node, list):
        return [_said(each) for each in node if not _is_text(each)]
    if not isinstance(node, ast.AST):
        return node
    fields = [(name, _said(value)) for name, value in ast.iter_fields(node) if name not in SILENT]
    return type(node).__name__, [(name, value) for name, value in fields if value is not None and value != []]


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _bytecode(code: CodeType) -> bytes:
    constants = [_bytecode(each) if isinstance(each, CodeType) else repr(each).encode() for each in code.co_consts]
    return digest_of_parts(
        code.co_code, repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)).encode(), *constants
    )


def _names(code: CodeType) -> list[str]:
    deeper = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return sorted({*code.co_names, *deeper})


def _ours(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.split(".")[0] == __name__.split(".")[0]


def _part(value: Any) -> bytes:
    """What a value contributes to the code that names it."""
    if isinstance(digest := getattr(value, "digest", None), bytes):
        return digest
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, tuple | list):
        return digest_of_parts(type(value).__name__.encode(), *(_part(each) for each in value))
    if isinstance(value, np.ndarray):
        return digest_of_parts(f"{value.dtype} {value.shape} {value.flags.c_contiguous}".encode(), value.tobytes())
    if isinstance(value, ModuleType):
        return value.__name__.encode()
    if made_of := getattr(value, "made_of", None):
        return str(made_of).encode()
    if module := getattr(value, "__module__", None):  # a class, or what is compiled in its own way: all of its file
        place = f"{module}.{getattr(value, '__qualname__', type(value).__name__)}"
        if module.split(".")[0] != __name__.split(".")[0]:
            return place.encode()
        return digest_of_parts(place.encode(), text_of(Path(str(sys.modules[module].__file__))))
    raise TypeError(f"{value!r} in compiled code: nothing says what code it makes")
