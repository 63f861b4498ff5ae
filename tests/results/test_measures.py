"""`measure` and `assert`: figures against closed forms, where they are told, and what happens when they are not to be had."""

import re

import numpy as np
import pytest

import netsim
from netsim.cli import main
from netsim.results.series import interpolated, refined, refined_series
from netsim.results.trajectories import Trajectory, crossings, largest
from netsim.text.errors import InputError, SimulationError

CHARGING = """
use electrical
param level = 0.9 V
src  voltage    (in_, ground)  v = 1 V
r1   resistor   (in_, out)     R = 1 kOhm
c1   capacitor  (out, ground)  C = 1 uF, start v = 0 V
run  transient(stop = 8 ms, rtol = 1e-9)
save out.v
"""
SWINGING = """
use electrical
src  voltage   (s, ground)  v = sine(time, amplitude = 2 V, frequency = 1 kHz, offset = 0.5 V)
r1   resistor  (s, ground)  R = 1 kOhm
run  transient(stop = 10 ms)
"""
TAU = 1e-3


def figures(text, lines, **parameters):
    model = netsim.load(text + lines)
    (samples,) = (model.with_params(**parameters) if parameters else model).samples()
    return {figure.name: figure for figure in samples.figures}, samples


@pytest.mark.parametrize(
    ("expression", "wanted", "unit"),
    [
        ("when(out.v > level) - when(out.v > 0.1 V)", TAU * np.log(9), "s"),
        ("at(out.v, 2 ms)", 1 - np.exp(-2), "V"),
        ("slope(out.v, 1 ms)", np.exp(-1) / TAU, "V/s"),
        ("final(out.v)", 1 - np.exp(-8), "V"),
        ("max(r1.i)", 1e-3, "A"),
        ("integral(r1.i)", 1e-6 * (1 - np.exp(-8)), "C"),
        ("integral(r1.i, from = 1 ms, to = 2 ms)", 1e-6 * (np.exp(-1) - np.exp(-2)), "C"),
        ("mean(r1.i, to = 1 ms)", 1e-3 * (1 - np.exp(-1)), "A"),
        ("at(r1.i, when(out.v > level))", 1e-4, "A"),
        ("max(final(out.v), 2 V)", 2.0, "V"),
        ("charge/(1 uF)", 1 - np.exp(-8), "V"),
        ("rms(out.v - mean(out.v, from = 1 ms, to = 1.001 ms), from = 1 ms, to = 1.001 ms)", 1e-6 * np.exp(-1.0005) / TAU / np.sqrt(12), "V"),
    ],
)
def test_figures_of_a_charging_capacitor(expression, wanted, unit):
    found, _ = figures(CHARGING, f"measure charge = integral(r1.i)\nmeasure it = {expression}\n")
    assert found["it"].value == pytest.approx(wanted, rel=1e-5)
    assert netsim.text.units.parse_unit(found["it"].unit or "1").dimension == netsim.text.units.parse_unit(unit).dimension


def test_figures_of_a_sine():
    lines = """
measure peak = max(s.v)
measure when_peak = argmax(s.v, to = 1 ms)
measure lowest = argmin(s.v, to = 1 ms)
measure swing = pp(s.v)
measure effective = rms(s.v)
measure rectified = mean(abs(s.v - 0.5 V))
measure T = period(s.v)
measure f = frequency(s.v, level = 0.7 V)
measure third = when(s.v == 0.5 V, n = 3)
measure last = when(s.v < 0.5 V, n = -1)
measure late = when(s.v > 0.5 V, from = 5.5 ms)
"""
    found, _ = figures(SWINGING, lines)
    wanted = {"peak": 2.5, "when_peak": 2.5e-4, "lowest": 7.5e-4, "swing": 4.0, "effective": np.sqrt(2.25), "rectified": 4 / np.pi, "T": 1e-3,
              "f": 1e3, "third": 1.5e-3, "last": 9.5e-3, "late": 6e-3}  # fmt: skip
    for name, value in wanted.items():
        assert found[name].value == pytest.approx(value, rel=2e-4), name


