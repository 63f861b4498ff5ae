# ruff: noqa: E501  (netlists in a line read best)
"""Events against closed forms: impacts, stick and slip, ideal diodes, relays, samplers, clutches, and what is refused."""

import math

import numpy as np
import pytest

import netsim
from conftest import loaded, sampled
from netsim.core.loop.instants import just_after
from netsim.library.files import models_folder
from netsim.text.errors import InputError, SimulationError

METHODS = ["radau", "bdf", "trbdf2", "generalized_alpha", "rk45"]


def run(text, save, **options):
    return sampled(netsim.load(text), save, **options)


def log(samples):
    return [line.split("\t") for line in samples.attributes["event_log"].splitlines()]


def instants(samples, element):
    """Of events that change more than whether friction has moved since it broke loose."""
    return np.array([float(t) for t, name, _, action in log(samples) if name == element and not action.startswith("moved")])


def bounces(count, e=0.7, h=1.0, a=9.81):
    """Instants of the bounces of a ball from height h."""
    fall, v = math.sqrt(2 * h / a), math.sqrt(2 * h * a)
    return fall + np.concatenate([[0.0], np.cumsum(2 * v * e ** np.arange(1, count) / a)])


@pytest.mark.parametrize("method", METHODS)
def test_twenty_bounces_of_a_ball(method):
    samples = sampled(loaded("bouncing_ball"), ("p.x", "p.v", "b.bounces"), method=method, stop=2.557, rtol=1e-9)
    found = instants(samples, "b")
    assert len(found) >= 20
    assert found[:20] == pytest.approx(bounces(20), rel={"radau": 1e-9, "rk45": 1e-8, "bdf": 5e-7, "trbdf2": 1e-5, "generalized_alpha": 1e-5}[method])
    assert np.all(np.diff(samples.time) > 0)


def test_a_ball_under_a_given_step():
    """Implicit Euler with a step: the fall takes the time that its steps give, and the impact cuts the step in which it happens."""
    samples = sampled(loaded("bouncing_ball"), ("p.x", "p.v"), step=1e-3, method="euler", stop=1.0)
    assert instants(samples, "b")[0] == pytest.approx(bounces(1)[0], rel=2e-3)
    assert samples.series("p.x").min() > -1e-9


def test_energy_of_impacts_is_dissipated():
    samples = sampled(loaded("bouncing_ball"), ("p.x",), stop=2.0)
    stored, _, dissipated = samples.energy.T
    assert stored + dissipated == pytest.approx(np.full(len(stored), stored[0]), rel=1e-6)


def test_bounces_without_end_are_refused():
    samples = loaded("bouncing_ball").samples({"stop": 4.0})[0]
    assert not samples.finished
    assert "'b' switches without end at t = 2.55" in samples.message
    assert "x < 0" in samples.message


COLLISION = """
use translational
component contact (p, n : translational) "two bodies that meet: p below n"
  param  e = 0.5 "restitution"
  branch n -> p : x, v, f
  when x < 0 : reinit v = -e*pre(v)
  f = 0
end
m1 mass (a) m = 3 kg, start x = 0 m, start v = 2 m/s
m2 mass (b) m = 1 kg, start x = 1 m, start v = -1 m/s
k contact (a, b) e = 0.5
run transient(stop = 1 s)
"""


def test_collision_conserves_momentum():
    samples = run(COLLISION, ("a.v", "b.v"))
    va, vb = samples.series("a.v"), samples.series("b.v")
    assert 3 * va + vb == pytest.approx(np.full(len(va), 5.0), abs=1e-9)
    assert instants(samples, "k") == pytest.approx([1 / 3], abs=1e-12)
    assert vb[-1] - va[-1] == pytest.approx(1.5, abs=1e-9)


def test_joined_masses_share_an_impulse():
    text = COLLISION.replace(
        "m2 mass (b) m = 1 kg, start x = 1 m, start v = -1 m/s",
        "m2 mass (b) m = 0.4 kg, start x = 1 m, start v = -1 m/s\nm3 mass (c) m = 0.6 kg\nw weld (c, b) l = 1 m",
    )
    samples = run(text, ("a.v", "b.v", "c.v"))
    assert samples.series("a.v")[-1] == pytest.approx((5 - 1.5) / 4, abs=1e-9)
    assert samples.series("c.v")[-1] == pytest.approx(samples.series("b.v")[-1], abs=1e-9)


