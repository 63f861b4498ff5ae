"""What a periodic state does not determine is told: where it multiplies errors of a period, and what does not repeat."""

import warnings

import numpy as np
import pytest

import netsim

RESONANCE = """
use electrical
src voltage   (a, ground) v = {s!r} V*sin(1000*time/({t!r} s))
r1  resistor  (a, b)      R = {r!r} Ohm
l1  inductor  (b, c)      L = {l!r} H
c1  capacitor (c, ground) C = {l!r} F
save c.v
"""


def told(text, analysis="periodic", **options):
    """A result, and the codes that Python is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = netsim.load(text).analyse(analysis, **options)
    return data, sorted({str(each.message)[:4] for each in caught})


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("quality", "doubtful"), [(1e2, False), (1e6, True), (1e8, True)])
def test_a_resonance_that_multiplies_errors_is_told(quality, doubtful, scale):
    """A series resonance has u/R Z0 across its capacitor. A disturbance shrinks by pi/Q in a period, so that an error of a period is one
    Q/pi times as large: with Q = 1e8 the amplitude is off by 4e-5, at rtol = 1e-9."""
    data, codes = told(RESONANCE.format(s=scale, t=scale, r=1 / quality, l=1e-3 * scale))
    off = abs(data["amplitude(c.v)"].values[1] / (quality * scale) - 1)
    assert codes == (["W525"] if doubtful else [])
    if doubtful:
        text = data.attrs["warnings"]
        assert off < 5 * float(text.split("off by ")[1].split(" ")[0])
        assert float(text.split("period by ")[1].split(" ")[0]) == pytest.approx(quality / np.pi, rel=0.1)
    else:
        assert off < 1e-9


@pytest.mark.parametrize(("method", "rtol", "doubtful"), [("radau", 1e-6, False), ("trbdf2", 1e-6, True), ("radau", 1e-4, False)])
def test_methods_differ_by_what_they_leave_of_a_period(method, rtol, doubtful):
    _, codes = told(RESONANCE.format(s=1.0, t=1.0, r=1e-3, l=1e-3), method=method, rtol=rtol)
    assert codes == (["W525"] if doubtful else [])


def test_small_signals_tell_it_of_the_state_that_they_rest_on():
    _, codes = told(RESONANCE.format(s=1.0, t=1.0, r=1e-6, l=1e-3), "periodic_ac", input="src", frequencies=[100.0])
    assert codes == ["W525"]


INTEGRAL = """
use signal
s signal_source (u) value = {mean!r} + sin(2*pi*time/({t!r} s))
f integrator    (u, y) k = {k!r}
g gain          (y, x) k = 3
z sine_of       (y, w)
save y, x, w, integral(x)
run periodic()
"""


@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("mean", "doubtful"), [(0.0, False), (1.0, True), (2 * np.pi, False)])
def test_signals_that_do_not_repeat_are_told(mean, doubtful, t):
    """y' = mean + sin(2 pi t) grows by its mean in every period, and so does 3 y. sin(y) repeats only where y grows by a whole turn.
    Three periods come before the search."""
    data, _ = told(INTEGRAL.format(mean=mean, t=t, k=1 / t))
    text = data.attrs["warnings"]
    assert ("'w'" in text) == doubtful
    assert "'y'" not in text and "'x'" not in text
    assert data["w"].values[-1] == pytest.approx(np.sin(4 * mean), abs=1e-8)


def test_a_shaft_that_turns_is_told_only_where_its_angle_matters():
    shaft = """
use rotational
j1 inertia        (s)         J = 1 kg.m2
t1 torque         (s)         T = 1 N.m + 0.2 N.m*sin(2*pi*time/(1 s))
d1 torsion_damper (s, ground) d = 0.3 N.m.s/rad
"""
    assert told(shaft + "save s.phi, s.w, 2*s.phi, s.w^2")[1] == []
    data, codes = told(shaft + "save s.w, sin(s.phi)")
    assert codes == ["W526"]
    assert data.attrs["warnings"].startswith("W526 'sin(s.phi)' does not repeat: 's.phi' goes on in every period")


@pytest.mark.parametrize("share", [1e-1, 1e-4, 1e-7])
@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
def test_small_distortions_keep_their_digits(share, t):
    """A third harmonic behind a lag: sqrt(1 + w^2)/sqrt(1 + 9 w^2) of the share before it; of a pure sine nothing is left."""
    data = netsim.load(f"""
use signal
s signal_source (u) value = sin(2*pi*time/({t!r} s)) + {share!r}*sin(6*pi*time/({t!r} s) + 0.3)
f first_order   (u, y) T = {t!r} s
save u, y
measure d = distortion(y)
run periodic()
""").run()
    wanted = share * np.hypot(1, 2 * np.pi) / np.hypot(1, 6 * np.pi)
    assert data.attrs["distortion.u"] == pytest.approx(share, abs=2e-9)
    assert data.attrs["distortion.y"] == pytest.approx(wanted, abs=2e-9)
    assert data.attrs["measure.d"] == pytest.approx(data.attrs["distortion.y"], rel=1e-9)


@pytest.mark.parametrize("t", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("decay", "size"), [(20, np.exp(-20)), (30, np.exp(-30)), (60, 0), (2e3, 0), (1e6, 0)])
def test_multipliers_within_rounding_are_none(decay, size, t):
    """One state decays by e^-decay in a period, the other by two thirds of that. 0 has no sign."""
    text = f"use electrical\nsrc voltage (a, ground) v = 1 V*sin(2*pi*time/({t!r} s))\n"
    for k, share in enumerate((1, 1.5)):
        text += f"r{k} resistor (a, b{k}) R = 1 Ohm\nc{k} capacitor (b{k}, ground) C = {t * share / decay!r} F\n"
    data = netsim.load(f"{text}save b0.v").periodic()
    smaller = np.sort(np.abs(data["multipliers.real"].values))[0]
    assert smaller == pytest.approx(size, rel=1e-5)
    assert "changing its sign" not in data.attrs["orbit"]
    assert ("gone after a period" in data.attrs["orbit"]) == (decay > 30)
