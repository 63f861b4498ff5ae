# ruff: noqa: E501  (netlists in a line read best)
"""Thermal chains, stores that melt, heat exchangers, pipes and valves against closed forms and points of data sheets."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.signal import lsim, lti

import netsim
from conftest import sampled


def network(text, *signals, **options):
    return sampled(netsim.load("use couplings\nuse signal\n" + text + "\n"), tuple(signals), **options)


def settled(text, *signals):
    """Signals at the steady state."""
    samples = network(text + "\nrun transient(stop = 1 ms, step = 1 ms)", *signals)
    found = [float(samples.series(s)[0]) for s in signals]
    return found[0] if len(found) == 1 else found


# ------------------------------------------------------------------------------------------------ chains


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_foster_chain_is_the_curve_of_the_data_sheet(scale):
    """Zth(t) = sum R (1 - exp(-t/tau)) per watt; what enters leaves at once."""
    R, tau = np.array([0.05, 0.2, 0.5, 0.25]), np.array([1e-3, 1e-2, 0.1, 1.0]) * scale
    text = f"q heat_flow (j) Q = 40 W*step(time, {0.1 * scale} s)\nz foster_chain (j, c) n = 4, R = {R.tolist()} K/W, tau = {tau.tolist()} s\nt temperature (c) T = 300 K\nrun transient(stop = {3 * scale} s, rtol = 1e-8)"
    samples = network(text, "j.T", "t.power")
    t = np.maximum(samples.time - 0.1 * scale, 0)
    wanted = 300 + 40 * np.sum(R * (1 - np.exp(-t[:, None] / tau)), axis=1)
    assert samples.series("j.T") == pytest.approx(wanted, abs=1e-4)
    assert samples.series("t.power")[t > 0] == pytest.approx(-40.0, abs=1e-9) and samples.series("t.power")[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("n, scale", [(2, 1.0), (4, 1e-6), (6, 1e6)])
def test_cauer_chain_is_its_linear_system(n, scale):
    """C dT/dt = flows between the layers, integrated by SciPy."""
    R, C = np.linspace(0.1, 0.4, n), np.linspace(0.01, 0.5, n) * scale
    A = np.zeros((n, n))
    for k in range(n):
        A[k, k] -= 1 / (R[k] * C[k])
        if k + 1 < n:
            A[k, k + 1] += 1 / (R[k] * C[k])
            A[k + 1, k + 1] -= 1 / (R[k] * C[k + 1])
            A[k + 1, k] += 1 / (R[k] * C[k + 1])
    text = f"q heat_flow (j) Q = 10 W\nz cauer_chain (j, c) n = {n}, R = {R.tolist()} K/W, C = {C.tolist()} J/K\nt temperature (c) T = 0 K\nrun transient(stop = {scale} s, from = rest, rtol = 1e-8, sample = {scale / 50} s)"
    samples = network(text, "j.T", "t.power")
    B = np.zeros((n, 1))
    B[0] = 10 / C[0]
    out = lti(A, B, [[1, *[0] * (n - 1)], [0] * (n - 1) + [1 / R[-1]]], np.zeros((2, 1)))
    _, found, _ = lsim(out, np.ones(len(samples.time)), samples.time)
    assert samples.series("j.T") == pytest.approx(found[:, 0], abs=1e-5) and -samples.series("t.power") == pytest.approx(found[:, 1], abs=1e-5)


@pytest.mark.parametrize("m", [1e-6, 1.0, 1e6])
def test_ice_melts_in_its_time(m):
    """Constant power: m cs dT/P, then m L/P while the temperature stays within 0.1 K, then m cl dT/P."""
    P = 100 * m
    text = f"q heat_flow (w) Q = {P} W\ns phase_change_store (w) m = {m} kg, cs = 2100 J/kg/K, cl = 4180 J/kg/K, L = 334e3 J/kg, Ts = 273.15 K, dT = 0.1 K, start T = 263.15 K\nrun transient(stop = 3975 s, sample = 1 s)"
    samples = network(text, "w.T", "s.liquid")
    t, T = samples.time, samples.series("w.T")
    assert pytest.approx(np.interp(t, [0, 210, 3550, 3975], [263.15, 273.15, 273.25, 273.25 + 42500 / 4180]), abs=1e-3) == T
    assert samples.series("s.liquid") == pytest.approx(np.clip((t - 210) / 3340, 0, 1), abs=1e-5)


# ------------------------------------------------------------------------------------------------ heat exchangers

RHO_CP = 995.6 * 4177


def counter(ntu, cr):
    return ntu / (1 + ntu) if cr == 1 else (1 - np.exp(-ntu * (1 - cr))) / (1 - cr * np.exp(-ntu * (1 - cr)))


EXCHANGERS = {
    "heat_exchanger": counter,
    "parallel_heat_exchanger": lambda ntu, cr: (1 - np.exp(-ntu * (1 + cr))) / (1 + cr),
    "crossflow_heat_exchanger": lambda ntu, cr: 1 - np.exp(ntu**0.22 / cr * (np.exp(-cr * ntu**0.78) - 1)),
}


@pytest.mark.parametrize("kind", EXCHANGERS)
@pytest.mark.parametrize("ntu, q1, q2", [(1.0, 1e-4, 1e-4), (2.5, 1e-4, 4e-4), (0.1, 3e-2, 1e-2), (8.0, 2e-6, 2.0001e-6), (1.5, 3e2, 1e3)])
def test_heat_exchanger_by_its_transfer_units(kind, ntu, q1, q2):
    """eps Cmin (T1 - T2): outlet temperatures, and what leaves one liquid enters the other."""
    small, large = min(q1, q2), max(q1, q2)
    text = f"a coolant_reservoir (a1) p = 0 Pa, T = 360 K\npa coolant_pump (a1, i1) flow = {q1} m3/s\nb coolant_reservoir (o2) p = 0 Pa, T = 290 K\npb coolant_pump (o2, i2) flow = {q2} m3/s\nx {kind} (i1, o1, i2, e2) UA = {ntu * small * RHO_CP} W/K, R1 = 1 Pa.s/m3, R2 = 1 Pa.s/m3\nvo coolant_restriction (o1, ground1)\nwo coolant_restriction (e2, ground2)\nr1 coolant_reservoir (ground1) p = 0 Pa, T = 300 K\nr2 coolant_reservoir (ground2) p = 0 Pa, T = 300 K"
    heat, eps, hot, cold = settled(text, "x.heat", "x.eps", "o1.T", "e2.T")
    wanted = EXCHANGERS[kind](ntu, small / large)
    power = wanted * small * RHO_CP * 70
    assert eps == pytest.approx(wanted, rel=2e-3) and heat == pytest.approx(power, rel=2e-3)
    assert hot == pytest.approx(360 - power / (q1 * RHO_CP), abs=0.15) and cold == pytest.approx(290 + power / (q2 * RHO_CP), abs=0.15)


@pytest.mark.parametrize("kind", EXCHANGERS)
@pytest.mark.parametrize("way1, way2", [(1, 1), (-1, -1), (1, -1), (-1, 1)])
@pytest.mark.parametrize("scale", [1e-4, 1e2])
def test_flows_of_an_exchanger_may_turn_round(kind, way1, way2, scale):
    """Both turned round it is as before; one alone makes counterflow of parallel flow and the reverse."""
    ntu, q1, q2 = 1.5, way1 * scale, 2 * way2 * scale
    text = f"a coolant_reservoir (a1) p = 0 Pa, T = 360 K\nc coolant_reservoir (o1) p = 0 Pa, T = 360 K\nb coolant_reservoir (a2) p = 0 Pa, T = 290 K\nd coolant_reservoir (o2) p = 0 Pa, T = 290 K\nx {kind} (i1, o1, i2, o2) UA = {ntu * scale * RHO_CP} W/K, R1 = {1 / scale} Pa.s/m3, R2 = {1 / scale} Pa.s/m3\npa coolant_pump (a1, i1) flow = {q1} m3/s\npb coolant_pump (a2, i2) flow = {q2} m3/s"
    other = {"heat_exchanger": "parallel_heat_exchanger", "parallel_heat_exchanger": "heat_exchanger"}
    wanted = EXCHANGERS[kind if way1 == way2 else other.get(kind, kind)](ntu, 0.5)
    assert settled(text, "x.eps", "x.heat") == pytest.approx([wanted, wanted * scale * RHO_CP * 70], rel=1e-4)


# ------------------------------------------------------------------------------------------------ pipes and heights


@pytest.mark.parametrize("Re, roughness", [(1e5, 1e-4), (1e6, 1e-3), (5e4, 0.0), (1e7, 2e-5)])
@pytest.mark.parametrize("d", [5e-6, 0.5])
def test_rough_pipe_and_colebrook(Re, roughness, d):
    """Colebrook and White's friction factor, solved: 1/sqrt(f) = -2 log10(e/3.7 + 2.51/(Re sqrt(f))), within the 2.5 % of Haaland's formula."""
    f = brentq(lambda f: 1 / np.sqrt(f) + 2 * np.log10(roughness / 3.7 + 2.51 / (Re * np.sqrt(f))), 1e-3, 1)
    nu, rho = 1e-6, 1000.0
    v = Re * nu / d
    q = v * np.pi * d**2 / 4
    text = f"s flow (a, ground) Q = {q} m3/s\np rough_pipe (a, ground) l = {100 * d} m, d = {d} m, roughness = {roughness * d} m, rho = 1000 kg/m3, nu = 1e-6 m2/s"
    assert settled(text, "a.p") == pytest.approx(f * 100 * rho / 2 * v**2, rel=0.025)


@pytest.mark.parametrize("Re", [1.0, 1000.0, 2300.0])
def test_rough_pipe_is_laminar_below_2300(Re):
    v = Re * 1e-6 / 0.01
    text = f"s flow (a, ground) Q = {v * np.pi * 1e-4 / 4} m3/s\np rough_pipe (a, ground) l = 1 m, d = 10 mm, roughness = 0.1 mm, rho = 1000 kg/m3, nu = 1e-6 m2/s"
    assert settled(text, "a.p") == pytest.approx(64 / Re * 100 * 500 * v**2, rel=1e-9)


@pytest.mark.parametrize("h", [1e-3, 8.0, -300.0])
def test_heights_balance_columns(h):
    """A tank stands h above another one: at rest its level is lower by h; a pump lifts q*rho*g*h."""
    text = f"world oil_density = 1000 kg/m3\na pressure (x, ground) p = {abs(h) + 10} m*1000 kg/m3*9.80665 m/s2\nup elevation (x, y) h = {h} m\nlow open_tank (y) A = 1 m2\nr pipe (y, y2) R = 1 Pa.s/m3\nv volume (y2) V = 1 l\nrun static()"
    (samples,) = netsim.load("use hydraulic\n" + text + "\nsave low.level\n").samples()
    assert samples.series("low.level")[0] == pytest.approx(abs(h) + 10 - h, rel=1e-6)
    lift = f"s flow (a, ground) Q = 2 l/s\nup elevation (a, b) h = {h} m, rho = 1000 kg/m3\nr pipe (b, ground) R = 1 Pa.s/m3"
    power, gravity = settled(lift, "s.power", "up.power")
    assert gravity == pytest.approx(-2e-3 * 9806.65 * h) and power == pytest.approx(2e-3 * 9806.65 * h + 4e-6)


@pytest.mark.parametrize("m, d", [(1e-8, 1e-3), (1e-3, 0.01), (0.5, 0.1)])
def test_gas_pipe_of_constant_temperature(m, d):
    """p1^2 - p2^2 = f l/d (m/A)^2 R T, the isothermal pipe, f = 64/Re or Blasius'."""
    R, T, mu, length = 287.05, 293.15, 1.82e-5, 1000 * d
    A = np.pi * d**2 / 4
    Re = m * d / (A * mu)
    f = 64 / Re if Re < 2300 else 0.3164 / Re**0.25
    assert Re < 2300 or Re > 4000
    end = 1e5
    wanted = np.sqrt(end**2 + f * length / d * (m / A) ** 2 * R * T)
    text = f"s gas_flow (a) m = {m} kg/s, T = {T} K\np gas_pipe (a, b) l = {length} m, d = {d} m\nk gas_flow_sensor (b, o, y)\nr gas_reservoir (o) p = {end} Pa, T = {T} K"
    pressure, flow, warm = settled(text, "a.p", "y", "b.T")
    assert pressure - end == pytest.approx(wanted - end, rel=1e-6) and flow == pytest.approx(m, rel=1e-9) and warm == pytest.approx(T, rel=1e-9)


