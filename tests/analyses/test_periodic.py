"""Periodic states: closed forms, independent integrations, and the ends of long transient runs."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import four_bar
import netsim
from netsim.analyses.operating import continuation
from netsim.analyses.periodic import branch, shooting, sources, stability, states, sweep_periodic
from netsim.results.files import read, write
from netsim.text.errors import InputError, SimulationError

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from periodic import BUCK, PI

DUFFING = """
use translational
param f = 1
m1 mass   (a)         m = {m} kg, start x = {x} m, start v = {v} m/s
s1 spring (a, ground) c = {m} N/m
d1 damper (a, ground) d = {m}*0.1 N.s/m
f1 force  (a)         F = {m}*(f*1 N*cos(1.4*time/(1 s)) - 0.04 N/m^3*a.x^3)
save a.x, a.v
"""
VAN_DER_POL = """
use signal
component oscillator (out y : signal)
  param mu = 1
  param T : s > 0 = 1 s
  var w : 1
  der(y)*T = w
  der(w)*T = mu*(1 - y^2)*w - y
end
v oscillator (y) start y = 2
save y, v.w
"""
SAMPLED_PI = """
component digital_pi (in u, out y : signal)
  param T : s > 0
  discrete z : 1 = 0.3
  discrete o : 1 = 0.4
  param first : s = 0.3*T
  when sample(first, T) : z = pre(z) + 0.004*u; o = min(max(0.02*u + z, 0.05), 0.9)
  y = o
end
aim       signal_source (wanted)              value = 5
compare   difference    (wanted, seen, error)
control   digital_pi    (error, command)      T = 20 us
modulator pulse_width   (command, g)          period = 10 us, first = 3 us
"""
RECTIFIER = """
use electrical
src voltage   (ac, ground) v = sine(time, amplitude = 10 V, frequency = 50 Hz)
rs  resistor  (ac, anode)  R = 0.5 Ohm
d1  diode     (anode, dc)  Is = 1e-12 A, N = 1.05, Rs = 0.05 Ohm, Cj = 30 pF, tt = 1 us
c1  capacitor (dc, ground) C = 470 uF
rl  resistor  (dc, ground) R = 220 Ohm
save dc.v, d1.i
"""
DRIVE = """
use electrical
use rotational
use couplings
use signal
gate    boolean_pulse  (g)                  period = 1 ms
supply  voltage        (source, ground)     v = 24 V
top     closing_switch (source, sw, g)      Ron = 10 mOhm, Goff = 1 uS
bottom  ideal_diode    (ground, sw)         Ron = 10 mOhm, Goff = 1 uS
motor   dc_motor       (sw, ground, shaft)  R = 1 Ohm, L = 0.5 mH, k = 0.05 N.m/A
rotor   inertia        (shaft)              J = 2e-4 kg.m2
bearing torsion_damper (shaft, ground)      d = 1e-3 N.m.s/rad
save shaft.w, motor.i
"""
BUSHING = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b1 body        (rod)         m = 1 kg, I = diag(0.02, 0.05, 0.06) kg.m2, at = [0, 0, 0] m
k1 bushing     (ground, rod) at = [0.1, 0, 0] m, c = [3, 4, 5] kN/m, ct = [30, 40, 50] N.m/rad, d = [20, 20, 20] N.s/m, dt = [1, 1, 1] N.m.s/rad
f  world_force (rod)         at = [0.1, 0.2, 0] m, F = [30*cos(20*time/(1 s)), 20*sin(20*time/(1 s)), 1] N
save rod.r, rod.w
"""
CRANK = f"""{four_bar.PLANE}
motor   planar_hinge_torque (ground, a) T = 1 N.m + 0.05 N.m.s/rad*(5 rad/s - pA.rate)
start pA.rate = 6 rad/s
save pA.q, pA.rate
"""


def found(text, **options):
    return netsim.load(text + "\n").periodic(**options)


def duffing(x=0.0, v=0.0, m=1.0):
    return DUFFING.format(x=x, v=v, m=m)


def multipliers(data):
    return data["multipliers.real"].values + 1j * data["multipliers.imaginary"].values


