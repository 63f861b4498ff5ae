"""Machine code on disk: found again exactly where all that it was made of is the same."""

import importlib
import os
import pkgutil
import sys
import textwrap
import types
from collections import namedtuple

import numpy as np
import pytest
from numba import typeof
from numba.core.dispatcher import Dispatcher

import netsim
from netsim.core.compiled import machine_code
from netsim.core.compiled.machine_code import MachineCode, _told

TEXT = """
import numpy as np
from netsim.core.compiled.call import compiled
SCALE = 2.0
TABLE = np.array([1.0, 2.0])
@compiled
def inner(x):
    return SCALE * x + TABLE[0]
@compiled
def outer(x):
    return inner(x) + 1.0
"""


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
    assert outer(changed)._cache.digest != outer(TEXT)._cache.digest


def test_comments_lines_and_places_of_files_do_not():
    moved = TEXT.replace("SCALE = 2.0", "# a comment\n\n\nSCALE = 2.0  # and another")
    assert outer(moved, "elsewhere")._cache.digest == outer(TEXT)._cache.digest


def test_a_changed_callee_is_compiled_and_an_unchanged_one_read(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    first, same, other = outer(TEXT), outer(TEXT), outer(TEXT.replace("SCALE = 2.0", "SCALE = 5.0"))
    assert (first(1.0), same(1.0), other(1.0)) == (4.0, 4.0, 7.0)
    hits = [sum(each.stats.cache_hits.values()) for each in (first, same, other)]
    assert hits == [0, 1, 0]


def test_arguments_are_told_by_type_and_by_the_fields_of_named_tuples():
    one, two = namedtuple("Point", "x y"), namedtuple("Point", "y x")
    kinds = [typeof(one(1.0, 2.0)), typeof(two(1.0, 2.0)), typeof((1.0, 2.0)), typeof(one(1.0, 2)), typeof(np.zeros(2)), typeof(np.zeros((2, 2)))]
    assert len({repr(_told(kind)) for kind in kinds}) == len(kinds)


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(TypeError, match="nothing says"):
        outer(TEXT.replace("SCALE = 2.0", "SCALE = {1: 2}"))._cache.digest  # noqa: B018


def test_all_compiled_functions_of_the_package_have_their_code_kept():
    for module in pkgutil.walk_packages(netsim.__path__, "netsim."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    functions = [
        value
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == "netsim"
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    assert len(functions) > 300
    assert all(isinstance(each._cache, MachineCode) and each._cache.digest for each in functions)


def test_a_folder_that_grew_too_large_forgets_the_longest_unused(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "LARGEST", 50)
    monkeypatch.setattr(machine_code, "KEPT", 30)
    for k in range(6):
        (tmp_path / f"code-{k}").write_bytes(b"0123456789")
        os.utime(tmp_path / f"code-{k}", (1000 + k, 1000 + k))
    machine_code._cut(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["code-3", "code-4", "code-5"]
