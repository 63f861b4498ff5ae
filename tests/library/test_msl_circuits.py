"""Further examples of Modelica.Electrical.Analog, written down from what they are, against closed forms and independent integrations."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim


def run(text):
    (samples,) = netsim.load("use electrical\nuse signal\n" + text).samples()
    assert samples.finished, samples.message
    return samples


def flips(samples, name):
    """Instants at which a signal changes its sign by a jump."""
    return samples.time[np.flatnonzero(np.diff(np.sign(samples.series(name))))]


# ------------------------------------------------------------------------------------------------ operational amplifiers that end at their supplies

AMPLIFIERS = {"clipping_opamp": "{} clipping_opamp ({}) {}", "supplied_opamp": "{} supplied_opamp ({}, vp, vn) {}"}
SUPPLIES = "sp voltage (vp, ground) v = 15 V\nsn voltage (vn, ground) v = -15 V\nrp resistor (vp, vn) R = 1 kOhm\n"


@pytest.mark.parametrize("kind", AMPLIFIERS)
def test_signal_generator(kind):
    """A Schmitt trigger and an integrator: rectangle of 15 V and triangle of 10 V at 10 Hz."""
    device = AMPLIFIERS[kind]
    text = SUPPLIES + device.format("op1", "p, ground, o1", "start mode = -1") + "\n" + device.format("op2", "ground, m, o2", "")
    samples = run(f"""{text}
r2  resistor   (p, o1)  R = 1500 Ohm
r1  resistor   (p, o2)  R = 1000 Ohm
c   capacitor  (o2, m)  C = 37.5 uF, start v = 0
r   resistor   (o1, m)  R = 1 kOhm
run transient(stop = 0.3 s)
save o1.v, o2.v
""")
    assert flips(samples, "o1.v") == pytest.approx(0.025 + 0.05 * np.arange(6), rel=1e-3)
    assert np.abs(samples.series("o1.v")) == pytest.approx(15, abs=4e-6) and np.abs(samples.series("o2.v")).max() == pytest.approx(10, rel=1e-3)


@pytest.mark.parametrize("kind", AMPLIFIERS)
def test_amplifier_is_cut_off_at_its_supplies(kind):
    """Inverting, gain 2; where the output is at a limit, the input is no longer held."""
    samples = run(f"""{SUPPLIES}
src voltage   (a, ground)  v = sine(time, amplitude = 10 V, frequency = 10 Hz)
r1  resistor  (a, m)  R = 1 kOhm
r2  resistor  (m, o)  R = 2 kOhm
{AMPLIFIERS[kind].format("op", "ground, m, o", "gain = 1e4")}
run transient(stop = 0.1 s, sample = 1 ms)
save o.v, m.v, a.v
""")
    a = samples.series("a.v")
    assert samples.series("o.v") == pytest.approx(np.clip(-2 * a / (1 + 3e-4), -15, 15), abs=1e-6)
    assert samples.series("m.v") == pytest.approx(np.where(np.abs(a) > 7.503, (2 * a - 15 * np.sign(a)) / 3, 0), abs=2e-3)


def test_supplied_amplifier_takes_its_power_from_the_supplies():
    samples = run("""
sp  voltage   (vp, ground)  v = 12 V
sn  voltage   (vn, ground)  v = -6 V
src voltage   (a, ground)   v = 20 V*time/(1 s) - 10 V
op  supplied_opamp (a, o, o, vp, vn)
r   resistor  (o, ground)   R = 10 Ohm
run transient(stop = 1 s, sample = 10 ms)
save o.v, sp.power, sn.power, r.loss
""")
    assert samples.series("o.v") == pytest.approx(np.clip(20 * samples.time - 10, -6, 12), abs=2e-3)
    current = samples.series("o.v") / 10
    assert samples.series("sp.power") == pytest.approx(12 * np.maximum(current, 0), abs=1e-9)
    assert samples.series("sn.power") == pytest.approx(6 * np.maximum(-current, 0), abs=1e-9)


def test_schmitt_trigger_and_multivibrator():
    """Thresholds at a third of the limit; period 2 R C ln(1 + 2 R1/R2)."""
    samples = run("""
