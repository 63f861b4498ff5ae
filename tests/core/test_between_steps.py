"""Between the ends of steps, against closed forms: what follows at once, what acts on a short stretch, brief conditions, integrals."""

import re
from pathlib import Path

import numpy as np
import pytest

from conftest import sampled
from netsim import load
from netsim.core.methods import tableaux
from netsim.equations.kernels.program import Instruction, Program, is_affine
from netsim.network.tables import Column, interpolate
from netsim.results.measuring.quadrature import accumulated
from netsim.results.samples import Trace
from netsim.results.series import trajectory_of
from netsim.simulate.setup.weights import curved
from netsim.structure.time_events import samples_passed
from netsim.text.errors import InputError

ERROR_TESTED = ("radau", "bdf", "trbdf2", "rk45", "rk8")
TOLERANCES = (1e-4, 1e-6, 1e-8)
ALLOWED = 20.0
"""How many rtol of a signal's amplitude a sample may be off."""


def run(text, **options):
    (samples,) = load(text).samples(options)
    assert samples.finished, samples.message
    return samples


def pairs(methods=ERROR_TESTED, slow=("trbdf2",)):
    """Methods with tolerances; methods of order 2 take a million steps at the finest."""
    return [(m, r) for m in methods for r in TOLERANCES if not (m in slow and r < 1e-6)]


# ------------------------------------------------------------------------------------- what follows at once

SINE = """use signal
c constant (u) value = 10
i integrator (u, x)
s sine_of (x, y)
run transient(stop = 10 s)
save x, y
measure effective = rms(y)
"""


@pytest.mark.parametrize(("method", "rtol"), pairs(slow=("trbdf2", "bdf")))
def test_a_value_that_follows_a_ramp_at_once(method, rtol):
    samples = run(SINE, method=method, rtol=rtol)
    assert np.abs(samples.series("y") - np.sin(10 * samples.time)).max() < ALLOWED * rtol
    (effective,) = samples.figures
    assert abs(effective.value - np.sqrt(0.5 - np.sin(200) / 400)) < ALLOWED * rtol


RAMP = """use electrical
i1 current   (a, ground) I = {i} A
c1 capacitor (a, ground) C = {c} F, start v = 0 V
s1 voltage (s, ground) v = {v} V*sin(a.v/({v} V))
s2 voltage (q, ground) v = {v} V*(a.v/({v} V))^6
s3 voltage (m, ground) v = max(a.v, 5*{v} V)
s4 voltage (t, ground) v = {v} V*tanh(a.v/({v} V) - 5)
run transient(stop = {stop} s)
save a.v, s.v, q.v, m.v, t.v
"""
AT_ONCE = {"s.v": np.sin, "q.v": lambda u: u**6, "m.v": lambda u: np.maximum(u, 5), "t.v": lambda u: np.tanh(u - 5)}


@pytest.mark.parametrize(("method", "rtol"), pairs(slow=("trbdf2", "bdf")))
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_sources_bound_to_the_potential_of_a_ramp(method, rtol, scale):
    samples = run(RAMP.format(i=1e-3 * scale, c=1e-3, v=scale, stop=10), method=method, rtol=rtol)
    u = samples.series("a.v") / scale
    assert np.abs(u - samples.time).max() < ALLOWED * rtol * 10
    for name, function in AT_ONCE.items():
        exact = function(samples.time)
        assert np.abs(samples.series(name) / scale - exact).max() < ALLOWED * rtol * np.ptp(exact), name


# ----------------------------------------------------------------------------------- what acts on a short stretch

BUMP = """use translational
m1 mass  (a) m = 1 kg, start v = {v} m/s
f1 force (a) F = -2 N*{f}*exp(-((a.x - 500*{x} m)/(5*{x} m))^2)
run transient(stop = 100 s)
save a.x, a.v
"""


