"""Calls from Python with what they cannot use: a sentence says what is wanted and what came, never an error from inside.

Each place is called with every value that is wrong there: `WRONG` of its kind. What else is right there stands in
`RIGHT`.
"""

import datetime
import decimal
import fractions
import pathlib

import numpy as np
import pytest
import xarray

import netsim
from netsim.results.files import read, write
from netsim.text.errors import InputError

ELECTRICAL = """use electrical
count n = 2
param U = 10 V
v1 voltage (a, ground) v = U*sin(2*pi*50/(1 s)*time)
r1 resistor (a, b) R = 1 kOhm
c1 capacitor (b, ground) C = 1 uF
c2[k] capacitor (b, ground) C = 1 nF for k in 1..n
measure top = max(b.v)
save b.v
run transient(stop = 1 ms)
"""
MECHANICAL = """use translational
s force (a) F = 1 N
m1 mass (a) m = 1 kg
c1 spring (a, ground) c = 10 N/m
run transient(stop = 1 s)
"""
NAN, INF = float("nan"), float("inf")


class Own:
    def __repr__(self):
        raise RuntimeError("no words")


NOTHING = {
    "None": None,
    "bytes": b"1 ms",
    "an object": Own(),
    "a function": len,
    "a class": dict,
    "complex": 1j,
    "a time": datetime.timedelta(seconds=1),
}
"""What is wrong everywhere."""
NO_NUMBER = {
    **NOTHING,
    "nan": NAN,
    "inf": INF,
    "huge": 10**400,
    "empty": "",
    "a word": "fast",
    "another unit": "5 kg",
    "two": "1 ms 2",
    "a line": "1 ms\n2",
    "zero byte": "1\0",
    "nested": "1+" * 3000 + "1",
    "list": [1e-3],
    "dict": {"a": 1e-3},
    "array": np.array([1e-3, 2e-3]),
    "True": True,
    "path": pathlib.Path("a"),
}
NO_WORD = {**NOTHING, "nan": NAN, "number": 3, "list": ["radau"], "array": np.zeros(2), "dict": {}, "unknown": "fast"}
NO_NAMES = {**NOTHING, "nan": NAN, "number": 3, "of None": [None], "of numbers": [1], "of lists": [["b.v"]], "array": np.zeros(2)}
NO_NAMES |= {"dict": {"b.v": 1}, "unknown": ["nobody"], "empty": [""], "path": pathlib.Path("a"), "zero byte": "b\0v"}
NO_MAPPING = {**NOTHING, "nan": NAN, "number": 3, "word": "r1.R", "pairs": [("r1.R", 1)], "of 1": {1: 2}, "of None": {None: 1}}
NO_MAPPING |= {"unknown": {"r1.Q": (1, 2)}, "empty name": {"": (1, 2)}, "None in it": {"r1.R": None}, "bytes in it": {"r1.R": b"1"}}
NO_RANGE = {"one": {"r1.R": (1,)}, "three": {"r1.R": (1, 2, 3)}, "backwards": {"r1.R": (2, 1)}, "nan": {"r1.R": (NAN, 1)}}
NO_RANGE |= {"None": {"r1.R": (None, 1)}, "a unit": {"r1.R": ("1 V", "2 V")}, "a signal": {"b.v": (1, 2)}}
NO_FILE = {**NOTHING, "nan": NAN, "number": 3, "list": ["a.csv"], "dict": {}, "zero byte": "a\0.csv", "unknown": "a.doc"}
NO_COUNT = {**NOTHING, "nan": NAN, "inf": INF, "half": 1.5, "negative": -1, "word": "many", "list": [1], "True": True, "array": np.zeros(2)}
NO_RESULT = {**NOTHING, "nan": NAN, "number": 3, "word": "b.v", "list": [3], "array": np.zeros(3), "dict": {"a": 3}}


@pytest.fixture(scope="module")
def model():
    return netsim.load(ELECTRICAL)


