"""Operating points along a source or a parameter: laws solved for their source, folds, a Schmitt trigger against its thresholds."""

import numpy as np
import pytest

import netsim
from netsim.analyses.operating import continuation, curve
from netsim.text.errors import InputError, SimulationError

DIODE = """
use electrical
src voltage (a, ground) v = 1 V
r1 resistor (a, b) R = 1 kOhm
d1 diode (b, ground)
save b.v, r1.i
"""

SCHMITT = """
use electrical
src voltage (u, ground) v = 0 V
r1 resistor (out, p) R = 9 kOhm
r2 resistor (p, ground) R = 1 kOhm
amp limited_opamp (p, u, out) gain = 100, limit = 10 V
guess out.v = 10 V
save out.v
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
    found = netsim.load(SCHMITT).sweep_static(over="src.v", from_=-3.0, to=3.0, points=13)
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
    assert (continuation.LONGEST, continuation.SHORTEST, continuation.GROWTH, continuation.EASY) == (0.1, 1e-10, 1.5, 4)
    assert (continuation.CLOSED, continuation.PARTS) == (1e-6, 20)
    assert (continuation.MOST, curve.ITERATIONS, curve.TOLERANCE) == (20_000, 10, 1e-10)
    assert (curve.SMALL, continuation.BEYOND) == (1e-3, 10.0)


def test_a_family_of_curves():
    """Output characteristics of a square law: i = kp/2 (vg - 1)^2 or kp ((vg - 1) vd - vd^2/2), a curve for each gate voltage."""
    text = """
use electrical
gate voltage (g, ground) v = 0 V
drain voltage (d, ground) v = 0 V
m1 law (d, ground) u = g.v
save drain.i
component law (p, n : electrical) "square law"
  param k : A/V2 = 100 uA/V2
  input u : V
  branch p -> n : v, i
  i = if u < 1 V then 0 A else if v < u - 1 V then k*((u - 1 V)*v - v^2/2) else k/2*(u - 1 V)^2
  source
end
"""
    model = netsim.load(text)
    found = model.sweep_static(over="drain.v", from_=0.0, to=5.0, points=11, folds="jump", family={"gate.v": [0, 2, 3], "m1.k": ["0.1 mA/V2", 2e-4]})
    vd, vg, k, i = (found[name].values for name in ("drain.v", "gate.v", "m1.k", "drain.i"))
    u = np.maximum(vg - 1, 0.0)
    assert np.abs(i + k * np.where(vd < u, u * vd - vd**2 / 2, u**2 / 2)).max() < 1e-14
    assert len(vd) == 66 and vg[:11].tolist() == [0.0] * 11 and k[:33].tolist() == [1e-4] * 33
    for options, words in (
        ({"family": {"gate.u": 1}}, "no input and no parameter"),
        ({"family": {"drain.v": 1}}, "listed twice"),
        ({"family": [1]}, "a name and its values"),
        ({"folds": "round"}, "folds must be one of"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            model.sweep_static(over="drain.v", from_=0.0, to=1.0, **options)


def test_a_slow_sweep_jumps_at_folds():
    """The Schmitt trigger up and down: its output falls beyond the upper fold and rises beyond the lower one."""
    t = np.sqrt(1 - 1 / 10)
    fold = t - np.arctanh(t) / 10
    for first, sense in ((-3.0, 1.0), (3.0, -1.0)):
        found = netsim.load(SCHMITT).sweep_static(over="src.v", from_=first, to=-first, points=61, folds="jump")
        v, u = found["out.v"].values, found["src.v"].values
        assert np.abs(u - np.linspace(first, -first, 61)).max() == 0 and np.abs(v - 10 * np.tanh(10 * (v / 10 - u))).max() < 1e-9
        turned = u[np.argmax(np.sign(v) != np.sign(v[0]))]
        assert 0 < sense * turned - fold < 0.1


def test_a_switch_keeps_its_state():
    """A switch with hysteresis over its control: on from 1.5 V on the way up, off from 0.5 V on the way down."""
    text = """
use electrical
src voltage (u, ground) v = 0 V
one voltage (a, ground) v = 1 V
s1 hysteresis_switch (a, b) control = u.v/(1 V), threshold = 1, width = 0.5
r1 resistor (b, ground) R = 1 kOhm
save b.v
"""
    for first, last, at in ((0.0, 2.0, 1.5), (2.0, 0.0, 0.5)):
        found = netsim.load(text).sweep_static(over="src.v", from_=first, to=last, points=41, folds="jump")
        closed, u = found["b.v"].values > 0.5, found["src.v"].values
        assert closed[0] != closed[-1]
        assert abs(u[np.argmax(closed != closed[0])] - at) < 0.06


def test_measures_over_a_characteristic():
    """A divider with a diode law of second order, i = (v/V)^2 A: places, extremes and integrals along the sweep, up and down."""
    text = """
