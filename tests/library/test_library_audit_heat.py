# ruff: noqa: E501  (netlists in a line read best)
"""Magnetic, thermal and frictional components against closed forms at the ends of their laws: saturation, cold resistances, contact, tables left, starts."""

import numpy as np
import pytest

import netsim
from conftest import sampled

MU0 = 1.25663706212e-6
LIBRARIES = "".join(f"use {name}\n" for name in ("electrical", "magnetic", "thermal", "rotational", "translational", "couplings", "gas", "signal"))


def network(text):
    """A model of some lines, with every library."""
    return netsim.load(LIBRARIES + text + "\n")


def run(text, *signals, **options):
    """The samples of some lines."""
    return sampled(network(text), tuple(signals), **options)


def notes(text):
    """What a run of some lines notes."""
    return network(text).samples()[0].attributes.get("notes", "")


# ------------------------------------------------------------------------------------------------ magnetic circuits


@pytest.mark.parametrize("H", [10.0, 1e3, 1e5, 1e7])
def test_saturated_core_ends_in_the_slope_of_air(H):
    """B = J + mu0 H, H = J/(mu0 (mu - 1)) (1 + (J/Bs)^(2k)): the polarisation by bisection, and dB/dH > mu0 from the run's own slope."""
    rate = f"s magnetomotive_force (a, ground) theta = {H} A*(1 + 1e-3*time/(1 s))\nk saturating_core (a, ground) l = 1 m, A = 1 m2"
    samples = run(rate + "\nrun transient(stop = 1 s, sample = 0.5 s)", "k.B", "k.H", rtol=1e-10)
    low, high = 0.0, 100.0
    for _ in range(200):
        J = (low + high) / 2
        low, high = (J, high) if J / (1999 * MU0) * (1 + (J / 1.6) ** 8) < H else (low, J)
    B = samples.series("k.B")
    assert B[0] == pytest.approx(J + MU0 * H, rel=1e-8)
    assert (B[-1] - B[0]) / (samples.series("k.H")[-1] - samples.series("k.H")[0]) > MU0


@pytest.mark.parametrize("given", ["", ", mu_i = 1210, Bm = 1.16 T, ca = 24630, cb = 2.44, m = 14"])
@pytest.mark.parametrize("H", [10.0, 1e4, 1e5, 3e5, 1e6, 1e9])
def test_roschkes_core_never_falls_below_the_slope_of_air(H, given):
    """Its law up to the largest polarisation that this has (searched here on a grid), mu0 from there on."""
    rate = f"s magnetomotive_force (a, ground) theta = {H} A*(1 + 1e-3*time/(1 s))\nk core (a, ground) l = 1 m, A = 1 m2{given}"
    samples = run(rate + "\nrun transient(stop = 1 s, step = 1 s)", "k.B", "k.H", "k.mu_r")
    mu_i, Bm, ca, cb, m = (1210, 1.16, 24630, 2.44, 14) if given else (735, 1.4, 1000, 0.5, 12)
    b = np.linspace(1e-6, 3, 3_000_001)
    mu = 1 + (mu_i - 1 + ca * b) / (1 + cb * b + b**m)
    J = Bm * b * (1 - 1 / mu)
    top = int(np.argmax(J))
    B = samples.series("k.B")
    wanted = np.interp(H, (Bm * b / mu / MU0)[: top + 1], (Bm * b)[: top + 1]) if Bm * b[top] / mu[top] / MU0 > H else J[top] + MU0 * H
    assert B[0] == pytest.approx(wanted, rel=1e-6) and samples.series("k.mu_r")[0] == pytest.approx(B[0] / (MU0 * H), rel=1e-9)
    assert (B[-1] - B[0]) / (samples.series("k.H")[-1] - samples.series("k.H")[0]) >= MU0 * (1 - 1e-6)


def test_flux_leaves_a_magnet_at_p():
    samples = run(
        "k permanent_magnet (p, n) l = 10 mm, A = 1 cm2\nr reluctance (p, n) R = 1e6 H^-1\ng reluctance (n, ground) R = 1 H^-1\nrun transient(stop = 1 s, step = 1 s)",
        "r.phi",
        "k.B",
    )
    assert samples.series("r.phi")[-1] > 0 and samples.series("k.B")[-1] == pytest.approx(samples.series("r.phi")[-1] / 1e-4)


@pytest.mark.parametrize(
    "drive", ["s prescribed_flux (b, ground) flux = 0.1 mWb", "s magnetomotive_force (a, ground) theta = 100 A\nr reluctance (a, b) R = 1e6 H^-1"]
)
def test_armature_comes_to_rest_where_the_gap_is_closed(drive):
    """The force of the flux is that of the contact, c times the depth; all that the field gave is heat."""
    samples = run(
        f"{drive}\nk air_gap (b, ground, x, ground) A = 1 cm2, rest = 0.1 mm, c = 1e8 N/m\nm mass (x) m = 0.1 kg\nstart x.x = 1 mm\nrun transient(stop = 0.1 s)",
        "x.x",
        "x.v",
        "k.phi",
    )
    depth = 1e-6 - 0.1e-3 - samples.series("x.x")[-1]
    assert abs(samples.series("x.v")[-1]) < 1e-6
    assert 1e8 * depth == pytest.approx(samples.series("k.phi")[-1] ** 2 / (2 * MU0 * 1e-4) * np.exp(-max(depth, 0) / 1e-6), rel=1e-4)