# ------------------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("m", [1.0, 1e-9, 1e6])
@pytest.mark.parametrize(("x", "v", "first", "third"), [(0, 0, 1.06805621, 7.34988e-4), (5.8, 0.5, 5.86215759, 0.13837189)])
def test_both_branches_of_duffings_oscillator(m, x, v, first, third):
    data = found(duffing(x, v, m), rtol=1e-10, warm_up=0)
    size = data["amplitude(a.x)"].values
    assert size[1] == pytest.approx(first, abs=1e-8)
    assert size[3] == pytest.approx(third, abs=6e-9)
    assert size[[0, 2, 4]] == pytest.approx(0.0, abs=1e-9)
    assert data.attrs["distortion.a.x"] == pytest.approx(third / first, rel=2e-3)
    lost = np.sum((1.4 * size * np.arange(11)) ** 2) / 2 * 0.1 * m
    assert (data["energy.dissipated"][-1] / data.attrs["period"]).item() == pytest.approx(lost, rel=1e-7)


def test_an_orbit_between_two_stable_ones_is_unstable():
    data = found(duffing(-4.6, 1.0), rtol=1e-10, warm_up=0)
    assert data.attrs["orbit"].splitlines()[1].startswith("unstable: a disturbance of a.")
    assert 1.1 < data["amplitude(a.x)"].values[1] < 5.8
    assert multipliers(data)[0].real > 1.0
    product = np.prod(multipliers(data)).real  # Liouville: the divergence is -0.1/s
    assert product == pytest.approx(np.exp(-0.1 * 2 * np.pi / 1.4), abs=1e-9)


@pytest.mark.parametrize(("stiffness", "force"), [(1.3, 0.0), (1.0, 0.0), (1.0, 1.0), (1.3, 0.3)])
def test_multipliers_of_mathieus_equation(stiffness, force):
    """x'' + 0.02 x' + (c + 0.5 cos 2t) x = F sin 2t, at rest and not, stable and not."""

    def right(t, y):
        return [y[1], -0.02 * y[1] - (stiffness + 0.5 * np.cos(2 * t)) * y[0]]

    columns = [solve_ivp(right, (0, np.pi), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1] for start in np.eye(2)]
    wanted = np.linalg.eigvals(np.array(columns).T)
    text = f"""
    use translational
    m1 mass   (a)         m = 1 kg
    s1 spring (a, ground) c = {stiffness} N/m
    d1 damper (a, ground) d = 0.02 N.s/m
    f1 force  (a)         F = -(0.5 N/m)*cos(2*time/(1 s))*a.x + {force} N*sin(2*time/(1 s))
    """
    data = found(text, rtol=1e-11)
    assert data.attrs["period"] == pytest.approx(np.pi, rel=1e-15)
    np.testing.assert_allclose(np.sort(multipliers(data)), np.sort(wanted), atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e6])
def test_the_period_of_van_der_pols_oscillator(scale):
    text = VAN_DER_POL.replace("T : s > 0 = 1 s", f"T : s > 0 = {scale} s")
    data = found(text, period=6.0 * scale, rtol=1e-11)
    assert data.attrs["period"] == pytest.approx(6.6632868593231 * scale, rel=1e-10)
    assert data.attrs["orbit"].splitlines()[1].startswith("stable: disturbances shrink to 0.00086")
    np.testing.assert_allclose(data["y"][-1], data["y"][0], atol=1e-9)
    assert len(multipliers(data)) == 1
    divergence = -(data["y"] ** 2 - 1).integrate("time").item() / scale
    assert multipliers(data)[0].real == pytest.approx(np.exp(divergence), rel=1e-3)


# ----------------------------------------------------------------------------------------- ends of long transients


