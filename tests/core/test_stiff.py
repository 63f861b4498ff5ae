"""What follows a prescribed input stiffly, and light vibrations beside slow motion: closed forms at every sample, between the steps too."""

import re
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import netsim
from netsim.core.bdf.stability import oscillation
from netsim.core.contract import COUNTERS, REFUSED
from netsim.core.methods import bdf
from netsim.core.problem import NK, NY
from netsim.library.files import models_folder

OWN = """
component relaxation (out y : signal) "y' = -lam (y^n - s^n) + s', s = a + cos t: y = s"
  param lam : 1/s
  param a
  count n
  der(y) = -lam*(y^n - (a + cos(time/(1 s)))^n) - sin(time/(1 s))/(1 s)
end
r relaxation (y)  lam = {lam} Hz, a = {a}, n = {n}
start y = 1 + {a}
run transient(stop = 1 s)
"""
CIRCUIT = """
use electrical
v1 voltage   (a, ground) v = 1 V*(cos(time/(1 s)) - sin(time/(1 s))/{lam})
r1 resistor  (a, y)      R = 1 Ohm
c1 capacitor (y, ground) C = 1 F/{lam}, start v = 1 V
run transient(stop = 1 s)
"""
BLOCKS = """
use signal
s1 signal_source (u)    value = cos(time/(1 s)) - sin(time/(1 s))/{lam}
f1 first_order   (u, y) T = 1 s/{lam}
start y = 1
run transient(stop = 1 s)
"""
DIODE = (models_folder() / "diode_rectifier.net").read_text(encoding="utf-8")
POINTS = 12


def cantilever():
    """w'' = -A w + b sin t: a clamped beam by differences, its frequencies from 3.2 to 567 rad/s; A and its netlist."""
    a = np.zeros((POINTS + 4, POINTS + 4))
    for i in range(2, POINTS + 2):
        a[i, i - 2 : i + 3] += [1, -4, 6, -4, 1]
    inner, (far, last) = a[2:-2, 2:-2].copy(), (a[2:-2, -1], a[2:-2, -2])
    inner[:, -1] += 2 * last + 3 * far  # no moment and no shear at the free end
    inner[:, -2] -= last + 2 * far
    inner[0, 0] += 1  # no slope where it is clamped
    inner *= POINTS**4
    rows = ", ".join("[" + ", ".join(map(repr, row.tolist())) + "]" for row in inner)
    return (
        inner,
        f"""
component cantilever (out tip : signal) "w'' = -A w + b sin t"
  var   w[{POINTS}] : 1
  var   v[{POINTS}] : 1/s
  param A[{POINTS}, {POINTS}] = [{rows}]
  param b[{POINTS}]
  der(w) = v
  der(v) = (b*sin(time/(1 s)) - A*w)/(1 s)^2
  tip = w[{POINTS}]
end
beam cantilever (tip) b = [{"0, " * (POINTS - 1)}{POINTS}]
run transient(stop = 1 s)
""",
    )


def error(text, signal, offset, method, rtol, stop=10.0):
    result = netsim.load(text).transient(stop=stop, method=method, rtol=rtol, save=[signal], sample=stop / 997)
    return np.abs(result[signal].values - offset - np.cos(result.time.values)).max() / (1 + offset)


@pytest.mark.parametrize("method", ["radau", "trbdf2", "bdf", "generalized_alpha"])
@pytest.mark.parametrize(("text", "signal"), [(OWN, "y"), (CIRCUIT, "y.v"), (BLOCKS, "y")])
def test_what_follows_a_drive_stiffly_is_right_between_the_steps(text, signal, method):
    """Prothero and Robinson, Math. Comp. 28, 1974: y' = -lam (y - cos t) - sin t."""
    for rtol in (1e-4, 1e-6) if method == "generalized_alpha" else (1e-4, 1e-6, 1e-8):
        assert error(text.format(lam=1_000_000, a=0, n=1), signal, 0, method, rtol) < 5 * rtol


@pytest.mark.parametrize("lam", [100, 10_000, 100_000_000])
def test_the_same_at_other_time_constants_and_in_a_long_run(lam):
    for rtol in (1e-4, 1e-8):
        assert error(OWN.format(lam=lam, a=0, n=1), "y", 0, "radau", rtol) < 5 * rtol
        assert error(OWN.format(lam=lam, a=2, n=3), "y", 2, "radau", rtol) < 5 * rtol
    assert error(OWN.format(lam=lam, a=0, n=1), "y", 0, "radau", 1e-6, stop=1000.0) < 5e-6


def test_implicit_euler_follows_too():
    assert error(OWN.format(lam=1_000_000, a=0, n=1), "y", 0, "euler", 1e-4) < 5e-4


