# ruff: noqa: E501  (netlists in a line read best)
"""Parts of power circuits against closed forms and points of data sheets."""

import numpy as np
import pytest
from scipy.optimize import brentq

import netsim
from conftest import sampled

BOLTZMANN, CHARGE = 1.380649e-23, 1.602176634e-19


def circuit(text, *signals, **options):
    """The samples of a netlist of circuits, heat and blocks."""
    return sampled(netsim.load("use couplings\nuse signal\n" + text + "\n"), tuple(signals), **options)


def settled(text, *signals):
    """Signals at the operating point."""
    samples = circuit(text + "\nrun transient(stop = 1 ms, step = 1 ms)", *signals)
    found = [float(samples.series(s)[0]) for s in signals]
    return found[0] if len(found) == 1 else found


# ------------------------------------------------------------------------------------------------ resistances


@pytest.mark.parametrize("R", [1e-3, 1e3, 1e9])
@pytest.mark.parametrize("T", [250.0, 300.15, 400.0])
def test_temperature_coefficients(R, T):
    """SPICE: R (1 + TC1 dT + TC2 dT^2); with and without a heat terminal."""
    wanted = R * (1 + 4e-3 * (T - 300.15) + 1e-5 * (T - 300.15) ** 2)
    law = f"R = {R} Ohm, TC1 = 4e-3 K^-1, TC2 = 1e-5 K^-2"
    text = f"s voltage (a, ground) v = 2 V\nr tempco_resistor (a, ground) {law}, T = {T} K\nh heated_tempco_resistor (a, ground, w) {law}\nt temperature (w) T = {T} K"
    i, loss, j, heat = settled(text, "r.i", "r.loss", "h.i", "t.power")
    assert [i, j] == pytest.approx([2 / wanted] * 2, rel=1e-9) and [loss, -heat] == pytest.approx([4 / wanted] * 2, rel=1e-9)


def test_resistance_stays_positive():
    text = "s voltage (a, ground) v = 1 V\nr tempco_resistor (a, ground) R = 10 Ohm, TC1 = 4e-3 K^-1, T = 10 K"
    assert settled(text, "r.i") == pytest.approx(100.0)


@pytest.mark.parametrize("celsius, ohm", [(-200, 18.52), (-100, 60.26), (0, 100.0), (100, 138.51), (200, 175.86), (850, 390.48)])
def test_platinum_resistor_of_the_standard(celsius, ohm):
    """IEC 60751, table of Pt100, given to 0.01 Ohm."""
    text = f"s current (a, ground) I = 1 mA\nr platinum_resistor (a, ground, w)\nt temperature (w) T = {celsius + 273.15} K"
    assert settled(text, "a.v") == pytest.approx(ohm * 1e-3, abs=5.1e-6)


@pytest.mark.parametrize("R, B", [(10e3, 3977.0), (5.0, 2800.0), (1e6, 4500.0)])
def test_thermistor_by_two_points(R, B):
    """Its resistances at 25 and 85 degC are those from which B was computed; the loss is heat."""
    for T in (298.15, 358.15):
        text = f"s voltage (a, ground) v = 0.1 V\nr ntc (a, ground, w) R = {R} Ohm, B = {B} K\nt temperature (w) T = {T} K"
        i, heat = settled(text, "r.i", "t.power")
        assert 0.1 / i == pytest.approx(R * np.exp(B / T - B / 298.15), rel=1e-9) and -heat == pytest.approx(0.1 * i, rel=1e-9)


def test_thermistor_warms_itself_to_its_balance():
    """v^2/R(T) = G (T - Ta): the balance found independently."""
    text = "s voltage (a, ground) v = 5 V\nr ntc (a, ground, w) R = 1 kOhm, B = 3500 K\ng thermal_resistor (w, o) R = 300 K/W\nt temperature (o) T = 298.15 K\nc heat_capacity (w) C = 0.1 J/K, start T = 298.15 K\nrun transient(stop = 600 s)"
    samples = circuit(text, "w.T")
    wanted = brentq(lambda T: 25 / (1e3 * np.exp(3500 / T - 3500 / 298.15)) - (T - 298.15) / 300, 298.15, 320)
    assert samples.series("w.T")[-1] == pytest.approx(wanted, abs=1e-3)


