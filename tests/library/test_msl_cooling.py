"""Examples of Modelica.Thermal.FluidHeatFlow, written down from what they are, against closed forms and independent integrations.

Their medium has density and heat capacity 1 throughout, unless it is water.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import netsim

MEDIUM = "rho = 1 kg/m3, cp = 1 J/kg/K"
COOLING = "use thermal\nuse coolant\nuse couplings\nuse rotational\nuse translational\nuse signal\n"
T0 = 293.15


def run(text):
    """The samples of a netlist of these domains; M stands for the medium."""
    (samples,) = netsim.load(COOLING + text.replace("M\n", MEDIUM + "\n").replace("M,", MEDIUM + ",")).samples()
    assert samples.finished, samples.message
    return samples


def test_water_pump():
    """Lifts water by 25 m through a check valve and a pipe that is laminar up to 0.09 m3/s; the shaft gives what the liquid takes."""
    samples = run("""
low   coolant_reservoir    (c1)             p = 1 bar, T = 293.15 K
pump  coolant_shaft_pump   (c1, c2, shaft)  rise0 = 5 bar, flow0 = 0.18 m3/s, w0 = 1000 rpm
meter coolant_flow_sensor  (c2, c3, flow)
valve coolant_check_valve  (c3, c4)         R = (0.1 bar)/(0.18 m3/s), leak = 1e-12 m3/s/Pa
pipe  coolant_restriction  (c4, c5)         R = (10 kPa)/(0.09 m3/s), laminar = 0.09 m3/s, k = (10 kPa)/(0.09 m3/s)/(0.09 m3/s)
head  coolant_pressure_source (c5, c6)      rise = -995.6 kg/m3*9.80665 m/s2*25 m
high  coolant_reservoir    (c6)             p = 1 bar, T = 293.15 K
drive speed  (shaft, ground)  w = 1.2*1000 rpm*pulse(time, at = 0.1 s, width = 0.6 s, rise = 0.6 s, fall = 0.6 s)
run   transient(stop = 2 s, sample = 20 ms)
save  flow, c1.p, c2.p, shaft.w, pump.power
""")

    def flow(speed):
        x = speed / (1000 * np.pi / 30)

        def left(q):
            pipe = 1e4 / 0.09 * q + 1e4 / 0.09**2 * max(q - 0.09, 0) ** 2
            return 5e5 * x * (x - q / 0.18) - 1e4 / 0.18 * q - pipe - 995.6 * 9.80665 * 25

        return brentq(left, 0, 0.3) if left(0) > 0 else 0.0

    wanted = np.array([flow(speed) for speed in samples.series("shaft.w")])
    assert samples.series("flow") == pytest.approx(wanted, abs=1e-6) and wanted.max() > 0.13
    power = (samples.series("c2.p") - samples.series("c1.p")) * samples.series("flow")
    assert samples.series("pump.power") == pytest.approx(power, abs=1e-3)


def test_pump_and_valve():
    samples = run("""
source coolant_reservoir   (c1)             p = 0 Pa, T = 293.15 K, M
pump   coolant_shaft_pump  (c1, c2, shaft)  rise0 = 2 Pa, flow0 = 2 m3/s, w0 = 1 rad/s, M
valve coolant_valve (c2, c3) opening = 0.01^(0.5 - 5*min(ramp(time, 0.9 s), 0.1 s)/(1 s)), Kv = 3.162278 m3/s/Pa^0.5, dpt = 1e-6 Pa, heated = 0, M
pipe   heated_pipe         (c3, c4, liquid) V = 0.1 m3, R = 1 Pa.s/m3, heated = 0, M
sink   coolant_reservoir   (c4)             p = 0 Pa, T = 293.15 K, M
wall   forced_convection   (body, liquid)   G = 1 W/K
mass   heat_capacity       (body)           C = 0.1 J/K, start T = 293.15 K
heat   heat_flow           (body)           Q = 10 W
drive  speed               (shaft, ground)  w = 1 rad/s*(0.5 + 5*(ramp(time, 0.4 s) - ramp(time, 0.5 s))/(1 s))
start  liquid.T = 293.15 K
run    transient(stop = 1.5 s, sample = 20 ms)
save   body.T, liquid.T, pump.q
""")  # fmt: skip

    def flow(t):
        x, y = (0.5 + 5 * (max(t - at, 0) - max(t - at - 0.1, 0)) for at in (0.4, 0.9))
        return brentq(lambda q: 2 * x * (x - q / 2) - q - 0.1 * (q / 0.01 ** (1 - y)) ** 2, 0, 2)

    found = solve_ivp(
        lambda t, s: [(10 - s[0] + s[1]) / 0.1, (s[0] - s[1] - flow(t) * s[1]) / 0.1], (0, 1.5), [0, 0], t_eval=samples.time, rtol=1e-8, max_step=0.02
    ).y
    assert samples.series("pump.q") == pytest.approx([flow(t) for t in samples.time], rel=1e-4)
    assert samples.series("body.T") - T0 == pytest.approx(found[0], abs=2e-3) and samples.series("liquid.T") - T0 == pytest.approx(found[1], abs=2e-3)


def test_two_tanks():
    """Levels approach one another with R A/(2 rho g); what flows is mixed into the second."""
    samples = run("""
