"""Many runs: cases as their line says them, the bits of single runs whatever the threads, failures kept, data sets written and read."""

from dataclasses import replace

import numpy as np
import pytest

import netsim
from netsim.analyses.many import one_case
from netsim.analyses.many.cases import shares_of
from netsim.analyses.many.indices import design, sobol_indices
from netsim.results.files import read, samples_in, samples_of, write
from netsim.results.over_cases.pictures import _kind, _Sweep, drawn
from netsim.results.partial.recording import Recording
from netsim.text.errors import InputError, SimulationError
from stopped_sweeps import stopped_and_resumed

LAG = """use electrical
param U = 5 V
v1 voltage (a, ground) v = U
r1 resistor (a, b) R = 1 kOhm
c1 capacitor (b, ground) C = 1 uF, start v = 0 V
measure rise = when(b.v > 0.9*U) - when(b.v > 0.1*U)
"""


@pytest.fixture(scope="module")
def lag():
    return netsim.load(LAG)


def bits(found):
    """All numbers of a data set."""
    return {name: found[name].values.tobytes() for name in found.data_vars if found[name].dtype.kind in "fb"}


def test_a_grid_has_a_dimension_for_each_parameter(lag):
    """The rise takes R C ln 9; 5 V (1 - exp(-t/RC)) + v0 exp(-t/RC) is the voltage."""
    over = {"r1.R": ("1 kOhm", "2 kOhm"), "c1.C": [1e-6, "0.5 uF"], "c1.v.start": [0.0, 0.2]}
    found = lag.sweep(over, of=["rise", "b.v"], points=3, stop="12 ms", rtol=1e-9)
    assert dict(found.sizes) == {"r1.R": 3, "c1.C": 2, "c1.v.start": 2, "time": 101}
    tau = found["r1.R"] * found["c1.C"]
    assert float(abs(found["rise"] / (tau * np.log(9)) - 1).max()) < 1e-6
    exact = 5 + (found["c1.v.start"] - 5) * np.exp(-found["time"] / tau)
    assert float(abs(found["b.v"] - exact).max()) < 1e-7
    assert found["b.v"].dims == ("r1.R", "c1.C", "c1.v.start", "time") and found["b.v"].attrs["units"] == "V"


@pytest.mark.parametrize("sampling", ["random", "latin", "sobol"])
def test_cases_lie_in_their_ranges_and_spread_evenly(sampling):
    shares = shares_of(sampling, 256, 3, 1)
    assert shares.shape == (256, 3) and (shares >= 0).all() and (shares < 1).all()
    assert np.array_equal(shares, shares_of(sampling, 256, 3, 1))
    assert not np.array_equal(shares, shares_of(sampling, 256, 3, 2))
    counts = np.histogram(shares[:, 0], 16, (0, 1))[0]
    assert (counts == 16).all() if sampling != "random" else abs(counts - 16).max() <= 16


def test_distributions_have_their_moments(lag):
    over = {"r1.R": "normal(1 kOhm, 50 Ohm)", "c1.C": "1 uF +- 10 %", "U": "loguniform(1 V, 100 V)"}
    found = lag.sweep(over, sampling="sobol", cases=64, stop="10 ms")
    assert float(found["r1.R"].mean()) == pytest.approx(1000, rel=5e-3)
    assert float(found["r1.R"].std()) == pytest.approx(50, rel=0.1)
    assert 0.9e-6 <= float(found["c1.C"].min()) < 0.91e-6 and 1.09e-6 < float(found["c1.C"].max()) <= 1.1e-6
    assert float(np.exp(np.log(found["U"]).mean())) == pytest.approx(10, rel=0.05)


def test_corners_are_the_ends_of_all_ranges(lag):
    found = lag.sweep({"r1.R": "1 kOhm +- 5 %", "c1.C": ("1 uF", "2 uF")}, sampling="corners", stop="10 ms")
    assert sorted(zip(found["r1.R"].values.tolist(), found["c1.C"].values.tolist())) == [
        (950.0, 1e-6), (950.0, 2e-6), (1050.0, 1e-6), (1050.0, 2e-6),
    ]  # fmt: skip
    assert found.attrs["measure.max(rise)"] == pytest.approx(1050 * 2e-6 * np.log(9), rel=1e-5)


def test_the_bits_are_those_of_single_runs_whatever_the_threads(lag):
    over = {"r1.R": "1 kOhm +- 5 %", "c1.v.start": "uniform(0 V, 0.4 V)"}
    one, two = (lag.sweep(over, of=["rise", "b.v"], cases=12, stop="6 ms", workers=n) for n in (1, 2))
    assert bits(one) == bits(two)
    for i in (0, 7):
        fresh = netsim.load(LAG.replace("start v = 0 V", f"start v = {float(one['c1.v.start'][i])!r} V"))
        single = fresh.with_params({"r1.R": float(one["r1.R"][i])}).transient(stop="6 ms", sample=6e-5)
        assert single.attrs["measure.rise"] == float(one["rise"][i])


