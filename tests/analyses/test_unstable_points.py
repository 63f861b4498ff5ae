"""Small signals about an unstable operating point are told to be of no steady state."""

import pytest

import netsim

LOOP = """use electrical
e vcvs      (x, ground, o, ground) gain = {gain}
r resistor  (o, x)      R = {R!r} Ohm
c capacitor (o, ground) C = 1 uF
i current   (ground, o) I = 0 A
p port      (o, ground) v = 0 V, Z0 = 1e15 Ohm
save o.v
"""
RUNS = [
    "ac(input = i, frequencies = [1, 10])",
    "ac(input = i, from = 1 Hz, to = 1 kHz)",
    "noise(output = o.v, from = 1 Hz, to = 1 kHz)",
    "ports(frequencies = [1 kHz])",
]


@pytest.mark.parametrize("analysis", RUNS)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_feedback_of_more_than_one_is_told(analysis, scale):
    """C v' = (gain - 1) v/R: with 3 it grows as e^(t/(R C/2)), with 0.5 it decays."""
    (grown,) = netsim.load(LOOP.format(gain=3, R=1e3 * scale) + f"run {analysis}").samples()
    told = grown.attributes["notes"]
    time = {1e-6: "500 ps", 1.0: "500 µs", 1e3: "0.5 s"}[scale]
    assert told.startswith(f"the operating point is unstable (a motion grows as e^(t/{time}))") and "no steady" in told
    (calm,) = netsim.load(LOOP.format(gain=0.5, R=1e3 * scale) + f"run {analysis}").samples()
    assert not calm.attributes["notes"]


def test_the_member_of_a_family_is_named():
    text = LOOP.format(gain=0.5, R=1e3) + "run ac(input = i, frequencies = [1], family = [e.gain = [0.5, 3]])"
    (found,) = netsim.load(text).samples()
    assert found.attributes["notes"].startswith("the operating point at e.gain = 3 is unstable")


@pytest.mark.parametrize(
    "network",
    [
        "use translational\nm mass (a) m = 1 kg\nf force (a) F = 0 N\nsave a.x\nrun ac(input = f, frequencies = [1])",
        "use translational\nm mass (a) m = 1 kg\ns spring (a, ground) c = 1 N/m\nf force (a) F = 0 N\nsave a.x\nrun ac(input = f, frequencies = [1])",
    ],
)
def test_what_neither_grows_nor_decays_is_not_told(network):
    (found,) = netsim.load(network).samples()
    assert not found.attributes["notes"]


def test_an_input_without_current_has_an_infinite_resistance():
    text = "use electrical\ns voltage (a, ground) v = 1 V\nr resistor (a, b) R = 1 kOhm\nc capacitor (b, ground) C = 1 uF\n"
    found = netsim.load(text).transfer(input="s.v", output="b.v")
    assert found["gain"].item() == pytest.approx(1.0, rel=1e-14)
    assert found["input_resistance"].item() == float("inf")
