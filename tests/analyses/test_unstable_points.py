"""Small signals about an unstable operating point are told to be of no steady state."""

import numpy as np
import pytest

import netsim
from netsim.analyses.signals.linearised import linearised
from netsim.analyses.signals.states import growth
from netsim.results.selection import Selection
from netsim.simulate.setup.start_of_run import equilibrium_of_run

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


PASSIVE = {
    "ladder": """use electrical
    s voltage (n[1], ground) v = 1 V
    r[k] resistor (n[k], n[k+1]) R = {size!r} Ohm for k in 1..30
    c[k] capacitor (n[k+1], ground) C = 1 uF*{small!r} for k in 1..30
    save n[31].v""",
    "coils": """use electrical
    s voltage (o, ground) v = 1 V
    q resistor (o, a) R = {size!r} Ohm
    p resistor (e, ground) R = {size!r} Ohm
    m coupled_inductors (a, b, c, ground) L1 = {size!r} H, L2 = 4 H*{size!r}, k = 0.99999
    t transformer (b, ground, d, ground) ratio = 0.3
    y gyrator (d, ground, e, ground) g = 0.7 S*{small!r}
    f capacitor (e, ground) C = 1 F*{small!r}
    r resistor (c, ground) R = {size!r} Ohm
    g capacitor (d, c) C = 1 F*{small!r}
    save e.v""",
    "diodes": """use electrical
    s voltage (a, ground) v = 1 V
    r resistor (a, b) R = {size!r} Ohm
    d diode (b, c) Is = 1 nA*{small!r}, Rs = 0.1 Ohm*{size!r}, Cj = 1 uF*{small!r}
    l inductor (c, ground) L = {size!r} H
    save b.v""",
    "motor": """use electrical
    use rotational
    use translational
    use couplings
    s voltage (a, ground) v = 1 V
    m dc_motor (a, ground, f) k = 0.1 N.m/A, R = {size!r} Ohm, L = 1 mH*{size!r}
    g gear (f, h) ratio = 3.7
    j inertia (h) J = 1 g.m2*{small!r}
    w rack_pinion (h, x) r = 0.13 m
    mx mass (x) m = 1 kg*{small!r}
    d damper (x, ground) d = 1 N.s/m*{small!r}
    t spring (x, y) c = 1 N/m*{small!r}
    my mass (y) m = 1 kg*{small!r}
    save y.v""",
}


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("network", list(PASSIVE))
def test_passive_networks_are_known_without_eigenvalues(network, size, monkeypatch):
    monkeypatch.delattr(growth, "may_grow")
    text = PASSIVE[network].format(size=size, small=1.0 / size)
    at = "at = 0 s, " if network == "motor" else ""
    (found,) = netsim.load(f"{text}\nrun ac(input = s, {at}frequencies = [0.1 Hz])").samples()
    assert "unstable" not in found.attributes["notes"]


ELEMENTS = {
    "resistor": "R = {0!r} Ohm",
    "capacitor": "C = {2!r} F",
    "inductor": "L = {1!r} H",
    "variable_resistor": "R = -{0!r} Ohm",
    "coupled_inductors": "L1 = {1!r} H, L2 = {1!r} H, k = 0.9",
    "transformer": "ratio = 0.3",
    "vccs": "g = {3!r} S",
    "diode": "Is = 1 nA*{3!r}, Cj = {2!r} F",
}
FOUR = ("coupled_inductors", "transformer", "vccs")


def random_network(seed, size, time):
    rng = np.random.default_rng(seed)
    nodes = ["ground", "a", "b", "c", "d"]
    lines = ["use electrical", *(f"r{n} resistor ({n}, ground) R = {100 * size!r} Ohm" for n in nodes[1:])]
    for k in range(7):
        kind = list(ELEMENTS)[rng.integers(len(ELEMENTS) if seed % 2 else 3)]
        ends = ", ".join(nodes[i] for i in rng.choice(5, 4 if kind in FOUR else 2, replace=False))
        value = float(size * 10 ** rng.uniform(-1, 1))
        lines.append(f"e{k} {kind} ({ends}) {ELEMENTS[kind].format(value, value * time, time / value, 1.0 / value)}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("size", "time"), [(1e3, 1e-6), (1e-9, 1e3), (1e6, 1e-9)])
def test_what_is_taken_for_passive_has_no_motion_that_grows(size, time, monkeypatch):
    told, decided = 0, 0
    for seed in range(40):
        model = netsim.load(random_network(seed, size, time))
        try:
            machine, _, point = equilibrium_of_run(model.machine, model.structure)
        except netsim.SimulationError:  # coils in a loop have any currents
            continue
        lin = linearised(machine, point.g, Selection())
        seen = growth.passive(machine, lin.g)
        with monkeypatch.context() as asked:
            asked.setattr(growth, "passive", lambda machine, g: False)
            grows = growth.growth_note(lin, "")
        assert not (seen and grows), seed
        assert seen or seed % 2, seed
        told, decided = told + bool(grows), decided + seen
    assert told > 3 and decided > 12, (told, decided)


def test_sums_do_not_hide_a_negative_resistance():
    """1 TS to the source, -10 uS to the ground: of the sum at the node rounding leaves nothing."""
    text = """use electrical
    s voltage (a, ground) v = 0 V
    g conductor (a, b) G = 1e12 S
    n variable_resistor (b, ground) R = -100 kOhm
    """
    model = netsim.load(text)
    machine, _, point = equilibrium_of_run(model.machine, model.structure)
    assert 1e12 - 1e-5 == 1e12 and not growth.passive(machine, point.g)


def test_an_input_without_current_has_an_infinite_resistance():
    text = "use electrical\ns voltage (a, ground) v = 1 V\nr resistor (a, b) R = 1 kOhm\nc capacitor (b, ground) C = 1 uF\n"
    found = netsim.load(text).transfer(input="s.v", output="b.v")
    assert found["gain"].item() == pytest.approx(1.0, rel=1e-14)
    assert found["input_resistance"].item() == float("inf")
