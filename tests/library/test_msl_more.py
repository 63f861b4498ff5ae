"""More of what the examples of the Modelica Standard Library need, against closed forms and independent integrations."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq, fsolve
from scipy.spatial.transform import Rotation

import netsim
from netsim.library.files import models_folder
from netsim.text.errors import InputError

FOLDER = models_folder() / "msl"


def last(text):
    (samples,) = netsim.load(text).samples()
    assert samples.finished, samples.message
    return lambda name: samples.series(name)[-1]


SWITCHED = """
use electrical
use signal
model switched (a, b : electrical) "a capacitor that carries charge from a to b"
  s1 two_way_switch (p, a, ground, on)
  c  capacitor      (p, n)  C = 0.1 F
  s2 two_way_switch (n, b, ground, on)
  clock boolean_pulse (on)  period = 0.1 s
end
src  voltage    (in_, ground)  v = 1 V*step(time, at = 0.2 s)
r1   switched   (in_, n1)
r3   switched   (n1, o1)
c1   capacitor  (n1, o1)  C = 1 F
op1  opamp      (ground, n1, o1)
c5   capacitor  (o1, n7)  C = 0.5 F
c6   capacitor  (n7, o3)  C = 1 F
op3  opamp      (ground, n7, o3)
run  transient(stop = 0.4 s)
save o1.v, o3.v
"""


def test_switched_capacitors_keep_every_charge():
    """1e5 A flow where a contact of 10 uOhm closes; what integrators hold must not move with them. In every period (1 + 0.1) u' = u + 0.1 V."""
    at, u = last(SWITCHED), 0.0
    for _ in range(2):
        u = (u + 0.1) / 1.1
    assert at("o1.v") == pytest.approx(-u, rel=1e-6) and at("o3.v") == pytest.approx(u / 2, rel=1e-6)


# ------------------------------------------------------------------------------------------------ filters


def prototype(family, n):
    """Poles of SciPy's low pass, brought to -3 dB (of Butterworth's, 1/sqrt(2)) at 1."""
    poles = {
        "butterworth": lambda: signal.buttap(n)[1],
        "bessel": lambda: signal.besselap(n, norm="delay")[1],
        "chebyshev": lambda: signal.cheb1ap(n, 0.5)[1],
        "critical": lambda: -np.ones(n),
    }[family]()
    wanted = 0.5 if family == "butterworth" else 10**-0.3
    cut = brentq(lambda w: 1 / np.prod(np.abs(1 - 1j * w / poles)) ** 2 - wanted, 0.9 if family == "chebyshev" else 0.01, 50)
    return poles / cut


def step_response(zeros, poles, gain, times):
    a, b, c, d = signal.zpk2ss(zeros, poles, gain)
    n = len(a)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = a, b[:, 0]
    return np.array([(c @ expm(whole * t)[:n, n])[0] + d[0, 0] for t in times])


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("family", ["butterworth", "bessel", "chebyshev", "critical"])
def test_filters(family, n):
    text = f"""
use signal
s  signal_source    (u)      value = step(time, at = 0.1 s)
f1 lowpass_filter   (u, y1)  n = {n}, family = {family}, f = 2 Hz
f2 highpass_filter  (u, y2)  n = {n}, family = {family}, f = 2 Hz
f3 bandpass_filter  (u, y3)  n = {n}, family = {family}, lower = 1.6 Hz, upper = 2.5 Hz
f4 bandstop_filter  (u, y4)  n = {n}, family = {family}, lower = 1.6 Hz, upper = 2.5 Hz, k = 2
run transient(stop = 1.1 s, sample = 50 ms)
save y1, y2, y3, y4
"""
    (samples,) = netsim.load(text).samples()
    late = samples.time > 0.1001
    times, w = samples.time[late] - 0.1, 2 * np.pi
    zpk = np.zeros(0), prototype(family, n), np.prod(-prototype(family, n)).real
    centre, band = w * 2.0, w * 0.9
    for name, filtered, gain in (
        ("y1", signal.lp2lp_zpk(*zpk, 2 * w), 1),
        ("y2", signal.lp2hp_zpk(*zpk, 2 * w), 1),
        ("y3", signal.lp2bp_zpk(*zpk, centre, band), 1),
        ("y4", signal.lp2bs_zpk(*zpk, centre, band), 2),
    ):
        assert samples.series(name)[late] == pytest.approx(gain * step_response(*filtered, times), abs=3e-6), name


