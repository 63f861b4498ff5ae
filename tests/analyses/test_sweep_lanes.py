"""Cases of a sweep side by side: as right as by themselves, whatever stands beside them."""

import numpy as np
import pytest

import netsim
from netsim.analyses.many.lanes import lanes as lanes_module
from netsim.library.files import models_folder

LAG = """use electrical
param R = 1 kOhm
param U = 1 V
src voltage (a, ground) v = U
r1 resistor (a, b) R = R
c1 capacitor (b, ground) C = 1 uF, start v = 0 V
measure rise = when(b.v > 0.5*U) - 0 s
measure charge = integral(r1.i)/(1 A.s)
"""
SWUNG = """use translational
m1 mass (a) m = 1 kg, start x = 1 m, start v = 0 m/s
s1 spring (a, ground) c = 100 N/m
w weld (a, b) l = 0.5 m
m2 mass (b) m = 0.5 kg
"""
PENDULUM = """use spatial
use signal
param m = 1 kg
base fixed_frame (o)
j revolute (o, p)  axis = [0, 1, 0], start q = 0.5 rad, start w = 0 rad/s
b body (p) m = m, I = [0.1, 0.1, 0.1] kg.m2, c = [0.3, 0, 0] m
"""


def values(found, name):
    return found[name].to_numpy()


def test_an_incomplete_group_of_lanes_has_all_its_cases_and_they_are_right():
    model = netsim.load(LAG)
    found = model.sweep({"R": ("0.5 kOhm", "2 kOhm")}, of=["rise", "charge", "b.v"], points=13, stop="6 ms", rtol=1e-7, lanes=5, workers=1)
    tau, t = values(found, "R") * 1e-6, found["time"].to_numpy()
    assert found.attrs["lanes"] == 5 and not values(found, "failed").any()
    np.testing.assert_allclose(values(found, "rise"), tau * np.log(2.0), rtol=2e-6)
    np.testing.assert_allclose(values(found, "charge"), 1e-6 * (1.0 - np.exp(-6e-3 / tau)), rtol=2e-6)
    np.testing.assert_allclose(values(found, "b.v"), 1.0 - np.exp(-t / tau[:, None]), atol=2e-6)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
def test_lanes_of_very_different_sizes_keep_their_own_tolerance(method):
    """Copies are islands: 1 nV beside 1 MV is as exact as by itself."""
    model = netsim.load(LAG)
    found = model.sweep({"U": [1e-9, 1e6, 1.0]}, of=["b.v"], stop="6 ms", rtol=1e-6, method=method, lanes=3, workers=1)
    u, t = values(found, "U"), found["time"].to_numpy()
    exact = u[:, None] * (1.0 - np.exp(-t / 1e-3))
    assert found.attrs["lanes"] == 3
    assert (np.abs(values(found, "b.v") - exact).max(axis=1) < 20e-6 * u).all()


def test_starts_vary_side_by_side():
    model = netsim.load(SWUNG)
    found = model.sweep({"m1.x.start": ["1 m", "1 um", "-3 m"]}, of=["a.x"], stop="1 s", rtol=1e-7, lanes=3, workers=1)
    x0, t = values(found, "m1.x.start"), found["time"].to_numpy()
    exact = x0[:, None] * np.cos(np.sqrt(100.0 / 1.5) * t)
    assert found.attrs["lanes"] == 3
    assert (np.abs(values(found, "a.x") - exact).max(axis=1) < 20e-7 * np.abs(x0)).all()


def test_workers_and_lanes_give_the_same_bits():
    model = netsim.load(LAG)
    given = {"of": ["rise", "b.v"], "points": 40, "stop": "6 ms", "lanes": 4}
    one, two = (model.sweep({"R": ("0.5 kOhm", "2 kOhm")}, workers=n, **given) for n in (1, 2))
    assert all((values(one, name) == values(two, name)).all() for name in ("rise", "b.v"))


def test_a_case_that_fails_fails_alone():
    model = netsim.load(LAG)
    found = model.sweep({"R": [1000.0, -1.0, 2000.0]}, of=["rise"], stop="6 ms", lanes=3, workers=1)
    alone = model.sweep({"R": [1000.0, -1.0, 2000.0]}, of=["rise"], stop="6 ms", workers=1)
    assert values(found, "failed").tolist() == [False, True, False]
    assert values(found, "message").tolist() == values(alone, "message").tolist()
    np.testing.assert_array_equal(values(found, "rise"), values(alone, "rise"))


def test_assertions_are_judged_case_by_case():
    model = netsim.load(LAG + 'assert rise < 1 ms "too slow"\n')
    found = model.sweep({"R": [1000.0, 2000.0]}, of=["rise"], stop="6 ms", lanes=2, workers=1)
    assert values(found, "holds").tolist() == [True, False]
    assert values(found, "message").tolist()[1].endswith("too slow")


def test_cases_with_events_run_by_themselves():
    model = netsim.load(models_folder() / "bouncing_ball.net")
    assert model.sweep({"b.m": [1.0, 2.0]}, lanes=2, workers=1).attrs["lanes"] == 1


