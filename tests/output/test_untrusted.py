"""A netlist from anywhere: its texts and names stay texts in every output, and it chooses neither what is run nor where is written."""

import ast
import html
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.cli import main
from netsim.commands.creation import SHELLS
from netsim.output.animate import page_text
from netsim.output.scene import Scene
from netsim.results.files import write, write_atomically
from netsim.text.errors import InputError

PACKAGE = Path(netsim.__file__).parent
EVIL = r"</script><script>alert(1)</script><img src=x onerror=alert(1)> =cmd|' /C calc'!A1 $(touch pwned) `touch pwned` {{scene}} $\\frac{1}$"
QUOTED = EVIL.replace("\\", "")
NETLIST = f"""use spatial
world gravity = [0, 0, -9.81] m/s2
param L : m = 1 m "{QUOTED}"
b1 body (rod) m = 1 kg, I = diag(0, 1/12, 1/12) kg.m2, at = [L/2, 0 m, 0 m]
j1 revolute (ground, rod) at = [0, 0, 0] m, axis = [0, 1, 0]
measure far = max(abs(j1.q)) "{QUOTED}"
assert far < 1e-3 "{QUOTED}"
run swing = transient(stop = 20 ms, sample = 10 ms)
run again = transient(stop = 20 ms, sample = 10 ms)
save j1.q, -j1.q
plot j1.q, -j1.q
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    return tmp_path


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_netlist_writes_where_the_user_says_and_nowhere_else(here, capsys):
    """All outputs at once: results of two named runs, pictures, the page. Its texts appear as texts."""
    name = "work/$(touch pwned) <b>.net"
    Path(name).write_text(NETLIST)
    status = main(["run", name, "-o", "out/r.csv", "--plot", "out/p.svg", "--animate", "out/a.html"])
    said = capsys.readouterr()
    assert status == 1 and "E514" in said.err  # the assertion does not hold
    assert files(here) == {name, "out/r-swing.csv", "out/r-again.csv", "out/p.svg", "out/a.html"}
    page = Path("out/a.html").read_text()
    assert "<img src=x" not in page and page.count("<script") == page_of("plain").count("<script")
    header = Path("out/r-swing.csv").read_text().splitlines()[0]
    assert header == "time [s],j1.q [rad],-j1.q [rad]"
    assert all(line.startswith("#") or line[0].isdigit() for line in Path("out/r-swing.csv").read_text().splitlines()[1:])
    assert main(["run", name, "-o", "out/r.nc", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)
    assert main(["show", name, "-o", "out/d.svg"]) == 0 and "<img" not in Path("out/d.svg").read_text()
    assert files(here) == {name, "out/r-swing.csv", "out/r-again.csv", "out/p.svg", "out/a.html", "out/r.nc", "out/d.svg"}


@pytest.mark.parametrize("name", ["../up", "a/b", "/tmp/x", "..", "a\\b", "$(x)", "a b"])
def test_names_of_runs_are_no_paths(name):
    """They become parts of file names."""
    with pytest.raises(InputError, match="E1"):
        netsim.load(NETLIST.replace("run swing", f"run {name}"))


def test_names_of_data_sets_are_no_paths_either(here):
    """Also where they come from Python."""
    runs = netsim.load(NETLIST.replace("assert", "# assert")).run()
    data = [each.assign_attrs(name=f"../{name}") for name, each in runs.items()]
    with pytest.raises((InputError, ValueError)):
        write(data, here / "work/r.csv")
    assert files(here) == set()


def test_tables_of_notebooks_escape_texts():
    model = netsim.load(NETLIST)
    shown = model.parameters._repr_html_() + model._repr_html_()
    assert "&lt;img src=x" in shown and "<img" not in shown and "<script" not in shown


@pytest.mark.parametrize("signal", ["$\\frac$", "<b>&", "</svg>"])
def test_labels_of_pictures_are_plain_texts(here, signal):
    """A dollar begins no formula, which could be wrong; results that are drawn may come from anywhere."""
    (here / "r.csv").write_text(f"time [s],{signal} [m],b [s]\n0,1,2\n1,2,3\n")
    assert main(["plot", "r.csv", "-o", "p.svg"]) == 0
    assert html.escape(signal, quote=False) in (here / "p.svg").read_text()


def test_a_title_of_a_page_is_a_text():
    page = page_of("</title><script>alert(1)</script>{{viewer}}")
    assert page.count("<script") == page_of("plain").count("<script") and "{{viewer}}" in page


def page_of(title):
    return page_text(Scene(title, np.zeros(1), ()))


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(here, monkeypatch):
    """Whoever may write the folder of results chooses no other file to be written."""
    monkeypatch.setattr(os, "urandom", lambda n: bytes(n))
    (here / "victim").write_text("mine")
    (here / "work" / f".r-{bytes(6).hex()}.csv").symlink_to(here / "victim")
    with pytest.raises(InputError, match="E431"):
        write_atomically(here / "work/r.csv", lambda path: path.write_text("yours"))
    assert (here / "victim").read_text() == "mine"


def test_what_shells_complete_is_not_run(here):
    """bash expands the words of `compgen -W`: they are compared here."""
    (here / "netsim").write_text("#!/bin/sh\necho '$(touch pwned)'\necho '`touch pwned`'\necho 'a b'\n")
    (here / "netsim").chmod(0o755)
    script = SHELLS["bash"] + "COMP_WORDS=(netsim list '') COMP_CWORD=2\n_netsim\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env={"PATH": f"{here}:{os.environ['PATH']}"})
    assert done.stdout.splitlines() == ["$(touch pwned)", "`touch pwned`", "a b"]
    assert files(here) == {"netsim"}


def test_names_of_a_netlist_are_no_code(compiled_texts):
    """What LLVM compiles and what Python executes holds no name of a netlist."""
    text = NETLIST.replace("j1", "__import__").replace("b1", "exit").replace("far", "define")
    model = netsim.load(text)
    assert model.machine is not None
    assert compiled_texts and not any(word in each for each in compiled_texts for word in ("__import__", "exit", "rod"))


@pytest.fixture
def compiled_texts(monkeypatch):
    from netsim.equations.kernels import addresses, native

    texts = []
    original = native.module_text
    monkeypatch.setattr(addresses, "_native", {})
    monkeypatch.setattr(native, "file_of", lambda program, level, by: f"of-nobody-{program.digest}")  # none is known
    monkeypatch.setattr(native.store, "write_code", lambda file, index, code: None)
    monkeypatch.setattr(native, "module_text", lambda program: texts.append(original(program)) or texts[-1])
    return texts


def test_files_are_opened_for_writing_in_five_places():
    """Results and pictures by `write_atomically`, rows and states of a run, the beginnings of `netsim new`, the netlist
    of a fit, entries of the cache."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                words = [a.value for a in node.args if isinstance(a, ast.Constant)]
                if node.func.attr in ("write_text", "write_bytes", "savefig", "to_netcdf", "to_csv", "mkstemp", "symlink_to") or (
                    node.func.attr in ("open", "fdopen") and any(str(word).startswith(("w", "a", "x")) for word in words)
                ):
                    found.add(file.relative_to(PACKAGE).as_posix())
    formats = {"formats/csv.py", "formats/netcdf.py", "formats/touchstone.py", "output/animate.py", "output/diagram.py", "results/plots.py"}
    stored = {f"results/partial/{name}.py" for name in ("container", "recording", "rows")}
    assert found == formats | stored | {"analyses/many/fit.py", "commands/creation.py", "text/kept/cache.py"}