def test_parameters_change_figures():
    found, _ = figures(CHARGING, "measure it = when(out.v > level)\n", level=0.5)
    assert found["it"].value == pytest.approx(TAU * np.log(2), rel=1e-6)


def test_figures_are_told_and_kept(tmp_path, capsys):
    file = tmp_path / "charging.net"
    file.write_text(CHARGING + 'measure tau = when(out.v > (1 - exp(-1))*1 V) "time constant"\nassert tau > 0 s "runs backwards"\n')
    assert main(["run", str(file), "-o", str(tmp_path / "it.nc")]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"tau +(1 ms|1000 µs)  time constant", shown)
    data = netsim.results.files.read(tmp_path / "it.nc")
    assert data.attrs["measure.tau"] == pytest.approx(TAU, rel=1e-6) and data.attrs["measure.tau.units"] == "s"


def test_what_fails_is_told_with_its_place_and_ends_with_status_1(tmp_path, capsys):
    file = tmp_path / "charging.net"
    file.write_text(
        CHARGING + 'measure never = when(out.v > 2 V)\nmeasure twice = 2*never\nassert out.v < 0.5 V "too much"\nassert max(out.v) > 0 V\n'
    )
    assert main(["run", str(file), "-o", str(tmp_path / "it.csv")]) == 1
    out, err = capsys.readouterr()
    assert out.count("not found") == 2 and (tmp_path / "it.csv").exists()
    assert f"{file}:9:22: E513 this comparison never becomes true" in err and err.count("E513") == 1
    assert f"{file}:11:8: E514 too much at t = 0.0007" in err and err.count("E514") == 1


def test_python_raises_with_the_samples():
    model = netsim.load(CHARGING + "assert final(out.v) > 1 V\n")
    with pytest.raises(SimulationError, match="the left side is 0") as caught:
        model.transient(stop=8e-3)
    assert len(caught.value.samples.time) > 10
    assert netsim.load(CHARGING + "measure it = final(out.v)\n").transient(stop=1e-3).attrs["measure.it"] == pytest.approx(1 - np.exp(-1), rel=1e-5)


def test_equilibria_are_measured_where_there_is_no_other_run():
    text = CHARGING.replace("run  transient(stop = 8 ms, rtol = 1e-9)", "{}") + "measure it = final(out.v)\nassert out.v > 0.9 V\n"
    (alone,) = netsim.load(text.format("run static()")).samples()
    assert alone.figures[0].value == pytest.approx(1.0) and not alone.broken
    first, second = netsim.load(text.format("run static()\nrun transient(stop = 9 ms, from = static)")).samples()
    assert not first.figures and second.figures


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("measure it = out.v", "E249"),
        ("measure it = mean(src.q)", "has no 'q'"),
        ("measure it = it + 1 s", "depends on itself"),
        ("measure out = 1", "E222"),
        ("measure it = when(out.v)", "one comparison"),
        ("measure it = mean(out.v, until = 1 s)", "no argument 'until'"),
        ("measure it = at(out.v, 1 V)", "E203"),
        ("measure it = final(out.v) + 1 A", "E203"),
        ("assert max(out.v) < 1 A", "E203"),
    ],
)
def test_mistakes_are_found_before_the_run(line, message):
    with pytest.raises(InputError, match=message):
        model = netsim.load(f"{CHARGING}{line}\n")
        problems = [p for p in model.check() if not p.is_note]
        assert problems and all(p.span is not None for p in problems)
        raise InputError(problems)


def test_measures_repeat():
    text = CHARGING + "count n = 3\nmeasure t{k} = when(out.v > k/4*1 V) for k in 1..n\nassert t{k} < 2 ms for k in 1..n\n"
    (samples,) = netsim.load(text).samples()
    assert [f.name for f in samples.figures] == ["t1", "t2", "t3"] and not samples.broken
    assert [f.value for f in samples.figures] == pytest.approx([TAU * np.log(4 / (4 - k)) for k in (1, 2, 3)], rel=1e-6)


