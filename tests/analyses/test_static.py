"""Equilibria and operating points against closed forms and root finders that share nothing with the solver."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize, root

import netsim
from netsim.library.files import models_folder
from netsim.output.summary import summary
from netsim.text.errors import InputError, SimulationError

VT = 300.15 * 1.380649e-23 / 1.602176634e-19
GMIN = 1e-12


def at(text: str, *names: str, **options):
    """Signals of the equilibrium and its attributes."""
    found = netsim.load(text).static(save=list(names), **options)
    return [float(found[name].values[0]) for name in names], found.attrs


# ------------------------------------------------------------------------------------------------------- circuits


def test_capacitors_are_open_and_inductors_short():
    text = """use electrical
v1 voltage (a, ground) v = 6 V
r1 resistor (a, b) R = 1 kOhm
l1 inductor (b, c) L = 1 mH
r2 resistor (c, ground) R = 2 kOhm
c1 capacitor (c, d) C = 1 uF
r3 resistor (d, ground) R = 5 Ohm
"""
    (c, d, i, l1), attributes = at(text, "c.v", "d.v", "r1.i", "l1.i")
    assert (c, d) == pytest.approx((4.0, 0.0), abs=1e-12) and i == pytest.approx(2e-3, rel=1e-12) and l1 == pytest.approx(2e-3, rel=1e-12)
    assert attributes["stability"] == "stable" and attributes["analysis"] == "static"


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_chain_of_diodes_behind_a_resistor(n: int):
    """n Vt log(1 + i/Is) + R i = V, with a conductance beside each junction; one unknown, by bisection."""
    text = f"""use electrical
count n = {n}
v1 voltage (t[1], ground) v = {n} V
d[k] diode (t[k], t[k+1]) for k in 1..n
r1 resistor (t[n+1], ground) R = 1 kOhm
"""
    volts = brentq(lambda v: 1e-14 * np.expm1(v / VT) + GMIN * v - (n - n * v) / 1e3, 0.0, 1.0, xtol=1e-15, rtol=1e-14)
    (found,), attributes = at(text, f"t[{n + 1}].v")
    assert found == pytest.approx(n - n * volts, rel=1e-9)
    assert "converged" in attributes["homotopy"].split("; ")[-1]


@pytest.mark.parametrize("n", [10, 1000])
def test_current_into_a_chain_of_diodes(n: int):
    text = f"""use electrical
count n = {n}
i1 current (t[1], ground) I = 1 A
d[k] diode (t[k], t[k+1]) for k in 1..n
r1 resistor (t[n+1], ground) R = 1 Ohm
"""
    volts = brentq(lambda v: 1e-14 * np.expm1(v / VT) + GMIN * v - 1.0, 0.0, 1.0, xtol=1e-15, rtol=1e-14)
    (found,), _ = at(text, "t[1].v")
    assert found == pytest.approx(n * volts + 1.0, rel=1e-10)


def test_stiff_exponentials():
    """Two exponentials of 1 mV and 0.1 mV carry one current: R i + (V1 + V2) log(1 + i/I0) = 10 V is Lambert's function."""
    text = """use electrical
component steep (p, n : electrical) "a stiff law"
  param Vt : V = 1 mV
  branch p -> n : v, i
  i = 1e-14 A*(exp(v/Vt) - 1)
end
v1 voltage (a, ground) v = 10 V
r1 resistor (a, b) R = 1 Ohm
e1 steep (b, c)
e2 steep (c, ground) Vt = 0.1 mV
"""
    V, I0 = 1.1e-3, 1e-14
    z = np.log(I0 / V) + (10.0 + I0) / V  # w e^w = e^z overflows: w + log w = z by Newton from its asymptote
    w = z - np.log(z)
    for _ in range(6):
        w -= (w + np.log(w) - z) / (1 + 1 / w)
    assert w + np.log(w) == pytest.approx(z, rel=1e-14)
    (b,), _ = at(text, "b.v")
    assert b == pytest.approx(10.0 - (V * w - I0), rel=1e-9)