def test_filters_begin_where_nothing_changes():
    text = "use signal\ns signal_source (u) value = 0.1 + step(time, at = 0.5 s)\n"
    text += "a lowpass_filter (u, y) n = 5, family = bessel, f = 2 Hz\nb bandstop_filter (u, z) n = 2, lower = 1 Hz, upper = 2 Hz\n"
    text += "c highpass_filter (u, v) f = 1 Hz\nrun transient(stop = 0.4 s, from = static)\nsave y, z, v\n"
    (samples,) = netsim.load(text).samples()
    assert samples.series("y") == pytest.approx(0.1) and samples.series("z") == pytest.approx(0.1)
    assert np.abs(samples.series("v")).max() < 1e-9


def test_a_filter_of_no_order_is_refused():
    with pytest.raises(InputError, match=r"E235.*order n of a filter goes from 1 to 12"):
        netsim.load("use signal\ns constant (u) value = 1\na lowpass_filter (u, y) n = 13, f = 2 Hz\nrun static()\nsave y\n").samples()


# ------------------------------------------------------------------------------------------------ blocks


def test_derivatives_of_a_filter_up_to_its_order():
    text = "use signal\ns signal_source (u) value = step(time, at = 0.1 s)\nf lowpass_filter (u, y) n = 3, family = bessel, f = 2 Hz\n"
    text += "a rate_of (y, y1)\nb rate_of (y1, y2)\nc rate_of (y2, y3)\nrun transient(stop = 0.9 s, sample = 50 ms)\nsave y1, y2, y3\n"
    (samples,) = netsim.load(text).samples()
    late = samples.time > 0.1001
    poles = prototype("bessel", 3) * 4 * np.pi
    for order in (1, 2, 3):
        wanted = step_response(np.zeros(order), poles, np.prod(-poles).real, samples.time[late] - 0.1)
        assert samples.series(f"y{order}")[late] == pytest.approx(wanted, rel=1e-5, abs=1e-5 * np.abs(wanted).max())


def test_inverse_model():
    """Blocks.Examples.InverseModel: what the lag must be given so that its output is the filtered sine."""
    text = """
use signal
s    signal_source    (w)            value = sine(time, amplitude = 1, frequency = 2 Hz, offset = 1, at = 0.2 s)
f    critical_damping (w, wf)        n = 1, f = 100 Hz
lag1 first_order      (v, yi)        T = 0.3 s
inv  inversion        (wf, yi, x, v)
lag2 first_order      (x, yo)        T = 0.3 s
run  transient(stop = 1 s, from = static, sample = 20 ms)
save v, x, yo, yi
"""
    (samples,) = netsim.load(text).samples()
    t, w, lag = np.maximum(samples.time - 0.2, 0), 4 * np.pi, 1 / (200 * np.pi)
    decay = w * lag * np.exp(-t / lag)
    filtered = 1 + (np.sin(w * t) - w * lag * np.cos(w * t) + decay) / (1 + (w * lag) ** 2)
    rate = (w * np.cos(w * t) + w**2 * lag * np.sin(w * t) - decay / lag) / (1 + (w * lag) ** 2)
    assert samples.series("yi") == pytest.approx(filtered, abs=1e-5) and samples.series("yo") == pytest.approx(filtered, abs=1e-5)
    away = np.abs(samples.time - 0.2) > 0.01
    assert samples.series("v")[away] == pytest.approx((filtered + 0.3 * rate)[away], abs=2e-3)


