"""Texts that ended in an error of Python once, by class: each is refused in the words of the language."""

import re

import pytest

import netsim
from netsim.library.files import models_folder
from netsim.text.errors import InputError, NetsimError

CIRCUIT = "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, b) R = {}\nc capacitor (b, ground) C = 1 F{}\nrun transient(stop = 1 s{})\n"
ONE = "component odd (p, n : electrical)\n{}  branch p -> n : v, i\n  i = {}\nend\nx odd (a, ground)\n"
BODY = "use spatial\ncomponent lump extends spatial_tensor\n{}end\nx lump (b) m = 1 kg, I = diag(1, 1, 1) kg.m2\nrun transient(stop = 1 s)\n"
BELT = 'domain belt\n  across v : m/s\n  power v\n  floating "no"\nend\ncomponent k (p : belt)\n  branch p -> ground : v, f\n  f = 0\nend\n'

WRONG = {
    "vector for a number in a function": (CIRCUIT.format("abs([1, 2] Ohm)", "", ""), "E204", "abs() does not go with a vector of 2"),
    "vectors for numbers in a function": (CIRCUIT.format("min([1, 2] Ohm, [2, 1] Ohm)", "", ""), "E204", "min() does not go with"),
    "vectors compared": (CIRCUIT.format("if [1, 2] < [2, 1] then 1 Ohm else 2 Ohm", "", ""), "E204", "'<' does not go with"),
    "vector as condition": (CIRCUIT.format("if [1, 2] then 1 Ohm else 2 Ohm", "", ""), "E204", "a condition is true or false"),
    "vector as exponent": (CIRCUIT.format("2^[1, 2]*1 Ohm", "", ""), "E204", "'^' does not go with a vector of 2"),
    "product of a stack of matrices": (
        CIRCUIT.format("diag(1, 2)*[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]*1 Ohm", "", ""),
        "E204",
        "'*' does not go with",
    ),
    "vector as option": (CIRCUIT.format("1 Ohm", "", ", step = [1, 2] ms"), "E204", "a number is wanted here, this is a vector of 2"),
    "vector as count": ("count n = [1, 2]\n" + CIRCUIT.format("1 Ohm", "", ""), "E208", "a whole number is wanted, this is a vector of 2"),
    "function that divides by zero": (CIRCUIT.format("junction(1 V, 0 A, 1 V, 1 A)*1 Ohm/(1 A)", "", ""), "E205", "junction() has no value here"),
    "size without bound": (CIRCUIT.format("1 Ohm", "", "") + ONE.format("  param k[9^9^9] = [1]\n", "v/(1 Ohm)"), "E208", "this is inf"),
    "size above all bounds": (CIRCUIT.format("1 Ohm", "", "") + ONE.format("  param k[1e12] = [1]\n", "v/(1 Ohm)"), "E260", "this number is 1e+12"),
    "size below zero": (CIRCUIT.format("1 Ohm", "", "") + ONE.format("  param k[-2] = [1]\n", "v/(1 Ohm)"), "E208", "a size is not negative"),
    "size of an argument": (
        "function f(x[0] : m) : m = x.x\n" + CIRCUIT.format("f([1, 2] m)*1 Ohm/(1 m)", "", ""),
        "E208",
        "a size is a whole number from 1 on",
    ),
    "index of an argument": ("function f(x[2] : m) : m = x[5]\n" + CIRCUIT.format("f([1, 2] m)*1 Ohm/(1 m)", "", ""), "E204", "no component 5"),
    "claim about a vector": (CIRCUIT.format("1 Ohm", "", "") + ONE.format('  assert [1, 2] > 0 "no"\n', "v/(1 Ohm)"), "E204", "'>' does not go with"),
    "place of no terminal": (
        BODY.format("  param m : kg\n  param I[3, 3] : kg.m2\n  param axes[3, 3] = diag(1, 1, 1)\n  place q = [0, 0, 0] m\n"),
        "E212",
        "'q' is no terminal",
    ),
    "place that moves": (
        BODY.format("  param m : kg\n  param I[3, 3] : kg.m2\n  param axes[3, 3] = diag(1, 1, 1)\n  place a = [1, 0, 0] m*step(time)\n"),
        "E206",
        "'time' is no parameter",
    ),
    "place of another size": (
        BODY.format("  param m : kg\n  param I[3, 3] : kg.m2\n  param axes[3, 3] = diag(1, 1, 1)\n  place a = [1, 0] m\n"),
        "E204",
        "a value of size [3] is wanted here",
    ),
    "index beyond all numbers": (
        CIRCUIT.format("1 Ohm", "", "") + ONE.format("  param k[2] = [1, 2]\n", "v*k[9^9^9]/(1 Ohm)"),
        "E208",
        "a whole number is wanted, this is inf",
    ),
    "place beyond all numbers": (
        BODY.format("  param m : kg\n  param I[3, 3] : kg.m2\n  param axes[3, 3] = diag(1, 1, 1)\n  param z = 0\n  place a = [1, 0, 0] m/z\n"),
        "E234",
        "the place that 'x' gives is not finite",
    ),
    "start beyond all numbers": (CIRCUIT.format("1 Ohm", ", start v = 9^9^9*1 V", ""), "E204", "'c.v' is not finite here"),
    "terminal of a model twice": (
        "use electrical\nmodel pair (n, n : electrical)\n  r resistor (n, n) R = 1 Ohm\nend\nx pair (a, ground)\n",
        "E209",
        "'n' is declared twice in model 'pair'",
    ),
    "action on no name": (
        CIRCUIT.format("1 Ohm", "", "") + ONE.format("  when v > 0 : sign(v) = 1\n", "v/(1 Ohm)"),
        "E217",
        "'sign(v)' is none",
    ),
    "domain without what flows": (BELT, "E264", "1 across and 0 through"),
}


