# ruff: noqa: E501  (netlists in a line read best)
"""Delays against closed forms: delay differential equations, lossless lines and their reflections, dead time with events, starts, and what is refused."""

import itertools
import threading
from math import exp, factorial

import numpy as np
import pytest
from scipy.integrate import quad

import netsim
from conftest import ran, sampled
from netsim.analyses.over_time import start
from netsim.equations.kernels import native
from netsim.text.errors import InputError

LAG = 'use signal\ncomponent lag (out y : signal) "x"\n  param a = -1\n  param b = -2\n  der(y)*1 s = a*y + b*delayed(y, 1 s{before})\nend\nk lag (y) start y = 1\nrun transient(stop = 5 s)\nsave y\n'


def run(text, *save, **options):
    return sampled(netsim.load(text), save, **options)


def fundamental(t, a=-1.0, b=-2.0):
    """X(t) of y' = a y + b y(t - 1), y(0) = 1, y = 0 before: by the method of steps."""
    return sum(b**k * (t - k) ** k / factorial(k) * exp(a * (t - k)) for k in range(int(t) + 1)) if t >= 0 else 0.0


def since_ever(t, a=-1.0, b=-2.0):
    """The same with y = 1 before: X(t) + b times the integral of X over the last unit of time."""
    first = max(0.0, t - 1.0)
    cuts = [first, *range(int(first) + 1, int(np.ceil(t))), t]
    return fundamental(t, a, b) + b * sum(quad(fundamental, low, high, (a, b), epsabs=1e-14)[0] for low, high in itertools.pairwise(cuts))


@pytest.mark.parametrize(
    ("method", "rtol", "error"), [("radau", 1e-10, 1e-10), ("bdf", 1e-9, 2e-8), ("trbdf2", 1e-6, 2e-5), ("rk45", 1e-10, 1e-9), ("rk8", 1e-10, 5e-10)]
)
def test_a_delay_differential_equation(method, rtol, error):
    samples = run(LAG.format(before=""), "y", method=method, rtol=rtol, sample=0.37)
    assert samples.series("y") == pytest.approx([since_ever(t) for t in samples.time], abs=error)


def test_what_was_before_the_start_may_be_given():
    samples = run(LAG.format(before=", 0"), "y", rtol=1e-10, sample=0.37)
    assert samples.series("y") == pytest.approx([fundamental(t) for t in samples.time], abs=1e-9)


def test_from_rest_it_was_zero():
    at_rest = run(LAG.format(before="").replace("stop = 5 s", "stop = 5 s, from = rest"), "y", rtol=1e-10, sample=0.37)
    assert at_rest.series("y") == pytest.approx([fundamental(t) for t in at_rest.time], abs=1e-9)


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("trbdf2", 2), ("generalized_alpha", 2), ("radau", 4), ("rk45", 5)])
def test_orders_of_given_steps(method, order):
    """Steps that do not divide the delay look back between others: the order is that of a method's values within its steps."""
    steps = {1: (1 / 52.17, 1 / 208.17), 5: (1 / 13.17, 1 / 26.17)}.get(order, (1 / 26.17, 1 / 52.17))
    errors = [abs(run(LAG.format(before=""), "y", method=method, step=h).series("y")[-1] - since_ever(5.0)) for h in steps]
    assert np.log(errors[0] / errors[1]) / np.log(steps[0] / steps[1]) == pytest.approx(order, abs=0.15)


def test_breaks_are_stepped_on():
    """y' = -y(t - 1) is a polynomial between the instants 1, 2, 3 ..., and Radau's method gives polynomials exactly if its steps end there."""
    text = LAG.format(before="").replace("a = -1", "a = 0").replace("b = -2", "b = -1").replace("5 s", "4 s")
    samples = run(text, "y", rtol=1e-9)
    assert samples.attributes["time_events"] >= 3
    assert samples.series("y")[-1] == pytest.approx(1 - 4 + 9 / 2 - 8 / 6 + 1 / 24, abs=1e-12)


# ----------------------------------------------------------------------------------------------------------- lines

LINE = """use electrical
v1 voltage (s, ground) v = 1 V * step(time, at = 1 ns)
rs resistor (s, a) R = {source} Ohm
t lossless_line (a, ground, b, ground) Z = 50 Ohm, T = 10 ns
rl resistor (b, ground) R = {load} Ohm
run transient(stop = 100 ns, sample = 0.73 ns)
"""