@pytest.mark.parametrize(
    ("text", "period", "periods"),
    [
        (duffing(), 2 * np.pi / 1.4, 100),
        (RECTIFIER, 0.02, 12),
        (BUCK + "gate boolean_pulse (g) period = 10 us, share = 0.42\n", 1e-5, 1000),
        (BUCK + PI, 1e-5, 2500),
        (BUCK + SAMPLED_PI, 2e-5, 1500),
        (BUCK + SAMPLED_PI.replace("T = 20 us", "T = 20 us, first = 0 s"), 2e-5, 1500),
        (RECTIFIER.replace("R = 0.5 Ohm", "R = 20 Ohm"), 0.02, 90),
        (BUSHING, np.pi / 10, 40),
    ],
    ids=["duffing", "rectifier", "converter", "pi", "sampled_pi", "sampled_at_once", "soft_rectifier", "bushing"],
)
def test_a_long_transient_ends_in_it(text, period, periods):
    model = netsim.load(text + "\n")
    data = model.periodic(warm_up=3)
    assert data.attrs["period"] == pytest.approx(period, rel=1e-12)
    stop = periods * period
    long = model.transient(stop=stop, rtol=1e-9, sample=stop)
    for name in [n for n in long.data_vars if not n.startswith("energy")]:
        size = np.abs(data[name]).max().item()
        assert data[name][-1].item() == pytest.approx(long[name][-1].item(), abs=1e-8 * size), name
        np.testing.assert_allclose(data[name][-1], data[name][0], atol=1e-8 * size if "gate" not in text else 1e-2)


def test_another_formulation_returns_to_the_same_state():
    text = CRANK + "run periodic(period = 0.3 s)\n"
    model = netsim.load(text)
    (samples,) = model.samples()
    period = samples.attributes["period"]
    assert "goes on in every period: a.phi by 6.28319" in samples.attributes["orbit"]
    for formulation in ("absolute", "tree"):
        starts = f"start pA.rate = {float(samples.values[0, 1])!r} rad/s\nstart pA.q = {float(samples.values[0, 0] % (2 * np.pi))!r} rad"
        other = netsim.load(CRANK.replace("start pA.rate = 6 rad/s", starts))
        run = other.transient(stop=period, rtol=1e-10, formulation=formulation)
        assert (run["pA.q"][-1] - run["pA.q"][0]).item() == pytest.approx(2 * np.pi, abs=1e-7)
        assert run["pA.rate"][-1].item() == pytest.approx(samples.values[0, 1], rel=1e-7)


def test_a_drive_turns_on():
    data = found(DRIVE)
    advance = data["shaft.w"].integrate("time").item()
    assert f"goes on in every period: shaft.phi by {advance:.5}" in data.attrs["orbit"]
    assert len(multipliers(data)) == 2 and multipliers(data)[0].real < 1.0


def test_a_multiple_of_the_period_has_the_square_of_the_multipliers():
    once, twice = (found(duffing(), rtol=1e-10, period=n * 2 * np.pi / 1.4) for n in (1, 2))
    np.testing.assert_allclose(np.sort(multipliers(twice)), np.sort(multipliers(once) ** 2), atol=1e-8)
    assert twice["amplitude(a.x)"].values[2] == pytest.approx(once["amplitude(a.x)"].values[1], abs=1e-8)
    assert twice["amplitude(a.x)"].values[1] == pytest.approx(0.0, abs=1e-8)


def test_a_subharmonic_behind_a_period_doubling():
    """x'' + 0.3 x' - x + x^3 = 0.29 cos 1.2 t: the state of one period is left by a multiplier below -1, one of two periods is another state."""
    text = """
    use translational
    m1 mass   (a)         m = 1 kg, start x = -0.5 m
    d1 damper (a, ground) d = 0.3 N.s/m
    f1 force  (a)         F = 0.29 N*cos(1.2*time/(1 s)) + 1 N/m*a.x - 1 N/m^3*a.x^3
    save a.x, a.v
    """
    once, twice = (found(text, period=n * 2 * np.pi / 1.2, warm_up=60, rtol=1e-10) for n in (1, 2))
    assert multipliers(once)[0].real == pytest.approx(-1.568, abs=1e-3)
    assert "changing its sign" in once.attrs["orbit"]
    assert twice["amplitude(a.x)"].values[1] > 0.1
    half = 2 * np.pi / 1.2
    at = [float(np.interp(half, twice["time"], twice[name])) for name in ("a.x", "a.v")]
    assert abs(at[0] - twice["a.x"].values[0]) > 0.1
    y = solve_ivp(
        lambda t, y: [y[1], -0.3 * y[1] + y[0] - y[0] ** 3 + 0.29 * np.cos(1.2 * t)],
        (0, 2 * half), [twice["a.x"].values[0], twice["a.v"].values[0]], method="DOP853", rtol=1e-12, atol=1e-14,
    ).y[:, -1]  # fmt: skip
    np.testing.assert_allclose(y, [twice["a.x"].values[0], twice["a.v"].values[0]], atol=1e-8)


