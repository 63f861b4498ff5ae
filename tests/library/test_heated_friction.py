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