STICK_SLIP = """
use translational
m1 mass (a) m = 1 kg
r1 coulomb_friction (a, ground) F = 1 N, peak = 1.5
s1 spring (b, a) c = 10 N/m
x1 velocity (b, ground) v = 0.1 m/s
run transient(stop = 20 s)
"""


@pytest.mark.parametrize("method", METHODS)
def test_stick_slip_has_its_exact_period(method):
    """m x'' = c (V t - x) - F from x' = 0 with the spring at peak F: slip and stick times in closed form."""
    m, c, v, force, peak = 1.0, 10.0, 0.1, 1.0, 1.5
    w = math.sqrt(c / m)
    # stretch z = V t - x: z'' = -w^2 (z - F/c), z(0) = peak F/c, z'(0) = V; it sticks again where z' = V, at w t = pi + 2 lag
    slip = (math.pi + 2 * math.atan2(v / w, (peak - 1) * force / c)) / w
    stuck_at = (2 - peak) * force / c
    stick = (peak * force / c - stuck_at) / v
    samples = run(STICK_SLIP, ("a.x", "r1.mode"), method=method, rtol=1e-8)
    starts = np.array([float(t) for t, name, _, what in log(samples) if name == "r1" and "mode = 1" in what])
    assert starts[0] == pytest.approx(peak * force / c / v, rel=1e-8)
    assert np.diff(starts) == pytest.approx(np.full(len(starts) - 1, slip + stick), rel=1e-6)
    assert len(starts) >= 4


BRIDGE = """
use electrical
v1 voltage (a, b) v = sine(time, 10 V, 50 Hz)
d1 ideal_diode (a, p) Ron = 1 mOhm, Goff = 1e-9 S
d2 ideal_diode (b, p) Ron = 1 mOhm, Goff = 1e-9 S
d3 ideal_diode (ground, a) Ron = 1 mOhm, Goff = 1e-9 S
d4 ideal_diode (ground, b) Ron = 1 mOhm, Goff = 1e-9 S
load resistor (p, ground) R = 10 Ohm
run transient(stop = 60 ms)
"""


def test_diode_bridge_rectifies():
    samples = run(BRIDGE, ("p.v", "d1.i", "d2.i"))
    wanted = 10 * np.abs(np.sin(2 * np.pi * 50 * samples.time)) * 10 / 10.002
    assert samples.series("p.v") == pytest.approx(wanted, abs=1e-4)
    at = np.unique(np.round(instants(samples, "d1") / 10e-3))
    assert len(at) >= 5
    assert instants(samples, "d1") == pytest.approx(np.round(instants(samples, "d1") / 10e-3) * 10e-3, abs=1e-6)


def test_buck_converter_against_matrix_exponentials():
    """Two linear circuits in turn, the coil's current never ending in the first 18 periods."""
    from scipy.linalg import expm

    on, off = (
        np.array([[-1 / (g * 47e-6), -1 / 47e-6, drive / (g * 47e-6)], [1e4, -4e3, 0], [0, 0, 0]])
        for g, drive in ((100 + 1e-6, 1200), (100 + 1e-6, 12e-6))
    )
    state, wanted = np.array([0.0, 0.0, 1.0]), [0.0]
    for _ in range(18):
        state = expm(off * 5.8e-6) @ expm(on * 4.2e-6) @ state
        assert state[0] > 0
        wanted.append(state[1])
    samples = sampled(loaded("buck_converter"), ("out.v",), stop=1.8e-4, sample=1e-5, rtol=1e-8)
    assert samples.series("out.v") == pytest.approx(wanted, abs=1e-8)


RELAY = """
use signal
component plant (in u, out y : signal)
  der(y)*1 s = 1 - 2*u
end
h hysteresis (y, u) low = -0.5, high = 0.5
p plant (u, y)
run transient(stop = 6 s)
"""