def test_faces_without_overlap_keep_a_permeance():
    samples = run(
        "s magnetomotive_force (a, ground) theta = 10 A\nk sliding_gap (a, ground, x, ground) G = 1 H/m, least = 1 mm\nd displacement (x, ground) s = -5 mm\nrun transient(stop = 1 s, step = 1 s)",
        "k.phi",
        "k.push",
    )
    assert samples.series("k.phi")[-1] == pytest.approx(10e-3) and samples.series("k.push")[-1] == 0.0


# ------------------------------------------------------------------------------------------------ heat


@pytest.mark.parametrize(
    "kind, alpha, T",
    [("heated_resistor", 0.00393, 1.0), ("heated_conductor", 0.00393, 1.0), ("heated_resistor", -0.05, 400.0), ("heated_conductor", -0.05, 400.0)],
)
def test_resistances_never_turn_negative(kind, alpha, T):
    """A thousandth of the resistance at T0 is the least."""
    value = "R = 1 Ohm" if kind == "heated_resistor" else "G = 1 S"
    samples = run(
        f"v voltage (a, ground) v = 2 V\nk {kind} (a, ground, h) {value}, alpha = {alpha} K^-1\nt temperature (h) T = {T} K\nrun transient(stop = 1 s, step = 1 s)",
        "k.i",
        "t.power",
    )
    assert samples.series("k.i")[-1] == pytest.approx(2000.0) and samples.series("t.power")[-1] == pytest.approx(-4000.0)


@pytest.mark.parametrize("kind", ["eddy_current_brake", "linear_eddy_current_brake"])
def test_cold_brake_still_brakes(kind):
    line = "m inertia (a) J = 1 kg.m2\nb eddy_current_brake (a, ground, h) M = 10 N.m, slip = 10 rad/s, alpha = 0.004 K^-1\nstart a.w = 5 rad/s"
    other = "m mass (a) m = 1 kg\nb linear_eddy_current_brake (a, ground, h) F = 10 N, slip = 10 m/s, alpha = 0.004 K^-1\nstart a.v = 5 m/s"
    speed = "a.w" if kind == "eddy_current_brake" else "a.v"
    samples = run((line if speed == "a.w" else other) + "\nt temperature (h) T = 20 K\nrun transient(stop = 1 s)", speed)
    assert np.all(np.diff(samples.series(speed)) <= 1e-12)


def test_a_temperature_below_zero_is_told():
    text = "c heat_capacity (a) C = 1 J/K, start T = 10 K\nq heat_flow (a) Q = -1 W\nrun transient(stop = {} s)"
    assert "node 'a' at t = 10" in notes(text.format(20)) and "absolute zero" in notes(text.format(20))
    assert notes(text.format(9)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "q heat_flow (a) Q = -30 W\nr thermal_resistor (a, b) R = 1 K/W\nt temperature (b) T = 3 K",
        "t temperature (a) T = -1 K\nr thermal_resistor (a, ground) R = 1 K/W",
        "q heat_flow (a) Q = -10 kW\nk heated_pipe (c, d, a) V = 1e-6 m3\nr coolant_reservoir (c) p = 1 bar, T = 20 K\ns coolant_reservoir (d) p = 0.999 bar, T = 20 K",
    ],
)
def test_a_temperature_below_zero_is_told_wherever_it_is(text):
    """What has no heat capacity falls there too: a source, a node between resistances."""
    assert "node 'a' at t = 0 s: the temperature falls below absolute zero" in notes(text + "\nrun transient(stop = 1 s)")


# ------------------------------------------------------------------------------------------------ starts


@pytest.mark.parametrize(
    "unit, start, brake",
    [
        ("rad/s", "a.w", "m inertia (a) J = 2 kg.m2\nb eddy_current_brake (a, ground, h) M = 10 N.m, slip = 10 rad/s"),
        ("m/s", "a.v", "m mass (a) m = 2 kg\nb linear_eddy_current_brake (a, ground, h) F = 10 N, slip = 10 m/s"),
    ],
)
@pytest.mark.parametrize("capacity", [100.0, 1e6])
def test_eddy_current_brake_begins_with_speed_and_temperature(unit, start, brake, capacity):
    """log(x) + x^2/2 falls by 2 M t/(J slip) (x: speed over slip), and the disc takes the kinetic energy."""
    samples = run(
        f"{brake}\nc heat_capacity (h) C = {capacity} J/K, start T = 300 K\nstart {start} = 100 {unit}\nrun transient(stop = 20 s)",
        start,
        "h.T",
        rtol=1e-9,
    )
    v, T, t = samples.series(start), samples.series("h.T"), samples.time
    x = v / 10
    assert v[0] == 100 and T[0] == 300
    assert np.log(x) + x**2 / 2 == pytest.approx(np.log(10) + 50 - t, abs=1e-5)
    assert capacity * (T - 300) == pytest.approx(1e4 - v**2, abs=1e-2)


