# ruff: noqa: E501  (netlists in a line read best)
"""Oil hydraulics and pneumatics, element by element, against the closed form of each (steady flows, fillings, cylinders)."""

import numpy as np
import pytest
from scipy.optimize import brentq

import netsim

RHO, NU, BULK, ATM = 860.0, 46e-6, 1.6e9, 101325.0


def ended(text: str, *signals: str, stop: float = 1.0, **options: object) -> list[float]:
    """Values of signals at the end of a run."""
    run = netsim.load(text).transient(stop=stop, save=list(signals), **options)
    return [float(np.asarray(run[s])[-1]) for s in signals]


def edge(area: float, drop: float, rho: float = RHO, soft: float = 1000.0) -> float:
    """Flow through a sharp edge with its laminar transition."""
    return 0.62 * area * np.sqrt(2 / rho) * drop / (drop**2 + soft**2) ** 0.25


def through(element: str, pa: float, pb: float) -> float:
    """Flow from a to b between two prescribed pressures."""
    text = f"use hydraulic\nleft pressure (a, ground) p = {pa!r} Pa\nright pressure (b, ground) p = {pb!r} Pa\nk {element}\n"
    return ended(text, "k.q")[0]


def turbulent(drop: float) -> float:
    """A round pipe of 2 m and 10 mm: the flow at which Blasius' friction 0.3164 Re^-1/4 takes the drop."""
    return float(np.pi * 0.01**2 / 4 * (drop * 2 * 0.01**1.25 / (0.3164 * NU**0.25 * 2 * RHO)) ** (4 / 7))


LOSS = 5 * RHO / 2 / (np.pi * 0.01**2 / 4) ** 2
STEADY = {
    "laminar pipe": ("pipe (a, b) R = 2e9 Pa.s/m3", 3e5, 1e5, 2e5 / 2e9),
    "turbulent pipe, backwards": ("pipe (a, b) R = 1e9 Pa.s/m3, k = 1e13 Pa.s2/m6", 1e5, 3e5, -(np.sqrt(1e18 + 4e13 * 2e5) - 1e9) / 2e13),
    "round pipe, laminar": ("round_pipe (a, b) l = 2 m, d = 10 mm", 1e3, 0.0, 1e3 * np.pi * 0.01**4 / (128 * RHO * NU * 2)),
    "round pipe, turbulent": ("round_pipe (a, b) l = 2 m, d = 10 mm", 50e5, 0.0, turbulent(50e5)),
    "local loss": (
        "local_loss (a, b) zeta = 5, d = 10 mm",
        1e5,
        0.0,
        brentq(lambda q: LOSS * q * np.sqrt(q**2 + (150 * NU * np.pi * 0.01 / 4) ** 2) - 1e5, 0, 1, xtol=1e-18),
    ),
    "orifice": ("orifice (a, b) A = 2 mm2", 100e5, 20e5, edge(2e-6, 80e5)),
    "orifice, backwards": ("orifice (a, b) A = 2 mm2, rho = 1000 kg/m3", 20e5, 100e5, -edge(2e-6, 80e5, 1000)),
    "orifice, laminar": ("orifice (a, b) A = 2 mm2, dpt = 10 bar", 1e3, 0.0, edge(2e-6, 1e3, soft=1e6)),
    "sharp orifice": ("sharp_orifice (a, b) d = 1 mm", 10e5, 0.0, edge(np.pi * 1e-6 / 4, 10e5, soft=RHO / 2 * (12 * NU / 0.62e-3) ** 2)),
    "half open valve": ("valve (a, b) A = 2 mm2, opening = 0.5", 10e5, 0.0, edge(1e-6, 10e5) + 1e-16 * 10e5),
    "closed valve": ("valve (a, b) A = 2 mm2, opening = -1, leak = 1e-13 m3/s/Pa", 10e5, 0.0, 1e-13 * 10e5),
    "check valve, open": ("check_valve (a, b) G = 1e-9 m3/s/Pa, crack = 1 bar", 3e5, 0.0, 1e-9 * (2e5 - 1e3) + 1e-16 * 3e5),
    "check valve, shut": ("check_valve (a, b) G = 1e-9 m3/s/Pa, crack = 1 bar, leak = 1e-14 m3/s/Pa", 0.0, 50e5, -1e-14 * 50e5),
    "spring check valve, half": ("spring_check_valve (a, b) crack = 1 bar, full = 3 bar, A = 2 mm2", 2e5, 0.0, edge(1e-6, 2e5) + 1e-16 * 2e5),
    "relief valve, half": ("relief_valve (a, b) set = 100 bar, range = 10 bar, A = 2 mm2", 105e5, 0.0, edge(1e-6, 105e5) + 1e-16 * 105e5),
    "relief valve, shut": ("relief_valve (a, b) set = 100 bar, A = 2 mm2, leak = 1e-14 m3/s/Pa", 99e5, 0.0, 1e-14 * 99e5),
    "reducing valve, half": ("reducing_valve (a, b) set = 50 bar, range = 10 bar, A = 2 mm2", 100e5, 45e5, edge(1e-6, 55e5) + 1e-16 * 55e5),
    "reducing valve, shut": ("reducing_valve (a, b) set = 50 bar, A = 2 mm2, leak = 0 m3/s/Pa", 100e5, 60e5, 0.0),
}