@pytest.mark.parametrize(("method", "rtol"), pairs())
def test_a_force_bump_that_a_mass_passes(method, rtol):
    samples = run(BUMP.format(v=10, f=1, x=1), method=method, rtol=rtol)
    assert samples.series("a.v")[-1] == pytest.approx(np.sqrt(100 - 20 * np.sqrt(np.pi)), abs=ALLOWED * rtol * 10)


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_the_same_bump_at_other_scales(scale):
    samples = run(BUMP.format(v=10 * scale, f=scale**1, x=scale), rtol=1e-6)
    assert samples.series("a.v")[-1] / scale == pytest.approx(np.sqrt(100 - 20 * np.sqrt(np.pi)), abs=1e-4)


NARROW = """use electrical
s voltage   (a, ground) v = 1 V*sin(time/(1 s)) + 10 mV*bell(time, at = 40 s, width = 0.05 s)
r resistor  (a, b)      R = 1 Ohm
c capacitor (b, ground) C = 1 uF
run transient(stop = 100 s)
save a.v, b.v
"""


@pytest.mark.parametrize(("method", "rtol"), pairs(methods=("radau", "bdf", "trbdf2")))
def test_a_small_bell_on_a_sine_is_followed(method, rtol):
    samples = run(NARROW, method=method, rtol=rtol)
    exact = np.sin(samples.time) + 0.01 * np.exp(-(((samples.time - 40) / 0.05) ** 2))
    for name in ("a.v", "b.v"):
        assert np.abs(samples.series(name) - exact).max() < 1e-6 + ALLOWED * rtol, name


LATE = """use electrical
s voltage   (a, ground) v = 1 V*pulse(time, at = 7321.5 s, width = 1 ns)
r resistor  (a, b)      R = 1 Ohm
c capacitor (b, ground) C = 1 nF
run transient(stop = 10000 s)
save b.v
measure highest = max(b.v)
"""


@pytest.mark.parametrize(("method", "rtol"), pairs(methods=("radau", "trbdf2")))
def test_a_pulse_of_a_nanosecond_after_hours(method, rtol):
    samples = run(LATE, method=method, rtol=rtol)
    assert samples.figures[0].value == pytest.approx(1 - np.exp(-1), rel=2e-3)  # an instant of 7321.5 s has units of 1e-12 s


def test_steps_below_the_distance_of_instants_are_told():
    """Backward differences of low order want steps below 1e-12 s behind the pulse's edge."""
    (samples,) = load(LATE).samples({"method": "bdf", "rtol": 1e-6})
    assert not samples.finished
    problem = samples.attributes["failure"]
    assert problem.code == "E507"
    assert "times are 9e-13 s apart there" in problem.hint


def test_a_spike_of_a_table_acts(tmp_path):
    (tmp_path / "spike.csv").write_text("t [s],F [N]\n0,0\n1,0\n1.001,1000\n1.002,0\n2,0\n3,0\n4,0\n")
    text = 'use translational\nm1 mass (a) m = 1 kg\nf1 force (a) F = table("spike.csv", time, "F")\nrun transient(stop = 4 s)\nsave a.v\n'
    file = tmp_path / "spike.net"
    file.write_text(text)
    (samples,) = load(file).samples({})
    assert samples.series("a.v")[-1] == pytest.approx(1.0, abs=0.01)
    assert samples.series("a.v").min() > -1e-3


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_table_with_a_spike_stays_within_its_data(scale):
    t, y = np.array([0, 1, 1.001, 1.002, 2, 3, 4.0]) * scale, np.array([0, 0, 1000.0, 0, 0, 0, 0]) * scale
    table = interpolate(Column(t, y, None, None), "cubic", "hold")
    at = np.linspace(0, 4 * scale, 40001)
    piece = np.clip(np.searchsorted(table.breaks, at, side="right") - 1, 0, len(t) - 2)
    found = sum(table.coefficients[k, piece] * (at - table.breaks[piece]) ** k for k in range(6))
    assert -14 * scale <= found.min() and found.max() <= 1014 * scale


def test_a_table_of_smooth_data_is_a_spline():
    from scipy.interpolate import CubicSpline

    t = np.linspace(0, 10, 12)
    table = interpolate(Column(t, np.sin(t), None, None), "cubic", "hold")
    assert np.array_equal(table.coefficients[:4], CubicSpline(t, np.sin(t)).c[::-1])