@pytest.mark.parametrize("name", WRONG)
def test_text_is_refused_in_words(name):
    text, code, words = WRONG[name]
    with pytest.raises(InputError) as raised:
        if problems := [p for p in netsim.load(text).check() if not p.is_note]:
            raise InputError(problems)
    assert [(p.code, words in p.message, p.span is not None) for p in raised.value.problems][:1] == [(code, True, True)], str(raised.value)


def test_samples_of_a_recursion_are_bounded():
    joint = "j revolute (ground, rod) at = [0, 0, 0] m, axis = [0, 1, 0]\n"
    text = f"use spatial\nb body (rod) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [1, 0, 0] m\n{joint}run recursion(stop = 1 s, sample = 1 fs)\n"
    with pytest.raises(InputError, match=r"E260 1e\+15 samples"):
        netsim.load(text).samples()


def test_word_that_an_analysis_does_not_have_is_one_per_kind():
    with pytest.raises(InputError) as raised:
        netsim.load("use electrical\nr resistor (a, ground) R = 1 Ohm\nrun static(from = rest)\n").run_options()
    assert [p.code for p in raised.value.problems] == ["E421"]


def test_cut_sets_of_nothing_and_of_what_overflows():
    """A network without nodes, and the derivatives of an element that overflow at random points, are checked without a warning."""
    assert netsim.load("use electrical\nparam x = 1\n").check() == []
    assert not any(p for p in netsim.load("msl/Electrical_Analog_HeatingNPN_OrGate").check() if not p.is_note)


def test_network_that_contradicts_itself_beside_a_start_is_told():
    """No start is at fault where the network alone has no consistent point: a gas of negative temperature."""
    text = "use gas\nline gas_reservoir (l) p = 10 bar, T = -(300 K)\nbottle gas_volume (l) V = 10 L, start p = 1 bar\nrun transient(stop = 4 s)\n"
    found = [p for p in netsim.load(text).check() if not p.is_note]
    assert found and all(p.code[0] == "E" and p.message for p in found)


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ("R1 a 0 1e400", ("E234", 3), "'r1.R' is not a finite number"),
        ("R1 a 0 1e400u", ("E234", 3), "'r1.R' is not a finite number"),
        ("R1 a 0 1k\n.save v(a) v( (a)", ("N130", 4), "'v(' is not saved"),
    ],
)
def test_card_of_a_circuit_is_told_at_its_place(tmp_path, line, place, words):
    (tmp_path / "odd.cir").write_text(f"odd\nV1 a 0 1\n{line}\n.tran 1u 1m\n.end\n")
    problem = netsim.load(tmp_path / "odd.cir").check()[0]
    assert ((problem.code, problem.span.line), words in problem.message) == (place, True), problem


