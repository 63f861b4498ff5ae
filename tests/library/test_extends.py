"""`extends`: the lines of the bases and the component's own, and what replaces what."""

import pytest

import netsim
from netsim.library.catalogue import describe, whole_library
from netsim.library.files import check_library, collect
from netsim.text.errors import InputError
from netsim.text.parse import parse
from netsim.text.show import show, show_statement

BASE = """
use electrical
partial component two_pole (p, n : electrical) "one branch"
  param  R : Ohm > 0 = 2 Ohm  "resistance"
  branch p -> n : v, i
  out    loss : W = v*i  "heat"
end
component ohmic extends two_pole "Ohm's law"
  i = v/R
  singular "first sentence"
end
"""


def components(text):
    return collect(parse(BASE + text)).components


def definition(text, name="mine"):
    return components(text)[name].definition


def text_of(text, name="mine"):
    return [line.strip() for line in show_statement(definition(text, name)).splitlines()]


def test_lines_of_base_come_first():
    lines = text_of("component mine (heat : thermal) extends ohmic\n  param k = 1\nend\nuse thermal\n")
    assert lines[0].startswith("component mine (p, n : electrical, heat : thermal)")
    assert lines.index('param R : Ohm > 0 = 2 Ohm "resistance"') < lines.index("param k = 1")


@pytest.mark.parametrize(
    ("own", "there", "gone"),
    [
        ("param R : Ohm = 3 Ohm", "param R : Ohm = 3 Ohm", 'param R : Ohm > 0 = 2 Ohm "resistance"'),
        ("let R = 3 Ohm", "let R = 3 Ohm", 'param R : Ohm > 0 = 2 Ohm "resistance"'),
        ("i = 2*v/R", "i = 2*v/R", "i = v/R"),
        ('singular "second"', 'singular "second"', 'singular "first sentence"'),
        ("out loss : W = 2*v*i", "out loss : W = 2*v*i", 'out loss : W = v*i "heat"'),
    ],
)
def test_a_line_replaces_the_one_of_its_key(own, there, gone):
    lines = text_of(f"component mine extends ohmic\n  {own}\nend\n")
    assert there in lines and gone not in lines


def test_extends_of_extends_and_two_ways():
    text = (
        "component a extends ohmic\n  param a = 1\nend\npartial component b extends two_pole\n  param b = 1\nend\ncomponent mine extends a, b\nend\n"
    )
    mine = definition(text)
    assert [p.name for p in mine.params] == ["R", "a", "b"] and len(mine.branches) == 1
    assert mine.doc == "Ohm's law"
    assert not check_library(collect(parse(BASE + text)))


def test_equations_with_a_number_on_the_left_are_added():
    mine = definition("component mine extends ohmic\n  var x : V\n  0 = x - v\nend\n")
    assert len(mine.equations) == 2


def test_the_extended_component_runs():
    text = BASE + "component mine extends ohmic\n  param R : Ohm = 5 Ohm\nend\nv1 voltage (a, ground) v = 10 V\nr1 mine (a, ground)\n"
    run = netsim.load(text + "run transient(stop = 1 s, step = 1 s)\nsave r1.i, r1.loss\n").samples()[0]
    assert run.series("r1.i")[-1] == pytest.approx(2) and run.series("r1.loss")[-1] == pytest.approx(20)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("component mine extends ohmicc\nend\n", "E255", "no component is called 'ohmicc'"),
        ("component mine extends transmission_line\nend\n", "E255", "is a model"),
        ("component mine extends heated_diode\nend\n", "E255", "heated_diode"),
        ("component mine extends mine\nend\n", "E256", "extends itself"),
        ("component a extends b\nend\ncomponent b extends a\nend\n", "E256", "extends itself"),
        ("component mine (p : electrical) extends ohmic\nend\nr1 mine (a, b, c)\n", "E209", "'p' is declared twice"),
        ("component mine extends ohmic\n  branch p -> n : v, j\nend\n", "E209", "'v' is declared twice"),
        ("component mine extends ohmic\n  param v = 1\nend\n", "E209", "'v' is declared twice"),
        ("component bad extends two_pole\nend\ncomponent mine extends bad\nend\n", "E257", "has mistakes of its own"),
        ("r1 two_pole (a, ground)\n", "E258", "can only be extended"),
        ("component mine extends\nend\n", "E114", ""),
        ("model mine (a : electrical) extends two_poles\nend\n", "E255", "no component is called 'two_poles'"),
        ("model mine (a : electrical) extends transmission_line\nend\n", "E255", "is a model"),
        ("model mine (a : electrical) extends two_pole\nend\n", "E255", "'two_pole' has more"),
    ],
)
def test_message(text, code, words):
    with pytest.raises(InputError) as error:
        netsim.load(BASE + text)
    found = error.value.problems
    assert any(p.code == code and words in p.message and p.span.line >= 12 for p in found), str(error.value)


