"""Where files may lie that a text has read: includes, libraries by path, tables, other netlists.

A netlist may read its own folder and all below, the folders of libraries and of the shipped models
(netsim.library.places), and what the user allows: `netsim run --allow DIR`, or `with netsim.allow(DIR):` around what
loads the model. A text from Python or from the standard input may read the working directory. Links are followed
first, so that none leads out. The folders of the netlist that is loaded hold for all that it reads, however deep.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from netsim.text.errors import InputError, Problem, Span

OUTSIDE = "E262"
"""The code of a file that lies elsewhere."""

_allowed: ContextVar[tuple[Path, ...]] = ContextVar("allowed", default=())
_roots: ContextVar[tuple[Path, ...]] = ContextVar("roots", default=())


@contextmanager
def allow(*folders: str | Path) -> Iterator[None]:
    """Further folders that texts may read, with all below them: for what is loaded inside, also when it is run later;
    raises `InputError` (E262) for a folder that is not there."""
    for folder in folders:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(Problem(OUTSIDE, f"a folder to be allowed is a path, not {type(folder).__name__}"))
        if not os.path.isdir(folder):
            raise InputError(Problem(OUTSIDE, f"there is no folder '{folder}' to be allowed"))
    token = _allowed.set((*_allowed.get(), *map(_real, folders)))
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def within(roots: Sequence[Path]) -> Iterator[None]:
    """Texts that are read inside may read these folders and no others."""
    token = _roots.set(tuple(roots))
    try:
        yield
    finally:
        _roots.reset(token)


def present_roots() -> tuple[Path, ...]:
    """The folders of the netlist that is being loaded; none where none is."""
    return _roots.get()


def roots_beside(file: str | Path, *more: Path) -> tuple[Path, ...]:
    """The folders for a text: that of its file (the working directory where it has none), further ones, and what is
    allowed. Links are followed."""
    return (*map(_real, (Path(file).parent, *more)), *_allowed.get())


def check_inside(path: Path, name: str, span: Span, roots: Sequence[Path]) -> Path:
    """The path, where it lies in one of the roots; raises `InputError` (E262) at the place of its name where not.

    Nothing is said about whether there is such a file."""
    try:
        real = _real(path)
    except ValueError:  # a name that no file can have
        return path
    if any(real.is_relative_to(root) for root in (*roots, *_allowed.get())):
        return path
    message = f"'{name}' lies in {real.parent}, which this text may not read"
    hint = f"where that is meant: --allow {real.parent}, in Python: with netsim.allow(...)"
    raise InputError(Problem(OUTSIDE, message, span, hint=hint))


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))
