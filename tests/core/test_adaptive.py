"""The accept/reject loop: tolerances mean what they say, steps end at time events, samples stand where they were asked for, energy stays."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import netsim
from conftest import line_options
from netsim.library.files import models_folder
from netsim.structure.time_events import time_events_of

PULSES = """
use electrical
v1 voltage   (a, ground)  v = 5 V*pulse(time, 1 ms, 2 ms, rise = 0.1 ms, fall = 0.2 ms, period = 10 ms) + (if time < 33 ms then 1 V else 0 V)
r1 resistor  (a, b)       R = 1 kOhm
c1 capacitor (b, ground)  C = 1 uF
run transient(stop = 50 ms)
save b.v
"""
TAU = 1e-3
SQUARE = "v2 voltage (d, ground) v = 1 V*step(sin(100*3.14159265358979*time/(1 s)))\nr2 resistor (d, ground) R = 1 Ohm\nrun "


def drive(t):
    """The source of PULSES."""
    phase = (t - 1e-3) % 10e-3 if t >= 1e-3 else -1.0
    pulse = np.interp(phase, [0.0, 1e-4, 2.1e-3, 2.3e-3], [0.0, 5.0, 5.0, 0.0]) if phase >= 0 else 0.0
    return pulse + (1.0 if t < 33e-3 else 0.0)


def exact(times):
    """The capacitor's voltage: from time event to time event the source is a straight line."""
    periods = 1e-3 + 10e-3 * np.arange(5)
    time_events = np.unique([0.0, *(p + c for p in periods for c in (0.0, 1e-4, 2.1e-3, 2.3e-3)), 33e-3, 50e-3])
    found, v = np.zeros_like(times), 1.0
    for begin, end in pairwise(time_events):
        first, last = drive(begin + 1e-12), drive(end - 1e-12)
        slope = (last - first) / (end - begin)

        def after(s, first=first, slope=slope, v=v):
            return first + slope * (s - TAU) + (v - first + slope * TAU) * np.exp(-s / TAU)

        inside = (times >= begin) & (times <= end)
        found[inside], v = after(times[inside] - begin), after(end - begin)
    return found


def test_time_events_are_found_exactly():
    text = PULSES.replace("run ", SQUARE)
    time_events = time_events_of(netsim.load(text).machine, 49e-3)
    pulses = [p + c for p in 1e-3 + 10e-3 * np.arange(5) for c in (0.0, 1e-4, 2.1e-3, 2.3e-3)]
    wanted = np.unique([*pulses, 33e-3, *(k * 10e-3 for k in range(1, 5))])
    assert len(time_events) == len(wanted)
    assert np.allclose(time_events, wanted, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("method", "allowed"), [("radau", 3), ("bdf", 60), ("trbdf2", 300), ("rk45", 100)])
def test_errors_follow_the_tolerance(method, allowed):
    """Samples between steps included; a hundredfold smaller rtol gives 10 to 1000 times less error."""
    model, found = netsim.load(PULSES), []
    for rtol in (1e-4, 1e-6, 1e-8):
        result = model.transient(stop=50e-3, method=method, rtol=rtol)
        found.append(np.abs(result["b.v"].values - exact(result.time.values)).max())
        assert found[-1] < allowed * rtol
        assert result.attrs["time_events"] == 21
        assert result.attrs["corners"] == 21  # the former name
    ratios = np.array(found[:-1]) / found[1:]
    assert np.all((ratios > 10) & (ratios < 1000)), found


def test_samples_stand_where_they_were_asked_for():
    result = netsim.load(PULSES).transient(stop=50e-3, sample=0.3e-3)
    assert np.array_equal(result.time.values, np.append(np.arange(167) * 0.3e-3, 50e-3))
    every = netsim.load(PULSES).transient(stop=50e-3)
    assert every.time.values[0] == 0.0 and every.time.values[-1] == 50e-3
    assert np.all(np.diff(every.time.values) > 0)


def test_two_runs_are_bit_identical():
    model = netsim.load(models_folder() / "mechanisms/double_pendulum.net")
    first, second = (model.transient(stop=0.3, method="bdf") for _ in range(2))
    assert first.identical(second) or all(np.array_equal(first[n], second[n]) for n in first.data_vars)


MECHANISMS = ("pendulum", "double_pendulum", "fourbar_planar", "fourbar_spatial", "slider_crank", "five_bar", "spinning_top", "free_body")
NAMES = (*(f"mechanisms/{name}" for name in MECHANISMS), "benchmarks/andrews")