# ----------------------------------------------------------------------------------- conditions that hold briefly

COUNTER = """use translational
use signal
component counter (p : translational, out y : signal) "counts how often a condition comes true"
  discrete n : 1 = 0 "passages"
  {when}
  y = n
end
"""
GATE = COUNTER.format(when="when p.x > 490 m and p.x < 510 m : n = pre(n) + 1")
TOP = COUNTER.format(when="when p.x > {level} m : n = pre(n) + 1\n  when p.x < {level} m : n = pre(n) + 1")


@pytest.mark.parametrize(("method", "rtol"), pairs())
def test_a_light_gate_on_a_long_way(method, rtol):
    text = GATE + "m1 mass (a) m = 1 kg, start v = 10 m/s\ng counter (a, y)\nrun transient(stop = 100 s)\nsave y\n"
    assert run(text, method=method, rtol=rtol).series("y")[-1] == 1


@pytest.mark.parametrize(("method", "rtol"), pairs())
@pytest.mark.parametrize("level", [4.9, 4.9999])
def test_a_ball_that_only_just_passes(method, rtol, level):
    """The ball is above 4.9999 m for 9 ms of 50 s: no instant of a grid need see it, the turning point of the condition does."""
    text = TOP.format(level=level) + "m1 mass (a) m = 1 kg, start v = 9.904544412 m/s\nw force (a) F = -9.81 N\n"
    samples = run(text + "g counter (a, y)\nrun transient(stop = 50 s)\nsave y\n", method=method, rtol=rtol)
    assert samples.series("y")[-1] == 2


@pytest.mark.parametrize(("method", "rtol"), pairs())
def test_a_function_of_time_in_a_components_text(method, rtol):
    text = """use signal
component wave (out y : signal, out c : signal) "counts its own crests"
  discrete n : 1 = 0 "crests"
  var z : 1
  z = sin(time/(1 s))
  y = z
  when z > 0.9 : n = pre(n) + 1
  c = n
end
w wave (y, c)
run transient(stop = 100 s)
save y, c
"""
    samples = run(text, method=method, rtol=rtol)
    assert samples.series("c")[-1] == 16
    assert np.abs(samples.series("y") - np.sin(samples.time)).max() < ALLOWED * rtol


# ------------------------------------------------------------------------------------------------- integrals

SQUARE = """use signal
s signal_source (y) value = sin(time/(1 s))^2
i integrator (y, q)
run transient(stop = 100 s, sample = 3.14159265358979 s)
save q, integral(y)
measure total = integral(y)
measure middle = mean(y)
measure highest = max(y)
measure crest = argmax(y, from = 50 s, to = 53 s)
"""


@pytest.mark.parametrize(("method", "rtol"), pairs())
def test_integrals_follow_steps_and_not_samples(method, rtol):
    samples = run(SQUARE, method=method, rtol=rtol)
    exact = samples.time / 2 - np.sin(2 * samples.time) / 4
    allowed = ALLOWED * rtol * 50
    assert np.abs(samples.values[:, 1] - exact).max() < allowed
    total, middle, highest, crest = (figure.value for figure in samples.figures)
    assert abs(total - exact[-1]) < allowed
    assert abs(middle - exact[-1] / 100) < allowed / 100
    assert abs(highest - 1) < 20 * rtol
    assert abs(crest - 16.5 * np.pi) < max(1e-3, np.sqrt(rtol))


def test_a_trace_is_integrated_as_its_polynomials():
    nodes = np.array([0.0, 0.15505102572168222, 0.6449489742783178, 1.0])
    time = np.array([0.0, 0.5, 2.0])[:, None] + nodes * np.array([0.5, 1.5, 1.0])[:, None]
    cubic = time**3 - time
    cubic[2] += 4.0  # a jump at t = 2
    axis, (series,) = (lambda found: (found[0], found[1].values()))(trajectory_of(np.zeros(2), {}, Trace(time, {"x": cubic})))
    assert np.all(np.diff(axis) >= 0) and len(axis) % 2 == 1
    assert accumulated(series, axis)[-1] == pytest.approx(3**4 / 4 - 3**2 / 2 + 4.0, rel=1e-14)


