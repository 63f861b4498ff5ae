"""What traces say between the nodes of steps, beside polynomials and SciPy's roots."""

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq

from netsim.core.loop.refined import POINTS
from netsim.results.samples import Trace
from netsim.results.series import trajectory_of
from netsim.results.trajectories import Trajectory, crossings

NODES = np.array([0.0, 0.155, 0.645, 1.0])
STEPS = np.array([0.0, 0.1, 0.5, 0.6, 1.5, 2.0])


def trace(*signals):
    """A trace with these functions of time and of the number of a step."""
    time = STEPS[:-1, None] + NODES * np.diff(STEPS)[:, None]
    number = np.arange(len(time))[:, None]
    return Trace(time, {str(k): each(time, number) for k, each in enumerate(signals)})


def cubic(t, _=0):
    return t**3 - 2.0 * t + 0.3


@pytest.mark.parametrize("first, last", [(-np.inf, np.inf), (0.3, 1.7), (0.52, 0.58), (0.5, 0.6)])
def test_polynomials_of_the_nodes_degree_are_exact_between_the_ends_asked_for(first, last):
    time, values = trajectory_of(STEPS, {}, trace(cubic), first, last)
    assert time[0] == max(first, 0.0) and time[-1] == pytest.approx(min(last, 2.0), rel=1e-15)
    assert np.all(np.diff(time) > 0.0) and (len(time) - 1) % POINTS == 0
    np.testing.assert_allclose(values["0"], cubic(time), atol=4e-15)


def test_an_interval_of_no_length_parts_a_jump():
    time, values = trajectory_of(STEPS, {}, trace(cubic, lambda t, n: t + 2.0 * (n >= 3)), -np.inf, np.inf)
    (still,) = np.flatnonzero(np.diff(time) == 0.0).reshape(-1, POINTS)
    assert time[still[0]] == pytest.approx(0.6) and len(time) == 6 * POINTS + 1
    np.testing.assert_allclose(values["1"], time + 2.0 * (np.arange(len(time)) >= still[-1] + 1), atol=4e-15)


def test_nothing_lies_outside_of_the_steps():
    time, values = trajectory_of(STEPS, {}, trace(cubic), 3.0, 4.0)
    assert len(time) == len(values["0"]) == 0


def test_passages_are_the_roots_of_the_cubic_through_four_points():
    random = np.random.default_rng(7)
    time, series = np.cumsum(random.uniform(0.1, 1.0, 400)), random.standard_normal(400)
    found = iter(crossings(Trajectory(time, series), "=="))
    for i in np.flatnonzero(series[:-1] * series[1:] < 0.0):
        near = slice(max(i - 1, 0), i + 3)
        through = BarycentricInterpolator(time[near], series[near])
        root = next(found)
        assert time[i] < root < time[i + 1]
        slope = abs(through.derivative(root)) + 1e-3
        assert abs(through(root)) < 1e-12 * (1.0 + slope)
        inside = np.linspace(time[i], time[i + 1], 2000)
        if np.count_nonzero(np.diff(np.sign(through(inside)))) == 1:
            assert root == pytest.approx(float(brentq(through, time[i], time[i + 1], xtol=1e-15)), abs=1e-9 / slope)
    assert next(found, None) is None


def test_which_way_and_whether_touching_counts():
    time, series = np.arange(9.0), np.array([0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0, 1.0])
    at = lambda op: [round(float(t), 9) for t in crossings(Trajectory(time, series), op)]  # noqa: E731
    assert [int(t) for t in at(">")] == [0, 2, 7] and [int(t) for t in at(">=")] == [5, 7]
    assert [int(t) for t in at("<")] == [3, 6] and [int(t) for t in at("<=")] == [2, 3]
    assert len(at("==")) == 4
