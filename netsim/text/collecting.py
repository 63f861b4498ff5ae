"""When garbage is collected: not while texts are read and networks built, and in a command only while it runs a model.

Python's collector searches all objects for cycles again and again while their number grows, and once more when the
process ends. Texts, networks and imported modules have few cycles and live until the command ends, so that the search
finds nothing; it took half the time of `netsim list` and 3/4 of the time of reading a long netlist."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def collection_resumed() -> Iterator[None]:
    """Collection of what is made from here on; what is there stays."""
    was_on = gc.isenabled()
    gc.freeze()
    gc.enable()
    try:
        yield
    finally:
        gc.unfreeze()
        if not was_on:
            gc.disable()
