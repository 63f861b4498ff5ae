"""Published problems of the Test Set for IVP Solvers: consistent starts, and digits at the end beside the best published run at each tolerance."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.library import models_folder

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "work_precision.py"
spec = importlib.util.spec_from_file_location("work_precision", SCRIPT)
work_precision = sys.modules["work_precision"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(work_precision)

DIGITS = {
    ("transistor_amplifier", 1e-10): 9.0,
    ("andrews", 1e-10): 8.5,
}
"""Where the Test Set has no run at a tolerance."""


@pytest.mark.parametrize("name", work_precision.NAMES)
def test_starts_are_the_published_ones(name):
    """To 1e-12 of their size, also currents (which are rates of voltages) and multipliers."""
    given = work_precision.problem(name)
    result = work_precision.loaded(name).transient(stop=1e-3 * given.stop, save=list(given.start))
    for signal, value in given.start.items():
        assert abs(float(result[signal][0]) - value) <= 1e-12 * max(abs(value), 1.0), signal


def test_forces_at_the_start_of_the_squeezer():
    """The published lambda: 98.567 N and -6.123 N at the first of the three pins at E, none at the others."""
    model = netsim.load(models_folder() / "benchmarks/andrews.net")
    pins = {"pE3": (98.56687039624109, 6.122688344255662), "pE4": (0.0, 0.0), "pE6": (0.0, 0.0)}
    result = model.transient(stop=1e-4, save=[f"{pin}.force" for pin in pins])
    for pin, forces in pins.items():
        found = [abs(float(result[f"{pin}.force.{axis}"][0])) for axis in "xy"]
        assert np.abs(np.array(found) - forces).max() < 1e-9


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("name", work_precision.NAMES)
def test_digits_of_the_default_method(name, rtol):
    """As many as the best published run, less 0.3."""
    given = work_precision.problem(name)
    best = given.best(rtol)
    least = DIGITS[name, rtol] if best is None else best - 0.3
    assert work_precision.measured(work_precision.loaded(name), given, "radau", rtol).digits >= least
