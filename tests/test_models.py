"""Every netlist of models/ runs to its end; the textbook says what comes out.

Implicit Euler is of first order, so smooth solutions are compared after Richardson extrapolation from three steps (error h^3): a wrong
coefficient shows, a coarse step does not.
"""

import shutil
import subprocess

import numpy as np
import pytest
from scipy.optimize import brentq

import netsim
from conftest import loaded, ran, sampled
from netsim.library.files import models_folder
from oracles import beat, bridge_euler, integrated, rc_charge, rc_charge_euler, rectifier_euler, released, second_order_step

NAMES = sorted(path.stem for path in models_folder().glob("*.net"))


def smooth(name, *signals, step, every=1, **options):
    """(time, extrapolated series ...) of runs of implicit Euler with step, step/2, step/4."""
    runs = [ran(name, signals, **{"method": "euler", "step": step / k, "every": k * every, **options}) for k in (1, 2, 4)]
    columns = [[run.series(signal) for run in runs] for signal in signals]
    return runs[0].time, *((a - 6 * b + 8 * c) / 3 for a, b, c in columns)


def close(found, wanted, tolerance):
    """Within tolerance of the largest wanted value."""
    worst = np.max(np.abs(np.asarray(found) - wanted)) / np.max(np.abs(wanted))
    assert worst < tolerance, f"off by {worst:.2e} of the peak"


@pytest.mark.parametrize("name", NAMES)
def test_runs_to_its_end(name):
    samples = ran(name)
    assert samples.finished and np.all(np.isfinite(samples.values)) and np.all(np.isfinite(samples.energy))
    if "stop" not in samples.attributes:  # over frequency, or along an input
        return
    assert samples.time[0] == 0.0 and samples.time[-1] == samples.attributes["stop"]
    both_sides = len(samples.time) - samples.attributes["steps"] - 1  # of state and time events
    if "rtol" not in samples.attributes and both_sides:
        assert both_sides > 0 and (samples.attributes.get("event_log") or samples.attributes["time_events"])
    assert [p for p in loaded(name).check() if not p.is_note] == []


# ------------------------------------------------------------------------------------------------------------ circuits


def test_rc():
    samples = ran("rc", ("mid.v", "c1.i"))
    n, v = np.arange(len(samples.time)), samples.series("mid.v")
    close(v, rc_charge_euler(n, 5.0, 5e-3), 1e-9)
    close(v, rc_charge(samples.time, 5.0, 1e-3), 5e-3 / 2 / np.e * 1.02)
    close(samples.series("c1.i"), (5.0 - rc_charge_euler(n, 5.0, 5e-3)) / 1e3, 1e-9)


def test_rc_ladder():
    """Ten cells as one dense linear system; the pulse rises within 1 us."""
    n, r, c = 10, 1e3, 1e-9
    matrix = (np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1.0), -1) - 2 * np.eye(n)) / (r * c)
    matrix[-1, -1] /= 2
    inflow = np.eye(n)[0] / (r * c)
    t, middle, end = smooth("rc_ladder", "tap[6].v", "tap[11].v", step=0.1e-6, stop=60e-6)
    v = integrated(lambda time, v: matrix @ v + inflow * np.clip((time - 1e-6) / 1e-6, 0, 1), t, np.zeros(n), "Radau", 1e-9, 1e-12)
    close(middle, v[4], 1e-4)
    close(end, v[9], 1e-4)


def test_rc_ladder_of_five_sections():
    """Another count, the same line: it charges to the supply through the whole resistance."""
    line = netsim.load(models_folder() / "rc_ladder.net", counts={"n": 5})
    assert len([i for i in line.network.instances if i.component.name == "capacitor"]) == 5
    end = sampled(line, ("tap[6].v", "src.i"), stop=1.5e-3, step=1e-6)
    assert end.series("tap[6].v")[-1] == pytest.approx(1.0, abs=1e-9)


