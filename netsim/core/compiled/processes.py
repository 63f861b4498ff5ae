"""Work shared with a process that is forked from this one, with all that this one has built and loaded.

Numbers of pieces wait in a pipe, from which each of the two processes takes the next one when it is free. The other one
hands over what it has found when none is left, so that neither waits for room in a pipe. It leaves interruptions to
this one, which ends it where it is interrupted itself. Whatever ends the other one, or holds it up, its pieces are done
here.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # there is none on Windows
    from multiprocessing.context import ForkProcess

Piece = TypeVar("Piece")
Found = TypeVar("Found")
PATIENCE = 60.0
"""Seconds, beside ten times those that this process took, until the other one counts as stuck: behind a lock, say, that
a thread held when it was forked."""


def can_fork() -> bool:
    """Whether processes can be forked: on Linux, where no other thread computes, which could hold a lock that its copy
    would wait for without end. Threads that only draw or listen, as those of a notebook, are daemons."""
    others = (each for each in threading.enumerate() if each is not threading.current_thread())
    free = all(each.daemon for each in others) and not multiprocessing.current_process().daemon
    return sys.platform == "linux" and free


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fork_process(target: Callable[..., None], *given: Any) -> "ForkProcess":
    """A process that does `target(*given)` and ends with this one. It leaves interruptions to this one. Raises OSError
    where there can be none."""
    process = multiprocessing.get_context("fork").Process(target=_alone, args=(target, given), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _alone(target: Callable[..., None], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    target(*given)


def shared_between_processes(work: Callable[[Piece], Found], pieces: Sequence[Piece]) -> list[Found]:
    """What `work` gives for each of at most 256 pieces, by this process and another one, or by this one alone: where it
    has one processor, is itself another's worker, or is not in its main thread. What takes long comes first.

    Raises what `work` raises."""
    found: dict[int, Found] = {}
    first = multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread()
    if len(pieces) > 1 and first and can_fork() and processors() > 1:
        found = _by_two(work, pieces)
    return [found[i] if i in found else work(piece) for i, piece in enumerate(pieces)]


def _by_two(work: Callable[[Piece], Found], pieces: Sequence[Piece]) -> dict[int, Found]:
    """What was found for the pieces, by their numbers, but by another process that did not come to its end; nothing
    where there can be none."""
    numbers, end = os.pipe()
    os.write(end, bytes(range(len(pieces))))
    os.close(end)
    mine, its = multiprocessing.Pipe(duplex=False)
    try:
        other = fork_process(_serve, work, pieces, numbers, its, os.getpid())
    except OSError:
        mine.close()
        os.close(numbers)
        return {}
    finally:
        its.close()
    began = time.monotonic()
    try:
        found = {i: work(pieces[i]) for i in _taken(numbers)}
        with suppress(EOFError, OSError):  # it has ended
            if mine.poll(PATIENCE + 10 * (time.monotonic() - began)):
                found |= mine.recv()
        return found
    finally:
        other.kill()
        other.join()
        mine.close()
        os.close(numbers)


def _taken(numbers: int) -> Iterator[int]:
    while number := os.read(numbers, 1):
        yield number[0]


def _serve(
    work: Callable[[Piece], Found], pieces: Sequence[Piece], numbers: int, pipe: "Connection[Any, Any]", parent: int
) -> None:
    """What the other process does while the first one lives. At what raises it ends: the first one will see."""
    found = {}
    with suppress(Exception):
        for i in _taken(numbers):
            if os.getppid() != parent:
                return
            found[i] = work(pieces[i])
        pipe.send(found)
