"""Integrals of what jumps or bends inside a step: of measures, of running integrals, of lanes, against closed forms."""

import numpy as np
import pytest

import netsim
from netsim.results.measuring.quadrature import DEEPEST, MOST, accumulated

SCALES = [(1.0, 1.0), (1e-9, 1.0), (1e6, 1.0), (1.0, 1e-9), (1.0, 1e6)]
LONG_STEPS = [("rk8", 1e-6), ("radau", 1e-6), ("bdf", 1e-6), ("radau", 1e-9)]


def oscillation(S, T, more):
    """A mass on a spring that begins at S, of the period T."""
    text = f"use translational\nm1 mass (a) m = 1 kg, start x = {S!r} m, start v = 0\ns1 spring (a, ground) c = {(2 * np.pi / T) ** 2!r} N/m\n"
    return netsim.load(f"{text}run transient(stop = {1.25 * T!r} s)\n{more}")


@pytest.mark.parametrize(("size", "period"), SCALES)
@pytest.mark.parametrize(("method", "rtol"), LONG_STEPS)
def test_what_jumps_or_bends_inside_a_step_is_integrated_to_the_tolerance(method, rtol, size, period):
    """The share of time above a level was off by 2000 rtol with rk8 and by 70 with radau, the mean of |x| by 110."""
    S, T = size, period
    model = oscillation(
        S,
        T,
        f"""
let way = integral(abs(a.v))
measure above = mean(if a.x > {0.5 * S!r} m then 1 else 0)
measure turns = mean(sign(a.v*1 s/m))
measure size = mean(abs(a.x))
measure up = rms(max(a.x, 0 m), to = {T!r} s)
measure far = mean(if way > {S!r} m then 1 else 0)
save a.x, way
""",
    )
    (samples,) = model.samples({"method": method, "rtol": rtol})
    found = {each.name: each.value for each in samples.figures}
    right = {"above": 0.4, "turns": -0.25 / 1.25, "size": S * 2 / np.pi, "up": S / 2, "far": 1 / 1.25}
    sizes = {"above": 1.0, "turns": 1.0, "size": S, "up": S, "far": 1.0}
    for name, value in right.items():
        assert abs(found[name] - value) < 20 * rtol * sizes[name], name
    assert abs(samples.values[-1, 1] - 5 * S) < 20 * rtol * S


def test_lanes_integrate_as_single_runs_do():
    text = "use electrical\nparam R = 1 kOhm\nv1 voltage (a, ground) v = 1 V*sin(6000 Hz*time)\nr1 resistor (a, b) R = R\n"
    text += "c1 capacitor (b, ground) C = 1 uF, start v = 0.3 V\nmeasure above = mean(if b.v > 0.1 V then 1 else 0)\nmeasure size = mean(abs(b.v))\n"
    model, over = netsim.load(text), {"R": ("0.1 kOhm", "2 kOhm")}
    found, single = (model.sweep(over, of=["above", "size"], points=4, stop="3 ms", rtol=1e-8, lanes=k, workers=1) for k in (4, 1))
    for name in ("above", "size"):
        np.testing.assert_allclose(found[name], single[name], atol=3e-7)


def on_axis(series, **more):
    axis = np.linspace(0.0, 1.0, 9)
    return accumulated(series(axis), axis, series, **more)[-1]


def test_a_jump_is_found_to_the_rounding_of_its_instant():
    """An interval is halved `DEEPEST` times at most."""
    assert abs(on_axis(lambda t: np.where(t > 1 / 3, 1.0, 0.0)) - 2 / 3) < 2e-9
    calls = []
    pole = lambda t: calls.append(len(t)) or np.where(t == 0.3, 0.0, 1 / np.abs(t - 0.3) ** 2)  # noqa: E731
    on_axis(pole)
    assert len(calls) <= DEEPEST + 2


def test_what_swings_without_end_asks_for_no_more_pieces_than_there_may_be():
    calls = []
    on_axis(lambda t: calls.append(len(t)) or np.sin(1e12 * t))
    assert max(calls) <= 4 * MOST


def test_what_is_smooth_is_looked_at_nowhere_else():
    """A cubic, which Simpson's rule integrates exactly."""
    calls = []
    assert abs(on_axis(lambda t: calls.append(len(t)) or 1 + t**3) - 1.25) < 1e-15 and calls == [9]
