"""Time events, jumps and short excursions of functions of time: found wherever they are written, ended at, never stepped over."""

import numpy as np
import pytest
from scipy.optimize import brentq

import netsim
from netsim.simulate.setup.features import features_of
from netsim.structure.time_events import time_events_of

JUMP = """
use electrical
v1 voltage   (a, ground)  v = 5 V*step(time - 1.3 ms)
r1 resistor  (a, b)       R = 1 kOhm
c1 capacitor (b, ground)  C = 1 uF
run transient(stop = 3 ms)
"""
END = 5 * (1 - np.exp(-1.7))
LATE = """
component late (p, n : electrical) "a voltage that comes late"
  param at : s = 1.3 ms
  let since = time - at
  branch p -> n : v, i
  v = {law}
end
"""
LAWS = (
    "if time < at then 0 V else 5 V",
    "5 V*step(since)",
    "if since > 0 then 5 V else 0 V",
    "5 V*pulse(time, at, width = 1 s)",
    "2.5 V*(1 + sign(since))",
)


def inside_a_component(law):
    return JUMP.replace("use electrical", "use electrical\n" + LATE.format(law=law)).replace(
        "v1 voltage   (a, ground)  v = 5 V*step(time - 1.3 ms)", "v1 late (a, ground)"
    )


@pytest.mark.parametrize(("method", "order"), [("generalized_alpha", 2), ("trbdf2", 2), ("radau", 5), ("rk45", 5)])
def test_given_steps_are_cut_at_a_time_event_and_keep_their_order(method, order):
    """The time event lies inside a step for every number of steps here; results stand at the given instants all the same."""
    model, errors = netsim.load(JUMP), []
    for n in (20, 40, 80):
        result = model.transient(stop=3e-3, step=3e-3 / n, method=method, save=["b.v"])
        assert np.allclose(result.time.values, np.arange(n + 1) * 3e-3 / n, rtol=0, atol=1e-15)
        assert (result.attrs["steps"], result.attrs["time_events"]) == (n + 1, 1)
        errors.append(abs(float(result["b.v"][-1]) - END))
    assert abs(np.log2(errors[-2] / errors[-1]) - order) < 0.15, errors


def test_a_time_event_at_the_end_of_a_given_step_cuts_nothing():
    result = netsim.load(JUMP).transient(stop=3e-3, step=0.1e-3, method="trbdf2")
    assert (result.attrs["steps"], result.attrs["time_events"]) == (30, 1)


def test_steps_of_implicit_euler_stay_as_they_were_given():
    """The papers' method: h is h, and the prescribed input is what it is at the end of a step."""
    n, h, v = 29, 3e-3 / 29, 0.0
    result = netsim.load(JUMP).transient(stop=3e-3, step=h, method="euler", save=["b.v"])
    for i in range(1, n + 1):
        v = (v + h / 1e-3 * 5 * (i * h >= 1.3e-3)) / (1 + h / 1e-3)
    assert len(result.time) == n + 1
    assert abs(float(result["b.v"][-1]) - v) < 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_time_events_inside_a_components_text(law):
    model = netsim.load(inside_a_component(law))
    assert np.allclose(time_events_of(model.machine, 3e-3)[:1], 1.3e-3, rtol=0, atol=1e-15)
    result = model.transient(stop=3e-3, rtol=1e-8, save=["b.v"])
    assert result.attrs["time_events"] == 1
    assert abs(float(result["b.v"][-1]) - END) < 1e-7


def test_a_component_bends_what_drives_its_input():
    """A half wave: the time event is where the input passes zero. What depends on the state is no time event."""
    text = """
use electrical
component half_wave (p, n : electrical)
  input u : V
  branch p -> n : v, i
  v = max(u, 0) + min(i*(1 Ohm), 0)
end
v1 half_wave (a, ground)  u = 1 V*sin(6.283185307179586*(1 kHz)*time)
r1 resistor  (a, ground)  R = 1 Ohm
run transient(stop = 2.2 ms)
"""
    assert np.allclose(time_events_of(netsim.load(text).machine, 2.2e-3), [0.5e-3, 1e-3, 1.5e-3, 2e-3], rtol=0, atol=1e-12)


def test_both_sides_of_a_jump_are_saved():
    """A sample at the jump shows what was before; one just behind it, in its last digits, what comes after."""
    result = netsim.load(JUMP).transient(stop=3e-3, save=["r1.i", "b.v"])
    t, i = result.time.values, result["r1.i"].values
    k = int(np.argmin(abs(t - 1.3e-3)))
    assert abs(t[k] - 1.3e-3) < 1e-17 and t[k] < t[k + 1] < 1.3e-3 * (1 + 1e-14)
    assert np.all(np.diff(t) > 0)
    assert abs(i[k]) < 1e-12 and abs(i[k + 1] - 5e-3) < 1e-12
    assert abs(result["b.v"].values[k + 1]) < 1e-12
    asked = netsim.load(JUMP).transient(stop=3e-3, sample=0.1e-3, save=["r1.i"])
    assert len(asked.time) == 31 and abs(asked["r1.i"].values[13]) < 1e-12