def test_words_stay_free():
    text = CHARGING + "measure resistor (out, ground) R = 1 MOhm\nwhenever resistor (out, ground) R = 1 MOhm\n"
    assert len(netsim.load(text).network.instances) == 5


def test_pi_is_known_and_yields_to_names():
    text = (
        "use electrical\nparam pi = 3\nsrc voltage (a, ground) v = pi*1 V\nr1 resistor (a, ground) R = 1 Ohm\nrun transient(stop = 1 s)\nsave a.v\n"
    )
    assert netsim.load(text).samples()[0].series("a.v")[-1] == 3.0
    text = text.replace("param pi = 3\n", "let twice = 2*pi*a.v\nparam full = 2*pi\n").replace("save a.v", "save twice, a.v/full")
    series = netsim.load(text).samples()[0]
    assert series.series("twice")[-1] == pytest.approx(2 * np.pi**2) and series.series("a.v/full")[-1] == pytest.approx(0.5)


def test_lets_of_signals_take_indices_by_counts():
    text = (
        CHARGING
        + "count n = 1\nlet x = tap[n].v\nlet y = 2*tap[n+1].v\nrx resistor (out, tap[1]) R = 1 Ohm\nry resistor (tap[1], tap[2]) R = 1 Ohm\n"
    )
    samples = netsim.load(text.replace("save out.v", "save x, y") + "rz resistor (tap[2], ground) R = 1 MOhm\n").samples()[0]
    assert samples.series("y")[-1] == pytest.approx(2 * samples.series("x")[-1], rel=1e-5)


# ------------------------------------------------------------------------------------- between samples


def test_smooth_signals_are_followed_to_fourth_order():
    errors = []
    for n in (200, 400):
        time = np.linspace(0, 10, n + 1)
        fine = refined(time)
        errors.append(np.abs(refined_series(time, np.sin(5 * time)) - np.sin(5 * fine))[20:-20].max())
    assert errors[1] < 1e-5 and 12 < errors[0] / errors[1] < 20


@pytest.mark.parametrize("gap", [0.0, 1e-9])
def test_jumps_do_not_ring(gap):
    time, series = np.array([0, 1, 2, 3, 3 + gap, 4, 5, 6.0]), np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    assert interpolated(time, series, np.array([2.5, 3.5])) == pytest.approx([0.0, 1.0])
    trajectory = Trajectory(refined(time), refined_series(time, series))
    assert largest(trajectory)[0] == 1.0 and trajectory.series.min() == 0.0
    assert crossings(Trajectory(trajectory.time, trajectory.series - 0.5), ">") == pytest.approx([3.0])


def test_a_signal_between_samples_does_not_depend_on_what_else_is_asked_for():
    time = np.arange(9.0)
    series = np.where(time < 4, 0.0, 1.0)
    instants = np.linspace(2.0, 6.0, 401)
    together = interpolated(time, series, instants)
    apart = np.concatenate([interpolated(time, series, instants[k : k + 1]) for k in range(len(instants))])
    assert np.array_equal(together, apart) and together.min() >= 0.0 and together.max() <= 1.0


def test_pieces_of_few_samples_are_straight_and_last_values_hold():
    time, series = np.array([0.0, 1.0, 1.0, 2.0, 2.0]), np.array([0.0, 2.0, 5.0, 7.0, -1.0])
    instants = np.array([-1.0, 0.0, 0.5, 1.0, 1.75, 2.0, 3.0])
    assert interpolated(time, series, instants) == pytest.approx([0.0, 0.0, 1.0, 5.0, 6.5, -1.0, -1.0])


