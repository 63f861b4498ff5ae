"""Models of the Modelica Standard Library as netlists, against reference results of another tool: every netlist of models/msl/.

What is accepted stands beside the results. The netlist's head names the compared signals, `there = here`;
a signal that jumps is compared within a tube of the given share of the run's length.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.analyses.over_time.run import transient
from netsim.library.files import models_folder
from netsim.text.expressions.from_python import parse_expression

REFERENCE = Path(__file__).parents[1] / "reference" / "msl"
SAMPLES = 5000
CLOSER = {"Mechanics_MultiBody_Systems_RobotR3_FullRobot": 1e-3, "Electrical_Analog_CauerLowPassSC": 1e-6}
"""Where less of the signals' ranges may be missed than is accepted beside the results."""
PAIR = re.compile(r"^#   (\S+)\s+= (.+)$", re.MULTILINE)
CASES = [path for path in sorted((models_folder() / "msl").glob("*.net")) if PAIR.search(path.read_text())]


def run(path):
    """Time, and the compared signals by their names there."""
    model = netsim.load(path)
    pairs = PAIR.findall(path.read_text())
    # of any name, such as `motor.w`, and of expressions: a let for each, in an order of our own
    text = path.read_text() + "".join(f"let compared_{i} = ({here})*1\n" for i, (_, here) in enumerate(pairs))
    model = netsim.load(text)
    saves = [parse_expression(f"compared_{i}", "save") for i in range(len(pairs))]
    (options,) = model.run_options()
    samples = transient(model.machine, model.structure, replace(options, sample=options.stop / SAMPLES), saves)
    assert samples.finished, samples.message
    return samples.time, {there: samples.series(f"compared_{i}") for i, (there, _) in enumerate(pairs)}


def differences(time, series, instants, reference, tube):
    """(rms, largest) difference over the reference's range; within a tube of time the nearest value counts."""
    span = max(np.ptp(reference), 1e-9)
    shifts = np.linspace(-tube, tube, 9) * (time[-1] - time[0]) if tube else np.zeros(1)
    found = np.array([np.interp(np.clip(instants + shift, time[0], time[-1]), time, series) for shift in shifts])
    low, high = found.min(axis=0), found.max(axis=0)
    miss = np.maximum(np.maximum(low - reference, reference - high), 0.0) / span
    return np.sqrt(np.mean(miss**2)), np.max(miss)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_reference_results(path):
    about = json.loads((REFERENCE / f"{path.stem}.json").read_text())
    data = np.genfromtxt(REFERENCE / f"{path.stem}.csv", delimiter=",", names=True, deletechars="", replace_space=" ")
    time, signals = run(path)
    data = data[data["time"] <= time[-1] * (1 + 1e-9)]
    assert set(signals) == set(about["signals"])
    accepted = about["acceptance"]
    wrong = {}
    for name, series in signals.items():
        rms, most = differences(time, series, data["time"], data[name], accepted.get("time_tube_rel", 0.0))
        if rms > accepted["nrmse_max"] or most > CLOSER.get(path.stem, accepted["max_dev"]):
            wrong[name] = rms, most
    assert not wrong


def test_the_yardstick_measures():
    assert len(CASES) >= 14
    time = np.linspace(0, 1, 1001)
    assert differences(time, np.sin(time), time[::5], np.sin(time[::5]), 0.0)[0] < 1e-12
    rms, most = differences(time, np.sin(time) + 0.01, time[::5], np.sin(time[::5]), 0.0)
    assert rms == pytest.approx(0.01 / np.sin(1)) and most == pytest.approx(rms)
