"""Every script of benchmarks/ runs to its end with small sizes: its imports hold, and what it calls exists. Figures are not judged."""

import importlib
import importlib.util
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from netsim.text.kept.cache import cache_folder

FOLDER = Path(__file__).parents[2] / "benchmarks"
PARTS = {"netlists", "ngspice_decks", "peers", "run", "small_signal_decks"}
"""Scripts without a report of their own: what others use, and all of them in a row."""

CHARGE = """
use electrical
v1 voltage   (a, ground) v = 1 V*sin(time/(1 s))
r1 resistor  (a, b)      R = 1 Ohm
c1 capacitor (b, ground) C = 1 F
save b.v
"""
SMALL = {
    "arm": {"rtols": (1e-3, 1e-4), "wanted_errors": (1e-3,), "repeats": 1},
    "beside": {"other": FOLDER.parent, "netlists": [FOLDER.parent / "models" / "rc.net"], "repeats": 1},
    "building": {"sections": 20, "repeats": 1},
    "chain": {"sizes": {2: 40, 4: 40}, "compared": (2,), "steps_compared": 40},
    "cmos": {"tolerances": {"radau": (1e-2,)}, "reltols": (1e-3,), "finest": 1e-2},
    "digital": {"names": ("adder 4",), "rtols": {"trbdf2": (1e-2,)}, "reltols": (1e-3,), "finest": 1e-2},
    "integrators": {"sections": 20, "repeats": 1, "few": True},
    "interruptions": {"count": 1, "commands": ("list",)},
    "ladder": {"sizes": {100: 40, 120: 40}, "repeats": 1, "frequencies": 20},
    "many": {"sections": (1,), "cases": 3, "parameters": (2,), "ladders": (3,), "repeats": 1, "lanes": (2, 6), "steps": (2, 6, 20)},
    "memory": {"sections": 10, "steps": 20},
    "newmark": {"steps": (0.1,), "repeats": 1, "peer_step": 0.05, "finest": 1e-4},
    "ngspice_files": {"only": "filter", "most": 1},
    "optimal": {"names": ("optimal/double_integrator.net", "optimal/passive_elbow.net"), "intervals": 4},
    "periodic": {"netlists": {"charge": CHARGE}},
    "recursion": {"sizes": (4, 16, 32), "budget": 1e-4, "turn": 100},
    "repeat": {"repeats": 1, "count": 2, "stops": (6e-3,)},
    "shapes": {"choices": (("guided", 1),)},
    "small_signals": {"names": ("ladder", "mesfet")},
    "spice": {"names": ("rc_ladder_10",), "ours": {"radau": (1e-2, 1e-3)}, "theirs": {"": (1e-2, 1e-3)}, "repeats": 1},
    "startup": {"repeats": 1, "first": ("two_masses",), "lines": 20, "cache": str(cache_folder("machine_code").parent)},
    "superelements": {"sizes": (2, 64, 96), "budget": 1e-4},
    "stepping": {"steps": 30},
    "switching": {"periods": 20, "tolerances": (1e-4,), "inverted": 5e-4, "filtered": 1.5, "others": (1e-4,), "finest": 1e-5},
    "survival": {"kills": 1, "full": 1, "netlists": ("steps",), "share": 0.05},
    "tripod": {"steps": 150, "repeats": 1},
    "work_precision": {"names": ("transistor_amplifier",), "methods": ("radau",), "tolerances": (1e-3,)},
}
"""The arguments of each script's `report`."""
OTHERS = {"beams", "beam_elements"}
"""Tested below by their own functions."""


@pytest.fixture
def script(monkeypatch):
    """Imports a script as `python benchmarks/NAME.py` would."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_every_script_is_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*SMALL, *OTHERS, *PARTS}


@pytest.mark.parametrize("name", SMALL)
def test_report(name, script, capsys):
    module = script(name)
    if name == "arm":
        pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'netsim-acausal[robots]'")
    module.report(**SMALL[name])
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_all_reports_run_in_a_row_without_arguments(script):
    run = script("run")
    for topic in run.TOPICS:
        assert all(each.default is not inspect.Parameter.empty for each in inspect.signature(topic.report).parameters.values()), topic
    assert run.machine_description().count("numba") == 1


def test_the_methods_on_flexible_pendulums(script, capsys, tmp_path):
    beams = script("beams")
    beams.compare(0.02, str(tmp_path / "beams.png"), [(1, 1)], (1e-1, 1e-3))
    said = capsys.readouterr().out
    assert all(method in said for method in beams.METHODS) and (tmp_path / "beams.png").exists()


def test_the_growth_of_a_step_and_the_links_of_the_recursion(script, capsys):
    elements = script("beam_elements")
    elements.growth((1, 2, 3), ("bdf",))
    assert "grows like" in capsys.readouterr().out
    seconds, found = elements.recursive(0.05, 1, {"rtol": 1e-2})
    assert seconds > 0 and found.shape == (2, 6)


def test_two_links_beside_exudyn(script, capsys):
    pytest.importorskip("exudyn", reason="Exudyn is not installed: pip install exudyn")
    script("beam_elements").beside(0.02, most=1)
    assert "least CPU time" in capsys.readouterr().out


def test_pictures_are_drawn(script, tmp_path):
    precision, superelements, shapes = (script(name) for name in ("work_precision", "superelements", "shapes"))
    given = precision.problem("andrews")
    precision.draw({"andrews": (given, [precision.Point("radau", 1e-3, 4.0, 10, 30, 0.1)])}, tmp_path / "precision.svg")
    superelements.draw(str(tmp_path / "superelements.png"), (1, 2), ["1 link"], np.array([[1.0], [2.0]]))
    run = SimpleNamespace(time=np.arange(3.0), series=lambda name: np.arange(3.0))
    shapes.draw({("guided", 2): run, ("clamped_free", 3): run}, str(tmp_path / "shapes.png"))
    assert {path.stem for path in tmp_path.iterdir()} == {"precision", "superelements", "shapes"}
