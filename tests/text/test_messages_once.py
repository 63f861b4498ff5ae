"""A mistake is told once, with all that takes part in it, and with the name that was meant."""

import re

import pytest

import netsim
from netsim.text.errors import InputError, Problem, Span, nearest, one_per_cause

SPAN = Span("a.net", 4, 3, 4, 9)


def problems_of(text):
    with pytest.raises(InputError) as raised:
        netsim.load(text).check()
        raise InputError(netsim.load(text).check())
    return raised.value.problems


def test_mistake_in_a_model_is_one_per_kind_with_the_number_of_instances():
    text = "use electrical\nmodel part (p, n : electrical)\n  q resistor (p, n) Rx = 1 Ohm\nend\nx[k] part (a, ground) for k in 1..4\n"
    found = problems_of(text)
    assert [(p.code, p.span.line) for p in found] == [("E227", 3)]
    assert found[0].hint == "did you mean 'R'?; the same holds for 3 more of these"


def test_what_is_not_given_is_told_whole_but_for_names_that_a_hint_has_told():
    text = """use electrical
component pair (p : electrical)
  param R1 : Ohm
  param G2 : S
  param L3 : H
  branch p -> ground : v, i
  i = v/R1 + G2*v
end
a pair (n) R = 1 Ohm, L3 = 1 H
b pair (n)
"""
    assert [(p.code, p.span.line, p.message.split("'")[1], p.hint) for p in problems_of(text)] == [
        ("E227", 9, "R", "did you mean 'R1'?"), ("E229", 9, "G2", ""), ("E229", 10, "R1", "neither G2 nor L3")
    ]  # fmt: skip


def test_mistakes_that_differ_by_more_than_the_instance_are_all_told():
    told = [Problem("E229", "parameter 'R' of 'x[1].q' is not given", SPAN), Problem("E229", "parameter 'C' of 'x[1].q' is not given", SPAN)]
    assert one_per_cause(told) == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("param a = b*2\nparam b = c\nparam c = a + 1\n", "'a' depends on itself: it needs 'b', then 'c', which needs 'a'"),
        ("param d = a\nparam a = b\nparam b = a\n", "'a' depends on itself: it needs 'b', which needs 'a'"),
        ("param a = 2*a\n", "'a' depends on itself"),
        ("param a = b + c\nlet b = (d)\nlet d = (b)\nparam c = a\n", "'b' depends on itself: it needs 'd', which needs 'b'"),
    ],
)
def test_all_members_of_a_circle_are_named(text, words):
    with pytest.raises(InputError) as raised:
        model = netsim.load(f"use electrical\n{text}r resistor (a1, ground) R = 1 Ohm*a\nv voltage (a1, ground) v = 1 V\n")
        raise InputError(model.check())
    said = {p.message for p in raised.value.problems}
    assert words in said
    members = next(p for p in raised.value.problems if p.message == words)
    assert [name for _, name in members.also] == list(dict.fromkeys(re.findall(r"'\w+'", words)))[1:]


def test_slip_of_the_shift_key_is_a_suggestion_and_nothing_is_not():
    assert nearest("r", ["R", "T"]) == "did you mean 'R'?"
    assert nearest("", ["", "R"]) == nearest("x", [""]) == ""


def test_number_without_unit_is_noted_only_where_a_unit_is_expected():
    component = "component k (p, n : electrical)\n  param a : 1 = 2\n  param R : Ohm = 2 Ohm\n  branch p -> n : v, i\n  v = a*i*R\nend\n"
    text = f"use electrical\n{component}x k (a, ground) a = 2, R = 3\nv voltage (a, ground) v = 1 V\n"
    assert [p.message for p in netsim.load(text).check()] == ["'R' has no unit here: taken in Ohm"]