WIRES = """
partial component wire "its section and material"
  count  n = 2               "wires"
  param  A : m2 > 0 = 1 mm2  "section"
  param  rho : Ohm.m = 17e-9 Ohm.m
  let    per_length = rho/(n*A)
end
model cable (a, b : electrical) extends wire "by its length"
  param  l : m > 0
  param  rho : Ohm.m = 28e-9 Ohm.m "of aluminium"
  r  resistor  (a, b)  R = per_length*l
end
"""


def test_a_model_has_the_declarations_of_its_base():
    text = BASE + WIRES + "v1 voltage (a, ground) v = 1 V\nc1 cable (a, ground) l = 10 m, n = 4\nrun transient(stop = 1 s, step = 1 s)\nsave c1.r.i\n"
    assert float(netsim.load(text).run()["c1.r.i"][-1]) == pytest.approx(4e-6 / 28e-8, rel=1e-12)
    shown = describe(collect(parse(BASE + WIRES)), "cable")
    assert "extends" not in shown and shown.count("of aluminium") == 2 and "17e-9" not in shown
    assert parse(show(parse(BASE + WIRES))) == parse(BASE + WIRES)


def test_hints():
    with pytest.raises(InputError) as error:
        netsim.load(BASE + "component mine extends heated_diode\nend\n")
    assert error.value.problems[0].hint == "add the line: use couplings"
    with pytest.raises(InputError) as error:
        netsim.load(BASE + "r1 two_pole (a, ground)\n")
    assert error.value.problems[0].hint == "ohmic extends it"


def test_texts_survive():
    program = parse(BASE + 'partial component x extends ohmic, two_pole\nend\nfunction f(x[2] : m, y) : m = y*x "doubles"\n')
    assert parse(show(program)) == program


def test_partial_and_extends_are_names_elsewhere():
    text = "use electrical\nparam partial = 2 Ohm\nextends resistor (partial_, ground) R = partial\nv1 voltage (partial_, ground) v = 1 V\n"
    assert not [p for p in netsim.load(text).check() if not p.is_note]


def test_the_catalogue_shows_whole_components():
    library = whole_library()
    shown = describe(library, "heated_clutch")
    assert "extends" not in shown and "reinit speed = 0" in shown and "mu" in shown
    assert describe(library, "sticking").splitlines()[-1].strip() == "end" and "partial component sticking" in describe(library, "sticking")
    assert describe(library, "sliding").startswith("function sliding(")


LOSING = """
component dash (p, n : translational) "a spring and a damper"
  param d : N.s/m >= 0 = 1 N.s/m  "damping"
  branch p -> n : x, v, f
  f = x*1 N/m + d*v
  stores x^2*1 N/m/2
  dissipates d*v^2
end
use translational
use thermal
"""


def losses(text, name="mine"):
    return [line for line in text_of(LOSING + text, name) if line.startswith("out loss")]


def test_what_a_component_dissipates_is_its_loss():
    assert losses("", "dash") == ['out loss : W = d*v^2 "lost power, mostly heat"']


def test_a_loss_follows_the_line_that_replaces_its_own():
    assert losses("component mine extends dash\n  dissipates 2*d*v^2\nend\n") == ['out loss : W = 2*d*v^2 "lost power, mostly heat"']
    assert losses('component mine extends dash\n  out loss : W = 3*d*v^2 "own"\n  dissipates 2*d*v^2\nend\n') == ['out loss : W = 3*d*v^2 "own"']


def test_a_loss_that_a_terminal_takes_is_that_of_the_base():
    text = "component mine (heat : thermal) extends dash\n  branch heat -> ground : T, q\n  q = -d*v^2\n  dissipates 0 W\nend\n"
    assert losses(text) == ['out loss : W = d*v^2 "lost power, mostly heat"']


def test_a_name_that_is_taken_stays():
    text = (
        'component mine (p, n : translational) "a damper"\n  param loss : N.s/m\n  branch p -> n : v, f\n  f = loss*v\n  dissipates loss*v^2\nend\n'
    )
    assert losses(text) == []
    plain = netsim.load(
        LOSING + text + "m mass (a) m = 1 kg\nk mine (a, ground) loss = 1 N.s/m\nstart a.v = 1 m/s\nrun transient(stop = 1 s)\n"
    ).run()
    assert "k.loss" not in plain and float(plain["a.v"][-1]) == pytest.approx(0.36787944117, rel=1e-5)


def test_a_wrong_unit_of_what_is_lost_is_one_per_kind():
    with pytest.raises(InputError) as caught:
        netsim.load(LOSING.replace("dissipates d*v^2", "dissipates d*v") + "k dash (a, ground)\nrun static()\n")
    assert [p.code for p in caught.value.problems] == ["E202"]


def test_programs_with_definitions_of_their_own_share_what_libraries_define():
    one, other = components("component mine extends ohmic\nend\n"), components("component other extends ohmic\nend\n")
    assert one["resistor"] is other["resistor"]


@pytest.mark.parametrize("own", ["function twice(x : V) : V = 2*x\n", "domain belt\n  across v : m/s\n  through f : N\n  power v*f\nend\n"])
def test_other_functions_or_domains_make_other_components(own):
    assert components("")["resistor"] is not components(own)["resistor"]
