"""What the package brings with it, made where it is built (`hatch_build.py`): machine code, the parser's tables, and
syntax trees of the libraries. Entries as the user's cache has them, of all kinds in one folder.

Names say what entries are made of, as in the user's cache: nothing that is out of date is found.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netsim.text.kept import cache

BUILT = Path(__file__).parents[2] / "core/compiled/built"
_building: list[Path] = []


@contextmanager
def building(folder: Path) -> Iterator[None]:
    """Keep in a folder all that is asked for."""
    _building.append(folder)
    try:
        yield
    finally:
        _building.remove(folder)


def folder_being_built() -> Path | None:
    """The folder of a package that is built now."""
    return _building[-1] if _building else None


def read_shipped(file: Path) -> bytes | None:
    """The body of a file of the package, or of one that is being built, whoever owns it; that it is damaged is told."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    body = cache.without_checksum(content)
    if body is None:
        cache.warn_once(f"{file} is damaged: what is in it is compiled again; install netsim again to mend it")
    elif _building:
        cache.mark_used(file)  # of what is not in use any more `hatch_build.py` cleans the folder
    return body


def read_kept(kind: str, name: str) -> bytes | None:
    """The body of an entry: of the package, else of the folder `kind` of the user's cache."""
    body = read_shipped((folder_being_built() or BUILT) / name)
    if body is None and not _building and (folder := cache.cache_folder(kind)):
        return cache.read_entry(folder / name)
    return body


def keep(kind: str, name: str, body: bytes) -> None:
    """Write an entry: of the package that is built, else of the user's cache, where it can be written."""
    if _building:
        cache.write_atomically(_building[-1] / name, cache.with_checksum(body))
    elif folder := cache.cache_folder(kind):
        cache.write_entry(folder / name, body)
