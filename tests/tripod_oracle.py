"""The tripod of Fedoruk et al. 2013 without any network: closed-form kinematics in three coordinates, forces by d'Alembert's principle.

The platform moves by x along the guide and turns by Ry(th) Rz(ph); everything follows from q = (x, th, ph) in closed form. Kinematic quantities are
jets (value, rate, acceleration) of arrays over time, so that velocities and accelerations are exact; the virtual power of inertia and friction in a
unit rate of each coordinate gives the forces along the rods.
"""

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Jet:
    """A quantity with its first two rates; arrays of any one shape (..., nt)."""

    x: Array
    v: Array
    a: Array

    def __add__(self, other: "Jet") -> "Jet":
        return Jet(self.x + other.x, self.v + other.v, self.a + other.a)

    def __sub__(self, other: "Jet") -> "Jet":
        return Jet(self.x - other.x, self.v - other.v, self.a - other.a)

    def times(self, other: "Jet", product=np.multiply) -> "Jet":
        """Any bilinear product, by Leibniz."""
        a, b = self, other
        return Jet(product(a.x, b.x), product(a.v, b.x) + product(a.x, b.v), product(a.a, b.x) + 2 * product(a.v, b.v) + product(a.x, b.a))

    def through(self, f: Array, df: Array, ddf: Array) -> "Jet":
        """A function of a scalar jet, from its derivatives."""
        return Jet(f, df * self.v, ddf * self.v**2 + df * self.a)


def constant(value: Array, like: Jet) -> Jet:
    whole = np.asarray(value, float)[..., None] + 0 * like.x
    return Jet(whole, 0 * whole, 0 * whole)


def cross(a: Array, b: Array) -> Array:
    return np.cross(a, b, axis=0)


def dot(a: Array, b: Array) -> Array:
    return np.sum(a * b, axis=0)


def matvec(m: Array, v: Array) -> Array:
    return np.einsum("ijt,jt->it", m, v)


def matmul(m: Array, n: Array) -> Array:
    return np.einsum("ijt,jkt->ikt", m, n)


def transposed(m: Jet) -> Jet:
    return Jet(*(np.swapaxes(part, 0, 1) for part in (m.x, m.v, m.a)))


def stacked(parts: list[Jet]) -> Jet:
    """Vectors as the columns of a matrix, or scalars as a vector."""
    axis = parts[0].x.ndim - 1
    return Jet(*(np.stack([getattr(p, name) for p in parts], axis=axis) for name in ("x", "v", "a")))


def norm(v: Jet) -> Jet:
    square = v.times(v, dot)
    root = np.sqrt(square.x)
    return square.through(root, 0.5 / root, -0.25 / root**3)


def unit(v: Jet) -> Jet:
    length = norm(v)
    return length.through(1 / length.x, -1 / length.x**2, 2 / length.x**3).times(v)


def rotation(angle: Jet, axis: int) -> Jet:
    """About y (1) or z (2)."""
    c, s = np.cos(angle.x), np.sin(angle.x)
    cosine, sine = angle.through(c, -s, -c), angle.through(s, c, -s)
    zero, one = constant(0.0, angle), constant(1.0, angle)
    minus = zero - sine
    rows = (
        [[cosine, zero, sine], [zero, one, zero], [minus, zero, cosine]]
        if axis == 1
        else [[cosine, minus, zero], [sine, cosine, zero], [zero, zero, one]]
    )
    return transposed(stacked([stacked(row) for row in rows]))


@dataclass(frozen=True)
class Moving:
    """A rigid body in motion: mass, inertia along its axes, centre and axes (columns)."""

    m: float
    inertia: Array
    centre: Jet
    axes: Jet

    def spin(self) -> Jet:
        """Angular velocity and its rate (x and v of the jet), from R' R^T."""
        whole = transposed(self.axes)
        turn = matmul(self.axes.v, whole.x)
        rate = matmul(self.axes.a, whole.x) + matmul(self.axes.v, whole.v)
        w, dw = (np.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2 for m in (turn, rate))
        return Jet(w, dw, 0 * w)

    def wrench(self) -> tuple[Array, Array]:
        """m a, and the rate of the angular momentum about the centre."""
        w, axes = self.spin(), self.axes.x
        local = matvec(np.swapaxes(axes, 0, 1), w.x), matvec(np.swapaxes(axes, 0, 1), w.v)
        momentum, rate = (matvec(axes, self.inertia[:, None] * part) for part in local)
        return self.m * self.centre.a, rate + cross(w.x, momentum)


