"""Examples of Modelica.Blocks, PowerConverters and Machines, written down from what they are, against closed forms and SciPy."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import netsim


def run(text):
    (samples,) = netsim.load("use signal\nuse electrical\nuse rotational\nuse couplings\n" + text).samples()
    assert samples.finished, samples.message
    return samples


def test_harmonic_distortion():
    """100 V and a third harmonic of 20 V from 20 ms on: 0.2 of the fundamental, 20/sqrt(100^2 + 20^2) of the effective value."""
    samples = run("""
s3    voltage         (a, b)          v = sine(time, amplitude = 20 V*sqrt(2), frequency = 150 Hz, at = 20 ms)
s1    voltage         (b, ground)     v = 5 V + sine(time, amplitude = 100 V*sqrt(2), frequency = 50 Hz, at = 20 ms)
meter voltage_sensor  (a, ground, u)
all   effective       (u, e)          f = 50 Hz
one   harmonic        (u, h1, p1)     f = 50 Hz
three harmonic        (u, h3, p3)     f = 50 Hz, k = 3, first = 5 ms
rest  mean            (u, m)          f = 50 Hz
run   transient(stop = 50 ms, rtol = 1e-6)
save  e, h1, p1, h3, p3, m
""")
    last = {name: samples.series(name)[-1] for name in ("e", "h1", "p1", "h3", "p3", "m")}
    wanted = {"e": np.sqrt(100**2 + 20**2 + 25), "h1": 100 * np.sqrt(2), "p1": -np.pi / 2, "h3": 20 * np.sqrt(2), "p3": np.pi, "m": 5.0}
    last["p3"] = abs(last["p3"])
    assert last == pytest.approx(wanted, rel=1e-5)
    early = samples.time < 0.0199
    assert np.all(samples.series("e")[early] == 0) and samples.series("e")[np.argmin(np.abs(samples.time - 0.03))] == pytest.approx(5)


def test_discrete_blocks():
    """Triggered sum, delayed rise (BooleanNetwork1), a transfer function in z, a first-order hold."""
    samples = run("""
wave  signal_source   (u)      value = sin(2*pi*0.3 Hz*time)
both  constant        (two)    value = 2
clock boolean_pulse   (q)      period = 1 s
add   triggered_sum   (two, q, total)  begins = 1
steps signal_source   (t)      value = step(time, 2 s) - step(time, 4 s) + step(time, 6 s) - step(time, 6.5 s) + step(time, 7 s) - step(time, 9 s)
late  delayed_rise    (t, r)   delay = 1 s
tf    discrete_transfer_function (u, z)  n = 2, a = [0.3, -1], b = [0.1, 0.2], d = 0.05, period = 0.25 s
foh   first_order_hold (u, l)  period = 0.25 s
run   transient(stop = 9.9 s, sample = 0.05 s)
save  total, r, z, l
""")
    t = samples.time
    inside = np.abs(t / 0.25 - np.round(t / 0.25)) > 0.1
    assert samples.series("total")[inside] == pytest.approx((1 + 2 * (np.floor(t) + 1))[inside])
    assert np.array_equal(samples.series("r")[inside], (((t > 3) & (t < 4)) | ((t > 8) & (t < 9)))[inside].astype(float))
    u = np.sin(0.6 * np.pi * 0.25 * np.arange(41))
    numerator = np.array([0, 0.2, 0.1]) + 0.05 * np.array([1, -1, 0.3])
    held = signal.lfilter(numerator, [1, -1, 0.3], u)
    k = np.floor(t / 0.25 + 1e-9).astype(int)
    assert samples.series("z")[inside] == pytest.approx(held[k][inside], abs=1e-9)
    line = u[k] + (u[k] - u[k - 1]) * (t / 0.25 - k)
    later = inside & (t > 0.25)
    assert samples.series("l")[later] == pytest.approx(line[later], abs=1e-9)


@pytest.mark.parametrize("method", ["radau, rtol = 1e-3", "radau", "bdf"])
def test_encoder(method):
    """SinCosEncoder: a phasor turned back by the angle that an integrator of its imaginary part finds; the angle does not jump."""
    text = """
phase  signal_source (phi)   value = 2*pi*50*(time/(1 s))^2
cos1   cosine_of     (phi, c)
sin1   sine_of       (phi, s)
back   signal_source (e)     value = 2*(s*cos(angle) - c*sin(angle))
find   integrator    (e, angle)  k = 1e6 Hz
run    transient(stop = 0.5 s, sample = 10 ms, method = bdf)
save   angle, phi
"""
    samples = run(text.replace("bdf", method))
    phi = 100 * np.pi * samples.time**2
    assert samples.series("angle") == pytest.approx(phi - 200 * np.pi * samples.time / 2e6, abs=2e-3)


SIX = "".join(
    f"v{k} voltage (a{k}, star) v = sine(time, 141.421356 V, 50 Hz, {-120 * k} deg)\np{k} ideal_diode (a{k}, plus)\nn{k} ideal_diode (minus, a{k})\n"
    for k in range(3)
)


def test_six_pulse_rectifier():
    """DiodeBridge2mPulse with R and L: the mean of the line voltage's crest, 3 sqrt(3)/pi of the phase's peak."""
    samples = run(
        SIX
        + """