def bounces(time, source, load, z=50.0, delay=10e-9, at=1e-9):
    """Potentials at both ends by the bounce diagram."""
    near, far, wave, back, forth = np.zeros_like(time), np.zeros_like(time), z / (z + source), (load - z) / (load + z), (source - z) / (source + z)
    near += wave * (time >= at)
    for k in range(20):
        far += wave * (1 + back) * (time >= at + (2 * k + 1) * delay)
        wave *= back
        near += wave * (1 + forth) * (time >= at + (2 * k + 2) * delay)
        wave *= forth
    return near, far


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "euler"])
@pytest.mark.parametrize(("source", "load"), [(20, 200), (50, 50), (10, 1e9), (5, 1e-6)], ids=["both ends", "matched", "open", "short"])
def test_reflections(method, source, load):
    samples = run(LINE.format(source=source, load=load), "a.v", "b.v", method=method)
    near, far = bounces(samples.time, source, load)
    assert samples.series("a.v") == pytest.approx(near, abs=1e-11) and samples.series("b.v") == pytest.approx(far, abs=1e-11)


def test_jumps_arrive_when_they_should():
    """Samples on both sides of an arrival: the second reflection, after three passages."""
    samples = run(LINE.format(source=20, load=200).replace(", sample = 0.73 ns", ""), "b.v", every=1)
    behind = samples.time[1:][np.abs(np.diff(samples.series("b.v"))) > 1e-3]
    assert behind == pytest.approx(1e-9 + np.array([1, 3, 5, 7, 9]) * 10e-9, rel=1e-13)


@pytest.mark.parametrize(("method", "error"), [("radau", 1e-5), ("bdf", 2e-5), ("trbdf2", 1e-4)])
def test_a_line_into_a_capacitor(method, error):
    text = LINE.format(source=50, load=1e12) + "c capacitor (b, ground) C = 20 pF\n"
    samples = run(text, "b.v", "a.v", method=method)
    since = np.maximum(samples.time - 11e-9, 0.0)
    assert samples.series("b.v") == pytest.approx(1 - np.exp(-since / 1e-9), abs=error)
    again = samples.time - 21e-9
    assert samples.series("a.v") == pytest.approx(
        0.5 * (samples.time >= 1e-9) + np.where(again >= 0, 0.5 - np.exp(-np.maximum(again, 0) / 1e-9), 0.0), abs=error
    )


def test_the_operating_point_of_a_line_is_a_wire():
    text = LINE.format(source=20, load=80).replace("1 V * step(time, at = 1 ns)", "5 V") + "c capacitor (b, ground) C = 20 pF\n"
    samples = run(text, "a.v", "b.v", "t.i1", "rl.i")
    for name, value in (("a.v", 4.0), ("b.v", 4.0), ("t.i1", 0.05), ("rl.i", 0.05)):
        assert samples.series(name) == pytest.approx(np.full(len(samples.time), value), rel=1e-12)
    (static,) = netsim.load(text.replace("transient(stop = 100 ns, sample = 0.73 ns)", "static()")).samples({})
    assert static.series("b.v")[0] == pytest.approx(4.0) and static.series("rs.loss")[0] == pytest.approx(0.05)


def test_from_rest_nothing_is_on_its_way():
    text = LINE.format(source=50, load=1e9).replace("1 V * step(time, at = 1 ns)", "5 V").replace("stop", "from = rest, stop")
    samples = run(text, "a.v", "b.v")
    assert samples.series("a.v") == pytest.approx(np.where(samples.time < 20e-9, 2.5, 5.0), abs=1e-6)
    assert samples.series("b.v") == pytest.approx(np.where(samples.time < 10e-9, 0.0, 5.0), abs=1e-6)


def test_a_current_read_elsewhere_is_the_line_s_own():
    """Its text stands in the expression that reads it: at the operating point and on the way."""
    text = LINE.format(source=20, load=200) + "v2 voltage (c, ground) v = 1 Ohm*t.i1 + 2 V\nr2 resistor (c, ground) R = 1 Ohm\n"
    samples = run(text, "c.v", "t.i1")
    assert samples.series("c.v") == pytest.approx(2.0 + samples.series("t.i1"), abs=1e-12) and np.ptp(samples.series("c.v")) > 0.01


# ------------------------------------------------------------------------------------------------- dead time

RELAY = """use signal
component cycle (out y : signal) "y' = 1 while on; on below -h, off above h, both seen a time T late"
  param h = 0.2
  param T : s = 0.3 s
  discrete on : 1 = 1  "rises"
  let late = delayed(y, T)
  when late > h : on = 0
  when late < -h : on = 1
  der(y)*1 s = if on > 0.5 then 1 else -1
end
k cycle (y)
run transient(stop = 20 s)
save y, k.on
"""