# ------------------------------------------------------------------------------------------------ protection


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("over", [1.2, 3.0, 30.0])
def test_fuse_melts_when_its_formula_says(scale, over):
    """-I2t/I0^2 log(1 - (I0/I)^2): for large currents I2t/I^2."""
    I0, I2t = 10 * scale, 100 * scale**2
    wanted = -I2t / I0**2 * np.log(1 - 1 / over**2)
    text = f"s current (a, ground) I = {over * I0} A\nf fuse (a, ground) R = 1 mOhm, I0 = {I0} A, I2t = {I2t} A2.s, start x = 0\nr resistor (a, ground) R = 1 MOhm\nrun transient(stop = {2 * wanted} s)"
    samples = circuit(text, "f.blown", "f.i")
    assert samples.time[np.argmax(samples.series("f.blown"))] == pytest.approx(wanted, rel=2e-5)
    if over == 30:
        assert wanted == pytest.approx(I2t / (over * I0) ** 2, rel=1e-3)
    assert abs(samples.series("f.i")[-1]) < 0.01 * over * I0


def test_fuse_carries_its_current_for_ever():
    samples = circuit(
        "s current (a, ground) I = 9.9 A\nf fuse (a, ground) R = 1 mOhm, I0 = 10 A, I2t = 100 A2.s\nrun transient(stop = 1 h)", "f.blown", "a.v"
    )
    assert samples.series("f.blown")[-1] == 0 and samples.series("a.v")[-1] == pytest.approx(9.9e-3)


@pytest.mark.parametrize("V1, alpha", [(430.0, 30.0), (22.0, 20.0), (6000.0, 50.0)])
def test_varistor_through_two_points(V1, alpha):
    """V1 at 1 mA, and 10 A at V1 10^(4/alpha): that is what alpha says."""
    for i in (1e-3, -1e-3, 10.0):
        text = f"s current (a, ground) I = {i} A\nr varistor (a, ground) V1 = {V1} V, alpha = {alpha}, Rs = 0.1 Ohm"
        assert settled(text, "a.v") == pytest.approx(np.sign(i) * V1 * (abs(i) / 1e-3) ** (1 / alpha) + 0.1 * i, rel=1e-6)


def test_varistor_takes_the_energy_of_a_coil():
    """All of L I^2/2 goes into it, less what the resistance beside it takes."""
    text = "l inductor (a, ground) L = 10 mH, start i = -5 A\nr varistor (a, ground) V1 = 100 V, C = 1 nF\nlet taken = integral(r.loss)\nrun transient(stop = 1 ms, from = rest)\nsave taken, a.v"
    samples = circuit(text)
    assert samples.series("taken")[-1] == pytest.approx(10e-3 * 25 / 2, rel=1e-3)
    assert max(samples.series("a.v")) == pytest.approx(100 * 5000 ** (1 / 30), rel=1e-3)


# ------------------------------------------------------------------------------------------------ light


@pytest.mark.parametrize("Vf, If, light", [(3.0, 0.35, 0.5), (1.9, 0.02, 4e-3), (3.4, 30.0, 40.0), (2.0, 1e-6, 1e-7)])
def test_led_by_its_data_sheet(Vf, If, light):
    """Vf and the radiant flux at If; the rest is heat, and the light leaves."""
    text = f"s current (a, ground) I = {If} A\nd led (a, ground, w) Vf = {Vf} V, If = {If} A, light = {light} W, Rs = {0.1 * Vf / If} Ohm\nt temperature (w) T = 298.15 K"
    v, flux, heat = settled(text, "a.v", "d.flux", "t.power")
    assert [v, flux, -heat] == pytest.approx([Vf, light, Vf * If - light], rel=1e-6)


def test_voltage_of_a_led_goes_with_temperature():
    """u = Eg + (u0 - Eg) T/T0 at constant current, Eg the energy of the photons."""
    gap = 1.239841984e-6 / 630e-9
    for T in (250.0, 298.15, 360.0):
        text = f"s current (a, ground) I = 20 mA\nd led (a, ground, w) Vf = 1.8 V, If = 20 mA, light = 5 mW, wavelength = 630 nm\nt temperature (w) T = {T} K"
        assert settled(text, "a.v") == pytest.approx(gap + (1.8 - gap) * T / 298.15, rel=1e-6)


KC200GT = "Isc = 8.21 A, Voc = 32.9 V, ns = 54, N = 1.3, Rs = 0.221 Ohm, Rsh = 415.405 Ohm, kI = 3.8733e-4 K^-1, kV = -3.73860e-3 K^-1"
"""Kyocera KC200GT, the module of Villalva, Gazoli and Filho (2009): 7.61 A at 26.3 V is its point of largest power."""


@pytest.mark.parametrize("v, i", [(0.0, 8.21), (26.3, 7.61), (32.9, 0.0)])
def test_solar_module_by_its_data_sheet(v, i):
    text = f"s voltage (a, ground) v = {v} V\npv solar_cell (a, ground) {KC200GT}, irradiance = 1000 W/m2"
    current, power = settled(text, "pv.i", "pv.power")
    assert -current == pytest.approx(i, abs=0.01) and power == pytest.approx(-v * current, abs=1e-9)


