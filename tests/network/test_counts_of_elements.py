"""Counts of elements and models at their bounds, and without the vectors that go with them: told at the line that gives them."""

import pytest
from hosts import LIBRARY, hosted, netlist

import netsim
from netsim.library.component import default_counts
from netsim.text.syntax import Count

COUNTED = [
    *((name, c.name) for name in hosted() for c in LIBRARY.components[name].definition.counts),
    *((name, c.name) for name, model in sorted(LIBRARY.models.items()) for c in model.body if isinstance(c, Count)),
]


@pytest.mark.parametrize("value", [-1, 0, 1])
@pytest.mark.parametrize("name, count", COUNTED)
def test_counts_run_or_are_told_at_the_line_that_gives_them(name, count, value):
    text = netlist(name, {count: str(value)})
    line = next(n for n, words in enumerate(text.splitlines(), 1) if words.startswith("x "))
    try:
        model = netsim.load(text)
        assert model.machine is not None and value >= 0
    except netsim.InputError as told:
        assert all(p.span is not None and (p.span.file, p.span.line) == ("<text>", line) for p in told.problems), str(told)


def test_every_count_has_a_default_within_its_bounds():
    assert all(min(default_counts(LIBRARY.components[name].definition).values(), default=0) >= 0 for name in hosted())


def test_vectors_that_a_count_asks_for_are_named():
    with pytest.raises(netsim.InputError, match=r"E204 'k.xs' is a vector of 3, and what it is unless it is given is a vector of 2") as told:
        netsim.load("use signal\nc constant (u) value = 1\nk curve (u, y) n = 3, ys = [0, 1, 2]\nrun transient(stop = 1 s)\n").samples()
    assert told.value.problems[0].span.line == 3 and told.value.problems[0].hint == "give xs = [...]"


def test_a_formula_of_a_model_that_breaks_a_bound_is_told_at_its_line():
    with pytest.raises(netsim.InputError, match=r"<text>:2:1: E234 'k.line' is 0, but must be > 0 kg/m"):
        netsim.load(
            "use planar\nk planar_flexible_link (ground, b) at1 = [0, 0] m, at2 = [1, 0] m, EI = 1 N.m2\nrun transient(stop = 1 s)\n"
        ).samples()


def test_what_several_elements_of_a_model_refuse_is_said_once():
    text = "use electrical\ns three_phase_voltage (a, b, c, ground) V = -1 V, f = 50 Hz\nr star_load (a, b, c, ground) R = 1 Ohm\n"
    with pytest.raises(netsim.InputError) as raised:
        netsim.load(text + "run transient(stop = 1 ms)\n").run()
    assert [(p.code, p.span.line) for p in raised.value.problems] == [("E234", 2)]