# ------------------------------------------------------------------------------------------------ cavitation


@pytest.mark.parametrize("V", [1e-6, 1.0])
def test_volume_drawn_empty_cavitates(V):
    """A constant flow out: the pressure falls by K q t/V to the vapour pressure and stays within 1 kPa, vapour grows with the volume drawn; refilled, it is gone again."""
    q = V / 100
    start = 1e5 / 1.6e9 + 1.01e5 / 1.6e9
    text = f"s flow (a, ground) Q = {q} m3/s*(if time < 10 s then -1 else 1)\nv cavitating_volume (a) V = {V} m3, start p = 100 kPa\nrun transient(stop = 21 s, rtol = 1e-8, sample = 0.5 s)"
    samples = network(text, "a.p", "v.vapour")
    drawn = np.where(samples.time < 10, samples.time, 20 - samples.time) * q / V - start
    assert samples.series("v.vapour") == pytest.approx(np.maximum(drawn, 0), abs=2e-6)
    wanted = np.where(drawn < 0, -101e3 - 1.6e9 * drawn, -101e3 - 1e3 * drawn)
    assert samples.series("a.p") == pytest.approx(wanted, rel=1e-4, abs=2e3)


@pytest.mark.parametrize("inlet, outlet", [(10e5, 9e5), (10e5, 5e5), (10e5, 0.0), (10e5, -0.9e5), (300e5, 0.0)])
def test_orifice_chokes_by_cavitation(inlet, outlet):
    """IEC 60534: the effective pressure drop ends at FL^2 (p1 - pv)."""
    text = f"s pressure (a, ground) p = {inlet} Pa\nt pressure (b, ground) p = {outlet} Pa\nk cavitating_orifice (a, b) A = 1 mm2, FL = 0.8, rho = 1000 kg/m3, Cd = 0.7"
    effective = min(inlet - outlet, 0.64 * (inlet + 1.01e5))
    assert settled(text, "k.q") == pytest.approx(0.7e-6 * np.sqrt(2 * effective / 1000), rel=1e-4)


