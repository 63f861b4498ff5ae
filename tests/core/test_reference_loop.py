"""The compiled time loop equals the readable one in NumPy, model by model."""

import numpy as np
import pytest
from reference_loop import reference_run

import netsim
from conftest import line_options
from netsim.initial.initial import consistent_start
from netsim.library.files import models_folder

STEPS = 40
MODELS = [
    "two_masses",
    "two_masses_integrators",
    "dc_motor",
    "diode_rectifier",
    "diode_bridge",
    "quarter_car",
    "hydraulic_cylinder",
    "pi_speed_control",
    "cam_follower",
]


@pytest.mark.parametrize("name", MODELS)
def test_compiled_loop_equals_the_readable_one(name):
    model = netsim.load(models_folder() / f"{name}.net")
    step = float(line_options(model, model.network.runs[0]).get("step", 1e-3))
    at_rest = any(b.name == "from" for b in model.network.runs[0].options)
    times = np.arange(STEPS + 1) * step
    g, _ = consistent_start(model.machine, model.structure, at_rest=at_rest)
    _, unknowns = reference_run(model.machine, g, times)
    names = model.system.names
    wanted = [i for i, n in enumerate(names) if "[" not in n]
    result = model.transient(stop=STEPS * step, step=step, method="euler", save=[names[i] for i in wanted], **({"from_": "rest"} if at_rest else {}))
    for i in wanted:
        ours = result[names[i]].values
        peak = max(np.abs(unknowns[:, i]).max(), 1e-3 * model.system.nominals[i])
        assert np.abs(ours - unknowns[:, i]).max() <= 2e-9 * peak, names[i]
