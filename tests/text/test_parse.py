from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.text import syntax as s
from netsim.text.errors import InputError
from netsim.text.expressions.show import show_expression
from netsim.text.grammar import grammar
from netsim.text.grammar.scan import Scanner
from netsim.text.kept import shipped
from netsim.text.parse import parse
from netsim.text.show import show

NETLIST = """
# two carts held apart
use translational
use "parts/leg.lib"
include "common.net"

param  stiffness = 200 N/m
param  m[3] : kg > 0 <= 10 kg = [1, 2, 3] kg "masses"
count  n >= 1 = 3 "how many"
let    e = [0, cos(phi), sin(phi)]
table  road = "road.csv"
world  gravity = [0, -9.81, 0] m/s2, ambient = 20 degC

m1  mass          (a)            m = 2 kg, start x = 3 mm, guess v = 0
c1  spring        (a, ground)    c = stiffness
s1  displacement  (a, b)         s = 20 mm * bell(time, at = 2 s, width = 0.4 s)
s2  displacement  (a, b)         s = table("file.csv", time, column, kind = cubic, outside = "hold")
F   force         (n[k], leg[1].top, n[k+1])  F = -k*a.x + (if time < 2 s then 1 N else 0)  for k in 1..n, j in 2*n..3
start a.x = 3 mm
guess leg[2].slide.q = 1

run   transient(stop = 5 s, step = 1 ms, method = euler)
run   fall = transient(stop = 5 s,    # goes on while
                       step = 1 ms)   # a bracket is open
run   static(); save s1.f, s1.power, a.x, m1.*, *.f
plot  s1.f
plot  a.x - b.x, s1.s

model leg (base, plate : spatial) "a leg"
  param phi : rad
  lower   body       (lo)          m = 0.067 kg, I = diag(1.81e-6, 171e-6, 171e-6) kg.m2
  cardan  universal  (base, lo)    at = 0.151 m * e
end
leg[k]  leg (ground, plate)  phi = (k - 1)*120 deg      for k in 1..3
"""

DEFINITIONS = """
domain translational "motion along a line"
  across    v : m/s nominal 1 mm/s "velocity"
  through   f : N      "force"
  integral  x : m
  power     v*f
  floating  "nothing holds {nodes} in place"
end
domain planar
  across v[2] : m/s, w : 1/s
  through f[2] : N, t : N.m
end
component mass (p : translational) "point mass"
  param m : kg > 0 = 2 kg
  branch p -> ground : v, f
  f = m*der(v); stores m*v^2/2
end
component spherical (a, b : spatial, in u, out y : signal)
  param at[3] : m        "the centre"
  count n = 1
  let   pa = local(a, at)
  input s : m
  var   lam[3] : N
  a.r + a.R*pa = b.r + b.R*pb
  a.f =  lam;  a.t =  cross(a.R*pa, lam)
  power = 3; out = 4
  f - 10 N = 0
  out power : W = -f*v "delivered"
  out push[3] : N = -f
  assert m > 0 and not (b == 2 m) "bad"
  dissipates d*v^2
  source
  singular "stuck"
end
"""


def only(text):
    (statement,) = parse(text).statements
    return statement


def value(text):
    return only(f"let x = {text}").value


def problems(text):
    with pytest.raises(InputError) as caught:
        parse(text)
    return caught.value.problems


def test_a_netlist_has_its_statements():
    kinds = [type(statement).__name__ for statement in parse(NETLIST).statements]
    assert kinds == [
        *["Use", "Use", "Include", "Param", "Param", "Count", "Let", "Table", "World"],
        *["Instance", "Instance", "Instance", "Instance", "Instance", "Start", "Start"],
        *["Run", "Run", "Run", "Save", "Plot", "Plot", "ModelDef", "Instance"],
    ]
    assert parse(show(parse(NETLIST))) == parse(NETLIST)


