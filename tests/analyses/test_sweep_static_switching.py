"""Operating points along a source or a parameter through what switches: diodes, bridges, valves, hysteresis."""

import numpy as np
import pytest

import netsim
from netsim.analyses.operating import switching

DIODE = """
use electrical
s voltage     (a, ground) v = {at!r} V
r resistor    (a, b)      R = 1 kOhm
d ideal_diode (b, ground) Ron = 1 Ohm, Goff = 1 uS
save b.v
"""


def swept(text, *names, **options):
    found = netsim.load(text).sweep_static(**options)
    return (*(found[name].values for name in names), found.attrs["orbit"])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("sense", [1.0, -1.0])
@pytest.mark.parametrize("at", [-1.0, 0.0, 1.0])
def test_an_ideal_diode_over_its_source(scale, sense, at):
    """It kept the state that it had at the present value over the whole sweep."""
    given = {"over": "s.v", "from": -5 * sense * scale, "to": 5 * sense * scale, "points": 11}
    u, v, orbit = swept(DIODE.format(at=at * scale), "s.v", "b.v", **given)
    want = u * np.where(u > 0, 1 / 1001, 1 / (1 + 1e-3))
    assert np.abs(v - want).max() < 1e-11 * scale
    assert set(np.linspace(given["from"], given["to"], 11)) <= set(u) and not orbit


def test_a_clamp_over_a_resistance():
    """A parameter is swept: r2's share of 1 V exceeds 0.3 V until r1 = 7/3 kOhm, and the diode conducts until there."""
    text = """use electrical
    s  voltage     (a, ground) v = 1 V
    r1 resistor    (a, b)      R = 1 kOhm
    r2 resistor    (b, ground) R = 1 kOhm
    x  voltage     (c, ground) v = 0.3 V
    d  ideal_diode (b, c)      Ron = 1 Ohm, Goff = 1 pS
    save b.v
    """
    R, v, orbit = swept(text, "r1.R", "b.v", over="r1.R", from_=1500.0, to=3500.0, points=3)
    G = np.where(R < 7e3 / 3, 1.0, 1e-12)
    assert v == pytest.approx((1 / R + 0.3 * G) / (1 / R + 1e-3 + G), rel=1e-10) and not orbit
    assert np.abs(R - 7e3 / 3).min() < 1e-4


def test_a_bridge_over_its_source():
    """Two of four diodes conduct, the other two at negative voltages."""
    diodes = "".join(f"d{k} ideal_diode ({p}, {n}) Ron = 1 Ohm, Goff = 1 nS\n" for k, (p, n) in enumerate(("ap", "bp", "na", "nb")))
    text = f"use electrical\ns voltage (a, b) v = 3 V\nr resistor (p, n) R = 1 kOhm\n{diodes}"
    text += "g resistor (n, ground) R = 1 MOhm\nsave r.v\n"
    u, v, _ = swept(text, "s.v", "r.v", over="s.v", from_=-10.0, to=10.0, points=11)
    assert v == pytest.approx(np.abs(u) * 1e3 / 1002, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("first, last, at", [(0.0, 2.0, 1.5), (2.0, 0.0, 0.5)])
def test_hysteresis_jumps_at_its_threshold(first, last, at):
    text = f"""use electrical
    u voltage           (w, ground) v = {first} V
    o voltage           (a, ground) v = 1 V
    s hysteresis_switch (a, b)      control = w.v/(1 V), threshold = 1, width = 0.5
    r resistor          (b, ground) R = 1 kOhm
    save b.v
    """
    u, v, orbit = swept(text, "u.v", "b.v", over="u.v", from_=first, to=last, points=5)
    closed = v > 0.5
    turned = int(np.argmax(closed != closed[0]))
    assert closed[0] == (first > 1) and closed[-1] != closed[0]
    assert u[turned - 1 : turned + 1] == pytest.approx([at, at], abs=1e-10)
    assert orbit.startswith("jump at u.v = ") and len(orbit.splitlines()) == 1


def test_a_family_from_the_present_value():
    """The first point of a curve is that of its own values."""
    text = """use electrical
    s  voltage  (a, ground) v = 1 V
    r1 resistor (a, b)      R = 1 kOhm
    r2 resistor (b, ground) R = 1 kOhm
    save b.v
    run sweep_static(over = s.v, from = 1 V, to = 2 V, points = 3, family = [r1.R = [1 kOhm, 3 kOhm]])
    """
    found = netsim.load(text).run()
    assert found["b.v"].values == pytest.approx(found["s.v"].values * 1e3 / (1e3 + found["r1.R"].values), rel=1e-12)
    assert set(found["r1.R"].values) == {1e3, 3e3}


def test_constants_of_pieces():
    assert (switching.MOST, switching.HALVINGS, switching.CLOSE, switching.APART) == (10_000, 60, 1e-13, 1e-6)