@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
def test_a_relay_with_dead_time_cycles(method):
    """A triangle of height h + T and period 4 (h + T); time events that a state makes come back one delay later."""
    samples = run(RELAY, "y", method=method)
    instants = np.array([float(line.split("\t")[0]) for line in samples.attributes["event_log"].splitlines()])
    assert instants == pytest.approx(0.5 + np.arange(len(instants)), abs=1e-9) and len(instants) == 20
    assert np.max(samples.series("y")) == pytest.approx(0.5, abs=1e-9) and np.min(samples.series("y")) == pytest.approx(-0.5, abs=1e-9)


def test_a_jump_of_a_discrete_comes_out_later():
    text = """use signal
component jumps (out y : signal) "x"
  discrete n : 1 = 0  "x"
  when sample(0.5 s, 1 s) : n = pre(n) + 1
  y = n
end
component counts (in u : signal) "x"
  discrete m : 1 = 0  "x"
  when u > 1.5 : m = pre(m) + 1
end
j jumps (u)
d delay (u, y) T = 0.37 s
c counts (y)
run transient(stop = 4 s)
"""
    samples = run(text, "y", "c.m", sample=0.1)
    assert samples.series("y") == pytest.approx(np.clip(np.floor(samples.time - 0.37 + 0.5), 0, None))
    (event,) = [line.split("\t") for line in samples.attributes["event_log"].splitlines() if "\tc\t" in line]
    assert float(event[0]) == pytest.approx(1.87, rel=1e-13)


def test_what_masses_follow_is_differentiated():
    """A displacement that a delayed signal gives: its force needs the second derivative of what is remembered."""
    text = """use signal
use translational
s signal_source (u) value = sin(2*time/(1 s))
d delay (u, y) T = 0.4 s
x displacement (a, ground) s = y*1 m
m mass (a) m = 3 kg
run transient(stop = 3 s, rtol = 1e-9, sample = 0.05 s)
"""
    samples = run(text, "a.x", "x.f")
    since = np.where(samples.time < 0.4, 0.0, samples.time - 0.4)
    assert samples.series("a.x") == pytest.approx(np.sin(2 * since), abs=1e-8)
    away = np.abs(samples.time - 0.4) > 0.02
    assert np.abs(samples.series("x.f"))[away] == pytest.approx(np.abs(12 * np.sin(2 * since))[away], abs=2e-3)


def test_in_joint_coordinates():
    text = """use spatial
use signal
use couplings
d cylinder_body (b) rho = 7800 kg/m3, r = 60 mm, l = 10 mm, at = [0.2, 0, 0] m, axis = [0, 1, 0]
h revolute (ground, b) at = [0, 0, 0] m, axis = [0, 1, 0]
q signal_source (u) value = h.q/(1 rad)
e delay (u, y) T = 50 ms
m world_moment (b) M = [0, 2 N.m*y, 0]
run transient(stop = 1 s, rtol = 1e-8, sample = 0.1 s)
"""
    absolute, tree = (run(text, "h.q", formulation=f).series("h.q") for f in ("absolute", "tree"))
    assert tree == pytest.approx(absolute, abs=1e-6) and np.ptp(tree) > 0.1


def test_a_smith_predictor_shifts_the_loop_it_was_tuned_for():
    """And plain PI, which cancels the lag, leaves e' = -2 e(t - 1.5) of the error: the method of steps from t = 1 on."""
    samples = ran("dead_time_control", ("y1", "y2"), rtol=1e-9, sample=0.31)
    since = samples.time - 2.5
    assert samples.series("y2") == pytest.approx(np.where(since > 0, 1 - np.exp(-np.maximum(since, 0) / 0.5), 0.0), abs=1e-7)
    error = [1 - sum((-2) ** k * (t - 1.5 * k) ** k / factorial(k) for k in range(int(t / 1.5) + 1)) if t > 0 else 0.0 for t in samples.time - 1.0]
    assert samples.series("y1") == pytest.approx(error, rel=1e-7, abs=1e-6)


# --------------------------------------------------------------------------------------------------- the run


def test_another_delay_compiles_nothing(monkeypatch):
    model = netsim.load(LINE.format(source=20, load=200))
    model.samples({})
    counted = []
    original = native.compile
    monkeypatch.setattr(native, "compile", lambda programs: counted.extend(programs) or original(programs))
    (samples,) = model.with_overrides({"t.T": "7 ns"}).samples({})
    assert counted == []
    assert samples.series("b.v") == pytest.approx(bounces(samples.time, 20, 200, delay=7e-9)[1], abs=1e-11)


