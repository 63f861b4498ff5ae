"""Libraries of one's own: folders of NETSIM_PATH, and of packages that name theirs by an entry point."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import netsim
from netsim.library.files import library_names
from netsim.library.places import VARIABLE

TWICE = """use electrical
component twice (p, n : electrical) "conductance by two"
  param  G : S > 0
  branch p -> n : v, i
  i = {factor}*G*v
end
"""
NET = "use electrical\nuse mine\ns voltage (a, ground) v = 3 V\nr twice (a, ground) G = 1 S\nrun static()\nsave r.i\n"


def current():
    (samples,) = netsim.load(NET).samples()
    return samples.series("r.i")[0]


def test_a_folder_of_the_path_has_libraries(tmp_path, monkeypatch):
    """A file NAME.lib or a folder NAME of such; the first folder that has the library wins, and a missing folder is no mistake."""
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "other").mkdir(parents=True)
    (second / "mine").mkdir(parents=True)
    (second / "mine" / "twice.lib").write_text(TWICE.format(factor=2))
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(tmp_path / "missing"), str(first), str(second)]))
    assert current() == pytest.approx(6.0) and "mine" in library_names()
    (first / "mine.lib").write_text(TWICE.format(factor=4))
    assert current() == pytest.approx(12.0)


def test_a_shipped_library_is_found_first(tmp_path, monkeypatch):
    (tmp_path / "electrical.lib").write_text("nonsense\n")
    (tmp_path / "mine.lib").write_text(TWICE.format(factor=2))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert current() == pytest.approx(6.0)


def test_a_library_that_is_nowhere_is_told_with_those_there_are(tmp_path, monkeypatch):
    (tmp_path / "mind.lib").write_text(TWICE.format(factor=2))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(netsim.InputError, match="E220 no library 'mine'") as caught:
        netsim.load(NET)
    assert caught.value.problems[0].hint == "did you mean 'mind'?"


def test_a_component_of_the_path_is_hinted_at(tmp_path, monkeypatch):
    (tmp_path / "mine.lib").write_text(TWICE.format(factor=2))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(netsim.InputError) as caught:
        netsim.load(NET.replace("use mine\n", ""))
    assert caught.value.problems[0].hint == "add the line: use mine"


def test_an_installed_package_names_its_folder(tmp_path):
    """A distribution with an entry point, as pip would lay it down; another one whose package is gone."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "mine.lib").write_text(TWICE.format(factor=5))
    (tmp_path / "parts" / "__init__.py").write_text("raise RuntimeError('it need not be imported')\n")
    for name, package in (("parts", "parts"), ("gone", "gone.libraries")):
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[netsim.libraries]\n{name} = {package}\n")
    code = f"import netsim; print(netsim.load({NET!r}).samples()[0].series('r.i')[0])"
    paths = os.pathsep.join([str(tmp_path), str(Path(netsim.__file__).parents[1])])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths})
    assert float(done.stdout) == pytest.approx(15.0)
    environment = {**os.environ, "PYTHONPATH": paths, "NETSIM_PATH": str(tmp_path)}
    told = subprocess.run([sys.executable, "-m", "netsim", "info"], capture_output=True, text=True, check=True, env=environment).stdout
    assert told.splitlines()[-2:] == [f"  NETSIM_PATH        {tmp_path}", f"  entry point parts  {tmp_path / 'parts'}"]
