"""parse(show(tree)) == tree for random trees of every kind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.text import syntax as s
from netsim.text.expressions.show import show_expression
from netsim.text.grammar.words import LINE_WORDS, RESERVED
from netsim.text.parse import parse
from netsim.text.show import show

WORD = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,4}", fullmatch=True) | st.sampled_from(["m", "kg", "N", "h", "e3", "nominal", "out1", "x", "deg"])
NAME = WORD.filter(lambda word: word not in RESERVED and not any(word in words for words in LINE_WORDS.values()))
ANY_WORD = NAME | st.sampled_from(["source", "power", "var", "out", "branch", "across"])
UNIT = st.sampled_from(["kg", "N/m", "N.s/m", "m2", "m/s^2", "degC", "1/s", "kg.m2", "Ohm", "Hz^0.5", "m^-1"])
LITERAL_UNIT = UNIT.filter(lambda unit: unit[0] != "1")
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8) | st.sampled_from(
    ['a "b"', "\\", '\\"', "C:\\new\\table.csv", "#"]
)
DOC = st.just("") | TEXT
VALUE = st.integers(0, 10**6).map(float) | st.floats(0, 1e300, allow_subnormal=True)
NUMBER = st.builds(s.Number, VALUE, st.just("") | LITERAL_UNIT)


def some(strategy, least=0, most=3):
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


def names(index, words=NAME):
    return some(st.builds(s.Part, words, some(index, 0, 2)), 1, 3).map(s.Name)


def larger(inner):
    argument = inner | st.builds(s.String, TEXT)
    calls = st.builds(s.Call, ANY_WORD | st.sampled_from(["diag", "table", "der"]), some(argument), some(st.tuples(NAME, argument), 0, 2))
    operators = st.sampled_from(["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"])
    return st.one_of(
        names(inner),
        calls,
        st.builds(s.Unary, st.sampled_from(["-", "+", "not"]), inner),
        st.builds(s.Binary, operators, inner, inner),
        st.builds(s.Binary, operators, inner, inner),
        st.builds(s.Binary, st.just("*"), st.builds(s.Call, st.just("diag"), some(inner, 1)), st.builds(s.Number, st.just(1.0), LITERAL_UNIT)),
        st.builds(s.Vector, some(inner, 1), st.just("") | LITERAL_UNIT),
        st.builds(s.Conditional, inner, inner, inner),
    )


ANY_EXPR = st.recursive(NUMBER | names(NUMBER) | st.just(s.Name((s.Part("time"),))), larger, max_leaves=6)


@st.composite
def expressions(draw):
    return draw(ANY_EXPR)


EXPR = expressions()
FULL_NAME = names(EXPR)
NODE = FULL_NAME | st.just(s.Name((s.Part("ground"),)))
BINDING = st.builds(s.Binding, NAME, EXPR)
MOTIONS = st.builds(s.Binding, NAME, some(st.builds(s.Binary, st.just("="), EXPR, EXPR), 1).map(s.Vector))
START = st.builds(s.Start, st.sampled_from(["start", "guess"]), FULL_NAME, EXPR)
BOUNDS = some(st.builds(s.Bound, st.sampled_from(["<", "<=", ">", ">="]), EXPR), 0, 2)
MAYBE = st.none() | EXPR
PARAM = st.builds(s.Param, NAME, st.none() | UNIT, BOUNDS, MAYBE, some(EXPR, 0, 2), DOC)
COUNT = st.builds(s.Count, NAME, MAYBE, DOC, BOUNDS)
LET = st.builds(s.Let, NAME, EXPR)
RANGE = st.builds(s.Range, NAME, EXPR, EXPR)
INSTANCE = st.builds(s.Instance, names(EXPR, ANY_WORD), NAME, some(NODE), some(BINDING), some(START, 0, 2), some(RANGE, 0, 2))
TABLE = st.builds(s.Table, NAME, TEXT)
ANYTHING = st.builds(lambda name: s.Name((*name.parts, s.Part("*"))), FULL_NAME) | st.just(s.Name((s.Part("*"), s.Part("f"))))
MEASURE = st.builds(s.Measure, NAME, EXPR | st.builds(lambda e: s.Call("when", (s.Binary(">", e, e),)), EXPR), DOC)
NUMBERED = st.builds(s.Measure, NAME, EXPR, DOC, EXPR)
ASSERT = st.builds(s.Assert, EXPR, DOC)
SIGNALS = some(EXPR | ANYTHING, 1)
TERMINAL = st.builds(s.Terminal, ANY_WORD, NAME, st.sampled_from(["", "in", "out"]))
TERMINALS = st.lists(TERMINAL, max_size=3, unique_by=lambda terminal: terminal.name).map(tuple)
QUANTITY = st.builds(s.Quantity, ANY_WORD, UNIT, some(EXPR, 0, 2), DOC, MAYBE)
BRANCH_END = NAME | st.just("ground")
IN_MODEL = PARAM | COUNT | LET | TABLE | INSTANCE | START
STATEMENT = st.one_of(
    IN_MODEL,
    st.builds(s.Use, NAME, st.just(False)),
    st.builds(s.Use, TEXT, st.just(True)),
    st.builds(s.Include, TEXT),
    st.builds(s.World, some(BINDING, 1)),
    st.builds(s.Run, NAME, some(BINDING | MOTIONS), st.just("") | NAME),
    st.builds(s.Save, SIGNALS),
    st.builds(s.Plot, SIGNALS),
    MEASURE,
    ASSERT,
    st.builds(s.Repeated, NUMBERED | ASSERT, some(RANGE, 1, 2)),
    st.builds(s.DomainDef, NAME, some(QUANTITY), some(QUANTITY), some(QUANTITY), MAYBE, DOC, DOC),
    st.builds(
        s.ComponentDef,
        name=NAME,
        terminals=TERMINALS,
        params=some(PARAM, 0, 2),
        counts=some(COUNT, 0, 1),
        inputs=some(QUANTITY, 0, 2),
        lets=some(LET, 0, 2),
        variables=some(QUANTITY, 0, 2),
        branches=some(st.builds(s.Branch, BRANCH_END, BRANCH_END, some(NAME, 1)), 0, 2),
        equations=some(st.builds(s.Equation, EXPR, EXPR), 0, 2),
        outputs=some(st.builds(s.Output, ANY_WORD, UNIT, EXPR, some(EXPR, 0, 1), DOC), 0, 2),
        asserts=some(st.builds(s.Assert, EXPR, TEXT), 0, 2),
        stores=MAYBE,
        dissipates=MAYBE,
        is_source=st.booleans(),
        singular=DOC,
        doc=DOC,
        bases=some(st.builds(s.Name, st.builds(s.Part, NAME).map(lambda part: (part,))), 0, 2),
        is_partial=st.booleans(),
    ),
    st.builds(s.FunctionDef, NAME, some(st.builds(s.Quantity, NAME, UNIT, some(EXPR, 0, 2))), UNIT, EXPR, DOC),
    st.builds(s.ModelDef, NAME, TERMINALS, some(IN_MODEL), DOC),
)


@settings(max_examples=200)
@given(EXPR)
def test_expressions_survive(expression):
    program = s.Program((s.Let("x", expression),))
    assert parse(show(program)) == program


@settings(max_examples=100)
@given(some(STATEMENT, 1, 3))
def test_statements_survive(statements):
    program = s.Program(statements)
    assert parse(show(program)) == program
    assert show(parse(show(program))) == show(program)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("-a^2", "-a^2"),
        ("(-a)^2", "(-a)^2"),
        ("a^b^c", "a^b^c"),
        ("(a^b)^c", "(a^b)^c"),
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "a - b - c"),
        ("a/(b*c)", "a/(b*c)"),
        ("(10 N)/m", "(10 N)/m"),
        ("10 N / m", "(10 N)/m"),
        ("10 N/m", "10 N/m"),
        ("2*(10 N)/m", "(2*10 N)/m"),
        ("(2 m)^2", "(2 m)^2"),
        ("not (a and b) or c", "not (a and b) or c"),
        ("(if a then b else c) + 1", "(if a then b else c) + 1"),
        ("diag(1, 2, 3) kg.m2", "diag(1, 2, 3) kg.m2"),
        ("diag(1, 2, 3)*1 kg.m2", "diag(1, 2, 3) kg.m2"),
        ("1.50e-3", "0.0015"),
    ],
)
def test_canonical_expressions(text, canonical):
    value = parse(f"let x = {text}").statements[0].value
    assert show_expression(value) == canonical
