"""Commands that are told to end: Ctrl-C (SIGINT) and SIGTERM, which `kill`, `timeout` and schedulers send.

Both raise `KeyboardInterrupt`, so that what there is gets written; the exit status tells which one it was. C code that
calls Python may swallow the exception: it is raised again where progress is told, and a command that comes to its end
all the same has the status of the signal.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_received: list[int] = []
_complete: list[Path] = []


def is_interrupted() -> bool:
    """Whether a signal has come: what was running may have swallowed the exception, or made another one of it."""
    return bool(_received)


def interrupted_status() -> int:
    """128 + the number of the signal that ended the command: 130 or 143."""
    return 128 + (_received[-1] if _received else int(signal.SIGINT))


def note_files() -> None:
    """From here on files that are complete are remembered, to be told where the command is interrupted."""
    from netsim.results.files import completed

    if _complete.append not in completed:
        completed.append(_complete.append)


def interruption() -> str:
    """What an interrupted command says of its files."""
    files = ", ".join(f"'{path}'" for path in _complete)
    return f"interrupted: complete: {files}; nothing else was written" if files else "interrupted: nothing was written"


def interruptible_report(report: Callable[..., None] | None) -> Callable[..., None]:
    """A report of progress that raises `KeyboardInterrupt` where a signal has come and was swallowed."""

    def heeded(*progress: Any) -> None:
        if _received:
            raise KeyboardInterrupt
        if report is not None:
            report(*progress)

    return heeded


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM as Ctrl-C, in the main thread."""
    _received.clear()
    _complete.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup and job control say so
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
