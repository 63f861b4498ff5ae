# ruff: noqa: E501  (netlists in a line read best)
"""Models of the wider library against closed forms, linear blocks against SciPy, and the coverage of the Modelica Standard Library's list."""

import numpy as np
import pytest
from scipy import signal as linear

import netsim
from conftest import ran, sampled
from oracles import integrated


def test_gas_bottle():
    """Mass and energy of an adiabatic bottle filled through a choked orifice: p' = k R Tl m/V, T from p V = M R T."""
    samples = ran("gas_bottle", ("tank.p", "tank.T", "valve.flow"))
    t, p, T = samples.time, samples.series("tank.p"), samples.series("tank.T")
    R, cp, V = 287.05, 1004.7, 0.01
    flow = 1e-8 * 1.185 * 10e5 * np.sqrt(293.15 / 300)
    early = p < 0.3 * 10e5
    assert samples.series("valve.flow")[early] == pytest.approx(flow, rel=1e-6)
    rate = flow * cp * 300 * R / (cp - R) / V
    assert p[early] == pytest.approx(1000 + rate * t[early], rel=2e-3)
    mass = 1000 * V / (R * 300) + flow * t
    assert T[early][1:] == pytest.approx((p * V / (R * mass))[early][1:], rel=2e-3)


def test_cooling_circuit():
    t, wall, motor = (ran("cooling_circuit", ("w.T", "m.T")).time, *(ran("cooling_circuit", ("w.T", "m.T")).series(s) for s in ("w.T", "m.T")))
    rho_cp = 995.6 * 4177

    def rate(time, z):
        heat = 1000 * (z[1] - z[0])
        return [(rho_cp * 1e-4 * (293.15 - z[0]) + heat) / (rho_cp * 1e-3), (5000 - heat) / 500]

    late = t >= 1.0 - 1e-9
    wanted = integrated(rate, t[late], [293.15, 293.15], "Radau", 1e-9, 1e-12)
    assert wall[late] == pytest.approx(wanted[0], abs=1e-5)
    assert motor[late] == pytest.approx(wanted[1], abs=1e-5)
    assert wall[-1] == pytest.approx(293.15 + 5000 / (rho_cp * 1e-4), abs=0.01)


def test_hydraulic_servo():
    """Steady speed of a symmetric cylinder without load but friction: v = Cd A/2 sqrt((p - F/A)/rho)/A over two equal edges, the oil compressed by p/K."""
    samples = ran("hydraulic_servo", ("rod.v", "a.p", "b.p"))
    v = samples.series("rod.v")[-1]
    drop = (100e5 - 500 * v / 1e-3) / 2
    assert v == pytest.approx(0.62 * 5e-6 * np.sqrt(2 * drop / 860) / 1e-3 / (1 + 50e5 / 1.6e9), rel=2e-4)
    assert samples.series("a.p")[-1] - samples.series("b.p")[-1] == pytest.approx(500 * v / 1e-3, rel=2e-2)


def test_electromagnet():
    """Ampere's law around the iron and the gap at the end, and Maxwell's pull."""
    mu0 = 1.25663706212e-6
    i, B, push = (ran("electromagnet", ("coil.i", "gap.B", "hold.push")).series(s) for s in ("coil.i", "gap.B", "hold.push"))
    field = B / (mu0 * 4000) * (1 + (B / 1.6) ** 8)
    assert 500 * i == pytest.approx(field * 0.2 + B / mu0 * 2e-3, rel=1e-6, abs=1e-6)
    assert push == pytest.approx(B**2 * 4e-4 / (2 * mu0), rel=1e-6, abs=1e-9)
    assert i[-1] == pytest.approx(2.0, rel=5e-3)


def test_water_hammer():
    """A line closed at its end: Joukowsky's pressure rho*a*v arrives at once and stays for two travels."""
    text = """use hydraulic
q     flow            (a, ground)  Q = 1e-4 m3/s*min(time/(1 ms), 1)
line  hydraulic_line  (a, b)       n = 40, l = 20 m, d = 20 mm, nu = 1e-9 m2/s, rho = 800 kg/m3, K = 1.28 GPa
end_  volume          (b)          V = 1e-9 m3
save  a.p
run   transient(stop = 25 ms, step = 20 us, method = generalized_alpha, from = rest)
"""
    samples = sampled(netsim.load(text))
    t, p = samples.time, samples.series("a.p")
    wave = np.sqrt(1.28e9 / 800)
    wanted = 800 * wave * 1e-4 / (np.pi * 1e-4)
    assert np.mean(p[(t > 8e-3) & (t < 22e-3)]) == pytest.approx(wanted, rel=0.03)