TOGGLE = """use electrical
component inverter (u, y : electrical) "saturating inverter"
  branch u -> ground : vu, iu
  branch y -> ground : vy, iy
  iu = 0 A
  iy = 5 mA*tanh(vu/(0.5 V))
end
a1 inverter (p, q)
a2 inverter (q, p)
r1 resistor (p, ground) R = 1 kOhm
r2 resistor (q, ground) R = 1 kOhm
"""


def test_toggle_is_found_unstable_in_the_middle_and_tells_its_two_states():
    (p, q), attributes = at(TOGGLE, "p.v", "q.v")
    assert (p, q) == pytest.approx((0.0, 0.0), abs=1e-9)
    high = brentq(lambda v: v - 5 * np.tanh(2 * 5 * np.tanh(2 * v)), 1.0, 6.0)
    assert attributes["stability"] == "unstable"
    assert attributes["others"].count("p.v") == 2 and f"p.v = {high:.5g} V" in attributes["others"] and f"p.v = {-high:.5g} V" in attributes["others"]


@pytest.mark.parametrize("sense", [1, -1])
def test_guess_chooses_the_state_of_a_toggle(sense: int):
    high = brentq(lambda v: v - 5 * np.tanh(2 * 5 * np.tanh(2 * v)), 1.0, 6.0)
    (p, q), attributes = at(TOGGLE + f"guess p.v = {sense} V\nguess q.v = {-sense} V\n", "p.v", "q.v")
    assert (p, q) == pytest.approx((sense * high, -sense * high), rel=1e-10)
    assert attributes["stability"] == "stable" and not attributes["others"]


@pytest.mark.parametrize("volts", [0.0, 1.0, -3.0])
def test_schmitt_trigger_has_three_states(volts: float):
    """p = (a + y)/2, y = 15 tanh(1e5 p/15): a middle state that no circuit stays in, and two saturated ones."""
    text = f"""use electrical
v1 voltage (a, ground) v = {volts} V
r1 resistor (a, p) R = 10 kOhm
r2 resistor (p, y) R = 10 kOhm
u1 limited_opamp (p, ground, y)
"""
    (y,), attributes = at(text, "y.v")
    assert y == pytest.approx(brentq(lambda y: y - 15 * np.tanh(1e5 * (volts + y) / 2 / 15), -volts - 0.01, -volts + 0.01, xtol=1e-13), abs=1e-8)
    assert attributes["stability"] == "unstable"
    assert "y.v = 15 V" in attributes["others"] and "y.v = -15 V" in attributes["others"]


def test_sources_are_taken_at_the_time_asked_for():
    text = """use electrical
v1 voltage (a, ground) v = sine(time, amplitude = 2 V, frequency = 1 Hz)
r1 resistor (a, ground) R = 1 Ohm
"""
    assert at(text, "a.v", at=0.25)[0] == pytest.approx([2.0]) and at(text, "a.v", at="250 ms")[0] == pytest.approx([2.0])
    with pytest.raises(InputError, match="E421"):
        at(text, "a.v", stop=1.0)


# ------------------------------------------------------------------------------------------------------ mechanics


def test_weight_stretches_a_spring():
    text = """use translational
m1 mass (a) m = 2 kg
c1 spring (a, ground) c = 100 N/m, l = -0.3 m
w1 force (a) F = -2 kg*9.81 m/s2
"""
    (x, v, f), attributes = at(text, "a.x", "a.v", "c1.f")
    assert x == pytest.approx(-0.3 - 0.1962, rel=1e-12) and v == 0.0 and f == pytest.approx(-19.62, rel=1e-12)
    assert attributes["homotopy"].startswith("damped Newton converged")


SNAP = """use translational
component truss (p : translational) "two bars from supports 1 m to either side; the apex stands at height p.x"
  param h : m = 0.3 m
  branch p -> ground : x, v, f
  f = 2*(1000 N/m)*(sqrt(1 m2 + x^2) - sqrt(1 m2 + h^2))*x/sqrt(1 m2 + x^2)
  place p = h
end
m1 mass (a) m = 1 kg
t1 truss (a)
push force (a) F = {} N
"""


