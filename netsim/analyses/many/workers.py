"""Many cases by several workers.

A small network's run is Python's preparation for the most part, which threads cannot share: workers are processes that
are forked from this one, with all that is built and loaded (Linux), and threads elsewhere: compiled code releases the
interpreter's lock. Each case is computed by itself from the same task, so that its numbers do not depend on who
computes it, nor when.
"""

import multiprocessing
import os
import signal
import sys
import time as clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextvars import copy_context
from itertools import islice

from netsim.analyses.many.one_case import Outcome
from netsim.results.progress import Report

Work = Callable[[int], Outcome]
ALONE = 2
"""Cases that are computed first: what is made once for all is then there, and it is known what a case takes."""
AHEAD = 3
"""Pieces of work that wait for each worker."""
PIECE, MOST = 0.05, 50
"""Seconds that a worker is given at once, about, and so many cases at most."""
WORTH = 0.3
"""Seconds of work below which no process is forked."""


def outcomes(
    work: Work, wanted: Sequence[int], workers: int, progress: Report | None, done: Callable[[int, Outcome], None]
) -> str:
    """Hand each wanted case to `done` as it comes, in no order; '' or what interrupted that. `workers`: 0 for one per
    processor that this process may use."""
    known, total = 0, len(wanted)
    try:
        for i, found in _computed(work, wanted, workers or processors()):
            done(i, found)
            known += 1
            if progress:
                progress(known / total, f"{known} of {total} cases", known)
    except KeyboardInterrupt:
        return f"interrupted after {known} of {total} cases"
    return ""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _computed(work: Work, wanted: Sequence[int], workers: int) -> Iterator[tuple[int, Outcome]]:
    """All wanted cases; what a process leaves that was killed is computed here."""
    spent = 0.0
    for i in wanted[:ALONE]:
        began = clock.perf_counter()
        found = work(i)
        spent = clock.perf_counter() - began
        yield i, found
    left = dict.fromkeys(wanted[ALONE:])
    if workers > 1 and spent * len(left) > WORTH:
        size = max(1, min(MOST, int(PIECE / spent)))
        pieces = [list(left)[k : k + size] for k in range(0, len(left), size)]
        try:
            for i, found in _by_workers(work, pieces, workers):
                del left[i]
                yield i, found
        except BrokenProcessPool:
            pass
    for i in left:
        yield i, work(i)


def _by_workers(work: Work, pieces: list[list[int]], workers: int) -> Iterator[tuple[int, Outcome]]:
    waiting, running = iter(pieces), set[Future[list[tuple[int, Outcome]]]]()
    threads = _by_threads()
    pool: Executor = ThreadPoolExecutor(workers, "case") if threads else _processes(work, workers)
    try:
        while True:
            for piece in islice(waiting, AHEAD * workers - len(running)):
                given = (copy_context().run, _each, work, piece) if threads else (_piece, piece)
                running.add(pool.submit(*given))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for each in finished:
                yield from each.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _by_threads() -> bool:
    """Whether no process can be forked here."""
    return sys.platform != "linux" or multiprocessing.current_process().daemon


def _processes(work: Work, workers: int) -> Executor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin, (work,))


_of_this_process: list[Work] = []


def _begin(work: Work) -> None:
    """A forked process leaves interruptions to the one that forked it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _of_this_process[:] = [work]


def _piece(cases: list[int]) -> list[tuple[int, Outcome]]:
    return _each(_of_this_process[0], cases)


def _each(work: Work, cases: list[int]) -> list[tuple[int, Outcome]]:
    return [(i, work(i)) for i in cases]
