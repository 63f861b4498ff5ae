# ruff: noqa: E501  (netlists in a line read best)
"""Hydraulic, pneumatic and coolant components against closed forms at the ends of their laws: transition of pipes, heat of friction, empty tanks, vacuum."""

import numpy as np
import pytest

import netsim
from conftest import sampled

LIBRARIES = "".join(f"use {name}\n" for name in ("coolant", "hydraulic", "gas", "thermal", "translational", "couplings"))
HEAT = 995.6 * 4177
"""Heat capacity of a cubic metre of water, as the coolant library has it."""


def run(text, *signals, **options):
    """The samples of some lines."""
    return sampled(netsim.load(LIBRARIES + text + "\n"), tuple(signals), **options)


def notes(text):
    """What a run of some lines notes."""
    return netsim.load(LIBRARIES + text + "\n").samples()[0].attributes.get("notes", "")


# ------------------------------------------------------------------------------------------------ pipes


@pytest.mark.parametrize("Re", [1e-3, 100.0, 500.0, 1000.0, 2000.0, 2300.0, -1000.0, 4000.0, 1e5, -1e5])
def test_round_pipe_is_laminar_then_blasius(Re):
    """dp = lambda l/d rho v^2/2 with 64/Re up to 2300 and 0.3164 Re^-1/4 from 4000 on."""
    d, nu, rho, length = 0.01, 1e-5, 860.0, 2.0
    v = Re * nu / d
    samples = run(
        f"s flow (a, ground) Q = {v * np.pi * d**2 / 4!r} m3/s\nk round_pipe (a, ground) l = {length} m, d = {d} m, nu = {nu} m2/s, rho = {rho} kg/m3\nrun transient(stop = 1 s, step = 1 s)",
        "a.p",
    )
    friction = 64 / abs(Re) if abs(Re) <= 2300 else 0.3164 / abs(Re) ** 0.25
    assert samples.series("a.p")[-1] == pytest.approx(friction * length / d * rho * v * abs(v) / 2, rel=1e-9)


def test_round_pipe_passes_smoothly_from_laminar_to_turbulent():
    """Pressure over flow grows throughout, and by no jump."""
    samples = run(
        "s flow (a, ground) Q = 1e-3 m3/s2*time\nk round_pipe (a, ground) l = 1 m, d = 10 mm, nu = 1e-5 m2/s\nrun transient(stop = 1 s, step = 1 ms)",
        "a.p",
        "k.q",
    )
    q, p = samples.series("k.q")[1:], samples.series("a.p")[1:]
    assert np.all(np.diff(p / q) >= -1e-9 * (p / q)[1:]) and np.max(np.diff(p)) < 0.02 * p[-1]


@pytest.mark.parametrize(
    "kind",
    [
        "coolant_restriction (a, b) R = 1e9 Pa.s/m3",
        "coolant_restriction (b, a) R = 1e9 Pa.s/m3",
        "coolant_check_valve (a, b) R = 1e9 Pa.s/m3",
        "coolant_valve (a, b) opening = 1, Kv = 1e-6 m3/s/Pa^0.5",
        "coolant_valve (b, a) opening = 1, Kv = 1e-6 m3/s/Pa^0.5",
    ],
)
@pytest.mark.parametrize("heated", [1.0, 0.5])
def test_friction_heats_what_flows(kind, heated):
    """Whatever throttles 10 bar, the liquid is warmer by dp/(rho cp) behind it; by half of that where half is said to leave."""
    text = f"r coolant_reservoir (a) p = 10 bar, T = 300 K\nk {kind}, heated = {heated}\np coolant_pipe (b, c) R = 1 Pa.s/m3\ns coolant_reservoir (c) p = 0 bar, T = 280 K\nrun transient(stop = 100 s)"
    samples = run(text, "p.T")
    assert samples.series("p.T")[-1] == pytest.approx(300 + heated * 1e6 / HEAT, abs=1e-6)


@pytest.mark.parametrize("kind, T", [("coolant_pipe (a, b)", "k.T"), ("heated_pipe (a, b, h)", "h.T")])
def test_friction_heats_the_pipe(kind, T):
    samples = run(
        f"r coolant_reservoir (a) p = 10 bar, T = 300 K\nk {kind} R = 1e9 Pa.s/m3\ns coolant_reservoir (b) p = 0 bar, T = 280 K\nrun transient(stop = 100 s)",
        T,
        "k.loss",
    )
    assert samples.series(T)[-1] == pytest.approx(300 + 1e6 / HEAT, abs=1e-6)


# ------------------------------------------------------------------------------------------------ tanks


