"""Further examples of the Modelica Standard Library, written down from what they are, against closed forms and independent integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import netsim
from netsim.library.files import models_folder

FOLDER = models_folder() / "msl"


def run(name, **options):
    (samples,) = netsim.load(FOLDER / f"{name}.net").samples(options)
    assert samples.finished, samples.message
    return samples


def integrated(rates, start, times, **options):
    found = solve_ivp(rates, (0.0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-12, method="DOP853", **options)
    return found.y


def close(found, wanted, share):
    """Within a share of the wanted course's range."""
    return np.abs(found - wanted).max() < share * np.ptp(wanted)


def linear(matrix, start, drive, times):
    """x' = matrix x + drive from `start`, at times."""
    n = len(start)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = matrix, drive
    return np.array([expm(whole * t)[:n] @ np.append(start, 1.0) for t in times]).T


def test_point_gravity():
    samples = run("Mechanics_MultiBody_Elementary_PointGravity", sample=0.05)
    for body, start in (("b1", [0, 0.6, 1, 0]), ("b2", [0.6, 0.6, 0.6, 0])):
        x, y, _, _ = integrated(lambda t, s: [s[2], s[3], *(-s[:2] / np.hypot(s[0], s[1]) ** 3)], start, samples.time)
        assert close(samples.series(f"{body}.r.x"), x, 1e-5) and close(samples.series(f"{body}.r.y"), y, 1e-5)


def test_rolling_wheel_of_multibody():
    """Energy, the rim's touching point at rest, and what no force of the plane can change: with the contact force F, m r'' = F + m g and
    (R I R^T w)' = arm x F."""
    samples = run("Mechanics_MultiBody_Elementary_RollingWheel", sample=0.002)
    t, s = samples.time, lambda name: np.array([samples.series(f"{name}.{c}") for c in "xyz"])
    r, v, w, contact = s("w.r"), s("w.v"), s("w.w"), s("ground_.contact")
    arm = contact - r
    assert np.abs(contact[2]).max() < 1e-8
    assert np.abs(v + np.cross(w.T, arm.T).T).max() < 1e-6 * np.abs(v).max()
    assert np.allclose(np.linalg.norm(arm, axis=0), 0.3, rtol=1e-9)
    total = samples.energy[:, 0]
    assert np.ptp(total) < 1e-7 * total[0]
    pull = 2 * np.gradient(v, t, axis=1, edge_order=2)[2] + 2 * 9.80665
    assert np.abs(samples.series("ground_.load") - pull)[5:-5].max() < 2e-3 * np.abs(pull).max()


def test_wheel_that_rolls_down_a_slope():
    text = "use spatial\nworld gravity = [2, 0, -9.81] m/s2\nd body (w) m = 2 kg, I = diag(0.02, 0.04, 0.02) kg.m2, at = [0, 0, 0.2] m\n"
    text += "g rolling_wheel (w) r = 0.2 m\nrun transient(stop = 2 s)\nsave w.r, g.load\n"
    (samples,) = netsim.load(text).samples()
    rate = 2 / (1 + 0.04 / (2 * 0.2**2))
    assert samples.series("w.r.x")[-1] == pytest.approx(rate * 2**2 / 2, rel=1e-6)
    assert samples.series("g.load") == pytest.approx(np.full(len(samples.time), 2 * 9.81), rel=1e-9)


def test_gyroscopic_effects_are_those_of_a_body_on_a_hinge():
    """The rotor in its body against two bodies joined by a hinge, whose inertias add up to the same."""
    ours = run("Mechanics_MultiBody_Rotational3DEffects_GyroscopicEffects", sample=0.02)
    text = """
use spatial
arm   body      (a)          m = 1.5 kg, I = diag(0.02, 0.02, 0.02) kg.m2, at = [0.1, 0, 0] m
ball  spherical (ground, a)  at = [0, 0, 0] m
disc  body      (d)          m = 0.5 kg, I = diag(0.05, 0.03, 0.03) kg.m2, at = [0.1, 0, 0] m
hinge revolute  (a, d)       at = [0.1, 0, 0] m, axis = [1, 0, 0]
start hinge.rate = 100 rad/s
start a.w = [0, 0, 0] rad/s
run   transient(stop = 2 s, rtol = 1e-8, sample = 20 ms)
save  a.r, hinge.rate
"""
    (theirs,) = netsim.load(text).samples()
    for c in "xyz":
        assert close(ours.series(f"a.r.{c}"), theirs.series(f"a.r.{c}"), 1e-5)
    assert ours.series("shaft.w") == pytest.approx(theirs.series("hinge.rate"), rel=1e-6)