r resistor (plus, m)       R = 20 Ohm
l inductor (m, minus)      L = 10 mH, start i = 11 A
g resistor (minus, ground) R = 0.1 MOhm
run transient(stop = 60 ms, sample = 0.05 ms)
save r.i, plus.v, minus.v
"""
    )
    late = samples.time > 0.04
    t = samples.time[late]
    assert np.trapezoid(samples.series("r.i")[late], t) / np.ptp(t) == pytest.approx(3 * np.sqrt(3) / np.pi * 141.421356 / 20, rel=1e-3)
    lines = [np.sin(100 * np.pi * t + a) - np.sin(100 * np.pi * t + b) for a in (0, -2.0943951, 2.0943951) for b in (0, -2.0943951, 2.0943951)]
    crest = 141.421356 * np.max(lines, axis=0)
    assert (samples.series("plus.v") - samples.series("minus.v"))[late] == pytest.approx(crest, abs=0.05)


def test_chopper():
    """ChopperStepDown with R and L: rises towards 1 A in a quarter of each millisecond, falls towards 0 in the rest."""
    samples = run("""
src  voltage        (d, ground)  v = 100 V
duty constant       (share)      value = 0.25
pwm  pulse_width    (share, s)   period = 1 ms
sw   closing_switch (d, x, s)
free ideal_diode    (ground, x)
r    resistor       (x, m)       R = 100 Ohm
l    inductor       (m, ground)  L = 0.1 H, start i = 0
run  transient(stop = 4.9 ms, rtol = 1e-7)
save r.i
""")
    i, wanted = 0.0, []
    for _ in range(4):
        top = 1 - (1 - i) * np.exp(-0.25)
        i = top * np.exp(-0.75)
        wanted += [top, i]
    at = [k * 1e-3 + part for k in range(4) for part in (0.25e-3, 1e-3)]
    assert np.interp(at, samples.time, samples.series("r.i")) == pytest.approx(wanted, rel=1e-4)


def test_start_of_a_dc_machine():
    """DCPM: a ramp of voltage, then a load: linear, L i' = v - R i - k w, J w' = k i - M."""
    samples = run("""
src  voltage   (a, ground)  v = 100 V*min(ramp(time, at = 0.2 s)/(0.8 s), 1)
mot  dc_motor  (a, ground, s)  R = 0.05 Ohm, L = 1.5 mH, k = 0.63325739 N.m/A
j    inertia   (s)          J = 0.3 kg.m2
load torque    (s)          T = -63.66 N.m*step(time, at = 1.5 s)
start mot.i = 0 A
run  transient(stop = 2 s, sample = 0.1 s)
save s.w, mot.i
""")
    k, L, R, J = 0.63325739, 1.5e-3, 0.05, 0.3
    whole = np.zeros((5, 5))  # i, w, voltage, its rate, the load
    whole[0, :3], whole[1, 0], whole[1, 4], whole[2, 3] = [-R / L, -k / L, 1 / L], k / J, -1 / J, 1

    state, now, found = np.zeros(5), 0.0, []
    changes = {0.2: (3, 125.0), 1.0: (3, 0.0), 1.5: (4, 63.66)}
    for t in samples.time:
        for instant in [c for c in changes if now < c <= t + 1e-12]:
            state = expm(whole * (instant - now)) @ state
            state[changes[instant][0]] = changes[instant][1]
            now = instant
        state, now = expm(whole * (t - now)) @ state, t
        found.append(state)
    assert samples.series("s.w") == pytest.approx(np.array(found)[:, 1], abs=1e-2) and samples.series("mot.i") == pytest.approx(
        np.array(found)[:, 0], abs=0.1
    )


@pytest.mark.parametrize("series", [True, False])
def test_wound_machines(series):
    """DCSE and DCEE: the field in series with the armature, or on a source of its own, under a load that grows with the square of speed."""
    field = "f, f" if series else "ground, f"
    values = "Rf = 0.01 Ohm, Lf = 0.5 mH, M = 6.3 mH" if series else "Rf = 100 Ohm, Lf = 1 H, M = 0.63 H"
    samples = run(f"""{"" if series else "exc voltage (f, ground) v = 100 V"}
src  voltage         (a, ground)  v = 100 V
mot  wound_motor     (b, {field}, ground, s)  R = 0.05 Ohm, L = 1.5 mH, {values}
pre  resistor        (a, b)  R = 0.5 Ohm
j    inertia         (s)     J = 0.3 kg.m2
load quadratic_load  (s)     T = -60 N.m, w = 149 rad/s
start mot.i = 0 A
start mot.jf = 0 A
run  transient(stop = 1 s, sample = 50 ms, rtol = 1e-6)
save s.w, mot.i
""")

    def rates(t, s):
        i, jf, w = s
        if series:
            rate = (100 - 0.56 * i - 6.3e-3 * i * w) / 2e-3
            return [rate, rate, (6.3e-3 * i * i - 60 * (w / 149) ** 2) / 0.3]
        return [(100 - 0.55 * i - 0.63 * jf * w) / 1.5e-3, 100 - 100 * jf, (0.63 * jf * i - 60 * w * abs(w) / 149**2) / 0.3]

    found = solve_ivp(rates, (0, 1), [0, 0, 0], t_eval=samples.time, method="Radau", rtol=1e-8, atol=1e-8).y
    assert samples.series("s.w") == pytest.approx(found[2], abs=1e-3 * found[2].max()) and samples.series("mot.i") == pytest.approx(found[0], abs=0.1)