def test_definitions_have_their_parts():
    line, planar, mass, ball = parse(DEFINITIONS).statements
    assert (line.across[0].unit, line.across[0].nominal, line.floating) == ("m/s", s.Number(1, "mm/s"), "nothing holds {nodes} in place")
    assert [quantity.name for quantity in planar.across + planar.through] == ["v", "w", "f", "t"]
    assert mass.branches == (s.Branch("p", "ground", ("v", "f")),)
    assert mass.params == (s.Param("m", "kg", (s.Bound(">", s.Number(0)),), s.Number(2, "kg")),)
    assert show_expression(mass.stores) == "m*v^2/2"
    assert [(end.name, end.domain, end.direction) for end in ball.terminals] == [
        ("a", "spatial", ""), ("b", "spatial", ""), ("u", "signal", "in"), ("y", "signal", "out"),
    ]  # fmt: skip
    assert len(ball.equations) == 6 and ball.is_source and ball.singular == "stuck" and not mass.is_source
    assert [output.name for output in ball.outputs] == ["power", "push"]
    assert parse(show(parse(DEFINITIONS))) == parse(DEFINITIONS)


def test_a_terminal_may_be_called_out():
    assert [end.name for end in only("component o (plus, minus, out : electrical)\nend").terminals] == ["plus", "minus", "out"]


def test_starts_and_runs():
    instance = only("m1 mass (a) start x = 3 mm, m = 2 kg, guess v = 1")
    assert [(start.word, start.target) for start in instance.starts] == [("start", s.Name((s.Part("x"),))), ("guess", s.Name((s.Part("v"),)))]
    assert only("run fall = static()") == s.Run("static", (), "fall")
    assert only("run static(from = rest)") == s.Run("static", (s.Binding("from", s.Name((s.Part("rest"),))),))


@pytest.mark.parametrize(
    ("text", "unit", "rest"),
    [
        ("10 N/m", "N/m", None),
        ("10 N/mu", "N", "mu"),
        ("10 N / m", "N", "m"),
        ("10 kg.m2/s", "kg.m2/s", None),
        ("10kOhm", "kOhm", None),
        ("2 m/s^2", "m/s^2", None),
        ("2 m2/k2", "m2", "k2"),
        ("2 Hz^0.5", "Hz^0.5", None),
        ("2 µm", "µm", None),
    ],
)
def test_a_unit_is_the_longest_chain_of_known_names(text, unit, rest):
    number = value(text)
    if rest is not None:
        assert number.op == "/" and number.right == s.Name((s.Part(rest),))
        number = number.left
    assert number.unit == unit


def test_numbers_and_ranges():
    assert [value(text).value for text in ("1", "2.5e6", "1e-3", "1E3", "0.5")] == [1, 2.5e6, 1e-3, 1e3, 0.5]
    assert only("a b (c) for k in 1..3").ranges == (s.Range("k", s.Number(1), s.Number(3)),)
    assert value("[1, 2] mm") == s.Vector((s.Number(1), s.Number(2)), "mm")
    assert value("a[1]").parts == (s.Part("a", (s.Number(1),)),)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-a^2", "-(a^2)"),
        ("a^b^c", "a^(b^c)"),
        ("a^-b^c", "a^(-(b^c))"),
        ("a - b - c", "(a - b) - c"),
        ("a/b*c", "(a/b)*c"),
        ("-a*b", "(-a)*b"),
        ("a + b < c*d and e or not f == g", "(((a + b) < (c*d)) and e) or (not (f == g))"),
        ("if a then b else if c then d else e + 1", "if a then b else (if c then d else (e + 1))"),
    ],
)
def test_precedence(text, same):
    assert value(text) == value(same)
    assert value(text) != value(f"({text}) + 0")


def test_strings_keep_backslashes_and_quotes():
    assert only(r'include "C:\new\table.csv"').path == r"C:\new\table.csv"
    assert only(r'include "a \"b\" \\"').path == 'a "b" \\'


