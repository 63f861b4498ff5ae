"""Derivatives of responses over frequency by parameters: closed forms, with and without an operating point that moves."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

LOW_PASS = """use electrical
v1 voltage   (a, ground) v = 0 V
r1 resistor  (a, b)      R = {R} Ohm
c1 capacitor (b, ground) C = {C} F
save b.v
"""


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_low_pass(size):
    """H = 1/(1 + s R C): dH/dR = -s C H^2, dH/dC = -s R H^2, at every scale of its parts."""
    R, C = 1e3 * size, 1e-6 / size
    found = netsim.load(LOW_PASS.format(R=R, C=C)).sensitivity_ac(of="b.v", input="v1", from_=1.0, to=1e5)
    s = 2j * np.pi * found["frequency"].values
    H = 1 / (1 + s * R * C)
    assert np.abs(found["b.v"].values - H).max() < 1e-12
    for name, exact in (("r1.R", -s * C * H**2), ("c1.C", -s * R * H**2)):
        assert np.abs(found[f"d(b.v)/d({name})"].values - exact).max() < 1e-9 * np.abs(exact).max(), name
    assert found["d(b.v)/d(r1.R)"].attrs["units"] == "S"


def test_a_parameter_that_moves_the_operating_point():
    """A diode fed by 1 mA has the conductance I/Vt: its response to the current changes with that current alone by the point."""
    text = """use electrical
    param I0 = 1
    i1 current           (b, ground) I = I0*1 mA
    d1 exponential_diode (b, ground) Is = 1e-15 A, Vt = 25 mV, R = 1e12 Ohm, reach = 60
    c1 capacitor         (b, ground) C = 1 nF
    save b.v
    """
    found = netsim.load(text).sensitivity_ac(of="b.v", by=["I0", "c1.C"], input="i1", frequencies=[0.0, 1e3, 1e6, 1e8])
    s, g = 2j * np.pi * found["frequency"].values, 1e-3 / 25e-3
    Z = 1 / (g + s * 1e-9)
    assert found["b.v"].values == pytest.approx(Z, rel=1e-6)
    assert found["d(b.v)/d(I0)"].values == pytest.approx(-(Z**2) * g, rel=1e-5)
    assert found["d(b.v)/d(c1.C)"].values == pytest.approx(-s * Z**2, rel=1e-6, abs=1e-9 * abs(s * Z**2).max())


def test_sources_that_act_together_and_a_bound():
    """Two sources with sizes and phases have one response; a conductance of 0, its bound, is moved to one side."""
    text = LOW_PASS.format(R=1e3, C=1e-6) + "i2 current (ground, b) I = 0 A\ng1 conductor (b, ground) G = 0 S\n"
    given = {"inputs": ["v1", "i2"], "amplitudes": [1.0, 2e-3], "phases": [0.0, np.pi / 2], "frequencies": [10.0, 200.0]}
    found = netsim.load(text).sensitivity_ac(of="b.v", by=["g1.G"], **given)
    s = 2j * np.pi * found["frequency"].values
    signs = [sign for sign in (1, -1) if np.allclose(found["b.v"].values, (1e-3 + sign * 2e-3j) / (1e-3 + s * 1e-6))]
    assert len(signs) == 1
    exact = -(1e-3 + signs[0] * 2e-3j) / (1e-3 + s * 1e-6) ** 2
    assert found["d(b.v)/d(g1.G)"].values == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize(
    "given, told",
    [({"by": ["r1.Q"]}, "'r1.Q' is no parameter"), ({"from_": 2.0, "to": 1.0}, "needs frequencies"), ({"of": "c.v"}, "c")],
)
def test_mistakes(given, told):
    model = netsim.load(LOW_PASS.format(R=1e3, C=1e-6))
    with pytest.raises(InputError, match=told):
        model.sensitivity_ac(**({"of": "b.v", "input": "v1", "from_": 1.0, "to": 10.0} | given))
