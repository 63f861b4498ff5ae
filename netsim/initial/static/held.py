"""Equations of a static search that speak of velocities or accelerations only: dry friction that holds, der(v) = 0.

At rest they say nothing. Their integral along the way takes their place: the sum over the steps

    sum_k (c_k + c_k+1)/2 . d_k = 0

of coefficients c of the velocities (or accelerations), times displacements d. Where c changes, a turn of a body counts
with its sine: for c = Z.(w x arm) and a rotation R by the angle t about n, (R - R')/2 = sin(t) [n x]. So the sum is
exact where the bodies that are held move as one, and where c is constant (a wheel that rolls along a line), however
far.
"""

from dataclasses import dataclass

import numpy as np

from netsim.equations.numbering import across_scalars
from netsim.equations.system import System
from netsim.initial.charts import way_between
from netsim.library.component import is_kinematic

Array = np.ndarray
STRAIGHT = 1e-9
"""Turns of bodies (rad) up to which a way counts as straight."""
CONSTANT = 1e-12
"""Coefficients that change by less, as a share of the largest of their row, are constant."""


@dataclass(eq=False)
class Held:
    """Rows that speak of velocities and of accelerations only; the point up to which they are integrated, their
    coefficients there (by entry of the pattern), and the sums so far."""

    by_velocity: Array
    by_acceleration: Array
    place: Array
    rates: Array
    behind: Array

    @property
    def rows(self) -> Array:
        """All these rows."""
        return self.by_velocity | self.by_acceleration

    def kept(self) -> tuple[Array, Array, Array]:
        """What `back` goes back to."""
        return self.place, self.rates, self.behind

    def back(self, kept: tuple[Array, Array, Array]) -> None:
        """The sums end where they ended."""
        self.place, self.rates, self.behind = kept

    def turns(self, system: System) -> bool:
        """Whether there are bodies that turn in the plane or in space."""
        return len(turns_of_bodies(system)) > 0

    def displaced(self, system: System, g: Array) -> tuple[Array, Array]:
        """How unknowns differ from where the sums end, turns of bodies by their angles, and by the sines of these."""
        angles = np.zeros(system.n)
        angles[: system.layout.nk] = way_between(system, self.place, g)
        sines, turns = angles.copy(), _plane_turns(system)
        sines[turns] = np.sin(angles[turns])
        for first in system.numbering.rotations:
            chart = slice(first, first + 3)
            half = float(np.linalg.norm(angles[chart])) / 2.0  # the tangent of half of the angle
            sines[chart] /= 1.0 + half * half
            angles[chart] *= np.arctan(half) / half if half > 0.0 else 1.0
        return angles, sines

    def constant(self, system: System, rates: Array) -> Array:
        """Rows whose coefficients are those where the sums end."""
        changed, size = np.zeros((2, system.n))
        np.maximum.at(changed, system.pattern.indices, np.abs(rates - self.rates))
        np.maximum.at(size, system.pattern.indices, np.abs(rates))
        return changed <= CONSTANT * size

    def advance(self, system: System, g: Array, rates: Array) -> None:
        """Integrate up to the point g, where the coefficients are `rates`."""
        self.behind = self.behind + self.step(system, g, rates)
        self.place, self.rates = g.copy(), rates

    def step(self, system: System, g: Array, rates: Array) -> Array:
        """The part of the sums from where they end to the point g."""
        found, columns = np.zeros(system.n), np.repeat(np.arange(system.n), np.diff(system.pattern.indptr))
        angles, sines = self.displaced(system, g)
        rows = system.pattern.indices
        moved = np.where(self.constant(system, rates)[rows], angles[columns], sines[columns])
        np.add.at(found, rows, 0.5 * (self.rates + rates) * moved)
        return found


def turns_of_bodies(system: System) -> Array:
    """Unknowns that are turns of bodies, in the plane or in space."""
    in_space = [np.arange(first, first + 3) for first in system.numbering.rotations]
    return np.concatenate([_plane_turns(system), *in_space])


def _plane_turns(system: System) -> Array:
    """Unknowns that are angles of bodies in the plane."""
    found = []
    for node, first in zip(system.network.nodes, system.numbering.first):
        if is_kinematic(node.domain) and first >= 0 and first not in system.numbering.rotations:
            units = [quantity.unit for quantity, _ in across_scalars(node.domain)]
            if units.count("rad/s") == 1 and "m/s" in units:
                found.append(int(first) + units.index("rad/s"))
    return np.array(found, np.int64)
