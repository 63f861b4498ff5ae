"""Radau IIA collocation on a mesh: coefficients, and the piecewise polynomials that they define.

A mesh has fractions 0 = s_0 < ... < s_N = 1 of the span. Interval i has the points s_i + c_l (s_(i+1) - s_i), c_q = 1.
Differentiated variables are polynomials of degree q through the interval's begin and its points, all others of degree
q - 1 through its points. Order 2 q - 1 at the ends of intervals (Hairer and Wanner, Solving Ordinary Differential
Equations II, sec. IV.5).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import casadi as ca
import numpy as np

Array = np.ndarray
TOGETHER = 1e-9
"""Ends of intervals that are nearer, in parts of the span, are one."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Fractions of the span where intervals begin and end, and the number of points in each."""

    ends: Array
    degree: int

    @cached_property
    def nodes(self) -> Array:
        """c_1 .. c_q."""
        return np.array(ca.collocation_points(self.degree, "radau"))

    @cached_property
    def differences(self) -> Array:
        """D[l, m]: the derivative at c_l of the polynomial that is 1 at the m-th of 0, c_1 .. c_q."""
        return np.asarray(ca.collocation_coeff(list(self.nodes))[0]).T

    @cached_property
    def weights(self) -> Array:
        """Weights of the quadrature on 0 .. 1."""
        return integrals(self.nodes, np.ones(1))[0]

    @cached_property
    def quadrature(self) -> Array:
        """Weights of all points behind the begin in integrals over the span."""
        return (self.spans[:, None] * self.weights).ravel()

    @property
    def intervals(self) -> int:
        return len(self.ends) - 1

    @property
    def spans(self) -> Array:
        return np.diff(self.ends)

    @cached_property
    def fractions(self) -> Array:
        """0 and all points, as fractions of the span."""
        return np.append(0.0, (self.ends[:-1, None] + self.spans[:, None] * self.nodes).ravel())

    def point_at(self, fraction: float) -> int:
        """The number of the point at the end of an interval."""
        return int(np.abs(self.fractions - fraction).argmin())

    @cached_property
    def numbers(self) -> Array:
        """For every interval the numbers of its begin and of its points among `fractions`: (intervals, 1 + q)."""
        return np.arange(self.intervals)[:, None] * self.degree + np.arange(self.degree + 1)

    def within(self, fraction: Array, side: Literal["left", "right"] = "left") -> tuple[Array, Array]:
        """The intervals of fractions of the span (at ends, those on one side) and the shares of these intervals."""
        interval = np.clip(np.searchsorted(self.ends, fraction, side) - 1, 0, self.intervals - 1)
        return interval, (fraction - self.ends[interval]) / self.spans[interval]

    def at(self, z: Array, fraction: Array, differentiated: Array) -> Array:
        """Variables (variables, fractions) from their values at all points (variables, points); `differentiated` marks
        those whose begin counts."""
        interval, theta = self.within(fraction)
        points = z[:, self.numbers[interval]]
        whole = basis(np.append(0.0, self.nodes), theta)
        inner = np.column_stack([np.zeros(len(theta)), basis(self.nodes, theta)])
        return np.where(
            differentiated[:, None], np.einsum("vtk,tk->vt", points, whole), np.einsum("vtk,tk->vt", points, inner)
        )


def coefficients(nodes: Array) -> Array:
    """Coefficients of the Lagrange polynomials of nodes: (powers, nodes)."""
    return np.linalg.inv(np.vander(nodes, increasing=True))


def basis(nodes: Array, theta: Array) -> Array:
    """The Lagrange polynomials of nodes at theta: (theta, nodes)."""
    return np.vander(theta, len(nodes), increasing=True) @ coefficients(nodes)


def integrals(nodes: Array, theta: Array) -> Array:
    """Their integrals from 0 to theta: (theta, nodes)."""
    powers = np.arange(1, len(nodes) + 1)
    return theta[:, None] ** powers / powers @ coefficients(nodes)


def even(intervals: int, degree: int, instants: Iterable[float] = ()) -> Mesh:
    """Intervals of one length, and split at instants that matter."""
    ends = np.unique([*np.linspace(0.0, 1.0, intervals + 1), *instants])
    return Mesh(ends[np.diff(ends, prepend=-1.0) > TOGETHER], degree)
