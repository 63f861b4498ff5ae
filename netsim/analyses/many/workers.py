"""Many cases by several workers.

A small network's run is Python's preparation for the most part, which threads cannot share: workers are forked
processes where that can be (netsim.analyses.many.processes), else threads: compiled code releases the interpreter's
lock. Each case is computed by itself from the same task, so that its numbers do not depend on who computes it, nor
when.
"""

import os
import time as clock
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from contextvars import copy_context
from itertools import islice

from netsim.analyses.many.processes import Found, Work, compute_in_processes
from netsim.core.compiled.processes import can_fork, processors
from netsim.results.progress import Report

ALONE = 2
"""Cases that are computed first: what is made once for all is then there, and it is known what a case takes."""
AHEAD = 3
"""Pieces of work that wait for each thread."""
PIECE, MOST = 0.05, 50
"""Seconds that a worker is given at once, about, and so many cases at most."""
WORTH = 0.3
"""Seconds of work below which there is one worker."""


Elsewhere = Callable[[Sequence[int], float], Generator[Found, None, None]]
"""What has cases computed elsewhere, told how many seconds one takes here."""


class WorkersLost(Exception):
    """Nobody computes the cases any more that were given away."""


def outcomes(
    work: Work, wanted: Sequence[int], workers: int, progress: Report | None, done: Callable[..., None],
    elsewhere: Elsewhere | None = None, size: int = 1,
) -> str:  # fmt: skip
    """Hand each wanted case, or group of `size` cases, to `done` as it comes, in no order; '' or what interrupted that.
    `workers`: 0 for one per processor that this process may use; `elsewhere`: who computes in their place."""
    known, total = 0, len(wanted) * size
    try:
        with closing(_computed(work, wanted, workers or processors(), elsewhere)) as computed:
            for i, found in computed:
                done(i, found)
                known += size
                if progress:
                    progress(known / total, f"{known} of {total} cases", known)
    except KeyboardInterrupt:
        return f"interrupted after {known} of {total} cases"
    except WorkersLost as lost:
        return f"{lost}, after {known} of {total} cases"
    return ""


def cpu_seconds() -> float:
    """Seconds of CPU time of this process and of the workers that have ended."""
    return sum(os.times()[:4])


def _computed(
    work: Work, wanted: Sequence[int], workers: int, elsewhere: Elsewhere | None
) -> Generator[Found, None, None]:
    """All wanted cases; those for which no process can be forked are computed here."""
    spent = 0.0
    for i in wanted[:ALONE]:
        began = clock.perf_counter()
        found = work(i)
        spent = clock.perf_counter() - began
        yield i, found
    if elsewhere:
        with closing(elsewhere(wanted[ALONE:], spent)) as far:
            yield from far
        return
    left = dict.fromkeys(wanted[ALONE:])
    if workers > 1 and spent * len(left) > WORTH:
        size = max(1, min(MOST, int(PIECE / spent)))
        pieces = [list(left)[k : k + size] for k in range(0, len(left), size)]
        with (
            suppress(OSError),
            closing((compute_in_processes if can_fork() else _by_threads)(work, pieces, workers)) as shared,
        ):
            for i, found in shared:
                del left[i]
                yield i, found
    for i in left:
        yield i, work(i)


def _by_threads(work: Work, pieces: list[list[int]], threads: int) -> Generator[Found, None, None]:
    waiting, running = iter(pieces), set[Future[list[Found]]]()
    pool = ThreadPoolExecutor(threads, "case")
    try:
        while True:
            for piece in islice(waiting, AHEAD * threads - len(running)):
                running.add(pool.submit(copy_context().run, lambda cases: [(i, work(i)) for i in cases], piece))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for each in finished:
                yield from each.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
