"""Linearised networks against closed forms: circuits, two masses, a motor, lines with delays, beams; state spaces, poles, zeros, noise."""

import json

import numpy as np
import pytest
from scipy import linalg

import netsim
from netsim.analyses.signals import ac, linear
from netsim.analyses.signals.states import leading, reduction
from netsim.core.compiled import objects, store
from netsim.library.files import models_folder
from netsim.output.summary import summary, summary_json
from netsim.results.files import read, write
from netsim.text.errors import InputError, SimulationError

F = np.logspace(-1, 6, 29)
S = 2j * np.pi * F

RLC = """
use electrical
src  voltage   (a, ground)  v = 1 V
r1   resistor  (a, b)       R = {R} Ohm
l1   inductor  (b, c)       L = {L} H
c1   capacitor (c, ground)  C = {C} F
"""


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_series_circuit_over_frequency(scale):
    """v_C/v = 1/(1 + s R C + s^2 L C), and the input admittance, with values of other sizes too."""
    R, L, C = 10.0 * scale, 2e-3 * scale, 3e-6 / scale
    found = netsim.load(RLC.format(R=R, L=L, C=C)).ac(save=["c.v", "l1.i"], inputs="src", frequencies=F)
    H = 1 / (1 + S * R * C + S**2 * L * C)
    assert np.abs(found["c.v"].values / H - 1).max() < 1e-10
    assert np.abs(found["l1.i"].values / (S * C * H) - 1).max() < 1e-10
    assert found["l1.i"].attrs["units"] == "S"


def test_several_inputs_and_amplitudes():
    text = "use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 Ohm\nr2 resistor (b, ground) R = 3 Ohm\n"
    model = netsim.load(text + "i1 current (b, ground) I = 1 A\n")
    both = model.ac(save=["b.v"], inputs=["v1", "i1.I"], frequencies=[1.0])
    assert both["b.v per v1.v"].item() == pytest.approx(0.75, rel=1e-14)
    assert both["b.v per i1.I"].item() == pytest.approx(0.75, rel=1e-14)
    together = model.ac(save=["b.v"], inputs=["v1", "i1"], amplitudes=[2, 1], phases=[0, np.pi / 2], frequencies=[1.0])
    assert together["b.v"].item() == pytest.approx(1.5 + 0.75j, rel=1e-14)
    with pytest.raises(InputError, match="which input"):
        model.ac(save=["b.v"], frequencies=[1.0])
    with pytest.raises(InputError, match=r"did you mean 'i1\.I'"):
        model.ac(save=["b.v"], inputs=["i1.J"], frequencies=[1.0])


def test_a_parameter_is_an_input():
    """d(b.v)/d(r2.R) of a divider, i R1/(R1 + R2) at any frequency."""
    text = "use electrical\nv1 voltage (a, ground) v = 4 V\nr1 resistor (a, b) R = 1 kOhm\nr2 resistor (b, ground) R = 3 kOhm\n"
    found = netsim.load(text).ac(save=["b.v", "r2.i"], inputs=["r2.R"], frequencies=[1.0, 1e6])
    assert found["b.v"].values == pytest.approx(4 * 1e3 / 4e3**2, rel=1e-9)
    assert found["r2.i"].values == pytest.approx(-4 / 4e3**2, rel=1e-9)


TWO_MASSES = """
use translational
src displacement (a, ground) s = 0 m
c0  spring (a, b)  c = 100 N/m
d0  damper (a, b)  d = 3 N.s/m
m1  mass (b)       m = 2 kg
c1  spring (b, c)  c = 50 N/m
m2  mass (c)       m = 1 kg
f1  force (c)      F = 0 N
"""


def two_masses(s):
    P = np.array([[2 * s**2 + 3 * s + 150, -50 + 0 * s], [-50 + 0 * s, s**2 + 50 + 0 * s]]).transpose(2, 0, 1)
    W = np.array([[100 + 3 * s, 0 * s], [0 * s, 1 + 0 * s]]).transpose(2, 0, 1)
    return np.linalg.solve(P, W)