def test_geometry_without_finite_derivatives_is_checked():
    """A prescribed angle with log(0) in its equation: what it fixes twice is told, or where it has no value."""
    text = (models_folder() / "mechanisms" / "fourbar_spatial.net").read_text(encoding="utf-8")
    block = (models_folder().parent / "library" / "spatial").glob("*.lib")
    source = next(m[0] for f in block if (m := re.search(r"^component hinge_angle .*?^end$", f.read_text(encoding="utf-8"), re.M | re.S)))
    odd = source.replace("sinq*cos(q)", "sinq*log(q)")
    assert odd != source
    problems = [p for p in netsim.load(f"{text}\n{odd}\n").check() if not p.is_note]
    assert problems and all(p.code[0] == "E" and p.span for p in problems)


def test_card_without_a_word_is_refused(tmp_path):
    (tmp_path / "odd.cir").write_text("odd\nV1 a 0 1\n( , )\n.tran 1u 1m\n.end\n")
    with pytest.raises(InputError, match=r"odd.cir:3:1: E131 a line of brackets and commas alone is no card"):
        netsim.load(tmp_path / "odd.cir")


def test_rows_of_a_table_that_hardly_differ(tmp_path):
    """The spline's coefficients have powers of the distance, which overflow."""
    (tmp_path / "near.csv").write_text("t,lift\n0,0\n1e-320,2\n2,3\n")
    (tmp_path / "near.net").write_text('use signal\ns signal_source (y) value = table("near.csv", time/(1 s), "lift")\nrun transient(stop = 1 s)\n')
    with pytest.raises(InputError, match=r"E241.*must increase; it does not at line 3"):
        netsim.load(tmp_path / "near.net").run()


def test_an_angle_without_a_value_at_the_start():
    """The logarithm of 0 turns a frame in the plane: whole turns are not looked for."""
    text = (
        "use planar\nb planar_body (a) m = 1 kg, I = 1 kg.m2\nk planar_revolute (ground, a) at = [0 m, 0 m]\n"
        "s planar_hinge_angle (ground, a) q = asin(0.1*log((10 rad/s)*time))\nrun transient(stop = 1 s)\n"
    )
    with pytest.raises(NetsimError) as told:
        netsim.load(text).run()
    assert told.value.problems[0].code in ("E503", "E305", "E306")


def test_a_constraint_without_a_value_in_a_loop():
    """Its derivatives are not finite where the bodies are drawn: which constraints are too many is not looked for."""
    sources = (models_folder().parent / "library" / "spatial" / "sources.lib").read_text(encoding="utf-8")
    block = re.search(r"^component hinge_angle .*?^end$", sources, re.MULTILINE | re.DOTALL)[0]
    text = (models_folder() / "broken" / "hinge_driven_twice.net").read_text(encoding="utf-8")
    text += block.replace("sinq*sin(q)", "sinq*log(q)") + "\n"
    assert "log" in text
    with pytest.raises(NetsimError) as told:
        netsim.load(text).run()
    assert told.value.problems[0].code


def test_a_joint_whose_axis_is_long(tmp_path):
    """Only its direction counts: the square of its length overflows."""
    text = (models_folder() / "robots" / "gripper.urdf").read_text(encoding="utf-8")
    (tmp_path / "long.urdf").write_text(text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1e300 0"/>'))
    assert not [p for p in netsim.load(tmp_path / "long.urdf").check() if not p.is_note]


OPTIMAL = "use translational\nm1 mass (a) m = 1 kg\npush force (a) F = 0 N\n"
OPTIMAL += "run optimize(stop = 1 s, minimize = integral(push.F^2), inputs = [push.F], {})\n"


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ("limits = [abs(push.F) <= -1 N], end = [a.x == 1 m]", "no value satisfies 'abs(push.F) <= -1 N'"),
        ("limits = [a.v >= 2 m/s, a.v <= 1 m/s], end = [a.x == 1 m]", "no value satisfies 'a.v >= 2 m/s' and 'a.v <= 1 m/s'"),
        ("limits = [a.x <= 1 m], end = [a.x == 2 m]", "no value satisfies 'a.x == 2 m' and 'a.x <= 1 m'"),
    ],
)
def test_bounds_that_exclude_one_another(wishes, words):
    found = netsim.load(OPTIMAL.format(wishes)).check()
    assert [(p.code, p.span.line, p.message) for p in found] == [("E468", 4, words)]


def test_optimal_motion_beside_a_joint_of_the_ground():
    """The reactions of the joint are indeterminate; what its angle must be at the end, no input decides."""
    text = (models_folder() / "optimal" / "two_link_time.net").read_text(encoding="utf-8")
    text = text.replace("(ground, u) at", "(ground, ground) at").replace("intervals = 40", "intervals = 4")
    with pytest.raises(NetsimError, match=r"E462 no motion does this: 'shoulder.q == pi/2' at the end is missed by 1.57 rad"):
        netsim.load(text).samples()


