"""The texts of the library: no line is too long to read, and no run of lines is written twice."""

from collections import defaultdict
from itertools import combinations

import pytest

from netsim.library.places import library_folder

FILES = sorted(library_folder().rglob("*.lib"))
WIDEST = 120
RUN = 6
"""Equal lines in a row that count as written twice; blanks, comments and `end` count for nothing."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lines_are_short(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert {k: len(line) for k, line in enumerate(lines, 1) if len(line) > WIDEST} == {}


def repeated(texts):
    """Pairs of places (name, line) at which the same run of lines begins, without those inside a longer run."""
    places = defaultdict(list)
    for name, text in texts.items():
        lines = [(k, " ".join(line.split())) for k, line in enumerate(text.splitlines(), 1)]
        lines = [(k, line) for k, line in lines if line and line != "end" and not line.startswith("#")]
        for i in range(len(lines) - RUN + 1):
            before = lines[i - 1][1] if i else ""
            places[tuple(line for _, line in lines[i : i + RUN])].append((before, (name, lines[i][0])))
    return [(a, b) for run in places.values() for (x, a), (y, b) in combinations(run, 2) if x != y or not x]


def test_no_run_of_lines_stands_twice():
    texts = {file.relative_to(library_folder()).as_posix(): file.read_text(encoding="utf-8") for file in FILES}
    assert repeated(texts) == []


def test_a_repeated_run_is_found():
    run = "\n".join(f"  param p{k} = {k}" for k in range(7))
    assert repeated({"a": f"x\n{run}\ny", "b": f"z\n\n# why\n{run}"}) == [(("a", 2), ("b", 4))]
    assert repeated({"a": run.replace("p3", "q"), "b": run}) == []
