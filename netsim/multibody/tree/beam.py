"""A slender beam along the x axis of its body, deforming in a sum of shape functions, and the integrals its dynamics
consists of.

Its material points and sections are, in the body's axes,

    r(s, t) = s e_x + sum_m psi_m(s) z_m(q),    theta(s, t) = sum_k theta_k(s) q_k

with z = q, and with foreshortening further z = q_k q_l whose psi = -e_x int_0^s phi_k' phi_l' (half of it for k = l):
the axis keeps its length, and axial loads stiffen or soften the bending. A section's rotation enters its rotary inertia
linearly; where another body is attached it is the Cayley rotation of theta. Deflections along y turn about +z,
deflections along z about -y, by phi' (G22 (1) has half the curl, which is half of that for a beam: docs/recursion.md).
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import pi

import numpy as np

from netsim.text.expressions.shapes import Floats, ShapeFunctions, bending_shapes, gauss_rule, torsion_shapes


@dataclass(frozen=True)
class Section:
    """Per metre of beam: mass [kg/m]; stiffness EI_z of bending along y, EI_y along z, GJ of torsion [N m2]; rotary
    inertia about x, y, z [kg m].

    Without rotary inertia the beam is a line of mass points (Euler-Bernoulli), and torsion needs an inertia about x.
    """

    mass: float
    bending_y: float
    bending_z: float
    torsion: float = 0.0
    rotary: tuple[float, float, float] = (0.0, 0.0, 0.0)


def tube(
    outer: float, inner: float, density: float, young: float, shear: float = 0.0, *, rotary: bool = False
) -> Section:
    """The section of a round tube of two radii [m], a material of density [kg/m3], Young's and shear modulus [Pa]."""
    area, second = pi * (outer**2 - inner**2), pi * (outer**4 - inner**4) / 4
    inertia = (2 * density * second, density * second, density * second)
    polar_only = (inertia[0] if shear else 0.0, 0.0, 0.0)
    return Section(
        density * area, young * second, young * second, 2 * shear * second, inertia if rotary else polar_only
    )


