"""How starts change with parameters: near the known one as started anew, and what it costs."""

import numpy as np
import pytest

import netsim
from netsim.analyses.sensitivity import beginnings, varied
from netsim.analyses.sensitivity.varied import changes, placed_at
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.beginning import begun

DIVIDER = """use electrical
param U = 5 V
param R = 1 kOhm
v1 voltage (a, ground) v = U
r1 resistor (a, b) R = R
d1 diode (b, c)
r2 resistor (c, ground) R = 2*R
c1 capacitor (c, ground) C = 1 uF
r3 resistor (b, d) R = 3 kOhm
c2 capacitor (d, ground) C = 2 uF, start v = U/10
l1 inductor (d, e) L = 1 mH
r4 resistor (e, ground) R = 500 Ohm
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (DIVIDER, ["U", "R", "r3.R", "c2.C", "c1.C", "l1.L", "d1.Is", "c2.v.start"]),
        ("benchmarks/transistor_amplifier", ["R", "R0.R", "C2.C", "Q1.alpha", "Q2.Vt", "C3.v.start"]),
    ],
)
def test_starts_change_near_the_known_one_as_anew(text, names, monkeypatch):
    model = netsim.load(text)
    tasks = []

    def keep(task, *rest):
        tasks.append(task)
        return varied.varied(task, *rest)

    monkeypatch.setattr("netsim.analyses.sensitivity.sensitivity.varied", keep)
    model.sensitivity(to=names, stop="1 us")
    task, options = tasks[0], TransientOptions(stop=1e-6)
    machine, structure, g, _ = begun(task.machine, task.structure)
    near = beginnings.placing(machine, structure, g, "")
    assert near is not placed_at
    layout = machine.system.layout
    contents = layout.differentiated(np.arange(layout.nq), 0)
    for name in names:
        mine, anew = (changes([varied.varied(task, name, options, None, place)], lambda p: p.start)[0] for place in (near, placed_at))
        for part in (slice(1, layout.y), slice(layout.y, layout.history), contents):
            size = np.abs(anew[part]).max(initial=0.0) + 1e-2 * np.abs(g[part]).max(initial=0.0) / value_of(task, name)
            np.testing.assert_allclose(mine[part], anew[part], rtol=1e-8, atol=1e-8 * size, err_msg=name)


def value_of(task, name):
    """The size of what is varied."""
    return abs(varied.varied(task, name, TransientOptions(stop=1e-6), None, placed_at).value)


def test_a_circuit_is_started_once(monkeypatch):
    """A parameter of a circuit costs no start, one of a network with events four."""
    count = []

    def counted(*given, **more):
        count.append(given)
        return begun(*given, **more)

    monkeypatch.setattr("netsim.analyses.sensitivity.varied.begun", counted)
    netsim.load(DIVIDER).sensitivity(to=["U", "R", "r3.R"], stop="1 us")
    assert count == []
    ball = netsim.load("many/bouncing_ball")
    ball.sensitivity(to=["b.e"], stop=1.5)
    assert len(count) == 4


def test_what_does_not_depend_on_a_parameter_has_no_derivative():
    """Exactly, not to the rounding of differences."""
    found = netsim.load(DIVIDER).sensitivity(to=["r3.R", "U"], of=["a.v"], stop="1 ms")
    assert not found["d(a.v)/d(r3.R)"].values.any() and np.allclose(found["d(a.v)/d(U)"], 1.0, rtol=1e-12)
