"""`--resume` where something has changed since the run was ended: what differs is told, and nothing is mixed."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from netsim import cli
from netsim.results.files import read
from netsim.results.partial.container import read_tree, write_tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

NETLIST = """use electrical
include "load.net"
count n = 2
param U = 10 V
v1 voltage (a, ground) v = U*sin(2*pi*50/(1 s)*time) + table("drive.csv", time, "y", outside = hold)
d1 ideal_diode (a, b) Ron = 1 Ohm
c1 capacitor (b, ground) C = 10 uF
r[k] resistor (b, ground) R = 1 kOhm for k in 1..n
measure largest = max(b.v, from = 10 ms)
save b.v, integral(c1.i)
run short = transient(stop = 4 s, sample = 1 ms)
run long = transient(stop = 100 s, sample = 1 ms)
"""
LOAD = "r0 resistor (b, ground) R = 100 Ohm\n"
DRIVE = "time [s],y [V]\n0,0\n1,1\n2,0\n"
"""The files of the run."""
COMMAND = [sys.executable, "-m", "netsim", "run", "a.net", "-o", "a.csv", "--checkpoint", "0.05", "--quiet"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A folder with a run that was ended after states were written."""
    folder = tmp_path_factory.mktemp("ended")
    for name, text in (("a.net", NETLIST), ("load.net", LOAD), ("drive.csv", DRIVE)):
        (folder / name).write_text(text)
    process = subprocess.Popen(COMMAND, cwd=folder, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 100.0
    while rows_of_state(folder) < 100 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 143, told
    return folder


def rows_of_state(folder):
    state = folder / "a.csv.part" / "2.state"
    return min(read_tree(state)["rows"]) if state.exists() else 0


@pytest.fixture
def folder(ended, tmp_path, monkeypatch):
    shutil.copytree(ended, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def resumed(*more):
    return cli.main(["run", "a.net", "-o", "a.csv", "--quiet", "--resume", *more])


def edited(file, old, new):
    def edit(folder):
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return edit


def state_with(**changes):
    def edit(folder):
        path = folder / "a.csv.part" / "2.state"
        tree = read_tree(path)
        write_tree(path, {**tree, "identity": {**tree["identity"], **changes}})

    return edit


def cut(name, size):
    def edit(folder):
        path = folder / "a.csv.part" / name
        os.truncate(path, size if size >= 0 else path.stat().st_size // 2)

    return edit


def without(name):
    return lambda folder: (folder / "a.csv.part" / name).unlink()


def damaged(name, share=0.5):
    def edit(folder):
        path = folder / "a.csv.part" / name
        content = bytearray(path.read_bytes())
        content[int(share * len(content))] ^= 1
        path.write_bytes(bytes(content))

    return edit


CHANGES = {
    "a parameter's value": (edited("a.net", "U = 10 V", "U = 11 V"), [], "another netlist"),
    "an element more": (edited("a.net", "save b.v", "r9 resistor (a, b) R = 1 MOhm\nsave b.v"), [], "another netlist"),
    "an element less": (edited("a.net", "d1 ideal_diode (a, b) Ron = 1 Ohm", "d1 resistor (a, b) R = 1 Ohm"), [], "another netlist"),
    "other samples": (edited("a.net", "100 s, sample = 1 ms", "100 s, sample = 2 ms"), [], "another netlist"),
    "another signal": (edited("a.net", "save b.v", "save b.v, c1.i"), [], "another netlist"),
    "lines in another order": (edited("a.net", "run short", "run brief"), [], "another netlist"),
    "the value in a file that is included": (edited("load.net", "100 Ohm", "101 Ohm"), [], "with other values of parameters"),
    "an element in a file that is included": (
        edited("load.net", "r0", "r8 resistor (a, b) R = 1 MOhm\nr0"),
        [],
        "with another network: a count, or a file that is included",
    ),
    "a table": (edited("drive.csv", "1,1", "1,2"), [], "or in tables"),
    "a parameter from the command line": (None, ["-p", "U=11 V"], "with other values of parameters"),
    "a count from the command line": (None, ["-p", "n=3"], "with another network: a count, or a file that is included"),
    "samples from the command line": (None, ["--set", "long.sample=2 ms"], "with other options"),
    "the end": (None, ["--stop", "50"], "with other options"),
    "the method": (None, ["--method", "bdf"], "with other options"),
    "a tolerance": (None, ["--rtol", "1e-7"], "with other options"),
    "another version": (state_with(version="0.0.9"), [], "of a run of version 0.0.9, and this is version 0.1.0"),
    "a state without a version": (state_with(version=""), [], "version"),
    "rows that are cut": (cut("2.rows", -1), [], "'a.csv.part/2.rows' is shorter than its state says"),
    "rows that are missing": (without("2.rows"), [], "'a.csv.part/2.rows' is shorter than its state says"),
    "a trace that is cut": (cut("2.trace", -1), [], "'a.csv.part/2.trace' is shorter than its state says"),
    "a trace that is missing": (without("2.trace"), [], "'a.csv.part/2.trace' is shorter than its state says"),
    "a state that is cut": (cut("2.state", -1), [], "'a.csv.part/2.state' cannot be read: it is damaged"),
    "a state that is empty": (cut("2.state", 0), [], "cannot be read: it is no state of a run"),
    "rows with a turned bit": (damaged("2.rows", 0.1), [], "'a.csv.part/2.rows' is damaged: its checksum"),
    "a trace with a turned bit": (damaged("2.trace", 0.1), [], "'a.csv.part/2.trace' is damaged: its checksum"),
    "a state that is damaged": (damaged("2.state"), [], "cannot be read: it is damaged"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_is_told(folder, capsys, change):
    edit, more, told = CHANGES[change]
    if edit:
        edit(folder)
    before = files_of(folder)
    assert resumed(*more) == 2
    said = capsys.readouterr().err
    assert "E443" in said and told in said, said
    assert "run without --resume to begin anew, which removes 'a.csv.part'" in said
    assert files_of(folder) == before, "what is there stays"


def test_a_state_that_is_missing_is_made_again(folder, ended, capsys):
    """The first run is done again, the second one goes on from its state: both have the bits that were there."""
    without("1.state")(folder)
    process = subprocess.Popen([*COMMAND, "--resume"], cwd=folder, stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 143, told
    for name in ("short", "long"):
        former, now = read(ended / f"a-{name}.csv"), read(folder / f"a-{name}.csv")
        n = former.sizes["time"]
        assert now.sizes["time"] >= n and (now["b.v"].values[:n] == former["b.v"].values).all()


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