src voltage   (a, ground)  v = sine(time, amplitude = 10 V, frequency = 10 Hz)
r1  resistor  (p, a)  R = 1 kOhm
r2  resistor  (p, o)  R = 3 kOhm
op  clipping_opamp (p, ground, o)
oq  clipping_opamp (q, m, b)  start mode = 1
q1  resistor  (q, ground)  R = 1 kOhm
q2  resistor  (q, b)       R = 1 kOhm
r   resistor  (m, b)       R = 1 kOhm
c   capacitor (m, ground)  C = 10 uF, start v = 0
run transient(stop = 0.2 s)
save o.v, b.v
""")
    first = np.arcsin(0.5) / (20 * np.pi)
    assert flips(samples, "o.v")[-3:] == pytest.approx(first + 0.05 * np.arange(1, 4), rel=1e-3)
    assert np.diff(flips(samples, "b.v")) == pytest.approx(0.01 * np.log(3), rel=1e-3)


def test_amplifier_by_its_data_sheet():
    """AmplifierWithOpAmpDetailed: at rest offset and input currents, then the rate of 0.5 V/us, the supplies and the output's resistance."""
    samples = run("""
src voltage   (a, ground)  v = 12 V*(step(time, 0.1 ms) - 2*step(time, 0.3 ms))
r   resistor  (a, m)       R = 10 kOhm
r1  resistor  (m, o)       R = 20 kOhm
r2  resistor  (o, ground)  R = 10 kOhm
op  data_sheet_opamp (ground, m, o, vp, vn)
sp  voltage   (vp, ground) v = 15 V
sn  voltage   (vn, ground) v = -15 V
run transient(stop = 0.4 ms)
save o.v, m.v, op.w
""")
    k, vos, gm = 10 ** (106 / 20), 1e-3, 1 / 2e6
    common = k / (2 * 10 ** (90 / 20))
    # unknowns m, w, o: currents at m; the open output; the output's resistance
    matrix = [[1e-4 + 5e-5 + gm + 5e-10, 0, -5e-5], [k - common, 1, 0], [-5e-5, -1 / 75, 1 / 75 + 1e-4 + 5e-5]]
    m, w, o = np.linalg.solve(matrix, [-70e-9 - gm * vos, -k * vos - common * vos, 0])
    at = [float(samples.series(name)[0]) for name in ("m.v", "op.w", "o.v")]
    assert at == pytest.approx([m, w, o], rel=1e-6)
    t, rate = samples.time, np.gradient(samples.series("op.w"), samples.time)
    rising = (t > 0.305e-3) & (t < 0.355e-3)
    assert rate[rising] == pytest.approx(0.5e6, rel=1e-3) and samples.series("op.w").min() == pytest.approx(-15, rel=1e-3)
    held = np.argmin(np.abs(t - 0.25e-3))
    assert samples.series("o.v")[held] == pytest.approx((12 / 30e3 - 15 / 75) / (1 / 75 + 1e-4 + 1 / 30e3), rel=1e-3)


# ------------------------------------------------------------------------------------------------ thyristors

RON, ROFF = 1.7 / 25, 100**2 / 1.7 / 6e-3


def thyristor(t, s):
    """Control voltage and current of ThyristorBehaviourTest between the gate's edges: a resistance that follows the control voltage."""
    control, current = s
    x = np.clip((control - 1.5) / 3.5, 0, 1)
    v = ROFF * (RON / ROFF) ** (x * x * (3 - 2 * x)) * current
    fired = 0.25 * 10 * v if 20e-6 <= t < 30e-6 or 120e-6 <= t < 130e-6 else 0.0
    way = (5.0 if current > 6e-3 or v > 100 else 0.0) + fired - control
    return [way / (1.87e-6 if way > 0 else 0.638 * 15e-6), (30 * np.sin(2e4 * np.pi * t) - v - 10 * current) / 2e-6]


def test_thyristor():
    samples = run("""
src   voltage    (a, ground)  v = sine(time, amplitude = 30 V, frequency = 10 kHz)
t     thyristor  (a, k, g)
gate  current    (g, k)       I = 5 mA*pulse(time, at = 20 us, width = 10 us, period = 100 us)
r     resistor   (k, m)       R = 10 Ohm
l     inductor   (m, ground)  L = 2 uH, start i = 0
run   transient(stop = 140 us, sample = 1 us)
save  t.i, t.vc
""")
    edges, state, times, found = [0, 20e-6, 30e-6, 120e-6, 130e-6, 140e-6], [0.0, 0.0], [], []
    for a, b in pairwise(edges):
        at = np.linspace(a, b, 41)[:-1] if b < 140e-6 else np.linspace(a, b, 41)
        options = {"method": "LSODA", "rtol": 1e-8, "atol": 1e-10, "max_step": 2e-7}
        course = solve_ivp(thyristor, (a, b - 1e-14), state, t_eval=np.minimum(at, b - 1e-14), **options).y
        times, found, state = (
            [*times, at],
            [*found, course],
            course[:, -1] if b == 140e-6 else solve_ivp(thyristor, (a, b - 1e-14), state, **options).y[:, -1],
        )
    times, (control, current) = np.concatenate(times), np.hstack(found)
    settled = np.abs(times[:, None] - np.array(edges)).min(axis=1) > 1e-6
    assert np.interp(times, samples.time, samples.series("t.i"))[settled] == pytest.approx(current[settled], abs=5e-2) and current.max() > 2.9
    assert np.interp(times, samples.time, samples.series("t.vc"))[settled] == pytest.approx(control[settled], abs=0.3)


