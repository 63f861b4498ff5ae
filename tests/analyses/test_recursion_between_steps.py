"""`run recursion` looks at what acts briefly, and takes a longest step, as `run transient` does."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

WHEEL = """
use spatial
world gravity = [0, 0, 0] m/s2
b body (n) m = 1 kg, I = {J}*diag(1, 1, 1) kg.m2, at = [0, 0, 0] m
u revolute (ground, n) at = [0, 0, 0] m
s hinge_torque (ground, n) axis = [0, 0, 1], T = {J} N.m*({torque})
run recursion(stop = 100 s, sample = 10 s{more})
save n.w.z
"""


def run(torque: str, rtol: float = 1e-6, J: float = 1.0, more: str = ""):
    samples = netsim.load(WHEEL.format(torque=torque, J=J, more=more if "step = 0.1" in more else f"{more}, rtol = {rtol}")).samples()[-1]
    assert samples.finished, samples.message
    return samples


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("width", "J"), [(0.2, 1.0), (0.02, 1.0), (0.002, 1e-9), (0.2, 1e6)])
def test_a_narrow_pulse_of_a_torque_acts(width, J, rtol):
    """The integral of exp(-((t - t0)/w)^2) is w sqrt(pi)."""
    speed = run(f"exp(-((time/(1 s) - 73.3)/{width})^2)", rtol, J).values[-1, 0]
    assert abs(speed - width * np.pi**0.5) < 20 * rtol


@pytest.mark.parametrize("method", ["rk45", "rk6", "rk8"])
def test_small_pulses_on_a_slow_torque_act(method):
    """Pulses of 1/500 of the run on a sine have no turning points of their own to be found by."""
    bumps = " + ".join(f"0.03*exp(-((time/(1 s) - {at})/0.2)^2)" for at in (22.1, 41.7, 88.8))
    speed = run(f"sin(time/(20 s)) + {bumps}", 1e-5, more=f", method = {method}").values[-1, 0]
    assert abs(speed - (20 * (1 - np.cos(5)) + 0.09 * 0.2 * np.pi**0.5)) < 1e-3


def test_max_step_bounds_steps_and_excludes_step():
    free, bounded = run("0"), run("0", more=", max_step = 0.5 s")
    assert free.attributes["steps"] < 50 and bounded.attributes["steps"] >= 200
    with pytest.raises(InputError, match="max_step"):
        run("0", more=", max_step = 0.5 s, step = 0.1 s")


def test_the_progress_of_many_samples_is_told():
    """40 000 samples took 15 s in silence, and Ctrl-C ended nothing before."""
    told = []
    netsim.load("mechanisms/double_pendulum").recursion(stop=0.1, sample=1e-4, progress=lambda *a: told.append(a))
    assert len(told) >= 10 and [a[2] for a in told] == sorted(a[2] for a in told)
