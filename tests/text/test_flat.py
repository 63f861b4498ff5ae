"""The fast path gives what the grammar gives, spans included."""

from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.text.errors import InputError
from netsim.text.expressions.from_python import BEFORE, parse_expression
from netsim.text.grammar import flat, grammar
from netsim.text.grammar.scan import Scanner
from netsim.text.parse import parse


def with_spans(tree):
    if is_dataclass(tree):
        return (type(tree).__name__, *(with_spans(getattr(tree, each.name)) for each in fields(tree)))
    return tuple(map(with_spans, tree)) if isinstance(tree, tuple) else tree


def outcome(text):
    try:
        return with_spans(parse(text).statements)
    except InputError as error:
        return error.problems


def by_grammar(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flat, "take", lambda scanner: [])
        return outcome(text)


def is_taken(line):
    return len(flat.take(Scanner(line, "x"))) == 1


PLAIN = [
    "m1 mass (a) m = 2 1/s",
    "m1 mass (a) m = 2 1/N/m, c = 3\t1/m.s",
    "m1 mass (a) m = 2 kg",
    "r1 resistor (a, ground) r = 1e3",
    "  r1\tresistor\t( a ,b )\tr=10kOhm ,c= 2 uF # note",
    "x y ()",
    "x y (a)# note",
    "m m (m, m) m = 2 m, kg = 3 kg",
    "F1 force (a) F = -10 N",
    "F1 force (a) F = - 10 N",
    "x y (a) b = 1E-3 m^-1, c = 2 N.s/m2",
    "x y (a) b = 1eV",
    "source out (branch) var = 3",
    "m1 mass (a) start x = 3 mm",
    "m1 mass (a) start\tx=-3 mm, m = 2 kg ,guess  v = 1 m/s, start v= 2 # note",
]
OTHER = [
    "end mass (a)",
    "m1 mass (end) m = 2",
    "m1 if (a) m = 2",
    "m1 mass (time) m = 2",
    "m1 mass (a) start = 2",
    "m1 mass (a) time = 2 s",
    "m1 mass (a) m = 2 foo",
    "m1 mass (a) m = 2 kg.foo",
    "m1 mass (a) m = 2 kg/foo",
    "m1 mass (a) m = 2 kg c = 3",
    "m1 mass (a) m = 2 m = 3",
    "m1 mass (a) m = 10k",
    "m1 mass (a) m = 1..3",
    "m1 mass (a) m = 21/s",
    "m1 mass (a) m = 2/s",
    "m1 mass (a) m = 2 1/2",
    "m1 mass (a) m = 2 1 /s",
    "m1 mass (a) m = 5.",
    "m1 mass (a) m = .5",
    "m1 mass (a) m = 1e999",
    "m1 mass (a,) m = 1",
    "m1 mass (a b) m = 1",
    "m1 mass (a) m = 1,",
    "m1 mass (a) m = 1,, c = 2",
    "m1 mass (a) m = 1 for k in 1..3",
    "m1 mass (a) start start = 3 mm",
    "m1 mass (a) start x.y = 3 mm",
    "m1 mass (a) nominal x = 3 mm",
    "m1 mass (a) start guess x = 3 mm",
    "m1 mass (a) startx x = 3 mm",
    "m1 mass (a.b) m = 1",
    "m1 mass (a) m = 2 + 3",
    "m1 mass (a) m = n",
    "m1 mass (a",
    "m1 mass (a) m = 1; m2 mass (b) m = 3",
    "m1 mass (é) m = 1",
    "mé mass (a) m = 1",
    "m1 mass (a) m = 2 kg (",
    "m1 mass(a) m = 2 kg",
    "m1mass (a) m = 2 kg",
]


@pytest.mark.parametrize("line", PLAIN)
def test_plain_lines_are_taken_and_equal(line):
    assert is_taken(line)
    assert outcome(line) == by_grammar(line)


@pytest.mark.parametrize("line", OTHER)
def test_other_lines_come_out_the_same(line):
    assert outcome(line) == by_grammar(line)


