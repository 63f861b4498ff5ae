"""What a domain asserts of its nodes: told at the node and the instant, read as the rest of the language."""

import pytest

import netsim
from netsim.text.parse import parse
from netsim.text.show import show

BELT = """domain belt "a belt"
  across v : m/s "speed"
  through f : N "tension"
  power v*f
  floating "nothing holds {nodes}"
  assert v <= 2 m/s "the belt runs off"
end
component roller (p : belt) "mass"
  param m : kg > 0 = 1 kg
  branch p -> ground : v, f
  f = m*der(v)
  stores m*v^2/2
end
component push (p : belt) "force"
  input F : N
  branch ground -> p : v, f
  f = F
end
"""


def notes(text):
    """What a run notes."""
    return netsim.load(text).samples()[0].attributes.get("notes", "")


@pytest.mark.parametrize("stop, told", [(1.9, ""), (3.0, "node 'a' at t = 2.01 s: the belt runs off")])
def test_nodes_are_judged_at_every_sample(stop, told):
    """1 N on 1 kg: 2 m/s after 2 s; the node at rest says nothing."""
    lines = "r roller (a)\ns push (a) F = 1 N\nq roller (b)\n"
    assert notes(f"{BELT}{lines}run transient(stop = {stop} s, from = rest, sample = 10 ms)\n") == told


def test_nodes_of_models_have_their_dotted_names():
    lines = "model twin (p : belt)\n  r roller (p)\n  q roller (mid)\n  s push (mid) F = 1 N\nend\nx[k] twin (a[k]) for k in 1..2\n"
    told = notes(f"{BELT}{lines}run transient(stop = 3 s, from = rest, sample = 10 ms)\n")
    assert told == "node 'x[1].mid' at t = 2.01 s: the belt runs off; node 'x[2].mid' at t = 2.01 s: the belt runs off"


@pytest.mark.parametrize(
    "condition, message",
    [
        ("u <= 2 m/s", "E206 nothing is called 'u' here"),
        ("v <= 2 m", "E203 comparison of m/s and m"),
        ("f <= 2 N", "E206 nothing is called 'f' here"),
    ],
)
def test_wrong_asserts_are_told_where_they_stand(condition, message):
    with pytest.raises(netsim.InputError, match=rf"<text>:6:\d+: {message}"):
        netsim.load(BELT.replace("v <= 2 m/s", condition))


def test_an_assert_of_a_domain_is_shown_as_it_is_read():
    program = parse(BELT)
    assert parse(show(program)) == program and 'assert v <= 2 m/s "the belt runs off"' in show(program)