def truss(x):
    return 2000 * (np.sqrt(1 + x**2) - np.sqrt(1.09)) * x / np.sqrt(1 + x**2)


@pytest.mark.parametrize(("push", "low", "high"), [(-6.0, 0.18, 0.3), (-20.0, -1.0, -0.3), (4.0, 0.3, 1.0)])
def test_truss_snaps_through_beyond_its_limit_load(push: float, low: float, high: float):
    """The limit load is about 11 N: below it the apex gives a little, above it the truss hangs."""
    limit = -min(truss(np.linspace(0, 0.3, 1000)))
    assert 6.0 < limit < 20.0
    (x,), attributes = at(SNAP.format(push), "a.x")
    assert x == pytest.approx(brentq(lambda x: truss(x) - push, low, high, xtol=1e-14), rel=1e-9)
    assert attributes["stability"] == "stable"


def test_flat_truss_is_left_for_one_of_its_two_states():
    (x,), attributes = at(SNAP.replace("place p = h", "").format(0), "a.x")
    assert abs(x) == pytest.approx(0.3, rel=1e-9)
    assert "left an unstable equilibrium" in attributes["homotopy"] and f"a.x = {-x:.5g} m" in attributes["others"]


BARS = """use planar
world gravity = [0, -9.81, 0] m/s2
b1 planar_bar (r1) m = 1 kg, at1 = [0, 0] m, at2 = [1, 0] m
b2 planar_bar (r2) m = 2 kg, at1 = [1, 0] m, at2 = [1.8, 0] m
j1 planar_revolute (ground, r1) at = [0, 0] m
j2 planar_revolute (r1, r2) at = [1, 0] m
"""


@pytest.mark.parametrize("sense", [-1, 1])
def test_double_pendulum_hangs_from_wherever_it_is_drawn(sense: int):
    (q1, q2), attributes = at(BARS + f"start j1.q = {sense * 150} deg\nstart j2.q = 60 deg\n", "j1.q", "j2.q")
    assert np.cos(q1 + np.pi / 2) == pytest.approx(1.0, abs=1e-12) and np.cos(q2) == pytest.approx(1.0, abs=1e-12)
    assert attributes["stability"] == "stable"


def test_planar_bars_on_a_spring_have_least_potential_energy():
    text = BARS + "s1 planar_line_spring (ground, r2) at1 = [2, 1] m, at2 = [1.8, 0] m, c = 40 N/m, l0 = 0.2 m\n"

    def energy(q):
        x, y = np.cos(q[0]), np.sin(q[0])
        end = np.array([x + 0.8 * np.cos(q[0] + q[1]), y + 0.8 * np.sin(q[0] + q[1])])
        return 9.81 * (y / 2 + 2 * (y + end[1]) / 2) + 20 * (np.linalg.norm(end - [2, 1]) - 0.2) ** 2

    best = minimize(energy, [0.0, 0.0], method="BFGS", options={"gtol": 1e-10})
    found, _ = at(text, "j1.q", "j2.q")
    assert found == pytest.approx(best.x, abs=1e-6)


