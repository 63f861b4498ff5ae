"""What states begin with, which written starts contradict one another, and what is said of a step that fails."""

import re
from itertools import combinations

import numpy as np
import pytest

import netsim
from netsim.cli import main
from netsim.equations.starts.rows import StartRow
from netsim.initial.conflicts import minimal_conflict
from netsim.output.starts_shown import states
from netsim.structure.orders import absent_rates, signature
from netsim.text.errors import InputError

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
run transient(stop = 1 ms, step = 10 us{}, method = euler)
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


def test_charges_of_several_voltages_are_listed_by_these():
    """A gate's charge depends on three voltages, and so does the channel's current, which is no state."""
    text = """
use electrical
vdd voltage   (top, ground)            v = 5 V
vin voltage   (a, ground)              v = 1 V
nm  mosfet    (b, a, ground, ground)   Vto = 0.8 V, Kp = 8e-5 A/V2, W = 10 um, L = 2 um, Cox = 1.7e-3 F/m2
r   resistor  (top, b)                 R = 1 MOhm
c   capacitor (b, a)                   C = 10 fF
run transient(stop = 1 us)
"""
    found = {state.name: state for state in states(netsim.load(text))}
    assert set(found) == {"nm.xd", "nm.xs", "nm.vgb", "c.v"}
    assert found["nm.vgb"].computed == pytest.approx(1.0) and found["nm.xs"].computed == pytest.approx(0.0, abs=1e-9)
    assert found["c.v"].computed == pytest.approx(found["nm.xd"].computed - 1.0)


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
    conflicting = {every[i].path for i in conflict}
    found = minimal_conflict(every, lambda some: not conflicting <= {row.path for row in some})
    assert {row.path for row in found} == conflicting


def test_deletion_filter_leaves_one_of_several_contradictions_irreducible():
    every = rows(6)
    conflicts = [{"x0", "x1"}, {"x1", "x2", "x3"}, {"x4", "x5"}]

    def holds(some: list[StartRow]) -> bool:
        return not any(conflict <= {row.path for row in some} for conflict in conflicts)

    found = minimal_conflict(every, holds)
    assert not holds(found)
    assert all(holds(list(fewer)) for fewer in combinations(found, len(found) - 1))


def test_conflicting_starts_are_named_and_bystanders_are_not():
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
run transient(stop = 10 ms, step = 1 ms, method = euler)
"""
    with pytest.raises(InputError) as caught:
        netsim.load(text).samples()
    (problem,) = caught.value.problems
    assert problem.code == "E410" and "pA.q, b.phi" in problem.message and "c." not in problem.message
    assert problem.span.line == 8 and [span.line for span, _ in problem.also] == [10]


# ---------------------------------------------------------------------------------------------------- failing steps


def failure(text: str):
    samples = netsim.load(text).samples()[0]
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
    assert samples.time[-1] == pytest.approx(2e-3) and "the last accepted step ends at t = 0.002 s" in problem.hint


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
    assert "x1" in problem.message and "the last accepted step" in problem.hint


LC = """
use electrical
c1  capacitor  (a, ground)  C = 1 uF
l1  inductor   (a, ground)  L = 1 mH
start a.v = 1 V
"""


def test_a_written_voltage_beats_the_rest_of_an_inductor():
    """Across an inductor: it begins without current, and v = cos(t/sqrt(L C)) follows."""
    result = netsim.load(LC).transient(stop=2e-4, rtol=1e-8, save=["a.v", "l1.i"])
    t = result.time.values / np.sqrt(1e-9)
    assert np.abs(result["a.v"].values - np.cos(t)).max() < 1e-6
    assert np.abs(result["l1.i"].values - np.sin(t) * np.sqrt(1e-3)).max() < 1e-6


def test_a_written_current_stays_beside_a_written_voltage():
    text = """