def test_solar_module_goes_with_light_and_temperature():
    """The short-circuit current with the irradiance, the open voltage by kV at 75 degC: 32.9 - 0.123*50 V."""
    dark = settled(f"s voltage (a, ground) v = 0 V\npv solar_cell (a, ground) {KC200GT}, irradiance = 200 W/m2", "pv.i")
    assert -dark == pytest.approx(8.21 / 5, rel=1e-4)
    text = f"r resistor (a, ground) R = 1 GOhm\npv solar_cell (a, ground) {KC200GT}, irradiance = 1000 W/m2, T = 348.15 K"
    assert settled(text, "a.v") == pytest.approx(32.9 - 0.123 * 50, rel=1e-5)


# ------------------------------------------------------------------------------------------------ batteries

TABLE = "k = 4, SOC = [0, 0.1, 0.9, 1], OCV = [3.0, 3.4, 4.0, 4.2] V"


@pytest.mark.parametrize("Ns, Np, hours", [(1, 1, 2.5), (96, 4, 50.0), (1, 1, 1e-6), (1, 1, 1e6)])
def test_battery_discharges_by_its_table(Ns, Np, hours):
    """The charge leaves with the current; the voltage is the table's less Ri i; the energy account closes."""
    current = 0.5 * Np * hours
    text = f"s current (ground, a) I = {current} A\nb battery (a, ground) Ns = {Ns}, Np = {Np}, Qnom = {hours * 3600} C, Ri = 20 mOhm, {TABLE}, start soc = 0.95\nrun transient(stop = 1 h)"
    samples = circuit(text, "a.v", "b.soc", "b.E", "s.power", "b.loss")
    soc = 0.95 - 0.5 * samples.time / 3600
    ocv = np.interp(soc, [0, 0.1, 0.9, 1], [3.0, 3.4, 4.0, 4.2])
    assert samples.series("b.soc") == pytest.approx(soc, rel=1e-9)
    assert samples.series("a.v") == pytest.approx(Ns * (ocv - 0.02 * current / Np), rel=1e-5)  # a sample at the corner of the table
    energy = Ns * Np * hours * 3600 * (0.05 * (4.0 + 4.1) / 2 + 0.45 * (4.0 + ocv[-1]) / 2)
    assert samples.series("b.E")[0] - samples.series("b.E")[-1] == pytest.approx(energy, rel=1e-8)


def test_battery_recovers_with_two_time_constants():
    """After a load the voltage rises by R1 i (1 - exp(-t/T1)) + R2 i (1 - exp(-t/T2)); its loss heats it."""
    text = f"s current (ground, a) I = 2 A*step(10 s - time)\nb heated_battery (a, ground, w) Qnom = 1e6 C, Ri = 20 mOhm, R1 = 10 mOhm, C1 = 200 F, R2 = 30 mOhm, C2 = 1000 F, {TABLE}, start soc = 0.5, start u1 = -20 mV, start u2 = -60 mV\nt temperature (w) T = 300 K\nrun transient(stop = 60 s, rtol = 1e-8)"
    samples = circuit(text, "a.v", "b.u1", "b.u2", "t.power", "b.soc")
    t, v = samples.time, samples.series("a.v")
    rest = np.interp(samples.series("b.soc"), [0, 0.1, 0.9, 1], [3.0, 3.4, 4.0, 4.2])
    after = t > 10
    drop = 0.02 * np.exp(-(t - 10) / 2) + 0.06 * np.exp(-(t - 10) / 30)
    assert v[after] == pytest.approx((rest - drop)[after], abs=1e-6) and v[0] == pytest.approx(rest[0] - 0.12, abs=1e-9)
    assert -samples.series("t.power")[0] == pytest.approx(0.06 * 4, rel=1e-6)


# ------------------------------------------------------------------------------------------------ Peltier


@pytest.mark.parametrize("n", [1e-6, 1, 127, 1e6])
def test_peltier_element(n):
    """Largest heat S^2 Tc^2/(2 R) at the current S Tc/R without a difference, largest difference Z Tc^2/2, and the two laws hold."""
    S, R, K, Tc = 4e-4 * n, 0.016 * n, 4e-3 * n, 290.0
    best = S * Tc / R
    for Th, current, wanted in [(Tc, best, (S * Tc) ** 2 / (2 * R)), (Tc + S**2 * Tc**2 / (2 * R * K), best, 0.0)]:
        text = f"s current (a, ground) I = {current} A\np peltier (a, ground, c, h) S = {S} V/K, R = {R} Ohm, K = {K} W/K\ntc temperature (c) T = {Tc} K\nth temperature (h) T = {Th} K"
        cooling, cold, hot, power = settled(text, "p.cooling", "tc.power", "th.power", "s.power")
        assert [cooling, cold] == pytest.approx([wanted, wanted], abs=1e-9 * n) and power == pytest.approx(-hot - cold, rel=1e-9)