@pytest.mark.parametrize("method", METHODS)
def test_relay_with_hysteresis(method):
    samples = run(RELAY, ("y", "u"), method=method)
    assert instants(samples, "h") == pytest.approx(0.5 + np.arange(6), abs=1e-9)
    assert samples.series("y") == pytest.approx(np.abs((samples.time + 1.5 - 1) % 2 - 1) * -1 + 0.5, abs=1e-6)


CONTROL = """
use signal
component plant (in u, out y : signal)
  der(y)*1 s = u - y
end
component controller (in y, out u : signal) "u = 2 (1 - y) + integral, sampled"
  discrete s : 1 = 0
  discrete held : 1 = 0
  when sample(0 s, 0.1 s) : s = pre(s) + 0.5*(1 - y); held = 2*(1 - y) + s
  u = held
end
p plant (u, y)
c controller (y, u)
run transient(stop = 2 s)
"""


@pytest.mark.parametrize("method", METHODS)
def test_sampled_controller_against_its_discrete_solution(method):
    samples = run(CONTROL, ("y", "u"), method=method, rtol=1e-9, sample=0.1)
    y, s, decay, wanted = 0.0, 0.0, math.exp(-0.1), []
    for _ in range(20):
        s += 0.5 * (1 - y)
        u = 2 * (1 - y) + s
        y = u + (y - u) * decay
        wanted.append(y)
    assert samples.series("y")[1:] == pytest.approx(wanted, rel=1e-7)


def test_a_sampler_behind_a_sampler_takes_the_new_value():
    text = "use signal\ns signal_source (u) value = time/(1 s)\na sampler (u, v) period = 0.25 s\nb sampler (v, w) period = 0.25 s\nrun transient(stop = 1.1 s)\n"
    samples = run(text, ("v", "w"))
    assert samples.series("w") == pytest.approx(samples.series("v"), abs=1e-12)


CLUTCHES = """
use rotational
j1 inertia (a) J = 1 kg.m2
j2 inertia (b) J = 1 kg.m2
j3 inertia (c) J = 1 kg.m2
t1 torque (a) T = 3 N.m
c1 clutch (a, b) N = if time < 1 s then 20 N else -1 N
c2 clutch (b, c) N = if time < 1 s then 20 N else -1 N
run transient(stop = 2 s)
"""


def test_two_stuck_clutches_are_released_together():
    samples = run(CLUTCHES, ("a.w", "b.w", "c.w"))
    assert samples.series("a.w")[-1] == pytest.approx(1 + 3, rel=1e-6)
    assert samples.series("b.w")[-1] == pytest.approx(1, rel=1e-6)
    assert samples.series("c.w")[-1] == pytest.approx(1, rel=1e-6)
    assert {t for t, _, _, action in log(samples) if float(t) > 0.5 and "mode" in action} == {"1.0"}


def test_thresholds_that_coincide_are_refused():
    """A relay without hysteresis slides: it switches without end, and says so."""
    text = RELAY.replace("h hysteresis (y, u) low = -0.5, high = 0.5", "level constant (z) value = 0.5\nh above (y, z, u)")
    samples = netsim.load(text).samples()[0]
    assert not samples.finished
    assert "'h' switches without end" in samples.message


SLIDING = """
use signal
component plant (in u, out y : signal)
  param rate = 0.5
  der(y)*1 s = rate*time/(1 s) - 2*u
end
r sliding_relay (y, u)
p plant (u, y) start y = 1
run transient(stop = 5 s)
"""


@pytest.mark.parametrize("method", METHODS)
def test_relay_slides_while_both_sides_drive_it_back(method):
    """y' = t/2 - 2 u from 1: down to 0 at t^2/4 - 2 t + 1 = 0, slides there with u = t/4 until u = 1 at 4 s, then up by (t - 4)^2/4."""
    samples = run(SLIDING, ("y", "u", "r.mode"), method=method, rtol=1e-8)
    t, down = samples.time, 4 - math.sqrt(12)
    assert instants(samples, "r") == pytest.approx([down, 4.0], rel=1e-7)
    wanted = np.where(t < down, 1 - 2 * t + t**2 / 4, np.where(t < 4, 0.0, (t - 4) ** 2 / 4))
    assert samples.series("y") == pytest.approx(wanted, abs=1e-6)
    slides = (t > down * 1.001) & (t < 3.999)
    assert samples.series("u")[slides] == pytest.approx(t[slides] / 4, abs=1e-6)