def test_rlc_series():
    t, v, i = smooth("rlc_series", "tank.v", "l1.i", step=0.5e-6)
    close(v, second_order_step(t, 1e4, 0.1), 1e-6)
    wd = 1e4 * np.sqrt(0.99)
    close(i, 1e-6 * 1e8 / wd * np.exp(-1e3 * t) * np.sin(wd * t), 1e-6)


def test_coupled_coils():
    """Common and opposite mode are tuned circuits of their own, L (1 +- k), each damped by its 200 kOhm."""
    t, a, b = smooth("coupled_coils", "a.v", "b.v", step=5e-9, stop=40e-6)
    decay = 1 / (2 * 200e3 * 1e-9)
    common, opposite = (released(t, 10.0, -2 * decay * 10.0, 1 / np.sqrt(1e-3 * (1 + k) * 1e-9), decay) for k in (0.1, -0.1))
    close(a + b, common, 1e-4)
    close(a - b, opposite, 1e-4)


def test_transformer_supply():
    """Leakage and magnetising currents as two states; the load counts ratio^2 on the primary side."""
    parallel = 1 / (1 / 5000 + 1 / 500)

    def rate(t, i):
        return [(325 * np.sin(100 * np.pi * t) - 2 * i[0] - parallel * (i[0] - i[1])) / 10e-3, parallel * (i[0] - i[1]) / 5]

    t, primary, secondary, mains, load = smooth("transformer_supply", "primary.v", "secondary.v", "mains.i", "load.i", step=5e-6, stop=40e-3)
    leak, core = integrated(rate, t, [0.0, 0.0], "Radau", 1e-9, 1e-12)
    close(primary, parallel * (leak - core), 1e-6)
    close(secondary, primary / 10, 1e-12)
    close(load, secondary / 5, 1e-12)
    close(mains, -leak, 1e-6)
    assert 0.93 < np.max(secondary) / 32.5 < 1.0


def test_opamp_lowpass():
    samples = ran("opamp_lowpass", ("answer.v",), step=0.2e-6)
    t, v = samples.time, samples.series("answer.v")
    w0 = 1 / (10e3 * np.sqrt(200e-18))
    close(v, np.where(t > 0.1e-3, second_order_step(np.maximum(t - 0.1e-3, 0), w0, np.sqrt(0.5)), 0), 2 * w0 * 0.2e-6)
    assert np.max(v) == pytest.approx(1 + np.exp(-np.pi), abs=1e-3)
    assert ran("opamp_lowpass", ("answer.v",), stop=6e-3).series("answer.v")[-1] == pytest.approx(1.0, abs=1e-9)


def test_diode_rectifier():
    samples = ran("diode_rectifier", stop=20e-3)
    wanted = rectifier_euler(20e-6, 1000)
    close(samples.series("dc.v"), wanted[:, 0], 1e-8)
    close(samples.series("d1.i"), wanted[:, 1], 1e-7)


NGSPICE = """half-wave rectifier
v1 ac 0 sin(0 10 50)
rs ac an 0.5
d1 an dc dm
c1 dc 0 470u ic=0
rl dc 0 220
.model dm d(is=1e-12 n=1.05 rs=0.05 cjo=30p vj=0.75 m=0.4 tt=1u)
.options reltol=1e-7 abstol=1e-12 vntol=1e-9 temp=27 tnom=27
.tran 20u 20m 0 2u uic
.control
run
linearize v(dc)
wrdata result v(dc)
quit
.endc
.end
"""


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
def test_diode_rectifier_against_ngspice(tmp_path):
    (tmp_path / "rectifier.cir").write_text(NGSPICE)
    subprocess.run(["ngspice", "-b", "rectifier.cir"], cwd=tmp_path, capture_output=True, check=True)
    (file,) = tmp_path.glob("result*")
    other = np.loadtxt(file)
    t, v = smooth("diode_rectifier", "dc.v", step=20e-6, stop=20e-3)
    close(v, np.interp(t, other[:, 0], other[:, 1]), 5e-6)