@pytest.mark.parametrize(
    "starts, pressure, temperature",
    [
        ("start a.p = 2 bar", 2e5, 400.0),
        ("start a.p = 2 bar\nstart a.T = 350 K", 2e5, 350.0),
        ("start a.T = 350 K\nstart v.mass = 1 kg", 287.05 * 350, 350.0),
    ],
)
def test_heated_vessel_begins_where_it_is_written(starts, pressure, temperature):
    """Pressure, temperature or mass; then the temperature goes to the wall's with m cv/(h A), the mass stays."""
    samples = run(
        f"v heated_gas_volume (a, h) V = 1 m3, A = 10 m2, h = 10 W/m2/K\nt temperature (h) T = 400 K\n{starts}\nrun transient(stop = 10 s)",
        "a.p",
        "a.T",
        "v.mass",
        rtol=1e-9,
    )
    mass = pressure / (287.05 * temperature)
    T = 400 + (temperature - 400) * np.exp(-samples.time * 100 / (mass * (1004.7 - 287.05)))
    assert samples.series("a.T") == pytest.approx(T, rel=1e-7) and samples.series("a.p") == pytest.approx(mass * 287.05 * T, rel=1e-7)


# ------------------------------------------------------------------------------------------------ tables of friction

INERTIA = "j inertia (a) J = 1 kg.m2\nstart a.w = 60 rad/s\n"


@pytest.mark.parametrize("kind, given", [("clutch (a, ground)", "N = 1 N, mus = [0.5, 0.4]"), ("braked_freewheel (ground, a)", "N = 1 N, mus = [0.5, 0.4]"), ("heated_clutch (a, ground, h)", "N = 1 N, mus = [0.5, 0.4]"),
    ("dry_bearing (a, ground)", "T = 0 N.m, torques = [0.5, 0.4] N.m"), ("heated_bearing (a, ground, h)", "T = 0 N.m, torques = [0.5, 0.4] N.m")])  # fmt: skip
def test_friction_keeps_the_last_value_of_its_table(kind, given):
    """0.4 N.m above 10 rad/s: 60 rad/s fall by 0.4 rad/s2, where a falling line continued would drive."""
    text = f"{INERTIA}k {kind} {given}, speeds = [0, 10] rad/s\n" + ("t temperature (h) T = 300 K\n" if "heated" in kind else "")
    samples = run(text + "run transient(stop = 20 s)", "a.w")
    assert samples.series("a.w") == pytest.approx(60 - 0.4 * samples.time, rel=1e-9)
    assert "'k' at t = 0 s: the speed leaves the table" in notes(text + "run transient(stop = 1 s)")


def test_efficiencies_beyond_their_table_stay_below_one():
    text = f"{INERTIA}k lossy_gear (a, b) speeds = [0, 10] rad/s, etas1 = [0.5, 0.9]\nd torsion_damper (b, ground) d = 0.1 N.m.s/rad\n"
    samples = run(text + "run transient(stop = 5 s)", "a.w")
    assert samples.series("a.w") == pytest.approx(60 * np.exp(-0.1 / 0.9 * samples.time), rel=1e-5)
    assert "table of etas1" in notes(text + "run transient(stop = 1 s)")


@pytest.mark.parametrize(
    "line",
    [
        "k clutch (a, ground) N = 1 N, speeds = [1, 0] rad/s",
        "k dry_bearing (a, ground) T = 1 N.m, speeds = [1, 1] rad/s",
        "k lossy_gear (a, b) speeds = [2, 1] rad/s",
    ],
)
def test_tables_whose_arguments_fall_are_told(line):
    with pytest.raises(netsim.InputError, match="must increase"):
        run(INERTIA + line + "\nrun transient(stop = 1 s)", "a.w")


# ------------------------------------------------------------------------------------------------ signals


@pytest.mark.parametrize("u, e, y", [(0.0, 0.01, 0.0), (0.0, 3.0, 0.0), (-2.0, 0.5, -(2**0.5)), (3.0, 2.0, 9.0)])
def test_power_of_a_signal(u, e, y):
    assert run(f"c constant (u) value = {u}\np power (u, y) e = {e}\nrun transient(stop = 1 s, step = 1 s)", "y").series("y")[-1] == pytest.approx(y)


@pytest.mark.parametrize("line, words", [("curve (u, y) xs = [1, 0]", "must increase"), ("surface (u, u, y) vs = [1, 1]", "vs must increase"), ("lowpass_filter (u, y) n = 13, f = 1 Hz", "from 1 to 12"),
    ("bandpass_filter (u, y) n = 0, lower = 1 Hz, upper = 2 Hz", "from 1 to 12"), ("highpass_filter (u, y) family = 7, f = 1 Hz", "butterworth, bessel")])  # fmt: skip
def test_parameters_of_blocks_are_told_at_the_block(line, words):
    with pytest.raises(netsim.InputError, match=words) as told:
        run(f"c constant (u) value = 0\nk {line}\nrun transient(stop = 1 s)", "y")
    assert all(problem.code == "E235" for problem in told.value.problems)
