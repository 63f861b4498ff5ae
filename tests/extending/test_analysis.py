"""An analysis from outside: one file, registered by a call. Its run lines have options, messages and results as those of netsim itself."""

import differences
import numpy as np
import pytest

import netsim
from netsim.analyses.analysis import Analysis
from netsim.analyses.option_values import SECOND
from netsim.api import ANALYSES
from netsim.results.samples import Samples
from netsim.text.errors import InputError

TEXT = """
use electrical
param R = 1 kOhm
param C = 1 uF
v1 voltage   (a, ground)  v = 5 V
r1 resistor  (a, b)       R = R
c1 capacitor (b, ground)  C = C
start b.v = 0 V
run differences(parameters = [R, C], stop = 3 ms, sample = 0.1 ms, rtol = 1e-9{more})
save b.v
measure last = final(b.v)
"""


@pytest.fixture(autouse=True)
def registered():
    """The analysis is there for one test."""
    netsim.register(differences.ANALYSIS)
    yield
    del ANALYSES["differences"]


def test_a_run_line_names_it():
    """b.v = 5 V (1 - exp(-t/RC)), so that R d(b.v)/dR = C d(b.v)/dC = -5 V t/RC exp(-t/RC)."""
    (found,) = netsim.load(TEXT.format(more="")).samples()
    s = found.time / 1e-3
    for name, unit, size in (("R", "V/Ohm", 1e3), ("C", "V/F", 1e-6)):
        assert np.abs(found.series(f"d b.v/d {name}") * size + 5 * s * np.exp(-s)).max() < 1e-5
        (signal,) = (each for each in found.signals if each.name == f"d b.v/d {name}")
        assert netsim.text.units.parse_unit(signal.unit).dimension == netsim.text.units.parse_unit(unit).dimension
    assert found.figures[0].value == pytest.approx(5 * (1 - np.exp(-3)), abs=1e-4)


def test_python_calls_it_by_name():
    text = TEXT.replace("run differences", "# run differences").format(more="")
    found = netsim.load(text).analyse("differences", parameters=["R"], stop="3 ms", rtol=1e-9, save=["b.v"])
    s = found.time.values / 1e-3
    assert np.abs(found["d b.v/d R"].values * 1e3 + 5 * s * np.exp(-s)).max() < 1e-5 and len(s) == 101


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[R, C]", "[Q]", "E424 there is no parameter 'Q'"),
        ("parameters = [R, C], ", "", r"E422 differences\(\) needs 'parameters'"),
        ("{more}", ", steps = 3", r"E421 differences\(\) has no option 'steps'"),
        ("differences(", "diferences(", "E425 there is no analysis 'diferences'"),
    ],
)
def test_messages(old, new, message):
    (problem,) = netsim.load(TEXT.replace(old, new).format(more="")).check()
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(f"{problem.code} {problem.message}")
    assert problem.span.line == 9


def test_what_every_analysis_has_it_need_not_say():
    """Its name, the seconds and the netlist are told, and options that it does not have refused, where it does nothing for that."""
    model = netsim.load("use electrical\nr1 resistor (a, ground) R = 1 Ohm\ni1 current (ground, a) I = 1 A\n")
    bare = Analysis("bare", {"at": SECOND}, lambda options, line: options, lambda task, options: Samples("", np.zeros(1), (), np.zeros((1, 0))))
    netsim.register(bare)
    try:
        found = model.analyse("bare", at="1 s")
        with pytest.raises(InputError, match=r"E421 bare\(\) has no option 'att'"):
            model.analyse("bare", att="1 s")
    finally:
        del ANALYSES["bare"]
    assert found.attrs["analysis"] == "bare" and found.attrs["netlist"] == model.network.text
    assert 0.0 <= found.attrs["cpu_seconds"] <= found.attrs["wall_seconds"] + 0.01


def test_the_names_of_netsim_stay():
    with pytest.raises(ValueError, match="netsim itself provides 'transient'"):
        netsim.register(ANALYSES["transient"])
