"""The Python surface: runs as data sets, tables, pictures, copies in other processes, components from text."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

import netsim
from conftest import loaded
from netsim.library import files
from netsim.results.listing import MOST_ROWS

SWING = """use translational
param stiffness = 200 N/m
m1 mass (a) m = 2 kg
c1 spring (a, ground) c = stiffness, l = 10 mm
start a.x = 20 mm
run fall = transient(stop = 1 s, step = 10 ms, method = euler)
save a.x, c1.f
plot a.x
"""


@pytest.fixture
def given(monkeypatch):
    """Definitions from Python, of this test alone."""
    monkeypatch.setattr(files, "given", {})


# ---------------------------------------------------------------------------------------------------------- runs


def test_run_and_transient_take_the_run_line():
    model = netsim.load(SWING)
    run, same = model.run(), model.transient()
    assert isinstance(run, xarray.Dataset) and run.equals(same) and list(run) == list(same)
    assert (run.attrs["method"], run.attrs["step"], run.attrs["name"]) == ("euler", 0.01, "fall")


@pytest.mark.parametrize("call", ["run", "transient"])
def test_options_take_the_place_of_those_of_the_line(call):
    result = getattr(netsim.load(SWING), call)(method="generalized_alpha", step="5 ms")
    assert (result.attrs["method"], result.attrs["step"], result["time"].values[-1]) == ("generalized_alpha", 5e-3, 1.0)


def test_a_stop_makes_a_run_of_its_own():
    """`transient(stop = ...)` does not read the line, `run(stop = ...)` changes it."""
    model = netsim.load(SWING)
    assert model.transient(stop=0.5).attrs["method"] == "radau" and "step" not in model.transient(stop=0.5).attrs
    assert model.run(stop=0.5).attrs["step"] == 0.01 and model.run(stop=0.5)["time"].values[-1] == 0.5


def test_without_a_line_a_stop_is_wanted():
    model = netsim.load("\n".join(line for line in SWING.splitlines() if not line.startswith("run")) + "\n")
    with pytest.raises(netsim.InputError, match="E420"):
        model.run()
    with pytest.raises(netsim.InputError, match="stop"):
        model.transient()
    assert model.transient(stop=0.1)["time"].values[-1] == 0.1


def test_several_run_lines_give_data_sets_by_name():
    found = netsim.load(SWING + "run static()\n").run()
    assert list(found) == ["fall", "run2"] and found["fall"]["time"].size == 101 and found["run2"]["time"].size == 1


def test_a_run_that_fails_raises_with_what_there_is():
    with pytest.raises(netsim.SimulationError) as caught:
        netsim.load(SWING + "assert max(a.x) < 15 mm\n").run()
    assert caught.value.samples.series("a.x")[0] == pytest.approx(0.02)


def test_parameters_by_name_or_in_a_mapping():
    model = netsim.load(SWING)
    ours = model.with_params({"m1.m": "3 kg", "c1.l": 0.0}, stiffness=300)
    assert {name: ours.parameters[name]["value"] for name in ("m1.m", "c1.l", "stiffness")} == {"m1.m": 3.0, "c1.l": 0.0, "stiffness": 300.0}
    assert ours.run().equals(model.with_overrides({"m1.m": "3 kg", "c1.l": 0.0, "stiffness": 300}).run())


# -------------------------------------------------------------------------------------------------------- tables


def test_tables_of_parameters_signals_and_elements():
    model = netsim.load(SWING)
    assert model.parameters["c1.l"] == {"name": "c1.l", "value": 0.01, "unit": "m", "meaning": "unstretched p.x - n.x"}
    assert list(model.parameters) == ["stiffness", "m1.m", "c1.c", "c1.l"] and "m1.k" not in model.parameters
    assert model.signals["c1.f"]["unit"] == "N" and model.signals["a.v"]["unit"] == "m/s"
    assert model.elements["c1"]["nodes"] == "a, ground" and model.elements["c1"]["parameters"] == "c = 200 N/m, l = 0.01 m"
    with pytest.raises(KeyError):
        model.elements["c2"]
    frame = model.parameters.to_dataframe()
    assert frame.loc["m1.m", "value"] == 2.0


@pytest.mark.parametrize("name", ["dc_motor", "train", "tripod/stage1", "buck_converter", "robots/puma"])
def test_every_signal_of_the_table_can_be_saved_and_every_parameter_set(name):
    model = loaded(name)
    signals, parameters = model.signals, model.parameters
    assert len(signals) > 5
    netsim.results.selection.select(model.machine, [netsim.text.expressions.from_python.parse_expression(s, "save") for s in signals])
    same = model.with_params({p: _typed(parameters[p]) for p in parameters if parameters[p]["value"] != ()})
    assert [row[:2] for row in same.parameters.rows] == [row[:2] for row in parameters.rows] and same.values.unknown_overrides() == []


def test_rates_that_a_run_samples_are_no_signals_of_the_next_model():
    """Definitions of components are shared by all models of a process."""
    model = loaded("tripod/stage1")
    before = list(model.signals)
    marker = netsim.text.expressions.from_python.parse_expression("M.x", "save")
    selection = netsim.results.selection.select(model.machine, [marker])
    assert netsim.results.rates.add_rates(model.machine, selection, [marker]) == {"M.x": ("M.x rate 1", "M.x rate 2")}
    assert list(netsim.load(netsim.library.files.models_folder() / "tripod/stage1.net").signals) == before


def _typed(row):
    def text(value):
        return f"[{', '.join(map(text, value))}]" if isinstance(value, tuple) else repr(value)

    return text(row["value"]) if row["unit"] == "1" else f"{text(row['value'])} {row['unit']}"


def test_units_of_a_table_are_those_of_the_values():
    text = "use rotational\nparam phi = 30 deg\nj inertia (a) J = 1 kg.m2\nt torsion_spring (a, ground) c = 2 N.m/rad, phi0 = phi\nrun static()\n"
    model = netsim.load(text)
    assert (model.parameters["phi"]["value"], model.parameters["phi"]["unit"]) == (pytest.approx(np.pi / 6), "rad")
    assert model.signals["a.w"]["unit"] == "rad/s" and model.signals["a.phi"]["unit"] == "rad"


def test_what_is_shown_is_short():
    lines = [f"r{i} resistor (n{i}, ground) R = {i + 1} Ohm" for i in range(2000)]
    model = netsim.load("\n".join(["use electrical", *lines, "run static()"]))
    assert repr(model) == "<Model <text>: 2000 elements, 2000 nodes>"
    assert len(model._repr_html_()) < 1000 and len(repr(model.elements)) < 10_000 and len(model.elements) == 2000
    assert repr(model.elements).splitlines()[-1].split() == ["...", "and", f"{2000 - MOST_ROWS}", "more"]
    assert repr(model.with_params({"r0.R": 2})) == "<Model <text>: 2000 elements, 2000 nodes, changed r0.R>"
    (samples,) = model.samples()
    assert repr(samples) == "<Samples static: 1 samples of n0.v, n1.v, n2.v, n3.v, n4.v, n5.v and 3994 more>"
    for each in (model.network, model.system, model.network.library):
        assert len(repr(each)) < 200, type(each)


def test_html_is_escaped():
    model = netsim.load(SWING.replace("param stiffness = 200 N/m", 'param stiffness = 200 N/m "<b> & more"'))
    assert "&lt;b&gt; &amp; more" in model.parameters._repr_html_() and "<b>" not in model.parameters._repr_html_()


def test_a_picture_of_signals(tmp_path):
    model = netsim.load(SWING)
    result = model.run()
    assert repr(model.plot(result=result)) == "<Picture of a.x>"
    picture = model.plot("a.x", "stiffness*a.x", result=result)
    first, second = (line for axes in picture.figure.axes for line in axes.get_lines())
    assert np.allclose(second.get_ydata(), 200 * first.get_ydata() / 1e3)  # N, mm
    assert picture._repr_png_().startswith(b"\x89PNG") and picture.save(tmp_path / "a.svg").read_text().startswith("<?xml")
    with pytest.raises(netsim.InputError, match="E434"):
        model.plot("m1.f", result=result)


# ------------------------------------------------------------------------------------------------ copies, processes


def moved(model):
    """What another process finds."""
    return model.run()["a.x"].values


def test_models_are_copied_and_go_to_other_processes():
    model = netsim.load(SWING).with_params(stiffness="0.3 kN/m")
    here = model.run()["a.x"].values
    other = pickle.loads(pickle.dumps(model))
    assert repr(other) == repr(model) and np.array_equal(moved(other), here)
    assert copy.deepcopy({"model": model})["model"] is model and np.array_equal(moved(copy.copy(model)), here)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        (there,) = pool.map(moved, [model])
    assert np.array_equal(there, here)


# ----------------------------------------------------------------------------------------------- components from text


DOUBLER = """use electrical
component twice (p, n : electrical) "conductance by two"
  param  G : S > 0
  branch p -> n : v, i
  i = 2*G*v
