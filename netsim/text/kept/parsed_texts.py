"""Texts that were parsed before: their syntax trees, in the package or in the cache folder.

The name of a tree is a digest of the text and of the modules that parse it. The text's path, which messages show, is
put into the tree where it is read. What cannot be read as a tree counts as missing.
"""

import sys
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from netsim.text import errors, syntax, terms
from netsim.text.errors import SAVE_IT, InputError, Problem, remember_source
from netsim.text.kept.shipped import keep, read_kept
from netsim.text.kept.sources import digest_of
from netsim.text.kept.trees import packed, unpacked
from netsim.text.syntax import Program

CLASSES = {
    name: each
    for module in (errors, terms, syntax)
    for name, each in vars(module).items()
    if isinstance(each, type) and is_dataclass(each)
}
"""What a syntax tree is made of."""
LONGEST = 100_000
"""Characters: longer texts are lists of plain lines, which are parsed faster than a tree is read."""


def parsed(path: Path) -> Program:
    """The syntax tree of a file, from the cache where it was parsed before; raises `InputError` with its mistakes and
    `OSError` where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(Problem("E100", f"'{path}' cannot be read: it is not UTF-8 text", hint=SAVE_IT)) from None
    return parsed_text(text, str(path))


def parsed_text(text: str, file: str) -> Program:
    """The syntax tree of a text, from the cache where it was parsed before; raises `InputError` with its mistakes."""
    name = _name(text, file) if len(text) <= LONGEST else ""
    program = _kept(name, file) if name else None
    if program is None:
        from netsim.text.parse import parse

        program = parse(text, file)
        with suppress(RecursionError):  # nested as deeply as the parser goes, beneath a deep stack
            if name:
                keep("parsed", name, packed(program, file))
    remember_source(file, text)
    return program


def _kept(name: str, file: str) -> Program | None:
    body = read_kept("parsed", name)
    if body is not None:
        with suppress(ValueError):
            program = unpacked(body, CLASSES, file)
            return program if isinstance(program, Program) else None
    return None


def _name(text: str, file: str) -> str:
    """Of a tree: where a text contains its own path, this counts too, and where it has letters that another version of
    Python may not know, the version."""
    python, path = "" if text.isascii() else sys.version, file if file in text else ""
    made_of = "\0".join([_sources(), python, path, text])
    return f"tree-{blake2b(made_of.encode(), digest_size=20).hexdigest()}"


@cache
def _sources() -> str:
    """A digest of what makes trees of texts."""
    return digest_of([Path(__file__).parents[1]])