def test_diode_bridge():
    close(ran("diode_bridge", stop=10e-3).series("dc.v"), bridge_euler(20e-6, 500), 1e-8)


# ---------------------------------------------------------------------------------------------------------- mechanics


def test_coupled_oscillators():
    t, a, b, f = smooth("coupled_oscillators", "a.x", "b.x", "cc.f", step=0.25e-3, stop=5.0)
    wanted = beat(t, 10e-3, 10.0, np.sqrt(120.0))
    close(a, wanted[0], 1e-4)
    close(b, wanted[1], 1e-4)
    close(f, 10 * (wanted[0] - wanted[1]), 1e-4)


def test_lever():
    """1 kg and, over the arms 2:1, 4 kg/4 against 200 N/m; the short end moves half as far the other way."""
    t, long, short, f1, f2 = smooth("lever", "long.x", "short.x", "beam.f1", "beam.f2", step=0.25e-3)
    x = 10e-3 * np.cos(10 * t)
    close(long, x, 1e-5)
    close(short, -x / 2, 1e-5)
    close(f1[8:], -(200 - 100) * x[8:], 1e-4)
    close(f2[8:], 2 * f1[8:], 1e-9)


def test_quarter_car():
    mu, mb, ct, dt, cs, ds = 40.0, 300.0, 2e5, 100.0, 2e4, 1500.0

    def road(t):
        z = (t - 1) / 0.05
        return 50e-3 * np.exp(-(z**2)), -2 * z / 0.05 * 50e-3 * np.exp(-(z**2))

    def rate(t, z):
        wheel, body, vw, vb = z
        tyre = ct * (wheel - road(t)[0]) + dt * (vw - road(t)[1])
        strut = cs * (body - wheel) + ds * (vb - vw)
        return [vw, vb, (strut - tyre) / mu, -strut / mb]

    t, wheel, body, force = smooth("quarter_car", "wheel.x", "body.x", "tyre.f", step=0.2e-3, stop=2.5)
    z = integrated(rate, t, np.zeros(4))
    close(wheel, z[0], 1e-4)
    close(body, z[1], 1e-4)
    close(force, ct * (z[0] - road(t)[0]) + dt * (z[2] - road(t)[1]), 1e-4)


def test_train():
    """Seven bodies on six couplers, the pull in a ramp of half a second; at the end all but the drag goes into F = M a."""
    m = np.array([80e3, *[20e3] * 5, 10e3])
    c, d = np.array([*[2e6] * 5, 1e6]), 2e4

    def rate(t, z):
        x, v = z[:7], z[7:]
        coupler = c * (x[:-1] - x[1:]) + d * (v[:-1] - v[1:])
        force = np.zeros(7)
        force[0] = 1e5 * np.clip((t - 0.5) / 0.5, 0, 1)
        force[:-1] -= coupler
        force[1:] += coupler - 200 * v[1:]
        return [*v, *(force / m)]

    t, first, tail, last = smooth("train", "hook[1].v", "tail.v", "brakevan.coupler.f", step=1e-3)
    z = integrated(rate, t, np.zeros(14), rtol=1e-9, atol=1e-9)
    close(first, z[7], 1e-5)
    close(tail, z[13], 1e-5)
    close(last, 1e6 * (z[5] - z[6]) + d * (z[12] - z[13]), 1e-3)


