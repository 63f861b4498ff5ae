"""What a single run tells of its accuracy reaches every analysis of many runs: which case, why, once per kind, whoever computes it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import netsim
from netsim import cli
from netsim.analyses.many.lanes import lanes as lanes_module
from netsim.results.files import read, write
from netsim.results.over_cases.one_per_code import NAMED, one_per_code
from netsim.text.errors import Problem, SimulationError
from stopped_sweeps import stopped_and_resumed

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
W = 2 * np.pi


def resonance(size=1.0, period=1.0):
    """A tank whose losses r1 decide whether errors of steps are forgotten."""
    return (
        f"use electrical\nparam R = 1 MOhm\nc1 capacitor (a, ground) C = {period!r} F, start v = {size!r} V\n"
        f"l1 inductor (a, ground) L = {period / W**2!r} H\nr1 resistor (a, ground) R = R\nmeasure top = max(a.v)\n"
    )


RUN = {"stop": 100.0, "method": "trbdf2", "rtol": 1e-4}
LOSSES = [0.1, 1e9, 0.2, 0.3, 2e9]
DOUBTFUL = [False, True, False, False, True]


def told_by_single_runs(model, name, values, **options):
    """Codes and messages of the warnings of each run by itself."""
    found = []
    for value in values:
        (samples,) = replace(model.with_params({name: value}), network=_with_run(model)).samples(options)
        found.append("\n".join(f"{p.code} {p.message}" for p in samples.warnings))
    return found


def _with_run(model):
    return replace(model.network, runs=netsim.load("use electrical\nr resistor (a, ground) R = 1 Ohm\nrun transient(stop = 1 s)\n").network.runs)


@pytest.mark.parametrize(("size", "period"), [(1.0, 1.0), (1e-9, 1.0), (1e6, 1e-6)])
@pytest.mark.parametrize("of", [["top"], ["top", "a.v"]], ids=["measures", "signals"])
def test_a_sweep_tells_which_cases_are_doubtful_and_why(size, period, of):
    model = netsim.load(resonance(size, period))
    given = {**RUN, "stop": 100 * period}
    with pytest.warns(RuntimeWarning, match=r"^W506 in 2 of 5 cases \(2 and 5; the first: R = 1 GΩ\): the errors of the steps"):
        found = model.sweep({"R": [each for each in LOSSES]}, of=of, workers=1, **given)
    assert found["doubtful"].dims == found["warnings"].dims == ("R",)
    assert found["doubtful"].values.tolist() == DOUBTFUL and found["holds"].values.all()
    assert found["warnings"].values.tolist() == told_by_single_runs(model, "R", LOSSES, **given)
    assert len(found.attrs["warnings"].splitlines()) == 1 and found.attrs["failures"] == 0
    assert "use a smaller rtol" in found.attrs["warnings"] and "notes" in found.attrs


@pytest.mark.parametrize("lanes", [1, 2])
def test_all_workers_tell_the_same(lanes):
    model = netsim.load(resonance())
    over = {"R": [0.1, 1e9] * 8}
    one, two = (model.sweep(over, of=["top"], workers=n, lanes=lanes, **RUN) for n in (1, 2))
    assert one["warnings"].values.tolist() == two["warnings"].values.tolist() and one.attrs["warnings"] == two.attrs["warnings"]
    assert one["doubtful"].values.tolist() == [False, True] * 8


def test_files_have_it(tmp_path):
    model = netsim.load(resonance())
    found = model.sweep({"R": [*LOSSES[:2], -1.0]}, workers=1, **RUN)
    (file,) = write(found, tmp_path / "result.nc")
    again = read(file)
    for name in ("warnings", "message", "doubtful", "failed"):
        assert again[name].values.tolist() == found[name].values.tolist(), name
    assert again.attrs["warnings"] == found.attrs["warnings"]
    (file,) = write(found, tmp_path / "result.csv")
    remarks = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert [line[:14] for line in remarks if line.startswith("# case ")] == ["# case 2: W506", "# case 3: E234"]
    assert [line[:15] for line in remarks if line.startswith("# warning: ")] == ["# warning: W506", "# warning: E234"]
    rows = read(file)
    assert rows["doubtful"].values.tolist() == [0, 1, 0] and rows["failed"].values.tolist() == [0, 0, 1]
    assert rows.attrs["finished"] and rows.attrs["warnings"] == found.attrs["warnings"]


def test_a_resumed_sweep_tells_what_was_told_before(tmp_path, monkeypatch):
    line = "run sweep(stop = 100 s, method = trbdf2, rtol = 1e-4, over = [R = [1e9, -1, 1, 2e9] Ohm], workers = 1)"
    model = netsim.load(resonance() + line + "\n")
    (whole,) = model.samples()
    again, computed = stopped_and_resumed(model, "R", tmp_path / "result.nc.part", monkeypatch)
    assert len(computed) == 5 and again.warnings == whole.warnings
    assert [problem.code for problem in again.warnings] == ["W506", "E234"] and again.warnings[1].span is not None
    assert again.table["warnings"].values.tolist() == whole.table["warnings"].values.tolist()


@pytest.mark.parametrize(("values", "status", "codes"), [("1, 1e9", 0, ["W506"]), ("1, 2", 0, []), ("1, -1", 1, ["E234"])])
def test_the_command_says_it_once_and_ends_as_a_single_run_would(tmp_path, capsys, values, status, codes):
    """Also where nothing else is said; files are complete."""
    file, out = tmp_path / "tank.net", tmp_path / "tank.csv"
    file.write_text(resonance() + f"run sweep(stop = 100 s, method = trbdf2, rtol = 1e-4, over = [R = [{values}] Ohm])\n")
    assert cli.main(["run", str(file), "-o", str(out), "--quiet"]) == status
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(" ")]
    assert len(told) == len(codes) and all(f"{code} in 1 of 2 cases (2: R = " in line for code, line in zip(codes, told))
    assert len(read(out)["top"]) == 2 and not (tmp_path / "tank.csv.part").exists()


SHAFT = """use rotational
param J = 1 kg.m2
param k = 1
i1 inertia (a) J = J
i2 inertia (b) J = J
t1 torque (a) T = {torque!r} N.m
s1 torsion_spring (a, b) c = {stiffness!r} N.m/rad
start a.phi = 0
start b.phi = 0
start a.w = {speed!r} rad/s
start b.w = {speed!r} rad/s
"""


def shaft(size=1.0):
    """A torque that is a small difference of what turns far (tests/core/test_readings.py)."""
    return SHAFT.format(torque=1e-4 * size * W**2, stiffness=W**2 / 2, speed=10.0 * size)


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e6])
@pytest.mark.parametrize("of", ["s1.t", "abs(a.phi - k*b.phi)", "most"])
def test_readings_of_cases_and_lanes_are_told(size, of):
    model = netsim.load(shaft(size) + "measure most = max(s1.t)\n")
    alone, wide = (model.sweep({"J": [1.0, 2.0, 3.0]}, of=[of], stop=5.0, lanes=n, workers=1) for n in (1, 3))
    assert wide.attrs["lanes"] == 3 and alone["doubtful"].values.all()
    assert [text[:6] for text in alone["warnings"].values] == ["W520 '"] * 3
    assert wide["warnings"].values.tolist() == alone["warnings"].values.tolist()


@pytest.mark.parametrize("k", ["1", "0"])
def test_weights_of_sums_are_those_of_each_lane(k):
    """Where a parameter is 0 there is no sum, and lanes run by themselves; elsewhere each lane has its own."""
    model = netsim.load(shaft().replace("param k = 1", f"param k = {k}"))
    for ks in ([1.0, 1.0], [1.0, 0.0], [0.5, 1.0]):
        alone, wide = (model.sweep({"k": ks}, of=["a.phi - k*b.phi"], stop=5.0, lanes=n, workers=1) for n in (1, 2))
        assert wide["warnings"].values.tolist() == alone["warnings"].values.tolist()
        assert alone["doubtful"].values.tolist() == [k == 1.0 for k in ks]


SWING = """use translational
param c = 39.478417604357434 N/m
param x0 = 1 m
m1 mass (a) m = 1 kg, start x = x0
c1 spring (a, ground) c = c
measure top = max(a.x)
"""


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0]])
def test_each_lane_has_an_account_of_its_own(order, monkeypatch, tmp_path):
    """Implicit Euler takes all energy of a fast oscillation, and hardly any of a slow one, be it 1e9 times as large."""
    ran = []
    single = lanes_module.outcome
    monkeypatch.setattr(lanes_module, "outcome", lambda *given: ran.append(given[-1]["x0"]) or single(*given))
    model = netsim.load(SWING)
    cases = np.array([[39.478, 1e-6], [1e-6, 1e6], [39.478, 1.0], [1e-6, 1.0]])[order]
    cases = "\n".join(f"{c!r},{x!r}" for c, x in cases.tolist())
    given = {"of": ["top"], "stop": 10.0, "step": 0.01, "method": "euler", "workers": 1}
    (tmp_path / "cases.csv").write_text(f"c [N/m],x0 [m]\n{cases}\n")
    found, alone = (model.sweep(tmp_path / "cases.csv", lanes=n, **given) for n in (4, 1))
    lossy = [each in (0, 2) for each in order]
    assert found.attrs["lanes"] == 4 and found["doubtful"].values.tolist() == lossy
    assert found["warnings"].values.tolist() == alone["warnings"].values.tolist()
    assert sorted(ran) == [1e-6, 1.0], "the others stay side by side"


def test_a_lane_that_loses_too_much_fails_alone():
    """Under an error test more than 10 % are a failure (E515), of the case that has it."""
    model = netsim.load(SWING)
    found = model.sweep({"c": [39.478, 1e-6]}, of=["top"], stop=10.0, method="euler", rtol=1e-2, lanes=2, workers=1)
    assert found["failed"].values.tolist() == [True, False]
    assert found["message"].values[0].startswith("E515 the energy balance of implicit Euler misses")
    assert found.attrs["warnings"].startswith("E515 in 1 of 2 cases (1: c = 39.478 N/m)")


def test_errors_that_add_up_in_one_lane_are_told_of_it():
    """A lane whose oscillation decays hides nothing of one beside it that goes on, however small."""
    model = netsim.load(resonance().replace("start v = 1.0 V", "start v = U").replace("param R", "param U = 1 V\nparam R"))
    over = {"R": [0.1, 1e9], "U": [1e-9, 1e6]}
    found, alone = (model.sweep(over, of=["top"], lanes=n, workers=1, **RUN) for n in (4, 1))
    assert found["doubtful"].values.tolist() == alone["doubtful"].values.tolist() == [[False, False], [True, True]]
    assert found["warnings"].values.tolist() == alone["warnings"].values.tolist()


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_derivatives_tell_what_their_run_tells(way):
    model = netsim.load(resonance().replace("measure top = max(a.v)\n", ""))
    for losses, code in ((1e9, "W506"), (0.1, "")):
        found = model.with_params(R=losses).sensitivity(to=["c1.C"], of=["a.v"], derivatives=way, **RUN)
        assert found.attrs["warnings"][:4] == code
    with pytest.raises(SimulationError, match="E515"):
        netsim.load(SWING).sensitivity(to=["c"], of=["a.x"], stop=10.0, method="euler", rtol=1e-2)
    if way == "forward":
        found = netsim.load(shaft()).sensitivity(to=["J"], of=["s1.t"], stop=5.0)
        assert found.attrs["warnings"].startswith("W520 's1.t' may be off by ")


def test_a_fit_tells_what_its_last_run_tells(tmp_path):
    t = np.linspace(0.5, 100, 200)
    rows = "\n".join(f"{a!r},{b!r}" for a, b in zip(t.tolist(), np.cos(W * t).tolist()))
    (tmp_path / "data.csv").write_text(f"time [s],a.v [V]\n{rows}\n")
    model = netsim.load(resonance()).with_params(R=1e9)
    found = model.fit(tmp_path / "data.csv", ["a.v"], {"c1.v.start": ("0.5 V", "2 V")}, method="trbdf2", rtol=1e-4)
    assert found.attrs["warnings"].startswith("W506 the errors of the steps may have added up to ")


DRIVEN = """use electrical
param R = 1 kOhm
v1 voltage (a, ground) v = 1 V*sin(6283.185307179586 Hz*time)
r1 resistor (a, b) R = R
c1 capacitor (b, ground) C = 1 uF
save b.v
"""


def test_periodic_states_tell_what_a_period_tells():
    model = netsim.load(DRIVEN)
    found = model.analyse("periodic", period=1e-3, step=5e-5, rtol=1e-9)
    assert found.attrs["warnings"].startswith("W502 in 20 of 20 steps the estimated error is larger than 10 rtol")
    assert model.analyse("periodic", period=1e-3).attrs["warnings"] == ""
    given = {"over": ["R"], "from": "1 kOhm", "to": "2 kOhm", "points": 3}
    found = model.analyse("sweep_periodic", step=5e-5, rtol=1e-9, **given)
    assert found.attrs["warnings"].startswith("W502 in 7 of 7 periodic states (1, 2, 3, 4, 5, 6 and 1 more; the first: R = 1 kΩ): in 20 of 20 ")
    assert model.analyse("sweep_periodic", **given).attrs["warnings"] == ""


def test_kinds_are_one_per_kind_with_their_first_runs():
    one, other = Problem("W1", "first", hint="mend it"), Problem("W1", "later")
    many = [(i, [other if i else one]) for i in range(NAMED + 3)]
    told = one_per_code([*many, (20, [Problem("W2", "else")])], 30, "case", lambda i: f"x = {i}")
    assert [p.message for p in told] == [
        "in 9 of 30 cases (1, 2, 3, 4, 5, 6 and 3 more; the first: x = 0): first",
        "in 1 of 30 cases (21: x = 20): else",
    ]
    assert told[0].hint == "mend it" and one_per_code([], 3, "case", str) == ()


def test_a_sweep_without_doubts_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = netsim.load(resonance()).sweep({"R": [0.1, 0.2]}, workers=1, **RUN)
    assert found.attrs["warnings"] == "" and not found["doubtful"].values.any() and set(found["warnings"].values.tolist()) == {""}