def test_two_masses():
    """Receptances, the state space and its names, zeros: displacement of c per displacement of a and force."""
    model = netsim.load(TWO_MASSES)
    s = 2j * np.pi * np.logspace(-2, 2, 9)
    found = model.linearise(inputs=["src", "f1"], save=["b.x", "c.x", "b.v", "c0.f"])
    assert found.states == ("b.x", "b.v", "c.x", "c.v")
    exact, sparse = two_masses(s), found.frequency_response(s.imag / (2 * np.pi))
    assert np.abs(sparse[:, :2] / exact - 1).max() < 1e-10
    assert np.abs(sparse[:, 2] / (s[:, None] * exact[:, 0]) - 1).max() < 1e-10
    by_states = [found.c @ np.linalg.solve(x * np.eye(4) - found.a, found.b) + found.d for x in s]
    assert np.abs(by_states / sparse - 1).max() < 1e-10
    own = found.descriptor
    by_own = [(own["C"] @ np.linalg.solve((x * own["E"] - own["A"]).toarray(), own["B"].toarray()) + own["D"]) for x in s]
    assert np.abs(by_own / sparse - 1).max() < 1e-10
    roots = np.roots([2, 3, 150])  # c.x per force vanishes where b swings alone on both springs
    assert np.sort_complex(found.zeros("c.x", "f1.F")) == pytest.approx(np.sort_complex(roots), rel=1e-10)
    assert len(found.zeros("b.x", "f1.F")) == 0
    assert np.array_equal(found.to_scipy().A, found.a)
    assert found.to_xarray()["B"].sel(input="f1.F", state="c.v") == 1.0


def test_files_of_a_state_space(tmp_path):
    from scipy.io import loadmat

    found = netsim.load(TWO_MASSES).linearise(inputs=["src"], save=["b.x"])
    assert np.array_equal(np.load(found.save(tmp_path / "a.npz"))["A"], found.a)
    assert np.array_equal(loadmat(found.save(tmp_path / "a.mat"))["C"], found.c)
    with pytest.raises(InputError, match=r"\.npz"):
        found.save(tmp_path / "a.txt")


DELAYED = {
    "a line": ("""use electrical
src  voltage       (a, ground)            v = 0 V
r1   resistor      (a, b)                 R = 70 Ohm
line lossless_line (b, ground, c, ground) Z = 50 Ohm, T = {T!r} s
c1   capacitor     (c, ground)            C = {T!r} nF
r2   resistor      (c, ground)            R = 30 Ohm
save c.v, line.i1""", "src.v"),
    "a loop": ("""use signal
src signal_source (r)       value = 0
d   difference    (r, z, e)
i   integrator    (e, x)    k = {T!r}
t1  delay         (x, y)    T = {T!r} s
t2  delay         (y, z)    T = 3*{T!r} s
save y, z, e""", "src.value"),
}  # fmt: skip