# ------------------------------------------------------------------------------------------------ the parts


def test_what_is_a_sum_of_constant_multiples():
    def program(*steps, outputs):
        return Program(2, 1, 1, (2.0,), tuple(Instruction(op, of) for op, of in steps), outputs)  # x, y, u, p, 2.0 are values 0 .. 4

    assert is_affine(program(("mul", (0, 3)), ("div", (5, 4)), ("add", (6, 1)), outputs=(7,)), {2})
    assert is_affine(program(("sin", (3,)), ("mul", (5, 0)), outputs=(6,)), {2})
    assert is_affine(program(("mul", (2, 0)), outputs=(5,)), {2})
    assert not is_affine(program(("mul", (2, 0)), outputs=(5,)), set())
    assert not is_affine(program(("mul", (0, 1)), outputs=(5,)), {2})
    assert not is_affine(program(("div", (3, 0)), outputs=(5,)), {2})
    assert not is_affine(program(("select", (0, 1)), outputs=(5,)), {2})
    assert not is_affine(program(("sin", (0,)), outputs=(5,)), {2})


@pytest.mark.parametrize(("name", "tableau"), [("rk45", "dormand_prince_5"), ("rk6", "verner_6"), ("rk8", "dormand_prince_8")])
def test_the_gap_of_explicit_methods_is_that_of_their_nodes(name, tableau):
    from netsim.simulate.methods import METHODS

    found = getattr(tableaux, tableau)()
    assert METHODS[name].gap == pytest.approx(np.diff(np.sort(found.nodes[: found.end + 1])).max(), abs=0.005)


def test_samples_of_smooth_tables_are_looked_at(tmp_path):
    (tmp_path / "t.csv").write_text("t [s],F [N]\n0,0\n1,0\n1.5,1\n3,0\n5,0\n")
    file = tmp_path / "t.net"
    file.write_text(
        'use translational\nm1 mass (a) m = 1 kg\nf1 force (a) F = table("t.csv", 2*time - 1 s, "F", outside = hold)\nrun transient(stop = 2 s)\n'
    )
    model = load(file)
    assert np.allclose(samples_passed(model.machine, 2.0), [0.5, 1.0, 1.25])


def test_max_step_bounds_steps_and_excludes_step():
    text = "use electrical\nr resistor (a, ground) R = 1 Ohm\nc capacitor (a, ground) C = 1 F, start v = 1 V\n"
    few = run(text + "run transient(stop = 1 s)\nsave a.v\n")
    many = run(text + "run transient(stop = 1 s, max_step = 1 ms)\nsave a.v\n")
    assert few.attributes["steps"] < 100 and many.attributes["steps"] >= 1000
    with pytest.raises(InputError, match="exclude each other"):
        load(text + "run transient(stop = 1 s, step = 1 ms, max_step = 1 ms)\n").samples({})


@pytest.mark.parametrize("rtol", [1e-2, 3e-3, 1e-3])
def test_corrections_beyond_a_knee_are_given_up(rtol):
    """Far up an exponential every correction is as small as its knee: TR-BDF2 found 33 A in place of 1 A, and one correction of a sample by a
    blocking diode's slope went fifty amplitudes away. A sample is solved for, or the run says that it was not."""
    circuit = load(Path(__file__).parents[1] / "reference/spice/diode_bridge.cir")
    (samples,), (exact,) = circuit.samples({"method": "trbdf2", "rtol": rtol}), circuit.samples({"rtol": 1e-7})
    assert samples.warnings or np.abs(samples.values - exact.values).max() < 20 * rtol * np.ptp(exact.values)


