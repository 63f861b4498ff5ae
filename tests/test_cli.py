"""The command line: what it prints, what it writes, how it ends."""

import contextlib
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netsim import cli
from netsim.commands import inspection
from netsim.library.files import find_netlist, models_folder
from netsim.results import files as results
from netsim.text.errors import coloured

RC = """use electrical
count n = 1
param resistance = 1 kOhm
src    voltage    (top, ground)  v = 1 V
r      resistor   (top, out)     R = n*resistance
c      capacitor  (out, ground)  C = 1 uF
start  out.v = 0 V
run    transient(stop = 5 ms, step = 10 us, method = euler)
save   out.v, src.i
plot   out.v
"""


@pytest.fixture
def netlist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rc.net").write_text(RC)
    return "rc.net"


def run(capsys, *arguments):
    try:
        status = cli.main(list(arguments))
    except SystemExit as stop:
        status = stop.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_run_writes_result_and_picture_and_sums_up(netlist, capsys):
    status, out, err = run(capsys, "run", netlist)
    assert (status, err) == (0, "")
    for words in (
        "rc.net: 3 elements, 2 nodes, 3 unknowns",
        "500 steps",
        "Newton iterations",
        "s CPU time",
        "at t = 5 ms",
        "energy: supplied",
        "wrote results/rc.csv",
    ):
        assert words in out
    assert re.search(r"out\.v +0\.993\d* V", out)
    assert sorted(os.listdir("results")) == ["rc.csv", "rc.png"]
    assert results.read("results/rc.csv")["out.v"].values[-1] == pytest.approx(0.9933, abs=1e-3)


def test_parameters_counts_and_options_override_the_netlist(netlist, capsys):
    status, _, _ = run(
        capsys, "run", netlist, "-p", "resistance=0.5 kOhm", "-p", "n=4", "--stop", "2 ms", "--step", "1e-6", "-o", "a/b.nc", "--plot", "svg"
    )
    data = results.read("a/b.nc")
    assert status == 0 and data.attrs["step"] == 1e-6 and data["time"].values[-1] == 0.002
    assert data["out.v"].values[-1] == pytest.approx(1 - 2.718281828**-1, rel=1e-3)  # n*R*C = 2 ms
    assert "out.v [" in Path("a/b.svg").read_text()


def test_options_of_all_runs_and_of_one(netlist, capsys):
    """`run.option` is for runs over time, a name for the line of that name; parameters of the netlist may stand in values."""
    Path(netlist).write_text(RC.replace("run    transient(", "run static()\nrun slow = transient(stop = 1 ms)\nrun transient("))
    more = ["--rtol", "1e-8", "--set", "run.sample=resistance*2 uF", "--set", "slow.method=bdf", "--json", "-o", "a.csv"]
    status, out, err = run(capsys, "run", netlist, *more)
    found = json.loads(out)
    assert (status, err) == (0, "") and len(found["files"]) == 3
    static, slow, last = found["runs"]
    assert (slow["method"], slow["rtol"], slow["time"]) == ("bdf", 1e-8, 1e-3) and last["method"] == "euler"
    assert static["analysis"] == "static" and last["last"]["out.v"] == pytest.approx(0.9933, abs=1e-3)
    assert last["energy"]["supplied"] > last["energy"]["stored"] > 0 and last["warnings"] == []


def test_quiet_prints_nothing_but_what_is_wrong(netlist, capsys):
    assert run(capsys, "run", netlist, "--quiet", "-o", "a.csv") == (0, "", "")
    Path(netlist).write_text(RC + "assert final(out.v) > 2 V\n")
    status, out, err = run(capsys, "run", netlist, "--quiet", "-o", "a.csv")
    assert (status, out) == (1, "") and "out.v" in err


def test_a_result_is_drawn_later(netlist, capsys):
    assert run(capsys, "run", netlist, "--quiet", "-o", "a.csv")[0] == 0
    assert run(capsys, "plot", "a.csv") == (0, "wrote a.png\n", "") and Path("a.png").stat().st_size > 5000
    status, out, _ = run(capsys, "plot", "a.csv", "out.v", "1000*src.i", "-o", "b.svg")
    picture = Path("b.svg").read_text()
    assert (status, out) == (0, "wrote b.svg\n") and "out.v" in picture and "src.i" in picture
    for arguments, code in ((["b.csv"], "E432"), (["a.csv", "out.w"], "E4"), (["a.csv", "out.v +"], "E1"), (["rc.net"], "E430")):
        status, out, err = run(capsys, "plot", *arguments)
        assert (status, out) == (2, "") and code in err and "Traceback" not in err, arguments


def test_a_new_netlist_runs_and_is_not_written_over(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "new", "first") == (0, "wrote first.net: run it with netsim run first.net\n", "")
    assert Path("first.net").read_text().startswith("# first.net -- ")
    assert run(capsys, "check", "first.net")[0] == 0
    assert run(capsys, "new", "first.net")[0] == 2 and run(capsys, "new", "nowhere/a")[0] == 2