def test_two_relays_slide_at_once():
    """x' = -sign x - sign(y)/2, y' = -sign y: y slides first, then both; the origin is reached and kept."""
    text = (
        "use signal\ncomponent plant (in u, in w, out y : signal)\n  der(y)*1 s = -u - w/2\nend\n"
        "r sliding_relay (x, u)\nq sliding_relay (y, w)\nc constant (z) value = 0\n"
        "p plant (u, w, x) start y = 1\no plant (w, z, y) start y = 0.5\nrun transient(stop = 3 s)\n"
    )
    samples = run(text, ("x", "y", "u", "w"), rtol=1e-8)
    assert instants(samples, "q") == pytest.approx([0.5], rel=1e-8)
    assert instants(samples, "r") == pytest.approx([0.75], rel=1e-8)
    assert samples.values[-1] == pytest.approx([0, 0, 0, 0], abs=1e-8)


def test_start_of_a_discrete():
    text = RELAY.replace("low = -0.5, high = 0.5", "low = -0.5, high = 0.5, start on = 1")
    samples = run(text, ("y", "u"))
    assert samples.series("u")[0] == 1.0
    assert instants(samples, "h")[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    "lines, code",
    [
        (["discrete n : 1", "n = n + 1"], "E215"),
        (["discrete n : 1"], "E217"),
        (["discrete n : 1", "n = x > 0", "when x > 0 : n = 2"], "E217"),
        (["when x > 0 : v = 2"], "E217"),
        (["discrete n : 1", "n = x == 0"], "E216"),
        (["discrete n : 1", "when x > 0 : reinit n = 2"], "E217"),
    ],
)
def test_wrong_texts(lines, code):
    body = "\n".join(f"  {line}" for line in lines)
    text = f"use translational\ncomponent wrong (p : translational)\n  branch p -> ground : x, v, f\n{body}\n  f = 0\nend\nm mass (a) m = 1 kg\nw wrong (a)\nrun transient(stop = 1 s)\n"
    with pytest.raises(InputError) as caught:
        netsim.load(text).samples()
    assert code in {problem.code for problem in caught.value.problems}


GEARED = """
use rotational
j1 inertia (a) J = 1 kg.m2
j2 inertia (b) J = 1.5 kg.m2, start w = 0 rad/s
t1 torque (a) T = sine(time, 10 N.m, 1 Hz)
t2 torque (b) T = -10 N.m + 2.5 N.m/s*time
run transient(stop = 0.3 s, sample = 5 ms)
"""


def test_losses_of_a_gear_are_those_of_a_bearing_before_it():
    """A table of bearing friction in the gear, and the same friction in front of a gear without: both block and break loose at the same instants."""
    inside = run(GEARED + "g lossy_gear (a, b) ratio = 2, eta1 = 0.5, T1s = [0.5, 1] N.m, T2s = [0.5, 1] N.m\n", ("b.phi", "b.w"), rtol=1e-8)
    before = run(
        GEARED + "g lossy_gear (a, b) ratio = 2, eta1 = 0.5\nf dry_bearing (a, ground) T = 0 N.m, torques = [0.5, 1] N.m\n",
        ("b.phi", "b.w"),
        rtol=1e-8,
    )
    assert before.values == pytest.approx(inside.values, abs=1e-8)
    assert instants(before, "g") == pytest.approx(instants(inside, "g"), rel=1e-7)
    assert len(instants(inside, "g")) >= 2


def test_a_bearing_and_a_gear_that_block_together():
    """Both come to rest at one instant. The one that holds, and then the other, carries the torque: they break loose when one gear with the friction of both does."""
    text = GEARED.replace("stop = 0.3 s", "stop = 0.9 s")
    inside = run(text + "g lossy_gear (a, b) ratio = 2, eta1 = 0.5, T1s = [0.5, 1] N.m, T2s = [0.5, 1] N.m\n", ("a.phi", "a.w"), rtol=1e-8)
    apart = run(
        text + "g lossy_gear (a, b) ratio = 2, eta1 = 0.5\nf dry_bearing (a, ground) T = 0 N.m, torques = [0.5, 1] N.m\n", ("a.phi", "a.w"), rtol=1e-8
    )
    assert apart.values == pytest.approx(inside.values, abs=3e-6)
    assert max(*instants(apart, "f"), *instants(apart, "g")) == pytest.approx(next(t for t in instants(inside, "g") if t > 0.4), rel=1e-6)


