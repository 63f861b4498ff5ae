"""The user's cache folder: what survives from run to run, private to the user, whole or not there.

An entry is a file of its own: a line with the version of this form and the SHA-256 of the body, and the body. What does
not match its line counts as missing, and its maker writes it again. Folders and files that somebody else owns or may
write are not read. An entry is written beside its place and renamed; where that fails, nothing is kept and nothing is
said. No entry is a program of Python: what is read is JSON, or machine code of the user's own.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

FORM = b"netsim 1 "
LARGEST, KEPT = 1 << 30, 1 << 29
"""Bytes: a folder beyond the first is cut to the second, the entries longest unused first."""
_HEAD = len(FORM) + 64 + 1


def cache_folder(name: str) -> Path | None:
    """A created, writable, private folder `name` below $NETSIM_CACHE, else $XDG_CACHE_HOME/netsim, else
    ~/.cache/netsim.

    None where there can be none (a read-only home), or where others may write: the caller then works without a cache.
    """
    root = _root()
    folder = root / name
    try:
        root.mkdir(0o700, parents=True, exist_ok=True)
        folder.mkdir(0o700, exist_ok=True)
        private = _is_guarded(root) and _is_private(folder, folder.stat())
    except OSError:
        return None
    return folder if private and os.access(folder, os.W_OK | os.X_OK) else None


def read_entry(path: Path) -> bytes | None:
    """The body of an entry; None where there is none, where it is damaged, and where others may have written it."""
    try:
        with open(path, "rb", opener=_open_at_once) as stream:
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_private(path, found):
                return None
            body = without_checksum(stream.read())
    except OSError:
        return None
    if body is not None:
        mark_used(path)
    return body


def write_entry(path: Path, body: bytes) -> bool:
    """Write an entry; False where it cannot be written."""
    written = write_atomically(path, with_checksum(body))
    if written:
        _cut(path.parent)
    return written


def with_checksum(body: bytes) -> bytes:
    """A body behind the line that tells whether it is whole."""
    return FORM + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def without_checksum(content: bytes) -> bytes | None:
    """The body of what `with_checksum` made; None where a bit of it has changed."""
    body = content[_HEAD:]
    return body if with_checksum(body) == content else None


def mark_used(path: Path) -> None:
    """Say that an entry is in use."""
    with suppress(OSError):  # a folder that cannot be written
        os.utime(path)


def write_atomically(path: Path, content: bytes) -> bool:
    """Write through a temporary file and a rename, so that a reader never sees half a file; False where it failed."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except OSError:
        return False
    finally:  # also where the process is told to end
        with suppress(OSError):
            os.unlink(temporary)
    return True


@cache
def warn_once(sentence: str) -> None:
    """Say a sentence on stderr, or to whoever handles the log `netsim`; once in a process."""
    import logging

    logging.getLogger("netsim").warning("%s", sentence)


def _root() -> Path:
    if own := os.environ.get("NETSIM_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "netsim"
    return Path(os.path.expanduser("~")) / ".cache" / "netsim"


def _open_at_once(path: str, flags: int) -> int:
    """A pipe in an entry's place is opened without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_guarded(root: Path) -> bool:
    """Whether nobody but the user and the system can exchange what lies in a folder (/tmp is guarded: it is sticky)."""
    if not hasattr(os, "geteuid"):
        return True
    found = root.stat()
    if found.st_uid in (0, os.geteuid()) and not (found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX):
        return True
    warn_once(f"the cache {root} is not used: others may write there; set NETSIM_CACHE to a folder of your own")
    return False


def _is_private(path: Path, found: os.stat_result) -> bool:
    """Whether nobody but the user can have written a folder or file; from those who may read it, it is taken."""
    if not hasattr(os, "geteuid"):  # Windows: a user's profile is the user's
        return True
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        why = "it belongs to another user" if found.st_uid != os.geteuid() else "others may write there"
        warn_once(f"{path} in the cache is not used: {why}; delete it, or set NETSIM_CACHE to a folder of your own")
        return False
    if found.st_mode & 0o077:
        with suppress(OSError):
            path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
    return True


@cache
def _cut(folder: Path) -> None:
    """Forget what was longest unused where a folder has grown beyond `LARGEST`; one look in a process."""
    found = []
    for name in os.listdir(folder) if folder.is_dir() else ():
        with suppress(OSError):  # another process was faster
            state = os.stat(folder / name)
            found.append((state.st_mtime, state.st_size, folder / name))
    total = sum(size for _, size, _ in found)
    if total <= LARGEST:
        return
    for _, size, file in sorted(found):
        with suppress(OSError):
            file.unlink()
        total -= size
        if total <= KEPT:
            return
