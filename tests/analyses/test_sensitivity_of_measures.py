"""Measures of a sensitivity and their derivatives are right between the ends of its steps, whatever the method."""

import numpy as np
import pytest

import netsim

SCALES = [(1.0, 1.0), (1e-9, 1.0), (1e6, 1.0), (1.0, 1e-9), (1.0, 1e6)]


def ball(S, T):
    """A ball let go at the height S, whose speed falls to e = 0.8 at the floor after the time T."""
    a = 2 * S / T**2
    text = f"use translational\nparam a : m/s2 = {a!r} m/s2\ncomponent ball (p : translational)\n  param e = 0.8\n  param a : m/s2\n"
    text += "  branch p -> ground : x, v, f\n  when x < 0 : reinit v = -e*pre(v)\n  f = (1 kg)*(der(v) + a)\nend\n"
    text += f"b ball (p) a = a, start x = {S!r} m\nrun transient(stop = {2.5 * T!r} s)\nsave p.x, integral(p.x)\n"
    return (
        text
        + f"measure apex = max(p.x, from = {1.2 * T!r} s)\nmeasure area = integral(p.x)\nmeasure low = mean(if p.x < {0.3 * S!r} m then 1 else 0)\n"
    )


@pytest.mark.parametrize(("size", "period"), SCALES)
@pytest.mark.parametrize("method", ["radau", "bdf", "rk8"])
def test_steps_that_are_long_are_looked_into(method, size, period):
    """Between the ends of two steps the apex, 0.64 S, was 0.597 S, its derivative by e 1.49 instead of 1.6."""
    S, T, e = size, period, 0.8
    model = netsim.load(ball(S, T))
    found = model.sensitivity(to=["b.e"], method=method, rtol=1e-6)
    assert abs(found.attrs["measure.apex"] - e**2 * S) < 2e-5 * S
    assert abs(found.attrs["measure.d(apex)/d(b.e)"] - 2 * e * S) < 2e-5 * S
    # in units of S and T: 1 - t^2 up to 1, then 2 e s - s^2 over s = t - 1 < 2 e
    area, slope = 2 / 3 + e * 1.5**2 - 1.5**3 / 3, 1.5**2
    assert abs(found.attrs["measure.area"] - area * S * T) < 2e-5 * S * T
    assert abs(found.attrs["measure.d(area)/d(b.e)"] - slope * S * T) < 2e-5 * S * T
    name = next(n for n in found.data_vars if n.startswith("d(integral"))
    assert abs(float(found[name][-1]) - slope * S * T) < 2e-5 * S * T
    r = np.sqrt(e**2 - 0.3)  # below 0.3: from sqrt(0.7) to 1, from e + r to 1.5 (none: e + r > 1.5), up to e - r
    assert abs(found.attrs["measure.low"] - (1 - np.sqrt(0.7) + e - r + max(0, 1.5 - e - r)) / 2.5) < 2e-5
    alone = model.transient(method=method, rtol=1e-6)
    for measure in ("apex", "area", "low"):
        np.testing.assert_allclose(found.attrs[f"measure.{measure}"], alone.attrs[f"measure.{measure}"], rtol=4e-5)


def test_results_have_the_instants_of_steps_and_events_alone():
    text = ball(1.0, 1.0)
    found, plain = (netsim.load(each).sensitivity(to=["b.e"]) for each in (text, text[: text.index("save")]))
    np.testing.assert_array_equal(found["time"], plain["time"])


@pytest.mark.parametrize("derivatives", ["forward", "adjoint"])
@pytest.mark.parametrize("method", ["rk45", "rk6", "rk8"])
def test_runs_by_explicit_methods_are_differentiated_along_radaus_steps(method, derivatives):
    """Radau's derivatives along the steps of rk8 were off by 4e3 rtol, and those of measures by all of them."""
    text = "use electrical\nl1 inductor (a, ground) L = 1 H, start i = 0 A\nc1 capacitor (a, ground) C = 1 F, start v = 1 V\nsave a.v\n"
    found = netsim.load(text).sensitivity(to=["c1.C"], method=method, stop="20 s", rtol=1e-8, derivatives=derivatives)
    last = found.attrs["measure.d(final(a.v))/d(c1.C)"] if derivatives == "adjoint" else float(found["d(a.v)/d(c1.C)"][-1])
    assert abs(last - (10 * np.sin(20))) < 2e-6
    assert found.attrs["method"] == "radau" and method in found.attrs["notes"]