HELD = """
use rotational
j inertia (a) J = 1 kg.m2
f dry_bearing (a, ground) T = 1 N.m
b clutch (a, ground) N = 5 N, mu = 1
"""


def test_two_brakes_share_the_load_with_least_norm():
    """Half of the load each, until the bearing gives all it has; together they hold the sum of what they have."""
    samples = run(HELD + "l torque (a) T = 1 N.m/s*time\nrun transient(stop = 10 s)\n", ("a.phi", "f.t", "b.t"), rtol=1e-8)
    t, f, b = samples.time, samples.series("f.t"), samples.series("b.t")
    assert [instants(samples, "f")[0], instants(samples, "b")[0]] == pytest.approx([2, 6], rel=1e-9)
    assert f == pytest.approx(np.where(t < 2, t / 2, 1), abs=1e-9) and b == pytest.approx(np.where(t < 2, t / 2, np.minimum(t - 1, 5)), abs=1e-9)
    assert samples.series("a.phi") == pytest.approx(np.maximum(t - 6, 0) ** 3 / 6, abs=1e-7)


def test_a_clutch_that_opens_leaves_the_load_to_the_other():
    """Shares belong to the elements that hold at the time: once the clutch opens the bearing has all of it."""
    closing = HELD.replace("N = 5 N", "N = if time < 1 s or time > 3 s then 5 N else -1 N")
    samples = run(closing + "l torque (a) T = 0.8 N.m\nrun transient(stop = 4 s, sample = 0.25 s)\n", ("a.w", "f.t", "b.t"))
    open_ = (samples.time > 1) & (samples.time < 3)
    away = np.minimum(np.abs(samples.time - 1), np.abs(samples.time - 3)) > 1e-3
    assert samples.series("f.t")[away] == pytest.approx(np.where(open_, 0.8, 0.4)[away], abs=1e-9)
    assert samples.series("a.w") == pytest.approx(0, abs=1e-12)


def test_friction_beside_a_prescribed_speed():
    """The speed alone moves: friction holds nothing at rest and opposes every motion, whichever way it begins."""
    text = "use rotational\nj inertia (a) J = 2 kg.m2\nf dry_bearing (a, ground) T = 3 N.m\ns speed (a, ground) w = 0.5 rad/s*sin(2*time/(1 s))\n"
    samples = run(text + "run transient(stop = 5 s)\n", ("a.w", "s.t", "f.t"))
    t, away = samples.time, np.abs(np.sin(2 * samples.time)) > 1e-4
    assert samples.series("f.t")[away] == pytest.approx(3 * np.sign(np.sin(2 * t))[away], abs=1e-9)
    assert samples.series("s.t")[away] == pytest.approx((-3 * np.sign(np.sin(2 * t)) - 2 * np.cos(2 * t))[away], abs=1e-5)


def test_triac_fired_late_in_every_half_wave():
    text = (
        "use electrical\nuse signal\ns voltage (a, ground) v = sine(time, 100 V, 50 Hz)\ng boolean_pulse (fire) first = 3 ms, period = 10 ms, share = 0.05\n"
        "k ideal_triac (a, b, fire) Ron = 1 mOhm, Goff = 1e-9 S\nr resistor (b, ground) R = 10 Ohm\nrun transient(stop = 40 ms)\n"
    )
    samples = run(text, ("b.v",))
    t, phase = samples.time, samples.time % 10e-3
    inside = np.minimum(np.abs(phase - 3e-3), np.minimum(phase, 10e-3 - phase)) > 1e-6
    wanted = np.where(phase > 3e-3, 100 * np.sin(100 * np.pi * t), 0.0)
    assert samples.series("b.v")[inside] == pytest.approx(wanted[inside], abs=0.02)


