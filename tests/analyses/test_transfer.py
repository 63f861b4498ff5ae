"""Gain and resistances at rest: dividers, an emitter follower, a lever, the current of a source; what has none."""

import numpy as np
import pytest

import netsim
from netsim.output.summary import summary

DIVIDER = """
use electrical
src voltage (a, ground) v = 1 V
r1 resistor (a, b) R = 1 kOhm
r2 resistor (b, c) R = 2 kOhm
r3 resistor (c, ground) R = 3 kOhm
c1 capacitor (b, ground) C = 1 uF
"""


def found_in(text, **options):
    found = netsim.load(text).transfer(**options)
    return [found[name].values[0] for name in ("gain", "input_resistance", "output_resistance")]


def test_a_divider():
    assert found_in(DIVIDER, input="src.v", output="b.v") == pytest.approx([5 / 6, 6e3, 5e3 / 6], rel=1e-12)
    assert found_in(DIVIDER, input="src", output="b.v - c.v") == pytest.approx([1 / 3, 6e3, 2e3 * 4 / 6], rel=1e-12)
    assert found_in(DIVIDER, input="src.v", output="src.i") == pytest.approx([-1 / 6e3, 6e3, 6e3], rel=1e-12)
    found = netsim.load(DIVIDER).transfer(input="src.v", output="c.v")
    assert [found[name].attrs["units"] for name in ("gain", "input_resistance")] == ["1", "Ohm"]


def test_a_source_of_current_and_a_parameter():
    text = DIVIDER.replace("src voltage (a, ground) v = 1 V", "src current (a, ground) I = 1 mA")
    assert found_in(text, input="src.I", output="c.v") == pytest.approx([3e3, 6e3, 3e3], rel=1e-12)
    gain, into, out = found_in(DIVIDER, input="r1.R", output="b.v")
    assert gain == pytest.approx(-5e3 / 36e6, rel=1e-9) and np.isnan(into) and out == pytest.approx(5e3 / 6)
    assert np.isnan(found_in(DIVIDER, input="src.v", output="r1.i^2")[2])


def test_a_family_of_gains():
    found = netsim.load(DIVIDER).transfer(input="src.v", output="c.v", family={"r3.R": ["1 kOhm", 3e3]})
    assert found["r3.R"].values.tolist() == [1e3, 3e3]
    assert found["gain"].values == pytest.approx([1 / 4, 1 / 2], rel=1e-12)


def test_a_spring_pushed_by_a_force():
    """The compliance of two springs in series; what the network is at the force: the same."""
    text = """
use translational
f1 force (a) F = 1 N
s1 spring (a, b) c = 1 kN/m, l = 0 m
s2 spring (b, ground) c = 3 kN/m, l = 0 m
"""
    assert found_in(text, input="f1.F", output="b.x") == pytest.approx((1 / 3e3, 4 / 3e3, 1 / 3e3), rel=1e-12)


def test_mistakes():
    model = netsim.load(DIVIDER)
    for options, words in (
        ({"input": "src.v"}, "needs 'input' and 'output'"),
        ({"input": "src.u", "output": "b.v"}, "no input and no parameter"),
        ({"input": "src.v", "output": "b.v", "family": {"src.v": [1]}}, "no parameter"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            model.transfer(**options)


def test_what_there_is_one_of_is_printed():
    """Gain and resistances, derivatives at rest, and the equations of a state space stand in the summary of a run."""
    runs = "run transfer(input = src, output = c.v)\nrun sensitivity_static(of = c.v)\nrun linear(inputs = [src])\n"
    text = f"{DIVIDER}save c.v\n{runs}"
    model = netsim.load(text)
    lines = summary(model, model.samples(), []).splitlines()
    for line in (
        "  gain               0.5",
        "  input_resistance   6 kΩ",
        "  output_resistance  1.5 kΩ",
        "  c1.v' = -1200 c1.v + 1000 src.v",
        "  c.v = 0.6 c1.v",
    ):
        assert line in lines
    assert any(line.startswith("  d(c.v)/d(src.v)") and line.endswith(" 0.5") for line in lines)