@pytest.mark.parametrize("tank, T", [("coolant_tank (a)", "t.T"), ("heated_tank (a, h)", "h.T")])
def test_a_tank_without_a_start_is_filled_and_at_ambient_temperature(tank, T):
    """1 l/s in for 100 s into 1 m2: from 1 m (or what `filled` says) to 1.1 m; 300 K mix with 293.15 K."""
    temperature = "start h.T = 293.15 K\n" if "heat" in tank else ""
    for filled, given in ((1.0, ""), (3.0, ", filled = 3 m")):
        samples = run(
            f"t {tank} A = 1 m2{given}\np coolant_pump (b, a) flow = 1 L/s\nr coolant_reservoir (b) p = 0 bar, T = 300 K\n{temperature}run transient(stop = 100 s)",
            "t.level",
            T,
            rtol=1e-9,
        )
        assert samples.series("t.level") == pytest.approx(filled + samples.time * 1e-3, abs=1e-9)
        assert samples.series(T)[-1] == pytest.approx((filled * 293.15 + 0.1 * 300) / (filled + 0.1), abs=1e-4)


@pytest.mark.parametrize(
    "text, at",
    [
        ("t coolant_tank (a) A = 1 m2\np coolant_pump (a, b) flow = 0.1 m3/s\nr coolant_reservoir (b) p = 0 bar, T = 300 K", "10"),
        ("t open_tank (a) A = 1 m2\nf flow (a, ground) Q = -0.1 m3/s\nstart t.level = 1 m", "10"),
    ],
)
def test_an_empty_tank_is_told(text, at):
    told = notes(text + "\nrun transient(stop = 20 s)")
    assert f"'t' at t = {at}" in told and "the tank is empty" in told
    assert notes(text + "\nrun transient(stop = 9 s)") == ""


@pytest.mark.parametrize("tank, T", [("coolant_tank (a)", "t.T"), ("heated_tank (a, h)", "h.T")])
@pytest.mark.parametrize("level", [0.0, -0.5])
def test_an_empty_tank_fills(tank, T, level):
    """1 l/s of 300 K into 1 m2 for 1500 s: what is in it then is the liquid that came, and the account closes."""
    temperature = "start h.T = 350 K\n" if "heat" in tank else ""
    samples = run(
        f"t {tank} A = 1 m2, start level = {level} m\np coolant_pump (b, a) flow = 1 L/s\nr coolant_reservoir (b) p = 0 bar, T = 300 K\n{temperature}run transient(stop = 1500 s)",
        "t.level",
        T,
    )
    assert samples.values[-1] == pytest.approx([1.5 + level, 300], abs=1e-3)
    stored, supplied, lost = samples.energy.T
    assert (supplied - lost - stored + stored[0])[-1] == pytest.approx(0, abs=1e-8 * HEAT * 300)


@pytest.mark.parametrize("tank, T", [("coolant_tank (a)", "t.T"), ("heated_tank (a, h)", "h.T")])
def test_a_tank_that_is_drained_keeps_its_temperature(tank, T):
    """Emptied and beyond, which is told; its account closes there too."""
    temperature = "start h.T = 350 K\n" if "heat" in tank else "start t.T = 350 K\n"
    text = f"t {tank} A = 1 m2, start level = 0.5 m\np coolant_pump (a, b) flow = 1 L/s\nr coolant_reservoir (b) p = 0 bar, T = 300 K\n{temperature}"
    samples = run(text + "run transient(stop = 1500 s)", "t.level", T)
    assert samples.values[-1] == pytest.approx([-1.0, 350], abs=1e-3)
    stored, supplied, lost = samples.energy.T
    assert (supplied - lost - stored + stored[0])[-1] == pytest.approx(0, abs=1e-8 * HEAT * 300)


def test_a_tank_that_runs_out_to_its_bottom_is_not_called_empty():
    """It drains towards level 0 and stays there to rounding."""
    text = "t coolant_tank (a) A = 1 m2, start level = 3 m\nk coolant_pipe (a, b) R = 1e5 Pa.s/m3\nr coolant_reservoir (b) p = 0 bar, T = 300 K\nrun transient(stop = 1500 s)"
    assert notes(text) == ""


def test_open_tank_holds_the_worlds_liquid_in_the_worlds_gravity():
    text = "world gravity = [0, 0, -1.62] m/s2, oil_density = 900 kg/m3\nt open_tank (a) A = 2 m2, start p = 0 Pa\nf flow (a, ground) Q = 1 m3/s\nrun transient(stop = 1 s)"
    samples = run(text, "t.level", "a.p")
    assert samples.series("t.level")[-1] == pytest.approx(0.5) and samples.series("a.p")[-1] == pytest.approx(900 * 1.62 * 0.5)


# ------------------------------------------------------------------------------------------------ gas


@pytest.mark.parametrize("lam", [1e-3, 1e-6])
def test_nozzle_conducts_at_equal_pressures(lam):
    """m/dp there is 5/4 of the chord up to dp = lam p, as many from either side."""
    up = "r gas_reservoir (a) p = 1 bar*(1 + {}), T = 300 K\ns gas_reservoir (b) p = 1 bar, T = 300 K\nk gas_nozzle (a, b) opening = 1, A = 1 cm2, lam = {}\nrun transient(stop = 1 s, step = 1 s)"
    k, r = 1.4, 1 - lam
    chord = 0.8 * 1e-4 * 1e5 / np.sqrt(287.05 * 300) * np.sqrt(2 * k / (k - 1) * (r ** (2 / k) - r ** ((k + 1) / k)))
    for x in (1e-3 * lam, -1e-3 * lam):
        assert run(up.format(x, lam), "k.flow").series("k.flow")[-1] == pytest.approx(1.25 * chord * x / lam, rel=2e-3)