BLOW = """
use translational
{component}
m1 mass   (a)          m = 1 kg
f1 {force}
d1 damper (a, ground)  d = 0.01 N.s/m
run transient(stop = 100 s)
"""
FORCES = {
    "a bell": ("1 N/0.01*exp(-((time - 61.803 s)/(0.01 s))^2)", np.sqrt(np.pi)),
    "beside a constant": ("1e-9 N + 1 N/0.01*bell(time, at = 61.803 s, width = 10 ms)", np.sqrt(np.pi)),
    "with no net momentum": ("1 N*(time - 61.803 s)/(1e-4 s)*bell(time, 61.803 s, 10 ms)", 0.5),
    "two of them": ("1 N/0.01*(bell(time, 61.803 s, 10 ms) - bell(time, 80 s, 10 ms))", np.sqrt(np.pi)),
}
BLOWS = {name: (BLOW.format(component="", force=f"force (a) F = {law}"), speed) for name, (law, speed) in FORCES.items()}
WITHIN = """
component blow (p : translational) "a blow"
  branch ground -> p : v, f
  f = -(1 N/0.01)*bell(time, at = 61.803 s, width = 10 ms)
end
"""
BLOWS["in a component's text"] = (BLOW.format(component=WITHIN, force="blow (a)"), np.sqrt(np.pi))


@pytest.mark.parametrize("method", ["radau", "bdf", "rk45", "generalized_alpha"])
@pytest.mark.parametrize("name", BLOWS)
def test_a_short_blow_is_not_stepped_over(name, method):
    """A ten-thousandth of the run, at rest before: the largest speed is the blow's momentum."""
    text, speed = BLOWS[name]
    model = netsim.load(text)
    assert np.any(np.abs(features_of(model.machine, 100.0, np.zeros(0)) - 61.803) < 0.01)
    seen = model.transient(stop=100.0, method=method, rtol=1e-6, save=["a.v"])
    assert abs(np.abs(seen["a.v"].values).max() - speed) < 0.02 * speed
    assert seen.attrs["steps"] < 4000


def test_what_changes_all_the_time_has_no_features():
    text = BLOW.format(component="", force="force (a) F = 1 N*sin(time/(1 s)) + 1 N*cos(40*time/(1 s))")
    assert len(features_of(netsim.load(text).machine, 100.0, np.zeros(0))) == 0


DIVIDER = """
use electrical
src  voltage   (s, ground)  v = sine(time, amplitude = 2 V, frequency = 1 kHz)
r1   resistor  (s, m)       R = 1 kOhm
r2   resistor  (m, ground)  R = 1 kOhm
run  transient(stop = 10 ms)
save m.v
"""


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_what_hangs_on_a_drive_alone_is_right_between_the_steps_too(method, rtol):
    """No state limits the steps: samples of a divider, and the energy it takes, against the closed forms."""
    samples = netsim.load(DIVIDER).samples({"method": method, "rtol": rtol})[0]
    assert np.abs(samples.series("m.v") - np.sin(2 * np.pi * 1e3 * samples.time)).max() < max(60 * rtol, 1e-12)
    assert samples.energy[-1, 1] == pytest.approx(2.0**2 / 2 / 2e3 * 10e-3, rel=max(100 * rtol, 1e-8))


def charged(condition, stop, method="radau"):
    """The time for which a condition holds, as the charge of a capacitor, and the number of time events."""
    result = netsim.load(f"""
use electrical
i1 current   (ground, a)  I = -1 A*(if {condition} then 1 else 0)
c1 capacitor (a, ground)  C = 1 F, start v = 0 V
run transient(stop = {stop!r} s)
""").transient(method=method)
    return abs(float(result["a.v"].values[-1])), result.attrs["time_events"]


