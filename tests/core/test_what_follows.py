"""What follows at once must follow the states and not move them: nodes without mass, prescribed fluxes, pressures."""

import numpy as np
import pytest

import netsim

DRIVEN = """use electrical
use translational
use couplings
m mass (a) m = {m:g} kg
d damper (a, b) d = {d:g} N.s/m
v voltage (e, ground) v = {v:g} V*sin({w:g} rad/s*time)
r resistor (e, c) R = {r:g} Ohm
k voice_coil (c, ground, b) k = {k:g} N/A
run transient(stop = {stop:g} s, sample = {sample:g} s)
save a.v, b.v, k.i
"""
ORDINARY = {"m": 3.0, "d": 2.0, "v": 1.0, "w": 2.0, "r": 1.0, "k": 2.0}
HEAVY = {"m": 1.38e8, "d": 3.31e6, "v": 3e-3, "w": 2.3e-3, "r": 1e-5, "k": 2.75}
SMALL = {"m": 1e-9, "d": 1e-7, "v": 1e-6, "w": 300.0, "r": 1e3, "k": 1e-3}
METHODS = ("radau", "bdf", "trbdf2", "rk45", "rk8")


def exact(t: np.ndarray, m: float, d: float, v: float, w: float, r: float, k: float) -> tuple[np.ndarray, ...]:
    """Velocities of the mass and of the node without one, and the current, from rest:

    m a' = d (b - a), d (b - a) = k i, r i = v sin(w t) - k b."""
    held = d + k**2 / r
    rate, drive = d * (1.0 - d / held) / m, d * k * v / r / held / m
    a = drive * (rate * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-rate * t)) / (rate**2 + w**2)
    b = (d * a + k * v / r * np.sin(w * t)) / held
    return a, b, (v * np.sin(w * t) - k * b) / r


@pytest.mark.parametrize("values", [ORDINARY, HEAVY, SMALL], ids=["ordinary", "heavy", "small"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_a_node_between_a_damper_and_a_voice_coil_moves_no_mass(values, method, rtol):
    """The force of the coil was 1e-9 times as costly as the mass: explicit methods moved the mass with the node, by its whole amplitude."""
    stop = 20.0 / values["w"]
    model = netsim.load(DRIVEN.format(**values, stop=stop, sample=stop / 83))
    (samples,) = model.samples({"method": method, "rtol": rtol})
    assert samples.finished, samples.message
    for name, right in zip(("a.v", "b.v", "k.i"), exact(samples.time, **values), strict=True):
        assert np.abs(samples.series(name) - right).max() <= 20 * rtol * np.abs(right).max(), name


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7])
def test_bdf_takes_no_more_steps_for_a_current_that_follows_such_a_node(rtol):
    """The current was looked at inside steps with a velocity that follows from BDF's x alone: 61 000 steps at 1e-6, and no end."""
    model = netsim.load(DRIVEN.format(**ORDINARY, stop=10.0, sample=0.1))
    (samples,) = model.samples({"method": "bdf", "rtol": rtol})
    assert samples.finished and samples.attributes["steps"] < 3000


FLUX = """use magnetic
use signal
use rotational
y0 signal_source (s) value = sin(1.9 rad/s*time + 2)
y1 first_order (s, y) T = 2.2 s
y2 product (s, y, z)
c saturating_core (m, ground) l = 0.5 m, A = 4 m2
f prescribed_flux (m, ground) flux = 12 Wb*z
{also}
run transient(stop = 4.8 s, sample = 0.12 s)
save y
"""
TURNING = "j inertia (w) J = 1 kg.m2\nt torque (w) T = 1 N.m"


@pytest.mark.parametrize("also", ["", TURNING], ids=["alone", "beside a mass"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_a_filter_is_not_moved_by_the_flux_that_follows_it(also, method, rtol):
    """The projection of explicit methods shared the flux's error with the filter: 350 rtol where the flux is small."""
    (samples,) = netsim.load(FLUX.format(also=also)).samples({"method": method, "rtol": rtol})
    t, w, phase, time = samples.time, 1.9, 2.0, 2.2
    right = (np.sin(w * t + phase) - w * time * np.cos(w * t + phase)) / (1 + (w * time) ** 2)
    right -= right[0] * np.exp(-t / time)
    assert samples.finished, samples.message
    assert np.abs(samples.series("y") - right).max() <= 5 * rtol * np.abs(right).max()


LIQUID = """use hydraulic
l1 pipe_section (h3, h2) R = 7.76e+04 Pa.s/m3, L = 12.6 kg/m4
v3 volume (h3) V = 0.603 m3, K = 1 GPa
r1 pipe (h4, h3) R = 5.5e+04 Pa.s/m3
v4 volume (h4) V = 0.562 m3, K = 1 GPa
r2 pipe (h5, h1) R = 1.12e+05 Pa.s/m3
r3 pipe (h7, h3) R = 7.76e+04 Pa.s/m3
l2 pipe_section (h4, h7) R = 9.33e+03 Pa.s/m3, L = 22.9 kg/m4
o1 orifice (h7, h2) A = 0.0105 m2, dpt = 89.1 Pa
r5 pipe (ground, h7) R = 2.57e+05 Pa.s/m3
o2 orifice (h1, h2) A = 0.019 m2, dpt = 53.7 Pa
l3 pipe_section (h3, ground) R = 3.89e+03 Pa.s/m3, L = 5.89 kg/m4
q flow (h5, ground) Q = 0.0347 m3/s*sin(3.09e+04 rad/s*time + 3.99)
run transient(stop = 1.1 ms, sample = 28 us)
save h1.p, h3.p, h4.p, h7.p
"""


@pytest.mark.parametrize("method", ["rk45", "rk8"])
def test_pressures_far_below_their_nominal_size_are_consistent_up_to_rounding(method):
    """A volume knows its pressure to the rounding of the bulk modulus, 1e-7 Pa: explicit methods stopped at 4e-11 s."""
    model = netsim.load(LIQUID)
    (fine,), (samples,) = model.samples({"rtol": 1e-9}), model.samples({"method": method, "rtol": 1e-6})
    assert samples.finished, samples.message
    assert (np.abs(samples.values - fine.values).max(axis=0) <= 20e-6 * np.abs(fine.values).max(axis=0)).all()
