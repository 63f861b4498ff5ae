"""Operating points at a corner of the equations are told: no linear network is that of such a point."""

import pytest

import netsim
from netsim.analyses.signals import corners

DIODE = """use electrical
s voltage     (a, ground) v = {at} V
r resistor    (a, b)      R = 1 kOhm
d ideal_diode (b, ground) Ron = 1 Ohm, Goff = 1 uS
save b.v
"""
ROPE = """use translational
f force  (a)         F = {at} N
s spring (a, ground) c = 100 N/m
r rope   (a, ground) c = 100 N/m
m mass   (a)         m = 1 kg
save a.x
"""
SQUARE = """use electrical
component bent (p, n : electrical) "turbulent"
  branch p -> n : v, i
  v = 1 Ohm*i + 1 Ohm/A*i*abs(i) + 1 Ohm/A*max(i, -1 A)^2
end
s voltage  (a, ground) v = {at} V
r bent     (a, b)
q resistor (b, ground) R = 1 Ohm
save b.v
"""


def notes(text, analysis):
    (samples,) = netsim.load(text + f"run {analysis}").samples()
    return samples.attributes.get("notes", "")


@pytest.mark.parametrize("analysis", ["ac(input = {0}, frequencies = [1])", "poles()", "modal()", "noise(output = {1}, frequencies = [1])"])
@pytest.mark.parametrize("network, names, element", [(DIODE, ("s", "b.v"), "d"), (ROPE, ("f", "a.x"), "r")])
@pytest.mark.parametrize("at", ["0", "1e-9", "-1", "1e6"])
def test_a_diode_at_its_knee_and_a_rope_that_is_just_tight(network, names, element, analysis, at):
    told = notes(network.format(at=at), analysis.format(*names))
    told = "; ".join(part for part in told.split("; ") if "without noise" not in part)
    expected = f"at the operating point: '{element}' at a corner: the linear network is that of one side of it"
    assert told == (expected if at == "0" else "")
    if analysis == "poles()":
        assert netsim.load(network.format(at=at)).linearise(inputs=[names[0]]).notes == told


@pytest.mark.parametrize("at", ["0", "1", "1e-9"])
def test_derivatives_that_vanish_smoothly_are_no_corner(at):
    assert not notes(SQUARE.format(at=at), "ac(input = s, frequencies = [1])")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_corners_at_an_instant_where_something_moves(scale):
    """There is no state of rest with a prescribed speed, and none is needed."""
    text = f"""use translational
    v velocity (a, ground) v = {scale!r} m/s
    r rope (a, b) c = 100 N/m
    m mass (b) m = 1 kg
    f force (b) F = 0 N
    save b.v
    run ac(input = f, frequencies = [1], at = 0.5 s)"""
    (found,) = netsim.load(text).samples()
    assert not found.attributes["notes"]


def test_a_network_without_noise():
    (found,) = netsim.load(ROPE.format(at="1") + "run noise(output = a.x, input = f, from = 3 Hz, to = 5 Hz)").samples()
    assert not found.values.any()


def test_constants_of_corners():
    assert (corners.MET, corners.ASIDE, corners.NEARER, corners.DIFFERS) == (1e-13, 1e-9, 1e-12, 1e-3)


RECOVERS = """use electrical
v1 voltage (a, ground) v = 4 V - 8 V*min(max((time - 10 ns)/(1 ns), 0), 1)
r1 resistor (a, b) R = 1 kOhm
d1 diode (b, ground) Is = 1e-14 A, tt = 5 ns, Cj = 0 F
save b.v
"""


@pytest.mark.parametrize("analysis", ["ac(input = v1.v, frequencies = [1], {0})", "poles({0})", "noise(output = b.v, frequencies = [1], {0})"])
def test_what_the_run_to_an_instant_tells_is_told(analysis):
    """The diode jumps at 13.2 ns."""
    assert notes(RECOVERS, analysis.format("at = 5 ns")) == ""
    told = notes(RECOVERS, analysis.format("at = 30 ns"))
    assert told.startswith("on the way to t = 3e-08 s: W503 in a run of") and "1 jump in a circuit had to be passed over" in told
    if "poles" in analysis:
        assert netsim.load(RECOVERS).linearise(inputs=["v1.v"], at=30e-9).notes == told
