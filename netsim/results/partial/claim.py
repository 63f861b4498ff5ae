"""One process at a time writes into a folder RESULT.part.

The folder itself is locked (flock) while a command uses it. The system lets go of a lock however its process ends, so
that a kill leaves none. Where there are no such locks (Windows, some network disks), nothing is held or refused.
"""

import os
from pathlib import Path

from netsim.text.errors import InputError, Problem

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

IN_USE = "E446"
"""The code of a result that another process is writing."""


class Claim:
    """A folder that this process holds from `hold` to `release`, as soon as the folder is there; else nothing is
    locked."""

    def __init__(self, folder: Path):
        self.folder, self._wanted, self._handle = folder, False, -1

    def hold(self) -> None:
        """Hold the folder from now on; raises `InputError` (E446) where another process does."""
        self._wanted = fcntl is not None
        self.take()

    def take(self) -> None:
        """Lock the folder, where it is to be held and is there; raises as `hold`."""
        while self._wanted and self._handle < 0 and self.folder.is_dir():
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise self._refusal() from None
            except OSError:  # a disk without locks
                os.close(handle)
                return
            if self._is_still_there(handle):
                self._handle = handle
            else:
                os.close(handle)

    def make(self) -> None:
        """The folder is there, and locked where it is to be held; raises as `hold`, and `OSError`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.take()
        if not self.folder.is_dir():  # another process has removed it in between
            self.make()

    def release(self) -> None:
        """Let go."""
        self._wanted = False
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _is_still_there(self, handle: int) -> bool:
        """Whether the folder that was locked is the one of this name: who held it may have removed it."""
        try:
            return os.path.samestat(os.fstat(handle), self.folder.stat())
        except FileNotFoundError:
            return False

    def _refusal(self) -> InputError:
        message = f"another process is writing the same result: it holds '{self.folder}'"
        return InputError(Problem(IN_USE, message, hint="wait for its end, or write elsewhere with -o"))
