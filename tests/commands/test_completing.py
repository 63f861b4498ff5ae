"""Words that shells offer, and the scripts by which they ask for them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netsim import cli
from netsim.commands.making import SHELLS
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


def test_bash_completes_a_line(tmp_path):
    """The script, in the shell itself: what bash would show behind `netsim run two_masses --meth`."""
    (tmp_path / "netsim").write_text(f'#!/bin/sh\nexec {sys.executable} -m netsim "$@"\n')
    (tmp_path / "netsim").chmod(0o755)
    script = SHELLS["bash"] + 'COMP_WORDS=(netsim run two_masses --meth) COMP_CWORD=3\n_netsim\necho "${COMPREPLY[@]}"\ncomplete -p netsim\n'
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, **paths})
    assert done.stdout.splitlines() == ["--method", "complete -o default -F _netsim netsim"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(capsys, shell):
    assert cli.main(["completion", shell]) == 0
    assert "netsim complete --" in capsys.readouterr().out