CONTINUED = [
    ("save a.v,\n  a.i\n", "save a.v, a.i"),
    ("r1 resistor (a, b) R = 1 Ohm,\n\n  # a comment\n  T = 300 K\n", "r1 resistor (a, b) R = 1 Ohm, T = 300 K"),
    ('measure x = a.v\n  "the voltage"   # a comment\n  "at \\"a\\""\n', 'measure x = a.v "the voltage at \\"a\\""'),
    ('component c (a : electrical)\n  "two"\n  "lines"\nend\n', 'component c (a : electrical) "two lines"\nend'),
    ("let x = (1\n  + 2)\n", "let x = 1 + 2"),
]


@pytest.mark.parametrize(("text", "same"), CONTINUED)
def test_a_statement_goes_on_behind_a_comma_and_with_a_string(text, same):
    assert parse(text) == parse(f"{same}\n")


@pytest.mark.parametrize("text", ['use electrical\n\n"words"', 'let x = f("a"\n  "b")', '"words"\n"words"', "save a.v,\nlet x = 3"])
def test_a_string_goes_on_with_the_line_before_alone(text):
    assert problems(text)


def test_spans_point_into_the_text():
    text = "\r\nm1 mass (a, n[k])\tm = 2 kg, F = -k*(a.x + [1, 2] mm) # c\r\n"
    line = text.split("\r\n")[1]
    instance = only(text)

    def piece(node):
        assert node.span.line == node.span.end_line == 2
        return line[node.span.column - 1 : node.span.end_column - 1]

    assert piece(instance) == line.removesuffix(" # c")
    assert [piece(node) for node in instance.nodes] == ["a", "n[k]"]
    assert [piece(binding) for binding in instance.bindings] == ["m = 2 kg", "F = -k*(a.x + [1, 2] mm)"]
    product = instance.bindings[1].value
    assert (piece(product.left), piece(product.right), piece(product.left.operand)) == ("-k", "(a.x + [1, 2] mm)", "k")


def test_every_node_has_a_span():
    def check(tree):
        if isinstance(tree, tuple):
            for part in tree:
                check(part)
        elif is_dataclass(tree):
            assert getattr(tree, "span", s.NOWHERE.__class__("x", 1, 1, 1, 2)).line > 0, tree
            for each in fields(tree):
                if each.name != "span":
                    check(getattr(tree, each.name))

    check(parse(NETLIST).statements + parse(DEFINITIONS).statements)


