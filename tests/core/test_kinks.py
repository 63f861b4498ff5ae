"""Explicit Runge-Kutta methods and Radau see the error that they make over a kink of their rates."""

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
from netsim.core.radau import arrays as radau
from netsim.core.radau import unseen

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


# ------------------------------------------------------------------------------------------------- radau


def differences(theta, ratio):
    """The estimate's own difference of rates max(t - theta, 0), the other one, and the error of their integral."""
    method = SimpleNamespace(memory=np.ones(radau.SMOOTH + 1))
    method.memory[radau.LAST_H] = ratio
    weights = unseen.weights_of.py_func(method, SimpleNamespace(counters=np.zeros(contract.COUNTERS, np.int64)), 1.0)
    slope, inner = radau.coefficients()[4], np.maximum(radau.C - theta[:, None], 0)
    own = np.maximum(-theta, 0) - inner @ radau.A_MATRIX.T @ slope
    nodes = np.array([-ratio * (1 - radau.C[1]), 0.0, radau.C[0], radau.C[1]])
    return own, np.maximum(nodes - theta[:, None], 0) @ weights, inner @ radau.A_MATRIX[2] - (1 - theta) ** 2 / 2


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0, 4.0])
def test_what_radaus_estimate_does_not_see_of_a_kink_another_difference_sees(ratio):
    theta = np.linspace(0, 1, 1001)[1:-1]
    own, other, wrong = (np.abs(each) for each in differences(theta, ratio))
    own, other = own / radau.coefficients()[3][0], other / radau.coefficients()[3][0]
    assert (own[wrong > 0.01] < wrong[wrong > 0.01] / 10).any()
    assert (np.maximum(own, other) >= wrong / 3).all()


def test_both_differences_are_one_where_rates_are_smooth():
    """Of 1, t and t^2 nothing is left, of t^3 the same."""
    method = SimpleNamespace(memory=np.full(radau.SMOOTH + 1, 1.7))
    trial = SimpleNamespace(counters=np.zeros(contract.COUNTERS, np.int64))
    weights = np.array(unseen.weights_of.py_func(method, trial, 1.0))
    nodes = np.array([-1.7 * (1 - radau.C[1]), 0.0, radau.C[0], radau.C[1]])
    slope = radau.coefficients()[4]
    for power, left in enumerate((0.0, 0.0, 0.0, unseen.K)):
        own = (power == 0) - radau.C**power @ radau.A_MATRIX.T @ slope
        assert weights @ nodes**power == pytest.approx(left, abs=1e-13) and own == pytest.approx(left, abs=1e-13)
    for spoiled in ("restarted", "refused"):
        trial.counters[contract.RESTARTED] = 1 if spoiled == "restarted" else 0
        method.memory[radau.SMOOTH] = 0.0 if spoiled == "refused" else 1.0
        assert unseen.weights_of.py_func(method, trial, 1.0)[0] == 0.0


@pytest.mark.parametrize(("own", "other", "found"), [(1.0, 2.9, 1.0), (-1.0, 3.1, 3.1), (2.0, -0.1, 2.0)])
def test_the_other_difference_counts_where_it_is_three_times_as_large(own, other, found):
    assert unseen.larger.py_func(own, other) == found


@pytest.mark.parametrize("build", [belt, backlash])
def test_kinks_at_any_place_of_radaus_steps_are_seen(build):
    """Forty runs of slightly different sizes and tolerances: the worst was 40 rtol off, 3 of them more than 10."""
    for k in range(0, 40, 2):
        _, wrong, codes = ran(build(1.0 + 0.0137 * k, 1.0), method="radau", rtol=1e-6 * (1 + 0.01 * k))
        assert wrong < 10.0 and codes == []
