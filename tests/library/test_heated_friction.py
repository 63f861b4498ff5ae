"""Friction that holds and heats: all that motion loses arrives as heat, whatever starts are written."""

import numpy as np
import pytest

import netsim
from conftest import sampled

COOLED = "c heat_capacity (disc) C = 100 J/K, start T = 20 degC\ng thermal_conductor (disc, air) G = 2 W/K\ns temperature (air) T = 20 degC\n"
ALONE = "c heat_capacity (disc) C = 100 J/K, start T = 300 K\n"
USE = "use rotational\nuse translational\nuse thermal\nuse couplings\n"
BRAKES = {
    "brake": ("j inertia (a) J = 2 kg.m2, start w = 20 rad/s\nk heated_clutch (a, ground, disc) N = 10 N, mu = 0.5\n", 2 * 20**2 / 2, 8.0),
    "clutch": (
        "j inertia (a) J = 2 kg.m2\nl inertia (b) J = 3 kg.m2\nk heated_clutch (a, b, disc) N = 10 N, mu = 0.5\n"
        "start a.w = 20 rad/s\nstart b.w = -5 rad/s\n",
        0.5 * (6 / 5) * 25**2,
        25 / (5 / 2 + 5 / 3),
    ),
    "bearing": ("j inertia (a) J = 2 kg.m2, start w = 20 rad/s\nk heated_bearing (a, ground, disc) T = 5 N.m\n", 2 * 20**2 / 2, 8.0),
    "slide": ("m mass (a) m = 2 kg\nstart a.v = 20 m/s\nstart a.x = 1 m\nk heated_friction (a, ground, disc) F = 5 N\n", 2 * 20**2 / 2, 8.0),
}


@pytest.mark.parametrize("kind", BRAKES)
def test_all_the_work_of_friction_arrives_as_heat(kind):
    text, work, instant = BRAKES[kind]
    samples = sampled(netsim.load(f"{USE}{text}{ALONE}run transient(stop = 10 s)\n"), ("disc.T", "k.mode"), rtol=1e-9)
    assert samples.series("disc.T")[-1] - 300 == pytest.approx(work / 100, rel=1e-8)
    held = next(float(line.split("\t")[0]) for line in samples.attributes["event_log"].splitlines() if "mode = 0" in line)
    assert held == pytest.approx(instant, rel=1e-8) and samples.series("k.mode")[-1] == 0


def test_a_brake_that_cools():
    """C T' = M w - G (T - T0) with w falling linearly until it holds, exponentially from there on."""
    text = BRAKES["brake"][0]
    samples = sampled(netsim.load(f"{USE}{text}{COOLED}run transient(stop = 20 s)\n"), ("disc.T",), rtol=1e-9)
    t, rate, end = samples.time, 2 / 100, 8.0

    def rise(t):  # of T' = (5 (20 - 2.5 t))/C - rate T
        a, b = 100 / 100, -12.5 / 100
        return (a / rate - b / rate**2) * (1 - np.exp(-rate * t)) + b / rate * t

    expected = np.where(t < end, rise(np.minimum(t, end)), rise(end) * np.exp(-rate * (t - end)))
    assert samples.series("disc.T") == pytest.approx(293.15 + expected, abs=1e-6)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_what_a_mesh_loses_arrives_as_heat(size):
    """T at p, J1 there and J2 behind the ratio i: a = eta*i^2*T/(J2 + eta*i^2*J1), and (1 - eta)*(T - J1*a) of the torque at p is lost."""
    torque, near, far, eta, ratio = 10.0 * size, 1.0 * size, 5.0 * size, 0.8, 2.0
    text = (
        f"t torque (a) T = {torque} N.m\nj inertia (a) J = {near} kg.m2\nk heated_gear (a, b, disc) ratio = {ratio}, eta1 = {eta}\n"
        f"l inertia (b) J = {far} kg.m2\nc heat_capacity (disc) C = {100 * size} J/K, start T = 300 K\n"
    )
    samples = sampled(netsim.load(f"{USE}{text}run transient(stop = 10 s)\n"), ("disc.T", "a.phi"), rtol=1e-9)
    rate = eta * ratio**2 * torque / (far + eta * ratio**2 * near)
    assert samples.series("a.phi")[-1] == pytest.approx(rate * 10**2 / 2, rel=1e-7)
    assert samples.series("disc.T")[-1] - 300 == pytest.approx((1 - eta) * (torque - near * rate) * rate * 50 / (100 * size), rel=1e-6)


def test_what_a_shaft_with_play_loses_arrives_as_heat():
    """What the flywheels no longer have, and the shaft does not store, is in the heat capacity."""
    text = (
        "j inertia (a) J = 2 kg.m2, start w = 10 rad/s\nl inertia (b) J = 3 kg.m2\n"
        "k heated_backlash (a, b, disc) c = 1e4 N.m/rad, d = 20 N.m.s/rad, play = 0.05 rad\n"
    )
    samples = sampled(netsim.load(f"{USE}{text}{ALONE}run transient(stop = 2 s)\n"), ("disc.T", "a.w", "b.w", "a.phi", "b.phi"), rtol=1e-9)
    end = {name: samples.series(name)[-1] for name in ("disc.T", "a.w", "b.w", "a.phi", "b.phi")}
    twist = max(abs(end["a.phi"] - end["b.phi"]) - 0.025, 0.0)
    left = 2 * end["a.w"] ** 2 / 2 + 3 * end["b.w"] ** 2 / 2 + 1e4 * twist**2 / 2
    # 1e-9 of 300 K in 100 J/K is 3e-5 J, in each of the knocks
    assert 100 * (end["disc.T"] - 300) == pytest.approx(100 - left, abs=3e-4)
    assert 2 * end["a.w"] + 3 * end["b.w"] == pytest.approx(20, rel=1e-9) and left < 60
