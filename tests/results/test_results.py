"""Data sets and files: what is written is what is read, units and partial results included."""

import csv
import os
from dataclasses import replace

import numpy as np
import pytest

import netsim
from netsim.results import files as results
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem, SimulationError

TIME = np.linspace(0.0, 1.0, 11)
ENERGY = np.column_stack([1.0 + TIME, 5.0 * TIME, 3.0 * TIME])  # 1 J of the 2 J that should be there at the end is missing
SAMPLES = Samples(
    "",
    TIME,
    (Signal("a.x", "m", "position"), Signal("tap[6].v", "V"), Signal("a.x/b.v", "s"), Signal("max(a.x, 1)")),
    np.column_stack([np.sin(TIME) / 3.0, 1e-300 * TIME, TIME**3, 1e17 * TIME + 1.0]),
    ENERGY,
    {"analysis": "transient", "method": "euler", "step": 0.1, "steps": np.int64(10), "netlist": "use electrical\n"},
)
PARTIAL = replace(SAMPLES, finished=False, message="interrupted at t = 1 s", attributes={"failure": Problem("E501", "no solution,\nat all")})


def test_a_data_set_has_names_units_and_the_energy_account():
    data = results.dataset(SAMPLES)
    assert list(data.data_vars) == ["a.x", "tap[6].v", "a.x/b.v", "max(a.x, 1)", *results.ENERGIES]
    assert [data[s.name].attrs["units"] for s in SAMPLES.signals] == ["m", "V", "s", "1"]
    assert data["a.x"].attrs["long_name"] == "position" and data["time"].attrs["units"] == "s"
    assert data["energy.supplied"].values[-1] == 5.0
    assert data.attrs["netlist"] == "use electrical\n" and data.attrs["steps"] == 10 and data.attrs["finished"] == 1
    assert data.attrs["energy_balance"] == pytest.approx(1.0)


def test_a_signal_called_energy_does_not_replace_the_account():
    data = results.dataset(replace(SAMPLES, signals=(Signal("energy.stored", "J"), *SAMPLES.signals[1:])))
    assert data["energy.stored"].values[5] == SAMPLES.values[5, 0]
    assert data["energy.stored (network)"].values[5] == ENERGY[5, 0]


def test_no_samples_have_no_missing_energy():
    assert results.energy_balance(np.zeros((0, 3))) == 0.0


@pytest.mark.parametrize("extension", [".csv", ".nc"])
def test_what_is_written_is_read_to_the_last_bit(tmp_path, extension):
    (file,) = results.write(SAMPLES, tmp_path / f"new/folder/a{extension}")
    data = results.read(file)
    for signal in SAMPLES.signals:
        assert (data[signal.name].values == SAMPLES.series(signal.name)).all()
        assert data[signal.name].attrs["units"] == (signal.unit or "1")
    assert (data["time"].values == TIME).all() and data.attrs["finished"] is True
    assert os.listdir(file.parent) == [file.name]


def test_netcdf_keeps_every_attribute(tmp_path):
    expected = results.dataset(PARTIAL)
    data = results.read(results.write(PARTIAL, tmp_path / "a.nc")[0])
    assert data.identical(expected)
    assert data.attrs["failure"] == "E501 no solution,\nat all"


def test_a_csv_begins_with_names_and_units(tmp_path):
    (file,) = results.write(SAMPLES, tmp_path / "a.csv")
    with file.open(newline="") as stream:
        header, first, *_ = csv.reader(stream)
    assert header == ["time [s]", "a.x [m]", "tap[6].v [V]", "a.x/b.v [s]", "max(a.x, 1) [1]"]
    assert first == ["0.0", "0.0", "0.0", "0.0", "1.0"]
    assert "#" not in file.read_text()


def test_a_partial_csv_says_so_in_its_last_line(tmp_path):
    (file,) = results.write(PARTIAL, tmp_path / "a.csv")
    assert file.read_text().splitlines()[-1] == "# partial result: interrupted at t = 1 s"
    data = results.read(file)
    assert data.attrs == {"finished": False, "message": "interrupted at t = 1 s"} and data.sizes["time"] == len(TIME)


@pytest.mark.parametrize("extension", [".csv", ".nc"])
def test_the_log_of_events_is_read_back(tmp_path, extension):
    log = "0.1\tb\tx < 0, y > 1\tn = 1, reinit v\n0.30000000000000004\tleg[2].stop\tnot on\ton = 0"
    data = results.read(results.write(replace(PARTIAL, attributes={"event_log": log}), tmp_path / f"a{extension}")[0])
    assert data.attrs["event_log"] == log
    assert data.attrs["message"] == "interrupted at t = 1 s" and data.sizes["time"] == len(TIME)