def test_values_that_choose_and_vectors_are_evaluated_lane_by_lane():
    text = LAG.replace("R = R,", "").replace("R = R", "R = if R > 1 kOhm then 2*R else max(R, 700 Ohm)")
    given = {"of": ["b.v"], "points": 7, "stop": "6 ms", "rtol": 1e-7, "workers": 1}
    model = netsim.load(text)
    wide, alone = (model.sweep({"R": ("0.5 kOhm", "2 kOhm")}, lanes=n, **given) for n in (7, 1))
    assert wide.attrs["lanes"] == 7
    np.testing.assert_allclose(values(wide, "b.v"), values(alone, "b.v"), atol=2e-6)


def test_overrides_of_the_model_hold_in_all_lanes():
    model = netsim.load(LAG).with_params({"U": 3.0})
    found = model.sweep({"R": [1000.0, 2000.0]}, of=["b.v"], stop="20 ms", lanes=2, workers=1)
    np.testing.assert_allclose(values(found, "b.v")[:, -1], 3.0, rtol=1e-4)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("coaxial_cable.net", "cable.length"), ("gas_bottle.net", "valve.crit"), ("diode_bridge.net", "rsrc.R"),
        ("cam_follower.net", "rod.c"), ("induction_motor_start.net", "mains.V"),
    ],
)  # fmt: skip
def test_models_agree_with_their_cases_one_by_one(file, name):
    model = netsim.load(models_folder() / file)
    at = float(netsim.network.given.value_of(model.values, name).value)
    wide, alone = (model.sweep({name: [at, 1.01 * at, 0.98 * at]}, lanes=n, workers=1) for n in (3, 1))
    assert wide.attrs["lanes"] == 3 and not values(wide, "failed").any()
    for signal in alone.data_vars:
        if alone[signal].dtype.kind == "f":
            size = np.nanmax(np.abs(values(alone, signal)))
            np.testing.assert_allclose(values(wide, signal), values(alone, signal), atol=1e-5 * size)


def test_given_steps_are_those_of_single_runs(monkeypatch):
    """A tripod of closed loops, by the papers' formula."""
    ran = []
    single = lanes_module.outcome
    monkeypatch.setattr(lanes_module, "outcome", lambda *given: ran.append(1) or single(*given))
    model = netsim.load(models_folder() / "tripod" / "stage1.net")
    given = {"of": ["M.x", "A.F"], "stop": "0.3 s", "step": "1 ms", "method": "euler", "forces": "recovered"}
    wide, alone = (model.sweep({"m_platform": [0.5, 1.0]}, lanes=n, workers=1, **given) for n in (2, 1))
    assert wide.attrs["lanes"] == 2 and not ran
    for signal in ("M.x", "A.F"):
        size = np.abs(values(alone, signal)).max()
        np.testing.assert_allclose(values(wide, signal), values(alone, signal), atol=1e-9 * size)


MEASURED = """use electrical
param R = 1 kOhm
src voltage (a, ground) v = 1 V*sin(6000 Hz*time)
r1 resistor (a, b) R = R
c1 capacitor (b, ground) C = 1 uF, start v = 0.3 V
measure top = max(abs(b.v))
measure lowest = min(b.v - a.v) + argmin(b.v)*1 V/s
measure level = rms(b.v)*R/(1 kOhm)
measure either = max(mean(b.v), final(b.v), 0.01 V)
measure whole = integral(a.v*r1.i)*1000 + 2*pp(r1.i)*1 V.s
measure early = when(b.v < 0.01 V)
measure late = when(b.v > 0.25 V)
measure later = max(b.v*1 s/V + when(b.v < 0.06 V))
assert b.v > -2 V*R/(2 kOhm)
"""


def test_lanes_are_measured_side_by_side_as_one_by_one(monkeypatch):
    """Those that lack a figure or break an assertion are measured by themselves."""
    apart = []
    one_by_one = lanes_module._outcome
    monkeypatch.setattr(lanes_module, "_outcome", lambda *given: apart.append(given[-1]) or one_by_one(*given))
    model, over = netsim.load(MEASURED), {"R": ("0.1 kOhm", "2 kOhm")}
    given = {"of": ["top", "lowest", "level", "either", "whole", "early", "late", "later"], "points": 8, "stop": "3 ms", "rtol": 1e-5}
    found = model.sweep(over, **given, lanes=8, workers=1)
    wrong = np.isnan(values(found, "late")) | np.isnan(values(found, "early")) | ~values(found, "holds").astype(bool)
    assert np.isnan(values(found, "early")).any() and np.flatnonzero(wrong).tolist() == apart and len(apart) < 7
    monkeypatch.setattr(lanes_module, "_measured", lambda *given: [None] * len(given[-1]))
    single = model.sweep(over, **given, lanes=8, workers=1)
    for name in given["of"]:
        np.testing.assert_allclose(values(found, name), values(single, name), rtol=1e-11, err_msg=name)
    assert values(found, "message").tolist() == values(single, "message").tolist()


@pytest.mark.parametrize("measure", ["max(b.v, from = 1 ms)", "at(b.v, 2 ms)", "when(b.v < 0.1 V, n = 2)", "period(b.v)"])
def test_measures_of_spans_and_instants_are_those_of_single_lanes(measure):
    model, over = netsim.load(MEASURED + f"measure asked = {measure}\n"), {"R": ("0.1 kOhm", "2 kOhm")}
    found, single = (model.sweep(over, of=["asked", "top"], points=4, stop="3 ms", rtol=1e-8, lanes=k, workers=1) for k in (4, 1))
    assert np.isfinite(values(found, "asked")).any()
    np.testing.assert_allclose(values(found, "asked"), values(single, "asked"), rtol=3e-6)