@dataclass(frozen=True)
class Tripod:
    """The machine by its numbers (SI); `rods()` gives elongations, `forces` what moves them."""

    base_radius: float = 0.151
    ball_radius: float = 0.095
    height: float = 0.1922
    tip: float = 0.17
    friction: float = 0.02
    m_left: float = 0.067
    m_right: float = 0.093
    m_platform: float = 4.9
    m_D: float = 0.073
    azimuths: Array = field(default_factory=lambda: np.deg2rad([0.0, 120.0, 240.0]))

    def platform(self, q: Jet) -> tuple[Jet, Jet]:
        """Centre and rotation."""
        x, th, ph = (Jet(q.x[i], q.v[i], q.a[i]) for i in range(3))
        zero = constant(0.0, x)
        return stacked([x, zero, zero]), rotation(th, 1).times(rotation(ph, 2), matmul)

    def point(self, q: Jet, arm: Array) -> Jet:
        centre, turn = self.platform(q)
        return centre + turn.times(constant(arm, Jet(*(p[0] for p in (q.x, q.v, q.a)))), matvec)

    def marker(self, q: Jet) -> Jet:
        return self.point(q, np.array([self.tip, 0.0, 0.0]))

    def rod(self, q: Jet, azimuth: float) -> tuple[Jet, Array, Array, float]:
        """The vector from cardan to ball, the cardan's place, its fixed axis, and the length as drawn."""
        out, tangent = np.array([0.0, np.cos(azimuth), np.sin(azimuth)]), np.array([0.0, -np.sin(azimuth), np.cos(azimuth)])
        G = self.base_radius * out
        ball = self.point(q, self.ball_radius * out)
        drawn = np.array([self.height, 0, 0]) + self.ball_radius * out - G
        return ball - constant(G, norm(ball)), G, tangent, float(np.linalg.norm(drawn))

    def elongations(self, q: Jet) -> Jet:
        """k (3, nt) with two rates."""
        found = []
        for azimuth in self.azimuths:
            span, _, _, length = self.rod(q, azimuth)
            found.append(norm(span) - constant(length, norm(span)))
        return stacked(found)

    def bodies(self, q: Jet) -> list[Moving]:
        """Platform, rod D, and the cylinders of the three rods: the cardan's second axis is normal to the rod and to its first axis."""
        centre, turn = self.platform(q)
        scalar = norm(centre)
        still = constant(np.eye(3), scalar)
        moving = [
            Moving(self.m_platform, np.array([0.087817, 0.044385, 0.044385]), centre, turn),
            Moving(self.m_D, np.array([0.771e-6, 129e-6, 129e-6]), centre, still),
        ]
        for azimuth in self.azimuths:
            span, G, tangent, _ = self.rod(q, azimuth)
            along = unit(span)
            second = unit(along.times(constant(tangent, scalar), cross))
            axes = stacked([along, second.times(along, cross), second])
            foot = constant(G, scalar)
            left = foot + along.times(constant(0.0875, scalar))
            right = foot + span - along.times(constant(0.0905, scalar))
            moving.append(Moving(self.m_left, np.array([1.81e-6, 171e-6, 171e-6]), left, axes))
            moving.append(Moving(self.m_right, np.array([1.25e-6, 253.7e-6, 253.7e-6]), right, axes))
        return moving

    def coordinates(self, k: Jet) -> Jet:
        """q with two rates from elongations with two rates: Newton for the closed loops, then two linear solves."""
        nt = k.x.shape[1]
        rest = np.zeros((3, nt))
        place = np.tile([[self.height], [0.0], [0.0]], nt)
        for _ in range(30):
            miss = self.elongations(Jet(place, rest, rest)).x - k.x
            step = solve(self.slopes(place), miss)
            place = place - step
            if np.max(np.abs(step)) < 1e-16:
                break
        slopes = self.slopes(place)
        rate = solve(slopes, k.v)
        return Jet(place, rate, solve(slopes, k.a - self.elongations(Jet(place, rate, rest)).a))

    def slopes(self, place: Array) -> Array:
        """dk/dq, (3, 3, nt)."""
        rest = np.zeros_like(place)
        return np.stack([self.elongations(Jet(place, unit_rate(i, place), rest)).v for i in range(3)], axis=1)

    def forces(self, q: Jet) -> Array:
        """(3, nt): sum over bodies of m a . v_i + L' . w_i = sum over rods of (F - friction k') dk/dq_i, for i = x, th, ph."""
        rest = np.zeros_like(q.x)
        wrenches = [body.wrench() for body in self.bodies(q)]
        virtual = []
        for i in range(3):
            unit_motion = self.bodies(Jet(q.x, unit_rate(i, q.x), rest))
            virtual.append(sum(dot(f, b.centre.v) + dot(t, b.spin().x) for (f, t), b in zip(wrenches, unit_motion)))
        net = solve(np.swapaxes(self.slopes(q.x), 0, 1), np.stack(virtual))
        return net + self.friction * self.elongations(q).v


def unit_rate(i: int, like: Array) -> Array:
    rate = np.zeros_like(like)
    rate[i] = 1.0
    return rate


def solve(matrix: Array, right: Array) -> Array:
    """(3, 3, nt) systems, one for each instant."""
    return np.linalg.solve(np.moveaxis(matrix, -1, 0), right.T[..., None])[..., 0].T


def bell(t: Array, amplitude: float, at: float, width: float, offset: float = 0.0) -> Jet:
    """offset + amplitude (exp(-((t - at)/width)^2) - exp(-(at/width)^2))."""
    z = (t - at) / width
    e = amplitude * np.exp(-(z**2))
    return Jet(offset + e - amplitude * np.exp(-((at / width) ** 2)), -2 * z / width * e, (4 * z**2 - 2) / width**2 * e)


def law(t: Array, amplitudes=(0.03, 0.045, 0.06), at=(15.0, 15.0, 15.0), widths=(4.0, 4.0, 4.0), offsets=(0.0, 0.0, 0.0)) -> Jet:
    """The elongations of the three rods."""
    return stacked([bell(t, *numbers) for numbers in zip(amplitudes, at, widths, offsets)])