@pytest.mark.parametrize(("order", "turn"), [(3, 1.0), (4, 1.0), (5, 1.5)])
def test_the_growth_that_is_the_formulas_own_is_seen_in_three_differences(order, turn):
    """Of an undamped vibration, h l = i turn, everything: the largest root of sum (1 - 1/r)^j/j = h l."""
    formula = sum((np.poly1d([-1.0, 1.0]) ** j / j for j in range(1, order + 1)), np.poly1d([0.0]))
    root = max(1.0 / (formula - 1j * turn).roots, key=abs)
    newest, before, older = (np.array([(phase * root**k).real for phase in (1.0, 0.3 + 2.0j, 1.0j)]) for k in (2, 1, 0))
    problem, trial = SimpleNamespace(sizes=np.array([0, 3])), SimpleNamespace(exponent=np.zeros(3), scale=np.array([1.0, 2.0, 0.5]))
    assert (NK, NY) == (0, 1)
    growth, share = oscillation.py_func(problem, trial, newest, newest - before, older, order)
    assert growth == pytest.approx(np.log(abs(root)), rel=1e-9) and growth > 0.03
    assert share == pytest.approx(abs(1.0 - 1.0 / root), rel=1e-9)
    assert oscillation.py_func(problem, trial, 0.25 * newest, -0.25 * newest, newest, order) == (0.0, 1.0)


def test_bdf_keeps_to_orders_that_do_not_make_light_vibrations_grow():
    """Steps follow the first modes and not the last, which orders 3 to 5 would excite: 14 225 steps before. At this rtol
    the error test goes by 1e-3; at a finer one it follows modes that the tolerance can see (4 223 steps at 1e-3)."""
    matrix, text = cantilever()
    result = netsim.load(text).transient(stop=20, method="bdf", rtol=2.5e-3, save=["tip"], sample=0.05)
    squares, modes = np.linalg.eig(matrix)
    share, w, t = np.linalg.solve(modes, np.eye(POINTS)[-1] * POINTS), np.sqrt(squares.real)[:, None], result.time.values
    exact = (modes[-1] * share / (squares - 1)).real @ (np.sin(t) - np.sin(w * t) / w)
    assert result.attrs["steps"] < 1000
    assert np.abs(result["tip"].values - exact).max() < 0.2 * np.abs(exact).max()


LIMITED = """
use signal
s1 signal_source (u)    value = {drive}
l1 slew_limiter  (u, y) rising = 2 Hz, falling = -2 Hz, T = {lag} s
run transient(stop = 6 s)
"""
RAMPS = "min(time/(1 s), 1) + 3*max(time/(1 s) - 2, 0) - 6*max(time/(1 s) - 3, 0)"


def limited(t):
    """A step up to 4, and what follows ramps that become faster than the limit at 2 s and turn at 3 s."""
    return {
        "4*step(time, at = 1 s)": np.clip(2 * (t - 1), 0, 4),
        RAMPS: np.select([t < 1, t < 2, t < 3.2], [t, 1 + 0 * t, 1 + 2 * (t - 2)], 3.4 - 2 * (t - 3.2)),
    }


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2"])
@pytest.mark.parametrize(("drive", "lag"), [("4*step(time, at = 1 s)", 1e-6), (RAMPS, 1e-6), (RAMPS, 1e-9)])
def test_a_limit_of_a_stiff_law_is_not_missed(drive, lag, method):
    """Corrections by the steep slope of before are tiny beyond the limit, whatever is left: that is no convergence."""
    for rtol in (1e-3, 1e-4, 1e-6):
        model = netsim.load(LIMITED.format(drive=drive, lag=lag))
        result = model.transient(method=method, rtol=rtol, stop=6, sample=0.05, save=["y"])
        missed = np.abs(result["y"].values - limited(result["time"].values)[drive]).max()
        assert missed < 20 * rtol * 4 + 4 * lag, (rtol, missed)


def lagging(t, lag):
    """Behind a slew limiter with this lag, what follows RAMPS: exact in steps of 1e-5 s."""
    return np.interp(t, *_lagging(lag))


@cache
def _lagging(lag):
    grid = np.linspace(0, 6, 600_001)
    drive = np.interp(grid, [0, 1, 2, 3, 6], [0, 1, 1, 4, -5])
    y, found, step = 0.0, [0.0], grid[1]
    decay = float(np.exp(-step / lag))
    for before, now in pairwise(drive.tolist()):
        slope, wanted = (now - before) / step, (before - y) / lag
        y = y + step * np.sign(wanted) * 2 if abs(wanted) > 2 else now - slope * lag + (y - before + slope * lag) * decay
        found.append(y)
    return grid, found


MOVING = """use translational
m1 mass  (a) m = 1 kg, start v = 1 m/s
f1 force (a) F = 1 N*y
"""


