"""Pieces of work done by processes that are forked from this one, with all that it has built and loaded.

Each worker has a pipe of its own and two pieces at most. One that is killed, or crashes, is replaced by another one,
which gets the cases of its piece one by one; a case at which two workers ended has failed. Workers end when what they
are asked by ends: at once where it goes on or is interrupted, at the end of their piece where it was killed.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

from netsim.analyses.many.one_case import Outcome, failed_outcome
from netsim.core.compiled.processes import fork_process
from netsim.text.errors import Problem

Work = Callable[[int], Outcome | list[Outcome]]
"""What a case gives, by its number, or a group of them."""
Found = tuple[int, Outcome | list[Outcome]]
AHEAD = 2
"""Pieces that a worker has: the next one is there when one is done."""


@dataclass(eq=False)
class _Worker:
    """A process, this end of its pipe, and what it has been given and has not answered."""

    process: ForkProcess
    pipe: "Connection[Any, Any]"
    given: deque[list[int]] = field(default_factory=deque)


def compute_in_processes(work: Work, pieces: Sequence[list[int]], workers: int) -> Generator[Found, None, None]:
    """Each case of all pieces with what `work` makes of it, in no order. Raises what `work` raises, `OSError` where no
    process can be forked."""
    waiting, suspects, crew = deque(pieces), set[int](), list[_Worker]()
    try:
        while True:
            while waiting and len(crew) < workers:
                crew.append(_forked(work, [each.pipe for each in crew]))
            for each in crew:
                _give(each, waiting)
            busy = {each.pipe: each for each in crew if each.given}
            if not busy:
                return
            for pipe in wait(list(busy)):
                each = busy[pipe]  # type: ignore[index]
                try:
                    found = each.pipe.recv()
                except (EOFError, OSError):
                    crew.remove(each)
                    yield from _left(each, waiting, suspects)
                    continue
                if isinstance(found, Exception):
                    raise found
                each.given.popleft()
                yield from found
    finally:
        for each in crew:
            each.process.terminate()
        for each in crew:
            each.process.join()


def _give(worker: _Worker, waiting: deque[list[int]]) -> None:
    while waiting and len(worker.given) < AHEAD:
        worker.given.append(waiting.popleft())
        try:
            worker.pipe.send(worker.given[-1])
        except OSError:  # it has ended, which reading from its pipe tells
            return


def _left(worker: _Worker, waiting: deque[list[int]], suspects: set[int]) -> list[Found]:
    """What a worker that has ended left: other pieces wait again, and so does its own, case by case; failures where it
    was at a case at which another one ended before."""
    worker.process.join()
    own, *others = worker.given
    waiting.extendleft(reversed(others))
    if len(own) == 1 and own[0] in suspects:
        code = worker.process.exitcode or 0
        how = f"by signal {-code}" if code < 0 else f"with status {code}"
        return [(own[0], failed_outcome(Problem("E522", f"the process that computed this case ended {how}, twice")))]
    if len(own) == 1:
        suspects.add(own[0])
    waiting.extendleft([i] for i in reversed(own))
    return []


def _forked(work: Work, pipes: list[Any]) -> _Worker:
    mine, its = multiprocessing.Pipe()
    try:
        return _Worker(fork_process(_serve, work, its, [mine, *pipes]), mine)
    finally:
        its.close()


def _serve(work: Work, pipe: "Connection[Any, Any]", others: list[Any]) -> None:
    """What a worker does until its pipe ends, which needs that no worker keeps the other end of another one's pipe."""
    for each in others:
        each.close()
    while True:
        try:
            cases = pipe.recv()
            pipe.send(_answer(work, cases))
        except (EOFError, OSError):
            return


def _answer(work: Work, cases: list[int]) -> list[Found] | Exception:
    try:
        return [(i, work(i)) for i in cases]
    except Exception as wrong:
        return wrong
