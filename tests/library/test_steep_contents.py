"""Stores of which a small part of the pressure or temperature holds nearly everything: what they hold is an unknown, whose errors are
tested, as those of the pressure say nothing of it.

A volume that boils holds a million times as much per pressure as one of liquid, an accumulator a thousand times above its precharge, and a
body that melts. References: scipy's Radau at 1e-10 in what is held, which is smooth.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import netsim

METHODS = ("radau", "bdf", "trbdf2", "rk45")


def compared(text, signal, rate, begin, end, shown, scale):
    """The largest error over rtol and amplitude of a signal stays below 100 at 1e-4 and 30 at 1e-6 by every method; what is held has the
    rate rate(t, held), and `shown` is the signal of it."""
    found = solve_ivp(
        lambda t, y: [rate(t, y[0] * scale) / scale],
        (0, end),
        [begin / scale],
        "Radau",
        rtol=1e-10,
        atol=1e-12,
        max_step=end / 3000,
        dense_output=True,
    )
    t = np.linspace(0, end, 174)
    wanted = np.array([shown(held) for held in found.sol(t)[0] * scale])
    model, wrong = netsim.load(text), {}
    for method in METHODS:
        for rtol in (1e-4, 1e-6):
            result = model.transient(method=method, rtol=rtol, stop=end, sample=end / 173, save=[signal])
            assert not result.attrs["warnings"]
            values = np.interp(t, result["time"], result[signal])
            wrong[method, rtol] = float(np.abs(values - wanted).max() / np.abs(wanted).max() / rtol)
    assert all(error < (100 if rtol == 1e-4 else 30) for (_, rtol), error in wrong.items()), wrong


@pytest.mark.parametrize("V", [1e-9, 1.0])
def test_liquid_that_boils(V):
    flow, leak = V * 8 * np.pi * 1e-3, V * 1e-9
    text = f"""use hydraulic
v cavitating_volume (a) V = {V} m3, K = 1.6e9 Pa, pv = -1e5 Pa
q flow (ground, a) Q = {flow!r} m3/s*cos({4 * np.pi!r}*time/(1 s))
l pipe (a, ground) R = {1 / leak!r} Pa.s/m3
start a.p = 0 Pa
"""

    def pressure(held):
        return -1e5 + (1.6e9 if held > 0 else 1e3) * held / V

    compared(text, "a.p", lambda t, held: -flow * np.cos(4 * np.pi * t) - leak * pressure(held), V * 1e5 / 1.6e9, 3, pressure, 1e-3 * V)


@pytest.mark.parametrize("V", [1e-6, 1.0])
def test_an_accumulator_that_is_charged_and_emptied(V):
    P0, pa, K = 1e7 + 101325, 101325, 16e9
    text = f"""use hydraulic
v accumulator (a) V0 = {V} m3, p0 = 1e7 Pa
q flow (a, ground) Q = {V / 3!r} m3/s*sin(2*time/(1 s))
l pipe (a, ground) R = {1e9 / V!r} Pa.s/m3
start a.p = 0 Pa
"""

    def liquid(p):
        return V * (1 - max((p + pa) / P0, 1.0) ** (-1 / 1.4) + p / K)

    def pressure(held):
        return brentq(lambda p: liquid(p) - held, -1e11, 1e12, xtol=1e-6, rtol=1e-14)

    compared(text, "a.p", lambda t, held: V / 3 * np.sin(2 * t) - 1e-9 * V * pressure(held), 0.0, 8, pressure, V)


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
def test_a_spring_that_leaves_its_seat(size):
    A, c, F, V = 1e-3 * size**2, 1e5 * size, 5e3 * size**2, 1e-3 * size**3
    text = f"""use hydraulic
v spring_accumulator (a) A = {A!r} m2, c = {c!r} N/m, F0 = {F!r} N, V = {V!r} m3
q flow (a, ground) Q = {2e-4 * size**3!r} m3/s*sin(2*time/(1 s))
l pipe (a, ground) R = {1e11 / size**3!r} Pa.s/m3
start a.p = 0 Pa
"""
    shell, seat = V / 16e9, F / A

    def pressure(held):
        return held / shell if held < shell * seat else seat + (held - shell * seat) / (A * A / c + shell)

    def rate(t, held):
        return size**3 * (2e-4 * np.sin(2 * t) - 1e-11 * pressure(held))

    compared(text, "a.p", rate, 0.0, 8, pressure, 1e-4 * size**3)


@pytest.mark.parametrize("m", [1e-6, 1.0, 1e6])
def test_a_body_that_melts_and_freezes(m):
    cs, cl, latent, Ts, dT = 2000.0, 4200.0, 3.3e5, 273.15, 0.1
    text = f"""use thermal
b phase_change_store (a) m = {m} kg, cs = {cs} J/kg/K, cl = {cl} J/kg/K, L = {latent} J/kg, Ts = {Ts} K, dT = {dT} K
q heat_flow (a) Q = {1000 * m!r} W*sin(time/(150 s))
g thermal_conductor (a, cold) G = {m!r} W/K
t temperature (cold) T = 263.15 K
start a.T = 263.15 K
"""

    def temperature(held):
        h = held / m
        return Ts + (h / cs if h < 0 else dT * h / latent if h < latent else dT + (h - latent) / cl)

    def rate(t, held):
        return m * (1000 * np.sin(t / 150) + 263.15 - temperature(held))

    compared(text, "a.T", rate, -10 * cs * m, 2000, temperature, 1e5 * m)