use electrical
v1  voltage    (b, ground)  v = 5 V
c1  capacitor  (b, a)       C = 1 uF
l1  inductor   (a, ground)  L = 1 mH
start c1.v = 1 V
start l1.i = 2 A
"""
    result = netsim.load(text).transient(stop=1e-6, save=["a.v", "c1.v", "l1.i"])
    assert [float(result[name][0]) for name in ("a.v", "c1.v", "l1.i")] == pytest.approx([4.0, 1.0, 2.0], abs=1e-12)


def test_what_rests_still_rests_beside_a_written_start():
    """The second inductor carries the static current of its source although the first one had to let go."""
    text = LC + "i1 current (ground, b) I = 3 A\nl2 inductor (b, ground) L = 1 mH\nr2 resistor (b, ground) R = 1 Ohm\n"
    result = netsim.load(text).transient(stop=1e-6, save=["l1.i", "l2.i"])
    assert abs(float(result["l1.i"][0])) < 1e-12
    assert abs(float(result["l2.i"][0])) == pytest.approx(3.0, abs=1e-9)


GAS = """
use gas
v1 gas_volume (a)  V = 1 L
v2 gas_volume (b)  V = 2 L
o1 gas_orifice (a, b)
start b.p = 1 bar
start b.T = 290 K
start a.T = 300 K
start a.p = 5 bar
"""


def test_gas_volumes_begin_at_written_pressures_and_temperatures():
    """Each start has a charge of its own, whichever order they are written in; m = p V/(R T)."""
    result = netsim.load(GAS).transient(stop=1e-3, save=["v1.mass", "v2.mass", "a.p", "b.T"])
    assert float(result["v1.mass"][0]) == pytest.approx(5e5 * 1e-3 / (287.05 * 300), rel=1e-9)
    assert float(result["v2.mass"][0]) == pytest.approx(1e5 * 2e-3 / (287.05 * 290), rel=1e-9)


def test_a_volume_without_starts_says_which_to_write():
    """Its pressure and temperature would begin at 0, where the domain ends."""
    text = "use gas\nv1 gas_volume (a) V = 1 L\nn1 gas_nozzle (a, b) A = 1 mm2, opening = 1\nr1 gas_reservoir (b) p = 1 bar, T = 293 K\n"
    for options in ("stop = 1 ms", "stop = 1 ms, from = rest"):
        with pytest.raises(netsim.SimulationError, match=r"E501[\s\S]*begin: `start a.p = ...` and `start a.T = ...`"):
            netsim.load(f"{text}run transient({options})\n").transient()


def test_two_starts_of_one_state_are_told_together():
    with pytest.raises(netsim.InputError, match=r"E402 'c1.v' and 'a.v' are starts of the same state"):
        netsim.load(LC + "start c1.v = 1 V\n").transient(stop=1e-6)


def test_written_voltages_of_nodes_are_listed():
    found = {state.name: state for state in states(netsim.load(LC + "run transient(stop = 1 us)\n"))}
    assert found["a.v"].written == found["a.v"].computed == 1.0
    assert found["l1.i"].computed == 0.0


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2"])
def test_a_transistor_begins_from_rest(method):
    """Its source opens the channel before the run: the drain begins at zero and is charged by its resistor from there, no charge jumps to it."""
    text = """
use electrical
v1  voltage   (b, ground)  v = 5 V
r1  resistor  (b, d)       R = 10 kOhm
m1  mosfet    (d, g, ground, ground)  Cox = 1.7e-3 F/m2
vg  voltage   (g, ground)  v = 3 V
c1  capacitor (d, ground)  C = 1 pF
"""
    result = netsim.load(text).transient(stop=1e-9, from_="rest", method=method, save=["d.v", "r1.i"])
    assert abs(float(result["d.v"][0])) < 1e-12
    assert result["d.v"].values.max() < 5e-4 * 1e-9 / 1e-12
    assert float(result["r1.i"][0]) == pytest.approx(5e-4, rel=1e-9)


@pytest.mark.parametrize("resistance, hidden", [("0 Ohm", True), ("1 mOhm", False)])
def test_a_lead_without_resistance_hides_the_rates_of_its_charges(resistance, hidden):
    """What vanishes is read off the equations, whatever region a transistor is in: junctions without capacitance, and rates behind Rd = Rs = 0; the
    charges of its gate, which rest in one region and not in another, never do."""
    text = f"""
use electrical
vd  voltage  (d, ground)  v = 1 V
vg  voltage  (g, ground)  v = 3 V
m1  mosfet   (d, g, ground, ground)  Cox = 1.7e-3 F/m2, Rd = {resistance}, Rs = {resistance}
"""
    model = netsim.load(text)
    found, absent = signature(model.system), absent_rates(model.system, model.values)
    n, names = model.system.n, model.system.names
    behind = [e for e in range(n) if names[e] in ("m1.xd", "m1.xs")]
    rates = np.isin(found.equation, behind) & (found.variable >= n)
    assert rates.any() and bool(absent[rates].all()) is hidden and bool(absent[rates].any()) is hidden
    contents = {int(e) for e in found.equation[(found.equation >= n) & (found.variable < n)]}
    empty = {e for e in contents if absent[(found.equation == e) & (found.variable < n)].all()}
    assert len(contents) == 6 and len(empty) == 2


AMPLIFIER = """
use electrical
component amplifier (plus, minus, output : electrical) "finite gain, a limit and a lag"
  param lag : s >= 0
  branch plus -> minus : vd, id
  branch output -> ground : v, i
  id = 0
  v + der(lag*v) = 15 V*tanh(1e5*vd/(15 V))
  source
