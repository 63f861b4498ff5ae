"""Examples of the Modelica Standard Library that switch, against its published reference results (a commercial tool's, in tests/reference/msl).

The measure is the root mean square of the difference over the range of the signal. Samples within a share of a step beside an event are left out of
modes, which jump there."""

from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.library import models_folder

REFERENCE = Path(__file__).parent / "reference" / "msl"
CASES = {
    "Electrical_Analog_Rectifier": ({"c1.v": "Capacitor1.v", "c2.v": "Capacitor2.v", "l2.i": "Inductor2.i", "l3.i": "Inductor3.i"}, 0.02),
    "Mechanics_Rotational_CoupledClutches": ({"a.phi": "J1.phi", "a.w": "J1.w"}, 0.005),
    "Mechanics_Translational_Friction": ({"a.x": "stop1.s", "a.v": "stop1.v", "b.x": "stop2.s", "b.v": "stop2.v"}, 0.005),
    "Thermal_HeatTransfer_ControlledTemperature": ({"hot.T": "heatCapacitor.T"}, 0.005),
}
MODES = {
    "Mechanics_Rotational_CoupledClutches": {"c1.mode": "clutch1.mode", "c2.mode": "clutch2.mode", "c3.mode": "clutch3.mode"},
    "Mechanics_Translational_Friction": {"m1.mode": "stop1.mode", "m2.mode": "stop2.mode"},
    "Thermal_HeatTransfer_ControlledTemperature": {"on": "onOffController.y"},
}


def compared(name):
    """Our series at the reference's instants, and the reference."""
    file = REFERENCE / f"{name}.csv"
    head = file.read_text(encoding="utf-8").splitlines()[0].split(",")
    table = np.genfromtxt(file, delimiter=",", skip_header=1)
    reference = {column: table[:, i] for i, column in enumerate(head)}
    samples = netsim.load(models_folder() / "msl" / f"{name}.net").run()[0]
    assert samples.finished, samples.message
    return samples, reference


@pytest.mark.parametrize("name", CASES)
def test_signals_follow_the_reference(name):
    samples, reference = compared(name)
    signals, allowed = CASES[name]
    for ours, theirs in signals.items():
        wanted = reference[theirs]
        found = np.interp(reference["time"], samples.time, samples.series(ours))
        error = np.sqrt(np.mean((found - wanted) ** 2)) / np.ptp(wanted)
        assert error < allowed, (ours, error)


@pytest.mark.parametrize("name", MODES)
def test_modes_agree_nearly_always(name):
    samples, reference = compared(name)
    for ours, theirs in MODES[name].items():
        last = np.searchsorted(samples.time, reference["time"] * (1 + 1e-12), side="right") - 1
        wrong = samples.series(ours)[last] != reference[theirs]
        assert np.mean(wrong) < 0.02, (ours, np.mean(wrong))
