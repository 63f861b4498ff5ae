"""Coupled lines P against the closed form of two symmetric lines, and against ngspice."""

import numpy as np
import pytest

import netsim
from ngspice_runs import NGSPICE, loaded, ngspice

PAIR = "\n.model pm cpl(c=100p -20p 100p l=250n 50n 250n length=2)"


def test_two_symmetric_lines_are_an_even_and_an_odd_one(tmp_path):
    """Driven in even and in odd mode through matched resistances: a step arrives after the mode's delay, and nothing returns."""
    for sign, capacitance, inductance in ((1, 80e-12, 300e-9), (-1, 120e-12, 200e-9)):
        z, delay = float(np.sqrt(inductance / capacitance)), 2 * np.sqrt(inductance * capacitance)
        circuit = (
            f"v1 s1 0 pulse(0 2 0 1p 1p 1 2)\nv2 s2 0 pulse(0 {2 * sign} 0 1p 1p 1 2)\nr1 s1 a {z!r}\nr2 s2 b {z!r}\n"
            f"p1 a b 0 c d 0 pm\nr3 c 0 {z!r}\nr4 d 0 {z!r}{PAIR}"
        )
        found = loaded(tmp_path, circuit, ".tran 0.1n 40n\n.save v(a) v(c) v(d)").run()
        t, c = found["time"].values, found["c.v"].values
        early, late = t < delay - 1e-10, t > delay + 1e-10
        assert early.sum() > 50 and np.abs(c[early]).max() < 1e-9 and np.abs(c[late] - 1.0).max() < 1e-9
        assert np.abs(found["d.v"].values - sign * c).max() < 1e-9 and np.abs(found["a.v"].values[2:] - 1.0).max() < 1e-9


@pytest.mark.parametrize("slow", [1.0, 1e9])
def test_conductors_in_which_nothing_flows_yet(tmp_path, slow):
    """A step at one conductor of two with losses, whose far ends charge in 1e-14 s: currents are nothing but rounding of
    5 V over 1 Ohm until the wave arrives, and Newton's method leaves them. The nodes agree with another method's."""
    per_metre = f"r=0.2 0 0.2 g=0 0 0 l={9.1e-9 * slow} {3.3e-9 * slow} {9.1e-9 * slow}"
    model = f".model pm cpl({per_metre} c={3.65e-13 * slow} {-9e-14 * slow} {3.65e-13 * slow} length=24)"
    circuit = (
        f"v1 s 0 pulse(0 5 {2e-9 * slow} {2e-10 * slow} {2e-10 * slow} 1e9 2e9)\nv2 u 0 5\nr1 s a 100\nr2 u b 100\nd1 a u dm\n"
        f"c1 a 0 {2.5e-14 * slow}\nc2 b 0 {2.5e-14 * slow}\nc3 c 0 {7e-15 * slow}\nc4 d 0 {7e-15 * slow}\n"
        f"p1 a b 0 c d 0 pm\n{model}\n.model dm d"
    )
    lines = loaded(tmp_path, circuit, ".op\n.save v(a) v(b) v(c) v(d)")
    asked = {"stop": 6e-9 * slow, "sample": 1e-10 * slow}
    found, other = lines.transient(**asked), lines.transient(**asked, method="trbdf2")
    assert np.ptp(found["c.v"].values) > 1.0
    for name in ("a.v", "b.v", "c.v", "d.v"):
        assert np.abs(found[name].values - other[name].values).max() < 1e-4 * 5, name


@NGSPICE
def test_lines_without_losses_over_time(tmp_path):
    """Crosstalk between two mismatched lines: a ramp of 1 ns; ngspice approximates the lines by Pade's method."""
    model = PAIR.replace("l=", "r=0.1 0 0.1 g=0 0 0 l=")
    circuit = f"v1 s 0 pulse(0 1 1n 1n 1n 20n 60n)\nr1 s a 50\nr2 b 0 100\np1 a b 0 c d 0 pm\nr3 c 0 70\nr4 d 0 30{model}"
    found = loaded(tmp_path, circuit.replace("r=0.1 0 0.1", "r=0 0 0"), ".tran 0.05n 40n\n.save v(b) v(c) v(d)").run()
    theirs = ngspice(tmp_path, circuit, "tran 0.05n 40n 0 0.02n", "v(b) v(c) v(d)")
    for k, name in enumerate(("b.v", "c.v", "d.v"), 1):
        wanted = np.interp(found["time"].values, theirs[:, 0], theirs[:, k])
        assert np.sqrt(np.mean((found[name].values - wanted) ** 2)) < 1e-2 * np.ptp(wanted), name


def test_losses_at_rest_and_over_frequency(tmp_path):
    """At rest the resistances R length; over frequency the exact two-port of the even mode, to what eight pieces leave."""
    circuit = f"v1 a 0 dc 1 ac 1\nv2 b 0 dc 1 ac 1\np1 a b 0 c d 0 pm\nr3 c 0 60\nr4 d 0 60{PAIR.replace('l=', 'r=4 0 4 g=0 0 0 l=')}"
    found = loaded(tmp_path, circuit, ".op\n.save v(c)").run()
    assert found["c.v"].values[0] == pytest.approx(60 / 68, rel=1e-12)
    found = loaded(tmp_path, circuit, ".ac lin 20 1meg 40meg\n.save v(c)").run()
    s = 2j * np.pi * found["frequency"].values
    series, shunt = 4 + s * 300e-9, s * 80e-12
    gamma, z = np.sqrt(series * shunt), np.sqrt(series / shunt)
    exact = 1 / (np.cosh(2 * gamma) + z / 60 * np.sinh(2 * gamma))
    assert np.abs(found["c.v"].values - exact).max() < 2e-3 * np.abs(exact).max()


def test_mistakes(tmp_path):
    for lines, words in (
        ("p1 a b 0 c 0 pm\nr1 a 0 1\n" + PAIR, "as many nodes"),
        ("p1 a 0 c 0 pm\nr1 a 0 1\n.model pm cpl(c=1p 2p l=1n)", "has 1 numbers"),
        ("p1 a b 0 c d 0 pm\nr1 a 0 1\n.model pm cpl(c=1p -2p 1p l=1n 0 1n)", "positive definite"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            loaded(tmp_path, lines, ".op")
