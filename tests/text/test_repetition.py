"""Statements over ranges and numbers in names."""

import pytest

import netsim
from netsim.text.parse import parse
from netsim.text.show import show

CHAIN = """
use translational
count n = 3
m[k]  mass    (a[k])          m = 1 kg              for k in 1..n
s[k]  spring  (a[k], ground)  c = 100 N/m           for k in 1..n
start a[1].x = 1 mm
let   twice = 2*a[1].x
let   x{k} = a[k].x        for k in 1..n
let   d{10*i+k} = a[i].x - a[k].x  for i in 1..n, k in 1..n
run   transient(stop = 0.1 s)
save  x{k}, a[k].v  for k in 1..n
save  d{12}, twice
plot  x{k} for k in 2..3
"""


def test_numbers_in_names():
    result = netsim.load(CHAIN).transient(stop=0.1)
    assert {"x1", "x2", "x3", "d12", "twice", "a[3].v"} <= set(result.data_vars)
    assert abs(result["d12"] - result["x1"] + result["x2"]).max() == 0
    more = netsim.load(CHAIN, counts={"n": 4}).transient(stop=0.1)
    assert {"x4", "a[4].v"} <= set(more.data_vars)


def test_shown_and_read_again():
    program = parse(CHAIN)
    assert parse(show(program)).statements == program.statements


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("let y{k} = 1 for k in 1..m", "E208", "'m' is no count"),
        ("save x{q} for k in 1..2", "E208", "'q' is no count"),
        ("let y{1.5} = 2", "E208", "a whole number is wanted"),
        ("let y{1 = 2", "E104", "this '{' is never closed"),
        ("save y{1}", "E206", "nothing is called 'y1'"),
        ("let y{k} = 1 for k in 1..2\nlet y{2} = 3", "E222", "the name 'y2' is taken"),
    ],
)
def test_mistakes(line, code, words):
    with pytest.raises(netsim.InputError) as caught:
        netsim.load(CHAIN + line + "\n").transient(stop=0.1)
    assert any(p.code == code and words in p.message for p in caught.value.problems)