@pytest.mark.parametrize("case", STEADY)
def test_steady_flow(case: str) -> None:
    element, pa, pb, wanted = STEADY[case]
    assert through(element, pa, pb) == pytest.approx(wanted, rel=1e-7, abs=1e-18)


@pytest.mark.parametrize(
    "spool, wanted", [(1.0, (1, 0, 0, 1)), (0.25, (0.25, 0, 0, 0.25)), (-0.5, (0, 0.5, 0.5, 0)), (0.0, (0, 0, 0, 0)), (2.0, (1, 0, 0, 1))]
)
def test_edges_of_the_four_way_valve(spool: float, wanted: tuple[float, ...]) -> None:
    """p-a, p-b, a-t and b-t, each open in proportion to the spool on its side."""
    text = "use hydraulic\ns pressure (p, ground) p = 100 bar\nu pressure (a, ground) p = 60 bar\nw pressure (b, ground) p = 40 bar\n"
    text += f"v valve_43 (p, ground, a, b) spool = {spool}, A = 2 mm2, leak = 0 m3/s/Pa\n"
    drops = (40e5, 60e5, 60e5, 40e5)
    found = ended(text, "v.q1", "v.q2", "v.q3", "v.q4")
    assert found == pytest.approx([edge(2e-6 * part, drop) for part, drop in zip(wanted, drops)], rel=1e-7, abs=1e-15)


def test_overlap_opens_nothing() -> None:
    text = "use hydraulic\ns pressure (p, ground) p = 100 bar\nu pressure (a, ground) p = 0 Pa\nw pressure (b, ground) p = 0 Pa\n"
    shut, open_ = (
        ended(text + f"v valve_43 (p, ground, a, b) spool = {x}, overlap = 0.2, A = 2 mm2, leak = 0 m3/s/Pa\n", "v.q1")[0] for x in (0.2, 0.6)
    )
    assert shut == pytest.approx(0, abs=1e-15) and open_ == pytest.approx(edge(1e-6, 100e5), rel=1e-7)


def test_two_positions_of_the_smaller_valves() -> None:
    text = "use hydraulic\ns pressure (p, ground) p = 100 bar\nu pressure (a, ground) p = 60 bar\nw pressure (b, ground) p = 40 bar\n"
    text += "v valve_32 (p, ground, a) spool = 0.25, A = 2 mm2, leak = 0 m3/s/Pa\nx valve_42 (p, ground, a, b) spool = 0.25, A = 2 mm2, leak = 0 m3/s/Pa\n"
    text += "y shuttle_valve (a, b, c) A = 2 mm2, leak = 0 m3/s/Pa\nz pressure (c, ground) p = 10 bar\n"
    found = ended(text, "v.qp", "v.qt", "x.q1", "x.q2", "x.q3", "x.q4", "y.qa", "y.qb")
    areas = (0.5e-6, 1.5e-6, 0.5e-6, 1.5e-6, 1.5e-6, 0.5e-6, 2e-6, 0.0)
    assert found == pytest.approx(
        [edge(area, drop) for area, drop in zip(areas, (40e5, 60e5, 40e5, 60e5, 60e5, 40e5, 50e5, 30e5))], rel=1e-7, abs=1e-15
    )


def aerated(p: float) -> float:
    return 1e-3 * (p / BULK + 0.005 * (1 - (1 + p / ATM) ** (-1 / 1.4)))


