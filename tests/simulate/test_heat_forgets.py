"""Errors of steps are forgotten where heat alone is stored: a body that follows a swinging temperature is no oscillator."""

import numpy as np
import pytest

import netsim

WALL = """use thermal
c heat_capacity     (a)    C = {C!r} J/K
g thermal_conductor (a, b) G = 1 W/K
t temperature       (b)    T = 300 K + 10 K*sin({w!r}*time/(1 s))
start a.T = 300 K
{more}
save a.T
"""


@pytest.mark.parametrize("method, periods", [("radau", 2000), ("trbdf2", 300)])
@pytest.mark.parametrize("period", [1e-6, 1.0, 1e6])
def test_a_body_behind_a_conductor_is_right_and_told_so(period, method, periods):
    w, lag = 2 * np.pi / period, 0.2 * period
    model = netsim.load(WALL.format(C=lag, w=w, more=""))
    result = model.transient(method=method, rtol=1e-4, stop=periods * period, sample=period * periods / 1237)
    t, response = result["time"].values, 1 / (1 + 1j * w * lag)
    exact = 300 + 10 * (np.imag(response * np.exp(1j * w * t)) - np.imag(response) * np.exp(-t / lag))
    assert not result.attrs["warnings"] and np.abs(result["a.T"] - exact).max() < 20 * 1e-4 * 10
    assert result.attrs["added_up"] == 0.0


RINGS = {
    "a resonant circuit beside it": "use electrical\nl inductor (e, ground) L = 0.0253 H, start i = 1 A\nk capacitor (e, ground) C = 1 F",
    "heat that follows heat": "c2 heat_capacity (d) C = 1 J/K\nq heat_flow (d) Q = 1 W/K*(a.T - 300 K)\nstart d.T = 1 K",
}


@pytest.mark.parametrize("more", RINGS.values(), ids=RINGS)
def test_what_may_swing_is_judged_as_before(more):
    result = netsim.load(WALL.format(C=0.2, w=6.0, more=more)).transient(method="trbdf2", rtol=1e-3, stop=3)
    assert result.attrs["added_up"] > 0.0
