"""Circuits against waveforms of ngspice at tight tolerance (tests/reference/spice), within their accuracy: rms over rms, at their own instants."""

from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder

FOLDER = Path(__file__).parents[1] / "reference" / "spice"
CASES = [
    ("diode_bridge", "diode_bridge.net", "dc.v", 1e-5),
    ("flyback", "benchmarks/flyback.net", "o1.v", 8e-5),
    ("flyback", "benchmarks/flyback.net", "s2.v", 8e-5),
]


@pytest.mark.parametrize(("name", "file", "signal", "allowed"), CASES)
def test_waveform(name, file, signal, allowed):
    """The first column after the time is the output; ngspice's own error is 3e-6 (bridge) and 4e-5 (flyback)."""
    data = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", names=True, deletechars="")
    column = {"dc.v": "v(p)", "o1.v": "v(o1)", "s2.v": "v(s2)"}[signal]
    times, wanted = data["time"], data[column]
    result = netsim.load(models_folder() / file).transient(stop=times[-1], rtol=1e-4, sample=times[-1] / 4000, save=[signal])
    found = np.interp(times, result["time"], result[signal])
    assert np.sqrt(np.mean((found - wanted) ** 2) / np.mean(wanted**2)) < allowed
