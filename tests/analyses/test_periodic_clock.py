"""Periods begin at time 0 again: what samples, holds instants or reads the time in events goes on as if the time did."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError, SimulationError

LAG = "f first_order (z, y) T = {t!r} s\nsave y\nrun periodic()\n"
HOLDER = """component holder (out z : signal)
  param T : s
  discrete h : 1 = 0
  when sample(0 s, T/4) : h = {}
  z = h
end
use signal
h holder (z) T = {{t!r}} s
"""
SOURCES = {
    "pulse that falls at the end of a period": "use signal\nq boolean_pulse (z) period = {t!r} s, first = 0.5*{t!r} s\n",
    "pulse that falls behind a period": "use signal\nq boolean_pulse (z) period = {t!r} s, first = 0.8*{t!r} s, share = 0.3\n",
    "pulse that begins late": "use signal\nq boolean_pulse (z) period = {t!r} s, first = 1.75*{t!r} s\n",
    "modulator across a period": "use signal\nw constant (x) value = 0.3\nq pulse_width (x, z) period = {t!r} s, first = 0.8*{t!r} s\n",
    "modulator": "use signal\nw constant (x) value = 0.3\nq pulse_width (x, z) period = {t!r} s, first = 0.25*{t!r} s\n",
    "sampled time": HOLDER.format("sin(2*pi*time/T)"),
    "line through samples": "use signal\ns signal_source (u) value = 2 + sin(2*pi*time/({t!r} s))\nq first_order_hold (u, z) period = 0.25*{t!r} s\n",
    "two samplers": "use signal\ns signal_source (u) value = sin(2*pi*time/({t!r} s))\nq sampler (u, v) period = 0.3*{t!r} s, first = 0.2*{t!r} s\n"
    "p sampler (v, z) period = 0.5*{t!r} s, first = 0.7*{t!r} s\n",
}


@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("name", SOURCES)
def test_periods_are_those_of_a_long_run(name, t):
    """A lag of one period behind the source forgets its start with e^-1 in a period."""
    text = SOURCES[name].format(t=t) + LAG.format(t=t)
    data = netsim.load(text).periodic()
    period = data.attrs["period"]
    periods = int(np.ceil(24 * t / period))
    run = netsim.load(text).transient(stop=(periods + 1) * period, rtol=1e-9, sample=period / 64)["y"].values[-64:]
    there = np.interp(np.arange(1, 65) / 64 * period, data["time"], data["y"])
    assert np.abs(there - run).max() < 2e-3 * np.abs(run).max()
    assert data.attrs["warnings"] == "" and np.ptp(run) > 0.02


STEADY = """use electrical
src voltage   (a, ground) v = {}
r1  resistor  (a, b)      R = 1 Ohm
c1  capacitor (b, ground) C = 20 mF
save b.v
"""
WAVE = "1 V*sin(2*pi*time/(1 s))"


@pytest.mark.parametrize(
    ("wave", "instant"),
    [
        (WAVE, ""),
        (f"{WAVE} + 1 V*step(time, at = 2.5 s)", "2.5 s"),
        (f"{WAVE} + 1 V*step(time, at = 1 h)", "3600 s"),
        (f"{WAVE} + 1 V*pulse(time, at = 10 s, width = 0.2 s)", "10 s"),
        (f"{WAVE}*(if time > 1 h then 2 else 1)", "3600 s"),
        (f"{WAVE} + 1 V*max(1, time/(10 s))", "10 s"),
        (f"{WAVE} + 1 V*step(mod(time, 1 s), at = 0.5 s)", ""),
        (f"{WAVE} + 0*(1 V)*step(time, at = 10 s)", ""),
        ("1 V*pulse(time, at = 5.3 s, width = 0.2 s, period = 1 s)", "5.3 s"),
        ("1 V*pulse(time, at = 0.9 s, width = 0.1 s, period = 1 s)", ""),
    ],
)
@pytest.mark.filterwarnings("ignore:W528")
def test_what_changes_later_is_told(wave, instant):
    found = netsim.load(STEADY.format(wave)).periodic().attrs["warnings"]
    assert found == "" if not instant else found.startswith(f"W528 'src.v' changes at t = {instant}, ")


@pytest.mark.filterwarnings("ignore:W528")
def test_all_that_rest_on_a_periodic_state_tell_it():
    model = netsim.load("param w = 1\n" + STEADY.format(f"w*{WAVE} + 1 V*step(time, at = 10 s)"))
    for name, options in (("periodic_ac", {"input": "src", "frequencies": [0.1]}), ("sweep_periodic", {"over": "w", "from": 1, "to": 2})):
        assert "W528 'src.v' changes at t = 10 s" in model.analyse(name, **options).attrs["warnings"]


@pytest.mark.filterwarnings("ignore:W528")
def test_samples_that_begin_behind_the_search_are_told():
    text = "use signal\nq boolean_pulse (z) period = 1 s, first = {} s\n" + LAG.format(t=1.0)
    found = netsim.load(text.format(7.75)).periodic().attrs["warnings"]
    assert found.startswith("W528 'q' changes at t = 7.75 s")
    assert netsim.load(text.format(2.25)).periodic().attrs["warnings"] == ""
    assert "W528" in netsim.load(text.format(2.25)).periodic(warm_up=0).attrs["warnings"]


@pytest.mark.parametrize(
    ("text", "period", "words"),
    [
        ("use signal\ns signal_source (u) value = sin(2*pi*time/(1 s))\nq sampler (u, z) period = 0.3 s\n", 1.0, r"^E448 'q' samples every 0.3 s"),
        ("use signal\ns signal_source (u) value = sin(2*pi*time/(1 s))\nq sampler (u, z) period = 3 s\n", 1.0, r"^E448 'q' samples every 3 s"),
        (HOLDER.format("sin(time/T)").format(t=1.0), 1.0, "E448 sources do not repeat after 1 s: 'f.y'"),
    ],
)
def test_samples_that_do_not_repeat_are_refused(text, period, words):
    with pytest.raises((InputError, SimulationError), match=words):
        netsim.load(text + LAG.format(t=1.0)).periodic(period=period)


@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("block", "value"), [("mean", 2.0), ("effective", np.sqrt(4.5))])
def test_what_a_signal_was_over_a_period_repeats(block, value, t):
    text = f"use signal\ns signal_source (u) value = 2 + sin(2*pi*time/({t!r} s))\nm {block} (u, z) f = {1 / t!r} Hz\n" + LAG.format(t=t)
    data = netsim.load(text).periodic()
    assert data["amplitude(y)"].values[0] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("k", "phase"), [(1, 0.0), (1, 0.5), (3, 0.0)])
def test_what_a_harmonic_was_over_a_period_repeats(k, phase, t):
    """Also where one of its two parts is nothing but rounding: its size was that, and changes of it neither decayed nor grew."""
    text = f"use signal\ns signal_source (u) value = 2*sin({k}*2*pi*time/({t!r} s) + {phase})\nm harmonic (u, z, p) f = {1 / t!r} Hz, k = {k}\n"
    data = netsim.load(text + LAG.format(t=t) + "save y, p").periodic()
    assert data["amplitude(y)"].values[0] == pytest.approx(2.0, rel=1e-8)
    assert data["p"].values == pytest.approx(phase - np.pi / 2, abs=1e-8)


def test_a_count_that_goes_on_is_named():
    """It is read by what shows it, so that it may matter."""
    text = "use signal\ns signal_source (u) value = sin(2*pi*time/(1 s))\nh hysteresis (u, z) low = -0.5, high = 0.5\nc edge_counter (z, n)\n"
    with pytest.raises(SimulationError, match=r"E447 .* 'c.n' is \d+ at the beginning of a period and \d+ at its end"):
        netsim.load(text + LAG.format(t=1.0)).periodic()