def gas_of(p: float, p0: float = 50e5) -> float:
    """Liquid in an accumulator of 1 l: polytropic gas and its shell."""
    return 1e-3 * (1 - max((p + ATM) / (p0 + ATM), 1.0) ** (-1 / 1.4) + p / 16e9)


FILLED = {
    "volume": ("volume (a) V = 1 dm3", lambda p: 1e-3 * p / BULK),
    "tank": ("open_tank (a) A = 0.01 m2", lambda p: 0.01 * p / (RHO * 9.80665)),
    "aerated volume": ("aerated_volume (a) V = 1 dm3", aerated),
    "accumulator": ("accumulator (a) V0 = 1 dm3, p0 = 50 bar", gas_of),
    "spring accumulator": ("spring_accumulator (a) A = 1e-3 m2, c = 50 kN/m, F0 = 1 kN", lambda p: 1e-3 * (p * 1e-3 - 1000) / 5e4 + 1e-3 * p / 16e9),
}


@pytest.mark.parametrize("case", FILLED)
def test_what_is_pumped_in_is_stored(case: str) -> None:
    """A constant flow for one second: the pressure at which the element holds that volume."""
    element, content = FILLED[case]
    pressure = ended(f"use hydraulic\ns flow (a, ground) Q = 1e-4 m3/s\nk {element}\n", "a.p", rtol=1e-8, from_="rest")[0]
    assert content(pressure) == pytest.approx(1e-4, rel=1e-6)


def test_water_fills_everything() -> None:
    """A world line changes the liquid of every element, a parameter that of one."""
    text = "use hydraulic\nworld oil_density = 1000 kg/m3, oil_bulk_modulus = 2.2 GPa\np pressure (a, ground) p = 50 bar\n"
    text += "o orifice (a, ground) A = 1 mm2\nr orifice (a, ground) A = 1 mm2, rho = 900 kg/m3\nf flow (b, ground) Q = 1e-6 m3/s\nv volume (b) V = 1 dm3\n"
    water, oil, p = ended(text, "o.q", "r.q", "b.p", rtol=1e-8, from_="rest")
    assert (water, oil) == pytest.approx((edge(1e-6, 50e5, 1000), edge(1e-6, 50e5, 900)), rel=1e-9)
    assert p == pytest.approx(1e-6 * 2.2e9 / 1e-3, rel=1e-6)


def test_pumps_and_motors() -> None:
    """Flow and torque at 100 rad/s against 100 bar, with leakage and friction; the impeller's pressure over speed and flow."""
    text = "use couplings\np pressure (a, ground) p = 100 bar\nm speed (w, ground) w = 100 rad/s\n"
    text += "k lossy_pump (a, ground, w) D = 2e-6 m3/rad, leak = 1e-12 m3/s/Pa, d = 0.01 N.m.s/rad, T0 = 0.5 N.m\n"
    text += "v variable_pump (a, ground, w) D = 2e-6 m3/rad, set = -0.5, d = 0.01 N.m.s/rad\ni pump (a, ground, w) D = 2e-6 m3/rad\n"
    q, t, qv, tv, qi, ti = ended(text, "k.q", "k.t", "v.q", "v.t", "i.q", "i.t")
    assert (q, t) == pytest.approx((-2e-4 + 1e-12 * 1e7, 20 + 0.5 + 0.02 * 20 + 1.0), rel=1e-9)
    assert (qv, tv) == pytest.approx((1e-4 + 1e-13 * 1e7, -10 + 1.0), rel=1e-9)
    assert (qi, ti) == pytest.approx((-2e-4, 20), rel=1e-9)
    impeller = "use couplings\nm speed (w, ground) w = 300 rad/s\nk centrifugal_pump (a, ground, w) k = 2 kg/m, c = 1e4 kg/m4, e = 1e9 Pa.s2/m6\nl pipe (a, ground) R = 1e8 Pa.s/m3\n"
    q, t = ended(impeller, "k.q", "k.t")
    assert 300 * (2 * 300 - 1e4 * q) - 1e9 * q**2 - 1e3 * q == pytest.approx(1e8 * q, rel=1e-9)
    assert t == pytest.approx(q * (600 - 1e4 * q), rel=1e-9)


