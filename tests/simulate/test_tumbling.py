"""Bodies that tumble hold their energy and turn none over: what a run is told of its balance there."""

import numpy as np
import pytest

import netsim

BODY = """use spatial
world gravity = [0, 0, 0] m/s2
b body (a) m = 1 kg, I = diag(1, 2, 2.6) kg.m2, at = [0, 0, 0] m
start a.w = [0.03, 0.02, 1] rad/s
save a.w
"""


def motion(method, rtol):
    run = f"run transient(stop = 100 s, sample = 1 s, rtol = {rtol}, method = {method}, formulation = tree)\n"
    (samples,) = netsim.load(BODY + run).samples()
    return samples, np.array([samples.series(f"a.w.{axis}") for axis in "xyz"])


@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
def test_a_run_within_its_tolerance_is_not_failed_by_the_energy_of_what_tumbles(method):
    """At 1e-4 the energy moves by some rtol, which is all of what is turned over: that is told and no more."""
    _, exact = motion("rk8", 1e-11)
    samples, found = motion(method, 1e-4)
    assert np.max(np.abs(found - exact)) <= 20 * 1e-4
    assert not samples.broken
    (told,) = samples.warnings
    assert told.code == "W501"
    assert "of the energy held" in told.message


def test_more_than_the_tolerance_of_the_energy_fails():
    """Generalized-alpha at 1e-3 is 56 rtol off, and its energy by more than 20."""
    samples, _ = motion("generalized_alpha", 1e-3)
    assert [problem.code for problem in samples.broken] == ["E515"]