def test_what_drives_a_rotor_pushes_off_from_its_body():
    text = "use spatial\nuse rotational\nworld gravity = [0, 0, 0] m/s2\ns body (a) m = 10 kg, I = diag(1, 1, 1) kg.m2\n"
    text += "w rotor (a, shaft) J = 0.1 kg.m2\nd torque (shaft) T = 1 N.m\nrun transient(stop = 2 s)\nsave a.w, shaft.w\n"
    (samples,) = netsim.load(text).samples()
    assert samples.series("a.w.z")[-1] == pytest.approx(-2.0, rel=1e-6)
    assert samples.series("shaft.w")[-1] == pytest.approx(22.0, rel=1e-6)


def test_eddy_current_brake():
    samples = run("Mechanics_Rotational_EddyCurrentBrake", sample=0.1)

    def rates(t, s):
        x = s[0] / (10 * (1 + 0.004 * (s[1] - 293.15)))
        brake = 20 * x / (1 + x**2)
        return [-brake, brake * s[0]]

    w, temperature = integrated(rates, [30.0, 293.15], samples.time)
    assert close(samples.series("shaft.w"), w, 1e-5) and close(samples.series("disc.T"), temperature, 1e-5)


def test_elastic_bearing():
    """Angles of shaft, housing and load; the gear's torque is that of the spring, three times at the load, the difference at the housing."""
    samples = run("Mechanics_Rotational_ElasticBearing", sample=0.05)

    def rates(t, s):
        shaft, housing, load, w1, w2, w3 = s
        motor = 3 * (load - housing) + housing
        torque = 1e3 * (shaft - motor)
        drive = 10 * max(t - 1, 0) / 5
        return [w1, w2, w3, drive - torque, (-1e5 * housing - 5 * w2 - 2 * torque) / 0.1, 3 * torque / 50]

    early = integrated(rates, np.zeros(6), np.linspace(0, 1, 5))[:, -1]
    found = solve_ivp(rates, (1.0, 10.0), early, t_eval=samples.time[samples.time >= 1.0], rtol=1e-9, atol=1e-12, method="LSODA").y
    late = samples.time >= 1.0
    assert close(samples.series("shaft.w")[late], found[3], 1e-4) and close(samples.series("load.w")[late], found[5], 1e-4)
    assert close(samples.series("housing.phi")[late], found[1], 1e-3)


def test_rolling_wheel_of_rotational():
    samples = run("Mechanics_Rotational_RollingWheel", sample=0.01)
    assert samples.series("rack.x") == pytest.approx(2.5 * np.maximum(samples.time - 0.1, 0) ** 2, abs=1e-6)


def test_compare_braking_torque():
    samples = run("Mechanics_Rotational_CompareBrakingTorque", sample=0.01)
    t = samples.time
    wanted = {
        "a": np.where(t < 0.99, 100 - 100 * t, np.nan),
        "b": 100 * np.exp(-t),
        "c": 100 / (1 + t),
        "d": 100 * np.sqrt(np.where(t < 0.499, 1 - 2 * t, np.nan)),
    }
    for name, course in wanted.items():
        there = np.isfinite(course) & (course > 15)
        assert close(samples.series(f"{name}.w")[there], course[there], 1e-5), name


def test_oscillator():
    samples = run("Mechanics_Translational_Oscillator", sample=0.005)
    for name, damping in (("a", 0.0), ("b", 10.0)):
        x, _ = integrated(lambda t, s, d=damping: [s[1], np.sin(2 * np.pi * 15.9155 * t) - 1e4 * s[0] - d * s[1]], [-5e-4, 0.0], samples.time)
        assert close(samples.series(f"{name}.x"), x, 1e-5)


def test_chua_circuit():
    samples = run("Electrical_Analog_ChuaCircuit", sample=1.0)

    def rates(t, s):
        v1, v2, i = s
        diode = -0.409091 * v1 + (-0.757576 + 0.409091) * (abs(v1 + 1) - abs(v1 - 1)) / 2
        return [(0.565 * (v2 - v1) - diode) / 10, (0.565 * (v1 - v2) + i) / 100, (-0.0125 * i - v2) / 18]

    v1, v2, i = integrated(rates, [4.0, 0.0, 0.0], samples.time, max_step=0.5)
    assert close(samples.series("o.v"), v1, 1e-4) and close(samples.series("n.v"), v2, 1e-4) and close(samples.series("l.i"), i, 1e-4)