MISTAKES = [
    ("r1 resistor (a, b) r = 10k", "E106", "10k", "10 kOhm"),
    ("r1 resistor (a, b) r = 4.7k", "E106", "4.7k", "4.7e3"),
    ("c1 capacitor (a, b) c = 1u", "E106", "1u", "1 uF"),
    ("r1 resistor (a, b) r = 1M", "E106", "1M", "1 MOhm"),
    ("r1 resistor (a, b) r = 1 k", "E106", "k", "1 kOhm"),
    ("r1 resistor (a, b) r = 10 kohn", "E107", "kohn", "kohm"),
    ("run transient(stop = 5 sec)", "E107", "sec", "'s'"),
    ("let x = 2 N.foo", "E107", ".", ""),
    ("param x : Nm", "E107", "Nm", "N.m"),
    ("r1 resistor (a, b) r = 10 kOhm c = 3 F", "E102", "c", "comma"),
    ("r1 resistor (a, b) r = 10 m = 3", "E102", "m", "comma"),
    ("m1 mass (a) m = 2 kg start x = 3 mm", "E102", "start", "comma"),
    ("r1 resistor (a b) r = 1", "E102", "b", ""),
    ("r1 resistor (a, b r = 1", "E104", "(", ")"),
    ("plot [1, 2", "E104", "[", "]"),
    ("r1 resistor a, b) r = 1", "E105", ")", ""),
    ("let x = (a + b]", "E105", "]", ""),
    ("param time = 3 s", "E108", "time", "time_"),
    ("m1 mass (end) m = 1", "E108", "end", ""),
    ("m1 mass (a) m = 1, for = 1", "E108", "for", ""),
    ("let x = 1 + if a then b else c", "E101", "if", "(if"),
    ("m1 mass (a) m == 2 kg", "E109", "==", "="),
    ("let x = if a = 3 then 1 else 2", "E109", "=", "=="),
    ("m1 mass (a) m = kg 2", "E110", "2", "2 kg"),
    ("m1 mass (a) m = .5 kg", "E111", ".5", "0.5"),
    ("m1 mass (a) m = 5. kg", "E111", "5.", "5.0"),
    ("let x = 1e999", "E111", "1e999", ""),
    ("let x = a**b", "E112", "**", "^"),
    ("let x = a && b", "E112", "&&", "and"),
    ('use "abc', "E113", '"abc', ""),
    ("m1 mass (a) m =", "E114", "=", ""),
    ("save a.x,", "E114", ",", "remove"),
    ("let x = if a > 3 then 4", "E114", "if", "else"),
    ("end", "E115", "end", ""),
    ("m1 mass (a) с = 3", "E117", "с", "write c"),
    ("when a > 3", "E119", "when", "if"),
    (".tran 1 2", "E101", ".", "run transient"),
    ("* comment", "E101", "*", "#"),
    ("let x = a < b < c", "E101", "<", "and"),
    ("let x = a.*b", "E101", "*", "a*b"),
    ("save a.x,, b", "E101", ",", ""),
    ("let x = f(a, )", "E101", ")", "comma"),
    ("save a.x, .y", "E101", ".", "dotted"),
    ("let x = f(a., b)", "E101", ",", "dotted"),
    ("parm x = 3", "E101", "=", "param"),
    ("x = 3", "E101", "=", "let x"),
    ("let x 3", "E114", "3", ""),
    ("leg[k] leg (a) for k = 1..3", "E114", "=", ""),
    ("branch p -> n : v", "E115", "->", "headline"),
    ("a b (c) for k in 1.n", "E111", "1.", "1.."),
    ("run transient stop = 3", "E101", "stop", "run transient(stop"),
    ("m1 (a) m = 3", "E101", "(", "NAME TYPE (NODES)"),
    ("let x = " + "-" * 300 + "1", "E120", "let", "let"),
]


@pytest.mark.parametrize(("text", "code", "marked", "hint"), MISTAKES)
def test_a_mistake_is_named_in_its_place(text, code, marked, hint):
    (problem,) = problems(text)
    assert problem.code == code
    assert text[problem.span.column - 1 : problem.span.end_column - 1] == marked
    assert hint in problem.hint
    for inner in ("LPAR", "RPAR", "LSQB", "EQUAL", "COMMA", "$END", "Token", "NAME "):
        assert inner not in problem.message


def test_independent_mistakes_come_together_in_order():
    broken = [text for text, *_ in MISTAKES]
    found = problems("\n".join(broken))
    assert [problem.span.line for problem in found] == list(range(1, len(broken) + 1))
    assert [problem.code for problem in found] == [code for _, code, *_ in MISTAKES]


def test_an_open_bracket_hides_no_later_line():
    text = "m1 mass (a m = 2 kg\nm2 mass (b) m = 10k\nrun transient(stop = 5 s\nsave a.x\nlet y = 5."
    assert [(problem.code, problem.span.line) for problem in problems(text)] == [("E104", 1), ("E106", 2), ("E104", 3), ("E111", 5)]


@pytest.mark.parametrize("after", ["component b (p : e)\nend", "run static()", "save a.x", ""])
@pytest.mark.parametrize("block", ["component", "domain", "model"])
def test_a_missing_end_is_found_where_the_block_opens(block, after):
    (problem,) = problems(f"use x\n{block} a\n{after}")
    assert (problem.code, problem.span.line) == ("E103", 2)
    assert "'end'" in problem.message