end
"""
CIRCUIT = "use electrical\ns voltage (a, ground) v = 3 V\nr twice (a, ground) G = 1 S\nrun static()\nsave r.i\n"


def test_a_component_from_text_serves_all_netlists(given):
    with pytest.raises(netsim.InputError, match="E226"):
        netsim.load(CIRCUIT)
    assert netsim.component(DOUBLER) == ["twice"]
    assert netsim.load(CIRCUIT).run()["r.i"].values == [6.0]
    assert netsim.component(DOUBLER.replace("2*G", "5*G")) == ["twice"]  # a cell of a notebook, run again
    model = netsim.load(CIRCUIT)
    assert model.run()["r.i"].values == [15.0] and pickle.loads(pickle.dumps(model)).run()["r.i"].values == [15.0]
    assert netsim.load(SWING).run()["time"].size == 101  # another netlist does not mind


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (DOUBLER.replace("2*G*v", "2*G"), "E202|E203|E2"),
        (DOUBLER.replace("electrical)", "electric)"), "E210"),
        ("component (", "E1"),
    ],
)
def test_a_component_with_a_mistake_is_refused_and_not_kept(given, text, code):
    with pytest.raises(netsim.InputError, match=code):
        netsim.component(text)
    assert files.given == {}


# ------------------------------------------------------------------------------------------------------- notebooks


def test_a_notebook_shows_the_time_left(monkeypatch):
    """IPython's part is played here: what is displayed, and that the line is empty at the end."""
    shown = []
    handle = SimpleNamespace(update=lambda html: shown.append(html))
    display = SimpleNamespace(HTML=lambda text: text, display=lambda html, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True), display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("netsim.results.progress.EVERY", 0.0)
    netsim.load(SWING).run(stop=200.0, step=1e-4)
    assert shown[-1] == "" and any("left" in text and "%" in text and "steps/s" in text for text in shown)
    shown.clear()
    told = []
    netsim.load(SWING).transient(lambda *report: told.append(report))  # a callback of one's own is used instead
    assert told and shown == []


