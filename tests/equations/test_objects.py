"""Object code on disk: kept, found, and replaced when damaged."""

import importlib.util
import os
from pathlib import Path

import casadi
import numpy as np
import pytest

import netsim
from netsim.core.compiled import store
from netsim.core.compiled.linking import LEVELS, level_of_host
from netsim.equations.kernels import native
from netsim.equations.kernels.lowering import lower
from netsim.equations.kernels.native import compile, file_of, run_native


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    return tmp_path / "code"


def scaled(factor):
    x = casadi.SX.sym("x")
    return lower(x, [], [], factor * casadi.sin(x))


def result(kernels, name):
    zero, out = np.zeros(1, np.int32), np.zeros(1)
    run_native(kernels, name, 1, zero, zero[:0], np.zeros(0), zero, np.array([0.5]), out)
    return out[0]


def test_second_time_nothing_is_compiled(folder):
    programs = {"a": scaled(2.0), "b": scaled(3.0), "same as a": scaled(2.0)}
    first = compile(programs)
    assert first.compiled == ("a", "b") and len(list(folder.iterdir())) == 2
    second = compile({**programs, "new": scaled(4.0)})
    assert second.compiled == ("new",)
    assert second.addresses["a"] == second.addresses["same as a"] != second.addresses["b"]
    for kernels in (first, second):
        assert result(kernels, "b") == pytest.approx(3 * np.sin(0.5), rel=1e-15)


@pytest.mark.parametrize("damage", [lambda c: c[:-1], lambda c: c[:-9] + b"x" + c[-8:], lambda c: b"", lambda c: b"old format\n" + c])
def test_a_damaged_file_is_compiled_again(folder, damage):
    program = scaled(2.0)
    compile({"a": program})
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert store.read_code(file.name) is None
    again = compile({"a": program})
    assert again.compiled == ("a",) and result(again, "a") == pytest.approx(2 * np.sin(0.5), rel=1e-15)
    assert file.read_bytes() == whole and len(list(folder.iterdir())) == 1


def test_without_a_writable_folder_everything_still_works(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("NETSIM_CACHE", str(blocked))
    assert store.read_code("0" * 64) is None and store.write_code("0" * 64, {}, b"code") is False
    assert compile({"a": scaled(2.0)}).compiled == compile({"a": scaled(2.0)}).compiled == ("a",)


def test_names_of_files_tell_programs_and_instruction_sets_apart():
    names = {file_of(scaled(factor), level) for factor in (2.0, 3.0) for level in LEVELS}
    assert len(names) == 2 * len(LEVELS) and file_of(scaled(2.0), "x86-64") in names


def test_what_is_built_serves_processors_of_its_kind_and_others_make_their_own(folder, tmp_path, monkeypatch):
    """The package's folder is enough for the first, and results are the same bits everywhere."""
    program, host = scaled(2.0), level_of_host()
    fresh = result(compile({"a": program}), "a")
    with store.building(tmp_path):
        assert compile({"a": program}).compiled == ("a",)
    assert [each.name for each in tmp_path.glob("kernel-*")] == [file_of(program, host)]
    os.utime(tmp_path / file_of(program, host), (1000, 1000))
    with store.building(tmp_path):  # a second time: it is not older than the build
        assert compile({"a": program}).compiled == ()
    assert (tmp_path / file_of(program, host)).stat().st_mtime > 1000
    monkeypatch.setattr(store, "BUILT", tmp_path)
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "empty"))
    again = compile({"a": program})
    assert again.compiled == () and result(again, "a") == fresh
    assert not list((tmp_path / "empty" / "code").iterdir())
    for level in {*LEVELS} - {host}:
        if host in [*LEVELS][: [*LEVELS].index(level)]:  # a processor that has less
            monkeypatch.setattr(native, "level_of_host", lambda level=level: level)
            other = compile({"a": program})
            assert other.compiled == ("a",) and result(other, "a") == fresh
            assert (tmp_path / "empty" / "code" / file_of(program, level)).is_file()


@pytest.mark.parametrize("text", ["CIRCUIT", "EVENTS"])
def test_models_that_are_run_when_code_is_built_run(text):
    """What stops them early is hidden there."""
    path = Path(__file__).parents[2] / "hatch_build.py"
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    for method in builder.METHODS[:3]:
        (samples,) = netsim.load(getattr(builder, text)).samples({"method": method})
        assert samples.finished and bool(samples.attributes.get("event_log")) == (text == "EVENTS")
