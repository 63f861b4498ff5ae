"""Exact derivatives of runs: closed forms, and extrapolated differences on every domain and across every kind of event."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

RTOL = 1e-10


def by_differences(model, name, value, signals, share=2e-3, **options):
    """Derivatives of final values, by central differences extrapolated once."""

    def slope(h):
        ends = [model.with_params({name: x}).transient(save=signals, **options) for x in (value + h, value - h)]
        return np.array([float(ends[0][s][-1] - ends[1][s][-1]) for s in signals]) / (2 * h)

    return (4 * slope(share * abs(value)) - slope(2 * share * abs(value))) / 3


def check(model, values, signals, tolerance, share=2e-3, **options):
    """Derivatives at the end, against differences, relative to the larger of both and of the whole row."""
    options = {"rtol": RTOL, **options}
    found = model.sensitivity(to=list(values), of=signals, **options)
    for name, value in values.items():
        mine = np.array([float(found[f"d({s})/d({name})"][-1]) for s in signals])
        wanted = by_differences(model, name, value, signals, share, **options)
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(), err_msg=name)


def load(text):
    return netsim.load(text + "\n")


# ------------------------------------------------------------------------------------------------- closed forms


def test_a_charging_capacitor():
    model = load(
        "use electrical\nparam U = 5 V\nv1 voltage (a, ground) v = U\nr1 resistor (a, b) R = 1 kOhm\n"
        "c1 capacitor (b, ground) C = 1 uF, start v = 1 V\nmeasure rise = when(b.v > 0.9*U) - when(b.v > 0.5*U)\nsave b.v, c1.i"
    )
    found = model.sensitivity(to=["U", "r1.R", "c1.C", "c1.v.start"], stop="3 ms", rtol=RTOL)
    t, e = found.time.values, np.exp(-found.time.values / 1e-3)
    np.testing.assert_allclose(found["d(b.v)/d(U)"], 1 - e, atol=1e-10)
    np.testing.assert_allclose(found["d(b.v)/d(r1.R)"], -4 * t * e, atol=1e-10)
    np.testing.assert_allclose(found["d(b.v)/d(c1.v.start)"], e, atol=1e-10)
    np.testing.assert_allclose(found["d(c1.i)/d(r1.R)"], 4e-6 * e * (t / 1e-3 - 1), atol=1e-14)
    assert found["d(b.v)/d(r1.R)"].attrs["units"] == "A"
    assert found.attrs["measure.d(rise)/d(r1.R)"] == pytest.approx(1e-6 * np.log(5), rel=1e-6)
    assert found.attrs["measure.d(rise)/d(c1.v.start)"] == pytest.approx(0.0, abs=1e-10)


def test_a_ball_bounces():
    found = netsim.load("many/bouncing_ball").run()
    assert float(found["p.x"][-1]) == pytest.approx(0.4028620218, abs=1e-9)
    assert float(found["d(p.x)/d(b.e)"][-1]) == pytest.approx(2.6390133576, abs=1e-9)
    assert float(found["d(p.x)/d(b.x.start)"][-1]) == pytest.approx(0.6755560109, abs=1e-9)
    assert found.attrs["measure.d(apex)/d(b.e)"] == pytest.approx(1.6, abs=1e-8)
    assert found.attrs["measure.d(apex)/d(b.x.start)"] == pytest.approx(0.64, abs=1e-8)
    assert found.attrs["measure.d(hit)/d(b.x.start)"] == pytest.approx(1 / np.sqrt(2 * 9.81), abs=1e-8)


def test_two_balls_at_one_instant():
    text = netsim.load("many/bouncing_ball").network.text.split("b ball")[0]
    model = load(text + "b ball (p) e = 0.8, start x = 1 m\nc ball (q) e = 0.7, start x = 1 m\nsave p.x, q.x")
    found = model.sensitivity(to=["b.e", "c.x.start"], stop=1.5, rtol=RTOL)
    assert float(found["d(p.x)/d(b.e)"][-1]) == pytest.approx(2.6390133576, abs=1e-9)
    assert float(found["d(q.x)/d(b.e)"][-1]) == pytest.approx(0.0, abs=1e-9)
    assert float(found["d(q.x)/d(c.x.start)"][-1]) == pytest.approx(1.4888261857, abs=1e-6)


# -------------------------------------------------------------------------------------------------- domains


def test_index_three_forces_and_rotations():
    values = {"height": 0.1922, "m_platform": 4.9}
    check(netsim.load("tripod/stage1"), values, ["A.F", "B.F", "M.x"], 1e-7, share=2e-3, stop=2.0, rtol=1e-9)


def test_an_amplifier_by_its_parameters():
    model = netsim.load("transistor_amplifier")
    values = {"q1.Bf": 200.0, "q1.Vaf": 100.0, "rc.R": 4700.0}
    check(model, values, ["base.v", "collector.v"], 1e-6, stop=3e-5)


# --------------------------------------------------------------------------------------------------- events


def test_time_events_move_with_parameters():
    model = load(
        "use electrical\nparam w = 0.3 ms\nparam at = 0.2 ms\nv1 voltage (a, ground) v = 5 V*step(time, at = at) - 5 V*step(time, at = at + w)\n"
        "r1 resistor (a, b) R = 1 kOhm\nc1 capacitor (b, ground) C = 1 uF\n"
    )
    check(model, {"w": 3e-4, "at": 2e-4, "r1.R": 1e3}, ["b.v", "c1.i"], 1e-8, stop=1e-3)


def test_a_converter_by_share_and_period():
    model = netsim.load("buck_converter")
    values = {"gate.share": 0.42, "gate.period": 1e-5, "coil.L": 47e-6, "top.Ron": 0.01}
    check(model, values, ["out.v", "coil.i"], 1e-6, share=2e-5, stop=1.03e-4, rtol=1e-9)


def test_a_rectifier():
    check(netsim.load("diode_rectifier"), {"d1.Is": 1e-12, "c1.C": 4.7e-4, "rs.R": 0.5}, ["dc.v"], 1e-7, stop=12e-3)


def test_clutches_that_engage():
    model = netsim.load("msl/Mechanics_Rotational_CoupledClutches")
    check(model, {"j1.J": 1.0, "c1.mu": 0.5}, ["a.w", "b.phi", "d.w"], 1e-6, share=1e-3, stop=0.5)


def test_dry_friction_that_sticks_and_slides():
    model = netsim.load("msl/Mechanics_Translational_Friction")
    check(model, {"m1.F": 5.0, "m2.lower": -0.4}, ["a.x", "b.x", "c.x"], 1e-6, stop=1.3, rtol=1e-9)


@pytest.mark.parametrize("method", ["euler", "bdf", "generalized_alpha"])
def test_every_method_serves(method):
    model = load("use translational\nm1 mass (a) m = 2 kg, start v = 1 m/s\ns1 spring (a, ground) c = 8 N/m")
    options = {"step": 1e-5} if method in ("euler", "generalized_alpha") else {"rtol": 1e-8}
    found = model.sensitivity(to=["m1.m"], of=["a.x"], stop=0.1, method=method, **options)
    t = 0.1  # x = v sin(w t)/w with w^2 = c/m, dw/dm = -w/(2 m)
    exact = -2.0 / 4 * (t * np.cos(2 * t) / 2 - np.sin(2 * t) / 4)
    assert float(found["d(a.x)/d(m1.m)"][-1]) == pytest.approx(exact, rel=1e-3 if method == "euler" else 1e-6)


# --------------------------------------------------------------------------------------------------- messages


def test_what_is_wrong_is_told():
    model = load("use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, ground) R = 1 Ohm")
    with pytest.raises(InputError, match=r"E422 .*needs 'to'"):
        model.analyse("sensitivity", stop=1)
    with pytest.raises(InputError, match=r"E236 no parameter or written start is called 'r1\.r'"):
        model.sensitivity(to=["r1.r"], stop=1)


@pytest.mark.parametrize("before", [0, 2])
def test_a_sampler_passes_on_the_derivative_of_a_value_that_stays(before):
    text = (
        "use signal\nparam p = 2\nsrc signal_source (u) value = p\nhold sampler (u, held) period = 0.1 s, start held = "
        f"{before}\nsum integrator (held, y) k = 1 1/s\nsave y\n"
    )
    found = load(text).sensitivity(to=["p"], of=["y"], stop="1 s")
    np.testing.assert_allclose(found["d(y)/d(p)"], found.time, atol=1e-10)
