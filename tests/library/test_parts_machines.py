# ruff: noqa: E501  (netlists in a line read best)
"""Three phases, machines, lines with losses and hysteresis against closed forms and independent integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from conftest import sampled

MU0 = 1.25663706212e-6


def network(text, *signals, **options):
    """The samples of a netlist of circuits, heat, motion and blocks."""
    return sampled(netsim.load("use couplings\nuse signal\n" + text + "\n"), tuple(signals), **options)


# ------------------------------------------------------------------------------------------------ three phases


@pytest.mark.parametrize("V, f, R, L", [(325.0, 50.0, 10.0, 20e-3), (1e-3, 1e6, 50.0, 1e-6), (8e3, 16.7, 0.5, 1.0), (325.0, 50.0, 10.0, 0.0)])
def test_star_and_delta_take_the_power_of_a_phasor(V, f, R, L):
    """3/2 V^2 R/|Z|^2 in star, three times of it in delta; no current in the neutral."""
    text = f"s three_phase_voltage (a, b, c, ground) V = {V} V, f = {f} Hz\ny star_load (a, b, c, n) R = {R} Ohm, L = {L} H\nm current_sensor (n, ground, back)\nd delta_load (a, b, c) R = {R} Ohm, L = {L} H\nlet star = integral(y.za.loss + y.zb.loss + y.zc.loss)\nlet delta = integral(d.zab.loss + d.zbc.loss + d.zca.loss)\nrun transient(stop = {40 / f} s, rtol = 1e-7)\nsave star, delta, back"
    samples = network(text)
    t = samples.time
    late = [np.interp(t[-1] - k / f, t, samples.series(name)) for name in ("star", "delta") for k in (0, 10)]
    decayed = L == 0 or np.exp(-30 / f * R / L) < 1e-6
    wanted = 1.5 * V**2 * R / (R**2 + (2 * np.pi * f * L) ** 2) * 10 / f
    if decayed:
        assert [late[0] - late[1], late[2] - late[3]] == pytest.approx([wanted, 3 * wanted], rel=2e-4)
    assert max(abs(samples.series("back"))) < 1e-6 * V / R


def test_rectifier_of_three_phases():
    """The mean of six pulses: 3/pi times the amplitude between two phases."""
    text = "s three_phase_voltage (a, b, c, ground) V = 325 V, f = 50 Hz\nbridge three_phase_rectifier (a, b, c, p, n) Goff = 1e-9 S\nr resistor (p, n) R = 100 Ohm\nlet area = integral(p.v - n.v)\nrun transient(stop = 40 ms, rtol = 1e-8)\nsave area"
    samples = network(text)
    assert samples.series("area")[-1] / 40e-3 == pytest.approx(3 / np.pi * np.sqrt(3) * 325, rel=1e-5)


def test_park_and_back():
    """A balanced system is constant in the axes that turn with it; back again it is what it was."""
    text = "\n".join(
        [f"s{k} signal_source ({k}) value = 3*cos(314 s^-1*time + 0.3 - {n}*2*pi/3)" for n, k in enumerate("abc")]
        + [
            "w signal_source (g) value = 314 s^-1*time",
            "p park (a, b, c, g, d, q)",
            "i inverse_park (d, q, g, x, y, z)",
            "run transient(stop = 50 ms)",
        ]
    )
    samples = network(text, "d", "q", "a", "b", "c", "x", "y", "z")
    assert samples.series("d") == pytest.approx(3 * np.cos(0.3), abs=1e-12) and samples.series("q") == pytest.approx(3 * np.sin(0.3), abs=1e-12)
    for first, second in zip("abc", "xyz"):
        assert samples.series(second) == pytest.approx(samples.series(first), abs=1e-12)


# ------------------------------------------------------------------------------------------------ machines

PMSM = "p = {p}, Rs = {R} Ohm, Ld = {Ld} H, Lq = {Lq} H, psi = {psi} Wb"


@pytest.mark.parametrize(
    "p, R, Ld, Lq, psi, w",
    [
        (4, 0.5, 4e-3, 6e-3, 0.1, 100.0),
        (1, 20.0, 50e-3, 50e-3, 5e-3, 1000.0),
        (20, 2e-3, 0.2e-3, 0.3e-3, 3.0, 20.0),
        (2, 0.5, 20e-3, 4e-3, 0.0, -150.0),
    ],
)
def test_synchronous_machine_in_park_axes(p, R, Ld, Lq, psi, w):
    """Fed with constant v_d, v_q at constant speed it settles where v_d = R i_d - p w Lq i_q and v_q = R i_q + p w (Ld i_d + psi)."""
    vd, vq = -0.3 * p * w * (psi or 0.1), 1.1 * p * w * (psi or 0.1)
    tau = max(Ld, Lq) / R
    text = "\n".join(
        [
            f"sd constant (d) value = {vd}", f"sq constant (q) value = {vq}", f"sg signal_source (g) value = {p}*f.phi", "i inverse_park (d, q, g, x, y, z)",
            *(f"v{k} voltage ({k}, n) v = {k2}*1 V" for k, k2 in zip("abc", "xyz")), "earth resistor (n, ground) R = 1 Ohm",
            f"m synchronous_machine (a, b, c, f) {PMSM.format(p=p, R=R, Ld=Ld, Lq=Lq, psi=psi)}", f"turn speed (f, ground) w = {w} rad/s",
            f"run transient(stop = {12 * tau} s, from = rest, rtol = 1e-7)",
        ]
    )  # fmt: skip
    samples = network(text, "m.i_d", "m.i_q", "m.drive", "turn.power", "m.loss", "va.power", "vb.power", "vc.power")
    e = p * w
    i_d, i_q = np.linalg.solve([[R, -e * Lq], [e * Ld, R]], [vd, vq - e * psi])
    torque = 1.5 * p * (psi * i_q + (Ld - Lq) * i_d * i_q)
    found = [samples.series(s)[-1] for s in ("m.i_d", "m.i_q", "m.drive")]
    assert found == pytest.approx([i_d, i_q, torque], rel=2e-4)
    supplied = sum(samples.series(f"v{k}.power")[-1] for k in "abc")
    assert supplied == pytest.approx(1.5 * R * (i_d**2 + i_q**2) + torque * w, rel=2e-3) and samples.series("turn.power")[-1] == pytest.approx(
        -torque * w, rel=2e-4
    )


@pytest.mark.parametrize("w", [1.0, 100.0, 3000.0])
def test_synchronous_machine_as_a_generator(w):
    """Loaded by resistances R it is a voltage p w psi, 90 deg ahead of the magnets' axis, behind Rs + j p w L, with the sequence a, b, c."""
    R, Rs, L, psi, p = 10.0, 0.1, 1e-3, 0.05, 3
    text = f"m synchronous_machine (a, b, c, f) {PMSM.format(p=p, R=Rs, Ld=L, Lq=L, psi=psi)}\nra resistor (a, n) R = {R} Ohm\nrb resistor (b, n) R = {R} Ohm\nrc resistor (c, n) R = {R} Ohm\nearth resistor (n, ground) R = 1 Ohm\nturn speed (f, ground) w = {w} rad/s\nrun transient(stop = {2 / w + 2e-3} s, from = rest, sample = {0.1 / w} s, rtol = 1e-8)"
    samples = network(text, "ra.i", "rb.i", "rc.i")
    t = samples.time
    late = t > 1.9e-3
    for name, lag in (("ra", 0), ("rb", 2 * np.pi / 3), ("rc", -2 * np.pi / 3)):
        phasor = 1j * p * w * psi / (R + Rs + 1j * p * w * L) * np.exp(-1j * lag)
        wanted = np.real(phasor * np.exp(1j * p * w * t))
        assert samples.series(f"{name}.i")[late] == pytest.approx(wanted[late], abs=1e-5 * abs(phasor))