use electrical
src voltage (a, ground) v = 0 V
law square (a, ground)
component square (p, n : electrical) "current grows with the square"
  branch p -> n : v, i
  i = (v/(1 V))^2*1 A
  source
end
measure half = when(law.i > 2 A) "where 2 A flow"
measure area = integral(law.i, from = 1 V, to = 2 V)
measure slope2 = slope(law.i, 2 V)
measure largest = max(law.i)
measure where_least = argmin(law.i)
"""
    for ends in ((0.5, 3.0), (3.0, 0.5)):
        model = netsim.load(text + f"run sweep_static(over = src.v, from = {ends[0]} V, to = {ends[1]} V, points = 26, folds = jump)\n")
        found = model.run().attrs
        assert found["measure.half"] == pytest.approx(np.sqrt(2), abs=1e-9) and found["measure.half.units"] == "V"
        assert found["measure.area"] == pytest.approx(7 / 3, abs=1e-9) and found["measure.area.units"] == "W"
        assert found["measure.slope2"] == pytest.approx(4.0, abs=1e-6) and found["measure.largest"] == pytest.approx(9.0)
        assert found["measure.where_least"] == 0.5
    (samples,) = netsim.load(
        text
        + "run sweep_static(over = src.v, from = 0 V, to = 3 V, family = [law.T0 = [1]])\n".replace(
            ", family = [law.T0 = [1]]", ", folds = jump, values = [0 V, 1 V]"
        ).replace("from = 0 V, to = 3 V, ", "")
    ).samples()
    assert [problem.code for problem in samples.broken] == ["E513", "E513", "E513"]


TRUSS = """
use translational
param part = 0
push force (a) F = part*{weight!r} N
bars two_bars (a) half = {half!r} m, rise = {rise!r} m, c = {c!r} N/m
component two_bars (p : translational) "two elastic bars between supports, a `rise` above them"
  param half : m > 0
  param rise : m > 0
  param c : N/m > 0
  branch p -> ground : x, v, f
  f = 2*c*(1 - sqrt(half^2 + rise^2)/sqrt(half^2 + (rise - x)^2))*(x - rise)
end
save a.x
"""


@pytest.mark.parametrize("length", [1e-9, 1e-6, 1.0, 1e4])
def test_snap_through_is_followed_at_every_scale(length):
    """The load turns back where l^3 = l0 b^2; l0 is the bars' length without load."""
    half, rise, c = 1.0 * length, 0.3 * length, 100.0
    text = TRUSS.format(weight=c * rise, half=half, rise=rise, c=c) + "run sweep_static(over = part, from = 0, to = 0.5, points = 11)\n"
    found = netsim.load(text).run()
    load, x = found["part"].values, found["a.x"].values
    free, y = np.hypot(half, rise), rise - x
    assert load == pytest.approx(2 * (free / np.hypot(half, y) - 1) * y / rise, abs=1e-12)
    bar = np.cbrt(free * half**2)
    turns = 2 * (free / bar - 1) * np.sqrt(bar**2 - half**2) / rise
    assert [float(fold) for fold in found.attrs["folds"].split(", ")] == pytest.approx([turns, -turns], rel=1e-6)
    assert np.abs(np.diff(x)).max() < 0.4 * rise and x[-1] > 3 * rise and found.sizes["point"] < 40


@pytest.mark.parametrize("gap", [1e-6, 1.0])
def test_a_plate_is_pulled_in_at_a_third_of_its_gap(gap):
    """Electrostatic attraction against a spring: V^2 = 8 c g^3/(27 eps A); beyond, the curve turns back and never comes to the end."""
    text = f"""
use translational
s1 spring (a, ground) c = 10 N/m
p1 plate (a) U = 0 V
component plate (p : translational) "attracted over a gap"
  param U : V
  branch p -> ground : x, v, f
  f = -0.5*{gap**3!r} N.m2/V2*U^2/({gap!r} m - x)^2
end
save a.x
run sweep_static(over = p1.U, from = 0 V, to = 3 V, points = 31)
"""
    found = netsim.load(text).run()
    fold = np.sqrt(8 * 10 / 27)
    assert float(found.attrs["folds"].split(", ")[0]) == pytest.approx(fold, rel=1e-6)
    assert found["p1.U"].values.max() == pytest.approx(fold, rel=0.01) and "does not come to p1.U = 3 V" in found.attrs["orbit"]


