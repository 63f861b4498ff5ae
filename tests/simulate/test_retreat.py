"""A run that finds no next step goes back, repeats its steps up to some before the last, and takes others."""

import numpy as np
import pytest

import netsim
from netsim.simulate import adaptive, retreat
from netsim.text.errors import Problem

PENDULUM = """use planar
world gravity = [0, -9.81, 0] m/s2
rod  planar_bar      (b)          m = 1 kg, at1 = [0, 0] m, at2 = [1, 0] m
pin  planar_revolute (ground, b)  at = [0, 0] m
tip  planar_marker   (b)          at = [1, 0] m
run transient(stop = 20 s, rtol = 1e-6, sample = 0.1 s, formulation = absolute)
save pin.q
"""
OSCILLATOR = """use translational
m mass   (a)          m = 1 kg
s spring (ground, a)  c = 9 N/m
start m.x = 1 m
run transient(stop = 20 s)
"""
STOP = Problem("E505", "stopped by the test")


@pytest.fixture(scope="module")
def undisturbed():
    return netsim.load(PENDULUM).samples()[0]


def stopping(monkeypatch, instants):
    """Steps behind these instants are stopped once each, as if none led on; the instants at which they were."""
    left, stopped, true = list(instants), [], adaptive.answer_status

    def answered(run, status):
        if left and run.now > left[0]:
            left.pop(0)
            stopped.append(run.now)
            return STOP
        return true(run, status)

    monkeypatch.setattr(adaptive, "answer_status", answered)
    return stopped


def test_a_run_goes_back_once_and_comes_to_its_end(monkeypatch, undisturbed):
    stopped = stopping(monkeypatch, [15.0])
    (found,) = netsim.load(PENDULUM).samples()
    assert stopped
    assert found.finished
    before = found.time < stopped[0] - 1.0
    assert np.array_equal(found.values[before], undisturbed.values[before])
    assert not np.array_equal(found.values, undisturbed.values)
    assert np.abs(found.values - undisturbed.values).max() < 1e-4


def test_a_place_that_never_lets_pass_ends_the_run(monkeypatch):
    """After MOST retreats, and with the problem of the last stop; each goes back by one step more."""
    begun, true = [], retreat.Retreat.begin

    def begin(self, run, problem):
        now = run.now
        took = true(self, run, problem)
        begun.append((took, now - self.until))
        return took

    monkeypatch.setattr(retreat.Retreat, "begin", begin)
    monkeypatch.setattr(adaptive, "answer_status", lambda run, status, true=adaptive.answer_status: STOP if run.now > 15.0 else true(run, status))
    (found,) = netsim.load(PENDULUM).samples()
    assert not found.finished
    assert found.message == STOP.message
    assert [took for took, _ in begun] == [True] * retreat.MOST + [False]
    assert np.all(np.diff([back for _, back in begun[:-1]]) > 0.0)


@pytest.mark.parametrize(("text", "problem"), [(PENDULUM, Problem("E508", "a law jumps")), (OSCILLATOR, STOP)], ids=["a jump", "no constraint"])
def test_other_problems_and_other_networks_do_not_go_back(monkeypatch, text, problem):
    monkeypatch.setattr(retreat, "restore_snapshot", None)
    monkeypatch.setattr(adaptive, "answer_status", lambda run, status, true=adaptive.answer_status: problem if run.now > 15.0 else true(run, status))
    (found,) = netsim.load(text).samples()
    assert not found.finished
    assert found.message == problem.message