def test_a_netlist_from_standard_input(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(RC.rstrip()))
    status, out, err = run(capsys, "run", "-", "-p", "n=4")
    assert (status, err) == (0, "") and "wrote results/stdin.csv" in out
    monkeypatch.setattr("sys.stdin", io.StringIO(RC.replace("resistor ", "resistr ")))
    status, out, err = run(capsys, "check", "-")
    assert status == 2 and "E226" in err


def test_a_result_alone_is_asked_for_with_o(netlist, capsys):
    assert run(capsys, "run", netlist, "-o", "only.csv")[0] == 0
    assert sorted(os.listdir()) == ["only.csv", "rc.net"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "rd.net"], "E100", "did you mean 'rc.net'?"),
        (["run", "rc.net", "-o", "a.cvs"], "E430", "'.csv'"),
        (["run", "rc.net", "--plot", "a.gif"], "E433", ".svg"),
        (["run", "rc.net", "-p", "resistanse=3"], "E236", "did you mean 'resistance'?"),
        (["run", "rc.net", "-p", "resistance"], "E237", "name=value"),
        (["run", "rc.net", "-p", "resistance=3 kg"], "E202", "'-p resistance'"),
        (["run", "rc.net", "-p", "n=1.5"], "E208", "'-p n'"),
        (["run", "rc.net", "--stop", "3 V"], "E202", "'--stop'"),
        (["run", "rc.net", "--step", "-1 ms"], "E423", "'step' must be positive (in '--step')"),
        (["run", "rc.net", "--method", "eular"], "E424", "did you mean 'euler'?"),
        (["run", "rc.net", "--max-step", "0"], "E423", "'max_step' must be positive (in '--max-step')"),
        (["run", "rc.net", "--set", "run.rtl=1e-6"], "E421", "did you mean 'rtol'?"),
        (["run", "rc.net", "--set", "rum.rtol=1e-6"], "E420", "did you mean 'run'?"),
        (["run", "rc.net", "--set", "run.rtol"], "E237", "--set run.rtol=1e-8"),
        (["run", "rc.net", "--rtol", "fine"], "E2", "'--rtol'"),
        (["run", "rc.net", "--quiet", "--json"], "not allowed", "--quiet"),
        (["run", "rc.net", "--stpo", "1"], "--stpo", "--stop"),
        (["run", "rc.net", "--meth", "euler"], "--meth", "--method"),
        (["show", "rc.net", "--stage", "matrix"], "invalid choice", "pattern"),
        (["list", "elektrical"], "E440", "did you mean 'electrical'"),
        (["lits"], "invalid choice", "list"),
        ([], "COMMAND", "usage: netsim"),
    ],
)
def test_a_mistake_ends_with_2_and_a_word_of_help(netlist, capsys, arguments, code, words):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "") and code in err and words in err and "Traceback" not in err
    assert os.listdir() == ["rc.net"] or os.listdir("results") == []


def test_several_mistakes_in_p_are_told_together(netlist, capsys):
    _, _, err = run(capsys, "check", netlist, "-p", "a", "-p", "resistance=3+")
    assert err.count("E237") == 2


def test_check_says_fine_or_shows_the_place(netlist, capsys):
    status, out, err = run(capsys, "check", netlist)
    assert (status, err) == (0, "") and re.fullmatch(r"rc\.net: fine \(3 elements, 2 nodes, 3 unknowns, index \d\)\n", out)
    Path(netlist).write_text(RC.replace("1 uF", "1 mm").replace("resistor ", "resistr "))
    status, out, err = run(capsys, "check", netlist)
    assert (status, out) == (2, "") and re.search(r"rc\.net:5:\d+: E226 .*'resistr'", err) and "hint: did you mean 'resistor'" in err


def test_a_failed_simulation_ends_with_1_and_keeps_the_part(netlist, capsys):
    Path(netlist).write_text(RC.replace("v = 1 V", "v = 1 V*sqrt((2 ms - time)/(1 ms))"))
    status, out, err = run(capsys, "run", netlist)
    assert status == 1 and re.search(r"E5\d\d", err) and "not finished" in out
    data = results.read("results/rc.csv")
    assert data.attrs["finished"] is False and data["time"].values[-1] == pytest.approx(2e-3, abs=2e-5)
    assert not data["out.v"].isnull().any()


@pytest.mark.parametrize("stage", cli.STAGES)
def test_every_stage_shows_itself(netlist, capsys, stage):
    status, out, err = run(capsys, "show", netlist, "--stage", stage)
    expected = {
        "syntax": "r resistor (top, out) R = n*resistance",
        "network": "r    resistor   (top, out)     R = 1000 Ohm",
        "structure": "out.v  1",
        "kernels": "capacitor",
        "system": "src.i",
        "pattern": "  src.i   3 #..",
    }
    assert (status, err) == (0, "") and expected[stage] in out


def test_stages_are_those_of_show():
    from netsim.output.show import STAGES

    assert cli.STAGES == STAGES