def test_cam_follower():
    from scipy.interpolate import CubicSpline

    table = np.loadtxt(models_folder() / "cam_lift.csv", delimiter=",", skiprows=1)
    lift = CubicSpline(table[:, 0], table[:, 1] * 1e-3)

    def rate(t, z):
        rod = 5e4 * (z[0] - lift(t)) + 40 * (z[1] - lift(t, 1))
        return [z[1], (-rod - 2000 * (z[0] + 20e-3)) / 0.2]

    t, valve, push = smooth("cam_follower", "valve.x", "cam.push", step=0.1e-3, stop=0.8)
    z = integrated(rate, t, [valve[0], 0.0])
    close(valve, z[0], 1e-4)
    rod = 5e4 * (z[0] - lift(t)) + 40 * (z[1] - lift(t, 1))
    close(push[40:], (0.1 * lift(t, 2) - rod)[40:], 1e-3)


# ------------------------------------------------------------------------------------------------------------ machines


def test_dc_motor():
    """Two states, exactly; no-load speed V k/(k^2 + R d), the load costs T R/(k^2 + R d)."""
    V, R, L, k, J, d, T = 12.0, 1.0, 0.5e-3, 0.05, 1e-4, 1e-5, 0.05
    t, w, i = smooth("dc_motor", "shaft.w", "motor.i", step=0.05e-3, stop=0.2)
    z = integrated(lambda t, z: [(V - R * z[0] - k * z[1]) / L, (k * z[0] - d * z[1]) / J], t, [0.0, 0.0])
    close(w, z[1], 1e-4)
    close(i[4:], z[0][4:], 1e-3)
    samples = ran("dc_motor")
    before, end = np.searchsorted(samples.time, 0.99), -1
    for at, torque in ((before, 0.0), (end, T)):
        speed = (V * k - torque * R) / (k**2 + R * d)
        assert samples.series("shaft.w")[at] == pytest.approx(speed, rel=1e-8)
        assert samples.series("motor.i")[at] == pytest.approx((torque + d * speed) / k, rel=1e-6)


def test_pi_speed_control():
    """The integral part removes the error; the current carries load and bearing."""
    samples = ran("pi_speed_control", stop=4.0)
    current = (0.1 + 1e-5 * 100) / 0.05
    assert samples.series("shaft.w")[-1] == pytest.approx(100.0, rel=1e-8)
    assert samples.series("motor.i")[-1] == pytest.approx(current, rel=1e-8)
    assert samples.series("control.y")[-1] == pytest.approx(current + 0.05 * 100, rel=1e-8)


def test_linear_actuator():
    R, L, k, m, c, d = 6.0, 0.5e-3, 5.0, 0.01, 1000.0, 0.5

    def rate(t, z):
        x, v, i = z
        return [v, (k * i - c * x - d * v) / m, (2 * np.sin(100 * np.pi * t) - R * i - k * v) / L]

    t, x, v, i = smooth("linear_actuator", "cone.x", "cone.v", "self.i", step=10e-6, stop=0.1)
    z = integrated(rate, t, np.zeros(3), "Radau", 1e-10, 1e-13)
    for found, wanted in zip((x, v, i), z):
        close(found, wanted, 1e-5)


def test_rack_and_pinion():
    """Seen from the shaft: J ratio^2 on one side, J + m r^2 on the other."""
    left, right, c, d, r = 2e-5 * 25, 1e-4 + 5 * 0.02**2, 500.0, 0.05, 0.02

    def rate(t, z):
        drive = 0.2 * np.interp(t, [0.1, 0.12, 0.62, 0.64], [0, 1, 1, 0])
        shaft = c * (z[0] - z[1]) + d * (z[2] - z[3])
        return [z[2], z[3], (5 * drive - shaft) / left, (shaft - 20 * r**2 * z[3]) / right]

    t, w, x, torque = smooth("rack_and_pinion", "rotor.w", "rail.x", "shaft.t", step=20e-6, stop=0.3, every=5)
    z = integrated(rate, t, np.zeros(4), rtol=1e-10)
    close(w, 5 * z[2], 1e-4)
    close(x, r * z[1], 1e-5)
    close(torque, c * (z[0] - z[1]) + d * (z[2] - z[3]), 2e-3)


