"""Kozlowski's manipulator written independently: links of cubic elements in floating frames, dense, by Lagrange's equations of the whole chain.

Coordinates are the paper's, q = [theta1, u3, u4 ..., theta2, w3, w4 ...]: theta1 from the horizontal, theta2 from the tangent of the first
link's end. Nothing is taken from the library: positions of points along the links are written as functions of q, the kinetic energy is summed over
Gauss points of every element, and CasADi differentiates. M q'' + M' q' - (1/2) q'^T dM/dq q' + dV/dq = 0; `truncated` leaves the two middle
terms out, `shortened` lets points move along the link by -(1/2) integral of u'^2.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh


@dataclass(frozen=True, eq=False)
class Chain:
    """links of `elements` elements each, of length 1 m, `line` kg/m, bending stiffness EI."""

    links: int
    elements: int = 2
    EI: float = 1000.0
    line: float = 5.0
    gravity: float = 9.81
    truncated: bool = False
    shortened: bool = False
    functions: dict = field(default_factory=dict)

    def __post_init__(self):
        n = 1 + 2 * self.elements
        q, v = ca.SX.sym("q", self.links * n), ca.SX.sym("v", self.links * n)
        origin, heading, kinetic, potential = ca.SX.zeros(2), 0.0, 0.0, 0.0
        points, weights = np.polynomial.legendre.leggauss(6)
        h = 1.0 / self.elements
        for k in range(self.links):
            angle, u = heading + q[k * n], q[k * n + 1 : (k + 1) * n]
            ex, ey = ca.vertcat(ca.cos(angle), ca.sin(angle)), ca.vertcat(-ca.sin(angle), ca.cos(angle))
            lost = 0.0
            for e in range(self.elements):
                here = ca.vertcat(*([0.0, 0.0] if e == 0 else [u[2 * e - 2], u[2 * e - 1]]), u[2 * e], u[2 * e + 1])
                for s, weight in zip((points + 1) / 2, weights / 2):
                    part = _lost(here, s, h) if self.shortened else 0.0
                    r = origin + ((e + s) * h - lost - part) * ex + ca.dot(_shape(s, h), here) * ey
                    rate = ca.jtimes(r, q, v)
                    kinetic += weight * h * self.line * ca.dot(rate, rate) / 2
                    potential += weight * h * self.line * self.gravity * r[1]
                    potential += weight * h * self.EI * ca.dot(_bend(s, h), here) ** 2 / 2
                lost += _lost(here, 1.0, h) if self.shortened else 0.0
            origin, heading = origin + (1.0 - lost) * ex + u[-2] * ey, angle + u[-1]
        momentum = ca.gradient(kinetic, v)
        mass = ca.jacobian(momentum, v)
        force = -ca.gradient(potential, q)
        if not self.truncated:
            force += ca.gradient(kinetic, q) - ca.jtimes(momentum, q, v)
        self.functions["rate"] = ca.Function("rate", [q, v], [ca.solve(mass, force)])
        self.functions["energy"] = ca.Function("energy", [q, v], [kinetic + potential])
        self.functions["stiffness"] = ca.Function("stiffness", [q], [ca.hessian(potential, q)[0], ca.substitute(mass, v, 0 * v)])

    def hanging(self) -> np.ndarray:
        """Coordinates of the chain that hangs straight down."""
        q = np.zeros(self.links * (1 + 2 * self.elements))
        q[0] = -np.pi / 2
        return q

    def frequencies(self) -> np.ndarray:
        """rad/s about hanging, slowest first."""
        stiffness, mass = (np.array(x) for x in self.functions["stiffness"](self.hanging()))
        return np.sqrt(eigh(stiffness, mass, eigvals_only=True))

    def motion(self, starts, times, rtol: float = 1e-12) -> tuple[np.ndarray, float]:
        """q at `times` from the angles `starts` (rad), everything else zero and at rest; the largest change of energy (J)."""
        n = 1 + 2 * self.elements
        q = np.zeros(self.links * n)
        q[::n] = starts
        rate, size = self.functions["rate"], len(q)

        def slope(t, y):
            return np.concatenate([y[size:], np.array(rate(y[:size], y[size:])).ravel()])

        found = solve_ivp(slope, (0.0, times[-1]), np.concatenate([q, 0 * q]), method="DOP853", t_eval=times, rtol=rtol, atol=1e-3 * rtol)
        energy = np.array([float(self.functions["energy"](y[:size], y[size:])) for y in found.y.T])
        return found.y[:size].T, float(np.abs(energy - energy[0]).max())


def _shape(s, h):
    """Hermite's cubics at s of an element of length h, by deflection and slope of its ends."""
    return ca.vertcat(1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2))


def _slope(s, h):
    return ca.vertcat((6 * s**2 - 6 * s) / h, 1 - 4 * s + 3 * s**2, (6 * s - 6 * s**2) / h, 3 * s**2 - 2 * s)


def _bend(s, h):
    return ca.vertcat((12 * s - 6) / h**2, (6 * s - 4) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h)


def _lost(u, s, h):
    """(1/2) integral of the slope's square from the element's beginning to s."""
    points, weights = np.polynomial.legendre.leggauss(3)
    return sum(w / 4 * s * h * ca.dot(_slope(s * (p + 1) / 2, h), u) ** 2 for p, w in zip(points, weights))
