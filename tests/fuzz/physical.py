"""Mistakes of physics, each in a network that is whole without it (`physics.txt`): the text is right by its grammar,
and no machine does what it says. The first message must name one of the given elements or nodes, or stand at one of the
lines that were put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netsim.library.files import models_folder


@dataclass(frozen=True)
class Fault:
    """A mistake of a kind, in a shipped model: the text, the lines that came, and names one of which must be told."""

    kind: str
    model: Path
    text: str
    lines: frozenset[int]
    names: frozenset[str]


def faults() -> Iterator[Fault]:
    """All of `physics.txt`."""
    blocks = re.split(r"\n\s*\n", Path(__file__).with_name("physics.txt").read_text(encoding="utf-8"))
    for block in blocks:
        rows = [row for row in block.split("\n") if row and not row.startswith("#")]
        if rows:
            yield _fault(*(part.strip() for part in rows[0].split("|")), rows[1:])


def _fault(kind: str, model: str, names: str, changes: list[str]) -> Fault:
    path = models_folder() / f"{model}.net"
    rows = path.read_text(encoding="utf-8").splitlines()
    at = next(k for k, row in enumerate(rows) if row.startswith("run"))
    came = [row[2:] for row in changes if row[0] == "+"]
    for gone in (row[2:] for row in changes if row[0] == "-"):
        found = [k for k, row in enumerate(rows) if row.split()[: len(gone.split())] == gone.split()]
        assert found, f"{kind}: {model} has no line '{gone}'"
        at = found[0]
        rows[at] = ""
    text = "\n".join([*rows[:at], *came, *rows[at:]])
    return Fault(kind, path, f"{text}\n", frozenset(range(at + 1, at + 1 + len(came))), frozenset(names.split()))
