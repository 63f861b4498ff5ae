"""The texts of the library: no line is too long to read."""

import pytest

from netsim.library.places import library_folder

FILES = sorted(library_folder().rglob("*.lib"))
WIDEST = 120


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lines_are_short(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert {k: len(line) for k, line in enumerate(lines, 1) if len(line) > WIDEST} == {}