@pytest.mark.parametrize("beside", ["", MOVING])
@pytest.mark.parametrize("lag", [1e-5, 2.070627283873902e-05, 1.8382633515306895e-4, 3.8063582506249276e-4, 1e-3])
def test_a_limit_is_not_missed_by_any_lag_nor_beside_what_moves(lag, beside):
    """Beside a mass Radau kept y at 1 where it goes up to 3.4; a limit in the last part of a long step was off by 300 rtol."""
    model = netsim.load(LIMITED.format(drive=RAMPS, lag=lag) + beside)
    for method, rtol in product(["radau", "bdf", "trbdf2"], [1e-4, 3.1622776601683794e-4, 1e-3, 3.1622776601683794e-3, 1e-2]):
        result = model.transient(method=method, rtol=rtol, stop=6, sample=6 / 3000, save=["y"])
        missed = np.abs(result["y"].values - lagging(result["time"].values, lag)).max()
        assert missed < 20 * rtol * 4, (method, rtol, missed)


@pytest.mark.parametrize("steps", [300, 1000, 5000])
def test_a_given_step_in_which_a_diode_begins_to_conduct_is_found(steps):
    """From the currents of the beginning Newton's method does not get there; shorter steps lead it."""
    text = (Path(__file__).parents[2] / "models" / "diode_rectifier.net").read_text(encoding="utf-8")
    model = netsim.load(text.replace(", step = 20 us, method = euler", ""))
    given = model.transient(stop=0.1, step=0.1 / steps, save=["dc.v"])
    tested = model.transient(stop=0.1, sample=0.1 / steps, rtol=1e-6, save=["dc.v"])
    assert given.attrs["steps"] == steps
    assert np.abs(given["dc.v"].values - tested["dc.v"].values).max() < {300: 0.02, 1000: 2e-4, 5000: 2e-6}[steps]


def test_a_run_that_stability_holds_up_says_so():
    """A blocking junction charges within picoseconds: 2 000 million steps of an explicit method, a fifth of them refused."""
    text = (Path(__file__).parents[2] / "models/diode_rectifier.net").read_text(encoding="utf-8")
    (samples,) = netsim.load(text.replace(", step = 20 us, method = euler", "")).samples({"method": "rk45", "rtol": 1e-4})
    problem = samples.attributes["failure"]
    assert not samples.finished and problem.code == "E505" and problem.message.startswith("rk45 stops at t = ")
    assert "steps failed within 0.1 % of the run" in problem.message and "use an implicit method" in problem.hint


# -------------------------------------------------------------------------------------- what settles within a step of BDF


@pytest.mark.parametrize(("rtol", "most"), [(1e-4, 500), (1e-6, 2000), (1e-8, 60000)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_junctions_that_settle_within_a_step_stop_no_bdf(rtol, most, scale):
    """The current jumps with the formula's order, within steps of any length: 40 000 steps at 1e-6, E508 at 1e-8."""
    text = re.sub(r"frequency = 50 Hz", f"frequency = {50 / scale!r} Hz", DIODE).replace("470 uF", f"{470e-6 * scale!r} F")
    text = text.replace("tt = 1 us", f"tt = {1e-6 * scale!r} s").replace("Cj = 30 pF", f"Cj = {30e-12 * scale!r} F")
    model, stop = netsim.load(text), 10e-3 * scale
    exact = model.transient(stop=stop, sample=stop / 100, rtol=1e-10)
    result = model.transient(stop=stop, sample=stop / 100, rtol=rtol, method="bdf")
    assert result.attrs["steps"] < most
    for name in ("ac.v", "dc.v", "d1.i", "d1.vd"):
        assert np.abs(result[name] - exact[name]).max() < 10 * rtol * np.abs(exact[name]).max()


@pytest.mark.parametrize(("norm", "left", "refused", "counts"), [(2.0, 0.1, 0, 2.0), (2.0, 0.1, 1, 0.1), (2.0, 3.0, 1, 2.0), (0.9, 0.1, 1, 0.9)])
def test_what_decays_within_a_step_refuses_it_once(monkeypatch, norm, left, refused, counts):
    """By an estimate, and by what a step leaves of it."""
    monkeypatch.setattr(bdf, "_norm", lambda *_: norm)
    monkeypatch.setattr(bdf, "widen_scales", lambda *_: None)
    monkeypatch.setattr(bdf, "copy", lambda *_: None)
    monkeypatch.setattr(bdf, "filtered_error", lambda *_: left)
    counters = np.zeros(COUNTERS, int)
    counters[REFUSED] = refused
    trial, problem = SimpleNamespace(counters=counters, end=None), SimpleNamespace(sizes=np.zeros(32, int))
    method = SimpleNamespace(spread=np.zeros(1))
    assert bdf._error.py_func(method, problem, None, trial, 1.0, 1.0) == counts
    problem.sizes[NK] = 1
    assert bdf._error.py_func(method, problem, None, trial, 1.0, 1.0) == norm
