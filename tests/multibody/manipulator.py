"""The five-link manipulator of G22 with its misprints corrected, its motion, and the deflection of its point P."""

import numpy as np

from netsim.multibody.tree.algorithms.newmark import Drive
from netsim.multibody.tree.algorithms.observers import placements
from netsim.multibody.tree.beam import flexible_beam, tube
from netsim.multibody.tree.model import ELASTIC_Q, Body, Inertia, Joint, build_tree

DENSITY, YOUNG = 2699.0, 6.895e10
JOINTS = ("c1", "c2", "c3", "c4")


def cylinder(length, axis, radius=0.05):
    mass = DENSITY * np.pi * radius**2 * length
    moments = np.full(3, mass * (3 * radius**2 + length**2) / 12)
    moments[axis] = mass * radius**2 / 2
    return mass, np.diag(moments)


def manipulator(shapes="guided", count=1):
    """C2 and C3 bend in both planes by `count` functions each; 200 kg at the centre of C4."""
    section = tube(0.05, 0.04, DENSITY, YOUNG)
    column, hand = cylinder(0.3, 1), cylinder(0.5, 0)
    bodies = [
        Body("c1", None, Joint("revolute", (0, 1, 0)), Inertia(column[0], (0, 0.15, 0), column[1])),
        Body("c2", "c1", Joint("revolute", (0, 0, 1)), flexible_beam(4.0, section, shapes, count), (0, 0.3, 0)),
        Body("c3", "c2", Joint("revolute", (0, 0, 1)), flexible_beam(5.0, section, shapes, count)),
        Body("c4", "c3", Joint("revolute", (0, 0, 1)), Inertia(hand[0] + 200.0, (0.25, 0, 0), hand[1])),
    ]
    return build_tree(bodies, gravity=(0, 0, 0))


def drive(tree):
    """G22 (7), (8): q1 = q4 = (pi/2) S, q2 = q3 = (pi/4) S with S = t/15 - sin(2 pi t/15)/(2 pi), then 1."""
    turn = np.zeros(tree.nv)
    turn[[tree.joint[name].start for name in JOINTS]] = np.pi / 2 * np.array([1, 0.5, 0.5, 1])

    def moves(t):
        s, inside = np.minimum(t, 15.0) / 15, np.asarray(t) <= 15.0
        path = s - np.sin(2 * np.pi * s) / (2 * np.pi)
        speed, gain = inside * (1 - np.cos(2 * np.pi * s)) / 15, inside * 2 * np.pi * np.sin(2 * np.pi * s) / 225
        return np.outer(path, turn), np.outer(speed, turn), np.outer(gain, turn)

    return Drive(turn > 0, moves)


def deflection(tree, q):
    """P with elasticity minus P without, in the table's axes (Z towards the reader turned around)."""
    stiff = q.copy()
    for name, here in tree.elastic.items():
        at = tree.flat.node[tree.node[name], ELASTIC_Q]
        stiff[at : at + here.stop - here.start] = 0.0
    end = tree.node["c4"]
    return (placements(tree, q)[end, :, 3] - placements(tree, stiff)[end, :, 3]) * [1, 1, -1]
