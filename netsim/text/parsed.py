"""Library texts that were parsed before: their syntax trees on disk, beside the parser's tables in the cache folder.

The name of a tree's file is a digest of the text, of its path, which messages show, and of the modules that parse it. A
file that cannot be read as a tree counts as missing.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

from netsim.text.cache import cache_folder, write_atomically
from netsim.text.errors import remember_source
from netsim.text.parse import parse
from netsim.text.syntax import Program


def parsed(path: Path) -> Program:
    """The syntax tree of a file, from the cache where it was parsed before; raises `InputError` with its mistakes and
    `OSError` where it cannot be read."""
    text = path.read_text(encoding="utf-8")
    folder = cache_folder("parsed")
    if folder is None:
        return parse(text, str(path))
    made_of = "\0".join([_parser(), str(path), text])
    kept = folder / blake2b(made_of.encode(), digest_size=20).hexdigest()
    try:
        program = pickle.loads(kept.read_bytes())
    except (OSError, ValueError, EOFError, AttributeError, ImportError, pickle.UnpicklingError):
        program = parse(text, str(path))
        write_atomically(kept, pickle.dumps(program, protocol=5))
    remember_source(str(path), text)
    return program


@cache
def _parser() -> str:
    """A digest of what makes trees of texts."""
    made_of = blake2b(sys.version.encode(), digest_size=20)
    for file in sorted(Path(__file__).parent.rglob("*")):
        if file.suffix in (".py", ".lark"):
            made_of.update(file.read_bytes())
    return made_of.hexdigest()