def test_a_file_of_cases(lag, tmp_path):
    (tmp_path / "cases.csv").write_text("r1.R [kOhm],c1.v.start [mV]\n1,0\n2,100\n")
    found = lag.sweep(tmp_path / "cases.csv", of=["b.v"], stop="1 ms")
    assert found["r1.R"].values.tolist() == [1e3, 2e3] and found["b.v"][:, 0].values.tolist() == [0.0, 0.1]
    (tmp_path / "wrong.csv").write_text("r1.R [V]\n1\n")
    with pytest.raises(InputError, match=r"the column 'r1\.R' is in V, but Ohm is wanted"):
        lag.sweep(tmp_path / "wrong.csv", stop="1 ms")


def test_failures_keep_their_message_and_stop_nothing(lag):
    found = lag.sweep({"r1.R": [-1.0, 1e3, 2e3]}, stop="6 ms")
    assert found["failed"].values.tolist() == [True, False, False]
    assert "must be > 0 Ohm" in str(found["message"][0].item()) and np.isnan(found["rise"][0])
    assert found.attrs["failures"] == 1
    with pytest.raises(SimulationError, match="E521 all 2 cases failed"):
        lag.sweep({"r1.R": [-1.0, -2.0]}, stop="6 ms")


def test_assertions_give_the_yield():
    model = netsim.load(LAG + 'assert rise < 3 ms "too slow"\nrun sweep(stop = 10 ms, over = [r1.R = [1, 1.2, 1.4, 2] kOhm])\n')
    found = model.run()
    assert found["holds"].values.tolist() == [True, True, False, False]
    assert found.attrs["measure.yield"] == 0.5 and found["message"][3].item() == "too slow"


@pytest.mark.parametrize("over", [{"r1.R": [1e3, 2e3], "c1.C": [1e-6, 2e-6]}, {"r1.R": "1 kOhm +- 5 %"}])
def test_files_hold_the_data_set(lag, tmp_path, over):
    found = lag.sweep(over, of=["rise", "b.v"], cases=3, stop="20 ms")
    (file,) = write(found, tmp_path / "result.nc")
    again = read(file)
    assert bits(again) == bits(found) and dict(again.sizes) == dict(found.sizes)
    assert set(again.coords) == set(found.coords) and again["failed"].dtype == bool
    (file,) = write(found, tmp_path / "result.csv")
    rows = read(file)
    assert rows["rise"].values.tolist() == found["rise"].values.ravel().tolist()
    assert rows["final(b.v)"].values.tolist() == found["b.v"].values[..., -1].ravel().tolist()


@pytest.mark.parametrize(
    ("over", "options", "said"),
    [
        ({"r9.R": [1.0]}, {}, "E236"),
        ({"r1.R": "1 kOhm"}, {}, "E424"),
        ({"r1.R": "2 .. 1 kOhm"}, {}, "range of 'r1.R' is empty"),
        ({"r1.R": "loguniform(-1 Ohm, 1 Ohm)"}, {}, "no logarithm"),
        ({"r1.R": ("1 kOhm", "2 kOhm")}, {"points": 1.5}, "whole number"),
        ({"r1.R": ("1 kOhm", "2 kOhm")}, {"sampling": "dense"}, "sampling must be one of"),
        ({"r1.R": ("1 kOhm", "2 kOhm")}, {"points": 1e7}, "E260"),
    ],
)
def test_what_cannot_be_swept_is_told(lag, over, options, said):
    with pytest.raises(InputError, match=said):
        lag.sweep(over, stop="1 ms", **options)


def test_a_resumed_sweep_has_the_bits_of_one_that_went_through(lag, tmp_path, monkeypatch):
    (line,) = netsim.load(LAG + "run sweep(stop = 6 ms, over = [r1.R = [-1, 1, 2, 3, 4, 5] kOhm], of = [rise, b.v], workers = 1)").network.runs
    model = replace(lag, network=replace(lag.network, runs=(line,)))
    (whole,) = model.samples()
    folder = tmp_path / "result.nc.part"
    again, computed = stopped_and_resumed(model, "r1.R", folder, monkeypatch)
    assert computed == [-1e3, 1e3, 2e3, 3e3, 3e3, 4e3, 5e3], "what was done is not done again"
    assert again.values.tobytes() == whole.values.tobytes()
    for name, each in whole.table.data_vars.items():
        assert np.array_equal(again.table[name].values, each.values, equal_nan=each.values.dtype.kind == "f"), name
    other = replace(lag, network=replace(lag.network, runs=(replace(line, options=line.options[:-1]),)))
    with pytest.raises(InputError, match="of a sweep with other values of parameters"):
        other.with_params(U=4.0).samples(recording=Recording(folder, resume=True))


