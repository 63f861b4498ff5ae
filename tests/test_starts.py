"""What states begin with, which written starts contradict one another, and what is said of a step that fails."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import netsim
from netsim.cli import main
from netsim.errors import InputError
from netsim.solvers.culprits import irreducible
from netsim.starts import StartRow
from netsim.starts_shown import states

MIXED = """use electrical
use planar
world gravity = [0, -9.81, 0] m/s2
src  voltage    (top, ground)  v = 5 V
r1   resistor   (top, mid)     R = 1 kOhm
c1   capacitor  (mid, ground)  C = 1 uF, start v = 2 V
l1   inductor   (mid, low)     L = 1 mH
r2   resistor   (low, ground)  R = 1 kOhm
bar  planar_bar (rod)          m = 1 kg, at1 = [0, 0] m, at2 = [1, 0] m
pin  planar_revolute (ground, rod)  at = [0, 0] m, c = 5 N.m/rad
{}
run transient(stop = 1 ms, step = 10 us{})
"""


def table(start: str = "start pin.q = 30 deg", option: str = ""):
    return {state.name: state for state in states(netsim.load(MIXED.format(start, option)))}


def test_every_state_is_listed_with_what_it_begins_with():
    found = table()
    assert found["c1.v"].written == 2.0 and found["c1.v"].computed == pytest.approx(2.0) and not found["c1.v"].changed
    assert found["l1.i"].written is None and found["l1.i"].default is None and found["l1.i"].computed == pytest.approx(2e-3)
    assert found["pin.q"].written == pytest.approx(np.pi / 6) and found["pin.q"].computed == pytest.approx(np.pi / 6)
    x = found["rod.r.x"]
    assert (x.default, x.unit, x.changed) == (0.5, "m", True) and x.computed == pytest.approx(0.5 * np.cos(np.pi / 6))
    assert found["rod.v.x"].unit == "m/s" and not found["rod.v.x"].changed


def test_from_rest_and_from_static_have_other_beginnings():
    assert table(option=", from = rest")["l1.i"].default == 0.0
    resting = table(start="", option=", from = static")
    q = resting["rod.phi"].computed
    assert 5 * q + 9.81 / 2 * np.cos(q) == pytest.approx(0.0, abs=1e-9)
    assert table(start="")["rod.phi"].computed == 0.0


def test_command_prints_the_table_aligned(tmp_path, capsys):
    file = tmp_path / "mixed.net"
    file.write_text(MIXED.format("start pin.q = 30 deg", ""))
    assert main(["check", "--start", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["state", "written", "default", "computed"]
    row = next(line for line in lines if line.split()[0] == "c1.v")
    assert row.index("2 V") == lines[0].index("written") and row.rindex("2 V") == lines[0].index("computed")
    assert any(line.split()[0] == "rod.r.x" and "changed by constraints" in line for line in lines)


# -------------------------------------------------------------------------------------------------- contradictions


def rows(n: int) -> list[StartRow]:
    return [StartRow(f"x{i}", "start", 0.0, None, np.zeros(0, np.int64), np.zeros(0, np.int64), None) for i in range(n)]  # type: ignore[arg-type]


@pytest.mark.parametrize("conflict", [(0, 1), (2, 5), (1, 3, 4), (0, 2, 4, 6), (3,)])
def test_deletion_filter_finds_the_one_contradiction(conflict: tuple[int, ...]):
    every = rows(7)
    culprits = {every[i].path for i in conflict}
    found = irreducible(every, lambda some: not culprits <= {row.path for row in some})
    assert {row.path for row in found} == culprits


def test_deletion_filter_leaves_one_of_several_contradictions_irreducible():
    every = rows(6)
    conflicts = [{"x0", "x1"}, {"x1", "x2", "x3"}, {"x4", "x5"}]

    def holds(some: list[StartRow]) -> bool:
        return not any(conflict <= {row.path for row in some} for conflict in conflicts)

    found = irreducible(every, holds)
    assert not holds(found)
    assert all(holds(list(fewer)) for fewer in combinations(found, len(found) - 1))


def test_culprits_are_named_and_bystanders_are_not():
    text = """use planar
crank   planar_bar       (a)          m = 1 kg, at1 = [0, 0] m, at2 = [1, 0] m
slide   planar_body      (b)          m = 1 kg, I = 0.1 kg.m2, at = [1, 0] m
free    planar_body      (c)          m = 1 kg, I = 0.1 kg.m2, at = [3, 0] m
pA      planar_revolute  (ground, a)  at = [0, 0] m
weld    planar_weld      (a, b)       at = [1, 0] m
start c.phi = 20 deg
start pA.q = 30 deg
start c.r.x = 3.1 m
start b.phi = 80 deg
run transient(stop = 10 ms, step = 1 ms)
"""
    with pytest.raises(InputError) as caught:
        netsim.load(text).run()
    (problem,) = caught.value.problems
    assert problem.code == "E410" and "pA.q, b.phi" in problem.message and "c." not in problem.message
    assert problem.span.line == 8 and [span.line for span, _ in problem.also] == [10]


# ---------------------------------------------------------------------------------------------------- failing steps


def failure(text: str):
    samples = netsim.load(text).run()[0]
    assert not samples.finished
    return samples, samples.attributes["failure"]


def test_failing_step_names_equations_and_keeps_what_was_accepted():
    text = """use electrical
component fading (p, n : electrical) "conducts until 2 ms after the start"
  branch p -> n : v, i
  i = v*sqrt(1 - time/(2 ms))/(1 Ohm)
end
v1  voltage   (a, ground)  v = 1 V
r1  resistor  (a, b)       R = 1 Ohm
x1  fading    (b, ground)
run transient(stop = 5 ms, step = 0.5 ms, method = euler)
"""
    samples, problem = failure(text)
    assert problem.code == "E503" and "the current balance at 'b' (r1, x1)" in problem.message
    assert samples.time[-1] == pytest.approx(2e-3) and "t = 0.002 s is the last one accepted" in problem.hint


def test_step_without_solution_names_the_balance():
    text = """use electrical
component greedy (p, n : electrical) "draws more and more power"
  branch p -> n : v, i
  v*i = 1 W*time/(1 s)
end
v1  voltage   (a, ground)  v = 1 V
r1  resistor  (a, b)       R = 1 Ohm
x1  greedy    (b, ground)
guess b.v = 1 V
run transient(stop = 1 s, step = 10 ms, method = euler)
"""
    samples, problem = failure(text)  # at most V^2/(4 R) = 0.25 W can be drawn
    assert problem.code in ("E502", "E505") and samples.time[-1] == pytest.approx(0.25, abs=0.011)
    assert "x1" in problem.message and "last one accepted" in problem.hint
