"""Commands that are told to end: Ctrl-C (SIGINT) and SIGTERM, which `kill`, `timeout` and schedulers send.

Both raise `KeyboardInterrupt`, so that what there is gets written; the exit status tells which one it was.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_received: list[int] = []


def is_interrupted() -> bool:
    """Whether a signal has come: what was running may have swallowed the exception, or made another one of it."""
    return bool(_received)


def interrupted_status() -> int:
    """128 + the number of the signal that ended the command: 130 or 143."""
    return 128 + (_received[-1] if _received else int(signal.SIGINT))


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM as Ctrl-C, in the main thread."""
    _received.clear()
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