@dataclass(frozen=True)
class Beam:
    """A flexible link: length [m], section, shape functions along y, along z and of torsion, in this order of the
    elastic coordinates.

    `damping` [s] and `mass_damping` [1/s] add damping proportional to stiffness and to mass, D = damping K +
    mass_damping M (Rayleigh); `damping_ratio` the same fraction of critical damping for every mode of the clamped beam.
    A beam that bends `in_plane`, along y alone, turns what is attached to it by its slope as an angle (about z).
    Foreshortening `by_elements` is exact where elements end and linear between.
    """

    length: float
    section: Section
    along_y: ShapeFunctions | None = None
    along_z: ShapeFunctions | None = None
    twist: ShapeFunctions | None = None
    foreshortening: bool = False
    damping: float = 0.0
    damping_ratio: float = 0.0
    mass_damping: float = 0.0
    in_plane: bool = False
    by_elements: bool = False

    @property
    def planes(self) -> list[tuple[str, ShapeFunctions]]:
        """The directions with their functions: ('y' | 'z' | 'x', functions)."""
        return [(d, s) for d, s in (("y", self.along_y), ("z", self.along_z), ("x", self.twist)) if s is not None]

    @cached_property
    def directions(self) -> list[str]:
        """The direction of each elastic coordinate."""
        return [d for d, s in self.planes for _ in range(s.count)]

    @property
    def count(self) -> int:
        """The number of elastic coordinates."""
        return len(self.directions)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The products q_k q_l, k <= l, of foreshortening: bending functions of one plane."""
        kinds = self.directions
        every = [(k, m) for k in range(self.count) for m in range(k, self.count) if kinds[k] == kinds[m] != "x"]
        return every if self.foreshortening else []

    def displacement(self, at: Floats) -> Floats:
        """psi_m at points x [m]: (count + pairs, points, 3)."""
        at = np.asarray(at, float)
        psi = np.zeros((self.count + len(self.pairs), len(at), 3))
        first = 0
        for direction, shapes in self.planes:
            if direction != "x":
                psi[first : first + shapes.count, :, "xyz".index(direction)] = shapes.evaluate(at / self.length, 0)
            first += shapes.count
        for i, x in enumerate(at if self.pairs else ()):
            shortening = self.shortening(x)
            for m, (k, j) in enumerate(self.pairs):
                psi[self.count + m, i, 0] = -shortening[k, j] * (0.5 if k == j else 1.0)
        return psi

    def rotation(self, at: Floats) -> Floats:
        """theta_k at points x [m]: (count, points, 3), radians per unit of the coordinate."""
        at = np.asarray(at, float)
        theta = np.zeros((self.count, len(at), 3))
        first = 0
        for direction, shapes in self.planes:
            axis, factor, order = {"y": (2, 1 / self.length, 1), "z": (1, -1 / self.length, 1), "x": (0, 1.0, 0)}[
                direction
            ]
            theta[first : first + shapes.count, :, axis] = factor * shapes.evaluate(at / self.length, order)
            first += shapes.count
        return theta

    def quadrature(self, end: float = 1.0) -> tuple[Floats, Floats]:
        """Gauss points x and weights [m] on 0 .. end L, exact for the products of the shape functions."""
        breaks = {b for _, s in self.planes for b in s.breaks}
        at, weights = gauss_rule(breaks, max([s.points for _, s in self.planes], default=2), end)
        return at * self.length, weights * self.length

    def shortening(self, x: float) -> Floats:
        """int_0^x phi_k' phi_l' for all pairs (count, count); functions of different planes do not meet. A beam draws
        back by q^T of it q / 2."""
        ends = np.array(sorted({b for _, s in self.planes for b in s.breaks})) * self.length
        k = int(np.searchsorted(ends, x))
        if self.by_elements and x not in ends:
            part = (x - ends[k - 1]) / (ends[k] - ends[k - 1])
            return (1 - part) * self.shortening(ends[k - 1]) + part * self.shortening(ends[k])
        at, weights = self.quadrature(x / self.length)
        slope = self.rotation(at)[:, :, 1:]
        return np.einsum("kpi,lpi,p->kl", slope, slope, weights)

    def stiffness(self) -> Floats:
        """The strain energy is q^T K q / 2: int EI phi_k'' phi_l'' and int GJ theta_k' theta_l', (count, count)."""
        at, weights = self.quadrature()
        s = self.section
        matrix = np.zeros((self.count, self.count))
        first = 0
        for direction, shapes in self.planes:
            rigidity, order = {"y": (s.bending_y, 2), "z": (s.bending_z, 2), "x": (s.torsion, 1)}[direction]
            bend = shapes.evaluate(at / self.length, order) / self.length**order
            here = slice(first, first + shapes.count)
            matrix[here, here] = rigidity * np.einsum("kp,lp,p->kl", bend, bend, weights)
            first += shapes.count
        return matrix

    @cached_property
    def integrals(self) -> "Integrals":
        """All inertia integrals of the beam, by exact quadrature."""
        at, weights = self.quadrature()
        dm, dx = self.section.mass * weights, weights
        axis = np.zeros((len(at), 3))
        axis[:, 0] = at
        psi, theta = self.displacement(at), self.rotation(at)
        sections = np.diag(self.section.rotary)
        g = np.einsum("kpi,lpj,p->klij", psi, psi, dm)
        metric = np.einsum("klii->kl", g)
        metric[: self.count, : self.count] += np.einsum("kpi,ij,lpj,p->kl", theta, sections, theta, dx)
        second = np.einsum("pi,pj,p->ij", axis, axis, dm)
        stiffness = self.stiffness()
        return Integrals(
            mass=float(dm.sum()),
            moment=dm @ axis,
            inertia=np.trace(second) * np.eye(3) - second + sections * self.length,
            first=np.einsum("kpi,p->ki", psi, dm),
            mixed=np.einsum("pi,kpj,p->kij", axis, psi, dm),
            second=g,
            metric=metric,
            spin=np.einsum("ij,kpj,p->ki", sections, theta, dx),
            stiffness=stiffness,
            damping=self._damping(stiffness, metric[: self.count, : self.count]),
        )

    def _damping(self, stiffness: Floats, mass: Floats) -> Floats:
        proportional = self.damping * stiffness + self.mass_damping * mass
        if not self.damping_ratio:
            return proportional
        from scipy.linalg import eigh

        squares, modes = eigh(stiffness, mass)
        covectors = mass @ modes
        return proportional + covectors @ np.diag(2 * self.damping_ratio * np.sqrt(np.abs(squares))) @ covectors.T


@dataclass(frozen=True)
class Integrals:
    """What the motion of a flexible body is made of; N coordinates, Z = N + products. Integrals run over the mass dm.

    mass; moment = int s (3); inertia about the body's origin, undeformed (3, 3); first = int psi_k (Z, 3);
    mixed = int s psi_k^T (Z, 3, 3); second = int psi_k psi_l^T (Z, Z, 3, 3); metric = int psi_k . psi_l with the
    sections' share (Z, Z); spin = int (section inertia) theta_k (N, 3); stiffness and damping (N, N).
    """

    mass: float
    moment: Floats
    inertia: Floats
    first: Floats
    mixed: Floats
    second: Floats
    metric: Floats
    spin: Floats
    stiffness: Floats = field(repr=False)
    damping: Floats = field(repr=False)


def flexible_beam(
    length: float, section: Section, shapes: str, bending: int, torsion: int = 0, **options: float | bool
) -> Beam:
    """A beam with as many functions of one family in both planes, and of torsion; further options are Beam's."""
    both = bending_shapes(shapes, bending)
    twist = torsion_shapes(shapes, torsion) if torsion else None
    return Beam(length, section, both, both, twist, **options)  # type: ignore[arg-type]
