"""The texts of the library: no line is too long to read, and no run of lines is written twice."""

import pytest

from netsim.library.places import library_folder
from repeated import repeated

FILES = sorted(library_folder().rglob("*.lib"))
WIDEST = 120


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lines_are_short(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert {k: len(line) for k, line in enumerate(lines, 1) if len(line) > WIDEST} == {}


def passed_over(line):
    """Blanks, comments and `end` count for nothing."""
    return not line or line == "end" or line.startswith("#")


def test_no_run_of_lines_stands_twice():
    texts = {file.relative_to(library_folder()).as_posix(): file.read_text(encoding="utf-8") for file in FILES}
    assert repeated(texts, passed_over) == []


def test_a_repeated_run_is_found():
    run = "\n".join(f"  param p{k} = {k}" for k in range(7))
    assert repeated({"a": f"x\n{run}\ny", "b": f"z\n\n# why\n{run}"}, passed_over) == [(("a", 2), ("b", 4))]
    assert repeated({"a": run.replace("p3", "q"), "b": run}, passed_over) == []
