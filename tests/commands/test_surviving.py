"""Commands that are killed, ended or interrupted, or whose disk is full: exit status, words, what is left, `--resume`."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from netsim import cli
from netsim.results.files import read

RECTIFIER = """use electrical
v1 voltage (a, ground) v = 10 V*sin(2*pi*50/(1 s)*time)
d1 diode (a, b)
r1 resistor (b, ground) R = 100 Ohm
c1 capacitor (b, ground) C = 10 uF
run transient(stop = 4 s, sample = 1 ms)
"""
ENDLESS = RECTIFIER.replace("stop = 4 s", "stop = 1e4 s")
OFTEN = "0.05"
"""Seconds between two states."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rectifier.net").write_text(RECTIFIER)
    (tmp_path / "endless.net").write_text(ENDLESS)
    return tmp_path


def heeding_interrupts():
    """What a shell starts in the background ignores SIGINT, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def begun():
    """Starts a run in a process of its own, which ends with the test."""
    processes = []

    def begin(*arguments, preexec_fn=heeding_interrupts):
        command = [sys.executable, "-m", "netsim", "run", *arguments, "--quiet"]
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=preexec_fn))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def stored(process, part):
    """Wait until a state is there, and rows of some steps."""
    until = time.monotonic() + 60.0
    while process.poll() is None and time.monotonic() < until:
        if (part / "1.state").exists() and (part / "1.rows").stat().st_size > 1000:
            return
        time.sleep(0.002)
    raise AssertionError(f"no state was stored: {process.communicate()}")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(folder, begun):
    assert cli.main(["run", "rectifier.net", "-o", "whole.csv", "--quiet"]) == 0
    assert not (folder / "whole.csv.part").exists()
    process = begun("rectifier.net", "-o", "a.csv", "--checkpoint", OFTEN)
    stored(process, folder / "a.csv.part")
    process.kill()
    assert process.wait() == -signal.SIGKILL and not (folder / "a.csv").exists()
    left, whole = read(folder / "a.csv.part"), read(folder / "whole.csv")
    n = left.sizes["time"]
    assert 0 < n < whole.sizes["time"] and not left.attrs["finished"]
    assert np.array_equal(left["b.v"].values, whole["b.v"].values[:n])
    assert cli.main(["run", "rectifier.net", "-o", "a.csv", "--quiet", "--resume"]) == 0
    assert (folder / "a.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    assert not (folder / "a.csv.part").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("suffix", ["csv", "nc"])
def test_a_run_that_is_ended_writes_what_it_has_and_says_so(folder, capsys, number, status, suffix, begun):
    process = begun("endless.net", "-o", f"a.{suffix}", "--checkpoint", OFTEN)
    stored(process, folder / f"a.{suffix}.part")
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == status, told
    assert "interrupted at t = " in told and "contain the samples up to this time" in told and "--resume" in told
    data = read(folder / f"a.{suffix}")
    assert not data.attrs["finished"] and "interrupted at t = " in data.attrs["message"]
    assert data.sizes["time"] > 1 and np.isfinite(data["b.v"].values).all()
    assert cli.main(["plot", f"a.{suffix}", "b.v"]) == 0
    assert f"'a.{suffix}' is a partial result: interrupted at t = " in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_while_modules_are_imported_is_told(folder, begun):
    process = begun("endless.net", "-o", "a.csv")
    time.sleep(0.3)
    process.terminate()
    _, told = process.communicate(timeout=60)
    assert process.returncode in (143, -signal.SIGTERM), told  # -15: before its first line
    assert "Traceback" not in told


@pytest.mark.parametrize("suffix", ["csv", "nc"])
def test_a_full_disk_is_told_and_what_was_written_is_readable(folder, suffix, begun):
    """No file may grow beyond 400 kB: rows are 72 bytes."""

    def bound():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    (folder / "longer.net").write_text(RECTIFIER.replace("stop = 4 s", "stop = 16 s"))
    process = begun("longer.net", "-o", f"a.{suffix}", "--checkpoint", OFTEN, preexec_fn=bound)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1, told
    assert "E444 '" in told and "cannot be written: File too large; the last good block ends at t = " in told
    assert "Traceback" not in told and "internal error" not in told
    left = read(folder / f"a.{suffix}.part")
    assert left.sizes["time"] > 1 and not left.attrs["finished"]
    assert cli.main(["run", "longer.net", "-o", f"a.{suffix}", "--quiet", "--resume"]) == 0
    assert read(folder / f"a.{suffix}").sizes["time"] == 16001


def test_resuming_what_is_not_there_or_another_run_is_refused(folder, capsys, begun):
    assert cli.main(["run", "rectifier.net", "-o", "a.csv", "--resume"]) == 2
    assert "E443 there is no run to resume in 'a.csv.part'" in capsys.readouterr().err
    process = begun("endless.net", "-o", "a.csv", "--checkpoint", OFTEN)
    stored(process, folder / "a.csv.part")
    process.terminate()
    process.communicate()
    for change, told in (("--rtol=1e-4", "with other options"), ("--stop=5", "with other options")):
        assert cli.main(["run", "endless.net", "-o", "a.csv", "--resume", change]) == 2
        assert told in capsys.readouterr().err
    (folder / "endless.net").write_text(ENDLESS.replace("100 Ohm", "101 Ohm"))
    assert cli.main(["run", "endless.net", "-o", "a.csv", "--resume"]) == 2
    assert "another netlist" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
def test_seconds_between_states_are_checked(folder, capsys, seconds):
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "rectifier.net", f"--checkpoint={seconds}"])
    assert ended.value.code == 2 and "no number of seconds" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_a_result_that_another_process_is_writing_is_refused(folder, capsys, begun, more):
    process = begun("endless.net", "-o", "a.csv", "--checkpoint", OFTEN)
    stored(process, folder / "a.csv.part")
    assert cli.main(["run", "endless.net", "-o", "a.csv", *more]) == 2
    told = capsys.readouterr().err
    assert "E446 another process is writing the same result: it holds 'a.csv.part'" in told and "with -o" in told
    assert process.poll() is None
    process.kill()  # which leaves no lock
    process.wait()
    assert cli.main(["run", "rectifier.net", "-o", "a.csv", "--quiet"]) == 0
    assert not (folder / "a.csv.part").exists()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_of_two_runs_that_begin_at_once_one_is_refused(folder, begun):
    """Neither folder was there when they began."""
    both = [begun("endless.net", "-o", "a.csv", "--checkpoint", "0.3") for _ in range(2)]
    until = time.monotonic() + 60.0
    while all(process.poll() is None for process in both) and time.monotonic() < until:
        time.sleep(0.01)
    (refused,) = [process for process in both if process.poll() is not None]
    (other,) = [process for process in both if process is not refused]
    assert refused.returncode == 2 and "E446" in refused.communicate()[1]
    stored(other, folder / "a.csv.part")
    other.terminate()
    other.communicate(timeout=60)
    assert other.returncode == 143 and np.isfinite(read(folder / "a.csv")["b.v"].values).all()


def test_short_runs_at_once_leave_one_whole_result(folder, begun):
    (folder / "short.net").write_text(RECTIFIER.replace("stop = 4 s", "stop = 0.2 s"))
    both = [begun("short.net", "-o", "a.csv") for _ in range(3)]
    assert [process.wait(60) for process in both] == [0, 0, 0]
    assert read(folder / "a.csv").sizes["time"] == 201
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "endless.net", "rectifier.net", "short.net"]
