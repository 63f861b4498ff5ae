"""The user's cache folder: where the parser's tables and the kernels' object code survive from run to run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """A created, writable folder `name` below $NETSIM_CACHE, else $XDG_CACHE_HOME/netsim, else ~/.cache/netsim.

    None where no such folder can be written (a read-only home): the caller then works without a cache.
    """
    folder = _root() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def write_atomically(path: Path, content: bytes) -> bool:
    """Write through a temporary file and a rename, so that a reader never sees half a file; False where it failed."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        return False
    return True


def _root() -> Path:
    if own := os.environ.get("NETSIM_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "netsim"
    return Path(os.path.expanduser("~")) / ".cache" / "netsim"
