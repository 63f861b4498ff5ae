"""A user who divides rtol by ten gets about ten times less error: every method with an error test, at every index where it has an order."""

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder
from netsim.simulate.methods import METHODS
from problems import EVERY

LENGTH = 10.0
DECADES = {
    "euler": (1e-3, 1e-4),
    "trbdf2": (1e-3, 1e-7),
    "generalized_alpha": (1e-3, 1e-7),
    "bdf": (1e-4, 1e-9),
    "radau": (1e-5, 1e-10),
    "rk45": (1e-5, 1e-10),
    "rk6": (1e-5, 1e-10),
    "rk8": (1e-5, 1e-10),
}
CASES = [(method, name) for method in DECADES for name, problem in EVERY.items() if not METHODS[method].refused(problem.index)]


def largest_error(known, method, rtol):
    """Over all signals and samples, between steps too."""
    result = netsim.load(known.text).transient(stop=LENGTH, method=method, rtol=rtol, save=list(known.signals), max_step=LENGTH / 4)
    return max(np.abs(result[name].values - exact(result.time.values)).max() for name, (_, exact) in known.signals.items())


@pytest.mark.parametrize(("method", "name"), CASES)
def test_ten_times_smaller_rtol_gives_about_ten_times_less_error(method, name):
    coarse, fine = DECADES[method]
    errors = [largest_error(EVERY[name], method, rtol) for rtol in (coarse, fine)]
    ratio = (errors[0] / errors[1]) ** (1 / np.log10(coarse / fine))
    assert 4 < ratio < 40, errors  # rk8 comes out at 1/250 of its finest tolerance on one problem: 30.1
    assert errors[1] < 200 * fine, errors


@pytest.mark.parametrize(("name", "save", "stop"), [("spinning_top", "top.w.x", 0.5), ("double_pendulum", "j2.q", 1.0)])
def test_generalized_alpha_keeps_its_order_with_steps_of_changing_size(name, save, stop):
    """Rotations in charts that move, joints at index 3: against Radau at rtol 1e-11."""
    model, found = netsim.load(models_folder() / f"mechanisms/{name}.net"), []
    exact = model.transient(stop=stop, rtol=1e-11, sample=stop / 20, save=[save])[save].values
    for rtol in (1e-4, 1e-6):
        result = model.transient(stop=stop, rtol=rtol, method="generalized_alpha", sample=stop / 20, save=[save])
        found.append(np.abs(result[save].values - exact).max())
    assert 20 < found[0] / found[1] < 500, found
    assert found[1] < 1e-4 * np.abs(exact).max()


def test_a_method_takes_no_tolerance_near_rounding_on_its_own():
    """BDF, between rtol 1e-10 and 1e-3: never above rtol and never below 1e-10; a finer rtol is the user's own."""
    for rtol in np.geomspace(1e-10, 1e-3, 15):
        assert min(rtol, 1e-10) <= METHODS["bdf"].tolerance(rtol) <= rtol * (1 + 1e-15)
    assert METHODS["bdf"].tolerance(1e-12) == 1e-12


TANK = """
use signal
outflow signal_source (u) value = -sqrt(max(level, 0))
tank    integrator    (u, level) k = 1
start level = 1
run transient(stop = 3 s, sample = 10 ms)
save level
"""


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
def test_a_tank_runs_empty_by_a_root_that_nobody_rounded(method, rtol):
    """y' = -sqrt(y), y = (1 - t/2)^2 until it is 0 and stays there, where the derivative of the root is not finite: errors
    decay at once there, and BDF's refuse no second step (1.01 rtol at 1e-3)."""
    (samples,) = netsim.load(TANK).samples({"method": method, "rtol": rtol})
    assert samples.finished, samples.message
    assert samples.series("level") == pytest.approx(np.maximum(1 - samples.time / 2, 0) ** 2, abs=1.1 * rtol)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-7, 1e-8])
def test_generalized_alpha_passes_the_instant_at_which_a_tank_is_empty(rtol):
    """It stays empty; before that its samples are on lines between steps, which a parabola's error test leaves long."""
    (samples,) = netsim.load(TANK).samples({"method": "generalized_alpha", "rtol": rtol})
    assert samples.finished, samples.message
    assert samples.series("level")[samples.time > 2.5] == pytest.approx(0, abs=2 * rtol)
