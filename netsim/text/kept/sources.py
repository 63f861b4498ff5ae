"""Digests of source files: what kept things are made of besides what they were made from.

Reading some hundred files takes longer than most of what is kept saves: a digest is kept itself, by the files' names,
sizes and times of change. A file that has changed since the process began is not believed, since the process may hold
what stood there before: the digest is then one of this process alone.
"""

import json
import os
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from netsim.text.kept.cache import cache_folder, read_entry, write_entry

SUFFIXES = (".py", ".lark")
_BEGUN = time.time_ns()


def digest_of(folders: Iterable[Path]) -> str:
    """A digest of what stands in the source files of these folders, with all below, and of these files."""
    files = sorted(each for folder in folders for each in _sources(str(folder)))
    states = [os.stat(path) for path in files]
    if any(each.st_mtime_ns > _BEGUN for each in states):
        return f"{os.getpid()} {_BEGUN}"
    told = json.dumps([[path, each.st_size, each.st_mtime_ns] for path, each in zip(files, states)])
    folder = cache_folder("sources")
    entry = folder / blake2b(told.encode(), digest_size=20).hexdigest() if folder else None
    body = read_entry(entry) if entry else None
    if body is not None and len(body) == 40:
        return body.decode("ascii", "replace")
    made_of = blake2b(digest_size=20)
    for path in files:
        content = Path(path).read_bytes()
        made_of.update(len(content).to_bytes(8, "little") + content)
    found = made_of.hexdigest()
    if entry:
        write_entry(entry, found.encode())
    return found


def _sources(place: str) -> list[str]:
    if not os.path.isdir(place):
        return [place]
    found: list[str] = []
    with os.scandir(place) as entries:
        for each in entries:
            if each.is_dir():
                found += _sources(each.path) if each.name != "__pycache__" else []
            elif each.name.endswith(SUFFIXES):
                found.append(each.path)
    return found