def test_hydraulic_cylinder():
    samples = ran("hydraulic_cylinder", stop=20.0, step=2e-3)
    assert samples.series("rod.x")[-1] == pytest.approx(40e5 * 1963e-6 / 5e4, rel=1e-9)
    assert samples.series("drive.push")[-1] == pytest.approx(40e5 * 1963e-6, rel=1e-9)
    assert samples.series("chamber.p")[-1] == pytest.approx(40e5, rel=1e-9)


def test_pump_drive():
    """What the pump displaces leaves through the orifice."""
    samples = ran("pump_drive", stop=20.0, step=5e-3)
    flow, p = 1.6e-6 * 150, samples.series("vessel.p")[-1]
    assert samples.series("nozzle.q")[-1] == pytest.approx(flow, rel=1e-9)
    assert p == pytest.approx(860 / 2 * (flow / (0.62 * 3e-6)) ** 2, rel=1e-6)
    assert samples.series("outlet.p")[-1] - p == pytest.approx(0.5e5 + 1e3 + flow / 1e-8, rel=1e-6)  # cracking, rounding, flow
    assert samples.series("motor.drive")[-1] == pytest.approx(1.6e-6 * samples.series("outlet.p")[-1], rel=1e-9)


# ---------------------------------------------------------------------------------------------------------------- heat


def test_heated_resistor():
    def rate(t, T):
        return (24**2 / (20 * (1 + 0.00393 * (T - 293.15))) - 0.3 * (T - 298.15)) / 60

    t, T = smooth("heated_resistor", "body.T", step=4.0)
    close(T - 298.15, integrated(rate, t, [298.15])[0] - 298.15, 1e-6)
    end = ran("heated_resistor", stop=7200.0, step=4.0)
    assert abs(rate(0.0, end.series("body.T")[-1])) < 1e-10
    assert end.series("src.power")[-1] == pytest.approx(0.3 * (end.series("body.T")[-1] - 298.15), rel=1e-8)


def test_heated_wall():
    """It starts in the steady profile of 5 degC outside; then ten layers as a dense linear system."""
    n, half, core, wind, capacity = 10, 140.0, 70.0, 25.0, 40e3
    outer = 1 / (1 / half + 1 / wind)

    def rate(t, T):
        air = 278.15 + 8 * np.sin(2 * np.pi * t / 86400)
        flow = np.concatenate([[half * (293.15 - T[0])], core * -np.diff(T), [outer * (T[-1] - air)]])
        return -np.diff(flow) / capacity

    names = tuple(f"layer[{k}].T" for k in range(1, n + 1))
    t, *T = smooth("heated_wall", *names, "room.power", step=120.0, stop=86400.0)
    through = 15.0 / (2 / half + (n - 1) / core + 1 / wind)
    steady = 293.15 - through * (1 / half + np.arange(n) / core)
    assert np.max(np.abs(np.array(T[:n])[:, 0] - steady)) < 1e-9
    assert T[n][0] == pytest.approx(through, rel=1e-9)
    wanted = integrated(rate, t, steady, "Radau", 1e-10, 1e-10)
    assert np.max(np.abs(np.array(T[:n]) - wanted)) < 1e-4


def test_a_current_step_into_a_bare_diode():
    """From nothing to an ampere in one step, with no charge that would soften it: Newton comes back from far up the exponential."""
    lines = ["use electrical", "s current (a, ground) I = 1 A * step(time - 0.5 s)", "k diode (a, ground) Gmin = 0 S", "save a.v"]
    (samples,) = netsim.load("\n".join([*lines, "run transient(stop = 1 s, step = 0.1 s, method = euler)", ""])).samples()
    assert samples.finished, samples.message
    assert samples.series("a.v")[-1] == pytest.approx(1.380649e-23 * 300.15 / 1.602176634e-19 * np.log(1e14), rel=1e-9)


# ------------------------------------------------------------------------------------------------------------ parts of power