MACHINE = dict(p=2, Rs=0.5, Rr=0.4, Lm=60e-3, Ls=2e-3, Lr=2e-3)


@pytest.mark.parametrize("slip", [-0.05, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_induction_machine_by_its_equivalent_circuit(slip, scale):
    """Torque and current at constant slip: Rr/s behind the leakage, beside Lm, behind Rs and its leakage; impedances times `scale`."""
    m = {k: v if k == "p" else v * scale for k, v in MACHINE.items()}
    V, f = 325.0, 50.0
    we = 2 * np.pi * f
    rotor = m["Rr"] / slip + 1j * we * m["Lr"]
    field = 1j * we * m["Lm"]
    stator = m["Rs"] + 1j * we * m["Ls"] + rotor * field / (rotor + field)
    current = V / stator
    jr = current * field / (rotor + field)
    torque = 1.5 * m["p"] / we * abs(jr) ** 2 * m["Rr"] / slip
    w = we / m["p"] * (1 - slip)
    text = f"s three_phase_voltage (a, b, c, ground) V = {V} V, f = {f} Hz\nm induction_machine (a, b, c, k) p = {m['p']}, Rs = {m['Rs']} Ohm, Rr = {m['Rr']} Ohm, Lm = {m['Lm']} H, Lssigma = {m['Ls']} H, Lrsigma = {m['Lr']} H\nturn speed (k, ground) w = {w} rad/s\nrun transient(stop = 2 s, from = rest, max_step = 1 ms)"
    samples = network(text, "m.drive", "m.a.i", "m.loss", "turn.power")
    late = samples.time > 1.96
    assert samples.series("m.drive")[late] == pytest.approx(torque, rel=2e-3)
    assert max(abs(samples.series("m.a.i")[late])) == pytest.approx(abs(current), rel=5e-3)
    assert np.mean(samples.series("m.loss")[late]) == pytest.approx(1.5 * (m["Rs"] * abs(current) ** 2 + m["Rr"] * abs(jr) ** 2), rel=2e-3)


@pytest.mark.parametrize(
    "kind, law",
    [
        ("heated_synchronous_machine", PMSM.format(p=2, R=0.5, Ld=4e-3, Lq=5e-3, psi=0.2)),
        ("heated_induction_machine", "Rs = 0.5 Ohm, Rr = 0.4 Ohm, Lm = 60 mH, Lssigma = 2 mH, Lrsigma = 2 mH"),
    ],
)
def test_loss_of_a_machine_is_heat(kind, law):
    text = f"s three_phase_voltage (a, b, c, ground) V = 100 V, f = 50 Hz\nm {kind} (a, b, c, k, h) {law}\nj inertia (k) J = 0.01 kg.m2\nt temperature (h) T = 300 K\nrun transient(stop = 50 ms, from = rest)"
    samples = network(text, "m.loss", "t.power")
    assert -samples.series("t.power") == pytest.approx(samples.series("m.loss"), rel=1e-9) and max(samples.series("m.loss")) > 10


# ------------------------------------------------------------------------------------------------ lines


@pytest.mark.parametrize("Z, T", [(50.0, 5e-9), (600.0, 1e-3), (5e7, 10.0)])
def test_line_with_losses(Z, T):
    """A matched line: half the voltage, weaker by 6 dB, a time T later; a short at the end returns -10^(-12/20) of it to the matched beginning."""
    weak = 10 ** (-6 / 20)
    text = "s voltage (e, ground) v = 2 V*ramp(time, 0 s)/({T} s)\nr resistor (e, a) R = {Z} Ohm\nk lossy_line (a, ground, b, ground) Z = {Z} Ohm, T = {T} s, damping = {weak}\nlast resistor (b, ground) R = {end} Ohm\nrun transient(stop = {stop} s, sample = {sample} s)"
    for end, factor in ((Z, 0.0), (1e-9 * Z, -1.0)):
        samples = network(text.format(Z=Z, T=T, weak=weak, end=end, stop=5 * T, sample=T / 4), "a.v", "b.v")
        x = samples.time / T
        assert samples.series("a.v") == pytest.approx(x + factor * weak**2 * np.maximum(x - 2, 0), abs=1e-6)
        assert samples.series("b.v") == pytest.approx((1 + factor) * weak * np.maximum(x - 1, 0), abs=1e-6)


def test_coupled_lines_cross_talk():
    """Both ends of both lines closed by sqrt(Ze Zo): the far end of the quiet line sees the difference of the modes, its near end
    k/(1 + sqrt(1 - k^2)) of the wave, k = (Ze - Zo)/(Ze + Zo), for two delays (equal delays: no far crosstalk; Pozar, Microwave Engineering, 7.6)."""
    Ze, Zo = 60.0, 40.0
    Z, k = round(np.sqrt(Ze * Zo), 5), (Ze - Zo) / (Ze + Zo)
    text = f"s voltage (e, ground) v = 2 V*ramp(time, 0 s)/(1 ns)\nr1 resistor (e, a1) R = {Z} Ohm\nr2 resistor (b1, ground) R = {Z} Ohm\nr3 resistor (a2, ground) R = {Z} Ohm\nr4 resistor (b2, ground) R = {Z} Ohm\nl coupled_lines (a1, b1, a2, b2) Ze = {Ze} Ohm, Zo = {Zo} Ohm, Te = 1 ns, To = 1 ns\nrun transient(stop = 1.75 ns, sample = 0.25 ns)"
    samples = network(text, "a1.v", "b1.v", "a2.v", "b2.v")
    x = samples.time / 1e-9
    even, odd = Ze / (Ze + Z), Zo / (Zo + Z)
    assert samples.series("a1.v") == pytest.approx((even + odd) * x, abs=1e-9)
    assert samples.series("b1.v") == pytest.approx((even - odd) * x, abs=1e-9) and even - odd == pytest.approx(k / (1 + np.sqrt(1 - k**2)), rel=1e-6)
    far = 2 * Z * (even / (Ze + Z) + odd / (Zo + Z)) * np.maximum(x - 1, 0)
    assert samples.series("a2.v") == pytest.approx(far, abs=1e-9) and samples.series("b2.v") == pytest.approx(0 * x, abs=1e-6)


def test_modes_of_coupled_lines_have_delays_of_their_own():
    text = "s voltage (a1, ground) v = 1 V*ramp(time, 0 s)/(1 ns)\nt voltage (b1, ground) v = {sign} V*ramp(time, 0 s)/(1 ns)\nra resistor (a2, ground) R = {R} Ohm\nrb resistor (b2, ground) R = {R} Ohm\nl coupled_lines (a1, b1, a2, b2) Ze = 60 Ohm, Zo = 40 Ohm, Te = 3 ns, To = 2 ns\nrun transient(stop = 5 ns, sample = 0.5 ns)"
    for sign, R, delay in ((1, 60, 3), (-1, 40, 2)):
        samples = network(text.format(sign=sign, R=R), "a2.v", "b2.v")
        wanted = np.maximum(samples.time / 1e-9 - delay, 0)
        assert samples.series("a2.v") == pytest.approx(wanted, abs=1e-9) and samples.series("b2.v") == pytest.approx(sign * wanted, abs=1e-9)


@pytest.mark.parametrize("Ze, Zo, To", [(60.0, 40.0, 0.8), (50.0, 50.0, 1.0), (61.0, 40.0, 0.8)])
def test_a_quiet_line_stays_quiet(Ze, Zo, To):
    """In the steady state the modes of a direct current cancel on the other line: its voltages are the rounding of the first one's."""
    text = f"s voltage (e, ground) v = 1 V\nr1 resistor (e, a1) R = 50 Ohm\nr2 resistor (b1, ground) R = 50 Ohm\nr3 resistor (a2, ground) R = 50 Ohm\nr4 resistor (b2, ground) R = 50 Ohm\nl coupled_lines (a1, b1, a2, b2) Ze = {Ze} Ohm, Zo = {Zo} Ohm, Te = 1 ns, To = {To} ns\nrun transient(stop = 20 ns)"
    samples = network(text, "a1.v", "b1.v", "a2.v", "b2.v")
    assert samples.finished
    for name, wanted in zip(("a1", "b1", "a2", "b2"), (0.5, 0, 0.5, 0)):
        assert samples.series(f"{name}.v") == pytest.approx(wanted, abs=1e-13)


# ------------------------------------------------------------------------------------------------ hysteresis


def jiles_atherton(field, rate, t, Ms, a, alpha, k, c):
    """(M, B) by integration of dMirr/dHe with He = H + alpha M solved at every instant, independent of the library."""

    def langevin(x):
        return np.where(abs(x) < 1e-4, x / 3, 1 / np.tanh(np.where(abs(x) < 1e-4, 1, x)) - 1 / np.where(abs(x) < 1e-4, 1, x))

    def effective(H, Mirr):
        He = H + alpha * Mirr
        for _ in range(12):  # each time the error shrinks by alpha c Ms/(3 a) = 1/30
            He = H + alpha * (c * Ms * langevin(He / a) + (1 - c) * Mirr)
        return He

    def slope(time, state):
        H, (Mirr,) = field(time), state
        He = effective(H, Mirr)
        way = np.sign(rate(time))
        gap = Ms * langevin(He / a) - Mirr
        dMirr_dHe = max(way * gap, 0) / k
        x = He / a
        dMan = Ms / a * (1 / 3 if abs(x) < 1e-4 else 1 / x**2 - 1 / np.sinh(x) ** 2)
        dM_dHe = c * dMan + (1 - c) * dMirr_dHe
        return [dMirr_dHe * rate(time) / (1 - alpha * dM_dHe)]

    found = solve_ivp(slope, (0, t[-1]), [0.0], t_eval=t, rtol=1e-7, atol=1e-3 * Ms * 1e-6, max_step=t[-1] / 1000)
    H = field(t)
    M = np.array([(effective(h, m) - h) / alpha for h, m in zip(H, found.y[0])])
    return M, MU0 * (H + M)


@pytest.mark.parametrize("f, Ms, a, k", [(50.0, 1.6e6, 1100.0, 400.0), (5e-5, 1.6e6, 1100.0, 400.0), (1e4, 3.8e5, 30.0, 15.0)])
def test_hysteresis_loop_of_jiles_and_atherton(f, Ms, a, k):
    """The first magnetisation and one loop and a half under a sinusoidal field, and the loss of a cycle as the area of the loop."""
    top, alpha, c = 5 * a, 0.5 * a / Ms, 0.2
    text = f"use magnetic\ns magnetomotive_force (p, ground) theta = {top} A*sin(2*pi*{f} Hz*time)\nk hysteresis_core (p, ground) l = 1 m, A = 1 cm2, Ms = {Ms} A/m, a = {a} A/m, alpha = {alpha}, k = {k} A/m, c = {c}\nrun transient(stop = {2.25 / f} s, rtol = 1e-7, from = rest, sample = {0.005 / f} s)"
    samples = network(text, "k.B", "k.H")
    t = samples.time
    w = 2 * np.pi * f
    _, B = jiles_atherton(lambda t: top * np.sin(w * t), lambda t: top * w * np.cos(w * t), t, Ms, a, alpha, k, c)
    assert samples.series("k.B") == pytest.approx(B, abs=2e-4 * max(abs(B)))
    cycle = (t * f > 1.2499) & (t * f < 2.2501)
    areas = [abs(np.trapezoid(samples.series("k.H")[cycle], x[cycle])) for x in (samples.series("k.B"), B)]
    assert areas[0] == pytest.approx(areas[1], rel=1e-3) and areas[1] > 0.3 * k * max(abs(B))