def test_charges_in_a_loop_of_capacitors():
    text = """
    use electrical
    v1 current   (ground, a) I = 1 mA*sin(6283.185307179586*time/(1 s))
    r1 resistor  (a, ground) R = 1 kOhm
    c1 capacitor (a, ground) C = 1 uF
    c2 capacitor (a, b)      C = 1 uF
    c3 capacitor (b, ground) C = 2 uF
    l1 inductor  (a, c)      L = 10 mH
    l2 inductor  (c, ground) L = 20 mH
    start b.v = 0.01 V
    save a.v
    """
    data, w = found(text), 2e3 * np.pi
    admittance = 1e-3 + 1j * w * (1e-6 + 2e-6 / 3) + 1 / (1j * w * 30e-3)
    assert data["amplitude(a.v)"].values[1] == pytest.approx(1e-3 / abs(admittance), rel=1e-8)
    assert len(multipliers(data)) == 2  # the charge of b, and the current round l1 and l2, stay what they are


# ---------------------------------------------------------------------------------------------------- what is refused


def test_delays_are_refused():
    text = "use electrical\nv1 voltage (a, ground) v = 1 V*sin(time/(1 us))\nt1 lossless_line (a, ground, b, ground) T = 1 us\n"
    with pytest.raises(InputError, match="its state is a piece of the past"):
        found(text + "r1 resistor (b, ground) R = 50 Ohm")


def test_what_is_not_found_is_told_with_the_state_that_changes_most(monkeypatch):
    monkeypatch.setattr(shooting, "MOST", 1)
    with pytest.raises(SimulationError, match=r"'a\.[xv]' changes most over a period of 4\.48799 s, by") as told:
        found(duffing(x=3.0), warm_up=0)
    assert told.value.problems[0].code == "E447" and "warm_up" in told.value.problems[0].hint


def test_what_rests_is_a_state_too():
    data = found(duffing().replace("param f = 1", "param f = 0"))
    assert data["a.x"].values == pytest.approx(0.0, abs=1e-12)
    wanted = np.exp(2 * np.pi / 1.4 * (-0.05 + 1j * np.sqrt(1 - 0.05**2)))
    assert multipliers(data)[0] in (pytest.approx(wanted, abs=1e-7), pytest.approx(wanted.conj(), abs=1e-7))


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        (DUFFING.replace("cos(1.4*time/(1 s))", "time/(1 s)"), {"period": 1.0}, "E448", "f1.F|differs"),
        (DUFFING.replace("f*1 N*cos(1.4*time/(1 s))", "0 N"), {"period": 6.0}, "E449", "a state of rest"),
        (DUFFING.replace("f*1 N*cos(1.4*time/(1 s))", "0 N"), {}, "E422", "needs 'period'"),
        (DUFFING, {"period": 1.0}, "E448", "repeat"),
        (DUFFING, {"period": -1.0}, "E423", "positive"),
        (DUFFING, {"warm_up": 0.5}, "E423", "whole number"),
        (DUFFING, {"stop": 1.0}, "E421", "no option"),
    ],
)  # fmt: skip
def test_what_has_no_periodic_state_is_told(text, options, code, words):
    with pytest.raises((InputError, SimulationError), match=words) as told:
        found(text.format(x=1, v=0, m=1), **options)
    assert told.value.problems[0].code == code


def test_an_oscillator_without_losses_has_a_family_of_orbits():
    text = "use electrical\nc1 capacitor (a, ground) C = 1 uF, start v = 1 V\nl1 inductor (a, ground) L = 1 mH"
    with pytest.raises(SimulationError, match="not isolated"):
        found(text, period=0.2e-3)


