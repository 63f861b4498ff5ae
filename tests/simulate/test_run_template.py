"""Runs that begin in the arrays of another one: the bits of a run are those of its netlist and its values alone."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import netsim
from netsim.analyses.over_time import templates as over_time
from netsim.analyses.transient import ANALYSIS
from netsim.core.begin import variant as compiled
from netsim.initial.consistent import newton
from netsim.results.files import read
from netsim.simulate import run_template
from netsim.simulate.setup import start_of_run

FILTER = """use electrical
param R = 1 kOhm
param U = 1 V
v voltage   (a, ground) v = U
r resistor  (a, b)      R = R
c capacitor (b, ground) C = 1 uF, start v = 0.2 V
l inductor  (b, d)      L = 10 mH, start i = 1 uA
q resistor  (d, ground) R = 10*R
run transient(stop = 6 ms)
"""
DIODE = """use electrical
param R = 1 kOhm
param f = 50 Hz
v voltage   (a, ground) v = 5 V*sin(2*pi*f*time)
d diode     (a, b)
r resistor  (b, ground) R = R
c capacitor (b, ground) C = 10 uF
run transient(stop = 50 ms, rtol = 1e-5)
"""
PULSE = """use electrical
param R = 1 kOhm
param late = 1 ms
v voltage   (a, ground) v = 1 V*step(time, late)
r resistor  (a, b)      R = R
c capacitor (b, ground) C = 1 uF
run transient(stop = 6 ms)
"""
EULER = FILTER.replace("stop = 6 ms", "stop = 6 ms, step = 50 us, method = euler")
TEXTS = {"filter": FILTER, "diode": DIODE, "pulse": PULSE, "euler": EULER}
VALUES = {"R": 1700.0}


def alone(model):
    """The run that begins by itself: the readable start and what Python makes of it."""
    task = replace(model._task(), shared=None)
    return ANALYSIS.run(task, model.run_options()[0])


def anew(model):
    """The run in the arrays of another one; counted, so that it does not begin by itself unseen."""
    return model.samples()[0]


@pytest.fixture
def started(monkeypatch):
    """What compiled code answers where runs are begun anew."""
    found, original = [], run_template.begin
    monkeypatch.setattr(run_template, "begin", lambda *a: found.append(original(*a)) or found[-1])
    return found


def same(a, b):
    return all(np.array_equal(x, y) for x, y in ((a.time, b.time), (a.values, b.values), (a.energy, b.energy)))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_run_that_begins_anew_is_the_one_that_begins_by_itself(text, started):
    model = netsim.load(text)
    for values in ({}, VALUES, {"R": 20.0}):
        other = model.with_params(values)
        found, expected = anew(other), alone(other)
        assert len(found.time) == len(expected.time)
        scale = np.abs(expected.values).max(axis=0)
        assert np.all(np.abs(found.values - expected.values) <= 1e-9 * scale)
        assert np.array_equal(found.origin, expected.origin)
    assert started == [compiled.BEGUN] * 4  # the first one when the template is made


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_results_do_not_depend_on_what_ran_before(text):
    first = anew(netsim.load(text).with_params(VALUES))
    model = netsim.load(text)
    between = [anew(model.with_params({"R": r})) for r in (10.0, 1e5, 1e3)]
    again = anew(model.with_params(VALUES))
    assert same(first, again)
    assert not any(same(again, other) for other in between)
    with ThreadPoolExecutor(2) as pool:
        assert all(same(first, found) for found in pool.map(lambda _: anew(model.with_params(VALUES)), range(6)))


def test_results_that_were_handed_over_stay():
    model = netsim.load(FILTER)
    first = anew(model)
    kept = first.values.copy(), first.energy.copy(), first.time.copy(), first.origin.copy()
    anew(model.with_params(VALUES))
    assert all(np.array_equal(a, b) for a, b in zip(kept, (first.values, first.energy, first.time, first.origin)))


def test_a_fresh_process_has_the_same_bits(tmp_path):
    (tmp_path / "filter.net").write_text(FILTER)
    model = netsim.load(tmp_path / "filter.net")
    anew(model.with_params({"R": 3.0}))
    here = model.with_params({"R": "1.7 kOhm"}).run()
    command = [sys.executable, "-m", "netsim", "run", "filter.net", "-p", "R=1.7 kOhm", "-o", "there.nc"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    there = read(tmp_path / "there.nc")
    assert np.array_equal(here["b.v"], there["b.v"]) and np.array_equal(here["time"], there["time"])


def test_inputs_of_other_sizes_and_starts_of_other_values():
    """U scales all but the start; what sources do and where starts are is taken anew."""
    model = netsim.load(FILTER)
    once, twice = anew(model), anew(model.with_params(U=2.0))
    expected = alone(model.with_params(U=2.0))
    assert same(twice, expected) and not same(once, twice)
    moved = netsim.load(FILTER.replace("start v = 0.2 V", "start v = 0.2*U"))
    assert anew(moved.with_params(U=2.0)).series("b.v")[0] == 0.4


def test_a_value_for_which_the_pulse_comes_at_another_time():
    model = netsim.load(PULSE)
    for late in (1e-3, 2.5e-3, 8e-3):
        found, expected = anew(model.with_params(late=late)), alone(model.with_params(late=late))
        assert found.series("b.v") == pytest.approx(expected.series("b.v"), abs=1e-12)


def test_rates_that_vanish_are_another_structure():
    """A diode without capacitance has an algebraic equation in the place of a differential one: no arrays of other runs serve."""
    model = netsim.load(DIODE.replace("d diode     (a, b)", "d diode (a, b) Cj = C").replace("param f", "param C = 1 nF\nparam f"))
    anew(model)
    assert same(anew(model.with_params(C=0.0)), alone(model.with_params(C=0.0)))


@pytest.mark.parametrize("wrong", [{"R": -1.0}, {"R": "1 V"}])
def test_values_out_of_bounds_are_told(wrong):
    model = netsim.load(FILTER)
    anew(model)
    with pytest.raises(netsim.InputError):
        anew(model.with_params(wrong))


@pytest.mark.parametrize("text", [DIODE, PULSE])
def test_a_start_is_searched_once(text, monkeypatch):
    """What a run begins with is what the runs after it begin with: the careful search does not find it again."""
    searched, careful = [], newton._step_by_step
    monkeypatch.setattr(newton, "_step_by_step", lambda stage, *rest: (searched.append(stage.k), careful(stage, *rest)))
    once, count = alone(netsim.load(text)), len(searched)
    first = anew(netsim.load(text))
    assert len(searched) == 2 * count
    assert np.allclose(first.values, once.values, rtol=1e-9, atol=1e-12)


def test_a_run_goes_on_as_it_was_begun_where_compiled_code_does_not_begin_it(monkeypatch):
    """The same bits as a run that begins by itself, whether that is known beforehand or not."""
    once = alone(netsim.load(DIODE))
    with monkeypatch.context() as patch:
        patch.setattr(run_template, "begin", lambda *parts: compiled.START)
        assert same(anew(netsim.load(DIODE)), once)
    found, starts = start_of_run.consistent_start, []

    def hard(*parts, **more):
        starts.append(parts)
        if len(starts) == 1:
            raise netsim.SimulationError([])
        return found(*parts, **more)

    asked = []
    monkeypatch.setattr(start_of_run, "consistent_start", hard)
    monkeypatch.setattr(over_time, "template_of", lambda *parts: asked.append(parts))
    assert np.allclose(anew(netsim.load(DIODE)).values, once.values, rtol=1e-6, atol=1e-9)
    assert len(starts) == 2 and not asked