def test_linear_networks_are_looked_into_once_a_step():
    """Fewer looks leave a stiff relaxation wrong (tests/core/test_stiff.py), more cost a ladder half its time."""
    model = load(Path(__file__).parents[1] / "reference/spice/rc_ladder_10.cir")
    machine = model.machine
    assert not curved(machine)
    plain = load("use electrical\nr1 resistor (a, ground) R = 1 Ohm\nd1 diode (a, ground)\ns current (a, ground) I = 1 A\n")
    assert curved(plain.machine)


# ------------------------------------------------------------------------------------- nodes without mass

LIGHT_NODE = """use translational
d  displacement   (b, ground)  s = 10 mm*sin(1.2 rad/s*time)
k  spring_damper  (b, e)       c = 3 MN/m, d = 30 kN.s/m
s  spring_damper  (e, ground)  c = 1 GN/m, d = 100 kN.s/m
run transient(stop = 9 s, sample = 0.1 s)
save e.x, e.v, s.f
"""


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2"])
@pytest.mark.parametrize("rtol", TOLERANCES[:2])
def test_a_light_node_between_stiff_springs_is_right_inside_long_steps(method, rtol):
    """It follows its springs within 0.13 ms, a thousandth of a step: x' = (3e6 (s - x) + 3e4 s' - 1e9 x)/1.3e5."""
    samples = run(LIGHT_NODE, method=method, rtol=rtol)
    t, w, k, b = samples.time, 1.2, 1.003e9 / 1.3e5, np.array([3e6, 3e4 * 1.2]) * 0.01 / 1.3e5
    sine, cosine = (b[0] * k + b[1] * w) / (k**2 + w**2), (b[1] * k - b[0] * w) / (k**2 + w**2)
    x = sine * np.sin(w * t) + cosine * np.cos(w * t) + (samples.series("e.x")[0] - cosine) * np.exp(-k * t)
    v = w * (sine * np.cos(w * t) - cosine * np.sin(w * t)) - k * (samples.series("e.x")[0] - cosine) * np.exp(-k * t)
    for name, exact in (("e.x", x), ("e.v", v), ("s.f", 1e9 * x + 1e5 * v)):
        assert np.abs(samples.series(name) - exact).max() <= ALLOWED * rtol * np.abs(exact).max(), name