# ------------------------------------------------------------------------------------------------ valves

ORIFICE = "A = 10 mm2, rho = 860 kg/m3, Cd = 0.62"


def orifice(dp, opening=1.0):
    return opening * 0.62e-5 * np.sign(dp) * np.sqrt(2 * abs(dp) / 860)


@pytest.mark.parametrize(
    "pa, pb, px, open_",
    [(10e5, 5e5, 0, 1), (5e5, 10e5, 0, 0), (5e5, 100e5, 20e5, 0), (5e5, 100e5, 33e5, 1), (0, 0.25e5, 0.1083333333e5, 0), (5e5, 4.25e5, 0, 0.5)],
)
def test_pilot_check_valve(pa, pb, px, open_):
    """Opens as pa - pb + 3 px goes from 0.3 to 1.2 bar, whichever way it then flows."""
    text = f"s pressure (a, ground) p = {pa} Pa\nt pressure (b, ground) p = {pb} Pa\nx pressure (p, ground) p = {px} Pa\nk pilot_check_valve (a, b, p) {ORIFICE}"
    assert settled(text, "k.q") == pytest.approx(orifice(pa - pb, open_), rel=1e-4, abs=1e-8)


@pytest.mark.parametrize(
    "pa, pb, px, open_", [(100e5, 0, 0, 0), (202.5e5, 0, 0, 0.5), (100e5, 0, 40e5, 1), (100e5, 0, 33.75e5, 0.25), (0, 5e5, 0, 1)]
)
def test_counterbalance_valve(pa, pb, px, open_):
    """Set at 200 bar with a range of 5 bar and a pilot ratio of 3: the load's pressure and three times the pilot's open it; freely from b to a."""
    text = f"s pressure (a, ground) p = {pa} Pa\nt pressure (b, ground) p = {pb} Pa\nx pressure (p, ground) p = {px} Pa\nk counterbalance_valve (a, b, p) {ORIFICE}, set = 200 bar"
    assert settled(text, "k.q") == pytest.approx(orifice(pa - pb, open_), rel=1e-4, abs=2e-9)


@pytest.mark.parametrize("load", [0.0, 50e5, 190e5, 199.9e5, 210e5])
@pytest.mark.parametrize("opening", [0.2, 1.0])
def test_flow_control_valve_keeps_its_flow(load, opening):
    """The same flow at every load as long as 8 bar are left; less below, and backwards an orifice."""
    text = f"s pressure (a, ground) p = 200 bar\nt pressure (b, ground) p = {load} Pa\nk flow_control_valve (a, b) {ORIFICE}, opening = {opening}"
    assert settled(text, "k.q") == pytest.approx(orifice(min(200e5 - load, 8e5), opening), rel=1e-4 if abs(200e5 - load) > 1e5 else 3e-3)