@pytest.fixture(scope="module")
def mass():
    return netsim.load(MECHANICAL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("time [s],b.v [V]\n1e-4,0.1\n2e-4,0.2\n")
    return tmp_path


TIMES = ("stop", "step", "max_step", "sample")
STOP = {"stop": 1e-3}
FIT = {"to": "data.csv", "signals": ["b.v"], "parameters": {"r1.R": (500, 2000)}, "stop": 2e-4}
SWEEP = {"over": {"r1.R": (1, 2)}, "points": 2, **STOP}
BEST = {"minimize": "integral((b.v - 1 V)^2)", "parameters": {"r1.R": (1, 2000)}, "intervals": 4, **STOP}
BAND = {"from_": 1, "to": 100}
PUSH = {"track": {"m1.x": "1 mm*sin(time/(1 s))^4"}, "actuators": ["s.F"], "stop": 0.1}


def call(name, option, **more):
    return lambda model, value: getattr(model, name)(**{**more, option: value})


PLACES = {
    "load": (NO_FILE, lambda model, value: netsim.load(value)),
    "counts": (
        NOTHING | {"pairs": [("n", 1)], "of 1": {1: 2}, "number": 3, "unknown": {"x": 1}} | {"None": {"n": None}},
        lambda model, value: netsim.load(ELECTRICAL, value),
    ),
    "a count": ({k: v for k, v in NO_COUNT.items() if k != "negative"}, lambda model, value: netsim.load(ELECTRICAL, {"n": value})),
    **{f"transient {o}": (NO_NUMBER | {"negative": -1, "zero": 0}, call("transient", o, **(STOP if o != "stop" else {}))) for o in TIMES},
    "transient rtol": (NO_NUMBER | {"negative": -1, "much": 2.0}, call("transient", "rtol", **STOP)),
    "transient atol": (NO_NUMBER | {"negative": -1}, call("transient", "atol", **STOP)),
    "transient every": (NO_COUNT, call("transient", "every", **STOP)),
    **{f"transient {o}": (NO_WORD, call("transient", o, **STOP)) for o in ("method", "forces", "formulation", "from_")},
    "transient bogus": (NO_NUMBER, call("transient", "bogus", **STOP)),
    "transient save": ({k: v for k, v in NO_NAMES.items() if k != "None"}, call("transient", "save", **STOP)),
    "transient progress": ({k: v for k, v in NO_NUMBER.items() if k not in ("None", "a function", "a class")}, call("transient", "progress", **STOP)),
    "run stop": (NO_NUMBER, call("run", "stop")),
    "run method": (NO_WORD, call("run", "method")),
    "with_params": ({k: v for k, v in NO_MAPPING.items() if k != "None"}, lambda model, value: model.with_params(value).transient()),
    "with_params R": (NO_NUMBER | {"negative": -1}, lambda model, value: model.with_params({"r1.R": value}).transient()),
    "with_params U": ({k: v for k, v in NO_NUMBER.items()}, lambda model, value: model.with_params(U=value).transient()),
    "plot": (NO_NAMES, lambda model, value: model.plot(value)),
    "plot result": ({k: v for k, v in NO_RESULT.items() if k != "None"}, lambda model, value: model.plot("b.v", result=value)),
    "simulator save": ({k: v for k, v in NO_NAMES.items() if k != "None"}, call("simulator", "save")),
    "simulator inputs": (NO_NAMES, call("simulator", "inputs")),
    "simulator stop": (NO_NUMBER, call("simulator", "stop")),
    "step": ({k: v for k, v in NO_NUMBER.items() if not isinstance(v, str)} | {"zero": 0.0}, lambda model, value: model.simulator().step(value)),
    "advance": (
        {k: v for k, v in NO_NUMBER.items() if not isinstance(v, str)} | {"back": -1.0},
        lambda model, value: model.simulator().advance(value),
    ),
    "signal": (NO_NAMES, lambda model, value: model.simulator()[value]),
    "input": (
        {k: v for k, v in NO_NUMBER.items() if k not in ("nan", "inf", "huge")},
        lambda model, value: model.simulator(inputs="U").__setitem__("U", value),
    ),
    "state": (NOTHING, lambda model, value: setattr(model.simulator(), "state", value)),
    "sensitivity to": (NO_NAMES, call("sensitivity", "to", **STOP)),
    "sensitivity of": (NO_NAMES, call("sensitivity", "of", to=["r1.R"], **STOP)),
    "fit to": (NO_FILE | {"list": [3], "none": []}, call("fit", "to", **{k: v for k, v in FIT.items() if k != "to"})),
    "fit signals": (NO_NAMES | {"none": []}, call("fit", "signals", **{k: v for k, v in FIT.items() if k != "signals"})),
    "fit parameters": (NO_MAPPING | NO_RANGE | {"none": {}}, call("fit", "parameters", **{k: v for k, v in FIT.items() if k != "parameters"})),
    "fit weights": (NOTHING | {"two": [1, 2], "negative": -1, "zero": 0, "nan": NAN}, call("fit", "weights", **FIT)),
    "fit loss": (NO_WORD, call("fit", "loss", **FIT)),
    **{f"fit {o}": (NO_COUNT, call("fit", o, **FIT)) for o in ("starts", "seed", "iterations")},
    "fit write": ({k: v for k, v in NO_FILE.items() if k != "unknown"}, call("fit", "write", **FIT)),
    "sweep over": (NO_MAPPING | NO_RANGE | {"none": {}}, call("sweep", "over", points=2, **STOP)),
    "sweep of": (NO_NAMES, call("sweep", "of", **SWEEP)),
    "sweep sampling": (NO_WORD, call("sweep", "sampling", **SWEEP)),
    **{f"sweep {o}": (NO_COUNT, call("sweep", o, **SWEEP)) for o in ("points", "cases", "seed", "workers")},
    "optimize minimize": (
        NOTHING | {"unknown": "nobody", "empty": "", "dict": {}},
        call("optimize", "minimize", **{k: v for k, v in BEST.items() if k != "minimize"}),
    ),
    "optimize parameters": (NO_MAPPING | NO_RANGE, call("optimize", "parameters", **{k: v for k, v in BEST.items() if k != "parameters"})),
    "optimize inputs": (NO_NAMES, call("optimize", "inputs", **BEST)),
    "optimize intervals": (NO_COUNT, call("optimize", "intervals", **BEST)),
    "linearise inputs": (NO_NAMES, call("linearise", "inputs")),
    "linearise at": (NOTHING | {"nan": NAN, "negative": -1, "words": ["soon"], "unit": "1 kg"}, call("linearise", "at")),
    "ac inputs": (NO_NAMES, call("ac", "inputs", **BAND)),
    **{f"ac {o}": (NO_NUMBER | {"negative": -1}, call("ac", o, **{**BAND, "inputs": ["U"]})) for o in ("from_", "to")},
    "ac frequencies": (NOTHING | {"none": [], "nan": [NAN], "negative": [-1], "words": ["low"]}, call("ac", "frequencies", inputs=["U"])),
    "noise output": ({k: v for k, v in NO_NAMES.items() if k != "number"}, call("noise", "output", input="U", **BAND)),
    "noise input": (NO_NAMES, call("noise", "input", output="b.v", **BAND)),
    "modal modes": (NO_COUNT | {"zero": 0}, call("modal", "modes")),
    "static at": (NO_NUMBER, call("static", "at")),
    "analysis": ({**NO_WORD}, lambda model, value: model.analyse(value)),
    "component": (NOTHING | {"number": 3, "list": ["component"], "word": "component"}, lambda model, value: netsim.component(value)),
    "limits": (NOTHING | {"nan": NAN, "word": "many", "list": [1]}, lambda model, value: netsim.limits(elements=value).__enter__()),
    "limits of": ({"unknown": 3}, lambda model, value: netsim.limits(elephants=value).__enter__()),
    "allow": (NOTHING | {"number": 3, "no folder": "nowhere"}, lambda model, value: netsim.allow(value).__enter__()),
    "register": (NOTHING | {"number": 3, "word": "radau"}, lambda model, value: netsim.register(value)),
    "write": ({**NO_RESULT}, lambda model, value: write(value, "a.csv")),
    "write to": (NO_FILE, lambda model, value: write(model.transient(), value)),
    "read": (NO_FILE, lambda model, value: read(value)),
    "picture": (NO_FILE, lambda model, value: model.plot("b.v").save(value)),
}
MECHANICAL_PLACES = {
    "inverse track": ({k: v for k, v in NO_MAPPING.items()} | {"none": {}}, lambda mass, value: mass.inverse(value, ["s.F"], stop=0.1)),
    "inverse actuators": (NO_NAMES | {"none": []}, call("inverse", "actuators", **{k: v for k, v in PUSH.items() if k != "actuators"})),
    "inverse passes": ({k: v for k, v in NO_COUNT.items() if k != "list"}, call("inverse", "passes", **PUSH)),
    "inverse weights": (NOTHING | {"nan": NAN, "negative": -1, "two": [1, 2]}, call("inverse", "weights", **PUSH)),
    "inverse bounded": (NO_WORD, call("inverse", "bounded", **PUSH)),
    "inverse stop": (NO_NUMBER, call("inverse", "stop", **{k: v for k, v in PUSH.items() if k != "stop"})),
    "recursion step": (NO_NUMBER, call("recursion", "step", stop=0.1)),
    "recursion every": (NO_COUNT, call("recursion", "every", stop=0.1, step=0.01)),
}


def refused(model, place, values, do):
    wrong = []
    for name, value in values.items():
        try:
            do(model, value)
            wrong.append(f"{name}: nothing was said")
        except InputError as error:
            for problem in error.problems:
                if "object at 0x" in problem.message or len(problem.message) > 300 or not problem.message.strip():
                    wrong.append(f"{name}: {problem.message[:200]}")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return wrong


@pytest.mark.parametrize("place", PLACES)
def test_what_cannot_be_used_is_told(model, folder, place):
    assert refused(model, place, *PLACES[place]) == []


@pytest.mark.parametrize("place", MECHANICAL_PLACES)
def test_what_an_inverse_run_cannot_use_is_told(mass, place):
    assert refused(mass, place, *MECHANICAL_PLACES[place]) == []


STEP = 2.0**-12
RIGHT = {
    "float": STEP,
    "float32": np.float32(STEP),
    "array without an axis": np.array(STEP),
    "DataArray": xarray.DataArray(STEP),
    "Decimal": decimal.Decimal(STEP),
    "Fraction": fractions.Fraction(1, 4096),
    "text": "244.140625 us",
    "text of NumPy": np.str_("0.000244140625"),
}


@pytest.mark.parametrize("kind", RIGHT)
def test_numbers_of_every_kind_are_taken(model, kind):
    value = RIGHT[kind]
    assert model.transient(stop=1e-3, max_step=value).equals(model.transient(stop=1e-3, max_step=STEP))
    resistance = model.with_params({"r1.R": value if not isinstance(value, str) else f"{STEP} Ohm"}).values
    assert float(resistance.parameters(model.network.instances[1])["R"].value) == STEP


@pytest.mark.parametrize("kind", [int, np.int64, np.float32, np.array, float])
def test_whole_numbers_of_every_kind_are_taken(model, kind):
    assert model.transient(stop=1e-3, every=kind(2)).equals(model.transient(stop=1e-3, every=2))


def test_files_and_names_of_every_kind_are_taken(model, folder):
    (folder / "a.net").write_text(ELECTRICAL)
    assert netsim.load(folder / "a.net", {"n": np.int64(3)}).network.instances[-1].name == "c2[3]"
    kept = {"b.v", "energy.stored", "energy.supplied", "energy.dissipated"}
    for save in ("b.v", ["b.v"], ("b.v",), {"b.v"}, np.array(["b.v"]), iter(["b.v"])):
        assert set(model.transient(stop=1e-4, save=save).data_vars) == kept
    found = model.fit(to=folder / "data.csv", signals="b.v", parameters={"r1.R": np.array([500.0, 2000.0])}, stop=2e-4)
    assert write(found, folder / "fit.csv") == [folder / "fit.csv"]


@pytest.mark.parametrize(
    "run",
    [
        lambda model: model.transient(stop=1e-4),
        lambda model: model.modal(),
        lambda model: model.static(),
        lambda model: model.sweep(**SWEEP),
        lambda model: model.noise(output="b.v", input="U", **BAND),
        lambda model: model.fit(**FIT),
    ],
)
def test_data_sets_are_saved_by_xarray(model, folder, run):
    data = run(model)
    data.to_netcdf(folder / "a.nc", engine="h5netcdf")
    with xarray.open_dataset(folder / "a.nc", engine="h5netcdf") as again:
        assert set(again.data_vars) == set(data.data_vars) and set(again.attrs) == set(data.attrs) - {"coordinates"}


def test_there_are_many_calls():
    assert sum(len(values) for values, _ in [*PLACES.values(), *MECHANICAL_PLACES.values()]) > 700