one  coolant_tank         (a)     A = 1 m2, g = 10 m/s2, p0 = 1 bar, start level = 0.9 m, start T = 313.15 K, M
two  coolant_tank         (b)     A = 1 m2, g = 10 m/s2, p0 = 1 bar, start level = 0.1 m, start T = 293.15 K, M
pipe coolant_restriction  (a, b)  R = 5 Pa.s/m3, laminar = 2 m3/s, k = 2.5 Pa.s2/m6, heated = 0, M
run  transient(stop = 1.5 s, sample = 50 ms)
save one.level, two.level, one.T, two.T
""")
    level = 0.5 - 0.4 * np.exp(-samples.time / 0.25)
    assert samples.series("two.level") == pytest.approx(level, abs=1e-5) and samples.series("one.level") == pytest.approx(1 - level, abs=1e-5)
    assert samples.series("two.T") == pytest.approx(313.15 - 0.1 * 20 / level, abs=1e-3) and samples.series("one.T") == pytest.approx(313.15)


@pytest.mark.parametrize("tank", ["coolant_tank (a)", "heated_tank (a, heat)"])
def test_open_tank(tank):
    """A quarter of the liquid leaves warm and comes back cold."""
    samples = run(f"""
tank  {tank}  A = 1 m2, g = 10 m/s2, start level = 0.5 m, start T = 313.15 K, M
outside coolant_reservoir (c)  p = 0 Pa, T = 293.15 K, M
pump  coolant_pump (c, a)  flow = (2*step(time, 0.75 s) - step(time, 0.5 s) - step(time, 1 s))*1 m3/s, M
run   transient(stop = 1.2 s, sample = 50 ms)
save  tank.level, tank.T, a.p
""")
    t = samples.time
    level = 0.5 - np.clip(t - 0.5, 0, 0.25) + np.clip(t - 0.75, 0, 0.25)
    assert samples.series("tank.level") == pytest.approx(level, abs=1e-7) and samples.series("a.p") == pytest.approx(10 * level, abs=1e-6)
    warm = np.where(t > 0.75, 293.15 + 20 * 0.25 / level, 313.15)
    assert samples.series("tank.T") == pytest.approx(warm, abs=0.1)


def test_cylinders():
    """Force and way are exchanged as the areas are."""
    samples = run("""
push  force             (a)             F = -1 N*(step(time, 0.25 s) - step(time, 0.5 s))
one   coolant_cylinder  (c, a, ground)  A = 0.1 m2, rest = 5 m, start T = 313.15 K, M
two   coolant_cylinder  (c, b, ground)  A = 1 m2, rest = 0.5 m, start T = 313.15 K, M
load  mass              (b)             m = 1 kg
hold  spring_damper     (b, ground)     c = 100 N/m, d = 10 N.s/m
run   transient(stop = 1 s, sample = 20 ms)
save  a.x, b.x, two.push
""")
    a, d = np.sqrt(75.0), 5.0

    def answer(t):
        t = np.maximum(t, 0)
        return 0.1 * (1 - np.exp(-d * t) * (np.cos(a * t) + d / a * np.sin(a * t)))

    wanted = answer(samples.time - 0.25) - answer(samples.time - 0.5)
    assert samples.series("b.x") == pytest.approx(wanted, abs=1e-5) and samples.series("a.x") == pytest.approx(-10 * wanted, abs=1e-4)
    pressed = (samples.time > 0.26) & (samples.time < 0.49)
    assert samples.series("two.push")[pressed] == pytest.approx(10.0)


def test_indirect_cooling():
    """Two circuits; from the source over the ambient 40 K in four equal parts."""
    samples = run("""
in1   coolant_reservoir  (o1)              p = 0 Pa, T = 293.15 K, M
op    coolant_pump       (o1, o2)          flow = 1 m3/s, M
outer heated_pipe        (o2, o3, ho)      V = 0.1 m3, R = 1 Pa.s/m3, heated = 0, M
in2   coolant_reservoir  (o3)              p = 0 Pa, T = 293.15 K, M
base  coolant_reservoir  (i1)              p = 10 kPa, T = 293.15 K, M
pipe1 heated_pipe        (i1, i2, hs)      V = 0.1 m3, R = 1000 Pa.s/m3, heated = 0, M
ip    coolant_pump       (i2, i3)          flow = 1 m3/s, M
inner heated_pipe        (i3, i1, hi)      V = 0.1 m3, R = 1 Pa.s/m3, heated = 0, M
g1    forced_convection  (middle, hi)      G = 2 W/K
g2    forced_convection  (middle, ho)      G = 2 W/K
heat  heat_flow          (source)          Q = 10 W
body  heat_capacity      (source)          C = 0.05 J/K, start T = 293.15 K
g3    thermal_conductor  (source, hs)      G = 1 W/K
start ho.T = 293.15 K
start hs.T = 293.15 K
start hi.T = 293.15 K
run   transient(stop = 1.5 s, sample = 50 ms)
save  source.T, hs.T, hi.T, ho.T
""")
    matrix = np.zeros((5, 5))  # source, hs, hi, ho over the ambient
    matrix[:4, :4] = np.array([[-20, 20, 0, 0], [10, -20, 10, 0], [0, 10, -20, 10], [0, 0, 10, -20]])
    matrix[0, 4] = 10 / 0.05
    wanted = np.array([(expm(matrix * t) @ [0, 0, 0, 0, 1])[:4] for t in samples.time]).T
    for name, course in zip(("source", "hs", "hi", "ho"), wanted):
        assert samples.series(f"{name}.T") - T0 == pytest.approx(course, abs=1e-3), name
