"""Problems of index 0 to 3 with known solutions for all time: what tests of orders and tolerances hold methods to.

Signals by kind: positions, velocities, differential values (of charges), algebraic values of index 1, of index 2, and multipliers of index 3.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Known:
    """A netlist and, by signal, the kind and the solution as a function of time."""

    text: str
    index: int
    signals: dict[str, tuple[str, Callable]]

    def of_kind(self, *kinds):
        """Names of the signals of these kinds."""
        return [name for name, (kind, _) in self.signals.items() if kind in kinds]


OSCILLATOR = Known(
    """
use translational
m1 mass  (a)  m = 1 kg, start x = 0 m, start v = 1 m/s
f1 force (a)  F = -(1 N/m)*a.x - (1 N/m)*a.x*(a.x/(1 m))^2 + 1 N*sin(time/(1 s))^3
run transient(stop = 1 s)
""",
    0,
    {"a.x": ("position", np.sin), "a.v": ("velocity", np.cos)},
)
"""x'' = -x - x^3 + sin^3 t, so that x = sin t."""

CIRCUIT = Known(
    """
use electrical
v1 voltage   (a, ground)  v = 1 V*(sin(time/(1 s)) + cos(time/(1 s)))
r1 resistor  (a, b)       R = 1 Ohm
c1 capacitor (b, ground)  C = 1 F
run transient(stop = 1 s)
""",
    1,
    {"b.v": ("differential", lambda t: np.sin(t) + np.exp(-t)), "r1.i": ("algebraic", lambda t: np.cos(t) - np.exp(-t))},
)
"""The capacitor begins at 1 V: its transient exp(-t) belongs to the solution. The current is algebraic."""

LOOP = Known(
    """
use electrical
v1 voltage   (a, ground)  v = 1 V*(2 + sin(time/(1 s)))
c1 capacitor (a, ground)  C = 1 F
c2 capacitor (a, b)       C = 1 F
r2 resistor  (b, ground)  R = 1 Ohm
run transient(stop = 1 s)
""",
    2,
    {"b.v": ("differential", lambda t: (np.cos(t) + np.sin(t) - np.exp(-t)) / 2), "c1.i": ("algebraic of index 2", np.cos)},
)
"""A capacitor at a voltage source: its current is C s', and a second loop integrates that."""


def _force(t):
    """The acceleration of the pendulum's centre along x, times 1 kg."""
    return -np.cos(np.sin(t)) * np.cos(t) ** 2 + np.sin(np.sin(t)) * np.sin(t)


PENDULUM = Known(
    """
use planar
world gravity = [0, 0, 0] m/s2
b1 planar_body     (rod)          m = 1 kg, I = 1 kg.m2, at = [1, 0] m
j1 planar_revolute (ground, rod)  at = [0, 0] m
t1 planar_moment   (rod)          M = -2 N.m*sin(time/(1 s))
start rod.w = 1 rad/s
run transient(stop = 1 s)
""",
    3,
    {
        "rod.r.x": ("position", lambda t: np.cos(np.sin(t))),
        "rod.v.x": ("velocity", lambda t: -np.sin(np.sin(t)) * np.cos(t)),
        "j1.force.x": ("multiplier", _force),
    },
)
"""A pendulum driven along phi = sin t by a moment; position and velocity of its centre and the joint's force are known."""

EVERY = {"index 0": OSCILLATOR, "index 1": CIRCUIT, "index 2": LOOP, "index 3": PENDULUM}