def test_runs_of_one_model_do_not_disturb_one_another():
    model = netsim.load(LAG.format(before=""))
    results = [None] * 4

    def one(i):
        (samples,) = model.samples({"stop": 5.0 + i % 2})
        results[i] = samples.values

    one(0), one(1)
    expected = results[:2]
    threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert np.array_equal(results[i], expected[i % 2])


def test_memory_reaches_back_as_far_as_the_delay(monkeypatch):
    held = []
    original = start.begin_adaptive
    monkeypatch.setattr(start, "begin_adaptive", lambda *a: held.append(original(*a)) or held[-1])
    run(LAG.format(before="").replace("1 s{", "1 s{"), "y", stop=400.0, step=0.01, method="radau")
    past = held[0].machine.problem.buffer
    assert held[0].steps >= 40_000 and len(past.spans) <= 512
    count = int(past.numbers[0])
    assert past.spans[count - 1, 1] == pytest.approx(400.0) and past.spans[0, 0] <= 399.0


def test_many_steps_within_a_delay_find_room():
    samples = run(LAG.format(before="").replace("a = -1", "a = -1000").replace("b = -2", "b = -1000"), "y", stop=1.0, step=1e-3, method="radau")
    assert samples.series("y")[-1] == pytest.approx(1 - 2 * (1 - exp(-1000)), abs=1e-6)


# ---------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("run modal()", "E428", "infinitely many modes"),
        ("run transient(stop = 5 s, step = 1 s, method = euler)", "E427", "too long for 'k'"),
        ("run recursion(stop = 1 s)", "E428", "does not support delays"),
    ],
)
def test_what_knows_no_delays_says_so(line, code, words):
    text = LAG.format(before="").replace("run transient(stop = 5 s)", line)
    with pytest.raises(InputError) as caught:
        netsim.load(text).samples({})
    (problem,) = caught.value.problems
    assert problem.code == code and words in problem.message and problem.span.line == 7


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ("0 s", "E234 'd.T' is 0"),
        ("1e-300 s", "E254 the delay of 'd' must be at least 1e-60 s"),
        ("1e-40 s", "E260 .*1e.40 steps"),
    ],
)
def test_delays_that_no_run_passes_are_refused(length, words):
    text = f"use signal\ns signal_source (u) value = sin(2*time/(1 s))\nd delay (u, y) T = {length}\nrun transient(stop = 1 s)\n"
    with pytest.raises(InputError, match=words):
        netsim.load(text).samples()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "generalized_alpha"])
@pytest.mark.parametrize("T", [1e-9, 1.0, 1e6])
def test_an_integrator_that_feeds_back_its_own_past_follows_the_method_of_steps(method, rtol, T):
    """T y' = -y(t - T), y = 1 before: y = sum of (k - 1 - t/T)^k/k! over k up to t/T + 1. It bends in a step as long as the delay, and
    a method whose values lay on a line there was off by 0.12, and handed that on to the delay."""
    text = f"use signal\ni integrator (u, y) k = {1 / T}\nd delay (y, z) T = {T} s\ng gain (z, u) k = -1\nstart y = 1\nrun transient(stop = {6 * T} s)\nsave y\n"
    samples = sampled(netsim.load(text), method=method, rtol=rtol, stop=6 * T, sample=T / 50)
    t = samples.time / T
    wanted = sum(np.where(t >= k - 1, (np.maximum(t - k + 1, 0)) ** k * (-1.0) ** k / factorial(k), 0) for k in range(8))
    assert np.abs(samples.series("y") - wanted).max() < 20 * rtol


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "generalized_alpha", "rk45"])
@pytest.mark.parametrize("T", [1e-9, 1.0, 1e6])
def test_a_function_of_time_comes_out_as_it_went_in(method, T):
    """The delayed sine begins with a kink, where steps begin anew: what is remembered behind it is no straight line."""
    text = f"use signal\ns signal_source (u) value = sin(2*pi*time/({T} s))\nd delay (u, y) T = 0.37*{T} s\nsave y\n"
    for rtol in (1e-4, 1e-6, 1e-8):
        found = netsim.load(text).transient(stop=5.3 * T, rtol=rtol, method=method)
        t = found.time.values / T
        assert found["y"].values == pytest.approx(np.where(t < 0.37, 0.0, np.sin(2 * np.pi * (t - 0.37))), abs=20 * rtol)
