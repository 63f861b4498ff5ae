"""Adjoint derivatives: closed forms, those along the steps, published figures; what is refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from netsim.core.variational import adjoint
from netsim.text.errors import InputError

LAG = """use electrical
param U = 5 V
v1 voltage (a, ground) v = U
r1 resistor (a, b) R = 1 kOhm
c1 capacitor (b, ground) C = 1 uF, start v = 1 V
save b.v
"""
DRIVEN = """use electrical
param A = 2 V
param f = 100 Hz
v1 voltage (a, ground) v = A*sin(2*pi*f*time) + 1 V
c0 capacitor (a, ground) C = 1 uF
r0 resistor (a, b) R = 100 Ohm
c1 capacitor (b, c) C = 2 uF
c2 capacitor (c, ground) C = 3 uF
r3 resistor (c, ground) R = 10 kOhm
c3 capacitor (b, ground) C = 1 uF
d1 diode (b, e)
r1 resistor (e, ground) R = 1 kOhm
l1 inductor (b, d) L = 10 mH
r2 resistor (d, ground) R = 300 Ohm
save c.v, r1.i, c0.i
"""
ROBERTSON = """use signal
component kinetics (out y1, out y2, out y3 : signal) "Robertson's reactions"
  param  k1 : 1/s > 0 = 0.04 Hz
  param  k2 : 1/s > 0 = 3e7 Hz
  param  k3 : 1/s > 0 = 1e4 Hz
  der(y1) = -k1*y1 + k3*y2*y3
  der(y2) = k1*y1 - k3*y2*y3 - k2*y2^2
  y1 + y2 + y3 = 1
end
r kinetics (y1, y2, y3) start y1 = 1, start y2 = 0
save y1, y2
"""


def both(model, names, signals, **options):
    """Derivatives of last values by both ways, (signals, names) each."""
    along = model.sensitivity(to=names, of=signals, **options)
    back = model.sensitivity(to=names, of=signals, derivatives="adjoint", **options)
    assert [back.attrs[f"measure.final({s})"] for s in signals] == pytest.approx([float(along[s][-1]) for s in signals], rel=1e-9)
    return (
        np.array([[float(along[f"d({s})/d({n})"][-1]) for n in names] for s in signals]),
        np.array([[back.attrs[f"measure.d(final({s}))/d({n})"] for n in names] for s in signals]),
    )


def test_a_charging_capacitor():
    model = netsim.load(LAG)
    found = model.sensitivity(to=["U", "r1.R", "c1.C", "c1.v.start"], stop="2 ms", rtol=1e-10, derivatives="adjoint")
    e = np.exp(-2.0)
    exact = {"U": 1 - e, "r1.R": -4 * 2e-3 * e, "c1.C": -4 * 2 * e / 1e-6, "c1.v.start": e}
    for name, value in exact.items():
        assert found.attrs[f"measure.d(final(b.v))/d({name})"] == pytest.approx(value, rel=1e-9)
    assert found.attrs["measure.d(final(b.v))/d(r1.R).units"] == "A"


@pytest.mark.parametrize(
    ("text", "names", "signals", "stop"),
    [
        (DRIVEN, ["A", "f", "r0.R", "c0.C", "c1.C", "c2.C", "c3.C", "d1.Is", "l1.L", "r2.R"], ["c.v", "r1.i", "c0.i"], 7e-3),
        ("benchmarks/transistor_amplifier", ["R", "R0.R", "C2.C", "Q1.alpha", "Q2.Vt", "C3.v.start"], ["y8.v"], 0.02),
        (ROBERTSON, ["r.k1", "r.k2", "r.k3"], ["y1", "y2"], 4e4),
    ],
)
def test_both_ways_agree(text, names, signals, stop):
    along, back = both(netsim.load(text), names, signals, stop=stop, rtol=1e-8)
    np.testing.assert_allclose(back, along, rtol=1e-8, atol=1e-12 * np.abs(along).max(axis=1).min())


def test_robertsons_kinetics():
    """At 0.4 s the derivatives of the first two concentrations by the first rate are -0.355953 and 3.90254e-4; to 4e4 s
    they are those of the variational equations by another program."""

    def rates(t, z):
        y, s = z[:3], z[3:]
        jacobian = np.array([[-0.04, 1e4 * y[2], 1e4 * y[1]], [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]], [0, 6e7 * y[1], 0]])
        f = np.array([-0.04 * y[0] + 1e4 * y[1] * y[2], 0.0, 3e7 * y[1] ** 2])
        f[1] = -f[0] - f[2]
        return np.concatenate([f, jacobian @ s + np.array([-y[0], y[0], 0.0])])

    model = netsim.load(ROBERTSON)
    for stop, wanted in ((0.4, (-0.355953, 3.90254e-4)), (4e4, None)):
        along, back = both(model, ["r.k1"], ["y1", "y2"], stop=stop, rtol=1e-10)
        other = solve_ivp(rates, (0, stop), [1.0, 0, 0, 0, 0, 0], "Radau", rtol=1e-10, atol=1e-16).y[3:5, -1]
        for found in (along[:, 0], back[:, 0]):
            np.testing.assert_allclose(found, other, rtol=1e-6)
            if wanted:
                np.testing.assert_allclose(found, wanted, rtol=2e-6)


def test_pivots_that_do_not_serve_are_taken_anew(monkeypatch):
    """As if they never served twice in a row: the figures stay."""
    from netsim.analyses.sensitivity import adjoint as passes

    stops, steps_back = [], passes.steps_back

    def few(problem, plan, factor, run, given, first, last):
        stops.append(last)
        step = steps_back(problem, plan, factor, run, given, max(first, last - 3), last)
        return step if step != adjoint.ENDED or last <= 3 else last - 4

    _, plain = both(netsim.load(LAG), ["r1.R", "c1.C"], ["b.v"], stop="2 ms")
    monkeypatch.setattr(passes, "steps_back", few)
    _, again = both(netsim.load(LAG), ["r1.R", "c1.C"], ["b.v"], stop="2 ms")
    assert len(stops) > 3 and np.allclose(plain, again, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("two_masses", {"to": ["m1.m"], "of": ["a.x"]}, "a network that moves"),
        ("diode_rectifier", {"to": ["c1.C"], "of": ["dc.v"]}, None),
        (LAG.replace("v = U", "v = U*step(time, at = 0.1 ms)"), {"to": ["U"], "of": ["b.v"]}, "a network that has events"),
        (LAG, {"to": ["U"], "of": ["b.v + a.v"]}, "is no list of signals"),
        (LAG, {"to": ["U"], "of": ["b.v"], "derivatives": "backward"}, "forward or adjoint"),
    ],
)
def test_what_a_pass_back_does_not_take_is_told(text, options, said):
    model = netsim.load(text)
    given = {"derivatives": "adjoint", "stop": "1 ms", **options}
    if said is None:
        along, back = both(model, options["to"], options["of"], stop="1 ms")
        np.testing.assert_allclose(back, along, rtol=1e-8)
        return
    with pytest.raises(InputError, match=said):
        model.sensitivity(**given)