@pytest.mark.parametrize("name", NAMES)
def test_energy_of_mechanisms(name):
    """|stored + dissipated - supplied - initial| at rtol 1e-8, relative to the range of what is stored, or all of it where nothing is exchanged."""
    model = netsim.load(models_folder() / f"{name}.net")
    (run,) = model.network.runs
    stop = line_options(model, run)["stop"]
    found = {}
    for rtol in (1e-5, 1e-8):
        result = model.transient(stop=stop, rtol=rtol)
        total = (result["energy.stored"] + result["energy.dissipated"] - result["energy.supplied"]).values
        stored = result["energy.stored"].values
        exchanged = np.ptp(stored)
        found[rtol] = np.abs(total - total[0]).max() / max(exchanged if exchanged > 1e-3 * np.abs(stored).max() else np.abs(stored).max(), 1e-2)
    assert found[1e-8] < 1e-6
    assert found[1e-8] < 0.05 * found[1e-5] or found[1e-8] < 1e-11


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_forces_of_the_tripod_do_not_depend_on_the_step(method):
    """Inverse dynamics at rtol 1e-8: forces of both methods agree with those at 1e-10 to 1e-8 of the peak."""
    model = netsim.load(models_folder() / "tripod/stage1.net")
    save = ["A.F", "B.F", "C.F"]
    coarse, fine = (model.transient(stop=15.0, sample=0.5, rtol=rtol, method=m, save=save) for rtol, m in ((1e-8, method), (1e-10, "radau")))
    for name in save:
        peak = np.abs(fine[name]).max()
        assert np.abs(coarse[name] - fine[name]).max() < 1e-8 * peak


ROOT = """
use translational
m1 mass  (a)  m = 1 kg
f1 force (a)  F = 1 N*sqrt(1 - time/(1 s))
run transient(stop = 2 s)
"""


@pytest.mark.parametrize("method", ["euler", "generalized_alpha"])
def test_the_last_good_step_is_saved_where_the_next_one_fails(method):
    """The force has no value behind 1 s: the samples end with the last state that stands, not with the last one that was due."""
    with pytest.raises(netsim.SimulationError, match="E503 'f1'") as failed:
        netsim.load(ROOT).transient(stop=2.0, save=["a.v"], step=0.03, every=7, method=method)
    t, v = failed.value.samples.time, failed.value.samples.series("a.v")
    assert abs(t[-1] - 0.99) < 1e-6
    assert abs(v[-1] - 2 / 3 * (1 - max(0.0, 1 - t[-1]) ** 1.5)) < 0.03


@pytest.mark.parametrize("options", [{}, {"sample": 0.3}, {"every": 1000}])
@pytest.mark.parametrize("method", ["radau", "bdf", "euler", "generalized_alpha", "trbdf2", "rk45"])
def test_runs_with_an_error_test_keep_the_last_good_step(method, options):
    """Steps shrink to the rounding of 1 s; the element and its expression are named, and the samples end there."""
    with pytest.raises(netsim.SimulationError, match="E503 'f1' gives no finite value beyond t = 1 s") as failed:
        netsim.load(ROOT).transient(stop=2.0, rtol=1e-4, save=["a.v"], method=method, **options)
    assert "keep f1.F = 1 N*sqrt(1 - time/1 s) defined" in str(failed.value)
    t, v = failed.value.samples.time, failed.value.samples.series("a.v")
    assert abs(t[-1] - 1.0) < 1e-14
    assert abs(v[-1] - 2 / 3) < 2e-3
    assert np.all(np.diff(t) > 0)


def test_a_stage_without_value_is_no_solution():
    """Given steps of Radau: the one whose stages lie behind 1 s fails."""
    with pytest.raises(netsim.SimulationError, match="E503 'f1'") as failed:
        netsim.load(ROOT).transient(stop=2.0, step=0.03, save=["a.v"], method="radau")
    assert abs(failed.value.samples.time[-1] - 0.99) < 1e-12


@pytest.mark.parametrize("shown", ["1 N*sqrt(time/1 s - 1)", "(1 N)/sin(time/1 s)"])
def test_a_start_without_value_names_element_and_expression(shown):
    text = ROOT.replace("1 N*sqrt(1 - time/(1 s))", shown.replace("/1 s", "/(1 s)"))
    with pytest.raises(netsim.SimulationError, match="E503 'f1' gives no finite value at t = 0 s") as failed:
        netsim.load(text).transient(stop=2.0)
    assert f": f1.F = {shown}" in str(failed.value)


