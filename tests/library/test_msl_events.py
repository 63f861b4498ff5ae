"""Modes of switching examples of the Modelica Standard Library, against its published results (a commercial tool's, in tests/reference/msl)."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder

REFERENCE = Path(__file__).parents[1] / "reference" / "msl"
MODES = {
    "Mechanics_Rotational_LossyGearDemo1": {"gear.mode": "gear.mode"},
    "Mechanics_Rotational_CoupledClutches": {"c1.mode": "clutch1.mode", "c2.mode": "clutch2.mode", "c3.mode": "clutch3.mode"},
    "Mechanics_Translational_Friction": {"m1.mode": "stop1.mode", "m2.mode": "stop2.mode"},
    "Mechanics_MultiBody_Systems_RobotR3_FullRobot": {f"axis{i}.bearing.mode": f"axis{i}.gear.bearingFriction.mode" for i in range(1, 7)},
    "Thermal_HeatTransfer_ControlledTemperature": {"on": "onOffController.y"},
}


@cache
def compared(name):
    """Our series at the reference's instants, and the reference."""
    file = REFERENCE / f"{name}.csv"
    head = file.read_text(encoding="utf-8").splitlines()[0].split(",")
    table = np.genfromtxt(file, delimiter=",", skip_header=1)
    reference = {column: table[:, i] for i, column in enumerate(head)}
    samples = netsim.load(models_folder() / "msl" / f"{name}.net").samples()[0]
    assert samples.finished, samples.message
    return samples, reference


@pytest.mark.parametrize("name", MODES)
def test_modes_agree_nearly_always(name):
    samples, reference = compared(name)
    for ours, theirs in MODES[name].items():
        last = np.searchsorted(samples.time, reference["time"] * (1 + 1e-12), side="right") - 1
        wrong = samples.series(ours)[last] != reference[theirs]
        assert np.mean(wrong) < 0.02, (ours, np.mean(wrong))


@pytest.mark.parametrize("name", [name for name in MODES if name.startswith("Mechanics")])
def test_what_friction_takes_it_never_gives_back(name):
    samples, _ = compared(name)
    taken = samples.energy[:, 2]
    assert taken[-1] > 0.0
    assert np.min(np.diff(taken)) >= -1e-9 * taken[-1]


@pytest.mark.parametrize("rtol", [1e-4, 3e-5])
def test_a_robot_with_friction_in_all_axes_runs_at_coarser_tolerances(rtol):
    """What broke loose counted as turned back at 1e-12 rad/s, which rounding reaches: E509 at 4.4 ms at both."""
    model = netsim.load(models_folder() / "msl" / "Mechanics_MultiBody_Systems_RobotR3_FullRobot.net")
    samples = model.samples({"rtol": rtol})[0]
    assert samples.finished, samples.message
    _, reference = compared("Mechanics_MultiBody_Systems_RobotR3_FullRobot")
    assert samples.series("f1.phi")[-1] == pytest.approx(reference["mechanics.r1.phi"][-1], rel=20 * rtol)


@pytest.mark.parametrize("rtol", [1e-3, 1e-4])
def test_a_mass_that_touches_nothing_leaves_a_gear_its_events(rtol):
    """Torques double within the step in which the gear frees itself: an event was located by the scale before the step
    and did not act by the one at the instant (E509)."""
    text = (models_folder() / "msl" / "Mechanics_Rotational_LossyGearDemo1.net").read_text()
    beside = "\nuse translational\nbeside mass (far) m = 1 kg, start x = 1 m\nhold spring (far, ground) c = 1e-6 N/m\n"
    alone, both = (netsim.load(each).samples({"rtol": rtol})[0] for each in (text, text + beside))
    assert alone.finished and both.finished, both.message
    assert both.series("b.w")[-1] == pytest.approx(alone.series("b.w")[-1], rel=20 * rtol)