def test_matrix_of_300_decades():
    """An entry times the scale of its row overflows; times both scales it does not."""
    text = (models_folder() / "msl" / "Thermal_FluidHeatFlow_PumpDropOut.net").read_text(encoding="utf-8")
    huge = text.replace("(0.2 s), 0)", "(0.2 s), 1e300)")
    assert huge != text
    with pytest.raises(NetsimError):
        netsim.load(huge).run()


@pytest.mark.parametrize("line", ['include "odd.inc"', 'use "odd.lib"'])
def test_file_in_another_encoding(tmp_path, line):
    for name in ("odd.inc", "odd.lib"):
        (tmp_path / name).write_bytes("# caf\u00e9\n".encode("latin-1"))
    (tmp_path / "whole.net").write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"E100 .*it is not UTF-8 text"):
        netsim.load(tmp_path / "whole.net")


def test_temperature_below_zero_celsius():
    text = "use thermal\na temperature (x) T = -20 degC\nr thermal_conductor (x, ground) G = 1 W/K\nrun static()\n"
    assert netsim.load(text).static(save=["x.T"])["x.T"].item() == pytest.approx(253.15)
    with pytest.raises(InputError, match="E202 this is the sum of two temperatures"):
        netsim.load(text.replace("-20 degC", "20 degC + 10 degC")).static()


@pytest.mark.parametrize("analysis", ["transient", "recursion"])
def test_steps_without_end_are_refused(analysis):
    joint = "j revolute (ground, rod) at = [0, 0, 0] m, axis = [0, 1, 0]\n"
    text = f"use spatial\nb body (rod) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [1, 0, 0] m\n{joint}run {analysis}(stop = 1 s, max_step = 1 fs)\n"
    with pytest.raises(InputError, match=r"E260 these are 1e\+15 steps"):
        netsim.load(text).run()


def test_iterations_of_an_optimum_can_be_interrupted():
    seen = []

    def told(fraction, time, iteration):
        seen.append(iteration)
        if iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        netsim.load("optimal/cart_pole").samples({}, told)
    assert seen == [0, 1, 2]


def test_unknowns_of_what_has_no_terminals_are_named():
    """Nothing determines an optimisation's own unknown whose equation has lost its size."""
    text = "component lone ()\n  var  a : 1\n  var  b : 1\n  a + b = sin(time/(1 s))\n  2*a + 2*b = 2*sin(time/(1 s))\nend\nx lone ()\n"
    with pytest.raises(NetsimError) as told:
        netsim.load(text + "run transient(stop = 1 s)\nsave x.a\n").run()
    assert told.value.problems[0].code


def test_a_component_that_only_counts():
    """It has no terminals and no equations, alone and beside a circuit."""
    clock = "component clock ()\n  discrete n : 1 = 0\n  when sample(0 s, 0.3 s) : n = pre(n) + 1\n  out k : 1 = n\nend\nc clock ()\n"
    circuit = "use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 kOhm\nc1 capacitor (b, ground) C = 1 uF\n"
    for text in (circuit + clock, clock):
        counted = netsim.load(text + "run transient(stop = 1 s)\nsave c.k\n").transient()
        assert counted["c.k"].values[-1] == 4


LONE = """component lone ()
  param p = 1
  input u : 1
  out k : 1 = p*u
end
x lone () u = sine(time, amplitude = 1, frequency = 1 Hz)
"""


@pytest.mark.parametrize(
    ("more", "run", "code"),
    [
        ("", "periodic(period = 1 s)", ""),
        ("", "recursion(stop = 1 s)", "E450"),
        ("use translational\nm mass (q) m = 1 kg\n", "transfer(input = x.u, output = x.k)", "E443"),
        ("", "inverse(stop = 1 s, track = [x.k = 1], actuators = [x.u])", ""),
        ("use translational\nm mass (q) m = 1 kg\n", "modal()", ""),
    ],
)
def test_analyses_of_what_has_no_states(more, run, code):
    model = netsim.load(f"{more}{LONE}run {run}\n")
    if not code:
        assert all(samples.finished for samples in model.samples())
        return
    with pytest.raises(NetsimError) as told:
        model.samples()
    assert told.value.problems[0].code == code