end
s voltage   (p, ground)  v = 1 V*step(time, at = 0.5 s)
a amplifier (p, o, o)    lag = 0 s
r resistor  (o, q)       R = 1 kOhm
c capacitor (q, ground)  C = 1 uF
"""


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2"])
def test_a_lag_of_zero_is_no_lag(method):
    """A charge whose content a parameter takes away holds nothing: the output follows a jump at once."""
    run = netsim.load(AMPLIFIER).transient(stop=1.0, method=method, save=["p.v", "o.v"])
    assert np.asarray(run["o.v"]) == pytest.approx(np.asarray(run["p.v"]) / (1 + 1e-5), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("formula", "value"), [("sqrt(u/1 V)", 0.5), ("log(u/1 V)", np.log(0.25)), ("1 V/u", 4.0)])
@pytest.mark.parametrize("origin", ["static", "rest"])
def test_formulas_without_a_derivative_at_zero_start_beside_it(formula, value, origin):
    """The unknown u is 0 before the first Newton step."""
    text = f"""use electrical
component formed (p, n : electrical) "a voltage by a formula"
  branch p -> n : v, i
  input u : V
  v = 1 V*{formula}
end
c capacitor (a, ground) C = 1 F
l resistor  (a, ground) R = 1 Ohm
f formed    (b, ground) u = a.v
r resistor  (b, ground) R = 1 Ohm
start a.v = 0.25 V
run transient(stop = 10 ms, from = {origin})
"""
    (run,) = netsim.load(text + "save b.v\n").samples()
    assert run.finished and run.values[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("volts", [1e-15, 1e-12, 1e-9, 1.0, 1e6])
def test_starts_do_not_depend_on_their_sizes(volts):
    """A coil across which a voltage is written is no rest: it begins without current, whatever the voltage, and R L C ring as they must."""
    text = f"""
use electrical
c1 capacitor (a, ground) C = 1 nF, start v = {volts!r} V
l1 inductor  (a, ground) L = 25 uH
r1 resistor  (a, ground) R = 3 kOhm
save a.v, l1.i
run transient(stop = 10 us, rtol = 1e-7, sample = 0.1 us)
"""
    found = netsim.load(text).run()
    assert found["l1.i"].values[0] == 0.0
    w, z = 1 / np.sqrt(25e-15), np.sqrt(25e-15) / (2 * 3e3 * 1e-9)
    turn = w * np.sqrt(1 - z**2) * found.time.values
    wanted = volts * np.exp(-z * w * found.time.values) * (np.cos(turn) - z / np.sqrt(1 - z**2) * np.sin(turn))
    assert found["a.v"].values == pytest.approx(wanted, abs=2e-6 * volts)


GATE = """use electrical
i current (d, ground) I = {current!r} A
v voltage (e, d) v = 0 V
m vdmos (d, ground, d) Rg = 3 Ohm, Cgs = {first!r} F, Cgdmin = {second!r} F, Cgdmax = {second!r} F
save d.v
run transient(stop = 1 us)
"""


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_a_charge_behind_a_resistance_takes_the_start_that_a_hint_asks_for(scale):
    """The gate of a transistor whose drain and source are one node: behind its resistance, its two capacitances are charged by a constant
    current from where the start says."""
    text = GATE.format(current=1e-3 * scale, first=1e-9 * scale, second=2e-9 * scale)
    with pytest.raises(netsim.InputError, match="E302") as told:
        netsim.load(text).samples()
    (start,) = re.findall(r"\((start .*?) = \.\.\.\)", told.value.problems[0].hint)
    for line in (start, "start e.v"):
        (samples,) = netsim.load(f"{text}{line} = 0.5 V\n").samples()
        found, at = samples.series("d.v"), samples.time
        assert found[0] == pytest.approx(0.5, rel=1e-9)
        assert abs(found[-1] - found[0]) > 0.3
        np.testing.assert_allclose(found, 0.5 + (found[-1] - 0.5) / abs(found[-1] - 0.5) * 1e-3 / 3e-9 * at, rtol=1e-9)


def test_nothing_lies_behind_a_node_that_sources_and_resistances_give():
    """A charge behind a balance of a node is no state of another node."""
    text = "use electrical\nv voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 Ohm\nr2 resistor (b, c) R = 1 Ohm\n"
    text += "c1 capacitor (c, ground) C = 1 F\nstart b.v = 0 V\n"
    with pytest.raises(netsim.InputError, match=r"E402 'b.v' is not an independent state"):
        netsim.load(text).transient(stop=1)
