"""What components assert is told by every analysis, at the points that its result is about."""

import pytest

import netsim

DIODE = """
use electrical
src voltage   (a, ground) v = {drive} + 1 mV*sin(2*pi*time/(1 ms))
r1  resistor  (a, b)      R = 10 Ohm
d1  diode     (b, ground) limit = 10 mA
c1  capacitor (b, ground) C = 1 uF
save b.v
"""
GRID = "from = 1 Hz, to = 1 kHz, per_decade = 1"
ANALYSES = [
    f"ac({GRID}, input = src)",
    f"noise({GRID}, output = b.v)",
    "poles()",
    "linear(inputs = [src])",
    "transfer(input = src.v, output = b.v)",
    "sensitivity_static(of = b.v, to = [r1.R])",
    "modal()",
    "static()",
    "sweep_static(over = r1.R, from = 10 Ohm, to = 11 Ohm, points = 3)",
    "periodic(period = 1 ms)",
    f"periodic_ac({GRID}, input = src, period = 1 ms)",
    "sweep_periodic(over = r1.R, from = 10 Ohm, to = 11 Ohm, points = 2, period = 1 ms)",
    "sensitivity(stop = 1 ms, of = [b.v], to = [r1.R])",
]


def notes(text, analysis):
    (samples,) = netsim.load(text + f"run {analysis}").samples()
    return samples.attributes.get("notes", "")


@pytest.mark.parametrize("analysis", ANALYSES)
def test_a_diode_beyond_its_limit_is_told_by_every_analysis(analysis):
    assert "diode 'd1' at " in notes(DIODE.format(drive="5 V"), analysis)
    assert "diode" not in notes(DIODE.format(drive="0.1 V"), analysis)


@pytest.mark.parametrize(
    "analysis",
    [
        f"ac({GRID}, input = src, family = [r1.R = [1 MOhm, 10 Ohm]])",
        "poles(over = r1.R, values = [1 MOhm, 10 Ohm])",
        "transfer(input = src.v, output = b.v, family = [r1.R = [1 MOhm, 10 Ohm]])",
    ],
)
def test_the_member_of_a_family_that_breaks_an_assert_is_named(analysis):
    found = notes(DIODE.format(drive="5 V"), analysis)
    assert found.startswith("diode 'd1' at the operating point at r1.R = 10 ")
    assert found.count("d1") == 1


def test_an_instant_of_a_run_is_named():
    text = DIODE.format(drive="step(time, 1 ms)*5 V")
    assert notes(text, f"ac({GRID}, input = src, at = 2 ms)").startswith("diode 'd1' at t = 0.002 s: ")
    assert not notes(text, f"ac({GRID}, input = src, at = 0.5 ms)")


def test_calls_from_python_tell_it_too():
    model = netsim.load(DIODE.format(drive="5 V"))
    assert "diode 'd1'" in model.ac(input="src", frequencies=[1.0]).attrs["notes"]
    assert "diode 'd1'" in model.sweep_static(over="r1.R", from_=10.0, to=11.0, points=2).attrs["notes"]


def test_what_a_domain_asserts_of_its_nodes_is_told():
    text = """
    domain wire
      across  v : V
      through i : A
      assert  v <= 3 V "insulation breaks down"
    end
    component held (p : wire)
      param V : V
      branch p -> ground : v, i
      v = V + 1 V*sin(2*pi*time/(1 s))*0
    end
    component lag (p : wire)
      param C : F = 1 F
      branch p -> ground : v, i
      i = C*der(v)
      stores C*v^2/2
    end
    h held (a) V = 4 V
    g lag  (a)
    """
    assert notes(text, "poles()").startswith("node 'a' at the operating point: insulation breaks down")


LOOKED_AT = """
use electrical
src voltage   (a, ground) v = 5 V
r1  resistor  (a, b)      R = 1 kOhm
c1  capacitor (b, ground) C = 1 uF
save b.v
"""
OF_TIME, OF_RESPONSES = "final(b.v) > 1 V", "bandwidth(b.v) > 1 Hz"


@pytest.mark.parametrize(
    ("line", "condition", "told"),
    [
        ("transient(stop = 1 ms)", OF_TIME, False),
        ("transient(stop = 1 ms)", OF_RESPONSES, True),
        ("sweep(stop = 1 ms, over = [r1.R = [1 kOhm, 2 kOhm]])", OF_TIME, False),
        ("sweep(stop = 1 ms, over = [r1.R = [1 kOhm, 2 kOhm]])", OF_RESPONSES, True),
        ("ac(from = 1 Hz, to = 1 MHz, input = src)", OF_RESPONSES, False),
        ("ac(from = 1 Hz, to = 1 MHz, input = src)", OF_TIME, True),
        ("static()", OF_TIME, False),
        ("sweep_static(over = src.v, from = 2 V, to = 3 V, points = 2)", OF_TIME, False),
        ("poles()", OF_TIME, True),
        ("modal()", OF_TIME, True),
        ("noise(output = b.v, from = 1 Hz, to = 1 kHz)", OF_RESPONSES, True),
    ],
)
def test_statements_that_no_run_looks_at_are_told(line, condition, told):
    """An assertion of which no run speaks would seem to hold."""
    text = f"{LOOKED_AT}run {line}\nassert {condition}\nmeasure m = {condition.split('>')[0]}\n"
    (samples,) = netsim.load(text).samples()
    found = [p.message for p in samples.warnings if p.code == "W527"]
    assert found == ([f"no run of this netlist looks at {what}" for what in ("measure 'm'", "this assertion")] if told else [])


def test_another_line_may_look_at_a_statement():
    lines = "run transient(stop = 1 ms)\nrun ac(from = 1 Hz, to = 1 MHz, input = src)\n"
    done = netsim.load(f"{LOOKED_AT}{lines}assert {OF_TIME}\nassert {OF_RESPONSES}\n").samples()
    assert not any(samples.warnings for samples in done)
