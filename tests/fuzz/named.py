"""Seeded mistakes whose culprit the first message names: `python tests/fuzz/named.py` prints how many, and those it misses;
a number behind it is the seed of the places of slips.

Slips of the hand (`faults.py`) and mistakes of physics (`physics.txt`) are put into shipped models that are whole without them; the texts of
`models/broken` have one mistake each, in a line that ends with `# <-`. The first message must stand at the line of the mistake, or name one of
the elements, nodes or words that are at fault; a mistake of physics must not be told as one of spelling.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from faults import LINES, OF_ELEMENTS, SLIP
from faults import Fault as Slip
from faults import faults as slips
from physical import Fault, faults

import netsim
from netsim.library.files import models_folder
from netsim.text import errors
from netsim.text.errors import NetsimError, Problem

EACH = 12
"""Models into which a slip of each kind is put."""
KINDS = [*(make.__name__ for make in OF_ELEMENTS), *LINES]
SPELLING = ("E206", "E226", "E227", "E421")
"""What is told of names: no mistake of physics is told so."""


def beside_models(folder: Path) -> Path:
    """A folder like that of the models, with the tables that they read."""
    (folder / "mechanisms").mkdir(exist_ok=True)
    for path in models_folder().glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def first_message(text: str, model: Path, folder: Path, runs: bool) -> Problem | None:
    """What `netsim check` says first of a text in the place of a model, and where it says nothing wrong, what the run says."""
    path = folder / model.relative_to(models_folder())
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return _first(path, runs)


def _first(path: Path, runs: bool) -> Problem | None:
    errors._texts.clear()
    try:
        model = netsim.load(path)
        found = model.check()
        wrong = [p for p in found if not p.is_note]
        told = [] if wrong or not runs or not model.network.runs else model.samples()
    except NetsimError as error:
        return error.problems[0]
    told = [p for s in told for p in (s.attributes.get("failure"), *s.broken, *s.warnings) if p]
    return min([*wrong, *told, *found], key=lambda p: p.is_note, default=None)


def names_slip(said: Problem | None, slip: Slip, kind: str) -> bool:
    """Whether a message stands at the line of a slip, or names the node that is misspelt, or the one that is meant."""
    if said is None:
        return False
    words = {slip.word, slip.word.removesuffix(SLIP)} & _words(said)
    return (said.span is not None and said.span.line == slip.line) or (kind == "misspelt_node" and bool(words))


def names_fault(said: Problem | None, fault: Fault) -> bool:
    """Whether a message stands at a line of a mistake of physics, or names what is at fault."""
    if said is None or said.code in SPELLING:
        return False
    return (said.span is not None and said.span.line in fault.lines) or bool(_words(said) & fault.names)


def names_marked(path: Path) -> bool:
    """Whether the first message of a text in `models/broken` stands at its mark; without a mark, whether it is the one that is announced."""
    text = path.read_text(encoding="utf-8")
    marked = {k for k, line in enumerate(text.splitlines(), 1) if line.rstrip().endswith("# <-")}
    announced = {(m[1], m[2] or "") for m in re.finditer(r"^# expect: ([EN]\d{3})(?: (.*))?$", text, re.MULTILINE)}
    said = _first(path, True)
    if said is None:
        return False
    at_mark = said.span is not None and said.span.file == str(path) and said.span.line in marked
    return at_mark if marked else any(said.code == code and words in said.message for code, words in announced)


def _words(said: Problem) -> set[str]:
    return set(re.findall(r"\w+", f"{said.message} {said.hint}"))


def tried(folder: Path, seed: int = 1) -> Iterator[tuple[str, str, bool]]:
    """(group, the mistake, whether its culprit is named)."""
    for kind in KINDS:
        for slip in slips(kind, EACH, seed):
            yield "slips of the hand", f"{kind} in {slip.model.stem}", names_slip(first_message(slip.text, slip.model, folder, False), slip, kind)
    for fault in faults():
        said = first_message(fault.text, fault.model, folder, True)
        yield "mistakes of physics", f"{fault.kind} in {fault.model.stem}", names_fault(said, fault)
    for path in sorted((models_folder() / "broken").glob("*.net")):
        yield "texts of models/broken", path.stem, names_marked(path)


def main(seed: int = 1) -> int:
    """The tally; the exit status is 1 where more than one in sixty is not named. `seed`: of the models and places of slips."""
    counts = dict[str, list[int]]()
    with tempfile.TemporaryDirectory() as name:
        for group, mistake, named in tried(beside_models(Path(name)), seed):
            each = counts.setdefault(group, [0, 0])
            each[0], each[1] = each[0] + 1, each[1] + named
            if not named:
                print(f"not named: {mistake}")
    print(f"{'':24s}{'seeded':>8s}{'named':>8s}")
    for group, (seeded, named) in [*counts.items(), ("all", [sum(each) for each in zip(*counts.values())])]:
        print(f"{group:24s}{seeded:8d}{named:8d}")
    return int(any(60 * (seeded - named) > seeded for seeded, named in counts.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