def test_a_loop_of_logic_settles():
    """Blocks.Examples.LogicalNetwork1: set by x1, reset by x2."""
    text = """
use signal
t1 signal_source (x1)        value = pulse(time, at = 2 s, width = 2 s, period = 4 s)
t2 signal_source (x2)        value = pulse(time, at = 1 s, width = 2 s, period = 4 s)
n1 logic_not     (x2, free)
a1 logic_and     (free, before, z)
o1 logic_or      (x1, z, w)
m1 logic_memory  (w, before)
run transient(stop = 10.5 s, sample = 0.5 s)
save w, before
"""
    (samples,) = netsim.load(text).samples()
    t, wanted = samples.time, np.zeros(len(samples.time))
    for rise, fall in ((2, 5), (6, 9), (10, 11)):
        wanted[(t > rise) & (t < fall)] = 1
    inside = np.abs(t - np.round(t)) > 0.1
    assert np.array_equal(samples.series("w")[inside], wanted[inside]) and np.array_equal(samples.series("before")[inside], wanted[inside])


# ------------------------------------------------------------------------------------------------ transistors and heat

HEATED = """
use electrical
use thermal
use couplings
vc voltage     (c, ground)  v = {vc} V
vb voltage     (b, ground)  v = {vb} V
t  {kind}
ht temperature (h)          T = 350 K
run static()
save t.*
"""


def test_heated_bipolar_transistor():
    at = last(HEATED.format(vc=3, vb=0.55, kind="heated_bjt (c, b, ground, h) Is = 1e-14 A, Bf = 100, Br = 1, Vak = 0.02 V^-1, xtb = 1.5"))
    thermal = 350 * 1.380649e-23 / 1.602176634e-19
    saturation = 1e-14 * (350 / 300.15) ** 3 * np.exp((350 / 300.15 - 1) * 1.11 / thermal)
    gain = (350 / 300.15) ** 1.5
    forward, backward = saturation * np.expm1(0.55 / thermal) + 0.55e-15, -saturation - 2.45e-15
    collector, emitter, base = (forward - backward) * (1 + 2.45 * 0.02), forward / (100 * gain), backward / gain
    assert at("t.ice") == pytest.approx(collector, rel=1e-6) and at("t.ibe") == pytest.approx(emitter, rel=1e-6)
    assert at("t.q") == pytest.approx(-(3 * collector + 0.55 * emitter - 2.45 * base), rel=1e-6)


@pytest.mark.parametrize("vc", [0.2, 3.0])
def test_heated_field_effect_transistor(vc):
    at = last(HEATED.format(vc=vc, vb=2.5, kind="heated_mosfet (c, b, ground, ground, h)"))
    over = 0.7311 * (2.5 - 0.8 * (1 - 6.96e-3 * 49.85))
    square = over**2 - max(over - vc, 0) ** 2
    current = vc / 1e7 + 4.1e-5 * (350 / 300.15) ** -1.5 * 17.5 / 4.5 * square / 2
    assert at("t.ids") == pytest.approx(current, rel=1e-9) and at("t.q") == pytest.approx(-vc * current, rel=1e-9)


def test_nor_gate_heats_what_it_stands_on():
    """HeatingNPN_OrGate: the heat is what flows into both transistors; a conducting one pulls the output down."""
    text = (FOLDER / "Electrical_Analog_HeatingNPN_OrGate.net").read_text()
    (samples,) = netsim.load(text.replace("stop = 200 s", "stop = 200 s, sample = 0.1 s")).samples()
    t, out = samples.time, samples.series("c.v")
    assert np.all(out[(t > 62) & (t < 84)] < 0.2) and np.all(out[(t > 95) & (t < 104)] > 5.99)
    gained = 0.1 * (samples.series("h.T")[-1] - 293.15)
    heat = -samples.series("T1.q") - samples.series("T2.q")
    assert gained == pytest.approx(np.trapezoid(heat, t), rel=2e-3) and gained > 3


# ------------------------------------------------------------------------------------------------ mechanisms


