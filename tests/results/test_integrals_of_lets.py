"""Running integrals that a `let` names follow the steps as those that a `save` line writes out."""

import numpy as np
import pytest

import netsim

HEATER = """use electrical
s voltage  (a, ground) v = 3 V*(1 + 0.5*sin(0.3*time/(1 s)))
r resistor (a, ground) R = 2 Ohm
{}
"""
TAILS = {
    "a let": "let heat = integral(s.power)\nsave heat",
    "a let of a let": "let once = integral(s.power)\nlet heat = 2*once - once\nsave heat",
    "beside a measure of something else": "let heat = integral(s.power)\nsave heat\nmeasure most = max(a.v)",
    "a plot": "let heat = integral(s.power)\nplot heat",
}


def exact(t):
    return 4.5 * (t + (1 - np.cos(0.3 * t)) / 0.3 + 0.25 * (t / 2 - np.sin(0.6 * t) / 1.2))


@pytest.mark.parametrize("sample", [0.0, 0.7, 4.0, 400.0])
@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_they_do_not_depend_on_the_samples(tail, method, sample):
    model = netsim.load(HEATER.format(tail))
    result = model.transient(stop=400.0, method=method, **({"sample": sample} if sample else {}))
    np.testing.assert_allclose(result["heat"], exact(result["time"].values), atol=2e-6 * exact(400.0))
