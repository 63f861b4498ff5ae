"""Rows of numbers in a file that only grows: whatever ends the process, the whole rows in it are good.

A row is `width` float64 in the order of the machine. What a full disk or a kill leaves of a last row does not count.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Array = np.ndarray
CHUNK = 1 << 20
"""Numbers that are read at once."""


class Rows:
    """The rows of a file, `count` of them. Opening takes what is there; `shorten` starts anew, or goes on from fewer.

    sum: CRC-32 of the rows that were added since, and of those that `shorten` kept."""

    def __init__(self, path: Path, width: int):
        self.path, self.width, self.sum = path, width, 0
        size = path.stat().st_size if path.is_file() else 0
        self.count = size // (8 * width)

    def append(self, rows: Array) -> None:
        """Add rows (m, width), as far as the disk; raises `OSError`, and leaves the rows of before."""
        if not len(rows):
            return
        block = memoryview(np.ascontiguousarray(rows, dtype=np.float64).tobytes())
        with self.path.open("ab", buffering=0) as stream:
            if stream.tell() != self.size:
                stream.truncate(self.size)
            try:
                done = 0
                while done < len(block):
                    done += stream.write(block[done:])
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(self.size)
                raise
        self.count, self.sum = self.count + len(rows), zlib.crc32(block, self.sum)

    @property
    def size(self) -> int:
        """Bytes of the rows."""
        return 8 * self.width * self.count

    def shorten(self, count: int) -> None:
        """Keep the first rows alone."""
        if self.path.is_file():
            os.truncate(self.path, 8 * self.width * count)
        self.count, self.sum = count, 0
        for chunk in self.chunks():
            self.sum = zlib.crc32(chunk.tobytes(), self.sum)

    def read(self, first: int, last: int) -> Array:
        """Rows first .. last - 1."""
        if first >= last:
            return np.zeros((0, self.width))
        found = np.fromfile(self.path, np.float64, (last - first) * self.width, offset=8 * self.width * first)
        return found.reshape(-1, self.width)

    def chunks(self) -> Iterator[Array]:
        """All rows, some at a time."""
        step = max(1, CHUNK // self.width)
        for first in range(0, self.count, step):
            yield self.read(first, min(first + step, self.count))
