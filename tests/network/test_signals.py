"""Hints at what a name was meant to be."""

import pytest

import netsim
from netsim.text.errors import InputError


def hint_of(text):
    with pytest.raises(InputError) as told:
        netsim.load(text).run()
    (problem,) = told.value.problems
    return problem.code, problem.hint


def test_a_signal_that_nothing_writes_is_like_one_that_nothing_reads():
    blocks = "c constant (speed) value = 1\nd constant (sped2) value = 1\ng gain (sped, y) k = 2\nh gain (sped2, z) k = 1\n"
    text = f"use signal\n{blocks}run transient(stop = 1 s)\n"
    assert hint_of(text) == ("E312", "did you mean 'speed'?")
    assert hint_of(text.replace("(speed)", "(other)")) == ("E312", "connect a sensor or block whose output is this node")


def test_gravity_of_the_plane_has_three_components():
    text = "use planar\nworld gravity = [0, -9.81] m/s2\nb planar_body (a) m = 1 kg, I = 1 kg.m2\nrun transient(stop = 1 s)\n"
    assert hint_of(text) == ("E204", "write all three components; the plane takes the first two")
