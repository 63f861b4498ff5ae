"""What `netsim list` prints, from the cache where the same was asked of the same texts before.

Reading the whole library takes a third of a second; its texts are read as bytes in some milliseconds.
"""

import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from netsim.library.places import library_folder, own_folders
from netsim.text.kept.cache import cache_folder, read_entry, write_entry
from netsim.text.kept.sources import digest_of

_INCLUDE = re.compile(rb"^\s*include\b", re.MULTILINE)


def listed(words: str, describe: Callable[[], str]) -> str:
    """What `describe` says of these words; kept on disk by the texts of all libraries, where none includes others."""
    entry = _entry(words)
    body = read_entry(entry) if entry else None
    if body is not None:
        return body.decode("utf-8", "replace")
    text = describe()
    if entry:
        write_entry(entry, text.encode())
    return text


def _entry(words: str) -> Path | None:
    folder = cache_folder("listed")
    if folder is None:
        return None
    here = Path(__file__).parents[1]
    made_of = blake2b("\0".join([words, digest_of([here / "text", here / "library"])]).encode(), digest_size=20)
    for place in (library_folder(), *own_folders()):
        for file in sorted([*place.glob("*.lib"), *place.glob("*/*.lib"), *place.glob("words.txt")]):
            try:
                text = file.read_bytes()
            except OSError:
                return None
            if _INCLUDE.search(text):
                return None
            made_of.update(f"\0{file}\0{len(text)}\0".encode() + text)
    return folder / made_of.hexdigest()
