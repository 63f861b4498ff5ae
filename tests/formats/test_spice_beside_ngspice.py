"""Circuits with every device that netsim reads from SPICE beside ngspice in one run: the bounds of `benchmarks/small_signals.py`, whose table
docs/spice.md shows."""

import importlib
from pathlib import Path

import pytest

from ngspice_runs import NGSPICE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DEVICES = "rclkviefghbdqjzmswtoyux"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("small_signals")


def names():
    text = (BENCHMARKS / "small_signal_decks.py").read_text(encoding="utf-8")
    return [line.removeprefix("* ") for line in text.splitlines() if line.startswith("* ")]


@NGSPICE
@pytest.mark.parametrize("name", names())
def test_small_signals_and_curves(name, script, tmp_path):
    """`.ac` to 1e-9, `.dc` to 1e-6, `.noise` to 1e-4, `.tf` and `.pz` to 1e-8, but for what the script tells with a reason."""
    found = script.differences(name, tmp_path)
    assert set(found) >= {".ac", ".dc", ".noise", ".tf"}
    assert {a: d for a, d in found.items() if not d <= script.bound_of(name, a)} == {}


def test_every_device_is_there(script):
    lines = [line for circuit in script.CIRCUITS.values() for line in circuit.splitlines()]
    assert len(script.CIRCUITS) >= 15
    assert {line[0] for line in lines if line[0].isalpha()} == set(DEVICES)
    assert set(script.EXCEPT) | set(script.INSTEAD) <= set(script.CIRCUITS)
