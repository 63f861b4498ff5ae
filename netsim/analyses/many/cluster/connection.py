"""Clusters by address (`dask://HOST:PORT`), and what a task hands to their workers."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from netsim.analyses.analysis import Task
from netsim.analyses.earlier_runs import table_calls
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import refused

CONNECT = "E524"
"""The code of a cluster that cannot be used."""
PATIENCE = 15
"""Seconds in which a scheduler answers."""
ADDRESS = re.compile(r"dask://(.+:\d+)")


@dataclass(frozen=True, eq=False)
class Cluster:
    """A client of dask, and what makes the same task in another process (it is pickled: the network with its library,
    as they were read, and the values that were given). `spent`: seconds of CPU of its workers."""

    client: Any
    again: Callable[[], Task]
    spent: list[float] = field(default_factory=lambda: [0.0])


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at `dask://HOST:PORT`. Raises `InputError` (E524) where there is no dask, or nobody
    answers."""
    found = ADDRESS.fullmatch(address)
    if found is None:
        hint = "for example: --on dask://127.0.0.1:8786"
        raise InputError(Problem(CONNECT, f"'{address}' does not have the form dask://HOST:PORT", hint=hint))
    try:
        from distributed import Client
    except ImportError:
        hint = "pip install 'netsim-acausal[dask]'"
        raise InputError(Problem(CONNECT, "a sweep on a cluster needs dask.distributed", hint=hint)) from None
    try:
        client = Client(f"tcp://{found[1]}", timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError):
        hint = "is `dask scheduler` running there?"
        raise InputError(Problem(CONNECT, f"no scheduler answers at '{address}'", hint=hint)) from None
    try:
        yield client
    finally:
        client.close()


def on_cluster(task: Task, client: Any, again: Callable[[], Task]) -> Task:
    """The task with the cluster behind a client of dask, if there is one; `again` makes the task in another process.
    Raises `InputError` for what is no client, and (E524) where a table over another run would not be there."""
    if client is None:
        return task
    if not all(hasattr(client, name) for name in ("submit", "register_plugin", "nthreads")) or client.asynchronous:
        raise refused("client", "a distributed.Client", client)
    if call := next((call for call in table_calls(task.machine.system, task.values) if call.run), None):
        message = "a table over another run is not there for the workers of a cluster"
        raise InputError(Problem(CONNECT, message, call.call.span, hint="sweep on this machine: without a client"))
    return replace(task, cluster=Cluster(client, again))
