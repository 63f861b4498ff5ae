"""The folder RESULT.part: what a long run leaves on the disk while it goes on.

Of each run over time it has NUMBER.about (JSON: name, version, columns), NUMBER.rows (samples, netsim.results.partial.
rows), NUMBER.trace (what measures and integrals read between samples) and NUMBER.state (from where the run continues,
netsim.results.partial.container). Nothing is there before a run has taken `FIRST` seconds. A state goes with the rows
that were there before it; rows behind them are for readers alone and are written again.
"""

import errno
import json
import shutil
import time as clock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from netsim.results.partial.claim import Claim
from netsim.results.partial.container import read_tree, settle_folder, write_tree
from netsim.results.partial.rows import Rows
from netsim.results.samples import Signal
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
FIRST, EVERY = 2.0, 3.0
"""Seconds of a run behind which it is written for the first time, and between two writings: with the block of steps and
the writing itself no more than 5 s are lost."""
LEADING, TRAILING = 1, 4
"""Columns beside the signals: the instant; the energy account (stored, supplied, dissipated, kinetic)."""
NOT_RESUMED, DISK = "E443", "E444"
"""Codes of a state from which a run cannot continue, and of a disk that takes no more."""

DISK_FULL = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Errors of the system that are not of the place: the disk, or what a user may have of it, is full or broken."""


class DiskFull(SimulationError):
    """The disk takes no more."""


WITH = {
    "netlist": "with another netlist",
    "network": "with another network: a count, or a file that is included, has changed",
    "parameters": "with other values of parameters, here, in files that are included, or in tables",
    "options": "with other options",
    "signals": "that samples other signals",
}
"""What tells runs apart beside the version, and how that is said."""


def difference(former: Mapping[str, str], identity: Mapping[str, str]) -> str:
    """How another run differs from this one, '' where it is the same."""
    if former["version"] != identity["version"]:
        return f"of version {former['version']}, and this is version {identity['version']}"
    return next((WITH[name] for name, value in identity.items() if former.get(name) != value), "")


def part_of(target: Path) -> Path:
    """The folder beside a result."""
    return target.with_name(f"{target.name}.part")


@dataclass(eq=False)
class Recording:
    """The folder of a command: its runs over time count from 1. `resume`: continue from what is there;
    `whole`: somebody needs the whole result in memory; `is_interrupted`: whether the run has to end. As a
    context it holds the folder against other processes. Raises `InputError` where there is nothing to resume (E443)."""

    folder: Path
    resume: bool = False
    whole: bool = False
    is_interrupted: Callable[[], bool] = lambda: False
    first: float = FIRST
    every: float = EVERY
    runs: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._claim = Claim(self.folder)
        if self.resume and not any(self.folder.glob("*.state")):
            hint = "run without --resume: the run ended before its first state was written, or its result is complete"
            raise InputError(Problem(NOT_RESUMED, f"there is no run to resume in '{self.folder}'", hint=hint))

    def __enter__(self) -> "Recording":
        """Raises `InputError` (E446) where another process holds the folder."""
        self._claim.hold()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._claim.release()

    def log(self, identity: Mapping[str, str], signals: Sequence[Signal], shown: int, traced: int) -> "Log":
        """The log of the next run: it samples these signals, the first ones `shown`, and so many for measures.
        Raises `InputError` where what is there is of another run."""
        found = Log(self, len(self.runs) + 1, identity, signals, shown, traced)
        self.runs.append(found)
        return found

    def made(self) -> Path:
        """The folder, empty unless it is gone on from or one of its runs has begun; raises `InputError` (E446) where
        another process has begun to use it."""
        self._claim.make()
        if not (self.resume or self.kept):
            for path in self.folder.iterdir():
                path.unlink()
        return self.folder

    def full(self, wrong: OSError, last: str) -> DiskFull:
        """What a user is told where a block cannot be written."""
        message = f"'{self.folder}' cannot be written: {wrong.strerror or wrong}{last}"
        room = "make room, then go on with the same options and --resume"
        return DiskFull(Problem(DISK, message, hint=room if wrong.errno in DISK_FULL else ""))

    def finish(self) -> None:
        """The result is written: nothing stays, but for what another process has there."""
        with suppress(InputError):
            self._claim.take()
            if self.runs:
                shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def kept(self) -> bool:
        """Whether there is something from which a run can continue."""
        return any(log.is_begun for log in self.runs)


class Log:
    """Rows and states of one run."""

    def __init__(
        self,
        recording: Recording,
        number: int,
        identity: Mapping[str, str],
        signals: Sequence[Signal],
        shown: int,
        traced: int,
    ):
        self.recording, self.number, self.identity = recording, number, dict(identity)
        self.signals, self.shown = tuple(signals), shown
        self.rows = Rows(self._path("rows"), LEADING + len(signals) + TRAILING)
        self.trace = Rows(self._path("trace"), 1 + traced)
        self.traces, self.is_begun = traced > 0, False
        self.due = clock.monotonic() + recording.first
        self.tree: Any = None
        if recording.resume:
            self.tree = self._former()
        if self.tree is None:
            self.rows.count = self.trace.count = 0

    def _path(self, kind: str) -> Path:
        return self.recording.folder / f"{self.number}.{kind}"

    def _former(self) -> Any:
        """The state from which this run continues; None where it had not come so far."""
        path = self._path("state")
        if not path.is_file():
            return None
        try:
            tree = read_tree(path)
        except (OSError, ValueError, KeyError) as wrong:
            raise self.refusal(f"'{path}' cannot be read: {wrong}") from None
        if differs := difference(tree["identity"], self.identity):
            raise self.refusal(f"'{path}' is of a run {differs}")
        for each, count, checksum in zip((self.rows, self.trace), tree["rows"], tree["sums"]):
            if each.count < count:
                raise self.refusal(f"'{each.path}' is shorter than its state says")
            each.shorten(count)
            if each.sum != checksum:
                raise self.refusal(f"'{each.path}' is damaged: its checksum is not the one that its state says")
        self.is_begun = True
        return tree["state"]

    def refusal(self, message: str) -> InputError:
        """What a user is told of a state that does not fit."""
        hint = f"run without --resume to begin anew, which removes '{self.recording.folder}'"
        return InputError(Problem(NOT_RESUMED, message, hint=hint))

    def is_due(self) -> bool:
        """Whether it is time to write; raises `KeyboardInterrupt` where the run has to end."""
        if self.recording.is_interrupted():
            raise KeyboardInterrupt
        return clock.monotonic() >= self.due

    def add(self, rows: Array, trace: Array | None = None) -> None:
        """Write rows, and of a trace; raises `DiskFull` where the disk takes no more."""
        try:
            self._begin()
            self.rows.append(rows)
            if trace is not None and len(trace):
                self.trace.append(trace)
        except OSError as wrong:
            raise self.full(wrong) from None

    def save(self, state: Any) -> None:
        """Write a state that goes with all rows that are written; raises `DiskFull` where the disk takes no
        more."""
        files = self.rows, self.trace
        tree = {
            "identity": self.identity,
            "rows": [each.count for each in files],
            "sums": [each.sum for each in files],
            "state": state,
        }
        try:
            write_tree(self._path("state"), tree)
        except OSError as wrong:
            raise self.full(wrong) from None
        self.later()

    def later(self) -> None:
        """Nothing more to write for a while."""
        self.due = clock.monotonic() + self.recording.every

    def full(self, wrong: OSError) -> DiskFull:
        """What a user is told where a block cannot be written."""
        count = self.rows.count
        last = f"; the last good block ends at t = {self.rows.read(count - 1, count)[0, 0]:g} s" if count else ""
        return self.recording.full(wrong, last)

    def _begin(self) -> None:
        """Make the folder and say what its rows are."""
        if self.is_begun:
            return
        folder = self.recording.made()
        about = {
            "netsim": self.identity["version"],
            "shown": self.shown,
            "columns": [[s.name, s.unit, s.doc] for s in self.signals],
        }
        self._path("about").write_text(json.dumps(about), encoding="utf-8")
        self._path("state").unlink(missing_ok=True)
        self.rows.shorten(0)
        self.trace.shorten(0)
        settle_folder(folder)
        self.is_begun = True
