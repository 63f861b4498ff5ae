"""Many cases by several threads: compiled code releases the interpreter's lock.

Each case is computed by itself from the same task, so that its numbers do not depend on who computes it, nor when.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import islice

from netsim.analyses.many.one_case import Outcome
from netsim.results.progress import Report

AHEAD = 4
"""Cases that wait for each thread."""


def outcomes(
    work: Callable[[int], Outcome], wanted: Sequence[int], workers: int, progress: Report | None,
    done: Callable[[int, Outcome], None],
) -> str:  # fmt: skip
    """Hand each wanted case to `done` as it comes, in no order; '' or what interrupted that. `workers`: threads, 0 for
    one per processor that this process may use."""
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


def _computed(work: Callable[[int], Outcome], wanted: Sequence[int], threads: int) -> Iterator[tuple[int, Outcome]]:
    """The first case is computed alone: what is made once for all cases is then there."""
    alone = len(wanted) if threads == 1 else 1
    for i in wanted[:alone]:
        yield i, work(i)
    left, running = iter(wanted[alone:]), dict[Future[Outcome], int]()
    pool = ThreadPoolExecutor(threads, "case")
    try:
        while True:
            for i in islice(left, AHEAD * threads - len(running)):
                running[pool.submit(copy_context().run, work, i)] = i
            if not running:
                return
            for each in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(each), each.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