def test_the_pattern_of_a_big_system_is_shaded(netlist, capsys):
    _, out, _ = run(capsys, "show", "rc_ladder", "-p", "n=200", "--stage", "pattern")
    picture = [line for line in out.splitlines() if line.startswith("  |")]
    assert "4 x 4" in out and len(picture) == 51 and all(row[3 + k] == "#" for k, row in enumerate(picture[:50]))


def test_list_tells_of_domains_and_components(capsys):
    _, out, _ = run(capsys, "list")
    assert "electrical: across v [V], through i [A]" in out and "linear spring" in out
    _, out, _ = run(capsys, "list", "translational")
    assert re.search(r"across +v +m/s +velocity", out) and re.search(r"mass +\(p\)", out) and "resistor" not in out
    _, out, _ = run(capsys, "list", "resistor")
    assert re.search(r"R +Ohm +> 0 +must be given +resistance", out) and "i = v/R" in out


def test_models_of_the_library_are_listed(capsys):
    assert re.search(r"planar_flexible_link +\(base, tip\)", run(capsys, "list", "planar")[1])
    _, out, _ = run(capsys, "list", "planar_flexible_link")
    assert re.search(r"elements +count", out) and re.search(r"EI +N.m2 +> 0 +default E\*I", out) and "planar_floating_end" in out


def test_a_shipped_model_is_found_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_netlist("two_masses") == models_folder() / "two_masses.net"
    assert find_netlist("models/two_masses.net") == models_folder() / "two_masses.net"
    assert find_netlist("models/tripod/stage4.net") == models_folder() / "tripod" / "stage4.net"
    (tmp_path / "rc.net").write_text(RC)
    assert str(find_netlist("rc.net")) == "rc.net"


def test_colours_change_no_letter():
    text = "a.net:1:2: E302 node 'mid' has no path\n    1 | c1 capacitor\n      |    ^^ here\n      = hint: tie it"
    shown = coloured(text)
    assert re.sub("\x1b\\[[0-9;]*m", "", shown) == text
    assert "\x1b[1;31mE302\x1b[0m" in shown and "\x1b[31m^^ here\x1b[0m" in shown and "\x1b[32mhint:\x1b[0m" in shown


def test_an_internal_error_asks_for_a_report(netlist, capsys, monkeypatch):
    monkeypatch.setattr(inspection, "load_model", lambda *_: 1 / 0)
    monkeypatch.delenv("NETSIM_DEBUG", raising=False)
    status, _, err = run(capsys, "check", netlist)
    assert status == 1 and "internal error: ZeroDivisionError" in err and "please report" in err and "Traceback" not in err
    monkeypatch.setenv("NETSIM_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["check", netlist])


def netsim(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "netsim.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_help_answers_at_once():
    """It imports Python's own library and small files of ours: neither numpy nor anything else that takes time."""
    code = """
import sys
before = set(sys.modules)
from netsim import cli
try:
    cli.main(["--help"])
except SystemExit:
    pass
new = set(sys.modules) - before
ours = sorted(name for name in new if name.startswith("netsim.") and ".commands" not in name)
print(sorted({name.partition(".")[0] for name in new} - sys.stdlib_module_names), ours)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "usage: netsim" in shown
    light = ["netsim.cli", "netsim.text", *(f"netsim.text.{name}" for name in ("collecting", "errors", "limits", "roots"))]
    assert shown.splitlines()[-1] == f"['netsim'] {light}"


def test_ctrl_c_keeps_the_part_and_says_so(netlist):
    ours, theirs = pty.openpty()  # on a terminal the progress bar tells when the time loop runs
    arguments = [sys.executable, "-m", "netsim.cli", "run", netlist, "--stop", "5000 s", "--step", "1 ms", "-o", "part.csv"]
    listens = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}  # started in the background, we may be deaf to it
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=theirs, **listens)
    os.close(theirs)
    shown = b""
    while not re.search(rb"[1-9]%", shown):  # of the run; "steps/s" may stand there before the first of them
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # how a terminal says that the other side has gone
        while piece := os.read(ours, 4096):
            shown += piece
    assert process.wait(timeout=60) == 130 and b"interrupted at t = " in shown and b"Traceback" not in shown
    data = results.read("part.csv")
    assert data.attrs["finished"] is False and 0 < data["time"].values[-1] < 5000 and (data["out.v"].values >= 0).all()


def test_a_reader_that_stops_reading_is_no_error():
    process = netsim("list")
    process.stdout.close()
    assert process.wait(timeout=60) == 0 and "Traceback" not in process.stderr.read()


def test_a_terminal_is_told_of_the_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run on a computer compiles for seconds: the line that says `preparing` says why."""
    from netsim.core.compiled import objects
    from netsim.results.progress import progress_on

    monkeypatch.setenv("TERM", "xterm")
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    with progress_on(terminal) as report:
        assert report is not None
        for told in objects.translating:
            told("a function")
        until = time.monotonic() + 30  # the line is drawn ten times a second
        while "compiling machine code" not in terminal.getvalue() and time.monotonic() < until:
            time.sleep(0.05)
    assert "compiling machine code" in terminal.getvalue()
