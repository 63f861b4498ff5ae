"""Panels, scales and pictures of plot lines."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import netsim
from netsim.results import plots
from netsim.results.files import samples_of
from netsim.results.plots import plot
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError
from netsim.text.parse import parse
from netsim.text.units import parse_unit

TIME = np.linspace(0.0, 3e-4, 101)
SAMPLES = Samples(
    "",
    TIME,
    (Signal("a.x", "m"), Signal("b.x", "m"), Signal("s1.f", "N"), Signal("body.r.x", "m"), Signal("body.r.y", "m"), Signal("tap[2].v", "V")),
    np.column_stack([TIME * 100, TIME * 40, 1e5 * np.sin(TIME * 1e5), TIME, 2 * TIME, np.full(101, 5.0)]),
    np.zeros((101, 3)),
)


def lines(text):
    return parse(text).statements


def drawn(text, runs=(SAMPLES,), parameters=None):
    return [[line.label for line in panel.lines] for panel in plots.panels(list(runs), lines(text), parameters)]


def test_a_panel_per_line_and_unit():
    assert drawn("plot s1.f\nplot a.x - b.x, a.x, s1.f") == [["s1.f"], ["a.x - b.x", "a.x"], ["s1.f"]]


def test_expressions_are_evaluated_on_the_series():
    (panel,) = plots.panels([SAMPLES], lines("plot a.x - b.x"))
    assert panel.lines[0].values == pytest.approx(60 * TIME) and panel.dimension == parse_unit("m").dimension
    (power,) = plots.panels([SAMPLES], lines("plot s1.f*a.x/(2 s)"))
    assert power.lines[0].values == pytest.approx(SAMPLES.series("s1.f") * SAMPLES.series("a.x") / 2) and power.dimension == parse_unit("W").dimension


def test_vectors_wildcards_and_time():
    assert drawn("plot body.r") == [["body.r.x", "body.r.y"]]
    assert drawn("plot a.*") == [["a.x"]]
    assert drawn("plot a.x/time") == [["a.x/time"]]
    (panel,) = plots.panels([SAMPLES], lines("plot norm(body.r)"))
    assert panel.lines[0].values == pytest.approx(TIME * 5**0.5)


def test_parameters_and_counts_of_the_netlist(model):
    ladder = model("rc_ladder")
    scope = ladder.values.scope(ladder.network.top)
    (panel,) = plots.panels([SAMPLES], lines("plot tap[n - 8].v/resistance"), scope)
    assert panel.lines[0].values == pytest.approx(np.full(101, 5.0 / 10e3))


def test_several_runs_share_their_panels():
    assert drawn("plot a.x", [SAMPLES, replace(SAMPLES, name="fall")]) == [["a.x (run1)", "a.x (fall)"]]


def test_without_plot_lines_the_saved_signals_are_drawn():
    assert drawn("") == [["a.x", "b.x", "body.r.x", "body.r.y"], ["s1.f"], ["tap[2].v"]]


def test_a_signal_that_was_not_saved_is_named():
    with pytest.raises(InputError) as error:
        drawn("plot a.x + c.x")
    problem = error.value.problems[0]
    assert problem.code == "E434" and "c.x" in problem.message and problem.span.column == 12


@pytest.mark.parametrize(
    ("unit", "largest", "shown", "factor"),
    [
        ("m", 0.02, "mm", 1e3), ("N", 2.5e4, "kN", 1e-3), ("N", 999.0, "N", 1.0), ("m", 0.1, "m", 1.0), ("s", 3e-4, "µs", 1e6),
        ("m/s", 0.02, "mm/s", 1e3), ("m", 1e-3, "mm", 1e3), ("N.m", 5e6, "MN·m", 1e-6), ("m2", 1e-4, "m²", 1.0), ("m/s2", 0.002, "mm/s²", 1e3),
        ("kg", 1e5, "kg", 1.0), ("1", 1e5, "1", 1.0), ("Ohm", 1e4, "kΩ", 1e-3), ("K", 1e4, "K", 1.0), ("V", 0.0, "V", 1.0),
        ("V", 1e-30, "V", 1.0), ("1/s", 2e3, "1/s", 1.0), ("kg.m2", 1e-4, "kg·m²", 1.0), ("Pa", 1e12, "GPa", 1e-9),
    ],
)  # fmt: skip
def test_readable_scales(unit, largest, shown, factor):
    assert plots.scale(unit, largest) == (pytest.approx(factor), shown)


def test_thinning_keeps_ends_and_extremes():
    time = np.linspace(0.0, 1.0, 100_003)
    values = np.sin(40 * time)
    values[54_321], values[77_777] = 9.0, -7.0
    t, v = plots.thinned(time, values)
    assert len(v) <= plots.MOST_POINTS and (t[0], t[-1]) == (0.0, 1.0) and (v.max(), v.min()) == (9.0, -7.0) and (np.diff(t) > 0).all()
    assert plots.thinned(TIME, TIME)[1] is TIME


def test_a_picture_shows_units_and_legend(tmp_path):
    file = plots.plot(SAMPLES, lines("plot s1.f\nplot a.x, b.x"), tmp_path / "a.svg")
    text = file.read_text()
    for words in ("s1.f [kN]", "[mm]", ">a.x<", ">b.x<", "time [µs]"):
        assert words in text
    again = plots.plot(SAMPLES, lines("plot s1.f\nplot a.x, b.x"), tmp_path / "b.svg").read_text()
    assert again == text


def test_a_picture_of_a_partial_run_says_so(tmp_path):
    partial = replace(SAMPLES, finished=False, message="interrupted at t = 0.3 ms")
    assert "interrupted at t = 0.3 ms" in plots.plot(partial, lines("plot a.x"), tmp_path / "a.svg").read_text()


def test_a_png_has_ink_in_every_panel(tmp_path):
    from matplotlib.image import imread

    picture = imread(plots.plot(SAMPLES, lines("plot s1.f\nplot tap[2].v"), tmp_path / "a.png"))
    blue = (picture[..., 2] - picture[..., 0] > 0.3).any(axis=1)
    half = len(blue) // 2
    assert picture.shape[1] == 1200 and blue[:half].any() and blue[half:].any()


def test_an_unknown_picture_format_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg"):
        plots.plot(SAMPLES, [], tmp_path / "a.gif")


def test_values_near_the_largest_float_are_drawn_without_a_warning(tmp_path):
    file = tmp_path / "far.csv"
    file.write_text("time [s],a.v [V]\n0,-1.7e308\n1,1.7e308\n2,1.5e308\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert plot(samples_of(file), (), tmp_path / "far.png").exists()


def test_a_sweep_with_values_near_the_largest_float_is_drawn_without_a_warning(tmp_path):
    (found,) = netsim.load("""
use electrical
v1 voltage  (a, ground)  v = 1 V
r1 resistor (a, ground)  R = 1 Ohm
measure top = max(v1.i)
run sweep(over = [r1.R = [1 Ohm, 2 Ohm, 3 Ohm]], stop = 1 s)
""").samples()
    top = found.table.data_vars["top"]
    far = replace(found.table, data_vars={**found.table.data_vars, "top": replace(top, values=np.array([-1.7e308, 1.7e308, 1.5e308]))})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert plot(replace(found, table=far), (), tmp_path / "far.png").exists()
