"""Motions beyond a singular configuration: told with place and time, which the law of cosines gives; motions that stop short of it run."""

import re

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder


def at_the_rocker(swing: str, steps: str = "step = 1 ms") -> netsim.Model:
    """The four-bar of models/, its rocker prescribed; the run takes 2 s."""
    text = (models_folder() / "mechanisms" / "fourbar_planar.net").read_text()
    text, count = re.subn(r"motor .*\n", f"motor planar_hinge_angle (ground, c)  q = -{swing}*bell(time, 1 s, 0.3 s)\n", text)
    text, also = re.subn(r"stop = 1.1 s, step = 1 ms", f"stop = 2 s, {steps}", text)
    assert count and also
    return netsim.load(text)


@pytest.mark.parametrize("method", ["euler", "generalized_alpha", "radau", "bdf"])
def test_a_dead_point_is_told_where_it_is(method):
    """Crank and coupler in line: 0.4^2 = 0.3^2 + 0.2^2 + 2*0.3*0.2 cos(phi), from cos(phi) = 1/8 as drawn."""
    adaptive = method in ("radau", "bdf")
    (samples,) = at_the_rocker("15 deg", "rtol = 1e-6" if adaptive else "step = 1 ms").samples({"method": method})
    way = np.arccos(0.125) - np.arccos(0.25)
    when = 1 - 0.3 * np.sqrt(-np.log(way / np.deg2rad(15)))
    assert not samples.finished and re.search("'p[ABC]' stay", samples.message)
    told = float(re.search(r"beyond t = ([\d.]+) s", samples.message)[1])
    assert told <= when + 1e-6 and when < told + 2e-3
    if adaptive:
        assert samples.time[-1] == pytest.approx(when, rel=1e-6)  # no given step stands in the way of going up to it


def test_short_of_the_dead_point_the_motion_runs():
    samples = at_the_rocker("7.2 deg").samples()[0]
    assert samples.finished
    crank = samples.series("pA.q")
    assert 0.05 < np.abs(crank).max() < np.pi  # the crank comes near the line and goes back
    assert abs(crank[-1] - crank[0]) < 1e-3
