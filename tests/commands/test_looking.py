"""`netsim info` and `netsim list` of libraries of one's own."""

import gc
import subprocess
import sys

import numpy
import pytest

from netsim import __version__, cli
from netsim.api import Model
from netsim.core.compiled import store
from netsim.library.places import VARIABLE

LIB = """use translational
component gap_spring (p, n : translational) "spring behind a gap"
  param  c : N/m > 0  "stiffness"
  param  g : m >= 0   "gap"
  branch p -> n : x, v, f
  f = c*max(x - g, 0 m)
end
"""


def run(capsys, *arguments):
    status = cli.main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_info_says_what_is_installed(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "a").write_bytes(bytes(2_000_000))
    status, out, err = run(capsys, "info")
    rows = dict(line.split(maxsplit=1) for line in out.splitlines() if line.startswith("  "))
    assert (status, err) == (0, "")
    assert rows["numpy"] == numpy.__version__ and rows["netsim"].startswith(__version__)
    assert rows["objects"] == "1 files, 2.0 MB" and rows[VARIABLE] == str(tmp_path) and f"cache: {tmp_path}" in out


@pytest.mark.parametrize("built", [True, False])
def test_info_says_whether_machine_code_is_built_in(capsys, tmp_path, monkeypatch, built):
    monkeypatch.setattr(store, "BUILT", tmp_path if built else tmp_path / "none")
    (tmp_path / "code").write_bytes(bytes(100_000))
    assert ("built in         1 files, 0.1 MB" in run(capsys, "info")[1]) is built


def test_own_files_are_listed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.lib").write_text(LIB)
    status, out, _ = run(capsys, "list", "--use", "my.lib", "gap_spring")
    assert status == 0 and out.startswith("gap_spring: spring behind a gap") and "stiffness" in out
    assert "gap_spring" in run(capsys, "list", "--use", "my.lib", "gap")[1]  # found by a word too
    status, _, err = run(capsys, "list", "--use", "none.lib", "gap_spring")
    assert status == 2 and err.startswith("E220 cannot read 'none.lib' (in '--use')")


def test_libraries_of_the_search_path_are_listed(capsys, tmp_path, monkeypatch):
    (tmp_path / "my.lib").write_text(LIB)
    assert not run(capsys, "list", "gap_spring")[1].startswith("gap_spring: ")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert run(capsys, "list", "gap_spring")[1].startswith("gap_spring: spring behind a gap")


def test_garbage_is_collected_while_a_model_runs_and_at_no_other_time(tmp_path, monkeypatch, capsys):
    """The collector of the process that calls `main` is as it was before."""
    monkeypatch.chdir(tmp_path)
    seen = []
    checked, run_ = Model.check, Model.samples
    monkeypatch.setattr(Model, "check", lambda *given: seen.append(("check", gc.isenabled())) or checked(*given))
    monkeypatch.setattr(Model, "samples", lambda *given: seen.append(("run", gc.isenabled())) or run_(*given))
    for word in ("check", "run"):
        assert run(capsys, word, "rc")[0] == 0
        assert gc.isenabled() and gc.get_freeze_count() == 0
    assert seen == [("check", False), ("run", True)]


def test_the_program_collects_no_garbage_at_its_end():
    code = "import atexit, gc, sys, netsim.cli, netsim.__main__; atexit.register(lambda: print('on' if gc.isenabled() else 'off'))"
    for call, expected in (("__main__.console()", "off"), ("cli.main()", "on")):
        command = [sys.executable, "-c", f"{code}; sys.argv = ['netsim', 'list', 'rope']; netsim.{call}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, expected)


def test_what_was_listed_before_is_not_read_again(capsys, tmp_path, monkeypatch):
    from netsim.library import catalogue

    library = tmp_path / "own"
    library.mkdir()
    (library / "gaps.lib").write_text(LIB)
    monkeypatch.setenv(VARIABLE, str(library))
    first = run(capsys, "list", "gap_spring")
    whole = catalogue.whole_library
    monkeypatch.setattr(catalogue, "whole_library", lambda files: pytest.fail("read again"))
    assert run(capsys, "list", "gap_spring") == first
    monkeypatch.setattr(catalogue, "whole_library", whole)
    (library / "gaps.lib").write_text(LIB.replace("behind a gap", "behind a slit"))
    assert "behind a slit" in run(capsys, "list", "gap_spring")[1]
    (library / "gaps.lib").write_text(LIB + 'include "other.lib"\n')  # whose changes would not be seen
    (library / "other.lib").write_text("")
    monkeypatch.setattr(catalogue, "whole_library", lambda files: pytest.fail("read again"))
    with pytest.raises(pytest.fail.Exception):
        run(capsys, "list", "gap_spring")
