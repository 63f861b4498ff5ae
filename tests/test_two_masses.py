"""Two masses held s(t) apart: the paper's recursion to round-off, first order, recovered forces, the start."""

import numpy as np
import pytest

from conftest import ran
from oracles import EPS, TwoMasses

SIGNALS = {
    "two_masses": ("a.v", "b.v", "c1.f", "s1.f", "a.x", "b.x"),
    "two_masses_integrators": ("a.v", "b.v", "c1.f", "s1.f", "xa.x", "xb.x"),
}


def series(name, **options):
    """(time, samples (n, 6) of V1, V2, Fs, F, x1, x2) in the paper's method."""
    samples = ran(name, SIGNALS[name], method="euler", **options)
    return samples.time, np.column_stack([samples.series(s) for s in SIGNALS[name]])


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("h", [10e-3, 5e-3, 2e-3, 1e-3, 0.2e-3])
def test_equals_the_papers_recursion(name, h):
    """Force and positions to round-off: what one bit of s(t) does to the force is eps s m/h^2."""
    _, found = series(name, step=h, stop=5.0)
    v1, v2, spring, _, x1, x2 = found[0]
    wanted = TwoMasses.recursion(h, len(found) - 1, x1, x2, v1, v2, spring)
    peak = np.max(np.abs(wanted[:, 3]))
    allowed = 1e-12 if h == 10e-3 else 100 * EPS * TwoMasses.height * TwoMasses.m1 / (h**2 * peak)
    assert np.max(np.abs(found[1:, 3] - wanted[1:, 3])) <= allowed * peak
    assert np.max(np.abs(found[:, 4:] - wanted[:, 4:])) <= 1e-12 * TwoMasses.height


def test_both_formulations_are_one_machine():
    (t, nodes), (_, integrators) = series("two_masses", step=2e-3, stop=5.0), series("two_masses_integrators", step=2e-3, stop=5.0)
    assert np.max(np.abs(nodes[:, 3] - integrators[:, 3])) < 1e-9 * np.max(np.abs(nodes[:, 3]))
    assert t[-1] == 5.0


def errors(forces, h):
    """Largest errors of position, velocity and force against the exact motion; the force from 2 h on."""
    t, found = series("two_masses", step=h, stop=4.0, forces=forces)
    x, v, f = TwoMasses.motion(t, found[0, 4], found[0, 0])
    wanted = np.abs(np.column_stack([found[:, 4] - x, found[:, 0] - v, found[:, 3] - f]))
    return np.max(wanted[2:], axis=0)


def test_implicit_euler_is_of_first_order():
    found = np.array([errors("method", h) for h in (1e-3, 0.5e-3, 0.25e-3)])
    orders = np.log2(found[:-1] / found[1:])
    assert np.all(np.abs(orders - 1) < 0.05), orders


def test_first_sample_is_the_exact_force():
    for forces in ("method", "recovered"):
        _, found = series("two_masses", step=10e-3, stop=4.0, forces=forces)
        exact = TwoMasses.force(np.zeros(1), found[0, 4], found[0, 0])[0]
        assert abs(found[0, 3] - exact) < 1e-12 * abs(exact)


def test_recovered_forces_belong_to_their_positions():
    """Given the run's x and v, a recovered force is exact to round-off; the method's own is one step late, by two per cent of the peak at 8 ms."""
    worst = {}
    for forces in ("method", "recovered"):
        t, found = series("two_masses", step=8e-3, stop=4.0, forces=forces)
        gap = np.abs(found[:, 3] - TwoMasses.force(t, found[:, 4], found[:, 0]))
        worst[forces] = np.max(gap) / np.max(np.abs(found[:, 3]))
    assert worst["recovered"] < 1e-13
    assert worst["method"] > 1e-2
