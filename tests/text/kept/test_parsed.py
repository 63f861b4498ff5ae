"""Syntax trees of library texts: read from the cache, made anew where the text or the cache is another."""

import os

import pytest

import netsim
from netsim.text.errors import InputError
from netsim.text.kept import cache, shipped
from netsim.text.kept.parsed_texts import parsed
from netsim.text.parse import parse

SPRING = """component soft_spring (p, n : translational) "spring"
  param c : N/m > 0 = {c} N/m "stiffness"
  branch p -> n : x, v, f
  f = c*x
end
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "BUILT", tmp_path / "nothing is built")
    (tmp_path / "own.lib").write_text("use translational\n" + SPRING.format(c=1))
    return tmp_path / "own.lib"


def test_a_tree_comes_back_from_the_cache(file, monkeypatch):
    first = parsed(file)
    monkeypatch.setattr("netsim.text.parse.parse", lambda *_: pytest.fail("parsed again"))
    assert parsed(file) == first == parse(file.read_text(), str(file))
    spans = [statement.span for program in (first, parsed(file)) for statement in program.statements]
    assert spans[:2] == spans[2:] and spans[1].file == str(file)


@pytest.mark.parametrize("damage", [b"", b"no pickle", b"\x80\x05cnetsim.text.syntax\nGone\n."])
def test_a_damaged_tree_is_made_again(file, tmp_path, damage):
    first = parsed(file)
    (kept,) = (tmp_path / "cache" / "parsed").iterdir()
    kept.write_bytes(damage)
    assert parsed(file) == first and kept.read_bytes() != damage


def test_no_folder_means_no_cache(file, monkeypatch):
    monkeypatch.setattr(cache, "cache_folder", lambda name: None)
    assert parsed(file) == parse(file.read_text(), str(file))


@pytest.mark.parametrize("line", ["", 'use "{file}"\n'])
def test_a_text_at_another_path_has_the_same_tree_with_that_path(file, tmp_path, monkeypatch, line):
    """Read from what the first one left; where the text contains its own path, it is the text and not the file's."""
    file.write_text(line.format(file=file) + file.read_text())
    moved = tmp_path / "moved.lib"
    moved.write_text(file.read_text())
    first = parsed(file)
    if not line:
        monkeypatch.setattr("netsim.text.parse.parse", lambda *_: pytest.fail("parsed again"))
    again = parsed(moved)
    assert again == first == parse(file.read_text(), str(file))
    assert {s.span.file for s in first.statements} == {str(file)} and {s.span.file for s in again.statements} == {str(moved)}


def test_trees_of_the_package_are_read_where_the_cache_has_none(file, tmp_path, monkeypatch):
    """What is built has them, and the user's cache stays empty; while it is built, the user's cache is not asked."""
    parsed(file)
    with shipped.building(tmp_path):
        first = parsed(file)
    (built,) = tmp_path.glob("tree-*")
    monkeypatch.setattr(shipped, "BUILT", tmp_path)
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr("netsim.text.parse.parse", lambda *_: pytest.fail("parsed again"))
    assert parsed(file) == first and built.is_file()
    assert not (tmp_path / "empty" / "parsed").is_dir() or not [*(tmp_path / "empty" / "parsed").iterdir()]


def test_mistakes_are_not_kept(file, tmp_path):
    file.write_text("component broken (\n")
    for _ in range(2):
        with pytest.raises(InputError, match="E1"):
            parsed(file)


def test_a_library_that_was_edited_is_read_again(file, tmp_path):
    text = 'use "own.lib"\nuse translational\nm mass (a) m = 1 kg\ns soft_spring (a, ground)\nstart a.x = 1 m\nrun transient(stop = 1 ms)\nsave s.f\n'
    (tmp_path / "own.net").write_text(text)

    def force():
        (samples,) = netsim.load(tmp_path / "own.net").samples()
        return samples.values[0, 0]

    assert force() == pytest.approx(1.0) and force() == pytest.approx(1.0)
    file.write_text("use translational\n" + SPRING.format(c=3))
    os.utime(file, ns=(1, 1))
    assert force() == pytest.approx(3.0)


def test_a_call_that_does_not_fit_is_told_where_nothing_uses_it():
    text = """use translational
function half(x : m) : m = x/2
component wrong (p, n : translational) "two arguments for one"
  branch p -> n : x, v, f
  f = 1 N/m*half(x, x)
end
m mass (a) m = 1 kg
"""
    with pytest.raises(InputError, match="E207"):
        netsim.load(text)