# ------------------------------------------------------------------------------------------------ switches with losses

CHOPPER = """supply voltage (p, ground) v = {V} V
load current (ground, x) I = {I} A
free ideal_diode (ground, x) Ron = 1e-6 Ohm, Goff = {Goff} S
c pulse_width (g, w) period = {T} s
d constant (g) value = 0.4
{device}
t temperature (h) T = 298.15 K
let heat = integral(-t.power)
run transient(stop = {stop} s)
save heat, q.conduction, q.switching, x.v
"""


@pytest.mark.parametrize("V, amps, T", [(400.0, 10.0, 1e-4), (600.0, 300.0, 2e-4), (12.0, 1e-2, 1e-9), (4e3, 1e6, 1.0)])
@pytest.mark.parametrize("kind", ["igbt", "power_mosfet"])
def test_losses_of_a_chopper(kind, V, amps, T):
    """Duty 0.4: 0.4 v I of conduction and (Eon + Eoff) in each period, in proportion to voltage and current."""
    energies = f"Eon = {2e-4 * V * amps * T} J, Eoff = {3e-4 * V * amps * T} J, Vref = {V / 2} V, Iref = {amps / 2} A, tau = {T / 1000} s"
    law = f"Vce0 = 0.8 V, Rce = {0.5 / amps} Ohm" if kind == "igbt" else f"Ron = {1.3 / amps} Ohm"
    device = f"q {kind} (p, x, h, w) {energies}, {law}, Goff = {1e-9 * amps / V} S"
    samples = circuit(CHOPPER.format(V=V, I=amps, Goff=1e-9 * amps / V, T=T, device=device, stop=20 * T))
    conduction, switching = 0.4 * 1.3 * amps, 5e-4 * V * amps * 4
    assert samples.series("heat")[-1] / (20 * T) == pytest.approx(conduction + switching, rel=2e-3)


@pytest.mark.parametrize("Goff", [1e-6, 1e-9, 1e-12, 1e-16])
@pytest.mark.parametrize("amps", [10.0, 1e-5])
def test_freewheel_blocks_however_well(amps, Goff):
    """Between the rounds of an instant the load's current meets two conductances Goff alone, a voltage of up to 1e17 V, which must not count as the
    size of the diode's: it conducts for half of each period and takes no current backwards."""
    text = f"supply voltage (p, ground) v = 12 V\nload current (ground, x) I = {amps} A\nfree ideal_diode (ground, x) Ron = 1 mOhm, Goff = {Goff * amps} S\nc signal_source (w) value = sin(2*pi*time/(100 us)) + 0.5\nq closing_switch (p, x, w) Ron = {0.13 / amps} Ohm, Goff = {Goff * amps} S\nlet heat = integral(q.loss)\nrun transient(stop = 1 ms)\nsave heat, free.i"
    samples = circuit(text)
    assert samples.series("heat")[-1] == pytest.approx(0.13 * amps * 0.5e-3, rel=1e-3 + 2e3 * Goff)
    backwards = samples.series("free.i") < -20 * Goff * amps
    assert not (backwards[1:] & backwards[:-1]).any()


def test_mosfet_follows_temperature_and_conducts_both_ways():
    """Ron (1 + alpha dT) in either direction; the body diode alone when off."""
    for amps in (10.0, -10.0):
        text = f"s current (a, ground) I = {amps} A\ng constant (w) value = 1\nq power_mosfet (a, ground, h, w) Ron = 20 mOhm, alpha = 0.006 K^-1, Vsd = 0.8 V\nt temperature (h) T = 398.15 K"
        v, heat = settled(text, "a.v", "t.power")
        assert v == pytest.approx(amps * 0.032, rel=1e-6) and -heat == pytest.approx(amps**2 * 0.032, rel=1e-6)
    text = "s current (ground, a) I = 10 A\ng constant (w) value = 0\nq power_mosfet (a, ground, h, w) Ron = 20 mOhm, Vsd = 0.8 V, Rsd = 5 mOhm\nt temperature (h) T = 300 K"
    assert settled(text, "a.v") == pytest.approx(-0.85, rel=1e-6)


def test_igbt_blocks_backwards():
    text = "s voltage (a, ground) v = -100 V\ng constant (w) value = 1\nq igbt (a, ground, h, w) Rce = 10 mOhm\nt temperature (h) T = 300 K"
    assert settled(text, "q.i") == pytest.approx(-1e-5, rel=1e-6)
