"""Closed chains that cannot move: told as a note where nothing drives them, and while a run goes on where joints come apart."""

import re

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder

FOURBAR = (models_folder() / "mechanisms" / "fourbar_spatial.net").read_text(encoding="utf-8")
TURN = 2 * np.pi / 6
"""Seconds of a whole turn of its crank."""


def fourbar(joint="", axis="", stop=0.5, driven=True, step=""):
    """The spatial four-bar with the axis of a joint turned."""
    text = re.sub(r"^run .*$", f"run transient(stop = {stop!r} s{step})", FOURBAR, flags=re.MULTILINE)
    text = re.sub(r"^save .*$", "save pA.q", text, flags=re.MULTILINE)
    text = re.sub(rf"^({joint} .*)$", rf"\1, axis = {axis}", text, flags=re.MULTILINE) if joint else text
    return text if driven else re.sub(r"^motor .*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("angle", [0.1, 1.0, 30.0])
def test_a_linkage_without_drive_that_cannot_move_is_told(angle):
    model = netsim.load(fourbar("pD", f"[sin({angle} deg), 0, cos({angle} deg)]", driven=False))
    (told,) = model.check()
    assert told.code == "N403" and "'pD'" in told.message and f"turned by {angle:g} deg" in told.message
    (run,) = model.samples()
    assert run.finished and [p.code for p in (*run.warnings, *run.broken)] == ["N403"]
    assert np.ptp(run.values[:, 0]) < 1e-9


@pytest.mark.parametrize("driven", [True, False])
def test_a_linkage_that_moves_is_not_told_to_be_locked(driven):
    model = netsim.load(fourbar(driven=driven))
    assert model.check() == []
    (run,) = model.samples()
    assert run.finished and (*run.warnings, *run.broken) == () and np.ptp(run.values[:, 0]) > 1.0


def test_a_frame_that_no_axis_frees_is_a_structure():
    bodies = "".join(
        f"k{i} body ({n}) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [{x}, {y}, 0] m\n" for i, (n, x, y) in enumerate([("a", 0, 0.5), ("b", 0.5, 0.5)])
    )
    joints = "p revolute (ground, a) at = [0, 0, 0] m\nq revolute (a, b) at = [0, 1, 0] m\nr revolute (ground, b) at = [1, 0, 0] m\n"
    assert [p.code for p in netsim.load(f"use spatial\n{bodies}{joints}run transient(stop = 0.1 s)\n").check()] == []


@pytest.mark.parametrize("step", ["", ", step = 1 ms"])
def test_joints_that_come_apart_on_the_way_are_told_though_they_meet_at_the_end(step):
    (run,) = netsim.load(fourbar("pC", "[1, 0, 0]", TURN, step=step)).samples()
    (told,) = run.broken
    assert run.finished and told.code == "E519" and "'pC' does not hold at t = 0." in told.message


def test_undriven_joints_that_come_apart_are_told():
    (run,) = netsim.load(fourbar("pC", "[0, sin(0.1 deg), cos(0.1 deg)]", 1.1, driven=False)).samples()
    (told,) = run.broken
    assert told.code == "E519" and "the axis of 'pC' is tilted by 0.1 deg" in told.message
