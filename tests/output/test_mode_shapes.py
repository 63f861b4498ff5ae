"""Modes as moving pictures: amplitudes, shapes against closed forms, rotations, and how modes are called."""

import numpy as np
import pytest

import netsim
from netsim.output.mode_shapes import BETWEEN, PERIOD, REACH, TURN, scene_of_modes
from netsim.output.scenes import moving_signals
from netsim.text.errors import InputError

BEAM = """
use planar
world gravity = [0, 0, 0] m/s2
hold planar_weld (ground, a) at = [0, 0] m
beam planar_flexible_link (a, b) at1 = [0, 0] m, at2 = [2, 0] m, line = 1 kg/m, EI = 1 N.m2, elements = 8{damping}
run modal(modes = 3)
"""
TOP = """
use spatial
world gravity = [0, 0, -10] m/s2
hinge revolute (ground, a) at = [0, 0, 0] m, axis = [0, 1, 0], c = 9 N.m/rad
disc  body (a) m = 1 kg, I = diag(0.2, 0.3, 0.2) kg.m2, at = [0, 0, 0] m
run modal(modes = 1)
"""


def scene(text):
    model = netsim.load(text)
    return scene_of_modes(model, model.samples(beside=moving_signals(model))[-1])


def test_modes_of_a_cantilever():
    """One chapter per mode; the tip goes up and down by a tenth of the length, or turns by 0.4 rad, in the shape of the closed form."""
    found = scene(BEAM.format(damping=""))
    assert [c.name.split(":")[0] for c in found.chapters] == ["mode 1", "mode 2", "mode 3"]
    assert found.chapters[1].first == pytest.approx(PERIOD + BETWEEN) and found.chapters[1].last - found.chapters[1].first == pytest.approx(PERIOD)
    bent = np.concatenate([c.bent for c in found.curves], axis=1)
    for k, (b, chapter) in enumerate(zip((1.875104068711961, 4.694091132974175, 7.854757438237612), found.chapters)):
        here = (found.time >= chapter.first - 1e-9) & (found.time <= chapter.last + 1e-9)
        x, y = bent[here][0, :, 0] / 2, bent[here][..., 1]
        s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        shape = np.cosh(b * x) - np.cos(b * x) - s * (np.sinh(b * x) - np.sin(b * x))
        slope = b / 2 * (np.sinh(b) + np.sin(b) - s * (np.cosh(b) - np.cos(b))) / shape[-1]
        assert np.abs(y).max() == pytest.approx(min(REACH * 2, TURN / abs(slope)), rel=(1e-3, 5e-3, 2e-2)[k])
        assert np.abs(y[0] / y[0, -1] - shape / shape[-1]).max() < (1e-3, 5e-3, 2e-2)[k]
        turning = y[:, -1] / y[0, -1]
        assert np.abs(turning - np.cos(2 * np.pi * (found.time[here] - chapter.first) / PERIOD)).max() < 1e-6


def test_modes_say_frequency_and_damping():
    """Damping of 0.1 s is a share of d w/2 of critical damping: 0.044 of mode 1; mode 3 (15.4 rad/s) does not swing more than the others."""
    names = [c.name for c in scene(BEAM.format(damping=", damping = 0.1 s")).chapters]
    assert names[0] == f"mode 1: {1.8751040687**2 / 4 / (2 * np.pi):.4g} Hz, damping 0.044"
    decaying = [c.name for c in scene(BEAM.format(damping=", damping = 3 s")).chapters]
    assert any("decays with" in name for name in decaying)


def test_what_turns_in_space_stays_a_rotation():
    """By 0.4 rad at most (of the linear motion), about the hinge."""
    found = scene(TOP)
    frame = next(f for f in found.frames if f.name == "a")
    angles = np.arctan2(frame.rotation[:, 0, 2], frame.rotation[:, 0, 0])
    assert np.abs(np.einsum("tij,tkj->tik", frame.rotation, frame.rotation) - np.eye(3)).max() < 1e-12
    assert np.abs(np.tan(angles)).max() == pytest.approx(TURN, rel=1e-3)


def test_circuits_have_no_picture():
    model = netsim.load("use electrical\nc capacitor (a, ground) C = 1 uF\nl inductor (a, ground) L = 1 mH\nrun modal(modes = 1)")
    with pytest.raises(InputError):
        scene_of_modes(model, model.samples(beside=moving_signals(model))[-1])