@pytest.mark.parametrize(("quality", "force", "start"), [(1e6, 1.0, 0.0), (1e4, 1e-9, 0.0), (2.0, 1e-9, 1.0), (2.0, 1e-12, 1e6), (2.0, 1e6, 1e-3)])
def test_states_have_the_sizes_that_they_have_on_the_orbit(quality, force, start):
    """Orbits a million times larger than the start, and 1e18 times smaller: |x| = F Q/c at resonance."""
    text = f"""
use translational
m1 mass   (a)         m = 1 kg
s1 spring (a, ground) c = 1 N/m
d1 damper (a, ground) d = {1 / quality!r} N.s/m
f1 force  (a)         F = {force!r} N*sin(time/(1 s))
start a.x = {start!r} m
save a.x
"""
    data = found(text)
    assert data["amplitude(a.x)"].values[1] == pytest.approx(force * quality, rel=1e-11 * max(quality, 100.0))
    assert data.attrs["orbit"].splitlines()[1].startswith("stable")


def test_networks_without_states_repeat_with_their_sources():
    """A rectifier of resistors, whose diode lets g = 1e-4 of the other half wave through: mean A (1 - g)/pi, first harmonic A (1 + g)/2, second
    2 A (1 - g)/(3 pi), and no third one; its resistance takes 1e-6 of all."""
    text = """
use electrical
src voltage     (a, ground) v = 10 V*sin(2*pi*50*time/(1 s))
d1  ideal_diode (a, b)
r1  resistor    (b, ground) R = 10 Ohm
save b.v
"""
    data, g = found(text), 1e-4
    assert data["amplitude(b.v)"].values[:4] == pytest.approx([(1 - g) * 10 / np.pi, (1 + g) * 5.0, (1 - g) * 20 / (3 * np.pi), 0.0], abs=1e-5)
    assert data.attrs["orbit"].startswith("period 20 ms (50 Hz), found in 1 period;")


def test_measures_and_pictures_see_a_period(tmp_path):
    text = "run periodic(rtol = 1e-10)\nmeasure third = harmonic(a.x, 3)\nmeasure share = distortion(a.v)\nplot a.x"
    model = netsim.load(duffing() + text + "\n")
    data = model.run()
    assert data.attrs["measure.third"] == pytest.approx(7.34988e-4, abs=1e-9)
    assert data.attrs["measure.share"] == pytest.approx(data.attrs["distortion.a.v"], rel=1e-9)
    for place in ("x.nc", "x.csv"):
        write(data, tmp_path / place)
        picture = model.plot(result=read(tmp_path / place))
        assert len(picture.figure.axes) == (2 if place == "x.nc" else 1)
    assert read(tmp_path / "x.nc")["amplitude(a.x)"].sizes == {"harmonic": 11}


def test_constants_of_periodic_states():
    assert (continuation.LEVEL, continuation.HALVINGS) == (1e-4, 40)
    assert (shooting.MOST, shooting.HALVINGS, shooting.WORSE, shooting.LONGER) == (25, 5, 2.0, 0.3)
    assert (shooting.NOISE, shooting.ALONE, shooting.SAME, shooting.AGAIN) == (100.0, 1e-8, 1e-5, 1e-4)
    assert (shooting.AT_REST, shooting.LITTLE, shooting.BRIEF, shooting.STEPS) == (1e-7, 1e-3, 0.01, 500)
    assert (shooting.FITS, shooting.PRIMES, shooting.REPEATED) == (10.0, (2, 3, 5), 30)
    assert (states.DEPENDENT, states.ROUNDS, states.HELD) == (1e-8, 5, 1e-13)
    assert (sources.LOOKS, sources.SAME, sources.MOST_RATIO) == (41, 1e-7, 1000)
    assert (branch.ITERATIONS, branch.ASIDE, branch.FAR, branch.LEAST, sweep_periodic.LONGEST) == (8, 1e-5, 2.0, 0.1, 0.3)
    assert (stability.NEUTRAL, stability.MOVED, stability.MULTIPLIED) == (1e-6, 1e-6, 100.0)


