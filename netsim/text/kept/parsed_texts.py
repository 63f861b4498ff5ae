"""Library texts that were parsed before: their syntax trees on disk, beside the parser's tables in the cache folder.

The name of a tree's file is a digest of the text, of its path, which messages show, and of the modules that parse it. A
file that cannot be read as a tree counts as missing.
"""

import sys
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from netsim.text import errors, syntax, terms
from netsim.text.errors import SAVE_IT, InputError, Problem, remember_source
from netsim.text.kept.cache import cache_folder, read_entry, write_entry
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
    entry = _entry(text, file)
    program = _kept(entry) if entry else None
    if program is None:
        from netsim.text.parse import parse

        program = parse(text, file)
        if entry:
            with suppress(RecursionError):  # nested as deeply as the parser goes, beneath a deep stack
                write_entry(entry, packed(program))
    remember_source(file, text)
    return program


def _entry(text: str, file: str) -> Path | None:
    """Where the tree of a text is kept; None where it is not."""
    folder = cache_folder("parsed") if len(text) <= LONGEST else None
    made_of = "\0".join([_parser(), file, text]) if folder else ""
    return folder / blake2b(made_of.encode(), digest_size=20).hexdigest() if folder else None


def _kept(entry: Path) -> Program | None:
    body = read_entry(entry)
    if body is not None:
        with suppress(ValueError):
            program = unpacked(body, CLASSES)
            return program if isinstance(program, Program) else None
    return None


@cache
def _parser() -> str:
    """A digest of what makes trees of texts."""
    return f"{sys.version} {digest_of([Path(__file__).parents[1]])}"