def test_a_line_that_is_no_plain_one_is_left_to_the_grammar():
    left = [line for line in OTHER if not is_taken(line)]
    assert set(OTHER) - set(left) == {"m1 mass(a) m = 2 kg"}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "x"])
def test_mixed_texts_with_all_line_ends(newline, last):
    lines = ["# title", *PLAIN, "", "component c (p : e) # c", "  r1 resistor = 3", "end", "let e = [1,", "m1, 2]", *PLAIN, "save a; plot b"]
    text = newline.join(lines) + newline * bool(last)
    assert outcome(text) == by_grammar(text)


def test_plain_lines_inside_blocks_and_brackets_are_not_taken():
    text = "model a (p : e)\nm1 mass (p) m = 1 kg\nend\nm2 mass (p) m = 1 kg"
    assert [type(statement).__name__ for statement in parse(text).statements] == ["ModelDef", "Instance"]
    assert outcome(text) == by_grammar(text)


WORDS = st.sampled_from(["a", "r1", "m", "kg", "N", "end", "for", "ground", "time", "start", "e3", "E", "out", "k", "µ", "x_1", "é"])
NUMBERS = st.sampled_from(["1", "0", "2.5", "1e3", "1E-3", "1e", "5.", ".5", "1..2", "-1", "- 2", "--1", "1_0"])
UNITS = st.sampled_from(["", "kg", " kg", " N.s/m", " m2", " m^2", "/s", " foo", " kg.", " kg.x", " k", " Ohm^0.5", "m2x", " µm", " \u2126"])
GAPS = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def lines(draw):
    gap = lambda: draw(GAPS)  # noqa: E731
    nodes = f"{gap()},{gap()}".join(draw(st.lists(WORDS, max_size=3)))
    begun = st.sampled_from(["", "", "start ", "guess  ", "nominal "])
    pairs = [f"{draw(begun)}{draw(WORDS)}{gap()}={gap()}{draw(NUMBERS)}{draw(UNITS)}" for _ in range(draw(st.integers(0, 3)))]
    tail = draw(st.sampled_from(["", " # end (", "#x", "  ", ";", ",", " for k in 1..3"]))
    return f"{gap()}{draw(WORDS)} {gap()}{draw(WORDS)}{gap()}({gap()}{nodes}{gap()}){gap()}{f'{gap()},{gap()}'.join(pairs)}{tail}"


@settings(max_examples=150, deadline=None)
@given(st.lists(lines(), max_size=4).map("\n".join))
def test_random_lines_come_out_the_same(text):
    assert outcome(text) == by_grammar(text)


def test_a_long_netlist_needs_no_grammar(monkeypatch):
    def refused(*_):
        raise AssertionError("the grammar was asked")

    monkeypatch.setattr(grammar, "parse_tokens", refused)
    text = "".join(f"r{i}  resistor  (n{i}, n{i + 1})  r = {i}.5 kOhm, c = 3 uF  # x\n" for i in range(4000))
    assert len(parse(text).statements) == 4000


VALUES = ["1e-2", "12", "1.5 kN/m", "-3mm", "- 3 mm", "radau", "x_1", "20 degC"]


@pytest.mark.parametrize("text", VALUES)
def test_plain_values_need_no_grammar(text, monkeypatch):
    (statement,) = parse(f"{BEFORE}{text}", "here").statements
    monkeypatch.setattr("netsim.text.parse.parse", lambda *_: pytest.fail("the grammar was asked"))
    assert with_spans(parse_expression(text, "here")) == with_spans(statement.value)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.builds("".join, st.tuples(GAPS, NUMBERS, UNITS, GAPS)), WORDS, st.text("01.eE+- aNmkg_#;\n(", max_size=7)))
def test_random_values_come_out_the_same(text):
    plain = flat.plain_value(f"{BEFORE}{text}", len(BEFORE) + 1, "<text>")
    if plain is not None:
        (statement,) = parse(f"{BEFORE}{text}", "<text>").statements
        assert with_spans(statement.value) == with_spans(plain)