def test_cases_are_begun_in_the_arrays_of_one_run(lag, monkeypatch):
    """Starts, sources and parts vary; none is prepared in Python, and each has the bits of a run by itself."""
    monkeypatch.setattr(one_case, "task_with_values", lambda task, values: pytest.fail("a case was prepared by itself"))
    over = {"r1.R": [500.0, 1500.0], "U": [0.5, 2.0], "c1.v.start": [0.0, 0.1]}
    found = lag.sweep(over, of=["rise", "b.v"], stop="6 ms", workers=1)
    for r in over["r1.R"]:
        for u in over["U"]:
            model = netsim.load(LAG + "run transient(stop = 6 ms)").with_params({"r1.R": r, "U": u})
            (samples,) = model.samples({"sample": 6e-3 / 100})
            (figure,) = (each for each in samples.figures if each.name == "rise")
            here = found.sel({"r1.R": r, "U": u, "c1.v.start": 0.0})
            assert float(here["rise"]) == figure.value
            assert np.array_equal(here["b.v"].values, samples.series("b.v"))


def test_what_keeps_measures_alone_fills_no_samples(lag, monkeypatch):
    """The figures have the bits of single runs at their own samples; a case has two samples, one at each end."""
    rows = list[int]()
    seen = lambda machine, samples, asked: rows.append(len(samples.time)) or kept(machine, samples, asked)  # noqa: E731
    kept = one_case.outcome_of_samples
    monkeypatch.setattr(one_case, "outcome_of_samples", seen)
    found = lag.sweep({"r1.R": [500.0, 800.0, 1500.0]}, of=["rise"], stop="6 ms", workers=1)
    assert set(rows) == {2}
    for r in (500.0, 800.0, 1500.0):
        single = lag.with_params({"r1.R": r}).transient(stop="6 ms")
        assert single.sizes["time"] > 2 and single.attrs["measure.rise"] == float(found["rise"].sel({"r1.R": r}))


def test_assertions_are_judged_at_samples_that_nobody_keeps():
    model = netsim.load(LAG + "assert b.v < 4.5 V\n")
    found = model.sweep({"r1.R": ["1 kOhm", "10 kOhm"]}, of=["rise"], stop="4 ms", workers=1)
    assert found["holds"].values.tolist() == [False, False]  # one rises too far; the other has no rise to 0.9 U
    assert "assertion" in str(found["message"].values[0]) and "never becomes true" in str(found["message"].values[1])


def test_sobol_indices_of_ishigamis_function():
    """f = sin x1 + 7 sin^2 x2 + x3^4 sin(x1)/10 of uniform x in [-pi, pi]: the third one acts by the first one alone.
    Source of the closed form: T. Ishigami, T. Homma, An importance quantification technique, 1990."""
    a, b, pi = 7.0, 0.1, np.pi
    x1, x2, x3 = (2 * pi * design(shares_of("sobol", 2**14, 6, 3)) - pi).T
    first, total, first_error, total_error = sobol_indices(np.sin(x1) + a * np.sin(x2) ** 2 + b * x3**4 * np.sin(x1), 3)
    alone = np.array([(1 + b * pi**4 / 5) ** 2 / 2, a**2 / 8, 0.0])
    together = b**2 * pi**8 * (1 / 18 - 1 / 50)
    variance = alone.sum() + together
    assert np.abs(first - alone / variance).max() < 2e-3
    assert np.abs(total - (alone + together * np.array([1, 0, 1])) / variance).max() < 2e-3
    assert (first_error > 0).all() and first_error.max() < 0.02 and (total_error > 0).all()
    broken = np.sin(x1)
    broken[5] = np.nan
    assert sobol_indices(broken, 3)[0] == pytest.approx([1, 0, 0], abs=1e-3)


def test_a_sweep_for_sobol_indices(lag):
    """The rise is ln 9 R C, whose indices those of the sweep are."""
    found = lag.sweep({"r1.R": "1 kOhm +- 10 %", "c1.C": "1 uF +- 20 %"}, sampling="saltelli", cases=32, stop="8 ms")
    assert dict(found.sizes) == {"case": 4 * 32}
    exact = np.log(9) * found["r1.R"].values * found["c1.C"].values
    assert np.abs(found["rise"].values / exact - 1).max() < 1e-4
    first, total, *_ = sobol_indices(exact, 2)
    told = [[found.attrs[f"measure.{word}(rise, {name})"] for name in ("r1.R", "c1.C")] for word in ("S1", "ST")]
    assert np.array(told) == pytest.approx(np.array([first, total]), abs=1e-3)


