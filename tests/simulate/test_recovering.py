"""Consistent points of samples are found where somebody reads what they change."""

import numpy as np
import pytest

import netsim
from netsim.simulate import adaptive

DIVIDER = """use electrical
v1 voltage   (a, ground) v = 1 V*sin(2*pi*1 kHz*time)
c1 capacitor (a, b)      C = 1 uF
c2 capacitor (b, ground) C = 1 uF
r1 resistor  (b, ground) R = 1 kOhm
d1 diode     (b, ground) Is = 1e-12 A
run transient(stop = 2 ms, rtol = 1e-6)
save b.v{more}
"""


@pytest.mark.parametrize("method", ["radau", "trbdf2", "bdf"])
def test_a_current_that_no_state_depends_on_is_recovered_where_it_is_read(method, monkeypatch):
    """The current of a source beside a loop of capacitors follows from a differentiated equation: nothing else does,
    so that values are those of the run that finds consistent points, and the energy account closes as it does."""
    asked = []
    first_control = adaptive.first_control
    monkeypatch.setattr(adaptive, "first_control", lambda *given: asked.append(given[-1]) or first_control(*given))
    alone, beside = (netsim.load(DIVIDER.format(more=more)).transient(method=method) for more in ("", "\nsave v1.i"))
    assert asked[0] is False and asked[-1] is True
    assert alone.attrs["index"] == 2
    assert np.interp(1.3e-3, alone["time"], alone["b.v"]) == pytest.approx(np.interp(1.3e-3, beside["time"], beside["b.v"]), abs=2e-5)
    exact = np.gradient(np.sin(2e3 * np.pi * beside["time"].values) - beside["b.v"].values, beside["time"].values)
    assert beside["v1.i"].values[10:-10] == pytest.approx(-1e-6 * exact[10:-10], abs=2e-5)


def test_the_current_of_a_capacitor_beside_a_source_is_recovered(monkeypatch):
    """It is read from the rate of a charge, which is no unknown."""
    asked = []
    first_control = adaptive.first_control
    monkeypatch.setattr(adaptive, "first_control", lambda *given: asked.append(given[-1]) or first_control(*given))
    netsim.load(DIVIDER.format(more=", c1.i")).transient()
    assert asked[-1] is True