@pytest.mark.parametrize("name", ["diode_rectifier", "diode_bridge"])
def test_a_mass_beside_a_circuit_changes_none_of_its_samples(name):
    """With a mass samples are consistent points. A junction's charge inside a step, solved for its voltage, gave 54 A for 0.1 uA."""
    text = (Path(__file__).parents[2] / "models" / f"{name}.net").read_text(encoding="utf-8")
    text = re.sub(r", step = \d+ us(, method = euler)?", "", text)
    signal = {"diode_rectifier": "d1.i", "diode_bridge": "d[1].i"}[name]
    beside = "use translational\nbeside mass (apart) m = 1 kg, start v = 1 m/s\n"
    for rtol in (1e-3, 1e-4, 1e-6):
        runs = [load(each).transient(stop=0.1, sample=2e-4, rtol=rtol, save=[signal]) for each in (text, text + beside)]
        alone, both = (run[signal].values for run in runs)
        assert np.abs(both - alone).max() < 30 * rtol * np.abs(alone).max(), rtol
        assert all(run.attrs["inconsistent_points"] == 0 for run in runs), rtol


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("w", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("method", ["bdf", "radau"])
def test_velocities_behind_restarts_are_as_right_as_at_the_ends_of_steps(method, w, rtol):
    """x'' = -w^2 (x + sign(x')/4): half turns about +-1/4, and behind each the method begins anew, at order 1 with steps
    whose x, v and a belong to no common quintic."""
    text = f"""
use translational
m1 mass (a) m = 1 kg
c1 spring (a, ground) c = {w * w} N/m
r1 coulomb_friction (a, ground) F = {w * w / 4} N
start a.x = 2.1 m
start a.v = 0 m/s
run transient(stop = {12 / w} s, sample = {0.01 / w} s)
"""
    samples = sampled(load(text), ("a.x", "a.v"), rtol=rtol, method=method)
    half, angle = np.divmod(samples.time * w, np.pi)
    size, sign = 1.85 - 0.5 * half, (-1.0) ** half
    assert samples.series("a.x") == pytest.approx(sign * (size * np.cos(angle) + 0.25), abs=3 * rtol)
    assert samples.series("a.v") / w == pytest.approx(-sign * size * np.sin(angle), abs=3 * rtol)


# ------------------------------------------------------------------------------------- what jumps where a run begins

HIDDEN_LOOP = """use electrical
component tee (p, a, b : electrical) "two capacitors behind one resistor"
  param C : F > 0 "capacitance of each at 0 V"
  param R : Ohm > 0 "resistance"
  param V : V > 0 = 1 V "voltage at which they have doubled"
  branch p -> a : va, ia
  branch p -> b : vb, ib
  var ca : V "voltage of the capacitor to a"
  var cb : V "voltage of the capacitor to b"
  var drop : V "voltage of the resistor"
  ia = der(C*(ca + ca^3/(3*V^2)))
  ib = der(C*(cb + cb^3/(3*V^2)))
  drop = R*(ia + ib)
  vb = cb + drop
  va = ca + R*(ia + ib)
  dissipates va*ia + vb*ib
end
in1 voltage (a, ground) v = 1 V*time/({stop} s)
t1  tee (p, a, x) C = {c} F, R = 1 Ohm
t2  tee (q, ground, x) C = {c} F, R = 1 Ohm
r1  resistor (p, ground) R = 1 Ohm
r2  resistor (q, ground) R = 1 Ohm
r3  resistor (x, ground) R = 1 kOhm
s1  voltage (s, ground) v = 1 V*exp(-a.v/(1e-6 V))
run transient(stop = {stop} s, every = 1)
save a.v, x.v, in1.i, s.v, t1.ib
"""
"""A loop of capacitors that no count of unknowns shows: the potentials behind the resistors are in no equation alone."""


@pytest.mark.parametrize("stop", [1e-9, 1.0, 1e6])
def test_a_current_that_jumps_at_the_start_stops_no_first_step(stop):
    samples = run(HIDDEN_LOOP.format(stop=stop, c=stop))
    t, current = samples.time / stop, samples.series("t1.ib")
    assert current[0] == 0.0  # before the ramp begins
    assert np.abs(current[1:5] - 0.25).max() < ALLOWED * 1e-6  # four equal capacitors in a row, C dv/dt = 1 A
    assert samples.attributes["rejected"] < 6  # IDLE has no word
    # the first step is as short as what decays in a millionth of the run asks for
    assert 0.0 < t[1] < 1e-6
    assert np.abs(samples.series("s.v") - np.exp(-1e6 * t)).max() < ALLOWED * 1e-6


@pytest.mark.parametrize(("method", "scale"), [("radau", 1.0), ("radau", 1e-9), ("bdf", 1.0), ("trbdf2", 1.0), ("rk45", 1.0), ("rk8", 1e6)])
@pytest.mark.parametrize("periods", [101, 1000, 4000])
def test_a_wave_of_many_periods_is_followed(method, scale, periods):
    """Nothing has a state but the work and the count: whole numbers of periods are zero at all samples of a grid."""
    text = f"""use electrical
use signal
src   voltage       (a, ground)  v = 1 V*sin(2*pi*time/({scale!r} s))
r1    resistor      (a, ground)  R = 1 Ohm
s     signal_source (u)          value = a.v/(1 V)
t     threshold     (u, w)       level = 0.3
c     edge_counter  (w, n)
save n, a.v
measure effective = rms(a.v)
run transient(stop = {periods * scale!r} s, sample = {periods * scale / 4!r} s)
"""
    data = load(text).transient(method=method, rtol=1e-5)
    assert float(data["n"][-1]) == periods
    assert data.attrs["measure.effective"] == pytest.approx(np.sqrt(0.5), rel=1e-5)
    assert float(data["energy.dissipated"][-1]) == pytest.approx(periods * scale / 2, rel=1e-5)
    assert data.attrs["steps"] < 130 * periods