def test_several_runs_are_groups_or_files(tmp_path):
    runs = [replace(SAMPLES, name="fall"), SAMPLES, replace(PARTIAL, name="fall")]
    assert [f.name for f in results.write(runs, tmp_path / "a.csv")] == ["a-fall.csv", "a-run2.csv", "a-fall-3.csv"]
    (file,) = results.write(runs, tmp_path / "a.nc")
    groups = results.read(file)
    assert list(groups) == ["fall", "run2", "fall-3"] or sorted(groups) == sorted(["fall", "run2", "fall-3"])
    assert groups["fall"].identical(results.dataset(runs[0])) and groups["fall-3"].attrs["finished"] is False


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("a.cvs", "E430", "did you mean '.csv'?"), ("a", "E430", ".csv, .nc"), ("a.xlsx", "E430", ".csv, .nc"), ("taken.csv", "E431", "it is a folder")],
)
def test_a_wrong_target_is_refused(tmp_path, name, code, words):
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(InputError) as error:
        results.check_target(tmp_path / name)
    assert error.value.problems[0].code == code and words in str(error.value)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    (file,) = results.write(SAMPLES, tmp_path / "a.csv")
    before = file.read_text()

    def stops_half_way(place):
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(SimulationError, match="No space left"):
        results.write_atomically(file, stops_half_way)
    assert file.read_text() == before and os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("text", ["", "x,y\n1,2\n", "time [s],a [m]\n0.0,one\n", "time [s],a [m]\n0.0\n"])
def test_what_is_no_result_is_not_read(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match="not a result"):
        results.read(tmp_path / "a.csv")


def test_a_missing_result_names_a_near_one(tmp_path):
    results.write(SAMPLES, tmp_path / "motor.csv")
    with pytest.raises(InputError) as error:
        results.read(tmp_path / "moter.csv")
    assert error.value.problems[0].code == "E432" and "motor.csv" in error.value.problems[0].hint


def test_components_of_indexed_nodes_and_instances_have_names():
    """The indices of a node or an instance are part of its name, those of its quantity pick a component."""
    chain = netsim.load("""
use spatial
use signal
hinge[1]  spherical  (ground, link[1])     at = [0, 0, 0] m
hinge[k]  spherical  (link[k-1], link[k])  at = [k - 1, 0, 0]*1 m  for k in 2..4
bar[k]    body       (link[k])             m = k*1 kg, I = diag(1, 1, 1)*1 kg.m2, at = [k - 0.5, 0, 0]*1 m  for k in 1..4
y[k]      constant   (written[k])          value = k*k  for k in 1..4
run transient(stop = 2 ms, step = 1 ms, method = euler)
save link[4].r.x, link[4].r[2], link[3].R[1, 1], bar[4].momentum.z, hinge[4].force.z, written[3]
""")
    data = results.dataset(chain.samples()[0])
    wanted = ["link[4].r.x", "link[4].r.y", "link[3].R[1,1]", "bar[4].momentum.z", "hinge[4].force.z", "written[3]"]
    assert [name for name in data.data_vars if not name.startswith("energy")] == wanted
    assert [float(data[name][0]) for name in wanted[:4]] == pytest.approx([3.5, 0.0, 1.0, 0.0])
    assert np.all(data["written[3]"] == 9.0)


def test_expressions_pick_components_and_entries_by_index():
    """A body turns by q about z: its matrix and its position say so, whole or by their indices."""
    expressions = {
        "entry": ("a.R[2, 1]*2", lambda q: 2 * np.sin(q)), "row": ("dot(a.R[1], [1, 0, 0])", np.cos),
        "second": ("a.r[2] + 0*a.r.x", lambda q: 0.5 * np.sin(q)), "size": ("norm(a.r)", lambda q: 0.5 + 0 * q),
    }  # fmt: skip
    text = "use spatial\nworld gravity = [0, 0, 0] m/s2\nb body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0.5, 0, 0] m\n"
    text += "h revolute (ground, a) at = [0, 0, 0] m, axis = [0, 0, 1]\nstart h.rate = 2 rad/s\nrun transient(stop = 1 s)\n"
    text += "".join(f"let {name} = {expression}\n" for name, (expression, _) in expressions.items()) + f"save h.q, {', '.join(expressions)}\n"
    (samples,) = netsim.load(text).samples()
    for name, (_, expected) in expressions.items():
        assert samples.series(name) == pytest.approx(expected(samples.series("h.q")), abs=1e-5), name
