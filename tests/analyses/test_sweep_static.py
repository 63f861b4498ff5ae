"""Operating points along a source or a parameter: laws solved for their source, folds, a Schmitt trigger against its thresholds."""

import numpy as np
import pytest

import netsim
from netsim.analyses.signals import sweep_static

DIODE = """
use electrical
src voltage (a, ground) v = 1 V
r1 resistor (a, b) R = 1 kOhm
d1 diode (b, ground)
save b.v, r1.i
"""


def test_a_diode_over_its_source():
    """v = R i + vd at every row, rows at the wanted steps exactly."""
    found = netsim.load(DIODE).sweep_static(over="src.v", from_=0.0, to=5.0, points=6)
    v, vd, i = (found[name].values for name in ("src.v", "b.v", "r1.i"))
    Vt = 300.15 * 1.380649e-23 / 1.602176634e-19
    assert np.abs(i - 1e-14 * np.expm1(vd / Vt) - 1e-12 * vd).max() < 1e-14
    assert np.abs(v - vd - 1e3 * i).max() < 1e-12
    assert set(np.arange(6.0)) <= set(v)


def test_a_resistance_is_swept():
    found = netsim.load(DIODE.replace("d1 diode (b, ground)", "r2 resistor (b, ground) R = 1 kOhm")).sweep_static(
        over="r2.R", from_=500.0, to=2000.0, points=4
    )
    R = found["r2.R"].values
    assert np.abs(found["b.v"].values - R / (1e3 + R)).max() < 1e-12 and set(np.linspace(500, 2000, 4)) <= set(R)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_round_two_folds(size):
    """F = x (x - 1)(x - 2): up to 2/(3 sqrt 3), down to its negative, and up again."""
    text = f"""
use translational
f1 force (a) F = 0 N
s1 truss (a, ground) k = {size} N
save a.x
component truss (p, n : translational) "snap-through"
  param k : N
  branch p -> n : x, v, f
  f = k*(x/(1 m))*(x/(1 m) - 1)*(x/(1 m) - 2)
  source
end
"""
    found = netsim.load(text).sweep_static(over="f1.F", from_=0.0, to=size, points=11)
    x, F = found["a.x"].values, found["f1.F"].values / size
    assert np.abs(F - x * (x - 1) * (x - 2)).max() < 1e-9
    assert F[-1] == pytest.approx(1.0, abs=1e-12) and np.all(np.diff(x) > 0)
    assert F[x < 1].max() == pytest.approx(2 / (3 * np.sqrt(3)), rel=1e-2)
    assert F[x > 1].min() == pytest.approx(-2 / (3 * np.sqrt(3)), rel=1e-2)


def test_a_schmitt_trigger():
    """An S-shaped curve: with v = L tanh(g (v R2/(R1 + R2) - u)/L) folds where g (1 - t^2) R2/(R1 + R2) = 1."""
    text = """
use electrical
src voltage (u, ground) v = 0 V
r1 resistor (out, p) R = 9 kOhm
r2 resistor (p, ground) R = 1 kOhm
amp limited_opamp (p, u, out) gain = 100, limit = 10 V
guess out.v = 10 V
save out.v
"""
    found = netsim.load(text).sweep_static(over="src.v", from_=-3.0, to=3.0, points=13)
    v, u = found["out.v"].values, found["src.v"].values
    assert np.abs(v - 10 * np.tanh(10 * (v / 10 - u))).max() < 1e-9
    t = np.sqrt(1 - 1 / 10)
    fold = t - np.arctanh(t) / 10
    assert u[v > 0].max() >= fold * 0.98 and (np.diff(u) < 0).any() and u[-1] == pytest.approx(3.0)


def test_mistakes_and_constants():
    model = netsim.load(DIODE)
    for options, words in (
        ({"over": "src.w", "from_": 0, "to": 1}, "no input and no parameter"),
        ({"over": "src.v", "from_": 0}, "needs 'from' and 'to'"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            model.sweep_static(**options)
    assert (sweep_static.LONGEST, sweep_static.SHORTEST, sweep_static.GROWTH, sweep_static.EASY) == (0.1, 1e-10, 1.5, 4)
    assert (sweep_static.MOST, sweep_static.ITERATIONS, sweep_static.TOLERANCE) == (20_000, 10, 1e-10)
    assert (sweep_static.SMALL, sweep_static.BEYOND) == (1e-3, 10.0)
