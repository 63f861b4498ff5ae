"""Dry friction against closed forms, with lengths, forces and speeds of any size."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import netsim
from conftest import sampled

SCALES = [1e-10, 1e-5, 1.0, 1e6]
RTOL = {"radau": 1e-7, "bdf": 1e-7, "trbdf2": 1e-7, "generalized_alpha": 1e-5, "rk45": 1e-7}
WITHIN = 50
"""So many rtol may an error be: it adds up over the steps, and a stop is told as late as a velocity is known."""
everywhere = pytest.mark.parametrize("k", SCALES)


def run(text, save, method="radau"):
    return sampled(netsim.load(text), save, method=method, rtol=RTOL[method])


def near(wanted, method="radau"):
    return pytest.approx(wanted, abs=WITHIN * RTOL[method])


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_a_sliding_mass_stops(k, method):
    """v = k - k t until t = 1, then rest at x = k/2."""
    text = f"""
use translational
m1 mass (a) m = 1 kg
start a.v = {k} m/s
start a.x = 0 m
r1 coulomb_friction (a, ground) F = {k} N
run transient(stop = 3 s)
"""
    samples = run(text, ("a.x", "a.v", "r1.f"), method=method)
    t = np.minimum(samples.time, 1.0)
    assert samples.series("a.x") / k == near(t - t**2 / 2, method)
    assert samples.series("a.v") / k == near(1 - t, method)
    assert samples.series("r1.f")[samples.time > 1.01] / k == near(0.0, method)


def broken_loose(t):
    """Position and velocity of 1 kg from rest under the force 1.2 sin t and the friction 1: every half turn it slides
    from sin t0 = 1/1.2 on until it comes to rest, in turn there and back."""
    t0 = math.asin(1 / 1.2)
    speed = lambda s: 1.2 * (math.cos(t0) - np.cos(s)) - (s - t0)  # noqa: E731
    way = lambda s: 1.2 * (math.cos(t0) * (s - t0) - np.sin(s) + math.sin(t0)) - (s - t0) ** 2 / 2  # noqa: E731
    t1 = brentq(speed, 1.5, math.pi)
    turns, rest = np.divmod(t, math.pi)
    at, sign = np.clip(rest, t0, t1), (-1.0) ** turns
    return way(t1) * (turns % 2) + sign * way(at), sign * speed(at)


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_what_rests_breaks_loose_and_comes_to_rest(k, method):
    text = f"""
use translational
m1 mass (a) m = 1 kg
r1 coulomb_friction (a, ground) F = {k} N
f1 force (a) F = {1.2 * k} N*sin(time*1 s^-1)
run transient(stop = 12 s)
"""
    samples = run(text, ("a.x", "a.v"), method=method)
    x, v = broken_loose(samples.time)
    assert samples.series("a.x") / k == near(x, method)
    assert samples.series("a.v") / k == near(v, method)


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_an_oscillator_loses_the_same_amplitude_every_half_turn(k, method):
    """x'' = -x - sign(x')/4 from x = 2.1: extremes 2.1, -1.6, 1.1, -0.6, 0.1, where it stays."""
    text = f"""
use translational
m1 mass (a) m = 1 kg
start a.x = {2.1 * k} m
start a.v = 0 m/s
c1 spring (a, ground) c = 1 N/m
r1 coulomb_friction (a, ground) F = {k / 4} N
run transient(stop = 20 s)
"""
    samples = run(text, ("a.x",), method=method)
    extremes = 2.1 - 0.5 * np.arange(5)
    n = np.minimum(np.floor(samples.time / math.pi), 4).astype(int)
    phase = samples.time - n * math.pi
    wanted = np.where(n < 4, (-1.0) ** n * ((extremes[n] - 0.25) * np.cos(phase) + 0.25), 0.1)
    assert samples.series("a.x") / k == near(wanted, method)


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_stick_slip_from_rest(k, method):
    """m x'' = c (V t - x) - F from x' = 0 with the spring at peak F: slip and stick times in closed form."""
    c, v, peak = 10.0, 0.1, 1.5
    text = f"""
use translational
m1 mass (a) m = 1 kg
r1 coulomb_friction (a, ground) F = {k} N, peak = 1.5
s1 spring (b, a) c = 10 N/m
x1 velocity (b, ground) v = {v * k} m/s
run transient(stop = 12 s)
"""
    w = math.sqrt(c)
    slip = (math.pi + 2 * math.atan2(v / w, (peak - 1) / c)) / w
    stick = (peak - (2 - peak)) / c / v
    samples = run(text, ("a.x", "r1.mode"), method=method)
    log = [line.split("\t") for line in samples.attributes["event_log"].splitlines()]
    starts = np.array([float(t) for t, name, _, what in log if name == "r1" and "mode = 1" in what])
    assert starts[0] == pytest.approx(peak / c / v, rel=10 * RTOL[method])
    assert np.diff(starts) == pytest.approx(slip + stick, rel=100 * RTOL[method])
    assert len(starts) == 1 + int((12 - starts[0]) / (slip + stick))


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_a_clutch_brings_two_shafts_to_one_speed(k, method):
    """w1 - w2 = k - 2 k t until t = 1/2; then both turn at k/2."""
    text = f"""
use rotational
j1 inertia (a) J = 1 kg.m2
j2 inertia (b) J = 1 kg.m2
start a.w = {k} rad/s
start a.phi = 0 rad
start b.w = 0 rad/s
start b.phi = 0 rad
k1 clutch (a, b) N = {k} N, mu = 1
run transient(stop = 2 s)
"""
    samples = run(text, ("a.w", "b.w"), method=method)
    t = np.minimum(samples.time, 0.5)
    assert samples.series("a.w") / k == near(1 - t, method)
    assert samples.series("b.w") / k == near(t, method)


@everywhere
@pytest.mark.parametrize("method", RTOL)
def test_a_freewheel_drives_in_one_direction(k, method):
    """The torque k sin t at p: locked for half a turn (w = (1 - cos t) k/2), then p falls behind n, and catches it at
    t = 2 pi with the speed that both had."""
    text = f"""
use rotational
j1 inertia (a) J = 1 kg.m2
j2 inertia (b) J = 1 kg.m2
f1 one_way_clutch (a, b)
t1 torque (a) T = {k} N.m*sin(time*1 s^-1)
run transient(stop = 6 s)
"""
    samples = run(text, ("a.w", "b.w"), method=method)
    t = samples.time
    locked = t < math.pi
    assert samples.series("a.w") / k == near(np.where(locked, (1 - np.cos(t)) / 2, -np.cos(t)), method)
    assert samples.series("b.w") / k == near(np.where(locked, (1 - np.cos(t)) / 2, 1.0), method)


@everywhere
@pytest.mark.parametrize("form", ["", ", formulation = tree"])
def test_a_block_glides_to_rest_on_a_table(k, form):
    """Its velocity (0.6, 0.8) k falls along itself, k - k t, whatever its direction."""
    text = f"""
use spatial
world gravity = [0, 0, 0] m/s2
b1 body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2
j1 planar_joint (ground, a) friction = {k} N
start j1.ratex = {0.6 * k} m/s
start j1.ratey = {0.8 * k} m/s
run transient(stop = 3 s{form})
"""
    samples = run(text, ("a.r.x", "a.r.y"))
    t = np.minimum(samples.time, 1.0)
    for axis, share in (("x", 0.6), ("y", 0.8)):
        assert samples.series(f"a.r.{axis}") / k == near(share * (t - t**2 / 2))