def test_four_bar_in_space_under_gravity_and_a_spring():
    """A four-bar of hinges about y with a torsion spring at the crank: one freedom, the potential energy over its angle has one minimum."""
    text = """use spatial
world gravity = [0, 0, -9.81] m/s2
b1 cylinder_body (crank)   rho = 7800 kg/m3, r = 10 mm, l = 0.3 m, at = [0, 0, 0.15] m,   axis = [0, 0, 1]
b2 cylinder_body (coupler) rho = 7800 kg/m3, r = 10 mm, l = 0.5 m, at = [0.25, 0, 0.3] m, axis = [1, 0, 0]
b3 cylinder_body (rocker)  rho = 7800 kg/m3, r = 10 mm, l = 0.3 m, at = [0.5, 0, 0.15] m, axis = [0, 0, 1]
j1 revolute (ground, crank)    at = [0, 0, 0] m,     axis = [0, 1, 0], c = 1 N.m/rad, q0 = 30 deg
j2 revolute (crank, coupler)   at = [0, 0, 0.3] m,   axis = [0, 1, 0]
j3 revolute (coupler, rocker)  at = [0.5, 0, 0.3] m, axis = [0, 1, 0]
j4 revolute (rocker, ground)   at = [0.5, 0, 0] m,   axis = [0, 1, 0]
"""
    lift = (
        7800 * np.pi * 1e-4 * 9.81 * (2 * 0.3 * 0.15 + 0.5 * 0.3)
    )  # a parallelogram: the bars' weight times how high they stand at q = 0, over cos q
    guesses = [root(lambda q: (q - np.pi / 6) - lift * np.sin(q), guess) for guess in np.linspace(-4, 5, 19)]
    stable = [float(c.x[0]) for c in guesses if c.success and 1 - lift * np.cos(c.x[0]) > 0]
    found, attributes = at(text, "j1.q")
    assert stable and min(abs(found[0] - q) for q in stable) < 1e-9
    assert "redundant" in attributes["redundant"]


def test_equilibrium_is_where_a_damped_motion_ends():
    model = netsim.load(models_folder() / "mechanisms" / "pendulum.net")
    (q,) = (float(model.static(save=["j1.q"])["j1.q"].values[0]),)
    assert np.cos(q) == pytest.approx(0.0, abs=1e-9) and np.sin(q) == pytest.approx(1.0)


def test_heat_flows_steadily_by_conduction_and_radiation():
    """P = (T - T0)/R + eps A sigma (T^4 - T0^4)."""
    text = """use thermal
h1 heat_flow (a) Q = 100 W
c1 heat_capacity (a) C = 500 J/K
r1 thermal_resistor (a, wall) R = 2 K/W
q1 thermal_radiation (a, wall) emissivity = 0.8, A = 0.5 m2
t1 temperature (wall) T = 300 K
"""
    T = brentq(lambda T: (T - 300) / 2 + 0.8 * 0.5 * 5.670374419e-8 * (T**4 - 300**4) - 100, 300, 500, xtol=1e-12)
    assert at(text, "a.T")[0] == pytest.approx([T], rel=1e-9)


def test_oil_flows_steadily_through_an_orifice_and_a_pipe():
    """p = R q + k q^2 + (q/(Cd A))^2 rho/2, the orifice rounded below 1 kPa."""
    text = """use hydraulic
p1 pressure (a, ground) p = 5 MPa
l1 pipe (a, b) R = 1e9 Pa.s/m3, k = 1e12 Pa.s2/m6
o1 orifice (b, ground) A = 10e-6 m2
"""

    def missing(drop):
        q = 0.62 * 10e-6 * np.sqrt(2 / 860) * drop / (drop**2 + 1e6) ** 0.25
        return drop + 1e9 * q + 1e12 * q**2 - 5e6

    assert at(text, "b.p")[0] == pytest.approx([brentq(missing, 0, 5e6, rtol=1e-14)], rel=1e-9)


# ---------------------------------------------------------------------------------------- from = static, run lines


def test_transient_from_static_stays_where_it_is():
    text = """use planar
world gravity = [0, -9.81, 0] m/s2
b1 planar_bar (rod) m = 1 kg, at1 = [0, 0] m, at2 = [1, 0] m
j1 planar_revolute (ground, rod) at = [0, 0] m, c = 2 N.m/rad
save j1.q, j1.force
"""
    model = netsim.load(text)
    resting = model.transient(stop=0.5, step=1e-2, method="generalized_alpha", from_="static")
    q = brentq(lambda q: 2 * q + 9.81 / 2 * np.cos(q), -2.0, 0.0, xtol=1e-14)
    assert np.abs(resting["j1.q"].values - q).max() < 1e-9
    falling = model.transient(stop=0.5, step=1e-2, method="generalized_alpha")
    assert falling["j1.q"].values[0] == 0.0 and np.ptp(falling["j1.q"].values) > 0.5