@pytest.mark.parametrize(("apart", "free"), [(1e-9, 1), (1e-10, 2)])
def test_equations_that_say_the_same_leave_a_direction_free(apart, free, monkeypatch):
    """Equations x + y = 0 and x + (1 + e) y = 0 of three states have singular values 2 and e/2: above RANK of the largest they hold
    both x and y, below it what is left of the second is rounding, and x = -y stays free beside z."""
    assert states.RANK == 1e-10
    scaled = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + apart, 0.0]])
    stage = states._Lowest(np.arange(2), np.arange(3), scaled, np.ones(3), np.ones(2), np.arange(3))
    monkeypatch.setattr(states, "_lowest_stage", lambda *_: stage)
    three = states.States(np.arange(3), np.ones(3), np.zeros(0, np.int64), None)
    basis = states._lowest(None, None, None, three)
    assert basis.shape == (3, free)
    assert np.abs(scaled @ basis).max() < 2 * apart


@pytest.mark.parametrize("time", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("times, guess", [(1, 6.6), (3, 20.0), (4, 26.5)])
def test_a_multiple_of_a_free_oscillations_own_period_is_told(times, guess, time):
    """x'' = (1 - x^2) x' - x has the period 6.66328686; a search that begins at three of them finds three."""
    text = f"""use translational
    m mass   (a)         m = 1 kg, start x = 2 m
    s spring (a, ground) c = {time**-2!r} N/m
    f force  (a)         F = {1.0 / time!r} N.s/m*(1 - a.x^2/(1 m2))*a.v
    save a.x
    """
    found = netsim.load(text).periodic(period=guess * time).attrs
    assert found["period"] == pytest.approx(times * 6.6632868593 * time, rel=1e-7)
    told = [line for line in found["orbit"].splitlines() if line.startswith("the oscillation repeats itself")]
    assert bool(told) == (times > 1)
    assert not told or told[0].startswith(f"the oscillation repeats itself {times} times in this period: its own is 6.6633")


def test_a_search_that_begins_far_from_the_own_period_says_what_to_change():
    ring = ["use electrical"]
    for k in range(3):
        ring += [f"e{k} voltage (x{k}, ground) v = -1 V*tanh(4*n{k}.v/(1 V))", f"r{k} resistor (x{k}, n{(k + 1) % 3}) R = 1 kOhm"]
        ring += [f"c{k} capacitor (n{(k + 1) % 3}, ground) C = 1 pF, start v = {0.1 * (k - 1)} V"]
    model = netsim.load("\n".join([*ring, "save n0.v"]))
    assert model.periodic(period=4e-9).attrs["period"] == pytest.approx(3.3751e-9, rel=1e-4)
    with pytest.raises(SimulationError, match="a state of rest: no oscillation was found near this start") as failed:
        model.periodic(period=1e-9)
    assert failed.value.problems[0].hint.startswith("give a `period` nearer to its own")


@pytest.mark.parametrize("e", ["", ", e = 1.5", ", d = 2 N.s/m"])
def test_contacts_by_powers_have_derivatives_where_they_do_not_touch(e):
    """0^e has no change with e, which was 0 log 0; a contact by the first power is a rope the other way round."""
    text = """use translational
    m1 mass   (a)         m = 1 kg
    s1 spring (a, ground) c = 1 N/m
    d1 damper (a, ground) d = 0.2 N.s/m
    f1 force  (a)         F = 1 N*cos(1.2*time/(1 s))
    save a.x
    """
    found = netsim.load(text + f"st elasto_gap (a, ground) c = 1 kN/m, l = -0.5 m{e}\n").periodic()
    assert found["a.x"].min() < -0.5 and np.isfinite(found["multipliers.real"]).all()
    if not e:
        rope = netsim.load(text + "st rope (ground, a) c = 1 kN/m, l = 0.5 m\n").periodic()
        for name in ("multipliers.real", "multipliers.imaginary", "amplitude(a.x)"):
            assert found[name].values == pytest.approx(rope[name].values, rel=1e-5, abs=1e-9)
