"""Motions that grow at an operating point beside delays are told with their rates, and what was not looked at in large networks is told."""

import numpy as np
import pytest
from scipy.special import lambertw

import netsim
from netsim.analyses.signals.states import growth
from netsim.results.over_frequency.curves import reading

LOOP = """use signal
u signal_source (r)       value = 0
d difference    (r, y, e)
i integrator    (e, x)    k = {k!r}
t delay         (x, y)    T = {T!r} s
save y
"""
LINE = """use electrical
src voltage           (a, ground)            v = 0 V
r1  resistor          (a, b)                 R = {first!r} Ohm
l1  lossless_line     (b, ground, c, ground) Z = 50 Ohm, T = {T!r} s
r2  variable_resistor (c, ground)            R = {last!r} Ohm
save c.v
"""


def notes(text, source):
    return netsim.load(text).ac(inputs=[source], frequencies=[1.0]).attrs["notes"]


@pytest.mark.parametrize("T", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("gain", [0.3, 1.5, 1.6, 3.0])
def test_a_loop_with_a_dead_time_grows_above_its_margin(gain, T):
    """s e^(s T) = -k: s T = W(-k T), with a positive real part for k T > pi/2."""
    rate = lambertw(-gain).real / T
    told = notes(LOOP.format(k=gain / T, T=T), "u")
    assert told.startswith("the operating point is unstable") == (gain > np.pi / 2)
    assert gain < np.pi / 2 or f"e^(t/{reading(1.0 / rate, 's')})" in told


@pytest.mark.parametrize("T", [1e-9, 1.0])
@pytest.mark.parametrize("first, last", [(1.0, -60.0), (1.0, -2.0), (1.0, -1e4), (50.0, -49.0), (1.0, 1e6)])
def test_reflections_at_both_ends_of_a_line(first, last, T):
    """A wave comes back after 2 T with the product of both reflections: it grows where that is larger than 1."""
    product = (first - 50) / (first + 50) * (last - 50) / (last + 50)
    told = notes(LINE.format(first=first, last=last, T=T), "src")
    assert bool(told) == (abs(product) > 1)
    assert not told or f"e^(t/{reading(2 * T / np.log(abs(product)), 's')})" in told


def ladder(sections, g):
    parts = [f"r{k} resistor (n{k}, n{k + 1}) R = 1 Ohm\nc{k} capacitor (n{k + 1}, ground) C = 1 F\n" for k in range(sections)]
    active = f"g1 vccs (n5, ground, n5, ground) g = {g} S\nsave n9.v\n"  # what enters at p is a negative conductance
    return "use electrical\nsrc voltage (n0, ground) v = 1 V\n" + "".join(parts) + active


@pytest.mark.parametrize("sections", [50, 400])
def test_large_networks_say_what_was_not_looked_at(sections):
    model = netsim.load(ladder(sections, -5))
    told, poles = notes(ladder(sections, -5), "src"), model.poles(modes=3).attrs["stability_of_poles"]
    if sections == 50:
        assert "is unstable" in told and poles.startswith("unstable")
    else:
        assert told == "it was not looked at whether the operating point is stable, of a network with more than 700 unknowns"
        assert poles == "stable as far as the slowest 3 poles tell; whether faster motions grow was not looked at"


def test_large_networks_of_passive_elements_are_stable():
    text = ladder(400, 0).replace("g1 vccs (n5, ground, n5, ground) g = 0 S", "")
    assert notes(text, "src") == "" and netsim.load(text).poles(modes=3).attrs["stability_of_poles"] == "stable"


def test_constants_of_growth(monkeypatch):
    """With fewer points of the past the rate is still that of the network's own equations; with too many delays nothing is said of it."""
    assert (growth.MOST, growth.GROWS, growth.CERTAIN, growth.PIECES, growth.FEWEST) == (700, 1e-9, 1e-3, 24, 8)
    assert (growth.SOUGHT, growth.ITERATIONS, growth.SAME) == (10, 30, 1e-10)
    monkeypatch.setattr(growth, "PIECES", 12)
    assert f"e^(t/{reading(1 / lambertw(-3.0).real, 's')})" in notes(LOOP.format(k=3.0, T=1.0), "u")
    monkeypatch.setattr(growth, "MOST", 12)
    assert notes(LOOP.format(k=3.0, T=1.0), "u").endswith("of a network with so many delays")