CHASE = """use signal
component chase (out y : signal) "y and a threshold that moves"
  discrete on : 1 = 0
  on = y > {threshold}
  der(y)*1 s = {rate}
end
o chase (y) start y = {y}
run transient(stop = {stop} s)
save y, o.on
"""


def test_a_value_that_is_hardly_faster_than_its_threshold_passes_it():
    """Time runs on by rounding behind an instant, and the threshold with it, while the state stays."""
    (samples,) = netsim.load(CHASE.format(threshold="time/(1 s)", rate=1.02, y=-0.01, stop=1)).samples()
    (event,) = samples.attributes["event_log"].splitlines()
    assert float(event.split("\t")[0]) == pytest.approx(0.5, abs=1e-9)
    rate = "1.001*2*pi*2000*cos(2*pi*2 kHz*time)"
    (samples,) = netsim.load(CHASE.format(threshold="sin(2*pi*2 kHz*time)", rate=rate, y=-0.0005, stop=0.06)).samples()
    assert samples.finished and len(samples.attributes["event_log"].splitlines()) == 240


def test_conditions_that_do_not_agree_are_named(monkeypatch):
    odd = CHASE.replace("der(y)*1 s", "y").format(threshold="0.5", rate="if on then 0 else 1", y=0, stop=1).replace(" start y = 0", "")
    with pytest.raises(netsim.NetsimError) as caught:
        netsim.load(odd).samples()
    assert "E509 at the start" in str(caught.value) and "'o' (y > 0.5)" in str(caught.value) and ":4:8:" in str(caught.value)
    monkeypatch.setattr(netsim.simulate.events.passing, "IDLE", -1)
    with pytest.raises(netsim.NetsimError) as caught:
        netsim.load(CHASE.format(threshold="0.5", rate=1, y=0, stop=1)).samples()
    assert "within rounding errors: 'o' (y > 0.5)" in str(caught.value) and ":4:8:" in str(caught.value)


@pytest.mark.parametrize("t", [0.0, 5e-324, 1e-300, 1.0, 1.0 + 2**-52, 2.0 - 2**-52, 2.0, 3.0, 1e9, 7321.5, np.nextafter(8.0, 0.0)])
def test_a_sample_behind_an_event_is_one_digit_later(t):
    assert just_after.py_func(t) == np.nextafter(t, np.inf)


REMEMBERED = """
use signal
component hold (in u, out y : signal) "integral of u over the last second"
  var z : s
  discrete held : 1 = 0
  discrete after : 1 = 5
  der(z) = u
  when sample(1 s, 1 s) : held = pre(z)/(1 s) + {more}; after = z/(1 s); reinit z = 0 s
  y = held
end
s1 signal_source (u) value = 2*time/(1 s)
a sampler (u, b) period = 1 s
h1 hold (u, y)
h2 hold (y, x)
run transient(stop = 4.5 s)
"""


@pytest.mark.parametrize("method", METHODS)
def test_an_action_reads_a_state_as_it_was_before_it_is_set_anew(method):
    """The integrals of 2 t over whole seconds are 1, 3, 5, 7; what samples them a second later sees the ones before."""
    samples = run(REMEMBERED.format(more="0*u"), ("y", "x", "h1.after"), method=method)
    at = [np.searchsorted(samples.time, t + 0.1) for t in (1, 2, 3, 4)]
    assert samples.series("y")[at] == pytest.approx([1, 3, 5, 7], rel=1e-5)
    assert samples.series("x")[at] == pytest.approx([0, 1, 3, 5], rel=1e-5, abs=1e-9)
    assert np.abs(samples.series("h1.after")[at]).max() < 1e-12


def test_an_action_sees_the_new_value_of_a_sampler_beside_a_state_as_it_was():
    samples = run(REMEMBERED.format(more="u").replace("h1 hold (u, y)", "h1 hold (b, y)"), ("y",))
    at = [np.searchsorted(samples.time, t + 0.1) for t in (1, 2, 3, 4)]
    assert samples.series("y")[at] == pytest.approx([0 + 2, 2 + 4, 4 + 6, 6 + 8], rel=1e-6)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("ulps", [-5, -2, -1, 0, 1, 2, 5, 20])
