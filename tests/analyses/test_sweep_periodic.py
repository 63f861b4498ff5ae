"""Periodic states along a parameter: folds against harmonic balance, the period of a limit cycle over its gain."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

DUFFING = """
use translational
param w = 1
param F = 1 N
m1 mass   (a)         m = 1 kg
s1 spring (a, ground) c = 1 N/m
d1 damper (a, ground) d = 0.1 N.s/m
f1 force  (a)         F = F*cos(w*time/(1 s)) - 0.04 N/m^3*a.x^3
save a.x
"""
VAN_DER_POL = """
use signal
param mu = 1
component oscillator (out y : signal)
  param mu = 1
  var w : 1
  der(y)*1 s = w
  der(w)*1 s = mu*(1 - y^2)*w - y
end
v oscillator (y) mu = mu, start y = 2
save y
"""


def balanced_fold(w, amplitude, phase, count=15):
    """w where x'' + 0.1 x' + x + 0.04 x^3 = cos(w t) has a fold, by harmonic balance: F(u, w) = 0, F_u phi = 0, |phi| = 1."""
    t, k = np.arange(128) * 2 * np.pi / 128, np.arange(1, count + 1)
    basis = np.hstack([np.ones((128, 1)), np.cos(np.outer(t, k)), np.sin(np.outer(t, k))])
    parts, rate = np.linalg.pinv(basis), np.zeros((2 * count + 1,) * 2)
    rate[k, count + k], rate[count + k, k] = k, -k
    n = len(rate)
    u = np.zeros(n)
    u[1], u[count + 1] = amplitude * np.cos(phase), -amplitude * np.sin(phase)

    def linear(w):
        return w * w * rate @ rate + 0.1 * w * rate + np.eye(n)

    def by_states(u, w):
        return linear(w) + parts @ ((0.12 * (basis @ u) ** 2)[:, None] * basis)

    phi = np.linalg.svd(by_states(u, w))[2][-1]
    for _ in range(50):
        jacobian, along = by_states(u, w), 2 * w * rate @ rate + 0.1 * rate
        matrix = np.zeros((2 * n + 1,) * 2)
        matrix[:n, :n] = matrix[n : 2 * n, n : 2 * n] = jacobian
        matrix[n : 2 * n, :n] = parts @ ((0.24 * (basis @ u) * (basis @ phi))[:, None] * basis)
        matrix[:n, -1], matrix[n : 2 * n, -1], matrix[-1, n : 2 * n] = along @ u, along @ phi, 2 * phi
        equations = linear(w) @ u + parts @ (0.04 * (basis @ u) ** 3 - np.cos(t))
        step = np.linalg.solve(matrix, -np.concatenate([equations, jacobian @ phi, [phi @ phi - 1]]))
        u, phi, w = u + step[:n], phi + step[n : 2 * n], w + step[-1]
    assert np.abs(step).max() < 1e-12
    return w


def test_folds_of_duffings_oscillator():
    found = netsim.load(DUFFING).sweep_periodic(over="w", from_=1.2, to=1.6, points=3, rtol=1e-8)
    folds = [float(each) for each in found.attrs["folds"].split(", ")]
    assert folds == pytest.approx([balanced_fold(1.5224, 6.54, -1.6), balanced_fold(1.252, 2.5, -2.8)], abs=1e-6)
    w, size, multiplier = (found[name].values for name in ("w", "amplitude(a.x)", "multiplier"))
    assert {1.2, 1.4, 1.6} <= set(w) and np.count_nonzero(w == 1.4) == 3
    assert size[w == 1.4][[0, 2]] == pytest.approx([5.86215759, 1.06805621], abs=1e-7)
    assert list(multiplier[w == 1.4] > 1.0) == [False, True, False]
    assert found["period"].values == pytest.approx(2 * np.pi / w, rel=1e-12)
    assert "fold at w = 1.5224" in found.attrs["orbit"]


def test_an_amplitude_is_swept():
    """The linear oscillator answers in proportion; a point is found where its correction is below 10 rtol of 1e-9."""
    text = DUFFING.replace("0.04 N/m^3", "0 N/m^3")
    found = netsim.load(text).sweep_periodic(over="F", from_="1 N", to="3 N", points=3, harmonics=2)
    F, size = found["F"].values, found["amplitude(a.x)"].values
    np.testing.assert_allclose(size, 10 * F, rtol=2e-8)
    np.testing.assert_allclose(found["amplitude(a.x, 2)"], 0.0, atol=1e-7)
    np.testing.assert_allclose(found["phase(a.x)"], -np.pi / 2, rtol=1e-7)


def test_a_limit_cycle_over_its_gain():
    found = netsim.load(VAN_DER_POL).sweep_periodic(over="mu", from_=0.5, to=2.0, points=4, period="6.3 s", warm_up=5)
    at = {float(mu): float(period) for mu, period in zip(found["mu"], found["period"])}
    assert at[1.0] == pytest.approx(6.6632868593231, abs=1e-9)
    assert at[2.0] == pytest.approx(7.6298744796, abs=1e-8)
    assert (found["multiplier"] < 1.0).all()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"over": "q", "from_": 1.0, "to": 2.0}, "E429"),
        ({"over": "w", "from_": 1.0}, "E422"),
        ({"over": "w", "from_": 1.0, "to": 1.0}, "E422"),
        ({"over": "w", "from_": 1.0, "to": 2.0, "points": 1}, "E423"),
        ({"over": "w", "from_": 1.0, "to": 2.0, "stop": 1.0}, "E421"),
        ({"over": "w", "from_": 1.0, "to": 2.0, "period": "3 m"}, "E202"),
    ],
)  # fmt: skip
def test_mistakes(options, code):
    with pytest.raises(InputError) as told:
        netsim.load(DUFFING).sweep_periodic(**options)
    assert told.value.problems[0].code == code


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_branch_may_begin_where_nothing_moves(size):
    """An amplitude from 0: the sizes of states of the first period are nothing, and a curve told in them is endless. Amplitudes of a
    low-pass are A/sqrt(1 + (w R C)^2)."""
    text = f"""use electrical
    param A = 0
    v1 voltage   (a, ground) v = A*{size} V*sin(2*pi*50 Hz*time)
    r1 resistor  (a, b)      R = 1 kOhm
    c1 capacitor (b, ground) C = 1 uF
    save b.v
    run sweep_periodic(over = A, from = 0, to = 1, points = 5, period = 20 ms)
    """
    found = netsim.load(text).run()
    gain = size / np.sqrt(1 + (2 * np.pi * 50 * 1e-3) ** 2)
    assert found["amplitude(b.v)"].values == pytest.approx(found["A"].values * gain, rel=1e-5, abs=1e-12 * size)
    assert found["A"].values[-1] == 1.0 and len(found["A"]) < 300
