"""Ctrl-C and SIGTERM at every stage of a command: the exit status, what is said, and what is left."""

import importlib
import os
import signal

import pytest

from netsim import cli
from netsim.results.files import read
from netsim.text.kept.cache import read_entry

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

RC = """use electrical
component own (p, n : electrical)
  branch p -> n : v, i
  i = v/(2 Ohm)
end
v voltage (a, ground) v = 1 V
r own (a, b)
c capacitor (b, ground) C = 1 F
run transient(stop = 1 s)
run transient(stop = 2 s)
plot b.v
"""
BOTH = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Runs a command that gets a signal where a function is called for the n-th time."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rc.net").write_text(RC)
    handlers = [signal.getsignal(number) for number, _ in BOTH]
    if signal.SIG_IGN in handlers:  # as a shell starts what runs in the background
        monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)

    def begin(place, number, arguments, call=1, swallowed=False):
        module, _, name = place.rpartition(".")
        owner, calls = importlib.import_module(module), []
        whole = getattr(owner, name)

        def function(*given, **named):
            calls.append(place)
            if len(calls) == call:
                try:
                    os.kill(os.getpid(), number)
                except KeyboardInterrupt:
                    if not swallowed:
                        raise
            return whole(*given, **named)

        monkeypatch.setattr(owner, name, function)
        status = cli.main(arguments)
        assert len(calls) >= call
        return status

    return begin


def left(folder):
    return sorted(p.name for p in folder.iterdir() if p.name != "rc.net")


BEFORE = {
    "reading": "netsim.network.reading._network_of",
    "components": "netsim.equations.batches.known_form",
    "start": "netsim.analyses.over_time.start.start_of_run",
    "writing": "netsim.formats.csv.rows_of",
    "between writing and renaming": "os.replace",
}


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize("stage", BEFORE)
def test_nothing_is_left_where_nothing_was_written(interrupted, tmp_path, capsys, number, status, stage):
    assert interrupted(BEFORE[stage], number, ["run", "rc.net", "-o", "a.csv"]) == status
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted: nothing was written"
    assert left(tmp_path) == []


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_run_that_is_interrupted_writes_what_it_has(interrupted, tmp_path, capsys, number, status):
    assert interrupted("netsim.simulate.adaptive.attempts", number, ["run", "rc.net", "-o", "a.nc"]) == status
    assert "interrupted at t = " in capsys.readouterr().err
    assert not read(tmp_path / "a.nc").attrs["finished"]


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_earlier_runs_are_written_and_marked(interrupted, tmp_path, capsys, number, status):
    assert interrupted("netsim.analyses.over_time.start.start_of_run", number, ["run", "rc.net", "-o", "a.csv"], call=2) == status
    assert "interrupted before run 'transient'" in capsys.readouterr().err
    assert "interrupted before run" in read(tmp_path / "a.csv").attrs["message"]


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize(
    ("place", "complete"), [("netsim.formats.csv.rows_of", ["a-run1.csv"]), ("netsim.results.plots._save", ["a-run1.csv", "a-run2.csv"])]
)
def test_files_that_are_complete_are_told(interrupted, tmp_path, capsys, number, status, place, complete):
    assert interrupted(place, number, ["run", "rc.net", "-o", "a.csv", "--plot", "svg"], call=3 - len(complete)) == status
    files = ", ".join(f"'{name}'" for name in complete)
    assert capsys.readouterr().err.splitlines()[-1] == f"interrupted: complete: {files}; nothing else was written"
    assert left(tmp_path) == complete and all(read(tmp_path / name).attrs["finished"] for name in complete)


@pytest.mark.parametrize("stage", ["netsim.analyses.over_time.start.begin_adaptive", "netsim.formats.csv.rows_of"])
@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_signal_that_is_swallowed_counts(interrupted, capsys, number, status, stage):
    """As CasADi does, which calls Python from C and goes on."""
    assert interrupted(stage, number, ["run", "rc.net", "-o", "a.csv"], swallowed=True) == status
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize(
    ("command", "place"),
    [
        (["check", "rc.net"], "netsim.structure.findings._of_structure"),
        (["list"], "netsim.library.catalogue.describe"),
        (["show", "rc.net", "-o", "a.svg"], "netsim.output.diagram._draw"),
    ],
)
def test_other_commands(interrupted, tmp_path, tmp_path_factory, monkeypatch, capsys, number, status, command, place):
    """Where nothing is kept yet."""
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path_factory.mktemp("cache")))
    assert interrupted(place, number, command) == status
    assert capsys.readouterr().err == "interrupted: nothing was written\n" and left(tmp_path) == []


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize("moment", ["os.fdopen", "os.replace", "os.unlink"])
def test_an_entry_of_the_cache_is_written_or_not(interrupted, tmp_path, monkeypatch, number, status, moment):
    head, own, rest = RC.partition(RC[RC.index("component own") : RC.index("v voltage")])
    (tmp_path / "own.lib").write_text(own)
    (tmp_path / "rc.net").write_text(f'{head}use "own.lib"\n{rest}')
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "cache"))
    assert interrupted(moment, number, ["check", "rc.net"]) == status
    entries = list((tmp_path / "cache" / "parsed").iterdir())
    assert len(entries) == (moment == "os.unlink") and all(read_entry(entry) for entry in entries)
    assert cli.main(["check", "rc.net"]) == 0
    assert any((tmp_path / "cache" / "parsed").iterdir())


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_fit_that_is_interrupted_writes_nothing(interrupted, tmp_path, capsys, number, status):
    (tmp_path / "data.csv").write_text("time [s],b.v [V]\n0.5,0.2\n1,0.4\n")
    line = 'run fit(to = "data.csv", signals = [b.v], parameters = [c.C = 0.1 .. 2 F], write = "new.net")'
    (tmp_path / "rc.net").write_text(RC.replace(RC[RC.index("run tran") :], f"{line}\n"))
    place = "netsim.analyses.many.fit.fitted_text"
    assert interrupted(place, number, ["run", "rc.net", "-o", "a.csv"]) == status
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted: nothing was written"
    assert left(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_sweep_that_is_interrupted_writes_its_cases(interrupted, tmp_path, capsys, number, status):
    line = "run sweep(over = [c.C = 1 .. 5 F], points = 5, stop = 1 s, workers = 1)"
    (tmp_path / "rc.net").write_text(RC.replace(RC[RC.index("run tran") :], f"{line}\nmeasure last = final(b.v)\n"))
    place = "netsim.analyses.many.sweep.outcome"
    assert interrupted(place, number, ["run", "rc.net", "-o", "a.csv"], call=3) == status
    told = capsys.readouterr().err
    assert "interrupted after 2 of 5 cases: the result files contain the cases that are done" in told
    assert "the same command with --resume goes on from 'a.csv.part'" in told
    assert not read(tmp_path / "a.csv").attrs["finished"]
    assert cli.main(["run", "rc.net", "-o", "a.csv", "--resume"]) == 0
    assert read(tmp_path / "a.csv").attrs.get("finished", True) and left(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_picture_is_whole_or_not_there(interrupted, tmp_path, capsys, number, status):
    (tmp_path / "a.csv").write_text("time [s],b.v [V]\n0,0\n1,0.4\n")
    assert interrupted("os.replace", number, ["plot", "a.csv", "-o", "a.png"]) == status
    assert capsys.readouterr().err == "interrupted: nothing was written\n" and left(tmp_path) == ["a.csv"]
