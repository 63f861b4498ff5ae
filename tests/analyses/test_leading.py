"""Poles and modes where the structure does not show how many there are: loops of capacitors without ground, cut sets of
inductors, repeated poles at zero, at usual scales and far from them."""

import numpy as np
import pytest
from scipy import linalg

import netsim
from netsim.analyses.signals.states.leading import leading

SCALES = [1e-9, 1.0, 1e6]


def poles(text, **options):
    found = netsim.load(text).poles(**options)
    s = found["real"].values + 1j * found["imaginary"].values
    return s[np.lexsort((s.imag, np.abs(s)))]


def triangle(scale, more=""):
    """Three capacitors between nodes that only resistors tie to the ground: C has rank 2."""
    text = "use electrical\n"
    for k, (p, n) in enumerate(("ab", "bc", "ca"), 1):
        text += f"c{k} capacitor ({p}, {n}) C = {k * scale!r} uF\nr{k} resistor ({p}, ground) R = {k} kOhm\n"
    return text + more


def triangle_rates(scale):
    C = np.array([[4.0, -1, -3], [-1, 3, -2], [-3, -2, 5]]) * 1e-6 * scale
    N = linalg.null_space(np.ones((1, 3)))  # voltages follow charges: C v = q, sum of currents G v = 0
    G = np.diag(1 / np.array([1e3, 2e3, 3e3]))
    across = N - np.outer(np.ones(3), G.sum(axis=0) @ N) / G.sum()
    return np.sort(linalg.eigvals(-N.T @ G @ across, N.T @ C @ across).real)[::-1]


@pytest.mark.parametrize("scale", SCALES)
def test_a_triangle_of_capacitors_without_ground(scale):
    assert poles(triangle(scale)) == pytest.approx(triangle_rates(scale), rel=1e-12)
    found = netsim.load(triangle(scale)).modal(modes=5)
    assert found.attrs["degrees_of_freedom"] == found.attrs["states"] == 2 == found.sizes["mode"]
    assert -found["decay"].values == pytest.approx(triangle_rates(scale), rel=1e-9)


def test_the_state_space_of_the_triangle_has_its_response():
    text = triangle(1.0, "i1 current (a, ground) I = 0 A\nsave a.v, b.v\n")
    model = netsim.load(text)
    lin = model.linearise(inputs=["i1"])
    assert len(lin.states) == 2
    assert np.sort(lin.poles.real)[::-1] == pytest.approx(triangle_rates(1.0), rel=1e-12)
    f = np.logspace(-2, 5, 15)
    of_states = np.array([lin.c @ np.linalg.solve(s * np.eye(2) - lin.a, lin.b) + lin.d for s in 2j * np.pi * f])
    G, C = np.diag(1 / np.array([1e3, 2e3, 3e3])), np.array([[4.0, -1, -3], [-1, 3, -2], [-3, -2, 5]]) * 1e-6
    own = np.array([np.linalg.solve(G + s * C, [1.0, 0, 0])[:2] for s in 2j * np.pi * f])
    assert np.abs(of_states[:, :, 0] / own - 1).max() < 1e-10
    assert np.abs(model.ac(input="i1", frequencies=f)["a.v"].values / own[:, 0] - 1).max() < 1e-10


def test_a_cut_set_of_coils_beside_a_triangle():
    """Two dependences at once, in one network of two parts."""
    coils = "".join(f"l{k} inductor (x{k}, m) L = {k} mH\ns{k} resistor (x{k}, ground) R = {k * k} Ohm\n" for k in (1, 2, 3))
    N = linalg.null_space(np.ones((1, 3)))
    R, L = np.diag([1.0, 4, 9]), np.diag([1e-3, 2e-3, 3e-3])
    own = linalg.eigvals(-N.T @ R @ N, N.T @ L @ N).real
    assert poles(triangle(1.0, coils)) == pytest.approx(np.sort([*triangle_rates(1.0), *own])[::-1], rel=1e-11)


@pytest.mark.parametrize("scale", SCALES)
def test_a_free_drive_train_has_two_poles_at_zero(scale):
    """Its angle and its speed stay as they are: a double pole with one shape, exactly."""
    J1, J2, J3, c, d, n = 2 * scale, 5 * scale, 0.7 * scale, 1e3 * scale, 0.01 * scale, 3.5
    text = f"""use rotational
    j1 inertia        (a)    J = {J1!r}
    g1 gear           (a, b) ratio = {n}
    s1 torsion_spring (b, c) c = {c!r}
    d1 torsion_damper (b, c) d = {d!r}
    j2 inertia        (c)    J = {J2!r}
    j3 inertia        (b)    J = {J3!r}
    """
    found = poles(text)
    whole = J3 + J1 * n * n
    roots = np.roots([whole * J2 / (whole + J2), d, c])
    assert list(found[:2]) == [0.0, 0.0]
    assert found[2:] == pytest.approx(roots[roots.imag > 0], rel=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_two_vessels_of_oil_share_one_content(scale):
    """Volumes of 1e-12 m3 ended in a traceback: the pole at zero has no time scale."""
    C1, C2, L, R = 1e-3 * scale / 1.6e9, 2e-3 * scale / 1.6e9, 1e6 / scale, 1e7 / scale
    text = f"""use hydraulic
    v1 volume    (a)    V = {1e-3 * scale!r} m3, K = 1.6e9 Pa
    v2 volume    (b)    V = {2e-3 * scale!r} m3, K = 1.6e9 Pa
    i1 inertance (a, m) L = {L!r}
    p1 pipe      (m, b) R = {R!r}, k = 0
    """
    found, roots = poles(text), np.roots([L, R, 1 / C1 + 1 / C2])
    assert found[0] == 0.0
    assert found[1:] == pytest.approx(roots[roots.imag >= 0], rel=1e-12)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_a_chain_of_integrators_behind_a_lag(count):
    """A pole at zero of any multiplicity, whose eigenvalues are 1e-3 apart by rounding, beside a fast one."""
    text = "use signal\nu0 signal_source (s0) value = 0\nlag first_order (s0, s1) T = 1 ms\n"
    text += "".join(f"i{k} integrator (s{k}, s{k + 1}) k = {k} Hz\n" for k in range(1, count + 1))
    assert list(poles(text, at="0 s")) == [0.0] * count + [pytest.approx(-1e3, rel=1e-12)]


def test_a_slow_pole_is_not_taken_for_one_at_zero():
    text = """use electrical
    c1 capacitor (a, ground) C = 1 F
    r1 resistor  (a, ground) R = 1 GOhm
    r2 resistor  (a, b)      R = 1 TOhm
    c2 capacitor (b, ground) C = 1 fF
    r3 resistor  (b, ground) R = 1 mOhm
    """
    assert poles(text) == pytest.approx([-1.001e-9, -1e18], rel=1e-12)


def test_a_combination_of_equations_takes_the_place_of_one():
    """x' + y' = w, x' + y' + y = 0: of order 1, although both unknowns have derivatives in both equations."""
    parts = [np.array([[0.0, 0.0], [0.0, 1.0]]), np.ones((2, 2))]
    found = leading(parts, [np.array([[1.0], [0.0]])])
    assert found.orders.freedom == 1
    assert leading([np.ones((2, 2))]) is None