def test_pwm_inverter_drives_as_its_mean_voltages_do():
    """The same motor on the means of the pulses, held for a period: currents agree at the ends of periods within the ripple V T/(8 L)."""
    text = (models_folder() / "pwm_inverter.net").read_text()
    begin, end = text.index("model leg"), text.index("link ")
    text = text[:begin] + text[end:].replace("link ", "# link ")
    for phase in "abc":
        line = next(line for line in text.splitlines() if line.startswith(f"leg_{phase} "))
        hold = f"hold_{phase} sampler (duty_{phase}, held_{phase}) period = 50 us"
        text = text.replace(line, f"{hold}\nleg_{phase} voltage ({phase}, ground) v = 600 V*held_{phase}")
    mean, pulsed = sampled(netsim.load(text), ("motor.a.i",)), ran("pwm_inverter", ("motor.a.i",))
    instants = np.arange(1, 400) * 50e-6
    found, wanted = (np.interp(instants - 1e-9, run.time, run.series("motor.a.i")) for run in (pulsed, mean))
    assert np.abs(found - wanted).max() < 600 * 50e-6 / (8 * 4e-3)
    assert np.ptp(wanted) > 30


def test_induction_motor_start():
    """Synchronous speed without load; under load the speed at which the equivalent circuit has the torque."""
    samples = ran("induction_motor_start", ("shaft.w", "motor.drive"))
    t, w = samples.time, samples.series("shaft.w")
    assert w[np.searchsorted(t, 0.59)] == pytest.approx(50 * np.pi, rel=1e-3)

    def torque(speed):
        slip = 1 - speed / (50 * np.pi)
        field, rotor = 1j * 100 * np.pi * 60e-3, 0.4 / slip + 1j * 100 * np.pi * 2e-3
        current = 325 / (0.5 + 1j * 100 * np.pi * 2e-3 + rotor * field / (rotor + field))
        return 3 / (100 * np.pi) * abs(current * field / (rotor + field)) ** 2 * 0.4 / slip

    assert w[-1] == pytest.approx(brentq(lambda speed: torque(speed) - 20, 145, 157), rel=1e-4)


def test_battery_pulse():
    samples = ran("battery_pulse", ("plus.v", "cells.soc"))
    t, v, soc = samples.time, samples.series("plus.v"), samples.series("cells.soc")
    assert soc[-1] == pytest.approx(0.9 - 1 / 3, rel=1e-9)
    rest = 10 * np.interp(soc, [0, 0.1, 0.5, 0.9, 1], [3.0, 3.4, 3.65, 4.0, 4.2])
    assert v[0] == pytest.approx(40 - 1, rel=1e-9) and v[-1] == pytest.approx(rest[-1] - 1.5 * np.exp(-600 / 120), abs=1e-3)
    before, after = np.flatnonzero(t < 600)[-1], np.flatnonzero(t > 600)[0]
    assert rest[before] - v[before] == pytest.approx(1 + 0.5 + 1.5 * (1 - np.exp(-t[before] / 120)), abs=1e-3)
    assert v[after] - v[before] == pytest.approx(1.0, abs=0.05)


def test_screw_jack():
    """40 N.m against 31 N.m for a second; then the thread brakes the shaft and holds the load."""
    samples = ran("screw_jack", ("nut.x", "shaft.w", "jack.mode"))
    pitch = 7e-3 / (2 * np.pi)
    need = 1e4 * pitch * np.tan(np.radians(9.4)) / np.tan(np.radians(3.4))
    assert need == pytest.approx(31, rel=0.02)
    w = (40 - need) / 0.2
    assert samples.series("nut.x")[-1] == pytest.approx(pitch * (w / 2 + w * w * 0.2 / (2 * need)), rel=1e-4)
    assert abs(samples.series("shaft.w")[-1]) < 1e-9 and samples.series("jack.mode")[-1] == 0
