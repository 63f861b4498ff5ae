"""A netlist for every type of the library: a short shipped model that uses it, or else the type between hosts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hosts import LIBRARY, hosted, netlist

from netsim.library.files import models_folder

LONGEST = 32
"""Lines of a shipped model that is shown as an example."""


@dataclass(frozen=True)
class Example:
    """A netlist with a sentence about it; `model` is its name among the shipped models, '' for one made here."""

    text: str
    sentence: str
    model: str = ""


def example(name: str) -> Example | None:
    """The example of a type; None for parts of models that stand nowhere else."""
    if found := shortest_models().get(name):
        path = models_folder() / f"{found}.net"
        return Example(path.read_text(encoding="utf-8"), "", found)
    if name in (*hosted(), *LIBRARY.models):
        return Example(netlist(name), "Between the simplest neighbours that each of its terminals can have.")
    return None


def shipped() -> list[str]:
    """Names of the models that are examples of something: those in `broken` are mistakes on purpose."""
    folder = models_folder()
    paths = (path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.net")))
    return [path.as_posix() for path in paths if "broken" not in path.parts]


def types_in(text: str) -> Iterator[str]:
    """Types of the instances of a netlist, as they are written."""
    yield from (match[1] for match in re.finditer(r"^ *[\w\[\]{}.]+ +(\w+) *\(", text, re.MULTILINE))


@cache
def users() -> dict[str, tuple[str, ...]]:
    """Shipped models by the types that they use."""
    found: dict[str, list[str]] = {}
    for name in shipped():
        text = (models_folder() / f"{name}.net").read_text(encoding="utf-8")
        for each in dict.fromkeys(types_in(text)):
            found.setdefault(each, []).append(name)
    return {name: tuple(models) for name, models in found.items()}


@cache
def shortest_models() -> dict[str, str]:
    """The shortest shipped model of at most `LONGEST` lines that uses a type, of those without an optimisation if there
    are any; none that needs a file beside it."""
    found = {}
    for name, models in users().items():
        texts = {model: Path(models_folder() / f"{model}.net").read_text(encoding="utf-8") for model in models}
        alone = [model for model in models if '"' not in re.sub(r"(assert|measure)[^\n]*", "", texts[model])]
        best = min(alone, key=lambda model: (model.startswith("optimal/"), texts[model].count("\n"), model), default="")
        if best and texts[best].count("\n") <= LONGEST:
            found[name] = best
    return found