def test_written_starts_hold_when_the_rest_begins_in_equilibrium():
    text = """use translational
m1 mass (a) m = 1 kg
c1 spring (a, ground) c = 100 N/m
m2 mass (b) m = 1 kg
c2 spring (b, a) c = 100 N/m
w1 force (a) F = 10 N
w2 force (b) F = 10 N
start b.x = 0.5 m
run transient(stop = 10 ms, step = 1 ms, from = static, method = euler)
save a.x, b.x
"""
    samples = netsim.load(text).samples()[0]
    assert samples.series("a.x")[0] == pytest.approx(0.2) and samples.series("b.x")[0] == pytest.approx(0.5)


def test_states_of_signals_begin_in_equilibrium_too():
    """An integrator that holds a mass at a set point: with from = static its state is the force it takes."""
    text = """use translational
use signal
m1   mass             (a)       m = 1 kg
c1   spring_damper    (a, ground) c = 100 N/m, d = 5 N.s/m
x1   position_sensor  (a, y)
g1   constant         (r)       value = 0.2
e1   difference       (r, y, e)
i1   integrator       (e, u)    k = 5 Hz
push force            (a)       F = 100 N*u
save a.x, u
"""
    model = netsim.load(text)
    found = model.static()
    assert float(found["a.x"].values[0]) == pytest.approx(0.2) and float(found["u"].values[0]) == pytest.approx(0.2)
    run = model.transient(stop=0.1, step=1e-3, from_="static", method="euler")
    assert np.abs(run["a.x"].values - 0.2).max() < 1e-9


def test_run_line_gives_one_row_and_a_summary():
    model = netsim.load(SNAP.format(-6) + "run point = static()\nsave a.x\n")
    (samples,) = model.samples()
    assert samples.name == "point" and samples.values.shape == (1, 1) and samples.finished
    text = summary(model, [samples], [])
    assert "point = static()" in text and "a stable equilibrium" in text and "a.x" in text


def test_hard_static_start_of_a_transient_takes_the_ladder():
    text = """use electrical
count n = 10
i1 current (t[1], ground) I = 1 A
d[k] diode (t[k], t[k+1]) for k in 1..n
r1 resistor (t[n+1], ground) R = 1 Ohm
c1 capacitor (t[1], ground) C = 1 uF
"""
    point = at(text, "t[1].v")[0][0]
    run = netsim.load(text).transient(stop=1e-3, step=1e-4, save=["t[1].v"], method="euler")
    assert run["t[1].v"].values == pytest.approx(point, rel=1e-9)


CMOS = """use electrical
count n = {n}
vdd voltage (top, ground) v = 5 V
vin voltage (t[1], ground) v = {volts} V
pm[k] mosfet (t[k+1], t[k], top, top) polarity=-1, Vto = -0.8 V, Kp = 4e-5 A/V2, lambda = 0.02 V^-1, W=20 um, L=2 um, Cox = 1.7e-3 F/m2 for k in 1..n
nm[k] mosfet (t[k+1], t[k], ground, ground) Vto = 0.8 V, Kp = 8e-5 A/V2, lambda = 0.02 V^-1, W=10 um, L=2 um, Cox = 1.7e-3 F/m2 for k in 1..n
c[k] capacitor (t[k+1], ground) C = 10 fF for k in 1..n
"""


def inverter(volts: float) -> float:
    """Output of one inverter: the currents of both channels, each beta/2 ((1 + lambda v) (us^2 - ud^2)), are equal."""

    def channel(drive: float, drop: float) -> float:
        return 2e-4 * (1 + 0.02 * drop) * (max(drive - 0.8, 0.0) ** 2 - max(drive - 0.8 - drop, 0.0) ** 2)

    def leak(drop: float) -> float:
        return 1e-12 * drop

    return brentq(lambda out: channel(volts, out) + leak(out) - channel(5 - volts, 5 - out) - leak(5 - out), 0.0, 5.0, xtol=1e-14)