def test_opamp_integrator():
    """5 V over 1 kOhm into 50 uF: 100 V/s, down while the input is up."""
    samples = run("Electrical_Analog_OpAmps_Integrator", sample=1e-3)
    phase = np.mod(samples.time + 1e-9, 0.1)
    assert np.abs(samples.series("out.v") - np.where(phase < 0.05, -100 * phase, 100 * (phase - 0.1))).max() < 1e-3


def test_two_masses():
    samples = run("Thermal_HeatTransfer_TwoMasses")
    difference = 50 * np.exp(-2 * 10 / 15 * samples.time)
    assert samples.series("a.T") == pytest.approx(323.15 + difference, rel=1e-6)
    assert samples.series("b.T") == pytest.approx(323.15 - difference, rel=1e-6)
    assert samples.figures[0].value == pytest.approx(323.15)


def test_thermal_motor():
    samples = run("Thermal_HeatTransfer_Motor", sample=60.0)
    matrix = np.array([[-10 / 2500, 10 / 2500], [10 / 25e3, -35 / 25e3]])
    warm = linear(matrix, np.zeros(2), np.array([100 / 2500, 500 / 25e3]), np.maximum(samples.time - 360, 0)[samples.time <= 3960])
    cold = linear(matrix, warm[:, -1], np.zeros(2), samples.time[samples.time > 3960] - 3960)
    wanted = np.hstack([warm, cold]) + 293.15
    assert close(samples.series("winding.T"), wanted[0], 1e-5) and close(samples.series("core.T"), wanted[1], 1e-5)


def test_parallel_cooling():
    samples = run("Thermal_FluidHeatFlow_ParallelCooling", sample=0.02)
    q1, q2 = 2 / 3, 1 / 3
    matrix = np.zeros((5, 5))  # l1, l2, l3, b1, b2 over ambient
    matrix[0, [0, 3]], matrix[1, [1, 4]] = [-(q1 + 1) / 0.1, 10], [-(q2 + 1) / 0.1, 10]
    matrix[2, :3] = [q1 / 0.1, q2 / 0.1, -10]
    matrix[3, [3, 0]], matrix[4, [4, 1]] = [-10, 10], [-10, 10]
    wanted = linear(matrix, np.zeros(5), np.array([0, 0, 0, 50.0, 100.0]), samples.time) + 293.15
    for name, course in zip(("l1", "l2", "l3", "b1", "b2"), wanted):
        assert close(samples.series(f"{name}.T"), course, 1e-5), name
    assert samples.series("l3.T")[-1] == pytest.approx(293.15 + 15, abs=0.01)


def test_pump_drop_out():
    """While nothing flows the body and its liquid warm up together."""
    samples = run("Thermal_FluidHeatFlow_PumpDropOut", sample=0.02)

    def flow(t):
        return max(1 - max(t - 0.2, 0) / 0.2, 0) + min(max(t - 0.8, 0) / 0.2, 1)

    def rates(t, s):
        return [(10 - (s[0] - s[1])) / 0.1, ((s[0] - s[1]) - flow(t) * s[1]) / 0.1]

    body, liquid = integrated(rates, [0.0, 0.0], samples.time, max_step=0.01)
    assert close(samples.series("body.T"), body + 293.15, 1e-5) and close(samples.series("liquid.T"), liquid + 293.15, 1e-5)


WGS84 = """
use spatial
world gravity = [0, 0, 0] m/s2
param latitude = 0 deg
param a = 6378137.0 m
param b = 6356752.3142 m
let   s2 = sin(latitude)^2
let   flat = 1/298.257223563 + (7292115e-11 rad/s)^2*a^2*b/(3986004.418e8 m3/s2)
let   normal = 9.7803253359 m/s2*(1 + (b/a*9.8321849378/9.7803253359 - 1)*s2)/sqrt(1 - 8.1819190842622e-2^2*s2)
let   h = bob.r.y/a
let   weight = 1000 kg*normal*(1 - h*(2*(1 + flat - 2/298.257223563*s2) + 3*h))
mass  body         (bob)          m = 1000 kg, I = diag(1, 1, 1) g.m2, at = [10, 20, 0] m
hinge revolute     (ground, bob)  at = [0, 20, 0] m, axis = [0, 0, 1], d = 0.1 N.m.s/rad
pull  world_force  (bob)          F = [0 N, -weight, 0 N], at = [10, 20, 0] m
run   transient(stop = 10 s, rtol = 1e-8)
save  hinge.q
"""