def test_a_time_event_or_a_given_step_within_the_rounding_of_an_event(method, ulps):
    """No step is shorter than the clock can tell: an impact stands beside a jump of a force, a step's end, or the stop."""
    text = (models_folder() / "bouncing_ball.net").read_text()
    ball = netsim.load(text)
    (alone,) = ball.samples({"method": method, "stop": 1.0})
    hit = float(alone.attributes["event_log"].split("\t")[0])
    at = float(hit + ulps * np.spacing(hit))
    (kicked,) = netsim.load(text.replace("run trans", f"push force (p) F = 1 N*step(time, {at!r} s)\nrun trans")).samples(
        {"method": method, "stop": 1.0}
    )
    rise = 0.7 * np.sqrt(2 * 9.81)  # m/s, behind the impact
    t = 1.0 - hit
    assert kicked.finished
    assert kicked.series("p.x")[-1] == pytest.approx(rise * t - 8.81 * t**2 / 2, rel=1e-6)
    for options in ({"stop": 1.5 * at, "step": at / 50}, {"stop": at}, {"stop": at, "step": at / 50}):
        (given,) = ball.samples({"method": method, **options})
        assert given.finished
        assert given.time[-1] == pytest.approx(options["stop"], rel=1e-14)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("apart", [-1e-9, -1e-13, -3e-16, 3e-16, 1e-15, 1e-14, 1e-13, 1e-11, 1e-9])
def test_two_balls_that_hit_the_floor_one_just_after_the_other(method, apart):
    """What has left the floor stands within the rounding of the search behind it, and is not there for a second time."""
    text = (models_folder() / "bouncing_ball.net").read_text()
    text = text.replace("run trans", f"c ball (q) start x = {1.0 + apart!r} m\nrun trans").replace("save p.x,", "save q.x, p.x,")
    (both,) = netsim.load(text).samples({"method": method})
    assert [line.split("\t")[1] for line in sorted(both.attributes["event_log"].splitlines())].count("b") == 4
    for name, height in (("p.x", 1.0), ("q.x", 1.0 + apart)):
        speed = np.sqrt(2 * 9.81 * height)
        t, speed = 2.0 - speed / 9.81, 0.7 * speed
        while t > 2 * speed / 9.81:
            t, speed = t - 2 * speed / 9.81, 0.7 * speed
        assert both.series(name)[-1] == pytest.approx(speed * t - 9.81 * t**2 / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ("when time >= 0.3 s : reinit y = 5\n  when sample(0.1 s, 0.1 s) : reinit y = pre(y) + 1", 3.0),
        ("when sample(0.1 s, 0.1 s) : reinit y = pre(y) + 1\n  when time >= 0.3 s : reinit y = 5", 5.0),
        ("discrete n : 1 = 0\n  when time >= 0.3 s : n = 7; reinit y = n\n  when sample(0.1 s, 0.1 s) : n = pre(n) + 1; reinit y = 10*n", 30.0),
    ],
)
def test_of_lines_that_come_true_at_once_the_later_one_counts(lines, last):
    """Of two that set one state none did, and the run ended by constraints that are not there."""
    text = f"component c (out y : signal)\n  {lines}\n  der(y) = 0 Hz\nend\nk c (y)\nrun transient(stop = 0.35 s)\n"
    assert float(netsim.load(text).run()["y"][-1]) == last


def test_elements_that_set_one_state_at_once_are_named():
    kick = "component kick (p : translational)\n  param u : m/s\n  branch p -> ground : x, v, f\n  when time >= 1 s : reinit v = u\n  f = 0 N\nend\n"
    text = f"use translational\n{kick}m1 mass (a) m = 1 kg\nk1 kick (a) u = 2 m/s\nk2 kick (a) u = 3 m/s\nrun transient(stop = 2 s)\n"
    with pytest.raises(SimulationError, match="no consistent point") as wrong:
        netsim.load(text).run()
    assert wrong.value.problems[0].hint.endswith("'k1: reinit v', 'k2: reinit v'")
    assert float(netsim.load(text.replace("u = 3", "u = 2")).run()["a.v"][-1]) == pytest.approx(2.0, rel=1e-12)