@pytest.mark.parametrize("T", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("name", list(DELAYED))
def test_networks_with_delays_have_a_descriptor_form(name, T, tmp_path):
    """E s z = A z + sum A_k e^(-s T_k) z + B w, y = C z + sum C_k e^(-s T_k) z + D w has the response of ac."""
    text, source = DELAYED[name]
    model = netsim.load(text.format(T=T))
    found, f = model.linearise(inputs=[source]), np.array([1e-3, 0.3, 7.0]) / T
    own, sparse = found.descriptor, found.frequency_response(f)
    for x, response in zip(2j * np.pi * f, sparse):
        A = own["A"] + sum(a * np.exp(-x * length) for length, a, _ in own["delays"])
        C = own["C"] + sum(c * np.exp(-x * length) for length, _, c in own["delays"])
        z = np.linalg.solve((x * own["E"] - A).toarray(), own["B"].toarray())
        assert np.abs(C @ z + own["D"] - response).max() < 1e-9 * np.abs(response).max()
    saved = np.load(found.save(tmp_path / "a.npz"))
    assert saved["delay_lengths"] == pytest.approx([T] if name == "a line" else [T, 3 * T]) and "A" not in saved
    assert saved["delay_A"].shape == (len(own["delays"]), *saved["descriptor_A"].shape)
    for asked in ("a", "poles", "to_scipy"):
        with pytest.raises(InputError, match="E428 a network with delays has no state space"):
            getattr(found, asked)
    with pytest.raises(InputError, match=r"E428 linear\(\) has no state space"):
        model.linear(inputs=[source])


def test_an_output_with_the_derivative_of_an_input_has_no_state_space():
    model = netsim.load(TWO_MASSES)
    with pytest.raises(SimulationError, match="derivative of an input"):
        model.linearise(inputs=["src"], save=["a.v"])
    s = 2j * np.pi * np.array([0.5])
    assert model.ac(save=["a.v"], inputs="src", frequencies=[0.5])["a.v"].values == pytest.approx(s, rel=1e-13)


def test_floating_capacitors_and_coils_have_as_many_states_as_are_free():
    """Three capacitors in a loop have two states, two coils in a cut set one."""
    loop = "use electrical\ni1 current (a, ground) I = 0 A\nc1 capacitor (a, b) C = 1 F\nc2 capacitor (b, ground) C = 2 F\n"
    loop += "c3 capacitor (a, ground) C = 3 F\nr1 resistor (b, ground) R = 1 Ohm\nr2 resistor (a, ground) R = 5 Ohm\n"
    found = netsim.load(loop).linearise(inputs=["i1"], save=["a.v"])
    C, G = np.array([[4, -1], [-1, 3]]), np.diag([0.2, 1.0])
    assert np.sort(found.poles) == pytest.approx(np.sort(-linalg.eigvals(G, C).real), rel=1e-12)
    coils = "use electrical\nv1 voltage (a, ground) v = 0 V\nl1 inductor (a, b) L = 1 H\nl2 inductor (b, c) L = 2 H\n"
    found = netsim.load(coils + "r1 resistor (c, ground) R = 6 Ohm\n").linearise(inputs=["v1"], save=["c.v"])
    assert found.poles == pytest.approx([-2.0], rel=1e-12)


def test_delays_and_lossless_lines_are_exact():
    """A matched-in line of 5 ns: v2/v0 = (1 + r) e^(-s T)/(2 (1 - 0)) with r of the load; far above 1/T too."""
    text = """
use electrical
src  voltage       (a, ground)                v = 0 V
r1   resistor      (a, b)                     R = 50 Ohm
line lossless_line (b, ground, c, ground)     Z = 50 Ohm, T = 5 ns
r2   resistor      (c, ground)                R = 150 Ohm
"""
    model, f = netsim.load(text), np.array([1.0, 1e7, 0.77e9, 3e10])
    found = model.ac(save=["c.v", "line.i1"], inputs="src", frequencies=f)
    s = 2j * np.pi * f
    assert np.abs(found["c.v"].values / (0.5 * 1.5 * np.exp(-s * 5e-9)) - 1).max() < 1e-10
    i1 = (1 - 0.5 * np.exp(-s * 10e-9)) / 100
    assert np.abs(found["line.i1"].values / i1 - 1).max() < 1e-10
    with pytest.raises(InputError, match="infinitely many"):
        model.poles()
    # what `make core` builds for users runs without the compiler's library
    sweeps = [store.read_code(name) for name in objects._loaded if name.startswith("solve_many-")]
    assert sweeps and not any(about["needs_numba"] for about, _ in sweeps)


def test_motor():
    """w/u = k/((R + s L)(d + s J) + k^2), through the coupling of two domains."""
    text = """
use electrical
use rotational
use couplings
src voltage  (a, ground) v = 24 V
m1  dc_motor (a, ground, shaft) R = 2 Ohm, L = 3 mH, k = 0.1 N.m/A
j1  inertia  (shaft)     J = 1e-4 kg.m2
d1  torsion_damper (shaft, ground) d = 1e-4 N.m.s
"""
    model = netsim.load(text)
    s = 2j * np.pi * np.logspace(-1, 4, 6)
    found = model.ac(save=["shaft.w"], inputs="src", frequencies=s.imag / (2 * np.pi), at=0.0)
    with pytest.raises(SimulationError, match="at = 0 s"):
        model.poles()
    assert np.abs(found["shaft.w"].values / (0.1 / ((2 + 3e-3 * s) * (1e-4 + 1e-4 * s) + 0.01)) - 1).max() < 1e-10


def test_about_instants_of_a_run():
    """A pendulum that swings: x' = v, m v' = -c(x) ... linearised where it is, the rate of its spring is that at its place."""
    text = """
use translational
m1 mass (a) m = 1 kg, start v = 1 m/s
s1 spring_law (a, ground)
f1 force (a) F = 0 N
component spring_law (p, n : translational) "hardening"
  branch p -> n : x, v, f
  f = (1 N/m)*x + (1 N/m3)*x^3
  stores (0.5 N/m)*x^2 + (0.25 N/m3)*x^4
end
"""
    model = netsim.load(text)
    times = [0.0, 0.4, 0.9]
    run = model.transient(stop=1, rtol=1e-11, save=["a.x"])
    for t, found in zip(times, model.linearise(inputs=["f1"], save=["a.x"], at=times)):
        x = float(run["a.x"].interp(time=t, method="cubic")) if t else 0.0
        assert found.time == t
        assert found.a == pytest.approx(np.array([[0, 1], [-(1 + 3 * x**2), 0]]), abs=1e-6)


def test_poles_say_what_grows():
    text = """
use translational
m1 mass (a) m = 1 kg
s1 spring (a, ground) c = 4 N/m
d1 pump (a, ground)
component pump (p, n : translational) "negative damping"
  branch p -> n : v, f
  f = -(0.1 N.s/m)*v
  source
end
"""
    found = netsim.load(text).poles()
    assert found.attrs["stability_of_poles"].startswith("unstable: a.x, a.v grow as e^(t/20 s), swinging at 0.318")
    assert found["real"].item() == pytest.approx(0.05, rel=1e-10)
    assert found["participation a.x"].item() == pytest.approx(0.5, rel=1e-2)


@pytest.mark.parametrize("C", [1e-18, 1e-15, 1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("L", [1e-12, 1e-9, 1e-3, 1e3])
@pytest.mark.parametrize("R", [1e-3, 1e6])
def test_poles_of_circuits_of_every_size(R, L, C):
    """L C s^2 + R C s + 1 = 0: 1 fF beside 1 nH and 1 MOhm had no poles, or were refused as singular."""
    model = netsim.load(RLC.format(R=R, L=L, C=C))
    half, product = R / (2 * L), 1 / (L * C)
    fast = -(half + np.sqrt(half**2 - product + 0j))
    wanted = _in_order([fast, product / fast])
    for found in (model.linearise(inputs=["src"], save=["c.v"]).poles, _all_of(model.poles())):
        assert len(found) == 2
        assert (np.abs(_in_order(found) - wanted) < 1e-8 * np.abs(wanted)).all()


def _in_order(s):
    return np.array(sorted(s, key=lambda each: (each.imag, each.real)))


def _all_of(found):
    s = found["real"].values + 1j * found["imaginary"].values
    return np.concatenate([s, s[s.imag > 0].conj()])


@pytest.mark.parametrize(("slow", "fast"), [(1.0, 1e-15), (1e3, 1e-15), (1e-6, 1e-18), (10.0, 1e-9)])
def test_slow_poles_beside_fast_ones_have_their_own_digits(slow, fast):
    """Two capacitors behind resistors whose times are up to 21 decades apart. Among all eigenvalues the slow one is
    rounding of the fast one: 0 for -1e-3 /s."""
    found = (
        netsim.load(f"""
use electrical
src voltage   (a, ground)  v = 1 V
r1  resistor  (a, b)       R = 1 kOhm
c1  capacitor (b, ground)  C = {slow} F
r2  resistor  (b, c)       R = 1 Ohm
c2  capacitor (c, ground)  C = {fast} F
""")
        .poles()["real"]
        .values
    )
    total, product = slow * 1e3 + fast * 1e3 + fast, slow * fast * 1e3
    q = -(total + np.sqrt(total**2 - 4 * product)) / 2
    assert found == pytest.approx([1 / q, q / product], rel=1e-9)


def test_a_mechanism_that_is_driven_has_the_pole_of_its_work():
    """A four-bar turned by a motor has one state that nothing holds, the motor's work; the search for its time scale must end."""
    found = netsim.load(models_folder() / "mechanisms" / "fourbar_spatial.net").poles()
    assert found["real"].values == pytest.approx([0.0], abs=1e-12) and found["participation motor.work"].values == pytest.approx([1.0])


def test_zeros_where_the_equations_cancel():
    """A coupled stage whose held output leaves equations that have no order by their structure: its zeros were left out in silence. Those of the
    state space are 0 twice (two capacitors in series) and -1/(Re Ce) = -100/s."""
    text = """
use electrical
src  voltage   (in_, ground)  v = 0 V
cin  capacitor (in_, b)       C = 1 uF
rb   resistor  (b, ground)    R = 10 kOhm
g1   current   (c, e)         I = -(40 mS)*(b.v - e.v)
re   resistor  (e, ground)    R = 100 Ohm
ce   capacitor (e, ground)    C = 100 uF
rc   resistor  (c, ground)    R = 1 kOhm
cl   capacitor (c, out)       C = 10 uF
rl   resistor  (out, ground)  R = 5 kOhm
"""
    model = netsim.load(text)
    wanted = [-100.0, 0.0, 0.0]
    by_network = model.linearise(inputs=["src"], save=["out.v"]).zeros()
    assert np.sort(by_network.real) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    found = model.linearise(inputs=["src"], save=["out.v"])
    by_states = linear.zeros_of_states(reduction.StateSpace(found.a, found.b, found.c, found.d, None, None, None))
    # a double zero moves by the root of what rounding (1e-16 of 1e4/s) does to it
    assert np.sort(by_states.real) == pytest.approx(wanted, rel=1e-9, abs=1e-5)
    assert linear.NOTHING == 1e-13


@pytest.mark.parametrize("time", [1e-9, 1.0, 1e6])
def test_zeros_of_states(time):
    """Chains of integrators have none, a direct part as many as poles, and an output that nothing reaches none."""
    a = np.diag([-1.0, -2.0, -3.0]) + np.diag([1.0, 1.0], 1)
    b, c, zero = np.array([[0.0], [0.0], [1.0]]), np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 1))

    def zeros(b, c, d):
        return linear.zeros_of_states(reduction.StateSpace(a / time, b / time, c, d, None, None, None))

    assert len(zeros(b, c, zero)) == 0
    assert np.sort(zeros(b, np.array([[7.0, 1.0, 0.0]]), zero).real) == pytest.approx([-8.0 / time], rel=1e-12)
    assert np.sort(zeros(b, 0 * c, zero + 2).real) == pytest.approx(np.array([-3.0, -2.0, -1.0]) / time, rel=1e-12)
    assert len(zeros(0 * b, c, zero)) == 0


def test_root_locus():
    found = netsim.load(TWO_MASSES).poles(over="d0.d", values=[0.0, 3.0, 30.0])
    for d in (0.0, 3.0, 30.0):
        P = np.poly1d([2, d, 150]) * np.poly1d([1, 0, 50]) - 2500
        rows = found["d0.d"].values == d
        s = found["real"].values[rows] + 1j * found["imaginary"].values[rows]
        exact = P.roots[P.roots.imag >= 0]
        assert np.sort_complex(s) == pytest.approx(np.sort_complex(exact), abs=1e-7)


def test_stability_along_a_root_locus():
    """Of each value of the parameter: it was told of the first alone. An amplifier's slope of 1.1 mS undoes the resistor of 1 kOhm."""
    text = RLC.format(R=1e3, L=1e-3, C=1e-9) + "n1 vccs (ground, c, c, ground) g = 0 S\nrun poles(over = n1.g, values = [-1 mS, 0 S, 1.1 mS])\n"
    (samples,) = netsim.load(text).samples()
    stable, unstable = samples.attributes["stability_of_poles"].split("; ")
    assert stable == "stable at n1.g = -1 mS, 0 S" and unstable.startswith("unstable: ") and unstable.endswith("at n1.g = 1.1 mS")
    lines = summary(netsim.load(text), [samples], []).splitlines()
    assert lines[2:5] == [stable, unstable, "  poles -1e+06 ± 1e+06 j 1/s, 225.08 kHz, damping 0.707 at n1.g = -1 mS"]
    (found,) = json.loads(summary_json(netsim.load(text), [samples], []))["runs"]
    assert [row["n1.g"] for row in found["poles"]] == [-1e-3, 0.0, 1.1e-3, 1.1e-3]


def test_large_networks_give_their_slowest_poles():
    text = "use electrical\ncount n = 400\nv1 voltage (n[1], ground) v = 0 V\nr[k] resistor (n[k], n[k+1]) R = 1 Ohm for k in 1..n\n"
    text += "c[k] capacitor (n[k+1], ground) C = 1 F for k in 1..n\n"
    found = netsim.load(text).poles(modes=3)
    exact = -4 * np.sin((2 * np.arange(1, 4) - 1) * np.pi / (2 * (2 * 400 + 1))) ** 2
    assert found["real"].values[:3] == pytest.approx(exact, rel=1e-7)


def test_thermal_noise_of_a_capacitor_and_a_mass():
    """Equipartition: <v^2> = k T/C whatever the resistance, <x^2> = k T/c whatever damper and mass."""
    k_T = 1.380649e-23 * 293.15
    text = "use electrical\nv1 voltage (a, ground) v = 0 V\nr1 resistor (a, b) R = 1 kOhm\nc1 capacitor (b, ground) C = 1 nF\n"
    grid = {"from_": 1.0, "to": 1e12, "per_decade": 100}
    found = netsim.load(text).noise(output="b.v", input="v1", **grid)
    assert found.attrs["measure.output"] ** 2 == pytest.approx(k_T / 1e-9, rel=2e-6)
    assert found["input"].values == pytest.approx(np.sqrt(4 * k_T * 1e3), rel=1e-12)
    text = "use translational\nm1 mass (a) m = 1e-9 kg\ns1 spring_damper (a, ground) c = 1 N/m, d = 1e-4 N.s/m\n"
    found = netsim.load(text).noise(output="a.x", **grid)
    assert found.attrs["measure.output"] ** 2 == pytest.approx(k_T, rel=1e-5)


@pytest.mark.parametrize("grid", [{}, {"per_decade": 1}, {"points": 3}])
@pytest.mark.parametrize("quality", [0.1, 30.0, 1e6])
def test_effective_noise_does_not_depend_on_the_frequencies_that_are_shown(quality, grid):
    """<x^2> = k T/c, but for 4 Q f1/(omega Q^2) below the band and less above it, with a resonance between two frequencies."""
    text = f"use translational\nm1 mass (a) m = 1e-12 kg\ns1 spring (a, ground) c = 1 N/m\nd1 damper (a, ground) d = {1e-6 / quality} N.s/m\n"
    found = netsim.load(text).noise(output="a.x", from_=0.1, to=1e9, **grid)
    assert found.attrs["measure.output"] ** 2 == pytest.approx(1.380649e-23 * 293.15, rel=5e-6)
    assert found.attrs["measure.d1"] == pytest.approx(found.attrs["measure.output"], rel=1e-9)
    assert not grid or found.sizes["frequency"] < 15


def test_effective_noise_of_white_and_pink_noise_is_exact():
    """Powers of the frequency are integrated exactly, from frequency 0 too where nothing grows there; a band of one frequency has none."""
    text = "use electrical\nv1 voltage (a, ground) v = 0 V\nr1 resistor (a, b) R = 1 kOhm\nr2 resistor (b, ground) R = 1 kOhm\n"
    model, white = netsim.load(text), 4 * 1.380649e-23 * 293.15 * 500
    for grid, band in (({"from_": 1.0, "to": 1e6}, 1e6 - 1), ({"points": 2, "from_": 0.0, "to": 1e3}, 1e3), ({"frequencies": [5.0]}, 0.0)):
        found = model.noise(output="b.v", **grid)
        assert found.attrs["measure.output"] == pytest.approx(np.sqrt(white * band), rel=1e-12)


def test_noise_of_a_component_of_ones_own():
    """White and flicker noise stated in the language; what no equation gives is refused."""
    text = """
use electrical
v1 voltage (a, ground) v = 0 V
s1 noisy (a, b)
r1 wire (b, ground)
component noisy (p, n : electrical) "current noise"
  branch p -> n : v, i
  noise i : A2/Hz = 9e-18 A2/Hz
  flicker i : A2 = 4e-18 A2
  i = v/(1 Ohm)
  dissipates v*i
end
component wire (p, n : electrical) "1 Ohm without noise"
  branch p -> n : v, i
  v = (1 Ohm)*i
end
"""
    found = netsim.load(text).noise(output="b.v", frequencies=[0.5, 4.0])
    assert found["s1.i"].values == pytest.approx(1.5e-9, rel=1e-12)
    assert found["flicker s1.i"].values == pytest.approx(1e-9 / np.sqrt([0.5, 4.0]), rel=1e-12)
    with pytest.raises(InputError, match="no equation gives 'k'"):
        netsim.load(text.replace("noise i", "noise k"))
    with pytest.raises(InputError, match="this is in A, but V is wanted"):
        netsim.load(text.replace("noise i : A2/Hz = 9e-18 A2/Hz", "noise i : V2/Hz = 9e-18 V2/Hz"))


MEASURED = (
    RLC.format(R=10, L=2e-3, C=3e-6)
    + """
run ac(from = 10 Hz, to = 100 kHz, inputs = src)
save c.v
measure top = peak(c.v)
measure where = resonance(c.v)
measure band = bandwidth(c.v)
measure turn = phase(c.v, where)
measure low = db(c.v, 20 kHz)
"""
)


def test_measures_of_a_response(tmp_path):
    samples = netsim.load(MEASURED).samples()[0]
    found = {f.name: f.value for f in samples.figures}
    w, z = 1 / np.sqrt(2e-3 * 3e-6), 5 * np.sqrt(3e-6 / 2e-3)
    assert found["top"] == pytest.approx(1 / (2 * z * np.sqrt(1 - z**2)), rel=1e-6)
    assert found["where"] == pytest.approx(w * np.sqrt(1 - 2 * z**2) / (2 * np.pi), rel=1e-5)
    assert found["band"] == pytest.approx(w / (2 * np.pi) * np.sqrt(1 - 2 * z**2 + np.sqrt((1 - 2 * z**2) ** 2 + 1)), rel=1e-5)
    r = np.sqrt(1 - 2 * z**2)
    assert found["turn"] == pytest.approx(-np.arctan2(2 * z * r, 1 - r**2), rel=1e-5)
    x = 2j * np.pi * 20e3
    assert found["low"] == pytest.approx(20 * np.log10(abs(1 / (1 + x * 3e-5 + x**2 * 6e-9))), rel=1e-5)
    for name in ("a.csv", "a.nc"):
        write(samples, tmp_path / name)
        assert np.array_equal(read(tmp_path / name)["c.v"].values, samples.values[:, 0])


def test_measures_of_every_response():
    """Of each input and each member of a family, the response at another node being no output of noise and of linear models."""
    text = """use electrical
v1 voltage   (a, ground) v = 1 V
i1 current   (b, ground) I = 0 A
r1 resistor  (a, b)      R = 1 kOhm
c1 capacitor (b, ground) C = 100 nF
measure f3 = bandwidth(b.v)
assert gain(b.v, 1 kHz) > 100 V "this is small"
"""
    run = "run ac(from = 10 mHz, to = 100 kHz, inputs = [v1, i1], family = [r1.R = [500 Ohm, 1 kOhm]])\n"
    (samples,) = netsim.load(text.replace('assert gain(b.v, 1 kHz) > 100 V "this is small"\n', "") + run).samples()
    corner = lambda r: 1 / (2 * np.pi * r * 1e-7)  # noqa: E731
    wanted = {f"f3 per {i} at r1.R = {r:g} Ohm": corner(r) for r in (500.0, 1000.0) for i in ("v1.v", "i1.I")}
    assert {f.name: f.value for f in samples.figures} == pytest.approx(wanted, rel=1e-6)
    (samples,) = netsim.load(text + run.replace("v1, i1", "v1")).samples()
    assert [p.message for p in samples.broken] == [f"this is small at r1.R = {r:g} Ohm" for r in (500.0, 1000.0)]
    model = netsim.load(text)
    assert model.noise(output="a.v", frequencies=[1.0]).attrs["output"] == "a.v"
    assert [s.name for s in model.linearise(inputs=["v1"], save=["a.v"]).outputs] == ["a.v"]


def test_margins_of_a_loop():
    """L = K/(s (1 + s)(1 + 0.1 s)) in transfer blocks: margins by its closed forms."""
    H = lambda s: 4 / (s * (1 + s) * (1 + 0.1 * s))  # noqa: E731
    f = np.logspace(-3, 2, 400)
    from netsim.results.over_frequency.figures import Curve, crossover, gain_margin, phase_margin

    curve = Curve(f, H(2j * np.pi * f))
    assert gain_margin(curve) == pytest.approx(11 / 4, rel=1e-6)
    w = 2 * np.pi * crossover(curve)
    assert abs(H(1j * w)) == pytest.approx(1, rel=1e-6)
    assert phase_margin(curve) == pytest.approx(np.pi / 2 - np.arctan(w) - np.arctan(0.1 * w), abs=1e-6)


@pytest.mark.parametrize("poles_known", [400, 0])
@pytest.mark.parametrize("quality", [10.0, 1e5, 1e7, 1e9])
def test_adaptive_frequencies_find_a_sharp_resonance(quality, poles_known, monkeypatch):
    """Resonances between two frequencies of the first grid, of networks with and without known poles; the gain falls by 3 dB beside them
    within f/Q."""
    monkeypatch.setattr(ac, "DENSE", poles_known)
    R = float(np.sqrt(2e-3 / 3e-6) / quality)
    measures = "\nmeasure top = peak(c.v)\nmeasure width = bandwidth(c.v)"
    (samples,) = netsim.load(RLC.format(R=R, L=2e-3, C=3e-6) + "run ac(from = 10 Hz, to = 100 kHz, inputs = src)\nsave c.v" + measures).samples()
    found = {f.name: f.value for f in samples.figures}
    z = 0.5 / quality
    assert found["top"] == pytest.approx(quality / np.sqrt(1 - z**2), rel=1e-5)
    square = 1 - 2 * z**2
    band = np.sqrt((square + np.sqrt(square**2 + 1)) / (2e-3 * 3e-6)) / (2 * np.pi)
    assert found["width"] == pytest.approx(band, rel=1e-4)
    assert len(samples.time) < 1000


def test_constants():
    """What steers the adaptive grid and the reduction."""
    assert (ac.BEND, ac.TURN, ac.ROUNDS, ac.DENSE) == (0.01, 0.02, 40, 400)
    assert (leading.FAINT, leading.CANCELS, leading.SINGULAR, leading.REGULAR, leading.PART) == (1e-13, 1e-12, 1e-13, 1e-8, 1e-8)
    assert (reduction.LARGEST, reduction.ON_AXIS) == (3000, 1e-12)
    assert reduction.WIDEST == 80.0


def test_mistakes_are_told():
    model = netsim.load(TWO_MASSES)
    for options, words in (
        ({"from_": 10.0, "to": 1.0}, "0 < from <= to"),
        ({"from_": 1.0, "to": 2.0, "per_decade": 3, "points": 4}, "exclude each other"),
        ({"frequencies": [1.0], "amplitudes": [1, 2], "inputs": ["src"]}, "1 inputs, 2 amplitudes"),
        ({"frequencies": [1.0], "imputs": ["src"]}, "did you mean 'inputs'"),
        ({"frequencies": [1.0], "at": [-1.0]}, "'at' must be an instant"),
    ):
        with pytest.raises(InputError, match=words):
            model.ac(**options)


@pytest.mark.parametrize(
    ("d", "words"), [(0.0, "neutral: 1 of the poles does not decay"), (1e-9, "neutral: 1 of the poles hardly decays"), (1e-6, "stable")]
)
def test_a_pole_that_hardly_decays_is_no_pole_that_does_not(d, words):
    """s = -d/2 +- j: the table has its decay, and the sentence beside it must not say that there is none."""
    found = netsim.load(f"""
use translational
m1 mass   (a)         m = 1 kg
s1 spring (a, ground) c = 1 N/m
d1 damper (a, ground) d = {d!r} N.s/m
""").poles()
    assert found.attrs["stability_of_poles"] == words
    assert found["real"].item() == pytest.approx(-d / 2, rel=1e-6, abs=0)