@pytest.mark.parametrize("latitude, wanted", [(0, -2.39), (90, -2.42)])
def test_user_defined_gravity_field(latitude, wanted):
    """The pendulum's angle after 10 s at the equator and at a pole, as the example's documentation has it; the field is a let of a signal."""
    (samples,) = netsim.load(WGS84).with_params(latitude=np.radians(latitude)).samples()
    assert samples.series("hinge.q")[-1] == pytest.approx(wanted, abs=0.005)


OPV = """
use electrical
param l1 = 1.304 F
param l2 = 0.8586 F
param c2 = 1 F2/(1.704992^2*l1)
param c4 = 1 F2/(1.179945^2*l2)
src  voltage            (in_, ground)  v = -1 V*step(time, at = 1 s)
r1   resistor           (in_, n1)      R = 1 Ohm
c1   capacitor          (n1, o1)       C = 1.072 F + c2
c2_  capacitor          (o3, n1)       C = c2
r2   resistor           (o2, n1)       R = 1 Ohm
r3   resistor           (n1, o1)       R = 1 Ohm
op1  opamp              (ground, n1, o1)
r4   variable_resistor  (o1, n2)       R = -1 Ohm
r5   variable_resistor  (o3, n2)       R = -1 Ohm
c3   capacitor          (n2, o2)       C = l1
op2  opamp              (ground, n2, o2)
r7   resistor           (o2, n3)       R = 1 Ohm
c5   capacitor          (o1, n3)       C = c2
r6   resistor           (o4, n3)       R = 1 Ohm
c6   capacitor          (n3, o3)       C = c2 + 1.682 F + c4
c4_  capacitor          (o5, n3)       C = c4
op3  opamp              (ground, n3, o3)
r8   variable_resistor  (o5, n4)       R = -1 Ohm
r9   variable_resistor  (o3, n4)       R = -1 Ohm
c7   capacitor          (n4, o4)       C = l2
op4  opamp              (ground, n4, o4)
r10  resistor           (o4, n5)       R = 1 Ohm
c8   capacitor          (o3, n5)       C = c4
c9   capacitor          (n5, o5)       C = c4 + 0.7262 F
r11  resistor           (n5, o5)       R = 1 Ohm
op5  opamp              (ground, n5, o5)
run  transient(stop = 60 s, sample = 0.5 s, rtol = 1e-8)
save o5.v
"""


def test_cauer_filter_of_amplifiers_is_that_of_coils():
    """CauerLowPassOPV against CauerLowPassAnalog: integrators and negative resistances in the place of the ladder."""
    (samples,) = netsim.load(OPV).samples()
    ladder = run("Electrical_Analog_CauerLowPassAnalog", sample=0.5, rtol=1e-8)
    assert np.abs(samples.series("o5.v") - ladder.series("n3.v")).max() < 1e-5


def test_differentiator_of_a_trapezoid_that_meets_its_limit():
    """-R C der(v) would be 15.9 V on the flanks: the output lies at its supply of 15 V there, entered from the straight piece; zero on the tops."""
    text = """
use electrical
vin  voltage         (a, ground)   v = (2*pulse(time, at = -35 ms, width = 30 ms, rise = 20 ms, fall = 20 ms, period = 100 ms) - 1)*5 V
c    capacitor       (a, minus)    C = 2/(2*pi*10 Hz*1 kOhm), start v = 0 V
r    resistor        (minus, out)  R = 1 kOhm
amp  clipping_opamp  (ground, minus, out)
run  transient(stop = 0.2 s)
save out.v
"""
    (samples,) = netsim.load(text).samples()
    assert samples.finished
    at = np.interp([0.025, 0.06, 0.075, 0.114, 0.125, 0.16], samples.time, samples.series("out.v"))
    assert at == pytest.approx([15, 0, -15, 0, 15, 0], abs=1e-3)