def test_a_cylinder_against_its_spring_and_its_stop() -> None:
    """Equilibrium of pressure, return spring, and then the outer stop; the liquid's compression in the force on the piston."""
    text = "use couplings\np pressure (a, ground) p = {} Pa * min(time/(0.2 s), 1)\nm mass (rod) m = 1 kg\n"
    text += "k single_acting_cylinder (a, rod, ground) A = 1e-3 m2, stroke = 0.1 m, c = 50 kN/m, F0 = 1 kN, d = 2 kN.s/m\n"
    for pressure in (40e5, 80e5):
        x = ended(text.format(pressure), "rod.x", stop=3.0, rtol=1e-8, from_="rest")[0]
        push = 1e-3 * (pressure + pressure**2 / (2 * BULK))
        free = (push - 1000) / 5e4
        assert x == pytest.approx(free if free < 0.1 else (push - 1000 + 1e8 * 0.1) / (5e4 + 1e8), rel=1e-6)


def test_a_locked_cylinder_is_a_spring() -> None:
    """Both ports closed: the liquid's stiffness K (Aa^2/V1 + Ab^2/V2) at middle stroke carries a load on the rod."""
    text = "use couplings\nm mass (rod) m = 10 kg\nf force (rod) F = 100 N * min(time/(0.5 s), 1)\nd damper (rod, ground) d = 20 kN.s/m\n"
    text += (
        "k double_acting_cylinder (a, b, rod, ground) Aa = 2e-3 m2, Ab = 1e-3 m2, stroke = 0.2 m, Va = 1e-12 m3, Vb = 1e-12 m3\nstart rod.x = 0.1 m\n"
    )
    x, pa, pb = ended(text, "rod.x", "a.p", "b.p", stop=2.0, rtol=1e-9, from_="rest")
    stiffness = BULK * ((2e-3) ** 2 / 2e-4 + (1e-3) ** 2 / 1e-4)
    assert x - 0.1 == pytest.approx(100 / stiffness, rel=1e-4)
    assert pb * 1e-3 - pa * 2e-3 == pytest.approx(100, rel=1e-4)


def test_leakage_across_the_piston() -> None:
    """A piston held in place passes leak*dp, nothing else once its chambers are full."""
    text = "use couplings\np pressure (s, ground) p = 100 bar\nh pipe (s, a) R = 1e8 Pa.s/m3\nj pipe (b, ground) R = 1e8 Pa.s/m3\nz displacement (rod, ground) s = 0.1 m\n"
    text += "k double_acting_cylinder (a, b, rod, ground) Aa = 2e-3 m2, Ab = 1e-3 m2, stroke = 0.2 m, leak = 1e-11 m3/s/Pa\nstart rod.x = 0.1 m\n"
    q, dp = ended(text, "k.ql", "k.dp", stop=5.0)
    assert q == pytest.approx(1e-11 * dp, rel=1e-9) and q == pytest.approx(1e7 / (2e8 + 1e11), rel=1e-5)


R, CP, GAMMA = 287.05, 1004.7, 1004.7 / (1004.7 - 287.05)


def gas_flow(element: str, pa: float, pb: float, ta: float = 293.15) -> float:
    text = f"use gas\nleft gas_reservoir (a) p = {pa!r} Pa, T = {ta!r} K\nright gas_reservoir (b) p = {pb!r} Pa, T = 300 K\nk {element}\n"
    return ended(text, "k.flow")[0]


def nozzle(x: float) -> float:
    """Flow function of an isentropic nozzle over p/sqrt(R T) at the pressure ratio x."""
    return float(np.sqrt(2 * 1.4 / 0.4 * (x ** (2 / 1.4) - x ** (2.4 / 1.4))))