@pytest.mark.parametrize("method", ["radau", "rk45"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("half", [1e-3, 1e-5, 1e-6])
def test_two_passages_in_a_cell_of_the_grid(half, scale, method):
    """(t/scale - 0.50013)^2 < half^2 for 2 half scale, though no sample of the grid need be so near."""
    time, count = charged(f"(time/({scale!r} s) - 0.50013)^2 < {half**2!r}", scale, method)
    assert time == pytest.approx(2 * half * scale, rel=1e-5) and count == 2


def test_turning_points_beside_whole_numbers():
    """floor(3 + 1e-9 - 4 (t - 0.50013)^2) = 3 for 1e-4.5 s; `floor` itself takes what is 1e-12 below for whole."""
    time, count = charged("floor(3 + 1e-9 - 4*(time/(1 s) - 0.50013)^2) > 2.5", 1.0)
    assert time == pytest.approx(np.sqrt(1e-9), rel=1e-3) and count == 3  # and once 2


@pytest.mark.parametrize("height", [0.9, 1 - 1e-6, -0.3])
def test_as_many_passages_as_a_wave_has(height):
    """cos(2 pi 4000 t) > height: its samples at 4000 equal cells are all 1."""
    series = time_events_of(
        netsim.load(f"""
use electrical
i1 current   (ground, a)  I = 1 A*(if cos({8000 * np.pi!r}*time/(1 s)) > {height!r} then 1 else 0)
c1 capacitor (a, ground)  C = 1 F, start v = 0 V
""").machine,
        1.0,
    )
    behind = np.arccos(height) / (8000 * np.pi)
    turns = np.arange(4001) / 4000
    exact = np.sort(np.concatenate([turns[:-1] + behind, turns[1:] - behind]))
    assert len(series) == 8000 and np.allclose(series, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("width", [0.02, 1e-3])
def test_what_is_a_line_at_five_points_is_none(width):
    text = f"2*time/(1 s) + 5*exp(-((time/(1 s) - 0.3)/{width!r})^2)"
    root = [brentq(lambda t: 2 * t + 5 * np.exp(-(((t - 0.3) / width) ** 2)) - 1.2, *ends) for ends in ((0.0, 0.3), (0.3, 0.45), (0.45, 1.0))]
    time, count = charged(f"{text} > 1.2", 1.0)
    assert time == pytest.approx(root[1] - root[0] + 1.0 - root[2], rel=1e-6) and count == 3


def test_an_argument_of_a_table_that_is_straight_at_three_points(tmp_path):
    """t + 3 t (t - 0.37) (t - 1) is t at 0, 0.37 and 1 s; the table has a kink at 0.6."""
    (tmp_path / "kink.csv").write_text("u,y\n-1,0\n0.6,0\n3,1\n")
    argument = "(time + 3*time*(time - 0.37 s)*(time - 1 s)/(1 s^2))/(1 s)"
    (tmp_path / "kink.net").write_text(f"""
use electrical
v1 voltage  (a, ground)  v = 1 V*table("kink.csv", {argument}, "y", kind = linear)
r1 resistor (a, ground)  R = 1 Ohm
run transient(stop = 1 s)
""")
    exact = brentq(lambda t: t + 3 * t * (t - 0.37) * (t - 1) - 0.6, 0.37, 1.0)
    found = time_events_of(netsim.load(tmp_path / "kink.net").machine, 1.0)
    assert np.abs(found - exact).min() < 1e-11


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45", "generalized_alpha"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_jump_at_the_very_end_is_not_stepped_over(method, scale):
    """The last sample shows the left side, and no step is refused for the jump (radau: 16, bdf: 50 and W503)."""
    text = f"use electrical\nv1 voltage (a, ground) v = 5 V*pulse(time, at = 0 s, width = {scale!r} s, period = {2 * scale!r} s)\n"
    text += f"r1 resistor (a, b) R = 1 Ohm\nc1 capacitor (b, ground) C = {scale!r} F\nstart b.v = 0 V\nsave a.v, b.v\n"
    (samples,) = netsim.load(f"{text}run transient(stop = {3 * scale!r} s)\n").samples({"method": method, "rtol": 1e-6})
    lasts = 5.0 + (5.0 * (1 - np.exp(-1)) * np.exp(-1) - 5.0) * np.exp(-1)
    assert samples.values[-1] == pytest.approx([5.0, lasts], abs=1e-4) and not samples.warnings
    assert samples.attributes["rejected"] < 12 and samples.attributes["time_events"] == 2


CORNERS = """
use electrical
v1 voltage (a, ground) v = 2 V*min(time/T, 1)
v2 voltage (b, ground) v = 2 V*min(time/(T*(1 + APART)), 1)
c1 capacitor (a, ground) C = 1 pF
c2 capacitor (b, ground) C = 2 pF
r1 resistor (a, b) R = 1 kOhm
run transient(stop = 1e4*T)
save a.v
"""


@pytest.mark.parametrize("apart", ["0", "1e-15", "1e-14", "1e-12", "1e-10"])
@pytest.mark.parametrize("time", ["40 ns", "40 s", "40e6 s"])
@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "generalized_alpha", "rk45"])
def test_corners_with_no_step_between_them_are_passed_together(method, time, apart):
    """Currents of capacitors end at both corners: behind them nothing is supplied, however near they are to one another."""
    (samples,) = netsim.load(CORNERS.replace("APART", apart).replace("T", time)).samples({"method": method})
    stored, supplied, dissipated = samples.energy[-1]
    heat = 4 * float(apart) ** 2 * float(time.split()[0]) * (1e-9 if "n" in time else 1.0) / 3e3
    assert stored == pytest.approx(6e-12, rel=1e-9, abs=0.0)
    assert supplied - dissipated == pytest.approx(6e-12, rel=1e-6, abs=0.0)
    assert dissipated == pytest.approx(heat, rel=1e-3, abs=1e-6 * 6e-12)