@pytest.mark.parametrize(("n", "volts"), [(7, 0.0), (7, 2.0), (7, 2.2), (7, 2.3), (7, 5.0), (20, 2.0), (40, 0.0), (40, 2.2), (40, 5.0)])
def test_chain_of_cmos_inverters(n, volts):
    """Every stage follows from the one before by one scalar equation; a run from there stays there."""
    text = CMOS.format(n=n, volts=volts)
    names = [f"t[{k}].v" for k in range(2, n + 2)]
    found, attributes = at(text, *names)
    wanted = [volts]
    for _ in range(n):
        wanted.append(inverter(wanted[-1]))
    assert found == pytest.approx(wanted[1:], abs=2e-6)
    assert "converged" in attributes["homotopy"].split("; ")[-1]
    if n == 7:
        run = netsim.load(text).transient(stop=1e-7, from_="static", save=names[-1:])
        assert np.abs(run[names[-1]].values - found[-1]).max() < 1e-6


# ------------------------------------------------------------------------------------------------------- messages


def problem(text: str):
    with pytest.raises(SimulationError) as caught:
        netsim.load(text).static()
    return caught.value.problems[0]


def test_free_mass_that_is_pushed_is_named():
    found = problem("use translational\nm1 mass (a) m = 1 kg\nm2 mass (b) m = 1 kg\nc1 spring (b, ground) c = 1 N/m\nf1 force (a) F = 1 N\n")
    assert found.code == "E440" and "nothing resists motion of 'a'" in found.message and "'b'" not in found.message and found.span.line == 2
    assert "tried" in found.hint and "spring" in found.hint


@pytest.mark.parametrize("gain, volts", [(1, 5.0), (1, 1e-9), (1, 1e6), (-1, 5.0)])
def test_a_loop_of_controlled_sources_of_gain_one_has_no_solution(gain, volts):
    """The current i at b is V/R + gain*i: at a gain of 1 it runs away, until V/R vanishes in the rounding of 1e14 A."""
    text = (
        f"use electrical\ns voltage (a, ground) v = {volts} V\nr resistor (a, b) R = 1 Ohm\nk1 cccs (c, ground, b, ground) gain = {gain}\n"
        "r2 resistor (c, d) R = 1 Ohm\nk2 cccs (b, ground, d, ground) gain = 1\n"
    )
    if gain == 1:
        found = problem(text)
        assert found.code == "E440" and "potential of 'c'" in found.message and found.span.line == 4
        assert "that conducts" in found.hint and "spring" not in found.hint
    else:  # the current that enters d is that from b to ground, and half of V/R
        (loss,), _ = at(text, "r2.loss")
        assert loss == pytest.approx((volts / 2) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("use signal\ni integrator (w, y)\nc constant (w) value = 1\n", "what is integrated is zero at rest"),
        ("use signal\ng gain (x, y) k = 1\nc constant (w) value = 1\ns sum (y, w, x)\n", "cancels in a closed loop"),
        ("use signal\ni integrator (x, z)\ng gain (x, y) k = 1\nc constant (w) value = 1\ns sum (y, w, x)\n", "cancels in a closed loop"),
        ("use electrical\ns voltage (a, ground) v = 1 V\nl inductor (a, ground) L = 1 mH\n", "put a resistor beside one of them"),
    ],
)
def test_the_remedy_is_that_of_the_cause(lines, words):
    """Integrators are named where what they integrate is not zero, and not in loops without any."""
    found = problem(lines)
    assert found.code == "E440" and words in found.hint
    assert ("integrator" in found.hint) == ("integrated" in words)


def test_free_mass_without_load_stays_and_is_told():
    (x,), attributes = at("use translational\nm1 mass (a) m = 1 kg\nstart a.x = 3 m\n", "a.x")
    assert x == 3.0 and attributes["stability"] == "neutral" and attributes["free"] == "nothing resists motion of 'a'"


def test_body_that_falls_is_told_with_its_direction():
    found = problem("use spatial\nworld gravity = [0, 0, -9.81] m/s2\nb1 body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0, 0] m\n")
    assert found.code == "E440" and "motion along z of 'p'" in found.message