THREE_SPRINGS = """use spatial
world gravity = [0, -9.80665, 0] m/s2

hung  body         (b)          m = 0.8 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [0.5, -0.5, 0] m
star  knot         (point)      at = [0.1, -0.2, 0.2] m
s1    line_spring  (ground, point)  at1 = [0.3, 0, 0] m, at2 = [0.1, -0.2, 0.2] m, c = 20 N/m, l0 = 0.1 m
s2    line_spring  (ground, point)  at1 = [0, 0, 0.3] m, at2 = [0.1, -0.2, 0.2] m, c = 20 N/m, l0 = 0.1 m
s3    line_spring  (b, point)   at1 = [0.5, -0.3, 0] m, at2 = [0.1, -0.2, 0.2] m, c = 40 N/m, l0 = 0.1 m
run   transient(stop = 1 s, sample = 0.1 s)
save  b.r, point.r
"""

WHEELS = """use spatial
use rotational
use couplings

wheels  wheel_set  (middle, left, right)  r = 0.1 m, track = 0.5 m, m = 0.5 kg, Iaxis = 0.01 kg.m2, Iacross = 0.02 kg.m2, x = 0.1 m, y = 0.1 m
load    point_mass (middle)  m = 0.01 kg, at = [0.1, 0.1, 0.1] m
drive1  torque     (left)    T = 2 N.m*sin(2*pi*time/(1 s))
drive2  torque     (right)   T = 2 N.m*cos(2*pi*time/(1 s))
run     transient(stop = 0.3 s, sample = 20 ms)
save    middle.r, middle.v, left.phi, right.phi
"""


def test_three_springs():
    """Elementary.ThreeSprings: the point without mass from its balance at every instant, the body by Newton and Euler."""
    (samples,) = netsim.load(THREE_SPRINGS).samples()
    point, ends = np.array([0.1, -0.2, 0.2]), (np.array([0.3, 0, 0]), np.array([0, 0, 0.3]))

    def pull(c, gap):
        return c * (np.linalg.norm(gap) - 0.1) * gap / np.linalg.norm(gap)

    def balanced(end):
        nonlocal point
        point = fsolve(lambda p: pull(20, p - ends[0]) + pull(20, p - ends[1]) + pull(40, p - end), point, xtol=1e-11)
        return point

    def rates(t, s):
        r, v, turn, w = s[:3], s[3:6], s[6:10], s[10:]
        arm = Rotation.from_quat(turn).apply([0, 0.2, 0])
        force = pull(40, balanced(r + arm) - r - arm)
        turning = np.append(turn[3] * w + np.cross(w, turn[:3]), -w @ turn[:3]) / 2
        return np.concatenate([v, force / 0.8 - [0, 9.80665, 0], turning, np.cross(arm, force) / 0.1])

    start = np.array([0.5, -0.5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    found = solve_ivp(rates, (0, samples.time[-1]), start, t_eval=samples.time, rtol=1e-8, atol=1e-10, method="DOP853").y
    for k, c in enumerate("xyz"):
        assert samples.series(f"b.r.{c}") == pytest.approx(found[k], abs=2e-5)
    end = found[:3, -1] + Rotation.from_quat(found[6:10, -1]).apply([0, 0.2, 0])
    assert [samples.series(f"point.r.{c}")[-1] for c in "xyz"] == pytest.approx(balanced(end), abs=2e-5)


def test_wheel_set():
    """Elementary.RollingWheelSetDriving, its load in the middle: (m + 2 I/r^2) v' = (T1 + T2)/r and (J + (b/2)^2 2 I/r^2) w' = (T2 - T1) b/(2 r)."""
    (samples,) = netsim.load(WHEELS).samples()
    w = 2 * np.pi
    t = samples.time
    forward, turning = 1.01 + 2, 2 * (0.02 + 0.5 * 0.25**2) + 2 * 0.25**2
    way = 2 / 0.1 / forward * (t / w - np.sin(w * t) / w**2 + (1 - np.cos(w * t)) / w**2)
    turn = 2 * 0.25 / 0.1 / turning * ((1 - np.cos(w * t)) / w**2 - t / w + np.sin(w * t) / w**2)
    assert samples.series("left.phi") == pytest.approx((way - 0.25 * turn) / 0.1, abs=1e-4)
    assert samples.series("right.phi") == pytest.approx((way + 0.25 * turn) / 0.1, abs=1e-4)
    assert np.abs(samples.series("middle.r.z") - 0.1).max() < 1e-8
