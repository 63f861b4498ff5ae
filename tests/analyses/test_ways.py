"""The ways along which motions are collocated: what constraints leave open, and when a solution has turned away from them."""

import numpy as np

import netsim
from netsim.analyses.optimal import meshes
from netsim.analyses.optimal.program.points import point_of
from netsim.analyses.optimal.program.radau import even
from netsim.analyses.optimal.program.ways import ways_of
from netsim.simulate.setup.start_of_run import start_of_run

LENGTH = 3.0
PENDULUM = """use planar
param angle = 0 deg
bob    planar_body          (b)          m = 1 kg, I = 1 kg.m2, at = {length}*[sin(angle), -cos(angle)]*1 m
hinge  planar_revolute      (ground, b)  at = [0, 0] m
motor  planar_hinge_torque  (ground, b)  T = 0 N.m
save hinge.q, motor.T
"""


def at(angle, kept=None):
    """The ways of a pendulum that is drawn at an angle (deg), and their matrix in one interval."""
    model = netsim.load(PENDULUM.format(length=LENGTH).replace("0 deg", f"{angle} deg"))
    machine, structure, g, _ = start_of_run(model.machine, model.structure)
    point, mesh = point_of(machine, structure, (), g), even(1, 3)
    z = np.tile(point.start[:, None], len(mesh.fractions))
    found = ways_of(point, mesh, np.tile(g[:, None], len(mesh.fractions)), z, kept)
    return found, found.matrix(point, 0)


def test_ways_of_a_pendulum():
    """It goes along (l cos(a), l sin(a), 1). Parts below 0.3 of the largest are left out; the way serves up to 60 degrees from the tangent."""
    for angle, entries in ((15.0, 2), (20.0, 3), (45.0, 3)):
        matrix = at(angle)[1]
        tangent = LENGTH * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle)), 1.0 / LENGTH])
        for way in matrix[:6, matrix[:6].any(axis=0)].T:  # of the bob's velocities and positions; two more angles are counted by hinge and motor
            used = np.sort(np.abs(way[way != 0.0]))
            expected = np.sort(tangent)[-entries:]
            np.testing.assert_allclose(used / used[-1], expected / expected[-1], rtol=1e-9)
    kept, _ = at(45.0)
    assert at(45.0 + 55.0, kept)[0] is kept  # cos = (9 cos(55 deg) + 1)/10 = 0.62
    assert at(45.0 + 75.0, kept)[0] is not kept  # 0.33


def test_a_motion_that_turns_away_from_its_guess(monkeypatch):
    """A pendulum that is to rise as high as it can: the guess hangs still."""
    model = netsim.load(PENDULUM.format(length=LENGTH).replace("0 deg", "30 deg"))
    asked = {"stop": 2.0, "minimize": "integral(motor.T^2)/(1 N2.m2.s) + 1e6*final((b.r.y - 2.5 m)^2)/(1 m2)", "inputs": "motor.T"}
    found = model.optimize(**asked, refinements=0)
    monkeypatch.setattr(meshes, "ANEW", 1)
    once = model.optimize(**asked, refinements=0)
    assert found.attrs["mesh_error"] < 1e-2 * once.attrs["mesh_error"]