# ------------------------------------------------------------------------------------------------------- slips


@pytest.mark.parametrize("call", ["transient", "simulator"])
@pytest.mark.parametrize("value", ["bdf", 3])
def test_an_option_that_is_not_there_is_told_with_one_that_is(call, value):
    with pytest.raises(netsim.InputError, match="has no option 'metod'") as wrong:
        getattr(netsim.load(SWING), call)(metod=value)
    assert "method" in wrong.value.problems[0].hint


def test_one_signal_or_input_needs_no_list():
    model = netsim.load(SWING)
    assert "a.x" in model.transient(save="a.x", stop=0.01, step=0.01).data_vars
    assert model.simulator(save="a.x").signals == ("a.x",)
    driven = netsim.load("use translational\nparam F = 1 N\nm mass (a) m = 1 kg\np force (a) F = F\nsave a.x\n")
    assert driven.simulator(inputs="F").inputs == ("F",)


def test_cpu_time_of_a_run_is_that_of_its_own_thread():
    """A thread that spins meanwhile is no part of it: CPU time of one thread is at most wall time."""
    stop = threading.Event()
    spinning = threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)])
    spinning.start()
    try:
        (samples,) = netsim.load("rc").samples({"stop": 2.0, "sample": 0.1})
    finally:
        stop.set()
        spinning.join()
    seconds = samples.attributes
    assert 0.0 < seconds["loop_cpu_seconds"] <= seconds["cpu_seconds"] <= seconds["wall_seconds"] + 0.01


def test_a_check_reads_other_netlists_and_runs_none(tmp_path, monkeypatch):
    (tmp_path / "first.net").write_text("use translational\ns force (a) F = 1 N\nm mass (a) m = 1 kg\nsave a.x\nrun transient(stop = 1 s)\n")
    text = 'use translational\nd displacement (p, ground) s = table("first.net", a.x)\nm mass (p) m = 1 kg\nsave p.x\nrun transient(stop = 1 s)\n'
    (tmp_path / "second.net").write_text(text)
    model, samples = netsim.load(tmp_path / "second.net"), netsim.Model.samples
    monkeypatch.setattr(netsim.Model, "samples", lambda *given: pytest.fail("a check ran something"))
    assert [problem for problem in model.check() if not problem.is_note] == []
    monkeypatch.setattr(netsim.Model, "samples", samples)
    assert model.transient()["p.x"].values[-1] == pytest.approx(0.5, rel=1e-5)
    (tmp_path / "first.net").unlink()
    (problem,) = netsim.load(tmp_path / "second.net").check()
    assert problem.code == "E100" and "first.net" in problem.message


def test_progress_of_a_run_tells_of_the_netlists_that_it_waits_for(tmp_path):
    (tmp_path / "first.net").write_text("use translational\ns force (a) F = 1 N\nm mass (a) m = 1 kg\nsave a.x\nrun transient(stop = 3 s)\n")
    text = 'use translational\nd displacement (p, ground) s = table("first.net", a.x)\nm mass (p) m = 1 kg\nsave p.x\nrun transient(stop = 1 s)\n'
    (tmp_path / "second.net").write_text(text)
    ends: list[float] = []
    netsim.load(tmp_path / "second.net").run(progress=lambda share, time, steps: ends.append(time) if share == 1.0 else None)
    assert ends == [3.0, 1.0]