def test_an_instance_behind_a_missing_end_is_no_mistake_of_its_own():
    (only,) = problems("component a (p : e)\n v = 3\nr1 resistor (a, b) r = 1\nr2 resistor (a, b) r = 1")
    assert (only.code, only.span.line) == ("E103", 1)
    (inside,) = problems("component a (p : e)\n v = 3\nr1 resistor (a, b) r = 1\nend")
    assert (inside.code, inside.span.line) == ("E101", 3) and "'end' of component 'a' is missing" in inside.hint


def test_lines_of_a_definition_are_checked_one_by_one():
    text = "component a (p, n)\n var x\n out y : foo = 3\n x == 3\n f = g +\n stores a\n stores b\nend"
    found = [(problem.code, problem.span.line) for problem in problems(text)]
    assert found == [("E116", 1), ("E116", 1), ("E114", 2), ("E107", 3), ("E109", 4), ("E114", 5), ("E118", 7)]


PIECES = st.sampled_from(
    [
        *["m1", "mass", "a", "k", "kg", "N/m", "2", "1..3", ".5", "5.", "10k", "1e999", "time", "ground", "end", "if", "then", "else", "for", "in"],
        *["param", "count", "let", "run", "save", "plot", "use", "component", "model", "domain", "branch", "out", "var", "power", "source", "when"],
        *[
            "(",
            ")",
            "[",
            "]",
            ",",
            "=",
            "==",
            "<",
            "+",
            "-",
            "*",
            "/",
            "^",
            ".",
            "..",
            "->",
            ":",
            ";",
            "\n",
            "\n",
            "\n",
            "#",
            '"',
            '"x"',
            "é",
            "\\",
            "$",
        ],
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map(" ".join) | st.text(max_size=40))
def test_any_text_is_parsed_or_explained(text):
    try:
        program = parse(text)
    except InputError as error:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
        for problem in error.problems:
            assert problem.message and 1 <= problem.span.column <= len(lines[problem.span.line - 1]) + 1
        assert str(error)
    else:
        assert parse(show(program)) == program


@settings(max_examples=200, deadline=None)
@given(
    st.lists(PIECES.filter(lambda piece: piece not in ('"', '"x"', "#")), max_size=40).map(" ".join),
    st.sampled_from(["netlist", "component", "domain"]),
)
def test_the_scanner_loses_nothing(text, mode):
    scanner, seen = Scanner(text, "x"), ""
    while not scanner.at_end:
        before = scanner.place
        seen += "".join(token.text for token in scanner.next_statement(mode).tokens)
        assert scanner.place > before
    assert seen.replace(";", "") == "".join(text.replace(";", "").split())  # one of an open `when` stays a token


@pytest.fixture
def fresh_tables():
    def forget():
        grammar._lark_data.cache_clear()
        grammar._PARSERS.lark = None

    forget()
    yield forget
    forget()


def test_the_tables_are_kept_and_a_damaged_file_is_built_anew(tmp_path, monkeypatch, fresh_tables):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    monkeypatch.setattr(shipped, "BUILT", tmp_path / "nothing is built")
    expected = parse(NETLIST)
    (kept,) = (tmp_path / "grammar").iterdir()
    whole = kept.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1] + b"x"):
        kept.write_bytes(damaged)
        fresh_tables()
        assert parse(NETLIST) == expected
        assert kept.read_bytes()[32:] != damaged[32:]
    fresh_tables()
    monkeypatch.setattr(grammar, "_compile", lambda text: pytest.fail("the kept tables were not used"))
    assert parse(NETLIST) == expected


def test_threads_that_parse_at_once_keep_their_files_apart():
    """A parser's builder knows one file at a time."""
    texts = {f"{k}.net": f"use electrical\nr{k} resistor (a, ground) R = {k + 1} Ohm\n" * 20 for k in range(8)}

    def files(name):
        return {s.span.file for _ in range(40) for s in parse(texts[name], name).statements if hasattr(s, "span")}

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(files, texts)) == [{name} for name in texts]


def test_no_cache_folder_is_no_hindrance(tmp_path, monkeypatch, fresh_tables):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "file"))
    assert len(parse(NETLIST).statements) == 24