def test_a_sample_right_beside_another_does_no_harm():
    grid = np.linspace(0, 1, 41)
    time = np.sort(np.append(grid, grid[1:-1] + 1e-7))
    series = np.sin(2 * np.pi * time) + 1e-5 * (np.arange(len(time)) % 2)
    fine = refined(time)
    assert np.abs(refined_series(time, series) - np.sin(2 * np.pi * fine)).max() < 5e-5


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e6])
def test_extremes_at_corners(scale):
    """A capacitor behind pulses: its largest voltage is that at the end of the pulse, a corner; the least magnitude of what passes zero is 0."""
    text = (
        f"use electrical\nv voltage (a, ground) v = pulse(time, at = {100 * scale} s, width = {3 * scale} s, period = {200 * scale} s)*1 V\n"
        f"r resistor (a, b) R = 50 Ohm\nc capacitor (b, ground) C = {scale / 50} F\nrun transient(stop = {900 * scale} s)\n"
        f"w voltage (e, ground) v = sine(time, amplitude = 2 V, frequency = {0.01 / scale} Hz)\nq resistor (e, ground) R = 1 Ohm\n"
    )
    lines = "measure top = max(b.v)\nmeasure when_ = argmax(b.v)\nmeasure low = min(abs(e.v))\n"
    found, _ = figures(text, lines + f"measure late = argmin(abs(e.v), from = {130 * scale} s, to = {170 * scale} s)\n")
    assert found["top"].value == pytest.approx(1 - np.exp(-3), rel=1e-7)
    assert (found["when_"].value / scale - 3) % 200 == pytest.approx(100, abs=1e-6)
    assert 0 <= found["low"].value <= 1e-5 and found["late"].value == pytest.approx(150 * scale, rel=1e-5)


def test_figures_over_a_span_follow_kinks():
    """Over a span that begins and ends within steps: of |sin| and of sin."""
    lines = "measure area = integral(abs(s.v - 0.5 V), from = 0.13 ms, to = 0.77 ms)\nmeasure part = mean(s.v, from = 0.13 ms, to = 0.77 ms)\n"
    found, _ = figures(SWINGING, lines)
    w, a, b = 2e3 * np.pi, 0.13e-3, 0.77e-3
    assert found["area"].value == pytest.approx(2 * (np.cos(w * a) + 1 + 1 + np.cos(w * b)) / w, rel=2e-6)
    assert found["part"].value == pytest.approx(0.5 + 2 * (np.cos(w * a) - np.cos(w * b)) / w / (b - a), rel=1e-6)


def test_a_span_may_have_one_end():
    """The other one is that of the run, whatever its length; a span that lies behind the run is not found."""
    text = "use signal\ns1 signal_source (y) value = sin(time/(1 s))\nrun transient(stop = 30 s)\nmeasure p = period(y, from = 1 s)\n"
    assert netsim.load(text).run().attrs["measure.p"] == pytest.approx(2 * np.pi, rel=1e-5)
    with pytest.raises(SimulationError, match=r"is outside|is empty"):
        netsim.load(text.replace("from = 1 s", "from = 30 s")).run()
    with pytest.raises(InputError, match="is empty"):
        netsim.load(text.replace("from = 1 s", "from = 2 s, to = 2 s")).run()


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("harmonic(s.v, 50 Hz)", r"the number of a harmonic is whole, from 0 on, this is 50 1/s"),
        ("harmonic(s.v, 1.5)", r"this is 1\.5"),
        ("harmonic_phase(s.v, -1)", r"this is -1"),
        ("distortion(s.v, n = 3 V)", r"this is 3 V"),
        ("when(s.v > 1 V, n = 2 s)", r"n is a whole number, this is 2 s"),
    ],
)
def test_numbers_of_harmonics_and_passages_are_whole(expression, told):
    """50 Hz was taken as the 50th harmonic."""
    with pytest.raises(InputError, match=f"E208 .*{told}"):
        figures(SWINGING, f"measure x = {expression}\n")
