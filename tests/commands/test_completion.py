"""Words that shells offer, and the scripts by which they ask for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netsim import cli
from netsim.commands.creation import SHELLS
from netsim.library.places import VARIABLE

NET = """use electrical
param resistance = 1 kOhm
count n = 2
include "more.inc"
r resistor (a, ground) R = n*resistance
"""


def offered(capsys, *words):
    """The candidates for the last word."""
    assert cli.main(["complete", "--", *words]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "among", "not_among"),
    [
        ([""], {"run", "list", "info", "completion"}, {"complete", "--help"}),
        (["--"], {"--help", "--version"}, {"run"}),
        (["run", "two"], {"two_masses"}, {"rc", "broken/opens_in_mid_run"}),
        (["run", "tripod/"], {"tripod/stage1"}, {"two_masses"}),
        (["run", "rc", "--m"], {"--method", "--max-step"}, {"--stop"}),
        (["run", "rc", "--method", ""], {"radau", "bdf"}, {"rc"}),
        (["run", "rc", "--set", "run.f"], {"run.forces=", "run.formulation="}, {"run.stop="}),
        (["list", "torsion"], {"torsion_spring"}, {"spring"}),
        (["list", "--use", ""], set(), {"spring"}),
        (["show", "--stage", ""], {"syntax", "pattern"}, {"two_masses"}),
        (["completion", ""], set(SHELLS), set()),
        (["unknown", ""], set(), {"run"}),
    ],
)
def test_the_words_that_may_follow(capsys, words, among, not_among):
    found = set(offered(capsys, *words))
    assert among <= found and not found & not_among
    assert all(word.startswith(words[-1]) for word in found)


def test_parameters_of_the_netlist_are_offered(capsys, tmp_path):
    (tmp_path / "a.net").write_text(NET)
    (tmp_path / "more.inc").write_text("param length = 1 m\n")
    assert offered(capsys, "run", str(tmp_path / "a.net"), "-p", "") == ["length=", "n=", "resistance="]
    (tmp_path / "a.net").write_text("r resistor (")  # a mistake offers nothing and says nothing
    assert offered(capsys, "run", str(tmp_path / "a.net"), "-p", "") == []


def test_own_libraries_are_offered(capsys, tmp_path, monkeypatch):
    (tmp_path / "mine.lib").write_text("component gap_spring (p, n : translational)\nend\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert offered(capsys, "list", "gap_s") == ["gap_spring"]


ASKED = {
    "bash": ["COMP_WORDS=(netsim run two_masses {}) COMP_CWORD=3", "_netsim", 'printf "%s\\n" "${{COMPREPLY[@]}}"'],
    "zsh": ["words=(netsim run two_masses {}) CURRENT=4", "_netsim"],
    "fish": ['complete -C "netsim run two_masses {}"'],
}
BEFORE = {"zsh": "compdef() {}\n_files() {}\ncompadd() { shift ${@[(i)--]}; print -rl -- $@ }\n"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_a_line(shell, tmp_path):
    """The script, in the shell itself: what it would show behind `netsim run two_masses --meth`."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "netsim").write_text(f'#!/bin/sh\nexec {sys.executable} -m netsim "$@"\n')
    (tmp_path / "netsim").chmod(0o755)
    script = BEFORE.get(shell, "") + SHELLS[shell] + "\n".join(ASKED[shell]).format("--meth")
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    command = [shell, *(["-f"] if shell == "zsh" else []), "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **paths}, cwd=tmp_path)
    assert done.stdout.split() == ["--method"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(capsys, shell):
    assert cli.main(["completion", shell]) == 0
    assert "netsim complete --" in capsys.readouterr().out