def test_a_law_that_jumps_has_no_curve():
    text = """
use translational
push force (a) F = 0 N
s1 spring (a, ground) c = 1 N/m
j1 step_law (a)
component step_law (p : translational) "pulls back by 1 N beyond 1 m"
  branch p -> ground : x, v, f
  f = if x > 1 m then -1 N else 0 N
end
save a.x
run sweep_static(over = push.F, from = 0 N, to = 3 N, points = 4)
"""
    with pytest.raises(SimulationError, match=r"cannot be followed beyond 1\b|cannot be followed beyond 0.99") as told:
        netsim.load(text).run()
    assert told.value.problems[0].code == "E441" and "folds = jump" in told.value.problems[0].hint


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_parameter_is_swept_with_few_machines_for_each_point(size, monkeypatch):
    """Two for the direction of the curve, and one for each point that Newton's method goes through."""
    from netsim.analyses.operating import sweep_static

    made, build = [], sweep_static.build_machine
    monkeypatch.setattr(sweep_static, "build_machine", lambda *given: made.append(1) or build(*given))
    text = f"""use electrical
    v voltage (a, ground) v = 1 V
    r resistor (a, b) R = {size!r} Ohm
    d diode (b, ground) Is = 1 pA*{1.0 / size!r}
    save b.v
    """
    found = netsim.load(text).sweep_static(over="r.R", from_=0.5 * size, to=50 * size, points=30)
    assert len(made) < 12 * found.sizes["point"] and sweep_static.KEPT == 8
    alone = netsim.load(text.replace(f"R = {size!r} Ohm", f"R = {50 * size!r} Ohm")).static()
    assert found["b.v"].values[-1] == pytest.approx(alone["b.v"].item(), rel=1e-9)


@pytest.mark.parametrize("far", [1.0, 1e6])
@pytest.mark.parametrize("size", [1e-12, 1e-6])
def test_a_range_far_from_the_present_value_is_reached(far, size):
    """The way to the range is followed in steps of its own, not in such of the range: it took more than 20 000. A diode at rest has the
    conductance Is/(N Vt)."""
    found = netsim.load(f"""
use electrical
src voltage           (a, ground) v = {far!r} V
r1  resistor          (a, b)      R = 1 kOhm
d1  exponential_diode (b, ground)
save b.v, d1.i
run sweep_static(over = src.v, from = {size!r} V, to = {2 * size!r} V, points = 3)
""").run()
    assert found["src.v"].values[[0, -1]].tolist() == [size, 2 * size]
    assert found["b.v"].values + 1000 * found["d1.i"].values == pytest.approx(found["src.v"].values, rel=1e-6)
    assert np.ptp(found["b.v"].values / found["src.v"].values) < 1e-3


def test_a_bound_within_the_range_is_told_before_any_point():
    model = netsim.load("""
use electrical
src current  (a, ground) I = 1 A
r1  resistor (a, ground) R = 1 kOhm
save a.v
""")
    for ends in ((-2.0, 2.0), (2.0, -2.0)):
        with pytest.raises(InputError, match=r"E234 'r1.R' is -2, but must be > 0 Ohm"):
            model.sweep_static(over="r1.R", from_=ends[0], to=ends[1])


COLUMN = """use rotational
param load = 0
foot   torsion_spring (a, ground) c = {c!r} N.m/rad
column inertia        (a)         J = 1 kg.m2*{c!r}
push   torque         (a)         T = {c!r} N.m*load*sin(a.phi)
save a.phi
"""


@pytest.mark.parametrize("c", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("first, last, places", [(0.0, 2.0, [1.0]), (3.0, 0.5, [1.0]), (0.0, 0.9, []), (1.5, 7.0, [])])
def test_a_straight_column_buckles(c, first, last, places):
    """c phi = P l sin phi: the straight column is crossed by bent ones at P l = c, at whatever load the sweep passes that."""
    found = netsim.load(COLUMN.format(c=c)).sweep_static(over="load", from_=first, to=last, points=8)
    assert np.all(found["a.phi"] == 0.0) and found.attrs["folds"] == ""
    told = [float(value) for value in found.attrs["bifurcations"].split(", ") if value]
    assert told == pytest.approx(places, abs=1e-6)
    assert ("bifurcation at load = 1, where another curve" in found.attrs["orbit"]) == bool(places)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_closed_curve_ends_at_its_beginning(size):
    """(x/size)^2 + l^2 = 1 has two folds, and no point at l = 2."""
    text = f"""use translational
    param l = 0
    m mass   (a)         m = 1 kg
    s force  (a)         F = 1 N*(1 - l^2 - (a.x/({size!r} m))^2)
    d damper (a, ground) d = 1 N.s/m
    guess a.x = {size!r} m
    save a.x
    """
    found = netsim.load(text).sweep_static(over="l", from_=0.0, to=2.0, points=51)
    assert [float(fold) for fold in found.attrs["folds"].split(", ")] == pytest.approx([1.0, -1.0], abs=1e-6)
    assert found.attrs["orbit"].endswith("the curve is closed: it does not come to l = 2")
    assert found["l"].values[[0, -1]] == pytest.approx([0.0, 0.0], abs=1e-12) and found["a.x"].values[-1] == pytest.approx(size, rel=1e-9)
    assert (found["a.x"].values / size) ** 2 + found["l"].values ** 2 == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(SimulationError, match=r"where the swept quantity is 1\.2"):
        netsim.load(text).sweep_static(over="l", values=[0.0, 0.9, 1.2])
