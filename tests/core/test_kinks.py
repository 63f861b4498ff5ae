"""Explicit Runge-Kutta methods see the error that they make over a kink of their rates."""

from types import SimpleNamespace

import numpy as np
import pytest
from closed_forms import contact
from closed_machines import backlash, belt
from test_closed_forms import SCALES, ran

import netsim
from netsim.core import contract
from netsim.core.methods import kinks
from netsim.core.methods.kinks import kink_weights
from netsim.core.methods.tableaux import dormand_prince_5, dormand_prince_8, verner_6
from netsim.core.problem import NQ

TABLEAUX = [dormand_prince_5, verner_6, dormand_prince_8]


def stages(tableau):
    """A, c and b up to the step's end."""
    count = tableau.end + 1
    return tableau.weights[:count, :count], tableau.nodes[:count], tableau.weights[tableau.end, :count]


@pytest.mark.parametrize("build", TABLEAUX)
def test_smooth_rates_leave_terms_of_third_order_alone(build):
    tableau = build()
    (A, c, _), w = stages(tableau), kink_weights(tableau)
    for condition in (np.ones(len(c)), c, c**2, A @ c, A @ (A @ c)):
        assert abs(w @ condition) < 1e-13
    assert abs(w @ c**3) > 1e-4


@pytest.mark.parametrize("build", TABLEAUX)
def test_kinks_at_all_shares_of_a_step_are_seen(build):
    """The embedded difference of 5(4) is 7 % of the error on average."""
    tableau = build()
    (_, c, b), w = stages(tableau), kink_weights(tableau)
    theta = np.linspace(0, 1, 1001)
    after = np.maximum(c - theta[:, None], 0)
    wrong, seen = np.abs(after @ b - (1 - theta) ** 2 / 2), np.abs(after @ w)
    assert seen.mean() == pytest.approx(3 * wrong.mean(), rel=1e-2)
    assert wrong[seen < wrong / 2].sum() < 0.2 * wrong.sum()


@pytest.mark.parametrize("method", ["rk45", "rk6", "rk8"])
@pytest.mark.parametrize("build", [belt, backlash, contact])
@pytest.mark.parametrize(("size", "period"), SCALES)
def test_stiffness_may_jump_at_every_scale(build, method, size, period):
    """59 rtol of rk45, 250 of rk6 and 30 of rk8 by the embedded formula alone."""
    samples, wrong, codes = ran(build(size, period), method=method, rtol=1e-6)
    assert samples.finished and wrong < 10.0 and codes == []


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_kinks_are_seen_at_every_tolerance(rtol):
    """85 rtol at 1e-8 by the embedded formula alone."""
    for build in (belt, backlash):
        _, wrong, _ = ran(build(1.0, 1.0), method="rk45", rtol=rtol)
        assert wrong < 3.0


def one_rate():
    """A method of one rate whose w is 1, after a step of the length 1 in which d was 1 lately."""
    rows = np.zeros((4, 1))
    rows[kinks.BEFORE], rows[kinks.LATELY] = 5.0, 1.0
    met = np.array([1.0, 1.0, 0.0, 2.0])
    return SimpleNamespace(kinks=np.ones(1), rates=np.zeros((1, 1)), combined=rows, met=met, sudden=np.zeros(1))


@pytest.fixture
def trial():
    return SimpleNamespace(counters=np.zeros(contract.COUNTERS, np.int64))


@pytest.mark.parametrize(("h", "bound"), [(1.0, 100.0), (0.5, 100.0 / 16), (2.0, 1600.0), (6.0, 1600.0)])
def test_a_kink_is_a_hundred_times_what_was_lately(trial, h, bound):
    """Scaled with the fourth power of the step, of its growth to the double at most."""
    problem = SimpleNamespace(sizes=np.zeros(32, np.int64))
    problem.sizes[NQ] = 1
    for d, found in ((0.99 * bound, 0), (1.01 * bound, 2)):
        method = one_rate()
        method.rates[:] = d + 5.0 * h**3
        assert kinks.combine.py_func(method, problem, trial, h) == found
        assert method.sudden[0] == (pytest.approx(h * d) if found else 0.0)
    trial.counters[contract.RESTARTED] = 1
    assert kinks.combine.py_func(method, problem, trial, h) == 0
    trial.counters[contract.RESTARTED], method.met[kinks.COUNT] = 0, 1.0
    assert kinks.combine.py_func(method, problem, trial, h) == 0


def test_what_was_lately_follows_what_is(trial):
    for h, d, lately in ((1.0, 0.0, 0.5), (1.0, 3.0, 3.0), (1.0, 30.0, 10.0), (0.5, 0.0, 0.5 / 16), (6.0, 0.0, 8.0)):
        method = one_rate()
        method.combined[kinks.DIFFERENCE] = d
        kinks.remember.py_func(method, trial, h)
        assert method.combined[kinks.LATELY, 0] == pytest.approx(lately) and method.met[kinks.SPAN] == h
    trial.counters[contract.RESTARTED] = 1
    kinks.remember.py_func(method, trial, 1.0)
    assert method.combined[kinks.LATELY, 0] == 0.0 and method.met[kinks.COUNT] == 1.0


def test_a_step_that_met_a_kink_is_no_measure(trial):
    for error, known in ((0.09, 1.0), (0.11, 0.0)):
        method = one_rate()
        method.met[kinks.KINK] = error
        kinks.remember.py_func(method, trial, 1.0)
        assert method.met[kinks.KNOWN] == known


def test_a_narrow_pulse_takes_the_steps_of_the_embedded_formula():
    """Twice as many where whatever is 10 times larger than before counted (rk6 at 1e-8: 3070 steps and 1025 refused)."""
    text = "component pushed ()\n  var x : 1\n  var u : 1\n  der(x)*(1 s) = u\n"
    text += "  der(u)*(1 s) = exp(-100*sin(time/(6 s))^2) - 0.1*u - x\nend\nk1 pushed () start x = 0, start u = 0\nsave k1.x\n"
    for method, most in (("rk45", 3600), ("rk6", 2250), ("rk8", 800)):  # 3435, 2120 and 747
        (samples,) = netsim.load(f"{text}run transient(stop = 300 s)\n").samples({"method": method, "rtol": 1e-8})
        assert samples.attributes["steps"] + samples.attributes["rejected"] < most
