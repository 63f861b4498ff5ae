"""Derivatives of networks that are one cut set as a whole: a delta of capacitors that only resistors tie to the ground,
masses that only springs join."""

import numpy as np
import pytest

import netsim

SCALES = [1e-9, 1.0, 1e6]


def delta(scale, factor=1.0, more=""):
    """Conductances from each node to the ground, capacitors between the nodes; the first one times `factor`."""
    text = "use electrical\n"
    for k, (p, n) in enumerate(("ab", "bc", "ca"), 1):
        text += f"c{k} capacitor ({p}, {n}) C = {k * scale * (factor if k == 1 else 1.0)!r} uF\nr{k} resistor ({p}, ground) R = {k / scale!r} kOhm\n"
    return text + f"i1 current (a, ground) I = {scale!r}*(1 mA*cos(2*pi*100 Hz*time))\nsave a.v, b.v\n" + more


def phasors(factor=1.0):
    """Responses of the nodes' potentials, times 1/scale of all impedances: none."""
    incidence = np.array([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
    C = incidence.T @ np.diag(np.array([factor, 2.0, 3.0]) * 1e-6) @ incidence
    G = np.diag(1 / np.array([1e3, 2e3, 3e3]))
    return np.linalg.solve(G + 2j * np.pi * 100 * C, [1e-3, 0, 0])


def test_the_sum_of_all_balances_is_what_constrains():
    assert netsim.load(delta(1.0)).structure.dynamic.freedom == 2
    more = "v1 voltage (x, ground) v = 1 V\nr9 resistor (x, ground) R = 1 Ohm\n"  # other balances beside
    assert netsim.load(delta(1.0, more=more)).structure.dynamic.freedom == 2


@pytest.mark.parametrize("scale", SCALES)
def test_sensitivities_of_a_delta(scale):
    """Along the steps and back along them, against differences of runs, and at the first instant, where potentials follow
    the conductances: nothing changes with a capacitance."""
    model, h = netsim.load(delta(scale)), 1e-3
    options = {"stop": 0.02, "of": ["a.v", "b.v"], "to": ["c1.C"], "rtol": 1e-9}
    along, back = model.sensitivity(**options), model.sensitivity(derivatives="adjoint", **options)
    ends = [netsim.load(delta(scale, 1 + s * h)).transient(stop=0.02, rtol=1e-10) for s in (1, -1)]
    for name in ("a.v", "b.v"):
        expected = (ends[0][name].values[-1] - ends[1][name].values[-1]) / (2 * h * scale * 1e-6)
        found = along[f"d({name})/d(c1.C)"].values
        assert found[-1] == pytest.approx(expected, rel=1e-4) and abs(found[0]) < 1e-9 * abs(expected)
        assert back.attrs[f"measure.d(final({name}))/d(c1.C)"] == pytest.approx(found[-1], rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_the_steady_oscillation_of_a_delta(scale):
    found = netsim.load(delta(scale)).periodic(period=0.01, rtol=1e-10)
    for name, expected in zip(("a.v", "b.v"), phasors()):
        values, t = found[name].values, found["time"].values
        assert values == pytest.approx((expected * np.exp(2j * np.pi * 100 * t)).real, abs=1e-7 * abs(expected))
    at_start = netsim.load(delta(scale)).transient(stop=0.02)
    assert np.isfinite(at_start["a.v"].values).all()


@pytest.mark.parametrize("scale", SCALES)
def test_masses_that_only_springs_join(scale):
    """The same cut set in mechanics has no constraint: positions have rates of their own."""
    text = f"""use translational
    m1 mass (a) m = {scale!r} kg, start v = 1 m/s
    m2 mass (b) m = {2 * scale!r} kg
    s spring (a, b) c = {scale!r} N/m
    save a.x
    """
    found = netsim.load(text).sensitivity(stop=1.0, of=["a.x"], to=["s.c"], rtol=1e-9)
    w = np.sqrt(1.5)
    expected = (2 / 3) * (np.cos(w) / w - np.sin(w) / w**2) * 1.5 / (2 * w) / scale
    assert found["d(a.x)/d(s.c)"].values[-1] == pytest.approx(expected, rel=1e-6)
