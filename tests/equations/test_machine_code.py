"""Machine code on disk: found again exactly where all that it was made of is the same."""

import importlib
import json
import pkgutil
import sys
import textwrap
import types
from collections import namedtuple

import numpy as np
import pytest

import netsim
from netsim.core.compiled import objects
from netsim.core.compiled.function import Compiled, compiled
from netsim.core.compiled.kinds import from_words, in_words, kind_of

TEXT = """
import numpy as np
from netsim.core.compiled.function import compiled
SCALE = 2.0
TABLE = np.array([1.0, 2.0])
@compiled
def inner(x):
    return SCALE * x + TABLE[0]
@compiled
def outer(x):
    return inner(x) + 1.0
"""


@compiled
def twice(x):
    return 2.0 * x


@compiled
def several(x, n, truth, pair):
    total = x + n + pair[1]
    for each in pair[0]:
        total += each
    return total, 2 * n, truth


def outer(text, name="made"):
    module = types.ModuleType(name)
    exec(compile(textwrap.dedent(text), f"{name}.py", "exec"), module.__dict__)
    return module.outer


@pytest.mark.parametrize(
    "before, after",
    [
        ("SCALE = 2.0", "SCALE = 3.0"),  # a constant of a callee
        ("[1.0, 2.0]", "[1.5, 2.0]"),  # an array of a callee
        ("TABLE[0]", "TABLE[1]"),  # a callee
        ("SCALE * x", "x * SCALE"),
        ("+ 1.0", "+ 2.0"),  # the function itself
        ("@compiled\ndef inner", "@compiled(fastmath=True)\ndef inner"),  # how a callee is compiled
        ("def inner(x)", "def inner(x, y=2.0)"),
    ],
)
def test_whatever_code_is_made_of_tells_it_apart(before, after):
    changed = TEXT.replace(before, after)
    assert changed != TEXT
    assert outer(changed).digest != outer(TEXT).digest


def test_comments_lines_and_places_of_files_do_not():
    moved = TEXT.replace("SCALE = 2.0", "# a comment\n\n\nSCALE = 2.0  # and another")
    assert outer(moved, "elsewhere").digest == outer(TEXT).digest


def test_a_changed_callee_is_compiled_and_an_unchanged_one_read(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    told = []
    monkeypatch.setattr(objects, "translating", [told.append])
    monkeypatch.setattr(objects, "_loaded", {})
    first, same, other = outer(TEXT), outer(TEXT), outer(TEXT.replace("SCALE = 2.0", "SCALE = 5.0"))
    assert first(1.0) == 4.0 and told == ["outer"]
    monkeypatch.setattr(objects, "_loaded", {})
    assert same(1.0) == 4.0 and told == ["outer"]
    assert other(1.0) == 7.0 and told == ["outer", "outer"]


def test_a_damaged_file_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    monkeypatch.setattr(objects, "_loaded", {})
    assert outer(TEXT)(1.0) == 4.0
    (file,) = (tmp_path / "code").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-40] + bytes(40))
    monkeypatch.setattr(objects, "_loaded", {})
    assert outer(TEXT)(1.0) == 4.0 and len(file.read_bytes()) >= len(whole) - 1000


def test_arguments_are_told_by_type_and_by_the_fields_of_named_tuples():
    one, two = namedtuple("Point", "x y"), namedtuple("Point", "y x")
    values = [one(1.0, 2.0), two(1.0, 2.0), (1.0, 2.0), one(1.0, 2), np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)).T[:1], np.zeros(2, int)]
    assert len({str(kind_of(value)) for value in values}) == len(values)
    assert all(kind_of(value) is kind_of(value) for value in values)


def test_kinds_in_files_are_the_same_again():
    for value in (1.0, True, np.zeros((2, 3)), (1, np.zeros(2), (2.0, False))):
        kind = kind_of(value)
        assert from_words(json.loads(json.dumps(in_words(kind)))) == kind


@pytest.mark.parametrize("value", [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2).T, np.arange(12.0)[::2], np.zeros((0, 3))])
def test_arrays_of_any_strides_are_read_and_returned(value):
    assert np.array_equal(twice(value), 2.0 * value)


def test_numbers_tuples_and_booleans_go_both_ways():
    assert several(2.5, 3, True, (np.ones(2), 4.0)) == (2.5 + 3 + 2.0 + 4.0, 6, True)
    assert several(np.float64(2.5), np.int64(3), np.False_, (np.ones(2), 4.0)) == (11.5, 6, False)


def test_values_outlive_the_memory_they_came_in():
    kept = [twice(np.full(1000, float(k))) for k in range(200)]
    assert all((each == 2.0 * k).all() for k, each in enumerate(kept))


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(TypeError, match="nothing says"):
        outer(TEXT.replace("SCALE = 2.0", "SCALE = {1: 2}")).digest  # noqa: B018


def test_all_compiled_functions_of_the_package_have_their_code_kept():
    for module in pkgutil.walk_packages(netsim.__path__, "netsim."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    functions = [
        value
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == "netsim"
        for value in vars(module).values()
        if isinstance(value, Compiled)
    ]
    assert len(functions) > 300
    assert all(each.digest for each in functions)