def test_an_element_without_value_at_the_start_is_shown_with_its_equation():
    text = """
use electrical
component odd (p, n : electrical) "a root law"
  branch p -> n : v, i
  i = sqrt(v/(1 V) - 2)*(1 mA)
end
v1  voltage   (a, ground)  v = 1 V
x1  odd       (a, b)
r1  resistor  (b, ground)  R = 1 Ohm
"""
    with pytest.raises(netsim.SimulationError, match=r"E503 'x1' gives no finite value at t = 0 s: i = sqrt"):
        netsim.load(text).transient(stop=1.0)


DRIVEN = """
use planar
world gravity = [0, -9.81, 0] m/s2
b1    planar_body        (rod)          m = 1 kg, I = 0.1 kg.m2, at = [1, 0] m
j1    planar_revolute    (ground, rod)  at = [0, 0] m
motor planar_hinge_angle (ground, rod)  q = 1 rad*sin(2*time/(1 s))
run transient(stop = 5 s)
"""


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_forces_of_a_driven_pendulum(method):
    """Prescribed motion: the joint's force and the motor's torque within 1e-8 of their peaks of Newton's and Euler's law."""
    result = netsim.load(DRIVEN).transient(stop=5.0, rtol=1e-8, method=method, save=["j1.force", "motor.T"])
    t = result.time.values
    phi, w, dw = np.sin(2 * t), 2 * np.cos(2 * t), -4 * np.sin(2 * t)
    force = np.stack([-np.sin(phi) * dw - np.cos(phi) * w**2, np.cos(phi) * dw - np.sin(phi) * w**2 + 9.81])
    torque = 1.1 * dw + 9.81 * np.cos(phi)
    seen = np.stack([result["j1.force.x"].values, result["j1.force.y"].values])
    assert np.abs(seen - force).max() < 1e-8 * np.abs(force).max()
    assert np.abs(np.abs(result["motor.T"].values) - np.abs(torque)).max() < 1e-8 * np.abs(torque).max()


CHARGED = """
use electrical
v1 voltage   (a, ground)  v = 5 V*sin(time/(1 ms))
r1 resistor  (a, b)       R = 1 kOhm
c1 capacitor (b, ground)  C = 1 uF
r2 resistor  (b, c)       R = 2 kOhm
c2 capacitor (c, ground)  C = 0.5 uF
run transient(stop = 10 ms, sample = 0.07 ms)
"""


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "euler", "rk45"])
def test_samples_do_not_depend_on_what_else_is_saved(method):
    """Where nothing moves only what is read is evaluated between steps, the stored energy by a polynomial through the quadrature's nodes."""
    model, rtol = netsim.load(CHARGED), 1e-3 if method == "euler" else 1e-6
    whole = model.transient(stop=1e-2, sample=7e-5, rtol=rtol, method=method, save=["a.v", "b.v", "c.v", "r1.i", "c1.i", "c2.i"])
    few = model.transient(stop=1e-2, sample=7e-5, rtol=rtol, method=method, save=["c1.i", "c.v"])
    for name in ("c1.i", "c.v", "energy.stored", "energy.supplied", "energy.dissipated"):
        assert np.array_equal(few[name].values, whole[name].values)
    b, c = whole["b.v"].values, whole["c.v"].values
    stored = 0.5 * 1e-6 * b**2 + 0.5 * 0.5e-6 * c**2
    assert np.abs(few["energy.stored"].values - stored).max() < 30 * rtol * stored.max()
    assert np.abs(whole["c1.i"].values - ((whole["a.v"].values - b) / 1e3 - (b - c) / 2e3)).max() < 30 * rtol * 5e-3
    missing = few["energy.stored"] + few["energy.dissipated"] - few["energy.supplied"] - few["energy.stored"][0]
    assert np.abs(missing).max() < 30 * rtol * float(few["energy.supplied"][-1])


def test_a_state_beside_its_fast_parts_is_not_refused_again_and_again():
    """A diode that stops conducting leaves voltages beside what its currents allow by as much as the tolerance admits. They go back at once, however
    short the step is: the second look at a refused step leaves out what decays within it."""
    model = netsim.load(Path(__file__).parents[1] / "reference" / "spice" / "diode_bridge.cir")
    exact, rough = (model.transient(stop=0.1, sample=1e-3, save=["p.v"], rtol=rtol) for rtol in (1e-8, 1e-1))
    assert np.abs(rough["p.v"] - exact["p.v"]).max() < 1e-2 * float(exact["p.v"].max())  # a tenth of rtol: which step meets a knee is chance
    assert rough.attrs["rejected"] < 0.1 * rough.attrs["steps"]