BLOCKS = {
    "transfer_function": ("n = 3, a = [6, 11, 6], b = [1, 2, 0.5], d = 0.25", ([0.25, 2.0, 4.75, 2.5], [1, 6, 11, 6])),
    "state_space": (
        "n = 2, A = [[-1, 2], [-3, -2]], B = [1, 2], C = [3, 1], D = 0.5",
        linear.ss2tf([[-1, 2], [-3, -2]], [[1], [2]], [[3, 1]], [[0.5]]),
    ),
    "critical_damping": ("n = 3, f = 0.5 Hz", ([1], np.poly1d([np.sqrt(2 ** (1 / 3) - 1) / np.pi, 1]) ** 3)),
    "butterworth2": ("f = 0.5 Hz", linear.butter(2, np.pi, analog=True)),
    "butterworth4": ("f = 0.5 Hz", linear.butter(4, np.pi, analog=True)),
    "pade_delay": ("T = 1 s", ([1, -20, 180, -840, 1680], [1, 20, 180, 840, 1680])),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_linear_blocks(name):
    """The response to a smooth input against SciPy's."""
    given, (top, bottom) = BLOCKS[name]
    model = netsim.load(
        f"use signal\ns signal_source (u) value = sin(2*time/(1 s))^2\nk {name} (u, y) {given}\nsave k.y\n"
        "run transient(stop = 4 s, step = 2 ms, method = generalized_alpha, from = rest)\n"
    )
    samples = sampled(model)
    t = samples.time
    top = np.atleast_1d(np.squeeze(top))
    wanted = linear.lsim((top, np.asarray(bottom)), np.sin(2 * t) ** 2, t)[1]
    assert samples.series("k.y") == pytest.approx(wanted, abs=2e-4 * max(1.0, np.max(np.abs(wanted))))


def test_state_space_of_two_signals():
    model = netsim.load(
        "use signal\ns constant (u) value = 1\nt constant (v) value = 2\nk two_ports_state_space (u, v, y, z) A = [[-1, 0], [0, -2]], B = [[1, 0], [0, 1]],"
        " D = [[0, 1], [0, 0]]\nsave k.y1, k.y2\nrun transient(stop = 1 s, step = 1 ms, method = generalized_alpha, from = rest)\n"
    )
    samples = sampled(model)
    assert samples.series("k.y1")[-1] == pytest.approx(2 + 1 - np.exp(-1), rel=1e-4)
    assert samples.series("k.y2")[-1] == pytest.approx(1 - np.exp(-2), rel=1e-4)


def test_series_and_leaky_elements():
    """Step responses: V/R (1 - exp(-R t/L)) and a capacitor that discharges over its own conductance."""
    text = "use electrical\ns voltage (a, ground) v = 10 V\nk series_rl (a, ground) R = 2 Ohm, L = 1 H, start i = 0 A\n"
    text += "c leaky_capacitor (b, ground) C = 1 F, G = 2 S, start v = 3 V\nsave k.i, b.v\nrun transient(stop = 1 s, step = 1 ms, method = generalized_alpha)\n"
    samples = sampled(netsim.load(text))
    assert samples.series("k.i")[-1] == pytest.approx(5 * (1 - np.exp(-2)), rel=1e-4)
    assert samples.series("b.v")[-1] == pytest.approx(3 * np.exp(-2), rel=1e-4)


def test_pipe_section():
    text = "use hydraulic\ns pressure (a, ground) p = 10 Pa\nk pipe_section (a, ground) R = 2 Pa.s/m3, L = 1 kg/m4, start q = 0 m3/s\nsave k.q\n"
    samples = sampled(netsim.load(text + "run transient(stop = 1 s, step = 1 ms, method = generalized_alpha)\n"))
    assert samples.series("k.q")[-1] == pytest.approx(5 * (1 - np.exp(-2)), rel=1e-4)


def test_a_voltage_may_jump_before_a_coil_with_an_air_gap():
    """The current rises as 1 - exp(-t/tau), tau = N^2 mu0 A/(gap R): nothing has to follow the jump (E306 said so)."""
    text = (
        "use electrical\nuse magnetic\nuse couplings\nuse translational\nv voltage (a, ground) v = 12 V*step(time, at = 10 ms)\n"
        "r resistor (a, b) R = 10 Ohm\nw winding (b, ground, m, ground) N = 1000\ng air_gap (m, ground, arm, ground) A = 1 cm2, rest = 1 mm\n"
        "h displacement (arm, ground) s = 0 m\nrun transient(stop = 60 ms)\n"
    )
    samples = sampled(netsim.load(text), ("w.i", "h.f"), rtol=1e-8)
    mu0 = 1.25663706212e-6
    late = np.maximum(samples.time - 10e-3, 0.0) / (1e6 * mu0 * 1e-4 / 1e-3 / 10)
    current = 1.2 * (1 - np.exp(-late))
    assert np.abs(samples.series("w.i")) == pytest.approx(current, abs=1e-6)
    assert np.abs(samples.series("h.f")) == pytest.approx((1000 * current / 1e-3 * mu0) ** 2 * 1e-4 / (2 * mu0), abs=1e-4)