def test_nozzle_is_isentropic_beyond_its_linear_core():
    for ratio in (0.99, 0.9, 0.7):
        found = run(
            f"r gas_reservoir (a) p = 1 bar, T = 300 K\ns gas_reservoir (b) p = {ratio} bar, T = 300 K\nk gas_nozzle (a, b) opening = 1, A = 1 cm2\nrun transient(stop = 1 s, step = 1 s)",
            "k.flow",
        ).series("k.flow")[-1]
        wanted = 0.8 * 1e-4 * 1e5 / np.sqrt(287.05 * 300) * np.sqrt(7 * (ratio ** (2 / 1.4) - ratio ** (2.4 / 1.4)))
        assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("T", [60.0, 20.0])
def test_cold_gas_follows_its_law(T):
    samples = run(f"v gas_volume (a) V = 2 m3\nstart a.p = 1 bar\nstart a.T = {T} K\nrun transient(stop = 1 s)", "v.mass")
    assert samples.series("v.mass")[-1] == pytest.approx(2e5 / (287.05 * T), rel=1e-9)


def test_gas_colder_than_its_law_is_told():
    assert "colder than 10 K" in notes(
        "v gas_volume (a) V = 1 m3\ns gas_flow (a) m = -0.2 kg/s\nstart a.p = 1 bar\nstart a.T = 20 K\nrun transient(stop = 80 s)"
    )


@pytest.mark.parametrize("V", [1e-6, 1.0, 1000.0, 1e6])
def test_vessels_of_any_size_fill_alike(V):
    """k p0/p of the supply's temperature comes in adiabatically: p V = (k - 1)(U0 + cp T0 m)."""
    samples = run(
        f"s gas_flow (a) m = {V * 1e-3} kg/s, T = 300 K\nv gas_volume (a) V = {V} m3\nstart a.p = 1 bar\nstart a.T = 300 K\nrun transient(stop = 1000 s)",
        "a.p",
    )
    assert samples.series("a.p") == pytest.approx(1e5 + 287.05 / (1004.7 - 287.05) * 1004.7 * 300 * 1e-3 * samples.time, rel=1e-6)


# ------------------------------------------------------------------------------------------------ accumulators, vacuum, chambers


@pytest.mark.parametrize("kind, V", [("accumulator (a) V0 = 2 m3, p0 = 101325 Pa", "k.V"), ("aerated_volume (a) V = 1 m3, alpha = 0.1", "k.K_eff")])
def test_isothermal_gas(kind, V):
    """n = 1: the energy that flows in is stored, and the volume goes with 1/p."""
    samples = run(
        f"k {kind}, n = 1\nf flow (a, ground) Q = {0.5 if 'V0' in kind else 0.05} m3/s\nstart a.p = {101325 if 'V0' in kind else 0} Pa\nrun transient(stop = 1 s)",
        V,
        "a.p",
        rtol=1e-10,
    )
    p, (stored, supplied, lost) = samples.series("a.p")[-1], samples.energy[-1]
    if "V0" in kind:
        assert samples.series(V)[-1] == pytest.approx(2 * (1 - 2 * 101325 / (p + 101325)), rel=1e-9)
    else:
        assert samples.series(V)[-1] == pytest.approx(1 / (1 / 1.6e9 + 0.1 * 101325 / (p + 101325) ** 2), rel=1e-9)
    assert stored - samples.energy[0][0] == pytest.approx(supplied - lost, rel=1e-5) and abs(lost) < 1e-5 * supplied


@pytest.mark.parametrize(
    "kind",
    [
        "volume (a) V = 1 L",
        "aerated_volume (a) V = 1 cm3, alpha = 1e-4",
        "accumulator (a) V0 = 1 L, p0 = 10 bar",
        "round_pipe (a, ground) l = 1 m, d = 1 mm",
    ],
)
def test_a_pressure_below_vacuum_is_told(kind):
    """Once, at the node, whatever stands there."""
    told = notes(
        f"k {kind}\nf flow (a, ground) Q = -1 cm3/s\nstart a.p = 0 Pa\nrun transient(stop = 10 s)".replace("start" if "pipe" in kind else "#", "#")
    )
    assert "node 'a' at t = " in told and told.count("below vacuum") == 1


def test_vacuum_of_a_tank_in_thin_air_is_told_by_its_element():
    text = "k accumulator (a) V0 = 1 L, p0 = 10 bar, pa = 0.7 bar\nf pressure (a, ground) p = -0.8 bar\nrun transient(stop = 1 s)"
    assert "accumulator 'k' at t = 0 s: the pressure falls below vacuum" in notes(text)


def test_a_chamber_that_is_used_up_is_told():
    text = "k chamber_piston (a, x, ground) A = 10 cm2, V0 = 1e-5 m3\np pressure (a, ground) p = 1 bar\nd displacement (x, ground) s = -0.02 m/s*time\nrun transient(stop = 1 s)"
    assert "chamber_piston 'k' at t = 0.5" in notes(text) and "end of its chamber" in notes(text)