def test_triac():
    """SimpleTriacCircuit: each half-wave conducts from its pulse on; the coil is too small to matter by then."""
    samples = run("""
src   voltage   (a, ground)      v = sine(time, amplitude = 30 V, frequency = 10 kHz)
r     resistor  (m, a)           R = 10 Ohm
l     inductor  (n, m)           L = 2 uH, start i = 0
t     triac     (ground, n, g)   Vdrm = 400 V, Vrrm = 400 V
gate  current   (g, ground)      I = 5 mA*pulse(time, at = 20 us, width = 5 us, period = 50 us)
run   transient(stop = 100 us, sample = 1 us)
save  r.i
""")
    t, i = samples.time, samples.series("r.i")
    for low, high in ((30e-6, 49e-6), (80e-6, 99e-6)):
        there = (t > low) & (t < high)
        assert i[there] == pytest.approx(-3 * np.sin(2e4 * np.pi * t[there]), abs=0.07)
    assert np.abs(i[(t > 1e-6) & (t < 19e-6)]).max() < 1e-3 and np.abs(i[(t > 60e-6) & (t < 69e-6)]).max() < 1e-3


# ------------------------------------------------------------------------------------------------ circuits of what was there


def test_ideal_diodes():
    """CharacteristicIdealDiodes: on their two straight branches at every instant."""
    rows = [(1e-5, 1e-5, 0.0), (0.1, 0.1, 0.0), (0.1, 0.1, 5.0)]
    lines = [
        f"d{k} ideal_diode (a, b{k}) Ron = {ron} Ohm, Goff = {g} S, knee = {v} V\nr{k} resistor (b{k}, ground) R = 1 mOhm"
        for k, (ron, g, v) in enumerate(rows)
    ]
    samples = run(
        "s voltage (a, ground) v = sine(time, 10 V, 1 Hz)\n"
        + "\n".join(lines)
        + "\nrun transient(stop = 1 s, sample = 10 ms)\nsave a.v, d0.i, d1.i, d2.i\n"
    )
    v = samples.series("a.v")
    for k, (ron, g, knee) in enumerate(rows):
        on = (v - knee * (1 - ron * g)) / (ron + 1e-3)
        off = v * g / (1 + g * 1e-3)
        wanted = np.where(v > knee * (1 + g * 1e-3), on, off)
        assert samples.series(f"d{k}.i") == pytest.approx(wanted, rel=1e-9, abs=1e-9), k


def test_transformers_are_the_same():
    """CompareTransformers: two coupled coils, and an ideal transformer with magnetising and leakage inductances."""
    samples = run(
        """
let   w   = 2*pi*10 Hz
let   lm  = 10 Ohm/w
let   ls  = 0.05 Ohm/w
src   voltage   (a, ground)   v = 0.1 V + sine(time, amplitude = 0.1 V, frequency = 10 Hz, phase = 90 deg)
r11   resistor  (a, b1)       R = 10 mOhm
both  coupled_inductors  (b1, ground, c1, ground)  L1 = lm + ls, L2 = (lm + ls)/4, k = lm/(lm + ls), start i1 = 0, start i2 = 0
r12   resistor  (c1, d1)      R = 2.5 mOhm
load1 resistor  (d1, ground)  R = 250 mOhm
r21   resistor  (a, b2)       R = 10 mOhm
l21   inductor  (b2, e2)      L = ls, start i = 0
lm2   inductor  (e2, ground)  L = lm, start i = 0
ideal transformer  (e2, ground, f2, ground)  ratio = 2
l22   inductor  (f2, c2)      L = ls/4
r22   resistor  (c2, d2)      R = 2.5 mOhm
load2 resistor  (d2, ground)  R = 250 mOhm
run   transient(stop = 1 s, sample = 10 ms)
save  r11.i, r21.i, load1.v, load2.v
""".replace("Ohm/w", "Ohm / w")
    )
    assert samples.series("r11.i") == pytest.approx(samples.series("r21.i"), abs=1e-4)
    assert samples.series("load1.v") == pytest.approx(samples.series("load2.v"), abs=1e-5) and np.ptp(samples.series("load1.v")[1:]) > 0.05


def test_a_coil_that_begins_with_millions_of_amperes_is_told():
    """Before a discharged capacitor, through the 20 uOhm of two ideal diodes; with a start of its own it is told nothing."""
    text = """use electrical
v1 voltage     (a, n)  v = sine(time, 325 V, 50 Hz, 30 deg)
l1 inductor    (a, b)  L = 60 uH{}
d1 ideal_diode (b, p)
d2 ideal_diode (m, b)
d3 ideal_diode (n, p)
d4 ideal_diode (m, n)
c  capacitor   (p, m)  C = 30 mF, start v = 0
r  resistor    (p, m)  R = 100 Ohm
g  resistor    (m, ground)  R = 1 kOhm
run transient(stop = 1 ms)
save c.v, l1.i
"""
    (note,) = netsim.load(text.format("")).check()
    assert note.is_note and note.code == "N402" and "l1.i starts at 8.1" in note.message and "because of the written start of c.v" in note.message
    assert "l1.i starts at" in run(text.format("").replace("use electrical\n", "")).attributes["notes"]
    assert netsim.load(text.format(", start i = 0 A")).check() == []
