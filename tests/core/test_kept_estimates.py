"""What rk8 keeps of its estimates for readings: that of order 5, reduced as the error test reduces it."""

import warnings

import netsim

PENDULUMS = """use spatial
world gravity = [0, 0, -9.81] m/s2
rod   body      (a)          m = 1 kg, I = diag(0.001, 0.08, 0.08) kg.m2, at = [0.5, 0, 0] m
arm   body      (b)          m = 1 kg, I = diag(0.001, 0.08, 0.08) kg.m2, at = [1.5, 0, 0] m
j1    revolute  (ground, a)  at = [0, 0, 0] m, axis = [0, 1, 0]
j2    revolute  (a, b)       at = [1, 0, 0] m, axis = [0, 1, 0]
save  j1.rate, j2.rate
"""


def test_rates_of_joints_are_not_told_where_they_are_right():
    """A double pendulum at 1e-8: its rates are within some rtol, and were told to be off by 1e-6."""
    model, worst = netsim.load(PENDULUMS), 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        exact = model.transient(stop=1, sample=0.05, method="rk8", rtol=1e-12, formulation="tree")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = model.transient(stop=1, sample=0.05, method="rk8", rtol=1e-8, formulation="tree")
    for name in ("j1.rate", "j2.rate"):
        worst = max(worst, float(abs(found[name] - exact[name]).max() / abs(exact[name]).max()))
    assert worst < 20e-8