def test_prescribed_speed_has_no_state_of_rest():
    found = problem("use translational\nm1 mass (a) m = 1 kg\nv1 velocity (a, ground) v = 2 m/s\n")
    assert found.code == "E442" and "'v1'" in found.message and found.span.line == 3


def test_prescribed_speed_of_zero_holds_what_it_moves():
    (x, f), _ = at(
        "use translational\nm1 mass (a) m = 1 kg\nv1 velocity (a, ground) v = 0 m/s\nf1 force (a) F = 3 N\nstart a.x = 1 m\n", "a.x", "v1.f"
    )
    assert x == pytest.approx(1.0) and abs(f) == pytest.approx(3.0)


def test_no_solution_is_told_with_the_equations_and_what_was_tried():
    text = """use electrical
component impossible (p : electrical) "draws more than anything gives"
  branch p -> ground : v, i
  i = 1 A + v^2/(1 V.Ohm)
end
r1 resistor (a, ground) R = 1 Ohm
x1 impossible (a)
"""
    found = problem(text)
    assert found.code == "E441" and "'a'" in found.message and "x1" in found.message
    assert all(word in found.hint for word in ("damped Newton", "gmin", "source stepping", "pseudo-transient"))


def test_limited_newton_ends_where_no_further_unknown_settles():
    """In a network of a thousand unknowns it may take as many iterations, since a chain settles stage by stage; it went to and fro as often."""
    text = """use electrical
component rooted (p, n : electrical) "Newton's method goes to and fro here"
  branch p -> n : v, i
  i = 1 A*(if v > 0 then 1 else -1)*sqrt(abs(v)/(1 V))
end
count n = 1000
v1 voltage (t[1], ground) v = 1 V
r[k] resistor (t[k], t[k+1]) R = 1 Ohm for k in 1..n
e1 resistor (t[n+1], ground) R = 1 Ohm
k1 rooted (c, ground)
r0 resistor (c, ground) R = 1 MOhm
"""
    (v,), attributes = at(text, "c.v")
    limited, *others = attributes["homotopy"].split("; ")
    assert limited.startswith("limited Newton failed") and int(limited.split("(")[1].split()[0]) < 110
    assert "converged" in others[-1] and v == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_source_into_what_does_not_yield_yet(size):
    """A current into a capacitor whose clamp conducts from 5 V on: at 0 V nothing in the balance speaks of the potential, and 0 V was
    a 'stable equilibrium' of any current, in silence; runs from there ended in E501."""
    text = f"""use electrical
component clamp (p, n : electrical) "conducts from 5 V on"
  branch p -> n : v, i
  i = {size} S*max(v - 5 V, 0)
end
i1 current   (a, ground) I = {2 * size} A
c1 capacitor (a, ground) C = 1 uF
d1 clamp     (a, ground)
"""
    model = netsim.load(text)
    assert model.static()["a.v"].values[0] == pytest.approx(7.0, rel=1e-12)
    assert model.transient(stop=1e-3)["a.v"].values == pytest.approx(7.0, rel=1e-9)
    still = netsim.load(text.replace(f"I = {2 * size} A", "I = 0 A")).static()
    assert still["a.v"].values[0] == 0.0


@pytest.mark.parametrize("flow", [1e-9, 1e-6, 1e-4])
def test_a_pump_against_a_relief_valve_that_is_tight(flow):
    """Without leakage it rests where the valve lets the flow through: Q = x Cd A sqrt(2 p/rho) with x = (p - set)/range."""
    text = f"""use hydraulic
q1 flow         (a, ground) Q = {flow} m3/s
v1 volume       (a) V = 1e-3 m3
rv relief_valve (a, ground) set = 1 MPa, A = 1e-5 m2, leak = 0 m3/s/Pa, rho = 850 kg/m3
"""
    p = netsim.load(text).static()["a.p"].values[0]
    assert (p - 1e6) / 5e5 * 0.62 * 1e-5 * np.sqrt(2 * p / 850) == pytest.approx(flow, rel=1e-6)