GAS = {
    "choked": ("gas_orifice (a, b) C = 2e-8 m4.s/kg", 6e5, 1e5, 2e-8 * 1.185 * 6e5),
    "choked and hot": ("gas_orifice (a, b) C = 2e-8 m4.s/kg", 6e5, 1e5, 2e-8 * 1.185 * 6e5 * np.sqrt(293.15 / 586.3)),
    "subsonic": ("gas_orifice (a, b) C = 2e-8 m4.s/kg, lam = 1e-9", 6e5, 4.5e5, 2e-8 * 1.185 * 6e5 * np.sqrt(1 - ((0.75 - 0.3) / 0.7) ** 2)),
    "backwards": ("gas_orifice (a, b) C = 2e-8 m4.s/kg", 1e5, 6e5, -2e-8 * 1.185 * 6e5 * np.sqrt(293.15 / 300)),
    "porous": ("gas_restrictor (a, b) G = 1e-15 kg/s/Pa2", 3e5, 1e5, 1e-15 * 8e10),
    "nozzle choked": (
        "gas_nozzle (a, b) A = 1 mm2, Cd = 1, opening = 0.5, lam = 1e-9",
        6e5,
        1e5,
        0.5e-6 * 6e5 / np.sqrt(R * 293.15) * nozzle((2 / 2.4) ** (1.4 / 0.4)),
    ),
    "nozzle subsonic": ("gas_nozzle (a, b) A = 1 mm2, Cd = 1, opening = 1, lam = 1e-9", 6e5, 4e5, 1e-6 * 6e5 / np.sqrt(R * 293.15) * nozzle(4 / 6)),
    "check valve": ("gas_check_valve (a, b) C = 2e-8 m4.s/kg", 6e5, 1e5, 2e-8 * 1.185 * 6e5),
    "check valve, shut": ("gas_check_valve (a, b) C = 2e-8 m4.s/kg", 1e5, 6e5, 0.0),
}


@pytest.mark.parametrize("case", GAS)
def test_gas_through_restrictions(case: str) -> None:
    element, pa, pb, wanted = GAS[case]
    assert gas_flow(element, pa, pb, 586.3 if case == "choked and hot" else 293.15) == pytest.approx(wanted, rel=1e-7, abs=1e-15)


def test_a_gas_spring_is_adiabatic() -> None:
    """A closed cylinder compressed by a third: p V^gamma and T V^(gamma - 1) stay."""
    text = "use couplings\nz displacement (rod, ground) s = 0.1 m + 0.05 m*min(time/(0.5 s), 1)\nt temperature (wall) T = 293.15 K\n"
    text += "k gas_cylinder (a, b, wall, rod, ground) Aa = 1e-3 m2, Ab = 8e-4 m2, stroke = 0.25 m, Va = 1e-12 m3, Vb = 1e-12 m3\n"
    text += "start rod.x = 0.1 m\nstart a.p = 2e5 Pa\nstart a.T = 300 K\nstart b.p = 3e5 Pa\nstart b.T = 300 K\n"
    pa, ta, pb, tb = ended(text, "a.p", "a.T", "b.p", "b.T", rtol=1e-8, from_="rest")
    assert (pa, ta) == pytest.approx((2e5 * 1.5**-GAMMA, 300 * 1.5 ** (1 - GAMMA)), rel=1e-6)
    assert (pb, tb) == pytest.approx((3e5 * 1.5**GAMMA, 300 * 1.5 ** (GAMMA - 1)), rel=1e-6)


def test_a_vessel_takes_the_walls_temperature() -> None:
    """m cv dT/dt = h A (Tw - T) in a closed vessel."""
    text = "use couplings\nt temperature (wall) T = 350 K\nk heated_gas_volume (a, wall) V = 10 dm3, A = 0.3 m2, h = 10 W/m2/K\nstart a.p = 1e5 Pa\nstart a.T = 300 K\n"
    found = ended(text, "a.T", stop=2.0, rtol=1e-8, from_="rest")[0]
    mass = 1e5 * 0.01 / (R * 300)
    assert found == pytest.approx(350 - 50 * np.exp(-10 * 0.3 * 2 / (mass * (CP - R))), rel=1e-7)


def test_edges_of_the_five_way_valve() -> None:
    text = "use gas\ns gas_reservoir (p) p = 7e5 Pa, T = 293.15 K\ne gas_reservoir (r) p = 1e5 Pa, T = 293.15 K\nu gas_reservoir (a) p = 2e5 Pa, T = 293.15 K\nw gas_reservoir (b) p = 5e5 Pa, T = 293.15 K\n"
    text += "v gas_valve_53 (p, r, a, b) spool = 0.5, C = 2e-8 m4.s/kg, leak = 0\n"
    into, out = ended(text, "u.m", "e.m")
    assert into == pytest.approx(-0.5 * 2e-8 * 1.185 * 7e5, rel=1e-7)
    assert out == pytest.approx(-0.5 * 2e-8 * 1.185 * 5e5, rel=1e-7)