def test_corners_tell_where_it_is_worst(lag):
    found = lag.sweep({"r1.R": "1 kOhm +- 5 %", "c1.C": ("1 uF", "2 uF")}, sampling="corners", stop="12 ms")
    assert "rise is largest at r1.R = 1.05 kΩ, c1.C = 2 µF" in found.attrs["notes"]


PICTURED = LAG + 'assert rise < 2.3 ms "too slow"\nplot b.v\n'


@pytest.mark.parametrize(
    ("over", "options", "kinds"),
    [
        ({"r1.R": "1 kOhm +- 10 %"}, {"cases": 30}, ["histogram", "fan"]),
        ({"r1.R": ("0.9 kOhm", "1.1 kOhm")}, {"points": 5}, ["curve", "curves"]),
        ({"r1.R": ("0.9 kOhm", "1.1 kOhm"), "c1.C": [1e-6, 1.1e-6]}, {"points": 5}, ["heat_map", "fan"]),
        ({"r1.R": "1 kOhm +- 10 %", "U": "5 V +- 1 %"}, {"cases": 4, "sampling": "saltelli"}, ["bars", "fan"]),
    ],
)
def test_pictures(over, options, kinds, tmp_path):
    """What is drawn of measures and signals, from memory and from a file; what holds and what does not is marked."""
    model = netsim.load(PICTURED)
    found = model.sweep(over, stop="6 ms", **options)
    (file,) = write(found, tmp_path / "result.nc")
    for runs in (samples_in(found), samples_of(file)):
        sweep = _Sweep(runs[0])
        assert [_kind(sweep, name).__name__.strip("_") for name in ("rise", "b.v")] == kinds
        figure = drawn(runs[0], ())
        upper, lower = figure.axes[:2]
        assert "yield" in figure.get_suptitle() and lower.get_ylabel() == "b.v [V]"
        if kinds[0] == "histogram":
            bars = sum(patch.get_height() for patch in upper.patches)
            assert bars == 30 and upper.get_xlabel() == "rise [ms]"
            assert {text.get_text() for text in upper.get_legend().get_texts()} == {"holds", "does not hold"}
        if kinds[0] == "curve":
            x, y = upper.get_lines()[0].get_data()
            assert np.allclose(y * 1e-3, found["rise"]) and np.allclose(x, [0.9, 0.95, 1.0, 1.05, 1.1], rtol=1e-3 if x[0] < 10 else 1e3)
        if kinds[0] == "heat_map":
            (mesh,) = upper.collections
            assert np.allclose(mesh.get_array() * 1e-3, found["rise"].values.T)
        if kinds[0] == "bars":
            assert [text.get_text() for text in upper.get_yticklabels()][-1] == "r1.R"
        if kinds[1] == "fan":
            shade = lower.collections[0].get_paths()[0].vertices[:, 1]
            values = found["b.v"].values.reshape(-1, 101)
            assert shade.max() == pytest.approx(values.max()) and shade.min() == pytest.approx(values.min())
    with pytest.raises(InputError, match="the sweep has no 'rice'"):
        model.plot("rice", result=found)
    assert model.plot("rise", result=found).figure.axes[0] is not None


def test_a_measure_that_means_nothing_is_told_before_any_case_runs(lag, monkeypatch):
    model = netsim.load(LAG + "measure wrong = max(nothing.v)\n")
    monkeypatch.setattr(one_case, "outcome_of_samples", lambda *given: pytest.fail("a case ran"))
    for asks in (lambda: model.sweep({"r1.R": ["1 kOhm", "2 kOhm"]}, stop="1 ms", workers=1), lambda: model.transient(stop="1 ms")):
        with pytest.raises(InputError) as refused:
            asks()
        assert [(problem.code, problem.span.column) for problem in refused.value.problems] == [("E206", 21)]


RECTIFIER = """use electrical
param U = 1 V
src voltage (a, ground) v = U*sin(314 Hz*time)
d1 diode (a, b) limit = 1 A
r1 resistor (b, ground) R = 1 Ohm
measure top = max(r1.i)
"""


@pytest.mark.parametrize("given", [{}, {"lanes": 3}, {"of": ["top", "b.v"]}], ids=["single", "lanes", "signals"])
def test_what_components_assert_is_told_of_each_case(given):
    """A diode beyond its limit: the case has its figures, and says what they are worth."""
    found = netsim.load(RECTIFIER).sweep({"U": [1.0, 3.0, 1.2, 9.0]}, stop="10 ms", workers=1, **({"of": ["top"]} | given))
    beyond = found["top"].to_numpy() > 1.0
    assert beyond.tolist() == [False, True, False, True]
    assert [text.startswith("diode 'd1' at t = 0.00") for text in found["message"].to_numpy()] == beyond.tolist()
    assert found["holds"].to_numpy().all() and not found["failed"].to_numpy().any()
    assert "what a component asserts does not hold in 2 cases, first: diode 'd1' at t = 0.00" in found.attrs["notes"]
