"""Pieces of work done by the workers of a dask cluster.

The task is sent to each worker once, also to those that join later, and each makes its machine code once. Pieces take
half a second by what cases took so far. Those of a worker that is lost are given to others by dask; where several were
lost at a piece, its cases are done one by one, and a case at which that happens again has failed.
"""

import pickle
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from distributed import Future, KilledWorker, WorkerPlugin, wait

import netsim
from netsim.analyses.many.cluster.connection import CONNECT, Cluster
from netsim.analyses.many.one_case import failed_outcome
from netsim.analyses.many.processes import Found, Work
from netsim.analyses.many.workers import WorkersLost
from netsim.text.errors import InputError, Problem

PIECE, MOST = 0.5, 2000
"""Seconds of work in a piece, about, and so many cases at most."""
AHEAD = 2
"""Pieces for each thread of the cluster: the next one is there when one is done."""
LOOK, PATIENCE = 1.0, 60.0
"""Seconds after which it is asked who is there, and for which nobody may be."""


class WorkPackage(WorkerPlugin):
    """What a worker makes its work of, pickled, by the version of netsim that did that."""

    def __init__(self, name: str, content: bytes):
        self.name, self.content, self.version = name, content, netsim.__version__

    def setup(self, worker: Any) -> None:
        """The worker has it."""
        _parcels[self.name] = self

    def teardown(self, worker: Any) -> None:
        """The sweep has ended."""
        _parcels.pop(self.name, None)
        _works.pop(self.name, None)


_parcels: dict[str, WorkPackage] = {}
_works: dict[str, Work] = {}
_making = threading.Lock()


def compute_on_worker(name: str, cases: list[int]) -> tuple[list[Found], float, float]:
    """On a worker: cases with their outcomes, and the seconds and seconds of CPU that they took."""
    work = _work(name)
    began, cpu = clock.perf_counter(), clock.thread_time()
    found = [(i, work(i)) for i in cases]
    return found, clock.perf_counter() - began, clock.thread_time() - cpu


def _work(name: str) -> Work:
    with _making:
        if name not in _works:
            parcel = _parcels[name]
            if parcel.version != netsim.__version__:
                message = f"a worker of the cluster has netsim {netsim.__version__}, this is {parcel.version}"
                raise InputError(Problem(CONNECT, message, hint="install the same version everywhere"))
            _works[name] = pickle.loads(parcel.content)()
        return _works[name]


@dataclass(eq=False)
class _Going:
    """A sweep on a cluster: cases that wait, those that are done one by one, pieces that are out, and what cases took
    (seconds, cases)."""

    cluster: Cluster
    name: str
    waiting: deque[int]
    suspects: deque[int] = field(default_factory=deque)
    out: dict[Future, list[int]] = field(default_factory=dict)
    spent: list[float] = field(default_factory=lambda: [0.0, 0.0])
    threads: int = 0
    looked: float = -LOOK
    seen: float = 0.0

    def look(self) -> None:
        """Who is there; raises `WorkersLost` where nobody has been for long."""
        now = clock.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked, self.threads = now, sum(self.cluster.client.nthreads().values())
        if self.threads:
            self.seen = now
        elif now - self.seen > PATIENCE:
            raise WorkersLost(f"the cluster had no worker for {PATIENCE:g} s")

    def give(self) -> None:
        """Pieces for all threads."""
        while len(self.out) < AHEAD * self.threads and (self.waiting or self.suspects):
            cases = [self.suspects.popleft()] if self.suspects else self.next()
            future = self.cluster.client.submit(
                compute_on_worker, self.name, cases, key=f"{self.name}-{uuid4().hex}", pure=False
            )
            self.out[future] = cases

    def next(self) -> list[int]:
        """The next piece; the last ones are even."""
        size = int(PIECE * self.spent[1] / max(self.spent[0], 1e-9))
        size = max(1, min(size, MOST, -(-len(self.waiting) // self.threads)))
        return [self.waiting.popleft() for _ in range(size)]

    def done(self, future: Future) -> list[Found]:
        """The outcomes of a piece; none where its cases wait again."""
        cases = self.out.pop(future)
        try:
            found, seconds, cpu = future.result()
        except KilledWorker:
            if len(cases) > 1:
                self.suspects.extend(cases)
                return []
            message = "the workers that computed this case were lost, one after the other"
            return [(cases[0], failed_outcome(Problem("E522", message)))]
        self.spent = [self.spent[0] + seconds, self.spent[1] + len(cases)]
        self.cluster.spent[0] += cpu
        return found


def compute_on_cluster(
    cluster: Cluster, make: Callable[[], Work], wanted: Sequence[int], seconds: float
) -> Generator[Found, None, None]:
    """Each wanted case with its outcome, in no order. `make` is pickled and makes the work on a worker; `seconds`: what
    a case took here. Raises what a worker raises, and `WorkersLost` where the cluster is no longer there."""
    client, name = cluster.client, f"netsim-{uuid4().hex}"
    going = _Going(cluster, name, deque(wanted), spent=[seconds, 1.0], seen=clock.monotonic())
    try:
        client.register_plugin(WorkPackage(name, pickle.dumps(make)), name=name)
        while going.waiting or going.suspects or going.out:
            going.look()
            going.give()
            finished = set[Future]()
            if going.out:
                with suppress(TimeoutError), client.as_current():
                    finished = wait(list(going.out), timeout=LOOK, return_when="FIRST_COMPLETED").done
            else:
                clock.sleep(LOOK)
            for each in finished:
                yield from going.done(each)
    except (CancelledError, OSError) as wrong:
        raise WorkersLost("the connection to the cluster was lost") from wrong
    finally:
        with suppress(Exception):  # whoever is no longer there has nothing to forget
            client.cancel(list(going.out), force=True)
            client.unregister_worker_plugin(name)
